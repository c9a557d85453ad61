"""Keystrokes and mouse actions that completion takes, as a share of a reference's characters (KSMR), and its CPU time.

A simulated user reads the proposal up to the first wrong character, points there (one action), types the right one
(one keystroke), and gets a new proposal; accepting the last is one action. Typing all takes a KSMR of 1.

    python bench/complete.py MODEL SOURCE REFERENCES [--most 200]
"""

import argparse
import time
from itertools import islice
from pathlib import Path

import numpy as np

import treeglot
from treeglot.base.files import read_lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model")
    parser.add_argument("source", type=Path)
    parser.add_argument("references")
    parser.add_argument("--most", type=int, default=200)
    options = parser.parse_args()
    model = treeglot.load(options.model)
    keys = mouse = characters = reached = 0
    times = []
    pairs = zip(model.read(options.source), read_lines(options.references), strict=False)
    for source, wanted in islice(pairs, options.most):
        prefix = ""
        while True:
            start = time.process_time()
            found = model.complete(source, prefix)
            times.append(time.process_time() - start)
            reached += found.reached
            text = prefix + found.rest
            if text == wanted:
                break
            same = next((i for i, (a, b) in enumerate(zip(text, wanted, strict=False)) if a != b), None)
            at = min(len(text), len(wanted)) if same is None else same
            mouse += at > len(prefix) or not prefix
            keys += 1
            if at >= len(wanted):  # the rest is deleted
                break
            prefix = wanted[: at + 1]
        mouse += 1
        characters += len(wanted)
    median, high = (np.percentile(times, share) * 1e3 for share in (50, 95))
    print(f"KSMR {(keys + mouse) / characters:.3f} ({keys} keys, {mouse} actions, {characters} characters)")
    print(f"{len(times)} steps, {reached / len(times):.1%} reached; median {median:.1f} ms, 95 % below {high:.1f} ms")


if __name__ == "__main__":
    main()
