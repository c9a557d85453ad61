"""What must hold of a rule and of a whole grammar, beyond what a single line shows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from treeglot.sample.grammar import Rule
from treeglot.sample.lexicon import Lexicon
from treeglot.sample.notation import Branch, Place, Reference, Row, Site, Word

SITE = "<site>"
"""Stands for the kind of a name that is bound to a site."""


def relations(row: Row) -> Iterator[str]:
    """All relations in a row, at any depth."""
    yield from (relation for relation in row.relations if relation)
    for item in row.items:
        if isinstance(item, Branch):
            yield from relations(item.row)


def check_atoms(lexicon: Lexicon, kind: str, attribute: str, atoms: Sequence[str], place: Place) -> None:
    """A condition on entries asks for an attribute, and for atoms in it, that some entry has."""
    if attribute not in lexicon.attribute_names(kind):
        raise place.error(f"no {kind} of the lexicon has an attribute '{attribute}'")
    known = {atom for entry in lexicon.entries[kind] for atom in entry.attributes.get(attribute, ())}
    for atom in atoms:
        if atom not in known and atom != "any":
            raise place.error(f"no {kind} of the lexicon has {attribute}={atom}")


def check_bound(row: Row, rule: str, bound: Mapping[str, str], lexicon: Lexicon, place: Place) -> None:
    """Sites, forms and words from attributes use names that the rule binds, and forms and attributes that there are."""
    for part in row.parts():
        if isinstance(part, Site):
            if part.name not in bound or not bound[part.name]:
                raise place.error(f"rule '{rule}' binds no '{part.name}' for the site '<{part.name}>'")
            if isinstance(part.form, Reference):
                if bound.get(part.form.name, SITE):
                    raise place.error(f"rule '{rule}' binds no atom '{part.form.name}' for '<{part.name}.{part.form}>'")
            elif part.form and bound[part.name] != SITE:
                kind = bound[part.name]
                if not any(part.form in entry.forms for entry in lexicon.entries[kind]):
                    raise place.error(f"'<{part.name}.{part.form}>': no {kind} of the lexicon has that form")
        elif isinstance(part, Word) and isinstance(part.word, Reference):
            kind = bound.get(part.word.name, "")
            if kind not in lexicon.entries:
                raise place.error(f"rule '{rule}' binds no entry '{part.word.name}'")
            check_atoms(lexicon, kind, part.word.attribute, (), place)


def check_sides(rule: Rule, rules: Mapping[str, Sequence[Rule]]) -> None:
    """Each site is once on either side, unless all its rules leave that side empty; so is each entry and each link."""
    requests = {request.name: request for request in rule.requests}
    sides = {"zh": rule.source, "en": rule.target}
    names = {side: [site.name for site in row.sites()] for side, row in sides.items()}
    paired = {site.name for row in sides.values() for site in row.sites() if not site.alone} - set(requests)
    for side in sides:
        for name in names[side]:
            if names[side].count(name) > 1:
                raise rule.place.error(f"rule '{rule.name}' has site '{name}' twice on side '{side}'")
        for name, request in requests.items():
            empty = all(not (r.source if side == "zh" else r.target).items for r in rules[request.category])
            if name not in names[side] and not empty:
                raise rule.place.error(f"rule '{rule.name}' has no site '{name}' on side '{side}'")
        for name in sorted(paired - set(names[side])):
            raise rule.place.error(f"rule '{rule.name}' has entry '{name}' on one side, not on side '{side}'")
    if rule.source.links() != rule.target.links():
        raise rule.place.error(f"rule '{rule.name}' has a link number on one side only")


def check_reachable(start: str, rules: Mapping[str, Sequence[Rule]], places: Mapping[str, Place]) -> None:
    """Every category is asked for, by the start or by a rule that can be used."""
    asked, todo = {start}, [start]
    while todo:
        for rule in rules[todo.pop()]:
            fresh = {request.category for request in rule.requests} - asked
            asked |= fresh
            todo += sorted(fresh)
    for name in rules:
        if name not in asked:
            raise places[name].error(f"nothing asks for category '{name}'")
