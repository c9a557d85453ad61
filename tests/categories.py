"""Categories of spans: constituents, products of constituents, and constituents that lack others at their ends."""

from __future__ import annotations

from treeglot import _core
from treeglot.syntax import Tree


def category(tree: Tree, begin: int, end: int) -> str:
    r"""The simplest category of the words [begin, end) of a tree.

    A constituent has its label (of a unary chain the topmost); constituents side by side are a product, `PP·NP`;
    `IP/VP` is an IP that lacks a VP on its right, `NP\IP` one that lacks an NP on its left, with any number of
    arguments in the order of the sentence. Of all analyses the one with the fewest labels counts, of equals the
    product. What labels themselves have of `/ \ · [ ] | ~ %`, commas, arrows and blanks is written as %XX.

    >>> tree = Tree.parse("(IP (NP 台湾) (PP (P 在) (LCP 中)) (NP 顺差) (VP (VV 是) (QP 多)))")
    >>> category(tree, 1, 4), category(tree, 1, 3), category(tree, 0, 4), category(tree, 1, 6)
    ('PP·NP', 'PP', 'IP/VP', 'NP\\IP')
    """
    return _core.span_category(tree, begin, end)


def categories(tree: Tree, max_length: int | None = None) -> dict[tuple[int, int], str]:
    """The simplest categories of all spans up to `max_length` words.

    >>> categories(Tree.parse("(S (NP I) (VP run))"))
    {(0, 1): 'NP', (0, 2): 'S', (1, 2): 'VP'}
    """
    longest = len(tree.words) if max_length is None else max_length
    return {(begin, end): text for begin, end, text in _core.span_categories(tree, longest)}
