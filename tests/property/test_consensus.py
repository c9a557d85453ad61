"""What lists agree on, beside the slow twin that the definition gives."""

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treeglot._core import agreement
from treeglot.decode.consensus import ORDER, Agreement, ConsensusOptions, ranked

words = st.sampled_from(["a", "b", "c"])
texts = st.lists(words, max_size=6).map(" ".join)
scores = st.floats(-20, 20)
lists = st.lists(st.lists(st.tuples(texts, scores), max_size=5), min_size=1, max_size=3)


def ngrams(text: str, n: int) -> list[tuple[str, ...]]:
    found = text.split()
    return [tuple(found[i : i + n]) for i in range(len(found) - n + 1)]


def chances(each: list[tuple[str, float]], scale: float) -> list[float]:
    """The probabilities of a list's entries, one by one."""
    best = max(score for _, score in each)
    weights = [math.exp(scale * (score - best)) for _, score in each]
    return [weight / sum(weights) for weight in weights]


@given(lists, st.floats(0.01, 3))
def test_agreement_is_as_defined(given_lists: list[list[tuple[str, float]]], scale: float) -> None:
    found = Agreement.of(given_lists, scale)
    assert found.texts == list(dict.fromkeys(text for each in given_lists for text, _ in each))
    for t, text in enumerate(found.texts):
        assert found.words[t] == len(text.split())
        for number, each in enumerate(given_lists):
            entries = list(zip((other for other, _ in each), chances(each, scale), strict=True)) if each else []
            own = sum(chance for other, chance in entries if other == text)
            assert found.own[t, number] == pytest.approx(own, abs=1e-12)
            for n in range(1, ORDER + 1):
                expected = sum(
                    chance for ngram in ngrams(text, n) for other, chance in entries if ngram in ngrams(other, n)
                )
                assert found.ngrams[t, number, n - 1] == pytest.approx(expected, abs=1e-9)


@given(st.lists(st.tuples(texts, scores), min_size=1, max_size=6, unique_by=lambda entry: entry[0]))
def test_the_first_has_the_largest_expected_gain(entries: list[tuple[str, float]]) -> None:
    options = ConsensusOptions(scale=0.5)
    each = chances(entries, options.scale)

    def gain(text: str) -> float:
        """By the definition: the linear gain of one text held against each other one, in the mean."""
        total = 0.0
        for (other, _), chance in zip(entries, each, strict=True):
            match = sum(
                weight * sum(ngram in ngrams(other, n) for ngram in ngrams(text, n))
                for n, weight in enumerate(options.ngram_weights(), 1)
            )
            total += chance * (match - len(text.split()))
        return total

    gains = [gain(text) for text, _ in entries]
    order = ranked(entries, options)
    assert sorted(order) == list(range(len(entries)))
    assert gains[order[0]] == pytest.approx(max(gains), abs=1e-9)
    assert all(gains[a] >= gains[b] - 1e-9 for a, b in pairwise(order))


@pytest.mark.parametrize(
    ("score", "order", "scale"),
    [(math.nan, 4, 1.0), (math.inf, 4, 1.0), (0.0, 0, 1.0), (0.0, 17, 1.0), (1e308, 4, 1e9)],
)
def test_nonsense_is_refused(score: float, order: int, scale: float) -> None:
    with pytest.raises(ValueError, match="expected"):
        agreement([[("a", score)]], order, scale)
