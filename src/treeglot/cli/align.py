"""`treeglot align`: word alignments of a parallel corpus."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from treeglot.align.aligners import DEFAULT
from treeglot.cli.output import Progress, say, shown_warnings, warn
from treeglot.cli.parameters import FILE, set_values


def align(
    source: Annotated[Path, typer.Argument(help="Tokenised source sentences, one a line.")],
    target: Annotated[Path, typer.Argument(help="Tokenised target sentences, one a line.")],
    out: Annotated[
        Path, typer.Option("--out", "-o", help="Where the links go: 0-0 1-2; - is standard output."), FILE
    ] = Path("-"),
    method: Annotated[str, typer.Option(help="sampler, hmm, or eflomal if it is installed.")] = DEFAULT,
    symmetrization: Annotated[
        str,
        typer.Option(
            help="intersection, union, grow-diag, grow-diag-and, grow-diag-final, grow-diag-final-and, agreement: how "
            "the two directions become one."
        ),
    ] = "grow-diag-final-and",
    options: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="An option of the aligner; may be given again."),
    ] = None,
    gold: Annotated[Path | None, typer.Option(help="Gold alignments: say how near the result comes to them.")] = None,
    threads: Annotated[int, typer.Option(help="Threads; they do not change the result.")] = 1,
) -> None:
    """Align the words of a parallel corpus."""
    from treeglot.align import align_corpus, score_alignments
    from treeglot.align.aligner import METHODS
    from treeglot.base.errors import FormatError, UsageError
    from treeglot.base.options import unknown
    from treeglot.corpus.doubts import Doubts
    from treeglot.syntax import write
    from treeglot.syntax.formats import read_alignments, read_text

    if symmetrization not in METHODS:
        raise UsageError(unknown("symmetrisation", symmetrization, METHODS))
    sides = [list(read_text(path)) for path in (source, target)]
    if len(sides[0]) != len(sides[1]):
        raise FormatError(str(target), 0, f"has {len(sides[1])} lines; expected {len(sides[0])}, as {source} has")
    with shown_warnings(), Progress("aligning", unit="%", total=100) as progress:
        links = align_corpus(
            sides[0],
            sides[1],
            method,
            symmetrization,
            options=set_values(options),
            threads=threads,
            report=progress.update,
        )
    doubts = Doubts(str(source)), Doubts(str(target))
    for sentence, translation in zip(*sides, strict=True):
        doubts[0].add(sentence, translation)
        doubts[1].add(translation)
    for problem in doubts[0].found() + doubts[1].found():
        warn(problem)
    write(out, links, "pharaoh")
    if gold is not None:
        wanted = list(read_alignments(gold))
        if len(wanted) != len(links):
            raise FormatError(str(gold), 0, f"has {len(wanted)} lines; expected {len(links)}, as {source} has")
        judged = score_alignments(links, wanted)
        say(f"AER {judged.aer:.4f}, precision {judged.precision:.4f}, recall {judged.recall:.4f}, F1 {judged.f1:.4f}")
