"""Parses XML from untrusted sources: entities are not expanded, and nothing is fetched."""

from __future__ import annotations

from typing import Any

from treeglot.documents.files import UnreadableError, require


def parse_xml(data: bytes, name: str = "") -> Any:
    """Parse a document with lxml. `name` identifies the document in messages."""
    etree = require("lxml.etree")
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)
    try:
        tree = etree.fromstring(data, parser).getroottree()
    except etree.XMLSyntaxError as error:
        raise UnreadableError(f"{name + ' ' if name else ''}is no XML: {error.msg}", error.lineno or 0) from error
    dtd = tree.docinfo.internalDTD
    if dtd is not None and any(True for _ in dtd.iterentities()):
        raise UnreadableError("declares entities; expected a document without them")
    return tree


def write_xml(tree: Any) -> bytes:
    """Write a document as bytes in UTF-8."""
    etree = require("lxml.etree")
    alone = True if tree.docinfo.standalone else None
    return bytes(etree.tostring(tree, xml_declaration=True, encoding="UTF-8", standalone=alone))


def local_name(node: Any) -> str:
    """Return the name of an element without its namespace. Comments and similar nodes have no name."""
    return node.tag.rpartition("}")[2] if isinstance(node.tag, str) else ""
