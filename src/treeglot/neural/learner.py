"""The interface of trainers that replace the core.

The core makes vocabularies and examples, draws batches, samples and dropout, sets rates, evaluates epochs, saves states
and writes the file. A learner has the parameters and changes them by one batch at a time.
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
    """The interface that `_core.train_joint` calls. Parameters come in the blocks of `shapes`."""

    name: str  # with all that its rounding depends on; a saved state names it

    def begin(self, values: Blocks, means: Blocks, variances: Blocks) -> None:
        """Take parameters, and the moments of Adam."""

    def learn(self, batch: JointBatch) -> float:
        """Change the parameters by one step of Adam on a batch, and return the sum of its losses."""

    def blocks(self) -> tuple[Blocks, Blocks, Blocks]:
        """Return the parameters and moments."""


def shapes(options: JointOptions) -> dict[str, tuple[int, ...]]:
    """Return the blocks of parameters, and the sizes of their rows.

    The embeddings are those of source words, then those of target words. The first layer sees an example's inputs side
    by side.

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
    """Open the learner that the options name. None means the core."""
    if options.trainer == "core":
        return nullcontext()
    from treeglot.neural.torch_trainer import torch_learner

    return torch_learner(options, threads)
