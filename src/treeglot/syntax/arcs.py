"""Reduces arcs between words, any number for each, to one head for each word (the s2d page, "checking")."""

from __future__ import annotations

from collections.abc import Iterable

from treeglot._core import Dependency

__all__ = ["one_head_each", "widest_root"]


def one_head_each(words: int, arcs: Iterable[tuple[int, int]], root: int) -> list[int]:
    """Return the heads of words, given arcs (dependent, head) and the root of the sentence.

    A word with several heads keeps the arc whose removal would cut the most words off the root. Ties go to the longest
    arc, then to the leftmost. Words are processed from left to right. Afterwards, words that still lack a head depend
    on the root. Cycles are not removed.

    >>> one_head_each(4, [(1, 0), (2, 1), (2, 0), (0, 2)], root=0)  # nobody depends on 2; 2 - 0 is longer than 2 - 1
    [-1, 0, 0, 0]
    """
    heads: list[set[int]] = [set() for _ in range(words)]
    for dependent, head in arcs:
        if dependent != head and dependent != root:
            heads[dependent].add(head)
    for word in range(words):
        if len(heads[word]) < 2:
            continue
        every = frozenset(heads[word])

        def left_without(head: int, word: int = word, every: frozenset[int] = every) -> int:
            heads[word] = set(every - {head})
            return _reaching(heads, root)

        # Fewest words that still reach the root without the arc: most are cut off by its removal.
        kept = min(sorted(every), key=lambda head: (left_without(head), -abs(word - head)))
        heads[word] = {kept}
    return [Dependency.ROOT if word == root else next(iter(found), root) for word, found in enumerate(heads)]


def widest_root(words: int, arcs: Iterable[tuple[int, int]]) -> tuple[int, bool]:
    """Find the root of a sentence. Return it, and whether the arcs determine it.

    The arcs determine the root if only one word heads others and has no head itself. Otherwise, the root is the one of
    such words (or of all words) that most words reach. Ties go to the leftmost.

    >>> widest_root(3, [(0, 1), (2, 1)]), widest_root(4, [(0, 1), (2, 3)])
    ((1, True), (1, False))
    """
    heads: list[set[int]] = [set() for _ in range(words)]
    for dependent, head in arcs:
        if dependent != head:
            heads[dependent].add(head)
    used = set().union(*heads) if heads else set()
    candidates = [word for word in range(words) if not heads[word] and word in used]
    best = max(candidates or range(words), key=lambda word: (_reaching(heads, word), -word), default=0)
    return best, len(candidates) == 1


def _reaching(heads: list[set[int]], root: int) -> int:
    """Return how many words reach a root by following heads."""
    dependents: list[list[int]] = [[] for _ in heads]
    for word, above in enumerate(heads):
        for head in above:
            dependents[head].append(word)
    seen, stack = {root}, [root]
    while stack:
        for word in dependents[stack.pop()]:
            if word not in seen:
                seen.add(word)
                stack.append(word)
    return len(seen)
