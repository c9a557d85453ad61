"""`treeglot neural add`: a neural joint model for a model that is there."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from treeglot.cli.parameters import ModelFolder


def neural_add(
    model: ModelFolder,
    network: Annotated[Path, typer.Argument(help="A neural joint model, as treeglot neural train writes it.")],
    weight: Annotated[float, typer.Option(help="The weight of its feature until the model is tuned.")] = 0.2,
) -> None:
    """Add a neural joint model to a model, as the feature neural. Tune the model afterwards."""
    from treeglot.cli.output import say, shown_warnings
    from treeglot.models.neural import add_neural

    with shown_warnings():
        made = add_neural(model, network, weight=weight)
    say(f"{made!r}: its feature neural has the weight {made.weights.get('neural', 0.0):g}")
