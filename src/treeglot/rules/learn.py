"""Extracts the rules of one more sentence pair, and gives them features like the table's (docs/corrections.md)."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from treeglot._core import LeastProbabilities, LexicalTable, Renderer, RuleTable, RuleTableBuilder, Tally
from treeglot.corpus.pairs import Pair
from treeglot.rules.columns import Buffers
from treeglot.rules.corrections import ANY, BAR, Correction
from treeglot.rules.extract import EXTRACTORS, MEMORY
from treeglot.rules.ghkm import GhkmOptions
from treeglot.rules.hiero import HieroOptions
from treeglot.rules.table import TEXT

PROBABILITIES = ("p_target_given_source", "p_source_given_target", "p_rule_given_root")
LEAST = 1e-30  # a probability that features can have


def seen_again(known: float, least: float, lone: float) -> float:
    """Estimate the probability of a rule after one more occurrence, without counts.

    `least` is the smallest probability under the same condition, which is about the share of one occurrence. For a new
    condition, it is infinite, and the result is `lone`.

    >>> seen_again(0.5, 0.25, 1.0)  # two of four before, three of five now
    0.6
    """
    return lone if math.isinf(least) else (known + least) / (1 + least)


@dataclass(frozen=True)
class LearntRule:
    """A rule of a sentence pair. `known` tells whether the table already contains it."""

    correction: Correction
    known: bool


class RuleLearner:
    """Extracts the rules of sentence pairs, one pair at a time, and gives them features like those of a table.

    `extractor`, `options` and `max_scope` (-1 for none) are those of the table. For hierarchical extractors, only
    phrases of up to `longest` source words are extracted.
    """

    def __init__(self, table: RuleTable, extractor: str, options: Any, longest: int, max_scope: int = -1) -> None:
        self.table, self.max_scope = table, max_scope
        self.extractor = EXTRACTORS[extractor][1]
        self.options = options
        if isinstance(options, HieroOptions):
            self.options = replace(
                options, max_phrase=longest, max_symbols=longest, max_nonterminals=0, phrase_loose_target=-1
            )
        elif isinstance(options, GhkmOptions):  # a taught pair's own dependencies serve, wherever that file is now
            self.options = replace(options, phrase_dependencies=None)
        dense = table.features[: table.dense_features]
        self.columns = {name: dense.index(name) for name in PROBABILITIES if name in dense}
        self.least = LeastProbabilities(table, *map(self.columns.get, PROBABILITIES))

    def rules(self, pair: Pair, **notes: str) -> list[LearntRule]:
        """Return corrections that add the rules of one pair. `notes` contains their author, date and group."""
        text = self._extract(pair)
        table = self._small(text)
        rows = {name: _texts(buffers) for name, buffers in text.items()}
        out = []
        for number, (known, *least) in enumerate(self.least.find(table)):
            row = int(table.rule(number)[3][0])
            features = self._features(None if known is None else self.table.rule(known)[3], least)
            given = {name: values[row] for name, values in rows.items()}
            given |= {side: escaped(given[side]) for side in ("source", "target")}
            out.append(LearntRule(Correction("add", **given, features=features, **notes), known is not None))
        return out

    def _features(self, old: list[float] | None, least: Iterable[float]) -> tuple[tuple[str, float], ...]:
        """Return the probabilities that a rule has after one more occurrence."""
        lone = (self.least.lone_given_source, self.least.lone_given_target, 0.0)
        found = []
        for name, smallest, one in zip(PROBABILITIES, least, lone, strict=True):
            if name in self.columns:
                known = 0.0 if old is None else math.exp(old[self.columns[name]])
                unit = math.inf if math.isinf(smallest) else math.exp(smallest)
                value = seen_again(known, unit, math.exp(one))
                found.append((name, float(f"{min(1.0, max(LEAST, value)):.6g}")))
        return tuple(found)

    def _extract(self, pair: Pair) -> dict[str, Buffers]:
        """Extract the rules of a pair. Return them as text, column by column."""
        made = self.extractor([pair], self.options, 1)
        tally, bitext = Tally(), made.core.bitext
        made.core.extract(0, tally, MEMORY, 1)
        source, target, alignment, labels, *_ = tally.columns(0, Tally.partitions, LexicalTable(bitext), True)
        renderer = Renderer(bitext.source_words, bitext.target_words, made.core.labels)
        lhs, source_text = renderer.source(*source)
        target_text, structure = renderer.target(*source, *target)
        text = {"lhs": lhs, "source": source_text, "target": target_text, "alignment": renderer.alignment(*alignment)}
        if made.labels:
            text["labels"] = renderer.labels(*labels)
        if len(structure[1]):
            text["structure"] = structure
        return text

    def _small(self, text: dict[str, Buffers]) -> RuleTable:
        """Create a small table of these rules. Its only feature is the row number of each rule."""
        empty = np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.int8)
        builder = RuleTableBuilder(["row"])
        builder.label("X")
        if self.max_scope >= 0:
            builder.limit_scope(self.max_scope)
        rows = np.arange(len(text["lhs"][0]) - 1, dtype=np.float32)
        builder.add_rows("rules", 1, [text.get(name, empty) for name in TEXT], [rows], [])
        return builder.finish()


def _texts(buffers: Buffers) -> list[str]:
    offsets, data = buffers
    whole = data.tobytes()
    return [whole[begin:end].decode() for begin, end in pairwise(offsets.tolist())]


def escaped(side: str) -> str:
    """Escape the side of a rule for a line of corrections. A backslash marks words that would be special.

    >>> escaped("a ||| b"), escaped("*")
    ('a \\\\||| b', '\\\\*')
    """
    if side == ANY:
        return f"\\{side}"
    return " ".join(f"\\{word}" if word == BAR else word for word in side.split(" ")) if BAR in side else side
