"""Reads aligned sentence pairs, extracts their rules, and writes the counted rules as Parquet files into a folder.

The folder contains `counts-*.parquet` (rules as codes, see docs/rules.md), `words.parquet` (the meaning of the codes),
`lexical.parquet` (word translation probabilities) and `extraction.json` (options and counts).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from treeglot._core import Bitext, Extractor, LexicalTable, Vocabulary
from treeglot.base.errors import FormatError, UsageError
from treeglot.base.files import PathLike, read_json, write_json
from treeglot.base.options import unknown
from treeglot.corpus.pairs import Pair
from treeglot.rules.count_files import write_lexical, write_tallies, write_words

MEMORY = 1 << 30


@dataclass(frozen=True)
class Extraction:
    """The result of an extraction: a folder with counted rules."""

    folder: Path
    facts: Mapping[str, Any]  # what extraction.json says: the extractor, its options, and what it saw

    @property
    def files(self) -> list[Path]:
        """The Parquet files with the counted rules."""
        return sorted(self.folder.glob("counts-*.parquet"))

    @property
    def counts(self) -> Mapping[str, int]:
        """The counts from reading and extraction, by name."""
        counts: Mapping[str, int] = self.facts["counts"]
        return counts

    @staticmethod
    def open(folder: PathLike) -> Extraction:
        """Open the folder of a complete extraction."""
        path = Path(folder)
        try:
            return Extraction(path, read_json(path / "extraction.json", **_FIELDS))
        except FileNotFoundError:
            raise FormatError(str(path), 0, "holds no finished extraction: extraction.json is missing") from None


_FIELDS = {"labels": bool, "roots": bool, "apart": bool, "parts": int, "rows": int, "counts": dict}
"""What scoring must know of an extraction."""


@dataclass(frozen=True)
class Extracting:
    """An extractor of the core with its pairs, and facts about its rules that scoring needs."""

    core: Extractor
    labels: bool = False  # whether rules carry labels beside their alignments
    roots: bool = False  # whether left-hand sides differ, so that P(rule | left-hand side) says something
    keyed: bool = False  # whether labels are numbered as pairs come
    apart: bool = False  # whether the target sides of phrases (left-hand side X) are counted apart from other rules'


A = TypeVar("A", bound=Callable[..., Extracting])

EXTRACTORS: dict[str, tuple[type[Any], Callable[[Iterable[Pair], Any, int], Extracting]]] = {}
"""The extractors by name: the dataclass of their options, and what reads pairs for them, on several threads."""


def extractor(name: str, options: type[Any]) -> Callable[[A], A]:
    """Return a decorator that registers an extractor under `name`."""

    def register(adapter: A) -> A:
        EXTRACTORS[name] = (options, adapter)
        return adapter

    return register


def find_extractor(name: str, options: Any = None) -> tuple[Callable[[Iterable[Pair], Any, int], Extracting], Any]:
    """Return an extractor by name, and its options or their defaults."""
    if name not in EXTRACTORS:
        raise UsageError(unknown("extractor", name, EXTRACTORS))
    schema, adapter = EXTRACTORS[name]
    return adapter, options or schema()


def extract(
    extractor: str,
    pairs: Iterable[Pair],
    folder: PathLike,
    options: Any = None,
    *,
    seen: Callable[[], Mapping[str, int]] = dict,
    threads: int = 1,
    memory: int = MEMORY,
    keep: Callable[[Extractor], None] = lambda extractor: None,
) -> Extraction:
    """Extract the rules of `pairs`, which are read once, count them and write them to `folder`.

    `extractor` is one of `EXTRACTORS`, and `options` are its options. When the rules exceed `memory` bytes, they are
    written as a part, and scoring adds up the parts. After the last pair, `seen` returns the counts from reading, and
    `keep` receives the extractor, which can read all pairs again.

    >>> import tempfile
    >>> from treeglot.syntax import Alignment, Tree, ParseForest
    >>> tree = ParseForest.from_tree(Tree.parse("(NP (DT das) (NN Haus))"))
    >>> pair = Pair(1, "das Haus".split(), "the house".split(), Alignment.parse("0-0 1-1"), source_forest=tree)
    >>> extract("ghkm", [pair], tempfile.mkdtemp()).counts["composed"]
    3
    """
    adapter, options = find_extractor(extractor, options)
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for old in (folder / "extraction.json", *folder.glob("counts-*.parquet")):
        old.unlink(missing_ok=True)
    made = adapter(pairs, options, threads)
    lexical = LexicalTable(made.core.bitext)
    parts, rows = write_tallies(made.core, 0, lexical, folder, 0, True, memory, threads)
    keep(made.core)
    counts = made.core.counts | dict(seen())
    return finish(
        folder,
        extractor,
        options,
        made,
        (made.core.bitext, lexical),
        parts,
        rows,
        counts,
        made.core.bitext.occurrence_parts,
    )


def finish(
    folder: Path,
    extractor: str,
    options: Any,
    made: Extracting,
    words: tuple[Bitext | Vocabulary, LexicalTable],
    parts: int,
    rows: int,
    counts: Mapping[str, int],
    occurrence_parts: int = 1,
) -> Extraction:
    """Write the files that explain the counts and, last, the file that marks the extraction as complete."""
    known, lexical = words
    write_words(folder, known.source_words, known.target_words, made.core.labels)
    write_lexical(folder, lexical, known)
    facts = {
        **{name: getattr(made, name) for name in ("labels", "roots", "apart")},
        "parts": parts,
        **({"occurrence_parts": occurrence_parts} if occurrence_parts > 1 else {}),
        "rows": rows,
        "extractor": extractor,
        "options": dataclasses.asdict(options),
        "counts": dict(counts),
    }
    write_json(folder / "extraction.json", facts)
    return Extraction(folder, facts)
