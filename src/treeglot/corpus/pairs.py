"""Reads sentence pairs with their links and parses, in one pass over the files of a corpus."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from treeglot._core import HeadTable, link_posteriors
from treeglot.base.errors import FormatError, UsageError
from treeglot.corpus.files import Corpus, Side
from treeglot.corpus.parses import as_forest
from treeglot.syntax import Alignment, Dependency, ParseForest, Tree, heads
from treeglot.syntax.constituents import to_dependencies
from treeglot.syntax.formats import find_format, missing_hint, read_parallel
from treeglot.syntax.head_style import head_style
from treeglot.syntax.same_words import difference

BATCH = 2048  # pairs read at a time
LEAST_POSTERIOR = 0.025  # of a link; files of posteriors leave out links below 0.05 in both directions
NO_TREE, NO_DEPENDENCY = Tree(), Dependency([], [])


@dataclass(frozen=True)
class Needs:
    """Defines what `Corpus.pairs` adds to the words and links of a pair.

    With `best`, the forest contains only the best tree. Dependencies are read from a file, or converted from trees with
    a head table and a style.
    """

    source: Literal["words", "forest", "best", "tree", "dependency"] = "words"
    target: Literal["words", "tree", "dependency"] = "words"
    source_heads: str = "chinese"
    target_heads: str = "english"
    target_style: str = "table"
    source_tags: bool = True  # whether source dependencies without tags are an error
    tags: bool = False  # whether target dependencies without tags are an error
    skip_bad: bool = False  # leave out parses whose words are not the text's, and count them


@dataclass(frozen=True, slots=True)
class Pair:
    """A sentence pair. Parts that were not requested, or that have no file, are None."""

    number: int  # from 1
    source: list[str]
    target: list[str]
    links: Alignment
    source_forest: ParseForest | None = None
    source_tree: Tree | None = None  # without words if there is none
    target_tree: Tree | None = None
    source_dependency: Dependency | None = None  # without words if there is none
    target_dependency: Dependency | None = None
    weights: Sequence[float] = ()  # of the links, or none: rules count by them
    # A pair with several alignments comes once for each. The sums of their weights up to this one, without and with it.
    share: tuple[float, float] | None = None

    @property
    def is_first(self) -> bool:
        """Whether the pair comes with its first (or only) alignment."""
        return self.share is None or self.share[0] == 0


@dataclass
class PairCounts:
    """Counts that are collected while pairs are read, some of them by side."""

    pairs: int = 0
    respelt: int = 0  # source sentences whose parses differ in case or brackets: kept unchanged
    lifted: int = 0  # target dependency trees with crossing arcs, which were lifted
    missing: dict[Side, int] = field(default_factory=lambda: {"source": 0, "target": 0})  # sentences without a tree
    mismatched: dict[Side, int] = field(default_factory=lambda: {"source": 0, "target": 0})  # other words: left out
    unlikely: int | None = None  # links without a posterior; None: posteriors are not asked for
    alignments: int = 0  # that are united, each with its weight; 0: none are

    def as_counts(self) -> dict[str, int]:
        """Return the counts of trees and links, for `extraction.json`."""
        named = {"missing": self.missing, "mismatched": self.mismatched}
        out = {f"{side}_{name}": number for name, of in named.items() for side, number in of.items()}
        if self.alignments:
            out |= {"pairs": self.pairs, "alignments": self.alignments}
        return out if self.unlikely is None else out | {"unlikely_links": self.unlikely}

    def lines(self) -> list[str]:
        """Return remarks on counts that are unusual."""
        out = []
        if self.respelt:
            out.append(
                f"{self.respelt:,} source sentences have another case or other brackets in their parses than in the "
                "text: rules have the words of the parses"
            )
        if self.lifted:
            out.append(f"{self.lifted:,} target dependency trees were not projective, and were made so")
        if any(self.missing.values()):
            out.append(
                f"{self.missing['source']:,} source and {self.missing['target']:,} target sentences have no tree"
            )
        for side, number in self.mismatched.items():
            if number:
                out.append(f"{number:,} {side} parses were left out: their words are not the text's")
        if self.alignments:
            out.append(f"rules are counted under {self.alignments:,} alignments, by their weights")
        if self.unlikely:
            out.append(f"{self.unlikely:,} links have no posterior, and count as {LEAST_POSTERIOR}")
        return out


class Pairs(Iterator[Pair]):
    """The sentence pairs of a corpus, read during iteration. `counts` describes what has been read so far.

    The words come from the text if it is given, and otherwise from the parses. If the model translates source parses,
    the source words come from the parses, because rules with other words would never match a parse. They can differ
    from the text only in case and escaped brackets. A pair with a failed parse and no text has no links.
    """

    def __init__(self, corpus: Corpus, needs: Needs) -> None:
        """Open the files. A corpus that lacks alignments, or the words of a side, is refused."""
        self.counts = PairCounts()
        self._links = corpus.weighted_alignments()
        self._united = corpus.united
        self.counts.alignments = len(self._links) if self._united else 0
        self._source = _SideReader(corpus, "source", needs.source, needs, self.counts)
        self._target = _SideReader(corpus, "target", needs.target, needs, self.counts)
        files = [*self._source.files, *self._target.files, *((path, "pharaoh") for path, _ in self._links)]
        self._posteriors = corpus.posteriors
        if self._posteriors is not None:
            self.counts.unlikely = 0
            files.append((self._posteriors, "text"))
        self._pairs = self._read(read_parallel(*files))

    def __next__(self) -> Pair:
        return next(self._pairs)

    def _read(self, rows: Iterator[tuple[Any, ...]]) -> Iterator[Pair]:
        split = len(self._source.files)
        end = split + len(self._target.files)
        for batch in _batches(rows):
            columns = list(zip(*batch, strict=True))
            first = self.counts.pairs + 1
            source = self._source.read(columns[:split], first)
            target = self._target.read(columns[split:end], first)
            posteriors = columns[-1] if self._posteriors else [None] * len(batch)
            aligned = zip(*columns[end : end + len(self._links)], strict=True)
            for number, each, likely, (f, source_parse), (e, target_parse) in zip(
                range(first, first + len(batch)), aligned, posteriors, source, target, strict=True
            ):
                failed = self._source.failed(f) or self._target.failed(e)
                self.counts.pairs += 1
                for share, links in self._shares([Alignment()] * len(each) if failed else each, f, e, number):
                    weights = () if likely is None else self._weights(links, likely, f, e, number)
                    yield Pair(number, f, e, links, **source_parse, **target_parse, weights=weights, share=share)

    def _shares(
        self, aligned: Sequence[Alignment], source: list[str], target: list[str], number: int
    ) -> Iterator[tuple[tuple[float, float] | None, Alignment]]:
        """Yield the alignments of a pair. If there are several, each comes with its share of the count."""
        begin = 0.0
        for (path, weight), links in zip(self._links, aligned, strict=True):
            check_links(links, source, target, path, number)
            yield (begin, begin + weight) if self._united else None, links
            begin += weight

    def _weights(
        self, links: Alignment, likely: list[str], source: list[str], target: list[str], number: int
    ) -> list[float]:
        """Return the posteriors of a pair's links. Links that the file does not list get a small default value."""
        try:
            found = link_posteriors(links, likely, len(source), len(target))
        except ValueError as error:
            raise FormatError(os.fspath(self._posteriors or ""), number, str(error)) from error
        self.counts.unlikely = (self.counts.unlikely or 0) + found.count(0)
        return [max(posterior, LEAST_POSTERIOR) for posterior in found]


def _batches(rows: Iterator[tuple[Any, ...]]) -> Iterator[list[tuple[Any, ...]]]:
    """Yield the rows of the files in batches. If a row is bad, the rows before it come first, and then its error."""
    batch = []
    try:
        for row in rows:
            batch.append(row)
            if len(batch) == BATCH:
                yield batch
                batch = []
    except FormatError:
        if batch:
            yield batch
        raise
    if batch:
        yield batch


def check_links(links: Alignment, source: Sequence[str], target: Sequence[str], file: Path, line: int) -> None:
    """Refuse a link that points outside its sentence pair."""
    try:
        links.check(len(source), len(target))
    except ValueError as error:
        raise FormatError(os.fspath(file), line, str(error)) from error


class _SideReader:
    """Reads one side of the pairs: its words, and the requested parts of its parses."""

    def __init__(self, corpus: Corpus, side: Side, wanted: str, needs: Needs, counts: PairCounts) -> None:
        self.side, self.wanted, self.needs, self.counts = side, wanted, needs, counts
        self.text: Path | None = getattr(corpus, side)
        self.parses = corpus.parses(side) if wanted != "words" or self.text is None else None
        if self.text is None and self.parses is None:
            raise UsageError(f"there is no --{side}, and no parses of that side")
        named = ((self.text, "text"), (self.parses, self.parses and find_format(self.parses).name))
        self.files = [(path, format) for path, format in named if path and format]
        # Models that translate parses have rules with their words.
        self.as_parsed = side == "source" and wanted in ("forest", "best", "dependency")
        if wanted == "dependency":
            self.heads: HeadTable = heads.load(needs.source_heads if side == "source" else needs.target_heads)
            self.style = head_style("table" if side == "source" else needs.target_style)

    @property
    def field(self) -> str:
        """The name of the field of `Pair` that contains the parse."""
        return f"{self.side}_{self.wanted.replace('best', 'forest')}"

    def failed(self, words: Sequence[str]) -> bool:
        """Return whether a sentence has no words because there is no text and its parse failed."""
        return self.text is None and not words

    def read(self, columns: Sequence[Sequence[Any]], first: int) -> Iterator[tuple[list[str], dict[str, Any]]]:
        """Yield the words of some sentences, with the requested parts of their parses.

        The number of the first sentence is `first`.
        """
        length = len(columns[0])
        texts = columns[0] if self.text else [None] * length
        parses = columns[-1] if self.parses else [None] * length
        values = self._convert(parses) if self.parses else parses
        for number, text, parse, value in zip(range(first, first + length), texts, parses, values, strict=True):
            words = text
            if self.wanted == "tree" and value is not None:
                self.counts.missing[self.side] += not len(value) and text != []
            if parse is not None:
                parsed: list[str] = parse.words
                if text is None:
                    words = parsed
                elif parsed and parsed != text:
                    if problem := difference(parsed, text, f"line {number} of {self.text}"):
                        value = self._leave_out(number, problem, value)
                    elif self.as_parsed:
                        self.counts.respelt += 1
                        words = parsed
            if self.field == "source_dependency" and self.needs.source_tags and len(value) and not value.tags:
                raise self._error(number, "it has no tags; rules of dependency trees need them")
            if self.field == "target_dependency":
                value = self._target_dependency(number, text, value)
            yield words, {} if self.wanted == "words" else {self.field: value}

    def _convert(self, parses: Sequence[Any]) -> Sequence[Any]:
        match self.wanted:
            case "forest" | "best":
                return [as_forest(value, self.wanted == "best") for value in parses]
            case "dependency" if not isinstance(parses[0], Dependency):
                trees = [value.viterbi() if isinstance(value, ParseForest) else value for value in parses]
                return to_dependencies(trees, self.heads, self.style)
        return parses

    def _leave_out(self, number: int, problem: str, value: Any) -> Any:
        """Return what replaces a parse whose words differ from the text. A failed parse can have any words."""
        failed = not (value.parsed if isinstance(value, ParseForest) else len(value))
        if failed:
            return value
        if not self.needs.skip_bad:
            raise self._error(number, f"{problem}{missing_hint(self.files[-1][0])}")
        self.counts.mismatched[self.side] += 1
        return {Tree: NO_TREE, Dependency: NO_DEPENDENCY}.get(type(value))

    def _target_dependency(self, number: int, text: list[str] | None, tree: Dependency) -> Dependency:
        """Return the dependency tree as rules need it: with the words of the text, and without crossing arcs.

        A failed parse has no words; in CoNLL, it has words without heads. Cycles stay, because extraction uses the
        well-formed structures around them.
        """
        if not len(tree) or (tree.heads == Dependency.NO_HEAD).all():
            return NO_DEPENDENCY
        if text is not None and text != tree.words:
            tree = Dependency(text, tree.heads.tolist(), tree.tags, tree.relations)
        if self.needs.tags and not tree.tags:
            raise self._error(number, "it has no tags; a model over tags needs them")
        if not tree.is_projective() and not tree.cycle():
            self.counts.lifted += 1
            tree, _ = tree.projectivise()
        return tree

    def _error(self, number: int, problem: str) -> FormatError:
        noun = "forest" if self.field == "source_forest" else "tree"
        return FormatError(os.fspath(self.files[-1][0]), 0, f"{noun} {number}: {problem}")
