"""The sample's synchronous grammar: rules with a Chinese and an English side."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from treeglot.sample.lexicon import Lexicon
from treeglot.sample.notation import Place, Reference, Row, Value

Conditions: TypeAlias = "Mapping[str, tuple[bool, Value]]"


@dataclass(frozen=True)
class EntryDraw:
    """`name ~ kind conditions`: an entry of that kind that meets the conditions."""

    name: str
    kind: str
    conditions: Conditions


@dataclass(frozen=True)
class AtomDraw:
    """`name ~ {a:3 b:1}`: an atom, by weight."""

    name: str
    atoms: tuple[str, ...]
    weights: tuple[float, ...]


@dataclass(frozen=True)
class Request:
    """`name = category attribute=value …`: what is to fill a site."""

    name: str
    category: str
    attributes: Mapping[str, Value]


@dataclass(frozen=True, eq=False)
class Rule:
    """One synchronous rule: it applies where its conditions hold, with `weight` among those that do."""

    category: str
    name: str
    weight: float
    conditions: tuple[tuple[Reference, bool, frozenset[str]], ...]
    draws: tuple[EntryDraw | AtomDraw, ...]
    requests: tuple[Request, ...]
    source: Row
    target: Row
    place: Place


@dataclass(frozen=True)
class Category:
    """A nonterminal: its attributes, with a default where it has one, and the kinds of those that hold entries."""

    name: str
    defaults: Mapping[str, tuple[str, ...] | None]
    kinds: Mapping[str, str]


@dataclass(frozen=True)
class Grammar:
    """Rules by category, and the lexicon they draw from."""

    start: str
    categories: Mapping[str, Category]
    rules: Mapping[str, tuple[Rule, ...]]
    lexicon: Lexicon
