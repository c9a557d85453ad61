"""Grammar files, unknown words, and what becomes of sentences that do not parse."""

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from treeglot._core import SignatureKind, SplitGrammar, SplitParser, signatures
from treeglot.base.errors import FormatError, UsageError
from treeglot.parse import Parser, ParsingOptions, load_parser
from treeglot.parse.brackets import compare
from treeglot.parse.grammar import load_grammar
from treeglot.parse.parser import GrammarParser
from treeglot.syntax import Tree
from treeglot.syntax.formats import read_forests, read_trees

SHARED = Path(__file__).parents[2].parent / "shared/data"

STATES = "ROOT\t0\t1 [0]\nS\t1\t1 [0]\nX\t2\t1 [0]\nA\t3\t1 [0]\n"
RULES = "ROOT_0 -> S_0 1.0\nS_0 -> X_0 0.5\nX_0 -> S_0 0.25\nS_0 -> A_0 0.25\nX_0 -> A_0 0.5\nS_0 -> S_0 S_0 0.25\n"
LEXICON = "A a [0.5]\nA UNK [0.1]\nA UNK-LC-ing [0.2]\nA -LRB- [0.05]\n"


def grammar(states: str = STATES, rules: str = RULES, lexicon: str = LEXICON) -> SplitGrammar:
    texts = zip(("states", "rules", "lexicon"), (states.encode(), rules.encode(), lexicon.encode()), strict=True)
    first, second, third = texts
    return SplitGrammar.read([(first, second, third)])


def test_unary_cycles_are_summed_up() -> None:
    # S and X lead to each other: S = A/4 + X/2, X = A/2 + S/4, so S = (A/4 + A/4) / (1 − 1/8).
    parser = GrammarParser(grammar(), ParsingOptions(coarse=(math.inf,), prune=math.inf))
    (parsed,) = parser.forests([["a"]])
    assert math.isclose(math.exp(parsed.log_probability), 0.5 * 0.5 / (1 - 0.125))
    # The forest has no cycle: of S over X and X over S, one is left.
    assert parsed.value.count() == 2
    assert str(parsed.value.viterbi()) == "(ROOT (S (A a)))"


def test_sums_over_chains_are_applied_once_over_a_span() -> None:
    # S → X and X → A stand beside S → A, which is their sum: S over X over A is no parse.
    states = "ROOT\t0\t1 [0]\nS\t1\t1 [0]\nX\t2\t1 [0]\nA\t3\t1 [0]\nB\t4\t1 [0]\n"
    rules = "S_0 -> S_0 1\nROOT_0 -> S_0 0.5\nROOT_0 -> X_0 0.25\nROOT_0 -> A_0 0.125\n"
    rules += "S_0 -> X_0 0.5\nX_0 -> A_0 0.5\nS_0 -> A_0 0.25\nX_0 -> S_0 0.5\nB_0 -> X_0 0.5\n"
    rules += "S_0 -> B_0 B_0 0.5\nX_0 -> B_0 B_0 0.25\nB_0 -> A_0 0.5\n"
    wide = ParsingOptions(coarse=(math.inf,), prune=math.inf)
    parser = GrammarParser(grammar(states, rules, "A a [0.5]\n"), wide)
    (one, two) = parser.forests([["a"], ["a", "a"]])
    assert math.isclose(math.exp(one.log_probability), 0.5 * 0.125)
    assert [str(tree) for _, tree in one.value.kbest(9)] == ["(ROOT (A a))"]
    # S or X over B B, below ROOT at once.
    assert math.isclose(math.exp(two.log_probability), (0.5 * 0.5 + 0.25 * 0.25) / 16)
    assert [(str(tree), round(math.exp(score), 9)) for score, tree in two.value.kbest(9)] == [
        ("(ROOT (S (B (A a)) (B (A a))))", 0.64),
        ("(ROOT (X (B (A a)) (B (A a))))", 0.04),
    ]


def test_a_label_that_no_rule_builds_over_a_span_passes_nothing_on() -> None:
    # X over Y and Y over Z stand without X over Z: over a span that only Z is built over, X is no parse.
    states = "".join(f"{label}\t{i}\t1 [0]\n" for i, label in enumerate(("ROOT", "S", "X", "Y", "Z", "A")))
    rules = "ROOT_0 -> ROOT_0 1.0\nROOT_0 -> S_0 0.5\nS_0 -> X_0 A_0 0.5\nS_0 -> Z_0 A_0 0.1\n"
    rules += "X_0 -> Y_0 0.5\nY_0 -> Z_0 0.5\nZ_0 -> A_0 A_0 0.5\n"
    _, kept = SplitParser(grammar(states, rules, "A a [0.5]\n"), 0).first_pass(["a"] * 3, math.inf)
    assert (0, 2, 4) in kept
    assert (0, 2, 3) not in kept
    # If a rule builds X there, Y below it counts, however bad that rule is.
    _, kept = SplitParser(grammar(states, rules + "X_0 -> A_0 A_0 1e-9\n", "A a [0.5]\n"), 0).first_pass(["a"] * 3, 1.0)
    assert (0, 2, 3) in kept


@pytest.mark.parametrize(
    "splits", ["1 [1000000]", "1048577 [1048576]", "1 " + "[1000000 " * 2000 + "]" * 2000], ids=["one", "count", "deep"]
)
def test_numbers_of_sub_states_take_no_more_room_than_their_text(splits: str) -> None:
    with pytest.raises(FormatError, match=r"states:2: .* is not LABEL NUMBER STATES"):
        grammar(STATES.replace("S\t1\t1 [0]", f"S\t1\t{splits}"))


def test_rules_of_many_sub_states_take_no_more_room_than_their_file() -> None:
    count = 2000
    states = STATES.replace("S\t1\t1 [0]", f"S\t1\t{count} " + " ".join(f"[{i}]" for i in range(count)))
    with pytest.raises(FormatError, match=r"rules:6: the rules have too many sub-states for a file of \d+ bytes"):
        grammar(states)


@pytest.mark.parametrize("number", ["nan", "inf", "1e999", "-0.5", "0x1p3", ""])
def test_a_probability_is_a_finite_number(number: str) -> None:
    with pytest.raises(FormatError, match="rules:1: "):
        grammar(rules=RULES.replace("ROOT_0 -> S_0 1.0", f"ROOT_0 -> S_0 {number}"))
    with pytest.raises(FormatError, match="lexicon:1: "):
        grammar(lexicon=LEXICON.replace("A a [0.5]", f"A a [{number}]"))


@pytest.mark.parametrize(
    ("word", "position", "wanted"),
    [
        ("walking", 1, ["UNK-LC-ing", "UNK-LC", "UNK"]),
        ("Walkings", 0, ["UNK-INITC-s", "UNK-INITC", "UNK"]),
        ("NATO", 3, ["UNK-CAPS", "UNK"]),
        ("mid-80s", 3, ["UNK-LC-NUM-DASH-s", "UNK-LC-NUM-DASH", "UNK"]),
        ("1,000", 3, ["UNK-NUM", "UNK"]),
        ("…", 3, ["UNK"]),
    ],
)
def test_english_classes_of_unknown_words(word: str, position: int, wanted: list[str]) -> None:
    assert signatures(SignatureKind.english, word, position) == wanted


def test_classes_in_other_languages() -> None:
    assert signatures(SignatureKind.english, "Dogs", 0, known_lower=True)[0] == "UNK-INITC-KNOWNLC-s"
    assert signatures(SignatureKind.german, "Prüfung", 3) == ["UNK-CAPS-ung", "UNK-CAPS-ng", "UNK-CAPS", "UNK"]
    assert signatures(SignatureKind.german, "Übung", 3) == ["UNK-CAPS-ung", "UNK-CAPS-ng", "UNK-CAPS", "UNK"]
    assert signatures(SignatureKind.german, "ÄRZTÖ", 3) == ["UNK-CAPS-ztö", "UNK-CAPS-tö", "UNK-CAPS", "UNK"]
    assert signatures(SignatureKind.german, "Üb", 0, known_lower=True) == ["UNK-INITC-KNOWNLC", "UNK"]
    assert signatures(SignatureKind.german, "öß", 3) == ["UNK-LC", "UNK"]
    assert signatures(SignatureKind.german, "×÷", 3) == ["UNK"]
    assert signatures(SignatureKind.german, "hüfö", 3) == ["UNK-LC", "UNK"]
    assert signatures(SignatureKind.chinese, "计算机", 3) == ["UNK-3-机", "UNK-机", "UNK-3", "UNK"]
    assert signatures(SignatureKind.chinese, "2014", 3) == ["UNK-NUM", "UNK"]


def test_unknown_words_get_the_narrowest_class_that_is_known() -> None:
    small = grammar()
    assert [small.lookup(word, 1) for word in ("a", "walking", "walked", "(", "-LRB-")] == [
        "a",
        "UNK-LC-ing",
        "UNK",
        "(",
        "(",
    ]
    assert grammar(lexicon="A a [0.5]\n").lookup("b", 1) == ""


def test_german_words_are_known_without_their_capital() -> None:
    lexicon = "A über [0.5]\nA UNK [0.1]\nA UNK-INITC-KNOWNLC [0.2]\n"
    files = tuple(zip(("s", "g", "l"), (STATES.encode(), RULES.encode(), lexicon.encode()), strict=True))
    read = SplitGrammar.read([(files[0], files[1], files[2])], SignatureKind.german)
    assert [read.lookup(word, 0) for word in ("über", "Über", "Aber")] == ["über", "UNK-INITC-KNOWNLC", "UNK"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"time_limit": math.inf}, "time_limit is inf; expected a finite number, at least 0"),
        ({"time_limit": math.nan}, "time_limit is nan; expected a finite number, at least 0"),
        ({"prune": math.nan}, "prune is nan; expected a number, at least 0"),
        ({"coarse": (8.0, math.nan)}, "coarse is (8.0, nan); expected a number, at least 0"),
        ({"most_edges": 0}, "most_edges is 0; expected at least 1"),
    ],
)
def test_options_that_make_no_sense_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError) as error:
        ParsingOptions(**options)
    assert str(error.value) == message


def test_levels_below_the_first_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="level is -1; expected 0 or more"):
        GrammarParser(grammar(), level=-1)
    with pytest.raises(UsageError, match="level is -1; expected 0 or more"):
        load_parser(tmp_path, level=-1)


def test_every_sentence_gets_a_tree_and_is_counted() -> None:
    small = grammar(rules="ROOT_0 -> S_0 1\nS_0 -> X_0 A_0 1\nX_0 -> A_0 1\n", lexicon="A a [0.5]\n")
    parser = GrammarParser(small)
    found = list(parser.trees([["a", "a"], [], ["a"], ["a", "b"]]))
    assert [parsed.status for parsed in found] == ["parsed", "no_words", "flat", "flat"]
    assert [str(parsed.value) for parsed in found[2:]] == ["(S (A a))", "(S (A a) (UNK b))"]
    assert not found[1].value
    assert found[2].log_probability == -math.inf
    assert [parsed.has_parse for parsed in found] == [True, False, False, False]
    forests = list(parser.parse([["a", "a"], [], ["a"]]))
    assert [forest.parsed for forest in forests] == [True, False, True]
    assert str(forests[2].viterbi()) == "(ROOT (S (A a)))"
    assert parser.counts == {"parsed": 2, "no_words": 2, "flat": 3}
    assert parser.summary() == "7 sentences: 2 empty (lines 2, 6); 3 without a parse: flat trees (lines 3, 4, 7)"
    assert parser.places == {"no_words": [2, 6], "flat": [3, 4, 7]}
    list(parser.trees([["b"]] * 4))
    assert parser.places == {"no_words": [2, 6], "flat": [3, 4, 7, 8, 9]}  # no more: memory does not grow
    assert parser.summary().endswith("; 7 without a parse: flat trees (lines 3, 4, 7, 8, 9 and 2 more)")


def test_a_coarser_level_has_the_last_word_where_the_finest_has_no_parse() -> None:
    states = ["ROOT\t0\t1 {}\nS\t1\t1 {}\nA\t2\t1 {}\n".replace("{}", tree) for tree in ("[0]", "[0 0]", "[0 [0 0]]")]
    rules = "ROOT_0 -> S_0 1\nS_0 -> A_0 A_0 {}\nS_0 -> A_0 0.1\n"
    files = [
        (("s", text.encode()), ("g", rules.replace("{}", p).encode()), ("l", b"A a [0.5]\n"))
        for text, p in zip(states, ("0.5", "0.4", "0.0"), strict=True)
    ]
    for levels, status, probability in ((2, "parsed", 0.1), (3, "coarser", 0.1)):
        parser = GrammarParser(SplitGrammar.read(files[:levels]))
        (parsed,) = parser.trees([["a", "a"]])
        assert (parsed.status, str(parsed.value)) == (status, "(S (A a) (A a))")
        assert math.isclose(math.exp(parsed.log_probability), probability)


def test_the_protocol_is_kept() -> None:
    parser = GrammarParser(grammar())
    assert isinstance(parser, Parser)
    assert [str(parsed.value) for parsed in parser.trees([["a"]])] == ["(S (A a))"]


def test_a_time_limit_ends_in_a_flat_tree() -> None:
    parser = GrammarParser(grammar(), ParsingOptions(time_limit=1e-9))
    (parsed,) = parser.trees([["a"] * 30])
    assert (parsed.status, parsed.has_parse) == ("late", False)
    assert len(parsed.value.words) == 30


def test_threads_do_not_change_trees() -> None:
    sentences = [["a"] * length for length in range(1, 30)]
    one = [p.value for p in GrammarParser(grammar()).forests(sentences)]
    two = [p.value for p in GrammarParser(grammar(), ParsingOptions(threads=2)).forests(sentences)]
    assert one == two


def test_the_first_pass_counts_its_tables_of_inside_and_outside_scores() -> None:
    words = 300
    limit = 4 * 2 * words * (words + 16) * 3 / 2**30  # three states
    small = grammar(
        "ROOT\t0\t1 [0]\nS\t1\t1 [0]\nA\t2\t1 [0]\n",
        "ROOT_0 -> S_0 0.5\nS_0 -> S_0 A_0 0.5\nS_0 -> A_0 0.1\n",
        "A a [0.5]\n",
    )
    parser = GrammarParser(small, ParsingOptions(memory_limit=limit))
    found = parser.trees([["a"] * words, ["a"] * (words + 1)])
    assert [parsed.status for parsed in found] == ["parsed", "too_large"]


def test_of_too_many_states_the_best_stay_and_the_sentence_is_counted() -> None:
    states = "ROOT\t0\t1 [0]\nS\t1\t1 [0]\nA\t2\t1 [0]\nB\t3\t1 [0]\n"
    rules = "ROOT_0 -> S_0 1\nS_0 -> A_0 S_0 0.5\nS_0 -> B_0 S_0 0.02\nS_0 -> A_0 A_0 0.4\nS_0 -> S_0 A_0 0.05\n"
    small = grammar(states, rules, "A a [0.5]\nB a [0.5]\n")
    options = ParsingOptions(coarse=(9.0,), prune=9.0)
    whole, narrow = (GrammarParser(small, replace(options, most_states=most)) for most in (0, 20))
    (every,), (some,) = (list(parser.forests([["a"] * 8])) for parser in (whole, narrow))
    assert (every.status, some.status) == ("parsed", "narrowed")
    assert some.value.viterbi() == every.value.viterbi()
    assert 1 <= some.value.count() < every.value.count()
    assert some.log_probability < every.log_probability
    assert narrow.summary() == (
        "1 sentence: 1 parsed with the best states of the first pass alone (--most-states) (line 1)"
    )
    together = GrammarParser(small, replace(options, most_states=20), also=(small,))
    assert [parsed.status for parsed in together.forests([["a"] * 8])] == ["narrowed"]


def test_a_narrowed_sentence_without_a_parse_of_the_finest_level_shows_both() -> None:
    states = "ROOT\t0\t1 {0}\nX\t1\t1 {0}\nY\t2\t1 {0}\nA\t3\t1 {0}\n"
    names = [states.replace("{0}", tree) for tree in ("[0]", "[0 0]")]
    coarse = "ROOT_0 -> X_0 0.05\nROOT_0 -> Y_0 0.05\nX_0 -> Y_0 0.05\nX_0 -> A_0 A_0 0.001\nY_0 -> A_0 A_0 0.05\n"
    # The best state of the coarse level is Y; the fine level needs X above it, or X alone.
    chain = "ROOT_0 -> X_0 0.01\nX_0 -> Y_0 0.01\nY_0 -> A_0 A_0 0.01\n"
    alone = "ROOT_0 -> X_0 0.01\nX_0 -> A_0 A_0 0.01\nROOT_0 -> Y_0 0\nY_0 -> A_0 A_0 0\n"
    for fine, expected in ((chain, "narrowed_flat"), (alone, "narrowed_coarser")):
        levels = [
            (("s", text.encode()), ("g", rules.encode()), ("l", b"A a [0.2]\n"))
            for text, rules in zip(names, (coarse, fine), strict=True)
        ]
        small = SplitGrammar.read(levels)
        parsers = [
            GrammarParser(small, ParsingOptions(coarse=(9.0,), most_states=most), also=also)
            for most, also in ((0, ()), (1, ()), (1, (small,)))
        ]
        for find in (GrammarParser.trees, GrammarParser.forests):
            found = [next(iter(find(parser, [["a", "a"]]))) for parser in parsers]
            assert [parsed.status for parsed in found] == ["parsed", expected, expected]
            assert found[2].each == (expected, expected)
            assert [parsed.has_parse for parsed in found] == [True, *[expected == "narrowed_coarser"] * 2]
        assert "(--most-states)" in parsers[1].summary()
    mixed = GrammarParser(small, ParsingOptions(coarse=(9.0,), most_states=1), also=(grammar(),))
    (both,) = mixed.trees([["a", "a"]])
    assert (both.status, both.each) == ("narrowed_coarser", ("narrowed_coarser", "narrowed"))


def test_the_best_edges_of_a_node_stay() -> None:
    states = "ROOT\t0\t1 [0]\nS\t1\t1 [0]\n@S\t2\t1 [0]\nA\t3\t1 [0]\nB\t4\t1 [0]\n"
    rules = "ROOT_0 -> S_0 1\nS_0 -> @S_0 A_0 0.5\nS_0 -> @S_0 B_0 0.25\n"
    rules += "@S_0 -> @S_0 A_0 0.25\n@S_0 -> @S_0 B_0 0.125\n@S_0 -> A_0 A_0 0.25\n@S_0 -> A_0 B_0 0.25\n"
    small = grammar(states, rules, "A a [0.5]\nB a [0.5]\n")
    whole, cut = (GrammarParser(small, ParsingOptions(prune=math.inf, most_edges=most)) for most in (500, 3))
    (every,), (some,) = (list(parser.forests([["a"] * 5])) for parser in (whole, cut))
    assert (whole.cut, cut.cut) == (0, 1)
    assert every.value.count() == 16
    assert [score for score, _ in some.value.kbest(9)] == [score for score, _ in every.value.kbest(3)]
    assert cut.summary() == (
        "1 sentence, all parsed; 1 node cut by a limit (3 edges, 64 of a label and span, 1,000 unary chains)"
    )


def test_three_hundred_words() -> None:
    parser = GrammarParser(grammar(), ParsingOptions(coarse=(2.0,), prune=0.0))
    (parsed,) = parser.trees([["a"] * 300])
    assert parsed.status == "parsed"
    assert math.isfinite(parsed.log_probability)
    assert len(parsed.value.words) == 300


@pytest.mark.parametrize(
    ("states", "rules", "lexicon", "message"),
    [
        (STATES, RULES[:-1], LEXICON, "rules:6: the last line has no end; is the file cut short?"),
        (STATES, RULES, LEXICON[:20], "lexicon:2: the last line has no end; is the file cut short?"),
        (STATES, RULES, "", "rules: has no rule for 'A', nor has lexicon a word; is one of them cut short?"),
        (STATES, "ROOT_0 -> S_0 1\n", LEXICON, None),
        (STATES, "ROOT_0 -> S_0\n", LEXICON, "rules:1: 'ROOT_0 -> S_0' is not a rule; expected HEAD_0"),
        (STATES, "ROOT_0 -> S_1 1\n", LEXICON, "rules:1: 'S_1' is not a state; expected LABEL_NUMBER"),
        (STATES, "ROOT_0 -> S_0 -1\n", LEXICON, "rules:1: '-1' is not a probability"),
        (STATES, RULES, "A a [0.5, 0.5]\n", "lexicon:1: 'A a [0.5, 0.5]' has 2 probabilities; expected 1"),
        (STATES, RULES, "Q a [0.5]\n", "lexicon:1: 'Q a [0.5]' is not TAG word"),
        ("ROOT\t0\t2 [0]\n", RULES, LEXICON, "states:1: label 'ROOT' has 2 sub-states; its splits have 1"),
        ("ROOT\t1\t1 [0]\n", RULES, LEXICON, "states:1: label 'ROOT' has number 1; expected 0"),
        ("ROOT 0 1 [0]\n", RULES, LEXICON, "states:1: 'ROOT 0 1 [0]' is not LABEL NUMBER STATES"),
        ("", RULES, LEXICON, "states: has 0 labels; expected some"),
    ],
)
def test_bad_files_are_refused(states: str, rules: str, lexicon: str, message: str | None) -> None:
    if message is None:
        message = "rules: has no rule for 'S', nor has lexicon a word; is one of them cut short?"
    with pytest.raises(FormatError) as error:
        grammar(states, rules, lexicon)
    assert str(error.value).startswith(message)


def test_a_folder_without_grammar(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"is not a grammar: it has no level0\.stateInfo"):
        load_grammar(tmp_path)


def test_brackets_as_evalb_counts_them() -> None:
    gold = Tree.parse("(TOP (S (NP (DT the) (NN dog)) (, ,) (VP (VBZ barks) (PRT (RP on))) (. .)))")
    same = Tree.parse("(TOP (S (NP (DT the) (NN dog)) (VP (: ,) (VBZ barks) (ADVP (RP on))) (. .)))")
    counts = compare([gold], [same])
    assert (counts.matched, counts.gold, counts.test, counts.exact) == (4, 4, 4, 1)
    assert (counts.right_tags, counts.words) == (4, 4)
    counts = counts + compare([gold], [Tree()])
    assert (counts.missing, counts.sentences, counts.gold, counts.test) == (1, 2, 8, 4)
    with pytest.raises(ValueError, match="a tree over 1 words; expected 6"):
        compare([gold], [Tree.parse("(X (A a))")])


@pytest.mark.skipif(not (SHARED / "grammars").exists(), reason="needs shared/data/grammars")
@pytest.mark.parametrize(("language", "name"), [("zh", "chn_grammar"), ("en", "eng_grammar")])
def test_trees_agree_with_egrets(language: str, name: str) -> None:
    parser = load_parser(SHARED / "grammars" / name, level=1)
    lines = (SHARED / f"zh-en/dev.{language}.parser-input").read_text(encoding="utf-8").splitlines()[:200]
    gold = list(read_trees(SHARED / f"zh-en/dev.{language}.tree.xz"))[:200]
    trees = [parsed.value for parsed in parser.trees(line.split() for line in lines)]
    assert compare(gold, trees).f1 > 0.97
    assert parser.counts["parsed"] == 200


@pytest.mark.skipif(not (SHARED / "grammars").exists(), reason="needs shared/data/grammars")
def test_forests_score_as_egrets() -> None:
    parser = load_parser(SHARED / "grammars/chn_grammar", level=1)
    theirs = next(iter(read_forests(SHARED / "zh-en/dev.zh.forest.xz", "egret")))
    (ours,) = (p.value for p in parser.forests([theirs.words]))
    assert ours.viterbi() == theirs.viterbi()
    (best, _), *_ = ours.kbest(1)
    (wanted, _), *_ = theirs.kbest(1)
    # Egret prints logarithms to the base 2.
    assert best == pytest.approx(wanted * math.log(2), abs=0.01)
