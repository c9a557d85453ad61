"""Extraction from forests: the worked example of the c2d paper, counts, caps, refusals."""

import json
import math
from dataclasses import replace
from pathlib import Path

import bush
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from extraction import bitext, pairs_of

from treeglot import Alignment, Dependency, FormatError, ParseForest, Tree, UsageError
from treeglot._core import DependencyBank, ForestBank, GhkmExtractor, ScoreKind
from treeglot.corpus.parses import as_forest
from treeglot.graph import Builder, Hypergraph
from treeglot.rules import compile_table, extract, score_rules
from treeglot.rules.find import ill_formed_phrases
from treeglot.rules.ghkm import RULE_SETS, GhkmOptions, RuleKinds, rule_kinds
from treeglot.syntax.formats import read_forests, write

MINIMAL = {
    # source, target, structure
    ("IP( NP( [NPB,1] [CC,2] [NPB,3] ) [VPB,4] )", "[NPB,1] [VPB,4] [CC,2] [NPB,3]", "2 0 2 3"),
    ("IP( [NPB,1] [VP,2] )", "[NPB,1] [VP,2]", "2 0"),
    ("VP( [PP,1] [VPB,2] )", "[VPB,2] [PP,1]", "0 1"),
    ("PP( [P,1] [NPB,2] )", "[P,1] [NPB,2]", "0 1"),
    ("VPB( VV( jǔxíng ) AS( le ) [NPB,1] )", "held a [NPB,1]", "0 3 1"),
    ("NPB( Bùshí )", "Bush", "0"),
    ("CC( yǔ )", "with", "0"),
    ("P( yǔ )", "with", "0"),
    ("NPB( Shālóng )", "Sharon", "0"),
    ("NPB( huìtán )", "talk", "0"),
}


def taken(pairs, forests, folder, options, dependencies=None, **how):
    forests = [f and as_forest(f) for f in forests]
    parses = {"source_forest": forests} | ({} if dependencies is None else {"target_dependency": dependencies})
    return extract("ghkm", pairs_of(pairs, **parses), folder, options, **how)


def rows(folder: Path, options: GhkmOptions, forests=None, pairs=None, dependencies=None, **how):
    pairs = pairs or [(bush.SOURCE, bush.TARGET, bush.ALIGNMENT)]
    forests = forests or [bush.forest({11: math.log(0.75), 12: math.log(0.25)})]
    dependencies = dependencies or [bush.DEPENDENCY]
    extraction = taken(pairs, forests, folder / "counts", options, dependencies, **how)
    score_rules(extraction, folder / "rules.parquet")
    return pq.read_table(folder / "rules.parquet").to_pylist()


def sides(table):
    return {(r["source"], r["target"], r["structure"]) for r in table}


def test_the_worked_example(tmp_path):
    table = rows(tmp_path, GhkmOptions(True, True, "none", max_composed=1))
    assert sides(table) == MINIMAL
    assert {r["lhs"] for r in table} == {"IP", "VP", "PP", "VPB", "NPB", "CC", "P"}
    by_source = {r["source"]: r for r in table}
    held = by_source["VPB( VV( jǔxíng ) AS( le ) [NPB,1] )"]
    assert (held["labels"], held["alignment"], held["variables"]) == ("VBD DT", "2-0 2-1", 1)
    assert held["lex_target_given_source"] == pytest.approx(0.25)  # held and a are each half of what jǔxíng is
    assert held["lex_source_given_target"] == pytest.approx(1.0)  # jǔxíng has links alone, le none
    # Each edge into IP has its share, and so has what only one of the trees uses.
    assert by_source["IP( NP( [NPB,1] [CC,2] [NPB,3] ) [VPB,4] )"]["count"] == pytest.approx(0.75, abs=1e-6)
    assert by_source["CC( yǔ )"]["count"] == pytest.approx(0.75, abs=1e-6)
    assert by_source["VP( [PP,1] [VPB,2] )"]["count"] == pytest.approx(0.25, abs=1e-6)
    assert held["count"] == pytest.approx(1.0, abs=1e-6)
    assert by_source["P( yǔ )"]["p_source_given_target"] == pytest.approx(0.25)
    assert by_source["NPB( huìtán )"]["p_rule_given_root"] == pytest.approx(1 / 3)


def test_the_composed_rule_of_the_example(tmp_path):
    table = rows(tmp_path, RULE_SETS["c2d"])
    rule = ("IP( NP( [NPB,1] CC( yǔ ) [NPB,2] ) [VPB,3] )", "[NPB,1] [VPB,3] with [NPB,2]", "2 0 2 3")
    assert sides(table) > MINIMAL | {rule}
    (found,) = [r for r in table if (r["source"], r["target"], r["structure"]) == rule]
    assert (found["labels"], found["alignment"]) == ("IN", "4-2")


def test_strings_are_cut_more_often(tmp_path):
    table = rows(tmp_path, GhkmOptions(phrases="none", max_composed=1))
    found = {(r["source"], r["target"]) for r in table}
    # jǔxíng - held a is a phrase, though no structure.
    assert found == {r[:2] for r in MINIMAL if "held" not in r[1]} | {
        ("VPB( [VV,1] AS( le ) [NPB,2] )", "[VV,1] [NPB,2]"),
        ("VV( jǔxíng )", "held a"),
    }
    assert all(r["structure"] is None and r["labels"] is None for r in table)


def test_stripped_structures(tmp_path):
    table = rows(tmp_path, GhkmOptions(well_formed=True, phrases="none", max_composed=1))
    assert {(r["source"], r["target"]) for r in table} == {r[:2] for r in MINIMAL}
    assert all(r["structure"] is None and r["labels"] is None for r in table)


def test_phrases(tmp_path):
    found = {
        name: {(r["source"], r["target"], r["structure"]) for r in rows(tmp_path / name, options) if r["lhs"] == "X"}
        for name, options in RULE_SETS.items()
    }
    words = {("Bùshí", "Bush"), ("yǔ", "with"), ("Shālóng", "Sharon"), ("huìtán", "talk"), ("jǔxíng", "held a")}
    longer = {
        ("yǔ Shālóng", "with Sharon"),
        ("jǔxíng le huìtán", "held a talk"),
        ("yǔ Shālóng jǔxíng le huìtán", "held a talk with Sharon"),
        (" ".join(bush.SOURCE), " ".join(bush.TARGET)),
    }
    assert {p[:2] for p in found["c2s"]} == words | longer  # 举行 了 is no node
    assert found["c2s"] == found["c2s-wf-s2s"]
    assert {p[:2] for p in found["c2s-wf"]} == words - {("jǔxíng", "held a")} | longer
    assert {p[:2] for p in found["c2d-s2d"]} == {p[:2] for p in found["c2s-wf"]}
    assert {p[:2] for p in found["c2d"]} == words | longer
    assert found["c2d"] - found["c2d-s2d"] == {("jǔxíng", "held a", "0 0 1")}  # ill-formed: a number more
    assert ("jǔxíng le huìtán", "held a talk", "0 3 1") in found["c2d-s2d"]
    assert all(p[2] is None for name in ("c2s", "c2s-wf", "c2s-wf-s2s") for p in found[name])


def phrase_file(folder, *trees):
    path = folder / "phrases.conllu"
    write(path, trees)
    return path


def test_a_parsed_phrase_has_its_own_structure(tmp_path):
    held = Dependency(["held", "a"], [-1, 0], ["VB", "XX"])
    other = Dependency(["a", "talk"], [-1, 0], ["VB", "XX"])  # which is no ill-formed phrase
    options = replace(RULE_SETS["c2d"], phrase_dependencies=phrase_file(tmp_path, other, held))
    table, plain = rows(tmp_path, options), rows(tmp_path / "plain", RULE_SETS["c2d"])
    assert sides(table) - sides(plain) == {("jǔxíng", "held a", "0 1")}
    assert sides(plain) - sides(table) == {("jǔxíng", "held a", "0 0 1")}
    [found] = [r for r in table if r["target"] == "held a"]
    assert (found["labels"], found["alignment"]) == ("VB XX", "0-0 0-1")
    facts = json.loads((tmp_path / "counts/extraction.json").read_text())
    assert facts["counts"]["phrases_parsed"] == 1
    assert facts["options"]["phrase_dependencies"] == str(tmp_path / "phrases.conllu")
    assert ill_formed_phrases(tmp_path / "plain/rules.parquet") == ["held a"]
    assert ill_formed_phrases(tmp_path / "rules.parquet") == []


def test_parses_of_phrases_that_are_no_trees(tmp_path):
    """Cycles and missing heads leave the phrase as it is; several roots float."""
    for heads in ([1, 0], [-1, Dependency.NO_HEAD]):
        path = phrase_file(tmp_path, Dependency(["held", "a"], heads, ["VB", "XX"]))
        table = rows(tmp_path / str(heads), replace(RULE_SETS["c2d"], phrase_dependencies=path))
        assert ("jǔxíng", "held a", "0 0 1") in sides(table)
    path = phrase_file(tmp_path, Dependency(["held", "a"], [-1, -1], ["VB", "XX"]))
    table = rows(tmp_path / "roots", replace(RULE_SETS["c2d"], phrase_dependencies=path))
    assert ("jǔxíng", "held a", "0 0") in sides(table)


def test_refused_parses_of_phrases(tmp_path):
    path = phrase_file(tmp_path, Dependency(["held", "a"], [-1, 0]))
    with pytest.raises(FormatError, match=r"phrases.conllu.*tree 1: it has no tags"):
        rows(tmp_path, replace(RULE_SETS["c2d"], phrase_dependencies=path))
    for name in ("c2s", "c2d-s2d", "c2s-wf-s2s"):
        with pytest.raises(UsageError, match="phrase_dependencies"):
            rows(tmp_path, replace(RULE_SETS[name], phrase_dependencies=path))
    with pytest.raises(ValueError, match="'held' first, has no tags"):
        GhkmExtractor(
            bitext([PAIR]), ForestBank(math.inf), DependencyBank(), RULE_SETS["c2d"], [Dependency(["held"], [-1])]
        )
    rows(tmp_path, RULE_SETS["c2s"])
    table = pq.read_table(tmp_path / "rules.parquet")
    pq.write_table(table.drop_columns(["structure"]), tmp_path / "plain.parquet")
    with pytest.raises(FormatError, match="no column structure"):
        ill_formed_phrases(tmp_path / "plain.parquet")


def test_escaped_words_of_ill_formed_phrases(tmp_path):
    columns = {"target": ["\\) a", "\\\\ b", "[X,1] c"], "structure": ["0 0 1", "0 0 1", "0 0 1"]}
    pq.write_table(pa.table({**columns, "variables": pa.array([0, 0, 1], pa.uint8())}), tmp_path / "rules.parquet")
    assert ill_formed_phrases(tmp_path / "rules.parquet") == [") a", "\\ b"]


def test_facts(tmp_path):
    rows(tmp_path, RULE_SETS["c2d"])
    facts = json.loads((tmp_path / "counts/extraction.json").read_text())
    assert (facts["extractor"], facts["labels"], facts["roots"]) == ("ghkm", True, True)
    assert {name: n for name, n in facts["counts"].items() if n} == {
        "pairs": 1, "nodes": 12, "frontier": 9, "minimal": 10, "composed": 26, "phrases": 9, "phrases_well_formed": 8,
        "phrases_on_nodes": 9,
    }  # fmt: skip


PAIR = (bush.SOURCE, bush.TARGET, bush.ALIGNMENT)
NO_PARSE = ParseForest(Hypergraph.from_arrays([0], [0], [], None), [], [], [], ScoreKind.posterior)


def counted(folder, options, pairs, forests, dependencies=None, **how):
    counts = taken(pairs, forests, folder, options, dependencies, **how).counts
    return {name: n for name, n in counts.items() if n}


def test_trees_are_forests(tmp_path):
    tree = Tree.parse("(NP (DT das) (NN Haus))")
    pair = (["das", "Haus"], ["the", "house", "."], Alignment.parse("0-0 1-1"))
    extraction = taken([pair], [tree], tmp_path, GhkmOptions(max_composed=2))
    score_rules(extraction, tmp_path / "rules.parquet")
    table = pq.read_table(tmp_path / "rules.parquet").to_pylist()
    assert {(r["source"], r["target"]): r["count"] for r in table} == {
        ("DT( das )", "the"): 1,
        ("NN( Haus )", "house"): 1,
        ("NP( [DT,1] [NN,2] )", "[DT,1] [NN,2] ."): 1,  # nobody else takes the full stop: the highest node does
        ("NP( DT( das ) [NN,1] )", "the [NN,1] ."): 1,
        ("NP( [DT,1] NN( Haus ) )", "[DT,1] house ."): 1,
        ("das", "the"): 1,
        ("Haus", "house"): 1,
        ("Haus", "house ."): 1,
        ("das Haus", "the house"): 1,
        ("das Haus", "the house ."): 1,
    }


def test_many_variables(tmp_path):
    words = [f"w{i}" for i in range(12)]
    tree = Tree.parse(f"(S {' '.join(f'(T{i} {w})' for i, w in enumerate(words))})")
    pair = (words, words[::-1], Alignment([(i, 11 - i) for i in range(12)]))
    heads = Dependency(words[::-1], [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, -1])
    options = GhkmOptions(True, True, "none", max_composed=1)
    extraction = taken([pair], [tree], tmp_path, options, [heads])
    score_rules(extraction, tmp_path / "rules.parquet")
    assert compile_table(tmp_path / "rules.parquet", tmp_path / "rules.table").rules == 13
    (flat,) = (r for r in pq.read_table(tmp_path / "rules.parquet").to_pylist() if r["lhs"] == "S")
    assert flat["source"] == "S( " + " ".join(f"[T{i},{i + 1}]" for i in range(12)) + " )"
    assert flat["target"] == " ".join(f"[T{i},{i + 1}]" for i in reversed(range(12)))
    assert flat["structure"] == "2 3 4 5 6 7 8 9 10 11 12 0"


def test_unaligned_words_go_wherever_they_can(tmp_path):
    tree = Tree.parse("(NP (DT das) (NN Haus))")
    pair = (["das", "Haus"], ["the", "house", "."], Alignment.parse("0-0 1-1"))
    options = GhkmOptions(phrases="none", max_composed=1, max_attachments=8)
    extraction = taken([pair], [tree], tmp_path, options)
    score_rules(extraction, tmp_path / "rules.parquet")
    table = pq.read_table(tmp_path / "rules.parquet").to_pylist()
    assert {(r["source"], r["target"]): r["count"] for r in table} == {
        ("DT( das )", "the"): 1,
        ("NN( Haus )", "house"): 0.5,
        ("NN( Haus )", "house ."): 0.5,
        ("NP( [DT,1] [NN,2] )", "[DT,1] [NN,2] ."): 0.5,
        ("NP( [DT,1] [NN,2] )", "[DT,1] [NN,2]"): 0.5,
    }


def test_rules_are_counted_by_kind(tmp_path):
    for memory in (1 << 30, 0):
        trees = [bush.DEPENDENCY] * 3000
        made = taken([PAIR] * 3000, [bush.forest()] * 3000, tmp_path, RULE_SETS["c2d"], trees, memory=memory)
        assert made.facts["parts"] == (1 if memory else 3)
        assert rule_kinds(made) == RuleKinds(fragments=36, phrases=9)


def test_phrases_that_begin_with_a_variable_are_phrases(tmp_path):
    options = GhkmOptions(sequences=True, max_nonterminals=2)
    table = rows(tmp_path, options)
    fragments = sum("( " in row["source"] for row in table)
    assert any(row["source"].startswith("[X,") for row in table)
    made = taken([PAIR], [bush.forest({11: math.log(0.75), 12: math.log(0.25)})], tmp_path / "kinds", options)
    assert rule_kinds(made) == RuleKinds(fragments, len(table) - fragments)


def test_a_root_that_a_treebank_calls_x_is_no_phrase(tmp_path):
    pairs = [(["das", "Haus"], ["the", "house"], Alignment.parse("0-0 1-1"))]
    found = [
        rule_kinds(taken(pairs, [Tree.parse(f"({root} (DT das) (NN Haus))")], tmp_path / root, None))
        for root in ("NP", "X")
    ]
    assert found == [RuleKinds(fragments=6, phrases=3)] * 2


def ambiguous(path):
    """S over N or M, as probable; N over DT NN or, five times less so, over JJ NN."""
    half, tenth = math.log(0.5), math.log(0.1)
    nodes = [("DT", 0, 1, [(0, 0)]), ("JJ", 0, 1, [(0, 0)]), ("NN", 1, 2, [(0, 1)])]
    nodes += [
        ("N", 0, 2, [(half, 2, 4), (tenth, 3, 4)]),
        ("M", 0, 2, [(half, 2, 4)]),
        ("S", 0, 2, [(half, 5), (half, 6)]),
    ]
    content = {
        "words": ["das", "Haus"],
        "scores": "posterior",
        "goal": 7,
        "nodes": [{"label": label, "span": [b, e], "edges": edges} for label, b, e, edges in nodes],
    }
    path.write_text(json.dumps(content) + "\n")
    return next(read_forests(path))


def test_probabilities_are_those_of_the_forest_before_pruning(tmp_path):
    pairs = [(["das", "Haus"], ["the", "house"], Alignment.parse("0-0 1-1"))]
    options = GhkmOptions(prune=1.0, max_composed=1, phrases="none")
    found = rows(tmp_path, options, [ambiguous(tmp_path / "zh.jsonl")], pairs, [Dependency([], [])])
    counts = {r["source"]: r["count"] for r in found}
    assert "N( [JJ,1] [NN,2] )" not in counts
    # In the forest as given P(N → DT NN) is 5/6; were it 1, both would count half.
    assert counts["S( [N,1] )"] == pytest.approx(5 / 11, abs=1e-3)
    assert counts["S( [M,1] )"] == pytest.approx(6 / 11, abs=1e-3)


def test_pairs_that_give_nothing_are_counted(tmp_path):
    forest = bush.forest()
    pairs = [PAIR, PAIR, PAIR, (*PAIR[:2], Alignment([])), PAIR, PAIR]
    nothing, loop = Dependency([], []), Dependency(bush.TARGET, [1, 0, 3, 1, 1, 4])
    trees = [bush.DEPENDENCY] * 4 + [nothing, loop]
    found = counted(tmp_path, RULE_SETS["c2d"], pairs, [forest, None, NO_PARSE, forest, forest, forest], trees)
    assert {name: found[name] for name in ("pairs", "unparsed", "unlinked", "no_tree", "minimal")} == {
        "pairs": 6, "unparsed": 2, "unlinked": 1, "no_tree": 2, "minimal": 10,
    }  # fmt: skip
    assert counted(tmp_path, GhkmOptions(), [], []) == {}


@pytest.mark.parametrize(
    ("pairs", "dependencies", "error", "problem"),
    [
        (
            [PAIR, (["Bùshí", *bush.SOURCE[:5]], *PAIR[1:])], True, ValueError,
            "pair 2: word 2 of the forest is 'yǔ', of the source sentence 'Bùshí'",
        ),
        (
            [PAIR, (bush.SOURCE[:5], bush.TARGET, Alignment([]))], True, ValueError,
            "pair 2: the forest has 6 words, the source sentence has 5",
        ),
        (
            [PAIR, (bush.SOURCE, [*bush.TARGET, "."], bush.ALIGNMENT)], True, ValueError,
            "pair 2: the dependency tree has 6 words, the target sentence has 7",
        ),
        ([PAIR], False, UsageError, "well-formed rules and phrases take the dependency trees of the target sides"),
    ],
)  # fmt: skip
def test_bad_input(tmp_path, pairs, dependencies, error, problem):
    trees = [bush.DEPENDENCY] * len(pairs) if dependencies else None
    with pytest.raises(error) as caught:
        taken(pairs, [bush.forest()] * len(pairs), tmp_path, RULE_SETS["c2d"], trees)
    assert str(caught.value) == problem
    assert not (tmp_path / "extraction.json").exists()


@pytest.mark.parametrize(
    ("forests", "dependencies", "problem"),
    [
        (1, 2, "there are 1 forests for 2 sentence pairs"),
        (3, 2, "there are 3 forests for 2 sentence pairs"),
        (2, 1, "there are 1 dependency trees for 2 sentence pairs"),
    ],
)
def test_every_pair_has_its_parses(forests, dependencies, problem):
    forest_bank, dependency_bank = ForestBank(3.0), DependencyBank()
    forest_bank.append([bush.forest()] * forests, 1)
    for _ in range(dependencies):
        dependency_bank.append(bush.DEPENDENCY)
    with pytest.raises(ValueError, match=f"^{problem}$"):
        GhkmExtractor(bitext([PAIR, PAIR]), forest_bank, dependency_bank, RULE_SETS["c2d"])


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"max_composed": 0}, "max_composed is 0; expected at least 1, or -1 for no limit"),
        ({"phrase_loose": -2}, "phrase_loose is -2; expected at least 0, or -1 for no limit"),
        ({"prune": -1.0}, "prune is -1.0; expected at least 0"),
        ({"prune": math.nan}, "prune is nan; expected a number, at least 0"),
        ({"phrases": "some"}, "phrases is 'some'; expected 'none', 'all' or 'well-formed'"),
        ({"structure": True}, "structure is kept only of well-formed rules: set well_formed too"),
    ],
)
def test_bad_options(change, problem):
    with pytest.raises(UsageError) as caught:
        GhkmOptions(**change)
    assert str(caught.value) == problem


def chart(words):
    """Every binary tree over the words: half a million edges for 150 of them."""
    builder = Builder()
    node = {}
    for length in range(1, words + 1):
        for begin in range(words - length + 1):
            node[begin, begin + length] = builder.add_node()
            if length == 1:
                builder.add_edge(node[begin, begin + 1], [])
            for middle in range(begin + 1, begin + length):
                builder.add_edge(node[begin, begin + length], [node[begin, middle], node[middle, begin + length]])
    graph = builder.freeze(node[0, words]).graph
    names = [f"w{i}" if e - b == 1 else "X" for i, (b, e) in enumerate(node)]
    return ParseForest(graph, names, list(node), [0.0] * graph.edges, ScoreKind.posterior)


def test_a_wide_forest_runs_into_its_limits(tmp_path):
    forest = chart(86)
    assert forest.graph.edges > 100_000
    pair = (forest.words, ["x", "y"], Alignment.parse("0-0 85-1"))
    found = counted(tmp_path, GhkmOptions(composed_fragments=50), [pair], [forest])
    assert found["minimal_capped"] > 80
    assert found["minimal"] > 0


def test_a_deep_tree(tmp_path):
    depth = 20_000
    tree = Tree.parse("(S (A a) " + "(B " * depth + "b" + ")" * depth + ")")
    pairs = [(["a", "b"], ["x", "y"], Alignment.parse(links)) for links in ("0-0 1-1", "0-0")]
    off = dict.fromkeys((f"minimal_{name}" for name in ("height", "edges", "leaves", "fragments")), -1)
    found = counted(tmp_path, GhkmOptions(phrases="none", **off), pairs, [tree, tree])
    # Aligned, every level is cut; unaligned, all of it is in one rule.
    assert found["minimal"] == depth + 2 + 2
    extraction = taken(pairs, [tree, tree], tmp_path, GhkmOptions(phrases="none", **off))
    score_rules(extraction, tmp_path / "rules.parquet")
    done = compile_table(tmp_path / "rules.parquet", tmp_path / "rules.table")
    assert done.left_out == 1


def test_parts_and_threads_do_not_show(tmp_path):
    pairs, forests, trees = [PAIR] * 5000, [bush.forest()] * 5000, [bush.DEPENDENCY] * 5000
    tables = []
    for threads, memory in ((1, 1 << 30), (2, 1 << 30), (1, 0)):
        folder = tmp_path / f"{threads}-{memory}"
        how = {"threads": threads, "memory": memory}
        tables.append(rows(folder, RULE_SETS["c2d"], forests, pairs, trees, **how))
    assert json.loads((tmp_path / "1-0/counts/extraction.json").read_text())["parts"] == 5
    key = lambda r: (r["source"], r["target"])  # noqa: E731
    assert sorted(tables[0], key=key) == sorted(tables[1], key=key) == sorted(tables[2], key=key)
    one, two = ({p.name: p.read_bytes() for p in (tmp_path / f"{t}-{1 << 30}/counts").iterdir()} for t in (1, 2))
    assert one == two
