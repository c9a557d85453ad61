"""Rules over HTTP: searched, corrected, learnt, taken back."""

from __future__ import annotations

import shutil
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import served
from served import EN, ZH

import treeglot
from treeglot.rules.corrections import CORRECTIONS, Corrections
from treeglot.web.keys import Keys
from treeglot.web.suggestions import Suggestions


@pytest.fixture
def place(served_hiero: list[str], tmp_path: Path) -> Path:
    """A model that a test may change."""
    return Path(shutil.copytree(served_hiero[0], tmp_path / "model"))


@pytest.fixture
def keys(tmp_path: Path) -> dict[str, dict[str, str]]:
    """Headers by what they allow."""
    made = Keys(tmp_path / "keys.json")
    rights = {"reader": ("translate",), "editor": ("translate", "correct"), "teacher": ("translate", "learn")}
    return {name: {"authorization": f"Bearer {made.add(name, given, 0, 0)}"} for name, given in rights.items()}


@pytest.fixture
def client(place: Path, keys: Any, tmp_path: Path) -> Any:
    made = served.service([str(place)], Keys(tmp_path / "keys.json"))
    made.dev = (ZH[:20], EN[:20])
    return served.Client(made)


def first_rule(place: Path) -> tuple[str, str]:
    """The sides of a rule that has words alone and translates the first sentence."""
    steps = treeglot.load(place).translate(ZH[0]).derivation.steps
    return next((step.source, step.target) for step in steps if not step.local and "[" not in step.source)


def translated(client: Any, text: str) -> str:
    answer = client.post("/translate", json={"q": text, "source": "zh", "target": "en"})
    return str(answer.json()["translatedText"])


def test_rules_are_searched(client: Any, place: Path) -> None:
    source, target = first_rule(place)
    found = client.post("/v1/rules", json={"source": source, "target": target, "whole": True}).json()
    assert found["total"] == len(found["rules"]) >= 1
    assert {(rule["source"], rule["target"]) for rule in found["rules"]} == {(source, target)}
    assert found["rules"][0]["values"]["count"] > 0
    assert client.post("/v1/rules", json={"most": 0}).status_code == 400
    known = client.post("/v1/rules", json={"sides": [f"{source} ||| {target}", "no ||| such"]}).json()
    assert known["rules"] == found["rules"]


def test_rules_are_corrected_and_allowed_again(client: Any, place: Path, keys: Any) -> None:
    before = translated(client, ZH[0])
    source, target = first_rule(place)
    wanted: list[Any] = [{"action": "add", "source": source, "target": "overcoat", "features": {"preferred": 50}}]
    wanted.append({"action": "forbid", "source": source, "target": target})
    tried = client.post("/v1/corrections/check", json={"corrections": wanted, "q": ZH[:5]}).json()
    assert (tried["sentences"], tried["changes"][0]["before"]) == (5, before)
    assert client.get("/v1/corrections").json()["corrections"][0]["corrections"] == []  # it was only tried
    for headers in ({}, keys["reader"], keys["teacher"]):
        assert client.post("/v1/corrections", json={"corrections": wanted}, headers=headers).status_code == 403
    made = client.post("/v1/corrections", json={"corrections": wanted, "author": "Anna"}, headers=keys["editor"])
    kept = made.json()
    assert kept["notes"] == []
    assert [(each["action"], each["author"]) for each in kept["corrections"]] == [("add", "Anna"), ("forbid", "Anna")]
    after = translated(client, ZH[0])
    assert after == tried["changes"][0]["after"] != before
    assert after == treeglot.load(place).translate(ZH[0]).text
    check = client.post("/v1/corrections/check", json={}).json()  # the service's own sentences, all corrections
    assert check["sentences"] == 20
    assert {"source", "before", "after", "number"} == set(check["changes"][0])
    assert set(check["scores"]) >= {"BLEU"}
    undone = client.post("/v1/corrections/undo", json={"group": kept["group"]}, headers=keys["editor"]).json()
    assert (undone["removed"], undone["corrections"]) == (len(wanted), [])
    assert translated(client, ZH[0]) == before
    again = client.post("/v1/corrections/undo", json={"group": kept["group"]}, headers=keys["editor"])
    assert (again.status_code, "no corrections of the group" in again.json()["error"]) == (400, True)


def test_terms_and_pairs_are_tried(client: Any, place: Path) -> None:
    """What they would change, here and elsewhere, before anything is kept."""
    before = translated(client, ZH[0])
    term = treeglot.load(place).translate(ZH[0]).source_tokens.words[3]
    tried = client.post("/v1/corrections/check", json={"glossary": {term: "overcoat"}}).json()
    assert (tried["sentences"], tried["touched"]) == (20, sum(term in text for text in ZH[:20]))
    assert (tried["changes"][0]["before"], "overcoat" in tried["changes"][0]["after"]) == (before, True)
    pair = {"sentence": ZH[0], "translation": "Nobody wore the green hat."}
    tried = client.post("/v1/corrections/check", json=pair).json()
    assert tried["changes"][0] == {"number": 0, "source": ZH[0], "before": before, "after": pair["translation"]}
    assert client.post("/v1/corrections/check", json={"sentence": ZH[0]}).status_code == 400
    assert client.post("/v1/corrections/check", json={"glossary": {"": ""}}).status_code == 400
    assert translated(client, ZH[0]) == before
    assert not (place / CORRECTIONS).exists()


def test_checks_are_metered_and_take_turns(place: Path) -> None:
    """Each sentence of a check waits like one of a request, and their characters count."""
    made = served.service([str(place)], characters_per_minute=3 * sum(map(len, ZH[:20])))
    made.dev = (ZH[:20], EN[:20])
    client = served.Client(made)
    source, _ = first_rule(place)
    wanted = {"corrections": [{"action": "forbid", "source": source}]}
    held, go = threading.Barrier(3), threading.Event()
    for _ in range(2):
        made.workers.submit([lambda: (held.wait(), go.wait())])
    held.wait()  # all threads are busy
    with ThreadPoolExecutor() as clients:
        checking = clients.submit(client.post, "/v1/corrections/check", json=wanted)
        while not (waiting := made.workers.waiting):
            pass
        short = clients.submit(client.post, "/translate", json={"q": ZH[0], "source": "zh", "target": "en"})
        while made.workers.waiting == waiting:
            pass
        turns = [len(turn) for turn in made.workers._turns]
        go.set()
        found = checking.result().json()
        assert short.result().status_code == 200
    assert turns == [found["touched"], 1]  # the short one comes after the first sentence of the check
    assert [client.post("/v1/corrections/check", json=wanted).status_code for _ in range(2)] == [200, 429]


def test_suggestions_are_for_who_may_correct(place: Path, keys: Any, tmp_path: Path) -> None:
    made = served.service([str(place)], Keys(tmp_path / "keys.json"))
    client = served.Client(made)
    assert client.get("/v1/suggestions", headers=keys["editor"]).json() == {"suggestions": []}
    made.suggestions = Suggestions(tmp_path / "suggestions.jsonl")
    client.post("/suggest", json={"q": ZH[0], "s": "A hat.", "source": "zh", "target": "en"})
    assert client.get("/v1/suggestions", headers=keys["reader"]).status_code == 403
    [found] = client.get("/v1/suggestions", headers=keys["editor"]).json()["suggestions"]
    assert (found["q"], found["s"]) == (ZH[0], "A hat.")


def test_rules_are_added(client: Any, place: Path, keys: Any) -> None:
    source, _ = first_rule(place)
    features = {"p_target_given_source": 1.0, "p_source_given_target": 1.0}
    change = {"action": "add", "source": source, "target": "<b> overcoat", "features": features}
    kept = client.post("/v1/corrections", json={"corrections": [change]}, headers=keys["editor"]).json()
    assert kept["corrections"][0]["lhs"] == "X"
    again = client.post("/v1/corrections", json={"corrections": [change | {"lhs": "[X]"}]}, headers=keys["editor"])
    assert again.json()["corrections"][1]["lhs"] == "X"  # as files write it
    assert client.post("/v1/corrections/undo", json={"group": again.json()["group"]}, headers=keys["editor"]).is_success
    assert len(Corrections.read(place / CORRECTIONS)) == 1
    odd = {"action": "forbid", "source": "no such words"}
    notes = client.post("/v1/corrections", json={"corrections": [odd]}, headers=keys["editor"]).json()["notes"]
    assert len(notes) == 1
    assert "no rule is like this" in notes[0]
    with (place / CORRECTIONS).open("a") as stream:  # somebody edits the file, and errs
        stream.write("nonsense\n")
    for path, given in (("", {"corrections": [odd]}), ("/undo", {"group": kept["group"]})):
        answer = client.post(f"/v1/corrections{path}", json=given, headers=keys["editor"])
        assert (answer.status_code, f"{CORRECTIONS}:3: 1 fields" in answer.json()["error"]) == (409, True)
    taught = client.post("/v1/learn", json={"q": ZH[0], "translation": EN[1]}, headers=keys["teacher"])
    assert taught.status_code == 409
    assert (place / CORRECTIONS).read_text().endswith("nonsense\n")


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"action": "lose", "source": "a"}, "action"),
        ({"action": "add", "source": "a"}, "target"),
        ({"action": "add", "source": "a\nb ||| c", "target": "x"}, "|||"),
        ({"action": "add", "source": "[X,1] a", "target": "b"}, ""),
        ({"action": "reweight", "source": "a", "features": {"p_x": 2.0}}, "probability"),
        ({"source": "a"}, "action"),
        ({"action": "forbid", "source": "a", "colour": "red"}, "colour"),
    ],
)
def test_corrections_that_make_no_sense(
    client: Any, place: Path, keys: Any, given: dict[str, Any], problem: str
) -> None:
    answer = client.post("/v1/corrections", json={"corrections": [given]}, headers=keys["editor"])
    assert answer.status_code == 400
    assert problem in answer.json()["error"]
    assert not (place / CORRECTIONS).exists()


def test_learning(client: Any, place: Path, keys: Any) -> None:
    """What was acknowledged holds from the next request on, is on the disk, and can be taken back."""
    wanted = "Nobody wore the green hat."
    before = translated(client, ZH[0])
    given = {"q": ZH[0], "translation": wanted, "author": "Bo"}
    for headers in ({}, keys["reader"], keys["editor"]):
        assert client.post("/v1/learn", json=given, headers=headers).status_code == 403
    learnt = client.post("/v1/learn", json=given, headers=keys["teacher"]).json()
    assert len(learnt["rules"]) == len(learnt["corrections"]) == len(Corrections.read(place / CORRECTIONS)) > 0
    assert translated(client, ZH[0]) == treeglot.load(place).translate(ZH[0]).text == wanted
    client.post("/v1/corrections/undo", json={"group": learnt["group"]}, headers=keys["editor"])
    assert translated(client, ZH[0]) == before
    weights = client.get("/v1/models").json()["models"][0]["weights"]
    stepped = client.post("/v1/learn", json=given | {"weights": True}, headers=keys["teacher"]).json()
    moved = client.get("/v1/models").json()["models"][0]["weights"]
    assert learnt["step"] == {} != stepped["step"]
    assert {name for name in weights if moved[name] != weights[name]} == stepped["step"].keys()
    client.post("/v1/corrections/undo", json={"group": stepped["group"]}, headers=keys["editor"])
    assert client.get("/v1/models").json()["models"][0]["weights"] == weights
    assert client.post("/v1/learn", json=given | {"q": ""}, headers=keys["teacher"]).status_code == 400
