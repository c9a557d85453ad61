"""The forests of a PCFG against all its parses, one by one, from the definition."""

from functools import cache

from enumeration import derivations, score, tails_of
from hypothesis import given, settings
from hypothesis import strategies as st

from treeglot.parse import Pcfg
from treeglot.syntax import ParseForest, Tree

Nested = tuple[object, ...]
PHRASES, TAGS, WORDS = "XYZ", "AB", "ab"


def trees() -> st.SearchStrategy[Nested]:
    """Small trees; a unary rule's child is later in the alphabet than its head, so there are no cycles."""
    tag = st.tuples(st.sampled_from(TAGS), st.sampled_from(WORDS))

    def grow(parts: st.SearchStrategy[Nested]) -> st.SearchStrategy[Nested]:
        several = st.lists(parts, min_size=2, max_size=3).flatmap(
            lambda children: st.sampled_from(PHRASES).map(lambda label: (label, *children))
        )
        one = st.tuples(st.sampled_from(PHRASES), parts).filter(lambda t: t[1][0] in TAGS or t[0] < str(t[1][0]))
        return several | one

    return st.recursive(tag, grow, max_leaves=5).map(lambda tree: ("TOP", tree))


def parses(pcfg: Pcfg, words: list[str]) -> dict[Nested, float]:
    """Every tree over the words and its log probability."""
    rules = pcfg.rules

    @cache
    def of(label: str, begin: int, end: int) -> tuple[tuple[Nested, float], ...]:
        found: list[tuple[Nested, float]] = []
        for head, body, lexical, _, logprob in rules:
            if head != label:
                continue
            if lexical:
                if end == begin + 1 and words[begin] == body[0]:
                    found.append(((head, body[0]), logprob))
                continue
            found += [((head, *children), logprob + total) for children, total in rows(tuple(body), begin, end)]
        return tuple(found)

    def rows(body: tuple[str, ...], begin: int, end: int) -> list[tuple[tuple[Nested, ...], float]]:
        if len(body) == 1:
            return [((tree,), total) for tree, total in of(body[0], begin, end)]
        return [
            ((tree, *rest), first + others)
            for middle in range(begin + 1, end)
            for tree, first in of(body[0], begin, middle)
            for rest, others in rows(body[1:], middle, end)
        ]

    return dict(of("TOP", 0, len(words)))


def forest_parses(forest: ParseForest) -> dict[Nested, float]:
    def tree(node: int, edges: list[int]) -> object:
        edge = edges.pop(0)
        children = tuple(tree(tail, edges) for tail in tails_of(forest.graph, edge))
        return (forest.label(node), *children) if children else forest.label(node)

    found = {}
    for derivation in derivations(forest.graph, forest.graph.goal):
        goal = forest.graph.goal
        assert goal is not None
        nested = tree(goal, list(derivation))
        assert isinstance(nested, tuple)
        assert nested not in found
        found[nested] = score(forest.graph, forest.scores, derivation)
    return found


@settings(max_examples=60)
@given(st.lists(trees(), min_size=1, max_size=5), st.lists(st.sampled_from(WORDS), min_size=1, max_size=4))
def test_a_forest_holds_exactly_the_parses(treebank: list[Nested], words: list[str]) -> None:
    pcfg = Pcfg([Tree.from_nested(tree) for tree in treebank])
    (forest,) = pcfg.forests([words])
    found, expected = forest_parses(forest), parses(pcfg, words)
    assert found.keys() == expected.keys()
    for tree, total in expected.items():
        assert abs(found[tree] - total) < 1e-9
