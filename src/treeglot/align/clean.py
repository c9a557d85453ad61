"""Finds sentence pairs that cannot be aligned, or that are not translations."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from treeglot.align.aligner import BATCH, Aligner, Pair
from treeglot.align.aligners import LONGEST
from treeglot.base.files import batches
from treeglot.base.options import Options, option

# What the names of a script's letters begin with in Unicode; other languages are written in Latin.
_SCRIPTS = {"zh": ("CJK",), "ja": ("CJK", "HIRAGANA", "KATAKANA"), "ko": ("HANGUL", "CJK"), "el": ("GREEK",)}
_SCRIPTS |= {"he": ("HEBREW",), "th": ("THAI",), "hi": ("DEVANAGARI",), "ka": ("GEORGIAN",), "hy": ("ARMENIAN",)}
_SCRIPTS |= dict.fromkeys(("ru", "uk", "bg", "be", "mk"), ("CYRILLIC",)) | dict.fromkeys(
    ("ar", "fa", "ur"), ("ARABIC",)
)


@dataclass
class Faults:
    """Counts the pairs of two files that cannot be aligned, by reason, and remembers the first line for each reason.

    >>> faults = Faults("train.de", "train.en")
    >>> faults.add(["Haus"], []), faults.add([], []), faults.add(["Haus"], ["house"])
    ('no target', 'empty', '')
    >>> faults.found()[0]
    '1 of 3 pairs have no links: train.en has no words, but train.de has (first in line 1)'
    """

    source: str
    target: str
    pairs: int = 0
    lines: dict[str, tuple[int, int]] = field(default_factory=dict)  # how many, and the first

    def add(self, source: Sequence[str], target: Sequence[str]) -> str:
        """Describe what is wrong with the next pair. The result is empty if the pair can be aligned."""
        self.pairs += 1
        fault = ""
        if not source or not target:
            fault = "empty" if not source and not target else "no target" if source else "no source"
        elif max(len(source), len(target)) > LONGEST:
            fault = "long"
        if fault:
            count, first = self.lines.get(fault, (0, self.pairs))
            self.lines[fault] = count + 1, first
        return fault

    def found(self) -> list[str]:
        """Describe the reasons that were found, with their counts and first lines."""
        words = {
            "no target": f"{self.target} has no words, but {self.source} has",
            "no source": f"{self.source} has no words, but {self.target} has",
            "empty": "both lines are empty",
            "long": f"a side has more than {LONGEST} words",
        }
        return [
            f"{count:,} of {self.pairs:,} pairs have no links: {words[fault]} (first in line {first})"
            for fault, (count, first) in sorted(self.lines.items(), key=lambda item: item[1][1])
        ]


@dataclass(frozen=True)
class CleanOptions(Options):
    """Limits beyond which a pair is not a translation."""

    longest: int = option(LONGEST, "most words of a side", least=1, most=LONGEST)
    ratio: float = option(4.0, "most words of a side for one word of the other; sides of up to 5 words pass", least=1)
    least_score: float = option(0.0, "least score of a translation, in nats a word", infinite=True)
    copies: bool = option(False, "keep pairs whose sides are the same")
    source_language: str = option("", "code of the source language: the letters must be of its script")
    target_language: str = option("", "code of the target language: the letters must be of its script")


@dataclass(frozen=True)
class Verdict:
    """The decision to keep or drop a pair, with the reason."""

    reason: str  # why it is dropped; empty: it is kept
    score: float  # of an aligner; NaN when it was not asked


def judge(
    pairs: Iterable[Pair], aligner: Aligner | None, options: CleanOptions, threads: int = 1
) -> Iterator[tuple[Pair, Verdict]]:
    """Yield each pair with a verdict: keep the pair, or the reason to drop it. Scores are checked only with an aligner.

    >>> pairs = [(["ein", "Haus"], ["a", "house"]), (["Haus"], ["Haus"]), (["Haus"], [])]
    >>> [verdict.reason for _, verdict in judge(pairs, None, CleanOptions())]
    ['', 'copy', 'empty']
    """
    for batch in batches(pairs, BATCH):
        reasons = [_fault(*pair, options) or _foreign(pair, aligner) for pair in batch]
        good = [pair for pair, reason in zip(batch, reasons, strict=True) if not reason]
        scores = iter(aligner.score_all(good, threads) if aligner is not None else [])
        for pair, reason in zip(batch, reasons, strict=True):
            score = float("nan") if reason or aligner is None else next(scores)
            yield pair, Verdict("score" if score < options.least_score else reason, score)


def _fault(source: Sequence[str], target: Sequence[str], options: CleanOptions) -> str:
    if not source or not target:
        return "empty"
    short, long = sorted((len(source), len(target)))
    if long > options.longest:
        return "long"
    if long > 5 and long > options.ratio * short:
        return "ratio"
    if not options.copies and list(source) == list(target):
        return "copy"
    for words, code in ((source, options.source_language), (target, options.target_language)):
        if code and not _in_script(words, code):
            return "language"
    return ""


def _foreign(pair: Pair, aligner: Aligner | None) -> str:
    """Return `language` if a side has more words of the other side's language. Words without letters do not count."""
    if aligner is None:
        return ""
    for side, words in enumerate(pair):
        known = aligner.core.known([word for word in words if any(map(str.isalpha, word))])
        if known[1 - side] > known[side]:
            return "language"
    return ""


def _in_script(words: Sequence[str], code: str) -> bool:
    """Return whether at least half of the letters belong to the script of the language."""
    letters = [c for word in words for c in word if c.isalpha()]
    begins = _SCRIPTS.get(code.partition("-")[0].lower(), ("LATIN",))
    inside = sum(unicodedata.name(c, "").startswith(begins) for c in letters)
    return 2 * inside >= len(letters)
