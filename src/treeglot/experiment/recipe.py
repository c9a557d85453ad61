"""Recipes are TOML files that name a corpus, how to prepare it, and the systems to compare."""

from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from treeglot.align.aligners import DEFAULT
from treeglot.align.symmetrize import SYMMETRIZATIONS
from treeglot.base.errors import FormatError, UsageError
from treeglot.base.files import PathLike
from treeglot.base.options import (
    MOST_SEED,
    Options,
    file_options,
    in_file,
    load_options,
    option,
    required,
    unknown,
    with_values,
)
from treeglot.corpus import Corpus
from treeglot.corpus.files import MORE_LINKS, SourceFiles
from treeglot.decode.consensus import ConsensusOptions
from treeglot.experiment.text import TextRecipe
from treeglot.lm.train import HIGHEST_ORDER
from treeglot.models import Kind
from treeglot.models.folder import check_lm_names
from treeglot.models.kinds import find_kind
from treeglot.neural.options import JointOptions
from treeglot.parse.adapters import ADAPTERS
from treeglot.parse.train import MOST_CYCLES
from treeglot.tune import LoopOptions


@dataclass(frozen=True, kw_only=True)
class TestSet(SourceFiles):
    """A test set: sentences to translate, and their references."""

    __test__ = False  # no test of pytest's

    references: tuple[Path, ...] = required("their translations, one file or more")
    same_words: bool = option(True, "whether parses with other words than the sentences are refused; else a warning")

    def __post_init__(self) -> None:
        """Refuse a test set without references."""
        super().__post_init__()
        self.expect("source")
        if not self.references:
            raise UsageError("references is empty; expected at least one file", ("references",))


@dataclass(frozen=True)
class AlignSettings(Options):
    """Settings of a recipe for aligning words."""

    method: str = option(DEFAULT, "sampler, hmm or eflomal")
    symmetrization: str = option("grow-diag-final-and", "how the two directions become one")
    options: dict[str, Any] = option({}, "options of the aligner")
    constituent_cost: float = option(
        1.0,
        "what a constituent of the source costs that links break, in nats, for kinds with rules of source forests; "
        "0: none looked at",
        least=0,
    )

    def __post_init__(self) -> None:
        """Refuse the name of an unknown symmetrisation."""
        super().__post_init__()
        if self.symmetrization not in SYMMETRIZATIONS:
            raise UsageError(unknown("symmetrisation", self.symmetrization, SYMMETRIZATIONS), ("symmetrization",))


@dataclass(frozen=True)
class ParserSettings(Options):
    """Settings for a parser of one language. It makes the parses that the corpus and the test sets lack."""

    trees: Path | None = option(None, "the treebank that it is trained on")
    grammar: Path | None = option(None, "instead of a treebank: the folder of a grammar, trained here or Berkeley's")
    adapter: str = option("", "instead of both: another package's parser, ADAPTER:MODEL such as udpipe:FILE")
    cycles: int = option(2, "cycles of splitting its labels", least=0, most=MOST_CYCLES)
    prune: float = option(10.0, "log margin of forests' edges below the best tree", least=0, infinite=True, paper="c2d")
    signature: Literal["english", "german", "chinese"] = option("chinese", "how unknown words are put into classes")

    def __post_init__(self) -> None:
        """Refuse settings that name no parser, or two."""
        super().__post_init__()
        if sum(map(bool, (self.trees, self.grammar, self.adapter))) != 1:
            raise UsageError("expected one of trees, grammar and adapter")
        adapter, colon, model = self.adapter.partition(":")
        if adapter and (adapter not in ADAPTERS or not colon or not model):
            known = f"ADAPTER:MODEL, of these adapters: {', '.join(sorted(ADAPTERS))}"
            raise UsageError(f"adapter is {self.adapter!r}; expected {known}", ("adapter",))


@dataclass(frozen=True)
class LmSettings(Options):
    """Settings for the n-gram models that all systems use."""

    order: int = option(5, "words in the longest n-grams", least=1, most=HIGHEST_ORDER)
    text: Path | None = option(None, "what it is trained on; default: the target sentences")
    more: dict[str, Path] = option({}, "texts of further models by name; the features are lm_NAME")

    def __post_init__(self) -> None:
        """Refuse names of models that cannot be part of a feature's name."""
        super().__post_init__()
        try:
            check_lm_names(self.more)
        except UsageError as error:
            raise UsageError(str(error).replace("lms.", "more.", 1), ("more", *error.key[1:])) from error


@dataclass(frozen=True)
class TuneSettings(LoopOptions):
    """Settings of a recipe for tuning the weights."""

    method: Literal["mert", "mira", "pro", "none"] = option("mert", "how weights are found")
    options: dict[str, Any] = option({}, "options of the method")


@dataclass(frozen=True)
class System(Options):
    """One system of a recipe: a kind of model with its options."""

    name: str = required("its name in tables and folders")
    kind: str = required("the kind of model, such as hiero")
    options: dict[str, Any] = option({}, "options of the model: tables extract, score, search")
    corpus: Corpus = option(Corpus(), "files that it is trained on instead of the corpus's")
    tune: TuneSettings | None = option(None, "how its weights are tuned, if not as the others'")

    def __post_init__(self) -> None:
        """Refuse a system with its own sentences, because all systems are trained on the same corpus."""
        super().__post_init__()
        for name in ("source", "target"):
            if getattr(self.corpus, name) is not None:
                raise UsageError(f"corpus.{name}: all systems have the sentences of [corpus]", ("corpus", name))


@dataclass(frozen=True)
class CombinedSystems(Options):
    """A combination of systems: it chooses the texts that their k-best lists agree on (`treeglot combine`)."""

    name: str = required("its name in tables and folders")
    systems: tuple[str, ...] = required("the names of the combined systems, two or more")
    size: int = option(200, "hypotheses of a sentence from each system", least=1)
    options: ConsensusOptions = option(ConsensusOptions(), "options of the consensus (docs/decoding.md)")

    def __post_init__(self) -> None:
        """Refuse a combination of one system, or one that names a system twice."""
        super().__post_init__()
        if len(self.systems) < 2:
            raise UsageError(f"systems has {len(self.systems)}; expected two systems or more", ("systems",))
        for place, name in enumerate(self.systems):
            if name in self.systems[:place]:
                raise UsageError(f"systems names {name!r} twice; expected different systems", ("systems",))


@dataclass(frozen=True)
class Recipe(Options):
    """The whole content of a recipe."""

    corpus: Corpus = required("the training corpus")
    system: tuple[System, ...] = required("the systems")
    dev: TestSet | None = option(None, "what weights are tuned on; without it, they are not")
    test: dict[str, TestSet] = option({}, "what systems are tested on, by name")
    title: str = option("", "the report's title")
    baseline: str = option("", "the system that others are tested against; default: the first")
    lowercase: bool = option(False, "BLEU without regard to case")
    text: TextRecipe | None = option(None, "languages, and how text becomes words; without it, models take words")
    align: AlignSettings = option(AlignSettings(), "how words are aligned, if no alignments are given")
    parser: ParserSettings | None = option(None, "a parser of the source language")
    target_parser: ParserSettings | None = option(None, "a parser of the target language, for the training corpus")
    lm: LmSettings = option(LmSettings(), "the n-gram model")
    neural: JointOptions | None = option(None, "a neural joint model that all systems have; without it, none")
    neural_lexical: JointOptions | None = option(None, "a lexical network that all systems have; without it, none")
    tune: TuneSettings = option(TuneSettings(), "how weights are tuned")
    seeds: tuple[int, ...] = option((), "seeds of tuning, instead of the one in tune; the report compares the means")
    combination: tuple[CombinedSystems, ...] = option((), "systems that are also combined")

    def __post_init__(self) -> None:
        """Refuse a corpus without text, duplicate names, and a baseline that names no system."""
        super().__post_init__()
        for place, seed in enumerate(self.seeds):
            if not 0 <= seed <= MOST_SEED or seed in self.seeds[:place]:
                problem = f"seeds has {seed}; expected different numbers, 0 to 2^63 - 1"
                raise UsageError(problem, ("seeds",))
        self.corpus.expect("source", "target", key=("corpus",))
        names = [system.name for system in self.system]
        if not names:
            raise UsageError("there is no system; expected at least one [[system]]")
        both = [("system", place, name) for place, name in enumerate(names)]
        both += [("combination", place, one.name) for place, one in enumerate(self.combination)]
        for number, (part, place, name) in enumerate(both):
            if any(name == other for _, _, other in both[:number]):
                raise UsageError(f"there are two systems {name!r}", (part, place, "name"))
            if not _is_name(name):
                problem = f"{name!r} is no name of a system; expected letters, digits, -, _, + and ."
                raise UsageError(problem, (part, place, "name"))
            if name == "reference":  # inputs of steps that begin so are references
                problem = "a system is called 'reference', as the references of test sets are; expected another name"
                raise UsageError(problem, (part, place, "name"))
        self._check_combinations(names)
        self._check_networks()
        for name in self.test:
            if re.search(r" seed \d+$", name):
                problem = f"the test set {name!r} ends as the steps of a seed do; expected a name without ' seed N'"
                raise UsageError(problem, ("test", name))
            if not _is_name(name.replace(" ", "_")):
                problem = f"{name!r} is no name of a test set; expected letters, digits, blanks, -, _, + and ."
                raise UsageError(problem, ("test", name))
        if self.baseline and self.baseline not in names:
            raise UsageError(unknown("system", self.baseline, names), ("baseline",))
        if self.dev is None:
            tuned = [s.name for s in self.system if self.tuner(s).method != "none"]
            if tuned:
                raise UsageError(f"there is no [dev] to tune {tuned[0]!r} on; expected one, or tune method 'none'")

    def _check_combinations(self, names: Sequence[str]) -> None:
        """Refuse combinations of unknown systems, and combinations of raw text, because they work on words."""
        for place, one in enumerate(self.combination):
            for name in one.systems:
                if name not in names:
                    problem = f"combination {one.name!r}: {unknown('system', name, names)}"
                    raise UsageError(problem, ("combination", place, "systems"))
        if self.combination and self.raw:
            problem = "combinations are of words, and the files of [text] are raw; expected text.tokenised = true"
            raise UsageError(problem, ("combination", 0, "name"))

    def _check_networks(self) -> None:
        """Refuse networks that not all systems can use."""
        for name, network in (("neural", self.neural), ("neural_lexical", self.neural_lexical)):
            for option_name in ("heads", "parse") if network is not None else ():
                if getattr(network, option_name):
                    problem = f"{name}.{option_name} is true, and not all kinds can use such a network"
                    raise UsageError(f"{problem}; expected it in options.network of a system", (name, option_name))
        if self.neural is not None and self.neural.lexical:
            raise UsageError("neural.lexical is true; expected a table [neural_lexical]", ("neural", "lexical"))
        for place, system in enumerate(self.system):
            for name in self.networks:
                if system.options.get(name):
                    problem = f"system {system.name!r}: options.{name} is true, and all systems have the network of"
                    raise UsageError(f"{problem} [{name}]; expected one of the two", ("system", place, "options", name))

    @property
    def networks(self) -> dict[str, JointOptions]:
        """The networks that all systems use, by the names of their tables in the recipe."""
        lexical = self.neural_lexical and dataclasses.replace(self.neural_lexical, lexical=True)
        both = {"neural": self.neural, "neural_lexical": lexical}
        return {name: network for name, network in both.items() if network is not None}

    def tuner(self, system: System, place: int = 0) -> TuneSettings:
        """Return the tuner settings of a system, with one of the recipe's seeds."""
        settings = system.tune or self.tune
        return dataclasses.replace(settings, seed=self.seeds[place]) if self.seeds else settings

    def tunings(self, system: System) -> list[str]:
        """Return the suffixes of step names, one for each tuning. A system without tuning has a single one."""
        seeds = self.seeds if self.tuner(system).method != "none" else ()
        return ["", *(f" seed {seed}" for seed in seeds[1:])]

    @property
    def raw(self) -> bool:
        """Whether the files contain raw text, which must be tokenised."""
        return self.text is not None and not self.text.tokenised


def narrowed(recipe: Recipe, systems: Collection[str], seeds: Sequence[int]) -> Recipe:
    """Return the recipe with only these systems and seeds, the baseline and their combinations. None keeps all."""
    names = [system.name for system in recipe.system]
    for name in systems:
        if name not in names:
            raise UsageError(unknown("system", name, names))
    wanted = {*systems, recipe.baseline or names[0]} if systems else {*names}
    kept = tuple(system for system in recipe.system if system.name in wanted)
    combined = tuple(one for one in recipe.combination if wanted.issuperset(one.systems))
    return dataclasses.replace(recipe, system=kept, combination=combined, seeds=tuple(seeds) or recipe.seeds)


def _is_name(text: str) -> bool:
    return bool(text) and all(c.isalnum() or c in "-_.+" for c in text)


def load_recipe(path: PathLike, data: PathLike | Sequence[PathLike] | None = None) -> Recipe:
    """Read a recipe. Its paths are looked up in the folders of `data`, in order, and then beside it."""
    place = Path(path)
    recipe = load_options(Recipe, place)
    given = [data] if isinstance(data, str | os.PathLike) else list(data or [place.parent])
    folders = [Path(folder) for folder in given]
    for folder in folders:
        if not folder.is_dir():
            raise FormatError(str(folder), 0, f"is not a folder; expected the one with the files of {place}")
    systems = []
    for number, system in enumerate(recipe.system):
        try:
            systems.append(dataclasses.replace(system, options=_placed_options(system, folders)))
        except UsageError as error:
            problem = UsageError(f"system {system.name!r}: {error}", ("system", number, *error.key))
            raise in_file(place, problem) from error
    if not recipe.test:
        raise in_file(place, UsageError("there is nothing to test on; expected at least one [test.NAME]"))
    align = recipe.align
    if lexicon := align.options.get("lexicon"):
        options = {**align.options, "lexicon": str(_placed(Path(lexicon), folders))}
        align = dataclasses.replace(align, options=options)
    placed: Recipe = _placed(dataclasses.replace(recipe, system=tuple(systems), align=align), folders)
    return placed


def _placed_options(system: System, folders: Sequence[Path]) -> dict[str, Any]:
    """Return a system's options, with full paths for the files that they name."""
    files = {}
    try:
        kind = find_kind(system.kind)
    except UsageError as error:
        raise UsageError(str(error), ("kind",)) from error
    for name, value in file_options(kind.options, system.options).items():
        path = _placed(Path(value), folders)
        if not path.is_file():
            wanted = f"a name that treeglot knows, or a file in {' or '.join(str(folder) for folder in folders)}"
            raise UsageError(f"options.{name} is {value!r}; expected {wanted}", ("options", *name.split(".")))
        files[name] = str(path)
    return with_values(system.options, files)


def _placed(value: Any, folders: Sequence[Path]) -> Any:
    if isinstance(value, Path):
        places = [folder / value for folder in folders]
        return next((path for path in places if path.exists()), places[0])
    if isinstance(value, tuple):
        return tuple(_placed(item, folders) for item in value)
    if isinstance(value, Mapping):
        return {name: _placed(item, folders) for name, item in value.items()}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.replace(
            value, **{f.name: _placed(getattr(value, f.name), folders) for f in dataclasses.fields(value)}
        )
    return value


def has_links(own: Collection[str]) -> bool:
    """Return whether a system has its own alignments, which it uses instead of those of the corpus."""
    return any(name == "alignments" or name.startswith(MORE_LINKS) for name in own)


def training_files(kind: Kind, given: Collection[str], own: Collection[str] = ()) -> list[str]:
    """Return the files that a kind of model is trained on. A system's own files override those of the corpus."""
    out = ["source", "target", "alignments"]
    if "posteriors" in (own if "alignments" in own else given):  # those of other links do not count
        out.append("posteriors")
    out += [name for name in (own if has_links(own) else given) if name.startswith(MORE_LINKS)]
    needed = {name for need in kind.files for name in need.split("|")}
    for need in (*kind.files, *(name for name in kind.optional if name not in needed)):
        names = sorted(
            need.split("|"),
            key=lambda name: (name not in own, kind.translates.index(name) if name in kind.translates else 99),
        )
        found = [name for name in names if name in given]
        if not found and need not in kind.optional:
            raise UsageError(f"a {kind.name} model is trained with {' or '.join(names)}; the corpus has none")
        if found and not set(names) & set(out):
            out.append(found[0])
    for name in own:
        if name not in out:
            raise UsageError(f"a {kind.name} model does not use {name}")
    files: dict[str, Any] = {name: Path() for name in out if not name.startswith(MORE_LINKS)}
    kind.check(Corpus(**files))
    return out


def translated_file(kind: Kind, given: Collection[str], name: str) -> str:
    """Return the file of a test set, or of dev, that a kind of model translates."""
    for file in kind.translates:
        if file in given:
            return file
    raise UsageError(f"a {kind.name} model translates {' or '.join(kind.translates)}; [{name}] has none")
