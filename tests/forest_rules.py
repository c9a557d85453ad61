"""Rules over tree fragments, written as nested tuples, for tests that translate forests."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from slow_chart import Links

from treeglot._core import RuleTable, RuleTableBuilder

NT = 0x80000000

# A fragment: ("IP", child, …), where a child is a fragment, a word, or ("NP",): a variable. A phrase: words, and
# ("X",) for variables.
Fragment = tuple[object, ...]


class ForestRule(NamedTuple):
    """A phrase has no label."""

    source: Fragment
    target: tuple[str, ...]  # words, or "1", "2": the variables in source order
    score: float = 0.0
    phrase: bool = False
    heads: tuple[int, ...] = ()  # of each target symbol: 0 a root, k + 1 hangs on symbol k
    tags: tuple[str, ...] = ()  # of the target words


def tokens(fragment: Fragment) -> list[tuple[str, bool]]:
    """Symbols of the trie, and whether they are variables."""
    if len(fragment) == 1:
        return [(str(fragment[0]), True)]
    found = [(f" {fragment[0]}(", False)]
    for child in fragment[1:]:
        found += symbols(child)
    return [*found, (" )", False)]


def symbols(item: object) -> list[tuple[str, bool]]:
    """Those of a fragment or a word."""
    return tokens(item) if isinstance(item, tuple) else [(str(item), False)]


def forest_table(
    rules: Iterable[ForestRule], labels: Iterable[str] = (), links: Links = lambda source, target: []
) -> RuleTable:
    """A table with one feature, p: the score."""
    builder = RuleTableBuilder(["p"])
    builder.label("X")
    for label in labels:
        builder.label(label)
    for rule in rules:
        side = [t for s in rule.source for t in symbols(s)] if rule.phrase else tokens(rule.source)
        source = [NT | builder.label(s) if variable else builder.source_word(s) for s, variable in side]
        target = [-int(t) if t.isdigit() else builder.target_word(t) for t in rule.target]
        builder.add(
            builder.label("X" if rule.phrase else str(rule.source[0])),
            source,
            target,
            [rule.score],
            links(source, target),
            labels=[builder.label(tag) for tag in rule.tags],
            structure=list(rule.heads),
        )
    return builder.finish()
