"""The outer layer of the service.

It gives each request an id, limits and headers, logs it, and counts it in metrics.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import random
import sys
import time
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead
from starlette.exceptions import HTTPException

from treeglot.web.options import ServeOptions

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

log = logging.getLogger("treeglot.web")

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = (
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"access-control-allow-origin", b"*"),
)
PREFLIGHT = (
    (b"access-control-allow-headers", b"Authorization, Content-Type"),
    (b"access-control-allow-methods", b"GET, POST"),
    (b"access-control-max-age", b"86400"),
)
DROPPED = 16_000_000  # bytes beyond the limit that are read before a body is refused
FOLDER = "PROMETHEUS_MULTIPROC_DIR"
TIMES = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)


class Figures:
    """The figures of /metrics, for this process or for all processes that write to the same folder.

    The environment must name this folder before the package of Prometheus is imported. Counts of processes that have
    ended remain.
    """

    def __init__(self) -> None:
        self._folder = os.environ.get(FOLDER)
        self.registry = CollectorRegistry()
        self.requests = Counter("treeglot_requests", "Requests", ["path", "method", "status"], registry=self.registry)
        self.seconds = Histogram(
            "treeglot_request_seconds", "Seconds of a request", ["path"], buckets=TIMES, registry=self.registry
        )
        self.characters = Counter("treeglot_characters", "Characters to translate", ["model"], registry=self.registry)
        self.running = self._gauge("requests_running", "Requests that run")
        self.waiting = self._gauge("sentences_waiting", "Sentences that wait for a thread")
        self.decoding = self._gauge("sentences_running", "Sentences that are decoded")
        self._given: dict[str, Counter] = {}
        self._labelled: dict[tuple[str, ...], tuple[Counter, Histogram]] = {}

    def _gauge(self, name: str, text: str) -> Gauge:
        """Return a gauge, which is the sum over all live processes."""
        return Gauge(f"treeglot_{name}", text, registry=self.registry, multiprocess_mode="livesum")

    def show(self) -> bytes:
        """Return the figures in the format of Prometheus."""
        if self._folder is None:
            return generate_latest(self.registry)
        everywhere = CollectorRegistry()
        MultiProcessCollector(everywhere, self._folder)  # type: ignore[no-untyped-call]
        return generate_latest(everywhere)

    def request(self, path: str, method: str, status: int, seconds: float) -> None:
        """Count a finished request. Its metrics are cached, because looking them up by label takes longer."""
        labels = path, method, str(status)
        if labels not in self._labelled:
            self._labelled[labels] = self.requests.labels(*labels), self.seconds.labels(path)
        count, times = self._labelled[labels]
        count.inc()
        times.observe(seconds)

    def translated(self, model: str, characters: int) -> None:
        """Count the characters that models have translated."""
        if model not in self._given:
            self._given[model] = self.characters.labels(model)
        self._given[model].inc(characters)

    def sentences(self, waiting: int, running: int) -> None:
        """Set the numbers of calls that are waiting and running."""
        self.waiting.set(waiting)
        self.decoding.set(running)

    def forget(self, process: int) -> None:
        """Remove the gauges of a process that has ended."""
        if self._folder is not None:
            mark_process_dead(process, self._folder)  # type: ignore[no-untyped-call]


class Guard:
    """The outermost layer of the application, which every request passes."""

    def __init__(self, app: Any, options: ServeOptions, figures: Figures) -> None:
        self._app = app
        self._options = options
        self._figures = figures

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        """Check one request, pass it on, and log it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begin = time.perf_counter()
        own = f"{random.getrandbits(64):016x}"
        scope.setdefault("state", {})["id"] = own
        status = 499  # the status if the client leaves before an answer

        finished = False

        def finish() -> None:
            nonlocal finished
            if finished:
                return
            finished = True
            self._figures.running.dec()
            seconds = time.perf_counter() - begin
            route = scope["state"].get("route", "other")
            self._figures.request(route, scope["method"], status, seconds)
            if log.isEnabledFor(logging.INFO):
                fields = {"id": own, "method": scope["method"], "path": route, "status": status}
                fields |= {"seconds": round(seconds, 4), **scope["state"].get("log", {})}
                log.info("request", extra={"fields": fields})

        async def answer(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                closing = [(b"connection", b"close")] if status in (408, 413) else []
                message["headers"] = [*message["headers"], *HEADERS, *closing, (b"x-request-id", own.encode())]
            elif not message.get("more_body"):
                finish()  # who has the whole answer finds it counted
            await send(message)

        self._figures.running.inc()
        try:
            if scope["method"] == "OPTIONS":  # a browser's preflight request
                await answer({"type": "http.response.start", "status": 204, "headers": PREFLIGHT})
                await answer({"type": "http.response.body"})
                return
            await self._app(scope, self._limited(scope, receive), answer)
        finally:
            finish()

    def _limited(self, scope: Any, receive: Receive) -> Receive:
        """Wrap `receive`, so that a body that is too large or too slow is refused."""
        most, seconds = self._options.body, self._options.patience
        given = dict(scope["headers"]).get(b"content-length", b"0")
        read, more, timer = 0, True, None
        late = False
        problem = HTTPException(413, f"the body is larger than {most:,} bytes")

        def stop(task: asyncio.Task[Any]) -> None:
            nonlocal late
            late = True
            task.cancel()

        async def limited() -> Message:
            nonlocal read, more, timer
            if not more:
                return await receive()
            if given.isdigit() and int(given[:20]) > most + DROPPED:
                raise problem
            task = asyncio.current_task()
            assert task is not None
            timer = timer or asyncio.get_running_loop().call_later(seconds, stop, task)
            message: Message = {}
            while not message or (read > most and more and read <= most + DROPPED):
                # A client that still sends hears no answer: of too large a body, some more is read and dropped.
                try:
                    message = await receive()
                except asyncio.CancelledError:
                    if not late:
                        raise
                    getattr(task, "uncancel", int)()  # from Python 3.11 on, a task counts
                    raise HTTPException(408, f"the body did not arrive within {seconds:g} s") from None
                more = bool(message.get("more_body"))
                read += len(message.get("body", b""))
            if not more or read > most:
                timer.cancel()
            if read > most:
                raise problem
            return message

        return limited


class JsonLines(logging.Formatter):
    """Formats log records as JSON, one object per line, with time, level, message and the fields of the event."""

    def format(self, record: logging.LogRecord) -> str:
        """Format one record as a line."""
        made = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
        entry = {"time": f"{made}.{int(record.msecs):03d}Z", "level": record.levelname.lower()}
        entry |= {"message": record.getMessage(), **getattr(record, "fields", {})}
        if record.exc_info:
            entry["error"] = self.formatException(record.exc_info)
        return json.dumps(entry, ensure_ascii=False)


def log_lines(quiet: bool) -> None:
    """Write the log to standard error. With `quiet`, write only errors."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    for name in ("treeglot.web", "uvicorn.error"):
        logger = logging.getLogger(name)
        logger.handlers[:] = [handler]
        logger.propagate = False
        logger.setLevel(logging.ERROR if quiet or name == "uvicorn.error" else logging.INFO)
