"""Averages several joint models into one. Its log probabilities are the means of those of the models.

The mean of networks is a network of the same form. Their embeddings and hidden units stand side by side, and no weight
connects two networks. The output weights of each network are divided by the number of networks. So the search and the
file format need no change.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from treeglot._core import JointModel
from treeglot.base.errors import UsageError

Floats = npt.NDArray[np.float32]
ALIKE = (
    "history",
    "before",
    "after",
    "has_source",
    "heads",
    "sentence",
    "parse",
    "source_fallbacks",
    "target_fallbacks",
)
PARSE_INPUTS = 4  # what a parse says of a word, in the core


def average(models: Sequence[JointModel]) -> JointModel:
    """Average models. The scores of the result are the means of their scores, before normalisation.

    All models must have the same words, and see the same number of words. Only seeds and sizes of layers can differ.
    """
    if not models:
        raise UsageError("there is no joint model to average; expected one or more")
    first = models[0]
    for place, model in enumerate(models[1:], 2):
        _check_alike(first, model, place)
    facts, words, second = first.facts, len(first.target_words()), bool(first.facts["second"])
    window = facts["has_source"] * (facts["before"] + 1 + facts["after"])
    sources = window + bool(facts["parse"]) * PARSE_INPUTS + facts["sentence"]

    def values(name: str, shape: Callable[[dict[str, int]], tuple[int, ...]]) -> list[Floats]:
        return [np.asarray(model.values(name)).reshape(shape(model.facts)) for model in models]

    def beside(name: str, shape: Callable[[dict[str, int]], tuple[int, ...]]) -> Floats:
        return np.concatenate(values(name, shape), axis=-1)

    last = beside("output", lambda f: (words, f["second"] or f["hidden"])) / np.float32(len(models))
    return JointModel.make(
        facts=facts | {name: sum(model.facts[name] for model in models) for name in ("embedding", "hidden", "second")},
        source_words=first.source_words(),
        target_words=first.target_words(),
        source_embeddings=beside("source.embeddings", lambda f: (-1, f["embedding"])).ravel() if sources else _none(),
        source_weights=_blocks(values("source.weights", lambda f: (sources, f["embedding"], f["hidden"])))
        if sources
        else _none(),
        tables=beside("tables", lambda f: (f["history"], words, f["hidden"])).ravel(),
        bias=beside("bias", lambda f: (f["hidden"],)),
        second_weights=_blocks(values("second.weights", lambda f: (1, f["second"], f["hidden"])))
        if second
        else _none(),
        second_bias=beside("second.bias", lambda f: (f["second"],)),
        output=last.ravel(),
        output_bias=np.mean(values("output.bias", lambda f: (words,)), axis=0, dtype=np.float32),
        share=np.asarray(first.values("share")),
    )


def _check_alike(first: JointModel, other: JointModel, place: int) -> None:
    for name in ALIKE:
        if first.facts[name] != other.facts[name]:
            raise UsageError(f"joint model {place} has {name} {other.facts[name]}; the first has {first.facts[name]}")
    if bool(first.facts["second"]) != bool(other.facts["second"]):
        raise UsageError(f"joint model {place} has another number of hidden layers than the first; expected the same")
    for side in ("source_words", "target_words"):
        if getattr(first, side)() != getattr(other, side)():
            problem = f"joint model {place} has other {side.replace('_', ' ')} than the first"
            raise UsageError(f"{problem}; expected networks of the same corpus and limits")


def _blocks(matrices: Sequence[Floats]) -> Floats:
    """Return block-diagonal matrices: one of the first matrices of all models, one of the second matrices, and so on.

    >>> _blocks([np.ones((1, 1, 2), np.float32), np.full((1, 1, 1), 2, np.float32)])
    array([1., 1., 0., 0., 0., 2.], dtype=float32)
    """
    rows, columns = (sum(matrix.shape[axis] for matrix in matrices) for axis in (1, 2))
    out = np.zeros((matrices[0].shape[0], rows, columns), dtype=np.float32)
    row = column = 0
    for matrix in matrices:
        out[:, row : row + matrix.shape[1], column : column + matrix.shape[2]] = matrix
        row, column = row + matrix.shape[1], column + matrix.shape[2]
    return out.ravel()


def _none() -> Floats:
    return np.zeros(0, dtype=np.float32)
