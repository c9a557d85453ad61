"""Creates the dataclass of the options of a kind of model."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from treeglot.base.options import Options, option, options_of
from treeglot.decode import SearchOptions
from treeglot.decode.context import MOST_WORDS
from treeglot.lm.classes import MOST_CLASSES
from treeglot.lm.train import HIGHEST_ORDER
from treeglot.lm.train_dependency import DependencyLmOptions
from treeglot.neural.options import JointOptions
from treeglot.rules import EXTRACTORS
from treeglot.rules.on_demand import DemandOptions
from treeglot.rules.sql import ScoreOptions
from treeglot.rules.table import CompileOptions
from treeglot.syntax import heads


@dataclasses.dataclass(frozen=True)
class ClassLmOptions(Options):
    """Options of a second language model over classes of words. Its feature is `lm_classes`."""

    classes: int = option(0, "classes of words; 0: no such model", least=0, most=MOST_CLASSES)
    order: int = option(5, "classes in its longest n-grams", least=1, most=HIGHEST_ORDER)
    rounds: int = option(20, "rounds of putting words into classes, at most", least=1)


@dataclasses.dataclass(frozen=True)
class ModelOptions(Options):
    """All options of models except those of extractors. Each kind has those of them that it uses."""

    score: ScoreOptions = option(ScoreOptions(), "how rules are scored and pruned")
    search: SearchOptions = option(SearchOptions(), "how input is translated")
    lm_order: int = option(5, "words in the language model's longest n-grams", least=1, most=HIGHEST_ORDER)
    class_lm: ClassLmOptions = option(ClassLmOptions(), "a second language model, over classes of words")
    dependency_lm: DependencyLmOptions = option(DependencyLmOptions(), "the dependency models of the target side")
    context_words: int = option(
        0,
        "most frequent words of each side for context features, left=c|f→e and right=f→e|c; others are <unk>; 0: no "
        "such features",
        least=0,
        most=MOST_WORDS,
    )
    neural: bool = option(False, "train a neural joint model, too (docs/neural.md)")
    neural_lexical: bool = option(False, "train a lexical network, too, with the same options (docs/neural.md)")
    network: JointOptions = option(JointOptions(), "what these networks see and how they are trained")
    compile: CompileOptions = option(CompileOptions(), "which features rules get, and which rules are left out")
    on_demand: bool = option(
        False, "index the sentence pairs, and find rules when sentences arrive, instead of a table (docs/scale.md)"
    )
    demand: DemandOptions = option(DemandOptions(), "how much of the sentence pairs is looked at to find rules")
    provenance: bool = option(False, "keep the sentence pairs that each rule comes from (docs/why.md)")
    skip_bad: bool = option(False, "leave out parses whose words are not the text's, and count them")
    source_heads: str = option("chinese", "head table of the source language, by name or file", names=heads.names)
    target_heads: str = option(
        "english", "head table of the target language, by name or file, for --target-trees", names=heads.names
    )
    target_style: str = option("table", "where dependencies depart from it: table, johansson-nugues, content, …")


def model_options(
    kind: str, extractor: str, unused: set[str], defaults: Mapping[str, Any], papers: Mapping[str, str]
) -> type[Any]:
    """Create the options of a kind: those of its extractor and of `ModelOptions`, without `unused` and with its
    defaults.

    >>> made = model_options("hiero", "hiero", {"target_style"}, {"lm_order": 3}, {})
    >>> made().lm_order, hasattr(made(), "extract"), hasattr(made(), "target_style")
    (3, True, False)
    """
    rules, _ = EXTRACTORS[extractor]
    fields: list[Any] = [
        ("extract", rules, option(defaults.get("extract", rules()), "which rules are taken from a sentence pair"))
    ]
    declared = {f.name: f.metadata for f in dataclasses.fields(ModelOptions)}
    for o in options_of(ModelOptions):
        if o.name not in unused:
            metadata = {**declared[o.name], "paper": papers.get(o.name, "")}
            default = defaults.get(o.name, o.default)
            fields.append((o.name, o.type, dataclasses.field(default=default, metadata=metadata)))
    return dataclasses.make_dataclass(f"{kind}-options", fields, bases=(Options,), frozen=True)
