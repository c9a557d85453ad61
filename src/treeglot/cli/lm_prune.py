"""`treeglot lm prune`: removes n-grams that matter little from an n-gram model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from treeglot.cli.output import say
from treeglot.cli.parameters import FILE, MAPPED


def lm_prune(
    model: Annotated[Path, typer.Argument(help="An n-gram model, a compiled or an ARPA file."), MAPPED],
    threshold: Annotated[float, typer.Option(help="Leave out n-grams that change the perplexity by a smaller share.")],
    out: Annotated[
        Path,
        typer.Option("--out", "-o", help="The ARPA file to write, also .gz, .xz or .zst; - is standard output."),
        FILE,
    ] = Path("-"),
) -> None:
    """Prune an n-gram model by entropy (Stolcke 1998).

    Each n-gram is compared with the whole model, and the remaining probabilities sum to 1.
    """
    from treeglot.lm.reshape import prune_ngrams

    made = prune_ngrams(model, threshold)
    made.write_arpa(out)
    for n, (kept, counted) in enumerate(zip(made.kept, made.counted, strict=True), 1):
        say(f"{n}-grams: {kept:,} of {counted:,}")
