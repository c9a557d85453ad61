"""Forests with variants of their words, against an enumeration of all derivations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest
from dependency_pieces import tree_of
from forest_rules import ForestRule
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from slow_forest import SOURCE, TARGET, WEIGHTS, Twin, cases, decoder
from slow_lattice import paths
from syntax_strategies import lattices

from treeglot import ParseForest, Tree
from treeglot.syntax.lattice import Lattice, LatticeForest

scores = st.integers(-16, 4).map(lambda eighths: eighths / 8)
# Where a variant begins, how many words it stands for, its words and its score.
drawn_variants = st.lists(
    st.tuples(
        st.integers(0, 5), st.integers(1, 2), st.lists(st.sampled_from([*SOURCE, "z"]), min_size=1, max_size=3), scores
    ),
    max_size=3,
)


# Of single words, so that parts of variants have phrases.
word_phrases = st.lists(
    st.builds(
        lambda source, target, score: ForestRule((source,), (target,), score, True, (0,), ("N",)),
        st.sampled_from(SOURCE),
        st.sampled_from(TARGET),
        scores,
    ),
    max_size=3,
)


def lattice_of(words: list[str], variants: list[tuple[int, int, list[str], float]]) -> Lattice:
    """The words of a forest on a path of their own, and paths beside it."""
    variants = [each for each in variants if each[0] + each[1] <= len(words)]
    inner = [sum(len(own) - 1 for begin, _, own, _ in variants if begin == place) for place in range(len(words))]
    nodes = [place + sum(inner[:place]) for place in range(len(words) + 1)]
    free = [node + 1 for node in nodes]  # the next inner node after each
    arcs = [(nodes[i], nodes[i + 1], word, -0.25 * i) for i, word in enumerate(words)]
    for begin, size, own, score in variants:
        at = nodes[begin]
        for number, word in enumerate(own, 1):
            to = nodes[begin + size] if number == len(own) else free[begin]
            free[begin] += number < len(own)
            arcs.append((at, to, word, score if number == 1 else 0.0))
            at = to
    return Lattice(arcs)


@settings(max_examples=300, suppress_health_check=[HealthCheck.too_slow])
@given(cases(most_variables=1), word_phrases, drawn_variants, st.booleans())
def test_exact_search_finds_every_derivation(
    case: tuple[ParseForest, list[ForestRule]],
    phrases: list[ForestRule],
    variants: list[tuple[int, int, list[str], float]],
    crossing: bool,
) -> None:
    forest, rules = case[0], case[1] + phrases
    both = LatticeForest(forest, lattice_of(forest.words, variants))
    expected = Twin(forest, rules, both.variants, crossing).all()
    if len(expected) > 3000:
        return
    [found] = decoder(rules, crossing=crossing).translate_batch([both], len(expected) + 1, False, 1)
    assert not found.problem and not found.notes
    assert found.words == forest.words
    made = [hypothesis.score for hypothesis in found.hypotheses]
    assert made == pytest.approx(sorted((one.score for one in expected), reverse=True), abs=1e-4)
    assert Counter(tree_of(h) for h in found.hypotheses) == Counter(one.piece[:3] for one in expected)
    arcs = both.lattice.arcs
    parsed = max(score for _, words, score in paths(both.lattice) if words == forest.words)
    for hypothesis in found.hypotheses:
        total = sum(WEIGHTS[name] * value for name, value in hypothesis.features.items())
        assert total == pytest.approx(hypothesis.score, abs=1e-4)
        taken = sum(arcs[arc][3] for arc in hypothesis.path) - parsed
        assert hypothesis.features.get("lattice", 0.0) == pytest.approx(taken, abs=1e-4)
        steps = hypothesis.derivation.steps
        own = [word for step in steps for word in step.source.split() if not step.parse_edges and "[" not in word]
        assert not Counter(own) - Counter(both.lattice.words_on(hypothesis.path))
        assert all(source < len(forest.words) for step in steps for source, _ in step.links)


@given(lattices(st.sampled_from(SOURCE)), st.data())
def test_every_path_is_the_parsed_one_with_variants(lattice: Lattice, data: st.DataObject) -> None:
    all_paths = [(tuple(words), score) for _, words, score in paths(lattice)]
    words, _ = data.draw(st.sampled_from(all_paths))
    leaves = " ".join(f"(N {word})" for word in words)
    both = LatticeForest(ParseForest.from_tree(Tree.parse(f"(S {leaves})")), lattice)
    parsed = max(score for own, score in all_paths if own == words)

    def read(at: int) -> Iterator[tuple[tuple[str, ...], float]]:
        if at == len(words):
            yield (), 0.0
            return
        yield from (((words[at], *rest), score) for rest, score in read(at + 1))
        for (begin, end), own, price in both.variants:
            if begin == at:
                yield from (((*own, *rest), price + score) for rest, score in read(end))

    made = Counter((own, round(8 * (score + parsed))) for own, score in read(0))
    expected = Counter((own, round(8 * score)) for own, score in all_paths)
    assert not made - expected
    assert both.left_out or made == expected


def test_variants_that_overlap_on_an_empty_arc_are_not_used_together() -> None:
    forest = ParseForest.from_tree(Tree.parse("(S (N a) (N b))"))
    lattice = Lattice([(0, 1, "a", 0.0), (1, 2, "", -10.0), (2, 3, "b", 0.0), (0, 2, "c", 0.0), (1, 3, "d", 0.0)])
    both = LatticeForest(forest, lattice)
    assert [(span, words) for span, words, _ in both.variants] == [((0, 1), ["c"])]
    assert both.left_out == 1


def test_a_lattice_of_other_words_is_refused() -> None:
    forest = ParseForest.from_tree(Tree.parse("(S (N a) (N b))"))
    with pytest.raises(ValueError, match="no path of the lattice has the words of the forest; expected one"):
        LatticeForest(forest, Lattice.from_words(["a", "c"]))
