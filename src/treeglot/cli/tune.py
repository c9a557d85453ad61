"""`treeglot tune`: tunes the weights of a trained model on a development set."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from treeglot.base.errors import FormatError, UsageError
from treeglot.cli.decoding import signature, warn_left_out
from treeglot.cli.machines import open_machines
from treeglot.cli.output import say, shown_warnings, warn
from treeglot.cli.parameters import (
    Fields,
    Lattices,
    Lowercase,
    Mapped,
    MasterOption,
    Method,
    NewFolder,
    Settings,
    TextFile,
    Texts,
    Threads,
    Where,
    set_option,
    set_values,
)

if TYPE_CHECKING:
    from treeglot.decode import Translator
    from treeglot.decode.weights import Weights
    from treeglot.models import Model
    from treeglot.tune.loop import Tuned

BONUS = "preferred"
LATTICE = "lattice"


def tune(
    model: Annotated[
        Path,
        typer.Argument(help="The model's folder; its weights are replaced by the tuned ones."),
        Mapped(changed=True),
    ],
    dev: Annotated[TextFile, typer.Option(help="The input: sentences, forests or trees, as the model needs.")],
    refs: Annotated[Texts, typer.Option(help="Their reference translations; may be given again.")],
    lattices: Lattices = None,
    method: Method = "mert",
    run: Annotated[
        NewFolder, typer.Option(help="The folder of the run; default: tune-METHOD-SEED in the model's.")
    ] = None,
    start: Annotated[
        Path | None, typer.Option(help="Weights to start from; default: the model's when the run began.")
    ] = None,
    options: Annotated[Settings, set_option("An option of the method, or of the search: search.pop_limit=100")] = None,
    loop: Annotated[Any, Fields("treeglot.tune", "LoopOptions")] = None,
    lowercase: Lowercase = False,
    length: Annotated[
        Literal["closest", "shortest"], typer.Option(help="The reference whose length BLEU's brevity penalty uses.")
    ] = "closest",
    distinct: Annotated[bool, typer.Option(help="K-best lists with every text once.")] = True,
    keep: Annotated[bool, typer.Option("--keep", help="Leave the model's weights as they are.")] = False,
    threads: Threads = 1,
    engine: Where = "local",
    master: MasterOption = "",
) -> None:
    """Tune a model's weights on a development set.

    If a run is interrupted, the same command continues it.
    """
    from treeglot.base.files import read_lines, write_binary
    from treeglot.base.options import options_of, unknown
    from treeglot.decode.weights import write_weights
    from treeglot.evaluate import Bleu
    from treeglot.models import load
    from treeglot.syntax.lattice import Lattice, LatticeForest
    from treeglot.tune import METHODS, tune_weights
    from treeglot.tune.decoder import DecoderTranslator
    from treeglot.tune.elsewhere import RemoteTranslator
    from treeglot.tune.plot import plot

    given = set_values(options)
    known = [o.name for o in options_of(METHODS[method])]
    for name in given.keys() - {*known, "search"}:
        raise UsageError(unknown(f"option of [{method}]", name, [*known, "search"]))
    search = {"search": given.pop("search")} if "search" in given else {}
    tuner = METHODS.make(method, given)
    with shown_warnings():
        loaded = load(model)
    if _has_bonus(loaded):
        say(f"corrections count without their bonus, the feature {BONUS}, while weights are tuned")
    loaded = _tunable(loaded, search)
    lines = list(loaded.read(dev, lattices=lattices))
    references = [read_lines(path) for path in refs]
    if not lines:
        raise FormatError(str(dev), 0, "is empty; expected at least one sentence")
    for path, reference in zip(refs, references, strict=True):
        if len(reference) != len(lines):
            raise FormatError(str(path), 0, f"has {len(reference)} lines; expected {len(lines)}, as {dev} has")
    empty = sum(isinstance(line, str) and not line.strip() for line in lines)
    if empty:
        warn(f"{dev}: {empty} of {len(lines)} lines are empty; their output is, too")
    if loaded.text is not None:
        say("the model takes text: BLEU is that of its words")
    lines, references = loaded.reader.development(lines, references, threads)

    folder = run or model / f"tune-{method}-{loop.seed}"
    begin = _start(folder, start, loaded)
    if any(isinstance(line, Lattice | LatticeForest) for line in lines):
        begin = {LATTICE: 1.0, **begin}  # what a decoder takes if no weight is given
    for name in sorted(loaded.with_weights(begin).translator.unknown_weights):
        warn(f"the weights name {name!r}, which is not a feature of this model")
    warn_left_out(loaded.translator.left_out)
    translator = DecoderTranslator(
        loaded.translator,
        signature(loaded),
        distinct=distinct,
        threads=threads,
        refused=lambda line, problem: warn(f"{dev}:{line + 1}: {problem}; its output is empty"),
    )
    metric = Bleu(lowercase=lowercase, length=length)
    with open_machines(engine, master, threads) as machines:
        opening = partial(_open_translator, model.resolve(), search)
        found = tune_weights(
            translator if machines is None else RemoteTranslator(opening, translator, machines, folder, say),
            lines,
            references,
            tuner,
            begin,
            folder,
            metric=metric,
            options=loop,
            threads=threads,
            report=lambda entry: say(_line(entry)),
        )
    with write_binary(folder / "plot.svg") as stream:
        stream.write(plot(found.log).encode())
    say(f"{found.stop}; {_result(found)}; {folder / 'best.weights'}")
    if not keep:
        comment = f"tuned by {method}, seed {loop.seed}, {found.origin}"
        write_weights(model / loaded.file.weights, found.weights, comment)


def _open_translator(folder: Path, search: dict[str, Any]) -> Translator:
    """Open the translator whose weights are tuned, on any machine that sees the model."""
    from treeglot.models import load

    return _tunable(load(folder), search).translator


def _tunable(model: Model, search: dict[str, Any]) -> Model:
    """Return the model as tuning sees it: with these search options, and without bonuses of corrections."""
    from treeglot.base.options import changed

    model = _without_bonus(model)
    return model.with_search(changed(model.file, search).search)


def _has_bonus(model: Model) -> bool:
    held = model.corrections
    return held is not None and any(name == BONUS for each in held for name, _ in each.features)


def _without_bonus(model: Model) -> Model:
    """Return the model without the bonus of corrections. Users set its weight, and it is not tuned."""
    from dataclasses import replace

    from treeglot.rules.corrections import Corrections

    held = model.corrections
    if held is None or not _has_bonus(model):
        return model
    lines, kept = [], []
    for line, each in zip(held.lines, held, strict=True):
        features = tuple(feature for feature in each.features if feature[0] != BONUS)
        if features or each.action != "reweight":
            lines.append(line)
            kept.append(replace(each, features=features))
    return model.with_corrections(Corrections(tuple(kept), held.file, tuple(lines)))


def _start(folder: Path, start: Path | None, model: Model) -> Weights:
    """Return the initial weights of the run. When a run continues, the model may already have other weights."""
    from treeglot.decode.weights import read_weights, write_weights

    begun = folder / "start.weights"
    if start is not None:
        weights = read_weights(start)
    elif begun.exists():
        return read_weights(begun)
    else:
        weights = dict(model.weights)
    if not begun.exists():
        folder.mkdir(parents=True, exist_ok=True)
        write_weights(begun, weights, "where the run began")
    return weights


def _result(found: Tuned) -> str:
    """Describe where the resulting weights come from."""
    if found.mean:
        return f"result: the mean of {found.iteration} updates, BLEU {found.score:.2f}"
    came = f"from iteration {found.iteration}" if found.iteration else "from the start"
    text = f"best: iteration {found.iteration + 1}, BLEU {found.score:.2f}, with the weights {came}"
    return f"the mean is worse than the start, and is not used; {text}" if "mean_of" in found.log[-1] else text


def _line(entry: dict[str, Any]) -> str:
    name = f"mean of {entry['mean_of']} updates" if "mean_of" in entry else f"iteration {entry['iteration']}"
    text = f"{name}: BLEU {entry['score']:.2f}"
    if "held_out" in entry:
        text += f" (held out {entry['held_out']:.2f})"
    if "mean_of" in entry:
        return text
    text += f", {entry['hypotheses']:,} hypotheses, {entry['new']:,} new"
    if "pool_after" in entry:
        text += f"; on the pool {entry['pool_before']:.2f} → {entry['pool_after']:.2f}"
    return text
