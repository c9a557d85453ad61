"""Options that define what a joint model sees and how it is trained."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, Literal

from treeglot.base.errors import OptionError
from treeglot.base.options import MOST_SEED, Options, option

LANES = 16  # of the core's vectors
MOST_UNITS = 2**14  # of a layer, in the core
LOSS = ("samples", "frequent", "penalty", "dropout", "input_dropout", "short_history")  # what the core has apart


@dataclass(frozen=True)
class JointOptions(Options):
    """Options that define what a joint model sees and how it is trained.

    >>> JointOptions(hidden=100)
    Traceback (most recent call last):
    treeglot.base.errors.OptionError: hidden is 100; expected a multiple of 16
    """

    history: int = option(3, "target words before the predicted one", least=1, most=16, paper="Devlin et al. 2014")
    before: int = option(3, "source words before the affiliated one", least=0, most=64, paper="Devlin et al. 2014")
    after: int = option(3, "source words after the affiliated one", least=0, most=64, paper="Devlin et al. 2014")
    sentence: bool = option(True, "also see the mean of all source words")
    monolingual: bool = option(False, "leave out the source: the model is a plain language model")
    lexical: bool = option(
        False,
        "predict the target words linked with each source word, without history",
        paper="Devlin et al. 2014, section 5.2",
    )
    heads: bool = option(
        False, "the history is the head and siblings of a word in a dependency tree; the option history has no effect"
    )
    parse: bool = option(False, "also see what the source parse says of the affiliated word")
    embedding: int = option(96, "size of a word's vector, a multiple of 16", least=16, most=4096)
    hidden: int = option(256, "units of the hidden layer, a multiple of 16", least=16, most=4096)
    second: int = option(0, "units of a second hidden layer, a multiple of 16; 0: there is none", least=0, most=4096)
    least_source: int = option(2, "occurrences of source words that are not rare", least=1)
    least_target: int = option(2, "occurrences of target words that are not rare", least=1)
    least_fallback: int = option(20, "tokens of rare words with one ending that share a fallback", least=1)
    samples: int = option(1024, "words drawn to estimate a batch's sums; 0: sum over all", least=0, most=2**20)
    frequent: int = option(512, "most frequent words, which are in every sum", least=0)
    penalty: float = option(0.15, "weight of the squared log sum in the loss", least=0, paper="Devlin et al. 2014")
    dropout: float = option(0.5, "share of hidden units that are dropped", least=0, most=0.95)
    input_dropout: float = option(0.2, "share of the embeddings' numbers that are dropped", least=0, most=0.95)
    short_history: float = option(0.1, "share of examples whose oldest history words are hidden", least=0, most=0.95)
    batch: int = option(512, "examples in a batch", least=1, most=2**16)
    rate: float = option(0.002, "first learning rate of Adam, which falls to 0 over the epochs", above=0, most=1)
    decay: float = option(0.01, "weight decay of Adam", least=0, most=1, paper="Loshchilov and Hutter 2019")
    epochs: int = option(12, "most epochs", least=1)
    patience: int = option(2, "epochs in a row without progress, after which training ends", least=1)
    held_out: int = option(50, "one pair of so many is held out to evaluate epochs", least=2)
    seed: int = option(1, "seed of the random numbers", least=0, most=MOST_SEED)
    networks: int = option(1, "networks to train, with this seed and the next ones; their mean is the model", least=1)
    trainer: Literal["core", "torch"] = option("core", "what trains: Treeglot's core, or PyTorch (the extra torch)")
    device: str = option("cpu", "where PyTorch trains: cpu, cuda, cuda:1 …")

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("embedding", "hidden", "second"):
            if getattr(self, name) % LANES:
                raise OptionError(f"{name} is {getattr(self, name)}; expected a multiple of {LANES}", (name,))
        largest = max(self.embedding, self.hidden, self.second)
        if self.networks * largest > MOST_UNITS:
            most = MOST_UNITS // largest
            raise OptionError(f"networks is {self.networks}; expected at most {most} of this size", ("networks",))
        if self.seed + self.networks - 1 > MOST_SEED:
            problem = f"seed is {self.seed}, and {self.networks - 1} more seeds follow; expected at most {MOST_SEED}"
            raise OptionError(problem, ("seed",))
        if self.trainer == "core" and self.device != "cpu":
            problem = f"device is {self.device!r}, and the core trains on the CPU; expected trainer='torch'"
            raise OptionError(problem, ("device",))
        if self.lexical and self.monolingual:
            raise OptionError("a lexical model needs source words; expected monolingual=false", ("monolingual",))
        if self.lexical and self.heads:
            raise OptionError("a lexical model has no history; expected heads=false", ("heads",))
        if self.parse and self.monolingual:
            raise OptionError("a model of parses needs source words; expected monolingual=false", ("monolingual",))

    def each(self) -> list[JointOptions]:
        """Return the options of each network.

        >>> [one.seed for one in JointOptions(seed=5, networks=3).each()]
        [5, 6, 7]
        """
        return [dataclasses.replace(self, seed=self.seed + place, networks=1) for place in range(self.networks)]

    def for_core(self) -> dict[str, Any]:
        """Return the options of one network in the form that the core needs."""
        values = dataclasses.asdict(self)
        for name in ("held_out", "networks", "trainer", "device"):
            del values[name]
        values["source"] = not values.pop("monolingual")
        return values | {"loss": {name: values.pop(name) for name in LOSS}}
