"""Hard constraints on the output, for all kinds of models (docs/why.md)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from treeglot._core import Step, TargetConstraints

UNMET = "no derivation meets the constraints"  # the problem of a sentence that has no such output
RequiredStep: TypeAlias = Step | tuple[str, int, int]  # a step of a derivation, or a label and the words it covers
Words: TypeAlias = Callable[[str], Sequence[str]]


@dataclass(frozen=True)
class Constraints:
    """Constraints on the output, which must all hold. If no output satisfies them, the translation has a `problem`.

    Texts have the form of the model's output: plain text, or words separated by blanks.

    >>> Constraints(prefix="the pro", contains=("green",)).core(str.split).part
    'pro'
    """

    exactly: str | None = None  # the whole output
    prefix: str = ""  # what it begins with; its last word may be a part of one, unless a blank follows
    contains: Sequence[str] = ()  # phrases that are in it
    forbid: Sequence[str] = ()  # phrases that are not in it
    steps: Sequence[RequiredStep] = ()  # steps of its derivation, or nodes of the input's parse

    def core(self, words: Words) -> TargetConstraints:
        """Convert the constraints to the type of the core. `words` splits texts into words."""
        first = list(words(self.prefix))
        part = first.pop() if first and not self.prefix[-1].isspace() else ""
        return TargetConstraints(
            None if self.exactly is None else list(words(self.exactly)),
            first,
            part,
            [list(words(phrase)) for phrase in self.contains],
            [list(words(phrase)) for phrase in self.forbid],
            [_fields(step) for step in self.steps],
        )


def _fields(step: RequiredStep) -> tuple[tuple[int, int], str, str | None, str | None]:
    if isinstance(step, Step):
        return step.span, step.label, step.source, step.target
    label, begin, end = step
    return (begin, end), label, None, None
