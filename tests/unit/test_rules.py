"""From aligned pairs to a rule table: the numbers of a small example, files, threads, refusals."""

import json
import random
import re
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from extraction import pairs_of

from treeglot import FormatError, UsageError
from treeglot._core import Renderer
from treeglot.rules import compile_table, engines, extract, score, score_rules
from treeglot.rules.add_up import add_up
from treeglot.rules.extract import Extraction
from treeglot.rules.hiero import HieroOptions
from treeglot.rules.score import table_schema, with_counts
from treeglot.rules.sql import ScoreOptions
from treeglot.syntax import Alignment

PAIRS = [
    ("das Haus", "the house", "0-0 1-1"),
    ("das Buch", "the book", "0-0 1-1"),
    ("ein Buch", "a book", "0-0 1-1"),
]


def aligned(pairs):
    return pairs_of((s.split(), t.split(), Alignment.parse(a)) for s, t, a in pairs)


def table_of(pairs, folder: Path, options=None, scoring=None, **how):
    extraction = extract("hiero", aligned(pairs), folder / "counts", options, **how)
    rules = score_rules(extraction, folder / "rules.parquet", scoring, threads=how.get("threads", 1))
    table = pq.read_table(folder / "rules.parquet")
    assert table.schema.equals(table_schema())
    assert rules == table.num_rows
    return {(r["source"], r["target"]): r for r in table.to_pylist()}


def test_a_small_table(tmp_path):
    table = table_of(PAIRS, tmp_path)
    # Three initial phrases a pair: the two words, and both words, which also give two rules with a variable.
    assert set(table) == {
        ("das", "the"), ("ein", "a"), ("Haus", "house"), ("Buch", "book"),
        ("das Haus", "the house"), ("das Buch", "the book"), ("ein Buch", "a book"),
        ("das [X,1]", "the [X,1]"), ("ein [X,1]", "a [X,1]"),
        ("[X,1] Haus", "[X,1] house"), ("[X,1] Buch", "[X,1] book"),
    }  # fmt: skip
    das = table["das", "the"]
    assert (das["count"], das["occurrences"], das["variables"], das["count_bin"]) == (2.0, 2, 0, "2")
    assert (das["lhs"], das["alignment"], das["labels"], das["structure"]) == ("X", "0-0", None, None)
    gappy = table["das [X,1]", "the [X,1]"]
    assert gappy["count"] == pytest.approx(2 / 3, abs=1e-8)
    assert (gappy["occurrences"], gappy["variables"], gappy["alignment"]) == (2, 1, "0-0")
    assert table["[X,1] Haus", "[X,1] house"]["alignment"] == "1-1"
    assert all(r["p_target_given_source"] == r["p_source_given_target"] == 1 for r in table.values())
    assert all(r["lex_target_given_source"] == r["lex_source_given_target"] == 1 for r in table.values())


def test_probabilities_and_lexical_weights(tmp_path):
    table = table_of(
        [("a", "x", "0-0"), ("a", "x", "0-0"), ("a", "y", "0-0"), ("b a", "z y x", "0-1 0-2 1-2")], tmp_path
    )
    x = table["a", "x"]
    assert x["p_target_given_source"] == pytest.approx(2 / 3)
    assert x["p_source_given_target"] == 1
    assert x["lex_target_given_source"] == pytest.approx(3 / 4)  # a is linked to x three times of four
    assert x["lex_source_given_target"] == pytest.approx(3 / 4)  # and x to b once
    both = table["b a", "y x"]
    assert both["alignment"] == "0-0 0-1 1-1"
    # y from b (1 of 2 links), x from b (1/2) and a (3/4): the mean of its links.
    assert both["lex_target_given_source"] == pytest.approx(1 / 2 * (1 / 2 + 3 / 4) / 2)
    # z is never linked: w(z|NULL) = 1.
    assert table["b a", "z y x"]["lex_target_given_source"] == pytest.approx(both["lex_target_given_source"])


def test_rules_with_variables_come_from_the_core_alone(tmp_path):
    table = table_of(PAIRS, tmp_path, HieroOptions(core=1))
    assert {s for s, _ in table if "[X,1]" in s} == {"das [X,1]", "[X,1] Haus"}
    assert table["das Buch", "the book"]["count"] == 1  # shared with no other rule
    assert ("das", "the") in table


def test_the_most_frequent_alignment_stays(tmp_path):
    twice = [("a b", "x y", "0-0 1-1"), ("a b", "x y", "0-1 1-0"), ("a b", "x y", "0-1 1-0")]
    assert table_of(twice, tmp_path)["a b", "x y"]["alignment"] == "0-1 1-0"
    assert table_of(twice[:2], tmp_path)["a b", "x y"]["alignment"] == "0-0 1-1"  # of equals the first


def random_pairs(number, seed):
    rng = random.Random(seed)
    for _ in range(number):
        source = [rng.choice("abcdefgh") for _ in range(rng.randint(1, 7))]
        target = [rng.choice("uvwxyz") for _ in range(rng.randint(1, 7))]
        links = {(rng.randrange(len(source)), rng.randrange(len(target))) for _ in range(rng.randint(0, 6))}
        yield " ".join(source), " ".join(target), " ".join(f"{s}-{t}" for s, t in sorted(links))


def test_the_files_do_not_depend_on_threads(tmp_path):
    pairs = list(random_pairs(2500, 1))
    contents = []
    for threads in (1, 2, 4):
        folder = tmp_path / str(threads)
        folder.mkdir()
        table_of(pairs, folder, threads=threads)
        compile_table(folder / "rules.parquet", folder / "rules.table")
        contents.append({p.relative_to(folder): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()})
    assert contents[0] == contents[1] == contents[2]


def test_parts_add_up_to_the_whole(tmp_path):
    pairs = list(random_pairs(2500, 2))
    whole = table_of(pairs, tmp_path / "whole")
    parts = table_of(pairs, tmp_path / "parts", memory=0)
    assert json.loads((tmp_path / "parts/counts/extraction.json").read_text())["parts"] == 3
    assert parts == whole


@pytest.mark.parametrize("threads", [1, 2])
def test_parts_are_added_up_to_the_files_of_one_part(tmp_path, threads):
    pairs = list(random_pairs(2500, 3))
    whole = extract("hiero", aligned(pairs), tmp_path / "whole")
    parts = extract("hiero", aligned(pairs), tmp_path / "parts", memory=0)
    assert parts.facts["parts"] == 3
    made = add_up(parts, threads)
    assert made.facts == whole.facts == Extraction.open(tmp_path / "parts").facts
    assert [path.name for path in made.files] == [path.name for path in whole.files]
    assert [path.read_bytes() for path in made.files] == [path.read_bytes() for path in whole.files]
    assert add_up(made) is made


def test_parts_that_were_added_up_halfway_are_not_finished(tmp_path):
    parts = extract("hiero", aligned(random_pairs(2500, 3)), tmp_path, memory=0)
    parts.files[-1].write_bytes(b"damaged")
    with pytest.raises(FormatError, match=r"counts-0002-7.parquet: is a damaged Parquet file"):
        add_up(parts)
    with pytest.raises(FormatError, match="holds no finished extraction"):
        Extraction.open(tmp_path)


@pytest.mark.parametrize("smoothing", ["none", "good-turing", "kneser-ney"])
@pytest.mark.parametrize("significance", [0.0, 2.0])
def test_files_are_scored_one_after_the_other_or_together(tmp_path, monkeypatch, smoothing, significance):
    extraction = extract("hiero", aligned(random_pairs(300, 4)), tmp_path)
    options = ScoreOptions(smoothing=smoothing, significance=significance, targets_per_source=3)
    score_rules(extraction, tmp_path / "in-core", options)
    monkeypatch.setattr(score, "score_counts", lambda *_: None)
    score_rules(extraction, tmp_path / "together", options)
    monkeypatch.setattr(engines, "EXPANSION", 1 << 40)
    score_rules(extraction, tmp_path / "apart", options)
    assert pq.read_table(tmp_path / "apart").num_rows > 100
    assert (tmp_path / "apart").read_bytes() == (tmp_path / "together").read_bytes()
    assert (tmp_path / "in-core").read_bytes() == (tmp_path / "together").read_bytes()


def test_rows_that_the_counts_do_not_have(tmp_path):
    """An engine gives rows of the counts, in their order: others are refused, wherever they are."""
    files = extract("hiero", aligned(PAIRS), tmp_path).files
    rows = [row for file in files for row in pq.read_table(file)["row"].to_pylist()]
    assert rows == sorted(rows)

    def joined(*given):
        batches = (pa.RecordBatch.from_pydict({"row": pa.array([row], pa.int64()), "p": [0.5]}) for row in given)
        return [len(batch) for batch in with_counts(batches, files)]

    assert sum(joined(*rows)) == len(rows)
    assert sum(joined(*rows[1:4], rows[-1])) == 4
    assert sum(joined()) == 0
    for strange in ([rows[0] - 1], [rows[-1] + 1], [*rows, rows[-1] + 1], [rows[0], rows[0] + 2**20, rows[-1]]):
        with pytest.raises(ValueError, match="rows that the counts do not have"):
            joined(*strange)


def test_an_extraction_is_there_when_it_is_complete(tmp_path):
    with pytest.raises(FormatError, match="holds no finished extraction"):
        Extraction.open(tmp_path)
    made = extract("hiero", aligned(PAIRS), tmp_path)
    assert Extraction.open(tmp_path) == made
    facts = json.loads((tmp_path / "extraction.json").read_text())
    assert facts["counts"] == {"pairs": 3, "unlinked": 0, "phrases": 9, "refused": 0, "flat": 9, "gappy": 6}


def test_nothing_to_extract(tmp_path):
    assert table_of([], tmp_path) == {}
    assert table_of([("a", "x", ""), ("", "", "")], tmp_path) == {}


def test_refusals(tmp_path):
    with pytest.raises(ValueError, match=re.escape("link 1-0: the source sentence has 1 word")):
        extract("hiero", aligned([("a", "x", "1-0")]), tmp_path)
    with pytest.raises(UsageError, match="max_symbols is 0; expected at least 1, or -1 for no limit"):
        HieroOptions(max_symbols=0)
    with pytest.raises(UsageError, match="smoothing is 'some'; expected 'none', 'good-turing' or 'kneser-ney'"):
        table_of(PAIRS, tmp_path, scoring=ScoreOptions(smoothing="some"))


def test_too_little_memory_is_said(tmp_path):
    extraction = extract("hiero", aligned(random_pairs(2500, 3)), tmp_path / "counts")
    with pytest.raises(UsageError) as caught:
        score_rules(extraction, tmp_path / "rules.parquet", ScoreOptions(significance=1.0), memory=2 << 20)
    assert str(caught.value) == "2 MB are too few to score these rules; give it more memory or fewer threads"
    assert not (tmp_path / "rules.parquet").exists()


def test_lexical_table_is_written(tmp_path):
    extract("hiero", aligned([("a b", "x y", "0-0")]), tmp_path)
    rows = pq.read_table(tmp_path / "lexical.parquet").to_pylist()
    assert {(r["source"], r["target"]) for r in rows} == {("a", "x"), ("b", None), (None, "y")}
    assert all(r["w_target_given_source"] == r["w_source_given_target"] == 1 for r in rows)
    assert pq.read_schema(tmp_path / "counts-0000-0.parquet").field("source").type == pa.binary()


def codes(*rows):
    """Codes as the core has them: numbers below 128 are bytes."""
    offsets = np.cumsum([0, *map(len, rows)]).astype(np.int32)
    return offsets, np.frombuffer(b"".join(map(bytes, rows)), dtype=np.int8)


def texts(column):
    offsets, data = column
    return [bytes(data[a:b]).decode() for a, b in pairwise(offsets)]


def test_fragments_as_text():
    renderer = Renderer(["a", ")", "b(", "("], ["x", ")"], ["X", "NP", "NN"])
    sources = codes([11, 1, 11, 2, 16, 12, 8, 0, 2, 12], [11, 2, 17, 18, 19, 12], [10, 1, 0], [0, 16])
    lhs, symbols = renderer.source(*sources)
    assert texts(lhs) == ["NP", "NN", "NP", "X"]
    assert texts(symbols) == ["NP( NN( a ) [NN,1] )", "NN( \\) \\b( ( )", "[X,1]", "[X,1] a"]
    # A variable of the target side has the label of the source side's.
    targets = codes([16, 0, 9, 0, 1], [17], [8, 0, 1], [0])
    symbols, structure = renderer.target(*sources, *targets)
    assert texts(symbols) == ["x [NN,1]", "\\)", "[NP,1]", "[X,1]"]
    assert texts(structure) == ["0 1", "", "", ""]


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ([13], "a rule's code has a number without a meaning"),
        ([11], "a rule's code ends too early"),
        ([11, 9, 16, 12], "a rule's code has a label that is not listed"),
        ([99], "a rule's code has a word that is not listed"),
    ],
)
def test_codes_without_a_meaning(source, problem):
    with pytest.raises(ValueError, match=problem):
        Renderer(["a"], ["x"], ["X"]).source(*codes(source))


@pytest.mark.parametrize("content", [b"", b"PAR1", b"x" * 1000])
def test_damaged_files_of_an_extraction_are_named(tmp_path, content):
    extraction = extract("hiero", aligned([("a b", "c d", "0-0 1-1")]), tmp_path)
    (counts, *_) = extraction.files
    words = tmp_path / "words.parquet"
    for path in (counts, words):
        whole = path.read_bytes()
        path.write_bytes(content)
        with pytest.raises(FormatError, match=f"{path.name}: is a damaged Parquet file: "):
            score_rules(extraction, tmp_path / "rules.parquet")
        path.write_bytes(whole)
    assert score_rules(extraction, tmp_path / "rules.parquet") > 0
