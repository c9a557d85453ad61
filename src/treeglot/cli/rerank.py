"""`treeglot rerank`: reorders k-best lists by the scores of other models."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from treeglot.base.errors import FormatError, UsageError
from treeglot.cli.output import say
from treeglot.cli.parameters import (
    SCORER,
    Lowercase,
    MaybeTexts,
    Method,
    Out,
    SavedWeights,
    Seed,
    TextFile,
    TunedWeights,
)


def rerank(
    kbest: Annotated[TextFile, typer.Argument(help="A k-best list, as treeglot translate --kbest writes it.")],
    source: Annotated[TextFile, typer.Option(help="The source sentences, one per line.")],
    scorers: Annotated[list[str], SCORER],
    out: Out = Path("-"),
    size: Annotated[int, typer.Option(help="Hypotheses of each sentence that are scored; 0: all.", min=0)] = 0,
    refs: Annotated[MaybeTexts, typer.Option(help="Tune the weights on these references; may be given again.")] = None,
    save: SavedWeights = None,
    weights: TunedWeights = None,
    method: Method = "mert",
    seed: Seed = 1,
    lowercase: Lowercase = False,
) -> None:
    """Choose the best translation of each k-best list by its score and the scores of other models.

    You can use any model that scores a translation of a sentence. Use --refs to tune the weights on one set of
    sentences, and --weights to apply them to other sentences.
    """
    from treeglot.base.files import read_lines, write_binary
    from treeglot.decode.weights import read_weights, write_weights
    from treeglot.evaluate import Bleu
    from treeglot.tune.rerank import SCORE, Reranked, check_weights, command_scorers

    if (weights is None) == (not refs):
        raise UsageError("expected --weights to use, or --refs to tune on")
    if save is not None and not refs:
        raise UsageError("--save is for tuned weights; expected --refs, too")
    commands = command_scorers(scorers)
    sources, references = read_lines(source), [read_lines(path) for path in refs or ()]
    for path, lines in zip(refs or (), references, strict=True):
        if len(lines) != len(sources):
            problem = f"has {len(lines):,} lines; expected {len(sources):,}, as {source} has"
            raise FormatError(str(path), 0, problem)
    chosen = {} if weights is None else read_weights(weights)
    check_weights(chosen, [SCORE, *commands])
    lists = Reranked.read(kbest, sources, commands, size)
    if refs:
        update = lists.tuned(references, Bleu(lowercase=lowercase), method, seed)
        say(f"BLEU {update.before:.2f} with first weights, {update.after:.2f} with tuned ones")
        chosen = update.weights
        if save is not None:
            write_weights(save, chosen)
    with write_binary(out) as stream:
        for line in lists.best(chosen):
            stream.write(f"{line}\n".encode())
