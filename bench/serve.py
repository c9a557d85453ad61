"""The service under load: clients on loopback, each with one connection, against batches of `treeglot translate`.

    python bench/serve.py zh-en=MODEL test.zh --clients 1 16 128
    python bench/serve.py zh-en=MODEL test.zh --soak 1800

Every client asks for one sentence after the other; all sentences are asked for once in each run. Answers are compared
with those of the command line. A soak mixes good requests with bad, huge, slow and aborted ones.
"""

import argparse
import asyncio
import json
import os
import random
import re
import select
import socket
import statistics
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

JSON = "application/json"
MARK = b"\r\n\r\n"
WARM = 20  # requests of each kind before memory is looked at
SIZE = re.compile(rb"(?i)content-length: (\d+)")


class Client:
    """HTTP/1.1 in a few lines: the load is to be on the service."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.reader: Any = None
        self.writer: Any = None

    async def send(self, content: bytes) -> None:
        if self.writer is None:
            self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port)
        self.writer.write(content)
        await self.writer.drain()

    async def ask(self, body: bytes, path: str = "/translate", kind: str = JSON) -> tuple[int, bytes]:
        head = f"POST {path} HTTP/1.1\r\nhost: x\r\ncontent-type: {kind}\r\ncontent-length: {len(body)}\r\n\r\n"
        await self.send(head.encode() + body)
        return await self.answer()

    async def answer(self) -> tuple[int, bytes]:
        head = (await self.reader.readuntil(MARK)).decode("latin-1").lower()
        size = int(re.search(r"content-length: (\d+)", head)[1])  # type: ignore[index]
        body = await self.reader.readexactly(size)
        if "connection: close" in head:
            self.drop()
        return int(head.split()[1]), body

    def drop(self) -> None:
        if self.writer is not None:
            self.writer.transport.abort()
        self.reader = self.writer = None


def question(text: str, pair: tuple[str, str]) -> bytes:
    return json.dumps({"q": text, "source": pair[0], "target": pair[1]}).encode()


def wanted(model: str, lines: list[str], threads: int) -> tuple[list[str], float, float]:
    """What the command line gives, its sentences a second and CPU ms a sentence, without the loading of the model."""

    def run(given: list[str]) -> tuple[list[str], float, float]:
        begin, used = time.perf_counter(), os.times()
        command = [sys.executable, "-m", "treeglot", "translate", model, "-", "-q", "--threads", str(threads)]
        done = subprocess.run(command, input="\n".join(given) + "\n", capture_output=True, text=True, check=True)
        now = os.times()
        cpu = now.children_user + now.children_system - used.children_user - used.children_system
        return done.stdout.splitlines(), time.perf_counter() - begin, cpu

    empty, idle = map(min, zip(*(run([""])[1:] for _ in range(3)), strict=True))
    found, seconds, cpu = run(lines)
    return found, len(lines) / (seconds - empty), 1000 * (cpu - idle) / len(lines)


def request_of(text: str, pair: tuple[str, str]) -> bytes:
    """All bytes of a request."""
    body = question(text, pair)
    head = (
        f"POST /translate HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


def load(port: int, lines: list[str], expected: list[str], clients: int, pair: Any) -> dict[str, float]:
    """Ask for all lines, with so many connections. The client does as little as it can: it shares the cores."""
    asks = [request_of(line, pair) for line in lines]
    answers, seconds = [b""] * len(lines), [0.0] * len(lines)
    places = iter(range(len(lines)))
    poll, sockets, running = select.epoll(), {}, {}

    def send(connection: socket.socket) -> None:
        place = next(places, None)
        if place is None:
            del running[connection.fileno()]
            poll.unregister(connection)  # the service may close it before the others are done
            return
        running[connection.fileno()] = place
        seconds[place] = time.perf_counter()
        connection.sendall(asks[place])

    for _ in range(clients):
        connection = socket.create_connection(("127.0.0.1", port))
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        poll.register(connection, select.EPOLLIN)
        sockets[connection.fileno()] = connection
        running[connection.fileno()] = -1
    used, begin = time.process_time(), time.perf_counter()
    for connection in sockets.values():
        send(connection)
    while running:
        for number, _ in poll.poll():
            place = running[number]
            answers[place] += (more := sockets[number].recv(65536))
            head, mark, body = answers[place].partition(MARK)
            size = SIZE.search(head)
            if more and not (mark and size and len(body) >= int(size[1])):
                continue
            seconds[place] = time.perf_counter() - seconds[place]
            send(sockets[number])
    whole, used = time.perf_counter() - begin, time.process_time() - used
    for connection in sockets.values():
        connection.close()
    poll.close()
    wrong = sum(not right(*pair) for pair in zip(answers, expected, strict=True))
    cut = statistics.quantiles(seconds, n=100)
    found = {"rate": len(lines) / whole, "p50": cut[49], "p95": cut[94], "p99": cut[98]}
    return found | {"wrong": wrong, "client": 1000 * used / len(lines)}


def right(answer: bytes, expected: str) -> bool:
    head, _, body = answer.partition(MARK)
    return head.startswith(b"HTTP/1.1 200") and json.loads(body)["translatedText"] == expected


def workers(process: Any) -> list[int]:
    """The processes that serve: the children, or the process itself."""
    return [int(child) for child in Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()] or [
        process.pid
    ]


def cpu_of(process: Any) -> float:
    """Seconds of CPU that the processes which serve have used."""
    fields = [Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split() for number in workers(process)]
    return sum(int(each[11]) + int(each[12]) for each in fields) / os.sysconf("SC_CLK_TCK")


def memory(process: Any) -> tuple[float, float]:
    """Resident megabytes of all processes: all, and those of their own. Models are mapped files, not their own."""
    found = [Path(f"/proc/{number}/status").read_text() for number in workers(process)]
    sizes = [[int(re.search(rf"{name}:\s+(\d+)", text)[1]) / 1024 for text in found] for name in ("VmRSS", "RssAnon")]  # type: ignore[index]
    return sum(sizes[0]), sum(sizes[1])


async def soak(
    port: int, lines: list[str], expected: list[str], pair: Any, seconds: float, pause: float, process: Any
) -> tuple[Counter[str], list[tuple[float, float]]]:
    """Sixteen clients that do what clients do, good and bad; what happened, and memory along the way.

    Memory is first looked at when all sentences and all kinds of requests have been there, and the slowest are over.
    Before that, caches fill, and pages of the model's files are read for the first time.
    """
    seen: Counter[str] = Counter()
    sizes: list[tuple[float, float]] = []
    asked: set[int] = set()
    kinds: Counter[str] = Counter()
    begin = time.monotonic()
    end = begin + seconds

    async def one(number: int) -> None:
        draw = random.Random(number)
        while time.monotonic() < end:
            client, kind = Client(port), draw.choices(ASKS, WEIGHTS)[0]
            try:
                await asyncio.wait_for(kind(client, draw), 120)
            except (ConnectionError, asyncio.IncompleteReadError):
                seen[f"{kind.__name__}: closed"] += 1
            finally:
                kinds[kind.__name__] += 1
                client.drop()
            await asyncio.sleep(draw.expovariate(1 / pause) if pause else 0)

    async def good(client: Client, draw: random.Random) -> None:
        for _ in range(draw.randrange(1, 10)):
            place = draw.randrange(len(lines))
            asked.add(place)
            status, body = await client.ask(question(lines[place], pair))
            same = status == 200 and json.loads(body)["translatedText"] == expected[place]
            seen["good: right" if same else f"good: WRONG {status}"] += 1

    async def bad(client: Client, draw: random.Random) -> None:
        status, _ = await client.ask(bytes(draw.randrange(256) for _ in range(draw.randrange(300))))
        seen[f"bad: {status}"] += 1

    async def other(client: Client, draw: random.Random) -> None:
        line = lines[draw.randrange(len(lines))]
        path, fields = draw.choice(
            [
                ("/translate", {"q": f"<p>{line}</p>", "source": pair[0], "target": pair[1], "format": "html"}),
                ("/v1/translate", {"q": line, "trace": True, "kbest": 5}),
                ("/v1/explain", {"q": line}),
                ("/v2/translate", {"text": [line], "target_lang": pair[1]}),
            ]
        )
        seen[f"other: {(await client.ask(json.dumps(fields).encode(), path))[0]}"] += 1

    async def deep(client: Client, draw: random.Random) -> None:
        seen[f"deep: {(await client.ask(b'[' * 500_000))[0]}"] += 1

    async def huge(client: Client, draw: random.Random) -> None:
        seen[f"huge: {(await client.ask(b'x' * 5_000_000))[0]}"] += 1

    async def slow(client: Client, draw: random.Random) -> None:
        for byte in b"POST /translate HTTP/1.1\r\nhost: x\r\n":
            await client.send(bytes([byte]))
            await asyncio.sleep(0.5)
        await client.answer()

    async def aborted(client: Client, draw: random.Random) -> None:
        text = "\n".join(lines[draw.randrange(len(lines))] for _ in range(50))[:19_000]
        asking = asyncio.ensure_future(client.ask(question(text, pair)))
        await asyncio.sleep(draw.random())
        asking.cancel()
        seen["aborted"] += 1

    ASKS = [good, bad, other, deep, huge, slow, aborted]  # noqa: N806
    WEIGHTS = [60, 20, 5, 2, 2, 1, 5]  # noqa: N806

    async def watch() -> None:
        nonlocal end
        while len(asked) < len(lines) or min(kinds[kind.__name__] for kind in ASKS) < WARM:
            await asyncio.sleep(1)
            end = time.monotonic() + seconds
        print(f"warm after {time.monotonic() - begin:.0f} s: {dict(sorted(kinds.items()))}", flush=True)
        while time.monotonic() < end:
            sizes.append(memory(process))
            await asyncio.sleep(min(30, seconds / 20))

    await asyncio.gather(watch(), *(one(number) for number in range(16)))
    return seen, sizes


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("model")
    parser.add_argument("source")
    parser.add_argument("--clients", type=int, nargs="*", default=[1, 16, 128])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--sentences", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=1, help="batch and service in turn, so often")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--soak", type=float, default=0)
    parser.add_argument("--pause", type=float, default=0, help="seconds between requests of one client, in the mean")
    given = parser.parse_args()
    pair = tuple(given.model.partition("=")[0].split("-"))
    lines = Path(given.source).read_text().splitlines()[: given.sentences]
    expected, batch, own = wanted(given.model.rpartition("=")[2], lines, given.threads)
    print(f"treeglot translate, {given.threads} threads: {batch:.1f} sentences/s, {own:.2f} ms of CPU each")
    command = [sys.executable, "-m", "treeglot", "serve", given.model, "--port", "0", "--threads", str(given.threads)]
    command += ["--processes", str(given.processes)]
    with subprocess.Popen([*command, "-q"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        try:
            port = wait_for_port(process)
            load(port, lines[:100], expected[:100], 2, pair)  # pages of the files are read
            if given.soak:
                before, used = workers(process), cpu_of(process)
                seen, sizes = asyncio.run(soak(port, lines, expected, pair, given.soak, given.pause, process))
                print(dict(sorted(seen.items())))
                print("the same processes as before" if workers(process) == before else "PROCESSES WERE LOST")
                print(f"{(cpu_of(process) - used) / given.soak:.2f} cores")
                third = max(len(sizes) // 3, 1)
                for name, series in zip(("all", "own"), zip(*sizes, strict=True), strict=True):
                    means = [statistics.mean(series[n * third : (n + 1) * third]) for n in range(3)]
                    print(f"{name} memory by thirds, MB: " + ", ".join(f"{mean:.1f}" for mean in means), end="; ")
                    grown = 100 * (max(series) / series[0] - 1)
                    print(f"first {series[0]:.1f}, last {series[-1]:.1f}, most {max(series):.1f} (+{grown:.1f} %)")
                return
            print(
                "| clients | sentences/s | of batch | CPU ms each | client, ms | p50, ms | p95, ms | p99, ms | wrong |"
            )
            print("|---|---|---|---|---|---|---|---|---|")
            for number in range(given.rounds):
                if number:
                    _, batch, own = wanted(given.model.rpartition("=")[2], lines, given.threads)
                    print(f"treeglot translate: {batch:.1f} sentences/s, {own:.2f} ms of CPU each", flush=True)
                for clients in given.clients:
                    used = cpu_of(process)
                    done = load(port, lines, expected, clients, pair)
                    times = " | ".join(f"{1000 * done[name]:.0f}" for name in ("p50", "p95", "p99"))
                    each = 1000 * (cpu_of(process) - used) / len(lines)
                    share = (
                        f"{done['rate']:.1f} | {100 * done['rate'] / batch:.0f} % | {each:.2f} | {done['client']:.2f}"
                    )
                    print(f"| {clients} | {share} | {times} | {done['wrong']} |", flush=True)
        finally:
            process.terminate()


def wait_for_port(process: Any) -> int:
    """The port that the service listens on, from the kernel: it was told to be quiet."""
    while True:
        time.sleep(0.2)
        inodes = {str(link.readlink())[8:-1] for link in Path(f"/proc/{process.pid}/fd").iterdir() if link.is_symlink()}
        for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
            parts = line.split()
            if parts[3] == "0A" and parts[9] in inodes:
                return int(parts[1].rpartition(":")[2], 16)


if __name__ == "__main__":
    main()
