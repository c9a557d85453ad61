"""How benches measure: CPU time, the fastest of some runs."""

import time
from collections.abc import Callable
from typing import TypeVar

Result = TypeVar("Result")


def fastest(work: Callable[[], Result], runs: int) -> tuple[float, Result]:
    """CPU seconds of the fastest of some runs, and the last one's result."""
    best = float("inf")
    for _ in range(runs):
        begin = time.process_time()
        result = work()
        best = min(best, time.process_time() - begin)
    return best, result
