"""The sample's lexicon: entries with a Chinese and an English side, and attributes that rules ask for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from treeglot.sample import english
from treeglot.sample.notation import Branch, Place, Row, Word, parse_conditions, parse_row

_SECTION = re.compile(r"\[(?P<kind>[a-z][a-z-]*)\s+(?P<tag>\S+)\s+(?P<paradigm>\S+)\s*(?P<attributes>.*)\]")
_PIECE = re.compile(r"(?P<bare>[^\s():~]+)(?:~(?P<links>\d+(?:,\d+)*))?(?=\s|$)")


@dataclass(frozen=True, eq=False)
class Entry:
    """A word, or a few that belong together, on both sides.

    `forms` holds a row for each English form, by the name that a rule uses in `<name.form>`.
    """

    kind: str
    source: Row
    forms: Mapping[str, Row]
    attributes: Mapping[str, tuple[str, ...]]
    place: Place

    @cached_property
    def once(self) -> object:
        """What stands at most once in a sentence: the entry, or what it shares in attribute `once` with others.

        None for an entry with `again=yes`.
        """
        return None if "again" in self.attributes else self.attributes.get("once", self)

    def __str__(self) -> str:
        return "".join(str(part.word) for part in self.source.parts() if isinstance(part, Word))


@dataclass(frozen=True)
class Lexicon:
    """All entries by kind, and the words before which the article is not as their spelling has it."""

    entries: Mapping[str, tuple[Entry, ...]]
    article_exceptions: frozenset[str] = field(default_factory=frozenset)

    def attribute_names(self, kind: str) -> frozenset[str]:
        """The attributes that some entry of `kind` has."""
        return frozenset(name for entry in self.entries[kind] for name in entry.attributes)


def load_lexicon(lines: Iterable[tuple[Place, str]]) -> Lexicon:
    """Read a lexicon from statements.

    >>> from treeglot.sample.notation import statements
    >>> lexicon = load_lexicon(statements("words.txt", "[noun NN noun class=food m=个]\\n苹果 = apple"))
    >>> entry = lexicon.entries["noun"][0]
    >>> str(entry), sorted(entry.forms), entry.attributes["m"]
    ('苹果', ['pl', 'sg'], ('个',))
    """
    entries: dict[str, list[Entry]] = {}
    exceptions: frozenset[str] = frozenset()
    section: _Section | None = None
    for place, line in lines:
        if line.startswith("["):
            section = _Section.parse(line, place)
            entries.setdefault(section.kind, [])
        elif line.startswith("article-exceptions:"):
            exceptions = frozenset(line.partition(":")[2].split())
        elif section is None:
            raise place.error(f"'{line}' stands before the first [section]")
        else:
            entries[section.kind].append(section.entry(line, place))
    return Lexicon({kind: tuple(found) for kind, found in entries.items()}, exceptions)


@dataclass(frozen=True)
class _Section:
    """`[KIND SOURCE_TAG PARADIGM attribute=value …]`: what its entries have in common."""

    kind: str
    tag: str
    paradigm: str
    attributes: dict[str, tuple[str, ...]]

    @classmethod
    def parse(cls, line: str, place: Place) -> _Section:
        match = _SECTION.fullmatch(line)
        if match is None:
            raise place.error(f"'{line}' is not a section; expected [KIND SOURCE_TAG PARADIGM attribute=value ...]")
        return cls(match["kind"], match["tag"], match["paradigm"], _attributes(match["attributes"], place))

    def entry(self, line: str, place: Place) -> Entry:
        sides, _, rest = line.partition(";")
        source, equals, target = (part.strip() for part in sides.partition(" = "))
        if not (source and equals and target):
            raise place.error(f"'{line}' is not an entry; expected CHINESE = ENGLISH ; attribute=value ...")
        attributes = dict(self.attributes)
        for word in rest.split():
            for name, atoms in _attributes(word.removeprefix("+"), place).items():
                attributes[name] = attributes.get(name, ()) + atoms if word.startswith("+") else atoms
        source_text = source if "(" in source else _tagged(source, self.tag, place)
        rows = {form: parse_row(text, place) for form, text in self._targets(target, place).items()}
        source_row = parse_row(source_text, place)
        if self.kind == "noun":
            attributes["agr"] = tuple(rows)
        elif self.paradigm == "adjective":
            attributes["grade"] = ("er",) if "er" in rows else ("more",)
        for row in (source_row, *rows.values()):
            for site in row.sites():
                raise place.error(f"'<{site.name}>' is a site; an entry has words alone")
        source_row, rows = _linked(source_row, rows, place)
        return Entry(self.kind, source_row, rows, attributes, place)

    def _targets(self, target: str, place: Place) -> dict[str, str]:
        """The English side as a fragment for each form; words without brackets are tagged by the paradigm."""
        bare = _bare_words(target)
        if not bare:
            return {"base": target}
        if self.paradigm not in english.PARADIGMS:
            if len(bare) > 1 or "(" in target:
                raise place.error(f"'{target}' has words without a tag; expected one word, or (TAG word) for each")
            return {"base": _tagged(target, self.paradigm, place)}
        tags = english.PARADIGMS[self.paradigm]
        inflected = bare[0] if self.paradigm == "verb" else bare[-1]
        given = inflected["bare"].split("/")
        if len(given) > len(tags):
            raise place.error(f"'{inflected['bare']}' has {len(given)} forms; a {self.paradigm} has {len(tags)}")
        texts = {}
        for form, word in english.forms(self.paradigm, given).items():
            text, end = "", 0
            for match in bare:
                mark = "*" if match is inflected else "nn:"
                chosen, tag = (word, tags[form]) if match is inflected else (match["bare"], next(iter(tags.values())))
                links = f"~{match['links']}" if match["links"] else ""
                text += target[end : match.start()] + f"{mark}({tag} {chosen}{links})"
                end = match.end()
            texts[form] = text + target[end:]
        return texts


def _bare_words(text: str) -> list[re.Match[str]]:
    """The words of `text` that stand outside brackets."""
    found, position = [], 0
    while position < len(text):
        if text[position] == " ":
            position += 1
            continue
        match = _PIECE.match(text, position)
        if match is not None:
            found.append(match)
            position = match.end()
            continue
        depth = 0
        while position < len(text):
            depth += {"(": 1, ")": -1}.get(text[position], 0)
            position += 1
            if depth == 0 and text[position - 1] == ")":
                break
    return found


def _tagged(word: str, tag: str, place: Place) -> str:
    if " " in word:
        raise place.error(f"'{word}' has a blank; expected one word, or (TAG word) for each")
    return f"({tag} {word})"


def _attributes(text: str, place: Place) -> dict[str, tuple[str, ...]]:
    attributes = {}
    for name, (_, value) in parse_conditions(text, place, signs="=").items():
        if not isinstance(value, tuple):
            raise place.error(f"'{name}={value}': an entry's attributes are atoms such as food|drink")
        attributes[name] = value
    return attributes


def _linked(source: Row, targets: dict[str, Row], place: Place) -> tuple[Row, dict[str, Row]]:
    """Rows without marks of their own are linked all to all, as link 1."""
    if not any(row.links() for row in (source, *targets.values())):
        return _mark_all(source), {form: _mark_all(row) for form, row in targets.items()}
    for row in targets.values():
        if source.links() != row.links():
            raise place.error("a link number stands on one side only")
    return source, targets


def _mark_all(row: Row) -> Row:
    items = tuple(
        Branch(item.label, _mark_all(item.row)) if isinstance(item, Branch) else replace(item, links=(1,))
        for item in row.items
    )
    return Row(items, row.relations, row.head)
