"""Converts one kind of syntax into another that can hold it: trees ↔ forests → dependencies, all of them → text."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal, TypeAlias

from treeglot._core import Alignment, Dependency, Hypergraph, Lattice, ParseForest, ScoreKind, Tree
from treeglot.base.errors import FormatError, TreeglotError, UsageError
from treeglot.base.options import Options, option
from treeglot.syntax import heads
from treeglot.syntax.constituents import to_dependencies
from treeglot.syntax.formats import FORMATS, Records
from treeglot.syntax.head_style import head_style

NOUNS: dict[type[Any], str] = {
    Tree: "trees",
    ParseForest: "forests",
    Dependency: "dependencies",
    Alignment: "alignments",
    Lattice: "lattices",
    list: "text",
}

BATCH = 256  # values that cross into the core at a time


@dataclass(frozen=True)
class ConvertOptions(Options):
    """How one kind of syntax becomes another."""

    heads: str | None = option(
        None, "Head table that makes dependencies: a file, or a name such as english (docs/formats.md)."
    )
    style: str = option(
        "table", "Where dependencies depart from the head table: table, johansson-nugues, content, or NAME=VALUE,…"
    )
    kbest: int = option(
        1, "Trees that make a forest or come from one; short lists are filled with empty trees.", least=1
    )
    prune: float | None = option(
        None, "Drop forest edges that the best tree beats by more than this (natural log).", least=0, infinite=True
    )
    scores: Literal["conditional", "posterior"] | None = option(None, "What the scores of forests become.")


Step: TypeAlias = "Callable[[Iterator[Any], ConvertOptions], Iterable[Any]]"


def convert(values: Iterable[Any], source: type[Any], target: type[Any], options: ConvertOptions) -> Iterator[Any]:
    """Convert values of the type `source` to the type `target`, and yield them.

    Impossible conversions and unused options raise `UsageError`.

    >>> tree = Tree.parse("(S (NP (PRP I)) (VP (VBP run)))")
    >>> list(convert([tree], Tree, list, ConvertOptions()))
    [['I', 'run']]
    >>> next(convert([tree], Tree, Dependency, ConvertOptions(heads="english"))).to_brackets()
    '(I) run'
    >>> convert([tree.words], list, Tree, ConvertOptions())
    Traceback (most recent call last):
    treeglot.base.errors.UsageError: text cannot be turned into trees, only into text (formats: text)
    """
    try:
        step, used = _STEPS[source, target]
    except KeyError:
        able = [kind for kind in NOUNS if (source, kind) in _STEPS]
        formats = ", ".join(name for name, format in FORMATS.items() if format.holds in able)
        nouns = " or ".join(NOUNS[kind] for kind in able)
        raise UsageError(
            f"{NOUNS[source]} cannot be turned into {NOUNS[target]}, only into {nouns} (formats: {formats})"
        ) from None
    for field in dataclasses.fields(options):
        if field.name not in used and getattr(options, field.name) != field.default:
            raise UsageError(f"{field.name} has no part in turning {NOUNS[source]} into {NOUNS[target]}")
    if target is Dependency and source is not Dependency and options.heads is None:
        names = ", ".join(heads.names())
        raise UsageError(f"turning {NOUNS[source]} into dependencies takes a head table: heads is {names} or a file")
    return _numbered(iter(values), step, options)


class _RefusedError(ValueError):
    """Raised for a value that cannot be converted. After it, `back` more values were read."""

    def __init__(self, back: int, problem: str) -> None:
        super().__init__(problem)
        self.back = back


def _numbered(values: Iterator[Any], step: Step, options: ConvertOptions) -> Iterator[Any]:
    """Yield the results of a conversion. An error names the number of the value and, if known, its file and line."""
    read = 0

    def counted() -> Iterator[Any]:
        nonlocal read
        for value in values:
            read += 1
            yield value

    try:
        yield from step(counted(), options)
    except FormatError:
        raise
    except ValueError as error:
        number = read - (error.back if isinstance(error, _RefusedError) else 0)
        file, line = (values.file, values.line_of(number)) if isinstance(values, Records) else ("", 0)
        if line:
            raise FormatError(file, line, str(error)) from error
        raise TreeglotError(f"{file and f'{file}: '}record {number}: {error}") from error


def _batches(values: Iterator[Any], size: int) -> Iterator[list[Any]]:
    while batch := list(islice(values, size)):
        yield batch


def _same(values: Iterator[Any], options: ConvertOptions) -> Iterator[Any]:
    return values


def _words(values: Iterator[Any], options: ConvertOptions) -> Iterator[list[str]]:
    return (value.words for value in values)


def _trees_to_forests(trees: Iterator[Tree], options: ConvertOptions) -> Iterator[ParseForest]:
    for batch in _batches(trees, options.kbest):
        if len(batch) < options.kbest:
            raise ValueError(f"the last list has {len(batch)} of {options.kbest} trees")
        # Files of trees have no scores: each tree of a list counts the same.
        parsed = [(0.0, tree) for tree in batch if len(tree)]
        for place, tree in enumerate(batch, 1):
            if len(tree) and tree.words != parsed[0][1].words:
                raise _RefusedError(len(batch) - place, f"tree {place} of a list has other words than its first")
        if not parsed:
            yield _scored(_no_parse(), options)
        elif options.kbest == 1:
            yield _scored(ParseForest.from_tree(parsed[0][1]), options)
        else:
            yield _scored(ParseForest.from_kbest(parsed), options)


def _trees_to_dependencies(trees: Iterator[Tree], options: ConvertOptions) -> Iterator[Dependency]:
    table, style = heads.load(options.heads or ""), head_style(options.style)  # which take every tree
    for batch in _batches(trees, BATCH):
        yield from to_dependencies(batch, table, style)


def _pruned(forests: Iterator[ParseForest], options: ConvertOptions) -> Iterator[ParseForest]:
    margin = options.prune
    return forests if margin is None else (forest.prune(margin) for forest in forests)


def _rescored(forests: Iterator[ParseForest], options: ConvertOptions) -> Iterator[ParseForest]:
    return (_scored(forest, options) for forest in _pruned(forests, options))


def _scored(forest: ParseForest, options: ConvertOptions) -> ParseForest:
    if options.scores is None or forest.kind.name == options.scores:
        return forest
    return forest.conditional() if options.scores == "conditional" else to_posteriors(forest)


def to_posteriors(forest: ParseForest) -> ParseForest:
    """Replace the scores of a forest by the log posteriors of its edges.

    >>> forest = ParseForest.from_tree(Tree.parse("(S (X a))"))
    >>> to_posteriors(forest).kind.name, to_posteriors(forest).scores.tolist()
    ('posterior', [0.0, 0.0, 0.0])
    """
    import numpy as np

    from treeglot.graph import posteriors

    graph = forest.graph
    # A word is in every tree; rounding must not take it out of some, or put an edge into more than all.
    scores = np.minimum(posteriors(graph, forest.scores), 0.0)
    scores[: graph.first_edge[len(forest.words)]] = 0.0
    return ParseForest(graph, forest.labels, forest.spans.tolist(), scores.tolist(), ScoreKind.posterior)


def _no_parse() -> ParseForest:
    return ParseForest(Hypergraph.from_arrays([0], [0], [], None), [], [], [], ScoreKind.conditional)


def _forests_to_trees(forests: Iterator[ParseForest], options: ConvertOptions) -> Iterator[Tree]:
    for forest in _pruned(forests, options):
        if options.kbest == 1:
            yield forest.viterbi()
        else:
            trees = [tree for _, tree in forest.kbest(options.kbest)]
            yield from [*trees, *([Tree()] * (options.kbest - len(trees)))]


def _forests_to_dependencies(forests: Iterator[ParseForest], options: ConvertOptions) -> Iterator[Dependency]:
    return _trees_to_dependencies(_forests_to_trees(forests, options), options)


_STEPS: dict[tuple[type[Any], type[Any]], tuple[Step, set[str]]] = {
    (list, list): (_same, set()),
    (Alignment, Alignment): (_same, set()),
    (Lattice, Lattice): (_same, set()),
    (Dependency, Dependency): (_same, set()),
    (Dependency, list): (_words, set()),
    (Tree, Tree): (_same, set()),
    (Tree, list): (_words, set()),
    (Tree, ParseForest): (_trees_to_forests, {"kbest", "scores"}),
    (Tree, Dependency): (_trees_to_dependencies, {"heads", "style"}),
    (ParseForest, ParseForest): (_rescored, {"prune", "scores"}),
    (ParseForest, list): (_words, set()),
    (ParseForest, Tree): (_forests_to_trees, {"kbest", "prune"}),
    (ParseForest, Dependency): (_forests_to_dependencies, {"heads", "style", "kbest", "prune"}),
}
