"""Strings to dependency trees (Shen et al. 2008; the s2d page): Hiero's rules with structures on their target sides."""

from __future__ import annotations

from dataclasses import dataclass, replace

from treeglot.base.options import option
from treeglot.corpus import Needs
from treeglot.models.hiero import WEIGHTS
from treeglot.models.kind import Kind
from treeglot.models.options import TargetTreeOptions
from treeglot.rules import ScoreOptions, StructureOptions

# Beside Hiero's features. `ill_formed` counts a floating structure in head position and what glue leaves apart. Every
# dependency model costs words, so a word is worth more than in Hiero.
WORD_WEIGHTS = WEIGHTS | {"word_penalty": 1.3, "dlm_words": 0.05, "ill_formed": -0.1}
TAG_WEIGHTS = WORD_WEIGHTS | {"word_penalty": 1.4, "dlm_tags": 0.05}


@dataclass(frozen=True)
class StringDependencyOptions(TargetTreeOptions):
    """How a string-to-dependency model is trained and searched."""

    extract: StructureOptions = option(StructureOptions(), "which rules are taken from a sentence pair")
    # As in Hiero, whose rules these are.
    score: ScoreOptions = option(ScoreOptions(smoothing="kneser-ney"), "how rules are scored and pruned")


S2D = Kind(
    name="s2d",
    summary="strings to dependency trees, dependency model over words",
    options=StringDependencyOptions,
    weights=WORD_WEIGHTS,
    extractor="string-dependency",
    files=("source", "target", "alignments", "target_trees|target_dependencies"),
    needs=Needs(target="dependency"),
    dependency_models=("words",),
    says="{counts[flat]:,} flat and {counts[gappy]:,} hierarchical rules taken; {counts[refused]:,} of "
    "{counts[phrases]:,} phrases lost to ill-formed structures, {counts[unparsed]:,} sentences without a tree",
)
S2D_POS = replace(
    S2D,
    name="s2d-pos",
    summary="strings to dependency trees, dependency models over words and tags",
    weights=TAG_WEIGHTS,
    needs=Needs(target="dependency", tags=True),
    dependency_models=("words", "tags"),
)
S2D_KINDS = (S2D, S2D_POS)
