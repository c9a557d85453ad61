"""The dependency language model against its definition, and as a distribution."""

import math
import warnings
from collections import Counter
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kneser_ney import as_model, closed_form, conditional

from treeglot.lm import train_dependency
from treeglot.lm.train import DiscountWarning
from treeglot.lm.train_dependency import DependencyTraining
from treeglot.syntax import Dependency

Window = tuple[str, ...]
FALLBACK = (0.5, 1.0, 1.5)
WORDS = "abcde"


@st.composite
def sentences(draw: st.DrawFn) -> Dependency:
    """Arcs of all kinds: several roots, words without heads, cycles, crossing arcs."""
    words = draw(st.lists(st.sampled_from(WORDS), min_size=1, max_size=7))
    heads = [
        draw(st.integers(-2, len(words) - 1).filter(lambda head, i=i: head != i))  # type: ignore[misc]
        for i in range(len(words))
    ]
    return Dependency(words, heads, tags=[word.upper() for word in words])


def windows_of(head: str, children: list[str], conditioning: str) -> list[Window]:
    """(Sibling, head, child) of each child, or the trigrams of the head and its children."""
    if conditioning == "sibling":
        return [(before, head, child) for before, child in zip(["<s>", *children], children, strict=False)]
    sequence = [head, *children]
    return [tuple(sequence[max(0, i - 2) : i + 1]) for i in range(1, len(sequence))]


def events(
    trees: list[Dependency], tags: bool = False, conditioning: str = "trigram"
) -> tuple[list[Window], list[Window], list[Window]]:
    """The windows of left and right children from the nearest outwards, and the roots."""
    left, right, roots = [], [], []
    for tree in trees:
        words = tree.tags if tags else tree.words
        assert words is not None
        for h, head in enumerate(words):
            for children, found in (
                ([i for i in reversed(range(h)) if tree.heads[i] == h], left),
                ([i for i in range(h + 1, len(words)) if tree.heads[i] == h], right),
            ):
                found += windows_of(f"<h>{head}", [words[i] for i in children], conditioning)
        roots += [(words[i],) for i in range(len(words)) if tree.heads[i] == Dependency.ROOT]
    return left, right, roots


class SlowWindows:
    """Interpolated modified Kneser-Ney over windows, from the definition."""

    def __init__(self, windows: list[Window], length: int, predicted: set[str]) -> None:
        self.uniform = 1 / len(predicted)
        self.counts: list[Counter[Window]] = [Counter() for _ in range(length + 1)]
        self.counts[length] = Counter(window for window in windows if len(window) == length)
        for k in reversed(range(1, length)):
            # Nothing stands before a shorter window, so its count is plain.
            shorter = Counter(window for window in windows if len(window) == k)
            self.counts[k] = Counter(window[1:] for window in self.counts[k + 1]) + shorter
        self.discounts = [closed_form(Counter(counts.values())) or FALLBACK for counts in self.counts]

    def probability(self, window: Window) -> float:
        if not window:
            return self.uniform
        counts = self.counts[len(window)]
        lower = self.probability(window[1:])
        same = [count for other, count in counts.items() if other[:-1] == window[:-1]]
        if not same:
            return lower

        def discount(count: int) -> float:
            return self.discounts[len(window)][min(count, 3) - 1] if count else 0.0

        own = counts[window] - discount(counts[window])
        return (own + sum(map(discount, same)) * lower) / sum(same)


def trained(trees: list[Dependency], unit: str = "words", conditioning: str = "trigram") -> DependencyTraining:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DiscountWarning)
        return train_dependency(trees, unit, conditioning=conditioning)  # type: ignore[arg-type]


@pytest.mark.parametrize(("unit", "conditioning"), [("words", "trigram"), ("tags", "trigram"), ("words", "sibling")])
@settings(max_examples=60)
@given(st.lists(sentences(), min_size=1, max_size=25))
def test_agrees_with_the_definition(unit: str, conditioning: str, trees: list[Dependency]) -> None:
    training = trained(trees, unit, conditioning)
    tags = unit == "tags"
    vocabulary = {word for tree in trees for word in (tree.tags if tags else tree.words) or []}
    for model, windows, length in zip(
        map(as_model, (training.left, training.right, training.root)),
        events(trees, tags, conditioning),
        (3, 3, 1),
        strict=True,
    ):
        slow = SlowWindows(windows, length, vocabulary | {"<unk>"})
        children = sorted(vocabulary | {"<unk>"})
        siblings = ["<s>", *sorted(vocabulary), "unseen"]
        heads = [f"<h>{word}" for word in [*sorted(vocabulary), "unseen"]]
        contexts = [*product(siblings, heads)]
        if conditioning == "trigram":
            contexts = [*((head,) for head in heads), *product([*heads, *siblings[1:]], siblings[1:])]  # type: ignore[misc]
        for context in contexts if length == 3 else [()]:
            found = [conditional(model, context, child) for child in children]
            expected = [slow.probability((*context, child)) for child in children]
            assert found == pytest.approx(expected, rel=1e-5)
            assert math.fsum(found) == pytest.approx(1, abs=1e-4)


@settings(max_examples=30)
@given(st.lists(sentences(), min_size=1, max_size=5))
def test_counts_every_arc(trees: list[Dependency]) -> None:
    training = trained(trees)
    assert training.sentences == len(trees)
    assert training.events == tuple(map(len, events(trees)))
