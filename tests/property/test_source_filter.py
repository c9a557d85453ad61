"""Which source sides can meet a sentence, against a twin that tries all places."""

from itertools import combinations

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from treeglot import _core
from treeglot.rules.columns import buffers_of

words = st.sampled_from(["a", "b", "c", "\\", "[X,1]", ")"])
sentences = st.lists(st.lists(words, max_size=6), max_size=4)
sides = st.lists(st.one_of(words, st.none()), min_size=1, max_size=5)  # None: a variable


def text(side) -> str:
    numbers = iter(range(1, 9))
    return " ".join(f"[X,{next(numbers)}]" if word is None else _core.escaped_word(word) for word in side)


def meets(side, sentence, strings) -> bool:
    """Whether the side's symbols can stand for words of the sentence in order, side by side if `strings`."""
    places = [i for i, word in enumerate(side) if word is not None]
    for chosen in combinations(range(len(sentence)), len(places)):
        if any(sentence[at] != side[place] for at, place in zip(chosen, places, strict=True)):
            continue
        ends = list(zip([-1, *places], [-1, *chosen], strict=True))
        after = [*zip(places, chosen, strict=True), (len(side), len(sentence))]
        fits = True
        for (left, begin), (right, end) in zip(ends, after, strict=True):
            variables, between = right - left - 1, end - begin - 1
            inner = left >= 0 and right < len(side)
            fits &= between >= variables and not (strings and inner and variables == 0 and between > 0)
        if fits:
            return True
    return not places


@given(sentences, st.lists(sides, max_size=5), st.booleans())
def test_sides_that_can_meet_a_sentence_are_kept(given_sentences, given_sides, strings):
    keep = _core.SourceFilter(strings)
    for sentence in given_sentences:
        keep.add(sentence)
    found = keep.keeps(*buffers_of(pa.array([text(side) for side in given_sides], type=pa.string())))
    expected = [
        any(meets(side, sentence, strings) for sentence in given_sentences) or all(word is None for word in side)
        for side in given_sides
    ]
    assert found.tolist() == expected
