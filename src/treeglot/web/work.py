"""The threads that decode. Requests take turns, a sentence each, so that a short one never waits behind a long one."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import Future
from typing import Any, TypeVar

T = TypeVar("T")
Call = Callable[[], T]


class BusyError(Exception):
    """More waits than may wait."""


class Workers:
    """Threads that make calls: one of each request in turn. The core releases the interpreter while it decodes."""

    def __init__(self, threads: int, most_waiting: int = 1_000_000) -> None:
        self.threads = threads
        self.most_waiting = most_waiting
        self.waiting = self.running = 0
        self._turns: deque[deque[tuple[Future[Any], Call[Any]]]] = deque()
        self._changed = threading.Condition()
        self._started = self._ended = False

    def submit(self, calls: Sequence[Call[T]]) -> list[Future[T]]:
        """Make these calls, for one request; `BusyError` if too many wait already."""
        found: list[tuple[Future[T], Call[T]]] = [(Future(), call) for call in calls]
        with self._changed:
            if self.waiting + len(found) > self.most_waiting:
                raise BusyError(f"{self.waiting:,} sentences wait; at most {self.most_waiting:,} may")
            if found:
                self._start()
                self._turns.append(deque(found))
                self.waiting += len(found)
                self._changed.notify(min(len(found), self.threads))
        return [future for future, _ in found]

    def _start(self) -> None:
        """The threads begin with the first call: threads do not survive that a process is forked."""
        if not self._started:
            self._started = True
            for number in range(self.threads):
                threading.Thread(target=self._work, name=f"decode-{number}", daemon=True).start()

    async def each(self, calls: Sequence[Call[T]]) -> AsyncIterator[T]:
        """The results in order, as soon as they are there. Whoever stops asking stops the calls that wait."""
        futures = self.submit(calls)
        try:
            for future in futures:
                yield await asyncio.wrap_future(future)
        finally:
            for future in futures:
                future.cancel()

    async def all(self, calls: Sequence[Call[T]]) -> list[T]:
        """All results, in order."""
        return [result async for result in self.each(calls)]

    def end(self) -> None:
        """The threads end after what they do now."""
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    def _work(self) -> None:
        while (taken := self._next()) is not None:
            future, call = taken
            if future.set_running_or_notify_cancel():
                try:
                    future.set_result(call())
                except BaseException as error:  # the request that waits for it is told
                    future.set_exception(error)
            del future, call, taken
            with self._changed:
                self.running -= 1

    def _next(self) -> tuple[Future[Any], Call[Any]] | None:
        """The next call of the request whose turn it is; None: that was all."""
        with self._changed:
            while not self._turns:
                if self._ended:
                    return None
                self._changed.wait()
            request = self._turns.popleft()
            taken = request.popleft()
            if request:
                self._turns.append(request)
            self.waiting -= 1
            self.running += 1
            return taken
