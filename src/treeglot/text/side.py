"""One language of a model: converts text to the model's words, and back."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from pathlib import Path
from typing import Any, Literal

from treeglot import _core
from treeglot._core import Caser, Segmenter, Spacer, Tokens
from treeglot.base.errors import UsageError
from treeglot.base.options import Options, option, required
from treeglot.text.languages import UNDETERMINED, Language, find_language
from treeglot.text.splitter import WordSplitter
from treeglot.text.variables import number_value
from treeglot.text.words import ADAPTERS, ICU, LEARNT, broken, normalised, tokenise_icu, tokenise_with

PARTS: dict[str, Any] = {"segmenter": Segmenter, "splitter": WordSplitter, "spacer": Spacer, "caser": Caser}
MOST_SENTENCES = 100_000  # that `learn` takes, and spacing and case are learnt from; more change little and take longer


@dataclass(frozen=True)
class TextSettings(Options):
    """Settings for converting text of a language to words, and words to text."""

    language: str = required("ISO code of the language, such as de or zh-Hant")
    tokeniser: str = option(ICU, "icu, learnt (from a tokenised corpus), jieba, fugashi or sudachi")
    case: Literal["lower", "keep"] = option(
        "lower", "case of the model's words; with lower, output gets the case that text has"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        find_language(self.language)
        known = [ICU, LEARNT, *ADAPTERS]
        if self.tokeniser not in known:
            raise UsageError(f"unknown tokeniser {self.tokeniser!r}; known: {', '.join(known)}", ("tokeniser",))


@dataclass(frozen=True)
class Learnt:
    """The learnt parts of a side. If a part is None, rules replace it."""

    segmenter: Segmenter | None = None  # words
    splitter: WordSplitter | None = None  # words that are several, if the language has no blanks
    spacer: Spacer | None = None  # the spaces between words
    caser: Caser | None = None  # the case of words
    unaligned: int = 0  # sentences that the segmenter learnt nothing from: their words have other characters

    def write(self, folder: Path, side: str) -> tuple[str, ...]:
        """Write the learnt parts, such as `source.segmenter`, and return the names of the written files."""
        parts = {name: part for name in PARTS if (part := getattr(self, name)) is not None}
        for name, part in parts.items():
            part.write(os.fspath(folder / f"{side}.{name}"))
        return tuple(parts)

    @staticmethod
    def load(folder: Path, side: str, names: Iterable[str]) -> Learnt:
        """Load the learnt parts that have these names."""
        return Learnt(**{name: PARTS[name].open(os.fspath(folder / f"{side}.{name}")) for name in names})


@dataclass(frozen=True)
class TextSide:
    """Converts text of one language to a model's words, and words to text.

    >>> side = TextSide(TextSettings("en"))
    >>> [tokens] = side.tokenise(["It's Tom's."])
    >>> tokens.words, tokens.spans[1]
    (['It', "'s", 'Tom', "'s", '.'], (2, 4))
    >>> side.fold([tokens.words])
    [['it', "'s", 'tom', "'s", '.']]
    >>> side.detokenise([tokens.words])[0].text
    "It's Tom's."
    """

    settings: TextSettings
    learnt: Learnt = field(default_factory=Learnt)

    @property
    def language(self) -> Language:
        """The language of this side."""
        return find_language(self.settings.language)

    def split(self, text: str) -> list[tuple[int, int]]:
        """Return the sentences of a text, without the spaces around them.

        >>> TextSide(TextSettings("en")).split("Mr. Fox ran. Did he? ")
        [(0, 12), (13, 20)]
        """
        from treeglot.text.sentences import split_sentences

        return split_sentences(text, self.language)

    def tokenise(self, texts: Sequence[str], threads: int = 1) -> list[Tokens]:
        """Return the words of sentences in their original case, and their places in the text."""
        texts = list(texts)
        if not texts:
            return []
        if self.settings.tokeniser == ICU:
            found = tokenise_icu(texts, self.language, threads)
            return found if self.learnt.splitter is None else self.learnt.splitter.apply(found)
        if self.settings.tokeniser != LEARNT:
            return tokenise_with(self.settings.tokeniser, texts)
        if self.learnt.segmenter is None:
            raise UsageError("the tokeniser has not been learnt; expected text and its words to learn it from")
        text, ends = broken(texts, self.language)
        return normalised(self.learnt.segmenter.segment(text, ends, threads), text)

    def fold(self, sentences: Iterable[Sequence[str]]) -> list[list[str]]:
        """Convert words to the model's form: in lower case, unless the settings keep the case."""
        if self.settings.case == "keep":
            return [list(words) for words in sentences]
        return lowered(sentences, self.language)

    def unfold(self, sentences: Sequence[Sequence[str]], threads: int = 1) -> list[list[str]]:
        """Restore the case of the model's words.

        If the training text has no capitals, sentences begin with a capital, and names are in lower case.
        """
        if self.settings.case == "keep":
            return [list(words) for words in sentences]
        if self.learnt.caser is None:
            return [_capital(words, self.language) for words in sentences]
        return self.learnt.caser.restore(sentences, threads)

    def detokenise(self, sentences: Sequence[Sequence[str]], threads: int = 1) -> list[Tokens]:
        """Join words into text, and also return the position of each word. The words already have their case."""
        if self.learnt.spacer is not None:
            return self.learnt.spacer.join(sentences, threads)
        return untokenise(sentences, self.language, threads)

    def agreement(self, lines: Sequence[str], texts: Sequence[str] | None = None, threads: int = 1) -> float:
        """Compare the tokeniser with another tokenisation, such as that of a treebank.

        The result is the F1 of words, in percent.

        Blanks separate the words of `lines`. Without `texts`, rules create the raw sentences.

        >>> TextSide(TextSettings("en")).agreement(["Do n't go .", "He wo n't ."])
        100.0
        """
        sentences = [line.split(" ") for line in lines]
        raw = texts or [tokens.text for tokens in untokenise(sentences, self.language, threads)]
        found = [tokens.words for tokens in self.tokenise(raw, threads)]
        right = sum(len(_places(mine) & _places(theirs)) for mine, theirs in zip(found, sentences, strict=True))
        return 200.0 * right / max(1, sum(map(len, found)) + sum(map(len, sentences)))

    @staticmethod
    def learn(
        settings: TextSettings, texts: Iterable[str] | None = None, words: Iterable[str] | None = None, threads: int = 1
    ) -> TextSide:
        """Learn from raw sentences, from sentences in words (separated by blanks), or from both side by side.

        The tokeniser `learnt` needs `words`. Without `texts`, rules create raw sentences from the words. Spacing and
        case are learnt from the raw sentences.
        """
        language = find_language(settings.language)
        raw = None if texts is None else list(texts)
        lines = None if words is None else list(words)
        if raw is None:
            if lines is None:
                raise UsageError("there is nothing to learn from; expected texts or words")
            raw = [tokens.text for tokens in untokenise([line.split(" ") for line in lines], language, threads)]
        segmenter, unaligned = None, 0
        if settings.tokeniser == LEARNT:
            if lines is None:
                raise UsageError("the tokeniser 'learnt' is learnt from words; expected a tokenised corpus")
            text, ends = broken(raw, language)
            segmenter, unaligned = Segmenter.train(text, ends, lines)
        side = TextSide(settings, Learnt(segmenter, unaligned=unaligned))
        side, sentences = side.with_splitter(side.tokenise(raw[:MOST_SENTENCES], threads))
        return side.with_output(sentences)

    def with_splitter(self, sentences: list[Tokens]) -> tuple[TextSide, list[Tokens]]:
        """Learn where to split ICU's words, for languages without blanks.

        Also return the split sentences.

        >>> side = TextSide(TextSettings("zh"))
        >>> texts = ["我的狗。", "我看见狗。", "她的猫。", "猫看见我。", "他在家。", "家在这里。"] * 3
        >>> side, sentences = side.with_splitter(side.tokenise([*texts, "猫狗。"]))
        >>> side.tokenise(["狗猫在家。"])[0].words
        ['狗', '猫', '在', '家', '。']
        """
        if self.settings.tokeniser != ICU or self.language.spaces:
            return self, sentences
        words = [tokens.words for tokens in sentences]
        numbers = {word for each in words for word in each if number_value(word, self.language)}
        splitter = WordSplitter.learn(words, numbers)
        return TextSide(self.settings, replace(self.learnt, splitter=splitter)), splitter.apply(sentences)

    def with_output(self, sentences: Sequence[Tokens]) -> TextSide:
        """Return this side with learnt spacing and case.

        They are learnt from sentences that this side has tokenised.
        """
        some = sentences[:MOST_SENTENCES]
        cased = [tokens.words for tokens in some]
        caser = train_caser(cased, self.language) if self.settings.case == "lower" else None
        return TextSide(self.settings, replace(self.learnt, spacer=Spacer.train(some), caser=caser))


def _capital(words: Sequence[str], language: Language) -> list[str]:
    """Capitalise the first word that has letters."""
    out = list(words)
    for place, word in enumerate(out):
        if word[:1].isalpha():
            out[place] = language.title(word[0]) + word[1:]
            break
        if word[:1].isdigit():
            break
    return out


def _places(words: Sequence[str]) -> set[tuple[int, int]]:
    """Return where each word begins and ends, counting characters without blanks."""
    ends = list(accumulate(map(len, words)))
    return {(end - len(word), end) for word, end in zip(words, ends, strict=True)}


def lowered(sentences: Iterable[Sequence[str]], language: Language = UNDETERMINED) -> list[list[str]]:
    """Lowercase words. Their number stays the same."""
    out = []
    for words in sentences:
        lower = language.lower(" ".join(words)).split(" ")  # all at once is faster
        out.append(lower if len(lower) == len(words) else [language.lower(word) for word in words])
    return out


def untokenise(sentences: Sequence[Sequence[str]], language: Language, threads: int = 1) -> list[Tokens]:
    """Join words into text by rules alone."""
    rules = list(language.clitics), list(language.elisions)
    return _core.join_by_rules(sentences, *rules, language.spaces, threads)


def train_caser(sentences: list[list[str]], language: Language = UNDETERMINED) -> Caser | None:
    """Learn the case of words. Return None if all of them are in lower case."""
    lower = lowered(sentences, language)
    if lower == sentences:
        return None
    letters = sorted({letter for words in lower for word in words for letter in word})
    upper = {letter: language.upper(letter) for letter in letters}
    pairs = [(ord(low), ord(high)) for low, high in upper.items() if len(high) == 1 and low != high]
    return Caser.train(sentences, lower, pairs)
