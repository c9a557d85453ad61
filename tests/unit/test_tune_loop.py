"""The loop: what it leaves on disk, killed anywhere and continued, and when it stops."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from synthetic import LogLinear

from treeglot.base.errors import FormatError, UsageError
from treeglot.decode.weights import read_weights
from treeglot.evaluate import Bleu
from treeglot.tune import LoopOptions, tune_weights
from treeglot.tune.kbest import KBest
from treeglot.tune.loop import read_log
from treeglot.tune.mert import Mert
from treeglot.tune.mira import Mira
from treeglot.tune.pro import Pro

PROBLEM = LogLinear(sentences=12, candidates=12, features=3)
START = {"f0": 0.2, "f1": -0.3, "f2": 0.1}
METHODS = [Mert(restarts=2, directions=2), Mira(epochs=5), Pro(samples=50, kept=20)]
OPTIONS = LoopOptions(iterations=3, kbest=4, patience=0)


def run(folder: Path, method=METHODS[0], problem=PROBLEM, start=START, options=OPTIONS, threads: int = 1, **more):
    return tune_weights(
        problem, problem.lines, [problem.references], method, start, folder, options=options, threads=threads, **more
    )


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_what_is_left_on_disk(tmp_path: Path) -> None:
    told = []
    found = run(tmp_path, report=told.append)
    log = read_log(tmp_path / "log.jsonl")
    assert log == told == found.log
    updates = len(log) - 1
    numbered = [f"{i:02}.{kind}" for i in range(1, updates + 1) for kind in ("kbest", "weights")]
    assert sorted(content(tmp_path)) == sorted(
        [*numbered, f"{updates + 1:02}.kbest", "run.json", "log.jsonl", "best.weights"]
    )
    assert read_weights(tmp_path / "best.weights") == found.weights
    assert (tmp_path / "best.weights").read_text().startswith(f"# mert, seed 1, iteration {found.iteration}\n")
    best = max(range(len(log)), key=lambda i: (log[i]["score"], -i))
    assert (found.iteration, found.score) == (best, log[best]["score"])
    assert found.weights == (START if best == 0 else read_weights(tmp_path / f"{best:02}.weights"))
    output = PROBLEM.translate(PROBLEM.lines, found.weights, 1).best()
    assert Bleu().score(Bleu().statistics(output, [PROBLEM.references])) == found.score
    assert list(log[0]) == [
        *("iteration", "score", "length", "hypotheses", "new"),
        *("pool_before", "pool_after", "start", "converged", "weights"),
    ]
    assert log[-1]["stop"] == found.stop
    assert KBest.load(tmp_path / "01.kbest").best() == PROBLEM.translate(PROBLEM.lines, START, 1).best()


@pytest.mark.parametrize("method", METHODS, ids=lambda m: type(m).__name__)
def test_the_same_bytes_with_any_number_of_threads(method, tmp_path: Path) -> None:
    first, second = run(tmp_path / "a", method), run(tmp_path / "b", method, threads=3)
    assert first == second
    assert content(tmp_path / "a") == content(tmp_path / "b")


class BombError(Exception):
    """Ends a run; whatever is not renamed by then is lost."""


@pytest.mark.parametrize("method", METHODS, ids=lambda m: type(m).__name__)
def test_continued_after_an_end_anywhere(method, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = tmp_path / "whole"
    expected = run(whole, method)
    rename, translate = os.replace, PROBLEM.translate

    def interrupted(folder: Path, fuse: int) -> bool:
        """Run, and end it before the step with this number: a file gets its name, or something is decoded."""
        steps = iter(range(10**6))

        def step(function, *arguments):
            if next(steps) == fuse:
                raise BombError
            return function(*arguments)

        with monkeypatch.context() as patch:
            patch.setattr(os, "replace", lambda *arguments: step(rename, *arguments))
            patch.setattr(PROBLEM, "translate", lambda *arguments: step(translate, *arguments))
            try:
                run(folder, method)
            except BombError:
                return True
        return False

    fuse = 0
    while interrupted(tmp_path / f"part{fuse}", fuse):
        folder = tmp_path / f"part{fuse}"
        assert run(folder, method) == expected
        assert content(folder) == content(whole)
        fuse += 1
    assert fuse > 3 * len(expected.log)


def test_killed_and_continued(tmp_path: Path) -> None:
    """A process that is killed outright, in the middle of its second decoding."""
    code = (
        "import os, signal, sys; sys.path.insert(0, sys.argv[2])\n"
        "from pathlib import Path\n"
        "import test_tune_loop as t\n"
        "problem, decode, calls = t.PROBLEM, t.PROBLEM.translate, []\n"
        "def translate(*arguments):\n"
        "    calls.append(1)\n"
        "    if len(calls) == 2: os.kill(os.getpid(), signal.SIGKILL)\n"
        "    return decode(*arguments)\n"
        "problem.translate = translate\n"
        "t.run(Path(sys.argv[1]))\n"
    )
    here = Path(__file__).parent
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(here.parent), *sys.path])}
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "part"), str(here)], env=environment, capture_output=True
    )
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert sorted(content(tmp_path / "part")) == ["01.kbest", "01.weights", "log.jsonl", "run.json"]
    assert run(tmp_path / "part") == run(tmp_path / "whole")
    assert content(tmp_path / "part") == content(tmp_path / "whole")


def test_a_longer_run_continues_a_shorter_one(tmp_path: Path) -> None:
    run(tmp_path / "a", METHODS[2], options=LoopOptions(iterations=1, kbest=3, patience=0))
    longer = LoopOptions(iterations=4, kbest=3, patience=0)
    assert run(tmp_path / "a", METHODS[2], options=longer) == run(tmp_path / "b", METHODS[2], options=longer)
    assert content(tmp_path / "a") == content(tmp_path / "b")


def test_another_run_in_the_same_folder_is_refused(tmp_path: Path) -> None:
    run(tmp_path)
    with pytest.raises(UsageError) as error:
        run(tmp_path, Mert(restarts=3, directions=2))
    assert str(error.value) == f"{tmp_path} has another run: method.restarts is 2 there and 3 here"
    with pytest.raises(UsageError, match=r'has another run: method is "mert" there and "mira" here$'):
        run(tmp_path, METHODS[1])
    with pytest.raises(UsageError, match=r"has another run: start is "):
        run(tmp_path, start={"f0": 1.0})
    with pytest.raises(UsageError, match=r"has another run: metric.lowercase is false there and true here$"):
        run(tmp_path, metric=Bleu(lowercase=True))


def test_damaged_state_is_refused(tmp_path: Path) -> None:
    run(tmp_path)
    copy = tmp_path / "copy"
    for name, damage, message in [
        ("01.kbest", b"", "01.kbest: is empty; expected a compiled file of kind 'kbest'"),
        ("01.weights", b"f0 1\n", "01.weights:1: does not begin with what the log says of the iteration"),
        ("01.weights", b"# {}\nf0 one\n", "01.weights:2: the weight of f0 is 'one'; expected a finite number"),
        ("01.weights", b"# {}\nf0 1\n", "01.weights:1: has no iteration; expected a count"),
        (
            "01.weights",
            b'# {"iteration": 1, "score": 1e999}\nf0 1\n',
            "01.weights:1: score is Infinity; expected a number",
        ),
        (
            "01.weights",
            b'# {"iteration": 1, "score": 2, "held_out": "x"}\nf0 1\n',
            '01.weights:1: held_out is "x"; expected a number',
        ),
        ("01.weights", b'# {"iteration": 1, "score": 2}\nf0 1\n', "01.weights:1: has no hypotheses; expected a count"),
        (
            "01.weights",
            b'# {"iteration": 1, "score": 2, "x\\ud800": 1}\nf0 1\n',
            "01.weights:1: has half of a surrogate pair; expected whole characters",
        ),
        ("run.json", b"{", "run.json:1: is not JSON"),
    ]:
        shutil.rmtree(copy, ignore_errors=True)
        copy.mkdir()
        for file in tmp_path.glob("*.*"):
            (copy / file.name).write_bytes(damage if file.name == name else file.read_bytes())
        with pytest.raises(FormatError) as error:
            run(copy)
        assert str(copy / name) in str(error.value)
        assert message in str(error.value)


def test_it_stops_when_nothing_is_new(tmp_path: Path) -> None:
    found = run(tmp_path, Pro(samples=50, kept=20), options=LoopOptions(kbest=12, patience=0))
    assert found.stop == "no new hypotheses"
    assert [entry["new"] for entry in found.log] == [144, 0]


def test_it_stops_when_the_update_gains_nothing(tmp_path: Path) -> None:
    found = run(tmp_path, start=PROBLEM.best, options=LoopOptions(kbest=2, patience=0))
    assert found.stop in {"the update gained nothing", "no new hypotheses"}
    assert len(found.log) == 2
    assert found.log[0]["converged"]
    assert (found.iteration, found.weights) == (0, PROBLEM.best)


def test_it_stops_when_it_gets_no_better(tmp_path: Path) -> None:
    class Worse(Mira):
        def update(self, pool, weights, *, seed, threads=1):
            update = super().update(pool, weights, seed=seed)
            draws = [((seed * (i + 3)) % 1000) / 500 - 1 for i in range(3)]
            return type(update)({f"f{i}": draw for i, draw in enumerate(draws)}, 0.0, 0.0)

    found = run(tmp_path, Worse(mean=False), start=PROBLEM.best, options=LoopOptions(kbest=2, patience=2))
    assert found.stop == "no better score in 2 iterations"
    assert (len(found.log), found.iteration) == (3, 0)
    # A mean that is worse than the start is not taken.
    found = run(tmp_path / "mean", Worse(), start=PROBLEM.best, options=LoopOptions(kbest=2, patience=2))
    assert (len(found.log), found.iteration, found.mean, found.weights) == (4, 0, False, PROBLEM.best)
    assert found.log[-1]["score"] < found.score == found.log[0]["score"]


def test_mira_gives_the_mean_of_all_updates(tmp_path: Path) -> None:
    found = run(tmp_path, METHODS[1])
    updates = [read_weights(path) for path in sorted(tmp_path.glob("??.weights"))]
    number = len(updates)
    assert (found.mean, found.iteration) == (True, number)
    assert number > 1
    for name in START:
        assert found.weights[name] == pytest.approx(sum(one[name] for one in updates) / number, rel=1e-6)
    assert read_weights(tmp_path / "best.weights") == read_weights(tmp_path / "mean.weights") == found.weights
    assert (tmp_path / "best.weights").read_text().startswith(f"# mira, seed 1, mean of iterations 1 to {number}\n")
    output = PROBLEM.translate(PROBLEM.lines, found.weights, 1).best()
    assert Bleu().score(Bleu().statistics(output, [PROBLEM.references])) == found.score
    last = read_log(tmp_path / "log.jsonl")[-1]
    assert (last["iteration"], last["mean_of"], last["score"]) == (number + 2, number, found.score)
    assert found.log[-1] == last


def test_the_mean_of_a_longer_run_replaces_that_of_a_shorter_one(tmp_path: Path) -> None:
    run(tmp_path / "a", METHODS[1], options=LoopOptions(iterations=1, kbest=4, patience=0))
    assert run(tmp_path / "a", METHODS[1]) == run(tmp_path / "b", METHODS[1])
    assert content(tmp_path / "a") == content(tmp_path / "b")


def test_the_score_on_all_sentences_chooses_the_weights(tmp_path: Path) -> None:
    method = Mira(epochs=5, mean=False)
    found = run(tmp_path, method)
    assert method.held_out(12).sum() == 1
    assert not (tmp_path / "mean.weights").exists()
    scores = [entry["score"] for entry in found.log]
    assert (found.iteration, found.score) == (scores.index(max(scores)), max(scores))
    assert all("held_out" in entry for entry in found.log)  # for the reader


def test_what_is_held_out_has_the_length_of_all(tmp_path: Path) -> None:
    """One sentence would say nothing of how long the output is: with a short reference, short output would win."""
    longer = [f"{line} and more" if i < 11 else line for i, line in enumerate(PROBLEM.references)]
    method = Mira(epochs=5, mean=False)
    found = tune_weights(PROBLEM, PROBLEM.lines, [longer], method, START, tmp_path, options=OPTIONS)
    held_out = method.held_out(12)
    assert held_out.nonzero()[0].tolist() == [11]
    weights = [START, *(read_weights(tmp_path / f"{i:02}.weights") for i in range(1, len(found.log)))]
    alone = []
    for one, entry in zip(weights, found.log, strict=True):
        rows = Bleu().statistics(PROBLEM.translate(PROBLEM.lines, one, 1).best(), [longer])
        here = rows[held_out].sum(axis=0)
        alone.append(Bleu().score(here))
        here[:2] = rows[:, :2].sum(axis=0)
        assert entry["held_out"] == Bleu().score(here)
    assert alone != [entry["held_out"] for entry in found.log]


def test_an_empty_line_counts(tmp_path: Path) -> None:
    class Holes(LogLinear):
        def translate(self, lines, weights, kbest, hopes=None):
            full = super().translate([line or "0" for line in lines], weights, kbest)
            lists = []
            for number, line in enumerate(lines):
                texts = full.texts[int(full.first[number]) : int(full.first[number + 1])]
                rows = range(int(full.first[number]), int(full.first[number + 1]))
                vectors = [
                    dict(zip(full.names, full.values[3 * row : 3 * row + 3].tolist(), strict=True)) for row in rows
                ]
                lists.append(list(zip(texts, vectors, strict=True)) if line else [])
            return KBest.of(lists)

    problem = Holes(sentences=12, candidates=12, features=3)
    problem.lines[3] = ""
    found = run(tmp_path, problem=problem)
    whole = run(tmp_path / "whole")
    assert found.score < whole.score
    assert found.log[0]["length"] < whole.log[0]["length"] == 1.0
    assert found.log[0]["hypotheses"] == 11 * 4 + 1


def test_bad_input(tmp_path: Path) -> None:
    def refused(lines, references, problem=PROBLEM) -> str:
        with pytest.raises((UsageError, ValueError)) as error:
            tune_weights(problem, lines, references, METHODS[0], START, tmp_path / "x", options=OPTIONS)
        shutil.rmtree(tmp_path / "x", ignore_errors=True)
        return str(error.value)

    assert refused(["0", "1"], [["a"]]) == "reference 1 has 1 sentences, there are 2 to translate"
    assert refused(["0"], [["a"], ["a", "b"]]) == "reference 2 has 2 sentences, there are 1 to translate"
    assert refused([], [[]]) == "there is nothing to translate: the development set is empty"
    assert refused(["0"], []) == "there are no references; expected at least one"

    class Short(LogLinear):
        def translate(self, lines, weights, kbest, hopes=None):
            return super().translate(lines[1:], weights, kbest)

    class Bad(LogLinear):
        value = float("nan")

        def translate(self, lines, weights, kbest, hopes=None):
            return KBest.of([[("a", {"lm": 1.0}), ("b", {"lm": self.value})]] * len(lines))

    problem = "has lists for 1 sentences; expected 2, as there are references"
    assert refused(["0", "1"], [["a", "b"]], Short()) == f"{tmp_path / 'x' / '01.kbest'}: {problem}"
    wanted = "hypothesis 1 of sentence 0 has feature lm = nan; expected a finite number"
    assert refused(["0", "1"], [["a", "b"]], Bad()) == wanted
