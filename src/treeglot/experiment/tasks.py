"""The functions of the steps of a recipe: align, parse, train, tune, translate, score."""

from __future__ import annotations

import dataclasses
import json
import shutil
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from treeglot.base.errors import FormatError
from treeglot.base.files import read_lines, write_binary
from treeglot.base.options import from_table, with_values
from treeglot.corpus import Corpus
from treeglot.corpus.files import MORE_LINKS, Side
from treeglot.experiment.elsewhere import decode_elsewhere, parse_elsewhere
from treeglot.experiment.recipe import (
    AlignSettings,
    CombinedSystems,
    ParserSettings,
    TuneSettings,
)
from treeglot.experiment.results import SPEED
from treeglot.experiment.step import Task
from treeglot.models import Kind
from treeglot.models.artefacts import ALIGNER
from treeglot.parse.protocol import Parser
from treeglot.syntax import Tree

if TYPE_CHECKING:
    from treeglot.neural.options import JointOptions
    from treeglot.parse.parser import GrammarParser

BATCH = 500  # sentences translated between two writes
DRAWN = 200  # sentences of a test set that the report draws
COMPARED = 2000  # trees of a treebank whose words are compared with those of the text
# In percent; below these there is a warning. A small treebank of the right language knows three words of four.
LEAST_AGREEMENT, LEAST_KNOWN = 95.0, 50.0
OPTION = "options."  # before the names of inputs that are files in a system's options
MORE_LM = "lm "  # before the names of further language models
NETWORK = "network "  # before the names of networks


def train_parser(settings: ParserSettings, task: Task) -> None:
    """Train the grammar of a parser from a treebank."""
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


def parse_files(settings: ParserSettings) -> dict[str, str]:
    """Return the files that the parsing step produces, by their content."""
    if not settings.adapter:
        return {"forests": "forests.jsonl", "trees": "best.tree"}
    if settings.adapter.startswith("benepar:"):
        return {"trees": "best.tree"}
    return {"dependencies": "parses.conllu"}


def parse_text(settings: ParserSettings, side: Side, task: Task) -> None:
    """Parse the words in their original case, and give the parses the words of the model."""
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
    files = parse_files(settings)
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
    """Measure how well the tokeniser agrees with the treebank of a parser."""
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
    """Return the share of words that the parser's lexicon contains."""
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


def align_words(settings: AlignSettings, task: Task) -> None:
    """Align the words of the training pairs."""
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


def mend_links(cost: float, task: Task) -> None:
    """Remove doubtful links that break constituents."""
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


def train_lm(order: int, task: Task) -> None:
    """Train an n-gram model on the target side."""
    from treeglot.lm.ngram import train_compiled

    where: dict[str, Any] = {"machines": task.engine, "parts": task.out, "report": task.report}
    train_compiled(task.inputs["text"], task.out / "lm.bin", order, memory=task.memory, **where)


def train_network(name: str, options: JointOptions, task: Task) -> None:
    """Train a network from the words and links of the corpus."""
    from treeglot.models.artefacts import LEXICAL
    from treeglot.models.neural import train_neural
    from treeglot.syntax import read
    from treeglot.syntax.formats import read_text

    source, target = (read_text(task.inputs[side]) for side in ("source", "target"))
    read_pairs = zip(source, target, read(task.inputs["alignments"]), strict=True)
    pairs = ((words, output, links, None, None) for words, output, links in read_pairs)
    state = task.out / "state"
    train_neural(pairs, options, task.out, task.threads, task.report, state, LEXICAL if options.lexical else "")
    shutil.rmtree(state, ignore_errors=True)


def train_model(
    kind: Kind,
    options: Mapping[str, Any],
    parsers: Mapping[str, ParserSettings],
    alignment_weights: tuple[float, ...],
    task: Task,
) -> None:
    """Train a model of one system."""
    from treeglot.models import train
    from treeglot.models.neural import add_neural
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
    for name, path in task.inputs.items():
        if name.startswith(NETWORK):
            add_neural(task.out, path)


def tune_model(settings: TuneSettings, lowercase: bool, task: Task) -> None:
    """Tune the weights of a model on the development set."""
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
    """Collects the sentences that could not be translated. Their outputs are empty."""

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


def translate_test(raw: bool, task: Task) -> None:
    """Translate a test set. Raw text is translated to raw text, and words or parses to words."""
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


def combine_systems(settings: CombinedSystems, task: Task) -> None:
    """Choose the texts that the k-best lists of several systems agree on, and write them."""
    from treeglot.decode.weights import read_weights
    from treeglot.models import load
    from treeglot.tune.combination import Combination, lists_of
    from treeglot.tune.decoder import DecoderTranslator

    lists = {}
    for system in settings.systems:
        model, weights, path = (task.inputs[f"{what} {system}"] for what in ("model", "weights", "sentences"))
        loaded, refused = load(model), _Refused(path)
        translator = DecoderTranslator(loaded.translator, loaded.kind, threads=task.threads, refused=refused)
        sources = list(loaded.read(path))
        lists[system] = lists_of(translator.translate(sources, read_weights(weights), settings.size))
        refused.warn()
        task.report(f"{system}: {sum(map(len, lists[system])):,} hypotheses")
    with write_binary(task.out / "output.txt") as stream:
        stream.writelines(f"{text}\n".encode() for text in Combination(lists, settings.options).best())


def score_test(task: Task, systems: Mapping[str, Sequence[str]], baseline: str, options: Mapping[str, Any]) -> None:
    """Score the first tuning of each system, and compare all tunings if there are several."""
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
