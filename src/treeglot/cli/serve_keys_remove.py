"""`treeglot serve keys remove`: removes an API key."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from treeglot.cli.parameters import HERE
from treeglot.cli.serve import KEYS


def serve_keys_remove(
    name: Annotated[str, typer.Argument(help="Whose key it is.")],
    keys: Annotated[Path, HERE, KEYS] = Path("keys.json"),
) -> None:
    """Remove an API key. A running service refuses it from then on."""
    from treeglot.web.keys import Keys

    Keys(keys).remove(name)
