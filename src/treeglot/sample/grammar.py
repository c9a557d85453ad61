"""The sample's synchronous grammar: rules with a Chinese and an English side, checked when they are read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from treeglot.sample.lexicon import Lexicon, links_of
from treeglot.sample.notation import (
    Branch,
    Place,
    Reference,
    Row,
    Value,
    Word,
    parse_conditions,
    parse_row,
)

Conditions: TypeAlias = "Mapping[str, tuple[bool, Value]]"

_HEADER = re.compile(
    r"(?P<category>[a-z-]+)\s+(?P<name>[a-z0-9-]+)(?:\s+\((?P<weight>[\d.]+)\))?(?P<conditions>(?:\s+\S+)*)"
)
_BODY = re.compile(r"(?P<name>[a-z][a-z0-9-]*)\s+(?P<sign>[~=])\s+(?P<what>.+)")
_CHOICE = re.compile(r"\{(?P<choices>.*)\}")


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


def load_grammar(file: str, lines: Iterable[str], lexicon: Lexicon) -> Grammar:
    """Read a grammar over `lexicon`; `file` is its name in messages."""
    reader = _Reader(file, lexicon)
    for number, raw in enumerate(lines, 1):
        reader.line(raw.partition("#")[0].rstrip(), Place(file, number))
    return reader.finish()


class _Draft:
    """A rule while its lines are read."""

    def __init__(self, category: Category, match: re.Match[str], place: Place) -> None:
        self.category, self.name, self.place = category, match["name"], place
        self.weight = float(match["weight"] or 1)
        self.conditions = []
        for key, (sign, value) in parse_conditions(match["conditions"], place).items():
            name, _, attribute = key.partition(".")
            if name not in category.defaults or (name in category.kinds) != bool(attribute):
                raise place.error(f"category '{category.name}' has no attribute '{key}' to ask for")
            if isinstance(value, Reference):
                raise place.error(f"'{key}={value}': a rule's conditions are atoms such as food|drink")
            self.conditions.append((Reference(name, attribute), sign, frozenset(value)))
        self.bound: dict[str, str] = {name: category.kinds.get(name, "") for name in category.defaults}
        self.draws: list[EntryDraw | AtomDraw] = []
        self.requests: list[Request] = []
        self.sides: dict[str, Row] = {}


class _Reader:
    def __init__(self, file: str, lexicon: Lexicon) -> None:
        self.file, self.lexicon = file, lexicon
        self.start = ""
        self.labels: dict[str, frozenset[str]] = {"zh": frozenset(), "en": frozenset()}
        self.relations: frozenset[str] = frozenset()
        self.categories: dict[str, Category] = {}
        self.drafts: list[_Draft] = []

    def line(self, line: str, place: Place) -> None:
        if not line:
            return
        if line[0].isspace():
            if not self.drafts:
                raise place.error("an indented line before the first rule")
            self._body(line.strip(), self.drafts[-1], place)
            return
        keyword, *rest = line.split()
        if keyword == "start" and len(rest) == 1:
            self.start = rest[0]
        elif keyword == "labels" and rest and rest[0] in self.labels:
            self.labels[rest[0]] |= frozenset(rest[1:])
        elif keyword == "relations":
            self.relations |= frozenset(rest)
        elif keyword == "category" and rest:
            self._category(rest, place)
        else:
            self._header(line, place)

    def _category(self, words: list[str], place: Place) -> None:
        defaults: dict[str, tuple[str, ...] | None] = {}
        kinds: dict[str, str] = {}
        for word in words[1:]:
            name, equals, default = word.partition("=")
            name, colon, kind = name.partition(":")
            if colon:
                if kind not in self.lexicon.entries:
                    raise place.error(f"the lexicon has no kind '{kind}'")
                kinds[name] = kind
            defaults[name] = tuple(default.split("|")) if equals else None
        if words[0] in self.categories:
            raise place.error(f"category '{words[0]}' is declared twice")
        self.categories[words[0]] = Category(words[0], defaults, kinds)

    def _header(self, line: str, place: Place) -> None:
        match = _HEADER.fullmatch(line)
        if match is None:
            raise place.error(f"'{line}' is not a rule; expected CATEGORY NAME (WEIGHT) attribute=value ...")
        if match["category"] not in self.categories:
            raise place.error(f"category '{match['category']}' is not declared")
        if any(d.name == match["name"] and d.category.name == match["category"] for d in self.drafts):
            raise place.error(f"category '{match['category']}' has two rules '{match['name']}'")
        self.drafts.append(_Draft(self.categories[match["category"]], match, place))

    def _body(self, line: str, draft: _Draft, place: Place) -> None:
        side, _, text = line.partition(" ")
        if side in self.labels:
            if side in draft.sides:
                raise place.error(f"rule '{draft.name}' has two sides '{side}'")
            draft.sides[side] = parse_row(text, place)
            self._check_names(draft.sides[side], side, place)
            return
        match = _BODY.fullmatch(line)
        if match is None:
            raise place.error(f"'{line}' is not understood; expected NAME ~ DRAW, NAME = CATEGORY ..., zh or en")
        if match["name"] in draft.bound:
            raise place.error(f"'{match['name']}' is bound twice in rule '{draft.name}'")
        if match["sign"] == "=":
            draft.requests.append(self._request(match["name"], match["what"], draft, place))
            draft.bound[match["name"]] = "<site>"
        else:
            draw = self._draw(match["name"], match["what"], draft, place)
            draft.draws.append(draw)
            draft.bound[draw.name] = draw.kind if isinstance(draw, EntryDraw) else ""

    def _draw(self, name: str, text: str, draft: _Draft, place: Place) -> EntryDraw | AtomDraw:
        choice = _CHOICE.fullmatch(text)
        if choice is not None:
            pairs = [word.partition(":") for word in choice["choices"].split()]
            try:
                weights = tuple(float(weight or 1) for _, _, weight in pairs)
            except ValueError:
                raise place.error(
                    f"'{text}' is not a choice; expected atoms with weights such as {{sg:3 pl:1}}"
                ) from None
            return AtomDraw(name, tuple(atom for atom, _, _ in pairs), weights)
        kind, _, rest = text.partition(" ")
        if kind not in self.lexicon.entries:
            raise place.error(f"the lexicon has no kind '{kind}'")
        known = self.lexicon.attribute_names(kind)
        conditions = parse_conditions(rest, place)
        for key, (_, value) in conditions.items():
            if key not in known:
                raise place.error(f"no {kind} of the lexicon has an attribute '{key}'")
            self._check_value(value, draft, place)
        return EntryDraw(name, kind, conditions)

    def _request(self, name: str, text: str, draft: _Draft, place: Place) -> Request:
        category, _, rest = text.partition(" ")
        attributes = {}
        for key, (_, value) in parse_conditions(rest, place, signs="=").items():
            self._check_value(value, draft, place)
            attributes[key] = value
        return Request(name, category, attributes)

    def _check_value(self, value: Value, draft: _Draft, place: Place) -> None:
        if isinstance(value, Reference):
            kind = draft.bound.get(value.name)
            if kind is None or kind == "<site>":
                raise place.error(f"'{value}': rule '{draft.name}' binds no '{value.name}' before this line")
            if value.attribute and value.attribute not in (self.lexicon.attribute_names(kind) if kind else ()):
                raise place.error(f"'{value}': '{value.name}' holds no entry with an attribute '{value.attribute}'")

    def _check_names(self, row: Row, side: str, place: Place) -> None:
        for part in row.parts():
            label = part.label if isinstance(part, Branch) else part.tag if isinstance(part, Word) else ""
            if label and label not in self.labels[side]:
                raise place.error(f"'{label}' is not among the declared {side} labels")
        for relation in _relations(row):
            if relation not in self.relations:
                raise place.error(f"'{relation}' is not among the declared relations")

    def finish(self) -> Grammar:
        """Check what needs the whole file, and freeze it."""
        rules: dict[str, list[Rule]] = {name: [] for name in self.categories}
        for draft in self.drafts:
            rules[draft.category.name].append(_finished(draft, self.categories))
        for name, found in rules.items():
            if not found:
                raise Place(self.file, 0).error(f"category '{name}' has no rules")
        if self.start not in self.categories:
            raise Place(self.file, 0).error(f"start category '{self.start}' is not declared")
        for found in rules.values():
            for rule in found:
                _check_sites(rule, rules, self.lexicon)
        asked, todo = {self.start}, [self.start]
        while todo:
            for rule in rules[todo.pop()]:
                fresh = {request.category for request in rule.requests} - asked
                asked |= fresh
                todo += sorted(fresh)
        for name in self.categories:
            if name not in asked:
                raise Place(self.file, 0).error(f"nothing asks for category '{name}'")
        return Grammar(self.start, self.categories, {name: tuple(found) for name, found in rules.items()}, self.lexicon)


def _relations(row: Row) -> Iterable[str]:
    yield from (relation for relation in row.relations if relation)
    for item in row.items:
        if isinstance(item, Branch):
            yield from _relations(item.row)


def _finished(draft: _Draft, categories: Mapping[str, Category]) -> Rule:
    for side in ("zh", "en"):
        if side not in draft.sides:
            raise draft.place.error(f"rule '{draft.name}' has no side '{side}'")
    requests = []
    for request in draft.requests:
        if request.category not in categories:
            raise draft.place.error(f"site '{request.name}' asks for '{request.category}', which is not declared")
        wanted = categories[request.category]
        for key in request.attributes:
            if key not in wanted.defaults:
                raise draft.place.error(f"site '{request.name}': category '{wanted.name}' has no attribute '{key}'")
        attributes = {
            **{key: default for key, default in wanted.defaults.items() if default is not None},
            **request.attributes,
        }
        missing = [key for key in wanted.defaults if key not in attributes]
        if missing:
            raise draft.place.error(f"site '{request.name}': category '{wanted.name}' needs '{missing[0]}'")
        requests.append(Request(request.name, request.category, attributes))
    return Rule(
        draft.category.name,
        draft.name,
        draft.weight,
        tuple(draft.conditions),
        tuple(draft.draws),
        tuple(requests),
        draft.sides["zh"],
        draft.sides["en"],
        draft.place,
    )


def _check_sites(rule: Rule, rules: Mapping[str, list[Rule]], lexicon: Lexicon) -> None:
    """Each site once on either side, unless all its rules leave that side empty; each link number on both sides."""
    requests = {request.name: request for request in rule.requests}
    for side, row in (("zh", rule.source), ("en", rule.target)):
        names = [site.name for site in row.sites()]
        for name in names:
            if names.count(name) > 1:
                raise rule.place.error(f"rule '{rule.name}' has site '{name}' twice on side '{side}'")
        for name, request in requests.items():
            empty = all(not (r.source if side == "zh" else r.target).items for r in rules[request.category])
            if name not in names and not empty:
                raise rule.place.error(f"rule '{rule.name}' has no site '{name}' on side '{side}'")
    sites = [site for row in (rule.source, rule.target) for site in row.sites() if not site.alone]
    entries = {site.name for site in sites} - set(requests)
    kinds = {draw.name: draw.kind for draw in rule.draws if isinstance(draw, EntryDraw)}
    for name in entries:
        for side, row in (("zh", rule.source), ("en", rule.target)):
            if name not in {site.name for site in row.sites()}:
                raise rule.place.error(f"rule '{rule.name}' has entry '{name}' on one side, not on side '{side}'")
        for site in rule.target.sites():
            if site.name == name and name in kinds and isinstance(site.form, str):
                known = {form for entry in lexicon.entries[kinds[name]] for form in entry.forms}
                if (site.form or "base") not in known:
                    raise rule.place.error(f"'<{name}.{site.form}>': no {kinds[name]} of the lexicon has that form")
    if set(links_of(rule.source)) != set(links_of(rule.target)):
        raise rule.place.error(f"rule '{rule.name}' has a link number on one side only")
