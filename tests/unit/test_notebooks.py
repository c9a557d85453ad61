"""Results show themselves in notebooks, as tables; a user's words are escaped."""

import json
from pathlib import Path
from typing import Any

import pytest

from treeglot.align.score import AlignmentScore
from treeglot.analyse.phrase_kinds import PhraseKinds
from treeglot.base.errors import FormatError
from treeglot.evaluate import Bleu, paired_bootstrap
from treeglot.evaluate.report import score_systems
from treeglot.experiment import load_report
from treeglot.rules.ghkm import RuleKinds


def test_scores() -> None:
    found = score_systems({"<old>": ["a b c d x"], "new": ["a b c d e"]}, [["a b c d e"]], baseline="<old>")
    shown = found._repr_html_()
    assert "&lt;old&gt;" in shown
    assert "<old>" not in shown
    assert ">+33.13</td>" in shown
    assert "nrefs:1" in shown
    assert "new" in found[1]._repr_html_()
    assert "&lt;old&gt;" not in found[1]._repr_html_()


def test_tests_of_significance() -> None:
    metric = Bleu()
    rows = [metric.statistics([line] * 9, [["a b c d e"] * 9]) for line in ("a b c d x", "a b c d e")]
    shown = paired_bootstrap(metric, rows[0], rows[1], samples=20)._repr_html_()
    assert "33.13 to 33.13" in shown
    assert "20 samples" in shown


def test_counts() -> None:
    assert ">1,234<" in RuleKinds(1234, 5)._repr_html_()
    assert ">60.0<" in PhraseKinds(1, 10, 5, 4, 4, 3)._repr_html_()
    assert ">0.5000<" in AlignmentScore(2, 2, 1, 1)._repr_html_()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    def score(system: str, value: float, **more: Any) -> dict[str, Any]:
        bleu = {"score": value, "signature": "nrefs:1", "interval": [value - 1, value + 1], **more}
        return {"system": system, "scores": {"BLEU": bleu}}

    against = {"difference": 2.0, "sign_test": {"p": 0.0}}
    figures = {
        "title": "A <b> test",
        "baseline": "one",
        "signature": "treeglot 1.2",
        "systems": [
            {"name": "one", "rules": 1234, "unlike": []},
            {"name": "t<w>o", "rules": 9, "unlike": ["tuner: mira, not mert"]},
        ],
        "tests": {"news": {"scores": [score("one", 20.0), score("t<w>o", 22.0, against=against)]}},
    }
    (tmp_path / "report.json").write_text(json.dumps(figures))
    steps = {"translate one news": {"ms_per_sentence": 7.25}}
    (tmp_path / "timings.js").write_text(f"const TIMINGS = {json.dumps({'threads': 1, 'steps': steps})};\n")
    return tmp_path


def test_reports(folder: Path) -> None:
    report = load_report(folder)
    assert report.table("news") == [
        ["system", "rules", "BLEU", "interval", "against one", "sign test p", "ms a sentence"],
        ["one", "1,234", "20.00", "19.00 to 21.00", "", "", "7.2"],
        ["t<w>o*", "9", "22.00", "21.00 to 23.00", "+2.00", "< 0.001", ""],
    ]
    assert str(report).splitlines()[-3:] == [
        "BLEU nrefs:1|treeglot:1.2",
        "",
        "* t<w>o is not comparable with one: tuner: mira, not mert",
    ]
    shown = report._repr_html_()
    assert "A &lt;b&gt; test" in shown
    assert "t&lt;w&gt;o" in shown
    assert "<w>" not in shown
    (folder / "timings.js").unlink()
    assert load_report(folder).table("news")[1][-1] == ""


def test_an_experiment_that_has_not_ended(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"has no report\.json: the experiment has not ended"):
        load_report(tmp_path)
