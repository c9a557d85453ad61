"""Means over tunings: the drawn distribution is that of an enumeration, and Holm's method its definition."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from treeglot.base.errors import UsageError
from treeglot.evaluate import Bleu, Ter
from treeglot.evaluate.means import compare_means, holm, score_tunings

REFERENCES = ["a b c d e", "f g h i j", "k l m n o"]
WORDS = st.lists(st.sampled_from("abcdefghijklmno"), min_size=4, max_size=6).map(" ".join)
OUTPUT = st.tuples(WORDS, WORDS, WORDS)
TUNINGS = st.lists(OUTPUT, min_size=1, max_size=3)


@given(TUNINGS, TUNINGS)
@settings(max_examples=15, deadline=None)
def test_the_interval_and_p_are_those_of_all_samples(
    baseline: list[tuple[str, ...]], system: list[tuple[str, ...]]
) -> None:
    metric = Ter()
    references = metric.prepare([REFERENCES])
    old, new = ([references.statistics(list(lines)) for lines in one] for one in (baseline, system))
    gains = []
    for sentences in product(range(3), repeat=3):
        scores = [[metric.score(rows[list(sentences)]) for rows in side] for side in (old, new)]
        means = [[np.mean(drawn) for drawn in product(side, repeat=len(side))] for side in scores]
        gains += [after - before for before in means[0] for after in means[1]]
    found = compare_means(metric, old, new, samples=8000)
    wanted = np.mean([metric.score(rows) for rows in new]) - np.mean([metric.score(rows) for rows in old])
    assert found.difference == pytest.approx(wanted)
    share = np.mean([gain * np.sign(wanted) > 1e-9 for gain in gains]) if abs(wanted) > 1e-9 else 0.0
    assert found.p == pytest.approx(min(1.0, 2 * (1 - share)), abs=0.06)
    assert min(gains) - 1e-9 <= found.interval.low <= found.interval.high <= max(gains) + 1e-9


@given(st.dictionaries(st.text(max_size=3), st.floats(0, 1), max_size=6))
def test_holm_is_its_definition(values: dict[str, float]) -> None:
    ordered = sorted(values.values())
    for name, adjusted in holm(values).items():
        place = max(i for i, p in enumerate(ordered) if p == values[name])
        assert adjusted == max(min(1.0, (len(ordered) - i) * ordered[i]) for i in range(place + 1))


def test_the_same_seed_gives_the_same_interval() -> None:
    references = Bleu().prepare([REFERENCES])
    old = [references.statistics(["a b c d x", "f g h i j", "k l m x o"])]
    new = [references.statistics(REFERENCES), references.statistics(["a b c d e", "f g h i j", "k l m n x"])]
    assert compare_means(Bleu(), old, new) == compare_means(Bleu(), old, new)
    assert compare_means(Bleu(), old, new) != compare_means(Bleu(), old, new, seed=2)
    with pytest.raises(UsageError, match=r"^there are no tunings to compare; expected at least one of each system$"):
        compare_means(Bleu(), [], new)


def test_a_system_with_one_output_stands_beside_several() -> None:
    systems = {"old": [["a b c d x"]], "new": [["a b c d e"], ["a b c x e"]]}
    found = score_tunings(systems, [["a b c d e"]], baseline="old")
    assert [one.name for one in found["new"]] == ["BLEU", "chrF", "TER"]
    assert len(found["new"][0].scores) == len(found["new"][0].sign_tests) == 2
    assert found["old"][0].against is None and "against" not in found["old"][0].as_object()
    assert found["new"][0].as_object()["mean"] == pytest.approx(np.mean(found["new"][0].scores))
