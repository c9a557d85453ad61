"""`treeglot concordance`: searches the training text of a model for phrases and rules."""

from __future__ import annotations

from typing import Annotated

import typer

from treeglot.base.errors import UsageError
from treeglot.cli.parameters import ModelFolder
from treeglot.cli.why import print_example


def concordance(
    model: ModelFolder,
    phrase: Annotated[
        str, typer.Argument(help="Source words in a row, or a rule as SOURCE ||| TARGET; empty: any, with --target.")
    ],
    target: Annotated[str, typer.Option(help="Target words in a row that the pairs must have too.")] = "",
    most: Annotated[int, typer.Option(help="Sentence pairs shown.", min=0)] = 10,
) -> None:
    """Show the sentence pairs that contain a phrase, or that a rule comes from, with the words marked.

    The model must have been trained with the option provenance. Write words in the form that the rules have.
    """
    from treeglot.models import load

    loaded = load(model)
    loaded.need_table("concordances")
    provenance = loaded.provenance
    if provenance is None:
        raise UsageError(f"{model} has no provenance; expected a model trained with --set provenance=true")
    sides = [side.strip() for side in phrase.split("|||")]
    if len(sides) == 3:  # as derivations print it: a left-hand side first
        sides = sides[1:]
    if len(sides) == 1:
        found = provenance.find(phrase.split(), target.split(), most)
        print(f"{found.pairs:,} pairs")
        for example in found.examples:
            print_example(example)
        return
    if len(sides) != 2 or target:
        raise UsageError(f"{phrase!r} is not a rule; expected SOURCE ||| TARGET, without --target")
    number = 0
    for rule, found in provenance.find_rule(sides[0], sides[1], most):
        number += 1
        print(f"rule {rule}: {found.pairs:,} pairs")
        for example in found.examples:
            print_example(example)
    if not number:
        raise UsageError(f"the table has no rule {phrase!r}")
