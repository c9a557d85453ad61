"""Lists the steps of a recipe, from text to scores. `treeglot.experiment.tasks` contains their functions."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

from treeglot.align import ALIGNERS
from treeglot.base.errors import UsageError
from treeglot.base.options import file_options, from_table, resolved, unknown, with_values
from treeglot.corpus.files import MORE_LINKS, Side, SourceFiles, check_format, is_parsed
from treeglot.experiment import tasks
from treeglot.experiment.check import check_step
from treeglot.experiment.recipe import (
    AlignSettings,
    CombinedSystems,
    ParserSettings,
    Recipe,
    System,
    TuneSettings,
    has_links,
    training_files,
    translated_file,
)
from treeglot.experiment.report import report_step
from treeglot.experiment.step import Input, Output, Step
from treeglot.experiment.tasks import MORE_LM, NETWORK, OPTION
from treeglot.experiment.text import STEP as TEXT
from treeglot.experiment.text import surface, text_steps
from treeglot.models import Kind
from treeglot.models.artefacts import ALIGNER
from treeglot.models.kinds import find_kind

LINKS, MENDED = Output("align", "links.align"), Output("mend", "links.align")
LISTS = {"references": "reference ", "more_alignments": MORE_LINKS}  # fields with several files, and their names


def steps_of(recipe: Recipe) -> list[Step]:
    """Return the steps of a recipe, in an order in which they can run.

    The settings of the steps include all options with their defaults. So if a default changes, old results are not
    reused.
    """
    from treeglot.evaluate.report import ReportOptions

    corpus, dev = _files(recipe.corpus), _files(recipe.dev)
    tests = {name: _files(test) for name, test in recipe.test.items()}
    steps = [] if recipe.text is None else text_steps(recipe.text, corpus, dev)
    with _blamed("align", "align"):
        if recipe.align.method not in ALIGNERS:
            raise UsageError(unknown("aligner", recipe.align.method, ALIGNERS), ("method",))
    with _blamed("align", "align", "options"):
        aligner = resolved(ALIGNERS[recipe.align.method], recipe.align.options)
        from_table(ALIGNERS[recipe.align.method], recipe.align.options)  # refuses numbers that make no sense
    if "alignments" not in corpus:
        if "posteriors" in corpus:
            raise UsageError("[corpus] has posteriors and no alignments; expected both", ("corpus", "posteriors"))
        files = {"source": corpus["source"], "target": corpus["target"]}
        if aligner.get("lexicon"):
            files["lexicon"] = Path(aligner["lexicon"])
            aligner["lexicon"] = "a file"
        made = dataclasses.asdict(recipe.align) | {"options": aligner}
        del made["constituent_cost"]  # another step's
        steps.append(Step("align", partial(tasks.align_words, recipe.align), files, made, resumes=True))
        corpus["alignments"] = LINKS
    parts = {"train": corpus} | ({"dev": dev} if dev else {})
    if not recipe.raw:  # otherwise models parse the text that they are tested on themselves
        parts |= {f"test {name}": test for name, test in tests.items()}
    text = recipe.text is not None
    steps += _parsing(recipe.parser, "parser", "source", parts, text)
    steps += _parsing(recipe.target_parser, "target_parser", "target", {"train": corpus}, text)
    mending = _mending(recipe.align, corpus)
    if mending is not None and any(_of_forests(system) for system in recipe.system):
        steps.append(mending)
    order = recipe.lm.order
    texts = {"lm": recipe.lm.text or corpus["target"]} | {f"{MORE_LM}{name}": p for name, p in recipe.lm.more.items()}
    steps += [
        Step(name, partial(tasks.train_lm, order), {"text": text}, {"order": order}) for name, text in texts.items()
    ]
    files = {name: corpus[name] for name in ("source", "target", "alignments")}
    steps += [
        Step(f"{NETWORK}{name}", partial(tasks.train_network, name, network), files, dataclasses.asdict(network), True)
        for name, network in recipe.networks.items()
    ]
    _tuner(recipe.tune)
    for number, system in enumerate(recipe.system):
        with _blamed(f"system {system.name!r}", "system", number):
            links: Files = {"alignments": MENDED} if mending is not None and _of_forests(system) else {}
            steps += _system(recipe, system, corpus | links, dev, tests)
    tunings = {system.name: recipe.tunings(system) for system in recipe.system}
    for one in recipe.combination:
        steps += _combining(recipe, one, tests, tunings)
        tunings[one.name] = max((tunings[name] for name in one.systems), key=len)
    for name in recipe.test:
        outputs: dict[str, Input] = {
            f"{system}{ending}": Output(f"{_made_by(recipe, system)} {system} {name}{ending}", "output.txt")
            for system, endings in tunings.items()
            for ending in endings
        }
        settings: dict[str, Any] = {
            "systems": tunings,
            "baseline": recipe.baseline or recipe.system[0].name,
            "options": resolved(ReportOptions, {"lowercase": recipe.lowercase}),
        }
        inputs = outputs | _references(tests[name])
        steps.append(Step(f"score {name}", partial(tasks.score_test, **settings), inputs, settings))
    if recipe.test:
        steps.append(report_step(recipe))
    return [*_checks(recipe, corpus, dev, tests), *steps]


@contextmanager
def _blamed(part: str, *key: str | int) -> Iterator[None]:
    """During a block, add to errors the part of the recipe that they concern."""
    try:
        yield
    except UsageError as error:
        raise UsageError(f"{part}: {error}" if part else str(error), (*key, *error.key)) from error


Files: TypeAlias = dict[str, Input]


def _files(declared: SourceFiles | None) -> Files:
    """Return the files that a recipe names, by their content."""
    out: Files = {}
    for field in dataclasses.fields(declared) if declared is not None else ():
        value = getattr(declared, field.name)
        if isinstance(value, Path):
            out[field.name] = value
        elif field.name in LISTS:
            out |= {f"{LISTS[field.name]}{n}": path for n, path in enumerate(value)}
    return out


def _references(files: Files) -> Files:
    return {name: path for name, path in files.items() if name.startswith("reference ")}


def _checks(recipe: Recipe, corpus: Files, dev: Files, tests: Mapping[str, Files]) -> list[Step]:
    """Return the first steps, which check that the files fit together."""
    if recipe.raw:  # words and parses are made of the text, which its own step compares
        return [_check(f"test {name}", _among(files, {*files}), set()) for name, files in tests.items()]
    shared = {"source", "target"}
    careful: set[str] = set()  # what some system that uses it refuses if its words differ
    steps = []
    for system in recipe.system:
        kind, own = find_kind(system.kind), _files(system.corpus)
        used = training_files(kind, corpus | own, own)
        shared |= {*used} - {*own}
        refused = {*used} if not resolved(kind.options, system.options).get("skip_bad") else set()
        careful |= refused - {*own}
        if own:
            steps.append(_check(f"train {system.name}", _among(corpus | own, {"source", "target", *own}), refused))
    steps.insert(0, _check("train", _among(corpus, shared), careful))
    tuned = [find_kind(s.kind) for s in recipe.system if recipe.tuner(s).method != "none"]
    everything = [find_kind(system.kind) for system in recipe.system]
    sets = [("dev", dev, recipe.dev, tuned)] if recipe.dev is not None else []
    sets += [(f"test {name}", tests[name], recipe.test[name], everything) for name in tests]
    for name, files, declared, kinds in sets:
        if kinds:
            used = [translated_file(kind, files, name.replace(" ", ".", 1)) for kind in kinds]
            chosen = _among(files, {"source", *used, *_references(files)})
            steps.append(_check(name, chosen, set(chosen), declared.same_words))
    return steps


def _among(files: Files, names: set[str]) -> dict[str, Path]:
    """Return the files that the user has given. Files that other steps make need no check."""
    return {name: path for name, path in files.items() if name in names and isinstance(path, Path)}


def _check(name: str, files: dict[str, Path], careful: set[str], refuse: bool = True) -> Step:
    part = "corpus" if name.startswith("train") else name
    for what, path in files.items():
        with _blamed(part, *part.split(" ", 1), what):
            check_format(what, path, what)
    return check_step(name, files, [what for what in files if what in careful and is_parsed(what)], refuse=refuse)


def _parsing(
    settings: ParserSettings | None, part: str, side: Side, parts: Mapping[str, Files], text: bool
) -> list[Step]:
    """Return the steps that provide a parser for one side, and that parse the sentences without given parses.

    With `text`, one step also compares the words of the treebank with those of the tokeniser.
    """
    from treeglot.parse import ParsingOptions
    from treeglot.parse.train import ParserTraining

    if settings is None:
        return []
    steps, parser = [], _parser_files(settings, part)
    ending = "" if side == "source" else f" {side}"
    with _blamed(part, part):
        if settings.trees is not None:
            with _blamed("", "trees"):
                check_format("source_trees", settings.trees, "trees")
            trained = resolved(ParserTraining, {"cycles": settings.cycles, "signature": settings.signature})
            del trained["threads"]  # they change nothing
            train = partial(tasks.train_parser, settings)
            steps.append(Step(part.replace("_", " "), train, {"trees": settings.trees}, trained, resumes=True))
        parsed = resolved(ParsingOptions, {"prune": settings.prune})
        del parsed["threads"]
        if settings.adapter:
            parsed = {"adapter": settings.adapter}
    for name, files in parts.items():
        step = f"parse {name}{ending}"
        inputs = parser | {"sentences": surface(files, side), "words": files[side]}
        if text and settings.trees is not None and name == "train":
            inputs |= {"text": Output(TEXT), "treebank": settings.trees}
        steps.append(Step(step, partial(tasks.parse_text, settings, side), inputs, parsed))
        for kind, file in tasks.parse_files(settings).items():
            if side == "source" or kind != "forests":
                files.setdefault(f"{side}_{kind}", Output(step, file))
    return steps


def _own_parsers(recipe: Recipe, kind: Kind) -> dict[str, ParserSettings]:
    """Return the parsers that are copied into a model: to translate, or to learn from sentence pairs."""
    given = {"parser": (recipe.parser, kind.needs.source), "target_parser": (recipe.target_parser, kind.needs.target)}
    return {part: settings for part, (settings, needs) in given.items() if settings is not None and needs != "words"}


def _parser_files(settings: ParserSettings, part: str, name: str = "parser") -> Files:
    """Return the inputs that a parser comes from: a step, the files of a grammar, or another package's model."""
    if settings.trees is not None:
        return {name: Output(part.replace("_", " "))}
    if settings.grammar is not None:
        with _blamed(part, part, "grammar"):
            if not settings.grammar.is_dir():
                raise UsageError(f"{settings.grammar} is not a folder; expected the folder of a grammar")
        files = sorted(path for path in settings.grammar.rglob("*") if path.is_file())
        return {f"{name} {path.relative_to(settings.grammar)}": path for path in files}
    model = Path(settings.adapter.partition(":")[2])
    return {f"{name} model": model} if model.is_file() else {}


def _system(recipe: Recipe, system: System, corpus: Files, dev: Files, tests: Mapping[str, Files]) -> list[Step]:
    kind = find_kind(system.kind)
    own = _files(system.corpus)
    corpus = corpus | own
    files = {name: corpus[name] for name in training_files(kind, corpus, own)} | {"lm": Output("lm", "lm.bin")}
    files |= {f"{MORE_LM}{name}": Output(f"{MORE_LM}{name}", "lm.bin") for name in recipe.lm.more}
    files |= {f"{NETWORK}{name}": Output(f"{NETWORK}{name}", f"{name}.bin") for name in recipe.networks}
    # Options that are files count by what is in them, as all files do, not by their names.
    named = file_options(kind.options, system.options)
    files |= {f"{OPTION}{name}": Path(path) for name, path in named.items()}
    with _blamed("", "options"):
        kind.validate(from_table(kind.options, system.options))
        chosen = resolved(kind.options, with_values(system.options, dict.fromkeys(named, "a file")))
        if "lm_order" in system.options and chosen["lm_order"] not in (recipe.lm.order, kind.options().lm_order):
            problem = f"lm_order is {chosen['lm_order']}; all systems of a recipe have one model, of [lm] order"
            raise UsageError(f"{problem} {recipe.lm.order}", ("lm_order",))
    settings: dict[str, Any] = {
        "kind": system.kind,
        "options": chosen,
        "weights": dict(kind.weights),
    }
    links = (system.corpus if has_links(own) else recipe.corpus).alignment_weights
    if links:
        settings["alignment_weights"] = list(links)
    if kind.code:
        settings["code"] = kind.code
    model = Output(f"train {system.name}")
    if recipe.text is not None:
        files["text"] = Output(TEXT)
    if corpus["alignments"] in (LINKS, MENDED) and recipe.align.method != "eflomal":
        files["aligner"] = Output("align", ALIGNER)
    parsers = _own_parsers(recipe, kind)
    for part, own_parser in parsers.items():
        files |= _parser_files(own_parser, part, part)
    steps = [Step(model.step, partial(tasks.train_model, kind, system.options, parsers, links), files, settings)]
    for place, ending in enumerate(recipe.tunings(system)):
        steps += _tuning(recipe, kind, recipe.tuner(system, place), (system.name, ending), dev, tests)
    return steps


def _tuning(
    recipe: Recipe, kind: Kind, tune: TuneSettings, name: tuple[str, str], dev: Files, tests: Mapping[str, Files]
) -> list[Step]:
    """Return the steps of one tuning, and of translating with its weights.

    `name` is put around the name of each test.
    """
    system, ending = name
    model, steps = Output(f"train {system}"), []
    weights: Input = Output(model.step, "weights.txt")
    if tune.method != "none":
        tuned = dataclasses.asdict(tune) | {"options": _tuner(tune), "lowercase": recipe.lowercase}
        inputs: Files = {"model": model, "dev": dev[translated_file(kind, dev, "dev")]} | _references(dev)
        step = partial(tasks.tune_model, tune, recipe.lowercase)
        steps.append(Step(f"tune {system}{ending}", step, inputs, tuned, resumes=True))
        weights = Output(f"tune {system}{ending}", "best.weights")
    for test, files in tests.items():
        file = "source" if recipe.raw else translated_file(kind, files, f"test.{test}")
        inputs = {"model": model, "weights": weights, "sentences": files[file]}
        steps.append(Step(f"translate {system} {test}{ending}", partial(tasks.translate_test, recipe.raw), inputs))
    return steps


def _made_by(recipe: Recipe, name: str) -> str:
    """Return the prefix of the steps that produce the output of a system or combination."""
    return "combine" if any(name == one.name for one in recipe.combination) else "translate"


def _combining(
    recipe: Recipe, combined: CombinedSystems, tests: Mapping[str, Files], tunings: Mapping[str, list[str]]
) -> list[Step]:
    """Return the steps that combine systems, one for each test and tuning. Systems without tuning take part in all."""
    settings = dataclasses.asdict(combined)
    del settings["name"]
    steps = []
    endings = max((tunings[name] for name in combined.systems), key=len)
    for test, files in tests.items():
        for ending in endings:
            inputs: Files = {}
            for system in recipe.system:
                if system.name in combined.systems:
                    kind, own = find_kind(system.kind), ending if ending in tunings[system.name] else ""
                    model = Output(f"train {system.name}")
                    tuned = recipe.tuner(system).method != "none"
                    inputs[f"model {system.name}"] = model
                    weights = Output(f"tune {system.name}{own}", "best.weights")
                    inputs[f"weights {system.name}"] = weights if tuned else Output(model.step, "weights.txt")
                    inputs[f"sentences {system.name}"] = files[translated_file(kind, files, f"test.{test}")]
            name = f"combine {combined.name} {test}{ending}"
            steps.append(Step(name, partial(tasks.combine_systems, combined), inputs, settings))
    return steps


def _tuner(settings: TuneSettings) -> dict[str, Any]:
    """Return all options of the tuner, including defaults."""
    from treeglot.tune import METHODS

    if settings.method == "none":
        return {}
    with _blamed("tune", "tune", "options"):
        return resolved(METHODS[settings.method], settings.options)


def _mending(settings: AlignSettings, corpus: Files) -> Step | None:
    """Return the step that removes links that break constituents, or None if the recipe needs no such step."""
    parses = next((corpus[name] for name in ("source_forests", "source_trees") if name in corpus), None)
    aligned = corpus["alignments"] == LINKS and settings.method != "eflomal"
    if not settings.constituent_cost or not aligned or parses is None:
        return None
    files = {"source": corpus["source"], "target": corpus["target"], "parses": parses}
    files |= {"aligner": Output("align", ALIGNER), "links": LINKS}
    return Step(
        "mend", partial(tasks.mend_links, settings.constituent_cost), files, {"cost": settings.constituent_cost}
    )


def _of_forests(system: System) -> bool:
    """Return whether the rules come from source trees or forests, which gain if links break fewer constituents."""
    return find_kind(system.kind).needs.source in ("forest", "best")
