"""Loads benchmarks, which import each other by name. The folder leaves the path again: it has a `requests.py`."""

import runpy
import sys
from pathlib import Path
from typing import Any

BENCH = Path(__file__).parents[1] / "bench"


def load_bench(name: str) -> dict[str, Any]:
    """What the file `bench/NAME.py` defines."""
    sys.path.insert(0, str(BENCH))
    try:
        return runpy.run_path(str(BENCH / f"{name}.py"), run_name=name)
    finally:
        sys.path.remove(str(BENCH))
