"""`treeglot serve keys list`: lists the API keys."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from treeglot.cli.parameters import HERE
from treeglot.cli.serve import KEYS


def serve_keys_list(keys: Annotated[Path, HERE, KEYS] = Path("keys.json")) -> None:
    """List the API keys with their names, rights and limits per minute."""
    from treeglot.syntax.draw.bars import columns
    from treeglot.web.keys import Keys

    rows = [["name", "rights", "requests", "characters"]]
    for key in Keys(keys).all():
        rows.append(
            [key.name, " ".join(key.rights), *(f"{n:,}" if n else "any" for n in (key.requests, key.characters))]
        )
    print(columns(rows))
