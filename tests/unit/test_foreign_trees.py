"""Tree-to-string grammars of cdec and Travatar."""

import math
from pathlib import Path

import pytest
from messages import messages

from treeglot import FormatError, lm
from treeglot.cli import main
from treeglot.foreign import ForeignTranslator, read_foreign_weights, read_grammar
from treeglot.foreign.grammar import write_grammar
from treeglot.foreign.weights import ForeignWeights
from treeglot.syntax import ParseForest, Tree

CDEC = """\
(S [NP] (VP (V geht) [ADV])) ||| [2] [1] goes ||| A=1
(NP (PRO er)) ||| he ||| B=1
(NP [PRO]) ||| [1] ||| C=1
(PRO er) ||| him ||| D=1
(ADV heim) ||| home ||| E=1
(ADV heim) ||| homewards ||| E=2
"""
TRAVATAR = """\
S ( x0:NP VP ( V ( "geht" ) x1:ADV ) ) ||| x1:ADV x0:NP "goes" @ S ||| A=1
NP ( PRO ( "er" ) ) ||| "he" ||| B=1
NP ( x0:PRO ) ||| x0 ||| C=1
PRO ( "er" ) ||| "him" ||| D=1 ||| 0-0
ADV ( "heim" ) ||| "home" ||| E=1
ADV ( "heim" ) ||| "home\\"wards" ||| E=2
"""
TREE = "(S (NP (PRO er)) (VP (V geht) (ADV heim)))"


def forest(text: str) -> ParseForest:
    return ParseForest.from_tree(Tree.parse(text))


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    monkeypatch.chdir(tmp_path)
    Path("weights").write_text("A=1\nB=2\nC=3\nD=4\nE=0.5\n")

    def decode(
        grammar: str, lines: str, *arguments: str, name: str = "input", skip: tuple[str, ...] = ("--skip-bad",)
    ) -> tuple[int, list[list[str]], str]:
        Path("grammar").write_text(grammar)
        Path(name).write_text(lines)
        files = ["--grammar", "grammar", "--weights", "weights"]
        code = main(["decode", name, *files, "--kbest", "9", *skip, *arguments])
        out = capsys.readouterr()
        return code, [row.split(" ||| ") for row in out.out.splitlines()], messages(out.err)

    return decode


def test_cdec(run):
    code, rows, err = run(CDEC, TREE + "\n")
    assert (code, err) == (0, "")
    assert rows == [
        ["0", "homewards him goes", "A=1 C=1 D=1 E=2", "9.000000"],
        ["0", "home him goes", "A=1 C=1 D=1 E=1", "8.500000"],
        ["0", "homewards he goes", "A=1 B=1 E=2", "4.000000"],
        ["0", "home he goes", "A=1 B=1 E=1", "3.500000"],
    ]
    Path("cdec.ini").write_text("formalism=t2s\ngrammar=grammar\n")
    assert run(CDEC, TREE + "\n", "--config", "cdec.ini", "--forest", "forest")[1] == rows
    from graph_json import from_json

    from treeglot.graph import count

    assert count(from_json(Path("forest").read_text()).graph) == 4


def test_cdec_has_no_rules_of_its_own_for_trees(run):
    lines = f"{TREE}\n{TREE.replace('heim', 'los')}\n{TREE.replace('PRO', 'NN')}\n"
    code, rows, err = run(CDEC, lines)
    assert (code, {row[0] for row in rows}) == (0, {"0"})
    problem = "no derivation covers the tree; its output is empty"
    assert err == f"warning: input:2: {problem}\nwarning: input:3: {problem}\n"


def test_lines_that_hold_no_tree_cost_themselves_alone(run):
    lines = f"(S (NP (PRO er))\n{TREE}\n\n<seg id=3>{TREE}</seg>\n{TREE} ||| he goes home\nfoo\n(())\n{TREE}\n"
    code, rows, err = run(CDEC, lines)
    assert (code, [row[0] for row in rows]) == (0, [n for n in "1347" for _ in range(4)])
    said = [line.split(": ", 2)[1:] for line in err.splitlines()]
    assert [place for place, _ in said] == ["input:1", "input:6"]
    assert all(problem.endswith("; its output is empty") for _, problem in said)


def test_bad_records_of_other_formats_cost_themselves_alone(run):
    text = f"{TREE}\n(S (NP (PRO er)\n{TREE}\n"
    code, rows, err = run(CDEC, text, "--from", "brackets")
    assert (code, {row[0] for row in rows}) == (0, {"0", "2"})
    assert "input:2: the tree that begins here is still open" in err


def test_rules_of_trees_and_of_strings_are_not_mixed(run):
    code, _, err = run(CDEC + "[X] ||| er ||| he ||| A=1\n", TREE, skip=())
    problem = "a rule of strings among rules of trees; expected one such as (DT das) ||| the"
    assert (code, err) == (1, f"error: grammar:7: {problem}\n")
    code, _, err = run("[X] ||| er ||| he ||| A=1\n" + CDEC, TREE, skip=())
    problem = "a rule of trees among rules of strings; expected one such as [X] ||| das ||| the"
    assert (code, err) == (1, f"error: grammar:2: {problem}\n")


def test_lines_with_rules_of_trees_in_python(tmp_path):
    (tmp_path / "rules").write_text(CDEC)
    translator = ForeignTranslator(read_grammar(tmp_path / "rules"), ForeignWeights("cdec", {"D": 1.0}))
    assert translator.translate(TREE).text == "home him goes"
    assert translator.translate("er geht heim").problem


def test_options_of_strings_and_of_trees(run):
    problem = "--pass-through, --no-glue and --markup are for rules of strings; these are of trees"
    for given in (["--pass-through", "all"], ["--no-glue"], ["--markup"]):
        assert run(CDEC, TREE, *given) == (2, [], f"error: {problem}\n")
    problem = "--from is for rules of trees; these are of strings"
    assert run("[X] ||| a ||| b\n", "a\n", "--from", "brackets") == (2, [], f"error: {problem}\n")


def test_travatar(run):
    Path("weights").write_text("A=1\nB=2\nC=3\nD=4\nE=0.5\nunk=-10\n")
    lines = f"{TREE}\n{TREE.replace('heim', 'los')}\n{TREE.replace('V', 'W')}\n"
    code, rows, err = run(TRAVATAR, lines, "--format", "travatar")
    assert (code, err) == (0, "")
    assert rows[0] == ["0", 'home"wards him goes', "A=1 C=1 D=1 E=2", "9.000000"]
    # What nothing translates stays in source order, and counts.
    assert [row for row in rows if row[0] == "1"] == [
        ["1", "los him goes", "A=1 C=1 D=1 unk=1", "-2.000000"],
        ["1", "los he goes", "A=1 B=1 unk=1", "-7.000000"],
    ]
    assert ["2", "him geht heim", "C=1 D=1 unk=4", "-33.000000"] in rows  # two nodes, two words


def test_travatars_language_model(tmp_path):
    (tmp_path / "rules").write_text(TRAVATAR)
    (tmp_path / "lm").write_text(
        "\\data\\\nngram 1=6\n\n\\1-grams:\n-2\t<unk>\n0\t<s>\n-1\t</s>\n-0.5\thome\n-0.25\the\n-0.125\tgoes\n"
        "\n\\end\\\n"
    )
    weights = ForeignWeights("travatar", {"lm": 1.5, "lmunk": -1.0, "parse": 0.25})
    translator = ForeignTranslator(
        read_grammar(tmp_path / "rules", "travatar"), weights, lm.load_ngram(tmp_path / "lm")
    )
    assert not translator.unknown_weights
    found = translator.translate(forest(TREE))
    assert (found.text, found.score) == ("home he goes", pytest.approx(1.5 * -1.875))
    assert found.features["lm"] == pytest.approx(-1.875)
    other = next(h for h in found.kbest(9) if h.text == "home him goes")
    assert (other.features["lm"], other.features["lmunk"]) == (pytest.approx(-3.625), 1.0)


def test_probabilities_of_a_forest(tmp_path, run):
    text = """\
sentence 1 :
er geht
PRO[0,0] => er ||| 0
V[1,1] => geht ||| 0
NP^g[0,0] => PRO[0,0]  ||| 0
S^g[0,1] => NP^g[0,0] V[1,1]  ||| -0.25
S^g[0,1] => PRO[0,0] V[1,1]  ||| -1.5
ROOT[0,1] => S^g[0,1]  ||| 0

"""
    rules = (
        "S ( x0:NP x1:V ) ||| x0 x1 ||| A=1\nS ( x0:PRO x1:V ) ||| x1 x0 ||| A=1\nROOT ( x0:S ) ||| x0 ||| A=0\n"
        'NP ( x0:PRO ) ||| x0 ||| A=0\nPRO ( "er" ) ||| "he" ||| A=0\nV ( "geht" ) ||| "goes" ||| A=0\n'
    )
    (tmp_path / "weights").write_text("parse=1\n")
    _, rows, err = run(rules, text, "--format", "travatar", name="input.egret")
    total = math.log(math.exp(-0.25) + math.exp(-1.5))
    assert [(row[1], float(row[3])) for row in rows] == [
        ("he goes", pytest.approx(-0.25 - total, abs=1e-5)),
        ("goes he", pytest.approx(-1.5 - total, abs=1e-5)),
    ]
    assert err == ""


def test_in_forests_only_nodes_without_rules_are_translated_in_source_order(run):
    text = """\
sentence 1 :
er geht
PRO[0,0] => er ||| 0
V[1,1] => geht ||| 0
NP[0,0] => PRO[0,0]  ||| 0
S[0,1] => NP[0,0] V[1,1]  ||| -0.25
S[0,1] => PRO[0,0] V[1,1]  ||| -1.5

"""
    rules = 'S ( x0:NP x1:V ) ||| x1 x0 ||| A=1\nPRO ( "er" ) ||| "he" ||| A=1\n'
    Path("weights").write_text("A=1\nunk=2\n")
    _, rows, err = run(rules, text, "--format", "travatar", name="input.egret")
    # S has a rule, so that its other hyperedge has no derivation; NP and V have none.
    assert rows == [["0", "geht he", "A=2 unk=2", "6.000000"]]
    assert err == ""


def test_brackets_in_words(tmp_path):
    (tmp_path / "rules").write_text('N ( L ( "-LRB-" ) x0:A ) ||| "(" x0 ||| f=1\nA ( "a" ) ||| "b" ||| f=1\n')
    table = read_grammar(tmp_path / "rules", "travatar")
    translator = ForeignTranslator(table, ForeignWeights("travatar", {"f": 1.0}))
    assert translator.translate(forest("(N (L -LRB-) (A a))")).text == "( b"
    write_grammar(table, tmp_path / "out", "travatar")
    assert sorted((tmp_path / "out").read_text().splitlines()) == [
        'A ( "a" ) ||| "b" ||| f=1',
        'N ( L ( "-LRB-" ) x0:A ) ||| "(" x0 ||| f=1',
    ]
    with pytest.raises(ValueError, match="would be read as something else"):
        write_grammar(table, tmp_path / "out", "cdec")


def test_weights(tmp_path):
    (tmp_path / "weights").write_text("lm=0.5\nunk=-1\negfp 0.25\n")
    assert read_foreign_weights(tmp_path / "weights", "travatar").weights == {"lm": 0.5, "unk": -1, "egfp": 0.25}


def test_a_travatar_ini_suffices(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("system").mkdir()
    Path("system/rules").write_text(TRAVATAR)
    sections = "[tm_file]\nrules\n\n[in_format]\npenn\n\n[nbest]\n2\n\n[weight_vals]\nA=1\nB=2\nC=3\nD=4\nE=0.5\n"
    Path("system/travatar.ini").write_text(sections)
    Path("input").write_text(TREE + "\n")
    assert main(["decode", "input", "--config", "system/travatar.ini", "--quiet"]) == 0
    rows = [line.split(" ||| ") for line in capsys.readouterr().out.splitlines()]
    assert [(row[1], row[3]) for row in rows] == [('home"wards him goes', "9.000000"), ("home him goes", "8.500000")]
    assert read_foreign_weights("system/travatar.ini", "travatar").weights["D"] == 4
    Path("system/travatar.ini").write_text(sections + "\n[binarize]\nright\n")
    assert main(["decode", "input", "--config", "system/travatar.ini"]) == 1
    assert "travatar.ini:18: [binarize] right is not supported: trees are not binarised" in capsys.readouterr().err
    Path("system/travatar.ini").write_text(sections)
    Path("system/rules").write_text(
        "NP ( x0:A NP' ( x1:B x2:C ) ) ||| x0 x1 x2 ||| A=1\nNP' ( x0:B x1:C ) ||| x0 x1 ||| A=1\n"
    )
    assert main(["decode", "input", "--config", "system/travatar.ini"]) == 2
    assert 'the label "NP\'" is one of binarised trees' in capsys.readouterr().err


def test_labels_of_egret(tmp_path):
    (tmp_path / "rules").write_text('S^g ( x0:NP^g ) ||| "b" x0 ||| f=1\nNP^g ( N ( "a" ) ) ||| "c" ||| f=1\n')
    translator = ForeignTranslator(read_grammar(tmp_path / "rules", "travatar"), ForeignWeights("travatar", {"f": 1.0}))
    found = translator.translate(forest("(S (NP (N a)))"))
    assert (found.text, found.score) == ("b c", 2.0)


def test_a_rule_with_very_many_features(tmp_path):
    features = " ".join(f"f{i}=1" for i in range(40_000))
    (tmp_path / "rules").write_text(f"[X] ||| a ||| b ||| {features}\n")
    assert len(read_grammar(tmp_path / "rules").features) == 40_000
    (tmp_path / "rules").write_text(f"[X] ||| a ||| b ||| {features} f7=1\n")
    with pytest.raises(FormatError, match="the feature 'f7' is given twice"):
        read_grammar(tmp_path / "rules")
