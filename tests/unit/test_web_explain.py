"""How the service explains a translation."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
import served
from served import ZH

import treeglot
from treeglot.syntax import ParseForest
from treeglot.web.keys import Keys


@pytest.fixture(scope="module")
def models(served_hiero: list[str], tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    return [*served_hiero, *served.train_models(tmp_path_factory.mktemp("web"), ("c2s",))]


@pytest.fixture(scope="module")
def client(models: list[str]) -> Any:
    return served.Client(served.service(models))


def test_an_explanation(client: Any, models: list[str]) -> None:
    found = client.post("/v1/explain", json={"q": ZH[0], "model": "hiero", "margin": 2}).json()
    best = treeglot.load(models[0]).translate(ZH[0])
    assert found["sentence"]["text"] == best.text
    assert found["words"] == best.words
    assert "<svg" in found["html"]
    assert " style=" not in found["html"]
    assert len(found["parts"]) == len(best.derivation.steps)
    steps = {(tuple(step.span), str(step)) for step in best.derivation.steps}
    lost = {(tuple(c["span"]), r["rule"]): r["lost"] for c in found["competing"] for r in c["rules"]}
    assert all(lost[step] < 1e-6 for step in steps)  # the best derivation loses nothing
    assert all(0 <= each <= 2 + 1e-6 for each in lost.values())
    assert len(lost) > len(steps)


def test_other_weights(client: Any, models: list[str]) -> None:
    model = treeglot.load(models[0])
    changed = {"word_penalty": -30.0, "lm": 0.0}
    found = client.post("/v1/explain", json={"q": ZH[0], "model": "hiero", "weights": changed}).json()
    assert found["weights"] == {**model.weights, **changed}
    assert found["sentence"]["text"] == model.with_weights({**model.weights, **changed}).translate(ZH[0]).text
    bad = client.post("/v1/explain", json={"q": ZH[0], "weights": {"lmm": 1.0}})
    assert (bad.status_code, "did you mean 'lm'?" in bad.json()["error"]) == (400, True)


def test_another_parse(client: Any, models: list[str]) -> None:
    """A parse of the forest, given back as nested lists, is what is translated."""
    model = treeglot.load(models[1])
    forest = model.translate(ZH[0]).given
    assert isinstance(forest, ParseForest)
    found = client.post("/v1/explain", json={"q": ZH[0], "model": "c2s"}).json()
    assert found["forest"]
    tree = forest.viterbi()
    picked = client.post("/v1/explain", json={"q": ZH[0], "model": "c2s", "tree": tree.to_nested()}).json()
    assert picked["sentence"]["text"] == model.translate_batch([tree])[0].text
    for bad in ("NP", ["NP"], ["NP", 3], [["NP"], "x"], {"NP": 1}, ["X"] * 3000):
        answer = client.post("/v1/explain", json={"q": ZH[0], "model": "c2s", "tree": bad})
        assert answer.status_code == 400, bad
    assert client.post("/v1/explain", json={"q": "  "}).status_code == 400


def test_phrases_that_must_or_must_not_be_there(client: Any) -> None:
    ask = {"q": ZH[0], "model": "hiero"}
    best = client.post("/v1/explain", json=ask).json()["sentence"]["text"]
    assert "coat" in best.split()
    found = client.post("/v1/explain", json=ask | {"forbid": ["coat"]}).json()["sentence"]
    assert "coat" not in found["text"].split()
    other = next(word for word in found["text"].split() if word not in best)
    again = client.post("/v1/explain", json=ask | {"contains": [other]}).json()["sentence"]["text"]
    assert other in again
    none = client.post("/v1/explain", json=ask | {"contains": ["xyzzy"]}).json()
    assert none["sentence"]["problem"] == "no derivation meets the constraints"
    assert none["competing"] == []


def test_why_and_why_not(client: Any, models: list[str]) -> None:
    ask = {"q": ZH[0], "model": "hiero"}
    found = client.post("/v1/why", json=ask).json()
    model = treeglot.load(models[0])
    assert found["text"] == model.translate(ZH[0]).text
    assert found["instead"] is None
    places = [place for reason in found["reasons"] for place in reason["words"]]
    assert sorted(places) == list(range(len(model.translate(ZH[0]).target_tokens)))
    assert found["tokens"] == model.translate(ZH[0]).target_tokens.words
    assert all(reason["margin"] is None or reason["margin"] >= -1e-6 for reason in found["reasons"])
    same = client.post("/v1/why", json=ask | {"instead": found["text"]}).json()["instead"]
    assert same["score"] == pytest.approx(found["score"], abs=1e-4)
    none = client.post("/v1/why", json=ask | {"instead": "xyzzy xyzzy"}).json()["instead"]
    assert (none["score"], "xyzzy" in none["missing"]) == (None, True)
    refused = client.post("/v1/provenance", json={"target": "coat", "model": "c2s"})
    assert (refused.status_code, "has no provenance" in refused.json()["error"]) == (400, True)


def test_examples_of_rules(models: list[str], tmp_path_factory: pytest.TempPathFactory) -> None:
    places = served.train_models(tmp_path_factory.mktemp("provenance"), provenance=True)
    client = served.Client(served.service(places))
    found = client.post("/v1/why", json={"q": ZH[0]}).json()
    for reason in found["reasons"]:
        assert reason["examples"]["pairs"] >= len(reason["examples"]["examples"]) >= 1
    coat = client.post("/v1/provenance", json={"target": "coat"}).json()
    assert coat["pairs"] >= 1
    [place] = coat["examples"][0]["target_marks"]
    assert coat["examples"][0]["target"][place] == "coat"
    reason = found["reasons"][0]
    sides = {"source": reason["source"], "target": reason["target"], "rule": True}
    assert client.post("/v1/provenance", json=sides).json()["rules"][0]["pairs"] == reason["examples"]["pairs"]
    assert client.post("/v1/provenance", json={}).status_code == 400


def test_terms_of_a_request(client: Any, models: list[str]) -> None:
    model = treeglot.load(models[0])
    term = model.translate(ZH[0]).source_tokens.words[3]
    given = {"q": ZH[0], "model": "hiero", "glossary": {term: "Überzieher"}}
    expected = model.translate(ZH[0], glossary={term: "Überzieher"}).text
    assert "Überzieher" in expected
    found = client.post("/v1/translate", json=given).json()["translations"][0]
    assert found["text"] == expected
    assert found["sentences"][0]["terms"][0]["source"] == term
    assert client.post("/v1/explain", json=given).json()["sentence"]["text"] == expected
    assert client.post("/v1/translate", json=given | {"glossary": {"": "x"}}).status_code == 400
    assert client.post("/v1/translate", json=given | {"glossary": {term: 3}}).status_code == 400


def test_the_glossary_of_a_model(models: list[str], tmp_path: Path) -> None:
    """Who may correct replaces it; it is a file of the model, and holds from then on."""
    folder = Path(shutil.copytree(models[0], tmp_path / "model"))
    keys = Keys(tmp_path / "keys.json")
    key = {"authorization": f"Bearer {keys.add('editor', ('translate', 'correct'), 0, 0)}"}
    reader = {"authorization": f"Bearer {keys.add('reader', ('translate',), 0, 0)}"}
    client = served.Client(served.service([str(folder)], keys))
    term = treeglot.load(folder).translate(ZH[0]).source_tokens.words[3]
    entries = [
        {"source": term, "target": "<script>", "forms": ["x", "y=z"]},
        {"source": "", "target": "q", "mode": "forbid"},
    ]
    for headers in ({}, reader):
        refused = client.post("/v1/glossaries", json={"entries": entries}, headers=headers)
        assert (refused.status_code, "the right 'correct'" in refused.json()["error"]) == (403, True)
    [before] = client.get("/v1/models").json()["models"]
    found = client.post("/v1/glossaries", json={"entries": entries}, headers=key).json()
    assert found["digest"] != before["digest"]
    assert [entry["target"] for entry in found["entries"]] == ["<script>", "q"]
    assert found["entries"][0]["forms"] == ["x", "y=z"]
    assert client.get("/v1/glossaries").json()["glossaries"] == [found]
    again = treeglot.load(folder)
    assert again.glossary is not None
    text = client.post("/translate", json={"q": ZH[0], "source": "zh", "target": "en"}).json()["translatedText"]
    assert "<script>" in text
    assert text == again.translate(ZH[0]).text
    for bad in (
        {"source": "a\tb", "target": "c"},
        {"source": "#a", "target": "c"},
        {"source": "a", "mode": "x"},
        {"s": 1},
    ):
        answer = client.post("/v1/glossaries", json={"entries": [bad]}, headers=key)
        assert answer.status_code == 400, bad
    stale = {"entries": [], "version": found["version"]}
    newer = client.post(
        "/v1/glossaries", json={"entries": entries[:1], "version": found["version"]}, headers=key
    ).json()
    answer = client.post("/v1/glossaries", json=stale, headers=key)
    assert (answer.status_code, "changed the glossary meanwhile" in answer.json()["error"]) == (409, True)
    assert client.get("/v1/glossaries").json()["glossaries"] == [newer]
    assert client.post("/v1/glossaries", json={"entries": []}, headers=key).json()["entries"] == []


def test_the_page_and_its_files(client: Any) -> None:
    page = client.get("/")
    assert page.headers["content-type"].startswith("text/html")
    for name in ("workbench.js", "workbench.css", "drawn.js", "drawn.css"):
        assert f'"static/{name}"' in page.text
        assert client.get(f"/static/{name}").status_code == 200
    assert "http" not in page.text  # nothing of elsewhere
