"""Several grammars together: which they may be, how each fares, and the limits of all."""

import math
import re
from pathlib import Path

import pytest
from split_grammars import grammar

from treeglot._core import SplitGrammar
from treeglot.base.errors import FormatError, UsageError
from treeglot.cli import main
from treeglot.parse import ParserTraining, ParsingOptions, load_parser, treebank
from treeglot.parse.parser import GrammarParser, join_parsers
from treeglot.parse.train import train_in
from treeglot.syntax import Tree

RULES = "ROOT_0 -> S_0 1.0\nS_0 -> A_0 S_0 0.3\nS_0 -> S_0 A_0 0.3\nS_0 -> A_0 A_0 0.3\n"
STATES = dict.fromkeys(("ROOT", "S", "A"), 1)
ONE = ("(ROOT (S (A a) (B b)))", "(ROOT (S (S (A a) (B b)) (B b)))")
OTHER = ("(ROOT (S (A a) (B b)))", "(ROOT (S (A a) (X (B b) (B b))))", "(ROOT (S (A a) (C c)))")


def chain(*words: str) -> SplitGrammar:
    """A grammar of these words alone."""
    return grammar(STATES, RULES, "".join(f"A {word} [0.5]\n" for word in words))


def write(folder: Path, *trees: str) -> Path:
    train_in(folder, treebank(Tree.parse(tree) for tree in trees * 10)[0], ParserTraining(cycles=0))
    return folder


def test_a_grammar_without_a_parse_has_no_say_and_each_is_told() -> None:
    parser = GrammarParser(chain("a", "b"), also=(chain("a"), chain("a", "c")))
    lines = [["a", "a"], ["a", "b"], ["c", "a"], ["a", "d"], []]
    forests = list(parser.forests(lines))
    assert [parsed.status for parsed in forests] == ["parsed", "fewer", "fewer", "flat", "no_words"]
    assert [parsed.each for parsed in forests] == [
        ("parsed", "parsed", "parsed"),
        ("parsed", "flat", "flat"),
        ("flat", "flat", "parsed"),
        ("flat", "flat", "flat"),
        ("no_words", "no_words", "no_words"),
    ]
    (alone,) = GrammarParser(chain("a", "b")).forests([["a", "b"]])
    assert forests[1].value == alone.value
    assert forests[1].log_probability == alone.log_probability
    assert forests[3].log_probability == -math.inf
    assert [str(parsed.value) for parsed in parser.trees(lines)][2:] == ["(S (A c) (A a))", "(S (A a) (UNK d))", "(())"]
    assert parser.counts == {"parsed": 2, "fewer": 4, "flat": 2, "no_words": 2}
    assert (
        "3 grammars, 10 sentences: 4 parsed with some of the grammars, as the others have no parse" in parser.summary()
    )


def test_limits_hold_for_all_grammars_together() -> None:
    words = ["a"] * 30
    several = (chain("a"),) * 3
    for options, status in (
        (ParsingOptions(time_limit=1e-9), "late"),
        (ParsingOptions(longest=29), "too_long"),
        (ParsingOptions(memory_limit=1e-6), "too_large"),
    ):
        parser = GrammarParser(chain("a"), options, also=several)
        (tree,), (forest,) = parser.trees([words]), parser.forests([words])
        assert tree.status == forest.status == status
        assert forest.each == (status,) * 4
        assert forest.value.count() == 1
        assert forest.value.viterbi() == Tree.parse(f"(ROOT {tree.value})")


def test_memory_of_forests_and_their_union_counts() -> None:
    words, wide = ["a"] * 24, {"coarse": (math.inf,), "prune": math.inf}
    # What two grammars need, between what one needs and more than enough.
    low, high = 0.0, 1.0
    while high - low > 1e-6:
        middle = (low + high) / 2
        (found,) = GrammarParser(chain("a"), ParsingOptions(memory_limit=middle, **wide)).forests([words])
        low, high = (low, middle) if found.status == "parsed" else (middle, high)
    options = ParsingOptions(memory_limit=high, **wide)
    (alone,) = GrammarParser(chain("a"), options).forests([words])
    (both,) = GrammarParser(chain("a"), options, also=(chain("a"),)).forests([words])
    assert (alone.status, both.status, both.each) == ("parsed", "too_large", ("parsed", "too_large"))


def test_a_grammar_after_one_without_a_parse_may_be_late() -> None:
    options = ParsingOptions(time_limit=1e-4)
    parser = GrammarParser(chain("b"), options, also=(chain("a"),))
    (parsed,) = parser.forests([["a"] * 100])
    assert parsed.status == "late"
    assert parsed.each == ("flat", "late")


def test_grammars_must_share_the_root_and_some_labels() -> None:
    tops = grammar(dict.fromkeys(("TOP", "S", "A"), 1), RULES.replace("ROOT", "TOP"), "A a [0.5]\n")
    with pytest.raises(ValueError, match="the root of grammar 2 is 'TOP'; expected that of the first, 'ROOT'"):
        GrammarParser(chain("a"), also=(tops,))
    phrases = grammar(dict.fromkeys(("ROOT", "IP", "A"), 1), RULES.replace("S_0", "IP_0"), "A a [0.5]\n")
    message = "grammar 3 shares no phrase with the first: 'IP'; expected some of 'S'"
    with pytest.raises(ValueError, match=message):
        GrammarParser(chain("a"), also=(chain("a"), phrases))
    tags = grammar(dict.fromkeys(("ROOT", "S", "N"), 1), RULES.replace("A_0", "N_0"), "N a [0.5]\n")
    with pytest.raises(ValueError, match="grammar 2 shares no tag with the first: 'N'; expected some of 'A'"):
        GrammarParser(chain("a"), also=(tags,))


def test_labels_that_some_lack_are_named_and_may_win(tmp_path: Path) -> None:
    one, other = write(tmp_path / "one", *ONE), write(tmp_path / "other", *OTHER)
    parser = load_parser(one, also=[other])
    assert parser.lacking == {1: ["C", "X"]}
    assert parser.differences() == "labels differ: grammar 1 lacks C, X; rules with these count as missing there"
    assert load_parser(one, also=[one]).differences() == ""
    (parsed,) = parser.forests([["a", "b", "b"]])
    found = {str(tree): score for score, tree in parsed.value.kbest(9)}
    assert found.keys() == {"(ROOT (S (S (A a) (B b)) (B b)))", "(ROOT (S (A a) (X (B b) (B b))))"}
    # One grammar is certain of its rules, and the other has none of those above two words: one of the two, or both.
    (wider,) = load_parser(one, ParsingOptions(missing=2.0), also=[other]).forests([["a", "b", "b"]])
    scores = sorted(score for score, _ in wider.value.kbest(9))
    assert [round(score, 9) for score in scores] == [-2.0, -2.0]


def test_many_labels_in_a_cycle_keep_the_best_tree() -> None:
    names = [f"X{n}" for n in range(8)]
    up = "".join(f"{x}_0 -> {y}_0 0.1\n" for x in names for y in names if x < y)
    down = "".join(f"{x}_0 -> {y}_0 0.1\n" for x in names for y in names if x > y)
    shared = "".join(f"ROOT_0 -> {x}_0 0.1\n{x}_0 -> A_0 0.1\n" for x in names)
    states = dict.fromkeys(("ROOT", *names, "A"), 1)
    one, other = (grammar(states, shared + steps, "A a [0.5]\n") for steps in (up, down))
    options = ParsingOptions(coarse=(math.inf,), prune=math.inf)
    parser = GrammarParser(one, options, also=(other,))
    (parsed,) = parser.forests([["a"]])
    assert parsed.status == "parsed"
    assert parsed.cut > 0
    (best, tree), *_ = parsed.value.kbest(1)
    assert re.fullmatch(r"\(ROOT \(X\d \(A a\)\)\)", str(tree))
    assert all(math.isfinite(score) for score in parsed.value.scores)
    (few,) = GrammarParser(one, ParsingOptions(coarse=(math.inf,), prune=0.0), also=(other,)).forests([["a"]])
    assert math.isclose(few.value.kbest(1)[0][0], best, abs_tol=1e-9)
    (alone,) = parser.trees([["a"]])
    assert alone.cut == 0
    assert f"(ROOT {alone.value})" in [str(tree) for score, tree in parsed.value.kbest(99) if score > best - 1e-9]


def test_posteriors_too_small_for_a_double_are_no_nan() -> None:
    rules = "ROOT_0 -> S_0 1.0\nS_0 -> A_0 S_0 1e-300\nS_0 -> S_0 A_0 0.5\nS_0 -> A_0 A_0 0.5\n"
    rare = grammar(STATES, rules, "A a [1e-300]\n")
    for scores in ("posterior", "probability"):
        options = ParsingOptions(coarse=(math.inf,), prune=math.inf, scores=scores)  # type: ignore[arg-type]
        (parsed,) = GrammarParser(chain("a"), options, also=(rare,)).forests([["a"] * 6])
        assert parsed.status == "parsed"
        assert all(-math.inf < score <= 0 for score in parsed.value.scores)
        assert math.isfinite(parsed.log_probability)


def test_edges_beyond_the_most_are_counted() -> None:
    options = ParsingOptions(coarse=(math.inf,), prune=math.inf, most_edges=1)
    (parsed,) = GrammarParser(chain("a"), options, also=(chain("a"),)).forests([["a"] * 3])
    # S over all words is cut in both forests, which keep the same edge.
    assert (parsed.value.count(), parsed.cut) == (1, 2)
    rules = RULES.replace("S_0 -> A_0 S_0 0.3\n", "")
    other = grammar(STATES, rules, "A a [0.5]\n")
    mirrored = grammar(STATES, RULES.replace("S_0 -> S_0 A_0 0.3\n", ""), "A a [0.5]\n")
    (parsed,) = GrammarParser(other, options, also=(mirrored,)).forests([["a"] * 3])
    assert (parsed.value.count(), parsed.cut) == (1, 1)


def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one, other = write(tmp_path / "one", *ONE), write(tmp_path / "other", *OTHER)
    text, report = tmp_path / "text", tmp_path / "report.tsv"
    text.write_text("a b b\na b\n")
    trees, joined = tmp_path / "out.tree", tmp_path / "joined.tree"
    assert main(["parse", str(one), str(text), "--also", str(other), "--trees", f"--out={trees}"]) == 0
    assert "labels differ: grammar 1 lacks C, X; " in capsys.readouterr().err
    command = ["parse", str(one), str(text), f"--also={other}", f"--out={tmp_path / 'out.jsonl'}", f"--report={report}"]
    assert main(command) == 0
    header, *rows = (line.split("\t") for line in report.read_text().splitlines())
    assert header == ["line", "words", "status", "log_probability", "cut", "each"]
    assert [(row[2], row[5]) for row in rows] == [("parsed", "parsed,parsed"), ("parsed", "parsed,parsed")]
    assert main(["parser", "join", str(one), str(other), f"--out={tmp_path / 'both'}"]) == 0
    assert "2 grammars parse together" in capsys.readouterr().err
    assert main(["parse", str(tmp_path / "both"), str(text), "--trees", f"--out={joined}"]) == 0
    assert joined.read_bytes() == trees.read_bytes()
    assert trees.read_text().splitlines()[1] == "(S (A a) (B b))"
    capsys.readouterr()
    assert main(["parser", "join", str(one), str(other), f"--out={tmp_path / 'both'}"]) == 2
    assert "both exists; expected a new folder" in capsys.readouterr().err
    assert main(["parser", "join", str(one), f"--out={tmp_path / 'new'}"]) == 2
    assert "found 1 grammar; expected two or more" in capsys.readouterr().err
    assert main(["parser", "join", str(one), str(other)]) == 2
    assert "there is no --out; expected the folder of the joined grammars" in capsys.readouterr().err


def test_folders_of_joined_grammars_are_joined_flat(tmp_path: Path) -> None:
    one, other = write(tmp_path / "one", *ONE), write(tmp_path / "other", *OTHER)
    join_parsers([one, other], tmp_path / "two")
    join_parsers([other, tmp_path / "two"], tmp_path / "three")
    parser = load_parser(tmp_path / "three", also=[one])
    assert len(parser.also) == 3
    assert [grammar.labels for grammar in parser.also] == [load_parser(f).grammar.labels for f in (one, other, one)]
    (tmp_path / "three" / "also" / "notes").mkdir()
    with pytest.raises(FormatError, match="is a folder in 'also'; expected numbers as the names of grammars"):
        load_parser(tmp_path / "three")


def test_errors_of_several_grammars_name_their_folders(tmp_path: Path) -> None:
    one, other = write(tmp_path / "one", *ONE), write(tmp_path / "other", "(TOP (S (A a)))", "(TOP (X (A a)))")
    with pytest.raises(UsageError, match=r"one, .*other: the root of grammar 2 is 'TOP'"):
        load_parser(one, also=[other])
    with pytest.raises(UsageError, match=r"one, .*other: the root of grammar 2 is 'TOP'"):
        join_parsers([one, other], tmp_path / "both")
    assert not (tmp_path / "both").exists()
