"""Requests from many Python threads on one model, good and bad mixed: memory, and answers beside those of one thread.

python bench/requests.py models/hiero test.zh --requests 24000 --threads 8
"""

import argparse
import random
import resource
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from treeglot.models import Model, load

BAD: list[Any] = [
    None, 7, 1.5, b"das", ["a b"], [None], "\udc80", "a\x07b", "", "   ", [], "a\0b", "<x", "|||", "[X,1]",
    "word " * 60,
]  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("input", type=Path)
    parser.add_argument("--requests", type=int, default=24_000)
    parser.add_argument("--first", type=int, default=1000, help="after which memory is measured first")
    parser.add_argument("--threads", type=int, default=8)
    parser.add_argument("--longest", type=int, default=12, help="words of an input line")
    arguments = parser.parse_args()
    model = load(arguments.model)
    lines = [line for line in arguments.input.read_text().splitlines() if len(line.split()) <= arguments.longest]
    wanted = requests(lines, arguments.requests)
    begin = time.perf_counter()
    answers, memory = serve(model, wanted, arguments.threads, arguments.first)
    seconds = time.perf_counter() - begin
    first, last = memory
    print(f"{len(wanted):,} requests from {arguments.threads} threads in {seconds:.1f} s")
    print(f"resident after {arguments.first:,}: {first:.1f} MB, at the end: {last:.1f} MB, {last / first - 1:+.1%}")
    print(f"refused: {sum(answer[0] == 'error' for answer in answers):,}")
    alone = {key(request): answer(model, request) for request in wanted}
    differ = sum(alone[key(request)] != found for request, found in zip(wanted, answers, strict=True))
    print(f"answers that differ from those of one thread: {differ:,}")
    print(f"peak: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.1f} MB")


def requests(lines: list[str], number: int, seed: int = 1) -> list[Any]:
    """Sentences, and one bad request in six."""
    chooser = random.Random(seed)
    return [chooser.choice(BAD) if chooser.random() < 1 / 6 else chooser.choice(lines) for _ in range(number)]


def key(request: Any) -> str:
    return repr(request)


def answer(model: Model, request: Any) -> tuple[str, ...]:
    """What a request gives, as text: the translation and more of it, or the error."""
    try:
        found = model.translate(request)
        return "answer", found.text, repr(found.score), found.problem, *(h.text for h in found.kbest(3))
    except (TypeError, ValueError) as error:
        return "error", type(error).__name__, str(error)


def serve(
    model: Model, wanted: list[Any], threads: int, first: int, resident: Callable[[], float] | None = None
) -> tuple[list[tuple[str, ...]], tuple[float, float]]:
    """The answers in order, and the memory after the first of them and at the end, in MB."""
    measure = resident or _resident
    lock = threading.Lock()
    done, early = 0, 0.0

    def one(request: Any) -> tuple[str, ...]:
        nonlocal done, early
        found = answer(model, request)
        with lock:
            done += 1
            if done == first:
                early = measure()
        return found

    with ThreadPoolExecutor(threads) as pool:
        answers = list(pool.map(one, wanted))
        return answers, (early, measure())


def _resident() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 2**20


if __name__ == "__main__":
    main()
