"""Source and target syntax in Hiero (Chiang 2010): exact, fuzzy and nested tree-to-tree rules, and SAMT."""

from __future__ import annotations

from dataclasses import dataclass, replace

from treeglot.base.options import option
from treeglot.corpus import Needs
from treeglot.decode import SearchOptions
from treeglot.models.hiero import WEIGHTS
from treeglot.models.kind import Kind
from treeglot.models.matchers import labels, strings
from treeglot.models.options import ParsedOptions
from treeglot.rules import CompileOptions, FuzzyOptions, ScoreOptions, TreePairOptions

# A match is worth something, a mismatch costs; all other syntax features begin at 0.
SYNTAX_WEIGHTS = WEIGHTS | {"match_f": 0.05, "nomatch_f": -0.05, "match_e": 0.05, "nomatch_e": -0.05}
# The expanded base set that all systems of the paper have (4.1).
EXPANDED = CompileOptions(indicators=("count_bin",), shapes=True, word_pairs=50)
# Exact rules may have seven variables and no words: on a long sentence these match everywhere.
NARROW = replace(EXPANDED, max_scope=3)
# With labels that must match a span has hundreds of nodes, and rules without words match at all of them.
FEW_LABELS = SearchOptions(span_limit=20, label_limit=10, match_limit=100)


@dataclass(frozen=True)
class FuzzyModelOptions(ParsedOptions):
    """How a model with Hiero's rules and categories is trained and searched. `search.span_limit` is the paper's."""

    extract: FuzzyOptions = option(FuzzyOptions(), "which rules are taken from a sentence pair")
    score: ScoreOptions = option(ScoreOptions(smoothing="kneser-ney"), "how rules are scored and pruned")
    search: SearchOptions = option(SearchOptions(span_limit=20), "how sentences are translated")
    compile: CompileOptions = option(EXPANDED, "what of the rules becomes a feature, and which are left out")


@dataclass(frozen=True)
class SamtModelOptions(FuzzyModelOptions):
    """How a model with Hiero's rules and hard labels is trained and searched."""

    search: SearchOptions = option(FEW_LABELS, "how sentences are translated")


@dataclass(frozen=True)
class ExactModelOptions(SamtModelOptions):
    """How an exact tree-to-tree model is trained and searched."""

    extract: TreePairOptions = option(TreePairOptions(), "which rules are taken from a pair of trees")  # type: ignore[assignment]
    compile: CompileOptions = option(NARROW, "what of the rules becomes a feature, and which are left out")


FILES = ("source", "target", "alignments", "target_trees", "source_trees")
FUZZY = Kind(
    name="t2t-fuzzy",
    summary="Hiero's rules, their syntax as features",
    options=FuzzyModelOptions,
    weights=SYNTAX_WEIGHTS,
    extractor="fuzzy",
    files=FILES,
    needs=Needs(source="tree", target="tree"),
    fixed={"nesting": False, "hard": False},
    matcher=labels,
)
EXACT = "rules from pairs of subtrees, whose labels must match"
LIMITED = "{counts[limited]:,} of {counts[nodes]:,} pairs of nodes have more rules than are taken"
TREE_PAIRS = replace(FUZZY, extractor="tree-pairs", options=ExactModelOptions, fixed={}, says=LIMITED)
NESTED = "the same from phrases that do not cross"
SAMT = "Hiero's rules with target categories that must match"
HARD = replace(
    FUZZY, options=SamtModelOptions, weights=WEIGHTS, fixed={"nesting": False, "hard": True}, matcher=strings
)
T2T_KINDS = (
    replace(TREE_PAIRS, name="t2t-exact", summary=EXACT),
    FUZZY,
    replace(FUZZY, name="t2t-fuzzy-nested", summary=NESTED, fixed={"nesting": True, "hard": False}),
    # Hard labels are target categories alone.
    replace(HARD, name="samt", summary=SAMT, files=FILES[:-1], optional=FILES[-1:]),
)
