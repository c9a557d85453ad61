"""Comparing pairs of systems of a run: by all sentences, and by parts of the test set."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from benches import load_bench

from treeglot.base.errors import UsageError
from treeglot.evaluate import Bleu

REFERENCES = ["A b c d e f", "g h i j k l m n", "o p q r s t", "u v w x y z a b"]
WORSE = ["a b c d e x", "g h i j k l m x", "o p q r s t", "u v w x y z a x"]


def put_run(work: Path, outputs: dict[str, Sequence[Sequence[str]]], lowercase: bool = True) -> Path:
    (work / "cards").mkdir(parents=True)
    (work / "refs").write_text("".join(f"{line}\n" for line in REFERENCES))
    for name, several in outputs.items():
        files = [f"{name}.{seed}" for seed in range(len(several))]
        for file, lines in zip(files, several, strict=True):
            (work / file).write_text("".join(f"{line}\n" for line in lines))
        scores = {"references": ["refs"], "options": {"lowercase": lowercase}}
        scores["outputs"] = [{"file": file} for file in files]
        (work / "cards" / f"{name}.json").write_text(json.dumps({"scores": {"test": scores}}))
    return work


def run(monkeypatch: pytest.MonkeyPatch, name: str, work: Path, *arguments: str) -> dict[str, Any]:
    monkeypatch.setattr(sys, "argv", [f"{name}.py", str(work), *arguments, "--json", str(work / "t.json")])
    load_bench(name)["main"]()
    found: dict[str, Any] = json.loads((work / "t.json").read_text())
    return found


@pytest.mark.parametrize("lowercase", [True, False])
def test_both_score_by_the_options_of_the_cards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lowercase: bool
) -> None:
    right = [line.lower() for line in REFERENCES]
    work = put_run(tmp_path / "run", {"new": [right, right], "old": [WORSE, WORSE]}, lowercase)
    source = tmp_path / "source"
    source.write_text("1 2\n1 2 3\n1\n1 2\n")
    bleu = Bleu(lowercase=lowercase)
    whole = bleu.score(bleu.prepare([REFERENCES]).statistics(right))
    assert (whole > 99.9) == lowercase
    (row,) = run(monkeypatch, "differences", work, "new:old")["rows"]
    assert row[:3] == ["`new`", "`old`", 2]
    assert row[3] == pytest.approx(whole, abs=1e-4)
    rows = run(monkeypatch, "by_part", work, "new:old", "--source", str(source), "--lengths", "2")["rows"]
    assert [one[:2] for one in rows] == [["all", 4], ["1 to 2 words", 3], ["3 to 3 words", 1]]
    assert rows[0][2] == 2  # seeds
    assert rows[0][3] == pytest.approx(whole, abs=1e-4)
    some = [0, 2, 3]
    part = bleu.prepare([[REFERENCES[n] for n in some]]).statistics([WORSE[n] for n in some])
    assert rows[1][4] == pytest.approx(bleu.score(part), abs=1e-4)


def test_odd_pairs_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    work = put_run(tmp_path / "run", {"one": [WORSE], "two": [WORSE, WORSE]})
    source = tmp_path / "source"
    source.write_text("1 2\n1 2 3\n1\n1 2\n")
    (tmp_path / "origin").write_text("news\nnews\n")
    with pytest.raises(UsageError, match="'one' is not a pair"):
        run(monkeypatch, "differences", work, "one")
    with pytest.raises(UsageError, match="the card of one has no test set 'dev'; expected one of test"):
        run(monkeypatch, "differences", work, "one:two", "--test", "dev")
    with pytest.raises(UsageError, match="one has 1 outputs and two has 2; expected as many seeds of both"):
        run(monkeypatch, "differences", work, "one:two")
    with pytest.raises(UsageError, match="expected as many seeds of both"):
        run(monkeypatch, "by_part", work, "one:two", "--source", str(source))
    with pytest.raises(UsageError, match=r"origin has 2 lines; expected 4, as .*source has"):
        run(monkeypatch, "by_part", work, "one:one", "--source", str(source), "--origin", str(tmp_path / "origin"))
    card = json.loads((work / "cards/two.json").read_text())
    card["scores"]["test"]["options"]["lowercase"] = False
    (work / "cards/two.json").write_text(json.dumps(card))
    with pytest.raises(UsageError, match=r"the card of two has the options of scoring .* expected those of one"):
        run(monkeypatch, "by_part", work, "one:two", "--source", str(source))
