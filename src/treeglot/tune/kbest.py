"""The best translations of sentences with their features, stored in arrays."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from treeglot import _core
from treeglot.base.errors import FormatError
from treeglot.base.files import PathLike
from treeglot.decode.kbest import Entry, read_kbest

Hypothesis: TypeAlias = tuple[str, Mapping[str, float]]  # a translation and its features

KIND, VERSION = "kbest", 1


@dataclass(frozen=True, eq=False)
class KBest:
    """The best translations of every sentence, with the best first.

    Sentence `i` has the hypotheses `first[i]:first[i + 1]`. Hypothesis `h` has the features
    `features[first_feature[h]:first_feature[h + 1]]`, which are numbers into `names`, with their `values`. Features
    that are 0 are left out.
    """

    names: Sequence[str]
    first: npt.NDArray[np.uint32]
    texts: Sequence[str]
    first_feature: npt.NDArray[np.uint64]
    features: npt.NDArray[np.uint32]
    values: npt.NDArray[np.float32]
    scores: npt.NDArray[np.float64] | None = field(default=None)  # by the model, where they are known

    def __len__(self) -> int:
        return len(self.first) - 1

    @staticmethod
    def of(lists: Iterable[Sequence[Hypothesis]]) -> KBest:
        """Create k-best lists from translations with their features by name.

        >>> kbest = KBest.of([[("a b", {"lm": -1.5}), ("b a", {"lm": -2.0, "words": 2})], []])
        >>> len(kbest), kbest.best()
        (2, ['a b', ''])
        """
        names: dict[str, int] = {}
        first, first_feature = [0], [0]
        texts: list[str] = []
        features: list[int] = []
        values: list[float] = []
        for hypotheses in lists:
            for text, vector in hypotheses:
                texts.append(text)
                for name, value in vector.items():
                    features.append(names.setdefault(name, len(names)))
                    values.append(value)
                first_feature.append(len(features))
            first.append(len(texts))
        return KBest(
            list(names),
            np.array(first, dtype=np.uint32),
            texts,
            np.array(first_feature, dtype=np.uint64),
            np.array(features, dtype=np.uint32),
            np.array(values, dtype=np.float32),
        )

    @staticmethod
    def joined(lists: Sequence[KBest]) -> KBest:
        """Join the lists of different sentences into one. The result has no scores.

        >>> one, two = KBest.of([[("a", {"lm": -1.0})]]), KBest.of([[], [("b", {"words": 1.0, "lm": -2.0})]])
        >>> both = KBest.joined([one, two])
        >>> both.best(), both.names, both.features.tolist()
        (['a', '', 'b'], ['lm', 'words'], [0, 1, 0])
        """
        numbers: dict[str, int] = {}
        texts: list[str] = []
        first, first_feature = [np.zeros(1, dtype=np.uint32)], [np.zeros(1, dtype=np.uint64)]
        features, values = [np.zeros(0, dtype=np.uint32)], [np.zeros(0, dtype=np.float32)]
        before = 0  # features
        for one in lists:
            known = np.array([numbers.setdefault(name, len(numbers)) for name in one.names], dtype=np.uint32)
            first.append(one.first[1:] + np.uint32(len(texts)))
            first_feature.append(one.first_feature[1:] + np.uint64(before))
            features.append(known[one.features])
            values.append(one.values)
            texts += one.texts
            before += len(one.features)
        offsets = np.concatenate(first), np.concatenate(first_feature)
        return KBest(list(numbers), offsets[0], texts, offsets[1], np.concatenate(features), np.concatenate(values))

    @staticmethod
    def read(path: PathLike, sentences: int, *, missing: bool = False) -> KBest:
        """Read a k-best list with this number of sentences (the format of `treeglot.decode.kbest.read_kbest`).

        Sentences count from 0 and come in order. If a sentence has no hypotheses, this is an error. With `missing`, it
        gets the empty translation instead, as for empty lines of the input.

        >>> import tempfile, pathlib
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "dev.kbest"
        >>> _ = path.write_text("0 ||| a b ||| lm= -1.5 words= 2 ||| -1\\n2 ||| c ||| lm=-1\\n")
        >>> KBest.read(path, sentences=3, missing=True).best()
        ['a b', '', 'c']
        """
        file = os.fspath(path)
        lists: list[list[Hypothesis]] = [[] for _ in range(sentences)]
        last = 0
        for number, entry in enumerate(read_kbest(path), 1):
            if entry.sentence >= sentences:
                raise FormatError(
                    file, number, f"sentence {entry.sentence}; there are references for {sentences}, from 0 on"
                )
            if entry.sentence < last:
                raise FormatError(
                    file, number, f"sentence {entry.sentence} after sentence {last}; expected them in order"
                )
            last = entry.sentence
            lists[last].append((entry.text, dict(entry.features)))
        absent = [sentence for sentence, found in enumerate(lists) if not found]
        if absent and not missing:
            problem = f"has nothing for {len(absent)} of {sentences} sentences, the first is sentence {absent[0]}"
            raise FormatError(file, 0, f"{problem}; expected hypotheses for each, as there are references")
        return KBest.of(lists)

    def entries(self) -> Iterator[Entry]:
        """Yield the lines of the list, for `treeglot.decode.kbest.write_kbest`."""
        for hypothesis, sentence in enumerate(self.sentences().tolist()):
            begin, end = self.first_feature[hypothesis : hypothesis + 2].tolist()
            pairs = zip(self.features[begin:end].tolist(), self.values[begin:end].tolist(), strict=True)
            score = None if self.scores is None else float(self.scores[hypothesis])
            features = {self.names[feature]: value for feature, value in pairs}
            yield Entry(sentence, self.texts[hypothesis], features, score)

    def best(self) -> list[str]:
        """Return the best translation of each sentence, or an empty one if there is none."""
        return [self.texts[int(b)] if b < e else "" for b, e in zip(self.first[:-1], self.first[1:], strict=True)]

    def sentences(self) -> npt.NDArray[np.uint32]:
        """Return the number of the sentence that each hypothesis translates."""
        return np.repeat(np.arange(len(self), dtype=np.uint32), sizes_of(self.first))

    def check(self) -> None:
        """Refuse values that are not finite, because no weights can rank them."""
        bad = np.flatnonzero(~np.isfinite(self.values))
        if len(bad):
            entry = int(bad[0])
            hypothesis = int(np.searchsorted(self.first_feature, entry, side="right")) - 1
            sentence = int(self.sentences()[hypothesis])
            place = f"hypothesis {hypothesis - int(self.first[sentence])} of sentence {sentence}"
            name = self.names[int(self.features[entry])]
            raise ValueError(f"{place} has feature {name} = {self.values[entry]}; expected a finite number")

    def save(self, path: PathLike) -> None:
        """Write a binary file, which appears when it is complete."""
        self.check()
        for what, lines in (("translation", self.texts), ("name", self.names)):
            for line in lines:
                if "\n" in line:
                    raise ValueError(f"the {what} {line[:40]!r} has a line feed in it")
        content = {
            "names": "\n".join(self.names).encode(),
            "texts": "\n".join(self.texts).encode(),
            "first": np.ascontiguousarray(self.first, dtype=np.uint32).tobytes(),
            "first_feature": np.ascontiguousarray(self.first_feature, dtype=np.uint64).tobytes(),
            "features": np.ascontiguousarray(self.features, dtype=np.uint32).tobytes(),
            "values": np.ascontiguousarray(self.values, dtype=np.float32).tobytes(),
        }
        _core.write_sections(os.fspath(path), KIND, VERSION, content)

    @staticmethod
    def load(path: PathLike) -> KBest:
        """Read a file that `save` has written. A damaged file raises `FormatError`."""
        content = _core.read_sections(os.fspath(path), KIND, VERSION)
        try:
            first = np.frombuffer(content["first"], dtype=np.uint32)
            loaded = KBest(
                content["names"].decode().split("\n") if content["names"] else [],
                first,
                content["texts"].decode().split("\n") if first[-1:].any() else [],
                np.frombuffer(content["first_feature"], dtype=np.uint64),
                np.frombuffer(content["features"], dtype=np.uint32),
                np.frombuffer(content["values"], dtype=np.float32),
            )
        except (KeyError, ValueError) as error:  # a section is missing, is no text, or ends within a number
            raise FormatError(os.fspath(path), 0, f"is damaged: {error}") from None
        if not loaded._fits():
            raise FormatError(os.fspath(path), 0, "is damaged: its sections do not fit together")
        return loaded

    def _fits(self) -> bool:
        """Return whether all offsets and feature numbers are in range."""
        return (
            _divides(self.first, len(self.texts))
            and _divides(self.first_feature, len(self.features))
            and len(self.first_feature) == len(self.texts) + 1
            and len(self.values) == len(self.features)
            and bool((self.features < len(self.names)).all() and np.isfinite(self.values).all())
        )


def _divides(offsets: npt.NDArray[np.unsignedinteger[Any]], size: int) -> bool:
    """Return whether offsets begin at 0, never fall, and end at the size."""
    rises = bool((offsets[1:] >= offsets[:-1]).all())
    return len(offsets) > 0 and rises and int(offsets[0]) == 0 and int(offsets[-1]) == size


def sizes_of(offsets: npt.NDArray[np.unsignedinteger[Any]]) -> npt.NDArray[np.int64]:
    """Return the differences between neighbouring offsets."""
    numbers = offsets.astype(np.int64)
    return numbers[1:] - numbers[:-1]
