"""The threads that decode. Requests take turns by sentence, so a short request never waits behind a long one."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from typing import Any, Protocol, TypeAlias, TypeVar

T = TypeVar("T")
Call = Callable[[], T]
AnyFuture: TypeAlias = "Future[Any] | asyncio.Future[Any]"
Waiting: TypeAlias = "tuple[AnyFuture, Call[Any]]"
Made: TypeAlias = "tuple[AnyFuture, Any, BaseException | None]"  # a result, or an error
TOGETHER = 16  # calls that a thread makes as one, at most
LARGEST = 1000  # the sum of their sizes, at most


class BusyError(Exception):
    """Raised if too many calls are waiting."""


class Joint(Protocol):
    """The interface of a call that costs less in a batch with similar calls."""

    size: int  # its share of a batch

    def __call__(self) -> Any:
        """Make this call alone."""
        ...

    def joins(self, other: Any) -> bool:
        """Return whether this call and another can be made in one batch."""
        ...

    def together(self, others: Sequence[Any]) -> list[Any]:
        """Make this call and others in one batch."""
        ...


class Workers:
    """Threads that make the calls of requests.

    Requests take turns: each gets one call at a time. The core releases the interpreter lock.

    If many calls are waiting, a thread takes several that can be joined, and makes them in one batch.
    """

    def __init__(self, threads: int, most_waiting: int = 1_000_000) -> None:
        self.threads = threads
        self.most_waiting = most_waiting
        self.waiting = self.running = 0
        self.tell: Callable[[int, int], None] = lambda waiting, running: None  # is told of every change
        self._turns: deque[deque[Waiting]] = deque()
        self._changed = threading.Condition()
        self._started = self._ended = False

    def submit(self, calls: Sequence[Call[T]]) -> list[Future[T]]:
        """Queue the calls of one request, from a thread. If too many calls are waiting, raise `BusyError`."""
        futures: list[Future[T]] = [Future() for _ in calls]
        self._queue(futures, calls)
        return futures

    def _queue(self, futures: Sequence[AnyFuture], calls: Sequence[Call[Any]]) -> None:
        with self._changed:
            if self.waiting + len(calls) > self.most_waiting:
                raise BusyError(f"{self.waiting:,} sentences wait; at most {self.most_waiting:,} may")
            if calls:
                self._start()
                self._turns.append(deque(zip(futures, calls, strict=True)))
                self._count(len(calls), 0)
                self._changed.notify(min(len(calls), self.threads))

    def _start(self) -> None:
        """Start the threads when the first call arrives, because threads do not survive a fork."""
        if not self._started:
            self._started = True
            for number in range(self.threads):
                threading.Thread(target=self._work, name=f"decode-{number}", daemon=True).start()

    @contextmanager
    def _asked(self, calls: Sequence[Call[T]]) -> Iterator[list[asyncio.Future[T]]]:
        """Queue the calls of one request, from the event loop.

        At the end of the block, cancel those that still wait.
        """
        loop = asyncio.get_running_loop()
        futures: list[asyncio.Future[T]] = [loop.create_future() for _ in calls]
        self._queue(futures, calls)
        try:
            yield futures
        finally:
            for future in futures:
                if not future.cancel() and not future.cancelled():
                    future.exception()  # nobody else looks at those after the first that failed

    async def each(self, calls: Sequence[Call[T]]) -> AsyncIterator[T]:
        """Yield the results in order, as soon as they are ready.

        If the iterator is closed, waiting calls are cancelled.
        """
        with self._asked(calls) as futures:
            for future in futures:
                yield await future

    async def all(self, calls: Sequence[Call[T]]) -> list[T]:
        """Return the results of all calls, in order."""
        with self._asked(calls) as futures:
            return [await future for future in futures]

    def end(self) -> None:
        """Let the threads end after their current calls."""
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    def _work(self) -> None:
        while taken := self._next():
            running = [(future, call) for future, call in taken if _begins(future)]
            made = _make_together(running) if len(running) > 1 else [_make(*each) for each in running]
            with self._changed:
                self._count(0, -len(taken))
            _deliver(made)
            del taken, running, made  # an idle thread keeps nothing alive

    def _next(self) -> list[Waiting]:
        """Return the next call of the request whose turn it is, and calls that can join it, or nothing at the end."""
        with self._changed:
            while not self._turns:
                if self._ended:
                    return []
                self._changed.wait()
            most = min(TOGETHER, self.waiting // (2 * self.threads))
            taken = [self._take()]
            first: Any = taken[0][1]
            size = getattr(first, "size", LARGEST)
            while len(taken) < most and size < LARGEST and self._turns:
                other: Any = self._turns[0][0][1]
                if not first.joins(other) or size + other.size > LARGEST:
                    break
                size += other.size
                taken.append(self._take())
            self._count(-len(taken), len(taken))
            return taken

    def _count(self, waiting: int, running: int) -> None:
        self.waiting += waiting
        self.running += running
        self.tell(self.waiting, self.running)

    def _take(self) -> Waiting:
        request = self._turns.popleft()
        taken = request.popleft()
        if request:
            self._turns.append(request)
        return taken


def _begins(future: AnyFuture) -> bool:
    """Return whether a request still waits for this call, and mark the call as running."""
    return future.set_running_or_notify_cancel() if isinstance(future, Future) else not future.cancelled()


def _make(future: AnyFuture, call: Call[Any]) -> Made:
    try:
        return future, call(), None
    except BaseException as error:  # the request that waits for it is told
        return future, None, error


def _make_together(calls: Sequence[tuple[AnyFuture, Any]]) -> list[Made]:
    """Make calls as one batch. If it fails, make each call alone, so that no request fails because of another."""
    try:
        found = calls[0][1].together([call for _, call in calls[1:]])
    except Exception:
        return [_make(*each) for each in calls]
    return [(future, result, None) for (future, _), result in zip(calls, found, strict=True)]


def _deliver(made: Sequence[Made]) -> None:
    """Notify the requests that wait. An event loop is woken only once."""
    loops: dict[asyncio.AbstractEventLoop, list[Made]] = {}
    for each in made:
        future = each[0]
        if isinstance(future, Future):
            _set([each])
        else:
            loops.setdefault(future.get_loop(), []).append(each)
    for loop, own in loops.items():
        with suppress(RuntimeError):  # the loop has ended: nobody waits
            loop.call_soon_threadsafe(_set, own)


def _set(made: Sequence[Made]) -> None:
    for future, result, error in made:
        if future.done():  # the request has left
            continue
        if error is None:
            future.set_result(result)
        else:
            future.set_exception(error)
