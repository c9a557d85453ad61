"""How a sentence is matched and searched."""

from __future__ import annotations

from dataclasses import dataclass

from treeglot.base.options import at_least, option

MOST = 2**32 - 1  # what the core counts with


@dataclass(frozen=True)
class SearchOptions:
    """How rules are matched on a sentence and the translation forest is searched."""

    pop_limit: int = option(200, "hypotheses scored per node; 0: all, the search is exact")
    beam: int = option(0, "hypotheses kept per node; 0: all")
    threshold: float = option(0.0, "keep those within this of a node's best score (natural log); 0: all")
    span_limit: int = option(10, "widest span a rule may cover, above it only glue (the t2t paper's distortion limit)")
    label_limit: int = option(0, "labels kept on a span, by estimate; the second has half of the pops …; 0: all")
    match_limit: int = option(0, "matches of rules kept on a span, likewise; 0: all")
    forest_margin: float = option(10.0, "prune a forest so far below its best tree, natural log (the c2d paper's 10)")
    step_limit: int = option(100_000, "steps of the walk that finds fragments at one node of a forest; 0: no limit")
    max_combinations: int = option(64, "of structures with phrases tried for a rule (augmented dep2str)")
    per_source: int = option(20, "target sides tried for a source side; 0: all")
    markup: bool = option(False, 'the input gives translations: <x translation="the house||house">das Haus</x>')

    def __post_init__(self) -> None:
        """Refuses numbers that make no sense."""
        at_least(self, 0, "pop_limit", "beam", "label_limit", "match_limit", "step_limit", most=MOST)
        at_least(self, 0, "max_combinations", "per_source", most=MOST)
        at_least(self, 1, "span_limit", most=MOST)
        at_least(self, 0, "threshold", "forest_margin")
