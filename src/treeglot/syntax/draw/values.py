"""Draws the syntax types: in characters, as SVG, as HTML."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from typing import Literal, TypeAlias

from treeglot._core import Alignment, Dependency, ParseForest, Tree
from treeglot.base.errors import TreeglotError
from treeglot.graph import viterbi
from treeglot.syntax.draw import alignment, dependency, forest, svg, tree
from treeglot.syntax.draw.shapes import Drawing, printable
from treeglot.syntax.draw.terminal import TERMINAL, Piece, Screen, paint

Value: TypeAlias = "Tree | ParseForest | Dependency | Alignment"
Layout: TypeAlias = Literal["auto", "across", "down"]
Words: TypeAlias = "Sequence[str] | None"

# The largest that is drawn unless more is asked for: beyond it a drawing takes long and helps nobody.
TREE_NODES = 2000
WORDS = 500
TABLE_EDGES = 200
PICTURE_EDGES = 400
LEVELS = 500  # of a tree drawn downwards: its lines grow with every level


def to_text(
    value: Value,
    screen: Screen | None = None,
    *,
    layout: Layout = "auto",
    limit: int | None = None,
    source: Words = None,
    target: Words = None,
    best_tree: bool = True,
) -> str:
    """Draw a value in characters, and return the text.

    `layout` selects a drawing across the screen, one down the screen, or the first if it fits and else the second.
    `source` and `target` are the words of an alignment. A forest is shown as a table of its edges and, with
    `best_tree`, its best tree below. Values with more nodes, words or edges than `limit` are refused. Only the table of
    a forest is truncated instead, and says so.

    >>> print(to_text(Tree.parse("(S (NP (PRP I)) (VP (VBP run)))")))
       S
     ┌─┴──┐
     NP   VP
     │    │
    PRP  VBP
     I   run
    """
    screen = screen or Screen()
    match value:
        case Tree():
            lines = _tree_lines(value, screen, layout, limit)
        case Dependency():
            arcs = _arcs(value, limit, screen.readable)
            lines = _fitting(lambda: dependency.across(arcs, TERMINAL), lambda: dependency.down(arcs), screen, layout)
        case ParseForest():
            lines = _forest_lines(value, screen, limit)
            if best_tree and value.parsed:
                lines += [[], *_tree_lines(value.viterbi(), screen, layout, None)]
        case Alignment():
            links = _links(value, source, target, limit, screen.readable)
            wide = layout == "across" or (layout == "auto" and alignment.matrix_width(links) <= screen.width)
            lines = alignment.matrix(links) if wide else alignment.pairs(links)
    return "\n".join(screen.line(line) for line in lines)


def to_svg(value: Value, *, limit: int | None = None, source: Words = None, target: Words = None) -> str:
    """Draw a value, and return an SVG document. Values with more nodes, words or edges than `limit` are refused.

    >>> to_svg(Tree.parse("(S (NP (PRP I)) (VP (VBP run)))")).count("<text")
    7
    """
    match value:
        case Tree():
            drawing, title = tree.across(_outline(value, limit), svg.PICTURE), " ".join(value.words)
        case Dependency():
            drawing, title = dependency.across(_arcs(value, limit), svg.PICTURE), " ".join(value.words)
        case ParseForest():
            _refuse("forest", value.graph.edges, "edges", limit, PICTURE_EDGES)
            drawing, title = forest.picture(packed_forest(value), svg.PICTURE), " ".join(value.words)
        case Alignment():
            drawing, title = alignment.picture(_links(value, source, target, limit), svg.PICTURE), str(value)
    return svg.render(drawing, title)


def to_html(value: Value, *, limit: int | None = None, source: Words = None, target: Words = None) -> str:
    """Return a value as a piece of HTML: its picture, and below it, for a forest, the table of its edges."""
    picture = f'<div class="drawing">{to_svg(value, limit=limit, source=source, target=target)}</div>'
    if not isinstance(value, ParseForest):
        return picture
    packed = packed_forest(value)
    rows = []
    for node in reversed(range(len(value.words), value.graph.nodes)):
        for i, edge in enumerate(packed.edges_into[node]):
            mark = ' class="best"' if edge in packed.best else ""
            name = escape(printable(packed.names[node])) if i == 0 else ""
            tails = escape(printable(" ".join(packed.names[tail] for tail in packed.tails[edge])))
            rows.append(f"<tr{mark}><td>{name}</td><td>{packed.scores[edge]:.3f}</td><td>{tails}</td></tr>")
    head = "<tr><th>node</th><th>score</th><th>tails</th></tr>"
    return f'{picture}<table class="forest"><thead>{head}</thead><tbody>{"".join(rows)}</tbody></table>'


def _tree_lines(value: Tree, screen: Screen, layout: Layout, limit: int | None) -> list[list[Piece]]:
    if not len(value):
        return [[Piece("(no parse)", "faint")]]
    outline = _outline(value, limit, screen.readable)

    def down() -> list[list[Piece]]:
        _refuse("tree", tree.depth(outline), "levels", None, LEVELS)
        return tree.down(outline)

    return _fitting(lambda: tree.across(outline, TERMINAL), down, screen, layout)


def _forest_lines(value: ParseForest, screen: Screen, limit: int | None) -> list[list[Piece]]:
    if not value.parsed:
        return [[Piece("(no parse)", "faint"), Piece(f" {screen.readable(' '.join(value.words))}", "word")]]
    size = f"{len(value.words)} words, {value.graph.nodes:,} nodes, {value.graph.edges:,} edges, {_many(value.count())}"
    about = [Piece(f"{size}; {value.kind.name} scores; ", "faint"), Piece("■", "strong"), Piece(" best tree", "faint")]
    return [about, [], *forest.table(packed_forest(value, screen.readable), TABLE_EDGES if limit is None else limit)]


def _many(trees: float) -> str:
    if trees == 1:
        return "1 tree"
    return f"{trees:,.0f} trees" if trees < 1e15 else f"{trees:.2g} trees"


def _fitting(
    across: Callable[[], Drawing], down: Callable[[], list[list[Piece]]], screen: Screen, layout: Layout
) -> list[list[Piece]]:
    if layout == "down":
        return down()
    drawing = across()
    return paint(drawing) if layout == "across" or drawing.width <= screen.width else down()


def _same(text: str) -> str:
    return text


def _refuse(what: str, size: int, unit: str, limit: int | None, default: int) -> None:
    most = default if limit is None else limit
    if size > most:
        article = "an" if what[0] in "aeiou" else "a"
        raise TreeglotError(f"{article} {what} of {size:,} {unit} is not drawn: the limit is {most:,}")


def _outline(value: Tree, limit: int | None, readable: Callable[[str], str] = _same) -> tree.Outline:
    _refuse("tree", len(value), "nodes", limit, TREE_NODES)
    return tree.Outline([readable(label) for label in value.labels], value.sizes.tolist())


def _arcs(value: Dependency, limit: int | None, readable: Callable[[str], str] = _same) -> dependency.Arcs:
    _refuse("dependency tree", len(value), "words", limit, WORDS)
    texts = ([readable(text) for text in column or ()] for column in (value.words, value.tags, value.relations))
    words, tags, relations = texts
    return dependency.Arcs(words, value.heads.tolist(), tags, relations)


def packed_forest(value: ParseForest, readable: Callable[[str], str] = _same) -> forest.Packed:
    """Return the drawn parts of a forest, with its best tree marked."""
    graph = value.graph
    best = viterbi(graph, value.scores)
    first, tails = graph.first_tail.tolist(), graph.tails.tolist()
    return forest.Packed(
        labels=[readable(label) for label in value.labels],
        spans=[(begin, end) for begin, end in value.spans.tolist()],
        words=len(value.words),
        heads=graph.heads.tolist(),
        tails=[tails[first[edge] : first[edge + 1]] for edge in range(graph.edges)],
        scores=value.scores.tolist(),
        best=frozenset() if best is None else frozenset(best.edges.tolist()),
    )


def _links(
    value: Alignment, source: Words, target: Words, limit: int | None, readable: Callable[[str], str] = _same
) -> alignment.Links:
    """Return the words of an alignment's sides, or their positions if the words are not given."""
    links = [(i, j) for i, j in value.links.tolist()]
    sizes = [
        1 + max((link[side] for link in links), default=-1) if words is None else len(words)
        for side, words in enumerate((source, target))
    ]
    _refuse("alignment", max(sizes), "words", limit, WORDS)
    value.check(*sizes)
    source, target = (
        [str(i) for i in range(size)] if words is None else words
        for size, words in zip(sizes, (source, target), strict=True)
    )
    return alignment.Links([readable(word) for word in source], [readable(word) for word in target], links)
