"""Translation in shards on the machines of an engine; here they are one after the other on this one."""

import pickle
from contextlib import nullcontext
from pathlib import Path

import pytest

from treeglot import sample
from treeglot.cli import main
from treeglot.rules.engines import DuckDB

pytestmark = pytest.mark.filterwarnings("ignore")  # too little text for the language model's discounts


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("spread")
    sample.write_corpus(folder, 100)
    files = {"source": "train.zh", "target": "train.en", "alignments": "train.align"}
    given = [part for name, file in files.items() for part in (f"--{name}", str(folder / file))]
    assert main(["train", "hiero", *given, "-o", str(folder / "model"), "--set", "lm_order=2"]) == 0
    lines = (folder / "train.zh").read_text(encoding="utf-8").splitlines()[:20]
    (folder / "good.zh").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    lines[12] = '<x translation="a\u2028b"> 一'  # U+2028 ends a line for Python, but not in a file
    (folder / "bad.zh").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return folder


class Elsewhere(DuckDB):
    """An engine whose work is pickled, as it must be to reach another machine."""

    def map(self, function, shared, items):  # type: ignore[no-untyped-def]
        return super().map(*pickle.loads(pickle.dumps((function, shared, items))))


@pytest.fixture(autouse=True)
def engine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("treeglot.cli.spread.RECORDS", 7)
    monkeypatch.setattr("treeglot.rules.engines.open_engine", lambda *given: nullcontext(Elsewhere()))


@pytest.mark.parametrize("more", [[], ["--trace"], ["--skip-bad", "--pop-limit", "5"]])
def test_shards_give_the_bytes_of_one_run(more: list[str], folder: Path, tmp_path: Path) -> None:
    given = ["translate", str(folder / "model"), str(folder / "good.zh"), *more]
    assert main([*given, "--out", str(tmp_path / "one")]) == 0
    assert main([*given, "--out", str(tmp_path / "many"), "--engine", "spark"]) == 0
    assert (tmp_path / "many").read_bytes() == (tmp_path / "one").read_bytes()
    assert len(list(tmp_path.iterdir())) == 2


def test_bad_records_are_named_by_their_place_in_the_input(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = ["translate", str(folder / "model"), str(folder / "bad.zh"), "--markup"]
    said = []
    for out, more in (("one", []), ("many", ["--engine", "spark"])):
        capsys.readouterr()
        assert main([*given, "--out", str(tmp_path / out), *more]) == 1
        said.append([line for line in capsys.readouterr().err.splitlines() if "bad.zh:13" in line or "error" in line])
    assert len(said[0]) == 2
    assert said[1] == said[0]
    assert (tmp_path / "many").read_bytes() == (tmp_path / "one").read_bytes()


def test_an_input_without_lines(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "none.zh").write_text("")
    given = ["translate", str(folder / "model"), str(tmp_path / "none.zh"), "--out", str(tmp_path / "out")]
    assert main([*given, "--engine", "spark"]) == 0
    assert (tmp_path / "out").read_bytes() == b""


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        (["--json"], "it does not take --kbest, --json"),
        (["--index", "2-3"], "--resume and --index"),
        (["--out", "-"], "expected a file of sentences, and --out FILE"),
    ],
)
def test_what_shards_cannot_do(
    more: list[str], problem: str, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = ["translate", str(folder / "model"), str(folder / "good.zh"), "--out", str(tmp_path / "out")]
    assert main([*given, *more, "--engine", "spark"]) == 2
    assert problem in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
