"""Pairs of the sample with all parses, and the extractors that take rules from them."""

from treeglot import sample
from treeglot.corpus.pairs import Pair
from treeglot.rules.ghkm import RULE_SETS
from treeglot.rules.hiero import FuzzyOptions, HieroOptions
from treeglot.rules.sql import ScoreOptions
from treeglot.syntax import Alignment, Dependency, ParseForest

SCORING = ScoreOptions(smoothing="kneser-ney", targets_per_source=3)
CASES = {
    "hiero": ("hiero", None, ()),
    "hiero-core": ("hiero", HieroOptions(core=23), ()),
    "t2t-fuzzy": ("fuzzy", None, ("source_tree", "target_tree")),
    "samt": ("fuzzy", FuzzyOptions(hard=True, nesting=True), ("source_tree", "target_tree")),
    "t2t-exact": ("tree-pairs", None, ("source_tree", "target_tree")),
    "s2d": ("string-dependency", None, ("target_dependency",)),
    "dep2str": ("head-dependents", None, ("source_dependency",)),
    "c2s": ("ghkm", RULE_SETS["c2s"], ("source_forest",)),
    "c2d": ("ghkm", RULE_SETS["c2d"], ("source_forest", "target_dependency")),
}


def pairs_with(names: tuple[str, ...]) -> list[Pair]:
    """Pairs of the sample with some parses: one without links, one with a crossing arc, one without trees."""
    out = []
    for number, pair in enumerate(sample.read_pairs(45), 1):
        parses = {
            "source_tree": pair.source_tree,
            "target_tree": pair.target_tree,
            "source_forest": ParseForest.from_tree(pair.source_tree),
            "source_dependency": pair.source_dependency,
            "target_dependency": pair.target_dependency,
        }
        tree = pair.source_dependency
        if number == 31 and len(tree) >= 4:
            parses["source_dependency"] = Dependency(tree.words, [2, 3, -1, *[2] * (len(tree) - 3)], tree.tags)
        if number == 40:
            parses |= {"source_dependency": Dependency([], [], []), "source_forest": None}
        links = Alignment() if number == 17 else pair.alignment
        given = {name: parses[name] for name in names}
        out.append(Pair(number, pair.source, pair.target, links, **given))
    return out
