"""`treeglot neural add`: adds a network to a trained model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from treeglot.cli.parameters import ChangedModel


def neural_add(
    model: ChangedModel,
    network: Annotated[Path, typer.Argument(help="A network, as treeglot neural train writes it.")],
    weight: Annotated[float, typer.Option(help="The weight of its feature until the model is tuned.")] = 0.2,
    name: Annotated[
        str | None,
        typer.Option(help="A name, for the feature neural_NAME; unless given, lexical networks are called lexical."),
    ] = None,
) -> None:
    """Add a network to a model, as the feature neural or neural_NAME. Tune the model afterwards."""
    from treeglot.cli.output import say, shown_warnings
    from treeglot.decode.translator import network_feature
    from treeglot.models.neural import add_neural, usual_name
    from treeglot.neural.train import load_joint

    with shown_warnings():
        made = add_neural(model, network, weight=weight, name=name)
        feature = network_feature(usual_name(load_joint(network)) if name is None else name)
    say(f"{made!r}: its feature {feature} has the weight {made.weights.get(feature, 0.0):g}")
