"""Converts language codes between the forms that clients use: two or three letters, regions, English names."""

from __future__ import annotations

from functools import cache
from importlib.resources import files


@cache
def _table() -> dict[str, tuple[str, str]]:
    """Load the three-letter code and the English name for each two-letter code."""
    lines = (files("treeglot.web") / "languages.tsv").read_text(encoding="utf-8").splitlines()
    return {two: (three, name) for two, three, name in (line.split("\t") for line in lines)}


@cache
def _short() -> dict[str, str]:
    return {three: two for two, (three, _) in _table().items()} | {"chi": "zh", "cmn": "zh", "ger": "de", "fre": "fr"}


def normal(code: str) -> str:
    """Return a code in the form that models use: with two letters if possible.

    >>> normal("DEU"), normal("zh_Hant"), normal("EN-us")
    ('de', 'zh-hant', 'en-us')
    """
    primary, dash, rest = code.strip().lower().replace("_", "-").partition("-")
    return _short().get(primary, primary) + dash + rest


def candidates(code: str) -> list[str]:
    """Return the codes to try for a client's code: the code itself, and then without region and script.

    >>> candidates("EN-US")
    ['en-us', 'en']
    """
    found = normal(code)
    primary = found.partition("-")[0]
    return [found] if primary == found else [found, primary]


def name(code: str) -> str:
    """Return the English name of a language.

    >>> name("zh"), name("zh-Hant"), name("tlh")
    ('Chinese', 'Chinese (Hant)', 'tlh')
    """
    primary, _, rest = code.partition("-")
    known = _table().get(normal(primary), ("", primary))[1]
    return f"{known} ({rest})" if rest else known


def long(code: str) -> str:
    """Return the three-letter code of a language.

    >>> long("de"), long("tlh")
    ('deu', 'tlh')
    """
    primary = code.partition("-")[0]
    return _table().get(normal(primary), (primary, ""))[0]
