"""The sides of a parallel corpus, whichever files say them: text, or parses alone."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from treeglot.base.errors import FormatError, UsageError
from treeglot.models.kind import Corpus, Work
from treeglot.rules import as_forest
from treeglot.syntax import (
    Alignment,
    Dependency,
    HeadStyle,
    HeadTable,
    ParseForest,
    find_format,
    head_style,
    heads,
    read,
    read_parallel,
    to_dependencies,
)
from treeglot.syntax.same_words import difference

BATCH = 2048  # trees that are turned into dependencies at a time


@dataclass
class TreeCounts:
    """What trees and forests were like, and what became of them."""

    lifted: int = 0  # crossing arcs, which were lifted
    mismatched: int = 0  # other words than the text: left out
    respelt: int = 0  # source sentences that have another case or other brackets than the text: taken as they are

    def say(self, work: Work, side: str = "target") -> None:
        """Tell what is out of the ordinary."""
        if self.respelt:
            work.report(
                f"{self.respelt:,} source sentences have another case or other brackets in their parses than in the "
                "text: rules have the words of the parses"
            )
        if self.lifted:
            work.report(f"{self.lifted:,} {side} dependency trees were not projective, and were made so")
        if self.mismatched:
            work.report(f"{self.mismatched:,} {side} trees were left out: their words are not the text's")


def aligned_words(
    corpus: Corpus, *, as_parsed: TreeCounts | None = None
) -> Iterator[tuple[list[str], list[str], Alignment]]:
    """The words of both sides, and the links between them.

    The words are those of the text if it is given, else those of the parses. A pair with a failed parse in place of a
    text has no links; a link that points outside is a `FormatError` that names its line.

    With `as_parsed`, for models that translate parses, the words of the source side are those of its parses all the
    same, as far as they differ from the text in nothing but case and escaped brackets, which is counted: rules with the
    text's words would never meet a parse.
    """
    links = corpus.file("alignments")
    files = [_side(corpus, "source"), _side(corpus, "target"), (links, "pharaoh")]
    if as_parsed and corpus.source is not None:
        path = parses(corpus, "source")
        files.append((path, find_format(path).name))
    for number, (source, target, alignment, *more) in enumerate(read_parallel(*files), 1):
        source_words, target_words = words_of(source), words_of(target)
        for parsed in map(words_of, more):
            if as_parsed and parsed and parsed != source_words and not difference(parsed, source_words, ""):
                source_words = parsed
                as_parsed.respelt += 1
        if any(not words_of(side) and not isinstance(side, list) for side in (source, target)):
            alignment = Alignment()
        check_links(alignment, source_words, target_words, links, number)
        yield source_words, target_words, alignment


def check_links(alignment: Alignment, source: list[str], target: list[str], file: Path, line: int) -> None:
    """Refuse a link that points outside its sentence pair."""
    try:
        alignment.check(len(source), len(target))
    except ValueError as error:
        raise FormatError(os.fspath(file), line, str(error)) from error


def target_sentences(corpus: Corpus) -> Iterator[list[str]]:
    """The words of the target side; those of failed parses are left out."""
    path, format = _side(corpus, "target")
    return (words for value in read(path, format) if (words := words_of(value)))


def words_of(value: Any) -> list[str]:
    """The words of a sentence or its parse."""
    return list(value) if isinstance(value, list) else list(value.words)


def _side(corpus: Corpus, side: str) -> tuple[Path, str]:
    if (text := getattr(corpus, side)) is not None:
        return text, "text"
    path = parses(corpus, side)
    return path, find_format(path).name


def parses(corpus: Corpus, side: str) -> Path:
    """The file with the parses of a side."""
    for kind in ("forests", "trees", "dependencies"):
        path: Path | None = getattr(corpus, f"{side}_{kind}", None)
        if path is not None:
            return path
    raise UsageError(f"there is no --{side}, and no parses of that side")


def _with_text(corpus: Corpus, side: str) -> Iterator[tuple[Any, list[str] | None]]:
    """The parses of a side and, if it is given, their text; as many of one as of the other."""
    path, text = parses(corpus, side), getattr(corpus, side)
    return read_parallel(path, (text, "text")) if text is not None else ((value, None) for value in read(path))


def source_forests(corpus: Corpus, best: bool = False) -> Iterator[ParseForest | None]:
    """The forests of the source side, or with `best` those of their best trees alone."""
    return (as_forest(value, best) for value, _ in _with_text(corpus, "source"))


def source_dependencies(
    corpus: Corpus, table: str, style: str = "table", *, skip_bad: bool = False, counts: TreeCounts | None = None
) -> Iterator[Dependency]:
    """Like `target_dependencies`, of the source side, with their own words, and crossing arcs as they are."""
    counts = counts or TreeCounts()
    return _side_dependencies(corpus, "source", heads.load(table), head_style(style), skip_bad, counts)


def target_dependencies(
    corpus: Corpus,
    table: str,
    style: str = "table",
    *,
    tags: bool = False,
    skip_bad: bool = False,
    counts: TreeCounts | None = None,
) -> Iterator[Dependency]:
    """The dependency trees of the target side: read, or made of constituents with a head table and style.

    Their words are those of the text if it is given: a parser may have seen another case, or escaped brackets. Other
    differences are an error that names the tree; with `skip_bad` it is left out and counted. A failed parse (in CoNLL,
    words of which none has a head), and what is left out, has no words. Crossing arcs are lifted, and counted: a rule
    cannot have them. Cycles stay: extraction uses what is well-formed around them. With `tags` all must have them.
    """
    counts = counts or TreeCounts()
    path = parses(corpus, "target")
    trees = _side_dependencies(corpus, "target", heads.load(table), head_style(style), skip_bad, counts)
    for number, tree in enumerate(trees, 1):
        if len(tree) and (tree.heads == Dependency.NO_HEAD).all():
            tree = Dependency([], [])
        if tags and len(tree) and not tree.tags:
            raise FormatError(os.fspath(path), 0, f"tree {number} has no tags; a model over tags needs them")
        if not tree.is_projective() and not tree.cycle():
            counts.lifted += 1
            tree, _ = tree.projectivise()
        yield tree


def _side_dependencies(
    corpus: Corpus, side: str, table: HeadTable, style: HeadStyle, skip_bad: bool, counts: TreeCounts
) -> Iterator[Dependency]:
    path, text = parses(corpus, side), getattr(corpus, side)
    for number, (tree, words) in enumerate(_dependencies(_with_text(corpus, side), table, style), 1):
        if words is None or not len(tree):
            yield tree
        elif not (problem := difference(tree.words, words, str(text))):
            yield tree if side == "source" else Dependency(words, tree.heads.tolist(), tree.tags, tree.relations)
        elif skip_bad:
            counts.mismatched += 1
            yield Dependency([], [])
        else:
            raise FormatError(os.fspath(path), 0, f"tree {number}: {problem}")


def _dependencies(
    values: Iterable[tuple[Any, list[str] | None]], table: HeadTable, style: HeadStyle
) -> Iterator[tuple[Dependency, list[str] | None]]:
    values = iter(values)
    while batch := list(islice(values, BATCH)):
        if isinstance(batch[0][0], Dependency):
            yield from batch
        else:
            trees = [value.viterbi() if isinstance(value, ParseForest) else value for value, _ in batch]
            yield from zip(to_dependencies(trees, table, style), (words for _, words in batch), strict=True)
