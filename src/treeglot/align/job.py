"""Aligns a corpus in shards with a saved aligner, on several machines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from treeglot.align.aligner import Aligner
from treeglot.syntax import write


@dataclass(frozen=True)
class AlignShard:
    """Aligns the pairs of a shard. A pair has a source, a target, and the parses of the sides that have parses."""

    model: Path
    symmetrization: str
    parsed: tuple[bool, bool]  # sides whose parses repair the links
    cost: float

    def open(self) -> Aligner:
        """Load the saved aligner that all shards use."""
        return Aligner.load(self.model)

    def run(
        self, opened: Aligner, records: Sequence[tuple[Any, ...]], first: int, threads: int, part: Path
    ) -> dict[str, Any]:
        """Align the pairs of a shard, and write their links to a file."""
        pairs = [(source, target) for source, target, *_ in records]
        links = opened.align_all(pairs, self.symmetrization, threads=threads)
        if any(self.parsed):
            columns = iter(zip(*(row[2:] for row in records), strict=True))
            parses = [next(columns) if given else None for given in self.parsed]
            links = opened.mend(pairs, links, *parses, cost=self.cost, threads=threads)
        write(part, links, "pharaoh")
        return {}
