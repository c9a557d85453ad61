"""Converts the predicate-argument structures of Enju to dependencies between words (the s2d page)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from pathlib import Path

from treeglot._core import Dependency
from treeglot.syntax.arcs import one_head_each

__all__ = ["Phrase", "PredicateSentence", "Token", "predicate_arcs"]


@cache
def predicate_arcs() -> Mapping[str, tuple[tuple[str, str], ...]]:
    """Load the table that maps each type of predicate to its arcs. An arc names a dependent and a head.

    >>> predicate_arcs()["conj_arg12"]
    (('arg2', 'pred'), ('pred', 'arg1'))
    """
    table = {}
    for line in Path(__file__).with_name("predicates.txt").read_text("utf-8").splitlines():
        if line and not line.startswith("#"):
            name, _, arcs = line.partition(" = ")
            groups = [group.split(", ") for group in arcs.split(" > ")]
            pairs = pairwise(groups)
            table[name] = tuple((one, heads[0]) for ones, heads in pairs for one in ones)
    return table


@dataclass(frozen=True)
class Token:
    """A word: its predicate's type, and the ids of its arguments by name. Words outside of the analysis have no id."""

    id: str
    word: str
    tag: str
    predicate: str
    arguments: Mapping[str, str]


@dataclass(frozen=True)
class Phrase:
    """A constituent, with its syntactic and its semantic head child."""

    head: str
    semantic_head: str


@dataclass
class PredicateSentence:
    """A sentence with predicate-argument structures. Its ids are those that the parser assigned."""

    tokens: list[Token] = field(default_factory=list)
    phrases: dict[str, Phrase] = field(default_factory=dict)
    tops: list[str] = field(default_factory=list)  # constituents that are in no other, the widest first

    def head_word(self, id: str, semantic: bool = False) -> int | None:
        """Return the position of the word that a constituent's heads lead to; None if they lead nowhere."""
        places = self._places()
        return _follow(id, self.phrases, places, semantic)

    def to_dependency(self, semantic: bool = False) -> tuple[Dependency, list[str]]:
        """Convert to dependencies over syntactic or semantic heads, and also return the types that the table lacks."""
        places = self._places()
        table = predicate_arcs()
        arcs, unknown = [], []
        for place, token in enumerate(self.tokens):
            if token.predicate.endswith("_arg0") or not token.predicate:
                continue
            if token.predicate not in table:
                unknown.append(token.predicate)
                continue
            found = {"pred": place}
            for name, id in token.arguments.items():
                word = _follow(id, self.phrases, places, semantic)
                if word is not None:
                    found[name] = word
            arcs += [
                (found[one], found[head]) for one, head in table[token.predicate] if one in found and head in found
            ]
        tops = (_follow(top, self.phrases, places, semantic) for top in self.tops)
        root = next((word for word in tops if word is not None), 0)
        heads = one_head_each(len(self.tokens), arcs, root)
        tags = [token.tag or "_" for token in self.tokens]
        tagged = any(tag != "_" for tag in tags)
        return Dependency([token.word for token in self.tokens], heads, tags if tagged else None), unknown

    def _places(self) -> dict[str, int]:
        return {token.id: place for place, token in enumerate(self.tokens) if token.id}


def _follow(id: str, phrases: Mapping[str, Phrase], places: Mapping[str, int], semantic: bool) -> int | None:
    for _ in range(len(phrases) + 1):  # a cycle of heads leads nowhere
        if id in places:
            return places[id]
        if id not in phrases:
            return None
        id = phrases[id].semantic_head if semantic else phrases[id].head
    return None
