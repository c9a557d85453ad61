"""Rules on demand: pairs that are added, options that are refused, and damaged files."""

import json
import multiprocessing
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from extraction import pairs_of

from treeglot import FormatError, UsageError
from treeglot.rules import on_demand
from treeglot.rules.hiero import HieroOptions
from treeglot.rules.on_demand import FACTS, add_pairs, build_index, open_rules, read_facts
from treeglot.rules.sql import ScoreOptions
from treeglot.rules.table import CompileOptions
from treeglot.syntax import Alignment

PAIR = ["das", "Haus"], ["the", "house"], Alignment.parse("0-0 1-1")
NEW = ["die", "Katze"], ["the", "cat"], Alignment.parse("0-0 1-1")


def test_added_pairs_are_usable_at_once_and_stay_in_few_files(tmp_path: Path) -> None:
    build_index(pairs_of([PAIR] * 3), tmp_path)
    for number in range(1, 10):
        rules = add_pairs(pairs_of([NEW]), tmp_path / FACTS)
        assert rules.pairs == 3 + number
        assert len(rules.rules_for(["die", "Katze"], 10)) == 5
    names = read_facts(tmp_path / FACTS)["indexes"]
    assert len(names) <= 4
    assert sorted(names) == sorted(path.name for path in tmp_path.glob("index-*.bin"))
    assert open_rules(tmp_path / FACTS).pairs == 12


def test_pairs_of_an_interrupted_run_are_all_there_or_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    build_index(pairs_of([PAIR] * 3), tmp_path)
    add_pairs(pairs_of([NEW]), tmp_path / FACTS)
    for place, interrupted, pairs in ((on_demand, "write_json", 4), (Path, "unlink", 5)):
        with monkeypatch.context() as patch:

            def stop(*given: object, **options: object) -> None:
                raise KeyboardInterrupt

            patch.setattr(place, interrupted, stop)
            with pytest.raises(KeyboardInterrupt):
                add_pairs(pairs_of([NEW]), tmp_path / FACTS)
        assert open_rules(tmp_path / FACTS).pairs == pairs
    assert add_pairs(pairs_of([NEW]), tmp_path / FACTS).pairs == 6


def test_pairs_that_do_not_fit_the_other_indexes_change_nothing(tmp_path: Path) -> None:
    build_index(pairs_of([PAIR] * 3), tmp_path)
    add_pairs(pairs_of([NEW]), tmp_path / FACTS)
    facts = json.loads((tmp_path / FACTS).read_text())
    facts["extract"]["max_phrase"] = 7
    (tmp_path / FACTS).write_text(json.dumps(facts))
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(FormatError, match=r"on_demand\.json: .*different options"):
        add_pairs(pairs_of([NEW]), tmp_path / FACTS)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
    assert open_rules(tmp_path / FACTS).pairs == 4


def _add(path: Path, number: int) -> None:
    for _ in range(number):
        add_pairs(pairs_of([NEW]), path)


def test_processes_add_pairs_at_the_same_time(tmp_path: Path) -> None:
    build_index(pairs_of([PAIR]), tmp_path)
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=_add, args=(tmp_path / FACTS, 8)) for _ in range(2)]
    for process in processes:
        process.start()
    while any(process.is_alive() for process in processes):
        assert open_rules(tmp_path / FACTS).pairs >= 1  # also while files are merged
    for process in processes:
        process.join()
        assert process.exitcode == 0
    assert open_rules(tmp_path / FACTS).pairs == 17


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"extract": {"adjacent": True}}, "extract.adjacent is True; expected false for rules on demand"),
        ({"extract": {"max_nonterminals": 4}}, "extract.max_nonterminals is 4; expected 0 to 3 for rules on demand"),
        ({"extract": {"max_phrase": -1}}, "extract.max_phrase is -1; expected 1 to 255 for rules on demand"),
        ({"score": {"significance": 1.0}}, "score.significance is 1.0; expected 0 for rules on demand"),
        ({"compiling": {"shapes": True}}, "compile.shapes is True; expected False for rules on demand"),
    ],
)
def test_options_that_need_all_rules_are_refused(given: dict, problem: str, tmp_path: Path) -> None:
    options = {"extract": HieroOptions(), "score": ScoreOptions(), "compiling": CompileOptions()}
    options |= {name: replace(options[name], **values) for name, values in given.items()}
    with pytest.raises(UsageError) as raised:
        build_index(pairs_of([PAIR]), tmp_path / "index", **options)
    assert str(raised.value) == problem
    assert not (tmp_path / "index").exists()


def test_damaged_files_are_refused(tmp_path: Path) -> None:
    build_index(pairs_of([PAIR]), tmp_path)
    path, facts = tmp_path / "index-1.bin", (tmp_path / FACTS).read_text()
    whole = path.read_bytes()
    for damaged in (whole[: len(whole) // 2], whole[:-70] + bytes([whole[-70] ^ 1]) + whole[-69:]):
        path.write_bytes(damaged)
        with pytest.raises(FormatError, match=r"index-1\.bin"):
            open_rules(tmp_path / FACTS)
    path.write_bytes(whole)
    (tmp_path / FACTS).write_text(facts.replace("index-1.bin", "../index-1.bin"))
    with pytest.raises(FormatError, match="expected a file in its folder"):
        open_rules(tmp_path / FACTS)
    for name in ('"model.bin"', '"index-x.bin"', "1"):
        (tmp_path / FACTS).write_text(facts.replace('"index-1.bin"', name))
        with pytest.raises(FormatError, match="expected a file in its folder"):
            open_rules(tmp_path / FACTS)
    (tmp_path / FACTS).write_text(facts.replace('"index-1.bin"', ""))
    with pytest.raises(FormatError, match="has no list of indexes"):
        open_rules(tmp_path / FACTS)
    (tmp_path / FACTS).write_text(facts.replace('"index-1.bin"', '"index-1.bin", "index-1.bin"'))
    with pytest.raises(FormatError, match=r"has the index 'index-1\.bin' 2 times"):
        open_rules(tmp_path / FACTS)
    (tmp_path / FACTS).write_text(facts.replace('"score"', '"scores"'))
    with pytest.raises(FormatError, match="has no score"):
        open_rules(tmp_path / FACTS)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"features": ["no"]}, "has the feature 'no'; expected some of p_target_given_source"),
        ({"features": [["x"]]}, "has the feature ['x']; expected some of p_target_given_source"),
        ({"score": 5}, "score is 5; expected an object"),
        ({"demand": {"samples": -1}}, "demand: samples is -1; expected at least 0"),
        ({"discounts": {}}, "there are 0 discounts for the smoothing; expected 3"),
        ({"discounts": {"values": 5}}, "discounts.values is 5, an integer; expected a list, each a number"),
        ({"discounts": {"values": [0.5, 1.0, float("nan")]}}, "discount 3 is nan; expected 0 to 3"),
        ({"discounts": {"values": [1.5, 1.0, 1.0]}}, "discount 1 is 1.500000; expected 0 to 1"),
        ({"discounts": {"values": [0.5, 1.0, 1.0], "rules": -1.0}}, "there are -1.000000 rules; expected 0 or more"),
    ],
)
def test_damaged_facts_are_refused(change: dict, problem: str, tmp_path: Path) -> None:
    build_index(pairs_of([PAIR]), tmp_path, score=ScoreOptions(smoothing="kneser-ney"))
    path = tmp_path / FACTS
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(FormatError) as raised:
        open_rules(path)
    assert str(raised.value).startswith(f"{path}: {problem}")


def test_a_line_that_is_too_long_for_an_index_is_refused(tmp_path: Path) -> None:
    long = ["das"], ["the"] * 70_000, Alignment.parse("0-0")
    with pytest.raises(UsageError, match="sentence pair 2 has 70000 target words; expected at most 65535"):
        build_index(pairs_of([PAIR, long]), tmp_path)


def test_memory_grows_with_the_length_of_a_sentence_and_not_with_its_square(tmp_path: Path) -> None:
    words = [f"w{number}" for number in range(3000)]
    links = Alignment.parse(" ".join(f"{i}-{i}" for i in range(10)))
    pairs = [(words[at : at + 10], words[at : at + 10], links) for at in range(0, len(words), 10)]
    build_index(pairs_of(pairs), tmp_path, score=ScoreOptions(smoothing="none"))
    measure = (
        "import resource, sys\nfrom treeglot.rules.on_demand import open_rules\nrules = open_rules(sys.argv[1])\n"
        "words = [f'w{number}' for number in range(3000)]\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\nassert rules.rules_for(words, 10)\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)"
    )
    command = [sys.executable, "-c", measure, str(tmp_path / FACTS)]
    grown = int(subprocess.run(command, capture_output=True, check=True).stdout)
    assert grown < 700_000  # KiB; about 100,000 now, and 1,000,000 when the extensions of all parts were kept
