"""How the trees of a rule's parts become one, from the words of the c2d page: a slow twin for the decoder's."""

from collections.abc import Sequence
from typing import NamedTuple

MOST_ROOTS = 8  # more are hung on the first


class Piece(NamedTuple):
    words: tuple[str, ...]
    tags: tuple[str, ...]
    heads: tuple[int, ...]  # positions, -1 for the roots
    ill: int = 0  # ill-formed structures so far

    @property
    def roots(self) -> list[int]:
        return [i for i, head in enumerate(self.heads) if head < 0]


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
