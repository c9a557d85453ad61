"""The sides of a parallel corpus, whichever files say them: text, or parses alone."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from treeglot.base.errors import FormatError, UsageError
from treeglot.models.kind import Corpus
from treeglot.syntax import (
    Alignment,
    Dependency,
    HeadStyle,
    HeadTable,
    ParseForest,
    Tree,
    find_format,
    head_style,
    heads,
    read,
    read_parallel,
    to_dependencies,
)

BATCH = 2048  # trees that are turned into dependencies at a time


def aligned_words(corpus: Corpus) -> Iterator[tuple[list[str], list[str], Alignment]]:
    """The words of both sides, and the links between them.

    The words are those of the text if it is given, else those of the parses. A pair with a failed parse in place of a
    text has no links; a link that points outside is a `FormatError` that names its line.
    """
    links = corpus.file("alignments")
    sides = read_parallel(_side(corpus, "source"), _side(corpus, "target"), (links, "pharaoh"))
    for number, (source, target, alignment) in enumerate(sides, 1):
        source_words, target_words = words_of(source), words_of(target)
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
    path = _parses(corpus, side)
    return path, find_format(path).name


def _parses(corpus: Corpus, side: str) -> Path:
    for kind in ("forests", "trees", "dependencies"):
        path: Path | None = getattr(corpus, f"{side}_{kind}", None)
        if path is not None:
            return path
    raise UsageError(f"there is no --{side}, and no parses of that side")


def source_forests(corpus: Corpus, best: bool = False) -> Iterator[ParseForest | None]:
    """The forests of the source side, or with `best` those of their best trees alone."""
    return (as_forest(value, best) for value in read(_parses(corpus, "source")))


def as_forest(value: ParseForest | Tree, best: bool = False) -> ParseForest | None:
    """A parse as a forest, of its best tree alone if that is asked for; None without a parse."""
    if isinstance(value, ParseForest):
        return ParseForest.from_tree(value.viterbi()) if best and value.parsed else value
    return ParseForest.from_tree(value) if len(value.words) > 0 else None


def source_dependencies(corpus: Corpus, table: str, style: str = "table") -> Iterator[Dependency]:
    """Like `target_dependencies`, of the source side."""
    return _side_dependencies(corpus, "source", table, style)


def target_dependencies(corpus: Corpus, table: str, style: str = "table") -> Iterator[Dependency]:
    """The dependency trees of the target side: read, or made of constituents with a head table and style.

    Their words are those of the text if it is given: a parser may have seen another case. A failed parse has no words.
    """
    return _side_dependencies(corpus, "target", table, style)


def _side_dependencies(corpus: Corpus, side: str, table: str, style: str) -> Iterator[Dependency]:
    path = _parses(corpus, side)
    trees = _dependencies(read(path), heads.load(table), head_style(style))
    text: Path | None = getattr(corpus, side)
    if text is None:
        yield from trees
        return
    texts = (words for (words,) in read_parallel((text, "text")))
    for number, (tree, words) in enumerate(zip(trees, texts, strict=False), 1):
        if len(tree) not in (0, len(words)):
            raise FormatError(
                os.fspath(path), 0, f"tree {number} has {len(tree)} words; its sentence in {text} has {len(words)}"
            )
        yield Dependency(words, tree.heads.tolist(), tree.tags) if len(tree) else tree


def _dependencies(values: Iterable[Any], table: HeadTable, style: HeadStyle) -> Iterator[Dependency]:
    values = iter(values)
    while batch := list(islice(values, BATCH)):
        if isinstance(batch[0], Dependency):
            yield from batch
        else:
            trees = [value.viterbi() if isinstance(value, ParseForest) else value for value in batch]
            yield from to_dependencies(trees, table, style)
