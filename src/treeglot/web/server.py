"""Runs the service in one process, or in several that share a socket and the memory of the models."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import signal
import socket
import struct
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Thread
from types import FrameType
from typing import Any, cast

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from treeglot.base.errors import TreeglotError
from treeglot.web.options import ServeOptions

log = logging.getLogger("treeglot.web")

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
HEADER_BYTES = 32_768
PIPELINED = 16  # requests that may wait for the answer to the one before
TOO_LONG = f"The headers have more than {HEADER_BYTES} bytes."
KEEP_ALIVE = 30
AT_ONCE = struct.pack("ii", 1, 0)  # the kernel drops what is not sent, too
SWITCH = 0.001  # seconds
COLLECTED = (10_000, 20, 20)  # new objects before cycles among them are looked for; then before older ones are
RESTARTS = 5  # of processes that end soon, one after the other, after which the service ends
SOON = 10.0  # seconds


def listen(host: str, port: int) -> socket.socket:
    """Open a socket for clients. With port 0, the system selects a free port."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=1024)
    except OSError as error:
        raise TreeglotError(f"cannot listen on {host}:{port}: {error.strerror}") from error


def address(listening: socket.socket) -> str:
    """Return the address of the service."""
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"


class Outgoing:
    """Buffers outgoing data of a connection, so that the head and body of an answer leave in one packet.

    If a client does not read its answer, it is cut off after some time: when the connection closes, or cannot continue.
    """

    def __init__(self, transport: Any, loop: asyncio.AbstractEventLoop, patience: float) -> None:
        self._transport = transport
        self._loop = loop
        self._patience = patience
        self._held: list[bytes] = []
        self._late: asyncio.TimerHandle | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        """Buffer data until the current callback ends. Then send all of it."""
        if not self._held:
            self._loop.call_soon(self.flush)
        self._held.append(data)

    def flush(self) -> None:
        """Send the buffered data."""
        held = b"".join(self._held)
        self._held.clear()
        if held and not self._transport.is_closing():
            self._transport.write(held)

    def close(self) -> None:
        """Close the connection when all data is sent, or when the client stops reading."""
        self.flush()
        self._transport.close()
        self.relax()
        self.hurry(self._patience)

    def hurry(self, seconds: float) -> None:
        """Cut the connection off if the client reads nothing for this number of seconds."""
        if self._late is None:
            self._late = self._loop.call_later(seconds, self._cut, seconds, self._transport.get_write_buffer_size())

    def _cut(self, seconds: float, before: int) -> None:
        self._late = None
        if self._transport.get_write_buffer_size() < before:  # the client is slow, but takes what it gets
            self.hurry(seconds)
        else:
            self._transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, AT_ONCE)
            self._transport.abort()

    def relax(self) -> None:
        """Cancel `hurry`: the client has read something, or has left."""
        if self._late is not None:
            self._late.cancel()
            self._late = None


class Connection(HttpToolsProtocol):
    """A connection with limits for headers. It is closed if they do not arrive in time, or are too large.

    It is also cut off if its client does not read for `stalled` seconds while data is waiting to be sent.
    """

    def __init__(self, *arguments: Any, patience: float, stalled: float, **more: Any) -> None:
        super().__init__(*arguments, **more)
        self._patience = patience
        self._stalled = stalled
        self._late: asyncio.TimerHandle | None = None
        self._arrived = self._named = 0  # bytes since headers began that are not complete, and of those that are
        self._heading = True  # the next bytes are of a request's head, not of its body
        self._heads = 0  # that were complete

    def connection_made(self, transport: Any) -> None:
        """Begin to measure the time for the headers. Small answers are sent without delay."""
        outgoing = Outgoing(transport, self.loop, self._patience)
        super().connection_made(outgoing)  # type: ignore[arg-type]
        transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._late = self.loop.call_later(self._patience, outgoing.close)

    def data_received(self, data: bytes) -> None:
        """Restart the clock for each new request. The clock stops when the headers are complete."""
        if self._late is None and self._heading:
            self._late = self.loop.call_later(self._patience, self.transport.close)
        before, heading = self._heads, self._heading
        super().data_received(data)
        if self._heads != before:
            self._arrived = 0
            if self._late is not None:
                self._late.cancel()
                self._late = None
        elif heading and self._heading:  # otherwise some of it, or all, is a body
            self._arrived += len(data)
            if self._arrived > HEADER_BYTES and not self.transport.is_closing():
                if self.cycle is None or self.cycle.response_complete:
                    self.send_400_response(TOO_LONG)
                else:  # an answer is on its way: nothing may come between
                    self.transport.abort()

    def on_headers_complete(self) -> None:
        """Remember that what follows is the body of the request."""
        self._heading = False
        self._heads += 1
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """Remember that the next data belongs to another request."""
        self._heading = True
        super().on_message_complete()

    def on_message_begin(self) -> None:
        """Count a new request. The number of pipelined requests is limited."""
        if len(self.pipeline) >= PIPELINED:
            raise ValueError("too many requests at once")
        super().on_message_begin()
        self._named = 0

    def on_header(self, name: bytes, value: bytes) -> None:
        """Count the bytes of the headers. If there are too many, the raised error makes the request a bad one."""
        self._named += len(name) + len(value)
        if self._named > HEADER_BYTES:
            raise ValueError(TOO_LONG)
        super().on_header(name, value)

    def pause_writing(self) -> None:
        """Limit the time of a client that reads too slowly."""
        super().pause_writing()
        self._outgoing.hurry(self._stalled)

    def resume_writing(self) -> None:
        """Lift the limit for a client that reads again."""
        super().resume_writing()
        if not self.transport.is_closing():
            self._outgoing.relax()

    @property
    def _outgoing(self) -> Outgoing:
        return cast("Outgoing", self.transport)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop all clocks of the connection."""
        if self._late is not None:
            self._late.cancel()
        super().connection_lost(exc)
        self._outgoing.relax()


class Server(uvicorn.Server):
    """A server that a signal ends. It answers the running requests first, and returns normally."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Install signal handlers, and restore the earlier ones at the end."""
        before = {number: signal.signal(number, self.handle_exit) for number in SIGNALS}
        woken = signal.set_wakeup_fd(-1)  # the command line ends a process soon after a signal; this one drains
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
            signal.set_wakeup_fd(woken)


def serve(app: Any, listening: socket.socket, options: ServeOptions, trust_proxy: bool = False) -> None:
    """Serve an application until a signal arrives."""

    def connection(*arguments: Any, **more: Any) -> Connection:
        return Connection(*arguments, patience=options.patience, stalled=options.deadline, **more)

    config = uvicorn.Config(
        app,
        http=connection,  # type: ignore[arg-type]
        ws="none",
        lifespan="on",
        loop="auto",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=trust_proxy,
        limit_concurrency=options.connections,
        timeout_keep_alive=KEEP_ALIVE,
        timeout_graceful_shutdown=round(options.drain),
    )
    gc.collect()
    gc.freeze()  # models and modules stay: looking through them again and again is in vain
    gc.set_threshold(*COLLECTED)
    sys.setswitchinterval(SWITCH)  # threads that come back from the core wait less for the interpreter
    Server(config).run(sockets=[listening])


def serve_processes(
    run: Callable[[], None], number: int, ended: Callable[[int], None], clock: Callable[[], float] = time.monotonic
) -> None:
    """Run `run` in several processes, forked from this one. Dead processes are replaced. A signal ends all of them.

    If processes die at once after their start, they are replaced only a few times. All share the data that this process
    has loaded. `ended` is called for each process that has ended. A pipe tells them when this process ends, and then
    they end, too.
    """
    gc.freeze()
    children: dict[int, float] = {}  # when they began
    pipe = os.pipe()
    ending = False

    def tell(number: int, frame: FrameType | None) -> None:
        nonlocal ending
        ending = True
        for child in tuple(children):
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGTERM)

    before = {one: signal.signal(one, tell) for one in SIGNALS}
    woken = signal.set_wakeup_fd(-1)
    failed = 0
    try:
        while True:
            while len(children) < number and not ending:
                _fork(run, children, pipe, clock())
                if ending:  # since the last look: the new one was not told
                    tell(signal.SIGTERM, None)
            if not children:
                break
            child, status = os.wait()
            seconds = clock() - children.pop(child, 0.0)
            ended(child)
            if ending:
                continue
            failed = failed + 1 if seconds < SOON else 0
            log.error("process ended", extra={"fields": {"process": child, "status": status}})
            if failed > RESTARTS:
                tell(signal.SIGTERM, None)
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)
        signal.set_wakeup_fd(woken)
        for end in pipe:
            os.close(end)
    if failed > RESTARTS:
        raise TreeglotError(f"{failed} processes ended within {SOON:g} s, one after the other; the log says why")


def _fork(run: Callable[[], None], children: dict[int, float], pipe: tuple[int, int], now: float) -> None:
    """Start a process. Signals are blocked until it is registered and has reset the handlers."""
    signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    child = os.fork()
    if child:
        children[child] = now
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
        return
    status = 1
    try:
        for one in SIGNALS:
            signal.signal(one, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
        os.close(pipe[1])
        Thread(target=_end_with_parent, args=(pipe[0],), daemon=True).start()
        run()
        status = 0
    except BaseException:
        log.exception("process failed")
    finally:
        os._exit(status)


def _end_with_parent(pipe: int) -> None:
    os.read(pipe, 1)  # returns when the parent has ended
    os.kill(os.getpid(), signal.SIGTERM)
