"""Defines the interface of trainers that can replace the core.

The core creates vocabularies and examples, and draws batches, samples and dropout. It also sets learning rates,
evaluates epochs, saves states and writes the file. A learner only keeps the parameters, and changes them by one batch
at a time.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from treeglot._core import JointBatch
from treeglot.neural.options import JointOptions

Blocks: TypeAlias = dict[str, npt.NDArray[np.float32]]  # the numbers of each block of parameters, row by row
BIASES = ("bias", "second.bias", "output.bias")  # they do not decay


class Learner(Protocol):
    """The interface that `_core.train_joint` calls. Parameters are passed as the blocks that `shapes` describes."""

    name: str  # with all that its rounding depends on; a saved state names it

    def begin(self, values: Blocks, means: Blocks, variances: Blocks) -> None:
        """Take the initial parameters, and the moments of Adam."""

    def learn(self, batch: JointBatch) -> float:
        """Make one step of Adam on a batch, and return the sum of its losses."""

    def blocks(self) -> tuple[Blocks, Blocks, Blocks]:
        """Return the current parameters and moments."""


def shapes(options: JointOptions) -> dict[str, tuple[int, ...]]:
    """Return the shapes of the blocks of parameters.

    The block `embeddings` has the rows of source words, then those of target words. The first layer sees the inputs of
    an example side by side.

    >>> shapes(JointOptions(embedding=16, hidden=32))["weights"]
    (-1, 32)
    """
    return {
        "embeddings": (-1, options.embedding),
        "weights": (-1, options.hidden),
        "bias": (options.hidden,),
        "second.weights": (options.hidden, options.second),
        "second.bias": (options.second,),
        "output": (-1, options.second or options.hidden),
        "output.bias": (-1,),
    }


def open_learner(options: JointOptions, threads: int) -> AbstractContextManager[Learner | None]:
    """Open the learner that the options name. The result is None if the core itself trains."""
    if options.trainer == "core":
        return nullcontext()
    from treeglot.neural.torch_trainer import torch_learner

    return torch_learner(options, threads)
