"""`treeglot neural info`: describes the file of a neural model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from treeglot.cli.output import show_data


def neural_info(
    model: Annotated[Path, typer.Argument(help="A joint model's file.")],
    source_words: Annotated[bool, typer.Option("--source-words", help="Print its source words instead.")] = False,
    target_words: Annotated[bool, typer.Option("--target-words", help="Print its target words instead.")] = False,
) -> None:
    """Describe a neural model: its inputs, its size and its vocabulary sizes."""
    from treeglot.neural.train import load_joint

    loaded = load_joint(model)
    if source_words or target_words:
        for word in [
            *(loaded.source_words() if source_words else ()),
            *(loaded.target_words() if target_words else ()),
        ]:
            show_data(word)
        return
    print(f"bytes\t{loaded.bytes}")
    print(f"source words\t{len(loaded.source_words())}")
    print(f"target words\t{len(loaded.target_words())}")
    for name, value in loaded.facts.items():
        print(f"{name.replace('_', ' ')}\t{value}")
