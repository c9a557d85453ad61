"""What learning dev pairs does to their own translation and to that of the others, and how long a pair takes.

python bench/learn.py MODEL DEV REFERENCES [--pairs 200] [--words 19 21] [--weights] [--compact]

The model stays as it is: a copy of it, beside it, learns and is removed. It must have an aligner.
"""

import argparse
import os
import random
import shutil
import tempfile
import time
from pathlib import Path

import numpy as np
import sacrebleu

import treeglot
from treeglot.base.files import read_lines
from treeglot.models.compact import compact


def scores(outputs: list[str], references: list[str], chosen: list[int]) -> str:
    hypotheses, wanted = ([texts[i] for i in chosen] for texts in (outputs, references))
    exact = sum(one == other for one, other in zip(hypotheses, wanted, strict=True))
    bleu, chrf = sacrebleu.corpus_bleu(hypotheses, [wanted]), sacrebleu.corpus_chrf(hypotheses, [wanted])
    return f"BLEU {bleu.score:.2f}, chrF {chrf.score:.2f}, {exact} of {len(chosen)} as in the reference"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("model", "dev", "references"):
        parser.add_argument(name)
    parser.add_argument("--pairs", type=int, default=200)
    parser.add_argument("--compact", action="store_true", help="merge in the end, and compare")
    parser.add_argument("--words", type=int, nargs=2, help="of the pairs' source sides: the least and the most")
    parser.add_argument("--weights", action="store_true", help="weights learn, too")
    options = parser.parse_args()
    sources, references = read_lines(options.dev), read_lines(options.references)
    with tempfile.TemporaryDirectory(dir=Path(options.model).resolve().parent) as scratch:
        folder = shutil.copytree(options.model, Path(scratch, "model"), copy_function=os.link)
        model = treeglot.load(folder)
        fitting = list(range(len(sources)))
        if options.words:
            sizes = [len(words) for words in model.reader.words(sources)]
            fitting = [i for i in fitting if options.words[0] <= sizes[i] <= options.words[1]]
        taught = sorted(random.Random(1).sample(fitting, options.pairs))
        rest = sorted(set(range(len(sources))) - set(taught))
        before = [found.text for found in model.translate_batch(sources)]
        seconds = []
        for i in taught:
            begin = time.perf_counter(), time.process_time()
            model.learn(sources[i], references[i], weights=options.weights)
            seconds.append((time.perf_counter() - begin[0], time.process_time() - begin[1]))
        after = [found.text for found in model.translate_batch(sources)]
        for name, chosen in (("taught", taught), ("rest", rest)):
            for when, outputs in (("before", before), ("after", after)):
                print(f"{name} {when}: {scores(outputs, references, chosen)}")
        if options.weights:
            shares = {
                name: f"{100 * (weight / model.tuned[name] - 1):+.1f} %" for name, weight in model.weights.items()
            }
            print(f"weights: {shares}")
        print(f"changed in the rest: {sum(before[i] != after[i] for i in rest)}")
        print(f"{len(model.corrections or ()):,} rules; seconds a pair, wall and processor:")
        for name, some in (("first", seconds[:1]), ("first twenty", seconds[1:21]), ("last twenty", seconds[-20:])):
            print(f"  {name}: " + ", ".join(f"{value:.3f}" for value in np.median(some, axis=0)))
        for name, part in (("median", 50), ("95 %", 95)):
            print(
                f"  all but the first, {name}: "
                + ", ".join(f"{v:.3f}" for v in np.percentile(seconds[1:], part, axis=0))
            )
        if options.compact:
            start = time.perf_counter()
            compact(folder)
            taken = time.perf_counter() - start
            merged = [found.text for found in treeglot.load(folder).translate_batch(sources)]
            other = sum(one != two for one, two in zip(after, merged, strict=True))
            print(f"compact: {taken:.0f} s, {other} translations differ")


if __name__ == "__main__":
    main()
