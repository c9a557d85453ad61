"""The service as a process: a real socket on a free port of loopback, and the clients that others wrote."""

from __future__ import annotations

import os
import random
import select
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from http.client import HTTPException
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import served
from served import ZH

import treeglot
from treeglot.web.keys import Keys


@pytest.fixture(scope="module")
def model(served_hiero: list[str]) -> treeglot.Model:
    return treeglot.load(served_hiero[0])


@pytest.fixture(scope="module")
def address(model: treeglot.Model) -> Iterator[str]:
    with served.running([str(model.directory)]) as (found, _):
        yield found


def test_the_client_of_libretranslate(address: str, model: treeglot.Model) -> None:
    from libretranslatepy import LibreTranslateAPI

    client = LibreTranslateAPI(address)
    assert client.translate(ZH[0], "zh", "en") == model.translate(ZH[0]).text
    assert client.detect("An old house by the sea.")[0]["language"] == "en"
    assert [language["code"] for language in client.languages()] == ["zh", "en"]


def test_the_client_of_deepl(address: str, model: treeglot.Model) -> None:
    import deepl

    client = deepl.Translator("anything", server_url=address.rstrip("/"))
    try:
        found = client.translate_text([ZH[0], ZH[1]], target_lang="EN-US")
        assert [each.text for each in found] == [model.translate(text).text for text in ZH[:2]]
        assert found[0].detected_source_lang == "ZH"
        assert [language.code for language in client.get_source_languages()] == ["ZH"]
        assert not client.get_usage().any_limit_reached
        with pytest.raises(deepl.DeepLException, match="ZH to DE is not supported"):
            client.translate_text(ZH[0], source_lang="ZH", target_lang="DE")
    finally:
        client.close()


def test_our_own_client(address: str, model: treeglot.Model) -> None:
    from treeglot.web.client import Client

    client = Client(address)
    assert client.translate(ZH[0]) == model.translate(ZH[0]).text
    found = list(client.sentences(ZH[0] + ZH[1], trace=True))
    assert [each["text"] for each in found] == [model.translate(text).text for text in ZH[:2]]
    assert client.ask("models")["models"][0]["kind"] == "hiero"
    with pytest.raises(treeglot.TreeglotError, match="unknown model 'x'"):
        client.translate("x", model="x")


def test_a_body_that_is_too_large_gets_an_answer(address: str) -> None:
    """Also if the client sends all of it before it listens."""
    with pytest.raises(urllib.error.HTTPError, match="413"):
        urllib.request.urlopen(urllib.request.Request(f"{address}translate", b"x" * 5_000_000))
    assert get(address, "health") == b'{"status":"ok"}'


def get(address: str, path: str) -> bytes:
    with urllib.request.urlopen(address + path) as answer:
        found: bytes = answer.read()
    return found


def test_running_requests_are_answered_before_the_end(model: treeglot.Model) -> None:
    """After SIGTERM no connection is taken; what has begun is answered; the exit code is 0."""
    body = b'{"q": "%s", "source": "zh", "target": "en"}' % ZH[0].encode()
    head = b"POST /translate HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n"
    with served.running([str(model.directory)]) as (address, process):
        assert get(address, "health") == b'{"status":"ok"}'
        port = int(address.rstrip("/").rpartition(":")[2])
        with socket.create_connection(("127.0.0.1", port)) as begun:
            begun.sendall(head % len(body) + body[:10])
            get(address, "health")  # by now the request has begun
            process.send_signal(signal.SIGTERM)
            while True:  # until it takes no more connections
                try:
                    socket.create_connection(("127.0.0.1", port)).close()
                except ConnectionRefusedError:
                    break
                except ConnectionResetError:  # it was closing just then
                    pass
            begun.sendall(body[10:])
            answer = b"".join(iter(lambda: begun.recv(65536), b""))
        assert answer.startswith(b"HTTP/1.1 200"), answer
        assert process.wait(60) == 0


def test_several_processes(model: treeglot.Model) -> None:
    """Limits and figures are those of all together, each gives the files of all, one that is killed is replaced."""
    import httpx

    options = ("--processes", "2", "--threads", "1", "--requests-per-minute", "1")
    with served.running([str(model.directory)], *options) as (address, process):
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        if not children.exists():
            pytest.skip("only Linux, where changes are judged, lists the children of a process")
        while len(first := children.read_text().split()) < 2:
            pass
        get(address, "health")
        os.kill(int(first[0]), signal.SIGKILL)
        while len(now := children.read_text().split()) < 2 or first[0] in now:
            pass
        for _ in range(4):
            assert get(address, "health") == b'{"status":"ok"}'
        form = {"source": "zh", "target": "en"}
        answer = httpx.post(f"{address}translate_file", data=form, files={"file": ("a.txt", ZH[0].encode())})
        found = {httpx.get(answer.json()["translatedFileUrl"]).text for _ in range(8)}
        assert found == {model.translate(ZH[0]).text}
        asked = [httpx.post(f"{address}translate", json={"q": ZH[0], **form}).status_code for _ in range(8)]
        assert asked == [429] * 8  # the file was the one of this minute
        for _ in range(8):  # whichever of them answers; the first health was asked of one that may be dead
            lines = get(address, "metrics").decode().splitlines()
            assert 'treeglot_requests_total{method="POST",path="/translate_file",status="200"} 1.0' in lines
            assert 'treeglot_requests_total{method="POST",path="/translate",status="429"} 8.0' in lines
            assert 'treeglot_requests_total{method="GET",path="/health",status="200"} 5.0' in lines
            assert 'treeglot_request_seconds_count{path="/translate"} 8.0' in lines
            assert "treeglot_requests_running 1.0" in lines  # this one
            assert "treeglot_sentences_waiting 0.0" in lines
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0


def test_a_killed_process_loses_its_requests_alone(model: treeglot.Model) -> None:
    """Requests have begun; the process of some is killed; the other answers its own, and new ones are taken.

    When the parent of both is killed, they end.
    """
    if not Path("/proc/net/tcp").exists():
        pytest.skip("only Linux, where changes are judged, says which process has a connection")
    body = b'{"q": "%s", "source": "zh", "target": "en"}' % ZH[0].encode()
    head = b"POST /translate HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-type: application/json\r\n"
    head += b"content-length: %d\r\n\r\n" % len(body)
    with served.running([str(model.directory)], "--processes", "2", "--threads", "1") as (address, process):
        port = int(address.rstrip("/").rpartition(":")[2])
        begun = [socket.create_connection(("127.0.0.1", port)) for _ in range(8)]
        for one in begun:
            one.sendall(head + body[:10])
        while None in (owners := [owner(process.pid, port, one.getsockname()[1]) for one in begun]):
            pass
        os.kill(owners[0] or 0, signal.SIGKILL)
        answers = []
        for one in begun:
            with suppress(ConnectionError):
                one.sendall(body[10:])
            answers.append(b"")
            with suppress(ConnectionError):
                answers[-1] = b"".join(iter(lambda one=one: one.recv(65536), b""))
            one.close()
        healthy = get(address, "health")
        process.kill()
        with suppress(ConnectionRefusedError):
            while True:
                with suppress(ConnectionResetError):  # it was closing just then
                    socket.create_connection(("127.0.0.1", port)).close()
        assert [answer[:12] for answer in answers] == [b"" if x == owners[0] else b"HTTP/1.1 200" for x in owners]
        assert healthy == b'{"status":"ok"}'


def test_kills_lose_nothing_that_was_learnt(model: treeglot.Model, tmp_path: Path) -> None:
    """Processes that learn are killed at random moments, and their parent at last.

    Every pair that was answered is there when the model is loaded again, and none in part.
    """
    if not Path("/proc/self/task").exists():
        pytest.skip("only Linux, where changes are judged, lists the children of a process")
    place, keys = shutil.copytree(model.directory, tmp_path / "model"), tmp_path / "keys.json"
    key = Keys(keys).add("teacher", ("learn",), 0, 0)
    learnt: dict[str, int] = {}
    over = threading.Event()

    def teach(address: str, number: int) -> None:
        from treeglot.web.client import Client

        client, pair = Client(address, key), number
        while not over.is_set():
            with suppress(OSError, HTTPException):  # its process was killed
                found = client.ask("learn", q=ZH[pair % 20], translation=f"Nobody wore {pair} hats.")
                learnt[found["group"]] = len(found["rules"])
                pair += 2

    draw = random.Random(1)
    options = ("--processes", "2", "--threads", "1", "--keys", str(keys))
    with served.running([str(place)], *options) as (address, process):
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        teachers = [threading.Thread(target=teach, args=(address, number)) for number in range(2)]
        for teacher in teachers:
            teacher.start()
        for kill in range(5):
            before = len(learnt)
            while len(learnt) < before + 2 or len(children.read_text().split()) < 2:
                assert all(teacher.is_alive() for teacher in teachers)
                time.sleep(0.01)
            time.sleep(draw.random() / 20)
            if kill < 4:
                os.kill(int(draw.choice(children.read_text().split())), signal.SIGKILL)
            else:
                process.kill()
        over.set()
        for teacher in teachers:
            teacher.join()
    client = served.Client(served.service([str(place)]))
    [found] = client.get("/v1/corrections").json()["corrections"]
    kept = Counter(each["group"] for each in found["corrections"])
    assert len(learnt) >= 10
    assert {group: kept[group] for group in learnt} == learnt
    assert client.post("/translate", json={"q": ZH[0], "source": "zh", "target": "en"}).status_code == 200


SERVED = """
import os, signal, sys
from treeglot.base.errors import TreeglotError
from treeglot.web.server import serve_processes

times = iter(range(0, 10**6, int(sys.argv[1])))

def run():
    if os.fstat(int(sys.argv[2])).st_size >= 40:
        os.kill(os.getppid(), signal.SIGTERM)
        signal.pause()
    os.write(int(sys.argv[2]), b".")
    os.kill(os.getpid(), signal.SIGKILL)

try:
    serve_processes(run, 2, lambda process: None, lambda: next(times))
except TreeglotError as error:
    print(error)
"""


def test_processes_that_end(tmp_path: Path) -> None:
    """Those that ran for a while are replaced for ever; if they end at once, one after the other, it is given up."""
    for seconds, said, number in ((100, "", 42), (1, "6 processes ended within 10 s, one after the other", 7)):
        with (tmp_path / f"{seconds}").open("wb") as begun:
            script = [sys.executable, "-c", SERVED, str(seconds), str(begun.fileno())]
            done = subprocess.run(script, capture_output=True, text=True, check=True, pass_fds=[begun.fileno()])
        assert done.stdout.startswith(said)
        assert 6 <= (tmp_path / f"{seconds}").stat().st_size <= number


def owner(parent: int, port: int, client: int) -> int | None:
    """The child that has the server's end of a connection; None: none has taken it yet."""
    lines = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    ends = f"{port:04X}", f"{client:04X}"
    wanted = [f"socket:[{line[9]}]" for line in lines if (line[1][-4:], line[2][-4:]) == ends]
    for child in Path(f"/proc/{parent}/task/{parent}/children").read_text().split():
        for link in Path(f"/proc/{child}/fd").iterdir():
            with suppress(OSError):
                if str(link.readlink()) in wanted:
                    return int(child)
    return None


def test_slow_clients(model: treeglot.Model) -> None:
    """Headers that do not come are not waited for, nor clients that do not read their answers."""
    options = ("--patience", "2", "--body", "20000000")
    with served.running([str(model.directory)], *options) as (address, _):
        port = int(address.rstrip("/").rpartition(":")[2])
        deaf = socket.socket()
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        deaf.connect(("127.0.0.1", port))
        head = f"GET {large_file(address)} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n"
        deaf.sendall(head.encode())
        cut = select.poll()
        cut.register(deaf, 0)
        slow = [socket.create_connection(("127.0.0.1", port)) for _ in range(20)]
        for one in slow:
            one.sendall(b"GET /health HTTP/1.1\r\nhost: x\r\n")
        with socket.create_connection(("127.0.0.1", port)) as again:  # the second request of a connection is slow
            again.sendall(b"GET /health HTTP/1.1\r\nhost: x\r\n\r\n")
            assert again.recv(65536).startswith(b"HTTP/1.1 200")
            again.sendall(b"GET /health HTTP/1.1\r\n")
            while again.recv(65536):  # until it is closed
                pass
        for one in slow:
            assert one.recv(1) == b""
            one.close()
        assert cut.poll()[0][1] & select.POLLERR
        deaf.close()
        assert get(address, "health") == b'{"status":"ok"}'


def large_file(address: str) -> str:
    """The path of a file that is larger than what a connection holds."""
    import httpx

    form = {"source": "zh", "target": "en"}
    page = {"file": ("a.html", b"<!--" + b"x" * 8_000_000 + b"-->")}
    return httpx.URL(httpx.post(f"{address}translate_file", data=form, files=page).json()["translatedFileUrl"]).path


class Timers:
    """A loop whose time a test makes pass."""

    def __init__(self) -> None:
        self.waiting: list[Any] = []

    def call_soon(self, call: Any) -> None:
        self.soon = call

    def call_later(self, seconds: float, call: Any, *given: Any) -> Any:
        self.waiting.append((seconds, call, given))
        return SimpleNamespace(cancel=self.waiting.clear)

    def pass_time(self) -> float:
        seconds, call, given = self.waiting.pop()
        call(*given)
        return float(seconds)


def test_a_connection_that_is_stuck() -> None:
    """It is cut off when nothing was taken for a while, sooner if it closes; one that is slow goes on."""
    from treeglot.web.server import Outgoing

    with socket.socket() as end:
        left, said, timers = [100, 90, 90], [], Timers()
        transport = SimpleNamespace(get_write_buffer_size=lambda: left.pop(0), get_extra_info=lambda _: end)
        for name in ("close", "abort"):
            setattr(transport, name, partial(said.append, name))
        transport.is_closing = lambda: "close" in said
        transport.write = said.append
        stuck = Outgoing(transport, timers, 10)  # type: ignore[arg-type]
        stuck.write(b"head")
        stuck.write(b"body")
        timers.soon()
        stuck.hurry(60)
        assert timers.pass_time() == 60
        assert said == [b"headbody"]  # some was taken meanwhile
        stuck.relax()
        assert not timers.waiting
        left[:] = [80, 70, 70, 70, 70]
        stuck.hurry(60)
        stuck.close()
        assert (len(timers.waiting), timers.pass_time(), said) == (1, 10, [b"headbody", "close", "abort"])


def test_endless_headers(address: str) -> None:
    """Headers and requests that do not end are cut off by their size; the service is there for others."""
    port = int(address.rstrip("/").rpartition(":")[2])
    head = b"GET /health HTTP/1.1\r\nhost: x\r\n"
    many, long = b"x: yyyyyyyyyy\r\n" * 5000, b"x: " + b"y" * 80_000
    for flood in (many, many + b"\r\n", long):
        with socket.create_connection(("127.0.0.1", port)) as endless, suppress(ConnectionError):
            endless.sendall(head + flood)
            assert endless.recv(65536).startswith(b"HTTP/1.1 400")
    with socket.create_connection(("127.0.0.1", port)) as crowd:
        crowd.sendall((head + b"\r\n") * 3)
        said = b""
        while said.count(b'{"status":"ok"}') < 3:
            more = crowd.recv(65536)
            assert more
            said += more
        with suppress(ConnectionError):
            crowd.sendall((head + b"\r\n") * 5000)
            said = b"".join(iter(lambda: crowd.recv(65536), b""))
        assert said.count(b"HTTP/1.1 200") < 5000  # it was cut off
    with socket.create_connection(("127.0.0.1", port)) as strange:
        strange.sendall(b"\x16\x03\x01 nothing of the kind\r\n\r\n")
        assert strange.recv(65536).startswith(b"HTTP/1.1 400")
    assert get(address, "health") == b'{"status":"ok"}'


def test_headers_after_a_request(address: str) -> None:
    """While a request has no answer yet, the headers of the next are limited, too; a body is none."""
    port = int(address.rstrip("/").rpartition(":")[2])
    body = b"x" * 100_000
    with socket.create_connection(("127.0.0.1", port)) as early:  # it is answered before its body has come
        early.sendall(b"POST /nothing HTTP/1.1\r\nhost: x\r\ncontent-length: %d\r\n\r\n" % len(body))
        assert early.recv(65536).startswith(b"HTTP/1.1 404")
        early.sendall(body + b"GET /health HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")
        said = b"".join(iter(lambda: early.recv(65536), b""))
        assert b"HTTP/1.1 200" in said
        assert b"HTTP/1.1 400" not in said
    text = b'{"q": "%s", "source": "zh", "target": "en"}' % (ZH[0] * 100).encode()
    request = b"POST /translate HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n"
    with socket.create_connection(("127.0.0.1", port), timeout=60) as endless, suppress(ConnectionError):
        endless.sendall(request % len(text) + text + b"GET /")
        while True:  # until it is cut off
            endless.sendall(b"y" * 1_000_000)
    assert get(address, "health") == b'{"status":"ok"}'
