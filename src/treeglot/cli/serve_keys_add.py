"""`treeglot serve keys add`: creates an API key."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from treeglot.cli.parameters import HERE
from treeglot.cli.serve import KEYS


def serve_keys_add(
    name: Annotated[str, typer.Argument(help="Whose key it is.")],
    keys: Annotated[Path, HERE, KEYS] = Path("keys.json"),
    rights: Annotated[
        list[str] | None, typer.Option("--right", help="translate, correct or learn; may be given again.")
    ] = None,
    requests: Annotated[int, typer.Option(help="Requests in a minute; 0: any number.")] = 0,
    characters: Annotated[int, typer.Option(help="Characters in a minute; 0: any number.")] = 0,
) -> None:
    """Create an API key and print it. The file stores only its hash, so the key cannot be shown again."""
    from treeglot.web.keys import Keys

    print(Keys(keys).add(name, tuple(rights or ["translate"]), requests, characters))
