"""Aligners by name: models that are trained here, and the program eflomal."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, Protocol, TypeAlias

from treeglot import _core
from treeglot.base.errors import FormatError, TreeglotError, UsageError
from treeglot.base.files import PathLike, iterate_lines
from treeglot.base.options import MOST_SEED, Range
from treeglot.base.registry import Registry
from treeglot.syntax import Alignment

Sentences: TypeAlias = Sequence[Sequence[str]]
Tick: TypeAlias = Callable[[int, int], None]  # rounds done, and rounds in all

LONGEST = 200  # words; longer sentences are not aligned: the cells of a pair grow with the square
MOST_LINKS = 1000  # that a prior counts as: sums of them must fit what the core counts with
LEVELS = {"ibm1": 1, "hmm": 2, "fertility": 3}


class Trainer(Protocol):
    """The interface of a function that trains an aligner for both directions."""

    def __call__(
        self, pairs: _core.SentencePairs, threads: int, folder: str, tick: Tick, before: _core.Aligner | None = None
    ) -> _core.Aligner:
        """Train an aligner from `pairs`, or update `before` with them. With `folder`, an interrupted run can resume."""
        ...


ALIGNERS: Registry[Trainer | Eflomal] = Registry("aligner")
COUNT = Range(least=0)
DEFAULT = "sampler"  # the best by measure: bench/RESULTS.md, "Alignment"


@ALIGNERS("sampler")
def sampler(
    model: Annotated[
        Literal["ibm1", "hmm", "fertility"], "words alone, with word order, or with fertility too"
    ] = "fertility",
    chains: Annotated[int, "chains that are averaged; each takes as long as one", Range(least=1, most=1000)] = 4,
    rounds: Annotated[int, "rounds of each chain; 0: by the size of the corpus", Range(least=0, most=100_000)] = 0,
    null: Annotated[float, "probability of a word without a link", Range(above=0, below=1)] = 0.2,
    lexical: Annotated[float, "Dirichlet prior of translations; smaller: fewer a word", Range(above=0)] = 0.001,
    lexicon: Annotated[str, "file of known word pairs: source, target and, if need be, links between tabs"] = "",
    lexicon_links: Annotated[
        float, "links that a pair of the lexicon counts as", Range(above=0, most=MOST_LINKS)
    ] = 1.0,
    cognates: Annotated[
        float, "links that identical words count as; similar ones fewer", Range(least=0, most=MOST_LINKS)
    ] = 0,
    stems: Annotated[float, "links that words count as whose stems are linked", Range(least=0, most=MOST_LINKS)] = 0,
    stem_letters: Annotated[int, "first letters of a word that are its stem", Range(least=1, most=100)] = 4,
    seed: Annotated[int, "seed of the chains", Range(least=0, most=MOST_SEED)] = 1,
) -> Trainer:
    """Return a trainer that uses collapsed Gibbs sampling with Dirichlet priors, after Östling and Tiedemann (2016)."""
    priors = {"cognates": cognates, "stems": stems, "stem_letters": stem_letters}
    options: dict[str, Any] = {"chains": chains, "rounds": rounds, "level": LEVELS[model], "seed": seed}
    options |= {"null": null, "lexical": lexical, "priors": priors}

    def train(
        pairs: _core.SentencePairs, threads: int, folder: str, tick: Tick, before: _core.Aligner | None = None
    ) -> _core.Aligner:
        known = read_lexicon(lexicon, lexicon_links) if lexicon else []
        if known and not any(pairs.has(source, target) for source, target, _ in known):
            warnings.warn(f"{lexicon}: no word pair occurs in the text", stacklevel=2)
        try:
            return _core.train_sampler(pairs, before, known, options, threads, folder, tick)
        except FormatError:
            raise
        except ValueError as error:  # more links than can be counted
            raise UsageError(str(error)) from error

    return train


def read_lexicon(path: PathLike, links: float = 1.0) -> list[tuple[str, str, float]]:
    """Read the word pairs of a file. An optional third column gives the number of links that a pair counts as.

    Pairs without this column count as `links` links.
    """
    out = []
    for number, line in enumerate(iterate_lines(path), start=1):
        source, target, *more = [part.strip() for part in line.split("\t")] if "\t" in line else (line, "")
        try:
            weight = float(more[0]) if more else links
        except ValueError:
            weight = -1.0
        if not source or not target or len(more) > 1 or not 0 < weight <= MOST_LINKS:
            expected = f"expected SOURCE TAB TARGET, and perhaps a number of links above 0, at most {MOST_LINKS}"
            raise FormatError(str(path), number, f"{line!r} is not a word pair; {expected}")
        out.append((source, target, weight))
    return out


@ALIGNERS("hmm")
def hmm(
    ibm1: Annotated[int, "iterations of IBM model 1", COUNT] = 5,
    iterations: Annotated[int, "iterations of the HMM", COUNT] = 5,
    variational: Annotated[bool, "variational Bayes instead of EM: rare words attract fewer links"] = True,
    null: Annotated[float, "probability of a word without a link", Range(least=0, below=1)] = 0.1,
) -> Trainer:
    """Return a trainer of the HMM of Vogel et al. (1996), which starts from IBM model 1 and uses EM."""
    if ibm1 + iterations == 0:
        raise UsageError("ibm1 and iterations: 0 iterations in all; expected at least one")
    options = {"ibm1": ibm1, "iterations": iterations, "variational": variational, "null": null}

    def train(
        pairs: _core.SentencePairs, threads: int, folder: str, tick: Tick, before: _core.Aligner | None = None
    ) -> _core.Aligner:
        if before is not None:
            raise UsageError("an aligner trained by EM cannot be updated; expected one of the method sampler")
        return _core.train_hmm(pairs, options, threads, tick)

    return train


class Eflomal:
    """The external program eflomal, which aligns a corpus one direction at a time."""

    def __init__(self, model: int, iterations: float, program: str) -> None:
        self.program, self.model, self.iterations = program, model, iterations

    def align(self, source: Sentences, target: Sentences, tick: Tick) -> list[Alignment]:
        """Align every pair in one direction, and return the links."""
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
    """Write eflomal's input: the numbers of sentences and words, then each sentence as its length and word numbers."""
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
) -> Eflomal:
    """Return the external program eflomal (GPL), if it is installed.

    It takes its seed from the clock, so its results vary.
    """
    return Eflomal(model, iterations, program)
