"""Extracts rules in parts: each machine processes shards of a corpus. The counts equal those of the whole corpus.

The driver reads the pairs once. It writes them as shards, and counts words and links. It also keeps the prologue: the
first pairs that contain each label of a tree. Every part reads the prologue first, so all parts use the same numbers
for words and labels.
"""

from __future__ import annotations

import dataclasses
import pickle
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy.typing as npt

from treeglot._core import Bitext, Extractor, LexicalTable, Vocabulary, VocabularyBuilder
from treeglot.base.errors import TreeglotError, UsageError
from treeglot.base.files import PathLike, read_json, write_binary, write_json
from treeglot.base.options import file_options
from treeglot.base.program import program
from treeglot.base.shards import Shard, pack
from treeglot.corpus.pairs import Pair
from treeglot.rules.collect import Kept, Part
from treeglot.rules.count_files import FILES, write_tallies
from treeglot.rules.engines import Engine
from treeglot.rules.extract import MEMORY, Extracting, Extraction, find_extractor, finish
from treeglot.rules.prologue import Prologue

PAIRS = 20_000  # of a shard
TALLIES = 64  # that a shard can be written in, at most


@dataclass(frozen=True)
class Shared:
    """The data that all parts of an extraction need."""

    folder: Path
    extractor: str
    options: Any
    source_words: list[str]
    target_words: list[str]
    lexical: tuple[npt.NDArray[Any], ...]
    prologue: list[Pair]
    alone: bool  # there is one part
    memory: int
    threads: int
    files: tuple[str, ...] = ()  # digests of files that options name
    keys: tuple[bytes, ...] = ()
    digest: str = ""  # of the program and of all of it that changes counts
    kept: Kept = field(default_factory=Kept)

    def with_keys(self, keys: Iterable[bytes]) -> Shared:
        """Return a copy of the data that contains the keys of labels, in the order of the pairs."""
        given = dataclasses.replace(self, keys=tuple(keys))
        fixed = dataclasses.replace(given, folder=Path(), threads=1, memory=0)
        content = pickle.dumps((program(), fixed))
        return dataclasses.replace(given, digest=blake2b(content, digest_size=16).hexdigest())


@dataclass(frozen=True)
class Counted:
    """A finished part of the counts, with the numbers of its files and rows and the counts of its pairs."""

    key: str
    tallies: int
    rows: int
    counts: Mapping[str, int]


def extract_in_parts(
    extractor: str,
    pairs: Iterable[Pair],
    folder: PathLike,
    options: Any,
    engine: Engine,
    *,
    seen: Callable[[], Mapping[str, int]] = dict,
    threads: int = 1,
    memory: int = MEMORY,
    shard: int | None = None,
    report: Callable[[str], None] = lambda line: None,
) -> Extraction:
    """Extract the rules of `pairs` in shards of PAIRS or `shard` pairs. Scoring gives the same table as with `extract`.

    `folder` must be the same on all machines of the engine. Finished parts of an earlier run are kept if program,
    pairs, options and words are the same. `threads` and `memory` apply to one machine, and the parts that it processes
    at once share them. The other arguments are those of `extract`.
    """
    adapter, options = find_extractor(extractor, options)
    # Machines of an engine work in other folders.
    files = {name: Path(path).resolve() for name, path in file_options(type(options), vars(options)).items()}
    options = dataclasses.replace(options, **files)
    folder = Path(folder).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "extraction.json").unlink(missing_ok=True)
    shards, words, prologue, occurrence_parts = _read(pairs, folder, shard or PAIRS)
    at_once = engine.calls_at_once()
    kept = Kept()
    empty = adapter(Part([], [], [], kept), options, 1)
    shared = Shared(
        folder,
        extractor,
        options,
        words.source_words,
        words.target_words,
        words.lexical.entries(),
        prologue.pairs(words.source_words),
        len(shards) == 1,
        memory // at_once,
        max(1, threads // at_once),
        tuple(blake2b(path.read_bytes(), digest_size=16).hexdigest() for path in files.values()),
        kept=kept,
    )
    if empty.keyed:
        found = engine.map(find_keys, shared, shards)
        shared = shared.with_keys(dict.fromkeys(key for keys in found for key in keys))
    else:
        shared = shared.with_keys(())
    if finished := _remove_others(folder, {each.number: _key(shared, each) for each in shards}):
        report(f"{finished:,} of {len(shards):,} parts of the counts are from an earlier run")
    parts = engine.map(count_shard, shared, shards)
    made = _extractor(shared, [])
    counts: Counter[str] = Counter()
    for part in parts:
        counts.update(part.counts)
    sums = {name: counts[name] for name in (parts[0].counts if parts else made.core.counts)}
    tallies, rows = sum(part.tallies for part in parts), sum(part.rows for part in parts)
    for each in shards:
        each.file(folder).unlink()
    known = words, words.lexical
    return finish(folder, extractor, options, made, known, tallies, rows, sums | dict(seen()), occurrence_parts)


def _read(pairs: Iterable[Pair], folder: Path, size: int) -> tuple[list[Shard], Vocabulary, Prologue, int]:
    """Write the pairs as shards, and collect what all parts must know about the whole corpus."""
    builder, prologue, shards = VocabularyBuilder(), Prologue(), list[Shard]()
    united = False

    def write(batch: list[Pair]) -> None:
        nonlocal united
        for pair in batch:
            united |= pair.share is not None
            builder.append(pair.source, pair.target, pair.links, pair.share)
            prologue.see(pair)
        number = len(shards)
        made, content = pack(number, number * size, len(batch), batch)
        with write_binary(made.file(folder)) as stream:
            stream.write(content)
        shards.append(made)

    stream = iter(pairs)
    while batch := list(islice(stream, size)):
        write(batch)
    if not shards:
        write([])
    return shards, builder.finish(), prologue, Bitext.united_parts if united else 1


def _extractor(shared: Shared, pairs: list[Pair], first: int = 0) -> Extracting:
    """Create the extractor of a part. It reads the pairs of the prologue before its own pairs."""
    adapter, options = find_extractor(shared.extractor, shared.options)
    if hasattr(options, "after"):
        options = options.after(first - len(shared.prologue))
    part = Part([*shared.prologue, *pairs], shared.source_words, shared.target_words, shared.kept)
    made = adapter(part, options, shared.threads)
    bitext = made.core.bitext
    if len(bitext) != len(part.pairs) or bitext.source_words != shared.source_words:
        problem = "makes other pairs or words of those that it is given"
        raise UsageError(f"the extractor {shared.extractor!r} {problem}; expected one that can work in parts")
    made.core.number_keys(list(shared.keys))
    return made


def find_keys(shared: Shared, shard: Shard) -> list[bytes]:
    """Return the keys of the labels that the pairs of a shard contain, in order."""
    core = _extractor(shared, shard.load(shared.folder), shard.first).core
    core.find_keys(len(shared.prologue), shared.threads)
    return core.keys


def count_shard(shared: Shared, shard: Shard) -> Counted:
    """Count the rules of a shard, and write the counts into the common folder, unless they exist."""
    marker, key = _marker(shared.folder, shard.number), _key(shared, shard)
    if there := _counted(marker, key):
        return there
    core: Extractor = _extractor(shared, shard.load(shared.folder), shard.first).core
    first = shard.number * TALLIES
    begin, lexical = len(shared.prologue), LexicalTable(*shared.lexical)
    limits = (shared.memory, shared.threads)
    tallies, rows = write_tallies(core, begin, lexical, shared.folder, first, shared.alone, *limits)
    if tallies > TALLIES:
        wanted = f"{TALLIES} at most; give it more memory, or shards of fewer pairs"
        raise TreeglotError(f"the rules of {shard.records:,} pairs were written in {tallies} pieces; expected {wanted}")
    own = Counter(core.counts)
    own.subtract(_extractor(shared, []).core.counts)  # what it counts of the prologue when it is made
    made = Counted(key, tallies, rows, {name: own[name] for name in core.counts})
    write_json(marker, dataclasses.asdict(made))
    return made


def _key(shared: Shared, shard: Shard) -> str:
    return f"{shared.digest}-{shard.first}-{shard.digest}"


def _marker(folder: Path, number: int) -> Path:
    return folder / f"part-{number:06}.json"


def _files(folder: Path, number: int) -> Iterator[Path]:
    return chain.from_iterable(folder.glob(f"counts-{number * TALLIES + i:04}-*.parquet") for i in range(TALLIES))


def _counted(marker: Path, key: str) -> Counted | None:
    """Return the finished part with this key, or None if there is none."""
    try:
        found = Counted(**read_json(marker, key=str, tallies=int, rows=int, counts=dict))
    except (OSError, ValueError, TypeError):
        return None
    return found if found.key == key and _complete(marker, found) else None


def _complete(marker: Path, part: Counted) -> bool:
    """Return whether all files of a finished part exist."""
    first = int(marker.stem.partition("-")[2]) * TALLIES
    names = (f"counts-{first + i:04}-{file}.parquet" for i in range(part.tallies) for file in range(FILES))
    return all((marker.parent / name).is_file() for name in names)


def _remove_others(folder: Path, keys: Mapping[int, str]) -> int:
    """Remove all counts except finished parts with these keys. Return the number of parts that remain."""
    kept: set[Path] = set()
    finished = 0
    for marker in folder.glob("part-*.json"):
        number = int(marker.stem.partition("-")[2])
        if number in keys and _counted(marker, keys[number]):
            kept.update(_files(folder, number))
            finished += 1
        else:
            marker.unlink()
    for old in folder.glob("counts-*.parquet"):
        if old not in kept:
            old.unlink()
    return finished
