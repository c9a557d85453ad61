"""N-gram models: load, compile and query.

Scores are log10, as in ARPA files; multiply them by ln 10 for natural logarithms.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from treeglot import _core
from treeglot._core import ArpaReader, EstimatedNgrams, NgramLayout
from treeglot.base.errors import FormatError, UsageError
from treeglot.base.files import PathLike, nearest_folder, read_chunks, scratch_folder, write_binary
from treeglot.base.later import Later
from treeglot.base.opening import opening
from treeglot.base.sizes import parse_size
from treeglot.lm.classes import WordClasses
from treeglot.lm.compiled import CompiledModel, file_name
from treeglot.lm.text import Line
from treeglot.lm.train import Training, train_ngram

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
else:
    np = Later("numpy")

Layout: TypeAlias = Literal["fast", "small"]
Ids: TypeAlias = "npt.NDArray[np.uint32]"

TEXTS_AT_A_TIME = 10_000
KENLM_MAGIC = b"mmap lm http://kheafield.com/code"


class RestWarning(UserWarning):
    """Warns that a compiled model comes from an earlier version and has no rest costs, so a search needs more pops."""


class WordScore(NamedTuple):
    """The score of a word after the words before it."""

    log10: float
    length: int  # of the n-gram that was found, the word included
    oov: bool  # the word is not in the model's vocabulary


@dataclass(frozen=True)
class Perplexity:
    """How well a model predicts texts. The `</s>` of each text counts as a token."""

    texts: int
    tokens: int
    oovs: int
    log10: float  # of all tokens
    log10_oovs: float  # of the unknown words alone

    @property
    def including_oovs(self) -> float:
        """The perplexity over all tokens, including unknown words."""
        return _perplexity(self.log10, self.tokens)

    @property
    def excluding_oovs(self) -> float:
        """The perplexity over the tokens that the model knows.

        Unknown words are not scored, but remain in the contexts.
        """
        return _perplexity(self.log10 - self.log10_oovs, self.tokens - self.oovs)

    def __add__(self, other: Perplexity) -> Perplexity:
        return Perplexity(
            self.texts + other.texts,
            self.tokens + other.tokens,
            self.oovs + other.oovs,
            self.log10 + other.log10,
            self.log10_oovs + other.log10_oovs,
        )


class NgramModel(CompiledModel[_core.NgramModel]):
    """An n-gram model with back-off. Texts are strings with words separated by blanks, without `<s>` and `</s>`.

    >>> from treeglot.lm import compile_ngram, train_ngram
    >>> lines = ["a a a b", "a b b", "b a a c", "c d e", "d a f", "e f a g a", "b a"]
    >>> model = compile_ngram(train_ngram(lines, order=2))
    >>> model.order, len(model), "b" in model, "z" in model
    (2, 10, True, False)
    >>> round(model.score("a b"), 4)
    -2.4493
    >>> [(score.length, score.oov) for score in model.full_scores("a z b")]
    [(2, False), (1, True), (1, False), (2, False)]
    """

    def __init__(self, core: _core.NgramModel, path: str | None = None, **opened: Any) -> None:
        """Open the model.

        `opened` contains the other arguments of `load_ngram`, so that a pickled copy is opened in the same way.
        """
        super().__init__(core, path)
        self.opened = opened

    @property
    def order(self) -> int:
        """The length of the longest n-grams."""
        return self.core.order

    @property
    def layout(self) -> Layout:
        """The layout of the compiled model in memory: `fast` or `small`."""
        return "fast" if self.core.layout == NgramLayout.fast else "small"

    @property
    def counts(self) -> list[int]:
        """The number of n-grams of each order."""
        return list(self.core.counts)

    @property
    def false_positives(self) -> float:
        """The approximate probability that an unknown n-gram is taken for a known one. In the `fast` layout, it is 0.

        It is the number of fingerprints that a lookup compares, divided by the number of possible fingerprints. Buckets
        have room for 12 fingerprints and are 80 % full. A full bucket continues in the next one.
        """
        return 0.0 if self.layout == "fast" else 15.7 / 2**23

    def __repr__(self) -> str:
        place = f" from {self.path}" if self.path else ""
        return f"<NgramModel of order {self.order}, {self.layout}{place}>"

    def write_arpa(self, path: PathLike) -> None:
        """Write the model as an ARPA file, with numbers as exact as the layout stores them.

        The `small` layout does not store the words of n-grams, so they are searched for. The time grows with the square
        of the vocabulary. The file then also contains the false positives of this search.

        >>> import tempfile
        >>> from treeglot.lm import compile_ngram, train_ngram
        >>> lines = ["a a a b", "a b b", "b a a c", "c d e", "d a f", "e f a g a", "b a"]
        >>> model = compile_ngram(train_ngram(lines, order=2))
        >>> arpa = Path(tempfile.mkdtemp()) / "lm.arpa"
        >>> model.write_arpa(arpa)
        >>> load_ngram(arpa).score("a b") == model.score("a b")
        True
        """
        try:
            pieces = self.core.arpa()
        except ValueError as error:
            raise FormatError(str(self.path or "the model"), 0, f"is damaged: {error}") from error
        with write_binary(path) as stream:
            for piece in pieces:
                stream.write(piece)

    def encode(self, texts: Sequence[str]) -> tuple[Ids, npt.NDArray[np.uint64]]:
        """Convert texts to numbers of words. Return all numbers in one array, and the offset of each text."""
        return self.core.encode(list(texts))

    def score(self, text: str, *, bos: bool = True, eos: bool = True) -> float:
        """Return the log10 probability of a text. With `bos`, it follows `<s>`; with `eos`, it ends with `</s>`.

        The sum is computed in single precision from left to right, and equals that of KenLM.
        """
        return float(self.score_texts(*self.core.encode([text]), bos=bos, eos=eos)[0])

    def full_scores(self, text: str, *, bos: bool = True, eos: bool = True) -> list[WordScore]:
        """Return the score of each word of a text, and of `</s>` if `eos`."""
        ids, offsets = self.core.encode([text])
        log10, length = self.score_words(ids, offsets, bos=bos, eos=eos)
        oovs = [*(ids == 0).tolist(), *([False] if eos else [])]
        return [WordScore(*score) for score in zip(log10.tolist(), length.tolist(), oovs, strict=True)]

    def perplexity(self, texts: Iterable[str]) -> Perplexity:
        """Measure how well the model predicts texts. Each text begins after `<s>` and ends with `</s>`.

        >>> from treeglot.lm import compile_ngram, train_ngram
        >>> lines = ["a a a b", "a b b", "b a a c", "c d e", "d a f", "e f a g a", "b a"]
        >>> model = compile_ngram(train_ngram(lines, order=2))
        >>> found = model.perplexity(["a b", "c a x"])
        >>> found.tokens, found.oovs, round(found.including_oovs, 2), round(found.excluding_oovs, 2)
        (7, 1, 7.76, 6.95)
        """
        if isinstance(texts, str):
            raise TypeError("texts is one string; expected several")
        total = Perplexity(0, 0, 0, 0.0, 0.0)
        for some in _batches(texts):
            total += self.perplexity_of(*self.core.encode(some))
        return total

    def perplexity_of(
        self, ids: Ids, offsets: npt.NDArray[np.uint64], *, bos: bool = True, eos: bool = True
    ) -> Perplexity:
        """Measure how well the model predicts texts that are given as numbers (see `encode`)."""
        log10, _ = self.score_words(ids, offsets, bos=bos, eos=eos)
        texts = len(offsets) - 1
        places = np.flatnonzero(ids == 0)
        # Before the score of a word are those of one </s> for each text that ends before it.
        ended = np.searchsorted(offsets[1:], places, side="right") if eos else 0
        of_oovs = log10[places + ended]
        return Perplexity(
            texts,
            len(log10),
            len(places),
            float(log10.sum(dtype=np.float64)),
            float(of_oovs.sum(dtype=np.float64)),
        )

    # In bulk: texts as numbers.

    def score_texts(
        self, ids: Ids, offsets: npt.NDArray[np.uint64], *, bos: bool = True, eos: bool = True
    ) -> npt.NDArray[np.float32]:
        """Return the log10 score of each text.

        >>> from treeglot.lm import compile_ngram, train_ngram
        >>> lines = ["a a a b", "a b b", "b a a c", "c d e", "d a f", "e f a g a", "b a"]
        >>> model = compile_ngram(train_ngram(lines, order=2))
        >>> ids, offsets = model.encode(["a b", "c a"])
        >>> model.score_texts(ids, offsets).round(3)
        array([-2.449, -2.608], dtype=float32)
        """
        return self.core.score_texts(_numbers(ids), offsets, bos, eos)

    def score_words(
        self, ids: Ids, offsets: npt.NDArray[np.uint64], *, bos: bool = True, eos: bool = True
    ) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.uint8]]:
        """Return the log10 score of each word of the texts, and the length of the n-gram that gave it.

        With `eos`, each text also has the score of `</s>` at its end.
        """
        return self.core.score_words(_numbers(ids), offsets, bos, eos)

    def __reduce__(self) -> tuple[Any, ...]:
        if self.path is None:
            raise TypeError("a model that was compiled in memory cannot be pickled; write it and load the file")
        return partial(_open, self.path, **self.opened), ()


def load_ngram(path: PathLike, *, layout: Layout = "fast", verify: bool = True, wait: bool = True) -> NgramModel:
    """Load a model: map a compiled file, or compile an ARPA file (also compressed) in memory.

    `layout` applies to an ARPA file, which is compiled here. A compiled file is read and checked when it is opened.
    With `verify=False`, it is not checked, and damage goes unnoticed. With `wait=False`, a large file opens at once.
    Translations then verify the blocks that they use, and damage raises `FormatError`. If a compiled file comes from an
    earlier version, it has no rest costs, and a `RestWarning` appears.
    """
    model = _open(path, layout=layout, verify=verify, wait=wait)
    if model.order > 1 and not model.core.has_rests:
        problem = f"{model.path} has no rest costs; compile it again for a better search"
        warnings.warn(problem, RestWarning, stacklevel=2)
    return model


def install_ngram(path: PathLike, out: PathLike, *, memory: str | int = "2G") -> None:
    """Write a model to `out` as a compiled file.

    A compiled file is copied, and an ARPA file is compiled as by `compile_ngram`.
    """
    if _is_compiled(path):
        load_ngram(path).write(out)
    else:
        compile_ngram(path, out, memory=memory)


def compile_ngram(
    source: PathLike | Training | EstimatedNgrams,
    out: PathLike | None = None,
    *,
    layout: Layout = "fast",
    memory: str | int = "2G",
    classes: WordClasses | None = None,
) -> NgramModel:
    """Compile an ARPA file, or the result of training. Write the compiled model to `out` if given.

    If the tables of an ARPA file are larger than `memory`, they are built in files beside `out`. The vocabulary needs
    additional memory. The compiled file does not depend on `memory`. With `classes`, the words of the ARPA file are the
    numbers of these classes.

    The `fast` layout is exact. The `small` layout takes less than a third of the memory for n-grams. It rounds values
    to 256 per order, and distinguishes n-grams by fingerprints of 23 bits. About once in 500,000 times, an unknown
    n-gram gets the values of another one.

    >>> from treeglot.lm import train_ngram
    >>> lines = ["a a a b", "a b b", "b a a c", "c d e", "d a f", "e f a g a", "b a"]
    >>> compile_ngram(train_ngram(lines, order=2), layout="small")
    <NgramModel of order 2, small>
    """
    if isinstance(source, Training):
        classes = source.classes
        if source.estimate is None:
            raise UsageError("nothing to compile: the model was written to a file as it was made; compile that file")
        source = source.estimate
    of_words = classes.core if classes is not None else None
    if isinstance(source, EstimatedNgrams):
        core = _core.compile_ngrams(source, _layout(layout), of_words)
    else:
        reader = _read_arpa(source, parse_size(memory) if out is not None else 0, out)
        if out is not None and reader.spills:
            reader.write(file_name(out), _layout(layout), of_words)
            return NgramModel(_core.NgramModel.open(file_name(out), opening(False, True)), file_name(out), verify=False)
        core = reader.finish(_layout(layout), of_words)
    model = NgramModel(core)
    if out is not None:
        model.write(out)
        model.path = os.fspath(out)
    return model


def train_compiled(
    text: PathLike | Iterable[Line],
    out: PathLike,
    order: int = 5,
    *,
    memory: str | int = "2G",
    classes: WordClasses | None = None,
    **options: Any,
) -> Training:
    """Train a model and write it to `out` as a compiled file. Each step takes about `memory` at most.

    A temporary ARPA file is written beside `out`, and removed at the end. `options` are further arguments of
    `train_ngram`.

    >>> import tempfile
    >>> from treeglot.lm import load_ngram
    >>> out = Path(tempfile.mkdtemp()) / "lm.bin"
    >>> lines = ["a a a b", "a b b", "b a a c", "c d e", "d a f", "e f a g a", "b a"]
    >>> train_compiled(lines, out, order=2).report.kept, load_ngram(out).counts
    ([10, 23], [10, 23])
    """
    with scratch_folder(nearest_folder(Path(file_name(out)).resolve().parent), "lm") as folder:
        arpa = folder / "lm.arpa"
        training = train_ngram(text, order, memory=memory, classes=classes, out=arpa, **options)
        compile_ngram(arpa, out, memory=memory, classes=classes)
    return training


def _open(path: PathLike, *, layout: Layout = "fast", verify: bool = True, wait: bool = True) -> NgramModel:
    """Open the model of a file without warnings, because a copy from a pickle repeats warnings of the original."""
    name = os.fspath(path)
    if _is_compiled(path):
        return NgramModel(_core.NgramModel.open(name, opening(verify, wait)), name, verify=verify, wait=wait)
    return NgramModel(_read_arpa(path).finish(_layout(layout)), name, layout=layout)


def _is_compiled(path: PathLike) -> bool:
    """Return whether a file is a compiled model. Standard input is never one."""
    return os.fspath(path) != "-" and _core.is_container(next(read_chunks(path, len(KENLM_MAGIC)), b""))


def _read_arpa(path: PathLike, memory: int = 0, out: PathLike | None = None) -> ArpaReader:
    """Read a whole ARPA file, and return the reader that holds its model.

    Tables of more than `memory` bytes are in files beside `out`. With 0, all tables are in memory.
    """
    name = os.fspath(path)
    folder = str(Path(out).resolve().parent) if out is not None else ""
    reader = ArpaReader(name, _size(path), memory, folder)
    for number, chunk in enumerate(read_chunks(path)):
        if number == 0 and chunk.startswith(KENLM_MAGIC):
            raise FormatError(name, 0, "is a binary file of KenLM; expected an ARPA file or one that Treeglot compiled")
        if number == 0 and _core.is_container(chunk[: len(KENLM_MAGIC)]):
            raise FormatError(name, 0, "is a compiled file; expected an ARPA file")
        reader.feed(chunk)
    return reader


def _layout(name: str) -> NgramLayout:
    if name not in ("fast", "small"):
        raise UsageError(f"layout is {name!r}; expected 'fast' or 'small'")
    return NgramLayout[name]


def _numbers(ids: npt.NDArray[Any]) -> Ids:
    """Convert word numbers to the type of the core. Values that are too large for it are refused."""
    if ids.dtype == np.uint32:
        return ids
    if ids.dtype.kind not in "iu":
        raise TypeError(f"numbers of words are of type {ids.dtype}; expected integers")
    if ids.size and (ids.min() < 0 or ids.max() >= 2**32):
        raise ValueError(f"numbers of words from {ids.min()} to {ids.max()}; expected 0 to {2**32 - 1}")
    return ids.astype(np.uint32)


def _size(path: PathLike) -> int:
    """Return the approximate decompressed size of a file; 0 if unknown."""
    name = os.fspath(path)
    if name == "-":
        return 0
    return Path(name).stat().st_size * (10 if name.endswith((".gz", ".xz", ".zst")) else 1)


def _batches(texts: Iterable[str]) -> Iterator[list[str]]:
    rest = iter(texts)
    while some := list(islice(rest, TEXTS_AT_A_TIME)):
        yield some


def _perplexity(log10: float, tokens: int) -> float:
    return float(10 ** (-log10 / tokens)) if tokens else float("nan")
