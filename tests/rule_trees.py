"""The trees of exact tree-to-tree rules, from the columns of a rule table."""

import re
from collections.abc import Iterator

VARIABLE = re.compile(r"\[.+,[0-9]+\]", re.DOTALL)  # a word that looks like one has a backslash before it


def rule_trees(source: str, target: str, labels: str) -> tuple[str, str]:
    """The two trees of a rule of an exact tree-to-tree table, from its columns, in brackets.

    >>> rule_trees("在 [NP~NP,1] 中", "in [NP~NP,1]", "PP PP NP NP (PP (P * ) (LCP * (LC * ) ) ) (PP (IN * ) * )")
    ('(PP (P 在) (LCP [NP~NP,1] (LC 中)))', '(PP (IN in) [NP~NP,1])')
    """
    sides = source.split(" "), target.split(" ")
    tokens = iter(labels.split(" ")[2 + 2 * sum(VARIABLE.fullmatch(s) is not None for s in sides[0]) :])
    first, second = (_tree(tokens, iter(side)) for side in sides)
    return first, second


def _tree(tokens: Iterator[str], symbols: Iterator[str]) -> str:
    """The next tree of `tokens`; a star is the next of `symbols`."""
    out, depth = "", 0
    for token in tokens:
        if token == ")":
            out += token
            depth -= 1
        else:
            out += " " if out else ""
            out += next(symbols) if token == "*" else token
            depth += token.startswith("(")
        if depth == 0:
            break
    return out
