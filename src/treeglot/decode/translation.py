"""What a translation is: its text, and all that explains it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

from treeglot.decode.search_forest import SearchForest
from treeglot.syntax import Dependency

if TYPE_CHECKING:
    from treeglot.decode.translator import Source
    from treeglot.syntax import ParseForest, Tree


def tokens(text: str) -> list[str]:
    """The tokens of a sentence: blanks alone part them, since a token may have other spaces in it.

    >>> tokens(" 10\u00a0000  men ")
    ['10\xa0000', 'men']
    """
    return [token for token in text.split(" ") if token]


@dataclass(frozen=True)
class Step:
    """One use of a rule in a derivation."""

    label: str
    source: str
    target: str
    span: tuple[int, int]
    children: int
    local: bool
    parse_edges: tuple[int, ...] = ()  # of the input's forest, that the rule's fragment took
    structure: tuple[int, ...] = ()  # of the target's symbols, if the model makes trees: 0 a root, k + 1 is on symbol k

    def __str__(self) -> str:
        return f"[{self.label}] ||| {self.source} ||| {self.target}"


@dataclass(frozen=True)
class Derivation:
    """The rules that gave a translation, in preorder: a step is followed by those below it.

    >>> top = Step("S", "[X,1]", "[X,1]", (0, 1), 1, True)
    >>> print(Derivation((top, Step("X", "haus", "house", (0, 1), 0, False))))
    [S] ||| [X,1] ||| [X,1]    0-1
      [X] ||| haus ||| house    0-1
    """

    steps: tuple[Step, ...]

    def depths(self) -> Iterator[int]:
        """How deep each step stands."""
        open_children: list[int] = []
        for step in self.steps:
            while open_children and open_children[-1] == 0:
                open_children.pop()
            yield len(open_children)
            if open_children:
                open_children[-1] -= 1
            open_children.append(step.children)

    def tree(self, forest: ParseForest) -> Tree:
        """The tree of `forest`, which was the input, that the rules used; below a phrase the best one."""
        return forest.tree_with([edge for step in self.steps for edge in step.parse_edges])

    def _repr_svg_(self) -> str | None:
        from treeglot.decode.draw import derivation_svg

        return derivation_svg(self)

    def __str__(self) -> str:
        return "\n".join(
            f"{'  ' * depth}{step}    {step.span[0]}-{step.span[1]}"
            for depth, step in zip(self.depths(), self.steps, strict=True)
        )


@dataclass(frozen=True)
class Hypothesis:
    """One entry of a k-best list."""

    text: str
    score: float
    features: dict[str, float]
    derivation: Derivation
    dependency: Dependency | None = None  # the tree of the text, if the model makes one
    given_by: tuple[int, ...] = ()  # of each word, the step of the derivation whose rule it comes from

    def as_object(self, trace: bool = False) -> dict[str, Any]:
        """What JSON says of it; with `trace` the derivation, and the dependency tree if there is one."""
        entry: dict[str, Any] = {"text": self.text, "score": self.score, "features": self.features}
        if trace:
            entry["derivation"] = [
                {"label": s.label, "source": s.source, "target": s.target, "span": s.span, "children": s.children}
                for s in self.derivation.steps
            ]
        if trace and self.dependency is not None:
            entry["heads"], entry["tags"] = self.dependency.heads.tolist(), self.dependency.tags
        return entry

    def _repr_html_(self) -> str:
        from treeglot.decode.draw import hypothesis_html

        return hypothesis_html(self)


class Again(Protocol):
    """Searches a sentence once more: a translation does not hold on to the search's memory."""

    @property
    def source(self) -> Source:
        """What was translated."""
        ...

    @property
    def words(self) -> Sequence[str]:
        """Its words."""
        ...

    def kbest(self, size: int, distinct: bool) -> Sequence[Hypothesis]:
        """The best derivations."""
        ...

    def forest(self, margin: float) -> SearchForest:
        """All of them."""
        ...


class Translation:
    """The translation of one sentence. An empty line translates to an empty text, without a derivation."""

    def __init__(
        self,
        source: str,
        kbest: Sequence[Hypothesis],
        problem: str,
        seconds: float,
        again: Again,
        notes: tuple[str, ...] = (),
        tree: Dependency | None = None,
    ) -> None:
        self.source = source
        self.problem = problem
        self.seconds = seconds
        self.notes = notes
        self.tree = tree  # what a model of dependency trees met: the input's, repaired, or made of a parse
        self._kbest = tuple(kbest)
        self._again = again

    @property
    def given(self) -> Source:
        """What was translated: a line, a forest or a dependency tree."""
        return self._again.source

    @property
    def words(self) -> Sequence[str]:
        """The words that were translated, which spans count: of a line, what is left without markup and references.

        None of a line that was refused.
        """
        return [] if self.problem else self._again.words

    @property
    def hypotheses(self) -> tuple[Hypothesis, ...]:
        """What the search was asked for, best first; nothing for an empty or refused line."""
        return self._kbest

    @cached_property
    def best(self) -> Hypothesis:
        """The first hypothesis."""
        return self._kbest[0] if self._kbest else Hypothesis("", 0.0, {}, Derivation(()))

    @property
    def text(self) -> str:
        """The words, separated by blanks."""
        return self.best.text

    @property
    def score(self) -> float:
        """The model's score (natural log)."""
        return self.best.score

    @property
    def features(self) -> dict[str, float]:
        """The features that fired, with their values."""
        return self.best.features

    @property
    def dependency(self) -> Dependency | None:
        """The dependency tree of the text, if the model makes one."""
        return self.best.dependency

    @property
    def derivation(self) -> Derivation:
        """The rules used."""
        return self.best.derivation

    def kbest(self, size: int, distinct: bool = False) -> tuple[Hypothesis, ...]:
        """The best `size` derivations, or (`distinct`) the best of each text; fewer when there are no more.

        The search is repeated for it.
        """
        return tuple(self._again.kbest(size, distinct))

    def forest(self, margin: float = math.inf) -> SearchForest:
        """All derivations that the search kept, or those within `margin` (natural log) of the best.

        The search is repeated for it. An empty line has an empty forest; a refused one raises ValueError.
        """
        return self._again.forest(margin)

    def _repr_html_(self) -> str:
        from treeglot.decode.draw import to_html

        return to_html(self)

    def _repr_svg_(self) -> str | None:
        from treeglot.decode.draw import to_svg

        return to_svg(self)

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"Translation({self.text!r}, score={self.score:.4f})"
