"""Decodes for the tuning loop in shards, on the machines of an engine."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from treeglot.base.files import PathLike
from treeglot.base.shards import Machines, in_shards, shards_of
from treeglot.decode import Translator
from treeglot.decode.translator import Source
from treeglot.decode.weights import Weights
from treeglot.tune.decoder import DecoderTranslator
from treeglot.tune.hopes import Hopes, Share
from treeglot.tune.kbest import KBest

SENTENCES = 100  # of a shard


@dataclass(frozen=True)
class DecodeShard:
    """Decodes the sources of a shard. Each source comes with the references for its hopes."""

    translator: Callable[[], Translator] = field(repr=False)  # the signature says which
    signature: str
    weights: dict[str, float]
    kbest: int
    distinct: bool
    hopes: Hopes | None  # without references

    def open(self) -> Translator:
        """Open the translator that all shards use."""
        return self.translator()

    def run(
        self,
        opened: Translator,
        records: Sequence[tuple[Source, Sequence[Share]]],
        first: int,
        threads: int,
        part: Path,
    ) -> dict[str, Any]:
        """Decode the sources of a shard and write the k-best lists. Return the refused sources with the reasons."""
        refused: list[tuple[int, str]] = []
        decoder = DecoderTranslator(
            opened,
            self.signature,
            distinct=self.distinct,
            threads=threads,
            refused=lambda line, problem: refused.append((first + line, problem)),
        )
        hopes = self.hopes and dataclasses.replace(self.hopes, references=[shares for _, shares in records])
        decoder.translate([source for source, _ in records], self.weights, self.kbest, hopes).save(part)
        return {"refused": refused}


@dataclass(frozen=True)
class RemoteTranslator:
    """A system for the tuning loop that decodes on other machines.

    `open` opens the translator on any machine. `like` is the same translator on this machine, and provides the
    signature, threads and options. Parts are stored beside `folder` until all of them exist. If the signature does not
    identify the translator, `opening` must identify it.
    """

    open: Callable[[], Translator]
    like: DecoderTranslator
    machines: Machines
    folder: PathLike
    report: Callable[[str], None] = lambda line: None
    opening: str = ""

    @property
    def signature(self) -> str:
        """The signature of the translator.

        It does not depend on the machines, because they do not change the result.
        """
        return self.like.signature

    def translate(self, sources: Sequence[Source], weights: Weights, kbest: int, hopes: Hopes | None = None) -> KBest:
        """Return the best translations of each source with their features.

        Requested hopes and fears come after them.
        """
        shares: Sequence[Sequence[Share]] = hopes.references if hopes else [()] * len(sources)
        alone = hopes and dataclasses.replace(hopes, references=())
        job = DecodeShard(self.open, self.signature, dict(weights), kbest, self.like.distinct, alone)
        shards = shards_of(zip(sources, shares, strict=True), SENTENCES)
        threads = self.like.threads
        opening = self.opening or self.signature  # weights change from one iteration to the next, the model does not
        given: dict[str, Any] = {"key": self.opening, "opening": opening, "threads": threads, "report": self.report}
        with in_shards(job, shards, self.folder, self.machines, **given) as parts:
            for part in parts:
                for line, problem in part.facts["refused"]:
                    self.like.refused(line, problem)
            return KBest.joined([KBest.load(part.path) for part in parts])
