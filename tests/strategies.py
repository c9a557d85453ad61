"""Random values for property tests, to be imported by any test: `from strategies import hypergraphs`."""

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st

from treeglot.graph import Builder, Hypergraph

INF = float("inf")


@st.composite
def hypergraphs(draw: st.DrawFn, max_nodes: int = 9, max_derivations: int = 200, goal: bool = False) -> Hypergraph:
    """A small hypergraph: repeated tails, unary chains, dead and unreachable nodes.

    No node has more than `max_derivations`, so that a slow twin can enumerate them.
    The goal is the last node, any other one, or (unless `goal`) none at all.
    """
    builder = Builder()
    derivations: list[int] = []
    for node in range(draw(st.integers(1, max_nodes))):
        builder.add_node()
        total = 0
        dead = draw(st.integers(0, 7)) == 7
        arities = draw(st.lists(st.sampled_from([0, 1, 2, 2, 3] if node else [0]), min_size=not dead, max_size=4))
        for arity in arities:
            tails = draw(st.lists(st.integers(0, node - 1), min_size=arity, max_size=arity)) if arity else []
            product = int(np.prod([derivations[tail] for tail in tails], dtype=object))
            if total + product <= max_derivations:
                builder.add_edge(node, tails)
                total += product
        derivations.append(total)
    last = len(derivations) - 1
    goals = st.one_of(st.just(last), st.just(last), st.integers(0, last), *([] if goal else [st.none()]))
    return builder.freeze(draw(goals)).graph


def edge_scores(graph: Hypergraph, zeros: bool = True) -> st.SearchStrategy[npt.NDArray[np.float64]]:
    """Log scores for the edges of `graph`: many equal ones, and -inf among them if `zeros`."""
    some = st.sampled_from([-1.0, -0.5, 0.0, -2.0])
    any_ = st.floats(-30, 3)
    score = st.one_of(some, any_, any_, st.just(-INF)) if zeros else st.one_of(some, any_)
    return st.lists(score, min_size=graph.edges, max_size=graph.edges).map(lambda s: np.array(s, dtype=np.float64))


@st.composite
def scored_hypergraphs(
    draw: st.DrawFn, max_nodes: int = 9, max_derivations: int = 200, zeros: bool = True
) -> tuple[Hypergraph, npt.NDArray[np.float64]]:
    """A small hypergraph and log scores for its edges."""
    graph = draw(hypergraphs(max_nodes, max_derivations))
    return graph, draw(edge_scores(graph, zeros))
