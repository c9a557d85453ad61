"""Parses sentences into trees and forests with a split grammar."""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from typing import ClassVar, Generic, Literal, TypeVar

from treeglot import _core
from treeglot._core import ParseForest, SplitGrammar, Tree
from treeglot.base.errors import UsageError
from treeglot.base.files import PathLike, batches
from treeglot.base.options import Options, option
from treeglot.parse.grammar import copy_grammars, joined_folders, load_grammar

T = TypeVar("T", Tree, ParseForest)

SENTENCES_AT_A_TIME = 64
PLACES_SHOWN = 5
LABELS_SHOWN = 10

STATUS = {
    "parsed": "parsed",
    "narrowed": "parsed with the best states of the first pass alone (--most-states)",
    "coarser": "parsed with a coarser level of the grammar, as the finest has no parse",
    "narrowed_coarser": "parsed with a coarser level of the grammar, as the finest has no parse among the best states "
    "of the first pass (--most-states)",
    "fewer": "parsed with some of the grammars, as the others have no parse",
    "flat": "without a parse: flat trees",
    "narrowed_flat": "without a parse among the best states of the first pass (--most-states): flat trees",
    "late": "given up when time was up: flat trees",
    "too_long": "longer than --longest: flat trees",
    "too_large": "given up for lack of memory (--memory-limit): flat trees",
    "no_words": "empty",
}


@dataclass(frozen=True)
class ParsingOptions(Options):
    """Options for parsing sentences."""

    coarse: tuple[float, ...] = option(
        (8.0, 12.0),
        "log margins of the passes from coarse to fine: lower is faster, higher loses less",
        least=0,
        infinite=True,
        paper="Egret",
    )
    most_states: int = option(
        25_000,
        "states over spans that the first pass keeps: of longer sentences the best stay, and these are counted; 0: any",
        least=0,
    )
    prune: float = option(10.0, "log margin of forests' edges below the best tree", least=0, infinite=True, paper="c2d")
    most_edges: int = option(
        500, "edges of one node of a forest: the best stay, and nodes with more are counted", least=1
    )
    scores: Literal["posterior", "probability"] = option(
        "posterior", "forests' scores: posteriors of rules, or probabilities of edges given their heads"
    )
    criterion: Literal["rules", "spans"] = option(
        "rules", "best trees: the greatest product of rules' posteriors, or the fewest expected errors of spans"
    )
    missing: float = option(
        10.0,
        "with several grammars: minus this is the least log posterior of a rule, and that of one which a grammar lacks",
        least=0,
        paper="Petrov 2010",
    )
    longest: int = option(500, "words of a sentence; the tree of a longer one is flat; 0: any number", least=0)
    time_limit: float = option(60.0, "seconds for one sentence, after which its tree is flat; 0: none", least=0)
    memory_limit: float = option(2.0, "GiB of a sentence's chart; one that needs more has a flat tree; 0: any", least=0)
    threads: int = option(1, "threads; they do not change the result", least=1)


@dataclass(frozen=True)
class Parsed(Generic[T]):
    """The result for a sentence: its tree or forest, its status, and log P(sentence) under the grammar.

    `cut` is the number of nodes of a forest that reached a limit: `most_edges`, or one of the limits in
    docs/parsing.md. If several grammars parse together, `each` contains the status of each grammar, and
    `log_probability` is the mean over those that have a parse.
    """

    value: T
    status: str
    log_probability: float
    cut: int = 0
    each: tuple[str, ...] = ()

    @property
    def has_parse(self) -> bool:
        """Whether a grammar has a parse of the sentence. Otherwise the tree is flat, or the sentence has no words."""
        return not math.isinf(self.log_probability)


@dataclass
class GrammarParser:
    """A parser with a split grammar. It uses coarse-to-fine passes and the max-rule criterion (Petrov and Klein 2007).

    With `also`, several grammars parse together: the best tree has the greatest product of their posteriors (Petrov
    2010). `lacking` lists labels that some grammars lack. It maps the number of a grammar, from 1, to the labels that
    only other grammars have.

    `counts` contains the number of sentences with each status so far. `places` contains the numbers of the first few
    sentences with each status except `parsed`, counted from 1. `cut` counts the forest nodes that reached a limit.
    """

    grammar: SplitGrammar
    options: ParsingOptions = field(default_factory=ParsingOptions)
    level: int | None = None
    name: str = "grammar"
    also: tuple[SplitGrammar, ...] = ()
    counts: Counter[str] = field(default_factory=Counter, init=False)
    places: dict[str, list[int]] = field(default_factory=dict, init=False)
    cut: int = field(default=0, init=False)
    lacking: dict[int, list[str]] = field(default_factory=dict, init=False)
    gives: ClassVar[type[ParseForest]] = ParseForest

    def __post_init__(self) -> None:
        """Prepare the grammars for parsing together."""
        _check_level(self.level)
        grammars = [self.grammar, *self.also]
        finest = [len(grammar.states) - 1 if self.level is None else self.level for grammar in grammars]
        self._core: _core.SplitParser | _core.ProductParser
        if self.also:
            self._core = _core.ProductParser(grammars, finest)
            self.lacking = {number: labels for number, labels in enumerate(self._core.lacking(), 1) if labels}
        else:
            self._core = _core.SplitParser(self.grammar, finest[0])

    def parse(self, sentences: Iterable[Sequence[str]]) -> Iterator[ParseForest]:
        """Yield a forest for each sentence. If there is no parse, the forest contains one flat tree."""
        return (parsed.value for parsed in self.forests(sentences))

    def trees(self, sentences: Iterable[Sequence[str]]) -> Iterator[Parsed[Tree]]:
        """Yield the best tree of each sentence, by the option `criterion`."""
        if self.options.criterion == "spans":
            yield from self._trees_by_spans(sentences)
            return
        for some in _batches(sentences, self.options.threads):
            for tree, status, p, each in self._core.trees(some, self.options, self.options.threads):
                yield self._counted(Parsed(tree, status.name, p, 0, _names(each)))

    def forests(self, sentences: Iterable[Sequence[str]]) -> Iterator[Parsed[ParseForest]]:
        """Yield the forest of each sentence.

        With the criterion `rules`, the best tree of a forest is the tree that `trees` yields, below the root of the
        grammar.
        """
        for some in _batches(sentences, self.options.threads):
            for forest, status, p, cut, each in self._core.forests(some, self.options, self.options.threads):
                yield self._counted(Parsed(forest, status.name, p, cut, _names(each)))

    def _trees_by_spans(self, sentences: Iterable[Sequence[str]]) -> Iterator[Parsed[Tree]]:
        """Yield the trees with the fewest expected errors in spans, from pruned forests."""
        parser = self.afresh(self.options.threads)
        parser.options = replace(parser.options, scores="probability")
        own_root = self.grammar.labels[0] == "ROOT"
        for parsed in parser.forests(sentences):
            tree = parsed.value.best_spans()
            shown = _below_root(tree) if own_root and parsed.value.parsed else tree
            yield self._counted(Parsed(shown, parsed.status, parsed.log_probability, parsed.cut, parsed.each))

    def kbest(self, sentences: Iterable[Sequence[str]], k: int) -> Iterator[list[tuple[float, Tree]]]:
        """Return the best `k` trees of each sentence with their scores.

        Like `trees`, they have no ROOT above a single node.
        """
        return (self.kbest_of(parsed.value, k) for parsed in self.forests(sentences))

    def kbest_of(self, forest: ParseForest, k: int) -> list[tuple[float, Tree]]:
        """Return the best `k` trees of one of this parser's forests, with their scores."""
        own_root = self.grammar.labels[0] == "ROOT"
        return [(score, _below_root(tree) if own_root else tree) for score, tree in forest.kbest(k)]

    def _counted(self, parsed: Parsed[T]) -> Parsed[T]:
        self.counts[parsed.status] += 1
        self.cut += parsed.cut
        if parsed.status != "parsed" and self.counts[parsed.status] <= PLACES_SHOWN:
            self.places.setdefault(parsed.status, []).append(self.counts.total())
        return parsed

    def afresh(self, threads: int) -> GrammarParser:
        """Return a parser with the same grammars, another number of threads, and no counts."""
        other = copy(self)
        other.options = replace(self.options, threads=threads)
        other.counts, other.places, other.cut = Counter(), {}, 0
        return other

    def take(self, counts: Mapping[str, int], places: Mapping[str, Sequence[int]], cut: int) -> None:
        """Add the counts of another parser with the same grammars, which parsed the sentences that follow."""
        before = self.counts.total()
        self.counts.update(counts)
        self.cut += cut
        for status, numbers in places.items():
            known = self.places.setdefault(status, [])
            known += [before + number for number in numbers][: PLACES_SHOWN - len(known)]

    def differences(self) -> str:
        """Describe the labels that some of the grammars lack. The result is empty if all have the same labels."""
        parts = [
            f"grammar {number} lacks {', '.join(labels[:LABELS_SHOWN])}"
            + (f" and {len(labels) - LABELS_SHOWN} more" if len(labels) > LABELS_SHOWN else "")
            for number, labels in self.lacking.items()
        ]
        return f"labels differ: {'; '.join(parts)}; rules with these count as missing there" if parts else ""

    def summary(self) -> str:
        """Summarise the counts in one line, and name the first sentences without a normal parse."""
        total = self.counts.total()
        parts = [
            f"{self.counts[status]:,} {STATUS[status]} ({_some(places, self.counts[status])})"
            for status, places in self.places.items()
        ]
        text = f"{total:,} sentence{_s(total)}" + (": " + "; ".join(parts) if parts else ", all parsed")
        if self.also:
            text = f"{1 + len(self.also)} grammars, {text}"
        if not self.cut:
            return text
        limits = f"{self.options.most_edges:,} edges, 64 of a label and span, 1,000 unary chains"
        return text + f"; {self.cut:,} node{_s(self.cut)} cut by a limit ({limits})"


def load_parser(
    directory: PathLike,
    options: ParsingOptions | None = None,
    level: int | None = None,
    also: Sequence[PathLike] = (),
) -> GrammarParser:
    """Load the parser in a folder of grammar files. Without `level`, it uses all levels.

    The parser uses several grammars together if `also` names their folders, or if `join_parsers` put them into one of
    the folders.
    """
    _check_level(level)
    folders = [folder for given in (directory, *also) for folder in joined_folders(given)]
    grammars = [load_grammar(folder, None if level is None else level + 1) for folder in folders]
    try:
        return GrammarParser(
            grammars[0], options or ParsingOptions(), name=os.fspath(directory), also=tuple(grammars[1:])
        )
    except ValueError as error:
        if len(folders) == 1:
            raise
        raise UsageError(f"{', '.join(map(os.fspath, folders))}: {error}") from error


def join_parsers(grammars: Sequence[PathLike], directory: PathLike) -> GrammarParser:
    """Copy several grammars into one new folder, and return the parser that uses all of them together.

    Models and recipes accept this folder wherever they accept a grammar. Grammars that cannot parse together are an
    error.
    """
    first, *others = grammars
    parser = load_parser(first, also=others)
    copy_grammars([folder for given in grammars for folder in joined_folders(given)], directory)
    return parser


def _check_level(level: int | None) -> None:
    if level is not None and level < 0:
        raise UsageError(f"level is {level}; expected 0 or more")


def _names(statuses: Iterable[_core.ParseStatus]) -> tuple[str, ...]:
    return tuple(status.name for status in statuses)


def _s(number: int) -> str:
    return "" if number == 1 else "s"


def _some(places: list[int], number: int) -> str:
    shown = ", ".join(map(str, places))
    more = number - len(places)
    return f"line{_s(number)} {shown}" + (f" and {more:,} more" if more else "")


def _below_root(tree: Tree) -> Tree:
    """Remove a root that has only one node below it.

    Treebanks may have ROOT over a phrase and a full stop, or over a word.
    """
    children = tree.root.children
    return children[0].subtree() if len(children) == 1 and not children[0].is_word else tree


def _batches(sentences: Iterable[Sequence[str]], threads: int) -> Iterator[list[list[str]]]:
    return batches((list(words) for words in sentences), SENTENCES_AT_A_TIME * threads)
