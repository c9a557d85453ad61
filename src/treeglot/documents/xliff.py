"""Translates XLIFF files, versions 1.2 and 2: adds the targets that are missing."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

from treeglot.documents.files import UnreadableError, require
from treeglot.documents.inline import Begin, End, Item, Object, Translates, translate_segments
from treeglot.documents.xml import local_name, parse_xml, write_xml

AROUND = ("g", "pc", "mrk")  # elements around text; all others stand for codes
OPEN_STATES = ("new", "needs-translation", "initial")  # of targets that are not translations yet


def translate_xliff(model: Translates, data: bytes, threads: int = 1) -> bytes:
    """Return the file with a target for each unit that can be translated and has no target."""
    tree = parse_xml(data)
    root = tree.getroot()
    if local_name(root) != "xliff":
        raise UnreadableError(f"has the root <{local_name(root)}>; expected <xliff>")
    old = root.get("version", "1.2").startswith("1")
    units = [unit for unit in root.iter() if local_name(unit) in ("trans-unit", "segment") and _is_open(unit)]
    sources = [_child(unit, "seg-source", "source") for unit in units]
    places = [_segments(source) for source in sources]
    segments = [list(_items(place)) for found in places for place in found]
    made = iter(translate_segments(model, segments, threads))
    for unit, source, found in zip(units, sources, places, strict=True):
        target = _child(unit, "target")
        if target is None:
            target = source.makeelement(source.tag.rpartition("}")[0] + "}target" if "}" in source.tag else "target")
            target.tail = source.tail
            source.addnext(target)
        for child in list(target):
            target.remove(child)
        if found == [source]:
            _fill(target, next(made))
        else:
            _fill_segments(target, source, {place: next(made) for place in found})
        if old:
            target.set("state", "needs-review-translation")
            target.set("state-qualifier", "leveraged-mt")
        else:
            unit.set("state", "translated")
    _name_languages(root, model, old)
    return write_xml(tree)


def _child(unit: Any, *names: str) -> Any:
    """Return the first child that has the first of these names for which there is one, or None."""
    return next((child for name in names for child in unit if local_name(child) == name), None)


def _is_open(unit: Any) -> bool:
    """Return whether a unit may be translated and has no translation yet."""
    if _child(unit, "source") is None:
        return False
    for node in (unit, *unit.iterancestors()):
        if node.get("translate") in ("yes", "no"):
            if node.get("translate") == "no":
                return False
            break
    target = _child(unit, "target")
    if target is None or not (len(target) or (target.text or "").strip()):
        return True
    return (target.get("state") or unit.get("state")) in OPEN_STATES


def _segments(source: Any) -> list[Any]:
    """Return the parts of a source that are translated separately (`<mrk mtype="seg">`), or the source itself."""
    found = [node for node in source.iter() if _is_segment(node)]
    outer = [node for node in found if not any(map(_is_segment, node.iterancestors()))]
    return outer or [source]


def _is_segment(node: Any) -> bool:
    return local_name(node) == "mrk" and node.get("mtype") == "seg"


def _fill_segments(target: Any, source: Any, made: dict[Any, list[Item]]) -> None:
    """Fill an empty target with the content of the source. Segments are translated, and everything else is copied."""
    target.text = source.text
    for child in source:
        copied = copy.copy(child)
        target.append(copied)
        if child in made:
            for inner in list(copied):
                copied.remove(inner)
            _fill(copied, made[child])
        elif any(node in made for node in child.iter()):
            for inner in list(copied):
                copied.remove(inner)
            _fill_segments(copied, child, made)


def _items(node: Any) -> Iterator[Item]:
    """Turn the content of an element into the items of a segment."""
    if node.text:
        yield node.text
    for child in node:
        name = local_name(child)
        stays = child.get("translate") == "no" or child.get("mtype") == "protected"
        if name in AROUND and not stays:
            yield Begin(child, whole=True)
            yield from _items(child)
            yield End(child)
        else:
            yield Object(child, "".join(child.itertext()).strip() if name in AROUND else "")
        if child.tail:
            yield child.tail


def _fill(target: Any, items: list[Item]) -> None:
    """Write items into an empty element."""
    etree = require("lxml.etree")
    target.text = None
    opened = [target]
    for item in items:
        if isinstance(item, str):
            last = opened[-1][-1] if len(opened[-1]) else None
            if last is None:
                opened[-1].text = (opened[-1].text or "") + item
            else:
                last.tail = (last.tail or "") + item
        elif isinstance(item, End):
            opened.pop()
        elif isinstance(item, Begin):
            opened.append(etree.SubElement(opened[-1], item.tag.tag, item.tag.attrib, item.tag.nsmap))
        else:
            made = copy.deepcopy(item.tag)
            made.tail = None
            opened[-1].append(made)


def _name_languages(root: Any, model: Translates, old: bool) -> None:
    """Write the target language into a file that does not name it."""
    assert model.text is not None
    code = model.text.target.settings.language
    if not old:
        root.set("trgLang", root.get("trgLang") or code)
        return
    for node in root:
        if local_name(node) == "file":
            node.set("target-language", node.get("target-language") or code)
