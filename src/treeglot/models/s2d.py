"""Strings to dependency trees (Shen et al. 2008; the s2d page): Hiero's rules with structures on their target sides."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from treeglot._core import FeatureSet, Matcher
from treeglot.base.options import name_or_file, option
from treeglot.decode import SearchOptions, Setup, match_strings
from treeglot.models.dependency_models import WORDS, WORDS_AND_TAGS, compile_models, load_models
from treeglot.models.hiero import WEIGHTS
from treeglot.models.kind import Corpus, Kind, Work
from treeglot.models.parallel import TreeCounts, aligned_words, target_dependencies
from treeglot.rules import Extraction, HieroOptions, ScoreOptions, bitext, extract, target_structures
from treeglot.syntax import Dependency, head_style, heads

if TYPE_CHECKING:
    from treeglot.lm.dependency import Unit

# Beside Hiero's features. `ill_formed` counts a floating structure in head position and what glue leaves apart. Every
# dependency model costs words, so a word is worth more than in Hiero.
WORD_WEIGHTS = WEIGHTS | {"word_penalty": 1.3, "dlm_words": 0.05, "ill_formed": -0.1}
TAG_WEIGHTS = WORD_WEIGHTS | {"word_penalty": 1.4, "dlm_tags": 0.05}


@dataclass(frozen=True)
class StringDependencyOptions:
    """How a string-to-dependency model is trained and searched."""

    extract: HieroOptions = option(HieroOptions(), "which rules are taken from a sentence pair")
    strict: bool = option(True, "well-formed structures as Shen et al. (2008) define them; else as for c2d")
    # As in Hiero, whose rules these are.
    score: ScoreOptions = option(ScoreOptions(smoothing="kneser-ney"), "how rules are scored and pruned")
    search: SearchOptions = option(SearchOptions(), "how sentences are translated")
    lm_order: int = option(5, "words in the language model's longest n-grams")
    target_heads: str = name_or_file(
        "english", "head table of the target language, by name or file, for --target-trees", heads.names
    )
    target_style: str = option("table", "where dependencies depart from it: table, johansson-nugues, content, …")
    skip_bad: bool = option(False, "leave out trees whose words are not the text's, and count them")


def _trees(
    tags: bool, corpus: Corpus, options: StringDependencyOptions, counts: TreeCounts | None = None
) -> Iterator[Dependency]:
    table, style = options.target_heads, options.target_style
    return target_dependencies(corpus, table, style, tags=tags, skip_bad=options.skip_bad, counts=counts)


def _extract(tags: bool, corpus: Corpus, folder: Path, options: StringDependencyOptions, work: Work) -> Extraction:
    seen = TreeCounts()
    pairs = bitext(aligned_words(corpus))
    work.report(f"{len(pairs):,} sentence pairs")
    structures = target_structures(pairs, _trees(tags, corpus, options, seen), strict=options.strict)
    seen.say(work)
    extraction = extract(
        pairs, folder, options.extract, labels=structures, threads=work.threads, memory=work.memory // 2
    )
    counts = json.loads((folder / "extraction.json").read_text())["counts"]
    work.report(
        f"{counts['flat']:,} flat and {counts['gappy']:,} hierarchical rules taken; {counts['refused']:,} of "
        f"{counts['phrases']:,} phrases lost to ill-formed structures, {counts['unparsed']:,} sentences without a tree"
    )
    return extraction


def _judge(options: StringDependencyOptions) -> None:
    options.extract.limits()
    heads.load(options.target_heads)
    head_style(options.target_style)


def _more(
    models: Mapping[Unit, str], corpus: Corpus, folder: Path, options: StringDependencyOptions, work: Work
) -> None:
    compile_models(models, _trees("tags" in models, corpus, options), folder, work)


def _setup(models: Mapping[Unit, str], folder: Path) -> Setup:
    loaded = load_models(models, folder)

    def setup(features: FeatureSet, options: SearchOptions) -> Matcher:
        for model in loaded:
            features.add_dependency(model.core)
        return match_strings(features, options)

    return setup


def _kind(name: str, summary: str, weights: dict[str, float], models: Mapping[Unit, str]) -> Kind:
    return Kind(
        name=name,
        summary=summary,
        options=StringDependencyOptions,
        weights=weights,
        needs=("source", "target", "alignments", "target_trees|target_dependencies"),
        extract=partial(_extract, "tags" in models),
        more=partial(_more, models),
        setup=partial(_setup, models),
        judge=_judge,
    )


S2D_KINDS = (
    _kind("s2d", "strings to dependency trees, dependency model over words", WORD_WEIGHTS, WORDS),
    _kind("s2d-pos", "strings to dependency trees, dependency models over words and tags", TAG_WEIGHTS, WORDS_AND_TAGS),
)
