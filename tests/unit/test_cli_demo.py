"""`treeglot demo`: the recipe it makes, and a run of it cut down to two systems."""

from pathlib import Path

import pytest

from treeglot.cli import demo, main
from treeglot.models import KINDS


def test_it_has_models_of_every_paper() -> None:
    assert set(demo.SYSTEMS) <= set(KINDS)
    quick = set(demo.SYSTEMS) - set(demo.LEFT_OUT)
    assert {"hiero", "t2t-fuzzy", "c2s", "c2d", "dep2str", "dep2str-aug", "s2d"} <= quick


def test_a_small_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(demo, "QUICK", 120)
    monkeypatch.setattr(demo, "SYSTEMS", {"hiero": "mert", "c2d": "mert"})
    left = tmp_path / "demo/corpus-120/.test.zh.x.part"  # by a run that was killed
    left.parent.mkdir(parents=True)
    left.touch()
    assert main(["demo", "--quick", "--out", str(tmp_path / "demo"), "--threads", "2"]) == 0
    assert not left.exists()
    shown = capsys.readouterr()
    assert "── Results on the test set" in shown.out
    heading = next(line for line in shown.out.splitlines() if line.strip().startswith("system"))
    assert "sign test p" in heading
    assert "reference: " in shown.out
    assert "── How c2d made the first of them" in shown.out
    assert "TOP( " in shown.out
    block = shown.out.split("── Text in, text out")[1].split("── What to try next")[0]
    text, translation = [line.strip() for line in block.splitlines() if line.strip()][-2:]
    assert " " not in text  # Chinese as people write it
    assert translation.count(".") == 3
    assert " ." not in translation
    report = (tmp_path / "demo/report.html").read_bytes()
    assert b"sample corpus" in report
    # Again: nothing runs, and the page is the same.
    assert main(["demo", "--quick", "--out", str(tmp_path / "demo"), "--threads", "1"]) == 0
    assert "19 steps, 19 of them done before" in capsys.readouterr().err
    assert (tmp_path / "demo/report.html").read_bytes() == report
