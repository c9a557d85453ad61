"""A model is a folder: `model.toml`, the rule table, the language model, the weights.

    model.toml      kind, search options, and the names of the files below
    rules.table     the compiled rules; or on_demand.json and index-*.bin, to find rules on demand (docs/scale.md)
    lm.bin          the compiled n-gram model
    lm_NAME.bin     further ones, as model.toml says
    neural.bin      a neural joint model (docs/neural.md); or none
    neural_NAME.bin further networks, as model.toml says
    context.json    the words of context features; or none
    weights.txt     a line `name value` for each feature
    text.toml       how text becomes words and words text, with the files of treeglot.text.pipeline; or none
    parser          the parser's grammar, or the file of another parser's model; or none
    target.parser   the same of the target language, to learn from corrections; or none
    aligner         a saved word aligner, to learn from corrections; or none
    confidence.json how sure its translations are, learnt from sentences with references; or none
    provenance.bin  the sentence pairs that the rules come from; or none
    glossary.tsv    terms that translations use (docs/corrections.md); or none
    corrections.txt rules that are added, forbidden or reweighted, steps of weights (docs/corrections.md); or none
    parts           the rules of a joint model's parts (treeglot.models.joint); or none
    training.json   the version, the languages and digests of the training data

Every file is complete when it appears under its name; `model.toml` is written last. A new model for the folder comes
as the complete folder `.next` in it, whose files are then moved in. The next process that opens the model finishes an
interrupted move.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import nullcontext, suppress
from dataclasses import asdict, dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from treeglot import _core
from treeglot._core import Terms
from treeglot.base.errors import FormatError, OptionError, UsageError
from treeglot.base.files import PathLike, write_binary
from treeglot.base.opening import opening
from treeglot.base.options import Options, in_file, load_options, option, required
from treeglot.base.toml import format_value
from treeglot.decode import SearchOptions, Translation, Translator
from treeglot.decode.confidence import FILE as CONFIDENCE
from treeglot.decode.confidence import ConfidenceModel
from treeglot.decode.constraints import Constraints
from treeglot.decode.context import ContextWords
from treeglot.decode.glossary import BoundGlossary, Glossary
from treeglot.decode.matchers import Setup, match_on_demand
from treeglot.decode.translator import Rules, Source
from treeglot.decode.weights import Weights, read_weights, write_weights
from treeglot.models.artefacts import ALIGNER, DEPENDENCY_MODELS, JOINED, SOURCE_HEADS, load_artefacts
from treeglot.models.corrections import problems, warn_of_problems
from treeglot.models.kind import Kind
from treeglot.models.kinds import JOINT, kind_of_model
from treeglot.models.reading import Given, Reader, open_model_parser
from treeglot.models.steps import stepped
from treeglot.rules.corrections import CORRECTIONS, Correction, Corrections, changing
from treeglot.rules.on_demand import FACTS, INDEX, add_pairs, open_rules, read_facts
from treeglot.rules.provenance import PROVENANCE
from treeglot.rules.table import open_table
from treeglot.text import TextPipeline
from treeglot.text.pipeline import TEXT_FILE
from treeglot.text.side import PARTS

if TYPE_CHECKING:
    from treeglot.align import Aligner
    from treeglot.corpus.pairs import Pair
    from treeglot.models.complete import Completion
    from treeglot.models.explain import Explanation
    from treeglot.models.learn import Learner, Learnt
    from treeglot.rules.provenance import Provenance
    from treeglot.syntax import Alignment

NEXT = ".next"
GLOSSARY_FILE = "glossary.tsv"
Terminology: TypeAlias = Glossary | Mapping[str, str] | PathLike


@dataclass(frozen=True)
class ModelFile(Options):
    """The content of `model.toml`."""

    kind: str = required("the kind of model, such as hiero")
    parts: dict[str, str] = option({}, "of a joint model: the kinds of its parts by name; parts/NAME has their files")
    rules: str = option("rules.table", "the compiled rule table")
    on_demand: str = option("", "what says how rules are found on demand, instead of a table; empty: there is a table")
    lm: str = option("lm.bin", "the compiled n-gram model; empty: none")
    lms: dict[str, str] = option({}, "further n-gram models by name; their features are lm_NAME")
    neural: str = option("", "the neural joint model; empty: none")
    networks: dict[str, str] = option({}, "further networks by name; their features are neural_NAME")
    context: str = option("", "the words of context features; empty: there are no such features")
    weights: str = option("weights.txt", "the weights of the features")
    text: str = option("", "text.toml: it takes text; empty: it takes words separated by blanks")
    parser: str = option("", "its parser: the folder of a grammar, or ADAPTER:MODEL such as udpipe:FILE; empty: none")
    target_parser: str = option("", "the target language's parser, likewise, to learn from corrections")
    search: SearchOptions = option(SearchOptions(), "how to search unless told otherwise")

    def __post_init__(self) -> None:
        """Refuse paths outside the folder. A downloaded model must open only its own files."""
        super().__post_init__()
        for key, given in self.files():
            path = Path(given.rpartition(":")[2])
            if path.is_absolute() or ".." in path.parts or "\0" in str(path):
                raise OptionError(f"{'.'.join(key)} is {str(path)!r}; expected a file in the model's folder", key)
        check_lm_names(self.lms)
        check_network_names(self.networks)
        check_part_names(self.parts)

    def need_table(self, folder: Path, what: str) -> None:
        """Refuse a request that needs a rule table if the model in a folder finds its rules on demand."""
        if self.on_demand:
            raise UsageError(f"{folder} finds its rules on demand; {what} need a model with a rule table")

    @property
    def every_network(self) -> dict[str, str]:
        """The files of the networks by name; the name of the neural joint model is empty."""
        return ({"": self.neural} if self.neural else {}) | self.networks

    def files(self) -> Iterator[tuple[tuple[str, ...], str]]:
        """Yield the files that `model.toml` names, by key."""
        rules = "on_demand" if self.on_demand else "rules"
        for name in (rules, "lm", "neural", "context", "weights", "text", "parser", "target_parser"):
            yield (name,), getattr(self, name)
        for name, file in self.lms.items():
            yield ("lms", name), file
        for name, file in self.networks.items():
            yield ("networks", name), file


def check_lm_names(names: Iterable[str]) -> None:
    """Refuse names of further language models that cannot be features, or that are taken."""
    for name in names:
        if not re.fullmatch("[a-z0-9_]{1,40}", name) or name == "unknown" or name.endswith("_unknown"):
            problem = "expected letters a to z, digits and _, and no unknown at its end"
            raise OptionError(f"lms.{name} is not a name of a language model; {problem}", ("lms", name))


def check_network_names(names: Iterable[str]) -> None:
    """Refuse names of further networks that cannot be features."""
    for name in names:
        if not re.fullmatch("[a-z0-9_]{1,40}", name):
            problem = "is no name of a network; expected letters a to z, digits and _"
            raise OptionError(f"networks.{name} {problem}", ("networks", name))


def check_part_names(names: Iterable[str]) -> None:
    """Refuse names of a joint model's parts that cannot begin the names of features and folders."""
    for name in names:
        if not re.fullmatch("[A-Za-z0-9_-]{1,40}", name):
            problem = "is no name of a part; expected letters A to Z and a to z, digits, - and _"
            raise OptionError(f"parts.{name} {problem}", ("parts", name))


class Model:
    """A trained model, ready to translate."""

    def __init__(
        self,
        directory: Path,
        file: ModelFile,
        translator: Translator,
        reader: Reader,
        glossary: BoundGlossary | None = None,
        corrections: Corrections | None = None,
        tuned: Weights | None = None,
    ) -> None:
        """Create a model. `tuned` are the weights before the steps of corrections, or None without such steps."""
        self.directory = directory
        self.kind = file.kind
        self.file = file
        self.translator = translator
        self.reader = reader
        self.bound_glossary = glossary
        self.corrections = corrections  # that hold in the translator's table and weights
        self.tuned = translator.weights if tuned is None else tuned

    @property
    def text(self) -> TextPipeline | None:
        """Its text pipeline, or None if it takes words separated by blanks."""
        return self.reader.text

    @property
    def weights(self) -> Mapping[str, float]:
        """The weights of the features, with the steps that corrections make."""
        return self.translator.weights

    def read(self, path: PathLike, format: str | None = None, lattices: PathLike | None = None) -> Iterator[Source]:
        """Read the inputs of a file: lines, forests or dependency trees, depending on the kind.

        The suffix or `format` names the format. A second file can contain `lattices` of the forests' words.
        """
        return self.reader.kind.read(Path(path), format, None if lattices is None else Path(lattices))

    @property
    def glossary(self) -> Glossary | None:
        """The terms that translations use by default."""
        return None if self.bound_glossary is None else self.bound_glossary.glossary

    def translate(
        self, source: Given, constraints: Constraints | None = None, glossary: Terminology | None = None
    ) -> Translation:
        """Translate a text or a sentence: a string, a list of words, a tree, forest or dependency tree.

        A model with a text pipeline treats a string as text of one or more sentences. Without a pipeline, a string
        contains words separated by blanks. Words are parsed if the kind needs parses and the model has a parser.
        `constraints`, for a single sentence, restrict the output. `glossary` replaces the model's own. It is a
        `Glossary`, its file, or a mapping from terms to forced translations.
        """
        wanted = None if constraints is None else constraints.core(partial(self.reader.target_words, source=source))

        def alone(sources: list[Source], terms: list[Terms]) -> list[Translation]:
            own = self.translator
            if len(sources) == 1:  # a search of one sentence is kept, for more of it
                return [own.translate(sources[0], wanted, *terms)]
            if wanted is not None:
                raise UsageError(f"constraints on a text of {len(sources)} sentences; expected one")
            return own.translate_batch(sources, terms=terms)

        markup = self.translator.options.markup
        return self.reader.translate(alone, [source], markup=markup, glossary=self._bound(glossary))[0]

    def translate_batch(
        self,
        sources: Iterable[Given],
        kbest: int = 1,
        distinct: bool = False,
        threads: int = 1,
        glossary: Terminology | None = None,
    ) -> list[Translation]:
        """Translate texts or sentences. The result is the same for any number of threads."""

        def together(inputs: list[Source], terms: list[Terms]) -> list[Translation]:
            return self.translator.translate_batch(inputs, kbest, distinct, threads, terms=terms)

        markup, bound = self.translator.options.markup, self._bound(glossary)
        return self.reader.translate(together, sources, threads, kbest, distinct, markup, bound)

    def _bound(self, glossary: Terminology | None) -> BoundGlossary | None:
        return self.bound_glossary if glossary is None else self.reader.bind(Glossary.of(glossary))

    def translate_html(self, text: str, *, threads: int = 1) -> str:
        """Translate a page or a fragment of HTML. Tags stay, and inline elements move with their words."""
        from treeglot.documents.html import translate_html

        return translate_html(self, text, threads=threads)

    def translate_file(self, path: PathLike, out: PathLike, *, threads: int = 1) -> None:
        """Translate a document and keep its layout. The suffix names the format: .txt, .html, .xliff, .po or .docx."""
        from treeglot.documents.files import translate_file

        translate_file(self, path, out, threads=threads)

    def explain(self, source: Given, instead: str | None = None, examples: int = 3) -> Explanation:
        """Explain where the words of a translation come from, and why it is not `instead` (docs/why.md).

        If the model was trained with provenance, each rule has up to `examples` examples.
        """
        from treeglot.models.explain import explain

        return explain(self, source, instead, examples)

    def complete(self, source: Given, prefix: str) -> Completion:
        """Return the best completion of a translation after a given prefix (docs/why.md)."""
        from treeglot.models.complete import complete

        return complete(self, source, prefix)

    def learn(
        self,
        source: Given,
        target: Given,
        *,
        alignment: Alignment | str | None = None,
        author: str = "",
        aligner: Aligner | PathLike | None = None,
        weights: bool = False,
    ) -> Learnt:
        """Learn from a sentence and its translation. The rules of the pair apply from the next translation on.

        They are added to `corrections.txt` before this returns (docs/corrections.md). The model's aligner links the
        words, unless `alignment` gives the links or `aligner` is another aligner. Kinds that need parses accept trees
        instead of text, or use the model's parsers. With `weights`, the weights also make a small step towards the
        translation.
        """
        from treeglot.models.learn import learn

        return learn(self, source, target, alignment, author, aligner, weights)

    def undo(self, group: str | None = None) -> Corrections:
        """Undo the last group of corrections, or the named one, and return the removed corrections."""
        from treeglot.models.learn import undo

        return undo(self, group)

    def correct(self, corrections: Corrections, keep: Callable[[], None] = lambda: None) -> None:
        """Translate with these corrections from now on. The model's folder does not change.

        `keep` is called when the corrections are known to fit, before they take effect.
        """
        self.need_table("corrections")
        table, _ = corrections.apply(self.translator.table)
        keep()
        translator = self.translator.with_table(table, stepped(self.tuned, corrections))
        self.__dict__.update(translator=translator, corrections=corrections)  # at once: other threads may read them
        for name in ("all_rules", "provenance"):  # of the table before
            self.__dict__.pop(name, None)

    def need_table(self, what: str) -> None:
        """Refuse a request that needs a rule table if the model finds its rules on demand."""
        self.file.need_table(self.directory, what)

    def need_index(self) -> None:
        """Refuse a request that needs an index of sentence pairs if the model has a rule table."""
        if not self.file.on_demand:
            expected = "expected a model trained with --on-demand"
            raise UsageError(f"{self.directory} has a rule table, which no pairs can be added to; {expected}")

    def add_pairs(self, pairs: Iterable[Pair]) -> int:
        """Add sentence pairs to a model that finds its rules on demand, and return the number of all pairs.

        The next translation uses them. Their words must have the form that rules use. The pairs are on disk before this
        returns.
        """
        self.need_index()
        move_in(self.directory)
        rules = add_pairs(pairs, self.directory / self.file.on_demand)
        self.__dict__["translator"] = self.translator.with_setup(rules.table, match_on_demand(rules))
        self.__dict__.pop("all_rules", None)
        return rules.pairs

    def read_pairs(
        self,
        source: PathLike,
        target: PathLike,
        alignments: PathLike | None = None,
        aligner: Aligner | PathLike | None = None,
    ) -> Iterator[Pair]:
        """Read the sentence pairs of two files, one per line, for `add_pairs`.

        With `alignments`, lines are words. Without them, lines have the form that the model translates, and its aligner
        or `aligner` links the words.
        """
        from treeglot.models.new_pairs import read_pairs

        return read_pairs(self, source, target, alignments, aligner)

    @cached_property
    def learner(self) -> Learner:
        """The learner for corrected sentence pairs."""
        from treeglot.models.learn import Learner

        return Learner(self)

    @cached_property
    def provenance(self) -> Provenance | None:
        """The sentence pairs that its rules come from. None if it was not trained with provenance."""
        from treeglot.rules.provenance import Provenance

        path = self.directory / PROVENANCE
        if self.file.on_demand:  # what is there belongs to a table before
            return None
        return Provenance(path, self.translator.table) if path.is_file() else None

    @cached_property
    def all_rules(self) -> Translator:
        """The translator without search limits."""
        from treeglot.models.explain import all_rules

        return all_rules(self.translator)

    def with_weights(self, weights: Mapping[str, float]) -> Model:
        """Return the same model with other weights. It shares tables and language models.

        Steps of the old weights no longer have an effect.
        """
        made = self._with(self.translator.with_weights(weights))
        made.tuned = weights
        return made

    def with_search(self, options: SearchOptions) -> Model:
        """Return the same model with other search options. Options that its kind does not use must stay as they are."""
        self.reader.kind.check_search(options, self.translator.options)
        return self._with(self.translator.with_search(options))

    def with_glossary(self, glossary: Terminology | None) -> Model:
        """Return the same model with these terms instead of its own. None means no terms."""
        made = self._with(self.translator)
        made.bound_glossary = None if glossary is None else self._bound(glossary)
        return made

    def with_corrections(self, corrections: Iterable[Correction] | PathLike | None) -> Model:
        """Return the same model with these corrections of rules instead of its own. None means no corrections.

        The corrections are a list or a file. Corrections that change nothing or never match cause a
        `CorrectionWarning`.
        """
        made, changed = self._corrected(None if corrections is None else Corrections.of(corrections))
        warn_of_problems(made, changed)
        return made

    def try_corrections(self, corrections: Iterable[Correction], first: int) -> tuple[Model, list[str]]:
        """Return the same model with these corrections instead of its own, and remarks on those from `first` on.

        This method issues no warnings.
        """
        made, changed = self._corrected(Corrections.of(corrections))
        return made, list(problems(made, changed, first))

    def _corrected(self, given: Corrections | None) -> tuple[Model, list[int]]:
        """Return the model with these corrections, and the number of rules that each changed."""
        if given is None and self.file.on_demand:
            return self._with(self.translator), []
        self.need_table("corrections")
        table, changed = (given or Corrections(())).apply(self.translator.table)
        made = self._with(self.translator.with_table(table, stepped(self.tuned, given)))
        made.corrections = given
        return made, changed

    def correction_of(self, rule: int | None) -> Correction | None:
        """Return the correction that made a rule, or changed it last."""
        if rule is None or self.corrections is None:
            return None
        number = self.translator.table.origin(rule)[1]
        return None if number is None else self.corrections.of_rules[number]

    def _with(self, translator: Translator) -> Model:
        own = self.bound_glossary, self.corrections, self.tuned
        return Model(self.directory, self.file, translator, self.reader, *own)

    def _repr_html_(self) -> str:
        from html import escape

        from treeglot.syntax.draw.bars import html_table

        weights = sorted(self.weights.items(), key=lambda weight: (-abs(weight[1]), weight[0]))
        rows = [["kind", self.kind], ["rules", self._rules], ["features", f"{len(weights):,}"]]
        shown = [[name, f"{value:.4g}"] for name, value in weights[:20]]
        title = f"<h4>{escape(os.fspath(self.directory))}</h4>"
        return title + html_table([["model", ""], *rows]) + html_table([["largest weights", ""], *shown])

    def __repr__(self) -> str:
        return f"Model({os.fspath(self.directory)!r}, kind={self.kind!r}, rules={self._rules})"

    @property
    def _rules(self) -> str:
        return "on demand" if self.file.on_demand else f"{self.translator.rules:,}"


def load(directory: PathLike, *, trust_parser: bool = False, wait: bool = False) -> Model:
    """Load a model from its folder.

    Rule tables, n-gram models and networks of 1 MiB or more open at once. Each translation verifies the blocks that it
    uses, and raises `FormatError` for damage. After many sentences, a thread verifies the rest. With `wait`, everything
    is verified here.

    The parsers of some packages run code from their files. Such a parser is opened only with `trust_parser` or
    TREEGLOT_TRUST_PARSERS=1 in the environment.
    """
    from treeglot.lm import load_ngram

    folder = Path(directory)
    move_in(folder)
    path = folder / "model.toml"
    if not path.is_file():
        raise FormatError(os.fspath(folder), 0, "is not a model: it has no model.toml")
    file = load_options(ModelFile, path)
    lm, weights = (folder / getattr(file, name) for name in ("lm", "weights"))
    _refuse_links(folder, file)
    ngram = load_ngram(lm, wait=wait) if file.lm else None
    own, changed = None, list[int]()
    table: Rules
    try:
        if file.kind == JOINT:
            kind, table, setup = _load_parts(folder, file, wait)
        else:
            kind = kind_of_model(file.kind)
            if file.on_demand:
                kind.need_on_demand()
                table, setup = _load_on_demand(folder, file)
            else:
                table = open_table(folder / file.rules, wait=wait)
                if (folder / CORRECTIONS).is_file():
                    own = Corrections.read(folder / CORRECTIONS)
                    table, changed = own.apply(table)
                setup = kind.matcher(*load_artefacts(folder, kind.source_heads, kind.dependency_models))
    except UsageError as error:
        raise FormatError(os.fspath(path), 0, str(error)) from error
    lms = {name: load_ngram(folder / path, wait=wait) for name, path in file.lms.items()}
    how = opening(True, wait)
    neural = _core.JointModel.open(os.fspath(folder / file.neural), how) if file.neural else None
    networks = {name: _core.JointModel.open(os.fspath(folder / path), how) for name, path in file.networks.items()}
    context = ContextWords.read(folder / file.context) if file.context else None
    tuned = read_weights(weights)
    started = stepped(tuned, own)
    translator = Translator(
        table, started, ngram, file.search, setup, lms=lms, neural=neural, networks=networks, context=context
    )
    if (folder / CONFIDENCE).is_file():
        translator.judge = ConfidenceModel.load(folder / CONFIDENCE)
    text = TextPipeline.load((folder / file.text).parent) if file.text else None
    parsers = [
        partial(open_model_parser, folder, name, trust_parser) if name else None
        for name in (file.parser, file.target_parser)
    ]
    reader = Reader(kind, text, *parsers)
    terms = folder / GLOSSARY_FILE
    glossary = reader.bind(Glossary.read(terms)) if terms.is_file() else None
    model = Model(folder, file, translator, reader, glossary, own, tuned)
    warn_of_problems(model, changed)
    return model


def _load_on_demand(folder: Path, file: ModelFile) -> tuple[_core.RuleTable, Setup]:
    """Load a table without rules, and the matcher of rules on demand."""
    if (folder / CORRECTIONS).is_file():
        raise UsageError(f"the model finds its rules on demand; expected no {CORRECTIONS}", ("on_demand",))
    rules = open_rules(folder / file.on_demand)
    return rules.table, match_on_demand(rules)


def _load_parts(folder: Path, file: ModelFile, wait: bool) -> tuple[Kind, Rules, Setup]:
    from treeglot.models.joint import load_parts

    if not file.parts:
        raise UsageError("a joint model without parts; expected the kind of each, by name")
    return load_parts(folder, file.parts, wait)


def _refuse_links(folder: Path, file: ModelFile) -> None:
    """Refuse links among the model's files that lead out of its folder."""
    given = {path.rpartition(":")[2] if "parser" in key[0] else path: key for key, path in file.files()}
    text = (folder / file.text).parent.relative_to(folder) if file.text else Path()
    learnt = [str(text / f"{side}.{part}") for side in ("source", "target") for part in PARTS]
    edited, learned = (GLOSSARY_FILE, CORRECTIONS), (ALIGNER, *DEPENDENCY_MODELS.values())
    indexes = [path.name for path in folder.glob("index-*.bin")] if file.on_demand else []
    own = (SOURCE_HEADS, PROVENANCE, CONFIDENCE, JOINED, *indexes, *edited, *learned)
    for name in (*given, *own, *learnt):
        for path in (folder / name, *(folder / name).rglob("*")) if name else ():
            if not path.resolve().is_relative_to(folder.resolve()):
                what = f"{'.'.join(given[name])} is {name!r}" if name in given else f"has {name!r}"
                problem = f"{what}, a link that leads out of it; expected a file in the model's folder"
                if name in given:
                    raise in_file(folder / "model.toml", UsageError(problem, given[name]))
                raise FormatError(os.fspath(folder), 0, problem)


def move_in(folder: Path, *, locked: bool = False) -> None:
    """Install the new model that waits in a folder, if there is one. A later call finishes an interrupted one.

    `model.toml` is removed first and written last, so two models never mix. Before it is written, old rules of the
    other variant (table or index) are removed.
    """
    try:
        new = os.open(folder / NEXT, os.O_RDONLY | os.O_DIRECTORY)
    except (FileNotFoundError, NotADirectoryError):
        return
    try:
        with suppress(OSError):  # some network file systems have no locks
            fcntl.flock(new, fcntl.LOCK_EX)
        # Pairs that are being added belong to the model before. A caller that has the lock says so (`locked`).
        with changing(folder / FACTS) if (folder / FACTS).is_file() and not locked else nullcontext():
            listed = os.listdir(new)  # noqa: PTH208 - another may move it in
            names = sorted(listed, key=lambda name: name == "model.toml")
            if "model.toml" in names:
                (folder / "model.toml").unlink(missing_ok=True)
            for name in names:
                old = folder / name
                if name == "model.toml":
                    _remove_other_rules(folder, load_options(ModelFile, folder / NEXT / name))
                # Renaming replaces no file by a folder, and no folder by a file.
                if old.is_dir() and not old.is_symlink():
                    shutil.rmtree(old)
                else:
                    old.unlink(missing_ok=True)
                os.replace(name, old, src_dir_fd=new)
        with suppress(OSError):  # another process has done it
            (folder / NEXT).rmdir()
    finally:
        os.close(new)


def _remove_other_rules(folder: Path, file: ModelFile) -> None:
    """Remove the old model's rules that the new model does not use."""
    if file.on_demand:
        used = {file.on_demand, *read_facts(folder / file.on_demand)["indexes"]}
        other = ["rules.table", "rules.parquet", PROVENANCE]
    else:
        used, other = set(), [FACTS]
    indexes = [path.name for path in folder.iterdir() if INDEX.fullmatch(path.name)]
    for name in {*other, *indexes} - used:
        (folder / name).unlink(missing_ok=True)


def write_model(
    directory: PathLike,
    kind: str,
    weights: Mapping[str, float],
    search: SearchOptions,
    text: TextPipeline | None = None,
    parser: str = "",
    target_parser: str = "",
    neural: str = "",
    on_demand: str = "",
    named: Mapping[str, Mapping[str, str]] = {},
    context: str = "",
) -> None:
    """Write `weights.txt`, the text pipeline and, last, `model.toml` beside the existing tables.

    `named` contains the tables of `model.toml`: `parts`, `lms` and `networks`.
    """
    folder = Path(directory)
    write_weights(folder / "weights.txt", weights)
    lines = [f'kind = "{kind}"']
    if text is not None:
        text.write(folder)
        lines.append(f'text = "{TEXT_FILE}"')
    files = {"on_demand": on_demand, "neural": neural, "context": context, "parser": parser}
    files["target_parser"] = target_parser
    for name, given in files.items():
        lines += [f"{name} = {format_value(given)}"] if given else []
    for table, entries in named.items():
        if entries:
            lines += ["", f"[{table}]", *(f"{name} = {format_value(each)}" for name, each in entries.items())]
    lines += ["", "[search]"]
    lines += [f"{name} = {format_value(value)}" for name, value in asdict(search).items()]
    with write_binary(folder / "model.toml") as stream:
        stream.write(("\n".join(lines) + "\n").encode())
