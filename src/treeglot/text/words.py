"""Tokenisers: ICU with rules for languages, a tokeniser that is learnt from a corpus, and those of other packages.

    icu        ICU's words; marks, clitics and elisions are words of their own (the default)
    learnt     what a corpus has: a tagger of characters, trained on raw sentences and their words
    jieba      Chinese; pip install treeglot[jieba]
    fugashi    Japanese, MeCab; pip install treeglot[fugashi]
    sudachi    Japanese; pip install treeglot[sudachi]

>>> [tokens.words for tokens in tokenise_icu(["Don't write to a.b@c.org!"], find_language("en"))]
[['Do', "n't", 'write', 'to', 'a.b@c.org', '!']]
"""

from __future__ import annotations

import importlib
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from treeglot import _core
from treeglot._core import Tokens
from treeglot.base.errors import UsageError
from treeglot.base.later import Later
from treeglot.text.languages import Language, find_language

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
else:
    np = Later("numpy")

__all__ = ["ADAPTERS", "ICU", "LEARNT", "find_language", "tokenise_icu", "tokenise_with"]

ICU, LEARNT = "icu", "learnt"
AT_ONCE = 1_000_000  # characters that ICU is given, or more if a line is longer
SURROGATE = re.compile("[\ud800-\udfff]")
# Soft hyphens and marks of direction: they are invisible, and do not distinguish words.
HIDDEN = re.compile("[\u00ad\u061c\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069]")
# Spaces and control characters, and the text between them.
UNSHOWN = re.compile(r"[\s\x00-\x20\x7f-\xa0\u200b\ufeff]")
SHOWN = re.compile(r"[^\s\x00-\x20\x7f-\xa0\u200b\ufeff]+")
LONGEST = 10_000  # characters that a package is given at a time: Sudachi refuses more than 49,149 bytes
# What no package may take apart: addresses, tags, numbers, and emoji of several characters.
WHOLE = re.compile(
    r"(?:https?://|ftp://|www\.)[!-;=?-~]*[a-zA-Z0-9_/]|</?[a-zA-Z][^<>]*>"
    r"|(?<![a-zA-Z0-9_.+-])[a-zA-Z0-9_.+-]+@[a-zA-Z0-9-]+(?:\.[a-zA-Z0-9-]+)+"
    r"|\d+(?:[.,:/-]\d+)+|[\U0001F000-\U0001FAFF\u2600-\u27BF][\U0001F3FB-\U0001F3FF\uFE0F\u200D\U0001F000-\U0001FAFF]+"
)


def broken(texts: Sequence[str], language: Language) -> tuple[str, npt.NDArray[np.int32]]:
    """Join sentences to one text with a line for each. Return it with the boundaries that ICU finds.

    Line ends become blanks, and surrogates become U+FFFD. Each text keeps its length.
    """
    from icu4py.breakers import WordBreaker

    text = "\n".join(texts)
    if text.count("\n") != len(texts) - 1:
        text = "\n".join(line.replace("\n", " ") for line in texts)
    text = without_surrogates(text)
    found = [np.empty(0, np.int32)]
    begin = offset = 0  # in characters, and in UTF-16
    while begin < len(text):  # by whole lines: ICU's boundaries are Python's objects, which take much memory
        end = text.find("\n", begin + AT_ONCE) + 1 or len(text)
        segments = list(WordBreaker(text[begin:end], language.primary).segments())
        found.append(np.array(segments, np.int32)[:, 1] + np.int32(offset))
        begin, offset = end, int(found[-1][-1])
    return text, np.concatenate(found)


def without_surrogates(text: str) -> str:
    """Replace each surrogate by U+FFFD. The text keeps its length."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return SURROGATE.sub("\ufffd", text)
    return text


def tokenise_icu(texts: Sequence[str], language: Language, threads: int = 1) -> list[Tokens]:
    """Split sentences into words with ICU and the rules of the language."""
    if not texts:
        return []
    text, ends = broken(texts, language)
    found = _core.split_words(text, ends, list(language.clitics), list(language.elisions), threads)
    return normalised(found, text)


def normalised(sentences: list[Tokens], text: str) -> list[Tokens]:
    """Convert words to Unicode's form NFC, and remove invisible characters. Spans refer to the original text."""
    if unicodedata.is_normalized("NFC", text) and not HIDDEN.search(text):
        return sentences
    out = []
    for sentence in sentences:
        words = [HIDDEN.sub("", unicodedata.normalize("NFC", word)) for word in sentence.words]
        shown = [(word, span) for word, span in zip(words, sentence.spans, strict=True) if word]
        out.append(Tokens(sentence.text, [word for word, _ in shown], [span for _, span in shown]))
    return out


def tokenise_with(adapter: str, texts: Sequence[str]) -> list[Tokens]:
    """Split sentences into words with another package's tokeniser. Protected parts are not passed to it."""
    words_of = _adapter(adapter)
    return [_placed(text, words_of) for text in texts]


def _placed(given: str, words_of: Callable[[str], Iterable[str]]) -> Tokens:
    """Find the words of a tokeniser in a text. Characters that the tokeniser dropped or changed come from the text."""
    given = without_surrogates(given)
    text, begins = _composed(given)
    found: list[str] = []
    spans: list[tuple[int, int]] = []

    def add(begin: int, end: int) -> None:
        if word := HIDDEN.sub("", UNSHOWN.sub("\u00a0", text[begin:end])):
            found.append(word)
            spans.append((begins[begin], begins[end]))

    def take(words: Iterable[str], at: int, stop: int) -> None:
        for word in (*words, None):
            begin = stop if word is None else text.find(word, at, stop) if SHOWN.search(word) else -1
            if begin >= 0:
                for left in SHOWN.finditer(text, at, begin):
                    add(*left.span())
                at = begin + len(word or "")
                if word:
                    add(begin, at)

    last = 0
    for match in (*WHOLE.finditer(text), None):
        stop = len(text) if match is None else match.start()
        for begin in range(last, stop, LONGEST):
            end = min(stop, begin + LONGEST)
            take(words_of(text[begin:end]), begin, end)
        if match is not None:
            add(*match.span())
            last = match.end()
    return Tokens(given, found, spans)


def _composed(text: str) -> tuple[str, list[int]]:
    """Convert a text to NFC. Also return the original place of each character, and of the end."""
    if unicodedata.is_normalized("NFC", text):
        return text, list(range(len(text) + 1))
    out: list[str] = []
    begins: list[int] = []
    at = 0
    while at < len(text):
        composed, end = unicodedata.normalize("NFC", text[at]), at + 1
        while end < len(text):
            more = unicodedata.normalize("NFC", composed + text[end])
            if more == composed + unicodedata.normalize("NFC", text[end]):
                break
            composed, end = more, end + 1
        out.append(composed)
        begins += [at] * len(composed)
        at = end
    return "".join(out), [*begins, len(text)]


@cache
def _adapter(name: str) -> Callable[[str], Iterator[str]]:
    if name not in ADAPTERS:
        known = ", ".join([ICU, LEARNT, *ADAPTERS])
        raise UsageError(f"unknown tokeniser {name!r}; known: {known}")
    return ADAPTERS[name]()


def _require(module: str, extra: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise UsageError(f"{module} is not installed: pip install treeglot[{extra}]") from error


def _jieba() -> Callable[[str], Iterator[str]]:
    jieba = _require("jieba", "jieba")
    jieba.setLogLevel("WARNING")  # it tells of its dictionary
    return lambda text: jieba.cut(text)


def _fugashi() -> Callable[[str], Iterator[str]]:
    tagger = _require("fugashi", "fugashi").Tagger()
    return lambda text: (word.surface for word in tagger(text))


def _sudachi() -> Callable[[str], Iterator[str]]:
    dictionary = _require("sudachipy", "sudachi").Dictionary()
    tagger = (dictionary.tokenizer if hasattr(dictionary, "tokenizer") else dictionary.create)()  # before 0.7
    return lambda text: (word.surface() for word in tagger.tokenize(text))


ADAPTERS: dict[str, Callable[[], Callable[[str], Iterator[str]]]] = {
    "fugashi": _fugashi,
    "jieba": _jieba,
    "sudachi": _sudachi,
}
"""Tokenisers of other packages, by name: from a sentence to its words."""
