"""Extraction in parts: the counts, words and tables of the whole, whatever the parts."""

import dataclasses
import gc
import json
import pickle
import weakref
from collections.abc import Iterator
from pathlib import Path

import pytest
from sample_pairs import CASES, SCORING, pairs_with

from treeglot import TreeglotError, UsageError, sample
from treeglot.corpus import Corpus
from treeglot.models import train
from treeglot.models.train import parts_folder
from treeglot.rules import EXTRACTORS, extract, score_rules
from treeglot.rules import parts as rules_parts
from treeglot.rules.collect import Kept
from treeglot.rules.engines import DuckDB
from treeglot.rules.extract import extractor
from treeglot.rules.find import ill_formed_phrases
from treeglot.rules.ghkm import _phrase_trees as phrase_trees
from treeglot.rules.hiero import HieroOptions
from treeglot.rules.parts import extract_in_parts
from treeglot.syntax import Dependency, write
from treeglot.syntax.formats import read_dependencies


def table(extraction, path: Path) -> bytes:
    score_rules(extraction, path, SCORING)
    return path.read_bytes()


@pytest.mark.parametrize("case", CASES)
def test_parts_give_the_table_of_the_whole(case: str, tmp_path: Path) -> None:
    name, options, parses = CASES[case]
    pairs = pairs_with(parses)
    whole = extract(name, pairs, tmp_path / "whole", options)
    expected = table(whole, tmp_path / "whole.parquet")
    folder = tmp_path / "parts"
    found = extract_in_parts(name, pairs, folder, options, DuckDB(), shard=19)
    assert found.counts == whole.counts
    for file in ("words.parquet", "lexical.parquet"):
        assert (folder / file).read_bytes() == (whole.folder / file).read_bytes()
    assert table(found, tmp_path / "parts.parquet") == expected
    assert not list(folder.glob("*.shard"))


def test_parts_read_the_parses_of_phrases(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reads: list[Path] = []

    def reading(path: Path) -> Iterator[Dependency]:
        reads.append(path)
        return read_dependencies(path)

    class Trees(list[Dependency]):
        """A list that can be referred to weakly."""

    known: list[weakref.ref[Trees]] = []

    def keeping(path: Path) -> Trees:
        trees = Trees(phrase_trees(path))
        known.append(weakref.ref(trees))
        return trees

    monkeypatch.setattr("treeglot.rules.ghkm.read_dependencies", reading)
    monkeypatch.setattr("treeglot.rules.ghkm._phrase_trees", keeping)
    name, options, parses = CASES["c2d"]
    pairs, said, tables = pairs_with(parses), [], []
    table(extract(name, pairs, tmp_path / "plain", options), tmp_path / "plain.parquet")
    phrases = [line.split() for line in ill_formed_phrases(tmp_path / "plain.parquet")]
    options = dataclasses.replace(options, phrase_dependencies=tmp_path / "phrases.conllu")
    for tag in ("new", "other"):  # another file of the same name: all parts are made again
        heads = [list(range(-1, len(words) - 1)) for words in phrases]
        trees = [Dependency(words, chain, [tag] * len(words)) for words, chain in zip(phrases, heads, strict=True)]
        write(tmp_path / "phrases.conllu", trees)
        whole = extract(name, pairs, tmp_path / "whole", options)
        del reads[:]
        found = extract_in_parts(name, pairs, tmp_path / "parts", options, DuckDB(), shard=19, report=said.append)
        assert found.counts == whole.counts
        assert found.counts["phrases_parsed"] > 0
        assert len(reads) == 1  # once for all parts
        gc.collect()
        assert known and not any(reference() for reference in known)  # none stays after the extraction
        tables.append(table(found, tmp_path / "parts.parquet"))
        assert tables[-1] == table(whole, tmp_path / "whole.parquet")
    assert tables[0] != tables[1]
    assert not said


def test_what_extractors_keep_is_not_sent_to_machines() -> None:
    kept = Kept(trees=[1])
    assert (kept, pickle.loads(pickle.dumps(kept))) == ({"trees": [1]}, {})


def test_one_part_gives_the_table_of_the_whole(tmp_path: Path) -> None:
    pairs = pairs_with(())
    found = extract_in_parts("hiero", pairs, tmp_path / "parts", None, DuckDB())
    assert found.facts["parts"] == 1
    expected = table(extract("hiero", pairs, tmp_path / "whole"), tmp_path / "whole.parquet")
    assert table(found, tmp_path / "found.parquet") == expected


def test_a_part_is_written_in_pieces_when_memory_is_short(tmp_path: Path) -> None:
    pairs = [dataclasses.replace(pair, number=i) for i, pair in enumerate(pairs_with(()) * 31, 1)]
    whole = extract("hiero", pairs, tmp_path / "whole")
    found = extract_in_parts("hiero", pairs, tmp_path / "parts", None, DuckDB(), shard=1300, memory=1)
    assert found.facts["parts"] == 3  # an extractor looks at its memory every 1,024 pairs
    assert table(found, tmp_path / "found.parquet") == table(whole, tmp_path / "whole.parquet")


def test_no_pairs_give_no_rules(tmp_path: Path) -> None:
    found = extract_in_parts("ghkm", [], tmp_path, None, DuckDB())
    assert score_rules(found, tmp_path / "rules.parquet") == 0
    assert found.counts["pairs"] == 0


def test_a_resumed_run_counts_what_is_missing_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pairs, counted, said = pairs_with(()), [], []
    write = rules_parts.write_tallies

    def ending(core, begin, lexical, folder, first, *rest):
        counted.append(first // rules_parts.TALLIES)
        if len(counted) == 4:
            raise KeyboardInterrupt
        return write(core, begin, lexical, folder, first, *rest)

    def run(options=None, pairs=pairs):
        return extract_in_parts("hiero", pairs, tmp_path / "x", options, DuckDB(), shard=10, report=said.append)

    monkeypatch.setattr(rules_parts, "write_tallies", ending)
    with pytest.raises(KeyboardInterrupt):
        run()
    assert not (tmp_path / "x" / "extraction.json").exists()
    assert counted == [0, 1, 2, 3]
    found = run()
    assert counted == [0, 1, 2, 3, 3, 4]
    assert said == ["3 of 5 parts of the counts are from an earlier run"]
    expected = table(extract("hiero", pairs, tmp_path / "whole"), tmp_path / "whole.parquet")
    assert table(found, tmp_path / "found.parquet") == expected
    # Other options, other words: all parts are made again. Fewer pairs: parts that are left over are gone.
    del counted[:], said[:]
    monkeypatch.setattr(rules_parts, "write_tallies", write)
    fewer = HieroOptions(max_symbols=3)
    expected = table(extract("hiero", pairs, tmp_path / "whole", fewer), tmp_path / "whole.parquet")
    assert table(run(fewer), tmp_path / "found.parquet") == expected
    expected = table(extract("hiero", pairs[:20], tmp_path / "whole"), tmp_path / "whole.parquet")
    assert table(run(pairs=pairs[:20]), tmp_path / "found.parquet") == expected
    assert said == []


class Sharing(DuckDB):
    """An engine whose machines make several calls at once, and each call twice. It keeps what is shared."""

    def calls_at_once(self):
        return 4

    def map(self, function, shared, items):
        self.__dict__.setdefault("given", []).append(shared)
        super().map(function, shared, items)
        return super().map(function, shared, items)


@pytest.mark.parametrize(("threads", "each"), [(1, 1), (8, 2), (11, 2)])
def test_tasks_share_memory_and_threads_of_a_machine(threads: int, each: int, tmp_path: Path) -> None:
    engine = Sharing()
    pairs = pairs_with(("source_tree", "target_tree"))
    extract_in_parts("fuzzy", pairs, tmp_path, None, engine, shard=30, threads=threads, memory=1 << 20)
    assert [(shared.memory, shared.threads) for shared in engine.given] == [(1 << 18, each)] * 2  # keys, then counts


def test_parts_of_a_task_that_was_repeated_are_not_from_an_earlier_run(tmp_path: Path) -> None:
    said: list[str] = []
    for memory in (1 << 20, 1 << 30):  # which does not change the counts
        extract_in_parts(
            "hiero", pairs_with(()), tmp_path, None, Sharing(), shard=30, memory=memory, report=said.append
        )
        assert said == ([] if memory == 1 << 20 else ["2 of 2 parts of the counts are from an earlier run"])


def test_a_damaged_marker_is_no_finished_part(tmp_path: Path) -> None:
    pairs = pairs_with(())
    extract_in_parts("hiero", pairs, tmp_path / "x", None, DuckDB(), shard=30)
    marker = tmp_path / "x" / "part-000001.json"
    assert json.loads(marker.read_text())["rows"] > 0
    marker.write_text("{")
    said: list[str] = []
    extract_in_parts("hiero", pairs, tmp_path / "x", None, DuckDB(), shard=30, report=said.append)
    assert said == ["1 of 2 parts of the counts are from an earlier run"]


def test_a_part_without_its_files_or_of_another_program_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pairs, said = pairs_with(()), list[str]()

    def run():
        del said[:]
        return extract_in_parts("hiero", pairs, tmp_path / "x", None, DuckDB(), shard=30, report=said.append)

    expected = table(run(), tmp_path / "first.parquet")
    (tmp_path / "x" / f"counts-{rules_parts.TALLIES:04}-3.parquet").unlink()
    assert table(run(), tmp_path / "second.parquet") == expected
    assert said == ["1 of 2 parts of the counts are from an earlier run"]
    monkeypatch.setattr(rules_parts, "program", lambda: "treeglot 0 (other)")
    run()
    assert said == []


def test_shards_that_are_not_what_was_written_are_refused(tmp_path: Path) -> None:
    class Damaging(DuckDB):
        def map(self, function, shared, items):
            items[0].file(shared.folder).write_bytes(b"")
            return super().map(function, shared, items)

    with pytest.raises(TreeglotError, match=r"000000.shard: is not what was written; expected the same file"):
        extract_in_parts("hiero", pairs_with(()), tmp_path, None, Damaging())


def test_extractors_that_choose_pairs_are_refused(tmp_path: Path) -> None:
    @extractor("choosing", HieroOptions)
    def choosing(pairs, options, threads):
        return EXTRACTORS["hiero"][1]((pair for pair in pairs if len(pair.links)), options, threads)

    try:
        with pytest.raises(UsageError, match="the extractor 'choosing' makes other pairs or words of those"):
            extract_in_parts("choosing", pairs_with(()), tmp_path, None, DuckDB())
    finally:
        del EXTRACTORS["choosing"]


@pytest.mark.filterwarnings("ignore")  # too little text for the language model's discounts
@pytest.mark.parametrize("kind", ["hiero", "dep2str"])
def test_models_of_parts_have_the_same_tables(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rules_parts, "PAIRS", 17)
    sample.write_corpus(tmp_path, 40)
    parses = {"source_dependencies": tmp_path / "train.zh.conllu"} if kind == "dep2str" else {}
    text = {"source": tmp_path / "train.zh", "target": tmp_path / "train.en", "alignments": tmp_path / "train.align"}
    here, there = tmp_path / "here", tmp_path / "there"
    train(kind, Corpus(**text, **parses), here)
    train(kind, Corpus(**text, **parses), there, engine=DuckDB(folder=tmp_path))
    for name in ("rules.parquet", "rules.table"):
        assert (here / name).read_bytes() == (there / name).read_bytes()
    assert not list(tmp_path.glob(".*"))
    parts_folder(here).mkdir()  # of a run with an engine that was ended
    train(kind, Corpus(**text, **parses), here)
    assert not list(tmp_path.glob(".*"))


@pytest.mark.parametrize("case", ["t2t-fuzzy", "t2t-exact"])
@pytest.mark.parametrize("key", [b"", b"x", b"\xff" * 8, b"\x00" * 12, b"\x09" + b"\x00" * 15])
def test_keys_that_no_extractor_gives_are_refused(case: str, key: bytes) -> None:
    name, _, names = CASES[case]
    options, make = EXTRACTORS[name]
    made = make(pairs_with(names), options(), 1)
    with pytest.raises(ValueError, match="a key has"):
        made.core.number_keys([key])
    made.core.number_keys(made.core.keys)  # its own are fine
