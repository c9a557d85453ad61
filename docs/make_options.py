"""Makes the tables of options in docs/*.md from their declarations: python docs/make_options.py

A page has them between two comments, of which the first names the dataclass or the registered factory:

    <!-- options: treeglot.decode:SearchOptions -->
    <!-- end of options -->
"""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

from treeglot.base.options import options_table
from treeglot.base.registry import Registry

PAGES = sorted(Path(__file__).parent.glob("*.md"))
TABLE = re.compile(r"(<!-- options: ([\w.]+):(\w+)(?: ([\w-]+))? -->\n).*?(<!-- end of options -->)", re.DOTALL)


def made(page: str) -> str:
    """The page with its tables as the code has them."""
    return TABLE.sub(lambda found: f"{found[1]}{_table(*found.group(2, 3, 4))}\n{found[5]}", page)


def _table(module: str, name: str, entry: str | None) -> str:
    schema = getattr(import_module(module), name)
    return options_table(schema[entry] if isinstance(schema, Registry) and entry else schema)


if __name__ == "__main__":
    for path in PAGES:
        path.write_text(made(path.read_text(encoding="utf-8")), encoding="utf-8")
