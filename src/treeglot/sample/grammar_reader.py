"""Reads the sample's grammar, and refuses what cannot be right with its place and a reason."""

from __future__ import annotations

import re
from collections.abc import Iterable

from treeglot.sample.grammar import AtomDraw, Category, EntryDraw, Grammar, Request, Rule
from treeglot.sample.grammar_checks import SITE, check_atoms, check_bound, check_reachable, check_sides, relations
from treeglot.sample.lexicon import Lexicon
from treeglot.sample.notation import Branch, Place, Reference, Row, Value, Word, parse_conditions, parse_row

_HEADER = re.compile(
    r"(?P<category>[a-z-]+)\s+(?P<name>[a-z0-9-]+)(?:\s+\((?P<weight>[\d.]+)\))?(?P<conditions>(?:\s+\S+)*)"
)
_BODY = re.compile(r"(?P<name>[a-z][a-z0-9-]*)\s+(?P<sign>[~=])\s+(?P<what>.+)")
_CHOICE = re.compile(r"\{(?P<choices>.*)\}")


def load_grammar(lines: Iterable[tuple[Place, str]], lexicon: Lexicon) -> Grammar:
    """Read a grammar over `lexicon` from statements."""
    reader = _Reader(lexicon)
    for place, line in lines:
        reader.line(line, place)
    return reader.finish()


class _Draft:
    """A rule while its lines are read."""

    def __init__(self, category: Category, match: re.Match[str], lexicon: Lexicon, place: Place) -> None:
        self.category, self.name, self.place = category, match["name"], place
        self.weight = float(match["weight"] or 1)
        self.conditions = []
        for key, (sign, value) in parse_conditions(match["conditions"], place).items():
            name, _, attribute = key.partition(".")
            if name not in category.defaults or (name in category.kinds) != bool(attribute):
                raise place.error(f"category '{category.name}' has no attribute '{key}' to ask for")
            if isinstance(value, Reference):
                raise place.error(f"'{key}={value}': a rule's conditions are atoms such as food|drink")
            if attribute:
                check_atoms(lexicon, category.kinds[name], attribute, value, place)
            self.conditions.append((Reference(name, attribute), sign, frozenset(value)))
        self.bound: dict[str, str] = {name: category.kinds.get(name, "") for name in category.defaults}
        self.draws: list[EntryDraw | AtomDraw] = []
        self.requests: list[Request] = []
        self.sides: dict[str, Row] = {}


class _Reader:
    def __init__(self, lexicon: Lexicon) -> None:
        self.lexicon = lexicon
        self.start, self.start_place = "", Place("the grammar", 0)
        self.places: dict[str, Place] = {}
        self.labels: dict[str, frozenset[str]] = {"zh": frozenset(), "en": frozenset()}
        self.relations: frozenset[str] = frozenset()
        self.categories: dict[str, Category] = {}
        self.drafts: list[_Draft] = []

    def line(self, line: str, place: Place) -> None:
        if line[0].isspace():
            if not self.drafts:
                raise place.error("an indented line before the first rule")
            self._body(line.strip(), self.drafts[-1], place)
            return
        keyword, *rest = line.split()
        if keyword == "start" and len(rest) == 1:
            self.start, self.start_place = rest[0], place
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
        self.places[words[0]] = place
        self.categories[words[0]] = Category(words[0], defaults, kinds)

    def _header(self, line: str, place: Place) -> None:
        match = _HEADER.fullmatch(line)
        if match is None:
            raise place.error(f"'{line}' is not a rule; expected CATEGORY NAME (WEIGHT) attribute=value ...")
        if match["category"] not in self.categories:
            raise place.error(f"category '{match['category']}' is not declared")
        if any(d.name == match["name"] and d.category.name == match["category"] for d in self.drafts):
            raise place.error(f"category '{match['category']}' has two rules '{match['name']}'")
        self.drafts.append(_Draft(self.categories[match["category"]], match, self.lexicon, place))

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
            draft.bound[match["name"]] = SITE
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
        conditions = parse_conditions(rest, place)
        for key, (_, value) in conditions.items():
            check_atoms(self.lexicon, kind, key, value if isinstance(value, tuple) else (), place)
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
            if kind is None or kind == SITE:
                raise place.error(f"'{value}': rule '{draft.name}' binds no '{value.name}' before this line")
            if value.attribute and value.attribute not in (self.lexicon.attribute_names(kind) if kind else ()):
                raise place.error(f"'{value}': '{value.name}' holds no entry with an attribute '{value.attribute}'")

    def _check_names(self, row: Row, side: str, place: Place) -> None:
        for part in row.parts():
            label = part.label if isinstance(part, Branch) else part.tag if isinstance(part, Word) else ""
            if label and label not in self.labels[side]:
                raise place.error(f"'{label}' is not among the declared {side} labels")
        for relation in relations(row):
            if relation not in self.relations:
                raise place.error(f"'{relation}' is not among the declared relations")

    def finish(self) -> Grammar:
        """Check what needs the whole grammar, and freeze it."""
        for entry in (entry for entries in self.lexicon.entries.values() for entry in entries):
            self._check_names(entry.source, "zh", entry.place)
            for row in entry.forms.values():
                self._check_names(row, "en", entry.place)
        rules: dict[str, list[Rule]] = {name: [] for name in self.categories}
        for draft in self.drafts:
            rules[draft.category.name].append(_finished(draft, self.categories, self.lexicon))
        for name, found in rules.items():
            if not found:
                raise self.places[name].error(f"category '{name}' has no rules")
        if self.start not in self.categories:
            raise self.start_place.error(f"start category '{self.start}' is not declared")
        for rule in (rule for found in rules.values() for rule in found):
            check_sides(rule, rules)
        frozen = {name: tuple(found) for name, found in rules.items()}
        check_reachable(self.start, frozen, self.places)
        return Grammar(self.start, self.categories, frozen, self.lexicon)


def _finished(draft: _Draft, categories: dict[str, Category], lexicon: Lexicon) -> Rule:
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
    for row in draft.sides.values():
        check_bound(row, draft.name, draft.bound, lexicon, draft.place)
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
