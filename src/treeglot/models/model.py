"""A trained model. It translates, explains, learns and takes corrections (`treeglot.models.folder` lists its files)."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from treeglot import _core
from treeglot._core import Terms
from treeglot.base.errors import FormatError, UsageError
from treeglot.base.files import PathLike
from treeglot.base.opening import opening
from treeglot.base.options import load_options
from treeglot.decode import SearchOptions, Translation, Translator
from treeglot.decode.confidence import FILE as CONFIDENCE
from treeglot.decode.confidence import ConfidenceModel
from treeglot.decode.constraints import Constraints
from treeglot.decode.context import ContextWords
from treeglot.decode.glossary import BoundGlossary, Glossary
from treeglot.decode.matchers import Setup, match_on_demand
from treeglot.decode.translator import Rules, Source
from treeglot.decode.weights import Weights, read_weights
from treeglot.models.artefacts import load_artefacts
from treeglot.models.corrections import problems, warn_of_problems
from treeglot.models.folder import GLOSSARY_FILE, ModelFile, move_in, refuse_links
from treeglot.models.kind import Kind
from treeglot.models.kinds import JOINT, kind_of_model
from treeglot.models.reading import Given, Reader, open_model_parser
from treeglot.models.steps import stepped
from treeglot.rules.corrections import CORRECTIONS, Correction, Corrections
from treeglot.rules.on_demand import add_pairs, open_rules
from treeglot.rules.provenance import PROVENANCE
from treeglot.rules.table import open_table
from treeglot.text import TextPipeline

if TYPE_CHECKING:
    from treeglot.align import Aligner
    from treeglot.corpus.pairs import Pair
    from treeglot.models.complete import Completion
    from treeglot.models.explain import Explanation
    from treeglot.models.learn import Learner, Learnt
    from treeglot.rules.provenance import Provenance
    from treeglot.syntax import Alignment

Terminology: TypeAlias = Glossary | Mapping[str, str] | PathLike


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
        """Create a model. `tuned` has the weights before the steps of corrections, or None without steps."""
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
        """The text pipeline, or None if the model takes words separated by blanks."""
        return self.reader.text

    @property
    def weights(self) -> Mapping[str, float]:
        """The weights of the features, including the steps of corrections."""
        return self.translator.weights

    def read(self, path: PathLike, format: str | None = None, lattices: PathLike | None = None) -> Iterator[Source]:
        """Read the inputs of a file: lines, forests or dependency trees, depending on the kind.

        The suffix or `format` names the format. A second file can contain `lattices` of the forests' words.
        """
        return self.reader.kind.read(Path(path), format, None if lattices is None else Path(lattices))

    @property
    def glossary(self) -> Glossary | None:
        """The terms that the model's translations use by default."""
        return None if self.bound_glossary is None else self.bound_glossary.glossary

    def translate(
        self, source: Given, constraints: Constraints | None = None, glossary: Terminology | None = None
    ) -> Translation:
        """Translate a text or a sentence: a string, a list of words, a tree, forest or dependency tree.

        A model with a text pipeline treats a string as a text of one or more sentences. Otherwise, a string contains
        words separated by blanks. If the kind needs parses and the model has a parser, words are parsed first.
        `constraints` restrict the output of a single sentence. `glossary` replaces the model's own one. It is a
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
        """Explain where the words of a translation come from, and why the translation is not `instead` (docs/why.md).

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

        When this returns, they are stored in `corrections.txt` (docs/corrections.md). The model's aligner links the
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
        """Use these corrections from now on. The model's folder does not change.

        `keep` is called after the corrections have been checked and before they take effect.
        """
        self.need_table("corrections")
        table, _ = corrections.apply(self.translator.table)
        keep()
        translator = self.translator.with_table(table, stepped(self.tuned, corrections))
        self.__dict__.update(translator=translator, corrections=corrections)  # at once: other threads may read them
        for name in ("all_rules", "provenance"):  # of the table before
            self.__dict__.pop(name, None)

    def need_table(self, what: str) -> None:
        """Raise an error if a request needs a rule table, but the model finds its rules on demand."""
        self.file.need_table(self.directory, what)

    def need_index(self) -> None:
        """Raise an error if a request needs an index of sentence pairs, but the model has a rule table."""
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
        """The learner that extracts the rules of corrected sentence pairs."""
        from treeglot.models.learn import Learner

        return Learner(self)

    @cached_property
    def provenance(self) -> Provenance | None:
        """The sentence pairs that the rules come from, or None if the model was trained without provenance."""
        from treeglot.rules.provenance import Provenance

        path = self.directory / PROVENANCE
        if self.file.on_demand:  # what is there belongs to a table before
            return None
        return Provenance(path, self.translator.table) if path.is_file() else None

    @cached_property
    def all_rules(self) -> Translator:
        """A translator that uses all rules, without search limits."""
        from treeglot.models.explain import all_rules

        return all_rules(self.translator)

    def with_weights(self, weights: Mapping[str, float]) -> Model:
        """Return a copy of the model with other weights. It shares tables and language models.

        Steps of the old weights no longer have an effect.
        """
        made = self._with(self.translator.with_weights(weights))
        made.tuned = weights
        return made

    def with_search(self, options: SearchOptions) -> Model:
        """Return a copy with other search options. Options that the model's kind does not use must stay unchanged."""
        self.reader.kind.check_search(options, self.translator.options)
        return self._with(self.translator.with_search(options))

    def with_glossary(self, glossary: Terminology | None) -> Model:
        """Return a copy of the model with these terms instead of its own. None means no terms."""
        made = self._with(self.translator)
        made.bound_glossary = None if glossary is None else self._bound(glossary)
        return made

    def with_corrections(self, corrections: Iterable[Correction] | PathLike | None) -> Model:
        """Return a copy of the model with these corrections of rules instead of its own. None means no corrections.

        The corrections are a list or a file. Corrections that change nothing or never match cause a
        `CorrectionWarning`.
        """
        made, changed = self._corrected(None if corrections is None else Corrections.of(corrections))
        warn_of_problems(made, changed)
        return made

    def try_corrections(self, corrections: Iterable[Correction], first: int) -> tuple[Model, list[str]]:
        """Return a copy of the model with these corrections, and remarks on the corrections from `first` on.

        Unlike `with_corrections`, this method issues no warnings.
        """
        made, changed = self._corrected(Corrections.of(corrections))
        return made, list(problems(made, changed, first))

    def _corrected(self, given: Corrections | None) -> tuple[Model, list[int]]:
        """Return a copy of the model with these corrections, and the number of rules that each changed."""
        if given is None and self.file.on_demand:
            return self._with(self.translator), []
        self.need_table("corrections")
        table, changed = (given or Corrections(())).apply(self.translator.table)
        made = self._with(self.translator.with_table(table, stepped(self.tuned, given)))
        made.corrections = given
        return made, changed

    def correction_of(self, rule: int | None) -> Correction | None:
        """Find the last correction that added or changed a rule."""
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
    refuse_links(folder, file)
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
    """Load a model without a rule table: an empty table, and the matcher that finds rules on demand."""
    if (folder / CORRECTIONS).is_file():
        raise UsageError(f"the model finds its rules on demand; expected no {CORRECTIONS}", ("on_demand",))
    rules = open_rules(folder / file.on_demand)
    return rules.table, match_on_demand(rules)


def _load_parts(folder: Path, file: ModelFile, wait: bool) -> tuple[Kind, Rules, Setup]:
    from treeglot.models.joint import load_parts

    if not file.parts:
        raise UsageError("a joint model without parts; expected the kind of each, by name")
    return load_parts(folder, file.parts, wait)
