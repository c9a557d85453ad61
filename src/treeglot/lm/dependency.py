"""Dependency language models: load, compile and query. All scores are log10, like those of n-gram models."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from treeglot import _core
from treeglot._core import Dependency, DependencyConditioning, DependencyUnit
from treeglot.base.files import PathLike, read_chunks
from treeglot.base.later import Later
from treeglot.lm.compiled import CompiledModel
from treeglot.lm.ngram import Perplexity, WordScore
from treeglot.lm.train_dependency import SENTENCES_AT_A_TIME, Conditioning, DependencyTraining, Unit

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
else:
    np = Later("numpy")

KIND = b"dependency-lm"
HEADER_BYTES = 64


class DependencyModel(CompiledModel[_core.DependencyModel]):
    """A dependency language model over words or tags (Shen et al. 2008). All scores are log10.

    >>> import warnings
    >>> from treeglot.lm import compile_dependency, train_dependency
    >>> from treeglot.syntax import Dependency
    >>> she, old = Dependency(["she", "saw", "dogs"], [1, -1, 1]), Dependency(["old", "dogs", "saw"], [1, 2, -1])
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     model = compile_dependency(train_dependency([she, old]))
    >>> model.unit, len(model), "saw" in model, "cat" in model
    ('words', 7, True, False)
    >>> round(model.score(she), 4)
    -0.7352
    >>> [(score.length, score.oov) for score in model.full_scores(Dependency(["old", "cat", "saw"], [1, 2, -1]))]
    [(1, False), (1, True), (1, False)]
    """

    @property
    def unit(self) -> Unit:
        """The unit of the model: `words` or `tags`."""
        return "words" if self.core.unit == DependencyUnit.words else "tags"

    @property
    def conditioning(self) -> Conditioning:
        """The context of a child: `sibling` or `trigram`."""
        return "sibling" if self.core.conditioning == DependencyConditioning.sibling else "trigram"

    def __repr__(self) -> str:
        place = f" from {self.path}" if self.path else ""
        return f"<DependencyModel over {self.unit}{place}>"

    def score(self, sentence: Dependency) -> float:
        """Return the score of a sentence: the sum over its words.

        The score of a child depends on its head and siblings, and the score of a root only on itself. A word without a
        head is scored as a root. So every word is scored once, even if there are several roots, cycles or crossing
        arcs.
        """
        return float(self.score_sentences([sentence])[0])

    def full_scores(self, sentence: Dependency) -> list[WordScore]:
        """Return the score of each word.

        `length` is the size of the n-gram that was found, including the word.
        """
        log10, length, unknown = self.core.score_words([sentence])
        return [
            WordScore(*score)
            for score in zip(log10.tolist(), length.tolist(), unknown.astype(bool).tolist(), strict=True)
        ]

    def score_sentences(self, sentences: Sequence[Dependency]) -> npt.NDArray[np.float64]:
        """Return the score of each sentence."""
        return self.core.score_sentences(list(sentences))

    def score_words(
        self, sentences: Sequence[Dependency]
    ) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.uint8], npt.NDArray[np.bool_]]:
        """Score the words of all sentences.

        Return arrays over all words: scores, lengths as in `full_scores`, and flags for unknown words.
        """
        log10, length, unknown = self.core.score_words(list(sentences))
        return log10, length, unknown.view(np.bool_)

    def perplexity(self, sentences: Iterable[Dependency]) -> Perplexity:
        """Measure how well the model predicts sentences. Each word is one token."""
        total = Perplexity(0, 0, 0, 0.0, 0.0)
        rest = iter(sentences)
        while some := list(islice(rest, SENTENCES_AT_A_TIME)):
            log10, _, unknown = self.score_words(some)
            scores = log10.astype(np.float64)
            of_oovs = scores[unknown]
            total += Perplexity(len(some), len(scores), len(of_oovs), float(scores.sum()), float(of_oovs.sum()))
        return total

    def __reduce__(self) -> tuple[Any, ...]:
        if self.path is None:
            raise TypeError("a model that was compiled in memory cannot be pickled; write it and load the file")
        return load_dependency, (self.path,)


def load_dependency(path: PathLike, *, verify: bool = True) -> DependencyModel:
    """Map a compiled model into memory. With `verify=False`, the file is not checked, so damage goes unnoticed."""
    return DependencyModel(_core.DependencyModel.open(os.fspath(path), verify), os.fspath(path))


def compile_dependency(training: DependencyTraining, out: PathLike | None = None) -> DependencyModel:
    """Compile the result of `train_dependency`, and write the compiled model to `out` if given."""
    unit, conditioning = DependencyUnit[training.unit], DependencyConditioning[training.conditioning]
    core = _core.compile_dependency(unit, conditioning, training.left, training.right, training.root)
    model = DependencyModel(core)
    if out is not None:
        model.write(out)
        model.path = os.fspath(out)
    return model


def is_dependency_model(path: PathLike) -> bool:
    """Return whether a file is a compiled dependency model."""
    if os.fspath(path) == "-":
        return False
    return _core.container_kind(next(read_chunks(path, HEADER_BYTES), b"")) == KIND
