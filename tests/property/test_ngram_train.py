"""Trained models against the definition, against themselves in little memory, and as distributions."""

import random
import warnings
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kneser_ney import BOS, Model, assert_close, conditional, read_arpa, slow_twin

from treeglot.lm import train_ngram
from treeglot.lm.train import DiscountWarning, Training
from treeglot.rules.engines import DuckDB

WORDS = st.sampled_from(["a", "b", "c", "d", "e", "f", "g"])
LINES = st.lists(st.lists(WORDS, max_size=8).map(" ".join), min_size=1, max_size=30)
ORDERS = st.integers(1, 6)


def train_to(path: Path, lines: list[str], order: int, **options: object) -> Training:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DiscountWarning)
        return train_ngram(lines, order, out=path, **options)  # type: ignore[arg-type]


def trained(lines: list[str], order: int, **options: object) -> tuple[Model, Training]:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "x.arpa"
        training = train_to(path, lines, order, **options)
        return read_arpa(path), training


def long_enough(lines: list[str], order: int) -> list[str]:
    return [*lines, " ".join(["a"] * max(order - 2, 1))]


@settings(max_examples=150)
@given(LINES, ORDERS)
def test_agrees_with_the_definition(lines: list[str], order: int) -> None:
    lines = long_enough(lines, order)
    model, training = trained(lines, order)
    expected, discounts, fallen = slow_twin(lines, order)
    assert_close(model, expected)
    assert np.allclose(training.report.discounts, discounts, atol=1e-6)
    assert [order for order, _ in training.report.fallbacks] == fallen


@settings(max_examples=100)
@given(LINES, ORDERS, st.lists(st.integers(0, 4), min_size=1, max_size=6))
def test_pruning_agrees_with_the_definition(lines: list[str], order: int, prune: list[int]) -> None:
    lines = long_enough(lines, order)
    thresholds = sorted(prune)[:order]
    model, training = trained(lines, order, prune=thresholds)
    expected, _, _ = slow_twin(lines, order, thresholds)
    assert_close(model, expected)
    assert training.report.kept == [len(ngrams) for ngrams in expected]
    assert training.report.counted == [len(ngrams) for ngrams in slow_twin(lines, order)[0]]


@settings(max_examples=50)
@given(LINES, ORDERS, st.sampled_from([(), (0, 1), (1,), (2, 3)]), st.data())
def test_probabilities_sum_to_one(lines: list[str], order: int, prune: tuple[int, ...], data: st.DataObject) -> None:
    model, _ = trained(long_enough(lines, order), order, prune=prune[:order])
    events = [word for (word,) in model[0] if word != BOS]
    for _ in range(5):
        words = data.draw(st.lists(st.sampled_from([*events, "unseen"]).filter("</s>".__ne__), max_size=order))
        context = (*data.draw(st.sampled_from([(), (BOS,)])), *words)
        assert sum(conditional(model, context, word) for word in events) == pytest.approx(1, abs=1e-4)


def random_text(seed: int, lines: int, vocabulary: int) -> list[str]:
    draw = random.Random(seed)
    return [
        " ".join(f"w{min(int(draw.paretovariate(0.7)), vocabulary)}" for _ in range(draw.randrange(12)))
        for _ in range(lines)
    ]


@pytest.mark.parametrize("prune", [(), (0, 0, 1), (1, 2)])
@pytest.mark.parametrize("order", [1, 2, 3, 5, 9])
def test_little_memory_and_many_threads_give_the_same_bytes(tmp_path: Path, order: int, prune: tuple[int, ...]) -> None:
    lines = random_text(order, 4000, 60)
    thresholds = prune[:order]
    plain = train_to(tmp_path / "plain", lines, order, prune=thresholds)
    assert plain.report.runs == 0
    little = train_to(tmp_path / "little", lines, order, prune=thresholds, memory="64K", scratch=tmp_path)
    assert little.report.runs > 5
    train_to(tmp_path / "threads", lines, order, prune=thresholds, threads=3)
    expected = (tmp_path / "plain").read_bytes()
    assert (tmp_path / "little").read_bytes() == expected
    assert (tmp_path / "threads").read_bytes() == expected
    for field in ("sentences", "tokens", "types", "counted", "kept", "discounts", "fallbacks"):
        assert getattr(plain.report, field) == getattr(little.report, field)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["little", "plain", "threads"]


@pytest.mark.parametrize("prune", [(), (0, 0, 1)])
@pytest.mark.parametrize("order", [1, 2, 3, 5, 9])
def test_blocks_that_others_sort_give_the_same_bytes(
    tmp_path: Path, order: int, prune: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("treeglot.lm.text.LINES_AT_A_TIME", 300)
    monkeypatch.setattr("treeglot.lm.train.BLOCK", 1)
    lines = random_text(order, 1000, 60)
    thresholds = prune[:order]
    plain = train_to(tmp_path / "plain", lines, order, prune=thresholds)
    blocks = train_to(tmp_path / "blocks", lines, order, prune=thresholds, machines=DuckDB(), scratch=tmp_path)
    assert blocks.report.runs == 4
    assert (tmp_path / "blocks").read_bytes() == (tmp_path / "plain").read_bytes()
    for field in ("sentences", "tokens", "types", "counted", "kept", "discounts", "fallbacks"):
        assert getattr(plain.report, field) == getattr(blocks.report, field)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["blocks", "plain"]
