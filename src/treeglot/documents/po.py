"""Gettext files: adds missing translations and marks them as fuzzy, for review."""

from __future__ import annotations

import re
from typing import Any

from treeglot.documents.files import UnreadableError, require
from treeglot.documents.inline import Begin, End, Item, Object, Translates, pairs, translate_segments

# What programs put in: %s, %(name)d, %1$s, {0}, {name:,.2f}, {{name}}; and tags.
_PARTS = re.compile(
    r"(?P<code>%(?:\(\w+\))?(?:\d+\$)?[-+#0]{0,5}(?:\*|\d{1,9})?(?:\.\d+)?(?:hh|h|ll|l|z)?[diouxXeEfFgGcspr%]"
    r"|\{\{[^{}\n]+\}\}|\$?\{[\w.\[\]]*(?:![rsa])?(?::[^{}\s]*)?\})"
    r"|(?P<tag></?[A-Za-z][^<>]*>)"
)
_PLURALS = re.compile(r"nplurals\s*=\s*([0-9]+)")
MOST_PLURALS = 6  # that a language has: Arabic


def translate_po(model: Translates, data: bytes, threads: int = 1) -> bytes:
    """Return the file with translations for the messages that have none."""
    polib = require("polib")
    try:
        file = polib.pofile(data.decode("utf-8-sig") + "\n")  # with a line's end it is no name of a file
        file.ordered_metadata()  # writing does this, with numbers in the names of headers
    except UnicodeDecodeError:
        raise
    except (OSError, ValueError) as error:
        raise UnreadableError(f"is not a file of gettext: {error}") from error
    forms = _plural_forms(file.metadata.get("Plural-Forms", ""))
    entries = [e for e in file if e.msgid and not e.obsolete and not e.msgstr and not any(e.msgstr_plural.values())]
    texts = [text for entry in entries for text in (entry.msgid, entry.msgid_plural) if text]
    made = dict(zip(texts, translate_segments(model, [_items(text) for text in texts], threads), strict=True))
    for entry in entries:
        if entry.msgid_plural:
            several = _written(made[entry.msgid_plural])
            number = forms or max(2, len(entry.msgstr_plural))
            entry.msgstr_plural = dict.fromkeys(range(number), several)
            if number > 1:  # an only form stands for all numbers
                entry.msgstr_plural[0] = _written(made[entry.msgid])
        else:
            entry.msgstr = _written(made[entry.msgid])
        if "fuzzy" not in entry.flags:
            entry.flags.append("fuzzy")
    assert model.text is not None
    if "Language" in file.metadata and not file.metadata["Language"]:
        file.metadata["Language"] = model.text.target.settings.language
    return f"{file}".encode()


def _plural_forms(rule: str) -> int:
    """Return the number of plural forms that the header of a file declares, or 0."""
    found = _PLURALS.search(rule)
    if found is None:
        return 0
    number = found[1].lstrip("0") or "0"
    if not 1 <= int(number[:9]) <= MOST_PLURALS:
        raise UnreadableError(f"has nplurals={number[:9]} in Plural-Forms; expected 1 to {MOST_PLURALS}")
    return int(number)


def _items(text: str) -> list[Item]:
    """Turn a message into a segment. Placeholders stay unchanged, and closed tags follow their words."""
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
    if _name(match[0]).lower() in ("br", "br/"):
        return Object(match[0], match[0])  # a word, so that those beside it do not become one
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
