"""`treeglot combine`: several systems' k-best lists, one output."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from treeglot.base.errors import FormatError, UsageError
from treeglot.base.options import Range
from treeglot.cli.decoding import signature
from treeglot.cli.output import say, shown_warnings, warn
from treeglot.cli.parameters import FILE, NewFile, Threads, set_option, set_values

if TYPE_CHECKING:
    from treeglot.tune.combination import Combination, Lists


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
    again: Annotated[
        list[str] | None,
        typer.Option(
            metavar="MODEL=INPUT",
            help="Search this model's forests of the sentences, too, for what the lists agree on; may be given again.",
        ),
    ] = None,
    settings: Annotated[
        list[str] | None,
        set_option("scale, precision, ratio, found or margin"),
    ] = None,
    threads: Threads = 1,
) -> None:
    """Choose for each sentence the translation that several systems agree on most.

    The systems may be of any kind, other decoders too: their k-best lists are all that is needed.
    """
    from treeglot.base.files import read_lines, write_binary
    from treeglot.base.options import from_table
    from treeglot.decode.consensus import ConsensusOptions
    from treeglot.decode.weights import read_weights, write_weights
    from treeglot.evaluate import Bleu
    from treeglot.tune.combination import Combination

    Range(least=1).check("size", size)
    if weights is not None and refs:
        raise UsageError("--weights and --refs: expected weights to use, or references to tune on")
    if save is not None and not refs:
        raise UsageError("--save is for tuned weights; expected --refs, too")
    options = from_table(ConsensusOptions, set_values(settings))
    searched = [_searched(each) for each in again or ()]
    references = [read_lines(path) for path in refs or ()]
    systems = _read(lists, size, list(zip(refs or (), references, strict=True)))
    combination = Combination(systems, options)
    if searched:
        candidates = _candidates(combination, searched, threads)
        combination = Combination(systems, options, candidates)
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


def _read(lists: list[str], size: int, references: list[tuple[Path, list[str]]]) -> dict[str, Lists]:
    """The lists by name, all of as many sentences."""
    from treeglot.tune.combination import read_lists

    named = [_named(each, place) for place, each in enumerate(lists, 1)]
    if len({name for name, _ in named}) < len(named):
        raise UsageError("two lists have the same name; expected another NAME=FILE")
    systems = {name: read_lists(path, size) for name, path in named}
    sentences = max(len(each) for each in systems.values())
    if not sentences:
        raise FormatError(str(named[0][1]), 0, "is empty; expected a k-best list")
    for path, reference in references:
        if len(reference) < sentences:
            raise FormatError(str(path), 0, f"has {len(reference)} lines; the lists have {sentences} sentences")
        sentences = len(reference)
    for name, found in systems.items():
        found += [[] for _ in range(sentences - len(found))]
        missing = sum(not each for each in found)
        if missing:
            warn(f"list {name} has nothing for {missing:,} of {sentences:,} sentences; the others decide there")
    return systems


def _candidates(combination: Combination, searched: list[tuple[Path, Path]], threads: int) -> list[list[str]]:
    """What the models' search forests have that the lists agree on."""
    from treeglot.models import load
    from treeglot.tune.decoder import DecoderTranslator

    hopes, found = combination.hopes(), []
    for folder, path in searched:
        with shown_warnings():
            model = load(folder)
        sources = list(model.read(path))
        if len(sources) != len(combination):
            raise FormatError(
                str(path), 0, f"has {len(sources)} sentences; expected {len(combination)}, as the lists have"
            )
        translator = DecoderTranslator(
            model.translator,
            signature(model),
            threads=threads,
            refused=partial(_warn_refused, path),
        )
        found.append(translator.translate(sources, model.weights, 1, hopes))
    candidates = combination.candidates(found)
    new = sum(len({*texts} - {*one.texts}) for one, texts in zip(combination.found, candidates, strict=True))
    say(f"{sum(map(len, candidates)):,} texts of search forests, {new:,} of them in no list")
    return candidates


def _warn_refused(path: Path, line: int, problem: str) -> None:
    warn(f"{path}:{line + 1}: {problem}; its search adds nothing")


def _searched(text: str) -> tuple[Path, Path]:
    """A model's folder and its input."""
    folder, equals, path = text.partition("=")
    if not (folder and equals and path):
        raise UsageError(f"--again is {text!r}; expected MODEL=INPUT, a model's folder and what it translates")
    return Path(folder), Path(path)


def _named(text: str, place: int) -> tuple[str, Path]:
    """A list's name and file; without a name, its place, which is the same for dev and test."""
    name, equals, path = text.partition("=")
    return (name, Path(path)) if equals else (str(place), Path(text))
