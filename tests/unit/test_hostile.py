"""Arguments that make no sense never end the process: every function of the core, in a process of its own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.skipif(
    "libasan" in os.environ.get("LD_PRELOAD", ""), reason="AddressSanitizer needs more addresses than the test allows"
)
@pytest.mark.parametrize("seed", range(4))
def test_the_core_refuses_what_makes_no_sense(seed: int, tmp_path: Path) -> None:
    script = Path(__file__).parents[1] / "hostile.py"
    log = tmp_path / "last"
    done = subprocess.run(
        [sys.executable, script, str(seed), "5000"],
        capture_output=True,
        text=True,
        env={**os.environ, "HOSTILE_LOG": str(log)},
    )
    assert done.returncode == 0, f"{done.stderr[-2000:]}\nthe last call was {log.read_text()}"
