"""Decoding speed and model score of any table, language model, weights and input.

python bench/decode.py --rules rules.table --lm lm.bin --weights weights.txt test.de
python bench/decode.py --model models/hiero test.de --pops 50,100,200 --threads 1,2
"""

import argparse
import resource
import time
from dataclasses import replace
from pathlib import Path

from treeglot._core import RuleTable
from treeglot.decode import SearchOptions, Translator, read_weights
from treeglot.lm import load as load_lm
from treeglot.models import load


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("input", type=Path)
    parser.add_argument("--model", type=Path)
    parser.add_argument("--rules", type=Path)
    parser.add_argument("--lm", type=Path)
    parser.add_argument("--weights", type=Path)
    parser.add_argument("--pops", default="20,50,100,200")
    parser.add_argument("--span-limit", type=int, default=20)
    parser.add_argument("--per-source", type=int, default=20)
    parser.add_argument("--threads", default="1")
    parser.add_argument("--sentences", type=int)
    parser.add_argument("--out", type=Path, help="the last run's translations")
    arguments = parser.parse_args()

    lines = arguments.input.read_text().split("\n")[:-1][: arguments.sentences]
    start = time.perf_counter()
    if arguments.model:
        translator = load(arguments.model).translator
    else:
        table = RuleTable.open(str(arguments.rules))
        print(f"rule table: {len(table):,} rules, open in {time.perf_counter() - start:.3f} s")
        translator = Translator(table, read_weights(arguments.weights), load_lm(arguments.lm))
    print(f"all loaded in {time.perf_counter() - start:.3f} s, {peak():.2f} GB resident at most")
    print(f"{'pops':>6} {'threads':>7} {'ms/sentence CPU':>15} {'sentences/s':>11} {'model score':>12} {'peak GB':>8}")
    for pops in map(int, arguments.pops.split(",")):
        for threads in map(int, arguments.threads.split(",")):
            options = replace(
                SearchOptions(), pop_limit=pops, span_limit=arguments.span_limit, per_source=arguments.per_source
            )
            run = Translator(translator.table, translator.weights, translator.lm, options)
            began = time.perf_counter()
            found = run.translate_all(lines, threads=threads)
            wall = time.perf_counter() - began
            cpu = 1000 * sum(t.seconds for t in found) / len(lines)
            score = sum(t.score for t in found) / len(lines)
            print(f"{pops:6} {threads:7} {cpu:15.2f} {len(lines) / wall:11.1f} {score:12.4f} {peak():8.2f}", flush=True)
    if arguments.out:
        arguments.out.write_text("".join(t.text + "\n" for t in found))


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


if __name__ == "__main__":
    main()
