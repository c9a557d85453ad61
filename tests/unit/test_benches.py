"""Benchmarks write their figures as tables that the page of results can show."""

import json
import math
import sys
from collections import Counter
from pathlib import Path

import pytest
from benches import BENCH, load_bench

from treeglot import sample
from treeglot.analyse.rewrites import count_rewrites
from treeglot.cli import main
from treeglot.decode import Translator
from treeglot.models import load
from treeglot.parse.brackets import compare
from treeglot.syntax import Dependency, ParseForest, Tree, read, write


@pytest.mark.parametrize("name", sorted(path.stem for path in BENCH.glob("*.py")))
def test_benchmarks_import_what_exists(name: str) -> None:
    assert load_bench(name)["__doc__"]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("benches")
    sample.write_corpus(folder, 120)
    source, target = str(folder / "train.zh"), str(folder / "train.en")
    files = ["--source", source, "--target", target, "--alignments", str(folder / "train.align")]
    assert main(["train", "hiero", *files, "-o", str(folder / "hiero")]) == 0
    return folder


@pytest.mark.parametrize(
    ("name", "arguments", "columns", "rows"),
    [
        ("heads", ["train.en.tree"], 4, 3),
        ("parse", ["sample", "--cycles", "0", "--threads", "1"], 7, 1),
        ("dependency_lm", ["train.en.tree"], 4, 2),
        ("extract", ["train.zh", "train.en", "train.align", "--threads", "1"], 4, 5),
        ("decode", ["test.zh", "--model", "hiero", "--pops", "5,20"], 6, 2),
        ("decode", ["test.zh", "--model", "hiero", "--pops", "5,20", "--errors"], 6, 2),
        ("reachable", ["test.zh", "test.en", "hiero", "--threads", "1"], 5, 1),
        ("confidence", ["hiero", "dev.zh", "dev.en", "test.zh", "test.en", "--threads", "1"], 3, 4),
    ],
)
def test_a_benchmark_writes_its_table(
    corpus: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    arguments: list[str],
    columns: int,
    rows: int,
) -> None:
    monkeypatch.chdir(corpus)
    monkeypatch.setattr(sys, "argv", [f"{name}.py", *arguments, "--json", str(tmp_path / "table.json")])
    load_bench(name)["main"]()
    table = json.loads((tmp_path / "table.json").read_text())
    assert (len(table["columns"]), len(table["rows"])) == (columns, rows)
    text = load_bench("render")["table_text"](tmp_path / "table.json")
    assert len(text.splitlines()) == rows + 4  # the head, the rule below it, and the origin after a blank line


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (
            ["--limit", "hiero=test.zh", "--lm", "x", "--threads", "1"],
            "--lm, --threads beside --limit; expected it alone",
        ),
        (["--limit", "hiero=test.zh", "--span-limit", "20"], "--span-limit beside --limit; expected it alone"),
        (["--limit", "hiero=test.zh", "--rests"], "--rests beside --limit; expected it alone"),
        (["--limit", "test.zh"], "'test.zh' is no input of --limit; expected MODEL=FILE"),
        (["--rests", "test.zh", "--errors", "--out", "x"], "--errors, --out beside --rests; expected it alone"),
        (["--rests", "test.zh", "--weights", "x"], "--rests without --rules, --lm; expected all of them"),
        (["test.zh", "--model", "hiero", "--lm", "x"], "--lm beside --model; expected it alone"),
        (["test.zh", "--rules", "x"], "--rules without --weights; expected all of them"),
        (["test.zh"], "there are no rules; expected --model or --rules"),
    ],
)
def test_decode_refuses_options_without_effect(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], arguments: list[str], problem: str
) -> None:
    monkeypatch.setattr(sys, "argv", ["decode.py", *arguments])
    with pytest.raises(SystemExit):
        load_bench("decode")["main"]()
    assert f"error: {problem}" in capsys.readouterr().err


def test_the_limit_of_a_search_is_that_of_one_language_model(corpus: Path) -> None:
    check = load_bench("decode")["check_language_model"]
    model = load(corpus / "hiero").translator
    check("hiero", model)
    with pytest.raises(SystemExit, match="hiero has no language model; expected one"):
        check("hiero", Translator(model.table, model.weights))
    with pytest.raises(SystemExit, match="hiero has further language models: more; expected one"):
        check("hiero", Translator(model.table, model.weights, model.lm, lms={"more": model.lm}))


def test_rest_costs_are_compared_without_warnings(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(corpus)
    files = ["--rules", "hiero/rules.table", "--lm", "hiero/lm.bin", "--weights", "hiero/weights.txt"]
    asked = ["test.zh", "--rests", *files, "--pops", "5,20", "--json", str(tmp_path / "table.json")]
    monkeypatch.setattr(sys, "argv", ["decode.py", *asked])
    load_bench("decode")["main"]()
    table = json.loads((tmp_path / "table.json").read_text())
    assert (len(table["columns"]), len(table["rows"])) == (5, 2)


def test_text_of_a_second_language_model_has_nothing_near_tests(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "test.en").write_text("the old man sees a dog .\nthe the the\n")
    lines = [
        "An old man.",
        "The old man sees a dog!",
        "The old man saw a dog.",
        "The the the the",
        "An old man.",
        "",
        "The",
    ]
    (tmp_path / "more.en").write_text("\n".join(lines) + "\n")
    command = ["lm_text", str(tmp_path / "more.en"), "--held-out", str(tmp_path / "test.en")]
    monkeypatch.setattr("sys.argv", [*command, "--out", str(tmp_path / "out.en")])
    load_bench("lm_text")["main"]()
    # 5 of 7 words are those of the first sentence, 3 of 4 those of the second: not near
    assert (tmp_path / "out.en").read_text() == "an old man .\nthe old man saw a dog .\nthe the the the\nthe\n"
    assert "7 lines, 5 different ones, 4 not near a held-out sentence" in capsys.readouterr().out


def test_substitutions_by_sentence_add_up_to_those_of_all() -> None:
    bench = load_bench("rewrites")
    fired = [
        {"glue": 2.0, "match_f": 3.0, "nomatch_f": 1.0, "match_e": 4.0, "subst_f[NP→NP]": 3.0, "subst_f[NP→VP]": 1.0},
        {},  # an empty sentence
        {"nomatch_f": 2.0, "nomatch_e": 2.0, "subst_f[NP→VP]": 2.0, "subst_e[NN→NP]": 2.0},
    ]
    found, whole = bench["counted"](fired), count_rewrites("fuzzy", fired)
    percentage = bench["Percentage"]()
    for side in ("source", "target"):
        for kind in ("glue", "match", "mismatch"):
            assert percentage.score(found.share(side, kind)) == pytest.approx(whole.share(side, kind))
        for rewrite in ("NP→NP", "NP→VP", "NN→NP", "X→X"):
            wanted = pytest.approx(whole.frequency(side, rewrite))
            assert percentage.score(found.rewrite(side, rewrite)) == wanted
    assert bench["common_rewrites"]([[found], [found]], "source") == ["NP→NP", "NP→VP"]


def test_grammars_together_keep_what_most_believe_in() -> None:
    bench = load_bench("grammars")
    one, two, three = (
        Tree.parse(text)
        for text in (
            "(S (NP (DT a) (NN b)) (VP (VB c) (NP (NN d))))",
            "(S (NP (DT a) (NN b)) (VP (VB c)) (NP (NN d)))",
            "(S (NP (DT a)) (VP (NN b) (VB c) (NN d)))",
        )
    )
    forests = [ParseForest.from_tree(tree) for tree in (one, two, three)]
    for tree, forest in zip((one, two, three), forests, strict=True):  # one grammar gives its own tree
        found = bench["beliefs"](forest, True)
        made = bench["tree_of"](bench["chosen"]([found], "mean"), [found], tree.words)
        assert compare([tree], [made]).f1 == 1.0
        assert "".join(made.words) == "abcd"
    spans = [bench["beliefs"](forest, False) for forest in forests]
    for how in ("mean", "product"):
        assert bench["chosen"](spans, how) == [(0, 2, ""), (0, 4, "")]
    both = ParseForest.from_kbest([(math.log(0.6), one), (math.log(0.4), three)])
    every = both.kbest(100)
    total = sum(math.exp(score) for score, _ in every)
    wanted: Counter[tuple[int, int]] = Counter()
    for score, tree in every:
        for span in load_bench("gold_spans")["constituent_spans"](tree):
            wanted[span] += math.exp(score) / total
    believed = bench["beliefs"](both, False)
    assert {span[:2]: p for span, p in believed.items()} == pytest.approx(wanted)
    assert len(every) > 1
    # In `product`, (1, 3) has odds above 1, too, but crosses what is likelier.
    assert bench["chosen"]([{(0, 2, ""): 0.6}, {}], "mean") == []
    sure, unsure = {(0, 2, ""): 0.99, (1, 3, ""): 0.6}, {(0, 2, ""): 0.3, (1, 3, ""): 0.7}
    assert bench["chosen"]([sure, unsure], "product") == [(0, 2, "")]


def test_sources_of_dependencies_are_written_and_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = ["see", "the", "stars"]
    chain, right, crossing = ([-1, 0, 1], [-1, 2, 0], [2, -1, 1, 1])
    (tmp_path / "text.en").write_text("see the stars\nstars\n")
    (tmp_path / "text.en.tree").write_text("(S (VP (VB see) (NP (DT the) (NNS stars))))\n(())\n")
    bank = [Dependency(["a", "b", "c", "d"], crossing), *(Dependency([n, *words[1:]], right) for n in "xyz")]
    write(tmp_path / "bank.conllu", bank)
    write(tmp_path / "other.conllu", [Dependency(words, chain), Dependency(["stars"], [-1])])
    bench, trained = load_bench("dependency_sources"), []

    class Parser:
        def parse(self, lines: list[list[str]]) -> list[Dependency]:
            return [Dependency(line, right[: len(line)]) for line in lines]

    def train(trees: list[Dependency]) -> bytes:
        trained.extend(tree.words[0] for tree in trees)
        return b"model"

    monkeypatch.setitem(bench["main"].__globals__, "train_parser", train)
    monkeypatch.setitem(bench["main"].__globals__, "open_parser", lambda *_: Parser())
    monkeypatch.chdir(tmp_path)
    files = ["--train", "bank.conllu", "--sentences", "2", "--trees", "text.en.tree", "--other", "graph=other.conllu"]
    tables = ["--agreement", "agreement.json", "--json", "sources.json"]
    monkeypatch.setattr(sys, "argv", ["dependency_sources.py", "text.en", *files, "--out", "out", *tables])
    bench["main"]()
    assert trained == ["x", "y"]  # the first ones without crossing arcs
    assert (tmp_path / "out/parser.udpipe").read_bytes() == b"model"
    assert [tree.heads.tolist() for tree in read(tmp_path / "out/graph.conllu")] == [chain, [-1]]
    assert [tree.heads.tolist() for tree in read(tmp_path / "out/udpipe.conllu")] == [right, [-1]]
    agreement, sources = (json.loads((tmp_path / name).read_text()) for name in ("agreement.json", "sources.json"))
    names = ["UDPipe", "graph", "trees, table", "trees, johansson-nugues", "trees, content"]
    assert [one["name"] for one in agreement["columns"][1:]] == names
    assert agreement["rows"][0] == ["UDPipe", None, *[100.0] * 4]  # roots
    assert agreement["rows"][1] == ["graph", 50.0, None, *[100.0] * 3]  # heads on the left
    assert agreement["rows"][2][1:3] == [100.0, 33.333]
    assert [row[:3] for row in sources["rows"]] == [[name, 2, int(name.startswith("trees"))] for name in names]
