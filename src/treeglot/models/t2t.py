"""Source and target syntax in Hiero (Chiang 2010): exact, fuzzy and nested tree-to-tree rules, and SAMT."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from treeglot.base.options import option
from treeglot.decode import SearchOptions, Setup, match_labels, match_strings
from treeglot.models.hiero import WEIGHTS
from treeglot.models.kind import Corpus, Kind, Work
from treeglot.models.parallel import check_links
from treeglot.rules import (
    CompileOptions,
    Extraction,
    HieroOptions,
    ParsedBitext,
    ScoreOptions,
    TreePairOptions,
    extract,
    extract_tree_pairs,
    fuzzy_labels,
    parsed_bitext,
)
from treeglot.syntax import Alignment, Tree, read_parallel

# A match is worth something, a mismatch costs; all other syntax features begin at 0.
SYNTAX_WEIGHTS = WEIGHTS | {"match_f": 0.05, "nomatch_f": -0.05, "match_e": 0.05, "nomatch_e": -0.05}

# The expanded base set that all systems of the paper have (4.1).
EXPANDED = CompileOptions(indicators=("count_bin",), shapes=True, word_pairs=50)


# With labels that must match a span has hundreds of nodes, and rules without words match at all of them.
FEW_LABELS = SearchOptions(span_limit=20, label_limit=10, match_limit=100)

# Exact rules may have seven variables and no words: on a long sentence these match everywhere.
NARROW = replace(EXPANDED, max_scope=3)


@dataclass(frozen=True)
class TreeToTreeOptions:
    """What the models have in common. The distortion limit, `search.span_limit`, is the paper's."""

    score: ScoreOptions = option(ScoreOptions(smoothing="kneser-ney"), "how rules are scored and pruned")
    search: SearchOptions = option(SearchOptions(span_limit=20), "how sentences are translated")
    lm_order: int = option(5, "words in the language model's longest n-grams")
    compile: CompileOptions = option(EXPANDED, "what of the rules becomes a feature")
    skip_bad: bool = option(False, "leave out trees whose words are not the text's, and count them")


@dataclass(frozen=True)
class FuzzyModelOptions(TreeToTreeOptions):
    """How a model with Hiero's rules and categories is trained and searched."""

    extract: HieroOptions = option(HieroOptions(), "which rules are taken from a sentence pair")


@dataclass(frozen=True)
class SamtModelOptions(FuzzyModelOptions):
    """How a model with Hiero's rules and hard labels is trained and searched."""

    search: SearchOptions = option(FEW_LABELS, "how sentences are translated")


@dataclass(frozen=True)
class ExactModelOptions(TreeToTreeOptions):
    """How an exact tree-to-tree model is trained and searched."""

    extract: TreePairOptions = option(TreePairOptions(), "which rules are taken from a pair of trees")
    search: SearchOptions = option(FEW_LABELS, "how sentences are translated")
    compile: CompileOptions = option(NARROW, "what of the rules becomes a feature, and which are left out")


def parsed_pairs(corpus: Corpus) -> Iterator[tuple[list[str], list[str], Alignment, Tree | None, Tree | None]]:
    """The sentence pairs of a corpus with their trees, None on a side that has no file of them.

    A link that points outside is an error that names its line.
    """
    trees = [path for path in (corpus.source_trees, corpus.target_trees) if path is not None]
    links = corpus.file("alignments")
    text = ((corpus.file("source"), "text"), (corpus.file("target"), "text"), (links, "pharaoh"))
    for number, (source, target, alignment, *parses) in enumerate(read_parallel(*text, *trees), 1):
        check_links(alignment, source, target, links, number)
        source_tree = parses.pop(0) if corpus.source_trees is not None else None
        yield source, target, alignment, source_tree, parses.pop() if corpus.target_trees is not None else None


def _parsed(corpus: Corpus, options: TreeToTreeOptions, work: Work) -> ParsedBitext:
    files = str(corpus.source_trees), str(corpus.target_trees)
    parsed = parsed_bitext(parsed_pairs(corpus), files=files, skip_bad=options.skip_bad)
    for line in parsed.lines():
        work.report(line)
    return parsed


def _exact(corpus: Corpus, folder: Path, options: ExactModelOptions, work: Work) -> Extraction:
    parsed = _parsed(corpus, options, work)
    extraction = extract_tree_pairs(parsed, folder, options.extract, threads=work.threads, memory=work.memory // 2)
    counts = json.loads((folder / "extraction.json").read_text())["counts"]
    work.report(f"{counts['limited']:,} of {counts['nodes']:,} pairs of nodes have more rules than are taken")
    return extraction


def _fuzzy(
    corpus: Corpus,
    folder: Path,
    options: FuzzyModelOptions,
    work: Work,
    *,
    nesting: bool = False,
    hard: bool = False,
) -> Extraction:
    parsed = _parsed(corpus, options, work)
    labels = fuzzy_labels(parsed, nesting=nesting, hard=hard)
    return extract(
        parsed.pairs,
        folder,
        options.extract,
        labels=labels,
        seen=parsed.counts,
        threads=work.threads,
        memory=work.memory // 2,
    )


def _kind(name: str, summary: str, take: Callable[..., Extraction], options: type[Any], soft: bool = True) -> Kind:
    setup: Setup = match_labels if soft else match_strings
    needs = ("source", "target", "alignments", "target_trees")
    return Kind(
        name=name,
        summary=summary,
        options=options,
        weights=SYNTAX_WEIGHTS if soft else WEIGHTS,
        needs=(*needs, "source_trees") if soft else needs,
        takes=() if soft else ("source_trees",),  # hard labels are target categories alone
        extract=take,
        compile=EXPANDED,
        setup=lambda folder: setup,
    )


T2T_KINDS = (
    _kind("t2t-exact", "rules from pairs of subtrees, whose labels must match", _exact, ExactModelOptions),
    _kind("t2t-fuzzy", "Hiero's rules, their syntax as features", _fuzzy, FuzzyModelOptions),
    _kind(
        "t2t-fuzzy-nested",
        "the same from phrases that do not cross",
        partial(_fuzzy, nesting=True),
        FuzzyModelOptions,
    ),
    _kind(
        "samt",
        "Hiero's rules with target categories that must match",
        partial(_fuzzy, hard=True),
        SamtModelOptions,
        soft=False,
    ),
)
