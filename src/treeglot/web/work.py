"""The threads that decode. Requests take turns, a sentence each, so that a short one never waits behind a long one."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import Future
from typing import Any, Protocol, TypeVar

T = TypeVar("T")
Call = Callable[[], T]
TOGETHER = 8  # calls that a thread makes as one, at most


class BusyError(Exception):
    """More waits than may wait."""


class Joint(Protocol):
    """A call that costs less when it is made together with others of its kind."""

    def __call__(self) -> Any:
        """The call by itself."""
        ...

    def joins(self, other: Any) -> bool:
        """Whether both can be made as one."""
        ...

    def together(self, others: Sequence[Any]) -> list[Any]:
        """The results of this call and of the others."""
        ...


class Workers:
    """Threads that make calls: one of each request in turn. The core releases the interpreter while it decodes.

    When many calls wait, a thread takes several of the next ones and makes them as one, if they can be joined.
    """

    def __init__(self, threads: int, most_waiting: int = 1_000_000) -> None:
        self.threads = threads
        self.most_waiting = most_waiting
        self.waiting = self.running = 0
        self.tell: Callable[[int, int], None] = lambda waiting, running: None  # is told of every change
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
                self._count(len(found), 0)
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
        while taken := self._next():
            running = [(future, call) for future, call in taken if future.set_running_or_notify_cancel()]
            done = len(taken)
            if len(running) > 1:
                _make_together(running)
            elif running:
                _make(*running[0])
            del taken, running  # an idle thread keeps nothing alive
            with self._changed:
                self._count(0, -done)

    def _next(self) -> list[tuple[Future[Any], Call[Any]]]:
        """The next call of the request whose turn it is, and more that can be joined; none: that was all."""
        with self._changed:
            while not self._turns:
                if self._ended:
                    return []
                self._changed.wait()
            most = min(TOGETHER, self.waiting // (2 * self.threads))
            taken = [self._take()]
            joins = getattr(taken[0][1], "joins", None)
            while joins and len(taken) < most and self._turns and joins(self._turns[0][0][1]):
                taken.append(self._take())
            self._count(-len(taken), len(taken))
            return taken

    def _count(self, waiting: int, running: int) -> None:
        self.waiting += waiting
        self.running += running
        self.tell(self.waiting, self.running)

    def _take(self) -> tuple[Future[Any], Call[Any]]:
        request = self._turns.popleft()
        taken = request.popleft()
        if request:
            self._turns.append(request)
        return taken


def _make(future: Future[T], call: Call[T]) -> None:
    try:
        future.set_result(call())
    except BaseException as error:  # the request that waits for it is told
        future.set_exception(error)


def _make_together(calls: Sequence[tuple[Future[Any], Any]]) -> None:
    """Make calls as one; by themselves if one of them fails, so that no request fails by the fault of another."""
    try:
        found = calls[0][1].together([call for _, call in calls[1:]])
    except Exception:
        for future, call in calls:
            _make(future, call)
        return
    for (future, _), result in zip(calls, found, strict=True):
        future.set_result(result)
