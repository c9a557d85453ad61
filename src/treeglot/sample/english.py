"""English word forms: the regular ones by rule, the others as the lexicon gives them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

# The forms of a paradigm in the order in which the lexicon may give them, each with its tag. Finite present forms are
# named after the subject's agreement: i (first person singular), sg (third person singular), pl (all others).
PARADIGMS: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "verb": {"base": "VB", "past": "VBD", "pp": "VBN", "ing": "VBG", "sg": "VBZ", "pl": "VBP", "i": "VBP"},
        "noun": {"sg": "NN", "pl": "NNS"},
        "name": {"sg": "NNP"},
        "country": {"sg": "NNP", "adj": "JJ"},
        "pronoun": {"nom": "PRP", "acc": "PRP", "poss": "PRP$"},
        "modal": {"pres": "MD", "past": "MD"},
        "adjective": {"base": "JJ", "er": "JJR", "est": "JJS"},
    }
)

_VOWELS = "aeiou"
_SIBILANTS = ("s", "x", "z", "ch", "sh")


def plural(noun: str) -> str:
    """The regular plural, which is also a verb's third person singular.

    >>> [plural(word) for word in ("apple", "box", "city", "boy")]
    ['apples', 'boxes', 'cities', 'boys']
    """
    if noun.endswith(_SIBILANTS):
        return noun + "es"
    if noun.endswith("y") and noun[-2] not in _VOWELS:
        return noun[:-1] + "ies"
    return noun + "s"


def past(verb: str) -> str:
    """The regular past form.

    >>> [past(word) for word in ("open", "close", "carry", "stop", "play")]
    ['opened', 'closed', 'carried', 'stopped', 'played']
    """
    if verb.endswith("e"):
        return verb + "d"
    if verb.endswith("y") and verb[-2] not in _VOWELS:
        return verb[:-1] + "ied"
    return _doubled(verb) + "ed"


def gerund(verb: str) -> str:
    """The regular -ing form.

    >>> [gerund(word) for word in ("open", "close", "sit", "see", "lie")]
    ['opening', 'closing', 'sitting', 'seeing', 'lying']
    """
    if verb.endswith("ie"):
        return verb[:-2] + "ying"
    if verb.endswith("e") and not verb.endswith("ee"):
        return verb[:-1] + "ing"
    return _doubled(verb) + "ing"


def graded(adjective: str, ending: str) -> str:
    """The regular comparative (`er`) or superlative (`est`).

    >>> [graded(word, "er") for word in ("tall", "nice", "big", "happy")]
    ['taller', 'nicer', 'bigger', 'happier']
    """
    if adjective.endswith("e"):
        return adjective + ending[1:]
    if adjective.endswith("y") and adjective[-2] not in _VOWELS:
        return adjective[:-1] + "i" + ending
    return _doubled(adjective) + ending


def _doubled(word: str) -> str:
    """`word` with its last consonant doubled if it is one syllable that ends in one vowel and one consonant."""
    short = len(word) >= 3 and word[-1] in "bdgmnprt" and word[-2] in _VOWELS and word[-3] not in _VOWELS
    return word + word[-1] if short and sum(letter in _VOWELS for letter in word) == 1 else word


def forms(paradigm: str, given: list[str]) -> dict[str, str]:
    """All forms of a word of which the lexicon gives some, in the paradigm's order; `-` is a form that it lacks.

    >>> forms("noun", ["child", "children"])
    {'sg': 'child', 'pl': 'children'}
    >>> forms("noun", ["tea", "-"])
    {'sg': 'tea'}
    >>> forms("verb", ["write", "wrote", "written"])["ing"]
    'writing'
    """
    names = list(PARADIGMS[paradigm])
    found = dict(zip(names, given, strict=False))
    first = given[0]
    match paradigm:
        case "verb":
            found.setdefault("past", past(first))
            found.setdefault("pp", found["past"])
            found.setdefault("ing", gerund(first))
            found.setdefault("sg", plural(first))
            found.setdefault("pl", first)
            found.setdefault("i", found["pl"])
        case "noun":
            found.setdefault("pl", plural(first))
        case "adjective":
            found.setdefault("er", graded(first, "er"))
            found.setdefault("est", graded(first, "est"))
    return {name: found[name] for name in names if found.get(name, "-") != "-"}


def article(following: str, exceptions: frozenset[str]) -> str:
    """`an` before a vowel, `a` otherwise; `exceptions` are the words whose spelling misleads.

    >>> article("apple", frozenset()), article("hour", frozenset({"hour"}))
    ('an', 'an')
    """
    return "an" if (following[0].lower() in _VOWELS) != (following in exceptions) else "a"
