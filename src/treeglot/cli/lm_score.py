"""`treeglot lm score`: scores text with a language model."""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from treeglot.base.errors import UsageError
from treeglot.cli import dependency_model
from treeglot.cli.dependency_model import TagColumn, TreeFormat
from treeglot.cli.output import show_data
from treeglot.cli.parameters import MAPPED, STREAMED

if TYPE_CHECKING:
    from treeglot.lm import NgramModel
    from treeglot.lm.ngram import Perplexity

LINES_AT_A_TIME = 10_000


def lm_score(
    model: Annotated[str, typer.Argument(help="A compiled model or an ARPA file."), MAPPED],
    text: Annotated[
        str,
        STREAMED,
        typer.Argument(help="Text, one sentence per line, or trees for a dependency model; - is standard input."),
    ] = "-",
    words: Annotated[
        bool, typer.Option("--words", help="One word per line, with a blank line after each sentence.")
    ] = False,
    total: Annotated[bool, typer.Option("--total", help="Only the totals and the perplexities.")] = False,
    natural: Annotated[bool, typer.Option("--natural", help="Natural logarithms instead of log10.")] = False,
    bos: Annotated[bool, typer.Option(help="Sentences stand after <s>.")] = True,
    eos: Annotated[bool, typer.Option(help="Sentences end in </s>, which is scored.")] = True,
    from_: TreeFormat = None,
    read_tags: TagColumn = None,
) -> None:
    """Score sentences with a language model.

    For each sentence, the command prints the log probability, the number of tokens and the number of unknown words,
    with tabs between them.

    With --words, each token has its logarithm, the length of the n-gram found, and <unk> if it is unknown. With
    --total, the command prints only the sums and the perplexities, with and without unknown words. A dependency model
    scores the words of dependency trees; its n-grams consist of sibling, head and child.
    """
    if words and total:
        raise UsageError("--words and --total cannot be had together")
    from treeglot.lm import load_dependency, load_ngram
    from treeglot.lm.dependency import is_dependency_model

    unit = math.log(10) if natural else 1.0
    if is_dependency_model(model):
        if not (bos and eos):
            raise UsageError(f"{model} is a dependency model; --no-bos and --no-eos are for n-gram models")
        trees = dependency_model.TreeFile(text, from_, read_tags)
        if total:
            _print_total(dependency_model.total(load_dependency(model), trees), unit)
        else:
            dependency_model.score(load_dependency(model), trees, words, unit)
        return
    if from_ or read_tags:
        raise UsageError(f"{model} is an n-gram model; --from and --read-tags are for dependency models")
    _score(load_ngram(model), text, words, total, unit, bos, eos)


def _score(model: NgramModel, path: str, words: bool, total: bool, unit: float, bos: bool, eos: bool) -> None:
    from treeglot.base.files import batches, iterate_lines
    from treeglot.lm.ngram import Perplexity

    sums = Perplexity(0, 0, 0, 0.0, 0.0)
    for some in batches(iterate_lines(path), LINES_AT_A_TIME):
        ids, offsets = model.encode(some)
        if total:
            sums += model.perplexity_of(ids, offsets, bos=bos, eos=eos)
        elif words:
            _print_words(model, some, unit, bos, eos)
        else:
            scores = model.score_texts(ids, offsets, bos=bos, eos=eos)
            for score, begin, end in zip(scores.tolist(), offsets[:-1].tolist(), offsets[1:].tolist(), strict=True):
                unknown = int((ids[begin:end] == 0).sum())
                print(f"{unit * score:.6f}\t{end - begin + eos}\t{unknown}")
        sys.stdout.flush()
    if total:
        _print_total(sums, unit)


def _print_words(model: NgramModel, lines: list[str], unit: float, bos: bool, eos: bool) -> None:
    for line in lines:
        tokens = [token for token in line.encode().split() if token]
        for token, score in zip(
            [*tokens, *([b"</s>"] if eos else [])], model.full_scores(line, bos=bos, eos=eos), strict=True
        ):
            show_data(f"{token.decode()}\t{unit * score.log10:.6f}\t{score.length}" + ("\t<unk>" if score.oov else ""))
        print()


def _print_total(found: Perplexity, unit: float) -> None:
    rows = {
        "sentences": f"{found.texts}",
        "tokens": f"{found.tokens}",
        "unknown": f"{found.oovs}",
        "log" if unit != 1.0 else "log10": f"{unit * found.log10:.4f}",
        "perplexity with unknown words": f"{found.including_oovs:.4f}",
        "perplexity without unknown words": f"{found.excluding_oovs:.4f}",
    }
    for name, value in rows.items():
        print(f"{name}\t{value}")
