"""The oracle of a forest is the best of its trees, counted one by one."""

from hypothesis import given, settings
from hypothesis import strategies as st

from treeglot.parse.brackets import compare
from treeglot.syntax import ParseForest, Tree


@st.composite
def trees(draw: st.DrawFn, words: int) -> str:
    """A tree over so many words with few labels, unary chains of one label, and punctuation."""

    def phrase(begin: int, end: int, depth: int) -> str:
        if end - begin == 1 and (depth == 0 or draw(st.booleans())):
            return f"({TAGS[begin]} w{begin})"
        if depth == 0:
            return "(A " + " ".join(f"({TAGS[at]} w{at})" for at in range(begin, end)) + ")"
        cuts = sorted(draw(st.sets(st.integers(begin + 1, end - 1), max_size=2))) if end - begin > 1 else []
        places = [begin, *cuts, end]
        inner = " ".join(phrase(places[at], places[at + 1], depth - 1) for at in range(len(places) - 1))
        return f"({draw(st.sampled_from('AB'))} {inner})"

    return f"(TOP {phrase(0, words, 4)})"


TAGS = ("X", ".", "X", "X")


@settings(max_examples=200, deadline=None)
@given(data=st.data(), words=st.integers(1, 4))
def test_the_oracle_is_the_best_tree(data: st.DataObject, words: int) -> None:
    gold = Tree.parse(data.draw(trees(words)))
    found = [(0.0, Tree.parse(data.draw(trees(words)))) for _ in range(3)]
    forest = ParseForest.from_kbest(found)
    every = [tree for _, tree in forest.kbest(10_000)]
    counts = compare([gold], [forest])
    assert counts.f1 == max(compare([gold], [tree]).f1 for tree in every)
    assert counts.exact == max(compare([gold], [tree]).exact for tree in every)


def test_a_bracket_counts_as_often_as_the_gold_tree_has_it() -> None:
    gold = Tree.parse("(TOP (S (NP (N a)) (VP (V b)) (. .)))")
    test = Tree.parse("(TOP (S (S (NP (N a)) (VP (V b))) (. .)))")
    counts = compare([gold], [ParseForest.from_kbest([(0.0, test)])])
    assert (counts.matched, counts.gold, counts.test, counts.exact) == (3, 3, 4, 0)
