"""`treeglot confidence`: learns from sentences with references how reliable a model is."""

from __future__ import annotations

from typing import Annotated

import typer

from treeglot.cli.parameters import ChangedModel, InputFormat, TextFile, Threads


def confidence(
    model: ChangedModel,
    source: Annotated[TextFile, typer.Argument(help="Sentences, forests or trees, as for translate.")],
    references: Annotated[TextFile, typer.Option("--refs", help="Their translations, a line each.")],
    format: InputFormat = None,
    threads: Threads = 1,
) -> None:
    """Use sentences outside the training data to learn how reliable a model is, and store the result in its folder.

    Then each translation has a confidence, and translate --abstain leaves out uncertain translations. Run the command
    again after tuning, because tuning changes the weights.
    """
    from treeglot.base.files import read_lines
    from treeglot.cli.output import say, shown_warnings
    from treeglot.models import load
    from treeglot.models.confidence import fit_confidence

    with shown_warnings():
        loaded = load(model)
        fitted = fit_confidence(loaded, list(loaded.read(source, format)), list(read_lines(references)), threads)
    say(
        f"{fitted.sentences:,} sentences, {fitted.words:,} words; ROC area, in halves fitted on each other: "
        f"sentences {fitted.sentence_area:.3f}, words {fitted.word_area:.3f}"
    )
