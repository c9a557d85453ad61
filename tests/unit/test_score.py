"""`treeglot score`: what it prints, and what it refuses."""

from __future__ import annotations

import json
import math
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
import sacrebleu

from treeglot.base.errors import UsageError
from treeglot.cli import main
from treeglot.evaluate import Bleu, Chrf, Ter, paired_bootstrap, sign_test
from treeglot.evaluate.report import ReportOptions, score_systems

OLD = ["the cat sat on a mat .", "dogs bark at night", "it rains", "who knows that ?"]
NEW = ["the cat sat on the mat .", "dogs bark loudly at night", "it rains", "nobody knows that ."]
FIRST = ["the cat sat on the mat .", "dogs bark loudly at night", "It rains", "nobody knows that yet ."]
SECOND = ["a cat sat on the mat", "the dogs bark at night", "rain", "nobody knows it"]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    monkeypatch.chdir(tmp_path)
    for name, lines in {"old": OLD, "new": NEW, "ref1": FIRST, "ref2": SECOND}.items():
        Path(name).write_text("".join(line + "\n" for line in lines))

    def score(*arguments: str) -> tuple[int, str, str]:
        code = main(["score", *arguments])
        out = capsys.readouterr()
        return code, out.out, out.err

    return score


def test_one_system(run) -> None:
    code, out, err = run("new", "ref1", "ref2", "--samples", "100")
    assert (code, err) == (0, "")
    version = sacrebleu.__version__
    assert out == (
        "system  metric  score    95 % interval  length\n"
        "new       BLEU  88.90  46.42 to 100.00   1.059\n"
        "         chrF2  93.19  79.99 to 100.00\n"
        "           TER   5.88    0.00 to 18.18\n"
        "new: BLEU 88.90 = 94.4/85.7/90.0/85.7 (BP = 1.000 ratio = 1.059 hyp_len = 18 ref_len = 17)\n"
        "\n"
        f"BLEU  nrefs:2|case:mixed|eff:no|tok:none|smooth:exp|version:{version}\n"
        f"chrF2  nrefs:2|case:mixed|eff:yes|nc:6|nw:0|space:no|version:{version}\n"
        f"TER  nrefs:2|case:lc|tok:tercom|norm:no|punct:yes|asian:no|version:{version}\n"
        "bootstrap  samples:100|seed:1\n"
        "tokenisation  none, words of the files, unchanged\n"
    )


def test_raw_text_is_scored_as_sacrebleu_does(run) -> None:
    raw, other = ["It rains, I think.", "She's at home now, isn't she?"], ["It rains, he thinks.", "She's at home, no?"]
    Path("raw").write_text("\n".join(raw) + "\n")
    Path("other").write_text("\n".join(other) + "\n")
    code, out, err = run("other", "raw", "--metric", "bleu", "--samples", "10")
    assert (code, err) == (0, "")
    assert f"other     BLEU  {sacrebleu.corpus_bleu(other, [raw]).score:.2f}" in out
    assert "|tok:13a|" in out
    assert out.endswith("tokenisation  13a, by sacreBLEU\n")


def test_text_that_does_not_look_as_it_is_scored(run) -> None:
    Path("raw").write_text("It rains.\nWell, no.\n")
    Path("apart").write_text("It rains .\nWell , no .\n")
    assert "warning: raw looks like text that is not tokenised; expected" in run("raw", "apart", "--samples", "1")[2]
    assert "warning: apart looks tokenised; expected plain text for --tokenize 13a" in run(
        "apart", "raw", "--samples", "1"
    )[2]  # fmt: skip
    assert "warning: raw looks like text that is not" in run("raw", "raw", "--tokenize", "none", "--samples", "1")[2]


def test_several_systems_against_a_baseline(run) -> None:
    code, out, err = run("new", "ref1", "--against", "old", "--system", "ref2", "--metric", "bleu", "--by-length")
    assert (code, err) == (0, "")
    table, lengths, _ = out.split("\n\n")
    assert [line.split()[:3] for line in table.splitlines()[1:4]] == [
        ["old", "BLEU", f"{sacrebleu.corpus_bleu(OLD, [FIRST], tokenize='none').score:.2f}"],
        ["new", "BLEU", f"{sacrebleu.corpus_bleu(NEW, [FIRST], tokenize='none').score:.2f}"],
        ["ref2", "BLEU", f"{sacrebleu.corpus_bleu(SECOND, [FIRST], tokenize='none').score:.2f}"],
    ]
    assert "p 0.250, 3 better, 0 worse" in table.splitlines()[2]
    assert (
        lengths.splitlines()[0] == "words    sentences  BLEU of old  length  BLEU of new  length  BLEU of ref2  length"
    )
    assert lengths.splitlines()[1].startswith("0 to 10          4  ")


def test_json(run) -> None:
    code, out, _ = run("new", "ref1", "--against", "old", "--json", "--lowercase", "--length", "shortest")
    assert code == 0
    found = json.loads(out)
    assert found["baseline"] == "old"
    assert [system["system"] for system in found["systems"]] == ["old", "new"]
    old, new = (system["scores"]["BLEU"] for system in found["systems"])
    assert "against" not in old
    assert old["signature"].startswith("nrefs:1|case:lc|eff:no|tok:none|smooth:exp|length:shortest|version:")
    assert new["score"] == pytest.approx(sacrebleu.corpus_bleu(NEW, [FIRST], tokenize="none", lowercase=True).score)
    assert new["against"]["difference"] == pytest.approx(new["score"] - old["score"])
    assert new["against"]["sign_test"] == {"better": 3, "worse": 0, "equal": 1, "p": pytest.approx(0.25)}
    assert sum(new["against"]["bootstrap"][key] for key in ("wins", "losses", "ties")) == 1000
    assert found["systems"][1]["by_length"] == [
        {"shortest": 0, "longest": 10, "sentences": 4, "bleu": pytest.approx(new["score"]), "ratio": 18 / 19}
    ]


def test_page(run, tmp_path: Path) -> None:
    code, out, err = run("new", "ref1", "--against", "old", "--html", "page.html", "--samples", "100")
    assert (code, err) == (0, "")
    assert out == run("new", "ref1", "--against", "old", "--samples", "100")[1]
    html = (tmp_path / "page.html").read_text()
    text = ElementTree.tostring(ElementTree.fromstring(html.replace("<!DOCTYPE html>", "")), "unicode", "text")
    assert "0 to 10 words" in text
    assert "samples:100|seed:1" in text
    assert html.count("<rect") == 2 * (1 + 2 + 2)  # BLEU and length: the paper, a key and a bar for each system
    for line in out.splitlines()[1:7]:
        assert line.split("  ")[-1].strip() in text  # the last cell of each row
    assert "http" not in html.replace("http://www.w3.org/2000/svg", "")


def test_page_without_anything_to_draw(run, tmp_path: Path) -> None:
    Path("nothing").write_text("\n\n")
    code, _, _ = run("nothing", "nothing", "--html", "page.html", "--metric", "bleu")
    assert code == 0
    html = (tmp_path / "page.html").read_text()
    assert html.count("<rect") == 2 * (1 + 1 + 1)  # bars of no length


def test_the_same_command_gives_the_same_bytes(run) -> None:
    assert run("new", "ref1", "--against", "old", "--json") == run("new", "ref1", "--against", "old", "--json")
    assert run("new", "ref1", "--json") != run("new", "ref1", "--json", "--seed", "2")


def test_empty_lines_count_and_are_reported(run) -> None:
    Path("some").write_text("the cat sat on the mat .\n\n\nnobody knows that .\n")
    code, out, err = run("some", "ref1", "--metric", "bleu")
    assert (code, err) == (0, "warning: some: 2 of 4 lines are empty\n")
    assert "hyp_len = 11 ref_len = 19" in out
    Path("none").write_text("\n\n\n\n")
    code, out, err = run("none", "ref1", "--json")
    assert (code, err) == (0, "warning: none: 4 of 4 lines are empty\n")
    scores = json.loads(out)["systems"][0]["scores"]
    assert {name: score["score"] for name, score in scores.items()} == {"BLEU": 0.0, "chrF2": 0.0, "TER": 100.0}


def test_empty_references(run) -> None:
    Path("none").write_text("\n\n\n\n")
    code, out, _ = run("new", "none", "--json")
    assert code == 0
    found = json.loads(out, parse_constant=pytest.fail)["systems"][0]
    assert (found["scores"]["BLEU"]["score"], found["by_length"][0]["ratio"]) == (0.0, None)
    assert run("new", "none")[0] == 0


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["new", "short"], 1, "error: new: has 4 lines; expected 2, as short has\n"),
        (["short", "ref1"], 1, "error: short: has 2 lines; expected 4, as ref1 has\n"),
        (["new", "ref1", "short"], 1, "error: short: has 2 lines; expected 4, as ref1 has\n"),
        (["new", "ref1", "--against", "short"], 1, "error: short: has 2 lines; expected 4, as ref1 has\n"),
        (["new", "ref1", "--system", "new"], 2, "error: new is given twice\n"),
        (
            ["new", "ref1", "--against", "new"],
            2,
            "error: --against is new, which is the only system: there is nothing to compare\n",
        ),
        (["empty", "ref1"], 1, "error: empty: is empty; expected one sentence per line\n"),
        (["new", "empty"], 1, "error: empty: is empty; expected one sentence per line\n"),
        (["new", "latin"], 1, "error: latin:2: byte 0xe9 is not UTF-8\n"),
        (["new", "absent"], 1, "error: absent: No such file or directory\n"),
        (
            ["new", "ref1", "--metric", "blue"],
            2,
            "error: unknown metric 'blue'; did you mean 'bleu'? known: bleu, chrf, ter\n",
        ),
        (["new", "ref1", "--samples", "0"], 2, "error: samples is 0; expected at least 1\n"),
        (["new", "ref1", "--seed", "-1"], 2, "error: seed is -1; expected 0 to 2^64 - 1\n"),
    ],
)
def test_bad_input(run, arguments: list[str], code: int, message: str) -> None:
    Path("short").write_text("a\nb\n")
    Path("empty").write_text("")
    Path("latin").write_bytes("é\n".encode() + b"caf\xe9\n\n\n")
    assert run(*arguments) == (code, "", message)


def test_unknown_tokenizer(run) -> None:
    code, out, err = run("new", "ref1", "--tokenize", "13b")
    assert (code, out) == (2, "")
    assert err.startswith("error: unknown tokenizer '13b'; did you mean '13a'? known: 13a, ")


def test_tokenizers_are_those_of_sacrebleu() -> None:
    lines, reference = ["It rains, doesn't it?", "Yes (mostly)."], ["It rains , does n't it ?", "Yes, mostly."]
    options = ReportOptions(tokenize="13a")
    systems = {"other": lines[::-1], "one": lines}
    _, report = score_systems(systems, [reference], baseline="other", metrics=["bleu"], options=options)
    expected = sacrebleu.corpus_bleu(lines, [reference]).score
    other = sacrebleu.corpus_bleu(lines[::-1], [reference]).score
    assert report.scores[0].value == expected
    assert report.scores[0].against is not None
    assert report.scores[0].against.difference == pytest.approx(expected - other)


@pytest.mark.parametrize(
    ("systems", "references", "bins", "message"),
    [
        ({"a": []}, [], (10,), "there are no references; expected at least one"),
        ({"a": []}, [[]], (10,), "the references are empty"),
        ({"a": ["x"]}, [["x"], []], (10,), "reference 2 has 0 sentences, reference 1 has 1"),
        ({"a": ["x", "y"]}, [["x"]], (10,), "a has 2 sentences, the references have 1"),
        ({"a": ["x"]}, [["x"]], (10, 5), "bins are 10, 5; expected lengths from 1 up, each above the last"),
    ],
)
def test_bad_systems(systems, references, bins, message: str) -> None:
    with pytest.raises(UsageError) as error:
        score_systems(systems, references, bins=bins)
    assert str(error.value) == message


def test_bins_hold_every_sentence_once() -> None:
    lines = [" ".join("w" * n) for n in range(8)]
    (report,) = score_systems({"a": lines}, [lines], metrics=["bleu"], bins=(2, 5))
    assert [(b.shortest, b.longest, b.sentences) for b in report.by_length] == [(0, 2, 3), (3, 5, 3), (6, None, 2)]


def test_refusals_of_metrics() -> None:
    with pytest.raises(ValueError, match=r"^length is 'long'; expected 'closest' or 'shortest'$"):
        Bleu(length="long")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"^smooth is 'floor'; expected 'none', 'exp', 'add-one' or 'add-one-length'$"):
        Bleu(smooth="floor")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"^order is 0; expected 1 to 32$"):
        Bleu(order=0).score([])
    with pytest.raises(ValueError, match=r"^character_order is 0; expected 1 to 32$"):
        Chrf(character_order=0).score([])
    with pytest.raises(ValueError, match=r"^beta is nan; expected a finite number, above 0$"):
        Chrf(beta=math.nan).score([])
    with pytest.raises(ValueError, match=r"^rows of 3 statistics; TER has 2$"):
        Ter().score([1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match=r"^there are 1 translations of 2 sentences$"):
        Bleu().statistics(["a"], [["a", "b"]])
    with pytest.raises(ValueError, match=r"^translation 1 is of sentence 2; there are references for 2$"):
        Bleu().prepare([["a", "b"]]).statistics(["a", "b"], sentences=[0, 2])
    with pytest.raises(ValueError, match=r"^reference 2 has 1 sentences, reference 1 has 2$"):
        Bleu().prepare([["a", "b"], ["a"]])
    with pytest.raises(ValueError, match=r"^there are no references; expected at least one$"):
        Bleu().prepare([])
    with pytest.raises(TypeError, match=r"^'a b' is one text; expected a list of sentences$"):
        Bleu().prepare(["a b"])


def test_refusals_of_tests() -> None:
    two, one, none = np.zeros((2, 2)), np.zeros((1, 2)), np.zeros((0, 2))
    with pytest.raises(ValueError, match=r"^the baseline has 2 sentences, the system 1$"):
        sign_test(Ter(), two, one)
    with pytest.raises(ValueError, match=r"^there are no sentences to compare$"):
        paired_bootstrap(Ter(), none, none)
    with pytest.raises(ValueError, match=r"^samples is 0; expected at least 1$"):
        paired_bootstrap(Ter(), one, one, samples=0)
    with pytest.raises(ValueError, match=r"^level is 95; expected a number between 0 and 1$"):
        paired_bootstrap(Ter(), one, one, level=95)
    with pytest.raises(ValueError, match=r"^3 numbers are no rows of 2 statistics$"):
        sign_test(Ter(), np.zeros(3), two)
