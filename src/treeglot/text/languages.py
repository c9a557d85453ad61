"""Facts about languages by ISO code. A language without an entry uses the defaults."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cache

from treeglot.base.errors import UsageError

_CODE = re.compile(r"[a-z]{2,3}(-[a-z0-9]{2,8})*", re.IGNORECASE)
# Codes of three letters that ICU does not know: those of ISO 639-2 for libraries, and Mandarin.
_LONG = {"alb": "sq", "arm": "hy", "baq": "eu", "bur": "my", "chi": "zh", "cmn": "zh", "cze": "cs", "dut": "nl"}
_LONG |= {"fre": "fr", "geo": "ka", "ger": "de", "gre": "el", "ice": "is", "mac": "mk", "mao": "mi", "may": "ms"}
_LONG |= {"per": "fa", "rum": "ro", "slo": "sk", "tib": "bo", "wel": "cy"}
_DOTTED = ("az", "tr")  # their i has a dot in upper case, too; that without one is another letter


@dataclass(frozen=True)
class Language:
    """A language: how its words are split and joined, and its head table."""

    code: str
    heads: str = ""  # the name of a head table; empty if unknown
    clitics: tuple[str, ...] = ()  # endings that are split off as words
    elisions: tuple[str, ...] = ()  # beginnings that are split off at an apostrophe; * is any
    spaces: bool = True  # whether blanks separate words
    decimal: str = "."  # the mark before decimals
    group: str = ","  # between groups of three digits

    @property
    def primary(self) -> str:
        """The code without script and region."""
        return self.code.partition("-")[0]

    def lower(self, text: str) -> str:
        """Return a text in lower case.

        >>> Language("tr").lower("IĞDIR, İZMİR"), Language("de").lower("IN")
        ('ığdır, izmir', 'in')
        """
        if self.primary in _DOTTED:
            text = text.replace("I\u0307", "i").replace("İ", "i").replace("I", "ı")
        return text.lower()

    def upper(self, letter: str) -> str:
        """Return a letter in upper case."""
        return "İ" if letter == "i" and self.primary in _DOTTED else letter.upper()

    def title(self, letter: str) -> str:
        """Return a letter as the beginning of a sentence.

        Letters such as ß, whose capital form has several letters, stay.

        >>> Language("tr").title("i"), Language("de").title("ß"), Language("ka").title("ა")
        ('İ', 'ß', 'ა')
        """
        title = self.upper(letter) if self.primary in _DOTTED else letter.title()
        return title if len(title) == 1 else letter


UNDETERMINED = Language("und")

_PENN = ("n't", "'s", "'re", "'ve", "'ll", "'d", "'m")
_FRENCH = ("l", "d", "j", "m", "n", "t", "s", "c", "qu", "jusqu", "lorsqu", "puisqu", "quoiqu")
# Languages with a decimal comma, by their marks of thousands.
# fmt: off
_POINTS = (
    "az", "ca", "da", "de", "el", "es", "eu", "fo", "gl", "hr", "id", "is", "it", "ka", "lb", "mk", "nl", "pt",
    "ro", "sl", "sq", "sr", "tr", "vi",
)
_BLANKS = (
    "af", "be", "bg", "cs", "eo", "et", "fi", "fr", "hu", "hy", "kk", "ky", "lt", "lv", "nb", "nn", "no", "pl",
    "ru", "sk", "sv", "tg", "tk", "uk", "uz",
)
# fmt: on
_MARKS = dict.fromkeys(_POINTS, (",", ".")) | dict.fromkeys(_BLANKS, (",", "\u00a0"))
_KNOWN = {
    language.code: language
    for language in (
        Language("ca", elisions=("l", "d", "m", "n", "t", "s")),
        Language("de", heads="german"),
        Language("en", heads="english", clitics=_PENN),
        Language("fr", elisions=_FRENCH),
        Language("it", elisions=("*",)),
        Language("zh", heads="chinese", spaces=False),
        Language("ja", heads="last", spaces=False),
        Language("ko", heads="last"),
        *(Language(code, spaces=False) for code in ("km", "lo", "my", "th")),
    )
}


@cache
def find_language(code: str) -> Language:
    """Return the language of a code such as `de`, `deu` or `zh-Hant`.

    >>> find_language("eng").clitics[:2], find_language("sv").code
    (("n't", "'s"), 'sv')
    >>> find_language("German")
    Traceback (most recent call last):
    treeglot.base.errors.UsageError: 'German' is not a language code; expected one of ISO 639 such as de or zh-Hant
    """
    if not _CODE.fullmatch(code):
        raise UsageError(f"{code!r} is not a language code; expected one of ISO 639 such as de or zh-Hant")
    primary, dash, rest = code.partition("-")
    primary = _short(primary.lower())
    known = _KNOWN.get(primary, Language(primary))
    decimal, group = _MARKS.get(primary, (known.decimal, known.group))
    return replace(known, code=primary + dash + rest, decimal=decimal, group=group)


def _short(primary: str) -> str:
    """Return the two-letter code of a language, if it has one."""
    if len(primary) == 2 or primary in _LONG:
        return _LONG.get(primary, primary)
    from icu4py.locale import Locale

    return Locale(primary).language or primary


def find_languages(pair: str) -> tuple[Language, Language]:
    """Return both languages of a pair such as `de-en`.

    If a code has several parts, a colon separates them: `zh-Hant:en`.

    >>> [language.code for language in find_languages("zh-Hant:en")]
    ['zh-Hant', 'en']
    >>> find_languages("de")
    Traceback (most recent call last):
    treeglot.base.errors.UsageError: 'de' is not a pair of languages; expected SOURCE-TARGET such as de-en
    """
    source, between, target = pair.partition(":" if ":" in pair else "-")
    if not between or (between == "-" and "-" in target):
        raise UsageError(f"{pair!r} is not a pair of languages; expected SOURCE-TARGET such as de-en")
    return find_language(source), find_language(target)
