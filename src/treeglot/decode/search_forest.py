"""What a search kept of one sentence: all its derivations, in one hypergraph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from treeglot import _core
from treeglot._core import Hypergraph

if TYPE_CHECKING:
    from treeglot.graph.arrays import Floats


@dataclass(frozen=True, eq=False)
class SearchForest:
    """A hypergraph whose derivations are those of the sentence's translations.

    Its nodes are hypotheses: the same label and span can be there with several states of the language model. The
    score of a derivation is the sum of its edges' scores, its features likewise. `treeglot.graph` has the algorithms:
    k-best lists, posteriors, samples, pruning.
    """

    graph: Hypergraph
    scores: Floats  # by edge
    labels: tuple[str, ...]  # by node
    spans: tuple[tuple[int, int], ...]  # by node: the source words covered, half open
    rules: tuple[str, ...]  # by edge: [X] ||| das [X,1] ||| the [X,1]
    features: tuple[Mapping[str, float], ...]  # by edge

    def to_json(self) -> str:
        """One line of JSON, as `treeglot.graph.from_json` reads it; nodes are labelled `X 0-2`."""
        from treeglot.graph import to_json

        labels = [f"{label} {begin}-{end}" for label, (begin, end) in zip(self.labels, self.spans, strict=True)]
        return to_json(self.graph, self.scores, labels, self.rules, self.features)


def forest_of(raw: _core.SearchGraph | None, names: Sequence[str]) -> SearchForest:
    """From what the core gives; an empty line has an empty forest."""
    from treeglot.graph.arrays import floats

    if raw is None:
        return SearchForest(Hypergraph.from_arrays([0], [0], [], None), floats([]), (), (), (), ())
    return SearchForest(
        raw.graph,
        floats(raw.scores),
        tuple(raw.labels),
        tuple(raw.spans),
        tuple(f"[{step.label}] ||| {step.source} ||| {step.target}" for step in raw.steps),
        tuple({names[number]: value for number, value in features} for features in raw.features),
    )
