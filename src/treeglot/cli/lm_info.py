"""`treeglot lm info`: describes the file of a language model."""

from __future__ import annotations

from typing import Annotated

import typer

from treeglot.cli.output import show_data
from treeglot.cli.parameters import MAPPED


def lm_info(
    model: Annotated[str, typer.Argument(help="A compiled model or an ARPA file."), MAPPED],
    words: Annotated[bool, typer.Option("--words", help="Print its words, by number, instead.")] = False,
) -> None:
    """Describe a language model file: order, n-grams, memory, and precision."""
    from treeglot.cli import dependency_model
    from treeglot.lm import DependencyModel, load_dependency, load_ngram
    from treeglot.lm.dependency import is_dependency_model

    loaded = load_dependency(model) if is_dependency_model(model) else load_ngram(model)
    if words:
        for number in range(len(loaded)):
            show_data(loaded.word(number))
        return
    if isinstance(loaded, DependencyModel):
        dependency_model.show(loaded)
        return
    core = loaded.core
    print(f"order\t{loaded.order}")
    print(f"layout\t{loaded.layout}")
    print(f"bytes\t{core.bytes}")
    print(f"words\t{len(loaded)}" + (" (<unk> was not given and has log10 -100)" if core.unknown_added else ""))
    if core.classed:
        print(f"classes of\t{core.classed} words")
    for n, (count, blanks) in enumerate(zip(core.counts, core.blanks, strict=True), 1):
        print(f"{n}-grams\t{count}" + (f" and {blanks} put in because longer ones end in them" if blanks else ""))
    if loaded.layout == "small":
        for n in range(2, loaded.order + 1):
            shadowed = core.shadowed[n - 1]
            print(
                f"{n}-grams rounded by at most\t{core.prob_error[n - 1]:.6f}, backoffs {core.backoff_error[n - 1]:.6f}"
                + (f"; {shadowed} taken for others" if shadowed else "")
            )
        print(f"false positives\tabout 1 in {round(1 / loaded.false_positives):,} n-grams that are not in the model")
