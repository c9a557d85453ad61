"""Rules that are counted under several alignments, by their weights: every extractor, parts, files, recipes."""

import json
import random
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from extraction import run
from hypothesis import given
from hypothesis import strategies as st
from sample_pairs import CASES, SCORING, pairs_with
from small_models import CORPUS, FILES, trained

from treeglot import Alignment, FormatError, UsageError
from treeglot._core import BitextBuilder, LexicalTable
from treeglot.corpus import Corpus, Needs
from treeglot.corpus.pairs import Pair
from treeglot.experiment import load_recipe, steps_of
from treeglot.experiment.recipe import training_files
from treeglot.models import KINDS, train
from treeglot.rules import EXTRACTORS, extract, score_rules
from treeglot.rules.engines import DuckDB
from treeglot.rules.extract import Extraction
from treeglot.rules.parts import extract_in_parts

PARTS = 240  # of an occurrence


def other_links(pair: Pair) -> Alignment:
    """Some links of a pair are left out, and others added."""
    draw = random.Random(pair.number)
    kept = [link for link in pair.links if draw.random() < 0.8]
    sides = range(len(pair.source)), range(len(pair.target))
    added = [(draw.choice(sides[0]), draw.choice(sides[1]))] if all(sides) else []
    return Alignment(sorted({*kept, *added}))


def united(pairs: Sequence[Pair], others: Sequence[Alignment], weights: tuple[float, float]) -> list[Pair]:
    """Each pair under both alignments."""
    ends = 0.0, weights[0], weights[0] + weights[1]
    return [
        replace(pair, links=links, share=(ends[place], ends[place + 1]))
        for pair, other in zip(pairs, others, strict=True)
        for place, links in enumerate((pair.links, other))
    ]


@pytest.mark.parametrize("weights", [(1.0, 0.5), (0.5, 0.5), (0.3, 0.9), (1 / 3, 0.001)])
@pytest.mark.parametrize("case", CASES)
def test_counts_are_the_weighted_sums_of_those_of_each_alignment(case: str, weights: tuple[float, float]) -> None:
    name, options, parses = CASES[case]
    options = options or EXTRACTORS[name][0]()
    if case == "hiero-core":
        return
    pairs = pairs_with(parses)[:12]
    others = [other_links(pair) for pair in pairs]
    counts: defaultdict[tuple[str, ...], float] = defaultdict(float)
    parts, seen = Counter[tuple[str, ...]](), Counter[tuple[str, ...]]()
    bounds = [0, round(PARTS * weights[0]), round(PARTS * (weights[0] + weights[1]))]
    for place, weight in enumerate(weights):
        alone = [replace(pair, links=other) if place else pair for pair, other in zip(pairs, others, strict=True)]
        for row in run(name, alone, options)[0]:
            rule = row[:4]
            counts[rule] += weight * row.units
            parts[rule] += (bounds[place + 1] - bounds[place]) * row.occurrences
            seen[rule] += row.occurrences
    rows, _, _ = run(name, united(pairs, others, weights), options, merged=True)
    assert {row[:4] for row in rows} == counts.keys()
    for row in rows:
        rule = row[:4]
        assert row.units == pytest.approx(max(counts[rule], 1), abs=seen[rule])
        assert row.occurrences == max(1, (parts[rule] + PARTS // 2) // PARTS)


def table(extraction: Extraction, path: Path) -> bytes:
    score_rules(extraction, path, SCORING)
    return path.read_bytes()


@pytest.mark.parametrize("case", CASES)
def test_equal_alignments_with_halves_are_one(case: str, tmp_path: Path) -> None:
    name, options, parses = CASES[case]
    pairs = pairs_with(parses)
    twice = options.repeated(2) if hasattr(options, "repeated") else options
    one = extract(name, pairs, tmp_path / "one", options)
    two = extract(name, united(pairs, [pair.links for pair in pairs], (0.5, 0.5)), tmp_path / "two", twice)
    for file in ("words.parquet", "lexical.parquet"):
        assert (one.folder / file).read_bytes() == (two.folder / file).read_bytes()
    assert table(one, tmp_path / "one.parquet") == table(two, tmp_path / "two.parquet")


@pytest.mark.parametrize("case", CASES)
def test_parts_give_the_table_of_the_whole(case: str, tmp_path: Path) -> None:
    name, options, parses = CASES[case]
    pairs = pairs_with(parses)
    both = united(pairs, [other_links(pair) for pair in pairs], (0.7, 0.4))
    whole = extract(name, both, tmp_path / "whole", options)
    parts = extract_in_parts(name, both, tmp_path / "parts", options, DuckDB(), shard=19)
    assert (whole.facts["parts"], parts.facts["parts"]) == (1, 5)
    for file in ("words.parquet", "lexical.parquet"):
        assert (whole.folder / file).read_bytes() == (parts.folder / file).read_bytes()
    assert table(whole, tmp_path / "whole.parquet") == table(parts, tmp_path / "parts.parquet")


@given(
    st.lists(
        st.tuples(
            st.lists(st.sampled_from("abc"), min_size=1, max_size=4),
            st.lists(st.sampled_from("xyz"), min_size=1, max_size=4),
            st.lists(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3))), min_size=2, max_size=2),
        ),
        min_size=1,
        max_size=4,
    ),
    st.tuples(st.sampled_from([1.0, 0.5, 0.25, 0.1]), st.sampled_from([1.0, 0.5, 0.2])),
)
def test_lexical_weights_count_links_by_weight(triples, weights: tuple[float, float]) -> None:
    builder = BitextBuilder()
    counts: Counter[tuple[str, str]] = Counter()
    for source, target, aligned in triples:
        for links, begin, end in zip(aligned, (0.0, weights[0]), (weights[0], sum(weights)), strict=True):
            kept = {(s, t) for s, t in links if s < len(source) and t < len(target)}
            builder.append(source, target, Alignment(sorted(kept)), [], (begin, end))
            weight = round(PARTS * end) - round(PARTS * begin)
            for s, t in kept:
                counts[source[s], target[t]] += weight
            for s in set(range(len(source))) - {s for s, _ in kept}:
                counts[source[s], ""] += weight
            for t in set(range(len(target))) - {t for _, t in kept}:
                counts["", target[t]] += weight
    bitext = builder.finish()
    words = [[*bitext.source_words, ""], [*bitext.target_words, ""]]
    found = LexicalTable(bitext).entries()
    for f, e, forward, backward in zip(*(column.tolist() for column in found), strict=True):
        pair = words[0][min(f, len(words[0]) - 1)], words[1][min(e, len(words[1]) - 1)]
        count = counts.pop(pair)
        sums = [sum(n for key, n in [*counts.items(), (pair, count)] if key[side] == pair[side]) for side in (0, 1)]
        counts[pair] = count
        assert (forward, backward) == pytest.approx((count / sums[0], count / sums[1]))
    assert len(found[0]) == len(counts)


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    files = {
        "source": "das Haus\ndas Buch\n",
        "target": "the house\nthe book\n",
        "alignments": "0-0 1-1\n" * 2,
        "other": "0-0 1-1\n1-1\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    given = {name: tmp_path / name for name in files if name != "other"}
    return Corpus(**given, more_alignments=(tmp_path / "other",), alignment_weights=(1.0, 0.5))


def test_a_pair_comes_under_each_alignment(corpus: Corpus) -> None:
    pairs = corpus.pairs(Needs())
    found = [(pair.number, str(pair.links), pair.share, pair.is_first) for pair in pairs]
    assert found == [
        (1, "0-0 1-1", (0, 1), True),
        (1, "0-0 1-1", (1, 1.5), False),
        (2, "0-0 1-1", (0, 1), True),
        (2, "1-1", (1, 1.5), False),
    ]
    assert pairs.counts.as_counts()["alignments"] == 2
    assert pairs.counts.as_counts()["pairs"] == 2
    assert pairs.counts.lines() == ["rules are counted under 2 alignments, by their weights"]
    one = replace(corpus, more_alignments=(), alignment_weights=(1.0,))
    assert [pair.share for pair in one.pairs(Needs())] == [None, None]
    half = replace(one, alignment_weights=(0.5,))
    assert [pair.share for pair in half.pairs(Needs())] == [(0, 0.5), (0, 0.5)]


def test_bad_alignments_are_refused(corpus: Corpus) -> None:
    corpus.more_alignments[0].write_text("0-0\n0-2\n")
    with pytest.raises(FormatError, match="other:2: link 0-2: the target sentence has 2 words"):
        list(corpus.pairs(Needs()))
    with pytest.raises(UsageError, match="there are 1 alignment_weights for 2 alignments; expected one for each"):
        replace(corpus, alignment_weights=(1.0,))
    with pytest.raises(UsageError, match=r"alignment_weights is \(1.0, 0.0\); expected 0.005 to 1"):
        replace(corpus, alignment_weights=(1.0, 0.0))
    with pytest.raises(UsageError, match="posteriors are of one alignment, and more_alignments were given"):
        replace(corpus, posteriors=corpus.source)
    with pytest.raises(UsageError, match="provenance is of pairs with one alignment"):
        train("hiero", corpus, "model", KINDS["hiero"].options(provenance=True))
    with pytest.raises(UsageError, match="a union of alignments was asked for and needs a rule table"):
        train("hiero", corpus, "model", KINDS["hiero"].options(on_demand=True))
    for share in ((0.5, 0.5), (-1, 0), (0, 2), (0, float("nan"))):
        with pytest.raises(ValueError, match=r"the share of an alignment is .*; expected a weight above 0"):
            BitextBuilder().append(["a"], ["b"], Alignment(), [], share)


@pytest.mark.filterwarnings("ignore:.*discount", "ignore::treeglot.lm.train.DiscountWarning")
@pytest.mark.parametrize("kind", ["hiero", "c2d", "s2d", "dep2str-aug", "t2t-fuzzy-nested", "t2t-exact"])
def test_a_model_is_trained_with_several_alignments(kind: str, tmp_path: Path) -> None:
    one = trained(kind, tmp_path / "one")
    needed = {next(name for name in need.split("|") if name in FILES) for need in KINDS[kind].files}
    files = {name: CORPUS / FILES[name] for name in needed | {"source", "target", "alignments"}}
    same = Corpus(**files, more_alignments=(files["alignments"],), alignment_weights=(0.25, 0.75))
    two = train(kind, same, tmp_path / "two")
    for path in sorted(one.directory.iterdir()):
        if path.suffix in (".bin", ".table", ".parquet"):
            assert path.read_bytes() == (two.directory / path.name).read_bytes()
    facts = [json.loads((model.directory / "training.json").read_text()) for model in (one, two)]
    assert facts[0]["pairs"] == facts[1]["pairs"]
    assert facts[0]["digest"] != facts[1]["digest"]


RECIPE = """
[corpus]
source = "zh"
target = "en"
alignments = "a.align"
more_alignments = ["b.align", "c.align"]
alignment_weights = [1, 0.5, 0.25]
[dev]
source = "zh"
references = ["en"]
[test.news]
source = "zh"
references = ["en"]
[[system]]
name = "hiero"
kind = "hiero"
[[system]]
name = "own"
kind = "hiero"
corpus = { alignments = "c.align" }
"""


def test_recipes_unite_alignments(tmp_path: Path) -> None:
    (tmp_path / "recipe.toml").write_text(RECIPE)
    steps = {step.name: step for step in steps_of(load_recipe(tmp_path / "recipe.toml"))}
    united, own = steps["train hiero"], steps["train own"]
    assert united.inputs["more_alignments 1"] == tmp_path / "c.align"
    assert united.settings["alignment_weights"] == [1, 0.5, 0.25]
    assert [name for name in own.inputs if "alignments" in name] == ["alignments"]
    assert "alignment_weights" not in own.settings
    assert {"alignments", "more_alignments 0", "more_alignments 1"} <= steps["check train"].inputs.keys()
    given = ["source", "target", "alignments", "more_alignments 0"]
    assert training_files(KINDS["hiero"], given) == given
    assert training_files(KINDS["hiero"], given, ["alignments"]) == given[:3]
