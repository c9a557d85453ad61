"""Asking n-gram models: queries per second, memory and load times, beside the `kenlm` package.

python bench/lm_query.py MODEL.arpa TEXT [--rounds 9]

A query is the score of one word, or of </s>, after its sentence so far; TEXT is asked as a whole. All are asked in
turn, round by round, in one process on one core, and the least CPU time of the rounds counts.

- *text to scores* takes strings: `model.score_texts(*model.encode(lines))`, and `[model.score(line) for line in lines]`
  of the kenlm package, which is its fastest way to ask much: one call a sentence, with the loop over the words, the
  splitting into words and their look-up inside of its C++.
- *numbers to scores* begins with the numbers of the words; kenlm has no such call from Python.
- *bare* reads as many random cache lines of the compiled file as the queries look n-grams up, by NumPy, and does
  nothing with them: what the memory allows without knowing addresses in advance.
"""

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from record import add_option, column, record

from treeglot.lm import NgramModel, compile_ngram, load_ngram


def timed(work: Callable[[], object]) -> float:
    begin = time.process_time()
    work()
    return time.process_time() - begin


def load_kenlm(arpa: Path) -> tuple[object, float]:
    import kenlm

    quiet = kenlm.Config()
    quiet.show_progress = False
    quiet.arpa_complain = kenlm.ARPALoadComplain.NONE
    begin = time.process_time()
    return kenlm.Model(str(arpa), quiet), time.process_time() - begin


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("arpa", type=Path)
    parser.add_argument("text", type=Path)
    parser.add_argument("--rounds", type=int, default=9)
    add_option(parser)
    options = parser.parse_args()
    lines = options.text.read_text().splitlines()
    with tempfile.TemporaryDirectory() as folder:
        models: dict[str, NgramModel] = {}
        for layout in ("fast", "small"):
            path = Path(folder) / layout
            seconds = timed(lambda path=path, layout=layout: compile_ngram(options.arpa, path, layout=layout))
            opened = min(timed(lambda path=path: load_ngram(path)) for _ in range(5))
            trusted = min(timed(lambda path=path: load_ngram(path, verify=False)) for _ in range(5))
            size = path.stat().st_size
            print(
                f"{layout}: {size / 1e6:.1f} MB, compiled in {seconds:.2f} s, opened in {1e3 * opened:.1f} ms, ", end=""
            )
            print(f"without verifying in {1e3 * trusted:.1f} ms")
            models[layout] = load_ngram(path)
        ratio = models["small"].core.bytes / models["fast"].core.bytes
        print(f"small / fast: {ratio:.3f}")
        kenlm_model, seconds = load_kenlm(options.arpa)
        print(f"kenlm: loads the ARPA file in {seconds:.2f} s")

        ids, offsets = models["fast"].encode(lines)
        queries = len(ids) + len(lines)
        _, lengths = models["fast"].score_words(ids, offsets)
        order = models["fast"].order
        lines_read = int(np.minimum(lengths.astype(np.int64) + 1, order).sum())  # found ones, and one that was not
        table = np.memmap(Path(folder) / "fast", np.uint64, "r")[::8]
        places = np.random.default_rng(1).integers(0, len(table), lines_read)
        print(f"{queries:,} queries, {lines_read / queries:.2f} lines each")

        work: dict[str, Callable[[], object]] = {"bare, random lines": lambda: table.take(places).sum()}
        for layout, model in models.items():
            work[f"{layout}, numbers to scores"] = lambda model=model: model.score_texts(ids, offsets)
            work[f"{layout}, text to scores"] = lambda model=model: model.score_texts(*model.encode(lines))
        work["kenlm, text to scores"] = lambda: [kenlm_model.score(line) for line in lines]
        times: dict[str, list[float]] = {name: [] for name in work}
        for _ in range(options.rounds):
            for name, one in work.items():
                times[name].append(timed(one))
        rows = []
        for name, seconds_of in times.items():
            best, median = queries / min(seconds_of) / 1e6, queries / statistics.median(seconds_of) / 1e6
            print(f"{name:28} {best:6.2f} M queries/s (median {median:.2f})")
            rows.append([*name.split(", "), best, median])
        columns = [column("model"), column("query"), column("best, million a second", 1), column("median", 1)]
        record(options.json, columns, rows)

        exact, rounded = models["fast"].perplexity(lines), models["small"].perplexity(lines)
        print(f"perplexity: fast {exact.including_oovs:.4f}, small {rounded.including_oovs:.4f}")
        rows = np.random.default_rng(2).integers(0, len(models["fast"]), (4_000_000, 2), dtype=np.uint32)
        wrong = np.abs(models["fast"].core.score_ngrams(rows) - models["small"].core.score_ngrams(rows)) > 0.05
        print(f"false positives: {wrong.sum()} of {len(rows):,} random bigrams; ", end="")
        print(f"{models['small'].false_positives * len(rows):.1f} expected")


if __name__ == "__main__":
    main()
