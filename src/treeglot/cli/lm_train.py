"""`treeglot lm train`: an n-gram model from text."""

from __future__ import annotations

import warnings
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Any

import typer

from treeglot.base.errors import UsageError
from treeglot.cli.output import Progress, say, warn

STAGES = {"counting": "words", "sorting": "words", "merging": "sorted runs", "writing": "n-grams"}


def lm_train(
    text: Annotated[Path, typer.Argument(help="Text, a sentence a line; - is standard input.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="The ARPA file to write; - is standard output.")] = Path("-"),
    order: Annotated[int, typer.Option(help="Words in the longest n-grams, 1 to 9.")] = 5,
    prune: Annotated[
        str,
        typer.Option(
            metavar="COUNTS",
            help="Leave out n-grams that occur so often or less, by order; the last count holds for the orders "
            'above: "0 0 1" drops what occurs once from trigrams on.',
        ),
    ] = "0",
    memory: Annotated[str, typer.Option(help="Memory to use, about; what does not fit goes through the disk.")] = "2G",
    scratch: Annotated[Path | None, typer.Option(help="The folder for what does not fit.")] = None,
    fallback: Annotated[
        bool, typer.Option(help="Use the discounts 0.5, 1, 1.5 where they cannot be estimated, with a warning.")
    ] = True,
    threads: Annotated[int, typer.Option(help="Threads; they do not change the result.")] = 1,
) -> None:
    """Train an n-gram model: interpolated modified Kneser-Ney, as lmplz estimates it."""
    from treeglot.lm.train import FALLBACK, train

    try:
        thresholds = [int(count) for count in prune.replace(",", " ").split()]
    except ValueError:
        raise UsageError(f"--prune is {prune!r}; expected counts such as '0 0 1'") from None
    with ExitStack() as stack, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        stages = Stages(stack)
        training = train(
            text,
            order,
            prune=thresholds,
            memory=memory,
            fallback=FALLBACK if fallback else None,
            scratch=scratch,
            threads=threads,
            out=out,
            progress=stages.update,
        )
    for warning in caught:
        warn(str(warning.message))
    report = training.report
    say(f"{report.tokens:,} words, {report.types:,} different ones, in {report.sentences:,} lines")
    for n, (kept, counted, discounts) in enumerate(zip(report.kept, report.counted, report.discounts, strict=True), 1):
        of = f" of {counted:,}" if counted != kept else ""
        say(f"{n}-grams: {kept:,}{of}, discounts {' '.join(f'{d:.4f}' for d in discounts)}")


class Stages:
    """The progress of one stage after the other."""

    def __init__(self, stack: ExitStack) -> None:
        """The last stage ends with `stack`."""
        self._stack = stack
        self._stage = ""
        self._progress: Any = None

    def update(self, stage: str, done: int, total: int) -> None:
        """So much of `stage` is done."""
        if stage != self._stage:
            self._stack.close()
            self._stage = stage
            self._progress = self._stack.enter_context(Progress(stage, unit=STAGES[stage], total=total or None))
        self._progress.update(done)
