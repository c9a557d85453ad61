"""`treeglot tune`: a small model is tuned, continued, refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from small_table import model_folder

from treeglot.cli import main
from treeglot.decode.weights import read_weights
from treeglot.models.model import load
from treeglot.tune.kbest import KBest
from treeglot.tune.loop import read_log

DEV = ["das ist haus", "haus ist das", "das haus", "ist das", "das das haus ist"]
# What the table's second choices give: the untuned weights are wrong about them.
REFERENCES = ["house is that", "that is house", "that house", "is that", "that that house is"]


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("dev.de").write_text("".join(line + "\n" for line in DEV))
    Path("dev.en").write_text("".join(line + "\n" for line in REFERENCES))
    return model_folder(tmp_path / "model")


ARGUMENTS = ["tune", "model", "--dev", "dev.de", "--refs", "dev.en", "--kbest", "8"]


def content(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("method", ["mert", "mira", "pro"])
def test_tuned_weights_are_better_and_become_the_models(method: str, model: Path, capsys) -> None:
    large_steps = ["--set", "c=0.01"] if method == "mira" else []  # there are few sentences to learn from
    assert main([*ARGUMENTS, "--method", method, "--threads", "2", *large_steps]) == 0
    said = capsys.readouterr().err.splitlines()
    run = model / f"tune-{method}-1"
    log = read_log(run / "log.jsonl")
    assert said[0].startswith(f"iteration 1: BLEU {log[0]['score']:.2f}")
    result = "result: the mean of " if method == "mira" else "best: iteration "
    assert said[-1].startswith(f"{log[-1]['stop']}; {result}")
    assert max(entry["score"] for entry in log) > log[0]["score"]
    assert read_weights(model / "weights.txt") == read_weights(run / "best.weights")
    assert read_weights(run / "start.weights") == {"p": 1.0, "glue": -0.1, "unknown": -5.0}
    assert (run / "plot.svg").read_text().count("<circle") >= len(log)
    main(["translate", "model", "dev.de", "-o", "out", "--quiet"])
    capsys.readouterr()
    best = max(log, key=lambda entry: entry["score"])
    assert main(["score", "out", "dev.en", "--metric", "bleu", "--json"]) == 0
    scored = json.loads(capsys.readouterr().out)["systems"][0]["scores"]["BLEU"]["score"]
    assert scored == pytest.approx(best["score"])


def test_the_same_command_again_changes_nothing(model: Path, capsys) -> None:
    assert main(ARGUMENTS) == 0
    before = content(model)
    assert main([*ARGUMENTS, "--threads", "3"]) == 0
    assert content(model) == before


def test_the_bonus_of_corrections_is_not_tuned(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    taught = "das ist haus", "haus taught"
    lines = [
        f"add ||| [X] ||| {' ||| '.join(taught)} ||| ||| preferred=1000",
        "reweight ||| ||| das ||| * ||| ||| preferred=2",
    ]
    (model / "corrections.txt").write_text("\n".join(lines) + "\n")
    assert main(ARGUMENTS) == 0
    assert "corrections count without their bonus" in capsys.readouterr().err
    assert "preferred" not in read_weights(model / "weights.txt")
    assert load(model).translate(taught[0]).text == taught[1]


def test_another_search_is_another_run(model: Path, capsys) -> None:
    assert main([*ARGUMENTS, "--set", "search.pop_limit=1", "--set", "restarts=1"]) == 0
    identity = json.loads((model / "tune-mert-1/run.json").read_text())
    assert "pop_limit=1," in identity["translator"] and identity["method.restarts"] == 1
    assert main([*ARGUMENTS, "--set", "restarts=1"]) == 2
    assert "has another run: translator is" in capsys.readouterr().err


@pytest.mark.parametrize("content", ["[]", "5", "null", "[" * 100_000, "{", '{"seed": ' + 5000 * "9" + "}"])
def test_a_damaged_run_is_refused(model: Path, capsys, content: str) -> None:
    (model / "tune-mert-1").mkdir()
    path = model / "tune-mert-1/run.json"
    path.write_text(content)
    assert main(ARGUMENTS) == 1
    assert capsys.readouterr().err.startswith("error: model/tune-mert-1/run.json:")


def test_keep(model: Path) -> None:
    assert main([*ARGUMENTS, "--keep", "--run", "elsewhere", "--set", "restarts=2"]) == 0
    assert read_weights(model / "weights.txt") == {"p": 1.0, "glue": -0.1, "unknown": -5.0}
    assert (Path("elsewhere") / "best.weights").exists()


def test_an_empty_line_and_one_that_is_refused(model: Path, capsys) -> None:
    Path("dev.de").write_text("\n".join(["das ist haus", "", "a\x07b", "ist das", "das das haus ist", ""]))
    assert main(ARGUMENTS) == 0
    said = capsys.readouterr().err
    assert "warning: dev.de: 1 of 5 lines are empty; their output is, too\n" in said
    assert "warning: dev.de:3: a control character at byte 2" in said
    assert KBest.load(model / "tune-mert-1" / "01.kbest").best()[1:3] == ["", ""]


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--set", "restart=2"], 2, "unknown option of [mert] 'restart'; did you mean 'restarts'? known: "),
        (["--set", "restarts"], 2, "'restarts' sets no option; expected NAME=VALUE such as search.pop_limit=100"),
        (["--set", "restarts=many"], 2, "mert.restarts is 'many', a string; expected an integer"),
        (["--set", "restarts=-1"], 2, "mert: restarts is -1; expected at least 0"),
        (["--set", "search.pops=1"], 2, "unknown option of [search] 'pops'; known: beam, "),
        (["--set", "search.beam=-1"], 2, "search: beam is -1; expected at least 0"),
        (["--set", "search.step_limit=1"], 2, "search.step_limit is 1, which a hiero model does not use"),
        (["--set", "search=3"], 2, "search is 3, an integer; expected a table"),
        (["--set", "serch.beam=1"], 2, "unknown option of [mert] 'serch'; did you mean 'search'? known: "),
        (["--kbest", "0"], 2, "kbest is 0; expected at least 1"),
        (["--refs", "short"], 1, "short: has 1 lines; expected 5, as dev.de has"),
        (["--dev", "none"], 1, "none: is empty; expected at least one sentence"),
        (["--start", "bad"], 1, "bad:1: the weight of p is 'x'; expected a finite number"),
    ],
)
def test_bad_usage(model: Path, capsys, arguments: list[str], code: int, message: str) -> None:
    Path("short").write_text("a\n")
    Path("none").write_text("")
    Path("bad").write_text("p x\n")
    assert main([*ARGUMENTS, *arguments]) == code
    assert capsys.readouterr().err.startswith(f"error: {message}")


def test_another_seed_in_the_same_run_is_refused(model: Path, capsys) -> None:
    assert main([*ARGUMENTS, "--run", "run"]) == 0
    capsys.readouterr()
    assert main([*ARGUMENTS, "--run", "run", "--seed", "2"]) == 2
    assert capsys.readouterr().err == "error: run has another run: seed is 1 there and 2 here\n"


def test_weights_that_nothing_has_are_named(model: Path, capsys) -> None:
    Path("start").write_text("p 1\ntypo 1\n")
    assert main([*ARGUMENTS, "--start", "start"]) == 0
    assert (
        capsys.readouterr().err.count("warning: the weights name 'typo', which is not a feature of this model\n") == 1
    )


def test_lists_of_other_sentences_are_refused(model: Path, capsys) -> None:
    assert main([*ARGUMENTS, "--run", "run"]) == 0
    for name in ("dev.de", "dev.en"):
        Path(name).write_text("".join(f"{line}\n" for line in Path(name).read_text().splitlines()[:3]))
    assert main([*ARGUMENTS, "--run", "other"]) == 0
    capsys.readouterr()
    for path in (model.parent / "other").glob("0*"):
        path.unlink()
    Path("other/01.kbest").write_bytes(Path("run/01.kbest").read_bytes())
    assert main([*ARGUMENTS, "--run", "other"]) == 1
    found = capsys.readouterr().err
    assert found == "error: other/01.kbest: has lists for 5 sentences; expected 3, as there are references\n"


def test_another_head_table_or_dependency_model_is_another_run(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("source.heads", "dlm.words.bin"):
        assert main([*ARGUMENTS, "--iterations", "1", "--keep"]) == 0
        (model / name).write_text("NP left N\n")
        assert main([*ARGUMENTS, "--iterations", "1", "--keep"]) == 2
        assert "has another run: translator is " in capsys.readouterr().err
        (model / name).unlink()
