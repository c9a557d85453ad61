"""Hope and fear over a hypergraph: gains of n-grams as scores of edges, against all derivations listed one by one."""

from collections.abc import Sequence

import numpy as np
import pytest
from enumeration import Derivation, derivations, tails_of
from enumeration import score as score_of
from graph_pieces import KBestDerivations, Yields, derivation_yield
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import INF, scored_hypergraphs

from treeglot import _core
from treeglot.graph import Hypergraph

Case = tuple[Hypergraph, np.ndarray, list[list[int]]]
References = list[tuple[list[int], float]]  # with their shares


@st.composite
def translations(draw: st.DrawFn) -> Case:
    """Graphs whose edges give every tail once, and few words."""
    graph, scores = draw(scored_hypergraphs())
    yields = []
    for edge in range(graph.edges):
        symbols = [-1 - i for i in range(len(tails_of(graph, edge)))] + draw(st.lists(st.integers(0, 2), max_size=3))
        yields.append(draw(st.permutations(symbols)))
    return graph, scores, yields


def has(line: Sequence[int], ngram: tuple[int, ...]) -> bool:
    return any(tuple(line[i : i + len(ngram)]) == ngram for i in range(len(line) - len(ngram) + 1))


def gain_of(words: tuple[int, ...], references: References, per_word: float, by_order: list[float]) -> float:
    """From the definition: each n-gram gains by the references that have it, as often as the words have it."""
    gain = per_word * len(words)
    for n, value in enumerate(by_order, 1):
        for i in range(len(words) - n + 1):
            gain += value * min(1.0, sum(share for line, share in references if has(line, words[i : i + n])))
    return gain


def gained(case: Case, references: References, per_word: float, by_order: list[float], beam: int) -> list:
    graph, scores, yields = case
    flat = Yields.of(yields)
    mapped, new = _core.graph_with_gains(
        graph, scores, flat.first_symbol, flat.symbols, references, per_word, by_order, beam
    )
    found = []
    for derivation in KBestDerivations(mapped.graph, new):
        edges = [int(mapped.edge_map[edge]) for edge in derivation.edges]
        found.append((derivation.score, tuple(edge for edge in edges if edge != 0xFFFFFFFF)))
    return found


lines = st.lists(st.integers(0, 2), max_size=5)
references = st.lists(st.tuples(lines, st.sampled_from([1.0, 0.5, 0.25, 0.0])), min_size=1, max_size=3)
values = st.lists(st.sampled_from([-1.0, 0.0, 0.25, 2.0]), min_size=1, max_size=4)


@settings(deadline=None)
@given(translations(), references, st.sampled_from([-0.5, 0.0, 1.0]), values)
def test_every_derivation_has_its_score_and_its_gain(
    case: Case, references: References, per_word: float, by_order: list[float]
) -> None:
    graph, scores, yields = case
    flat = Yields.of(yields)
    wanted: dict[Derivation, float] = {}
    for derivation in derivations(graph, graph.goal):
        words = tuple(derivation_yield(graph, flat, derivation).tolist())
        wanted[derivation] = score_of(graph, scores, derivation) + gain_of(words, references, per_word, by_order)
    wanted = {derivation: total for derivation, total in wanted.items() if total > -INF}
    found = gained(case, references, per_word, by_order, beam=0)
    assert sorted(derivation for _, derivation in found) == sorted(wanted)
    for score, derivation in found:
        assert score == pytest.approx(wanted[derivation], abs=1e-9)
    assert [score for score, _ in found] == sorted((score for score, _ in found), reverse=True)


@settings(deadline=None)
@given(translations(), references, values, st.integers(1, 3))
def test_a_beam_loses_derivations_but_none_of_their_gain(
    case: Case, references: References, by_order: list[float], beam: int
) -> None:
    exact = {derivation: score for score, derivation in gained(case, references, 0.0, by_order, beam=0)}
    narrow = gained(case, references, 0.0, by_order, beam)
    assert all(score == pytest.approx(exact[derivation], abs=1e-9) for score, derivation in narrow)
    assert bool(narrow) == bool(exact)


def test_yields_must_have_every_tail_once() -> None:
    graph = Hypergraph.from_arrays([0, 1, 2], [0, 0, 1], [0], goal=1)
    for symbols in ([7], [-1, -1]):
        flat = Yields.of([[5], symbols])
        with pytest.raises(ValueError, match="edge 1 does not have every tail once in its yield"):
            _core.graph_with_gains(graph, np.zeros(2), flat.first_symbol, flat.symbols, [([5], 1.0)], 0.0, [1.0], 0)
    flat = Yields.of([[5], [-1]])
    for bad, problem in (([], "gains of 0 orders"), ([float("nan")], "not finite")):
        with pytest.raises(ValueError, match=problem):
            _core.graph_with_gains(graph, np.zeros(2), flat.first_symbol, flat.symbols, [([5], 1.0)], 0.0, bad, 0)
    for share in (-0.1, 1.5, float("nan")):
        with pytest.raises(ValueError, match=r"a share of .*; expected 0 to 1"):
            _core.graph_with_gains(graph, np.zeros(2), flat.first_symbol, flat.symbols, [([5], share)], 0.0, [1.0], 0)
