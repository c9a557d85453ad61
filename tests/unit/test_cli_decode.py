"""`treeglot decode`: grammars of other decoders by their definitions, and what is refused."""

import json
import math
from pathlib import Path

import pytest
from graph_json import from_json
from messages import messages
from small_table import table

from treeglot.cli import main
from treeglot.graph import count, kbest

# A sentence label of its own, a label that is not glued, a rule over the sentence label.
GRAMMAR = """\
[X] ||| das ||| the ||| P=-1
[X] ||| Haus ||| house ||| P=-2
[Y] ||| [X,1] klein ||| small [X,1] ||| P=-3
[X] ||| [Y,1] ||| [Y,1] ||| P=-0.5
[S] ||| [S,1] , [X,2] ||| [S,1] ; [X,2] ||| P=-0.25 Comma=1
"""


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    monkeypatch.chdir(tmp_path)
    Path("grammar").write_text(GRAMMAR)
    Path("weights").write_text("P 1\nGlue -0.1\nPassThrough -10\nWordPenalty -1\n")

    def decode(*arguments: str, lines: str = "das Haus\n", grammar: str = "grammar") -> tuple[int, str, str]:
        Path("input").write_text(lines)
        code = main(["decode", "input", "--grammar", grammar, "--weights", "weights", *arguments])
        out = capsys.readouterr()
        return code, out.out, messages(out.err)

    return decode


def test_a_list_as_cdec_has_it(run) -> None:
    code, out, err = run("--kbest", "9", "--pass-through", "unknown")
    assert (code, err) == (0, "")
    words = 2 / math.log(10)
    assert out == f"0 ||| the house ||| P=-3 WordPenalty={-words:.6g} Glue=1 ||| {-3 - 0.1 + words:.6f}\n"


def test_what_passes_through(run) -> None:
    def texts(kind: str, line: str) -> list[str]:
        return sorted(
            row.split(" ||| ")[1] for row in run("--kbest", "99", "--pass-through", kind, lines=line)[1].splitlines()
        )

    assert texts("all", "das Schloss\n") == ["das Schloss", "the Schloss"]
    assert texts("unknown", "das Schloss\n") == ["the Schloss"]
    code, out, err = run("--pass-through", "none", "--skip-bad", lines="das Schloss\ndas\n")
    assert (code, out) == (0, "\nthe\n")
    assert err == "warning: input:1: no derivation covers the sentence; its output is empty\n"
    assert run("--kbest", "99")[1].count("\n") == 4  # cdec's own: every word


def test_lengths_of_what_passes_through(run) -> None:
    # cdec: the logarithm of the characters to the base 1.6, from 1 to 6
    for word, length in (
        ("ü", 1),
        ("üb", 2),
        ("übe", 3),
        ("über", 3),
        ("übers", 4),
        ("übersetzt", 5),
        ("übersetzung", 6),
    ):
        [row] = run("--kbest", "9", lines=word + "\n")[1].splitlines()
        assert f" PassThrough=1 PassThrough_{length}=1 |||" in row


def test_only_one_label_is_glued(run) -> None:
    rows = run("--kbest", "9", "--pass-through", "none", lines="Haus klein das\n")[1].splitlines()
    assert [row.split(" ||| ")[1:3] for row in rows] == [
        ["small house the", f"P=-6.5 WordPenalty={-3 / math.log(10):.6g} Glue=1"]
    ]


def test_rules_over_sentences(run) -> None:
    rows = run("--kbest", "9", "--pass-through", "none", lines="das Haus , das\n")[1].splitlines()
    assert [row.split(" ||| ")[1] for row in rows] == ["the house ; the"]
    assert "Comma=1" in rows[0]
    # Only from the left end: within a sentence there is no other.
    code, out, err = run("--pass-through", "none", lines="das Haus , das , Haus das\n")
    assert (code, out, err) == (0, "the house ; the ; house the\n", "")


def test_rules_over_sentences_with_a_language_model(run) -> None:
    Path("lm").write_text(
        "\\data\\\nngram 1=6\nngram 2=2\n\n"
        "\\1-grams:\n-2\t<unk>\n0\t<s>\t-0.5\n-1\t</s>\n-1\tthe\t-0.25\n-1.5\thouse\n-3\t;\n"
        "\n\\2-grams:\n-0.1\t<s> the\n-0.2\tthe house\n\n\\end\\\n"
    )
    Path("weights").write_text("P 1\nLanguageModel 1\n")
    [row] = run("--kbest", "1", "--lm", "lm", "--pass-through", "none", lines="das Haus , das\n")[1].splitlines()
    expected = -0.1 - 0.2 - 3 - 1 - 0.25 - 1  # <s> the, the house, ;, the, its back-off weight, </s>
    assert f"LanguageModel={expected:.6g} " in row
    assert float(row.split(" ||| ")[3]) == pytest.approx(-4.25 + expected, abs=1e-4)


def test_without_glue_the_grammar_has_to_have_its_own(run) -> None:
    assert run("--no-glue", "--skip-bad")[2] == (
        "warning: the weights name 'Glue', which is not a feature of this model\n"
        "warning: input:1: no derivation covers the sentence; its output is empty\n"
    )
    Path("own").write_text(
        GRAMMAR + "[S] ||| [X,1] ||| [X,1] ||| Own=1\n[S] ||| [S,1] [X,2] ||| [S,1] [X,2] ||| Own=10\n"
    )
    assert "Own=11" in run("--no-glue", "--kbest", "1", grammar="own")[1]


def test_limits_are_the_other_decoders(run) -> None:
    Path("wide").write_text("[X] ||| " + " ".join("abcdefghijk") + " ||| wide ||| P=0\n")
    line = " ".join("abcdefghijk") + "\n"
    assert run(lines=line, grammar="wide")[1] == line
    assert run("--span-limit", "11", lines=line, grammar="wide")[1] == "wide\n"


def test_moses(run) -> None:
    Path("rules").write_text(
        "das [X][X] [X] ||| the [X][X] [X] ||| 0.5 0.25 ||| 0-0 1-1\nHaus [X] ||| house [X] ||| 1 0.5 ||| 0-0\n"
    )
    Path("weights").write_text("[weight]\nTranslationModel0= 1 1\nWordPenalty0= -1\nUnknownWordPenalty0= 1\n")
    code, out, _ = run("--format", "moses", "--kbest", "1", grammar="rules")
    assert code == 0
    fields = out.split(" ||| ")
    assert fields[2] == f"TranslationModel0= {math.log(0.5):.6g} {math.log(0.125):.6g} WordPenalty0= -4"
    assert float(fields[3]) == pytest.approx(math.log(0.5) + math.log(0.125) + 4, abs=1e-5)


def test_forests(run, tmp_path: Path) -> None:
    assert run("--forest", "forests", "--skip-bad", lines="das Haus\n\na\x07\n")[0] == 0
    whole, empty, refused = (tmp_path / "forests").read_text().splitlines()
    assert json.loads(empty)["goal"] is None
    assert json.loads(refused) == {"goal": None, "nodes": []}
    found = from_json(whole)
    assert count(found.graph) == 4
    listed = [float(row.split(" ||| ")[3]) for row in run("--kbest", "9")[1].splitlines()]
    assert [d.score for d in kbest(found.graph, found.scores, 9)] == pytest.approx(listed, abs=1e-5)
    weights = {"P": 1.0, "Glue": -0.1, "PassThrough": -10.0, "WordPenalty": -1.0}
    for score, features in zip(found.scores, found.edge_features, strict=True):
        assert sum(weights.get(name, 0.0) * value for name, value in features.items()) == pytest.approx(score, abs=1e-5)
    assert "[S] ||| [S,1] [X,2] ||| [S,1] [X,2]" in found.edge_labels
    assert "S 0-2" in found.node_labels
    run("--forest", "forests", "--margin", "5")
    pruned = from_json((tmp_path / "forests").read_text())
    assert count(pruned.graph) == 1


def test_what_moses_adds_to_every_sentence_is_in_the_forest_too(run, tmp_path: Path) -> None:
    Path("rules").write_text("Haus [X] ||| house [X] ||| 0.5 ||| 0-0\n")
    Path("weights").write_text("TranslationModel0= 1\nWordPenalty0= -1\n")
    out = run("--format", "moses", "--kbest", "1", "--forest", "forests", lines="Haus\n", grammar="rules")[1]
    found = from_json((tmp_path / "forests").read_text())
    assert found.scores.sum() == pytest.approx(float(out.split(" ||| ")[3]), abs=1e-5)
    assert sum(features.get("WordPenalty0", 0.0) for features in found.edge_features) == -3


def test_a_compiled_table(run) -> None:
    table().write("rules.table")
    Path("weights").write_text("p 1.0\nglue -0.1\nunknown -5\n")
    code, out, err = run("--format", "table", lines="das haus\n", grammar="rules.table")
    assert (code, err) == (0, "")
    assert out == "the house\n"


def test_weights_that_nothing_has_are_named_once(run) -> None:
    Path("weights").write_text("P 1\nLanguageModel 0.5\nTyop 1\n")
    code, out, err = run("--pass-through", "unknown", lines="das\nHaus\n")
    assert (code, out) == (0, "the\nhouse\n")
    assert err == "".join(
        f"warning: the weights name '{name}', which is not a feature of this model\n"
        for name in ("LanguageModel", "Tyop")
    )


@pytest.mark.parametrize(
    ("rule", "problem"),
    [
        ("[X] ||| das [X,1] ||| the [X,2] ||| P=1", "the target side uses variable 2, which the source side lacks"),
        ("[X] ||| das [X,1] [X,1] ||| the [X,1] ||| P=1", "the source side has variable 1 twice"),
        ("[X] ||| das [X,1] ||| the [X,1] [X,1] ||| P=1", "the target side uses variable 1 twice"),
        ("[X] ||| das [X,1] ||| the ||| P=1", "the source side has 1 variables, the target side uses 0"),
        ("[X] ||| das ||| the ||| P=x", "the feature 'P' is 'x'; expected a finite number"),
        ("[X] ||| das", "2 fields; expected [LHS] ||| SOURCE ||| TARGET ||| FEATURES"),
    ],
)
def test_bad_rules(run, rule: str, problem: str) -> None:
    Path("bad").write_text(GRAMMAR + rule + "\n")
    code, out, err = run(grammar="bad")
    assert (code, out) == (1, "")
    assert err == f"error: bad:6: {problem}\n"
    code, out, err = run("--skip-bad", grammar="bad")
    assert (code, out) == (0, "the house\n")
    assert err.startswith("warning: bad:6: ")


def test_bad_usage(run) -> None:
    assert run("--format", "table", grammar="grammar")[0] == 1
    assert "rules.table" in run("--format", "table", grammar="rules.table")[2]
    code, _, err = run("--margin", "3")
    assert (code, err) == (2, "error: --margin is for forests; expected --forest, too\n")
    code, _, err = run("--format", "table", "--no-glue")
    assert (code, err) == (
        2,
        "error: --config, --pass-through, --prefix and --no-glue are for files of other decoders\n",
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--pop-limit", "-1"], "pop_limit is -1; expected at least 0"),
        (["--span-limit", "-1"], "span_limit is -1; expected at least 1"),
        (["--per-source", "-1"], "per_source is -1; expected at least 0"),
        (["--per-source", "99999999999"], "per_source is 99999999999; expected at most 2^32 - 1"),
        (["--kbest", "99999999999"], "kbest is 99999999999; expected at most 2^32 - 1"),
        (["--threads", "0"], "threads is 0; expected 1 to 1024"),
        (["--threads", "-2"], "threads is -2; expected 1 to 1024"),
    ],
)
def test_numbers_that_make_no_sense(run, arguments: list[str], message: str) -> None:
    assert run(*arguments) == (2, "", f"error: {message}\n")


def test_features_of_a_grammar_have_names_of_their_own(run) -> None:
    # Names of Treeglot's own features, and some that cdec's decoder fires itself, too.
    Path("grammar").write_text(
        "[X] ||| das ||| the ||| word_penalty=1 rule_penalty=2 glue=4 unknown=8 lm=16 unknown_length_1=32\n"
        "[X] ||| Haus ||| house ||| Glue=0.5 PassThrough_3=0.25\n"
    )
    Path("weights").write_text("word_penalty 1\nglue 10\nlm 100\nGlue -1\nunknown_length_1 1000\nPassThrough_3 3\n")
    code, out, err = run("--kbest", "1", "--pass-through", "unknown")
    assert (code, err) == (0, "")
    features = {"word_penalty": 1, "rule_penalty": 2, "glue": 4, "unknown": 8, "lm": 16, "unknown_length_1": 32}
    features |= {"Glue": 1.5, "PassThrough_3": 0.25}
    _, text, listed, score = out.strip().split(" ||| ")
    assert (text, listed) == ("the house", " ".join(f"{name}={value:g}" for name, value in features.items()))
    assert float(score) == 1 + 40 + 1600 - 1.5 + 32000 + 0.75


def test_a_grammar_with_its_own_glue(run) -> None:
    Path("grammar").write_text(
        "[S] ||| [S,1] [X,2] ||| [S,1] [X,2] ||| Glue=1\n[S] ||| [X,1] ||| [X,1] |||\n"
        "[X] ||| das ||| the |||\n[X] ||| Haus ||| house |||\n"
    )
    Path("weights").write_text("Glue -2\n")
    code, out, err = run("--kbest", "1", "--no-glue", "--pass-through", "unknown")
    assert (code, out, err) == (0, "0 ||| the house ||| Glue=1 ||| -2.000000\n", "")


def test_joshuas_own_glue(run) -> None:
    Path("grammar").write_text(
        "[GOAL] ||| [GOAL,1] [X,2] ||| [GOAL,1] [X,2] ||| tm_glue_0=1\n[GOAL] ||| [X,1] ||| [X,1] ||| tm_glue_0=1\n"
        "[X] ||| das ||| the ||| 0\n[X] ||| Haus ||| house ||| 0\n"
    )
    Path("weights").write_text("tm_glue_0 -2\n")
    code, out, err = run("--kbest", "1", "--no-glue", "--format", "joshua", "--pass-through", "unknown")
    assert (code, out, err) == (0, "0 ||| the house ||| tm_glue_0=2 ||| -4.000000\n", "")


def test_joshuas_glue_with_marks_and_its_configuration(run) -> None:
    """In the form of one of Joshua's own tests: rules of three and four variables, an owner, a glue grammar."""
    Path("grammar").write_text(
        "[NP-S] ||| GOATS ||| Goats ||| 0\n[VP] ||| EAT ||| eat ||| 0\n[NP-O] ||| CHEESE ||| cheese ||| 0.5\n"
        "[S] ||| [NP-O,1] [NP-S,2] [VP,3] ||| [NP-S,2] [VP,3] [NP-O,1] ||| 0\n"
        "[A] ||| 1 ||| i ||| 0\n[B] ||| 2 ||| will ||| 0\n[C] ||| 3 ||| go ||| 0\n[D] ||| 4 ||| home ||| 0\n"
        "[S] ||| [C,1] [A,2] [D,3] [B,4] ||| [A,2] [B,4] [C,1] [D,3] ||| 0\n"
    )
    Path("glue").write_text(
        "[GOAL] ||| <s> ||| <s> ||| 0\n[GOAL] ||| [GOAL,1] [S,2] ||| [GOAL,1] [S,2] ||| -1\n"
        "[GOAL] ||| [GOAL,1] </s> ||| [GOAL,1] </s> ||| 0\n"
    )
    Path("weights").write_text(
        "tm = thrax phrase 20 grammar\ntm = thrax -owner glue -maxspan -1 -path glue\ngoalSymbol = GOAL\n"
        "feature-function = WordPenalty\nfeature-function = OOVPenalty\n\ntm_phrase_0 1\ntm_glue_0 1\n"
        "WordPenalty -3.6942747832593694\nOOVPenalty -100.0\n"
    )
    own = ["--no-glue", "--format", "joshua", "--grammar", "glue"]
    code, out, err = run("--kbest", "5", *own, lines="CHEESE GOATS EAT\n3 1 4 2\n")
    assert (code, err) == (0, "")
    assert out == (
        "0 ||| Goats eat cheese ||| tm_phrase_0=-0.5 tm_glue_0=1 WordPenalty=-2.17147 ||| 8.522016\n"
        "1 ||| i will go home ||| tm_glue_0=1 WordPenalty=-2.60577 ||| 10.626419\n"
    )
    code, out, _ = run("--json", "--trace", *own, lines="3 1 4 2\n")
    steps = [(s["label"], s["span"]) for s in json.loads(out)["derivation"]]
    assert steps[:5] == [("S", [0, 4]), ("GOAL", [0, 4]), ("GOAL", [0, 4]), ("GOAL", [0, 0]), ("S", [0, 4])]
    code, out, err = run(*own, "--skip-bad", lines="EAT\n")
    assert (code, out) == (0, "\n")
    assert err == "warning: input:1: no derivation covers the sentence; its output is empty\n"


@pytest.fixture
def glued(run):
    """Rules and a glue grammar, whose features have no names."""
    Path("grammar").write_text("[X] ||| das ||| the ||| -1\n[X] ||| Haus ||| house ||| -1\n")
    Path("glue").write_text(
        "[GOAL] ||| <s> ||| <s> ||| -1\n[GOAL] ||| [GOAL,1] [X,2] ||| [GOAL,1] [X,2] ||| -1\n"
        "[GOAL] ||| [GOAL,1] </s> ||| [GOAL,1] </s> ||| 0\n"
    )
    Path("weights").write_text("tm_pt_0 1\ntm_glue_0 5\n")
    return lambda *arguments, **given: run(
        "--no-glue", "--format", "joshua", "--grammar", "glue", "--pass-through", "unknown", *arguments, **given
    )


def test_grammars_with_one_name_and_weights_with_two(run, glued) -> None:
    code, out, err = glued("--kbest", "1")
    assert (code, out) == (2, "")
    assert err == (
        "error: the weights name 'tm_glue_0', but no grammar has it: 2 grammars share the prefix tm_pt. Expected a "
        "--prefix for each grammar in order, such as --prefix tm_pt --prefix tm_glue\n"
    )
    code, out, err = glued("--kbest", "1", "--prefix", "tm_pt", "--prefix", "tm_glue")
    assert (code, out, err) == (0, "0 ||| the house ||| tm_glue_0=3 tm_pt_0=2 ||| 17.000000\n", "")
    # Who says that both have one name is only told which weight is not used.
    code, out, err = glued("--kbest", "1", "--prefix", "tm_pt", "--prefix", "tm_pt")
    assert (code, out) == (0, "0 ||| the house ||| tm_pt_0=5 ||| 5.000000\n")
    assert err == "warning: the weights name 'tm_glue_0', which is not a feature of this model\n"
    # The built-in glue has that weight, and two files of one owner are nothing strange.
    Path("glue").write_text("[X] ||| klein ||| small ||| -1\n")
    code, out, err = run("--kbest", "1", "--format", "joshua", "--grammar", "glue", "--pass-through", "unknown")
    assert (code, out, err) == (0, "0 ||| the house ||| tm_pt_0=2 tm_glue_0=2 ||| 12.000000\n", "")


def test_spans_of_a_forest_with_marks(glued) -> None:
    names = ["--prefix", "tm_pt", "--prefix", "tm_glue"]
    code, out, _ = glued("--json", "--trace", "--forest", "forests", *names, lines="das Haus das\n")
    assert code == 0
    labels = from_json(Path("forests").read_text()).node_labels
    assert {label for label in labels if label.startswith("X ")} == {"X 0-1", "X 1-2", "X 2-3"}
    steps = {f"{step['label']} {step['span'][0]}-{step['span'][1]}" for step in json.loads(out)["derivation"]}
    assert steps == set(labels)


def test_a_limit_that_is_too_large(run) -> None:
    limit = "99999999999"
    Path("weights").write_text(f"lm_0 1\ntm = thrax -owner pt -maxspan {limit} -path grammar\n")
    problem = f"is {limit}; expected at most 4294967295"
    assert run("--format", "joshua") == (1, "", f"error: weights:2: the span limit {problem}\n")
    Path("weights").write_text(f"[max-chart-span]\n{limit}\n[weight]\nLM0= 1\n")
    assert run("--format", "moses") == (1, "", f"error: weights:2: [max-chart-span] {problem}\n")
    Path("weights").write_text(f"[feature]\nPhraseDictionaryMemory table-limit={limit}\n[weight]\nLM0= 1\n")
    assert run("--format", "moses") == (1, "", f"error: weights:2: table-limit {problem}\n")


def test_pictures_and_counts_are_of_the_words_that_were_translated(run, capsys: pytest.CaptureFixture[str]) -> None:
    Path("input").write_text('<seg id="0">das Haus</seg> ||| the house is here\n')
    files = ["--grammar", "grammar", "--weights", "weights"]
    assert main(["decode", "input", *files, "--svg", "one.svg", "--html", "all.html", "--time"]) == 0
    assert "1 sentences, 2 words: " in capsys.readouterr().err
    for picture in (Path("one.svg").read_text(), Path("all.html").read_text()):
        assert "das" in picture and "Haus" in picture
        assert "seg" not in picture and "here" not in picture


def test_without_a_picture_all_else_is_said(run, capsys: pytest.CaptureFixture[str]) -> None:
    Path("input").write_text(" ||| nothing\n")
    files = ["--grammar", "grammar", "--weights", "weights"]
    assert main(["decode", "input", *files, "--svg", "one.svg", "--time"]) == 1
    said = capsys.readouterr().err
    assert "the reference after ||| is not used: 1 of 1 sentences\n1 sentences, 0 words: " in said
    assert said.endswith("error: there is no derivation to draw: one.svg is not written\n")


def test_cdecs_lines(run) -> None:
    lines = '<seg id="7">das Haus</seg>\ndas Haus ||| the house\n<seg id="0" grammar="g.gz"> das </seg>\n<seg>das\n'
    code, out, err = run("--kbest", "1", "--skip-bad", lines=lines)
    assert code == 0
    assert [line.split(" ||| ")[:2] for line in out.splitlines()] == [
        ["0", "the house"],
        ["1", "the house"],
        ["3", "the"],
    ]
    problem = "a sentence names a grammar; expected --sentence-grammars DIR, the folder that has it"
    assert err == f"warning: input:3: its own grammar: {problem}; its output is empty\n"
    _, _, err = run("--sentence-grammars", ".", "--skip-bad", lines=lines)
    assert err == "warning: input:3: its own grammar: g.gz: No such file or directory; its output is empty\n"


def test_circles_are_counted(run) -> None:
    Path("grammar").write_text(
        "[X] ||| a ||| A ||| f=1\n[Y] ||| [X,1] ||| y [X,1] ||| f=1\n[X] ||| [Y,1] ||| x [Y,1] ||| f=100\n"
    )
    Path("weights").write_text("f 1\n")
    code, out, err = run(lines="a\na\n")
    assert (code, out) == (0, "A\nA\n")
    warning = "1 rules from one nonterminal to another close a cycle of labels; they are left out"
    assert err == f"warning: {warning}\n"


def test_a_given_part_is_under_unary_rules(run) -> None:
    Path("grammar").write_text(
        "[Y] ||| [X,1] ||| [X,1] ||| P=1\n[X] ||| gut [Y,1] ||| good [Y,1] ||| P=9\n[X] ||| gut ||| good ||| P=0\n"
    )
    code, out, err = run("--markup", "--kbest", "1", lines='gut <x translation="house">das Haus</x>\n')
    assert (code, err) == (0, "")
    assert out.startswith("0 ||| good house ||| P=10 ")


def test_a_word_of_three_bars_stays_one(run) -> None:
    from treeglot.decode.kbest import read_kbest

    Path("grammar").write_text("das [X] ||| the [X] ||| 1\nHaus [X] ||| house [X] ||| 1\n")
    Path("weights").write_text("WordPenalty0= 1\n")
    code, out, err = run("--kbest", "1", "--format", "moses", lines="das ||| Haus\n")
    assert (code, err) == (0, "")
    Path("list").write_text(out)
    assert [entry.text for entry in read_kbest("list")] == ["the ||| house"]


def test_weights_of_nothing(run) -> None:
    table().write("rules.table")
    Path("weights").write_text("# none\n")
    code, _, err = run("--format", "table", grammar="rules.table")
    assert code == 0
    assert err == "warning: weights: no weight is other than 0; all translations of a sentence score the same\n"
