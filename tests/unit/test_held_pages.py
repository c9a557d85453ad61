"""Checking a mapped file takes little memory, however large it is. Damage is found all the same."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from small_lm import ARPA

from treeglot import FormatError, _core
from treeglot.lm import compile_ngram, load_ngram
from treeglot.rules.columns import buffers_of
from treeglot.rules.table import no_rows

# Of this process alone: getrusage counts the memory of the process that started it, too.
OPENING = """
import sys
from treeglot import _core
def status(name):
    return int(next(line for line in open("/proc/self/status") if line.startswith(name)).split()[1])
before = status("VmRSS")
opened = getattr(_core, sys.argv[1]).open(sys.argv[2], True)
print(status("VmHWM") - before)
"""
HELD = 48  # MiB: 16 for each of two threads, with room to spare
LARGE = 80
FEATURES, RULES, WORDS = 80, 256 << 10, 64


def growth(kind: str, path: Path) -> int:
    """The MiB by which the memory of a process grows at most while it opens a file."""
    done = subprocess.run([sys.executable, "-c", OPENING, kind, str(path)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return int(done.stdout) >> 10


@pytest.fixture(scope="module")
def rules(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table with many rules and features: words without variables, so all texts are short."""
    path = tmp_path_factory.mktemp("held") / "rules.table"
    builder = _core.RuleTableBuilder([f"f{i}" for i in range(FEATURES)])
    numbers = np.arange(RULES)
    words = [(numbers // WORDS**i % WORDS).astype(str) for i in range(3)]
    source = buffers_of(pa.array("w" + words[0] + " w" + words[1] + " w" + words[2]))
    lhs, target = (buffers_of(pa.array(np.full(RULES, text))) for text in ("X", "a"))
    values = [np.full(RULES, i, dtype=np.float32) for i in range(FEATURES)]
    builder.add_rows("rules", 1, [lhs, source, target, *(no_rows() for _ in range(3))], values, [])
    builder.write(str(path))
    assert path.stat().st_size >> 20 >= LARGE
    return path


@pytest.fixture(scope="module")
def ngrams(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model whose bigrams are in a much larger table than they need."""
    folder = tmp_path_factory.mktemp("held")
    (folder / "small.arpa").write_text(ARPA)
    compile_ngram(folder / "small.arpa", folder / "small.bin")
    content = _core.read_sections(str(folder / "small.bin"), "ngram-lm", 1)
    content["table.2"] = bytes(LARGE << 20)
    _core.write_sections(str(folder / "large.bin"), "ngram-lm", 1, content)
    return folder / "large.bin"


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak of a process is in /proc")
@pytest.mark.parametrize("kind", ["RuleTable", "NgramModel"])
def test_a_check_holds_little_of_a_large_file(kind: str, rules: Path, ngrams: Path) -> None:
    assert growth(kind, {"RuleTable": rules, "NgramModel": ngrams}[kind]) < HELD


IN_BACKGROUND = """
import sys, time
from treeglot import _core
from treeglot.decode import Translator
def held():
    return int(next(line for line in open("/proc/self/status") if line.startswith("VmRSS")).split()[1]) >> 10
before = held()
translator = Translator(_core.RuleTable.open(sys.argv[1], _core.Opening.background), {"f0": 1.0})
end = time.monotonic() + 120
while time.monotonic() < end and held() - before < int(sys.argv[2]):
    translator.translate("unknown words")
print(held() - before)
"""


@pytest.mark.threads
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the memory of a process is in /proc")
def test_a_check_in_the_background_takes_no_pages_from_a_search(rules: Path) -> None:
    command = [sys.executable, "-c", IN_BACKGROUND, str(rules), str(LARGE)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) >= LARGE


COMPILING = """
import sys
from treeglot.lm import compile_ngram
def status(name):
    return int(next(line for line in open("/proc/self/status") if line.startswith(name)).split()[1])
before = status("VmRSS")
compile_ngram(sys.argv[1], sys.argv[2], memory=sys.argv[3])
print(status("VmHWM") - before)
"""


@pytest.mark.skipif(
    not Path("/proc/self/status").exists() or "asan" in os.environ.get("LD_PRELOAD", ""),
    reason="the peak of a process is in /proc, and sanitizers keep what is freed",
)
def test_compiling_keeps_to_its_memory(tmp_path: Path) -> None:
    """Most trigrams lack their suffixes, so the tables grow to some 80 MB. Two hold 16 MB each in a copy."""
    bigrams = np.unique(np.random.default_rng(1).integers(0, 3000 * 3000, 800_000))
    pairs = [(key // 3000, key % 3000) for key in bigrams.tolist()]
    lines = ["\\data\\", "ngram 1=3002", f"ngram 2={len(pairs)}", f"ngram 3={len(pairs)}", "", "\\1-grams:"]
    lines += [f"-4 {word} -0.{word % 9}" for word in range(3000)] + ["-1 <s> -0.5", "-1 </s>", "", "\\2-grams:"]
    lines += [f"-2.{a} {a} {b} -0.{b}" for a, b in pairs]
    lines += ["", "\\3-grams:", *(f"-1.{b} {a} {b} {(a * b) % 3000}" for a, b in pairs), "", "\\end\\", ""]
    (tmp_path / "lm.arpa").write_text("\n".join(lines))
    peaks = {}
    for memory in ("1G", "24M"):
        given = [str(tmp_path / "lm.arpa"), str(tmp_path / memory), memory]
        done = subprocess.run([sys.executable, "-c", COMPILING, *given], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        peaks[memory] = int(done.stdout) >> 10
    assert (tmp_path / "1G").read_bytes() == (tmp_path / "24M").read_bytes()
    assert peaks["24M"] < 72 < peaks["1G"], peaks


def test_damage_at_the_end_of_a_large_table_is_found(rules: Path, tmp_path: Path) -> None:
    assert _core.RuleTable.open(str(rules)).rule(RULES - 1)[3] == [float(i) for i in range(FEATURES)]
    content = _core.read_sections(str(rules), "rules", 2)
    bad = tmp_path / "bad.table"
    content["rule.features"] = content["rule.features"][:-4] + np.float32(np.inf).tobytes()
    _core.write_sections(str(bad), "rules", 2, content)
    with pytest.raises(FormatError, match="parts that it does not have"):
        _core.RuleTable.open(str(bad))


def test_damage_at_the_end_of_a_large_table_of_ngrams_is_found(ngrams: Path, tmp_path: Path) -> None:
    content = _core.read_sections(str(ngrams), "ngram-lm", 1)
    bucket = bytes(32) + np.float32(np.inf).tobytes() + bytes(28)
    content["table.2"] = content["table.2"][:-64] + bucket
    _core.write_sections(str(tmp_path / "bad"), "ngram-lm", 1, content)
    with pytest.raises(FormatError, match="its table of order 2 has values that cannot be"):
        load_ngram(tmp_path / "bad")
