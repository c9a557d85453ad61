"""Grammars whose unary rules stand for chains, as Berkeley's: at most one over a span, in sums and in forests."""

import math
from collections import Counter

from enumeration import derivations as forest_derivations
from enumeration import tails_of
from hypothesis import given, settings
from hypothesis import strategies as st
from split_grammars import WORDS, Edge, Place, Split, Tree, edges_of, grammars, is_pruned, posteriors, scored_trees

from treeglot._core import SplitGrammar
from treeglot.parse import ParsingOptions
from treeglot.parse.parser import GrammarParser
from treeglot.syntax import FORMATS

EVERYTHING = ParsingOptions(coarse=(math.inf,), prune=math.inf)
sentences = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3)
Grammars = tuple[Split, Split, SplitGrammar]


def is_part(place: Place) -> bool:
    return place[0].startswith("@")


def unbound(edges: tuple[Edge, ...], scores: dict[Edge, float]) -> dict[Edge, float]:
    """The edges of a derivation without parts of rules, and the sums of their parts' scores."""
    parts = {edge[:3]: edge for edge in edges if is_part(edge[:3])}

    def spell(edge: Edge) -> tuple[tuple[Place, ...], float]:
        tails: tuple[Place, ...] = ()
        score = scores[edge]
        for tail in edge[3]:
            more, added = spell(parts[tail]) if is_part(tail) else ((tail,), 0.0)
            tails += more
            score += added
        return tails, score

    spelt = {edge: spell(edge) for edge in edges if not is_part(edge[:3])}
    return {(*edge[:3], tails): score for edge, (tails, score) in spelt.items()}


@given(grammars(closed=True), sentences)
@settings(max_examples=100, deadline=None)
def test_the_forest_holds_the_parses_and_no_others(drawn: Grammars, words: list[str]) -> None:
    _, fine, grammar = drawn
    found = fine.derivations(words)
    (parsed,) = GrammarParser(grammar, EVERYTHING).forests([words])
    if not found:
        assert parsed.status in ("flat", "coarser")
        return
    anything = dict.fromkeys((edge for _, edges in found for edge in edges), 0.0)
    wanted = {frozenset(unbound(edges, anything)) for _, edges in found}
    assert scored_trees(parsed.value).keys() == wanted


# A rule whose parts can be bound together in two ways scores as the better; where states exclude each other, that may
# not fit into all trees that the rule is in.
@given(grammars(closed=True, least=0.01), sentences)
@settings(max_examples=100, deadline=None)
def test_the_best_tree_is_the_best_of_the_parses(drawn: Grammars, words: list[str]) -> None:
    _, fine, grammar = drawn
    found = fine.derivations(words)
    parser = GrammarParser(grammar, EVERYTHING)
    (parsed,) = parser.forests([words])
    if not found:
        assert parsed.status in ("flat", "coarser")
        return
    assert math.isclose(parsed.log_probability, math.log(math.fsum(p for p, _ in found)), abs_tol=1e-9)
    scores = {edge: math.log(min(1.0, p)) for edge, p in posteriors(found).items()}
    wanted: dict[Tree, float] = {}
    for _, edges in found:
        spelt = unbound(edges, scores)
        tree = frozenset(spelt)
        wanted[tree] = max(wanted.get(tree, -math.inf), math.fsum(spelt.values()))
    (best, _), *_ = parsed.value.kbest(1)
    assert math.isclose(best, max(wanted.values()), abs_tol=1e-9)
    (alone,) = parser.trees([words])
    equals = [str(tree) for score, tree in parsed.value.kbest(len(wanted)) if score > best - 1e-9]
    assert str(alone.value) in {tree.removeprefix("(ROOT ").removesuffix(")") for tree in equals}


@given(grammars(closed=True), sentences)
@settings(max_examples=60, deadline=None)
def test_forests_with_two_nodes_of_a_label_are_written_and_read(drawn: Grammars, words: list[str]) -> None:
    (parsed,) = GrammarParser(drawn[2], EVERYTHING).forests([words])
    if parsed.status != "parsed":
        return
    for name in ("egret", "jsonl"):
        text = FORMATS[name].open_writer({})(parsed.value).encode()
        reader = FORMATS[name].open_reader("file", False, {})
        again = [*reader.feed(text), *reader.finish()]
        assert again == [parsed.value]


@given(grammars(closed=True), sentences, st.sampled_from([0.0, 0.5, 3.0]))
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


@given(grammars(closed=True, least=0.01), sentences)
@settings(max_examples=60, deadline=None)
def test_conditional_probabilities_of_unary_steps_and_of_none(drawn: Grammars, words: list[str]) -> None:
    _, fine, grammar = drawn
    found = fine.derivations(words)
    if not found or any(is_part(edge[:3]) for _, edges in found for edge in edges):
        return
    options = ParsingOptions(coarse=(math.inf,), prune=math.inf, scores="probability")
    (parsed,) = GrammarParser(grammar, options).forests([words])
    forest, total = parsed.value, math.fsum(p for p, _ in found)
    rules = posteriors(found)
    stays: Counter[Place] = Counter()  # a place's posterior without a unary step above it
    for p, edges in found:
        stepped = {tail for edge in edges if len(edge[3]) == 1 for tail in edge[3]}
        for edge in edges:
            if len(edge[3]) != 1 and edge[:3] not in stepped:
                stays[edge[:3]] += p / total

    def sums(place: Place) -> tuple[float, float]:
        of = [(len(edge[3]) == 1, p) for edge, p in rules.items() if edge[:3] == place]
        return math.fsum(p for unary, p in of if unary), math.fsum(p for unary, p in of if not unary)

    graph, n = forest.graph, len(words)
    lower = {t[0] for t in (tails_of(graph, e) for e in range(graph.edges)) if len(t) == 1 and t[0] >= n}
    for e, edge in enumerate(edges_of(forest)[n:], n):
        unary, others = sums(edge[:3])
        if len(edge[3]) == 1:
            wanted = rules[edge] / (unary + stays[edge[:3]])
        else:
            stay = 1.0 if int(graph.heads[e]) in lower else stays[edge[:3]] / (unary + stays[edge[:3]])
            wanted = stay * rules[edge] / others
        assert math.isclose(math.exp(forest.scores[e]), wanted, rel_tol=1e-9)


@given(grammars(closed=True), sentences)
@settings(max_examples=60, deadline=None)
def test_conditional_probabilities_of_all_trees_sum_to_one(drawn: Grammars, words: list[str]) -> None:
    options = ParsingOptions(coarse=(math.inf,), prune=math.inf, scores="probability")
    (parsed,) = GrammarParser(drawn[2], options).forests([words])
    graph, scores = parsed.value.graph, parsed.value.scores
    trees = [math.exp(math.fsum(float(scores[e]) for e in tree)) for tree in forest_derivations(graph, graph.goal)]
    assert math.isclose(math.fsum(trees), 1.0, rel_tol=1e-9)
