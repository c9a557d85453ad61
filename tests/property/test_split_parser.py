"""Parsing with split grammars against all derivations, one by one."""

import math
from collections import Counter
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from split_grammars import (
    LABELS,
    WORDS,
    Edge,
    Split,
    edges_of,
    grammars,
    is_pruned,
    levels,
    posteriors,
    read,
    scored_trees,
)

from treeglot._core import SplitGrammar, SplitParser, register_width
from treeglot.parse import ParsingOptions
from treeglot.parse.parser import GrammarParser
from treeglot.syntax import ParseForest

EVERYTHING = ParsingOptions(coarse=(math.inf,), prune=math.inf)
sentences = st.lists(st.sampled_from(WORDS), min_size=1, max_size=4)
WIDTHS = [width for width in (4, 8, 16) if width <= register_width()]
short_sentences = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3)
Grammars = tuple[Split, Split, SplitGrammar]


def scored_edges(forest: ParseForest) -> dict[Edge, float]:
    """The edges above words with their scores, which are the same wherever they are."""
    words = len(forest.words)
    out: dict[Edge, float] = {}
    for edge, score in zip(edges_of(forest)[words:], forest.scores[words:], strict=True):
        assert out.setdefault(edge, float(score)) == score
    return out


@given(grammars(), sentences)
@settings(max_examples=60, deadline=None)
def test_sums_and_posteriors_are_those_of_all_derivations(drawn: Grammars, words: list[str]) -> None:
    _, fine, grammar = drawn
    found = fine.derivations(words)
    (parsed,) = GrammarParser(grammar, EVERYTHING).forests([words])
    if not found:
        assert parsed.status in ("flat", "coarser")
        return
    assert math.isclose(parsed.log_probability, math.log(math.fsum(p for p, _ in found)), abs_tol=1e-9)
    wanted = posteriors(found)
    scores = scored_edges(parsed.value)
    assert scores.keys() == wanted.keys()
    for edge, p in wanted.items():
        assert math.isclose(math.exp(scores[edge]), min(1.0, p), rel_tol=1e-9)
    graph = parsed.value.graph
    top = math.fsum(math.exp(s) for s, head in zip(parsed.value.scores, graph.heads, strict=True) if head == graph.goal)
    assert math.isclose(top, 1.0, rel_tol=1e-9)


@given(grammars(), sentences)
@settings(max_examples=60, deadline=None)
def test_the_forest_holds_the_parses_and_the_best_tree_is_the_best_of_them(drawn: Grammars, words: list[str]) -> None:
    _, fine, grammar = drawn
    found = fine.derivations(words)
    if not found:
        return
    parser = GrammarParser(grammar, EVERYTHING)
    (parsed,) = parser.forests([words])
    forest = parsed.value
    trees = {frozenset(edges) for _, edges in found}
    assert scored_trees(forest).keys() == trees
    scores = {edge: math.log(p) for edge, p in posteriors(found).items()}
    best = max(math.fsum(scores[e] for e in edges) for edges in trees)
    (score, _), *_ = found_trees = forest.kbest(len(trees))
    assert math.isclose(score, best, abs_tol=1e-9)
    (alone,) = parser.trees([words])
    assert str(alone.value) in [forest_without_root(tree) for score, tree in found_trees if score > best - 1e-9]


@given(grammars(cyclic=True), short_sentences, st.sampled_from([0.0, 0.5, 3.0]))
@settings(max_examples=100, deadline=None)
def test_where_unary_rules_lead_back_chains_pass_no_label_twice(
    drawn: Grammars, words: list[str], margin: float
) -> None:
    _, fine, grammar = drawn
    found = fine.derivations(words)
    parser = GrammarParser(grammar, EVERYTHING)
    (parsed,) = parser.forests([words])
    if not found:
        assert parsed.status in ("flat", "coarser")
        return
    trees = {frozenset(edges) for _, edges in found}
    assert scored_trees(parsed.value).keys() == trees
    scores = scored_edges(parsed.value)
    best = max(math.fsum(scores[e] for e in edges) for edges in trees)
    (alone,) = parser.trees([words])
    bests = [tree for score, tree in parsed.value.kbest(len(trees)) if score > best - 1e-9]
    assert str(alone.value) in [forest_without_root(tree) for tree in bests]
    (pruned,) = GrammarParser(grammar, ParsingOptions(coarse=(math.inf,), prune=margin)).forests([words])
    assert is_pruned(pruned.value, scored_trees(parsed.value), margin)


def forest_without_root(tree: object) -> str:
    return str(tree).removeprefix("(ROOT ").removesuffix(")")


@given(grammars(), sentences, st.sampled_from([0.0, 0.5, 3.0]))
@settings(max_examples=60, deadline=None)
def test_pruning_keeps_what_is_in_a_good_tree(drawn: Grammars, words: list[str], margin: float) -> None:
    _, fine, grammar = drawn
    if not fine.derivations(words):
        return
    (whole,) = GrammarParser(grammar, EVERYTHING).forests([words])
    (pruned,) = GrammarParser(grammar, ParsingOptions(coarse=(math.inf,), prune=margin)).forests([words])
    trees = scored_trees(whole.value)
    assert is_pruned(pruned.value, trees, margin)
    assert is_pruned(whole.value.prune(margin), trees, margin)
    (best, _), *_ = whole.value.kbest(1)
    (kept, tree), *_ = pruned.value.kbest(1)
    assert math.isclose(kept, best, abs_tol=1e-9)
    assert pruned.value.viterbi() == tree


@given(grammars(), sentences, st.sampled_from([0.0, 1.0, 4.0, math.inf]))
@settings(max_examples=60, deadline=None)
def test_the_first_pass_keeps_states_by_their_best_derivations(
    drawn: Grammars, words: list[str], margin: float
) -> None:
    coarse, _, grammar = drawn
    found = coarse.derivations(words)
    best, kept = SplitParser(grammar, 0).first_pass(words, margin)
    if not found:
        assert best == -math.inf
        return
    top = max(p for p, _ in found)
    assert math.isclose(best, math.log(top), abs_tol=1e-4)
    through: dict[tuple[int, int, str], float] = {}
    for p, edges in found:
        for label, i, j, _ in edges:
            through[i, j, label] = max(through.get((i, j, label), 0.0), p)
    names = list(coarse.states)
    kept_names = {(i, j, names[state]) for i, j, state in kept}
    for place, p in through.items():
        distance = math.log(top) - math.log(p)
        if abs(distance - margin) > 1e-3:
            assert (place in kept_names) == (distance < margin)
    assert kept_names <= through.keys()


@given(st.data(), st.booleans(), st.integers(1, 34))
@settings(max_examples=300, deadline=None)
def test_the_first_pass_keeps_the_states_of_plain_maxima(data: st.DataObject, closed: bool, length: int) -> None:
    labels = (*LABELS, "@Z") if closed else LABELS
    coarse = data.draw(levels(dict.fromkeys(labels, 1), closed, cyclic=True, least=0.0))
    words = data.draw(st.lists(st.sampled_from(WORDS), min_size=length, max_size=length))
    through = coarse.best_through(words)
    files = coarse.files(0, dict.fromkeys(labels, "[0]"))
    parser = SplitParser(SplitGrammar.read([(files[0], files[1], files[2])]), 0)
    top = through.get((0, length, ("ROOT", 0)), -math.inf)
    for margin, width in product((0.0, 1.0, 4.0, math.inf), WIDTHS):
        best, kept = parser.first_pass(words, margin, width=width)
        assert best == top or math.isclose(best, top, rel_tol=1e-5, abs_tol=1e-3)
        names = {(i, j, (labels[state], 0)) for i, j, state in kept}
        assert names <= through.keys()
        for place, score in through.items():
            near = 1e-3 - 1e-5 * score  # sums of floats round, and those of small probabilities more
            if abs(top - score - margin) > near:
                assert (place in names) == (top - score < margin)


@given(grammars(), sentences, st.sampled_from([1.5, 8.0, math.inf]), st.integers(1, 12))
@settings(max_examples=60, deadline=None)
def test_of_more_states_than_the_first_pass_may_keep_the_best_stay(
    drawn: Grammars, words: list[str], margin: float, most: int
) -> None:
    coarse, _, grammar = drawn
    found = coarse.derivations(words)
    parser = SplitParser(grammar, 0)
    best, every = parser.first_pass(words, margin)
    narrow_best, some = parser.first_pass(words, margin, most=most)
    assert narrow_best == best
    if len(every) <= most:
        assert some == every
        return
    names = list(coarse.states)
    distance: dict[tuple[int, int, str], float] = {}
    for p, edges in found:
        for label, i, j, _ in edges:
            place = (i, j, label)
            distance[place] = min(distance.get(place, math.inf), best - math.log(p))
    kept = [distance[i, j, names[state]] for i, j, state in some]
    left_out = [distance[i, j, names[state]] for i, j, state in every if (i, j, state) not in set(some)]
    assert set(some) <= set(every)
    # Of the `most` best, all stay but those as far as the last of them.
    last = sorted(distance[i, j, names[state]] for i, j, state in every)[most - 1]
    assert all(d > last - 1e-3 for d in left_out)
    assert len(some) <= max(most, sum(d < 1.001 for d in distance.values()))
    assert all(d > 0.999 for d in left_out)
    far = [d for d in kept if d > 1.001]
    assert not far or not left_out or max(far) < min(left_out) + 1e-3


@given(grammars(), st.lists(st.sampled_from(WORDS), min_size=1, max_size=40), st.sampled_from([1.0, 8.0, math.inf]))
@settings(max_examples=60, deadline=None)
def test_the_first_pass_is_the_same_with_registers_of_any_width(
    drawn: Grammars, words: list[str], margin: float
) -> None:
    _, _, grammar = drawn
    parser = SplitParser(grammar, 0)
    first, *others = [parser.first_pass(words, margin, width=width) for width in WIDTHS]
    assert all(other == first for other in others)
    narrow, *others = [parser.first_pass(words, margin, most=20, width=width) for width in WIDTHS]
    assert all(other == narrow for other in others)
    assert parser.first_pass(words, margin) == first
    with pytest.raises(ValueError, match="no such registers"):
        parser.first_pass(words, margin, width=2 * register_width())


@given(st.one_of(grammars(cyclic=True), grammars(closed=True)), sentences, st.sampled_from([1, 2, 5]))
@settings(max_examples=100, deadline=None)
def test_loops_for_any_number_of_states_give_the_same_bits(drawn: Grammars, words: list[str], more: int) -> None:
    coarse, fine, grammar = drawn
    options = ParsingOptions(coarse=(8.0,), prune=5.0)
    grammars_of_both = (grammar, read(coarse, fine.padded(more)))
    small, large = (next(iter(GrammarParser(g, options).forests([words]))) for g in grammars_of_both)
    assert (small.status, small.log_probability) == (large.status, large.log_probability)
    assert small.value == large.value


def tree_probabilities(forest: ParseForest) -> dict[frozenset[Edge], float]:
    """Of each tree, from conditional probabilities, which sum to 1 at every node."""
    of_node: Counter[int] = Counter()
    for head, score in zip(forest.graph.heads, forest.scores, strict=True):
        of_node[int(head)] += math.exp(score)
    assert all(math.isclose(total, 1.0, rel_tol=1e-9) for total in of_node.values())
    return {tree: math.exp(score) for tree, score in scored_trees(forest).items()}


@given(grammars(), sentences)
@settings(max_examples=40, deadline=None)
def test_probabilities_are_conditional(drawn: Grammars, words: list[str]) -> None:
    _, fine, grammar = drawn
    found = fine.derivations(words)
    if not found:
        return
    options = ParsingOptions(coarse=(math.inf,), prune=math.inf, scores="probability")
    (parsed,) = GrammarParser(grammar, options).forests([words])
    # Rules of labels given their heads; over trees that are parses their products need not sum to 1.
    rules = posteriors(found)
    heads: Counter[object] = Counter()
    for edge, p in rules.items():
        heads[edge[:3]] += p
    wanted = {frozenset(edges): math.prod(rules[e] / heads[e[:3]] for e in edges) for _, edges in found}
    total = math.fsum(wanted.values())
    for tree, p in tree_probabilities(parsed.value).items():
        assert math.isclose(p, wanted[tree] / total, rel_tol=1e-9)


@given(grammars(cyclic=True), short_sentences)
@settings(max_examples=60, deadline=None)
def test_probabilities_of_a_plain_grammar_are_those_of_its_trees(drawn: Grammars, words: list[str]) -> None:
    coarse, _, grammar = drawn
    found = coarse.derivations(words)
    if not found:
        return
    options = ParsingOptions(coarse=(math.inf,), prune=math.inf, scores="probability")
    (parsed,) = GrammarParser(grammar, options, level=0).forests([words])
    total = math.fsum(p for p, _ in found)
    probabilities = tree_probabilities(parsed.value)
    assert len(probabilities) == len(found)
    for p, edges in found:
        assert math.isclose(probabilities[frozenset(edges)], p / total, rel_tol=1e-9)


@given(grammars())
@settings(max_examples=30, deadline=None)
def test_written_grammars_are_read_back(drawn: Grammars) -> None:
    _, _, grammar = drawn
    stored = [tuple(zip(("s", "g", "l"), grammar.texts(level), strict=True)) for level in range(len(grammar.states))]
    again = SplitGrammar.read([(s[0], s[1], s[2]) for s in stored])
    assert [again.texts(level) for level in range(2)] == [grammar.texts(level) for level in range(2)]
