"""How the trees of a rule's parts become one, from the words of the c2d page: a slow twin for the decoder's."""

import warnings
from collections.abc import Sequence
from typing import NamedTuple

from hypothesis import strategies as st

from treeglot._core import Hypothesis
from treeglot.lm import DependencyModel, compile_dependency, train_dependency
from treeglot.syntax import Dependency

MOST_ROOTS = 8  # more are hung on the first


class Piece(NamedTuple):
    words: tuple[str, ...]
    tags: tuple[str, ...]
    heads: tuple[int, ...]  # positions, -1 for the roots
    ill: int = 0  # ill-formed structures so far

    @property
    def roots(self) -> list[int]:
        return [i for i, head in enumerate(self.heads) if head < 0]


def tree_of(hypothesis: Hypothesis) -> tuple[tuple[str, ...], tuple[str, ...], tuple[int, ...]]:
    """Words, tags and heads of a hypothesis, as a piece has them."""
    tree, words = hypothesis.dependency, tuple(hypothesis.text.split())
    if tree is None:
        return words, (), ()
    assert tuple(tree.words) == words
    return words, tuple("" if tag == "_" else tag for tag in tree.tags or ()), tuple(tree.heads.tolist())


def join(heads: Sequence[int], items: Sequence[Piece], ill: int = 0) -> Piece:
    """One piece of the items of a rule in order; `heads` are those of the items, -1 for none."""
    offsets = [sum(len(item.words) for item in items[:i]) for i in range(len(items))]
    placed = list(zip(items, offsets, strict=True))
    new = [head + offset if head >= 0 else -1 for item, offset in placed for head in item.heads]
    roots = [[root + offset for root in item.roots] for item, offset in placed]

    def head_of(item: int) -> int:
        head = heads[item]
        while head >= 0 and not roots[head]:  # nothing is there to hang on
            head = heads[head]
        return head

    def settle(group: list[int]) -> None:
        for root in group[1:]:
            new[root] = group[0]
        del group[1:]

    for head in {head_of(item) for item in range(len(items)) if roots[item]} - {-1}:
        if len(roots[head]) > 1:
            settle(roots[head])
            ill += 1
    kept = []
    for item, group in enumerate(roots):
        head = head_of(item)
        for root in group:
            if head >= 0:
                new[root] = roots[head][0]
            else:
                kept.append(root)
    if len(kept) > MOST_ROOTS:
        settle(kept)
        ill += 1
    words = tuple(word for item in items for word in item.words)
    tags = tuple(tag for item in items for tag in item.tags)
    return Piece(words, tags, tuple(new), ill + sum(item.ill for item in items))


@st.composite
def projective(draw: st.DrawFn, size: int) -> tuple[int, ...]:
    """Heads of a projective forest: a head is drawn for a span, then for what is left and right of it."""
    heads = [-1] * size

    def fill(begin: int, end: int, head: int) -> None:
        at = begin
        while at < end:
            stop = draw(st.integers(at + 1, end))
            root = draw(st.integers(at, stop - 1))
            heads[root] = head
            fill(at, root, root)
            fill(root + 1, stop, root)
            at = stop

    fill(0, size, -1)
    return tuple(heads)


def models() -> tuple[DependencyModel, DependencyModel]:
    """One over words and one over tags, in different conditionings."""
    treebank = [
        Dependency(["u", "v", "u"], [1, -1, 1], ["N", "V", "N"]),
        Dependency(["v", "u", "v", "u"], [1, -1, 1, 2], ["V", "N", "N", "V"]),
        Dependency(["u", "u"], [-1, 0], ["N", "N"]),
        Dependency(list("uvuvuuv"), [3, 3, 3, -1, 3, 3, 3], list("NVNVNNV")),
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        words = compile_dependency(train_dependency(treebank, "words", conditioning="trigram"))
        return words, compile_dependency(train_dependency(treebank, "tags", conditioning="sibling"))


WORDS_MODEL, TAGS_MODEL = models()
