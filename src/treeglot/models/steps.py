"""Computes the steps that a model's weights make when it is taught a translation (docs/corrections.md).

A step is a line of `corrections.txt` with the action `weigh`. It contains relative changes of weights: 0.01 means one
percent of the tuned weight. It also contains the key of the weights that it was made for. New tuning changes this key,
and then old steps have no effect.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from hashlib import blake2b
from typing import TYPE_CHECKING

from treeglot._core import TargetConstraints
from treeglot.decode.weights import Weights

if TYPE_CHECKING:
    from collections.abc import Sequence

    from treeglot._core import Hypothesis
    from treeglot.decode import Translator
    from treeglot.decode.translator import Source
    from treeglot.rules.corrections import Correction

LIST = 100  # hypotheses among which the nearest is looked for, if the taught translation has no derivation
STEP = 0.003  # of a weight, at most, by one pair
BOUND = 0.5  # of a weight, at most, by all pairs
FIXED = ("unknown", "preferred")  # suffixes of fixed weights: penalties, and preferences of users
NONE = 1e-12  # a squared distance: hope and fear have the same features


def key_of(weights: Weights) -> str:
    """Return a key that distinguishes these weights from others."""
    lines = (f"{name} {float(weights[name])!r}\n" for name in sorted(weights) if weights[name])
    return blake2b("".join(lines).encode(), digest_size=8).hexdigest()


def stepped(weights: Weights, corrections: Iterable[Correction] | None) -> dict[str, float]:
    """Return the weights after all steps in some corrections.

    No weight can change its sign, because changes are bounded.

    >>> from treeglot.rules.corrections import Correction
    >>> step = Correction("weigh", "", key_of({"lm": 0.5, "glue": -1.0}), None, features=(("lm", 0.01),))
    >>> stepped({"lm": 0.5, "glue": -1.0}, [step, step])
    {'lm': 0.51, 'glue': -1.0}
    """
    made = dict(weights)
    moved = _moved(weights, corrections)
    for name in moved:
        made[name] = weights[name] * (1 + _bounded(moved[name]))
    return made


def _moved(weights: Weights, corrections: Iterable[Correction] | None) -> dict[str, float]:
    """Add up all steps. Return the sums by the names of the weights."""
    steps = [each for each in corrections or () if each.action == "weigh"]
    key = key_of(weights) if steps else ""
    parts: dict[str, list[float]] = {}
    for step in steps:
        for name, value in step.features if step.source == key else ():
            if weights.get(name):
                parts.setdefault(name, []).append(value)
    return {name: math.fsum(values) for name, values in parts.items()}


def _bounded(moved: float) -> float:
    return min(BOUND, max(-BOUND, moved))


def find_step(
    translator: Translator, tuned: Weights, held: Iterable[Correction] | None, source: Source, target: Sequence[str]
) -> tuple[tuple[str, float], ...]:
    """Return the step that moves the weights towards a taught translation. It is empty if no step is needed.

    The step is that of MIRA (Chiang 2009). It is the smallest step after which the hope outscores the fear by as much
    as it is better. The hope is the taught translation, or else the nearest of the best hypotheses.
    """
    found = translator.translate(source)
    if not found.hypotheses:
        return ()
    fear = found.best
    hope, better = _hope(translator, source, fear, target)
    gained, moved = _gained(tuned, hope.features, fear.features), _moved(tuned, held)
    loss = better - math.fsum((1 + _bounded(moved.get(name, 0.0))) * value for name, value in gained.items())
    way = _centred(gained)
    size = math.fsum(value * value for value in way.values())
    if better <= 0 or loss <= 0 or size < NONE:
        return ()
    rate = min(loss / size, STEP / max(map(abs, way.values())))
    made = {name: _rounded(moved.get(name, 0.0), rate * value) for name, value in way.items()}
    return tuple(sorted((name, value) for name, value in made.items() if value))


def _hope(translator: Translator, source: Source, fear: Hypothesis, target: Sequence[str]) -> tuple[Hypothesis, float]:
    """Return the hope of a step, and by how much its BLEU exceeds that of the fear, in words of the reference."""
    from treeglot.evaluate import Bleu

    reached = translator.translate(source, TargetConstraints(list(target), [], "", [], [], []))
    listed = reached.hypotheses[:1] or translator.translate_batch([source], LIST, distinct=True)[0].hypotheses
    texts = [fear.text, *(each.text for each in listed)]
    single = Bleu(smooth="add-one")
    rows = single.statistics(texts, [[" ".join(target)] * len(texts)])
    before, *scores = (single.scores(rows) / 100 * len(target)).tolist()
    best = max(range(len(listed)), key=lambda place: (scores[place], -place))
    return listed[best], scores[best] - before


def _gained(weights: Weights, hope: Mapping[str, float], fear: Mapping[str, float]) -> dict[str, float]:
    """Return by how much the hope outscores the fear, feature by feature. Weights that never move are left out."""
    names = sorted(name for name in {*hope, *fear} if weights.get(name) and not name.endswith(FIXED))
    differences = {name: weights[name] * (hope.get(name, 0.0) - fear.get(name, 0.0)) for name in names}
    return {name: value for name, value in differences.items() if value}


def _centred(gained: Mapping[str, float]) -> dict[str, float]:
    """Subtract from a step its common component, which would only rescale all weights.

    Human translations score lower than the model's best output. So with this component, taught weights would all
    shrink.
    """
    mean = math.fsum(gained.values()) / max(1, len(gained))
    return {name: value - mean for name, value in gained.items()}


def _rounded(moved: float, step: float) -> float:
    """Limit a step to its bounds. Round it to a few digits for the file."""
    return round(_bounded(moved + step) - _bounded(moved), 6)
