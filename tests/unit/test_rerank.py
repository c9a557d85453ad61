"""K-best lists, reranked by commands and by functions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import pytest

from treeglot import FormatError, UsageError
from treeglot.cli.app import run
from treeglot.evaluate import Bleu
from treeglot.tune.rerank import Reranked, command_scorer

KBEST = """0 ||| the house is ||| lm= -1 ||| -1
0 ||| the house is red ||| lm= -2 ||| -2
1 ||| a b ||| lm= -1 ||| -3
1 ||| it is a small blue boat ||| lm= -1 ||| -3.5
"""
SOURCES = ["das haus ist rot", "es ist ein kleines blaues boot"]
REFERENCES = ["the house is red", "it is a small blue boat"]
LENGTH = "awk -F'\\t' '{print split($2, words, \" \")}'"


def files(folder: Path) -> tuple[Path, Path, Path]:
    paths = folder / "dev.kbest", folder / "dev.de", folder / "dev.en"
    for path, text in zip(paths, (KBEST, "\n".join(SOURCES) + "\n", "\n".join(REFERENCES) + "\n"), strict=True):
        path.write_text(text)
    return paths


def test_tuned_weights_choose_what_references_like(tmp_path: Path) -> None:
    kbest, source, refs = map(str, files(tmp_path))
    out, saved = str(tmp_path / "out"), str(tmp_path / "weights")
    common = ["rerank", kbest, "--source", source, "--scorer", f"words={LENGTH}", "-o", out]
    assert run([*common, "--refs", refs, "--save", saved]) == 0
    assert Path(out).read_text().splitlines() == REFERENCES
    Path(out).unlink()
    assert run([*common, "--weights", saved]) == 0
    assert Path(out).read_text().splitlines() == REFERENCES
    Path(saved).write_text("score 1\n")
    assert run([*common, "--weights", saved]) == 0
    assert Path(out).read_text().splitlines() == ["the house is", "a b"]


def test_functions_see_sources_and_translations(tmp_path: Path) -> None:
    kbest, _, _ = files(tmp_path)
    seen: list[tuple[str, str]] = []

    def score(pairs: Sequence[tuple[str, str]]) -> list[float]:
        seen.extend(pairs)
        return [float(len(source.split()) == len(text.split())) for source, text in pairs]

    lists = Reranked.read(kbest, SOURCES, {"same": score})
    assert seen[1] == (SOURCES[0], "the house is red") and len(seen) == 4
    assert lists.best({"score": 1.0, "same": 2.0}) == REFERENCES
    update = lists.tuned([REFERENCES], Bleu())
    assert lists.best(update.weights) == REFERENCES
    assert Reranked.read(kbest, SOURCES, {}, size=1).best({"score": 1.0}) == ["the house is", "a b"]
    assert Reranked(SOURCES, [], {}).best({"score": 1.0}) == ["", ""]


@pytest.mark.parametrize(
    ("command", "problem"),
    [
        ("false", "ended with status 1"),
        ("head -1", "'das haus\\\\tthe house' is not a score|printed 1 lines for 2"),
        ("sed s/.*/nan/", "'nan' is not a score; expected a finite number"),
        ("cat", "is not a score; expected a finite number"),
    ],
)
def test_commands_that_fail_say_so(command: str, problem: str) -> None:
    with pytest.raises((UsageError, FormatError), match=problem):
        command_scorer(command)([("das haus", "the house"), ("das", "the")])


def test_bad_scorers_and_lists_are_refused(tmp_path: Path) -> None:
    kbest, _, _ = files(tmp_path)
    with pytest.raises(UsageError, match="gave no finite number for each of 4"):
        Reranked.read(kbest, SOURCES, {"bad": lambda pairs: [math.inf] * len(pairs)})
    with pytest.raises(UsageError, match="gave no finite number for each of 4"):
        Reranked.read(kbest, SOURCES, {"bad": lambda pairs: [1.0]})
    with pytest.raises(UsageError, match="is called score"):
        Reranked.read(kbest, SOURCES, {"score": lambda pairs: [1.0] * len(pairs)})
    with pytest.raises(FormatError, match="sentence 1; there are 1 source sentences"):
        Reranked.read(kbest, SOURCES[:1], {})
    kbest.write_text("0 ||| a ||| lm= -1\n")
    with pytest.raises(FormatError, match="has no score"):
        Reranked.read(kbest, SOURCES, {})


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        (["--refs", "short"], "short: has 1 lines; expected 2, as dev.de has"),
        (["--refs", "dev.en", "--seed", "-1"], "--seed"),
        (["--weights", "weights"], "unknown feature 'wrds'; did you mean 'words'?"),
    ],
)
def test_wrong_files_are_refused_before_scorers_run(
    more: list[str],
    problem: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    files(tmp_path)
    monkeypatch.chdir(tmp_path)
    Path("short").write_text("the house is red\n")
    Path("weights").write_text("wrds 1\n")
    scorer = f"words=touch ran; {LENGTH}"
    assert run(["rerank", "dev.kbest", "--source", "dev.de", "--scorer", scorer, *more]) != 0
    assert problem in capsys.readouterr().err
    assert not Path("ran").exists()


def test_names_and_values_that_weights_cannot_have_are_refused() -> None:
    lists = [[("a", -1.0)]]
    with pytest.raises(UsageError, match=r"gave 1e\+300; expected numbers up to 3\.40282e\+38"):
        Reranked(["x"], lists, {"big": lambda pairs: [1e300]})
    with pytest.raises(UsageError, match="is called 'my model'; expected a name without blanks"):
        Reranked(["x"], lists, {"my model": lambda pairs: [1.0]})
    with pytest.raises(UsageError, match="unknown feature 'other'"):
        Reranked(["x"], lists, {}).best({"other": 1.0})
