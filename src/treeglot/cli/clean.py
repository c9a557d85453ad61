"""`treeglot clean`: drops sentence pairs that are not translations."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from treeglot.align.clean import CleanOptions
from treeglot.cli.output import Progress, say
from treeglot.cli.parameters import FILE, MappedFile, NewFile, TextFile, Threads


def clean(
    source: Annotated[TextFile, typer.Argument(help="Tokenised source sentences, one per line.")],
    target: Annotated[TextFile, typer.Argument(help="Tokenised target sentences, one per line.")],
    out_source: Annotated[Path, typer.Option(help="Where the kept source sentences go."), FILE],
    out_target: Annotated[Path, typer.Option(help="Where the kept target sentences go."), FILE],
    options: CleanOptions,
    dropped: Annotated[
        NewFile, typer.Option(help="Where the others go: line, reason, score, source, target between tabs.")
    ] = None,
    model: Annotated[
        MappedFile, typer.Option(help="A saved aligner that scores the pairs; without one they are not scored.")
    ] = None,
    threads: Threads = 1,
) -> None:
    """Drop sentence pairs that are not translations, by length, script and an aligner's score."""
    from collections import Counter
    from contextlib import ExitStack

    from treeglot.align import Aligner
    from treeglot.align.clean import judge
    from treeglot.base.files import write_binary
    from treeglot.syntax.formats import read_parallel

    aligner = None if model is None else Aligner.load(model)
    reasons: Counter[str] = Counter()
    with ExitStack() as files, Progress("cleaning", unit="pairs") as progress:
        kept = [files.enter_context(write_binary(path)) for path in (out_source, out_target)]
        others = None if dropped is None else files.enter_context(write_binary(dropped))
        pairs = read_parallel((source, "text"), (target, "text"))
        for number, (pair, verdict) in enumerate(judge(pairs, aligner, options, threads), start=1):
            texts = [" ".join(words) for words in pair]
            reasons[verdict.reason] += 1
            if not verdict.reason:
                for stream, text in zip(kept, texts, strict=True):
                    stream.write(f"{text}\n".encode())
            elif others is not None:
                others.write("\t".join((str(number), verdict.reason, f"{verdict.score:.4f}", *texts)).encode() + b"\n")
            progress.update(number)
    why = ", ".join(f"{reason} {count:,}" for reason, count in sorted(reasons.items()) if reason)
    say(f"kept {reasons['']:,} of {reasons.total():,} pairs" + (f"; dropped: {why}" if why else ""))
