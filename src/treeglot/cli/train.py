"""`treeglot train`: trains a model from raw text, or from aligned and parsed words."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from treeglot.base.errors import UsageError
from treeglot.cli.output import say, shown_warnings
from treeglot.cli.parameters import (
    FOLDER,
    MAPPED,
    EngineOption,
    MappedFile,
    MasterOption,
    MaybeText,
    MaybeTexts,
    Settings,
    Threads,
    set_option,
    set_values,
)
from treeglot.corpus import Corpus

if TYPE_CHECKING:
    from treeglot.experiment.recipe import Recipe
    from treeglot.models.kind import Kind
    from treeglot.rules.engines import Engine

MODEL = "model"  # the one system of the recipe that raw text makes


def train(
    kind: Annotated[str, typer.Argument(help="The kind of model, such as hiero.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="The model's folder."), FOLDER],
    corpus: Corpus,
    languages: Annotated[
        str, typer.Option(help="ISO codes such as de-en: the text is raw, and is tokenised, aligned and parsed.")
    ] = "",
    dev: Annotated[MaybeText, typer.Option(help="Raw text to tune on, with --refs.")] = None,
    refs: Annotated[MaybeTexts, typer.Option(help="Its translations; may be given again.")] = None,
    parser: Annotated[
        str,
        MAPPED,
        typer.Option(help="The source language's parser: a grammar's folder, or ADAPTER:MODEL as udpipe:FILE."),
    ] = "",
    target_parser: Annotated[str, MAPPED, typer.Option(help="The target language's parser, in the same form.")] = "",
    aligner: Annotated[
        MappedFile, typer.Option(help="A saved aligner, kept for treeglot learn; raw text makes one.")
    ] = None,
    lm: Annotated[MappedFile, typer.Option(help="A language model, ARPA or compiled, instead of a new one.")] = None,
    lm_text: Annotated[MaybeText, typer.Option(help="Text to train it on; default: the target sentences.")] = None,
    lms: Annotated[
        list[str] | None,
        MAPPED,
        typer.Option(
            metavar="NAME=FILE", help="A further language model, whose feature is lm_NAME; may be given again."
        ),
    ] = None,
    neural: Annotated[
        bool, typer.Option("--neural", help="Train a neural joint model, too; its options are network.…")
    ] = False,
    on_demand: Annotated[
        bool,
        typer.Option("--on-demand", help="Index the pairs, and find rules when sentences arrive; for hiero."),
    ] = False,
    options: Annotated[
        Path | None,
        typer.Option(help="A TOML file with other options than the defaults: tables extract, score, search."),
    ] = None,
    settings: Annotated[Settings, set_option("One such option: search.pop_limit=100")] = None,
    threads: Threads = 1,
    force: Annotated[
        bool, typer.Option("--force", help="Replace an existing model even if its weights are tuned.")
    ] = False,
    memory: Annotated[str, typer.Option(help="Approximate memory to use; the rest goes through the disk.")] = "2G",
    filter: Annotated[
        MaybeText, typer.Option(help="Input that the model will translate: the table has only its rules.")
    ] = None,
    engine: EngineOption = "duckdb",
    master: MasterOption = "",
) -> None:
    """Train a model from aligned words, with parses if its kind needs them, or with --languages from raw text.

    A model trained from raw text translates raw text. With --dev and --refs, the command also tunes its weights. If a
    run is interrupted, the same command continues it.
    """
    from treeglot.base.options import changed, load_options
    from treeglot.models import train as train_model
    from treeglot.models.kinds import find_kind
    from treeglot.rules.engines import open_engine

    declared = find_kind(kind)
    chosen = load_options(declared.options, options) if options else declared.options()
    chosen = changed(chosen, set_values(settings))
    if on_demand:
        declared.need_on_demand()
    for name, wanted in (("neural", neural), ("on_demand", on_demand)):
        chosen = changed(chosen, {name: True}) if wanted else chosen
    if languages:
        if lm is not None or lm_text is not None or lms:
            raise UsageError("--lm, --lm-text and --lms are for words; with --languages the target text is used")
        if filter is not None:
            raise UsageError("--filter is for words and parses; expected no --languages")
        if aligner is not None:
            raise UsageError("--aligner is for words; with --languages an aligner is trained")
        recipe = _recipe(declared, corpus, languages, dev, refs or [], parser, target_parser, chosen)
        with open_engine(engine, master, threads) as opened:
            _train_raw(recipe, out, threads, memory, force, opened)
        return
    for name, given in (("dev", dev), ("refs", refs)):
        if given:
            raise UsageError(f"--{name} is for raw text; expected --languages, or no --{name}")
    with open_engine(engine, master, threads) as opened, shown_warnings():
        model = train_model(
            kind,
            corpus,
            out,
            chosen,
            lm=lm,
            lm_text=lm_text,
            lms=_named(lms),
            parser=parser,
            target_parser=target_parser,
            aligner=aligner,
            threads=threads,
            memory=memory,
            force=force,
            engine=opened,
            filter=filter,
            report=say,
        )
    say(f"{model!r}")


def _named(given: list[str] | None) -> dict[str, Path]:
    """Return the files of options of the form NAME=FILE, by name."""
    found: dict[str, Path] = {}
    for text in given or []:
        name, equals, path = text.partition("=")
        if not (name and equals and path) or name in found:
            raise UsageError(f"--lms is {text!r}; expected NAME=FILE, and each name once")
        found[name] = Path(path)
    return found


def _recipe(
    kind: Kind,
    corpus: Corpus,
    languages: str,
    dev: Path | None,
    refs: list[Path],
    parser: str,
    target_parser: str,
    options: Any,
) -> Recipe:
    """Return the recipe that trains one model from raw text."""
    from dataclasses import asdict

    from treeglot.experiment.recipe import LmSettings, ParserSettings, Recipe, System, TestSet, TuneSettings
    from treeglot.experiment.text import TextRecipe

    if (dev is None) != (not refs):
        raise UsageError("--dev and --refs: expected both, or none")
    for option, given, side in (("--parser", parser, "source"), ("--target-parser", target_parser, "target")):
        wanted = any(need.startswith(f"{side}_") for need in kind.files)
        if wanted and not given:
            expected = f"{option}, a grammar's folder or ADAPTER:MODEL"
            raise UsageError(f"a {kind.name} model is trained with parses of the {side} text; expected {expected}")
        if given and not wanted:
            raise UsageError(f"a {kind.name} model is trained without parses of the {side} text; expected no {option}")

    def named(given: str) -> ParserSettings | None:
        if not given:
            return None
        return ParserSettings(adapter=given) if ":" in given else ParserSettings(grammar=Path(given))

    return Recipe(
        corpus=corpus,
        system=(System(MODEL, kind.name, asdict(options)),),
        dev=TestSet(source=dev, references=tuple(refs)) if dev is not None else None,
        tune=TuneSettings(method="mert" if dev is not None else "none"),
        text=TextRecipe(languages),
        lm=LmSettings(options.lm_order),
        parser=named(parser),
        target_parser=named(target_parser),
    )


def _train_raw(recipe: Recipe, out: Path, threads: int, memory: str, force: bool, engine: Engine | None) -> None:
    """Run a recipe in a folder beside the model's folder, and then move the complete model to its place."""
    import shutil

    from treeglot.base.sizes import parse_size
    from treeglot.cli.board import watcher
    from treeglot.experiment import Pipeline, steps_of
    from treeglot.experiment.models import publish_models
    from treeglot.models.folder import move_in
    from treeglot.models.train import install_model, refuse_tuned

    place = out.resolve()  # on the disk of the folder itself, if that is a link
    move_in(place)
    if not force:
        refuse_tuned(out)
    work = place.with_name(f".{place.name}.training")
    pipeline = Pipeline(steps_of(recipe), work)
    with watcher() as shown, shown_warnings():
        done = pipeline.run(threads=threads, memory=parse_size(memory), watcher=shown, engine=engine)
    [made] = publish_models(work, done, [MODEL])
    model = install_model(made, out)
    shutil.rmtree(work)
    say(f"{model!r}")
