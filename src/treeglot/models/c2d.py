"""Kinds that translate constituency forests to strings or dependency trees: the rule sets in table 2 of the paper."""

from __future__ import annotations

from dataclasses import replace

from treeglot.corpus import Needs
from treeglot.decode import SearchOptions
from treeglot.decode.matchers import match_forests
from treeglot.models.hiero import SMOOTHED
from treeglot.models.kind import Kind
from treeglot.rules.ghkm import RULE_SETS, GhkmOptions, rule_kinds
from treeglot.rules.table import CompileOptions

# The features of the c2d page, "Model": λ9 to λ13 (λ1 is their common scale), then λ2, λ5, λ7 and λ8. Trees have λ3, λ4
# and λ6. Other features make any input translatable. The root of phrases is X, and P(r | root) penalises them too much,
# so one more feature marks them. Tuning starts from these values.
RULES = {"p_target_given_source": 0.2, "p_source_given_target": 0.2, "p_rule_given_root": 0.05}
RULES |= {"lex_source_given_target": 0.1, "lex_target_given_source": 0.1, "lhs=X": 0.0}
STRINGS = RULES | {"lm": 0.5, "parse": 0.1, "rule_penalty": -0.1, "word_penalty": 1.0}
STRINGS |= {"pseudo": -1.0, "glue": -1.0, "unknown": -10.0}
TREES = STRINGS | {"dlm_words": 0.1, "dlm_tags": 0.1, "ill_formed": -0.5, "word_penalty": 1.6}  # both models cost words
FIXED = {name: {f: getattr(o, f) for f in ("well_formed", "structure", "phrases")} for name, o in RULE_SETS.items()}

# Hierarchical phrases on forest nodes, and phrases on neighbouring children: a back-off from fragments. With Kneser-Ney
# they gain 0.9 BLEU on Chinese-English, dev, untuned (bench/RESULTS.md). Half of the pops keep the time.
DEFAULTS = {
    "extract": GhkmOptions(sequences=True, max_nonterminals=2),
    "score": SMOOTHED,
    "search": SearchOptions(pop_limit=100),
    "lm_order": 4,
    "compile": CompileOptions(features=tuple(RULES)),
}
SOURCE = ("source_trees|source_forests", "alignments")
TARGET = ("target_trees", "target_dependencies")
C2S = Kind(
    name="c2s",
    summary="forests to strings",
    weights=STRINGS,
    extractor="ghkm",
    files=SOURCE,
    optional=TARGET,
    translates=("source_forests", "source_trees"),
    needs=Needs(source="forest"),
    fixed=FIXED["c2s"],
    matcher=match_forests,
    source_heads=True,
    defaults=DEFAULTS,
    papers={"lm_order": "c2d"},
    survey=rule_kinds,
    says="{different[fragments]:,} different rules of fragments, {different[phrases]:,} phrases",
)
T2S = replace(C2S, name="t2s", summary="one-best trees to strings", needs=Needs(source="best"))
T2S = replace(T2S, translates=("source_trees", "source_forests"))
WF = replace(C2S, files=(*SOURCE, "|".join(TARGET)), optional=(), needs=Needs(source="forest", target="dependency"))
TO_TREES = replace(WF, weights=TREES, needs=replace(WF.needs, tags=True), dependency_models=("words", "tags"))


def _of(base: Kind, name: str, summary: str) -> Kind:
    return replace(base, name=name, summary=summary, fixed=FIXED[name])


C2D_KINDS = (
    C2S,
    _of(WF, "c2s-wf", "forests to strings, well-formed rules and phrases alone"),
    _of(WF, "c2s-wf-s2s", "forests to strings, well-formed rules, all phrases"),
    _of(TO_TREES, "c2d-s2d", "forests to dependency trees, well-formed phrases alone"),
    _of(TO_TREES, "c2d", "forests to dependency trees"),
    T2S,
)
