"""Kinds with source and target syntax in Hiero (Chiang 2010): exact, fuzzy and nested tree-to-tree rules, and SAMT."""

from __future__ import annotations

from dataclasses import replace

from treeglot.corpus import Needs
from treeglot.decode import SearchOptions
from treeglot.decode.matchers import match_labels, match_strings
from treeglot.models.hiero import SMOOTHED, WEIGHTS
from treeglot.models.kind import Kind
from treeglot.rules.table import CompileOptions

# A match is worth something, a mismatch costs; all other syntax features begin at 0.
SYNTAX_WEIGHTS = WEIGHTS | {"match_f": 0.05, "nomatch_f": -0.05, "match_e": 0.05, "nomatch_e": -0.05}
# The expanded base set that all systems of the paper have (4.1).
EXPANDED = CompileOptions(indicators=("count_bin",), shapes=True, word_pairs=50)
# Exact rules may have seven variables and no words: on a long sentence these match everywhere.
NARROW = replace(EXPANDED, max_scope=3)
# With labels that must match a span has hundreds of nodes, and rules without words match at all of them.
FEW_LABELS = SearchOptions(span_limit=20, label_limit=10, match_limit=100)
# The distortion limit, `span_limit`, is the paper's.
DEFAULTS = {"score": SMOOTHED, "search": SearchOptions(span_limit=20), "compile": EXPANDED}
FILES = ("source", "target", "alignments", "target_trees", "source_trees")
FUZZY = Kind(
    name="t2t-fuzzy",
    summary="Hiero's rules, their syntax as features",
    weights=SYNTAX_WEIGHTS,
    extractor="fuzzy",
    files=FILES,
    needs=Needs(source="tree", target="tree"),
    fixed={"nesting": False, "hard": False},
    matcher=match_labels,
    defaults=DEFAULTS,
    papers={"search": "t2t", "compile": "t2t"},
)
EXACT = replace(
    FUZZY,
    name="t2t-exact",
    summary="rules from pairs of subtrees, whose labels must match",
    extractor="tree-pairs",
    fixed={},
    defaults=DEFAULTS | {"search": FEW_LABELS, "compile": NARROW},
    says="{counts[limited]:,} of {counts[nodes]:,} pairs of nodes have more rules than are taken",
)
NESTED = replace(FUZZY, name="t2t-fuzzy-nested", summary="the same from phrases that do not cross")
SAMT = replace(
    FUZZY,
    name="samt",
    summary="Hiero's rules with target categories that must match",
    weights=WEIGHTS,
    files=FILES[:-1],
    optional=FILES[-1:],  # hard labels are target categories alone
    fixed={"nesting": False, "hard": True},
    matcher=match_strings,
    defaults=DEFAULTS | {"search": FEW_LABELS},
)
T2T_KINDS = (EXACT, FUZZY, replace(NESTED, fixed={"nesting": True, "hard": False}), SAMT)
