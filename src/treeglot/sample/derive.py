"""Derivations of the sample's grammar: one derivation is a pair of trees with their heads and their word links."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import accumulate, pairwise
from random import Random
from typing import TypeAlias

from treeglot.sample import english
from treeglot.sample.grammar import AtomDraw, EntryDraw, Grammar, Rule
from treeglot.sample.lexicon import Entry
from treeglot.sample.notation import Branch, Part, Reference, Row, Site, Value, Word
from treeglot.sample.tree import Node, Side

# Attributes are sets of atoms, kept as bit masks: a condition holds where two masks have a bit in common.
Bound: TypeAlias = "int | Entry"
Operand: TypeAlias = "int | tuple[str, str]"  # a mask, or a bound name and (unless empty) an attribute of its entry

_ToMask: TypeAlias = Callable[[Iterable[str]], int]
_ToOperand: TypeAlias = Callable[[Value], Operand]


class DeadEndError(Exception):
    """No rule or no entry fits: the derivation is given up and another one is begun."""


class Deriver:
    """Draws derivations; only `Random.random` is used, whose values no Python version has changed."""

    def __init__(self, grammar: Grammar, seed: int) -> None:
        self.lexicon = grammar.lexicon
        self.random = Random(seed).random
        self._bits: dict[str, int] = {"any": -1}
        self._names: dict[Bound, str] = {}
        self._masks = {
            entry: {name: self._mask(atoms) for name, atoms in entry.attributes.items()}
            for entries in grammar.lexicon.entries.values()
            for entry in entries
        }
        self._plans = {
            category: [_Plan(rule, self._mask) for rule in rules] for category, rules in grammar.rules.items()
        }
        self._found_entries: dict[object, list[Entry]] = {}
        self._fitting_plans: dict[object, tuple[list[_Plan], list[float]]] = {}
        start = grammar.categories[grammar.start]
        self._start: tuple[str, dict[str, Bound]] = (
            start.name,
            {key: self._mask(default or ()) for key, default in start.defaults.items()},
        )

    def derive(self) -> tuple[Node, Node, tuple[Rule, ...]]:
        """One pair of trees, and the rules that made it in the order of their use; may come to a `DeadEndError`."""
        self.rules: list[Rule] = []
        self._used: set[object] = set()
        self._links = 0
        category, defaults = self._start
        sides = self._expand(category, dict(defaults))
        source, target = (side.nodes[0] for side in sides)
        words = target.words()
        for word, following in pairwise(words):
            if word.word == "a" and word.label == "DT":
                word.word = english.article(following.word, self.lexicon.article_exceptions)
        return source, target, tuple(self.rules)

    def _expand(self, category: str, bound: dict[str, Bound]) -> tuple[Side, Side]:
        plans, sums = self._fitting(category, bound)
        if not plans:
            raise DeadEndError(f"no rule of '{category}' fits {self._shown(bound)}")
        plan = plans[self._choose(sums)]
        self.rules.append(plan.rule)
        for draw in plan.draws:
            if isinstance(draw, _EntryDraw):
                bound[draw.name] = self._draw_entry(plan, draw, bound)
            else:
                bound[draw.name] = draw.masks[self._choose(draw.sums)]
        sites: dict[str, tuple[Side, Side]] = {}
        for name, wanted, attributes in plan.requests:
            request = {key: self._operand(operand, bound) for key, operand in attributes}
            sites[name] = self._expand(wanted, request)
        build = _Build(self, bound, sites)
        return build.side(plan.rule.source, 0), build.side(plan.rule.target, 1)

    def _fitting(self, category: str, bound: Mapping[str, Bound]) -> tuple[list[_Plan], list[float]]:
        """The rules that fit and their cumulative weights."""
        key = (category, *bound.values())
        found = self._fitting_plans.get(key)
        if found is None:
            plans = [plan for plan in self._plans[category] if self._fits(plan, bound)]
            found = self._fitting_plans[key] = plans, list(accumulate(plan.rule.weight for plan in plans))
        return found

    def _fits(self, plan: _Plan, bound: Mapping[str, Bound]) -> bool:
        """Whether the rule's conditions hold, and those of its draws that depend on the request alone find an entry."""
        return all(
            bool(self._mask_of(operand, bound) & mask) == sign for operand, sign, mask in plan.conditions
        ) and all(self._entries(draw, bound) for draw in plan.free_draws)

    def _entries(self, draw: _EntryDraw, bound: Mapping[str, Bound]) -> list[Entry]:
        """The entries that meet the conditions of a draw."""
        wanted = [(key, sign, self._mask_of(operand, bound)) for key, sign, operand in draw.conditions]
        cache_key = (draw.kind, *wanted)
        found = self._found_entries.get(cache_key)
        if found is None:
            found = list(self.lexicon.entries[draw.kind])
            for key, sign, mask in wanted:
                found = [entry for entry in found if bool(self._masks[entry].get(key, 0) & mask) == sign]
            self._found_entries[cache_key] = found
        return found

    def _draw_entry(self, plan: _Plan, draw: _EntryDraw, bound: Mapping[str, Bound]) -> Entry:
        """An entry that fits and that the sentence does not have yet."""
        fresh = [entry for entry in self._entries(draw, bound) if entry.once is None or entry.once not in self._used]
        if not fresh:
            raise DeadEndError(
                f"rule '{plan.rule.name}' finds no {draw.kind} for '{draw.name}' with {self._shown(bound)}"
            )
        entry = fresh[int(self.random() * len(fresh))]
        self._used.add(entry.once)
        return entry

    def _choose(self, sums: Sequence[float]) -> int:
        return bisect_right(sums, self.random() * sums[-1], hi=len(sums) - 1)

    def _operand(self, operand: Operand, bound: Mapping[str, Bound]) -> Bound:
        if isinstance(operand, int):
            return operand
        name, attribute = operand
        value = bound[name]
        if not attribute:
            return value
        assert isinstance(value, Entry)
        return self._masks[value].get(attribute, 0)

    def _mask_of(self, operand: Operand, bound: Mapping[str, Bound]) -> int:
        mask = self._operand(operand, bound)
        assert isinstance(mask, int)
        return mask

    def _mask(self, atoms: Iterable[str]) -> int:
        mask = 0
        for atom in atoms:
            if atom not in self._bits:
                self._bits[atom] = 1 << len(self._bits)
                self._names[self._bits[atom]] = atom
            mask |= self._bits[atom]
        return mask

    def atom(self, value: Bound) -> str:
        """The name of the one atom that a value holds."""
        if value not in self._names:
            raise ValueError(f"'{self._shown({'value': value})}' names a form; expected one atom")
        return self._names[value]

    def one_of(self, words: Sequence[str]) -> str:
        """One of the words that an entry holds in an attribute."""
        return words[0] if len(words) == 1 else words[int(self.random() * len(words))]

    def new_links(self) -> int:
        """The number before a fresh block of link numbers."""
        self._links += 10
        return self._links - 10

    def _shown(self, bound: Mapping[str, Bound]) -> str:
        def show(value: Bound) -> str:
            if isinstance(value, Entry):
                return str(value)
            return "|".join(name for bit, name in self._names.items() if isinstance(bit, int) and bit & value)

        return " ".join(f"{key}={show(value)}" for key, value in bound.items())


class _EntryDraw:
    """An `EntryDraw` with masks."""

    def __init__(self, draw: EntryDraw, operand: _ToOperand) -> None:
        self.name, self.kind = draw.name, draw.kind
        self.conditions = [(key, sign, operand(value)) for key, (sign, value) in draw.conditions.items()]


class _AtomDraw:
    """An `AtomDraw` with masks."""

    def __init__(self, draw: AtomDraw, mask: _ToMask) -> None:
        self.name = draw.name
        self.masks = [mask((atom,)) for atom in draw.atoms]
        self.sums = list(accumulate(draw.weights))


class _Plan:
    """A rule with masks in place of atoms."""

    def __init__(self, rule: Rule, mask: _ToMask) -> None:
        def operand(value: Value) -> Operand:
            return (value.name, value.attribute) if isinstance(value, Reference) else mask(value)

        self.rule = rule
        self.conditions = [(operand(what), sign, mask(atoms)) for what, sign, atoms in rule.conditions]
        self.draws = [
            _EntryDraw(draw, operand) if isinstance(draw, EntryDraw) else _AtomDraw(draw, mask) for draw in rule.draws
        ]
        drawn = {draw.name for draw in rule.draws}
        self.free_draws = [
            draw
            for draw in self.draws
            if isinstance(draw, _EntryDraw)
            and not any(isinstance(what, tuple) and what[0] in drawn for _, _, what in draw.conditions)
        ]
        self.requests = [
            (request.name, request.category, [(key, operand(value)) for key, value in request.attributes.items()])
            for request in rule.requests
        ]


class _Build:
    """Fills the two rows of one rule."""

    def __init__(self, deriver: Deriver, bound: Mapping[str, Bound], sites: Mapping[str, tuple[Side, Side]]) -> None:
        self.deriver, self.bound, self.sites = deriver, bound, sites
        self.links = deriver.new_links()
        self.entry_links: dict[str, int] = {}

    def side(self, row: Row, side: int) -> Side:
        """A row of the rule itself."""
        return self._row(row, side, self.links)

    def _row(self, row: Row, side: int, links: int) -> Side:
        parts = [self._part(item, side, links) for item in row.items]
        if len(parts) == 1:
            return parts[0]
        nodes = [node for part in parts for node in part.nodes]
        if not nodes:
            return Side([], None)
        head = parts[row.head].head
        assert head is not None, "a row whose head is empty"
        for part, relation in zip(parts, row.relations, strict=True):
            if part.head is not None and part.head is not head:
                part.head.governor = head
                part.head.relation = relation
        return Side(nodes, head)

    def _part(self, part: Part, side: int, links: int) -> Side:
        if isinstance(part, Word):
            word = part.word if isinstance(part.word, str) else self._attribute(part.word)
            node = Node(part.tag, word)
            node.links = [links + link for link in part.links]
            return Side([node], node)
        if isinstance(part, Branch):
            inner = self._row(part.row, side, links)
            # (VP (VP ...)) with nothing beside the inner VP is one VP: optional sites that are empty leave no trace.
            if not inner.nodes or (len(inner.nodes) == 1 and inner.nodes[0].label == part.label):
                return inner
            node = Node(part.label)
            node.children, node.head = inner.nodes, inner.head
            return Side([node], node)
        filled = self.sites[part.name][side] if part.name in self.sites else self._entry(part, side)
        if part.links and filled.head is not None:
            filled.head.head_word().links += [links + link for link in part.links]
        return filled

    def _attribute(self, reference: Reference) -> str:
        entry = self.bound[reference.name]
        assert isinstance(entry, Entry)
        return self.deriver.one_of(entry.attributes[reference.attribute])

    def _entry(self, site: Site, side: int) -> Side:
        entry = self.bound[site.name]
        assert isinstance(entry, Entry)
        links = self.entry_links.get(site.name)
        if links is None:
            links = self.entry_links[site.name] = self.deriver.new_links()
        if side == 0:
            source = self._row(entry.source, 0, links)
            if site.tag:
                source.nodes[0].label = site.tag
            return source
        form = site.form if isinstance(site.form, str) else self.deriver.atom(self.bound[site.form.name])
        row = entry.forms.get(form or "base")
        if row is None:
            raise DeadEndError(f"'{entry}' has no form '{form or 'base'}'")
        return self._row(row, 1, links)
