"""`treeglot translate`: output forms, order, odd lines, weights that nothing has."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from small_table import table

from treeglot.base.errors import FormatError, UsageError
from treeglot.cli import main
from treeglot.cli.translate import _lines
from treeglot.decode import SearchOptions
from treeglot.decode.weights import read_weights, write_weights
from treeglot.lm import compile_ngram, train_ngram
from treeglot.models import load
from treeglot.models.folder import write_model
from treeglot.syntax import Dependency


@pytest.fixture
def model(tmp_path: Path) -> Path:
    folder = tmp_path / "model"
    folder.mkdir()
    table().write(str(folder / "rules.table"))
    lines = ["the house is the", "house is the house", "that is a house", "the that", "is is the"]
    with pytest.warns(UserWarning):
        compile_ngram(train_ngram(lines, order=3), folder / "lm.bin")
    write_model(folder, "hiero", {"p": 1.0, "lm": 0.1, "glue": -0.1, "unknown": -5.0}, SearchOptions(pop_limit=50))
    return folder


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "test.de"
    path.write_text("das ist haus\n\ndas Schloss\na\x07b\nhaus\n")
    return path


def test_one_sentence_imports_nothing_heavy(model: Path) -> None:
    """One sentence from the shell is quick: what it does not use is not imported."""
    heavy = ["numpy", "rich", "pyarrow", "duckdb", "sacrebleu", "icu", "pydantic", "gzip", "html", "importlib.metadata"]
    heavy += ["concurrent.futures", "xml.etree.ElementTree"]
    own = ["align", "evaluate", "experiment", "foreign", "neural.train", "parse", "tune", "web"]
    own += ["decode.draw", "documents.html", "models.options", "syntax.draw"]
    script = (
        "import sys; from treeglot.cli import main; main(sys.argv[1:])\n"
        f"print([name for name in {[*heavy, *(f'treeglot.{name}' for name in own)]} if name in sys.modules])"
    )
    command = [sys.executable, "-c", script, "translate", str(model), "-q"]
    done = subprocess.run(command, input="das ist haus\n", capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("house is the\n[]\n", "")


def test_lines_stay_in_order(model: Path, source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    outputs = []
    for threads in ("1", "3"):
        out = tmp_path / f"out.{threads}"
        assert main(["translate", str(model), str(source), "--skip-bad", "-o", str(out), "--threads", threads]) == 0
        outputs.append(out.read_text())
    assert outputs[0] == "house is the\n\nthe Schloss\n\nhouse\n"
    assert outputs[1] == outputs[0]
    assert f"warning: {source}:4: a control character at byte 2, near 'a\\x07b'" in capsys.readouterr().err


@pytest.mark.parametrize("option", ["rules", "lm", "weights"])
@pytest.mark.parametrize("name", ["../outside", "/dev/zero", "sub/../../outside", "link", "/proc/self/fd/0"])
def test_a_model_names_files_of_its_folder_alone(model: Path, option: str, name: str) -> None:
    (model / "link").symlink_to(model.parent / "outside")
    toml = (model / "model.toml").read_text()
    (model / "model.toml").write_text(f'# first\n{option} = "{name}"\n' + toml)
    with pytest.raises(FormatError) as caught:
        load(model)
    assert str(caught.value).startswith(f"{model / 'model.toml'}:2: {option} is {name!r}")
    assert str(caught.value).endswith("; expected a file in the model's folder")


def test_a_model_may_have_links_within_its_folder(model: Path, tmp_path: Path) -> None:
    (model / "sub").mkdir()
    (model / "rules.table").rename(model / "sub/rules.table")
    (model / "rules.table").symlink_to("sub/rules.table")
    (tmp_path / "link").symlink_to(model)
    assert load(tmp_path / "link").translate("haus").text == "house"


def test_a_time_limit_is_given_by_name(model: Path, source: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["translate", str(model), str(source), "--skip-bad", "--time-limit"]
    assert main([*command, "1e-9"]) == 0
    out, said = capsys.readouterr()
    assert out == "house is the\n\nthe Schloss\n\nhouse\n"
    assert "not searched to the end: time was up: 3 of 5 sentences" in said
    assert main([*command, "-1"]) == 2
    assert "time_limit is -1.0; expected at least 0" in capsys.readouterr().err


def test_kbest_list(model: Path, source: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    main(["translate", str(model), str(source), "-o", str(out), "--kbest", "2", "--distinct"])
    rows = [line.split(" ||| ") for line in out.read_text().splitlines()]
    assert [row[0] for row in rows] == ["0", "0", "2", "2", "4"]
    assert [row[1] for row in rows[:2]] == ["house is the", "house is that"]
    scores = [float(row[3]) for row in rows]
    assert scores[0] > scores[1]
    weights = read_weights(model / "weights.txt")
    fields = rows[0][2].split()
    values = dict(zip(fields[::2], map(float, fields[1::2]), strict=True))
    assert sum(weights.get(name.rstrip("="), 0.0) * value for name, value in values.items()) == pytest.approx(
        scores[0], abs=1e-4
    )


def test_json_with_derivations(model: Path, source: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    main(["translate", str(model), str(source), "-o", str(out), "--json", "--trace"])
    first, second, *_ = [json.loads(line) for line in out.read_text().splitlines()]
    assert (first["number"], first["text"]) == (0, "house is the")
    assert [step["source"] for step in first["derivation"]] == ["[S,1]", "[X,1]", "[X,1] ist [X,2]", "das", "haus"]
    assert second["text"] == ""


def test_weights_that_nothing_has_are_named_once(model: Path, source: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_weights(model / "weights.txt", {"p": 1.0, "typo": 2.0})
    assert main(["translate", str(model), str(source), "--skip-bad"]) == 0
    assert capsys.readouterr().err.count("warning: the weights name 'typo', which is not a feature of this model") == 1


def test_load(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    loaded = load(model)
    assert (loaded.kind, loaded.translator.options.pop_limit) == ("hiero", 50)
    assert loaded.translate("das ist haus").text == "house is the"
    assert main(["translate", str(tmp_path)]) == 1
    assert capsys.readouterr().err == f"error: {tmp_path}: is not a model: it has no model.toml\n"


def test_an_unknown_kind_names_the_file(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = model / "model.toml"
    path.write_text(path.read_text().replace("hiero", "heiro"))
    assert main(["translate", str(model)]) == 1
    assert capsys.readouterr().err.startswith(f"error: {path}: unknown kind of model 'heiro'; did you mean 'hiero'?")


def test_numbers_that_make_no_sense(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["translate", str(model), "--pop-limit", "-1"]) == 2
    assert capsys.readouterr().err == "error: pop_limit is -1; expected at least 0\n"


def test_options_of_the_search(model: Path, source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def first_derivation(*arguments: str) -> list[dict[str, Any]]:
        out = tmp_path / "out"
        assert (
            main(["translate", str(model), str(source), "--skip-bad", "--json", "--trace", "-o", str(out), *arguments])
            == 0
        )
        steps: list[dict[str, Any]] = json.loads(out.read_text().splitlines()[0])["derivation"]
        return steps

    usual = first_derivation()
    assert first_derivation("--set", "search.pop_limit=10") == usual
    assert first_derivation("--set", "search.span_limit=1") == first_derivation("--span-limit", "1") != usual
    capsys.readouterr()
    known = "known: search.beam, "
    for given, problem in [
        ("pop_limit=1", f"unknown option 'pop_limit'; did you mean 'search.pop_limit'? {known}"),
        ("search.pop=1", "unknown option of [search] 'pop'; known: beam, "),
        ("search.pop_limit=all", "search.pop_limit is 'all', a string; expected an integer"),
        ("search.pop_limit=-1", "search: pop_limit is -1; expected at least 0"),
        ("search.step_limit=1", "search.step_limit is 1, which a hiero model does not use; expected 100000"),
        (
            "search..pop_limit=1",
            "'search..pop_limit=1' sets no option; expected NAME=VALUE such as search.pop_limit=100",
        ),
    ]:
        assert main(["translate", str(model), str(source), "--set", given]) == 2
        assert capsys.readouterr().err.startswith(f"error: {problem}")


def test_an_infinite_margin_is_read_again(model: Path) -> None:
    write_model(model, "hiero", {"p": 1.0}, SearchOptions(forest_margin=float("inf")))
    assert load(model).translator.options.forest_margin == float("inf")


def test_a_corrupt_table_is_refused(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = model / "rules.table"
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    assert main(["translate", str(model)]) == 1
    assert "rules.table: is damaged" in capsys.readouterr().err


def test_a_picture_of_the_first_translation(model: Path, source: Path, tmp_path: Path, capsys) -> None:
    picture = tmp_path / "one.svg"
    out = ["-o", str(tmp_path / "out")]
    assert main(["translate", str(model), str(source), "--skip-bad", *out, "--svg", str(picture)]) == 0
    assert picture.read_text().count("house is the") == 1  # its title; the words stand apart
    assert picture.read_text().startswith("<svg ")
    picture.unlink()
    assert main(["translate", str(model), str(source), *out, "--index", "2", "--svg", str(picture)]) == 1
    assert f"error: there is no derivation to draw: {picture} is not written" in capsys.readouterr().err
    assert not picture.exists()


def test_lists_have_every_text_once(model: Path, source: Path, tmp_path: Path) -> None:
    table(("X", "das haus", "the house", -0.5)).write(str(model / "rules.table"))
    source.write_text("das haus\n")
    counts = []
    for extra in ([], ["--no-distinct"]):
        main(["translate", str(model), str(source), "-o", str(tmp_path / "out"), "--kbest", "50", *extra])
        texts = [line.split(" ||| ")[1] for line in (tmp_path / "out").read_text().splitlines()]
        counts.append((len(texts), len(set(texts))))
    assert counts[0][0] == counts[0][1] == counts[1][1] < counts[1][0]


def test_markup_on_parses_is_refused(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "one.txt"
    path.write_text("das < haus > ist\n")
    assert main(["translate", str(model), str(path), "--markup"]) == 0
    assert capsys.readouterr().out == "the < house > ist\n"
    with pytest.raises(UsageError, match="--markup is for sentences; the input has forests or trees"):
        list(_lines(iter([Dependency(["das"], [-1])])))


def test_a_model_in_a_notebook(model: Path) -> None:
    loaded = load(model)
    assert "hiero" in loaded._repr_html_()
    assert len(repr(loaded)) <= 200 + len(str(model))
