"""Gettext's files: fills in the messages that have no translation, and marks them as fuzzy, for a person to look at."""

from __future__ import annotations

import re
from typing import Any

from treeglot.documents.files import UnreadableError, require
from treeglot.documents.inline import Begin, End, Item, Object, Translates, pairs, translate_segments

# What programs put in: %s, %(name)d, %1$s, {0}, {name}; and tags.
_PARTS = re.compile(
    r"(?P<code>%(?:\(\w+\))?(?:\d+\$)?[-+#0]*(?:\*|\d+)?(?:\.\d+)?(?:hh|h|ll|l|z)?[diouxXeEfFgGcspr%]|\{[\w.:!\[\]]*\}|\$\{\w+\})"
    r"|(?P<tag></?[A-Za-z][^<>]*>)"
)
_PLURALS = re.compile(r"nplurals\s*=\s*(\d+)")


def translate_po(model: Translates, data: bytes, threads: int = 1) -> bytes:
    """The file with a translation for each message."""
    polib = require("polib")
    try:
        file = polib.pofile(data.decode("utf-8-sig") + "\n")  # with a line's end it is no name of a file
    except UnicodeDecodeError:
        raise
    except (OSError, ValueError) as error:
        raise UnreadableError(f"is no file of gettext: {error}") from error
    entries = [e for e in file if not e.obsolete and not e.msgstr and not any(e.msgstr_plural.values())]
    texts = [text for entry in entries for text in (entry.msgid, entry.msgid_plural) if text]
    made = dict(zip(texts, translate_segments(model, [_items(text) for text in texts], threads), strict=True))
    forms = _PLURALS.search(file.metadata.get("Plural-Forms", ""))
    for entry in entries:
        if entry.msgid_plural:
            several = _written(made[entry.msgid_plural])
            numbers = range(int(forms[1]) if forms else max(2, len(entry.msgstr_plural)))
            entry.msgstr_plural = dict.fromkeys(numbers, several) | {0: _written(made[entry.msgid])}
        else:
            entry.msgstr = _written(made[entry.msgid])
        if "fuzzy" not in entry.flags:
            entry.flags.append("fuzzy")
    assert model.text is not None
    if "Language" in file.metadata and not file.metadata["Language"]:
        file.metadata["Language"] = model.text.target.settings.language
    return f"{file}".encode()


def _items(text: str) -> list[Item]:
    """A message: what programs put in stays, tags go with their words if each has its end."""
    items: list[Item] = []
    at = 0
    for match in _PARTS.finditer(text):
        items += [text[at : match.start()], _item(match)]
        at = match.end()
    items.append(text[at:])
    found = pairs(items, lambda begin, end: _name(begin.tag) == _name(end.tag))
    for place, item in enumerate(items):
        if isinstance(item, Begin | End) and place not in found:
            items[place] = Object(item.tag)
        elif isinstance(item, Begin):
            items[place] = Begin((item.tag, items[found[place]].tag), whole=True)  # type: ignore[union-attr]
    return items


def _item(match: re.Match[str]) -> Item:
    if match["code"]:
        return Object(match[0], match[0])
    if match[0].endswith("/>"):
        return Object(match[0])
    return End(match[0]) if match[0].startswith("</") else Begin(match[0])


def _name(tag: str) -> str:
    return re.split(r"[\s>]", tag.lstrip("</"), maxsplit=1)[0]


def _written(items: list[Item]) -> str:
    def text(item: Any) -> str:
        if isinstance(item, Begin):
            return str(item.tag[0])
        if isinstance(item, End):
            return str(item.tag[1] if isinstance(item.tag, tuple) else item.tag)
        return str(item.tag) if isinstance(item, Object) else str(item)

    return "".join(map(text, items))
