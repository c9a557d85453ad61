"""What the service refuses: hostile clients, wrong keys, too much; what its log and its figures say."""

from __future__ import annotations

import asyncio
import hmac
import json
import logging
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import served
from served import ZH

from treeglot.cli import main
from treeglot.web.keys import Keys, digest_of

ASK = {"q": ZH[0], "source": "zh", "target": "en"}
JSON = {"content-type": "application/json"}


@pytest.fixture(scope="module")
def models(served_hiero: list[str]) -> list[str]:
    return served_hiero


@pytest.fixture(scope="module")
def client(models: list[str]) -> Any:
    return served.Client(served.service(models))


def call(app: Any, scope: dict[str, Any], receive: Any) -> list[dict[str, Any]]:
    """The messages that the application sends."""
    sent: list[dict[str, Any]] = []

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    async def run() -> None:
        base = {"type": "http", "http_version": "1.1", "scheme": "http", "path": "/translate", "method": "POST"}
        base |= {"query_string": b"", "root_path": "", "server": ("x", 80), "client": ("127.0.0.1", 1), "headers": []}
        await app({**base, **scope}, receive, send)

    asyncio.run(run())
    return sent


def test_a_body_of_a_hundred_megabytes_is_not_read(client: Any) -> None:
    """One that says its size is refused before it is read, another after some more than is allowed."""
    taken = 0

    async def receive() -> dict[str, Any]:
        nonlocal taken
        taken += 1
        return {"type": "http.request", "body": b"x" * 65536, "more_body": True}

    for headers, most in (([(b"content-length", b"104857600")], 0), ([], 31 + 245)):
        taken = 0
        sent = call(client.app, {"headers": [(b"content-type", b"application/json"), *headers]}, receive)
        assert sent[0]["status"] == 413
        assert taken <= most


def test_a_body_that_does_not_come(models: list[str]) -> None:
    async def receive() -> dict[str, Any]:
        await asyncio.Event().wait()
        raise AssertionError

    app = served.Client(served.service(models, patience=0.01)).app
    sent = call(app, {"headers": [(b"content-type", b"application/json")]}, receive)
    assert sent[0]["status"] == 408


@pytest.mark.parametrize(
    ("content", "kind", "status"),
    [
        (b"[" * 100_000, "application/json", 400),
        (b'{"q":' * 50_000 + b"1" + b"}" * 50_000, "application/json", 400),
        (b'{"q": ' + b"9" * 10_000 + b"}", "application/json", 400),
        (b"[]", "application/json", 400),
        (b"\xff\xfe", "application/json", 400),
        (b"", "application/json", 400),
        (b"q=%ff&source=zh&target=en", "application/x-www-form-urlencoded", 400),
        (b"&".join(b"a=%d" % n for n in range(2000)), "application/x-www-form-urlencoded", 400),
        (b"\xff", "application/x-www-form-urlencoded", 400),
        (b"--x\r\n", "multipart/form-data", 400),
        (b"--x\r\n" * 1000, "multipart/form-data; boundary=x", 400),
        (b"<x/>", "application/xml", 415),
        (b"{}", "text/plain", 415),
    ],
)
def test_bodies_that_are_none(client: Any, content: bytes, kind: str, status: int) -> None:
    for path in ("/translate", "/v1/translate", "/v2/translate", "/detect"):
        found = client.post(path, content=content, headers={"content-type": kind})
        assert (found.status_code, list(found.json())) == (status, ["error", "message"]), path
    assert client.post("/translate", json=ASK).status_code == 200


@pytest.mark.parametrize(
    "path",
    [
        "/../../etc/passwd",
        "/static/../app.py",
        "/static/%2e%2e/app.py",
        "/static/..%2fapp.py",
        "/static//etc/passwd",
        "/download_file/..%2f..%2fetc%2fpasswd",
        "/nothing",
    ],
)
def test_paths_that_lead_nowhere(client: Any, path: str) -> None:
    found = client.get(path)
    assert found.status_code == 404
    assert "error" in found.json()


def test_methods_and_other_origins(client: Any) -> None:
    assert client.get("/v1/translate").status_code == 405
    found = client.ask(
        "OPTIONS", "/translate", headers={"origin": "http://other", "access-control-request-method": "POST"}
    )
    assert (found.status_code, found.headers["access-control-allow-origin"]) == (204, "*")
    assert "access-control-allow-credentials" not in found.headers


def test_every_answer_has_a_strict_policy(client: Any) -> None:
    for path in ("/health", "/nothing", "/metrics"):
        headers = client.get(path).headers
        assert headers["content-security-policy"].startswith("default-src 'none'; script-src 'self'; style-src 'self';")
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"


def test_hostile_html_is_bounded(client: Any) -> None:
    for text in ("<b>" * 6000, "<" * 20_000, "<p title='" + "x" * 10_000, "&#" * 10_000, f"<i>{ZH[0]}" * 200):
        found = client.post("/translate", json={**ASK, "q": text, "format": "html"})
        assert found.status_code == 200, text[:20]


def test_a_client_that_leaves_stops_its_work(models: list[str]) -> None:
    made = served.service(models)
    held, go = threading.Barrier(3), threading.Event()
    made.workers.submit([lambda: (held.wait(), go.wait())])
    made.workers.submit([lambda: (held.wait(), go.wait())])
    held.wait()  # both threads are busy
    app = served.Client(made).app
    body = json.dumps({**ASK, "q": "".join(ZH[:50])}).encode()
    messages = [{"type": "http.request", "body": body}, {"type": "http.disconnect"}]

    async def receive() -> dict[str, Any]:
        return messages.pop(0)

    call(app, {"headers": [(b"content-type", b"application/json")]}, receive)
    go.set()
    [number] = [future.result() for future in made.workers.submit([lambda: len(messages)])]
    assert number == 0
    assert made.workers.waiting == 0


def test_a_deadline(models: list[str]) -> None:
    made = served.service(models, deadline=0.01)
    held, go = threading.Barrier(3), threading.Event()
    for _ in range(2):
        made.workers.submit([lambda: (held.wait(), go.wait())])
    held.wait()
    found = served.Client(made).post("/translate", json=ASK)
    assert (found.status_code, found.json()["error"]) == (504, "the request took longer than 0.01 s")
    lines = served.Client(made).post("/v1/translate", json={"q": ZH[0], "stream": True}).text.splitlines()
    assert json.loads(lines[-1]) == {"error": "the request took longer than 0.01 s"}
    go.set()


def test_too_much_waits(models: list[str]) -> None:
    found = served.Client(served.service(models, waiting=1)).post("/translate", json={**ASK, "q": "".join(ZH[:50])})
    assert (found.status_code, found.headers["retry-after"]) == (503, "1")


@pytest.fixture
def keys(tmp_path: Path) -> Keys:
    return Keys(tmp_path / "deep/keys.json")


def test_keys(models: list[str], keys: Keys, monkeypatch: pytest.MonkeyPatch) -> None:
    """Fields and headers bring them; the file has hashes alone; all entries are compared, in constant time."""
    one = keys.add("one", ("translate",), 0, 0)
    two = keys.add("two", ("translate",), 0, 0)
    edits = keys.add("edits", ("correct",), 0, 0)
    text = keys.path.read_text()
    assert one not in text
    assert digest_of(one) in text
    assert keys.path.stat().st_mode & 0o077 == 0
    client = served.Client(served.service(models, keys, require_key=True))
    assert client.post("/translate", json=ASK).status_code == 403
    assert client.post("/translate", json=ASK | {"api_key": one}).status_code == 200
    assert client.post("/translate", data=ASK | {"api_key": one}).status_code == 200
    for header in (f"Bearer {two}", f"DeepL-Auth-Key {two}"):
        assert client.post("/translate", json=ASK, headers={"authorization": header}).status_code == 200
    for wrong in ("x", one[:-1], "\udcff", "é"):
        content = json.dumps(ASK | {"api_key": wrong}).encode()
        found = client.post("/translate", content=content, headers=JSON)
        assert (found.status_code, found.json()["error"]) == (403, "Invalid API key")
    found = client.post("/translate", json=ASK | {"api_key": edits})
    assert (found.status_code, "the right 'translate'" in found.json()["error"]) == (403, True)
    compared: list[str] = []
    monkeypatch.setattr(hmac, "compare_digest", lambda a, b: compared.append(a) or a == b)
    assert keys.find(one) is not None
    assert len(compared) == 3
    keys.remove("one")
    assert client.post("/translate", json=ASK | {"api_key": one}).status_code == 403
    assert client.post("/translate", json=ASK | {"api_key": two}).status_code == 200


def test_limits_by_the_minute(models: list[str], keys: Keys) -> None:
    now = 0.0
    key = keys.add("small", ("translate",), 2, 50)
    client = served.Client(served.service(models, keys, clock=lambda: now, requests_per_minute=1))

    def ask(**more: Any) -> int:
        found = client.post("/translate", json={**ASK, "q": "x" * 10, **more})
        if found.status_code == 429:
            assert int(found.headers["retry-after"]) >= 1
            assert found.json()["error"].startswith("Slowdown: at most ")
        return int(found.status_code)

    assert [ask(api_key=key) for _ in range(3)] == [200, 200, 429]
    assert [ask(), ask()] == [200, 429]
    now = 60.0
    assert ask() == 200
    assert [ask(api_key=key, q="x" * 45), ask(api_key=key, q="x" * 10)] == [200, 429]
    now = 120.0
    assert ask(api_key=key, q="x" * 60) == 200  # more than a minute's worth, after nothing


def test_the_commands_of_keys(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(tmp_path / "keys.json")
    assert main(["serve", "keys", "add", "weblate", "--keys", path, "--requests", "60", "--right", "learn"]) == 0
    key = capsys.readouterr().out.strip()
    assert Keys(Path(path)).find(key) is not None
    assert main(["serve", "keys", "add", "weblate", "--keys", path]) == 2
    assert main(["serve", "keys", "add", "other", "--keys", path, "--right", "all"]) == 2
    assert "'all' is not a right; expected translate, correct, learn" in capsys.readouterr().err
    assert main(["serve", "keys", "list", "--keys", path]) == 0
    assert "weblate" in capsys.readouterr().out
    assert main(["serve", "keys", "remove", "weblate", "--keys", path]) == 0
    assert Keys(Path(path)).all() == ()
    assert main(["serve", "keys", "remove", "weblate", "--keys", path]) == 2
    assert main(["serve"]) == 2
    assert main(["serve", str(tmp_path), "--require-key"]) == 2


@pytest.fixture
def logged() -> Iterator[list[str]]:
    from treeglot.web.guard import JsonLines

    lines: list[str] = []

    class Keep(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            lines.append(JsonLines().format(record))

    logger, handler = logging.getLogger("treeglot.web"), Keep()
    before = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    yield lines
    logger.removeHandler(handler)
    logger.setLevel(before)


def test_the_log_has_ids_and_no_texts(client: Any, logged: list[str]) -> None:
    answer = client.post("/translate", json=ASK)
    client.get("/translate", params={"q": ZH[0], "langpair": "zho|eng"})
    client.get(f"/{ZH[0]}")
    entries = [json.loads(line) for line in logged]
    assert [(entry["path"], entry["status"]) for entry in entries] == [("/translate", 200)] * 2 + [("other", 404)]
    assert entries[0]["id"] == answer.headers["x-request-id"]
    assert not any(ZH[0] in line or answer.json()["translatedText"] in line for line in logged)


def test_the_log_has_texts_if_it_is_told_to(models: list[str], logged: list[str]) -> None:
    client = served.Client(served.service(models, log_texts=True))
    client.post("/translate", json=ASK)
    client.post("/v2/translate", json={"text": ZH[:2], "target_lang": "EN"})
    assert [json.loads(line).get("q") or json.loads(line)["text"] for line in logged] == [ZH[:1], ZH[:2]]


def test_a_bug_is_an_answer(client: Any, logged: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("treeglot.web.libretranslate.languages_of", lambda *_: 1 / 0)
    found = client.get("/languages")
    assert found.status_code == 500
    assert found.headers["x-request-id"] in found.json()["error"]
    assert "ZeroDivisionError" in logged[0]


def test_figures(models: list[str]) -> None:
    client = served.Client(served.service(models))
    client.post("/translate", json=ASK)
    client.get("/nothing")
    lines = client.get("/metrics").text.splitlines()
    assert 'treeglot_requests_total{method="POST",path="/translate",status="200"} 1.0' in lines
    assert 'treeglot_requests_total{method="GET",path="other",status="404"} 1.0' in lines
    assert f'treeglot_characters_total{{model="hiero"}} {float(len(ZH[0]))}' in lines
    assert "treeglot_sentences_waiting 0.0" in lines


def test_the_description_is_what_the_service_does(client: Any, models: list[str]) -> None:
    """Every route is described; answers keep to the schemas."""
    import jsonschema

    from treeglot.web.app import ROUTES

    spec = client.get("/spec").json()
    described = {(path, method.upper()) for path, methods in spec["paths"].items() for method in methods}
    pages = {"/", "/static/{name}"}
    routes = {(route.path, method) for route in ROUTES for method in route.methods or () if method != "HEAD"}
    assert described == {route for route in routes if route[0] not in pages}
    own = {"q": ZH[:2], "trace": True, "kbest": 2}
    for path, method, more in (
        ("/translate", "post", {"json": ASK}),
        ("/translate", "post", {"json": ASK | {"q": ZH[:2], "source": "auto", "alternatives": 2}}),
        ("/translate", "get", {"params": {"q": ZH[0], "langpair": "zh|en"}}),
        ("/languages", "get", {}),
        ("/detect", "post", {"json": {"q": "house"}}),
        ("/health", "get", {}),
        ("/frontend/settings", "get", {}),
        ("/listPairs", "get", {}),
        ("/v2/translate", "post", {"json": {"text": ZH[:1], "target_lang": "EN", "show_billed_characters": True}}),
        ("/v2/languages", "get", {"params": {"type": "target"}}),
        ("/v2/usage", "get", {}),
        ("/v1/translate", "post", {"json": own}),
        ("/v1/explain", "post", {"json": {"q": ZH[0], "margin": 1}}),
        ("/v1/why", "post", {"json": {"q": ZH[0], "instead": "the coat"}}),
        ("/v1/glossaries", "get", {}),
        ("/v1/models", "get", {}),
    ):
        found = client.ask(method, path, **more)
        assert found.status_code == 200, found.text
        answers = spec["paths"][path][method]["responses"]
        jsonschema.validate(found.json(), answers["200"]["content"]["application/json"]["schema"])
    bad = client.post("/v1/translate", json={})
    jsonschema.validate(bad.json(), answers["4XX"]["content"]["application/json"]["schema"])
