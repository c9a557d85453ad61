"""The text formats, one file each, and the functions that read and write them."""

from treeglot.syntax.formats.files import (
    FORMATS,
    READ_ONLY,
    Records,
    find_format,
    missing_hint,
    read,
    read_alignments,
    read_dependencies,
    read_forests,
    read_parallel,
    read_text,
    read_trees,
    write,
)
from treeglot.syntax.formats.format import Format

__all__ = [
    "FORMATS",
    "READ_ONLY",
    "Format",
    "Records",
    "find_format",
    "missing_hint",
    "read",
    "read_alignments",
    "read_dependencies",
    "read_forests",
    "read_parallel",
    "read_text",
    "read_trees",
    "write",
]
