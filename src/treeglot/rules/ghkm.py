"""Extraction from packed forests (trees among them): tree fragments translated by words or dependency structures.

The options of the five rule sets of the c2d paper, table 2, are in `RULE_SETS`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import Literal

from treeglot import _core
from treeglot._core import (
    Bitext,
    DependencyBank,
    ForestPhrases,
    GhkmCounts,
    GhkmLimits,
    ParseForest,
    RuleLabels,
    Tally,
    Tree,
)
from treeglot.base.errors import TreeglotError, UsageError
from treeglot.base.files import PathLike
from treeglot.base.options import option
from treeglot.corpus import as_forest
from treeglot.rules.engines import DuckDB, Engine, Statement
from treeglot.rules.extract import MEMORY, NO_LIMIT, Extraction, write_extraction
from treeglot.syntax import Dependency
from treeglot.syntax.draw.bars import html_table

BATCH = 2048  # forests that are in memory at a time, and as many that are being read

COUNTED = (
    "pairs", "unparsed", "unlinked", "no_tree", "bad", "nodes", "frontier", "minimal", "composed", "phrases",
    "phrases_well_formed", "minimal_too_large", "minimal_capped", "composed_too_large", "composed_capped",
    "attachments_capped",
)  # fmt: skip


@dataclasses.dataclass(frozen=True)
class GhkmOptions:
    """Which rules are taken from a forest and its translation. A limit of -1 is no limit."""

    well_formed: bool = option(False, "cut only where the target's dependency structure is well-formed (c2d rules)")
    structure: bool = option(False, "keep the dependency structures of target sides, and their tags")
    phrases: Literal["none", "all", "well-formed"] = option("all", "phrases taken over the spans of forest nodes")
    max_phrase: int = option(7, "source words of a phrase")
    phrase_loose: int = option(-1, "unaligned target words at the ends of a phrase")
    prune: float = option(3.0, "margin of pruning the forest before, in natural logarithms (the c2d paper's)")
    max_composed: int = option(3, "minimal rules that a composed rule is glued of")
    minimal_height: int = option(12, "edges upon each other in a minimal rule")
    minimal_edges: int = option(40, "edges of a minimal rule")
    minimal_leaves: int = option(30, "words and variables of a minimal rule's source side")
    minimal_fragments: int = option(200, "minimal rules below one node")
    composed_height: int = option(5, "edges upon each other in a composed rule")
    composed_edges: int = option(12, "edges of a composed rule")
    composed_leaves: int = option(8, "words and variables of a composed rule's source side")
    composed_fragments: int = option(500, "composed rules below one node")

    # Galley et al. (2006) attach them to every node that can take them.
    max_attachments: int = option(1, "ways to attach unaligned target words, sharing a count; 1: to the highest node")

    def limits(self, skip_bad: bool = False) -> GhkmLimits:
        """As the core takes them."""
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            least = 0 if field.name == "phrase_loose" else 1
            if type(value) is int and value != -1 and value < least:
                raise UsageError(f"{field.name} is {value}; expected {least} or more, or -1 for no limit")
        if not self.prune >= 0:
            raise UsageError(f"prune is {self.prune}; expected 0 or more")
        if self.phrases not in PHRASES:
            raise UsageError(f"phrases is {self.phrases!r}; expected 'none', 'all' or 'well-formed'")
        if self.structure and not self.well_formed:
            raise UsageError("structure is kept only of well-formed rules: set well_formed too")

        def fragments(kind: str) -> tuple[int, int, int, int]:
            height, edges, leaves, number = (
                _limit(getattr(self, f"{kind}_{name}")) for name in ("height", "edges", "leaves", "fragments")
            )
            return height, edges, leaves, number

        return GhkmLimits(
            self.well_formed,
            self.structure,
            PHRASES[self.phrases],
            _limit(self.max_phrase),
            _limit(self.phrase_loose),
            self.prune,
            _limit(self.max_composed),
            fragments("minimal"),
            fragments("composed"),
            _limit(self.max_attachments),
            skip_bad,
        )


PHRASES = {"none": ForestPhrases.none, "all": ForestPhrases.all, "well-formed": ForestPhrases.well_formed}

RULE_SETS = {
    "c2s": GhkmOptions(),
    "c2s-wf": GhkmOptions(well_formed=True, phrases="well-formed"),
    "c2s-wf-s2s": GhkmOptions(well_formed=True),
    "c2d-s2d": GhkmOptions(well_formed=True, structure=True, phrases="well-formed"),
    "c2d": GhkmOptions(well_formed=True, structure=True),
}
"""The rule sets of the c2d paper, table 2, by name."""


def extract_ghkm(
    pairs: Bitext,
    forests: Iterable[ParseForest | Tree | None],
    folder: PathLike,
    options: GhkmOptions | None = None,
    *,
    dependencies: DependencyBank | Iterable[Dependency | None] | None = None,
    file: str | None = None,
    skip_bad: bool = False,
    threads: int = 1,
    memory: int = MEMORY,
) -> Extraction:
    """Take the rules of `pairs` and the forests (or trees) of their source sides, and write them to `folder`.

    Forests are read a few thousand at a time; None and one without a parse give no rules, and are counted.
    `dependencies` of the target sides are needed for well-formed rules and phrases. A forest or dependency tree with
    other words than its sentence is an error that names the pair, and `file`, where forests are
    read from; with `skip_bad` the pair is left out and counted.

    >>> import tempfile
    >>> from treeglot.rules import bitext
    >>> from treeglot.syntax import Alignment
    >>> pairs = bitext([("das Haus".split(), "the house".split(), Alignment.parse("0-0 1-1"))])
    >>> trees = [Tree.parse("(NP (DT das) (NN Haus))")]
    >>> rule_kinds(extract_ghkm(pairs, trees, tempfile.mkdtemp()))
    RuleKinds(fragments=6, phrases=3)
    """
    options = options or GhkmOptions()
    limits, counts, labels = options.limits(skip_bad), GhkmCounts(), RuleLabels()
    if dependencies is None and (options.well_formed or options.phrases == "well-formed"):
        raise UsageError("well-formed rules and phrases take the dependency trees of the target sides")
    bank, place = _bank(dependencies, len(pairs)), f"{file}: " if file else ""
    with ThreadPoolExecutor(1) as reading:
        batches = _ahead(_batches(forests), reading)

        def take(at: int, tally: Tally) -> int:
            while at < len(pairs) and tally.bytes <= memory:
                batch = next(batches, [])
                if not batch:
                    raise UsageError(f"{place}there are {at:,} forests for {len(pairs):,} sentence pairs")
                try:
                    _core.extract_ghkm(pairs, at, batch, bank, limits, labels, tally, threads, counts)
                except ValueError as problem:
                    raise TreeglotError(f"{place}{problem}") from problem
                at += len(batch)
            if at == len(pairs) and next(batches, None):
                raise UsageError(f"{place}there are more forests than sentence pairs: {len(pairs):,}")
            return at

        return write_extraction(
            pairs,
            folder,
            take,
            lambda: {
                "extractor": "ghkm",
                "options": dataclasses.asdict(options),
                "counts": {name: getattr(counts, name) for name in COUNTED},
            },
            label_texts=lambda: labels.texts,
            labels=options.structure,
            roots=True,
            threads=threads,
        )


@dataclasses.dataclass(frozen=True)
class RuleKinds:
    """Different rules of an extraction from forests, by kind (table 2 of the c2d paper)."""

    fragments: int  # c2s or c2d rules
    phrases: int  # s2s or s2d rules

    def _repr_html_(self) -> str:
        return html_table([["kind", "rules"], ["fragments", f"{self.fragments:,}"], ["phrases", f"{self.phrases:,}"]])


def rule_kinds(extraction: Extraction, engine: Engine | None = None) -> RuleKinds:
    """How many different rules of each kind there are, structures being part of a rule."""
    engine = engine or DuckDB(folder=extraction.folder)
    different = "SELECT DISTINCT source, target, lhs FROM counts"
    # The code of a fragment begins with 11, which opens its root; that of a phrase with a word, 16 or more.
    shape = r"source >= '\x10'::BLOB"
    statements = [
        Statement("kinds", f"SELECT {shape} AS phrase, count(*) AS rules FROM ({different}) GROUP BY {shape}")
    ]
    batches = engine.run({"counts": extraction.counts}, statements)
    found = {row["phrase"]: row["rules"] for batch in batches for row in batch.to_pylist()}
    return RuleKinds(found.get(False, 0), found.get(True, 0))


def _limit(value: int) -> int:
    return NO_LIMIT if value == -1 else value


def _bank(dependencies: DependencyBank | Iterable[Dependency | None] | None, pairs: int) -> DependencyBank | None:
    if dependencies is None:
        return None
    bank, none = DependencyBank(), Dependency([], [])
    if isinstance(dependencies, DependencyBank):
        bank = dependencies
    else:
        for dependency in dependencies:
            bank.append(dependency or none)
    if len(bank) != pairs:
        raise UsageError(f"there are {len(bank):,} dependency trees for {pairs:,} sentence pairs")
    return bank


def _batches(forests: Iterable[ParseForest | Tree | None]) -> Iterator[list[ParseForest | None]]:
    values = iter(forests)
    while batch := list(islice(values, BATCH)):
        yield [None if value is None else as_forest(value) for value in batch]


def _ahead(batches: Iterator[list[ParseForest | None]], pool: ThreadPoolExecutor) -> Iterator[list[ParseForest | None]]:
    """The same batches, the next one being read while one is used."""
    coming = pool.submit(next, batches, None)
    while (batch := coming.result()) is not None:
        coming = pool.submit(next, batches, None)
        yield batch
