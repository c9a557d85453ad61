"""PyTorch as a trainer: the same loss, gradients and steps as the core's, and files like the core's.

It needs PyTorch, which is too large for the tests' environment. So the default run does not collect this file:

    pip install torch
    python -m pytest tests/torch_trainer.py
"""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from neural_models import Reference, linked_pairs, parsed_pairs, written

from treeglot import _core, sample
from treeglot.base.errors import UsageError
from treeglot.cli import main
from treeglot.neural.learner import shapes
from treeglot.neural.options import JointOptions
from treeglot.neural.torch_trainer import torch_learner
from treeglot.neural.train import LinkedPair, load_joint, train_joint

DEVICE = os.environ.get("TREEGLOT_DEVICE", "cpu")  # cuda, where there is one
SMALL = JointOptions(
    history=2,
    before=1,
    after=1,
    embedding=16,
    hidden=16,
    epochs=3,
    batch=64,
    held_out=10,
    rate=0.01,
    least_fallback=3,
    trainer="torch",
    device=DEVICE,
)
VARIANTS: list[dict[str, Any]] = [
    {},
    {"second": 16, "samples": 20, "frequent": 5, "dropout": 0.4, "input_dropout": 0.2, "short_history": 0.5},
    {"dropout": 0.0, "input_dropout": 0.0, "sentence": False},
    {"monolingual": True},
    {"lexical": True},
    {"parse": True},
    {"heads": True},
]


def by_core(options: JointOptions) -> JointOptions:
    return dataclasses.replace(options, trainer="core", device="cpu")


def sample_pairs(count: int) -> list[LinkedPair]:
    return [(pair.source, pair.target, pair.alignment) for pair in sample.read_pairs(count)]


def network_of(options: JointOptions) -> _core.JointGradients:
    """A network with numbers far from zero, and its examples."""
    corpus = _core.JointCorpus(options.lexical, options.heads)
    for pair in parsed_pairs(30):
        corpus.add(*pair[:3], pair[3] if options.parse else None, pair[4])
    network = _core.JointGradients(corpus, options.for_core())
    draw = np.random.default_rng(3)
    for block in shapes(options):
        network.set(block, draw.normal(0, 0.3, len(network.values(block))).astype(np.float32))
    return network


@pytest.mark.parametrize("more", VARIANTS)
def test_loss_and_gradients_are_those_of_the_core(more: dict[str, Any]) -> None:
    options = dataclasses.replace(SMALL, **more)
    network = network_of(options)
    values = {name: network.values(name) for name in shapes(options)}
    batch = network.batch(7)
    with torch_learner(options, 1) as learner:
        learner.begin(values, values, values)
        loss, gradients = learner.gradients(batch)
        again = learner.blocks()[0]
    assert {name: again[name].tolist() for name in again} == {name: values[name].tolist() for name in values}
    assert network.loss(7) == pytest.approx(loss / len(batch.columns), rel=1e-5)
    assert set(gradients) == {name for name in values if len(values[name])}
    for name, (rows, gradient) in gradients.items():
        core = network.gradient(name).reshape(shapes(options)[name])
        if rows is not None:
            at = rows.cpu().numpy()
            assert not np.delete(core, at, axis=0).any()
            core = core[at]
        np.testing.assert_allclose(gradient.cpu().numpy(), core, rtol=2e-3, atol=2e-6)


@pytest.mark.parametrize("more", VARIANTS)
def test_training_gives_the_network_of_the_core(more: dict[str, Any]) -> None:
    options = dataclasses.replace(SMALL, **more)
    perplexities: dict[str, list[float]] = {"core": [], "torch": []}
    models = {}
    for each in (options, by_core(options)):
        found = perplexities[each.trainer]
        models[each.trainer] = train_joint(
            [pair for pair in parsed_pairs(150) if pair[4]],
            each,
            report=lambda epoch, found=found: found.append(epoch.perplexity),
        )
    assert perplexities["torch"] == pytest.approx(perplexities["core"], rel=1e-3)
    for section in ("tables", "bias", "second.weights", "output", "output.bias", "share"):
        core, made = (models[name].values(section) for name in ("core", "torch"))
        np.testing.assert_allclose(made, core, rtol=0.05, atol=5e-3)


def test_the_sample_corpus_gives_a_file_like_that_of_the_core(tmp_path: Path) -> None:
    given = sample_pairs(400)
    options = dataclasses.replace(SMALL, history=3, embedding=32, hidden=64, epochs=6, rate=0.004)
    best = {}
    for each in (options, by_core(options)):
        found: list[float] = []
        model = train_joint(given, each, report=lambda epoch, found=found: found.append(epoch.perplexity))
        best[each.trainer] = min(found)
        model.write(str(tmp_path / each.trainer))
    assert best["torch"] == pytest.approx(best["core"], rel=0.01)
    opened = load_joint(tmp_path / "torch")
    assert opened.facts == load_joint(tmp_path / "core").facts
    for source, target, links in given[:20]:
        found_scores = opened.score(list(source), list(target), links, True)[0]
        expected = Reference(opened).score(source, target, links, normalise=True)
        np.testing.assert_allclose(found_scores, expected, atol=1e-4)


@pytest.mark.skipif(DEVICE != "cpu", reason="a GPU adds numbers up in any order")
def test_a_seed_gives_the_same_bytes(tmp_path: Path) -> None:
    files = []
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        train_joint(linked_pairs(150), dataclasses.replace(SMALL, seed=seed)).write(str(tmp_path / name))
        files.append((tmp_path / name).read_bytes())
    assert files[0] == files[1] != files[2]


class Killed(KeyboardInterrupt):
    pass


@pytest.mark.skipif(DEVICE != "cpu", reason="a GPU adds numbers up in any order")
def test_a_killed_run_ends_with_the_same_bytes(tmp_path: Path) -> None:
    def stop(epoch: _core.JointEpoch) -> None:
        if epoch.epoch == 2:
            raise Killed

    train_joint(linked_pairs(150), SMALL).write(str(tmp_path / "once"))
    with pytest.raises(Killed):
        train_joint(linked_pairs(150), SMALL, state=tmp_path / "state", report=stop)
    epochs: list[int] = []
    again = train_joint(
        linked_pairs(150), SMALL, state=tmp_path / "state", report=lambda epoch: epochs.append(epoch.epoch)
    )
    again.write(str(tmp_path / "again"))
    assert epochs == [2, 3]
    assert (tmp_path / "again").read_bytes() == (tmp_path / "once").read_bytes()


def test_a_state_of_the_core_continues_and_says_so(tmp_path: Path) -> None:
    def stop(epoch: _core.JointEpoch) -> None:
        if epoch.epoch == 2:
            raise Killed

    with pytest.raises(Killed):
        train_joint(linked_pairs(150), by_core(SMALL), state=tmp_path, report=stop)
    epochs: list[int] = []
    with pytest.warns(UserWarning, match=r"another trainer or processor \(core, .*\(torch .* on "):
        train_joint(linked_pairs(150), SMALL, state=tmp_path, report=lambda epoch: epochs.append(epoch.epoch))
    assert epochs == [2, 3]


def test_the_number_of_threads_is_restored() -> None:
    earlier = torch.get_num_threads()
    with torch_learner(SMALL, earlier + 1):
        assert torch.get_num_threads() == earlier + 1
    assert torch.get_num_threads() == earlier


@pytest.mark.parametrize("device", ["cuda:77", "toaster"])
def test_a_device_that_is_not_there_is_named(device: str) -> None:
    with pytest.raises(UsageError, match=rf"device is '{device}', which PyTorch cannot use \(.+\); expected cpu or"):
        train_joint(linked_pairs(60), dataclasses.replace(SMALL, device=device))


def test_the_command_trains_with_torch(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = written(tmp_path, linked_pairs(120))
    size = ["--embedding", "16", "--hidden", "16", "--epochs", "2", "--batch", "64", "--held-out", "10"]
    out = str(tmp_path / "joint.bin")
    assert main(["neural", "train", *files, "-o", out, *size, "--trainer", "torch", "--device", DEVICE]) == 0
    assert "epoch 2: perplexity" in capsys.readouterr().err
    assert load_joint(out).facts["hidden"] == 16
