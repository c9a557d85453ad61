"""Extraction: aligned sentence pairs in, counted rules out, as Parquet files in a folder.

The folder holds `counts-*.parquet` (rules as codes, see docs/rules.md), `words.parquet` (what the codes mean),
`lexical.parquet` (word translation probabilities) and `extraction.json` (options and counts).
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from treeglot._core import (
    Bitext,
    BitextBuilder,
    FuzzyLabels,
    HieroCounts,
    HieroLimits,
    LexicalTable,
    Tally,
    TargetStructures,
    extract_hiero,
)
from treeglot.base.errors import FormatError, UsageError
from treeglot.base.files import PathLike, write_binary
from treeglot.base.options import option
from treeglot.rules.columns import binary_array
from treeglot.syntax import Alignment

if TYPE_CHECKING:
    import pyarrow as pa

NO_LIMIT = 2**32 - 1
FILES = 8  # per part of the counts: what threads write side by side; fixed, so that files do not depend on threads
MEMORY = 1 << 30
COUNTED = ("pairs", "unlinked", "phrases", "refused", "flat", "gappy")


@dataclasses.dataclass(frozen=True)
class HieroOptions:
    """Which rules are taken from a sentence pair.

    Defaults are those of Chiang (2010), table 2, for Chinese-English. A limit of -1 is no limit.
    """

    max_phrase: int = option(10, "source words of an initial phrase")
    max_target_phrase: int = option(-1, "target words of an initial phrase")
    max_symbols: int = option(6, "source symbols of a rule")
    max_nonterminals: int = option(2, "nonterminals of a rule")
    min_hole: int = option(1, "source words that a nonterminal stands for, at least")
    adjacent: bool = option(False, "allow nonterminals side by side on the source side")
    loose_source: int = option(0, "unaligned source words at the ends of phrases that gappy rules are made of")
    loose_target: int = option(0, "unaligned target words at the ends of phrases that gappy rules are made of")
    phrase_loose_source: int = option(-1, "unaligned source words at the ends of phrases that are rules themselves")
    phrase_loose_target: int = option(1, "unaligned target words at the ends of phrases that are rules themselves")

    core: int = option(-1, "rules with nonterminals are taken from the first so many sentence pairs alone")

    def limits(self) -> HieroLimits:
        """As the core takes them."""
        values: dict[str, Any] = {}
        for name, value in dataclasses.asdict(self).items():
            least = 1 if name in ("max_phrase", "max_target_phrase", "max_symbols", "min_hole") else 0
            if value is not True and value is not False and value != -1 and value < least:
                raise UsageError(f"{name} is {value}; expected {least} or more, or -1 for no limit")
            values[name] = NO_LIMIT if value == -1 else value
        del values["core"]  # which pairs, not which rules of a pair
        return HieroLimits(**values)


@dataclasses.dataclass(frozen=True)
class Extraction:
    """Counted rules in a folder."""

    folder: Path
    parts: int = 1  # tallies that have to be added up; one is a row for each rule
    labels: bool = False  # whether rules carry labels beside their alignments
    roots: bool = False  # whether left-hand sides differ, so that P(rule | left-hand side) says something
    apart: bool = False  # whether the target sides of phrases (left-hand side X) are counted apart from other rules'

    @property
    def counts(self) -> list[Path]:
        """The Parquet files of rules."""
        return sorted(self.folder.glob("counts-*.parquet"))

    @staticmethod
    def open(folder: PathLike) -> Extraction:
        """An extraction that is complete."""
        path = Path(folder)
        try:
            facts = json.loads((path / "extraction.json").read_text())
        except FileNotFoundError:
            raise FormatError(str(path), 0, "holds no finished extraction: extraction.json is missing") from None
        return Extraction(path, facts["parts"], facts["labels"], facts["roots"], facts["apart"])


def bitext(pairs: Iterable[tuple[Sequence[str], Sequence[str], Alignment]]) -> Bitext:
    """Sentence pairs with their alignments, as extractors read them.

    >>> pairs = [("das Haus".split(), "the house".split(), Alignment.parse("0-0 1-1"))]
    >>> bitext(pairs).source_words
    ['Haus', 'das']
    """
    builder = BitextBuilder()
    for source, target, alignment in pairs:
        builder.append(source, target, alignment)
    return builder.finish()


def extract(
    pairs: Bitext,
    folder: PathLike,
    options: HieroOptions | None = None,
    *,
    core: int | npt.NDArray[np.bool_] | None = None,
    labels: FuzzyLabels | TargetStructures | None = None,
    seen: Mapping[str, int] | None = None,
    threads: int = 1,
    memory: int = MEMORY,
) -> Extraction:
    """Take the rules of `pairs`, count them and write them to `folder`; `labels` or structures come from trees.

    `seen` is what was counted when they were read, for `extraction.json`.
    Rules with nonterminals come from the first `core` pairs alone, or those marked in it (default: `options.core`).
    Once the rules take more than `memory` bytes they are written out as a part; scoring adds the parts up.
    """
    options = options or HieroOptions()
    marks = np.zeros(0, dtype=np.uint8)
    if core is None and options.core >= 0:
        core = options.core
    if isinstance(core, int):
        marks = (np.arange(len(pairs)) < core).astype(np.uint8)
    elif core is not None:
        marks = core.astype(np.uint8)
    limits, counts = options.limits(), HieroCounts()
    structured = isinstance(labels, TargetStructures)
    return write_extraction(
        pairs,
        folder,
        lambda at, tally: extract_hiero(pairs, at, marks, limits, labels, tally, memory, threads, counts),
        lambda: {
            "extractor": "string-dependency" if structured else "hiero",
            "options": dataclasses.asdict(options),
            "counts": {name: getattr(counts, name) for name in COUNTED}
            | ({"unparsed": labels.unparsed} if isinstance(labels, TargetStructures) else {})
            | dict(seen or {}),
        },
        label_texts=lambda: labels.texts if labels else ["X"],
        labels=structured or (isinstance(labels, FuzzyLabels) and not labels.hard),
        threads=threads,
    )


def write_extraction(
    pairs: Bitext,
    folder: PathLike,
    take: Callable[[int, Tally], int],
    facts: Callable[[], dict[str, Any]],
    *,
    label_texts: Callable[[], Sequence[str]] = lambda: ["X"],
    labels: bool = False,
    roots: bool = False,
    apart: bool = False,
    threads: int = 1,
) -> Extraction:
    """Write what `take` finds to `folder`: what every extractor's files have in common.

    `take(at, tally)` adds rules from pair `at` on and gives the first pair that it did not read; `facts()`
    and `label_texts()`, asked at the end, what is to be known of the extraction and what the numbers of labels mean.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for old in (folder / "extraction.json", *folder.glob("counts-*.parquet")):
        old.unlink(missing_ok=True)
    tally, lexical = Tally(), LexicalTable(pairs)
    at = part = rows = 0
    while at < len(pairs) or part == 0:
        at = take(at, tally)
        whole = part == 0 and at == len(pairs)
        rows += write_counts(tally, lexical, folder, part, whole, threads)
        tally.clear()
        part += 1
    write_words(folder, pairs.source_words, pairs.target_words, label_texts())
    write_lexical(folder, lexical, pairs)
    known = {"labels": labels, "roots": roots, "apart": apart, "parts": part, "rows": rows, **facts()}
    with write_binary(folder / "extraction.json") as stream:
        stream.write(json.dumps(known, indent=1).encode() + b"\n")
    return Extraction(folder, part, labels, roots, apart)


def counts_schema() -> pa.Schema:
    """The columns of `counts-*.parquet`."""
    import pyarrow as pa

    columns = {
        "source": pa.binary(),
        "target": pa.binary(),
        "alignment": pa.binary(),
        "labels": pa.binary(),
        "count": pa.float64(),
        "occurrences": pa.uint32(),
        "lhs": pa.uint32(),
        "variables": pa.uint8(),
        "lex_target_given_source": pa.float32(),
        "lex_source_given_target": pa.float32(),
        "row": pa.int64(),
    }
    return pa.schema([pa.field(name, kind, nullable=False) for name, kind in columns.items()])


def write_counts(tally: Tally, lexical: LexicalTable, folder: Path, part: int, whole: bool, threads: int) -> int:
    """Write a tally as part number `part` of the counts; gives the number of rows.

    If it is the `whole` of the counts, rows are rules; else a rule has a row for each of its alignments and labels.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = counts_schema()
    step = Tally.partitions // FILES

    def write_file(file: int) -> int:
        written = 0
        with (
            write_binary(folder / f"counts-{part:04}-{file}.parquet") as stream,
            pq.ParquetWriter(stream, schema, compression="lz4", use_dictionary=False, write_statistics=False) as writer,
        ):
            for partition in range(file * step, (file + 1) * step):
                source, target, alignment, labels, *rest = tally.columns(partition, partition + 1, lexical, whole)
                codes = [binary_array(c, pa.binary()) for c in (source, target, alignment, labels)]
                numbers = [pa.array(values) for values in rest]
                first = (part * Tally.partitions + partition) << 32
                row = np.arange(first, first + len(codes[0]), dtype=np.int64)
                writer.write_table(pa.Table.from_arrays([*codes, *numbers, pa.array(row)], schema=schema))
                written += len(codes[0])
        return written

    with ThreadPoolExecutor(threads) as pool:
        return sum(pool.map(write_file, range(FILES)))


def write_words(folder: Path, source: Sequence[str], target: Sequence[str], labels: Sequence[str]) -> None:
    """Write what the numbers in rules' codes mean."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    kinds = [("source", source), ("target", target), ("label", labels)]
    table = pa.table(
        {
            "kind": pa.array([kind for kind, words in kinds for _ in words]).dictionary_encode(),
            "number": pa.array([n for _, words in kinds for n in range(len(words))], type=pa.int32()),
            "text": pa.array([word for _, words in kinds for word in words], type=pa.string()),
        }
    )
    with write_binary(folder / "words.parquet") as stream:
        pq.write_table(table, stream, compression="zstd")


def read_words(folder: Path) -> tuple[list[str], list[str], list[str]]:
    """Source words, target words and labels by number."""
    import pyarrow.parquet as pq

    table = pq.read_table(folder / "words.parquet")
    kinds: dict[str, list[str]] = {"source": [], "target": [], "label": []}
    for kind, text in zip(table["kind"].to_pylist(), table["text"].to_pylist(), strict=True):
        kinds[kind].append(text)
    return kinds["source"], kinds["target"], kinds["label"]


def write_lexical(folder: Path, lexical: LexicalTable, pairs: Bitext) -> None:
    """Write the word translation probabilities; a null word is NULL."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    source, target, target_given_source, source_given_target = lexical.entries()

    def words(numbers: npt.NDArray[np.uint32], texts: list[str]) -> pa.Array:
        known = pa.array(numbers, mask=numbers == NO_LIMIT)
        return pa.array(texts, type=pa.string()).take(known)

    table = pa.table(
        {
            "source": words(source, pairs.source_words),
            "target": words(target, pairs.target_words),
            "w_target_given_source": pa.array(target_given_source),
            "w_source_given_target": pa.array(source_given_target),
        }
    )
    with write_binary(folder / "lexical.parquet") as stream:
        pq.write_table(table, stream, compression="zstd")
