"""The commands that compile language models, score with them and look into them."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from messages import messages

from treeglot.cli import main
from treeglot.lm import load_ngram

GOLDEN = Path(__file__).parents[1] / "golden/lm"
ARPA = str(GOLDEN / "pets.3.arpa")


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]):
    def command(*arguments: object) -> tuple[int, str, str]:
        code = main(["lm", *map(str, arguments)])
        out = capsys.readouterr()
        return code, out.out, out.err

    return command


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "text"
    path.write_text("the cat sat\n\na zebra ran")
    return path


def test_compile(run, tmp_path: Path) -> None:
    code, out, err = run("compile", ARPA, "--out", tmp_path / "x", "--layout", "small")
    model = load_ngram(tmp_path / "x")
    assert (code, out, model.layout) == (0, "", "small")
    assert err == f"78 n-grams of order 1 to 3 in {(tmp_path / 'x').stat().st_size:,} bytes\n"
    assert run("compile", ARPA, "-o", tmp_path / "y", "--quiet") == (0, "", "")
    assert run("compile", tmp_path / "none", "-o", tmp_path / "y") == (
        1,
        "",
        f"error: {tmp_path / 'none'}: No such file or directory\n",
    )
    assert run("compile", ARPA, "-o", "-")[0] == 2


def test_compile_without_unknown(run, tmp_path: Path) -> None:
    arpa = tmp_path / "x.arpa"
    arpa.write_text("\\data\\\nngram 1=2\n\n\\1-grams:\n-1\t<s>\n-1\t</s>\n\n\\end\\\n")
    code, _, err = run("compile", arpa, "-o", tmp_path / "x")
    assert (code, messages(err)) == (0, f"warning: {arpa}: has no <unk>; unknown words get log10 -100\n")
    assert "words\t3 (<unk> was not given and has log10 -100)" in run("info", tmp_path / "x")[1]


def test_score(run, text: Path) -> None:
    model = load_ngram(ARPA)
    code, out, err = run("score", ARPA, text)
    assert (code, err) == (0, "")
    assert out == (
        f"{model.score('the cat sat'):.6f}\t4\t0\n{model.score(''):.6f}\t1\t0\n{model.score('a zebra ran'):.6f}\t4\t1\n"
    )
    _, out, _ = run("score", ARPA, text, "--natural", "--no-bos", "--no-eos")
    score = math.log(10) * model.score("the cat sat", bos=False, eos=False)
    assert out.splitlines()[:2] == [f"{score:.6f}\t3\t0", "0.000000\t0\t0"]


def test_score_words(run, text: Path) -> None:
    _, out, _ = run("score", ARPA, text, "--words")
    cat, empty, zebra = out.split("\n\n")[:3]
    assert [line.split("\t")[0] for line in cat.splitlines()] == ["the", "cat", "sat", "</s>"]
    assert empty.startswith("</s>\t")
    assert zebra.splitlines()[1].split("\t")[2:] == ["1", "<unk>"]
    _, out, _ = run("score", ARPA, text, "--words", "--no-eos")
    assert "</s>" not in out


def test_score_totals(run, text: Path) -> None:
    found = load_ngram(ARPA).perplexity(["the cat sat", "", "a zebra ran"])
    _, out, _ = run("score", ARPA, text, "--total")
    assert out == (
        f"sentences\t3\ntokens\t9\nunknown\t1\nlog10\t{found.log10:.4f}\n"
        f"perplexity with unknown words\t{found.including_oovs:.4f}\n"
        f"perplexity without unknown words\t{found.excluding_oovs:.4f}\n"
    )
    _, out, _ = run("score", ARPA, text, "--total", "--no-eos")
    assert "tokens\t6" in out
    assert run("score", ARPA, text, "--total", "--words") == (
        2,
        "",
        "error: --words and --total cannot be had together\n",
    )


def test_score_bad_text(run, tmp_path: Path) -> None:
    (tmp_path / "bad").write_bytes(b"fine\n\xff\n")
    assert run("score", ARPA, tmp_path / "bad")[::2] == (1, f"error: {tmp_path / 'bad'}:2: byte 0xff is not UTF-8\n")


def test_info(run, tmp_path: Path) -> None:
    code, out, _ = run("info", ARPA)
    assert code == 0
    assert "order\t3\nlayout\tfast\n" in out
    assert out.endswith("words\t13\n1-grams\t13\n2-grams\t28\n3-grams\t37\n")
    run("compile", ARPA, "-o", tmp_path / "x", "--layout", "small")
    _, out, _ = run("info", tmp_path / "x")
    assert "2-grams rounded by at most\t0.000000, backoffs 0.000000\n" in out  # fewer values than codes
    assert out.endswith("false positives\tabout 1 in 534,306 n-grams that are not in the model\n")
    _, out, _ = run("info", ARPA, "--words")
    assert out.split()[:5] == ["<unk>", "<s>", "</s>", "the", "cat"]
