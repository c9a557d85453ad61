"""PyTorch as a trainer of joint models, on a CPU or a GPU. It needs the extra `torch`: pip install treeglot[torch].

No other file imports PyTorch, and this file is imported only when a user selects PyTorch.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from treeglot._core import JointBatch
from treeglot.base.errors import UsageError
from treeglot.neural.learner import BIASES, Blocks, shapes
from treeglot.neural.options import JointOptions


@contextmanager
def torch_learner(options: JointOptions, threads: int) -> Iterator[TorchLearner]:
    """Run a block with a learner that uses this number of PyTorch threads. At the end, restore the old number."""
    try:
        import torch
    except ImportError as error:
        raise UsageError("torch is not installed: pip install treeglot[torch]") from error
    earlier = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        yield TorchLearner(torch, options, threads)
    finally:
        torch.set_num_threads(earlier)


class TorchLearner:
    """A `Learner` that uses PyTorch: it computes the loss of a batch and its gradients, and makes a step of Adam."""

    def __init__(self, torch: Any, options: JointOptions, threads: int) -> None:
        self.torch, self.options, self.device = torch, options, options.device
        try:
            torch.zeros(1, device=self.device)
        except (RuntimeError, AssertionError) as error:
            reason = str(error).strip().partition("\n")[0]
            problem = f"device is {self.device!r}, which PyTorch cannot use ({reason}); expected cpu or a device"
            raise UsageError(problem, ("device",)) from error
        kind = torch.device(self.device).type
        place = torch.cuda.get_device_name(self.device) if kind == "cuda" else f"{kind} with threads {threads}"
        self.name = f"torch {torch.__version__} on {place}"
        self.parts: list[dict[str, Any]] = []  # values, means and variances

    def begin(self, values: Blocks, means: Blocks, variances: Blocks) -> None:
        """Take the initial parameters and moments."""
        given, rows = (values, means, variances), shapes(self.options)
        self.parts = [
            {name: self._tensor(numbers).reshape(rows[name]) for name, numbers in part.items() if len(numbers)}
            for part in given
        ]
        self.empty = {name: numbers for name, numbers in values.items() if not len(numbers)}

    def blocks(self) -> tuple[Blocks, Blocks, Blocks]:
        """Return the current parameters and moments."""
        values, means, variances = (
            {name: block.cpu().numpy().reshape(-1) for name, block in part.items()} | self.empty for part in self.parts
        )
        return values, means, variances

    def learn(self, batch: JointBatch) -> float:
        """Make one step of Adam on a batch, and return the sum of its losses."""
        loss, gradients = self.gradients(batch)
        first, second, decay = batch.decays
        with self.torch.no_grad():
            for name, (rows, gradient) in gradients.items():
                value, mean, variance = (part[name] if rows is None else part[name][rows] for part in self.parts)
                mean.mul_(first).add_(gradient, alpha=1 - first)
                variance.mul_(second).addcmul_(gradient, gradient, value=1 - second)
                value.mul_(1 if name in BIASES else 1 - decay)
                value.addcdiv_(mean, variance.sqrt().add_(batch.epsilon), value=-batch.rate)
                if rows is not None:  # the others stay as they are, moments included
                    for part, changed in zip(self.parts, (value, mean, variance), strict=True):
                        part[name].index_copy_(0, rows, changed)
        return loss

    def gradients(self, batch: JointBatch) -> tuple[float, dict[str, tuple[Any, Any]]]:
        """Compute the loss of a batch. Return the sum, and the gradients of each block.

        A gradient comes with the rows that the batch uses, or with None if it covers all rows.
        """
        places, sources = self._tensor(batch.places), self._tensor(batch.sources)
        words, at = self.torch.unique(self.torch.cat((places, sources)), return_inverse=True)
        candidates = self._tensor(batch.candidates)
        touched = {"embeddings": words, "output": candidates, "output.bias": candidates}
        used = {}
        for name, block in self.parts[0].items():
            used[name] = (block[touched[name]] if name in touched else block).detach().requires_grad_()
        loss = self._loss(batch, used, at[: len(places)], at[len(places) :])
        gradients = self.torch.autograd.grad(loss / len(batch.columns), list(used.values()))
        found = {name: (touched.get(name), one) for name, one in zip(used, gradients, strict=True)}
        return loss.item(), found

    def _loss(self, batch: JointBatch, used: dict[str, Any], places: Any, sources: Any) -> Any:
        """Return the loss of a batch: -s(w) + log Z + penalty (log Z)^2, summed as in cpp/neural/joint_network.h."""
        torch, functional = self.torch, self.torch.nn.functional
        examples = len(batch.columns)
        seen = functional.embedding(places, used["embeddings"]).reshape(examples, -1, self.options.embedding)
        if batch.mean_at >= 0:
            bags = self._tensor(batch.begins)[:-1]
            mean = functional.embedding_bag(sources, used["embeddings"], bags, mode="mean")
            seen = torch.cat((seen[:, : batch.mean_at], mean[:, None], seen[:, batch.mean_at :]), 1)
        units = self._kept(seen.reshape(examples, -1), batch.in_kept, batch.in_scale)
        units = torch.tanh(torch.addmm(used["bias"], units, used["weights"]))
        units = self._kept(units, batch.hidden_kept, batch.hidden_scale)
        if self.options.second:
            units = torch.tanh(torch.addmm(used["second.bias"], units, used["second.weights"]))
            units = self._kept(units, batch.second_kept, batch.hidden_scale)
        scores = torch.addmm(used["output.bias"], units, used["output"].T)
        log_sums = torch.logsumexp(scores + self._tensor(batch.log_weights), 1)
        right = scores.gather(1, self._tensor(batch.columns)[:, None])[:, 0]
        return (log_sums - right + self.options.penalty * log_sums.square()).sum()

    def _kept(self, units: Any, kept: Any, scale: float) -> Any:
        """Return the hidden units after dropout."""
        return units * (self._tensor(kept).reshape(units.shape) * scale) if len(kept) else units

    def _tensor(self, numbers: Any) -> Any:
        return self.torch.tensor(numbers, device=self.device)
