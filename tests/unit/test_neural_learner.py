"""Learners outside of the core: what they get, what becomes of what they give, and the choice of one."""

from __future__ import annotations

import dataclasses
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from neural_models import linked_pairs, parsed_pairs, written

from treeglot import _core
from treeglot.base.errors import OptionError, TreeglotError, UsageError
from treeglot.cli import main
from treeglot.neural.learner import BIASES, Blocks, shapes
from treeglot.neural.options import JointOptions
from treeglot.neural.train import train_joint

SMALL = JointOptions(
    history=2, before=1, after=1, embedding=16, hidden=16, epochs=3, batch=64, held_out=10, rate=0.01, least_fallback=3
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
Doubles = npt.NDArray[np.float64]


class NumpyLearner:
    """A learner in doubles, with gradients by hand."""

    name = "numpy"

    def __init__(self, options: JointOptions) -> None:
        self.options, self.batches = options, 0

    def begin(self, values: Blocks, means: Blocks, variances: Blocks) -> None:
        self.parts = [
            {
                name: numbers.astype(np.float64).reshape(rows)
                for name, rows in shapes(self.options).items()
                if len(numbers := part[name])
            }
            for part in (values, means, variances)
        ]

    def blocks(self) -> tuple[Blocks, Blocks, Blocks]:
        none = np.zeros(0, dtype=np.float32)
        values, means, variances = (
            {name: part[name].astype(np.float32).ravel() if name in part else none for name in shapes(self.options)}
            for part in self.parts
        )
        return values, means, variances

    def learn(self, batch: _core.JointBatch) -> float:
        self.batches += 1
        loss, gradients, touched = self.gradients(batch)
        first, second, decay = batch.decays
        for name, gradient in gradients.items():
            rows = touched.get(name, slice(None))
            value, mean, variance = (part[name] for part in self.parts)
            mean[rows] = first * mean[rows] + (1 - first) * gradient[rows]
            variance[rows] = second * variance[rows] + (1 - second) * gradient[rows] ** 2
            value[rows] *= 1 if name in BIASES else 1 - decay
            value[rows] -= batch.rate * mean[rows] / (np.sqrt(variance[rows]) + batch.epsilon)
        return loss

    def gradients(self, batch: _core.JointBatch) -> tuple[float, dict[str, Doubles], dict[str, npt.NDArray[Any]]]:
        """The loss, the gradients of its mean, and the rows that the batch touches."""
        values, count, size = self.parts[0], len(batch.columns), self.options.embedding
        places = batch.places.reshape(count, -1)
        seen = [values["embeddings"][places[:, k]] for k in range(places.shape[1])]
        bags = [batch.sources[a:b] for a, b in zip(batch.begins, batch.begins[1:], strict=False)]
        if batch.mean_at >= 0:
            seen.insert(batch.mean_at, np.stack([values["embeddings"][bag].mean(axis=0) for bag in bags]))

        def kept(mask: npt.NDArray[np.uint8], like: Doubles, scale: float) -> Doubles:
            return mask.reshape(like.shape) * scale if len(mask) else np.ones_like(like)

        units: Doubles = np.concatenate(seen, axis=1)
        masks = [kept(batch.in_kept, units, batch.in_scale)]
        layers, inputs, outputs = [("weights", "bias", batch.hidden_kept)], [units * masks[0]], []
        if self.options.second:
            layers.append(("second.weights", "second.bias", batch.second_kept))
        for weights, bias, mask in layers:
            outputs.append(np.tanh(inputs[-1] @ values[weights] + values[bias]))
            masks.append(kept(mask, outputs[-1], batch.hidden_scale))
            inputs.append(outputs[-1] * masks[-1])
        scores = inputs[-1] @ values["output"][batch.candidates].T + values["output.bias"][batch.candidates]
        weighted = np.exp(scores + batch.log_weights)
        log_sums = np.log(weighted.sum(axis=1))
        rows = np.arange(count)
        penalty = self.options.penalty
        loss = float((log_sums - scores[rows, batch.columns] + penalty * log_sums**2).sum())

        gradients = {name: np.zeros_like(block) for name, block in values.items()}
        delta = weighted / weighted.sum(axis=1)[:, None] * (1 + 2 * penalty * log_sums)[:, None]
        delta[rows, batch.columns] -= 1
        delta /= count
        np.add.at(gradients["output"], batch.candidates, delta.T @ inputs[-1])
        np.add.at(gradients["output.bias"], batch.candidates, delta.sum(axis=0))
        back = delta @ values["output"][batch.candidates]
        for place in reversed(range(len(layers))):
            weights, bias, _ = layers[place]
            back = back * masks[place + 1] * (1 - outputs[place] ** 2)
            gradients[weights] += inputs[place].T @ back
            gradients[bias] += back.sum(axis=0)
            back = back @ values[weights].T
        parts = list(np.moveaxis((back * masks[0]).reshape(count, -1, size), 1, 0))
        if batch.mean_at >= 0:
            for bag, part in zip(bags, parts.pop(batch.mean_at), strict=True):
                np.add.at(gradients["embeddings"], bag, part / len(bag))
        for k, part in enumerate(parts):
            np.add.at(gradients["embeddings"], places[:, k], part)
        touched = {
            "embeddings": np.unique(np.concatenate([batch.places, batch.sources])),
            "output": batch.candidates,
            "output.bias": batch.candidates,
        }
        return loss, gradients, touched


def corpora(options: JointOptions, count: int = 150) -> tuple[_core.JointCorpus, _core.JointCorpus]:
    both = [_core.JointCorpus(options.lexical, options.heads) for _ in range(2)]
    for number, pair in enumerate(parsed_pairs(count), start=1):
        both[number % options.held_out == 0].add(*pair[:3], pair[3] if options.parse else None, pair[4])
    return both[0], both[1]


def trained(options: JointOptions, learner: Any = None, file: str = "", **more: Any) -> tuple[Any, list[float]]:
    epochs: list[float] = []
    corpus, held_out = corpora(options)
    model = _core.train_joint(
        corpus,
        held_out,
        options.for_core() | more,
        1,
        file,
        lambda *_: None,
        lambda epoch: epochs.append(epoch.perplexity),
        learner,
    )
    return model, epochs


@pytest.mark.parametrize("more", VARIANTS)
def test_a_learner_gets_what_the_core_learns_from(more: dict[str, Any]) -> None:
    options = dataclasses.replace(SMALL, **more)
    network = _core.JointGradients(corpora(options)[0], options.for_core())
    draw = np.random.default_rng(3)
    for block in shapes(options):
        network.set(block, draw.normal(0, 0.3, len(network.values(block))).astype(np.float32))
    learner = NumpyLearner(options)
    values = {name: network.values(name) for name in shapes(options)}
    learner.begin(values, values, values)
    batch = network.batch(7)
    loss, gradients, touched = learner.gradients(batch)
    assert network.loss(7) == pytest.approx(loss / len(batch.columns), rel=1e-5)
    for name, gradient in gradients.items():
        core = network.gradient(name).reshape(gradient.shape)
        np.testing.assert_allclose(core, gradient, rtol=1e-3, atol=1e-6)
        untouched = np.delete(core, touched[name], axis=0) if name in touched else core[:0]
        assert not untouched.any()
    assert (len(batch.in_kept) > 0) == (options.input_dropout > 0)
    assert (len(batch.second_kept) > 0) == (options.dropout > 0 and options.second > 0)


@pytest.mark.parametrize("more", VARIANTS)
def test_a_learner_gives_the_network_of_the_core(more: dict[str, Any]) -> None:
    options = dataclasses.replace(SMALL, **more)
    core, expected = trained(options)
    model, found = trained(options, NumpyLearner(options))
    assert found == pytest.approx(expected, rel=1e-4)
    assert model.facts == core.facts and model.target_words() == core.target_words()
    for section in ("tables", "bias", "second.weights", "output", "output.bias", "share"):
        np.testing.assert_allclose(model.values(section), core.values(section), rtol=0.02, atol=2e-3)


class Killed(KeyboardInterrupt):
    pass


class Fragile(NumpyLearner):
    def learn(self, batch: _core.JointBatch) -> float:
        if self.batches == 11:
            raise Killed
        return super().learn(batch)


def test_a_killed_learner_continues_from_its_state(tmp_path: Path) -> None:
    _, once = trained(SMALL, whole := NumpyLearner(SMALL))
    file = str(tmp_path / "state")
    with pytest.raises(Killed):
        trained(SMALL, Fragile(SMALL), file, save_every=0.0)
    again = NumpyLearner(SMALL)
    _, rest = trained(SMALL, again, file)
    assert again.batches == whole.batches - 11
    assert rest == pytest.approx(once[-len(rest) :], rel=1e-6)


def test_the_state_of_another_trainer_continues_and_says_so(tmp_path: Path) -> None:
    file = str(tmp_path / "state")
    with pytest.raises(Killed):
        trained(SMALL, Fragile(SMALL), file, save_every=0.0)
    registers = f"registers of {_core.register_width()} floats"
    message = rf"state: the state is of another trainer or processor \(numpy, {registers}\); .* \(core, {registers}\)"
    with pytest.warns(UserWarning, match=message):
        assert trained(SMALL, None, file)[1]


def test_the_finished_state_of_another_trainer_is_used(tmp_path: Path) -> None:
    file = str(tmp_path / "state")
    assert trained(SMALL, NumpyLearner(SMALL), file)[1]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert trained(SMALL, None, file)[1] == []


def test_what_a_learner_gives_is_checked() -> None:
    class Forgetful(NumpyLearner):
        def blocks(self) -> tuple[Blocks, Blocks, Blocks]:
            values, means, variances = super().blocks()
            return values, means, variances | {"bias": variances["bias"][1:]}

    with pytest.raises(ValueError, match="the learner gave no block bias of 16 numbers; expected one"):
        trained(SMALL, Forgetful(SMALL))


def test_what_is_no_learner_is_refused() -> None:
    with pytest.raises(TypeError, match="the learner has no name; expected a JointLearner"):
        trained(SMALL, "a b")


def test_a_learner_that_diverges_is_told() -> None:
    class Wild(NumpyLearner):
        def learn(self, batch: _core.JointBatch) -> float:
            return float("nan")

    with pytest.raises(TreeglotError, match="training diverged in epoch 1, batch 1: the loss of a batch is not finite"):
        trained(SMALL, Wild(SMALL))


def test_without_torch_the_extra_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(UsageError, match=r"torch is not installed: pip install treeglot\[torch\]"):
        train_joint(linked_pairs(60), dataclasses.replace(SMALL, trainer="torch"))
    files = written(tmp_path, linked_pairs(60))
    assert main(["neural", "train", *files, "-o", str(tmp_path / "out"), "--trainer", "torch"]) != 0
    assert "pip install treeglot[torch]" in capsys.readouterr().err


def test_the_core_has_no_devices() -> None:
    with pytest.raises(OptionError, match="device is 'cuda', and the core trains on the CPU; expected trainer='torch'"):
        dataclasses.replace(SMALL, device="cuda")
    assert dataclasses.replace(SMALL, trainer="torch", device="cuda").device == "cuda"
