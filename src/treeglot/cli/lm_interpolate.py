"""`treeglot lm interpolate`: mixes several n-gram models into one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from treeglot.base.errors import UsageError
from treeglot.cli.output import say
from treeglot.cli.parameters import FILE, MAPPED, MaybeText


def lm_interpolate(
    models: Annotated[list[Path], typer.Argument(help="N-gram models, compiled or ARPA files."), MAPPED],
    out: Annotated[
        Path,
        typer.Option("--out", "-o", help="The ARPA file to write, also .gz, .xz or .zst; - is standard output."),
        FILE,
    ] = Path("-"),
    dev: Annotated[
        MaybeText,
        typer.Option(help="A text, one sentence per line, that the mixture should make likely; EM finds weights."),
    ] = None,
    weights: Annotated[
        str, typer.Option(metavar="NUMBERS", help='The weights instead, one for each model: "0.7 0.3".')
    ] = "",
) -> None:
    """Interpolate n-gram models linearly into one back-off model.

    The result contains the n-grams of all models. The probability of each is the weighted sum of its probabilities in
    the models. Other n-grams back off. The command prints two perplexities of the dev text, which show how much this
    approximation costs.
    """
    from treeglot.lm.reshape import interpolate_ngrams

    if dev is not None and str(dev) == "-":
        raise UsageError("--dev is standard input, but the text is read twice; expected a file")
    try:
        given = [float(weight) for weight in weights.replace(",", " ").split()]
    except ValueError:
        raise UsageError(f"--weights is {weights!r}; expected numbers such as '0.7 0.3'") from None
    if bool(given) == (dev is not None):
        raise UsageError("give --dev or --weights, one of the two")
    made = interpolate_ngrams(models, weights=given or None, dev=dev)
    made.write_arpa(out)
    for model, weight in zip(models, made.weights, strict=True):
        say(f"{weight:.6f}\t{model}")
    if made.dev is not None:
        say(f"{made.dev.tokens:,} tokens, {made.dev.unknown:,} unknown words left out, {made.dev.rounds} rounds of EM")
        say(f"perplexity of the mixture of models {made.dev.dynamic:.4f}, of the one model {made.dev.static:.4f}")
