"""A model under many corrections: opening, decoding, and its best scores beside those of a compiled table.

Three of five corrections add a rule, one forbids and one reweights. `--compiled` compiles the corrected rules and
compares best scores. Times are CPU seconds, the least of three.

    python bench/corrections.py MODEL SOURCE [--lines 10000] [--most 600] [--least 1] [--compiled]
"""

import argparse
import tempfile
import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import duckdb

from treeglot.models import Model, load
from treeglot.models.kinds import find_kind
from treeglot.rules import compile_table, open_table
from treeglot.rules.corrections import Correction, Corrections

WORD = "zzz"  # the end of added target sides


def seconds(work: Callable[[], Any]) -> float:
    times = []
    for _ in range(3):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def choose(rules: Any, lines: int, least: int) -> list[tuple[Any, ...]]:
    """Rules of two symbols or more on both sides, seen so often at least; those with a mark of ill-formedness aside."""
    symbols = "len(string_split({0}, ' '))"
    where = " AND ".join(
        [f"{symbols.format(side)} > 1" for side in ("source", "target")]
        + [f"occurrences >= {least}", f"coalesce({symbols.format('structure')}, {symbols.format('target')})"]
    )
    where += f" = {symbols.format('target')}"
    wanted = "n, lhs, source, target, alignment, coalesce(labels, ''), coalesce(structure, '')"
    query = f"SELECT {wanted} FROM rules WHERE {where} ORDER BY hash(lhs || source || target), n LIMIT {lines}"
    found: list[tuple[Any, ...]] = rules.execute(query).fetchall()
    return sorted(found)  # as the table has them: equal scores are then told apart alike


def corrections(rows: list[tuple[Any, ...]], feature: str) -> list[Correction]:
    out = []
    for number, (_, lhs, source, target, alignment, labels, structure) in enumerate(rows):
        if number % 5 < 3:
            tags, heads = (f"{labels} NN".strip(), f"{structure} 0") if structure else (labels, "")
            made = Correction("add", lhs, source, f"{target} {WORD}", alignment, labels=tags, structure=heads)
        elif number % 5 == 3:
            made = Correction("forbid", lhs, source, target, structure=structure)
        else:
            made = Correction("reweight", lhs, source, target, features=((feature, 0.01),), structure=structure)
        out.append(replace(made, author="bench", date="2026-11-16"))
    return out


def compiled(rules: Any, rows: list[tuple[Any, ...]], feature: str, model: Model, folder: Path) -> Model:
    """The model with a table that is compiled of the corrected rules, the new ones last."""
    places = [[row[0] for row in rows[first::5]] for first in range(5)]
    lists = [", ".join(map(str, [*some, -1])) for some in ([*places[0], *places[1], *places[2]], *places[3:])]
    names = [name for name, *_ in rules.execute("DESCRIBE rules").fetchall()]
    ones = [f"1 AS {name}" for name in names if name.startswith(("p_", "lex_")) or name in ("count", "occurrences")]
    both = "labels IS NOT NULL AND structure <> ''"
    changes = [*ones, "'1' AS count_bin", f"target || ' {WORD}' AS target", "n + 1000000000 AS n"]
    changes.append(f"CASE WHEN {both} THEN ltrim(labels || ' NN') ELSE labels END AS labels")
    changes.append("CASE WHEN structure <> '' THEN structure || ' 0' ELSE structure END AS structure")
    weighed = f"CASE WHEN n IN ({lists[2]}) THEN 0.01 ELSE {feature} END AS {feature}"
    query = f"""SELECT * FROM (SELECT * REPLACE ({weighed}) FROM rules WHERE n NOT IN ({lists[1]})
        UNION ALL SELECT * REPLACE ({", ".join(changes)}) FROM rules WHERE n IN ({lists[0]})) ORDER BY n"""
    rules.execute(f"COPY ({query}) TO '{folder / 'rules.parquet'}' (FORMAT parquet)")
    compile_table(folder / "rules.parquet", folder / "rules.table", find_kind(model.kind).options().compile)
    translator = model.translator.with_table(open_table(folder / "rules.table"))
    return Model(model.directory, model.file, translator, model.reader, model.bound_glossary)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path)
    parser.add_argument("source", type=Path)
    parser.add_argument("--lines", type=int, default=10_000)
    parser.add_argument("--most", type=int, default=600, help="sentences")
    parser.add_argument("--least", type=int, default=1, help="occurrences of corrected rules")
    parser.add_argument("--compiled", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    model = load(options.model)
    sources = list(islice(model.read(options.source), options.most))
    feature = next(name for name in model.translator.table.features if name.startswith("p_"))
    rules = duckdb.connect(config={"threads": 1, "memory_limit": "3GB"})
    table = options.model / "rules.parquet"
    rules.execute(
        f"CREATE VIEW rules AS SELECT *, file_row_number AS n FROM read_parquet('{table}', file_row_number=true)"
    )
    rows = choose(rules, options.lines, options.least)
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "corrections.txt"
        Corrections(tuple(corrections(rows, feature))).write(path)
        over = model.with_corrections(path)
        systems = {"plain": model, "corrected": over}
        if options.compiled:
            systems["compiled"] = compiled(rules, rows, feature, model, Path(place))
        print(f"{model.kind}: {len(rows):,} corrections, {path.stat().st_size:,} bytes")
        print(f"opening the model {seconds(lambda: load(options.model)):.3f} s")
        print(f"reading and applying corrections {seconds(lambda: model.with_corrections(path)):.3f} s")
        found = {name: system.translate_batch(sources) for name, system in systems.items()}
        for name, system in systems.items():
            spent = seconds(lambda system=system: system.translate_batch(sources))  # type: ignore[misc]
            print(f"{name}: {1000 * spent / len(sources):.2f} ms a sentence")
        changed = sum(a.text != b.text for a, b in zip(found["plain"], found["corrected"], strict=True))
        print(f"{changed} of {len(sources)} translations changed")
        if options.compiled:
            pairs = [p for p in zip(found["corrected"], found["compiled"], strict=True) if p[0].hypotheses]
            apart = max(abs(a.best.score - b.best.score) for a, b in pairs)
            texts = sum(a.text != b.text for a, b in pairs)
            print(f"beside the compiled table: best scores differ by at most {apart:.2g}, {texts} texts differ")


if __name__ == "__main__":
    main()
