"""Decoding speed, memory and model score with any grammar, language model, weights and input.

python bench/decode.py test.de --model models/hiero --pops 50,100,200 --threads 1,2
python bench/decode.py test.de --rules rules.table --lm lm.bin --weights weights.txt
python bench/decode.py test.de --rules rules.parquet --filter --lm lm.bin --weights weights.txt
python bench/decode.py test.de --rules grammar.gz --format cdec --lm lm.arpa --weights weights

--filter leaves only the rules whose source words are all in the input, as other decoders are given them. --rounds 5
translates the input five times and says what memory is resident after each: it must not grow. --errors says for each
pop limit how often the best score that any of them found is reached, and by how much it is missed.

--rests compares the language model with a copy that has no rest costs. Both take turns, and times are medians of
--rounds. It needs --rules, --lm and --weights, and a compiled table.

python bench/decode.py --limit models/hiero=test.zh models/c2s=test.zh.forest --pops 50,200 --sentences 300

--limit compares the time of a search with the time of its n-gram queries. It records them and asks them again in a bare
loop. It needs a build that counts: cmake --preset count && cmake --build --preset count. Each model has one language
model: queries do not say which model they are for.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from itertools import islice
from pathlib import Path
from statistics import median
from typing import Any

from record import add_option, column, record

from treeglot import _core
from treeglot.decode import SearchOptions, Translator
from treeglot.decode.translator import Source
from treeglot.decode.weights import read_weights
from treeglot.foreign import ForeignTranslator, read_foreign_weights, read_grammar
from treeglot.lm import load_ngram
from treeglot.lm.ngram import RestWarning
from treeglot.models import Model, load
from treeglot.rules import compile_table, open_table

BATCH = 500
RECORDED = 20  # sentences whose queries are kept at once: some 60 MB
_FILES = ("rules", "format", "filter", "lm", "weights")
# Options without effect, by the option that makes them so, and those that it needs.
UNUSED = {
    "limit": ("rests", "model", *_FILES, "span_limit", "per_source", "threads", "errors", "out", "compile_into"),
    "rests": ("model", "format", "filter", "threads", "errors", "out", "compile_into"),
    "model": _FILES,
}
NEEDED = {"rests": ("rules", "lm", "weights"), "compile_into": ("rules",), "rules": ("weights",)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("input", type=Path, nargs="+", help="a file; with --limit, MODEL=FILE for each model")
    parser.add_argument("--model", type=Path, help="a model's folder")
    parser.add_argument("--rules", type=Path, help="a compiled table, a rule table (.parquet) or a grammar as text")
    parser.add_argument("--format", choices=("cdec", "joshua", "moses"), help="of a grammar as text, and its weights")
    parser.add_argument("--filter", action="store_true", help="only rules whose source words are in the input")
    parser.add_argument("--lm", type=Path)
    parser.add_argument("--weights", type=Path)
    parser.add_argument("--pops", default="20,50,100,200")
    parser.add_argument("--span-limit", type=int, default=20)
    parser.add_argument("--per-source", type=int, default=20)
    parser.add_argument("--threads", default="1")
    parser.add_argument("--sentences", type=int)
    parser.add_argument("--rounds", type=int, default=1, help="times the input is translated, at the last settings")
    parser.add_argument("--errors", action="store_true", help="compare the pop limits' scores, sentence by sentence")
    parser.add_argument("--rests", action="store_true", help="compare with a language model without rest costs")
    parser.add_argument("--limit", action="store_true", help="compare with the time of the n-gram queries alone")
    parser.add_argument("--out", type=Path, help="the last run's translations")
    add_option(parser)
    parser.add_argument("--compile-into", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    check_options(parser)
    if arguments.limit:
        if wrong := [str(given) for given in arguments.input if not all(str(given).rpartition("="))]:
            parser.error(f"{wrong[0]!r} is no input of --limit; expected MODEL=FILE")
        compare_with_limit(arguments)
        return
    if arguments.model is None and arguments.rules is None:
        parser.error("there are no rules; expected --model or --rules")
    if len(arguments.input) > 1:
        parser.error("several inputs; expected one, or --limit")
    arguments.input = arguments.input[0]
    if arguments.compile_into:
        compile_rules(arguments.rules, arguments.input if arguments.filter else None, arguments.compile_into)
        return

    lines = arguments.input.read_text().split("\n")[:-1][: arguments.sentences]
    with tempfile.TemporaryDirectory() as folder:
        if arguments.rests:
            compare_rests(arguments, lines, Path(folder))
            return
        make = translators(arguments, Path(folder))
        print(
            f"{'pops':>6} {'threads':>7} {'ms/sentence CPU':>15} {'sentences/s':>11} {'model score':>12} {'peak GB':>8}"
        )
        scores: dict[int, list[float]] = {}
        texts: dict[int, list[str]] = {}
        rows: list[list[float]] = []
        for pops in map(int, arguments.pops.split(",")):
            options = SearchOptions(pop_limit=pops, span_limit=arguments.span_limit, per_source=arguments.per_source)
            run = make(options)
            for threads in map(int, arguments.threads.split(",")):
                began = time.perf_counter()
                found = run.translate_batch(lines, threads=threads)
                wall = time.perf_counter() - began
                cpu = 1000 * sum(t.seconds for t in found) / len(lines)
                score = sum(t.score for t in found) / len(lines)
                row = f"{pops:6} {threads:7} {cpu:15.2f} {len(lines) / wall:11.1f} {score:12.4f} {peak():8.2f}"
                print(row, flush=True)
                rows.append([pops, threads, cpu, len(lines) / wall, score, peak()])
                scores[pops], texts[pops] = [t.score for t in found], [t.text for t in found]
        columns = [column("pops"), column("threads"), column("CPU ms a sentence", 2), column("sentences a second", 1)]
        columns += [column("mean model score", 3), column("peak, GB", 2)]
        if arguments.errors:
            columns, rows = compare(scores, texts)
        record(arguments.json, columns, rows)
        if arguments.out:
            arguments.out.write_text("".join(t.text + "\n" for t in found))
        del found
        for turn in range(1, arguments.rounds + 1 if arguments.rounds > 1 else 0):
            for begin in range(0, len(lines), BATCH):
                run.translate_batch(lines[begin : begin + BATCH], threads=threads)
            print(f"round {turn}: {resident():.3f} GB resident, {own():.3f} GB without mapped files", flush=True)


def check_options(parser: argparse.ArgumentParser) -> None:
    """Refuse options that have no effect beside others, and those that lack others."""
    names = [action.dest for action in parser._actions]
    given = vars(parser.parse_args(namespace=argparse.Namespace(**dict.fromkeys(names))))  # None: not given

    def called(name: str) -> str:
        return "--" + name.replace("_", "-")

    for name, unused in UNUSED.items():
        if given[name] is not None and (extra := [called(other) for other in unused if given[other] is not None]):
            parser.error(f"{', '.join(extra)} beside {called(name)}; expected it alone, since they have no effect")
    for name, needed in NEEDED.items():
        if name == "rules" and given["compile_into"] is not None:
            continue  # it needs no weights
        if given[name] is not None and (missing := [called(other) for other in needed if given[other] is None]):
            parser.error(f"{called(name)} without {', '.join(missing)}; expected all of them")


def compare(
    scores: dict[int, list[float]], texts: dict[int, list[str]]
) -> tuple[list[dict[str, Any]], list[list[float]]]:
    """Prints what each pop limit misses of the best scores, and whose outputs are those of the last one."""
    best = [max(found) for found in zip(*scores.values(), strict=True)]
    last = list(texts.values())[-1]
    print(f"{'pops':>6} {'reach the best':>14} {'last output':>11} {'below, mean':>11} {'90 % within':>11}")
    rows = []
    for pops, found in scores.items():
        gaps = sorted(top - score for top, score in zip(best, found, strict=True))
        reach = sum(gap <= 1e-4 for gap in gaps) / len(gaps)
        same = sum(a == b for a, b in zip(texts[pops], last, strict=True)) / len(last)
        mean = sum(gaps) / len(gaps)
        within = gaps[int(0.9 * len(gaps))]
        print(f"{pops:6} {reach:14.1%} {same:11.1%} {mean:11.3f} {within:11.3f}")
        rows.append([pops, sum(found) / len(found), 100 * reach, 100 * same, mean, within])
    percents = [column("reach the best score, %", 1), column("output of the last limit, %", 1)]
    gaps_columns = [column("below the best, mean", 2), column("90 % within", 2)]
    return [column("pops"), column("mean score", 3), *percents, *gaps_columns], rows


def compare_rests(arguments: argparse.Namespace, lines: list[str], folder: Path) -> None:
    """For each pop limit: time and mean model score without and with the rest costs of the language model."""
    sections = _core.read_sections(str(arguments.lm), "ngram-lm", 1)
    if sections.pop("rests", None) is None:
        sys.exit(f"{arguments.lm} has no rest costs; expected a model that this version compiled")
    _core.write_sections(str(folder / "lm.bin"), "ngram-lm", 1, sections)
    table, weights = open_table(arguments.rules), read_weights(arguments.weights)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RestWarning)  # that is the comparison
        models = [load_ngram(folder / "lm.bin"), load_ngram(arguments.lm)]
    names = [f"{how}: {what}" for how in ("without", "with") for what in ("CPU ms a sentence", "mean model score")]
    rows = []
    for pops in map(int, arguments.pops.split(",")):
        options = SearchOptions(pop_limit=pops, span_limit=arguments.span_limit, per_source=arguments.per_source)
        runs = [Translator(table, weights, lm, options) for lm in models]
        times: list[list[float]] = [[] for _ in runs]
        scores = [0.0 for _ in runs]
        for _ in range(arguments.rounds):
            for i, run in enumerate(runs):
                found = run.translate_batch(lines)
                times[i].append(1000 * sum(t.seconds for t in found) / len(lines))
                scores[i] = sum(t.score for t in found) / len(lines)
        rows.append([pops, median(times[0]), scores[0], median(times[1]), scores[1]])
        print(f"{pops:6} {rows[-1][1]:8.2f} {scores[0]:10.4f} {rows[-1][3]:8.2f} {scores[1]:10.4f}", flush=True)
    digits = (2, 3, 2, 3)
    record(arguments.json, [column("pops"), *(column(*one) for one in zip(names, digits, strict=True))], rows)


def compare_with_limit(arguments: argparse.Namespace) -> None:
    """For each model: the time of its search, of its n-gram queries alone, and what it counts a sentence."""
    if not hasattr(_core, "record_queries"):
        sys.exit("this build of the core does not count; expected cmake --preset count && cmake --build --preset count")
    columns = [column("model"), column("pops"), column("mean score", 3), column("CPU ms", 2), column("limit, ms", 2)]
    columns += [column("time ÷ limit", 2), column("n-gram queries"), column("ns a query")]
    columns += [column("candidates"), column("states"), column("misses of the rule cache")]
    print(*(f"{one['name']:>12}" for one in columns))
    rows = []
    for given in arguments.input:
        folder, _, file = str(given).rpartition("=")
        model = load(folder, wait=True)
        check_language_model(folder, model.translator)
        sources = list(islice(model.read(Path(file)), arguments.sentences))
        for pops in map(int, arguments.pops.split(",")):
            options = replace(model.translator.options, pop_limit=pops)
            times, found = [], []
            for _ in range(max(arguments.rounds, 3)):
                found = model.translator.with_search(options).translate_batch(sources)
                times.append(1000 * sum(t.seconds for t in found) / len(sources))
            queries, limit, counts = replayed(model, options, sources)
            if queries == 0:
                sys.exit(f"{folder}: the search of {file} asked the language model nothing; expected n-gram queries")
            score = sum(t.score for t in found) / len(found)
            each = [counts[name] / len(sources) for name in ("candidates", "states", "misses")]
            took = median(times)
            row = [Path(folder).name, pops, score, took, limit, took / limit, queries, 1e6 * limit / queries, *each]
            print(*(f"{cell:12.2f}" if isinstance(cell, float) else f"{cell!s:>12}" for cell in row), flush=True)
            rows.append(row)
    record(arguments.json, columns, rows)


def check_language_model(name: str, translator: Translator) -> None:
    """Refuse what has no language model, or several: all queries are asked again of one."""
    if translator.lm is None:
        sys.exit(f"{name} has no language model; expected one")
    if translator.lms:
        more = ", ".join(translator.lms)
        sys.exit(f"{name} has further language models: {more}; expected one, since their queries are not told apart")


def replayed(model: Model, options: SearchOptions, sources: list[Source]) -> tuple[float, float, dict[str, int]]:
    """Of a search: n-gram queries and milliseconds of asking them again, a sentence; and what it counted."""
    core = model.translator.lm.core
    before, queries, seconds = _core.search_counts(), 0, 0.0
    _core.record_queries(True)
    recorded = model.translator.with_search(options)
    for begin in range(0, len(sources), RECORDED):
        recorded.translate_batch(sources[begin : begin + RECORDED])
        rounds = [_core.replay_queries(core) for _ in range(3)]
        queries += rounds[0][0]
        seconds += median(took for _, took, _ in rounds)
        _core.forget_queries(core)
    _core.record_queries(False)
    counts = {name: number - before[name] for name, number in _core.search_counts().items()}
    return queries / len(sources), 1000 * seconds / len(sources), counts


def translators(arguments: argparse.Namespace, folder: Path) -> Callable[[SearchOptions], Translator]:
    """Loads what was asked for; gives a translator for each way to search."""
    if arguments.model:
        start = time.perf_counter()
        model = load(arguments.model)
        print(f"model open in {time.perf_counter() - start:.3f} s, {resident():.2f} GB resident")
        return lambda options: model.translator.with_search(options)
    if arguments.format:
        start = time.perf_counter()
        table = read_grammar(arguments.rules, arguments.format)
        print(f"{len(table):,} rules read in {time.perf_counter() - start:.1f} s, {resident():.2f} GB resident")
        foreign = read_foreign_weights(arguments.weights, arguments.format)
        lm = load_ngram(arguments.lm) if arguments.lm else None
        return lambda options: ForeignTranslator(table, foreign, lm, options)
    path = arguments.rules
    if path.suffix == ".parquet":
        command = [sys.executable, __file__, arguments.input, "--rules", path, "--compile-into", folder / "rules.table"]
        subprocess.run([os.fspath(part) for part in command] + ["--filter"] * arguments.filter, check=True)
        path = folder / "rules.table"
    for verify in (True, False):
        start = time.perf_counter()
        table = open_table(path, verify)
        what = "checked" if verify else "trusted"
        took = time.perf_counter() - start
        print(f"{len(table):,} rules, {path.stat().st_size / 1e6:.0f} MB, {what}: open in {took:.3f} s")
    start = time.perf_counter()
    lm = load_ngram(arguments.lm) if arguments.lm else None
    print(f"language model open in {time.perf_counter() - start:.3f} s; {resident():.2f} GB resident")
    weights = read_weights(arguments.weights)
    return lambda options: Translator(table, weights, lm, replace(options))


def compile_rules(rules: Path, source: Path | None, out: Path) -> None:
    """Compiles a rule table; with `source`, only the rules whose words are in it."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    if source is None:
        compile_table(rules, out)
        return
    words = {word for line in source.read_text().split("\n") for word in line.split()}
    known = words | {"\\" + word for word in words}  # as rules have words that would be read as something else
    filtered = out.with_suffix(".parquet")
    with pq.ParquetFile(rules) as file, pq.ParquetWriter(filtered, file.schema_arrow) as writer:
        for batch in file.iter_batches(1 << 16):
            sides = batch["source"].dictionary_encode()
            fits = [
                all(symbol in known or (symbol[0] == "[" and symbol[-1] == "]") for symbol in side.split(" "))
                for side in sides.dictionary.to_pylist()
            ]
            writer.write_batch(batch.filter(pa.array(fits).take(sides.indices)))
    compile_table(filtered, out)


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


def status(name: str) -> float:
    """A figure of the process in GB (Linux)."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(name + ":"):
            return int(line.split()[1]) / 1e6
    return float("nan")


def resident() -> float:
    return status("VmRSS")


def own() -> float:
    return status("RssAnon")


if __name__ == "__main__":
    main()
