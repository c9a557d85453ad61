"""Dependency trees to strings (Xie et al. 2011), and augmented with phrases on parts of relations (Xie et al. 2014)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from treeglot.base.files import write_binary
from treeglot.base.options import name_or_file, option
from treeglot.decode import SearchOptions, Setup, Source, match_dependents
from treeglot.models.kind import Corpus, Kind, Work, read_sources
from treeglot.models.parallel import TreeCounts, aligned_words, source_dependencies
from treeglot.rules import Extraction, HeadDependentsOptions, ScoreOptions, as_forest, bitext, extract_dependents
from treeglot.syntax import Dependency, ParseForest, Tree, heads

HEADS = "source.heads"
FAILED = Dependency([], [], [])  # a parse without words

# The seven features of the dep2str page, and what it takes to translate any input. The values are where tuning starts:
# about what MERT made of Hiero's for dep2str on Chinese-English, dev; from Hiero's own, tuning the augmented model
# ends in a poorer place (bench/RESULTS.md).
WEIGHTS = {
    "p_target_given_source": 0.4,
    "p_source_given_target": 0.3,
    "lex_target_given_source": 0.1,
    "lex_source_given_target": 0.2,
    "lm": 0.5,
    "word_penalty": 0.9,
    "rule_penalty": 0.3,
    "pseudo": -1.0,
    "glue": -1.0,
    "unknown": -10.0,
}
# The four of phrases on structures.
PHRASE_WEIGHTS = {f"phrase_{name}": weight for name, weight in WEIGHTS.items() if name.startswith(("p_", "lex_"))}


@dataclass(frozen=True)
class Dep2strOptions:
    """How a dependency-to-string model is trained and searched. The settings of search and rules are the paper's."""

    extract: HeadDependentsOptions = option(HeadDependentsOptions(), "which rules and phrases are taken from a pair")
    score: ScoreOptions = option(ScoreOptions(targets_per_source=100), "how rules are scored and pruned")
    search: SearchOptions = option(
        SearchOptions(pop_limit=200, beam=200, threshold=6.9, per_source=100), "how dependency trees are translated"
    )
    lm_order: int = option(4, "words in the language model's longest n-grams (the paper's)")
    # 的 and 地 as leaves, as in Stanford's dependencies (the paper uses Stanford's parser): 0.5 and 0.7 BLEU on
    # Chinese-English, dev, untuned, more than with them as heads (bench/RESULTS.md).
    source_heads: str = name_or_file(
        "chinese-particles", "head table of the source language, by name or file, for trees and forests", heads.names
    )
    skip_bad: bool = option(False, "leave out trees whose words are not the text's, and count them")


def _extract(corpus: Corpus, folder: Path, options: Dep2strOptions, work: Work) -> Extraction:
    seen = TreeCounts()
    pairs = bitext(aligned_words(corpus, as_parsed=seen))
    work.report(f"{len(pairs):,} sentence pairs")
    trees = list(source_dependencies(corpus, options.source_heads, skip_bad=options.skip_bad, counts=seen))
    seen.say(work, "source")
    return extract_dependents(pairs, trees, folder, options.extract, threads=work.threads, memory=work.memory // 2)


def _judge(options: Dep2strOptions) -> None:
    options.extract.limits()
    heads.load(options.source_heads)


def _more(corpus: Corpus, folder: Path, options: Dep2strOptions, work: Work) -> None:
    with write_binary(folder / HEADS) as stream:
        stream.write(heads.load(options.source_heads).text.encode())


def _setup(augmented: bool, folder: Path) -> Setup:
    return match_dependents(augmented, heads.load(folder / HEADS))


def _read(path: Path, format: str | None) -> Iterator[Source]:
    """Dependency trees, trees or forests; sentences are translated without a tree."""
    for value in read_sources(path, format, Dependency, ParseForest, Tree):
        if isinstance(value, str | Dependency):
            yield value
        else:  # a forest without a parse has words
            forest = as_forest(value)
            yield FAILED if forest is None else forest


def _kind(name: str, summary: str, augmented: bool) -> Kind:
    return Kind(
        name=name,
        summary=summary,
        options=Dep2strOptions,
        weights=WEIGHTS | (PHRASE_WEIGHTS if augmented else {}),
        needs=("source_dependencies|source_trees|source_forests", "target", "alignments"),
        translates=("source_dependencies", "source_trees", "source_forests"),
        extract=_extract,
        more=_more,
        setup=partial(_setup, augmented),
        read=_read,
        judge=_judge,
    )


DEP2STR_KINDS = (
    _kind("dep2str", "dependency trees to strings", augmented=False),
    _kind("dep2str-aug", "dependency trees to strings, with phrases on parts of relations", augmented=True),
)
