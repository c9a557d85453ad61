"""Dependency structures over spans: fixed, floating or ill-formed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from treeglot import _core
from treeglot.syntax import Dependency


@dataclass(frozen=True, slots=True)
class Structure:
    """What a span of a dependency tree is: fixed on one root, floating with several, or ill-formed with none."""

    roots: tuple[int, ...] = ()

    @property
    def kind(self) -> Literal["fixed", "floating", "ill-formed"]:
        """The kind by name.

        >>> Structure((1,)).kind
        'fixed'
        """
        if not self.roots:
            return "ill-formed"
        return "fixed" if len(self.roots) == 1 else "floating"

    @property
    def head(self) -> int | None:
        """The word that it is fixed on; None if it is not fixed."""
        return self.roots[0] if len(self.roots) == 1 else None

    @property
    def well_formed(self) -> bool:
        """Whether it is fixed or floating."""
        return bool(self.roots)


def structure(dependency: Dependency, begin: int, end: int, strict: bool = False) -> Structure:
    """The structure over the words [begin, end), in time linear in the sentence.

    It is fixed if the head of exactly one word lies outside the span; floating if the heads of two or more do, and
    they are one and the same. `strict` asks in addition, as Shen et al. (2008) do, that no word outside depends on a
    word inside, unless on the one that it is fixed on. A root's head, and a missing one, lie outside every span; words
    whose heads are missing never float together; a span that holds a whole cycle is ill-formed.

    >>> sentence = Dependency.from_brackets("(Bush) held ((a) talk) (with (Sharon))")
    >>> structure(sentence, 1, 4)  # held ((a) talk)
    Structure(roots=(1,))
    >>> structure(sentence, 3, 6).kind  # (talk) (with (Sharon))
    'floating'
    >>> structure(sentence, 3, 6, strict=True).kind
    'ill-formed'
    """
    return Structure(tuple(_core.structure_roots(dependency, begin, end, strict)))


def structures(
    dependency: Dependency, max_length: int | None = None, strict: bool = False
) -> dict[tuple[int, int], Structure]:
    """The well-formed structures of all spans up to `max_length` words: those not in it are ill-formed.

    >>> sentence = Dependency.from_brackets("((a) talk) (with (Sharon))")
    >>> for (begin, end), found in structures(sentence, 2).items():
    ...     print(sentence.words[begin:end], found.kind)
    ['a'] fixed
    ['a', 'talk'] fixed
    ['talk'] fixed
    ['talk', 'with'] floating
    ['with'] fixed
    ['with', 'Sharon'] fixed
    ['Sharon'] fixed
    """
    longest = len(dependency) if max_length is None else max_length
    return {
        (begin, end): Structure(tuple(roots)) for begin, end, roots in _core.structures(dependency, longest, strict)
    }
