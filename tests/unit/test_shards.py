"""The example of translation in shards, as docs/scale.md has it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from small_models import LINES, ZH, trained

pytestmark = pytest.mark.filterwarnings("ignore::treeglot.lm.train.DiscountWarning")
PAGE = Path(__file__).parents[2] / "docs/scale.md"
TOOLS = ("bash", "split", "xargs")
MISSING = [] if os.environ.get("CI") else [tool for tool in TOOLS if shutil.which(tool) is None]  # CI must have them


@pytest.mark.skipif(bool(MISSING), reason=f"not here: {', '.join(MISSING)}")
def test_shards_give_the_bytes_of_one_run(tmp_path: Path) -> None:
    found = re.search("<!-- example: shards -->\n```bash\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert found is not None
    model = trained("hiero", tmp_path / "model")
    lines = [" ".join(words) for words in [*LINES, ZH] * 3]
    (tmp_path / "input.txt").write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    command = tmp_path / "bin/treeglot"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m treeglot "$@"\n', encoding="utf-8")
    command.chmod(0o755)
    path = f"{command.parent}{os.pathsep}{os.environ['PATH']}"
    python_path = os.pathsep.join(str(Path(place).resolve()) for place in sys.path if place)
    environment = {**os.environ, "PATH": path, "PYTHONPATH": python_path}
    subprocess.run(["bash", "-e", "-o", "pipefail", "-c", found[1]], cwd=tmp_path, env=environment, check=True)
    expected = "".join(f"{each.text}\n" for each in model.translate_batch(lines))
    assert (tmp_path / "output.txt").read_text(encoding="utf-8") == expected
    assert len(list(tmp_path.glob("shard.*.out"))) == 4
