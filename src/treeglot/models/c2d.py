"""Constituency forests to strings and to dependency trees (the c2d paper): the rule sets of its table 2, and trees."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from treeglot.base.errors import UsageError
from treeglot.base.files import write_binary
from treeglot.base.options import name_or_file, option
from treeglot.decode import SearchOptions, Setup, Source, match_forests
from treeglot.models.dependency_models import WORDS_AND_TAGS, compile_models, load_models
from treeglot.models.kind import Corpus, Kind, Work, read_sources
from treeglot.models.parallel import (
    TreeCounts,
    aligned_words,
    parses,
    source_forests,
    target_dependencies,
)
from treeglot.rules import (
    RULE_SETS,
    CompileOptions,
    DuckDB,
    Extraction,
    GhkmOptions,
    ScoreOptions,
    as_forest,
    bitext,
    extract_ghkm,
    rule_kinds,
)
from treeglot.syntax import Dependency, ParseForest, Tree, head_style, heads

HEADS = "source.heads"

# The features of the c2d page, "Model": λ9 to λ13 (λ1 is their common scale), then λ2, λ5, λ7, λ8 and what it takes
# to translate any input; for trees λ3, λ4 and λ6. Phrases, whose root is X, are told from other rules by one more: what
# P(r | root) takes from them is too much. The values are where tuning starts.
RULE_WEIGHTS = {
    "p_target_given_source": 0.2,
    "p_source_given_target": 0.2,
    "p_rule_given_root": 0.05,
    "lex_source_given_target": 0.1,
    "lex_target_given_source": 0.1,
    "lhs=X": 0.0,
}
STRING_WEIGHTS = {
    "lm": 0.5,
    "parse": 0.1,
    "rule_penalty": -0.1,
    "word_penalty": 1.0,
    "pseudo": -1.0,
    "glue": -1.0,
    "unknown": -10.0,
}
TREE_WEIGHTS = {"dlm_words": 0.1, "dlm_tags": 0.1, "ill_formed": -0.5, "word_penalty": 1.6}  # both models cost words


@dataclass(frozen=True)
class ForestModelOptions:
    """How a model of forests is trained and searched. Its kind says which rules and phrases it has."""

    extract: GhkmOptions = option(GhkmOptions(), "how rules are taken from a forest and its translation")
    score: ScoreOptions = option(ScoreOptions(), "how rules are scored and pruned")
    search: SearchOptions = option(SearchOptions(), "how forests are translated")
    lm_order: int = option(4, "words in the language model's longest n-grams (the c2d paper's)")
    source_heads: str = name_or_file(
        "chinese", "head table of the source language, by name or file, for pseudo rules", heads.names
    )
    target_heads: str = name_or_file(
        "english", "head table of the target language, by name or file, for --target-trees", heads.names
    )
    target_style: str = option("table", "where dependencies depart from it: table, johansson-nugues, content, …")
    skip_bad: bool = option(False, "leave out pairs whose parses have other words than the text, and count them")


def _trees(
    tags: bool, corpus: Corpus, options: ForestModelOptions, counts: TreeCounts | None = None
) -> Iterator[Dependency]:
    table, style = options.target_heads, options.target_style
    return target_dependencies(corpus, table, style, tags=tags, skip_bad=options.skip_bad, counts=counts)


def _extract(
    rules: str, best: bool, trees: bool, corpus: Corpus, folder: Path, options: ForestModelOptions, work: Work
) -> Extraction:
    chosen, seen = _rule_set(rules, options.extract), TreeCounts()
    pairs = bitext(aligned_words(corpus, as_parsed=seen))
    work.report(f"{len(pairs):,} sentence pairs")
    extraction = extract_ghkm(
        pairs,
        source_forests(corpus, best),
        folder,
        chosen,
        dependencies=_trees(trees, corpus, options, seen) if chosen.well_formed else None,
        file=str(parses(corpus, "source")),
        skip_bad=options.skip_bad,
        threads=work.threads,
        memory=work.memory // 2,
    )
    seen.say(work)
    kinds = rule_kinds(extraction, DuckDB(work.threads, work.memory, folder))
    work.report(f"{kinds.fragments:,} different rules of fragments, {kinds.phrases:,} phrases")
    path = extraction.folder / "extraction.json"
    facts = json.loads(path.read_text()) | {"different": dataclasses.asdict(kinds)}
    with write_binary(path) as stream:
        stream.write(json.dumps(facts, indent=1).encode() + b"\n")
    return extraction


def _rule_set(name: str, given: GhkmOptions) -> GhkmOptions:
    """The kind's rules, within the limits that were given."""
    fixed = {field: getattr(RULE_SETS[name], field) for field in ("well_formed", "structure", "phrases")}
    for field, value in fixed.items():
        if getattr(given, field) not in (getattr(GhkmOptions(), field), value):
            raise UsageError(f"extract.{field} is {getattr(given, field)!r}; the rules of {name} have {value!r}")
    return dataclasses.replace(given, **fixed)


def _judge(rules: str, options: ForestModelOptions) -> None:
    _rule_set(rules, options.extract).limits()
    heads.load(options.source_heads)
    heads.load(options.target_heads)
    head_style(options.target_style)


def _more(trees: bool, corpus: Corpus, folder: Path, options: ForestModelOptions, work: Work) -> None:
    """The source language's head table and, for `trees`, the dependency models of the target side."""
    with write_binary(folder / HEADS) as stream:
        stream.write(heads.load(options.source_heads).text.encode())
    if trees:
        compile_models(WORDS_AND_TAGS, _trees(trees, corpus, options), folder, work)


def _setup(trees: bool, folder: Path) -> Setup:
    models = load_models(WORDS_AND_TAGS, folder) if trees else ()
    return match_forests(heads.load(folder / HEADS), models)


def _read(best: bool, path: Path, format: str | None) -> Iterator[Source]:
    """Forests, or trees; sentences are translated without a parse."""
    for value in read_sources(path, format, ParseForest, Tree):
        if isinstance(value, str):
            yield value
        else:  # a forest without a parse has words
            forest = as_forest(value, best)
            yield "" if forest is None else forest


def _kind(name: str, summary: str, rules: str, *, trees: bool = False, best: bool = False) -> Kind:
    weights = RULE_WEIGHTS | STRING_WEIGHTS | (TREE_WEIGHTS if trees else {})
    well_formed = RULE_SETS[rules].well_formed
    return Kind(
        name=name,
        summary=summary,
        options=ForestModelOptions,
        weights=weights,
        needs=("source_trees|source_forests", "alignments", *(["target_trees|target_dependencies"] * well_formed)),
        takes=("target_trees", "target_dependencies"),
        translates=("source_trees", "source_forests") if best else ("source_forests", "source_trees"),
        extract=partial(_extract, rules, best, trees),
        compile=CompileOptions(features=tuple(RULE_WEIGHTS)),
        more=partial(_more, trees),
        setup=partial(_setup, trees),
        read=partial(_read, best),
        judge=partial(_judge, rules),
    )


C2D_KINDS = (
    _kind("c2s", "forests to strings", "c2s"),
    _kind("c2s-wf", "forests to strings, well-formed rules and phrases alone", "c2s-wf"),
    _kind("c2s-wf-s2s", "forests to strings, well-formed rules, all phrases", "c2s-wf-s2s"),
    _kind("c2d-s2d", "forests to dependency trees, well-formed phrases alone", "c2d-s2d", trees=True),
    _kind("c2d", "forests to dependency trees", "c2d", trees=True),
    _kind("t2s", "one-best trees to strings", "c2s", best=True),
)
