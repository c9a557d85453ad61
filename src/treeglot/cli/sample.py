"""`treeglot sample`: writes a small corpus for experiments."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from treeglot.cli.output import say
from treeglot.cli.parameters import FOLDER


def sample(
    out: Annotated[Path, typer.Option(help="Folder for the files; made if needed."), FOLDER] = Path("sample"),
    pairs: Annotated[
        int, typer.Option(help="Number of sentence pairs. Beyond 3,000, training pairs come again with other nouns.")
    ] = 3000,
) -> None:
    """Write a small Chinese-English treebank: text, trees, forests, dependencies and alignments.

    The sentences were generated from a synchronous grammar. Of the 3,000 pairs, 2,600 are for training, 200 for tuning
    and 200 for testing; docs/sample.md describes the files.
    """
    from treeglot.sample import write_corpus
    from treeglot.sample.corpus import PAIRS

    sizes = write_corpus(out, pairs)
    say(f"{out}: " + ", ".join(f"{size} pairs in {name}" for name, size in sizes.items()))
    if pairs > PAIRS:
        say(f"{pairs - PAIRS:,} pairs in train are others with new nouns and names; train has no forests")
