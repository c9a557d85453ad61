"""`treeglot train`: a model from aligned, parsed text."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from treeglot.base.errors import UsageError
from treeglot.cli.output import say, warn

KINDS = ("hiero",)


def train(
    kind: Annotated[str, typer.Argument(help="The kind of model: hiero.")],
    source: Annotated[Path, typer.Option(help="Tokenised source sentences, one a line.")],
    target: Annotated[Path, typer.Option(help="Tokenised target sentences, one a line.")],
    alignments: Annotated[Path, typer.Option(help="Word alignments in Pharaoh's format, source-target.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="The model's folder.")],
    lm: Annotated[Path | None, typer.Option(help="A language model, ARPA or compiled, in place of a new one.")] = None,
    lm_text: Annotated[Path | None, typer.Option(help="Text to train it on; default: the target sentences.")] = None,
    options: Annotated[
        Path | None,
        typer.Option(help="A TOML file with other options than the defaults: tables extract, score, search."),
    ] = None,
    threads: Annotated[int, typer.Option(help="Threads; they do not change the result.")] = 1,
    memory: Annotated[str, typer.Option(help="Memory to use, about; what does not fit goes through the disk.")] = "2G",
) -> None:
    """Train a model from aligned text."""
    import warnings

    from treeglot.base.options import load_options, unknown
    from treeglot.models.hiero import HieroModelOptions
    from treeglot.models.train import train_hiero

    if kind not in KINDS:
        raise UsageError(unknown("kind of model", kind, KINDS))
    chosen = load_options(HieroModelOptions, options) if options else HieroModelOptions()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = train_hiero(
            source, target, alignments, out, chosen, lm=lm, lm_text=lm_text, threads=threads, memory=memory, report=say
        )
    for warning in caught:
        warn(str(warning.message))
    say(f"{model!r}")
