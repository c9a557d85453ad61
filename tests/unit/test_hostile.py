"""Arguments that make no sense never end the process: every function of the core, in a process of its own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from treeglot import _core
from treeglot.syntax import Dependency, Tree


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


@pytest.mark.parametrize(("first", "last"), [(0, 2**32), (0, 129), (2**63, 2**64 - 1), (5, 4)])
def test_partitions_that_a_tally_does_not_have(first: int, last: int) -> None:
    bitext = _core.BitextBuilder().finish()
    with pytest.raises(ValueError, match=f"no partitions from {first} to {last}; expected a range in 0 to 128"):
        _core.Tally().columns(first, last, _core.LexicalTable(bitext), True)


def test_none_among_values() -> None:
    tree = Tree.parse("(S (NP a))")
    with pytest.raises(ValueError, match="found None in a pair"):
        _core.count_brackets([(tree, None)], _core.BracketOptions([], []))
    with pytest.raises(TypeError):
        _core.DependencyTrainer(_core.DependencyUnit.words, [0.5, 1.0, 1.5]).add([Dependency(["a"], [-1]), None])
    with pytest.raises(TypeError, match="found None among the hypotheses"):
        _core.Translation("a", ["a"], [None])


def test_a_list_that_holds_itself_is_no_tree() -> None:
    nested: list = ["S"]
    nested.append(nested)
    with pytest.raises(ValueError, match="deeper than 1048576 levels"):
        Tree.from_nested(nested)
