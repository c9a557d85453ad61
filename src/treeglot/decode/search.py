"""Options for matching and searching a sentence."""

from __future__ import annotations

from dataclasses import dataclass

from treeglot.base.options import Options, option


@dataclass(frozen=True)
class SearchOptions(Options):
    """Options for matching rules on a sentence and searching the translation forest."""

    pop_limit: int = option(
        200, "hypotheses popped per node, more for promising nodes; 0: all, the search is exact", least=0
    )
    beam: int = option(0, "hypotheses kept per node, by score and rest cost; 0: all", least=0)
    threshold: float = option(
        0.0, "keep those within this of a node's best, by score and rest cost (natural log); 0: all", least=0
    )
    time_limit: float = option(
        0.0, "seconds of CPU for the search of one sentence, after which only the best known goes on; 0: none", least=0
    )
    span_limit: int = option(10, "widest span a rule may cover, above it only glue", least=1, paper="t2t")
    label_limit: int = option(
        0, "labels kept on a span, by estimate; the second has half of the pops …; 0: all", least=0
    )
    match_limit: int = option(0, "matches of rules kept on a span, likewise; 0: all", least=0)
    unknown_labels: bool = option(False, "an unknown word fits a variable with any label; false: with the label X")
    forest_margin: float = option(
        10.0, "prune a forest so far below its best tree, natural log", least=0, infinite=True, paper="c2d"
    )
    step_limit: int = option(
        100_000, "steps of the walk that finds fragments at one node of a forest; 0: no limit", least=0
    )
    max_combinations: int = option(64, "of structures with phrases tried for a rule (augmented dep2str)", least=0)
    pseudo_structures: bool = option(
        True, "phrases on parts of a relation, or of a forest node's children, also where there is no rule"
    )
    crossing_phrases: bool = option(
        False, "phrases on any span of a forest, in variables and beside other parts of a node (kinds of forests)"
    )
    dependency_trees: int = option(
        1, "trees of a forest that are searched together, their log probability a feature (dep2str)", least=1
    )
    per_source: int = option(20, "target sides tried for a source side; 0: all", least=0)
    markup: bool = option(False, 'the input gives translations: <x translation="the house||house">das Haus</x>')
    mbr: int = option(
        0,
        "choose by minimum Bayes risk among so many hypotheses; 0: the best score",
        least=0,
        paper="Tromble et al. 2008",
    )
    mbr_scale: float = option(1.0, "scores times this are log-probabilities, for minimum Bayes risk", above=0)
