"""Forests hold the parses alone: states that exclude each other, chains of unary rules, and what is cut."""

import math
from dataclasses import replace
from itertools import pairwise

from enumeration import tails_of
from split_grammars import grammar, scored_trees

from treeglot._core import SplitGrammar
from treeglot.parse import ParsingOptions
from treeglot.parse.parser import GrammarParser
from treeglot.syntax import FORMATS

EVERYTHING = ParsingOptions(coarse=(math.inf,), prune=math.inf)


def odd_one_out() -> SplitGrammar:
    """Of three words one is a B and two are A, and S has a state for each of the three ways."""
    rules = "ROOT_0 -> S_0 0.3\nROOT_0 -> S_1 0.3\nROOT_0 -> S_2 0.3\n"
    for odd in range(3):
        first, second, third = ("AB"[place == odd] for place in range(3))
        rules += f"S_{odd} -> P_{odd} {third}_0 1.0\nP_{odd} -> {first}_0 {second}_0 1.0\n"
    return grammar({"ROOT": 1, "S": 3, "P": 3, "A": 1, "B": 1}, rules, "A a [0.5]\nB a [0.5]\n")


def test_a_tree_whose_rules_are_in_parses_but_not_in_one_is_no_parse() -> None:
    parser = GrammarParser(odd_one_out(), EVERYTHING)
    (parsed,) = parser.forests([["a", "a", "a"]])
    # (S (P A A) A), each rule in two thirds of the parses, would be the best.
    found = {"(ROOT (S (P (A a) (A a)) (B a)))", "(ROOT (S (P (A a) (B a)) (A a)))", "(ROOT (S (P (B a) (A a)) (A a)))"}
    assert {str(tree) for _, tree in parsed.value.kbest(9)} == found
    assert parsed.value.count() == 3
    (alone,) = parser.trees([["a", "a", "a"]])
    assert f"(ROOT {alone.value})" in found


def test_margins_are_counted_from_the_best_parse() -> None:
    words = ["a", "a", "a"]
    (parsed,) = GrammarParser(odd_one_out(), ParsingOptions(coarse=(math.inf,), prune=0.0)).forests([words])
    (best, tree), *others = parsed.value.kbest(9)
    # Two thirds of the parses have an A as their last word, one third has the P that A and B make.
    assert math.isclose(best, math.log(2 / 3 * 1 / 3 * 2 / 3 * 2 / 3 * 1 / 3), abs_tol=1e-9)
    assert str(tree) != "(ROOT (S (P (A a) (A a)) (A a)))"
    assert all(math.isclose(score, best, abs_tol=1e-9) for score, _ in others)


def test_nodes_apart_are_written_and_read() -> None:
    (parsed,) = GrammarParser(odd_one_out(), EVERYTHING).forests([["a", "a", "a"]])
    # P of A and B, in both orders, goes with A, and P of A and A with B; by its S none differs from another.
    assert sorted(parsed.value.labels).count("P") == 2
    assert sorted(parsed.value.labels).count("S") == 1
    for name in ("egret", "jsonl"):
        text = FORMATS[name].open_writer({})(parsed.value).encode()
        reader = FORMATS[name].open_reader("file", False, {})
        assert [*reader.feed(text), *reader.finish()] == [parsed.value]


def test_too_many_nodes_of_a_place_become_one_that_loses_no_parse() -> None:
    # X over T-n has the states that are bits of n: 127 nodes, of which 64 stay apart.
    sets = range(1, 128)
    states = {"ROOT": 1, "S": 7, "X": 7, "Y": 7} | {f"T{n}": 1 for n in sets} | {f"Y{s}": 1 for s in range(7)}
    rules = "ROOT_0 -> S_0 0.1\n" + "".join(f"ROOT_0 -> S_{s} 0.1\n" for s in range(1, 7))
    rules += "".join(f"S_{s} -> X_{s} Y_{s} 1.0\n" for s in range(7))
    rules += "".join(f"X_{s} -> T{n}_0 0.001\n" for n in sets for s in range(7) if n >> s & 1)
    rules += "".join(f"Y_{s} -> Y{s}_0 0.1\n" for s in range(7))
    lexicon = "".join(f"{tag} a [0.1]\n" for tag in states if tag[0] in "TY" and tag != "Y")
    (parsed,) = GrammarParser(grammar(states, rules, lexicon), EVERYTHING).forests([["a", "a"]])
    parses = {f"(ROOT (S (X (T{n} a)) (Y (Y{s} a))))" for n in sets for s in range(7) if n >> s & 1}
    trees = [str(tree) for _, tree in parsed.value.kbest(2000)]
    assert parses < set(trees)
    assert len(trees) == len(set(trees))
    assert parsed.cut > 0


def test_very_many_chains_of_unary_rules_are_cut_and_counted() -> None:
    labels = "CDEFGHIJK"
    rules = "".join(f"ROOT_0 -> {x}_0 0.1\n{x}_0 -> A_0 0.1\n" for x in labels)
    rules += "".join(f"{x}_0 -> {y}_0 0.1\n" for x in labels for y in labels if x != y)
    states = dict.fromkeys(("ROOT", *labels, "A"), 1)
    (parsed,) = GrammarParser(grammar(states, rules, "A a [0.5]\n"), EVERYTHING).forests([["a"]])
    assert parsed.status == "parsed"
    assert parsed.cut > 0
    for _, tree in parsed.value.kbest(5000):
        chain = str(tree).replace("(", "").split()[:-1]
        assert len(chain) == len(set(chain))
    # Without a limit there are chains of all orders of all sets of labels.
    (few,) = GrammarParser(
        grammar(dict.fromkeys(("ROOT", *"CDE", "A"), 1), _only(rules, "CDE"), "A a [0.5]\n"), EVERYTHING
    ).forests([["a"]])
    assert len(scored_trees(few.value)) == 3 + 6 + 6
    assert few.cut == 0


def test_the_best_chain_is_made_however_many_there_are() -> None:
    labels = [f"X{n}" for n in range(40)]
    rules = "".join(f"{x}_0 -> {y}_0 0.001\n" for x in labels for y in labels if x != y and y != labels[0])
    rules += "".join(f"{x}_0 -> {y}_0 0.9\n" for x, y in pairwise(labels[:10]))
    rules += f"ROOT_0 -> X0_0 1.0\nX39_0 -> X0_0 0.001\n{labels[9]}_0 -> A_0 0.5\n"
    states = dict.fromkeys(("ROOT", *labels, "A"), 1)
    split = grammar(states, rules, "A a [0.5]\n")
    (alone,) = GrammarParser(split, EVERYTHING).trees([["a"]])
    assert str(alone.value) == "".join(f"({x} " for x in labels[:10]) + "(A a)" + ")" * 10
    (parsed,) = GrammarParser(split, EVERYTHING).forests([["a"]])
    assert parsed.cut > 0
    assert str(parsed.value.viterbi()) == f"(ROOT {alone.value})"


def _only(rules: str, labels: str) -> str:
    kept = {"ROOT_0", "A_0", *(f"{x}_0" for x in labels)}
    return "".join(line + "\n" for line in rules.splitlines() if {line.split()[0], line.split()[2]} <= kept)


def test_probabilities_of_a_node_apart_do_not_vanish() -> None:
    # X is of state 1 only above the rarest of rules, two of them in one of the treebank's: e^-1000 and less.
    rules = "ROOT_0 -> X_0 0.5\nROOT_0 -> Y_0 1e-9\nY_0 -> X_1 0.5\nX_0 -> @X_0 A_0 0.5\nX_1 -> @X_1 B_0 1e-150\n"
    rules += "@X_0 -> @X_0 A_0 0.5\n@X_1 -> @X_1 A_0 1e-150\n@X_0 -> A_0 A_0 0.5\n@X_1 -> A_0 B_0 0.5\n"
    states = {"ROOT": 1, "X": 2, "@X": 2, "Y": 1, "A": 1, "B": 1}
    options = ParsingOptions(coarse=(math.inf,), prune=math.inf, scores="probability")
    (parsed,) = GrammarParser(grammar(states, rules, "A a [0.5]\nB a [0.5]\n"), options).forests([["a"] * 4])
    assert parsed.value.count() == 2
    assert all(score <= 0 for score in parsed.value.scores)


def ambiguous_tags(tags: int) -> SplitGrammar:
    """X over words, each of which is any of the tags: as many trees, all of them as good, as there are ways."""
    names = [f"A{n}" for n in range(tags)]
    rules = "ROOT_0 -> X_0 1.0\n"
    for x in names:
        rules += f"X_0 -> @X_0 {x}_0 0.1\n@X_0 -> @X_0 {x}_0 0.1\n"
        rules += "".join(f"@X_0 -> {x}_0 {y}_0 0.1\n" for y in names)
    return grammar(dict.fromkeys(("ROOT", "X", "@X", *names), 1), rules, "".join(f"{x} a [0.5]\n" for x in names))


def test_the_first_of_very_many_equal_ways_are_found_at_once() -> None:
    parser = GrammarParser(ambiguous_tags(4), ParsingOptions(most_edges=20))
    (parsed,) = parser.forests([["a"] * 60])
    assert parsed.status == "parsed"
    assert parsed.value.count() == 20
    assert parsed.cut == 1


def test_time_is_up_in_making_a_forest_too() -> None:
    options = ParsingOptions(coarse=(math.inf,), prune=math.inf, most_edges=10**9, time_limit=0.1)
    parser = GrammarParser(ambiguous_tags(4), options)
    (parsed,) = parser.forests([["a"] * 40])
    assert parsed.status == "late"
    assert parsed.value.count() == 1
    (alone,) = parser.trees([["a"] * 40])
    assert alone.status == "late"


def test_every_node_is_in_a_tree_when_nothing_is_pruned() -> None:
    rules = "ROOT_0 -> C_0 0.5\nROOT_0 -> D_0 0.5\nC_0 -> D_0 0.1\nD_0 -> C_0 0.1\nC_0 -> A_0 0.1\nD_0 -> A_0 0.1\n"
    (parsed,) = GrammarParser(
        grammar(dict.fromkeys(("ROOT", "C", "D", "A"), 1), rules, "A a [0.5]\n"), EVERYTHING
    ).forests([["a"]])
    graph = parsed.value.graph
    used = {graph.goal}
    for edge in reversed(range(graph.edges)):
        if int(graph.heads[edge]) in used:
            used.update(tails_of(graph, edge))
    assert used == set(range(len(parsed.value.labels)))
    assert parsed.value.count() == 4


def test_of_two_ways_to_one_edge_in_merged_nodes_the_better_stays() -> None:
    # X over Y is a rule of its state 0, and of its state 1 through a part: S takes both, so X is one node.
    rules = "ROOT_0 -> S_0 1.0\nS_0 -> X_0 W_0 0.2\nS_0 -> X_1 W_0 0.8\nX_0 -> Y_0 0.8\nX_1 -> @P_0 0.8\n"
    rules += "@P_0 -> Y_0 1.0\nY_0 -> A_0 A_0 0.5\nY_0 -> X_0 0.5\n"
    # The best rules of W are not of one parse, so that more is built than the margin keeps.
    pairs = {(0, 1): 0.2, (0, 2): 0.2, (1, 0): 0.2, (2, 0): 0.2, (1, 2): 0.1, (2, 1): 0.1}
    rules += "".join(f"W_0 -> K_{i} L_{j} {p}\n" for (i, j), p in pairs.items())
    rules += "".join(f"{head}_{i} -> {tag}_0 0.5\n" for head in "KL" for i, tag in enumerate("EFG"))
    states = {"ROOT": 1, "S": 1, "X": 2, "Y": 1, "@P": 1, "W": 1, "K": 3, "L": 3} | dict.fromkeys("AEFG", 1)
    lexicon = "A a [0.5]\n" + "".join(f"{tag} w [0.5]\n" for tag in "EFG")
    made = grammar(states, rules, lexicon)
    words = ["a", "a", "w", "w"]
    (whole,) = GrammarParser(made, EVERYTHING).forests([words])
    parser = GrammarParser(made, ParsingOptions(coarse=(math.inf,), prune=0.0))
    (pruned,) = parser.forests([words])
    (best, _), *_ = whole.value.kbest(1)
    (kept, _), *_ = pruned.value.kbest(1)
    assert math.isclose(kept, best, abs_tol=1e-9)
    (alone,) = parser.trees([words])
    assert f"(ROOT {alone.value})" in [str(tree) for score, tree in whole.value.kbest(99) if score > best - 1e-9]


def test_what_only_edges_that_did_not_stay_had_below_them_goes() -> None:
    rules = "ROOT_0 -> X_0 0.5\nROOT_0 -> X_1 0.3\nX_0 -> Y_0 A_0 0.5\nX_0 -> A_0 Y_0 0.5\nX_1 -> Z_0 A_0 0.5\n"
    rules += "X_1 -> A_0 Z_0 0.5\nY_0 -> A_0 A_0 0.5\nZ_0 -> V_0 A_0 0.5\nV_0 -> A_0 0.5\n"
    states = {"ROOT": 1, "X": 2, "Y": 1, "Z": 1, "V": 1, "A": 1}
    options = ParsingOptions(coarse=(math.inf,), prune=math.inf, most_edges=2)
    (parsed,) = GrammarParser(grammar(states, rules, "A a [0.5]\n"), options).forests([["a", "a", "a"]])
    graph = parsed.value.graph
    reached = {graph.goal}
    for edge in reversed(range(graph.edges)):
        if int(graph.heads[edge]) in reached:
            reached |= set(tails_of(graph, edge))
    assert reached == set(range(graph.nodes))
    assert parsed.cut == 1


def test_trees_by_spans_are_those_of_the_forest() -> None:
    rules = "ROOT_0 -> S_0 1.0\nS_0 -> A_0 S_0 0.3\nS_0 -> S_0 A_0 0.25\nS_0 -> S_0 S_0 0.2\nS_0 -> A_0 A_0 0.25\n"
    made = grammar(dict.fromkeys(("ROOT", "S", "A"), 1), rules, "A a [1.0]\n")
    options = ParsingOptions(coarse=(math.inf,), prune=math.inf, criterion="spans")
    lines = [["a"] * 6, [], ["b"], ["a"] * 4]
    parser, likeliest = GrammarParser(made, options), GrammarParser(made, EVERYTHING)
    trees = list(parser.trees(lines))
    forests = list(GrammarParser(made, replace(options, scores="probability")).forests(lines))
    for tree, forest in zip(trees, forests, strict=True):
        wanted = str(forest.value.best_spans())
        assert str(tree.value) == wanted.removeprefix("(ROOT ").removesuffix(")" if "ROOT" in wanted else "")
        assert (tree.status, tree.log_probability) == (forest.status, forest.log_probability)
    assert [tree.status for tree in trees] == ["parsed", "no_words", "flat", "parsed"]
    assert parser.counts == {"parsed": 2, "no_words": 1, "flat": 1}
    assert parser.places == {"no_words": [2], "flat": [3]}
    assert [tree.value for tree in trees] != [tree.value for tree in likeliest.trees(lines)]
