"""Random trees, forests, dependencies and alignments: `from syntax_strategies import trees`."""

from math import prod

from hypothesis import strategies as st

from treeglot import Alignment, Dependency, ParseForest, Tree
from treeglot._core import ScoreKind
from treeglot.graph import Builder
from treeglot.syntax.lattice import Lattice

SEPARATORS = " \t\n\r\0"

# All of Unicode but what separates; then words and labels that look like parts of some format.
_character = st.characters(codec="utf-8", exclude_characters=SEPARATORS)
_odd_word = st.sampled_from(
    ["(", ")", "[", "]", "{", "}", ":)", "|||", "=>", "#", "_", "^g", "NN[0,0]", "1-2", "0.1", "1", "sentence",
     "\u2028", "\u00a0", "\u0085", '"', "\\", "null", "-", "--", "-LRB", "RRB-", "\ufffd", "𝔘", "\ufeff"]
)  # fmt: skip
_hostile_word = st.sampled_from(["", " ", "a b", "a\tb", "a\nb", "a\rb", "\0", "-LRB-", "x-RSB-y", "-LRB)", "\ufeffx"])
_odd_label = st.sampled_from(
    ["NP", "-LRB-", "-NONE-", "NP-SBJ=1", "X^", "=>", "|||", "#", "^g", "X[0,0]", "X]", "[", ",", ".", "``", "句"]
)

words = st.one_of(_odd_word, st.text(_character, min_size=1, max_size=6))
any_words = st.one_of(words, _hostile_word)
labels = st.one_of(_odd_label, st.text(_character, min_size=1, max_size=4))
any_labels = st.one_of(labels, _hostile_word, st.sampled_from(["NP^g", "("]))
sentences = st.lists(words, min_size=1, max_size=5)
few_labels = st.sampled_from(["S", "X", "Y"])
scores = st.one_of(
    st.sampled_from([0.0, -0.0, -0.5, -1.0, 1.0, 0.1, -4.9e-324, 1.7e308, -123456789012345678.0, 1e22, 1e23]),
    st.floats(-50, 5),
    st.floats(allow_nan=False, allow_infinity=False),
)
kinds = st.sampled_from(list(ScoreKind))
mild_scores = st.one_of(st.sampled_from([0.0, -0.5, -1.0]), st.floats(-20, 5))


@st.composite
def trees(
    draw: st.DrawFn,
    words: st.SearchStrategy[list[str]] = sentences,
    labels: st.SearchStrategy[str] = labels,
    tagged: bool = False,
) -> Tree:
    """A tree over words that are drawn or given by `st.just`; with unary chains. `tagged`: words are only children."""
    tokens = draw(words)

    def node(begin: int, end: int, chain: int = 0) -> tuple[object, ...]:
        label = draw(labels)
        if chain < 4 and draw(st.sampled_from([False, False, True])):
            return (label, node(begin, end, chain + 1))
        if end - begin == 1:
            return (label, tokens[begin])
        cuts = sorted(draw(st.sets(st.integers(begin + 1, end - 1), min_size=1, max_size=3)))
        parts = list(zip([begin, *cuts], [*cuts, end], strict=True))
        bare = [not tagged and e - b == 1 and not draw(st.booleans()) for b, e in parts]
        return (label, *(tokens[b] if word else node(b, e) for (b, e), word in zip(parts, bare, strict=True)))

    return Tree.from_nested(node(0, len(tokens)))


@st.composite
def dependencies(
    draw: st.DrawFn, words: st.SearchStrategy[str] = words, labels: st.SearchStrategy[str] = labels
) -> Dependency:
    """Any heads: cycles, several roots, none; tags and relations or not."""
    size = draw(st.integers(1, 6))
    some = st.lists(labels, min_size=size, max_size=size)
    heads = [draw(st.sampled_from([h for h in range(-2, size) if h != word])) for word in range(size)]
    return Dependency(
        draw(st.lists(words, min_size=size, max_size=size)),
        heads,
        draw(st.none() | some),
        draw(st.none() | some),
    )


alignments = st.builds(
    Alignment, st.lists(st.tuples(*[st.one_of(st.integers(0, 20), st.integers(0, 2**32 - 1))] * 2), max_size=8)
)


@st.composite
def forests(
    draw: st.DrawFn,
    words: st.SearchStrategy[str] = words,
    labels: st.SearchStrategy[str] = labels,
    scores: st.SearchStrategy[float] = scores,
    kinds: st.SearchStrategy[ScoreKind] = kinds,
    plain: bool = False,
    max_trees: int = 200,
) -> ParseForest:
    """A small forest, or an unparsed one; with unary chains, shared and unreachable nodes.

    `plain`: what Egret's format can hold: words are only children, there is one root.
    """
    tokens = draw(st.lists(words, min_size=1, max_size=4))
    n = len(tokens)
    names, spans = list(tokens), [(i, i + 1) for i in range(n)]
    edges: list[list[list[int]]] = [[[]] for _ in tokens]  # of each node
    trees = [1] * n  # below each node

    def add(label: str, span: tuple[int, int], below: list[list[int]]) -> None:
        names.append(label)
        spans.append(span)
        edges.append(below)
        trees.append(sum(prod(trees[v] for v in edge) for edge in below))

    def cover(begin: int, end: int) -> list[int]:
        """Nodes that cover the span from left to right; few trees if many would be too many."""
        chosen, at = [], begin
        while at < end:
            small = n if plain else 0
            fitting = [v for v in range(small, len(names)) if spans[v][0] == at and spans[v][1] <= end]
            chosen.append(draw(st.sampled_from(fitting)))
            at = spans[chosen[-1]][1]
        simple = [v + n if plain else v for v in range(begin, end)]
        return chosen if prod(trees[v] for v in chosen) * 4 <= max_trees else simple

    goal = None
    if draw(st.sampled_from([True, True, True, False])):
        for i in range(n if plain else 0):
            add(draw(labels), (i, i + 1), [[i]])
        for _ in range(draw(st.integers(0, 7))):
            begin = draw(st.integers(0, n - 1))
            span = (begin, draw(st.integers(begin + 1, n)))
            label = draw(labels)
            below = [cover(*span) for _ in range(draw(st.integers(1, 3)))]
            if sum(prod(trees[v] for v in edge) for edge in below) <= max_trees:
                add(label, span, below)
        used = {v for node in edges for edge in node for v in edge}
        loose = [[v] for v in range(n, len(names)) if spans[v] == (0, n) and v not in used]
        add("TOP!", (0, n), [cover(0, n), *(loose if plain else [])])
        goal = len(names) - 1

    builder = Builder()
    builder.add_nodes(len(names))
    values: list[float] = []
    for head, mine in enumerate(edges):
        for edge in mine:
            builder.add_edge(head, edge)
            values.append(draw(scores) if edge else 0.0)
    return ParseForest(builder.freeze(goal).graph, names, spans, values, draw(kinds))


@st.composite
def lattices(draw: st.DrawFn, words: st.SearchStrategy[str] = words, most: int = 5) -> Lattice:
    """Of a few nodes, with skips, parallel arcs and arcs without words."""
    last = draw(st.integers(1, most))
    scores = st.integers(-16, 4).map(lambda eighths: eighths / 8)
    # Every node has an arc to the next one, so all of them are on a path.
    arcs = [(node, node + 1, draw(words), draw(scores)) for node in range(last)]
    for _ in range(draw(st.integers(0, 4))):
        begin = draw(st.integers(0, last - 1))
        end = draw(st.integers(begin + 1, last))
        arcs.append((begin, end, draw(st.one_of(words, words, st.just(""))), draw(scores)))
    return Lattice(draw(st.permutations(arcs)))
