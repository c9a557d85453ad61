"""Opening a model, its first sentence and a batch, in fresh processes: CPU time by when its files are verified.

python bench/open.py MODEL INPUT [--weights FILE] [--sentences N] [--rounds N] [--json FILE]

Models verify what they use (`used`). `verified` is `load(wait=True)`, and `trusted` verifies nothing. The last row is
`treeglot translate` with the first sentence. All figures are medians; rounds take turns.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from record import add_option, column, record

HOWS = ("trusted", "used", "verified")
COLUMNS = [
    column("files are"),
    column("open, CPU ms", 1),
    column("first sentence, CPU ms", 1),
    column("batch, CPU ms"),
    column("all, CPU ms"),
    column("all, s", 2),
    column("resident, MB"),
]


def measured(how, given):
    """One round, in this process."""
    import treeglot.lm  # noqa: F401 - imports do not count
    from treeglot.decode.weights import read_weights
    from treeglot.models import load

    if how == "trusted":
        trust()
    lines = given.input.read_text().splitlines()[: given.sentences]
    clocks = [(time.process_time(), time.perf_counter())]
    model = load(given.model, wait=how == "verified")
    clocks.append((time.process_time(), time.perf_counter()))
    if given.weights:
        model = model.with_weights(read_weights(given.weights))
    start = time.process_time()
    model.translate(lines[0])
    first = time.process_time() - start
    batch = time.process_time()
    out = [str(found) for found in model.translate_batch(lines, threads=1)]
    clocks.append((time.process_time(), time.perf_counter()))
    cpu = [clocks[1][0] - clocks[0][0], first, clocks[2][0] - batch, clocks[2][0] - clocks[0][0]]
    resident = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
    return [[1000 * one for one in cpu] + [clocks[2][1] - clocks[0][1], resident], out]


def trust():
    """Let models open their files without any check."""
    import treeglot.lm
    import treeglot.models.model as module

    table, ngram = module.open_table, treeglot.lm.load_ngram
    module.open_table = lambda path, wait: table(path, verify=False)
    treeglot.lm.load_ngram = lambda path, wait: ngram(path, verify=False)


def in_shell(given, bytecode):
    """CPU milliseconds and seconds of `treeglot translate` with one sentence. Python keeps bytecode in a folder."""
    line = given.input.read_text().splitlines()[0] + "\n"
    # Installed modules are compiled to bytecode.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPYCACHEPREFIX"] = bytecode
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    command = [sys.executable, "-m", "treeglot", "translate", str(given.model), "-"]
    subprocess.run(command, input=line, capture_output=True, text=True, check=True, env=environment)
    took, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1000 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime), took


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("input", type=Path)
    parser.add_argument("--weights", type=Path)
    parser.add_argument("--sentences", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--one", choices=HOWS, help=argparse.SUPPRESS)
    add_option(parser)
    given = parser.parse_args()
    if given.one:
        print(json.dumps(measured(given.one, given)))
        return
    rounds, shell, outs = {how: [] for how in HOWS}, [], set()
    bytecode = tempfile.TemporaryDirectory()
    in_shell(given, bytecode.name)
    for _ in range(given.rounds):
        for how in HOWS:
            command = [sys.executable, __file__, *sys.argv[1:], "--one", how]
            figures, out = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
            rounds[how].append(figures)
            outs.add("\n".join(out))
        shell.append(in_shell(given, bytecode.name))
    if len(outs) != 1:
        sys.exit("translations differ by how files are opened")
    rows = [[how, *map(median, zip(*rounds[how], strict=True))] for how in HOWS]
    cpu, took = map(median, zip(*shell, strict=True))
    rows.append(["used, from the shell", None, None, None, cpu, took, None])
    for row in rows:
        print(*(f"{cell:10.2f}" if isinstance(cell, float) else f"{cell!s:>20}" for cell in row))
    record(given.json, COLUMNS, rows)


if __name__ == "__main__":
    main()
