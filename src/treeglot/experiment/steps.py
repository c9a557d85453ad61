"""The steps of a recipe, from text to scores."""

from __future__ import annotations

import dataclasses
import json
import shutil
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from treeglot.align import ALIGNERS
from treeglot.base.errors import FormatError, UsageError
from treeglot.base.files import read_lines, write_binary
from treeglot.base.options import file_options, from_table, resolved, unknown, with_values
from treeglot.corpus import Corpus
from treeglot.corpus.files import MORE_LINKS, Side, SourceFiles, check_format, is_parsed
from treeglot.experiment.check import check_step
from treeglot.experiment.elsewhere import decode_elsewhere, parse_elsewhere
from treeglot.experiment.recipe import (
    AlignSettings,
    ParserSettings,
    Recipe,
    System,
    TuneSettings,
    has_links,
    training_files,
    translated_file,
)
from treeglot.experiment.report import report_step
from treeglot.experiment.results import SPEED
from treeglot.experiment.step import Input, Output, Step, Task
from treeglot.experiment.text import STEP as TEXT
from treeglot.experiment.text import surface, text_steps
from treeglot.models import Kind
from treeglot.models.artefacts import ALIGNER
from treeglot.models.kinds import find_kind
from treeglot.parse.protocol import Parser
from treeglot.syntax import Tree

BATCH = 500  # sentences translated between two writes
DRAWN = 200  # sentences of a test set that the report draws
if TYPE_CHECKING:
    from treeglot.parse.parser import GrammarParser

COMPARED = 2000  # trees of a treebank whose words are compared with those of the text
# In percent; below these there is a warning. A small treebank of the right language knows three words of four.
LEAST_AGREEMENT, LEAST_KNOWN = 95.0, 50.0
LINKS, MENDED = Output("align", "links.align"), Output("mend", "links.align")
LISTS = {"references": "reference ", "more_alignments": MORE_LINKS}  # fields with several files, and their names
MORE_LM = "lm "  # before the names of further language models
OPTION = "options."  # before the names of inputs that are files in a system's options


def steps_of(recipe: Recipe) -> list[Step]:
    """Return the steps, in an order in which they can run.

    Their settings include all options and defaults. So if a default changes, old results are not reused.
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
        steps.append(Step("align", partial(_align, recipe.align), files, made, resumes=True))
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
    steps += [Step(name, partial(_lm, order), {"text": text}, {"order": order}) for name, text in texts.items()]
    _tuner(recipe.tune)
    for number, system in enumerate(recipe.system):
        with _blamed(f"system {system.name!r}", "system", number):
            links: Files = {"alignments": MENDED} if mending is not None and _of_forests(system) else {}
            steps += _system(recipe, system, corpus | links, dev, tests)
    tunings = {system.name: recipe.tunings(system) for system in recipe.system}
    for name in recipe.test:
        outputs: dict[str, Input] = {
            f"{system}{ending}": Output(f"translate {system} {name}{ending}", "output.txt")
            for system, endings in tunings.items()
            for ending in endings
        }
        settings: dict[str, Any] = {
            "systems": tunings,
            "baseline": recipe.baseline or recipe.system[0].name,
            "options": resolved(ReportOptions, {"lowercase": recipe.lowercase}),
        }
        inputs = outputs | _references(tests[name])
        steps.append(Step(f"score {name}", partial(_score, **settings), inputs, settings))
    if recipe.test:
        steps.append(report_step(recipe))
    return [*_checks(recipe, corpus, dev, tests), *steps]


@contextmanager
def _blamed(part: str, *key: str | int) -> Iterator[None]:
    """Make errors name the part of the recipe that they concern, with its key."""
    try:
        yield
    except UsageError as error:
        raise UsageError(f"{part}: {error}" if part else str(error), (*key, *error.key)) from error


Files: TypeAlias = dict[str, Input]


def _files(declared: SourceFiles | None) -> Files:
    """Return the files that a recipe names, by what they are."""
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
    """Return the first steps: check that the files belong together."""
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
    """Return the given files. Files that other steps make need no check."""
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
    """Make the steps of a parser for one side, and of parsing the sentences without given parses.

    With `text`, a step compares the words of the treebank with those that the tokeniser makes.
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
            train = partial(_train_parser, settings)
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
        steps.append(Step(step, partial(_parse, settings, side), inputs, parsed))
        for kind, file in _parses(settings).items():
            if side == "source" or kind != "forests":
                files.setdefault(f"{side}_{kind}", Output(step, file))
    return steps


def _own_parsers(recipe: Recipe, kind: Kind) -> dict[str, ParserSettings]:
    """Return the parsers that a model keeps: to translate, or to learn from sentence pairs."""
    given = {"parser": (recipe.parser, kind.needs.source), "target_parser": (recipe.target_parser, kind.needs.target)}
    return {part: settings for part, (settings, needs) in given.items() if settings is not None and needs != "words"}


def _parser_files(settings: ParserSettings, part: str, name: str = "parser") -> Files:
    """Return the source of a parser: a step's result, the files of a grammar, or another package's model."""
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


def _parses(settings: ParserSettings) -> dict[str, str]:
    """Return the files that parsing makes, by what they hold."""
    if not settings.adapter:
        return {"forests": "forests.jsonl", "trees": "best.tree"}
    if settings.adapter.startswith("benepar:"):
        return {"trees": "best.tree"}
    return {"dependencies": "parses.conllu"}


def _system(recipe: Recipe, system: System, corpus: Files, dev: Files, tests: Mapping[str, Files]) -> list[Step]:
    kind = find_kind(system.kind)
    own = _files(system.corpus)
    corpus = corpus | own
    files = {name: corpus[name] for name in training_files(kind, corpus, own)} | {"lm": Output("lm", "lm.bin")}
    files |= {f"{MORE_LM}{name}": Output(f"{MORE_LM}{name}", "lm.bin") for name in recipe.lm.more}
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
    steps = [Step(model.step, partial(_train, kind, system.options, parsers, links), files, settings)]
    for place, ending in enumerate(recipe.tunings(system)):
        steps += _tuning(recipe, kind, recipe.tuner(system, place), (system.name, ending), dev, tests)
    return steps


def _tuning(
    recipe: Recipe, kind: Kind, tune: TuneSettings, name: tuple[str, str], dev: Files, tests: Mapping[str, Files]
) -> list[Step]:
    """Make the steps of one tuning, and of translating with its weights. The parts of `name` enclose a test's name."""
    system, ending = name
    model, steps = Output(f"train {system}"), []
    weights: Input = Output(model.step, "weights.txt")
    if tune.method != "none":
        tuned = dataclasses.asdict(tune) | {"options": _tuner(tune), "lowercase": recipe.lowercase}
        inputs: Files = {"model": model, "dev": dev[translated_file(kind, dev, "dev")]} | _references(dev)
        step = partial(_tune, tune, recipe.lowercase)
        steps.append(Step(f"tune {system}{ending}", step, inputs, tuned, resumes=True))
        weights = Output(f"tune {system}{ending}", "best.weights")
    for test, files in tests.items():
        file = "source" if recipe.raw else translated_file(kind, files, f"test.{test}")
        inputs = {"model": model, "weights": weights, "sentences": files[file]}
        steps.append(Step(f"translate {system} {test}{ending}", partial(_translate, recipe.raw), inputs))
    return steps


def _tuner(settings: TuneSettings) -> dict[str, Any]:
    """Return all options of the tuner."""
    from treeglot.tune import METHODS

    if settings.method == "none":
        return {}
    with _blamed("tune", "tune", "options"):
        return resolved(METHODS[settings.method], settings.options)


def _train_parser(settings: ParserSettings, task: Task) -> None:
    from treeglot.parse.train import ParserTraining, train_in, treebank
    from treeglot.syntax.formats import read_trees

    options = from_table(
        ParserTraining, {"cycles": settings.cycles, "signature": settings.signature, "threads": task.threads}
    )
    bank, found = treebank(read_trees(task.inputs["trees"]), options)
    if not len(bank):
        read = found.trees + found.left_out
        problem = f"has no tree to train on, of {read:,} that were read; expected trees whose words have tags"
        raise FormatError(str(task.inputs["trees"]), 0, problem)
    task.report(f"{found.trees:,} trees, {found.left_out:,} left out")
    train_in(task.out, bank, options)


def _parse(settings: ParserSettings, side: Side, task: Task) -> None:
    """Parse the surface words, and give the parses the words of the model."""
    from treeglot.corpus.parses import as_forest
    from treeglot.models.reading import with_words
    from treeglot.parse.parser import GrammarParser
    from treeglot.syntax import write
    from treeglot.syntax.formats import read_text

    parser = _open_parser(settings, task)
    words = read_text(task.inputs["words"])
    parses: Iterable[Any] = (
        parse_elsewhere(parser, task.engine, task)
        if isinstance(parser, GrammarParser) and task.engine is not None
        else parser.parse(read_text(task.inputs["sentences"]))
    )
    found: list[Any] = [
        with_words((as_forest(value, False) or "") if isinstance(value, Tree) else value, own)
        for value, own in zip(parses, words, strict=True)
    ]
    files = _parses(settings)
    if "forests" in files:
        write(task.out / files["forests"], found)
    if "trees" in files:
        write(task.out / files["trees"], [forest.viterbi() for forest in found])
    if "dependencies" in files:
        write(task.out / files["dependencies"], found)
    told = [_agreement(side, task)] if "treebank" in task.inputs else []
    if isinstance(parser, GrammarParser):
        told += [parser.summary(), _known_words(parser, task)]
    if told:
        task.report("; ".join(told))


def _agreement(side: Side, task: Task) -> str:
    """Return the agreement of a parser's treebank with the tokeniser."""
    from treeglot.syntax.formats import read_trees
    from treeglot.text import TextPipeline

    trees = islice(read_trees(task.inputs["treebank"]), COMPARED)
    lines = [" ".join(tree.words) for tree in trees if tree.words]
    f1 = getattr(TextPipeline.load(task.inputs["text"]), side).agreement(lines, threads=task.threads)
    found = f"treebank and text agree on words with F1 {f1:.1f}"
    if f1 < LEAST_AGREEMENT:
        warnings.warn(
            f"{task.inputs['treebank']}: {found}, less than {LEAST_AGREEMENT}: a parser and a corpus that split words "
            "differently harm each other",
            stacklevel=2,
        )
    return found


def _known_words(parser: GrammarParser, task: Task) -> str:
    """Return the share of words that a parser knows."""
    from treeglot.syntax.formats import read_text

    counts = Counter(word for words in read_text(task.inputs["sentences"]) for word in words)
    known = sum(count for word, count in counts.items() if parser.grammar.lookup(word, 1) == word)
    share = 100 * known / max(1, counts.total())
    found = f"the parser knows {share:.1f} % of the words"
    if share < LEAST_KNOWN:
        warnings.warn(
            f"{task.inputs['sentences']}: {found}, less than {LEAST_KNOWN} %: its treebank may have "
            "another language, or split words differently",
            stacklevel=2,
        )
    return found


def _open_parser(settings: ParserSettings, task: Task) -> Parser[Any]:
    from treeglot.parse import ParsingOptions, load_parser
    from treeglot.parse.adapters import open_parser

    if settings.adapter:
        adapter, _, model = settings.adapter.partition(":")
        return open_parser(adapter, model)
    options = ParsingOptions(prune=settings.prune, time_limit=0.0, threads=task.threads)
    return load_parser(settings.grammar or task.inputs["parser"], options)


def _align(settings: AlignSettings, task: Task) -> None:
    from treeglot.align import align_corpus
    from treeglot.syntax import write
    from treeglot.syntax.formats import read_text
    from treeglot.text.variables import link_variables

    known = {"lexicon": str(task.inputs["lexicon"])} if "lexicon" in task.inputs else {}
    source, target = (list(read_text(task.inputs[side])) for side in ("source", "target"))
    links = align_corpus(
        source,
        target,
        settings.method,
        settings.symmetrization,
        options={**settings.options, **known},
        threads=task.threads,
        folder=task.out / "state",
        report=lambda done, of: task.report(f"{100 * done // of} %"),
        keep=lambda trained: trained.save(task.out / ALIGNER),
    )
    write(task.out / "links.align", map(link_variables, source, target, links))
    shutil.rmtree(task.out / "state", ignore_errors=True)


def _mending(settings: AlignSettings, corpus: Files) -> Step | None:
    """Make the step that removes links that break constituents. None if links are given or there are no parses."""
    parses = next((corpus[name] for name in ("source_forests", "source_trees") if name in corpus), None)
    aligned = corpus["alignments"] == LINKS and settings.method != "eflomal"
    if not settings.constituent_cost or not aligned or parses is None:
        return None
    files = {"source": corpus["source"], "target": corpus["target"], "parses": parses}
    files |= {"aligner": Output("align", ALIGNER), "links": LINKS}
    return Step("mend", partial(_mend, settings.constituent_cost), files, {"cost": settings.constituent_cost})


def _of_forests(system: System) -> bool:
    """Return whether the rules come from source trees or forests. These gain from links that break fewer nodes."""
    return find_kind(system.kind).needs.source in ("forest", "best")


def _mend(cost: float, task: Task) -> None:
    from treeglot.align import Aligner
    from treeglot.syntax import read, write
    from treeglot.syntax.formats import read_text
    from treeglot.text.variables import link_variables

    source, target = (list(read_text(task.inputs[side])) for side in ("source", "target"))
    links = list(read(task.inputs["links"], "pharaoh"))
    mended = list(
        Aligner.load(task.inputs["aligner"]).mend(
            zip(source, target, strict=True), links, read(task.inputs["parses"]), cost=cost, threads=task.threads
        )
    )
    task.report(f"{sum(map(len, links)) - sum(map(len, mended)):,} links left out")
    write(task.out / "links.align", map(link_variables, source, target, mended))


def _lm(order: int, task: Task) -> None:
    from treeglot.lm.ngram import train_compiled

    where: dict[str, Any] = {"machines": task.engine, "parts": task.out, "report": task.report}
    train_compiled(task.inputs["text"], task.out / "lm.bin", order, memory=task.memory, **where)


def _train(
    kind: Kind,
    options: Mapping[str, Any],
    parsers: Mapping[str, ParserSettings],
    alignment_weights: tuple[float, ...],
    task: Task,
) -> None:
    from treeglot.models import train
    from treeglot.text import TextPipeline

    named = {name: str(path) for name, path in task.inputs.items() if name.startswith(OPTION)}
    files = {name: path for name, path in task.inputs.items() if name in Corpus.names()}
    number = sum(name.startswith(MORE_LINKS) for name in task.inputs)
    more = tuple(task.inputs[f"{MORE_LINKS}{n}"] for n in range(number))
    text = TextPipeline.load(task.inputs["text"]) if "text" in task.inputs else None
    own = {part: parser.adapter or parser.grammar or task.inputs[part] for part, parser in parsers.items()}
    placed = with_values(options, {name.removeprefix(OPTION): path for name, path in named.items()})
    train(
        kind.name,
        Corpus(**files, more_alignments=more, alignment_weights=alignment_weights),
        task.out,
        from_table(kind.options, placed),
        lm=task.inputs["lm"],
        lms={name.removeprefix(MORE_LM): path for name, path in task.inputs.items() if name.startswith(MORE_LM)},
        text=text,
        aligner=task.inputs.get("aligner"),
        parser=own.get("parser", ""),
        target_parser=own.get("target_parser", ""),
        threads=task.threads,
        memory=task.memory,
        engine=task.engine,
        report=task.report,
    )


def _tune(settings: TuneSettings, lowercase: bool, task: Task) -> None:
    from treeglot.evaluate import Bleu
    from treeglot.models import load
    from treeglot.tune import METHODS, LoopOptions, tune_weights
    from treeglot.tune.decoder import DecoderTranslator
    from treeglot.tune.plot import plot

    model, refused = load(task.inputs["model"]), _Refused(task.inputs["dev"])
    references = [read_lines(path) for name, path in task.inputs.items() if name.startswith("reference ")]
    translator = DecoderTranslator(model.translator, model.kind, threads=task.threads, refused=refused)
    found = tune_weights(
        translator if task.engine is None else decode_elsewhere(translator, task.engine, task),
        list(model.read(task.inputs["dev"])),
        references,
        METHODS.make(settings.method, settings.options),
        model.weights,
        task.out,
        metric=Bleu(lowercase=lowercase),
        options=LoopOptions(**{field.name: getattr(settings, field.name) for field in dataclasses.fields(LoopOptions)}),
        threads=task.threads,
        report=lambda entry: task.report(f"{_entry_name(entry)}: BLEU {entry['score']:.2f}"),
    )
    refused.warn()
    for path in task.out.glob("*.kbest"):
        path.unlink()
    with write_binary(task.out / "plot.svg") as stream:
        stream.write(plot(found.log).encode())


def _entry_name(entry: Mapping[str, Any]) -> str:
    return f"mean of {entry['mean_of']} updates" if "mean_of" in entry else f"iteration {entry['iteration']}"


class _Refused:
    """Sentences that could not be translated. Their outputs are empty."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.problems: dict[int, str] = {}

    def __call__(self, place: int, problem: str) -> None:
        self.problems.setdefault(place, problem)

    def warn(self) -> None:
        if self.problems:
            place, problem = min(self.problems.items())
            said = f"{self.path}: {len(self.problems):,} outputs are empty, as their sentences could not be translated"
            warnings.warn(f"{said}; the first is {place + 1}: {problem}", stacklevel=2)


def _translate(raw: bool, task: Task) -> None:
    """Translate a test set. Raw text gives text; words and parses give words."""
    from treeglot.decode.draw import to_html
    from treeglot.decode.translation import as_object
    from treeglot.decode.weights import read_weights
    from treeglot.models import load

    model = load(task.inputs["model"]).with_weights(read_weights(task.inputs["weights"]))
    translate = model.translate_batch if raw else model.translator.translate_batch
    refused = _Refused(task.inputs["sentences"])
    path = task.inputs["sentences"]
    sources: Iterator[Any] = iter(read_lines(path)) if raw else model.read(path)
    number, seconds = 0, 0.0
    with (
        write_binary(task.out / "output.txt") as texts,
        write_binary(task.out / "output.jsonl") as entries,
        write_binary(task.out / "drawn.jsonl") as drawings,
    ):
        while batch := list(islice(sources, BATCH)):
            for source, found in zip(batch, translate(batch, threads=task.threads), strict=True):
                if number < DRAWN:
                    drawings.write((json.dumps(to_html(found, source), ensure_ascii=False) + "\n").encode())
                texts.write(f"{found.text}\n".encode())
                if found.problem:
                    refused(number, found.problem)
                entry = as_object(found, number, trace=True)
                entries.write((json.dumps(entry, ensure_ascii=False) + "\n").encode())
                number += 1
                seconds += found.seconds
            task.report(f"{number:,} sentences")
    refused.warn()
    task.measure(SPEED, round(1000 * seconds / max(number, 1), 3))


def _score(task: Task, systems: Mapping[str, Sequence[str]], baseline: str, options: Mapping[str, Any]) -> None:
    """Score the first tuning of each system and, if there are several, all of them."""
    from treeglot.evaluate.means import score_tunings
    from treeglot.evaluate.report import ReportOptions, score_systems

    outputs = {
        name: [read_lines(task.inputs[f"{name}{ending}"]) for ending in endings] for name, endings in systems.items()
    }
    references = [read_lines(path) for name, path in task.inputs.items() if name.startswith("reference ")]
    against, chosen = baseline if len(outputs) > 1 else None, from_table(ReportOptions, options)
    first = {name: lines[0] for name, lines in outputs.items()}
    found = [one.as_object() for one in score_systems(first, references, baseline=against, options=chosen)]
    if any(len(lines) > 1 for lines in outputs.values()):
        tunings = score_tunings(outputs, references, baseline=against, options=chosen)
        for one in found:
            one["tunings"] = {metric.name: metric.as_object() for metric in tunings[one["system"]]}
    with write_binary(task.out / "scores.json") as stream:
        stream.write((json.dumps(found, indent=1) + "\n").encode())
