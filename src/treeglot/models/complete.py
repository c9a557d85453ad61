"""Completes a translation whose beginning a user has typed (docs/why.md)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from treeglot.decode.constraints import Constraints

if TYPE_CHECKING:
    from treeglot.models.model import Model
    from treeglot.models.reading import Given

LIST = 100  # hypotheses among which the closest is looked for, where no derivation begins as was typed


@dataclass(frozen=True)
class Completion:
    """A continuation of what the user has typed."""

    rest: str  # after the prefix, character by character
    reached: bool  # whether some derivation begins with the prefix; otherwise `rest` is from the closest hypothesis


def complete(model: Model, source: Given, prefix: str) -> Completion:
    """Return the best completion of a prefix. The last word may be incomplete."""
    wanted = Constraints(prefix=prefix)
    core = wanted.core(partial(model.reader.target_words, source=source))
    typed, part = core.prefix, core.part
    found = model.translate(source, wanted if prefix.strip() else None)
    if found.hypotheses:
        words = found.target_tokens
        begin = words.spans[len(typed)][0] + len(part) if len(typed) < len(words) else len(found.text)
        return Completion(found.text[begin:], True)
    hypotheses = [h.text.split(" ") for h in model.translate(source).kbest(LIST, distinct=True)]
    rest = _closest(hypotheses, typed, part)
    if model.text is not None and rest:
        [text] = model.text.target.detokenise(model.text.target.unfold([rest]))
        line = text.text
    else:
        line = " ".join(rest)
    if part and rest and rest[0].startswith(part):
        return Completion(line[len(part) :], False)
    return Completion(f" {line}" if part and line else line, False)


def _closest(hypotheses: Sequence[Sequence[str]], typed: Sequence[str], part: str) -> Sequence[str]:
    """Find the place of a hypothesis that is closest to the typed text, and return what follows it.

    The distance counts inserted, deleted and replaced words. If possible, the next word begins with `part`.

    >>> _closest([["the", "big", "house"], ["a", "house"]], ["the", "small"], "ho")
    ['house']
    """
    best: tuple[int, int, int] | None = None
    chosen: Sequence[str] = ()
    for number, words in enumerate(hypotheses):
        row = list(range(len(words) + 1))
        for i, word in enumerate(typed, 1):
            before, row = row, [i]
            for j, other in enumerate(words, 1):
                row.append(min(before[j] + 1, row[-1] + 1, before[j - 1] + (word != other)))
        for j, cost in enumerate(row):
            goes_on = not part or (j < len(words) and words[j].startswith(part))
            key = (cost + (not goes_on), number, -j)
            if best is None or key < best:
                best, chosen = key, words[j:] if goes_on else words[j + 1 :]
    return chosen
