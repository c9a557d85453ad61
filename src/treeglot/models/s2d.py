"""Kinds that translate strings to dependency trees (Shen et al. 2008): Hiero's rules with target structures."""

from __future__ import annotations

from dataclasses import replace

from treeglot.corpus import Needs
from treeglot.models.hiero import SMOOTHED, WEIGHTS
from treeglot.models.kind import Kind

# Beside Hiero's features. `ill_formed` counts rules with ill-formed structures, floating structures in head position,
# and what glue leaves apart. Every dependency model costs words, so a word is worth more than in Hiero.
WORD_WEIGHTS = WEIGHTS | {"word_penalty": 1.3, "dlm_words": 0.05, "ill_formed": -0.1}
TAG_WEIGHTS = WORD_WEIGHTS | {"word_penalty": 1.4, "dlm_tags": 0.05}

S2D = Kind(
    name="s2d",
    summary="strings to dependency trees, dependency model over words",
    weights=WORD_WEIGHTS,
    extractor="string-dependency",
    files=("source", "target", "alignments", "target_trees|target_dependencies"),
    needs=Needs(target="dependency"),
    dependency_models=("words",),
    defaults={"score": SMOOTHED},
    says="{counts[flat]:,} flat and {counts[gappy]:,} hierarchical rules taken; {counts[refused]:,} of "
    "{counts[phrases]:,} phrases refused for their structures, {counts[unparsed]:,} sentences without a tree",
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
