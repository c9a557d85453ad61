"""Declares a kind of model: its extractor, matcher, features, additional files and defaults."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from treeglot.base.errors import FormatError, UsageError
from treeglot.corpus import Corpus, Needs
from treeglot.corpus.files import is_parsed, option_name
from treeglot.corpus.parses import as_forest
from treeglot.corpus.sources import read_sources
from treeglot.decode.matchers import OWN_OPTIONS, Setup, match_forests, match_strings, unused_options
from treeglot.decode.search import SearchOptions
from treeglot.decode.translator import Source
from treeglot.syntax import Dependency, ParseForest, Tree, heads, read
from treeglot.syntax.head_style import head_style
from treeglot.syntax.lattice import Lattice, LatticeForest

if TYPE_CHECKING:
    from treeglot.lm.train_dependency import Unit
    from treeglot.rules.engines import Engine
    from treeglot.rules.extract import Extraction


@dataclass(frozen=True)
class Kind:
    """The declaration of a kind of model.

    To add a kind, create one, and add an entry point in the group `treeglot.kinds`.
    """

    name: str
    summary: str
    weights: Mapping[str, float]  # the start of tuning, and the weights of an untuned model
    extractor: str
    # Files of the corpus, each a name or several that serve: "source_trees|source_forests".
    files: tuple[str, ...]
    optional: tuple[str, ...] = ()  # files that it can do without
    translates: tuple[str, ...] = ("source",)  # what it reads to translate: the first is the best
    needs: Needs = field(default_factory=Needs)  # of each sentence pair; the options say how
    fixed: Mapping[str, Any] = field(default_factory=dict)  # options of the extractor that make the kind
    matcher: Callable[..., Setup] = match_strings
    source_heads: bool = False  # whether the model keeps the head table of the source language
    dependency_models: tuple[Unit, ...] = ()  # of the target side
    defaults: Mapping[str, Any] = field(default_factory=dict)  # of options, where they are not the common ones
    papers: Mapping[str, str] = field(default_factory=dict)  # that such defaults are from
    survey: Callable[[Extraction, Engine], Any] | None = None  # figures of the different rules, for reports
    says: str = ""  # what training reports, of the extraction's facts
    code: str = ""  # a digest of the code that declares it, if that is in another package
    parts: tuple[Kind, ...] = ()  # the kinds of a joint model's parts

    def __getstate__(self) -> dict[str, Any]:
        """Leave the dataclass of the options out of a pickle.

        Whether rules can be found on demand. The kind's rules must match only words, and need no other files.
        """
        return {name: value for name, value in self.__dict__.items() if name != "options"}

    @property
    def finds_on_demand(self) -> bool:
        """Whether rules can be found on demand. The kind's rules must match only words, and need no other files."""
        plain = self.matcher is match_strings and not self.source_heads and not self.dependency_models
        return self.extractor == "hiero" and plain

    def need_on_demand(self) -> None:
        """Refuse rules on demand for a kind that does not support them."""
        if not self.finds_on_demand:
            problem = f"a model of kind {self.name} cannot find its rules on demand"
            expected = "the extractor hiero, the common matcher, no source heads and no dependency models"
            raise UsageError(f"{problem}; expected a kind with {expected}", ("on_demand",))

    @cached_property
    def options(self) -> type[Any]:
        """The dataclass of the options of this kind."""
        from treeglot.models.options import model_options

        unused = set() if self.needs != Needs() else {"skip_bad"}
        unused |= set() if self.finds_on_demand else {"on_demand", "demand"}
        unused |= set() if self.dependency_models else {"dependency_lm"}
        unused |= set() if self.source_heads else {"source_heads"}
        unused |= set() if self.needs.target == "dependency" else {"target_heads", "target_style"}
        return model_options(self.name, self.extractor, unused, self.defaults, self.papers)

    def check(self, corpus: Corpus) -> None:
        """Refuse a corpus that lacks a file that the kind needs, or that has a file that the kind does not use."""
        given = corpus.given()
        known = {"source", "target", "alignments", "posteriors", *self.optional}
        for need in self.files:
            names = need.split("|")
            known.update(names)
            found = [name for name in names if name in given]
            if len(found) != 1:
                wanted = " or ".join(option_name(name) for name in names)
                has = " and ".join(option_name(name) for name in found) or "none"
                raise UsageError(f"a {self.name} model is trained with {wanted}; {has} was given")
        for name in given:
            if name not in known:
                raise UsageError(f"a {self.name} model does not use {option_name(name)}")

    def validate(self, options: Any) -> None:
        """Refuse invalid options before the work begins."""
        from treeglot.rules.ghkm import GhkmOptions
        from treeglot.rules.on_demand import check_options
        from treeglot.rules.sql import COLUMNS

        extraction = self.extraction(options)
        if isinstance(extraction, GhkmOptions):
            extraction.check("extract.")
        for name in ("source_heads", "target_heads"):
            if hasattr(options, name):
                heads.load(getattr(options, name))
        if hasattr(options, "target_style"):
            head_style(options.target_style)
        if getattr(options, "on_demand", False):
            check_options(options.extract, options.score, options.compile)
        elif self.finds_on_demand:
            self._refuse_unused_demand(options)
        self.check_search(options.search, self.options().search)
        text = [name for name, column in COLUMNS.items() if column.holds == "text"]
        try:
            options.compile.check(COLUMNS.keys() - text, text)
        except UsageError as error:
            raise UsageError(f"compile.{error}", ("compile", *error.key)) from error

    def check_search(self, given: SearchOptions, usual: SearchOptions) -> None:
        """Refuse a change of search options that the kind does not use. A joint model uses those of any part."""
        matchers = [part.matcher for part in self.parts or (self,)]
        unused = frozenset.intersection(*map(unused_options, matchers))
        for name in sorted(unused):
            if (value := getattr(given, name)) != (kept := getattr(usual, name)):
                problem = f"search.{name} is {json.dumps(value)}, which a {self.name} model does not use"
                if self.parts:
                    used = ", ".join(sorted(frozenset().union(*OWN_OPTIONS.values()) - unused))
                    names = ", ".join(part.name for part in self.parts)
                    problem = f"search.{name} is {json.dumps(value)}, which no part uses ({names}); these use {used}"
                raise UsageError(f"{problem}; expected {json.dumps(kept)}, as it was", ("search", name))

    def _refuse_unused_demand(self, options: Any) -> None:
        """Refuse options of rules on demand for a model with a rule table."""
        usual = self.options().demand
        for each in dataclasses.fields(usual):
            if (given := getattr(options.demand, each.name)) != getattr(usual, each.name):
                problem = f"demand.{each.name} is {given!r}, which a model with a rule table does not use"
                raise UsageError(f"{problem}; expected on_demand=true (--on-demand)", ("demand", each.name))

    def extraction(self, options: Any) -> Any:
        """Return the extractor's options, with the values that this kind fixes. Other values for these are an error."""
        given, default = options.extract, type(options.extract)()
        for name, value in self.fixed.items():
            if getattr(given, name) not in (getattr(default, name), value):
                raise UsageError(f"extract.{name} is {getattr(given, name)!r}; the rules of {self.name} have {value!r}")
        return dataclasses.replace(given, **self.fixed)

    def pair_needs(self, options: Any) -> Needs:
        """Return the parts of sentence pairs that training with these options needs."""
        given = {f.name: getattr(options, f.name) for f in dataclasses.fields(Needs) if hasattr(options, f.name)}
        return dataclasses.replace(self.needs, **given)

    @property
    def forests(self) -> bool:
        """Whether rules match forests. If so, a forest can come together with a lattice of its words."""
        return self.matcher is match_forests

    @property
    def parses(self) -> bool:
        """Whether the kind translates parses. If so, it translates plain words only as a fallback."""
        return "source" not in self.translates

    def prepare(self, value: Any) -> Source:
        """Convert a sentence or parse to the input of the decoder.

        Trees become forests. Failed parses become words or nothing.
        """
        if isinstance(value, LatticeForest):
            parse = self.prepare(value.forest)
            return LatticeForest(parse, value.lattice) if isinstance(parse, ParseForest) else parse
        if not isinstance(value, ParseForest | Tree):
            return cast("Source", value)
        forest = as_forest(value, self.needs.source == "best")  # one without a parse has words
        if forest is not None:
            return forest
        return Dependency([], [], []) if self.needs.source == "dependency" else ""

    def read(self, path: Path, format: str | None, lattices: Path | None = None) -> Iterator[Source]:
        """Read a file to translate: parses in the form that the kind needs, or one sentence per line without a parse.

        Kinds that translate sentences translate lattices, too. Forest kinds accept `lattices` of the forests' words.
        """
        holds = dict.fromkeys(each for name in self.translates if is_parsed(name) for each in Corpus.holds(name))
        holds |= {} if self.parses else {Lattice: None}
        sources = read_sources(path, format, *holds)
        return map(self.prepare, sources if lattices is None else self._with_lattices(path, sources, lattices))

    def _with_lattices(self, path: Path, sources: Iterator[Any], lattices: Path) -> Iterator[Any]:
        """Yield forests together with lattices of their words. Both files have the same order."""
        if not self.forests:
            raise UsageError(f"{lattices} has lattices of forests' words; a {self.name} model translates no forests")
        for number, (source, lattice) in enumerate(zip_longest(sources, read(lattices)), 1):
            if source is None or lattice is None:
                longer, shorter = (lattices, path) if source is None else (path, lattices)
                raise FormatError(str(shorter), number, f"ends; expected a record for each of {longer}")
            forest = as_forest(source) if isinstance(source, Tree) else source
            if forest is None or (isinstance(forest, ParseForest) and not forest.words):
                yield source  # a failed parse has no words to vary
                continue
            if not isinstance(forest, ParseForest) or not isinstance(lattice, Lattice):
                raise FormatError(str(lattices), number, "stands beside no forest; expected forests and lattices")
            try:
                yield LatticeForest(forest, lattice)
            except ValueError as error:
                raise FormatError(str(lattices), number, str(error)) from error
