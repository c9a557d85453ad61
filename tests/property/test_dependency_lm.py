"""Dependency language models: against the formula, and put together piece by piece in any order."""

from __future__ import annotations

import math
import random
import warnings
from functools import cache
from typing import Literal, NamedTuple

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from kneser_ney import Model, as_model, conditional
from lm_pieces import score_child, score_pieces, score_root
from structures import structures

from treeglot._core import DependencyPiece, DependencyState, DependencyTally, join_pieces
from treeglot.lm import DependencyModel, compile_dependency, train_dependency
from treeglot.lm.train import DiscountWarning
from treeglot.lm.train_dependency import DependencyTraining
from treeglot.syntax import Dependency

Unit = Literal["words", "tags", "siblings"]  # the last is over words, in the other conditioning
WORDS = "abcde"
KNOWN = [*WORDS, "unseen"]
UNITS: list[Unit] = ["words", "tags", "siblings"]
WORD_UNITS: list[Unit] = ["words", "siblings"]


def projective(draw: random.Random, size: int, roots: int = 3) -> list[int]:
    """Random heads without crossing arcs, with one to some roots."""
    heads = [-1] * size
    spans = [(0, size, -1, draw.randint(1, roots))]
    while spans:
        begin, end, head, parts = spans.pop()
        if begin == end:
            continue
        cuts = sorted(draw.sample(range(begin + 1, end), min(parts, end - begin) - 1))
        for a, b in zip([begin, *cuts], [*cuts, end], strict=True):
            root = draw.randrange(a, b)
            heads[root] = head
            spans += [(a, root, root, draw.randint(1, 3)), (root + 1, b, root, draw.randint(1, 3))]
    return heads


@cache
def trained(unit: Unit) -> DependencyTraining:
    draw = random.Random(7)
    trees = []
    for _ in range(60):
        words = draw.choices(WORDS, weights=[8, 4, 2, 1, 1], k=draw.randint(1, 9))
        trees.append(Dependency(words, projective(draw, len(words)), tags=[word.upper() for word in words]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DiscountWarning)
        if unit == "siblings":
            return train_dependency(trees, conditioning="sibling")
        return train_dependency(trees, unit)


@cache
def compiled(unit: Unit) -> DependencyModel:
    return compile_dependency(trained(unit))


@cache
def tables(unit: Unit) -> tuple[Model, Model, Model]:
    training = trained(unit)
    return as_model(training.left), as_model(training.right), as_model(training.root)


def slow_scores(unit: Unit, tree: Dependency) -> list[float]:
    """The formula of the model, word by word, with the probabilities of the estimate."""
    left, right, root = tables(unit)
    words = (tree.tags if unit == "tags" else tree.words) or []
    scores = [math.nan] * len(words)
    for i, head in enumerate(tree.heads):
        if head < 0:
            scores[i] = math.log10(conditional(root, (), words[i]))
    for h, head_word in enumerate(words):
        for children, model in (
            ([i for i in reversed(range(h)) if tree.heads[i] == h], left),
            ([i for i in range(h + 1, len(words)) if tree.heads[i] == h], right),
        ):
            before = ["<s>"] if unit == "siblings" else [f"<h>{head_word}"]
            for i in children:
                context = [before[-1], f"<h>{head_word}"] if unit == "siblings" else before[-2:]
                scores[i] = math.log10(conditional(model, tuple(context), words[i]))
                before.append(words[i])
    return scores


def dependency(words: list[str], heads: list[int]) -> Dependency:
    return Dependency(words, heads, tags=[word.upper() for word in words])


@st.composite
def graphs(draw: st.DrawFn) -> Dependency:
    """Arcs of all kinds: several roots, words without heads, cycles, crossing arcs."""
    words = draw(st.lists(st.sampled_from(KNOWN), max_size=9))
    heads = [
        draw(st.integers(-2, len(words) - 1).filter(lambda head, i=i: head != i))  # type: ignore[misc]
        for i in range(len(words))
    ]
    return dependency(words, heads)


@pytest.mark.parametrize("unit", UNITS)
@settings(max_examples=150)
@given(graph=graphs())
def test_a_sentence_scores_as_the_formula_says(unit: Unit, graph: Dependency) -> None:
    model = compiled(unit)
    expected = slow_scores(unit, graph)
    found = model.full_scores(graph)
    assert [score.log10 for score in found] == pytest.approx(expected, abs=1e-5)
    assert [score.oov for score in found] == [word == "unseen" for word in graph.words]
    assert model.score(graph) == pytest.approx(math.fsum(expected), abs=1e-5)


@pytest.mark.parametrize("unit", UNITS)
@settings(max_examples=30)
@given(sibling=st.sampled_from([None, *KNOWN]), before=st.sampled_from([None, *KNOWN]), head=st.sampled_from(KNOWN))
def test_probabilities_sum_to_1(unit: Unit, sibling: str | None, before: str | None, head: str) -> None:
    model = compiled(unit)
    children = [word.upper() if unit == "tags" else word for word in KNOWN]
    for side in ("left", "right"):
        scores = [score_child(model, side, child, head, sibling, before) for child in children]
        assert math.fsum(10**score for score in scores) == pytest.approx(1, abs=1e-4)
    assert math.fsum(10 ** score_root(model, child) for child in children) == pytest.approx(1, abs=1e-4)


# ---------------------------------------------------------------- trees taken apart and put together again


class Part(NamedTuple):
    """A part that was put together: its score so far, its state, its tree."""

    score: float
    state: DependencyState
    piece: DependencyPiece
    words: list[str]


def apply(model: DependencyModel, items: list[str | Part], heads: list[int]) -> tuple[Part, DependencyTally]:
    """One rule."""
    score, state, tally = score_pieces(
        model, [(item if isinstance(item, str) else item.state, head) for item, head in zip(items, heads, strict=True)]
    )
    piece, same = join_pieces(heads, [None if isinstance(item, str) else item.piece for item in items])
    assert same == tally
    words: list[str] = []
    for item in items:
        words += [item] if isinstance(item, str) else item.words
        score += 0 if isinstance(item, str) else item.score
    return Part(score, state, piece, words), tally


@pytest.mark.parametrize("unit", UNITS)
@settings(max_examples=100)
@given(size=st.integers(1, 14), seed=st.integers(0, 10**6))
def test_a_tree_scores_the_same_however_it_is_put_together(unit: Unit, size: int, seed: int) -> None:
    """A tree is cut into fixed and floating structures, these again, and so on; each cut is a rule."""
    draw = random.Random(seed)
    model = compiled(unit)
    words = [word.upper() if unit == "tags" else word for word in draw.choices(KNOWN, k=size)]
    tree = dependency(words, projective(draw, size))
    # In structures that are well-formed in the strict sense, nothing outside hangs on anything but the root.
    allowed: dict[int, list[tuple[int, list[int]]]] = {}
    for (begin, end), structure in structures(tree, strict=True).items():
        if len(structure.roots) <= DependencyState.MAX_ROOTS:
            allowed.setdefault(begin, []).append((end, list(structure.roots)))

    def derive(begin: int, end: int) -> Part:
        items: list[str | Part] = []
        roots: list[int] = []  # one root of each item
        place: dict[int, int] = {}  # word → item
        at = begin
        while at < end:
            choices = [(b, r) for b, r in allowed.get(at, []) if b <= end and (at, b) != (begin, end)]
            if choices and draw.random() < 0.7:
                last, found = draw.choice(choices)
                items.append(derive(at, last))
                roots.append(found[0])
            else:
                last = at + 1
                items.append(words[at])
                roots.append(at)
            place.update(dict.fromkeys(range(at, last), len(items) - 1))
            at = last
        part, tally = apply(model, items, [place.get(tree.heads[root], -1) for root in roots])
        assert tally.ill_heads == tally.overflows == 0
        return part

    whole = derive(0, size)
    assert list(whole.piece.heads) == list(tree.heads)
    assert whole.score + model.core.complete(whole.state) == pytest.approx(model.score(tree), abs=1e-5)


# ---------------------------------------------------------------- any rules, whether they fit or not


def slow_join(items: list[int], heads: list[int]) -> tuple[list[list[int]], tuple[int, int]]:
    """For items with so many roots each: (item, root) → its head, from the definition, and what did not fit."""
    word = [[(i, k) for k in range(count)] for i, count in enumerate(items)]
    head_of: dict[tuple[int, int], tuple[int, int] | None] = {w: None for roots in word for w in roots}

    def heads_above(i: int) -> int:
        i = heads[i]
        while i >= 0 and not items[i]:
            i = heads[i]
        return i

    ill = {
        heads_above(i) for i, count in enumerate(items) if count and heads_above(i) >= 0 and items[heads_above(i)] > 1
    }
    for i, roots in enumerate(word):
        for k, root in enumerate(roots):
            if i in ill and k > 0:
                head_of[root] = (i, 0)
            elif heads_above(i) >= 0:
                head_of[root] = (heads_above(i), 0)
    left = [root for roots in word for root in roots if head_of[root] is None]
    overflow = len(left) > DependencyState.MAX_ROOTS
    if overflow:
        for root in left[1:]:
            head_of[root] = left[0]
    numbers = {w: n for n, w in enumerate(w for roots in word for w in roots)}
    flat = [[-1 if (head := head_of[w]) is None else numbers[head] for w in roots] for roots in word]
    return flat, (len(ill), int(overflow))


@pytest.mark.parametrize("unit", WORD_UNITS)
@settings(max_examples=100)
@given(seed=st.integers(0, 10**6))
def test_any_rules(unit: Unit, seed: int) -> None:
    draw = random.Random(seed)
    model = compiled(unit)
    parts: list[Part] = []
    tree: list[int] = []
    for _ in range(draw.randint(1, 7)):
        items: list[str | Part] = []
        for _ in range(draw.randint(0, 6)):
            items.append(parts.pop() if parts and draw.random() < 0.6 else draw.choice(KNOWN))
        heads = projective(draw, len(items), roots=6)
        part, tally = apply(model, items, heads)

        counts = [1 if isinstance(item, str) else len(item.piece.roots) for item in items]
        expected, (ill, overflow) = slow_join(counts, heads)
        assert (tally.ill_heads, tally.overflows) == (ill, overflow)
        places: list[int] = []  # of the roots of all items
        tree = []
        for item in items:
            places += [len(tree) + root for root in ([0] if isinstance(item, str) else item.piece.roots)]
            tree += [-1] if isinstance(item, str) else [h + len(tree) if h >= 0 else h for h in item.piece.heads]
        for place, head in zip(places, [head for roots in expected for head in roots], strict=True):
            tree[place] = places[head] if head >= 0 else -1
        assert list(part.piece.heads) == tree
        assert list(part.piece.roots) == [i for i, head in enumerate(tree) if head < 0]
        assert [model.word(root) for root in part.state.roots] == [
            "<unk>" if part.words[root] == "unseen" else part.words[root] for root in part.piece.roots
        ]
        assert (part.state.fixed, part.state.floating) == (len(part.piece.roots) == 1, len(part.piece.roots) > 1)

        whole = dependency(part.words, list(part.piece.heads))
        assert part.score + model.core.complete(part.state) == pytest.approx(model.score(whole), abs=1e-5)
        parts.append(part)


@settings(max_examples=50)
@given(seed=st.integers(0, 10**6))
def test_more_roots_than_a_state_holds(seed: int) -> None:
    draw = random.Random(seed)
    model = compiled("words")
    words = draw.choices(KNOWN, k=DependencyState.MAX_ROOTS + 1)
    full, tally = apply(model, list(words[:-1]), [-1] * (len(words) - 1))
    assert (tally.overflows, len(full.state.roots), full.score) == (0, DependencyState.MAX_ROOTS, 0.0)
    over, tally = apply(model, [full, words[-1]], [-1, -1])
    assert tally.overflows == 1
    assert over.state.fixed
    assert list(over.piece.heads) == [-1] + [0] * (len(words) - 1)
    tree = dependency(words, list(over.piece.heads))
    assert over.score + model.core.complete(over.state) == pytest.approx(model.score(tree), abs=1e-5)


@pytest.mark.parametrize("unit", WORD_UNITS)
@settings(max_examples=150)
@given(seed=st.integers(0, 10**6))
def test_equal_states_have_equal_futures(unit: Unit, seed: int) -> None:
    """States forget a child only if no later score depends on it."""
    draw = random.Random(seed)
    model = compiled(unit)
    head = draw.choice(KNOWN)

    def grown() -> Part:
        left, right = (draw.choices(KNOWN, k=draw.randint(0, 2)) for _ in range(2))
        heads = [len(left)] * (len(left) + 1 + len(right))
        heads[len(left)] = -1
        return apply(model, [*left, head, *right], heads)[0]

    one, other = grown(), grown()
    assume(one.state == other.state and one.words != other.words)
    for first in KNOWN:
        for second in draw.sample(KNOWN, k=3):
            for left in (0, 1, 2):  # how many of the two children stand on the left
                items = [[*[first, second][:left], part, *[first, second][left:]] for part in (one, other)]
                heads = [left] * 3
                heads[left] = -1
                found, same = (apply(model, parts, heads)[0] for parts in items)
                tree = dependency(same.words, list(same.piece.heads))
                assert found.score - one.score == pytest.approx(same.score - other.score, abs=1e-6)
                assert same.score + model.core.complete(same.state) == pytest.approx(model.score(tree), abs=1e-5)
