"""Runs the tuning loop: decode, add to the pool, update the weights, and repeat.

The state is on disk. After every decoding and every update, a complete file appears under its name. A killed run
continues after the last of them, and ends with the same bytes as an undisturbed run. Nothing depends on the number of
threads.
"""

from __future__ import annotations

import dataclasses
import json
import math
import os
import pickle
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any, Protocol

from treeglot.base.errors import FormatError, UsageError
from treeglot.base.files import PathLike, check_fields, parse_json, read_json, read_lines, write_binary
from treeglot.base.options import MOST_SEED, Options, option
from treeglot.decode.translator import Source
from treeglot.decode.weights import Weights, read_weights, write_weights
from treeglot.evaluate import Bleu
from treeglot.evaluate.metrics import Metric
from treeglot.tune.hopes import Hopes, hopes_for
from treeglot.tune.kbest import KBest
from treeglot.tune.method import Method, Update, derived_seed, fitting_scale, sentence_metric
from treeglot.tune.pool import Pool

Entry = dict[str, Any]  # what the log says of one iteration
UPDATED = {"hypotheses": int, "new": int, "pool_before": float, "pool_after": float, "converged": bool}
"""What an entry has after an update, beside its iteration and its score."""
OPTIONAL = {**UPDATED, "held_out": float, "mean_of": int}


class Tunable(Protocol):
    """The interface of systems that can be tuned. They translate with any weights."""

    @property
    def signature(self) -> str:
        """A line that identifies the system. A run can continue only with the same signature."""
        ...

    def translate(self, sources: Sequence[Source], weights: Weights, kbest: int, hopes: Hopes | None = None) -> KBest:
        """Return the best translations of each source with their features. Threads do not change the result.

        Results for `hopes` come after them.
        """
        ...


@dataclass(frozen=True, kw_only=True)
class LoopOptions(Options):
    """Options that define when tuning ends, and how many translations it uses."""

    iterations: int = option(10, "updates of the weights, at most", least=1)
    kbest: int = option(100, "hypotheses of a sentence that an iteration adds to the pool", least=1)
    hopes: int = option(
        0, "hopes and as many fears of a sentence that its search forest adds, from the second iteration on", least=0
    )
    patience: int = option(3, "iterations without a better score before it ends; 0: all of them", least=0)
    seed: int = option(1, "seed of the random numbers", least=0, most=MOST_SEED)


@dataclass(frozen=True)
class Tuned:
    """The weights that a run found, and how they were found."""

    weights: dict[str, float]
    score: float  # of the output with them
    iteration: int  # the one that gave them; 0 for the start; of a mean: the last
    stop: str  # why it ended
    log: list[Entry]
    mean: bool = False  # whether they are the mean of all updates up to that iteration

    @property
    def origin(self) -> str:
        """Describes where the weights come from."""
        return f"mean of iterations 1 to {self.iteration}" if self.mean else f"iteration {self.iteration}"


def tune_weights(
    translator: Tunable,
    sources: Sequence[Source],
    references: Sequence[Sequence[str]],
    method: Method,
    start: Weights,
    folder: PathLike,
    *,
    metric: Metric | None = None,
    options: LoopOptions | None = None,
    threads: int = 1,
    report: Callable[[Entry], None] = lambda entry: None,
) -> Tuned:
    """Tune the weights of `translator` on `sources` and references. `folder` stores the state of the run.

    `folder` gets two files for each iteration: `01.kbest` with the new hypotheses and `01.weights` with the resulting
    weights. `log.jsonl` has a line for each iteration, and `best.weights` appears at the end. If the method averages,
    `mean.weights` contains the mean of all updates. If the folder belongs to the same run, the run continues; the
    folder of another run is refused. `report` is called after each iteration, and for the mean.
    """
    run = _Run(translator, sources, references, method, dict(start), Path(folder), metric, options, threads)
    run.open()
    weights, pool = run.start, Pool(run.references)
    hopes: Hopes | None = None
    iterations: list[_Iteration] = []
    while True:
        number = len(iterations) + 1
        kbest = run.decoded(number, weights, hopes)
        before, pool = pool.hypotheses, pool.merged(kbest)
        entry = run.judged(number, kbest, pool, before)
        stop = run.ends(iterations, entry)
        if stop:
            new, entry = weights, entry | {"stop": stop}
        else:
            new, entry = run.updated(number, pool, weights, entry)
        iterations.append(_Iteration(weights, entry))
        run.write_log([one.entry for one in iterations])
        report(entry)
        if stop:
            break
        weights, hopes = new, run.hopes(kbest, pool, new)
    found = run.best(iterations, stop)
    if method.mean:
        mean = run.averaged([one.weights for one in iterations[1:]])
        log = [*found.log, mean.entry | {"stop": stop}]
        run.write_log(log)
        report(log[-1])
        found = dataclasses.replace(found, log=log)
        if run.rank(mean.entry) >= run.rank(log[0]):  # otherwise it is worse than no tuning
            score, last = mean.entry["score"], mean.entry["mean_of"]
            found = dataclasses.replace(found, weights=mean.weights, score=score, iteration=last, mean=True)
    write_weights(run.folder / "best.weights", found.weights, f"{run.described()}, {found.origin}")
    return found


@dataclass(frozen=True)
class _Iteration:
    weights: dict[str, float]  # that it decoded with
    entry: Entry


class _Run:
    def __init__(
        self,
        translator: Tunable,
        sources: Sequence[Source],
        references: Sequence[Sequence[str]],
        method: Method,
        start: dict[str, float],
        folder: Path,
        metric: Metric | None,
        options: LoopOptions | None,
        threads: int,
    ) -> None:
        self.translator, self.sources, self.method, self.start, self.folder = translator, sources, method, start, folder
        self.metric = metric or Bleu()
        self.options = options or LoopOptions()
        self.threads = threads
        self.reference_texts = references
        for number, reference in enumerate(references, 1):
            if len(reference) != len(sources):
                raise UsageError(
                    f"reference {number} has {len(reference)} sentences, there are {len(sources)} to translate"
                )
        if not sources:
            raise UsageError("there is nothing to translate: the development set is empty")
        self.references = self.metric.prepare(references)
        self.held_out = method.held_out(len(sources))

    def described(self) -> str:
        return f"{type(self.method).__name__.lower()}, seed {self.options.seed}"

    def identity(self) -> dict[str, Any]:
        """Return the settings that identify a run. Its number of iterations and of threads may change."""
        table = {
            "method": type(self.method).__name__.lower(),
            "metric": self.metric.name,
            "translator": self.translator.signature,
            "kbest": self.options.kbest,
            "hopes": self.options.hopes,
            "seed": self.options.seed,
            "lines": _digest_sources(self.sources),
            "references": _digest([line for reference in self.reference_texts for line in reference]),
            "start": _digest([f"{name} {self.start[name]!r}" for name in sorted(self.start)]),
        }
        for prefix, value in (("method", self.method), ("metric", self.metric)):
            if dataclasses.is_dataclass(value):
                table |= {f"{prefix}.{f.name}": getattr(value, f.name) for f in dataclasses.fields(value)}
        return table

    def open(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.folder / "run.json"
        identity = self.identity()
        if path.exists():
            known = read_json(path)
            for key in sorted({*identity, *known}):
                if identity.get(key) != known.get(key):
                    there, here = (json.dumps(table.get(key), ensure_ascii=False) for table in (known, identity))
                    raise UsageError(f"{self.folder} has another run: {key} is {there} there and {here} here")
        else:
            with write_binary(path) as stream:
                stream.write(json.dumps(identity, ensure_ascii=False, indent=2).encode() + b"\n")

    def hopes(self, kbest: KBest, pool: Pool, weights: dict[str, float]) -> Hopes | None:
        """Return the hopes and fears that a search with new weights should find, if the options request them."""
        size = self.options.hopes
        if not size:
            return None
        rows = self.references.statistics(kbest.best())
        scale = fitting_scale(pool, sentence_metric(self.metric, "add-one"), weights)
        return hopes_for(self.metric, self.reference_texts, rows, size, scale)

    def decoded(self, number: int, weights: dict[str, float], hopes: Hopes | None) -> KBest:
        path = self.folder / f"{number:02}.kbest"
        if not path.exists():
            self.translator.translate(self.sources, weights, self.options.kbest, hopes).save(path)
        found = KBest.load(path)
        if len(found) != len(self.sources):
            problem = f"has lists for {len(found)} sentences; expected {len(self.sources)}, as there are references"
            raise FormatError(str(path), 0, problem)
        return found

    def scored(self, kbest: KBest) -> Entry:
        rows = self.references.statistics(kbest.best())
        entry: Entry = {"score": self.metric.score(rows)}
        if self.held_out.any():
            entry["held_out"] = self.metric.score_of_part(rows, self.held_out)
        if isinstance(self.metric, Bleu):
            words, wanted = rows[:, :2].sum(axis=0)
            entry["length"] = float(words / wanted) if wanted else None
        return entry

    def judged(self, number: int, kbest: KBest, pool: Pool, before: int) -> Entry:
        found = {"hypotheses": pool.hypotheses, "new": pool.hypotheses - before}
        return {"iteration": number, **self.scored(kbest), **found}

    def best(self, iterations: Sequence[_Iteration], stop: str) -> Tuned:
        """Return the weights that scored best."""
        ranks = [self.rank(one.entry) for one in iterations]
        best = ranks.index(max(ranks))
        found = iterations[best]
        return Tuned(found.weights, found.entry["score"], best, stop, [one.entry for one in iterations])

    def averaged(self, updates: Sequence[Weights]) -> _Iteration:
        """Return the mean of all updates and its score. If a file contains both for the same updates, read it."""
        path = self.folder / "mean.weights"
        if not path.exists() or _read_entry(path).get("mean_of") != len(updates):
            weights = mean_weights(updates)
            scored = self.scored(self.translator.translate(self.sources, weights, 1))
            entry = {"iteration": len(updates) + 2, "mean_of": len(updates), **scored}
            write_weights(path, weights, json.dumps(entry, ensure_ascii=False))
        return _Iteration(read_weights(path), _read_entry(path))

    def updated(
        self, number: int, pool: Pool, weights: dict[str, float], entry: Entry
    ) -> tuple[dict[str, float], Entry]:
        """Return the weights of this iteration and its log entry. If files contain them, read the files."""
        path = self.folder / f"{number:02}.weights"
        if not path.exists():
            seed = derived_seed(self.options.seed, number)
            update: Update = self.method.update(pool, weights, seed=seed, threads=self.threads)
            entry = entry | {"pool_before": update.before, "pool_after": update.after, **update.notes}
            entry |= {"converged": update.converged, "weights": sum(w != 0 for w in update.weights.values())}
            write_weights(path, update.weights, json.dumps(entry, ensure_ascii=False))
        weights, entry = read_weights(path), _read_entry(path)
        check_fields(entry, os.fspath(path), 1, **UPDATED)
        return weights, entry

    def ends(self, before: Sequence[_Iteration], entry: Entry) -> str:
        """Return the reason why the run ends after this iteration. The result is empty if it continues."""
        if before and entry["new"] == 0:
            return "no new hypotheses"
        if before and before[-1].entry["converged"]:
            return "the update gained nothing"
        if len(before) == self.options.iterations:
            return "as many iterations as were asked for"
        scores = [self.rank(one) for one in (*(i.entry for i in before), entry)]
        best = scores.index(max(scores))
        if self.options.patience and len(scores) - 1 - best >= self.options.patience:
            return f"no better score in {self.options.patience} iterations"
        return ""

    def rank(self, entry: Mapping[str, Any]) -> float:
        """Return the score of an iteration on all sentences. A higher value is better.

        The held-out part is too small to choose by. In both halves of a development set, it preferred the initial
        weights, although the updates gained 1 BLEU on the other half (bench/RESULTS.md).
        """
        return float(entry["score"]) if self.metric.higher_is_better else -float(entry["score"])

    def write_log(self, entries: Sequence[Entry]) -> None:
        with write_binary(self.folder / "log.jsonl") as stream:
            for entry in entries:
                stream.write(json.dumps(entry, ensure_ascii=False).encode() + b"\n")


def mean_weights(several: Sequence[Weights]) -> dict[str, float]:
    """Return the mean of several weights by name. Missing names count as 0.

    >>> mean_weights([{"lm": 1.0, "glue": -1.0}, {"lm": 0.5}])
    {'glue': -0.5, 'lm': 0.75}
    """
    names = sorted({name for weights in several for name in weights})
    return {name: math.fsum(weights.get(name, 0.0) for weights in several) / len(several) for name in names}


def _read_entry(path: Path) -> Entry:
    first = next(iter(read_lines(path)), "")
    if not first.startswith("# "):
        raise FormatError(str(path), 1, "does not begin with what the log says of the iteration")
    return _parsed(first.removeprefix("# "), path, 1)


def _parsed(text: str, path: PathLike, line: int) -> Entry:
    entry = parse_json(text, os.fspath(path), line, iteration=int, score=float)
    optional = {name: kind for name, kind in OPTIONAL.items() if name in entry}
    check_fields(entry, os.fspath(path), line, **optional)
    return entry


def _digest(lines: Sequence[str]) -> str:
    return blake2b("\n".join(lines).encode(), digest_size=8).hexdigest()


def _digest_sources(sources: Sequence[Source]) -> str:
    digest = blake2b(digest_size=8)
    for source in sources:
        digest.update(source.encode() + b"\n" if isinstance(source, str) else pickle.dumps(source, protocol=4))
    return digest.hexdigest()


def read_log(path: PathLike) -> list[Entry]:
    """Return the entries of a run's log."""
    return [_parsed(line, path, number) for number, line in enumerate(read_lines(path), 1)]
