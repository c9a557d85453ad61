"""`treeglot combine`: combines the translations of several models or k-best lists."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from treeglot.base.errors import FormatError, UsageError
from treeglot.base.options import Range
from treeglot.cli.decoding import signature
from treeglot.cli.output import say, shown_warnings, warn
from treeglot.cli.parameters import (
    MAPPED,
    SCORER,
    Lowercase,
    MaybeText,
    MaybeTexts,
    Method,
    Out,
    SavedWeights,
    Seed,
    Settings,
    Threads,
    TunedWeights,
    set_option,
    set_values,
)

if TYPE_CHECKING:
    from treeglot.decode.translator import Source
    from treeglot.tune.combination import Combination, Lists
    from treeglot.tune.decoder import DecoderTranslator


def combine(
    lists: Annotated[
        list[str],
        typer.Argument(
            help="Systems for the same sentences: MODEL=INPUT or NAME=MODEL=INPUT for a model's folder and its input, "
            "FILE or NAME=FILE for a k-best list. Shared weights need the same order of systems."
        ),
        MAPPED,
    ],
    out: Out = Path("-"),
    size: Annotated[int, typer.Option(help="Number of each sentence's hypotheses that count.")] = 200,
    refs: Annotated[
        MaybeTexts, typer.Option(help="Tune on these references, of the same sentences; may be given again.")
    ] = None,
    save: SavedWeights = None,
    weights: TunedWeights = None,
    method: Method = "mira",
    seed: Seed = 1,
    lowercase: Lowercase = False,
    again: Annotated[
        bool, typer.Option("--again", help="Also search the models' forests for text that the systems agree on.")
    ] = False,
    scorers: Annotated[list[str] | None, SCORER] = None,
    source: Annotated[MaybeText, typer.Option(help="The source sentences that scorers see, one per line.")] = None,
    settings: Annotated[Settings, set_option("scale, precision, ratio, found or margin")] = None,
    threads: Threads = 1,
) -> None:
    """Choose for each sentence the translation that several systems agree on most.

    The systems can be models of any kind. You can also include other decoders by their k-best lists, and use any other
    model as a scorer.
    """
    from treeglot.base.files import read_lines, write_binary
    from treeglot.base.options import from_table
    from treeglot.decode.consensus import ConsensusOptions
    from treeglot.decode.weights import read_weights, write_weights
    from treeglot.evaluate import Bleu
    from treeglot.tune.combination import Combination, feature_names
    from treeglot.tune.rerank import check_weights, command_scorers

    Range(least=1).check("size", size)
    if weights is not None and refs:
        raise UsageError("--weights and --refs: expected weights to use, or references to tune on")
    if save is not None and not refs:
        raise UsageError("--save is for tuned weights; expected --refs, too")
    if (source is None) == bool(scorers):
        raise UsageError("--scorer and --source belong together")
    if scorers and weights is None and not refs:
        raise UsageError("scorers have no weights; expected --refs to tune on, or --weights")
    sources, models = read_lines(source) if source else [], command_scorers(scorers or ())
    options = from_table(ConsensusOptions, set_values(settings))
    references = [read_lines(path) for path in refs or ()]
    given = [_open(each, place, threads) for place, each in enumerate(lists, 1)]
    if again and not any(each.translator for each in given):
        raise UsageError("--again is for models; expected a system MODEL=INPUT")
    chosen = read_weights(weights) if weights is not None else None
    check_weights(chosen or {}, feature_names([each.name for each in given], models))
    systems = _read(given, size, list(zip(refs or (), references, strict=True)))
    candidates = _candidates(Combination(systems, options), given) if again else []
    combination = Combination(systems, options, candidates, sources, models)
    if references:
        metric = Bleu(lowercase=lowercase)
        chosen = combination.tuned(references, metric, method, seed)
        prepared = metric.prepare(references)
        before, after = (metric.score(prepared.statistics(combination.best(w))) for w in (None, chosen))
        say(f"BLEU {before:.2f} with equal weights, {after:.2f} with tuned ones, on what they were tuned on")
        if save is not None:
            write_weights(save, chosen, f"combination of {', '.join(systems)}, tuned by {method}, seed {seed}")
    with write_binary(out) as stream:
        stream.write("".join(f"{text}\n" for text in combination.best(chosen)).encode())


@dataclass(frozen=True)
class _System:
    """A system of a combination: a k-best list, or a model with its input."""

    name: str
    path: Path  # of the list or of the input
    translator: DecoderTranslator | None = None
    weights: Mapping[str, float] = field(default_factory=dict)
    sources: Sequence[Source] = ()
    named: bool = False  # NAME=FILE, which a model's folder that is not there looks like

    def lists(self, size: int) -> Lists:
        """Return the system's best translations of each sentence."""
        from treeglot.tune.combination import lists_of, read_lists

        if self.translator is None:
            try:
                return read_lists(self.path, size)
            except FormatError as error:
                if not self.named:
                    raise
                hint = f"it was read as a k-best list, since {self.name} is not the folder of a model"
                raise FormatError(error.file, error.line, f"{error.problem} ({hint})") from error
        return lists_of(self.translator.translate(self.sources, self.weights, size))


def _open(text: str, place: int, threads: int) -> _System:
    """Open a system. A list without a name gets a number, which is the same for dev and test."""
    from treeglot.models import load
    from treeglot.tune.decoder import DecoderTranslator

    name, folder, path = _parts(text, place)
    if name.split() != [name]:
        raise UsageError(f"the system {text!r} has the name {name!r}; expected NAME=MODEL=INPUT, a name without blanks")
    if folder is None:
        return _System(name, path, named="=" in text)
    with shown_warnings():
        model = load(folder)
    refused = partial(_warn_refused, path)
    translator = DecoderTranslator(model.translator, signature(model), threads=threads, refused=refused)
    return _System(name, path, translator, model.weights, list(model.read(path)))


def _parts(text: str, place: int) -> tuple[str, Path | None, Path]:
    """Split an argument into the name of the system, the folder of its model (if any), and its file."""
    first, equals, rest = text.partition("=")
    if not equals:
        if Path(text).is_dir():
            raise UsageError(
                f"{text} is a folder; expected MODEL=INPUT with what the model translates, or a k-best list"
            )
        return str(place), None, Path(text)
    for whole, name in ((text, ""), (rest, first)):  # MODEL=INPUT, then NAME=MODEL=INPUT
        for end in (place for place, sign in enumerate(whole) if sign == "="):
            if _is_model(whole[:end]):
                return name or Path(whole[:end]).resolve().name, Path(whole[:end]), Path(whole[end + 1 :])
    if "/" in first or Path(first).is_dir():
        expected = "expected a model's folder and its input, MODEL=INPUT, or a k-best list, NAME=FILE"
        raise UsageError(f"the system is {text!r}, and {first} has no model.toml; {expected}")
    return first, None, Path(rest)


def _is_model(folder: str) -> bool:
    return (Path(folder) / "model.toml").is_file()


def _warn_refused(path: Path, line: int, problem: str) -> None:
    warn(f"{path}:{line + 1}: {problem}; the others decide there")


def _read(given: list[_System], size: int, references: list[tuple[Path, list[str]]]) -> dict[str, Lists]:
    """Read the lists of all systems, by name. Models translate only after all numbers of sentences were checked."""
    names = [each.name for each in given]
    for place, name in enumerate(names):
        if name in names[:place]:
            raise UsageError(f"two systems have the same name, {name}; expected NAME=MODEL=INPUT or another NAME=FILE")
    systems = {each.name: [] if each.translator else each.lists(size) for each in given}
    sentences = max(len(each.sources) or len(systems[each.name]) for each in given)
    if not sentences:
        raise FormatError(str(given[0].path), 0, "is empty; expected a k-best list")
    for place, (path, reference) in enumerate(references):
        if len(reference) < sentences or (place and len(reference) != sentences):
            raise FormatError(str(path), 0, f"has {len(reference)} lines; the lists have {sentences} sentences")
        sentences = len(reference)
    for each in given:
        if each.translator and len(each.sources) != sentences:
            problem = f"has {len(each.sources)} sentences; expected {sentences}, as the others have"
            raise FormatError(str(each.path), 0, problem)
    systems |= {each.name: each.lists(size) for each in given if each.translator}
    for name, found in systems.items():
        found += [[] for _ in range(sentences - len(found))]
        missing = sum(not each for each in found)
        if missing:
            warn(f"list {name} has nothing for {missing:,} of {sentences:,} sentences; the others decide there")
    return systems


def _candidates(combination: Combination, given: list[_System]) -> list[list[str]]:
    """Search the models' forests for texts that the systems agree on."""
    hopes = combination.hopes()
    found = [each.translator.translate(each.sources, each.weights, 1, hopes) for each in given if each.translator]
    candidates = combination.candidates(found)
    new = sum(len({*texts} - {*one.texts}) for one, texts in zip(combination.found, candidates, strict=True))
    say(f"{sum(map(len, candidates)):,} texts of search forests, {new:,} of them in no list")
    return candidates
