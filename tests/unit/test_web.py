"""The service: each interface as its public documentation has it, in this process."""

from __future__ import annotations

import json
import shutil
import threading
from pathlib import Path
from typing import Any

import pytest
import served
from served import EN, ZH

import treeglot
from treeglot.cli import main
from treeglot.web import languages
from treeglot.web.translate import Decoding, Wish, cut
from treeglot.web.work import LARGEST, BusyError, Workers


@pytest.fixture(scope="module")
def models(served_hiero: list[str]) -> list[str]:
    return served_hiero


@pytest.fixture(scope="module")
def model(models: list[str]) -> treeglot.Model:
    return treeglot.load(models[0])


@pytest.fixture(scope="module")
def client(models: list[str]) -> Any:
    return served.Client(served.service(models))


TEXT = ZH[0] + ZH[1] + "\n\n  " + ZH[2] + " "


def test_libretranslate_one_text(client: Any, model: treeglot.Model) -> None:
    """`translatedText` alone: a string for a string, in JSON and in a form."""
    given = {"q": TEXT, "source": "zh", "target": "en", "format": "text", "api_key": ""}
    expected = {"translatedText": model.translate(TEXT).text}
    found = client.post("/translate", json=given)
    assert (found.status_code, found.json()) == (200, expected)
    assert found.headers["access-control-allow-origin"] == "*"
    plain = given | {"q": ZH[0]}
    assert client.post("/translate", data=plain).json() == {"translatedText": model.translate(ZH[0]).text}


def test_libretranslate_lists(client: Any, model: treeglot.Model) -> None:
    """As Weblate sends them."""
    found = client.post("/translate", json={"q": ZH[:3], "source": "zh", "target": "en"})
    assert found.json() == {"translatedText": [model.translate(text).text for text in ZH[:3]]}


def test_libretranslate_html(client: Any, model: treeglot.Model) -> None:
    """As Mastodon sends it: always HTML."""
    given = {"q": [f"<p>{ZH[0]}</p>"], "source": "zh", "target": "en", "format": "html"}
    [found] = client.post("/translate", json=given).json()["translatedText"]
    assert found == model.translate_html(f"<p>{ZH[0]}</p>")
    assert found.startswith("<p>")
    hostile = f"<p onclick='x()'>{ZH[0]}<script>alert(1)</script><b" + "<i>" * 300
    assert client.post("/translate", json=given | {"q": hostile}).status_code == 200
    deepl = {"text": [f"<b>{ZH[0]}</b>"], "target_lang": "EN-GB", "tag_handling": "html"}
    assert client.post("/v2/translate", json=deepl).json()["translations"][0]["text"].startswith("<b>")


def test_libretranslate_auto_and_alternatives(client: Any, model: treeglot.Model) -> None:
    found = client.post("/translate", json={"q": ZH[0], "source": "auto", "target": "en", "alternatives": 3}).json()
    assert set(found) == {"translatedText", "detectedLanguage", "alternatives"}
    assert found["detectedLanguage"]["language"] == "zh"
    assert 0 <= found["detectedLanguage"]["confidence"] <= 100
    assert found["translatedText"] == model.translate(ZH[0]).text
    assert 1 <= len(set(found["alternatives"])) == len(found["alternatives"]) <= 3
    assert found["translatedText"] not in found["alternatives"]
    batch = {"q": ZH[:2], "source": "auto", "target": "en", "alternatives": 1}
    found = client.post("/translate", json=batch).json()
    assert [entry["language"] for entry in found["detectedLanguage"]] == ["zh", "zh"]
    assert [len(entry) for entry in found["alternatives"]] == [1, 1]


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"source": "zh", "target": "en"}, "Invalid request: missing q parameter"),
        ({"q": "x", "target": "en"}, "Invalid request: missing source parameter"),
        ({"q": "x", "source": "zh"}, "Invalid request: missing target parameter"),
        ({"q": "x", "source": "zh", "target": "xx"}, "zh to xx is not supported; expected zh to en"),
        ({"q": "x", "source": "auto", "target": "xx"}, "xx is not supported"),
        ({"q": "x", "source": "zh", "target": "en", "format": "pdf"}, "pdf format is not supported"),
        ({"q": [1], "source": "zh", "target": "en"}, "q is not text; expected a string or a list of strings"),
        ({"q": "x" * 20_001, "source": "zh", "target": "en"}, "request (20001) exceeds text limit (20000)"),
        ({"q": ["x"] * 101, "source": "zh", "target": "en"}, "request (101) exceeds text limit (100)"),
        ({"q": "x", "source": "zh", "target": "en", "alternatives": -1}, "alternatives is -1; expected 0 to 20"),
    ],
)
def test_libretranslate_errors(client: Any, given: dict[str, Any], problem: str) -> None:
    found = client.post("/translate", json=given)
    assert found.status_code == 400
    assert problem in found.json()["error"]


def test_libretranslate_the_rest(client: Any, model: treeglot.Model) -> None:
    assert client.get("/languages").json() == [
        {"code": "zh", "name": "Chinese", "targets": ["en"]},
        {"code": "en", "name": "English", "targets": []},
    ]
    assert client.get("/health").json() == {"status": "ok"}
    for sent in ({"json": {"q": "An old house by the sea."}}, {"data": {"q": "An old house by the sea."}}):
        ranked = client.post("/detect", **sent).json()
        assert ranked[0]["language"] == "en"
        assert set(ranked[0]) == {"confidence", "language"}
    settings = client.get("/frontend/settings").json()
    assert settings["charLimit"] == 20_000
    assert settings["language"]["target"] == {"code": "en", "name": "English"}
    files = {"file": ("../../letter.txt", f"{ZH[0]}\n{ZH[1]}\n".encode())}
    made = client.post("/translate_file", files=files, data={"source": "zh", "target": "en"}).json()
    found = client.get(made["translatedFileUrl"])
    assert found.text.split("\n") == [*(model.translate(text).text for text in ZH[:2]), ""]
    assert client.get("/download_file/nothing").status_code == 404
    bad = client.post("/translate_file", files={"file": ("a.exe", b"x")}, data={"source": "zh", "target": "en"})
    assert (bad.status_code, "format not supported" in bad.json()["error"]) == (400, True)


def test_libretranslate_suggestions(models: list[str], tmp_path: Path, client: Any) -> None:
    from treeglot.web.suggestions import Suggestions

    given = {"q": ZH[0], "s": "A coat.", "source": "zh", "target": "en"}
    assert client.post("/suggest", json=given).status_code == 403
    made = served.service(models)
    made.suggestions = Suggestions(tmp_path / "suggestions.jsonl")
    open_client = served.Client(made)
    assert open_client.post("/suggest", data=given).json() == {"success": True}
    assert open_client.post("/suggest", json=given | {"s": "<b>"}).json() == {"success": True}
    assert open_client.post("/suggest", json=given | {"target": "fr"}).status_code == 400
    lines = (tmp_path / "suggestions.jsonl").read_text().splitlines()
    assert [json.loads(line)["s"] for line in lines] == ["A coat.", "<b>"]
    assert open_client.get("/frontend/settings").json()["suggestions"] is True
    assert open_client.get("/v1/suggestions").status_code == 403  # for whoever may correct
    with (tmp_path / "suggestions.jsonl").open("a") as stream:
        stream.write('{"q": 3}\n["cut')
    assert [each["s"] for each in made.suggestions.last(10)] == ["<b>", "A coat."]
    assert [each["s"] for each in made.suggestions.last(1)] == ["<b>"]


def test_apertium(client: Any, model: treeglot.Model) -> None:
    """Its envelope; words that are not known bear a star, unless told otherwise."""
    text = f"{ZH[0]} Xyzzy"
    for pair in ("zh|en", "zho|eng"):
        found = client.get("/translate", params={"q": text, "langpair": pair, "markUnknown": "no"}).json()
        expected = {"translatedText": model.translate(text).text}
        assert found == {"responseData": expected, "responseDetails": None, "responseStatus": 200}
    found = client.get("/translate", params={"q": text, "langpair": "zho|eng"}).json()["responseData"]
    assert found["translatedText"].replace("*", "") == model.translate(text).text
    assert found["translatedText"].count("*") == 4  # X yz z y, as the tokeniser has it
    posted = client.post("/translate", data={"q": text, "langpair": "zho|eng"}).json()["responseData"]
    assert posted == found
    pairs = [{"sourceLanguage": "zho", "targetLanguage": "eng"}]
    assert client.get("/listPairs").json()["responseData"] == pairs
    assert client.get("/list?q=pairs").json()["responseData"] == pairs
    both = client.get("/listPairs?include_deprecated_codes=1").json()["responseData"]
    assert both == [*pairs, {"sourceLanguage": "zh", "targetLanguage": "en"}]
    for params in ({"q": "x"}, {"q": "x", "langpair": "zho|deu"}, {"langpair": "zho|eng"}):
        assert client.get("/translate", params=params).status_code == 400


def test_deepl(client: Any, model: treeglot.Model) -> None:
    expected = [{"detected_source_language": "ZH", "text": model.translate(text).text} for text in ZH[:2]]
    given: dict[str, Any] = {"text": ZH[:2], "target_lang": "EN-US"}
    header = {"Authorization": "DeepL-Auth-Key anything"}
    assert client.post("/v2/translate", json=given, headers=header).json() == {"translations": expected}
    form = client.post("/v2/translate", data=given | {"source_lang": "ZH"}).json()
    assert form == {"translations": expected}
    billed = client.post("/v2/translate", json=given | {"show_billed_characters": True}).json()["translations"]
    assert [entry["billed_characters"] for entry in billed] == [len(text) for text in ZH[:2]]
    for bad in ({"target_lang": "EN"}, {"text": ["x"]}, {"text": "x", "target_lang": "EN"}):
        found = client.post("/v2/translate", json=bad)
        assert (found.status_code, "message" in found.json()) == (400, True)
    assert client.get("/v2/languages").json() == [{"language": "ZH", "name": "Chinese"}]
    targets = client.get("/v2/languages?type=target").json()
    assert [entry["language"] for entry in targets] == ["EN-US", "EN-GB"]
    assert set(client.get("/v2/usage").json()) == {"character_count", "character_limit"}


def test_our_own(client: Any, model: treeglot.Model) -> None:
    """Words, places, alignment and derivations of each sentence."""
    found = client.post("/v1/translate", json={"q": TEXT, "kbest": 3, "trace": True}).json()
    [listed] = client.get("/v1/models").json()["models"]
    assert (found["model"], found["digest"]) == (listed["name"], listed["digest"])
    assert (listed["rules"], listed["on_demand"]) == (model.translator.rules, False)
    [entry] = found["translations"]
    whole = model.translate(TEXT)
    assert (entry["source"], entry["text"]) == (TEXT, whole.text)
    assert len(entry["sentences"]) == len(whole.sentences) == 3
    for part, sentence in zip(whole.sentences, entry["sentences"], strict=True):
        assert sentence["text"] == part.text
        words = [TEXT[begin:end] for begin, end in sentence["source_spans"]]
        assert words == part.source_tokens.words
        assert [entry["text"][a:b] for a, b in sentence["target_spans"]] == part.target_tokens.words
        assert sentence["alignment"] == part.alignment.links.tolist()
        assert [step["target"] for step in sentence["derivation"]] == [s.target for s in part.derivation.steps]
        assert sentence["kbest"][0]["text"] == part.text
        assert len(sentence["kbest"]) == 3
        assert sentence["features"] == part.features
    many = client.post("/v1/translate", json={"q": ZH[:2], "model": listed["name"]}).json()["translations"]
    assert [entry["text"] for entry in many] == [model.translate(text).text for text in ZH[:2]]


def test_our_own_streams(client: Any, model: treeglot.Model) -> None:
    lines = client.post("/v1/translate", json={"q": TEXT, "stream": True}).text.splitlines()
    *entries, last = map(json.loads, lines)
    assert [entry["text"] for entry in entries] == [part.text for part in model.translate(TEXT).sentences]
    assert [TEXT[entry["begin"] : entry["end"]] for entry in entries] == [entry["source"] for entry in entries]
    assert (last["done"], last["sentences"]) == (True, 3)


def test_confidence(models: list[str], tmp_path: Path) -> None:
    """Of sentences and words, once a model has learnt it."""
    folder = Path(shutil.copytree(models[0], tmp_path / "model"))
    for name, lines in (("source", ZH[:60]), ("references", EN[:60])):
        (tmp_path / name).write_text("\n".join(lines) + "\n")
    ask = {"q": ZH[0], "confidence": True}
    without = served.Client(served.service([str(folder)])).post("/v1/translate", json=ask).json()
    assert "confidence" not in without["translations"][0]["sentences"][0]
    command = ["confidence", str(folder), str(tmp_path / "source"), "--refs", str(tmp_path / "references"), "-q"]
    assert main(command) == 0
    client = served.Client(served.service([str(folder)]))
    assert client.get("/v1/models").json()["models"][0]["confidence"] is True
    expected = treeglot.load(folder).translate(ZH[0])
    [found] = client.post("/v1/translate", json=ask).json()["translations"][0]["sentences"]
    assert found["confidence"] == pytest.approx(expected.confidence)
    assert found["word_confidence"] == pytest.approx(list(expected.word_confidence))
    streamed = client.post("/v1/translate", json=ask | {"stream": True}).text.splitlines()[0]
    assert json.loads(streamed)["word_confidence"] == pytest.approx(found["word_confidence"])


def test_our_own_refuses(client: Any) -> None:
    for given, problem in (
        ({"q": "x", "kbst": 2}, "unknown option 'kbst'; did you mean 'kbest'?"),
        ({"q": "x", "kbest": 0}, "kbest is 0; expected 1 to 100"),
        ({"q": 3}, "q"),
        ({"q": "x", "model": "nothing"}, "unknown model 'nothing'"),
        ({"q": "x", "target": "fr"}, "fr is not supported"),
        ({"q": "x", "source": "fr"}, "fr is not supported"),
    ):
        found = client.post("/v1/translate", json=given)
        assert (found.status_code, problem in found.json()["error"]) == (400, True), found.text


def test_an_empty_text(client: Any) -> None:
    assert client.post("/v1/translate", json={"q": " \n"}).json()["translations"][0]["text"] == " \n"
    lone = client.post("/v1/translate", content=b'{"q": "\\ud800"}', headers={"content-type": "application/json"})
    assert lone.json()["translations"][0]["text"] == "\ufffd"


def test_models_are_loaded_again_without_a_gap(models: list[str], tmp_path: Path) -> None:
    folder = Path(shutil.copytree(models[0], tmp_path / "model"))
    made = served.service([str(folder)])
    client = served.Client(made)
    ask = {"q": ZH[0], "source": "zh", "target": "en"}
    [before] = client.get("/v1/models").json()["models"]
    assert made.shelf.refresh() == []
    weights = (folder / "weights.txt").read_text()
    (folder / "weights.txt").write_text("lm one\n")
    assert made.shelf.refresh() == []  # it cannot be loaded: the old one serves
    assert client.post("/translate", json=ask).status_code == 200
    (folder / "weights.txt").write_text(weights.replace("lm ", "lm 1") + "# changed\n")
    assert made.shelf.refresh() == ["model"]
    [after] = client.get("/v1/models").json()["models"]
    assert after["digest"] != before["digest"]
    assert client.post("/translate", json=ask).status_code == 200


def test_requests_take_turns() -> None:
    """A short request is answered although a long one came first."""
    workers = Workers(1)
    begun, go = threading.Event(), threading.Event()
    order: list[str] = []

    def hold() -> None:
        begun.set()
        go.wait()

    held = workers.submit([hold])
    begun.wait()
    long = workers.submit([lambda n=n: order.append(f"long {n}") for n in range(5)])
    short = workers.submit([lambda: order.append("short")])
    long[-1].cancel()
    go.set()
    for future in (*held, *long[:4], *short):
        future.result()
    assert order == ["long 0", "short", "long 1", "long 2", "long 3"]
    workers.end()
    tight = Workers(1, most_waiting=2)
    with pytest.raises(BusyError, match="0 sentences wait; at most 2 may"):
        tight.submit([lambda: None] * 3)
    tight.end()


def test_calls_that_wait_are_made_together() -> None:
    """For the same model, and not too large together; one that fails takes no other with it."""
    made: list[list[int]] = []

    class Joined:
        def __init__(self, number: int, model: str = "one", size: int = 1) -> None:
            self.number, self.model, self.size = number, model, size

        def __call__(self) -> int:
            return self.together([])[0]

        def joins(self, other: Any) -> bool:
            return isinstance(other, Joined) and other.model == self.model

        def together(self, others: list[Any]) -> list[int]:
            numbers = [call.number for call in (self, *others)]
            made.append(numbers)
            return [10 // number for number in numbers]

    workers = Workers(1)
    begun, go = threading.Event(), threading.Event()
    held = workers.submit([lambda: (begun.set(), go.wait())])
    begun.wait()
    calls = [Joined(n, size=LARGEST // 8) for n in range(1, 11)]
    calls += [Joined(11, "two"), Joined(0), Joined(12), Joined(13), Joined(14), Joined(15)]
    futures = [workers.submit([call])[0] for call in calls]
    futures[1].cancel()
    go.set()
    held[0].result()
    with pytest.raises(ZeroDivisionError):
        futures[11].result()
    found = [future.result() for future in futures if future not in (futures[1], futures[11])]
    assert found == [10, *(10 // n for n in range(3, 11)), 0, 0, 0, 0, 0]
    assert made[0] == [1, 3, 4, 5, 6, 7, 8]  # more were too large; one had been given up
    assert made[1] == [9, 10]
    assert made[2] == [11]
    assert made[3:6] == [[0, 12], [0], [12]]  # together, which fails, and then by themselves
    workers.end()


def test_sentences_that_are_decoded_together(model: treeglot.Model) -> None:
    """Short ones for one model with the same wishes; each is translated as by itself."""
    texts = [ZH[0], "", f" {ZH[1]}{ZH[2]}\n", "Hello 世界！"]
    first, *others = calls = [Decoding(model, text, Wish()) for text in texts]
    calls += [Decoding(model, cut(model, ZH[3])[0][1], Wish())]
    found = first.together(calls[1:])
    assert [each.text for each in found] == [model.translate(text).text for text in (*texts, ZH[3])]
    assert all(map(first.joins, others))
    for other in (Decoding(model, ZH[0] * 50, Wish()), Decoding(model, ZH[0], Wish(kbest=2)), lambda: None):
        assert not first.joins(other)


def test_codes_of_languages() -> None:
    assert languages.candidates("zho_Hant") == ["zh-hant", "zh"]
    assert languages.long("zh-Hant") == "zho"
    assert (languages.name("de"), languages.normal("fre")) == ("German", "fr")


def test_answers_are_those_of_the_command_line(client: Any, model: treeglot.Model) -> None:
    """Texts of several sentences, unknown words, marks and blanks."""
    texts = [*ZH[:10], "Hello 世界！", "  ", f"{ZH[3]}abc{ZH[4]}", ZH[5] * 3, EN[0]]
    found = client.post("/translate", json={"q": texts, "source": "zh", "target": "en"}).json()["translatedText"]
    assert found == [each.text for each in model.translate_batch(texts)]


def test_the_models_of_the_demonstration_are_trained_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from treeglot.web import demo

    monkeypatch.setattr(demo, "PAIRS", 150)
    monkeypatch.setattr(demo, "PARSER", served.QUICK)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    folder = demo.demo_folder()
    assert folder.is_relative_to(tmp_path)
    places = demo.demo_models(folder)
    assert [Path(place).name for place in places] == ["zh-en-c2d", "zh-en-hiero"]
    assert sorted(path.name for path in folder.iterdir()) == ["zh-en-c2d", "zh-en-hiero"]
    monkeypatch.setattr(demo, "train_sample", lambda *_: 1 / 0)
    assert demo.demo_models(folder) == places
