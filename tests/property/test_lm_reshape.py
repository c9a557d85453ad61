"""Mixed and pruned n-gram models against slow twins with dictionaries."""

from __future__ import annotations

import math
import warnings
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kneser_ney import BOS, EOS, UNK, Model, Ngram, as_model, conditional

from treeglot.lm import NgramModel, compile_ngram, train_ngram
from treeglot.lm.reshape import interpolate_ngrams, prune_ngrams
from treeglot.lm.train import DiscountWarning

TEXTS = st.lists(st.lists(st.sampled_from("abcd"), max_size=6).map(" ".join), min_size=1, max_size=12)


def trained(lines: list[str], order: int) -> tuple[NgramModel, Model]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DiscountWarning)
        training = train_ngram([*lines, "a " * order], order)
    assert training.estimate is not None
    return compile_ngram(training), as_model(training.estimate)


def probability(model: Model, ngram: Ngram) -> float:
    """Of the last word after the others; 0 for a word that the model does not know."""
    context = tuple(word if (word,) in model[0] else UNK for word in ngram[:-1])
    return conditional(model, context, ngram[-1]) if (ngram[-1],) in model[0] else 0.0


def with_backoffs(ngrams: list[dict[Ngram, float]]) -> Model:
    """The model with these probabilities whose back-off weights make them sum to 1."""
    model: Model = [{ngram: (math.log10(p) if p else -99.0, 0.0) for ngram, p in order.items()} for order in ngrams]
    for order in range(2, len(ngrams) + 1):
        for context in {ngram[:-1] for ngram in ngrams[order - 1]}:
            words = [ngram[-1] for ngram in ngrams[order - 1] if ngram[:-1] == context]
            own = 1 - math.fsum(ngrams[order - 1][(*context, word)] for word in words)
            lower = 1 - math.fsum(conditional(model, context[1:], word) for word in words)
            backoff = max(own, 0) / lower if lower > 1e-6 else 1.0
            p, _ = model[order - 2][context]
            model[order - 2][context] = (p, math.log10(backoff) if backoff else -99.0)
    return model


def assert_same(found: Model, expected: Model) -> None:
    assert [set(order) for order in found] == [set(order) for order in expected]
    for order, wanted in zip(found, expected, strict=True):
        for ngram, (p, backoff) in order.items():
            assert p == pytest.approx(wanted[ngram][0], abs=2e-5)
            # A weight is a quotient of what is left of 1, so small remainders have few digits.
            assert 10**backoff == pytest.approx(10 ** wanted[ngram][1], abs=1e-3, rel=1e-3)


def assert_sums_to_1(model: Model) -> None:
    words = [word for (word,) in model[0] if word != BOS]
    for context in product([BOS, *words, "unseen"], words):
        known = tuple(word if (word,) in model[0] else UNK for word in context)
        assert math.fsum(conditional(model, known, word) for word in words) == pytest.approx(1, abs=1e-4)


def slow_mixture(models: list[Model], weights: list[float]) -> Model:
    ngrams: list[dict[Ngram, float]] = []
    for order in range(1, max(map(len, models)) + 1):
        union = {ngram for model in models if len(model) >= order for ngram in model[order - 1]}
        ngrams.append(
            {g: math.fsum(w * probability(m, g) for w, m in zip(weights, models, strict=True)) for g in union}
        )
    ngrams[0][(BOS,)] = 1.0
    return with_backoffs(ngrams)


@settings(max_examples=60)
@given(one=TEXTS, two=TEXTS, orders=st.tuples(st.integers(1, 3), st.integers(1, 3)), share=st.floats(0.05, 0.95))
def test_a_mixture_agrees_with_the_definition(
    one: list[str], two: list[str], orders: tuple[int, int], share: float
) -> None:
    two = [line.replace("d", "e").replace("c", "f") for line in two]  # each knows words that the other does not
    models = [trained(text, order) for text, order in zip((one, two), orders, strict=True)]
    made = interpolate_ngrams([model for model, _ in models], weights=[share, 1 - share])
    found = as_model(made.estimate)
    assert_same(found, slow_mixture([model for _, model in models], [share, 1 - share]))
    assert_sums_to_1(found)


@settings(max_examples=30)
@given(one=TEXTS, two=TEXTS, dev=TEXTS)
def test_em_finds_the_best_weights(one: list[str], two: list[str], dev: list[str]) -> None:
    dev = [*dev, "a z b"]
    models = [trained(text, 2) for text in (one, [line.replace("d", "e") for line in two])]
    made = interpolate_ngrams([model for model, _ in models], dev=dev)
    tokens = []
    for line in dev:
        words = [BOS, *line.split(), EOS]
        for i in range(1, len(words)):
            p = [probability(model, tuple(words[i - 1 : i + 1])) for _, model in models]
            tokens += [p] if any(p) else []

    def log(first: float) -> float:
        return math.fsum(math.log(first * p + (1 - first) * q) for p, q in tokens if first * p + (1 - first) * q > 0)

    assert made.dev is not None
    assert sum(made.weights) == pytest.approx(1)
    assert made.dev.tokens == len(tokens)
    assert made.dev.unknown >= 1
    assert made.dev.dynamic == pytest.approx(math.exp(-log(made.weights[0]) / len(tokens)), rel=1e-4)
    best = max(log(share) for share in np.linspace(0.001, 0.999, 200))
    assert log(made.weights[0]) >= best - 1e-3 * len(tokens)
    known = compile_ngram(made.estimate).perplexity(dev).excluding_oovs
    assert made.dev.static == pytest.approx(known)


def slow_pruning(model: Model, threshold: float) -> Model:
    """From the formula: distributions after each context are written out, and n-grams left out one at a time."""
    words = [word for (word,) in model[0] if word != BOS]

    def history(context: Ngram) -> float:
        first = EOS if context[0] == BOS else context[0]
        rest = (conditional(model, context[:i], context[i]) for i in range(1, len(context)))
        return conditional(model, (), first) * math.prod(rest)

    kept: list[set[Ngram]] = [set(order) for order in model]
    for order in range(len(model), 1, -1):
        needed = {ngram[:-1] for ngram in kept[order]} if order < len(model) else set()
        for ngram in list(kept[order - 1] - needed):
            context, word = ngram[:-1], ngram[-1]
            before = {v: conditional(model, context, v) for v in words}
            explicit = {v for v in words if (*context, v) in model[order - 1]} - {word}
            lower = {v: conditional(model, context[1:], v) for v in words}
            left = 1 - math.fsum(before[v] for v in explicit)
            share = left / (1 - math.fsum(lower[v] for v in explicit))
            after = {v: before[v] if v in explicit else share * lower[v] for v in words}
            entropy = math.fsum(before[v] * (math.log(before[v]) - math.log(after[v])) for v in words)
            if math.expm1(history(context) * entropy) < threshold:
                kept[order - 1].remove(ngram)
    while not kept[-1]:
        kept.pop()
    return with_backoffs([{g: 10 ** model[n][g][0] for g in ngrams} for n, ngrams in enumerate(kept)])


@settings(max_examples=60)
@given(lines=TEXTS, order=st.integers(1, 3), threshold=st.sampled_from([0.0003, 0.001, 0.01, 0.1]))
def test_pruning_agrees_with_the_definition(lines: list[str], order: int, threshold: float) -> None:
    model, tables = trained(lines, order)
    made = prune_ngrams(model, threshold)
    found = as_model(made.estimate)
    assert made.counted == tuple(map(len, tables))
    assert made.kept[: len(found)] == tuple(map(len, found))
    assert_same(found, slow_pruning(tables, threshold))
    assert_sums_to_1(found)
