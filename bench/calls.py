"""Single calls beside one batch: CPU time of both, interleaved.

python bench/calls.py models/hiero test.zh --sentences 1000 --rounds 3
"""

import argparse
import time
from collections.abc import Callable
from pathlib import Path

from treeglot.models import load


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("input", type=Path)
    parser.add_argument("--sentences", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    model = load(arguments.model)
    lines = arguments.input.read_text().split("\n")[: arguments.sentences]
    model.translate_batch(lines[:100])
    for _ in range(arguments.rounds):
        batch = timed(lambda: model.translate_batch(lines))
        single = timed(lambda: [model.translate(line) for line in lines])
        print(f"batch {batch:.2f} s, single calls {single:.2f} s, ratio {single / batch:.3f}")


def timed(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


if __name__ == "__main__":
    main()
