"""Extraction of rules from head-dependents relations (Xie et al. 2011, 2014), and of bilingual phrases beside them."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from treeglot._core import (
    Bitext,
    Dependency,
    HeadDependentsCounts,
    HeadDependentsLimits,
    SourceTrees,
    extract_head_dependents,
)
from treeglot.base.errors import UsageError
from treeglot.base.files import PathLike
from treeglot.base.options import option
from treeglot.rules.extract import MEMORY, Extraction, write_extraction

COUNTS = ("pairs", "unlinked", "relations", "acceptable", "rules", "phrases", "capped")
TREES = ("unparsed", "broken", "lifted", "lifts")


@dataclasses.dataclass(frozen=True)
class HeadDependentsOptions:
    """Which rules are taken from a source dependency tree, its translation and their alignment."""

    max_phrase: int = option(7, "words of a bilingual phrase on either side (Xie et al. 2014)")
    max_variants: int = option(32, "ways to share out unaligned target words that are tried for a rule")

    def limits(self) -> HeadDependentsLimits:
        """As the core takes them."""
        for name, value in dataclasses.asdict(self).items():
            if value < 1:
                raise UsageError(f"{name} is {value}; expected 1 or more")
        return HeadDependentsLimits(**dataclasses.asdict(self))


def extract_dependents(
    pairs: Bitext,
    trees: Sequence[Dependency],
    folder: PathLike,
    options: HeadDependentsOptions | None = None,
    *,
    threads: int = 1,
    memory: int = MEMORY,
) -> Extraction:
    """Take the rules of head-dependents relations and the phrases of `pairs` and write them to `folder`.

    `trees` are those of the source sentences. One without words (a failed parse), with a cycle or with a missing head
    gives phrases alone; one that is not projective is made so. `extraction.json` says how many there were.
    See `extract` for the rest.
    """
    options = options or HeadDependentsOptions()
    limits, counts, source = options.limits(), HeadDependentsCounts(), SourceTrees(pairs, list(trees))
    return write_extraction(
        pairs,
        folder,
        lambda at, tally: extract_head_dependents(source, at, limits, tally, memory, threads, counts),
        lambda: {
            "extractor": "head-dependents",
            "options": dataclasses.asdict(options),
            "counts": {name: getattr(counts, name) for name in COUNTS}
            | {name: getattr(source, name) for name in TREES},
        },
        label_texts=lambda: source.labels,
        labels=True,
        apart=True,
        threads=threads,
    )
