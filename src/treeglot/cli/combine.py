"""`treeglot combine`: several systems' k-best lists, one output."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from treeglot.base.errors import FormatError, UsageError
from treeglot.base.options import Range
from treeglot.cli.output import say, warn
from treeglot.cli.parameters import FILE, NewFile, set_option, set_values


def combine(
    lists: Annotated[
        list[str],
        typer.Argument(
            help="K-best lists of the same sentences: FILE or NAME=FILE, in the same order whenever weights are shared."
        ),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="Where to write; - is standard output."), FILE] = Path("-"),
    size: Annotated[int, typer.Option(help="How many of each sentence's hypotheses count.")] = 200,
    refs: Annotated[
        list[Path] | None, typer.Option(help="Tune on these references, of the same sentences; may be given again.")
    ] = None,
    save: Annotated[NewFile, typer.Option(help="Where the tuned weights go.")] = None,
    weights: Annotated[Path | None, typer.Option(help="Weights that were tuned before.")] = None,
    method: Annotated[Literal["mert", "mira", "pro"], typer.Option(help="How weights are found.")] = "mira",
    seed: Annotated[int, typer.Option(help="Seed of everything that is drawn.")] = 1,
    lowercase: Annotated[bool, typer.Option("--lowercase", help="BLEU without regard to case.")] = False,
    settings: Annotated[
        list[str] | None,
        set_option("scale, precision or ratio"),
    ] = None,
) -> None:
    """Choose for each sentence the translation that several systems agree on most.

    The systems may be of any kind, other decoders too: their k-best lists are all that is needed.
    """
    from treeglot.base.files import read_lines, write_binary
    from treeglot.base.options import from_table
    from treeglot.decode.consensus import ConsensusOptions
    from treeglot.decode.weights import read_weights, write_weights
    from treeglot.evaluate import Bleu
    from treeglot.tune.combination import Combination, read_lists

    Range(least=1).check("size", size)
    if weights is not None and refs:
        raise UsageError("--weights and --refs: expected weights to use, or references to tune on")
    if save is not None and not refs:
        raise UsageError("--save is for tuned weights; expected --refs, too")
    options = from_table(ConsensusOptions, set_values(settings))
    named = [_named(each, place) for place, each in enumerate(lists, 1)]
    if len({name for name, _ in named}) < len(named):
        raise UsageError("two lists have the same name; expected another NAME=FILE")
    systems = {name: read_lists(path, size) for name, path in named}
    sentences = max(len(each) for each in systems.values())
    if not sentences:
        raise FormatError(str(named[0][1]), 0, "is empty; expected a k-best list")
    references = [read_lines(path) for path in refs or ()]
    for path, reference in zip(refs or (), references, strict=True):
        if len(reference) < sentences:
            raise FormatError(str(path), 0, f"has {len(reference)} lines; the lists have {sentences} sentences")
        sentences = len(reference)
    for name, found in systems.items():
        found += [[] for _ in range(sentences - len(found))]
        missing = sum(not each for each in found)
        if missing:
            warn(f"list {name} has nothing for {missing:,} of {sentences:,} sentences; the others decide there")
    combination = Combination(systems, options)
    chosen = read_weights(weights) if weights is not None else None
    if references:
        metric = Bleu(lowercase=lowercase)
        chosen = combination.tuned(references, metric, method, seed)
        prepared = metric.prepare(references)
        before, after = (metric.score(prepared.statistics(combination.best(w))) for w in (None, chosen))
        say(f"BLEU {before:.2f} with equal weights, {after:.2f} with tuned ones, on what they were tuned on")
        if save is not None:
            write_weights(save, chosen, f"combination of {', '.join(systems)}, tuned by {method}, seed {seed}")
    for name in sorted((chosen or {}).keys() - set(combination.features)):
        warn(f"the weights name {name!r}, which is no feature of these lists")
    with write_binary(out) as stream:
        stream.write("".join(f"{text}\n" for text in combination.best(chosen)).encode())


def _named(text: str, place: int) -> tuple[str, Path]:
    """A list's name and file; without a name, its place, which is the same for dev and test."""
    name, equals, path = text.partition("=")
    return (name, Path(path)) if equals else (str(place), Path(text))
