"""Converts numbers to the form of a language: decimal marks, thousands separators, digits, Chinese numerals.

A number changes only if it has the form of the source language. Whole numbers without marks, such as years, stay
unchanged. So do times, dates and versions, because they have other marks.
"""

from __future__ import annotations

import re
import unicodedata

from treeglot.text.languages import Language

DIGIT = "〇零一二三四五六七八九"  # two ways to write 0
_VALUES = {digit: max(0, value - 1) for value, digit in enumerate(DIGIT)} | {"两": 2, "兩": 2}
_UNITS = {"十": 10, "百": 100, "千": 1000}
_MYRIADS = {"万": 10**4, "萬": 10**4, "亿": 10**8, "億": 10**8}
_CHINESE = re.compile(f"[{''.join([*_VALUES, *_UNITS, *_MYRIADS])}]+")
LONGEST = 40  # characters of Chinese numerals
_SPACES = "\u00a0\u202f\u2009 "
_UNIT = "%?|[A-Za-zµΩ°/]{1,5}[²³]?"  # without a blank before it: 3,5kg


def convert_number(word: str, source: Language, target: Language) -> str:
    """Convert a number to the form of another language. Other words stay unchanged.

    >>> german, english = Language("de", decimal=",", group="."), Language("en")
    >>> [convert_number(word, german, english) for word in ("3,5", "1.234.567,8", "1999", "14:30", "3.5.")]
    ['3.5', '1,234,567.8', '1999', '14:30', '3.5.']
    >>> convert_number("１２.５", english, german), convert_number("三百零五万", Language("zh"), english)
    ('12,5', '3050000')
    >>> [convert_number(word, german, english) for word in ("192.168.100.200", "1.2.3", "2024-05-01", "3,5kg")]
    ['192.168.100.200', '1.2.3', '2024-05-01', '3.5kg']
    """
    if target.primary not in ("zh", "ja") and _CHINESE.fullmatch(word):
        value = _chinese(word)
        return word if value is None else str(value)
    plain = "".join(_digit(character) for character in word)
    sign, number = (plain[0], plain[1:]) if plain[:1] in ("-", "+", "−") else ("", plain)
    if not number[:1].isdigit():
        return word
    number = number.translate(dict.fromkeys(map(ord, _SPACES), " "))
    group, decimal = re.escape(" " if source.group in _SPACES else source.group), re.escape(source.decimal)
    found = re.fullmatch(rf"(\d{{1,3}}(?:{group}\d{{3}})+|\d+)(?:{decimal}(\d+))?({_UNIT})", number, re.ASCII)
    if found is None or _is_host(number):
        return sign + number if plain != word and number.isdigit() else word
    whole = re.sub(group, target.group, found[1])
    return sign + whole + (target.decimal + found[2] if found[2] else "") + found[3]


def _is_host(number: str) -> bool:
    """Return whether a number is an IP address: four parts of one byte each.

    >>> _is_host("192.168.100.200"), _is_host("192.168.100.300")
    (True, False)
    """
    parts = number.split(".")
    return len(parts) == 4 and all(part.isdecimal() and len(part) < 4 and int(part) < 256 for part in parts)


def _digit(character: str) -> str:
    """Convert a digit of any script, or a full-width mark, to ASCII. Other characters stay."""
    value = unicodedata.digit(character, None) if character.isdecimal() else None
    if value is not None:
        return str(value)
    return {"．": ".", "，": ",", "：": ":", "％": "%", "٫": ".", "٬": ","}.get(character, character)


def _chinese(word: str) -> int | None:
    """Return the value of Chinese numerals such as 三百零五 and 二〇〇八, or None for other words, such as 万一.

    >>> [_chinese(word) for word in ("二〇〇八", "十二", "三百零五", "两万五千", "一亿零三万", "万一", "百万")]
    [2008, 12, 305, 25000, 100030000, None, None]

    A digit after the last unit counts the next lower unit. Two neighbouring digits mean "two or three", so they are not
    a number.

    >>> [_chinese(word) for word in ("三百五", "一万五", "一万零五", "两三", "三四", "九八")]
    [350, 15000, 10005, None, None, 98]
    """
    if len(word) > LONGEST:
        return None
    if all(character in _VALUES for character in word):
        return _digits(word)
    total = part = 0
    unit = 1  # the one before the digit, if nothing is between them
    digit: int | None = None
    for character in word:
        if character in _VALUES:
            if digit:
                return None
            unit = 1 if digit == 0 else unit
            digit = _VALUES[character]
        elif character in _UNITS:
            if digit is None and not (character == "十" and not part):
                return None
            part += (1 if digit is None else digit) * _UNITS[character]
            digit, unit = None, _UNITS[character]
        else:
            part += digit or 0
            if not part:
                return None
            total += part * _MYRIADS[character]
            part, digit, unit = 0, None, _MYRIADS[character]
    return total + part + (digit or 0) * max(1, unit // 10)


def _digits(word: str) -> int | None:
    """Return the value of plain Chinese digits, or None for a single digit and for two that mean "one or the other"."""
    values = [_VALUES[character] for character in word]
    either = len(values) == 2 and values[0] + 1 == values[1] and values[0] > 0
    if len(values) < 2 or either or not set(word).isdisjoint("两兩"):
        return None
    return int("".join(map(str, values)))
