"""Interpolated modified Kneser-Ney from its definition, with dictionaries, and ARPA files read the plain way."""

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from treeglot._core import EstimatedNgrams

Ngram = tuple[str, ...]
Model = list[dict[Ngram, tuple[float, float]]]  # for each order: n-gram → log10 probability, log10 back-off

UNK, BOS, EOS = "<unk>", "<s>", "</s>"


def slow_twin(
    lines: Sequence[str],
    order: int,
    prune: Sequence[int] = (),
    fallback: tuple[float, float, float] = (0.5, 1.0, 1.5),
) -> tuple[Model, list[tuple[float, float, float]], list[int]]:
    """The model, the discounts of each order, and the orders that fell back."""
    sentences = [[BOS, *line.split(), EOS] for line in lines]
    plain = [Counter[Ngram]() for _ in range(order + 1)]
    for words in sentences:
        for end in range(2, len(words) + 1):
            for k in range(1, min(order, end) + 1):
                plain[k][tuple(words[end - k : end])] += 1
    adjusted = [Counter[Ngram]() for _ in range(order + 1)]
    for k in range(1, order + 1):
        extensions = Counter(ngram[1:] for ngram in plain[k + 1]) if k < order else Counter[Ngram]()
        for ngram, count in plain[k].items():
            adjusted[k][ngram] = count if k == order or ngram[0] == BOS else extensions[ngram]
    thresholds = [*prune, *[prune[-1] if prune else 0] * order][:order]
    kept = [
        {g for g, c in plain[k].items() if c > thresholds[k - 1] or (k == 1 and g == (EOS,))} if k else set()
        for k in range(order + 1)
    ]

    numbers = {UNK: 0, BOS: 1, EOS: 2}
    for words in sentences:
        for word in words:
            numbers.setdefault(word, len(numbers))

    def place(ngram: Ngram) -> list[int]:  # in the file
        return [numbers[word] for word in reversed(ngram)]

    last = max((tuple(words[:end]) for words in sentences for end in range(2, len(words) + 1)), key=place)
    discounts, fallen = [], []
    for k in range(1, order + 1):
        n = Counter(adjusted[k].values())
        if k < order and len(last) >= k:
            # As lmplz does: the last n-gram of an order is entered with its plain count.
            n[adjusted[k][last[-k:]]] -= 1
            n[plain[k][last[-k:]]] += 1
        found = closed_form(n)
        if found is None:
            fallen.append(k)
        discounts.append(found or fallback)

    def discount(k: int, count: int) -> float:
        return discounts[k - 1][min(count, 3) - 1]

    totals = [defaultdict[Ngram, float](float) for _ in range(order + 1)]
    left = [defaultdict[Ngram, float](float) for _ in range(order + 1)]
    for k in range(1, order + 1):
        for ngram, count in adjusted[k].items():
            totals[k][ngram[:-1]] += count
            left[k][ngram[:-1]] += discount(k, count) if ngram in kept[k] else count

    def backoff(context: Ngram) -> float:
        k = len(context) + 1
        return left[k][context] / totals[k][context] if k <= order and totals[k][context] else 1.0

    uniform = 1 / (len(kept[1]) + 1)  # the kept words, </s> among them, and <unk>

    def probability(ngram: Ngram) -> float:
        if not ngram:
            return uniform
        k = len(ngram)
        own = (
            (adjusted[k][ngram] - discount(k, adjusted[k][ngram])) / totals[k][ngram[:-1]] if adjusted[k][ngram] else 0
        )
        return own + backoff(ngram[:-1]) * probability(ngram[1:])

    model: Model = []
    for k in range(1, order + 1):
        ngrams = kept[k] | ({(UNK,), (BOS,)} if k == 1 else set())
        model.append(
            {
                g: (0.0 if g == (BOS,) else log10(probability(g)), log10(backoff(g)) if k < order else 0.0)
                for g in sorted(ngrams, key=place)
            }
        )
    return model, discounts, fallen


def closed_form(n: Counter[int]) -> tuple[float, float, float] | None:
    """Chen and Goodman's eq. 26; in single precision, so that the cases on the edge fall as in lmplz."""
    if not (n[1] and n[2] and n[3]):
        return None
    f = np.float32
    y = f(n[1]) / f(n[1] + 2.0 * n[2])
    found = [f(j) - f(j + 1) * y * f(n[j + 1]) / f(n[j]) for j in (1, 2, 3)]
    if any(not 0 <= d <= j for j, d in enumerate(found, 1)):
        return None
    return float(found[0]), float(found[1]), float(found[2])


def log10(x: float) -> float:
    return max(-99.0, min(0.0, math.log10(x))) if x > 0 else -99.0


def read_arpa(path: Path) -> Model:
    """An ARPA file, trusting it but for its sizes and its end."""
    lines = path.read_text().splitlines()
    assert lines[0] == "\\data\\"
    assert lines[-1] == "\\end\\"
    sizes = [int(line.split("=")[1]) for line in lines if line.startswith("ngram ")]
    model: Model = []
    for line in lines:
        if line.endswith("-grams:") and line.startswith("\\"):
            model.append({})
        elif "\t" in line:
            probability, ngram, *backoff = line.split("\t")
            model[-1][tuple(ngram.split(" "))] = (float(probability), float(backoff[0]) if backoff else 0.0)
    assert sizes == [len(ngrams) for ngrams in model]
    return model


def as_model(estimate: EstimatedNgrams) -> Model:
    """What training in the core estimated, in the same form."""
    words = estimate.vocabulary
    model: Model = []
    for order in range(1, estimate.order + 1):
        ngrams = [tuple(words[i] for i in ngram) for ngram in estimate.words(order).reshape(-1, order)]
        backoffs = estimate.log10_backoff(order) if order < estimate.order else [0.0] * len(ngrams)
        numbers = zip(map(float, estimate.log10_probability(order)), map(float, backoffs), strict=True)
        model.append(dict(zip(ngrams, numbers, strict=True)))
    return model


def conditional(model: Model, context: Ngram, word: str) -> float:
    """The probability of a word after a context, by backing off."""
    if (word,) not in model[0]:
        word = UNK
    context = context[max(0, len(context) - len(model) + 1) :]
    total = 0.0
    while True:
        ngram = (*context, word)
        if ngram in model[len(ngram) - 1]:
            return float(10 ** (total + model[len(ngram) - 1][ngram][0]))
        total += model[len(context) - 1].get(context, (0.0, 0.0))[1]
        context = context[1:]


def assert_close(found: Model, expected: Model, tolerance: float = 1e-5) -> None:
    """The same n-grams in the same order, with the same numbers."""
    assert [list(ngrams) for ngrams in found] == [list(ngrams) for ngrams in expected]
    for ngrams, wanted in zip(found, expected, strict=True):
        for ngram, numbers in ngrams.items():
            assert np.allclose(numbers, wanted[ngram], rtol=0, atol=tolerance), (ngram, numbers, wanted[ngram])
