"""Random ARPA models for tests, and the scores that follow from the definition of a back-off model."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from pathlib import Path
from random import Random

from hypothesis import strategies as st

Ngram = tuple[str, ...]
Model = list[dict[Ngram, tuple[float, float | None]]]  # by order − 1: n-gram → log10 probability, log10 backoff or none

WORDS = ("a", "b", "c")
MOST = 60  # n-grams of an order


@st.composite
def models(
    draw: st.DrawFn,
    orders: tuple[int, int] = (2, 5),
    *,
    pruned: bool | None = None,
    unknown: bool | None = None,
    backoff: float | None = None,
) -> Model:
    """A model in which every n-gram begins with an (n−1)-gram; unless `pruned`, it also ends in one.

    Backoffs are of all kinds, or all the same, but never lift a probability above 1. Models are dense, so that long
    n-grams are met.
    """
    order = draw(st.integers(*orders))
    words = WORDS[: draw(st.integers(1, len(WORDS)))]
    pruned = draw(st.booleans()) if pruned is None else pruned
    unknown = draw(st.booleans()) if unknown is None else unknown
    density = draw(st.sampled_from([0.3, 0.6, 0.9]))
    bare = draw(st.sampled_from([0.0, 0.3, 0.9]))  # how many n-grams have no backoff
    random = Random(draw(st.integers(0, 2**32)))

    def some_backoff() -> float | None:
        if backoff is not None:
            return backoff
        return random.choice([None, 0.0]) if random.random() < bare else random.randrange(-200, 15) / 100

    given = (*(["<unk>"] if unknown else []), "<s>", "</s>", *words)
    model: Model = [{}]
    for word in given:
        prob = -99.0 if word == "<s>" else random.randrange(-400, -150) / 100
        model[0][word,] = (prob, None if order == 1 else some_backoff())
    for n in range(2, order + 1):
        candidates = [
            (*context, word)
            for context, word in product(model[-1], given)
            if word != "<s>" and context[-1] != "</s>" and (pruned or (*context[1:], word) in model[-1])
        ]
        chosen = [ngram for ngram in candidates if random.random() < density]
        model.append(
            {
                ngram: (random.randrange(-400, -150) / 100, None if n == order else some_backoff())
                for ngram in random.sample(chosen, min(len(chosen), MOST))
            }
        )
    return model


def texts(max_size: int = 8) -> st.SearchStrategy[list[str]]:
    """Words, some of which no model has."""
    return st.lists(st.sampled_from([*WORDS, *WORDS, "a", "a", "x"]), max_size=max_size)


def to_arpa(model: Model) -> str:
    """The file."""
    lines = ["\\data\\", *(f"ngram {n}={len(ngrams)}" for n, ngrams in enumerate(model, 1)), ""]
    for n, ngrams in enumerate(model, 1):
        lines.append(f"\\{n}-grams:")
        for ngram, (prob, backoff) in ngrams.items():
            lines.append(f"{prob}\t{' '.join(ngram)}" + ("" if backoff is None else f"\t{backoff}"))
        lines.append("")
    return "\n".join([*lines, "\\end\\", ""])


def write(model: Model, path: Path) -> Path:
    """The file, written."""
    path.write_text(to_arpa(model))
    return path


def slow_score(model: Model, context: Sequence[str], word: str) -> float:
    """The log10 probability of a word after a context: the longest n-gram, and the backoffs of what is longer."""
    known = {ngram[0] for ngram in model[0]}
    word, *context = (w if w in known else "<unk>" for w in (word, *context))
    context = context[len(context) - min(len(context), len(model) - 1) :]
    total = 0.0
    while True:
        found = model[len(context)].get((*context, word))
        if found is not None:
            return total + found[0]
        if not context:
            return total - 100.0  # <unk> is not in the model
        total += model[len(context) - 1].get(tuple(context), (0.0, 0.0))[1] or 0.0
        context = context[1:]


def slow_text(model: Model, words: Sequence[str], bos: bool = True, eos: bool = True) -> float:
    """The log10 probability of a text."""
    before = ["<s>"] if bos else []
    return sum(
        slow_score(model, [*before, *words[:i]], word) for i, word in enumerate([*words, *(["</s>"] if eos else [])])
    )
