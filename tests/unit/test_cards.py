"""Cards of systems: they keep to their schema, and `verify` finds everything that is not as they say."""

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from benches import BENCH, load_bench

from treeglot import sample
from treeglot.base.errors import FormatError
from treeglot.cli import main
from treeglot.experiment.card import card_digest
from treeglot.experiment.verify import verify_card

SCHEMA = json.loads((BENCH.parent / "docs/card.schema.json").read_text())
RECIPE = """
title = "Cards"
seeds = [1, 2]
[corpus]
source = "train.zh"
target = "train.en"
alignments = "train.align"
[dev]
source = "dev.zh"
references = ["dev.en"]
[test.one]
source = "test.zh"
references = ["test.en"]
[lm]
order = 2
[tune]
iterations = 1
kbest = 10
options = { restarts = 1, directions = 1 }
[[system]]
name = "hiero"
kind = "hiero"
options = { search = { pop_limit = 10 } }
[[system]]
name = "plain"
kind = "hiero"
options = { search = { pop_limit = 5 } }
tune = { method = "none" }
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cards")
    sample.write_corpus(folder / "data", 100)
    (folder / "data/recipe.toml").write_text(RECIPE)
    assert main(["run", str(folder / "data/recipe.toml"), "--work", str(folder / "work")]) == 0
    return folder


@pytest.fixture
def copy(made: Path, tmp_path: Path) -> Path:
    """A copy that a test may damage."""
    shutil.copytree(made, tmp_path / "copy")
    return tmp_path / "copy"


def found(folder: Path, **options: Any) -> dict[str, str]:
    """What does not match, with the state and the problem."""
    checks = verify_card(folder / "work/cards/hiero.json", **options)
    return {check.what: f"{check.state} {check.problem}".strip() for check in checks if check.state != "matches"}


def change(folder: Path, edit: Callable[[dict[str, Any]], None], *, digest: bool = True) -> None:
    path = folder / "work/cards/hiero.json"
    card = json.loads(path.read_text())
    edit(card)
    if digest:
        card["digest"] = card_digest(card)
    path.write_text(json.dumps(card))


@pytest.mark.parametrize("system", ["hiero", "plain"])
def test_cards_keep_to_the_schema(made: Path, system: str) -> None:
    card = json.loads((made / f"work/cards/{system}.json").read_text())
    jsonschema.Draft202012Validator(SCHEMA).validate(card)
    seeds = 2 if system == "hiero" else 1
    assert len(card["weights"]) == len(card["scores"]["one"]["outputs"]) == seeds
    assert {"models/hiero/rules.table", "models/hiero/lm.bin"} <= {*card["model"]} or system == "plain"
    assert card["steps"]["train " + system]["settings"]["options"]["search"]["pop_limit"] in (5, 10)
    assert "../data/train.zh" in card["data"]
    assert "../data/test.en" in card["data"]
    assert card["measured"]["steps"]["train " + system]["cpu"] > 0
    assert "report" not in card["steps"]
    assert not any("plain" in step for step in card["steps"]) or system == "plain"
    assert card["scores"]["one"]["signatures"]["BLEU"].startswith("nrefs:1|")


def test_cards_that_are_true_pass(made: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cards = sorted(map(str, (made / "work/cards").iterdir()))
    capsys.readouterr()
    assert main(["verify", *cards]) == 0
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err.count("0 differs, 0 absent") == 2
    assert [check.state for check in verify_card(cards[0])].count("matches") > 20


def test_an_experiment_elsewhere_is_verified_there(made: Path, store: Any, capsys: pytest.CaptureFixture[str]) -> None:
    there = store.buckets["data"]
    for path in made.rglob("*"):
        if path.is_file():
            there[f"all/{path.relative_to(made).as_posix()}"] = path.read_bytes()
    card = "s3://data/all/work/cards/hiero.json"
    capsys.readouterr()
    assert main(["verify", card]) == 0
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err.startswith(f"{card}: ") and "0 differs, 0 absent" in output.err
    there["all/work/models/hiero/more"] = b""
    there["all/work/models/hiero/lm.bin"] += b" "
    for name in [name for name in there if name.startswith("all/data/")]:
        there[f"moved/{Path(name).name}"] = there.pop(name)
    assert main(["verify", card, "--data", "s3://data/moved?region=us-east-1"]) == 1
    assert capsys.readouterr().out.splitlines() == [
        f"{card}: differs  model models/hiero/lm.bin: its content is another one",
        f"{card}: differs  model models/hiero/more: the card does not have this file",
    ]
    del there["moved/train.zh"]
    assert main(["verify", card, "--data", "s3://data/moved"]) == 1
    assert f"{card}: absent   data ../data/train.zh" in capsys.readouterr().out.splitlines()
    assert main(["verify", "s3://data/none.json"]) == 1
    assert "error: s3://data/none.json: is not there; expected a card" in capsys.readouterr().err


def test_a_moved_experiment_passes(copy: Path) -> None:
    assert found(copy) == {}
    (copy / "data").rename(copy / "elsewhere")
    absent = found(copy)
    assert absent["data ../data/train.zh"] == "absent"
    assert all(problem.startswith("absent") for problem in absent.values())
    assert found(copy, data=[copy / "elsewhere"]) == {}


@pytest.mark.parametrize(
    ("file", "what"),
    [
        ("data/train.zh", "data ../data/train.zh"),
        ("work/models/hiero/rules.table", "model models/hiero/rules.table"),
        ("work/models/hiero/weights.txt", "model models/hiero/weights.txt"),
    ],
)
def test_a_file_that_changed_is_named(copy: Path, file: str, what: str) -> None:
    content = bytearray((copy / file).read_bytes())
    content[len(content) // 2] ^= 1
    (copy / file).unlink()  # it may be linked
    (copy / file).write_bytes(content)
    assert found(copy) == {what: "differs its content is another one"}
    (copy / file).unlink()
    assert found(copy) == {what: "absent"}


def test_a_card_that_is_there_stays_until_what_it_is_made_of_changes(made: Path, copy: Path) -> None:
    path = copy / "work/cards/hiero.json"
    run = ["run", str(copy / "data/recipe.toml"), "--work", str(copy / "work"), "--threads", "2"]
    before = path.read_bytes()
    assert main(run) == 0
    assert path.read_bytes() == before
    change(copy, lambda card: card["measured"].update(threads=9), digest=False)  # a damaged one is made anew
    assert main(run) == 0
    assert json.loads(path.read_text())["measured"]["threads"] == 2
    references = copy / "data/test.en"
    references.write_text(references.read_text().lower())
    assert main(run) == 0
    assert found(copy) == {}
    after = json.loads(path.read_text())
    assert after["scores"] != json.loads(before)["scores"]
    assert after["model"] == json.loads(before)["model"]
    recipe = copy / "data/recipe.toml"
    recipe.write_text("lowercase = true\n" + recipe.read_text())  # which changes no step of the system without tuning
    assert main(run) == 0
    plain = json.loads((copy / "work/cards/plain.json").read_text())
    assert plain["scores"]["one"]["options"]["lowercase"] is True


def test_an_output_that_changed_has_other_scores(copy: Path) -> None:
    [output] = (copy / "work").glob("translate-hiero-one-seed-2.*/output.txt")
    lines = output.read_text().splitlines()
    output.write_text("\n".join(["nothing", *lines[1:]]) + "\n")
    name = output.relative_to(copy / "work").as_posix()
    problems = found(copy)
    assert problems.keys() == {f"output {name}", f"scores on one of {name}"}
    assert "; the card says " in problems[f"scores on one of {name}"]
    output.write_text("\n".join(lines[1:]) + "\n")
    problems = found(copy)
    assert problems.keys() == {f"output {name}", f"scores on one of {name}"}
    assert "the references have" in problems[f"scores on one of {name}"]
    output.write_bytes(b"\xff\n" * len(lines))
    assert "is not UTF-8" in found(copy)[f"scores on one of {name}"]
    output.unlink()
    assert {problem.split()[0] for problem in found(copy).values()} == {"absent"}


def test_a_file_that_was_added_to_the_model_is_found(copy: Path) -> None:
    (copy / "work/models/hiero/corrections.txt").write_text("")
    name = "model models/hiero/corrections.txt"
    assert found(copy) == {name: "differs the card does not have this file"}


def test_an_edited_card_is_found(copy: Path) -> None:
    change(copy, lambda card: card.update(title="Other"), digest=False)
    assert found(copy) == {"the card": "differs it was edited after it was written"}


def test_a_false_score_is_found(copy: Path) -> None:
    def better(card: dict[str, Any]) -> None:
        card["scores"]["one"]["outputs"][0]["scores"]["chrF2"] += 0.01

    change(copy, better)
    [problem] = found(copy).values()
    assert problem.startswith("differs chrF2 is ")


def test_a_score_that_is_no_number_of_the_machine(copy: Path) -> None:
    def edit(card: dict[str, Any]) -> None:
        card["scores"]["one"]["outputs"][0]["scores"]["BLEU"] = 10**400

    change(copy, edit)
    with pytest.raises(
        FormatError, match=r"hiero\.json: is not a card: OverflowError.*expected docs/card\.schema\.json"
    ):
        found(copy)


def test_a_false_signature_is_found(copy: Path) -> None:
    change(copy, lambda card: card["scores"]["one"]["signatures"].update(TER="nrefs:1|other"))
    assert {problem.split(" is ")[0] for problem in found(copy).values()} == {"differs TER"}
    assert len(found(copy)) == 2


def test_other_settings_have_another_key(copy: Path) -> None:
    def other(card: dict[str, Any]) -> None:
        card["steps"]["train hiero"]["settings"]["options"]["search"]["pop_limit"] = 11

    change(copy, other)
    assert found(copy) == {"step train hiero": "differs its settings and inputs have another key"}


def test_data_that_the_card_leaves_out_is_missed(copy: Path) -> None:
    change(copy, lambda card: card["data"].pop("../data/train.en"))
    problems = found(copy)
    assert problems["step train hiero"] == "differs the card does not say where its target comes from"


def test_exit_codes(copy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    card = copy / "work/cards/plain.json"
    (copy / "data/train.en").unlink()
    capsys.readouterr()
    assert main(["verify", str(card)]) == 1
    assert capsys.readouterr().out == f"{card}: absent   data ../data/train.en\n"
    assert main(["verify", str(card), "--partial"]) == 0
    (copy / "data/train.zh").write_text("other\n")
    assert main(["verify", str(card), "--partial"]) == 1
    assert main(["verify", str(copy / "nothing")]) == 1
    assert "is not there; expected a card or the folder of a model" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{}", "is not a card; expected one of version 1"),
        ('{"card": 2}', "is a card of version 2; expected one of version 1"),
        ('{"card": 1}', "is not a card: KeyError('steps'); expected docs/card.schema.json"),
        ('{"card": 1, "steps": [], "data": {}}', "is not a card: "),
        ("[]", "expected a JSON object"),
    ],
)
def test_what_is_no_card_is_refused(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "card.json").write_text(text)
    with pytest.raises(FormatError) as caught:
        list(verify_card(tmp_path / "card.json"))
    assert said in str(caught.value)


def test_a_model_is_opened_in_full(copy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = copy / "work/models/hiero"
    capsys.readouterr()
    assert main(["verify", str(model)]) == 0
    assert "sound: model.toml, rules.table, lm.bin, weights.txt" in capsys.readouterr().err
    content = bytearray((model / "lm.bin").read_bytes())
    content[-1] ^= 1
    (model / "lm.bin").unlink()
    (model / "lm.bin").write_bytes(content)
    assert main(["verify", str(model)]) == 1
    assert "lm.bin" in capsys.readouterr().err


def test_the_table_of_all_kinds_comes_from_reports_and_cards(
    made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    kinds, render = load_bench("kinds"), load_bench("render")
    out = tmp_path / "kinds.json"
    command = [str(made / "data/recipe.toml"), "--work", str(made / "work"), "--seeds", "1,2", "--threads", "1"]
    monkeypatch.setattr(sys, "argv", ["kinds.py", *command, "--json", str(out), "--again", "hiero"])
    assert kinds["main"]() == 0
    assert "1 systems once more: the same bytes" in capsys.readouterr().out
    table = json.loads(out.read_text())
    names = [column["name"] for column in table["columns"]]
    hiero, plain = (dict(zip(names, row, strict=True)) for row in table["rows"])
    card = json.loads((made / "work/cards/hiero.json").read_text())
    wanted = [one["scores"]["BLEU"] for one in card["scores"]["one"]["outputs"]]
    assert hiero["BLEU, by seed"] == pytest.approx(wanted, abs=1e-4)
    assert hiero["against hiero, 95 %"] is None
    assert plain["against hiero, 95 %"]["low"] <= plain["against hiero, 95 %"]["high"]
    assert plain["not comparable"].startswith("tuner: none, not mert")
    assert hiero["tune, CPU s"] > 0
    assert plain["tune, CPU s"] is None
    assert render["table_text"](out).startswith("| system | rules |")


def test_other_bytes_are_found(made: Path, copy: Path) -> None:
    compare = load_bench("kinds")["compare"]
    assert compare(made / "work", copy / "work", "hiero") == []
    change(copy, lambda card: card["scores"]["one"]["outputs"][1].update(digest="0" * 32))
    change(copy, lambda card: card["model"].update({"models/hiero/rules.table": "1" * 32}))
    assert compare(made / "work", copy / "work", "hiero") == ["hiero: models/hiero/rules.table", "hiero: output one 1"]
