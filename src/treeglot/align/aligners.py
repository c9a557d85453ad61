"""Aligners of one direction by name: each target word gets one source word, or none."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Protocol, TypeAlias

from treeglot.base.errors import TreeglotError, UsageError
from treeglot.base.options import Range
from treeglot.base.registry import Registry
from treeglot.syntax import Alignment

if TYPE_CHECKING:
    import thot.alignment as thot
    from thot.common import WordAlignmentMatrix

Sentences: TypeAlias = Sequence[Sequence[str]]
Tick: TypeAlias = Callable[[int, int], None]  # so many iterations are done, of so many


class Aligner(Protocol):
    """Aligns a corpus in one direction."""

    def __call__(self, source: Sentences, target: Sentences, tick: Tick) -> list[Alignment]:
        """Align every pair, and tell `tick` of every iteration; no sentence is empty."""
        ...


ALIGNERS: Registry[Aligner] = Registry("aligner")
COUNT = Range(least=0)
DEFAULT = "hmm"  # what most papers start from; the sampler is better: bench/RESULTS.md, "Alignment"


class _Chain:
    """Models that are trained one after another, each starting from what the last one found."""

    def __init__(self, stages: Mapping[str, tuple[str, int]], **settings: float) -> None:
        """`stages`: models and iterations, by option; `settings` are for each of the library's models that has them."""
        self.settings = settings
        self.stages = [(name, iterations) for name, iterations in stages.values() if iterations > 0]
        if not self.stages:
            raise UsageError(f"{' and '.join(stages)}: 0 iterations in all; expected at least one")

    def __call__(self, source: Sentences, target: Sentences, tick: Tick) -> list[Alignment]:
        import thot.alignment as thot

        model: thot.AlignmentModel | None = None
        done, total = 0, sum(iterations for _, iterations in self.stages)
        for name, iterations in self.stages:
            kind = getattr(thot, name)
            if model is None:
                model = kind()
                for pair in zip(source, target, strict=True):
                    model.add_sentence_pair(*pair)
            else:
                model = kind(model)
            for setting, value in self.settings.items():
                if hasattr(model, setting):
                    setattr(model, setting, value)
            model.start_training()
            for _ in range(iterations):
                model.train()
                done += 1
                tick(done, total)
            model.end_training()
        assert model is not None
        return [_links(matrix) for _, matrix in model.get_best_alignments(source, target)]


def _links(matrix: WordAlignmentMatrix) -> Alignment:
    # to_list() gives the source word of each target word, from 1; 0 is none.
    return Alignment((source - 1, position) for position, source in enumerate(matrix.to_list()) if source > 0)


@ALIGNERS("hmm")
def hmm(
    ibm1: Annotated[int, "iterations of IBM model 1", COUNT] = 5,
    iterations: Annotated[int, "iterations of the HMM", COUNT] = 5,
    variational: Annotated[bool, "variational Bayes in place of EM: rare words attract fewer links"] = True,
    null: Annotated[float, "probability of a word without a link", Range(least=0, below=1)] = 0.1,
) -> Aligner:
    """The HMM of Vogel et al. (1996), from IBM model 1."""
    stages = {"ibm1": ("Ibm1AlignmentModel", ibm1), "iterations": ("HmmAlignmentModel", iterations)}
    return _Chain(stages, variational_bayes=variational, hmm_p0=null)


@ALIGNERS("ibm4")
def ibm4(
    ibm1: Annotated[int, "iterations of IBM model 1", COUNT] = 5,
    hmm: Annotated[int, "iterations of the HMM", COUNT] = 5,
    ibm3: Annotated[int, "iterations of IBM model 3", COUNT] = 3,
    iterations: Annotated[int, "iterations of IBM model 4", COUNT] = 3,
) -> Aligner:
    """IBM model 4 by way of model 1, the HMM and model 3, as GIZA++ does it; without word classes."""
    return _Chain(
        {
            "ibm1": ("Ibm1AlignmentModel", ibm1),
            "hmm": ("HmmAlignmentModel", hmm),
            "ibm3": ("Ibm3AlignmentModel", ibm3),
            "iterations": ("Ibm4AlignmentModel", iterations),
        }
    )


@ALIGNERS("fast-align")
def fast_align(iterations: Annotated[int, "iterations of EM", COUNT] = 5) -> Aligner:
    """The reparameterised IBM model 2 of Dyer et al. (2013)."""
    return _Chain({"iterations": ("FastAlignModel", iterations)})


class _Sampler:
    def __init__(self, seed: int, samplers: int) -> None:
        self.seed, self.samplers = seed, samplers

    def __call__(self, source: Sentences, target: Sentences, tick: Tick) -> list[Alignment]:
        import thot.alignment as thot

        model = thot.EflomalAlignmentModel()
        model.seed, model.num_samplers = self.seed, self.samplers
        model.deterministic = True
        model.emit_training_alignments = True
        for pair in zip(source, target, strict=True):
            model.add_sentence_pair(*pair)
        model.start_training()
        total = model.scheduled_iterations  # by the size of the corpus, which it looks at when training starts
        for done in range(1, total + 1):
            model.train()
            tick(done, total)
        model.end_training()
        return [_links(model.get_training_alignment(n)[1]) for n in range(len(source))]


@ALIGNERS("sampler")
def sampler(
    seed: Annotated[int, "seed of the sampler", COUNT] = 1,
    samplers: Annotated[int, "samplers that run side by side and vote; each takes as long as one", Range(least=1)] = 3,
) -> Aligner:
    """A Gibbs sampler in the manner of eflomal (Östling and Tiedemann 2016), with as many rounds as it schedules."""
    return _Sampler(seed, samplers)


class _Eflomal:
    def __init__(self, model: int, iterations: float, program: str) -> None:
        self.program, self.model, self.iterations = program, model, iterations

    def __call__(self, source: Sentences, target: Sentences, tick: Tick) -> list[Alignment]:
        if shutil.which(self.program) is None:  # asked when it is needed: an alignment that is there needs no program
            others = ", ".join(name for name in ALIGNERS if name != "eflomal")
            raise UsageError(
                f"the program {self.program!r} is not there; install eflomal, or take another aligner: {others}"
            )
        with tempfile.TemporaryDirectory() as folder:
            files = [Path(folder, name) for name in ("source", "target", "links")]
            _write_numbers(files[0], source)
            _write_numbers(files[1], target)
            command = [self.program, "-m", str(self.model), "-n", "1", "-N", "0.2", "-q"]
            command += ["-s", str(files[0]), "-t", str(files[1]), "-f", str(files[2])]
            command += ["-1", str(self._rounds(1)), "-2", str(self._rounds(1)), "-3", str(self._rounds(4))]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                said = done.stderr.strip().splitlines()[-1:] or ["nothing"]
                raise TreeglotError(f"{self.program} ended with {done.returncode}; it said: {said[0]}")
            lines = files[2].read_text().splitlines()
        tick(1, 1)
        if len(lines) != len(source):
            raise TreeglotError(f"eflomal gave {len(lines)} lines for {len(source)} sentence pairs")
        return [Alignment.parse(line) for line in lines]

    def _rounds(self, share: int) -> int:
        return max(1, round(self.iterations * share))


def _write_numbers(path: Path, sentences: Sentences) -> None:
    """What eflomal reads: the numbers of sentences and of words, then each sentence as its length and numbers."""
    numbers: dict[str, int] = {}
    lines = [[numbers.setdefault(word, len(numbers)) for word in sentence] for sentence in sentences]
    with path.open("w") as stream:
        stream.write(f"{len(lines)} {len(numbers)}\n")
        stream.writelines(" ".join(map(str, [len(line), *line])) + "\n" for line in lines)


@ALIGNERS("eflomal")
def eflomal(
    model: Annotated[int, "1: IBM 1, 2: with word order, 3: with fertility", Range(least=1, most=3)] = 3,
    iterations: Annotated[float, "rounds of models 1 and 2; model 3 has four times as many", Range(above=0)] = 4.0,
    program: Annotated[str, "the program's name or path"] = "eflomal",
) -> Aligner:
    """The program of that name (GPL), if it is installed: it draws from the clock and does not repeat itself."""
    return _Eflomal(model, iterations, program)
