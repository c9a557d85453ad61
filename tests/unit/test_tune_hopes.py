"""Hopes and fears that a search forest adds to a k-best list."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from small_table import table

from treeglot.base.errors import UsageError
from treeglot.decode import SearchOptions, Translator
from treeglot.evaluate import Bleu, Chrf
from treeglot.tune import LoopOptions, tune_weights
from treeglot.tune.decoder import DecoderTranslator
from treeglot.tune.hopes import Hopes, hopes_for, linear_gains
from treeglot.tune.mira import Mira

WEIGHTS = {"p": 1.0, "glue": -0.1, "unknown": -5.0}
WORDS = [("X", "das", word, -1.0 - i / 4) for i, word in enumerate(("a", "b", "c", "d"))]
SOURCE = "das ist haus das"


def translator() -> Translator:
    return Translator(table(*WORDS), WEIGHTS, options=SearchOptions(pop_limit=0, per_source=0))


def wanted(**other: object) -> Hopes:
    hopes = Hopes(3, 0.5, -0.25, (0.5, 1.0, 2.0), False, [[("House is the d", 1.0)]], margin=np.inf, beam=0)
    return dataclasses.replace(hopes, **other)  # type: ignore[arg-type]


def gain(text: str, reference: str, hopes: Hopes) -> float:
    """From the definition."""
    words, known = text.split(), reference.split()
    total = hopes.per_word * len(words)
    for n, value in enumerate(hopes.by_order, 1):
        grams = {tuple(known[i : i + n]) for i in range(len(known) - n + 1)}
        total += value * sum(tuple(words[i : i + n]) in grams for i in range(len(words) - n + 1))
    return total


@pytest.mark.parametrize(("fold", "reference"), [(False, "house is the d"), (True, "house is the d"), (False, "x y")])
def test_lists_end_with_the_best_hopes_and_the_worst_fears(fold: bool, reference: str) -> None:
    hopes = wanted(fold=fold, references=[[(reference, 1.0)]])
    tunable = DecoderTranslator(translator(), "small")
    everything = list(tunable.translate([SOURCE], WEIGHTS, 10_000).entries())
    assert 20 < len(everything) < 10_000
    found = list(tunable.translate([SOURCE], WEIGHTS, 2, hopes).entries())
    assert [entry.text for entry in found[:2]] == [entry.text for entry in everything[:2]]
    for sign, own in ((1, found[2:5]), (-1, found[5:8])):
        best = sorted((hopes.scale * e.score + sign * gain(e.text, reference, hopes) for e in everything), reverse=True)
        reached = [hopes.scale * e.score + sign * gain(e.text, reference, hopes) for e in own]
        assert reached == pytest.approx(best[:3], abs=1e-5)
        assert len({entry.text for entry in own}) == 3
    by_text = {entry.text: entry for entry in everything}
    for entry in found[2:]:  # with the features and the score of the model, not of the gain
        assert entry.score == pytest.approx(by_text[entry.text].score, abs=1e-5)
        assert entry.features == pytest.approx(by_text[entry.text].features)


def test_case_folds_if_the_metric_folds_it() -> None:
    rules = table(*WORDS, ("X", "haus", "HOUSE", -1.0))
    tunable = DecoderTranslator(Translator(rules, WEIGHTS, options=SearchOptions(pop_limit=0)), "small")
    texts = {}
    for fold in (False, True):
        hopes = wanted(size=1, scale=0.01, per_word=0.0, fold=fold, references=[[("house", 1.0)]])
        texts[fold] = [e.text for e in tunable.translate(["haus"], WEIGHTS, 1, hopes).entries()]
    assert texts[False] == ["house", "house", "HOUSE"]
    assert texts[True][1:] == ["house", "house"]


def test_gains_are_the_derivatives_of_bleu() -> None:
    bleu = Bleu()
    rows = bleu.statistics(["a b c d e f x", "g h i"], [["a b c d e f g h", "g h i j"]])
    per_word, by_order = linear_gains(bleu, rows)
    total, step = rows.sum(axis=0), 1e-6
    for column, value in [(range(2 + n, 3 + n), gain) for n, gain in enumerate(by_order)]:
        moved = total.copy()
        moved[list(column)] += step
        assert value == pytest.approx((bleu.score(moved) - bleu.score(total)) / 100 * total[1] / step, rel=1e-3)
    moved = total.copy()
    moved[[0, 6, 7, 8, 9]] += step  # a word is one more n-gram of every order
    assert per_word == pytest.approx((bleu.score(moved) - bleu.score(total)) / 100 * total[1] / step, rel=1e-3)


def test_only_bleu_has_hopes() -> None:
    with pytest.raises(UsageError, match=r"hopes are for BLEU; expected hopes = 0 with chrF"):
        hopes_for(Chrf(), [["a"]], np.zeros((1, 3)), 10, 1.0)


def test_a_run_adds_hopes_from_the_second_iteration_on(tmp_path: Path) -> None:
    sources, references = [SOURCE, "das haus"], [["house is the d", "the c house"]]

    def run(hopes: int, name: str) -> list[dict]:
        found = tune_weights(
            DecoderTranslator(translator(), "small"), sources, references, Mira(held_out_share=0.0), WEIGHTS,
            tmp_path / name, options=LoopOptions(iterations=2, kbest=2, hopes=hopes, patience=0),
        )  # fmt: skip
        return found.log

    plain, more = run(0, "plain"), run(4, "more")
    assert plain[0]["hypotheses"] == more[0]["hypotheses"]
    assert more[1]["hypotheses"] > plain[1]["hypotheses"]
    assert run(4, "more") == more  # continued: all of it was there
    with pytest.raises(UsageError, match=r"hopes is 4 there and 5 here"):
        run(5, "more")
