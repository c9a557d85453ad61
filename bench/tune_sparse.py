"""Tuning with very many sparse features: an indicator for each of a Hiero model's most frequent rules, by MIRA.

python bench/tune_sparse.py MODEL --dev dev.zh --refs dev.en --features 200000 --test test.zh --test-refs test.en

MODEL is left as it is: its rules are compiled again, with one feature more for each rule, into a folder of their own.
Memory is that of the tuning alone: the table is compiled by another process.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from treeglot.decode import Translator
from treeglot.decode.weights import read_weights
from treeglot.evaluate import Bleu
from treeglot.lm import load_ngram
from treeglot.rules import open_table
from treeglot.tune import METHODS, LoopOptions, tune_weights
from treeglot.tune.decoder import DecoderTranslator
from treeglot.tune.kbest import KBest


def compile_with_indicators(model: Path, folder: Path, features: int) -> None:
    """The model's rules with the indicator rule=N for each of the most frequent; the others share one."""
    import duckdb

    from treeglot.rules import compile_table
    from treeglot.rules.table import CompileOptions

    table = folder / "rules.parquet"
    duckdb.execute("SET memory_limit = '2GB'; SET threads = 2; SET preserve_insertion_order = true")
    duckdb.execute(
        f"""COPY (
            SELECT *, CASE WHEN row_number() OVER (ORDER BY occurrences DESC, line) <= {features}
                THEN CAST(line AS VARCHAR) ELSE 'other' END AS rule
            FROM (SELECT *, file_row_number AS line
                FROM read_parquet('{model / "rules.parquet"}', file_row_number = true))
            ORDER BY line) TO '{table}' (FORMAT parquet)"""
    )
    compile_table(table, folder / "rules.table", CompileOptions(indicators=("rule",)))
    table.unlink()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("--dev", type=Path, required=True)
    parser.add_argument("--refs", type=Path, required=True)
    parser.add_argument("--test", type=Path)
    parser.add_argument("--test-refs", type=Path)
    parser.add_argument("--features", type=int, default=200_000, help="rules with a feature of their own; 0: none")
    parser.add_argument("--method", default="mira")
    parser.add_argument("--iterations", type=int, default=10)
    parser.add_argument("--kbest", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--weights", type=Path, help="where to start; default: the model's weights")
    parser.add_argument("--compile-into", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.compile_into:
        compile_with_indicators(arguments.model, arguments.compile_into, arguments.features)
        return

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if arguments.features:
            command = [sys.executable, __file__, arguments.model, "--features", arguments.features]
            command += ["--dev", arguments.dev, "--refs", arguments.refs, "--compile-into", folder]
            subprocess.run([os.fspath(part) if isinstance(part, Path) else str(part) for part in command], check=True)
        start = read_weights(arguments.weights or arguments.model / "weights.txt")
        table = open_table((folder if arguments.features else arguments.model) / "rules.table")
        translator = Translator(table, start, load_ngram(arguments.model / "lm.bin"))
        print(f"{len(translator.features):,} features; at most {peak():.2f} GB before tuning")
        began, spent = time.perf_counter(), time.process_time()
        found = tune_weights(
            DecoderTranslator(translator, "bench", threads=arguments.threads),
            lines(arguments.dev),
            [lines(arguments.refs)],
            METHODS.make(arguments.method, {}),
            start,
            folder / "run",
            options=LoopOptions(
                iterations=arguments.iterations, kbest=arguments.kbest, patience=0, seed=arguments.seed
            ),
            threads=arguments.threads,
            report=lambda entry: print(f"  {entry}", flush=True),
        )
        wall, spent = time.perf_counter() - began, time.process_time() - spent
        weights = sum(weight != 0 for weight in found.weights.values())
        seen = {name for path in (folder / "run").glob("*.kbest") for name in fired(path)}
        print(f"{wall:.0f} s, {spent:.0f} s of CPU; at most {peak():.2f} GB; {weights:,} weights")
        print(f"{len(seen):,} features in the hypotheses; dev {found.score:.2f}")
        if arguments.test:
            output = translator.with_weights(found.weights).translate_batch(lines(arguments.test), 1, False, 2)
            rows = Bleu().statistics([one.text for one in output], [lines(arguments.test_refs)])
            print(f"test {Bleu().score(rows):.2f}")


def fired(path: Path) -> set[str]:
    found = KBest.load(path)
    return {found.names[number] for number in set(found.features.tolist())}


def lines(path: Path) -> list[str]:
    return path.read_text().split("\n")[:-1]


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


if __name__ == "__main__":
    main()
