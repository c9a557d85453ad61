"""One head for each word against the definition, by the closure of the graph."""

from hypothesis import given, settings
from hypothesis import strategies as st

from treeglot.syntax.arcs import one_head_each, widest_root


def reaching(words: int, arcs: set[tuple[int, int]], root: int) -> set[int]:
    """The words that reach the root: by paths of every length."""
    reach = {root}
    for _ in range(words):
        reach |= {dependent for dependent, head in arcs if head in reach}
    return reach


def cut_off(words: int, arcs: set[tuple[int, int]], removed: tuple[int, int], root: int) -> int:
    """How many words reach the root, but no longer without an arc."""
    return len(reaching(words, arcs, root) - reaching(words, arcs - {removed}, root))


def slow(words: int, given_arcs: list[tuple[int, int]], root: int) -> list[int]:
    arcs = {(d, h) for d, h in given_arcs if d != h and d != root}
    for word in range(words):
        own = sorted(arc for arc in arcs if arc[0] == word)
        best = None
        for arc in own:  # from the leftmost head on: it stays unless another one is better
            rank = (cut_off(words, arcs, arc, root), abs(arc[0] - arc[1]))
            if best is None or rank > best[0]:
                best = (rank, arc)
        if best is not None:
            arcs -= {arc for arc in own if arc != best[1]}
    heads = dict(arcs)
    return [-1 if word == root else heads.get(word, root) for word in range(words)]


@st.composite
def graphs(draw):
    words = draw(st.integers(1, 7))
    arc = st.tuples(st.integers(0, words - 1), st.integers(0, words - 1))
    return words, draw(st.lists(arc, max_size=16)), draw(st.integers(0, words - 1))


@settings(max_examples=400)
@given(graphs())
def test_heads_are_chosen_as_the_page_says(graph) -> None:
    words, arcs, root = graph
    assert one_head_each(words, arcs, root) == slow(words, arcs, root)


def test_ties_go_to_the_longer_arc_and_then_to_the_left() -> None:
    # 2 reaches the root 0 either way, nobody reaches it through 2 alone: 0 is further away than 1
    assert one_head_each(3, [(1, 0), (2, 1), (2, 0)], 0) == [-1, 0, 0]
    # both heads of 2 are one word away
    assert one_head_each(4, [(1, 0), (3, 0), (2, 3), (2, 1)], 0) == [-1, 0, 1, 0]
    # without 3 - 2 the words 3 and 4 are cut off; 3 - 5 leads nowhere
    assert one_head_each(6, [(2, 0), (3, 2), (3, 5), (4, 3)], 0) == [-1, 0, 0, 2, 3, 0]


def test_cycles_stay() -> None:
    assert one_head_each(3, [(1, 2), (2, 1)], 0) == [-1, 2, 1]


@settings(max_examples=200)
@given(graphs())
def test_the_root_is_told_when_one_word_alone_heads_others_and_has_no_head(graph) -> None:
    words, arcs, _ = graph
    arcs = [(d, h) for d, h in arcs if d != h]
    tops = {h for _, h in arcs} - {d for d, _ in arcs}
    root, told = widest_root(words, arcs)
    assert told == (len(tops) == 1)
    reached = {word: len(reaching(words, {*arcs}, word)) for word in tops or range(words)}
    assert root == min(reached, key=lambda word: (-reached[word], word))
