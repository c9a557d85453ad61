"""Parses CCG categories, and finds the direction of arcs between predicates and arguments (Clark and Curran 2007)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

__all__ = ["Category", "argument_depends", "parse_category"]

LARGEST = 100  # slashes and opening brackets of a category; those of CCGbank have under 30

_MARKS = re.compile(r"\{[^{}]*\}|<\d+>|\[nb\]|(?<=[A-Za-z\]])_\d+")
_BE = frozenset(["be", "is", "are", "am", "was", "were", "been", "being", "'s", "'re", "'m"])


@dataclass(frozen=True)
class Category:
    """A category: an atom such as `S[dcl]`, or a function, `result/argument` or `result\\argument`."""

    atom: str = ""
    result: Category | None = None
    argument: Category | None = None

    @property
    def plain(self) -> Category:
        """The category without its features."""
        if self.result is None or self.argument is None:
            return Category(self.atom.partition("[")[0])
        return Category("", self.result.plain, self.argument.plain)

    @property
    def feature(self) -> str:
        """The feature of the atom that remains when all arguments are filled: `dcl` for `(S[dcl]\\NP)/NP`."""
        inner = self
        while inner.result is not None:
            inner = inner.result
        return inner.atom.partition("[")[2].rstrip("]")


@lru_cache(65536)
def parse_category(text: str) -> Category:
    """Parse a category. Marks of variables and slots, as in `(N{Y}/N{Y}<1>){_}` and `N/N_1`, are removed.

    >>> parse_category("(S[dcl]\\\\NP)/NP").argument
    Category(atom='NP', result=None, argument=None)
    """
    if text.count("/") + text.count("\\") + text.count("(") > LARGEST:
        raise ValueError(f"{text[:40]!r}… is not a category: it has more than {LARGEST} slashes and brackets")
    symbols = re.findall(r"[()/\\]|[^()/\\]+", _MARKS.sub("", text))
    stack: list[list[Category | str]] = [[]]
    for symbol in symbols:
        if symbol == "(":
            stack.append([])
        elif symbol == ")":
            if len(stack) == 1:
                raise ValueError(f"{text!r} is not a category: a bracket is closed that was not opened")
            inner = _join(stack.pop(), text)
            stack[-1].append(inner)
        else:
            stack[-1].append(symbol if symbol in "/\\" else Category(symbol))
    if len(stack) > 1:
        raise ValueError(f"{text!r} is not a category: a bracket is not closed")
    return _join(stack[0], text)


def _join(parts: list[Category | str], text: str) -> Category:
    """Join the parts of a category. Slashes associate to the left."""
    if len(parts) % 2 == 0 or any(isinstance(part, str) != (i % 2 == 1) for i, part in enumerate(parts)):
        raise ValueError(f"{text!r} is not a category")
    left = parts[0]
    assert isinstance(left, Category)
    for right in parts[2::2]:
        assert isinstance(right, Category)
        left = Category("", left, right)
    return left


def argument_depends(text: str, slot: int, word: str = "") -> bool:
    """Return whether the argument in a slot of a word's category depends on the word. Otherwise the word depends on it.

    Slots count from the innermost argument. A modifier X/X or X\\X depends on its first slot, the word that it
    modifies. A determiner depends on its noun, and an auxiliary on its verb. All other arguments depend on the word.
    A conjunction (`conj`) has one slot, for all words that it joins.

    >>> argument_depends("(S[dcl]\\\\NP)/NP", 2)
    True
    >>> argument_depends("(NP\\\\NP)/NP", 1), argument_depends("(NP\\\\NP)/NP", 2)
    (False, True)
    >>> argument_depends("(S[dcl]\\\\NP)/(S[b]\\\\NP)", 2, "will"), argument_depends("NP[nb]/N", 1, "the")
    (False, False)
    """
    category = parse_category(text)
    arguments = [(category, False)] if category == Category("conj") else _slots(category)
    if not 1 <= slot <= len(arguments):
        raise ValueError(f"slot {slot} of {text!r}, which has {len(arguments)}")
    category, modified = arguments[slot - 1]
    return not (modified or _auxiliary(category, word))


def _slots(category: Category) -> list[tuple[Category, bool]]:
    """Return the functions that take the arguments, from the first slot on, and which depend on their arguments."""
    out: list[tuple[Category, bool]] = []
    rest: Category | None = category
    while rest is not None and rest.result is not None and rest.argument is not None:
        if rest.result == rest.argument:
            out.append((rest, True))
            break
        if rest.result == Category("NP") and rest.argument == Category("N"):
            out.append((rest, True))
            break
        out.append((rest, False))
        rest = rest.result
    return out[::-1]


def _auxiliary(function: Category, word: str) -> bool:
    if function.result is None or function.argument is None:
        return False
    verb = Category("", Category("S"), Category("NP"))
    if function.result.plain != verb or function.argument.plain != verb:
        return False
    if function.argument.feature == "ng":
        return word.lower() in _BE
    return function.argument.feature in ("b", "pt", "pss")
