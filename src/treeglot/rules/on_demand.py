"""Finds the rules for a sentence when it arrives, in an index of the sentence pairs.

The folder contains the pairs as `index-*.bin`. Pairs that were added later have separate files. `on_demand.json` names
these files, and defines how rules are sampled and scored.
"""

from __future__ import annotations

import dataclasses
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from treeglot._core import Bitext, BitextBuilder, HieroExtractor, LexicalTable, PairIndex, RulesOnDemand
from treeglot.base.errors import FormatError, UsageError
from treeglot.base.files import PathLike, read_json, scratch_folder, write_json
from treeglot.base.options import Options, option, options_in
from treeglot.corpus.pairs import Pair
from treeglot.rules.collect import collect
from treeglot.rules.corrections import changing
from treeglot.rules.count_files import write_tallies
from treeglot.rules.engines import DuckDB
from treeglot.rules.hiero import HieroOptions
from treeglot.rules.sql import ScoreOptions, discounting
from treeglot.rules.table import CompileOptions

FACTS = "on_demand.json"
INDEX = re.compile(r"index-([0-9]{1,9})\.bin")
MEMORY = 1 << 30
COLUMNS = tuple(RulesOnDemand.columns)
"""The columns of a rule table that rules on demand have."""


@dataclass(frozen=True)
class DemandOptions(Options):
    """Options that limit how many sentence pairs are examined to find and score the rules for a sentence."""

    samples: int = option(300, "places of a source side's words that are looked at; 0: all", least=0)
    scanned: int = option(
        2000, "places of the rarest words of a source side, around which its other words are sought; 0: all", least=0
    )
    target_samples: int = option(20, "places of a target side's rarest words that are looked at; 0: all", least=0)
    discount_pairs: int = option(
        20_000, "first sentence pairs whose rules give the discounts of smoothing; 0: all", least=0
    )


EXACT = DemandOptions(0, 0, 0, 0)
"""Without sampling: rules and scores are those of a rule table of the same pairs."""


def check_options(extract: HieroOptions, score: ScoreOptions, compiling: CompileOptions) -> None:
    """Refuse options that rules on demand do not support."""
    groups = {"extract": extract, "score": score, "compile": compiling}
    needing_all_rules = [f.name for f in dataclasses.fields(CompileOptions) if f.name != "features"]
    wanted: list[tuple[str, str, bool, str]] = [
        ("extract", "adjacent", not extract.adjacent, "false"),
        ("extract", "max_nonterminals", 0 <= extract.max_nonterminals <= 3, "0 to 3"),
        ("extract", "max_phrase", 1 <= extract.max_phrase <= 255, "1 to 255"),
        ("score", "significance", score.significance == 0, "0"),
        ("compile", "features", set(compiling.features) <= set(COLUMNS), f"columns among {', '.join(COLUMNS)}"),
    ]
    for name in needing_all_rules:
        default = getattr(CompileOptions(), name)
        wanted.append(("compile", name, getattr(compiling, name) == default, repr(default)))
    for group, name, is_right, expected in wanted:
        if not is_right:
            given = getattr(groups[group], name)
            raise UsageError(f"{group}.{name} is {given!r}; expected {expected} for rules on demand", (group, name))


@dataclass(frozen=True)
class Discounts:
    """The discounts of smoothing, and the number of different rules that they come from."""

    values: tuple[float, ...] = ()
    rules: float = 0.0


def find_discounts(
    bitext: Bitext, extract: HieroOptions, smoothing: str, folder: Path, threads: int, memory: int
) -> Discounts:
    """Compute the discounts over all rules of these pairs, with the statements that also score a rule table.

    >>> import tempfile
    >>> find_discounts(BitextBuilder().finish(), HieroOptions(), "none", Path(tempfile.mkdtemp()), 1, 1 << 20)
    Discounts(values=(), rules=0.0)
    """
    if smoothing == "none":
        return Discounts()
    with scratch_folder(folder, "discounts") as scratch:
        core = HieroExtractor(bitext, extract)
        parts, _ = write_tallies(core, 0, LexicalTable(bitext), scratch, 0, True, memory // 2, threads)
        files = sorted(scratch.glob("counts-*.parquet"))
        engine = DuckDB(threads, memory, scratch)
        [row] = [
            row for batch in engine.run({"counts": files}, discounting(smoothing, parts)) for row in batch.to_pylist()
        ]
    rules = float(row.pop("rules", 0.0))
    return Discounts(tuple(float(value) for value in row.values()), rules)


def build_index(
    pairs: Iterable[Pair],
    folder: PathLike,
    extract: HieroOptions | None = None,
    score: ScoreOptions | None = None,
    compiling: CompileOptions | None = None,
    demand: DemandOptions | None = None,
    *,
    threads: int = 1,
    memory: int = MEMORY,
) -> RulesOnDemand:
    """Index sentence pairs in `folder`, and return the rules on demand. The pairs are read once.

    >>> import tempfile
    >>> from treeglot.syntax import Alignment
    >>> pair = Pair(1, "das Haus".split(), "the house".split(), Alignment.parse("0-0 1-1"))
    >>> rules = build_index([pair], tempfile.mkdtemp(), score=ScoreOptions(smoothing="none"))
    >>> len(rules.rules_for(["das", "Haus"], 10))
    5
    """
    extract, score = extract or HieroOptions(), score or ScoreOptions()
    compiling, demand = compiling or CompileOptions(), demand or DemandOptions()
    check_options(extract, score, compiling)
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    first = BitextBuilder()
    wanted = demand.discount_pairs if score.smoothing != "none" else -1
    bitext = collect(_copied(pairs, first, wanted)).bitext
    some = bitext if wanted <= 0 or len(bitext) <= wanted else first.finish()
    found = find_discounts(some, extract, score.smoothing, place, threads, memory)
    if len(some) < len(bitext):
        found = dataclasses.replace(found, rules=found.rules * len(bitext) / len(some))
    name = "index-1.bin"
    _indexed(bitext, extract).write(str(place / name))
    facts = {
        "indexes": [name],
        "extract": dataclasses.asdict(extract),
        "score": dataclasses.asdict(score),
        "features": list(compiling.features),
        "demand": dataclasses.asdict(demand),
        "discounts": dataclasses.asdict(found),
    }
    write_json(place / FACTS, facts)
    return open_rules(place / FACTS)


def _copied(pairs: Iterable[Pair], builder: BitextBuilder, most: int) -> Iterator[Pair]:
    """Yield the pairs unchanged, and also give the first `most` of them to a builder."""
    for pair in pairs:
        if pair.share is not None:
            raise UsageError(f"pair {pair.number} has several alignments; expected one for rules on demand")
        if len(builder) < most:
            builder.append(pair.source, pair.target, pair.links, list(pair.weights))
        yield pair


def open_rules(path: PathLike, demand: DemandOptions | None = None) -> RulesOnDemand:
    """Open the rules on demand that `on_demand.json` describes. `demand` overrides the sampling options."""
    return _rules_of(Path(path), *_open_indexes(Path(path)), demand)


def _rules_of(
    path: Path, facts: Mapping[str, Any], indexes: list[PairIndex], demand: DemandOptions | None = None
) -> RulesOnDemand:
    """Create the rules on demand for these indexes. The facts define how rules are scored."""
    score = options_in(path, ScoreOptions, facts["score"], table_name="score")
    discounts = options_in(path, Discounts, facts["discounts"], table_name="discounts")
    scoring = {
        "smoothing": score.smoothing,
        "min_occurrences": score.min_occurrences,
        "min_gappy_occurrences": score.min_gappy_occurrences,
        "targets_per_source": score.targets_per_source,
        "discounts": list(discounts.values),
        "rules": discounts.rules,
    }
    sampling = demand or options_in(path, DemandOptions, facts["demand"], table_name="demand")
    try:
        return RulesOnDemand(indexes, facts["features"], sampling, scoring)
    except ValueError as error:
        raise FormatError(os.fspath(path), 0, str(error)) from error


def _open_indexes(path: Path) -> tuple[Mapping[str, Any], list[PairIndex]]:
    """Open `on_demand.json` and its indexes. If another process merges indexes meanwhile, read the file again."""
    while True:
        facts = read_facts(path)
        try:
            return facts, [PairIndex.open(os.fspath(path.parent / name)) for name in facts["indexes"]]
        except FileNotFoundError:
            if read_facts(path) == facts:
                raise


def _indexed(bitext: Bitext, extract: HieroOptions) -> PairIndex:
    try:
        return PairIndex.build(bitext, extract)
    except ValueError as error:  # a line or a corpus that is too long for an index
        raise UsageError(str(error)) from error


def read_facts(path: Path) -> Mapping[str, Any]:
    """Read `on_demand.json`, which can name only files in its own folder."""
    fields = {"indexes": list, "extract": dict, "score": dict, "features": list, "demand": dict, "discounts": dict}
    facts: Mapping[str, Any] = read_json(path, **fields)
    names = facts["indexes"]
    if not names:
        raise FormatError(os.fspath(path), 0, "has no list of indexes; expected one or more")
    for name in names:
        if not isinstance(name, str) or not INDEX.fullmatch(name):
            problem = f"has the index {name!r}; expected a file in its folder, such as index-1.bin"
            raise FormatError(os.fspath(path), 0, problem)
    for name, number in Counter(names).items():
        if number > 1:
            problem = f"has the index {name!r} {number} times, which would multiply its counts; expected each once"
            raise FormatError(os.fspath(path), 0, problem)
    for name in facts["features"]:
        if name not in COLUMNS:
            raise FormatError(os.fspath(path), 0, f"has the feature {name!r}; expected some of {', '.join(COLUMNS)}")
    return facts


def add_pairs(pairs: Iterable[Pair], path: PathLike) -> RulesOnDemand:
    """Add sentence pairs to the indexes that `on_demand.json` names, and return the rules on demand.

    A new index contains the pairs. It absorbs the last indexes that are no larger than itself, so that there are never
    many. The smoothing discounts do not change. Pairs that do not fit the other indexes are refused, and nothing
    changes.
    """
    new, folder = list(pairs), Path(path).parent
    if not new:
        return open_rules(path)
    with changing(path):
        facts = read_facts(Path(path))
        extract = options_in(Path(path), HieroOptions, facts["extract"], table_name="extract")
        names = list(facts["indexes"])
        opened = [PairIndex.open(os.fspath(folder / name)) for name in names]
        merged: list[PairIndex] = []
        size = len(new)
        while len(opened) > 1 and len(opened[-1]) <= size:
            merged.insert(0, opened.pop())
            size += len(merged[0])
        builder = BitextBuilder()
        for index in merged:
            index.append_to(builder)
        for pair in new:
            builder.append(pair.source, pair.target, pair.links, list(pair.weights))
        before = sum(map(len, opened))
        made = _indexed(builder.finish(), extract.after(before))
        number = max(int(found[1]) for name in names if (found := INDEX.fullmatch(name))) + 1
        added = f"index-{number}.bin"
        made.write(os.fspath(folder / added))
        try:
            rules = _rules_of(Path(path), facts, [*opened, PairIndex.open(os.fspath(folder / added))])
        except BaseException:
            (folder / added).unlink(missing_ok=True)
            raise
        write_json(Path(path), {**facts, "indexes": [*names[: len(opened)], added]})
        for name in names[len(opened) :]:
            (folder / name).unlink(missing_ok=True)
    return rules
