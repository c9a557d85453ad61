"""`treeglot train`: a model from aligned, parsed text."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from treeglot.cli.output import say, shown_warnings
from treeglot.cli.parameters import FOLDER, set_values
from treeglot.corpus import Corpus


def train(
    kind: Annotated[str, typer.Argument(help="The kind of model, such as hiero.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="The model's folder."), FOLDER],
    corpus: Corpus,
    lm: Annotated[Path | None, typer.Option(help="A language model, ARPA or compiled, in place of a new one.")] = None,
    lm_text: Annotated[Path | None, typer.Option(help="Text to train it on; default: the target sentences.")] = None,
    options: Annotated[
        Path | None,
        typer.Option(help="A TOML file with other options than the defaults: tables extract, score, search."),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="One such option: search.pop_limit=100; may be given again."),
    ] = None,
    threads: Annotated[int, typer.Option(help="Threads; they do not change the result.")] = 1,
    force: Annotated[
        bool, typer.Option("--force", help="Replace a model there even if its weights are tuned.")
    ] = False,
    memory: Annotated[str, typer.Option(help="Memory to use, about; what does not fit goes through the disk.")] = "2G",
) -> None:
    """Train a model from aligned, parsed text."""
    from treeglot.base.options import changed, load_options
    from treeglot.models import train as train_model
    from treeglot.models.kinds import find_kind

    declared = find_kind(kind)
    chosen = load_options(declared.options, options) if options else declared.options()
    chosen = changed(chosen, set_values(settings))
    with shown_warnings():
        model = train_model(
            kind, corpus, out, chosen, lm=lm, lm_text=lm_text, threads=threads, memory=memory, force=force, report=say
        )
    say(f"{model!r}")
