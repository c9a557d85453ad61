"""Averaged joint models: their scores are the means of scores. Training can make them."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from neural_models import Reference, random_model, written

from treeglot._core import JointEpoch
from treeglot.base.errors import OptionError, UsageError
from treeglot.cli import main
from treeglot.neural.average import average
from treeglot.neural.options import JointOptions
from treeglot.neural.train import load_joint, train_joint
from treeglot.syntax import Alignment, Dependency

SOURCE, TARGET = ["das", "ist", "ein", "haus"], ["this", "is", "a", "house"]
PAIRS: list[tuple[list[str], list[str], list[tuple[int, int]]]] = [
    (SOURCE, TARGET, [(0, 0), (1, 1), (2, 2), (3, 3)]),
    (["das", "boot"], ["the", "sinking", "house", "is"], [(0, 0), (1, 1), (0, 1), (1, 2)]),
    (["haus"], ["house"], []),
]


@pytest.mark.parametrize(
    "shapes",
    [
        [{}, {}],
        [{}],
        [{}, {"embedding": 32}, {"hidden": 48}],
        [{"second": 16}, {"second": 32, "hidden": 16}],
        [{"has_source": False, "embedding": 0}] * 2,
        [{"sentence": False, "before": 0, "after": 3}] * 3,
        [{"parse": 2}, {"parse": 2, "embedding": 32}],
    ],
)
def test_scores_are_means(shapes: list[dict[str, Any]], tmp_path: Path) -> None:
    models = [
        random_model(SOURCE, TARGET, seed=seed, target_fallbacks=["<*ing>"], **shape)
        for seed, shape in enumerate(shapes, 1)
    ]
    share = models[0].values("share")
    average(models).write(str(tmp_path / "mean"))
    made = load_joint(tmp_path / "mean")
    assert made.facts["hidden"] == sum(model.facts["hidden"] for model in models)
    for source, target, links in PAIRS:
        each = []
        parse = Dependency(source, [at - 1 for at in range(len(source))])
        for model in models:  # the share of a fallback is that of the first: networks of one corpus have the same
            words = [*model.target_ids(target), 2]
            own = Reference(model).score(source, target, Alignment(links), parse)
            each.append(np.array(own) - model.values("share")[words] + share[words])
        found, _ = made.score(source, target, Alignment(links), parse=parse)
        np.testing.assert_allclose(found, np.mean(each, axis=0), atol=1e-5)
        expected = Reference(made).score(source, target, Alignment(links), parse)
        np.testing.assert_allclose(found, expected, atol=1e-5)


@pytest.mark.parametrize(
    ("other", "problem"),
    [
        ({"history": 2}, "joint model 2 has history 2; the first has 3"),
        ({"parse": 1}, "joint model 2 has parse 1; the first has 0"),
        ({"second": 16}, "another number of hidden layers"),
        ({"source": ["das", "war", "ein", "haus"]}, "joint model 2 has other source words than the first"),
        ({"target_fallbacks": ["<*ed>"]}, "has target_fallbacks 1; the first has 0"),
    ],
)
def test_what_is_not_alike_is_refused(other: dict[str, Any], problem: str) -> None:
    models = [random_model(SOURCE, TARGET), random_model(**{"source": SOURCE, "target": TARGET} | other)]
    with pytest.raises(UsageError, match=problem):
        average(models)
    with pytest.raises(UsageError, match="no joint model to average"):
        average([])


def test_networks_over_words_and_over_heads_are_not_alike() -> None:
    models = [random_model(SOURCE, TARGET, history=4, heads=heads) for heads in (False, True)]
    with pytest.raises(UsageError, match="joint model 2 has heads 1; the first has 0"):
        average(models)


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for seed in (1, 2):
        random_model(SOURCE, TARGET, seed=seed).write(str(tmp_path / str(seed)))
    out = tmp_path / "mean.bin"
    assert main(["neural", "average", str(tmp_path / "1"), str(tmp_path / "2"), "-o", str(out)]) == 0
    assert "2 networks, 64 hidden units" in capsys.readouterr().err
    assert load_joint(out).facts["embedding"] == 32
    assert main(["neural", "average", str(tmp_path / "1"), "-o", "-"]) != 0
    assert "has to be a file" in capsys.readouterr().err


SMALL = JointOptions(embedding=16, hidden=16, epochs=2, patience=2, batch=16, held_out=3, networks=3, seed=7)
CORPUS = [(source, target, Alignment(links)) for source, target, links in PAIRS] * 6


def test_training_makes_the_mean_of_several(tmp_path: Path) -> None:
    numbers: list[int] = []
    steps: list[tuple[int, int, int]] = []
    epochs: list[int] = []
    made = train_joint(
        CORPUS,
        SMALL,
        begin=numbers.append,
        progress=lambda *step: steps.append(step),
        report=lambda epoch: epochs.append(epoch.epoch),
    )
    assert numbers == [1, 2, 3]
    assert epochs == [1, 2] * 3
    assert sorted({epoch for epoch, _, _ in steps}) == [1, 2, 3, 4, 5, 6]
    each = [train_joint(CORPUS, dataclasses.replace(SMALL, seed=seed, networks=1)) for seed in (7, 8, 9)]
    made.write(str(tmp_path / "made"))
    average(each).write(str(tmp_path / "mean"))
    assert (tmp_path / "made").read_bytes() == (tmp_path / "mean").read_bytes()


@pytest.mark.parametrize("network", [1, 2, 3])
def test_a_killed_training_of_several_continues(tmp_path: Path, network: int) -> None:
    once = train_joint(CORPUS, SMALL, threads=2)
    begun: list[int] = []

    def kill(epoch: JointEpoch) -> None:
        if begun[-1] == network and epoch.epoch == 2:
            raise KeyboardInterrupt

    state = tmp_path / "state"
    with pytest.raises(KeyboardInterrupt):
        train_joint(CORPUS, SMALL, state=state, begin=begun.append, report=kill)
    assert begun == list(range(1, network + 1))
    epochs: list[int] = []
    again = train_joint(CORPUS, SMALL, state=state, report=lambda epoch: epochs.append(epoch.epoch))
    assert epochs == [2, *[1, 2] * (3 - network)]  # finished networks and epochs are not trained again
    once.write(str(tmp_path / "once"))
    again.write(str(tmp_path / "again"))
    assert (tmp_path / "once").read_bytes() == (tmp_path / "again").read_bytes()


def test_too_many_networks_are_refused() -> None:
    with pytest.raises(OptionError, match="networks is 9; expected at most 8 of this size"):
        JointOptions(hidden=2048, networks=9)
    with pytest.raises(OptionError, match="and 2 more seeds follow"):
        JointOptions(seed=2**63 - 2, networks=3)


def test_the_command_trains_several(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = written(tmp_path, CORPUS)
    size = ["--embedding", "16", "--hidden", "16", "--epochs", "1", "--held-out", "3", "--networks", "2"]
    out = tmp_path / "both.bin"
    assert main(["neural", "train", *files, *size, "-o", str(out)]) == 0
    assert "network 2 of 2:\nepoch 1: perplexity" in capsys.readouterr().err
    assert load_joint(out).facts["hidden"] == 32
    assert sorted(path.name for path in tmp_path.iterdir()) == ["both.bin", "links", "source", "target"]
