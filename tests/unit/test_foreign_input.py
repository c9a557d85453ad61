"""Input lines, settings and old configurations of other decoders, and grammars that sentences bring along."""

import math
from pathlib import Path

import pytest
from messages import messages

from treeglot import FormatError, UsageError
from treeglot.cli import main
from treeglot.foreign import ForeignTranslator, read_foreign_weights, read_grammar
from treeglot.foreign.config import read_config
from treeglot.foreign.input import ANNOTATED, input_line, unmasked
from treeglot.foreign.weights import ForeignWeights

LOG10_E = 1 / math.log(10)


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    monkeypatch.chdir(tmp_path)

    def decode(lines: str, *arguments: str) -> tuple[int, list[list[str]], str]:
        Path("input").write_text(lines)
        code = main(["decode", "input", "--weights", "weights", "--kbest", "9", "--skip-bad", *arguments])
        out = capsys.readouterr()
        return code, [row.split(" ||| ") for row in out.out.splitlines()], messages(out.err)

    return decode


@pytest.mark.parametrize("decoder", ["cdec", "joshua", "moses"])
def test_what_is_no_sentence_is_refused_by_name(decoder):
    def problem(line):
        found = input_line(line, decoder)
        assert found.source == ""
        return found.problem

    assert problem("((('ein',-0.2,1),('der',-0.3,1),),)") == (
        "\"((('ein',-0.2,1),('der',-0.3,1\" begins a lattice; expected a sentence"
    )
    assert problem('{"rules":[1,"[X] ||| a ||| b"]}').endswith("begins a forest; expected a sentence")
    assert problem('<tree label="NP"> a </tree>').endswith("begins a source tree; expected a sentence")
    for words in ("(((", "(((ein Haus", "{ Haus }", "der <tree"):  # sentences all the same
        assert not input_line(words, decoder).problem


@pytest.mark.parametrize(
    "line",
    [
        "<seg>das Haus</seg>",
        "<seg id=1>das Haus</seg>",
        '<seg id = "1" >das Haus</seg>',
        '<seg id="1"> das Haus',
        '<seg id="1"> das Haus ||| the house </seg>',
        '<seg id="1"> das Haus </seg> ||| the house',
    ],
)
def test_segments_of_cdec(line):
    assert input_line(line, "cdec").source == "das Haus"
    assert input_line(line, "cdec").notes == (("the reference after ||| is not used",) if "|||" in line else ())


def test_grammars_of_segments_with_and_without_quotes():
    found = input_line('<seg id=0 grammar=a.gz grammar1 = "b c" other="grammar=d">das</seg>', "cdec")
    assert (found.source, found.grammars) == ("das", ("a.gz", "b c"))
    assert input_line("<segment>das", "cdec").source == "<segment>das"


def test_a_lattice_in_a_segment():
    assert "lattice" in input_line("<seg id=\"0\">((('a',1,1),),)</seg>", "cdec").problem


def test_joshuas_separators_tags_and_annotations():
    assert input_line("das Haus ||| the house ||| a house", "joshua").source == "das Haus"
    assert input_line("das|||Haus", "joshua", known=["das|||Haus"]).source == "das|||Haus"
    assert input_line("|||", "joshua").source == "-pipe--pipe--pipe-"
    assert input_line('<seg id="3">das Haus</seg>', "joshua").source == "das Haus"
    assert input_line("<seg id=3 x> das Haus", "joshua").source == "das Haus"
    found = input_line("alte[tag=ADJ;num=PL] Häuser", "joshua")
    assert (found.source, found.notes) == ("alte Häuser", (ANNOTATED,))
    assert input_line("[X] [ a]", "joshua").source == "-lsb-X-rsb- -lsb- a-rsb-"
    assert input_line("[X] [ a]", "joshua", known=["[X]", "["]).source == "[X] [ a-rsb-"
    assert input_line('<x translation="[b]">a</x>', "joshua", markup=True).source == '<x translation="[b]">a</x>'
    assert input_line("[X]", "cdec").source == "[X]"
    assert unmasked("-lsb-X-rsb- -pipe-") == "[X] |"


def test_masked_words_come_out_as_they_went_in(run):
    Path("rules").write_text("[X] ||| -lsb- das -rsb- ||| -lsb- this -rsb- ||| 0\n")
    Path("weights").write_text("OOVPenalty 1\n")
    _, rows, err = run("[ das ] | ||| x\n[X]\n", "--grammar", "rules", "--format", "joshua")
    assert [(n, text) for n, text, *_ in rows if n == "1" or text.startswith("[ this")] == [
        ("0", "[ this ] |"),
        ("1", "[X]"),
    ]
    assert err == ""


def test_marks_at_the_beginning_of_a_file(run):
    Path("rules").write_text("[X] ||| a ||| A ||| F=1\n")
    Path("weights").write_text("F 1\n")
    code, rows, err = run("\ufeffa\na\r\na\n", "--grammar", "rules", "--pass-through", "none")
    assert (code, [row[:2] for row in rows]) == (0, [["1", "A"], ["2", "A"]])
    assert err.splitlines() == ["warning: input:1: begins with a byte order mark; its output is empty"]


def test_words_of_the_source_are_counted(run):
    Path("rules").write_text("[X] ||| a b ||| A ||| F=1\n[X] ||| c ||| C ||| F=2\n")
    Path("weights").write_text("F 1\nSourceWordPenalty 0.5\nWordPenalty -1\n")
    code, rows, err = run("a b c\n", "--grammar", "rules", "--pass-through", "none", "--forest", "forest")
    assert (code, err) == (0, "")
    assert rows == [
        [
            "0",
            "A C",
            f"F=3 WordPenalty={-2 * LOG10_E:.6g} SourceWordPenalty={-3 * LOG10_E:.6g} Glue=1",
            f"{3 + (2 - 1.5) * LOG10_E:.6f}",
        ]
    ]
    from treeglot.graph.json import from_json

    found = from_json(Path("forest").read_text())
    assert found.scores.sum() == pytest.approx(3 + 0.5 * LOG10_E, abs=1e-5)
    assert sum(f.get("SourceWordPenalty", 0.0) for f in found.edge_features) == pytest.approx(-3 * LOG10_E)


OWN = ("--sentence-grammars", ".")


def test_sentences_with_grammars_of_their_own(run):
    Path("one").write_text(
        "[X] ||| [A] ||| [1] ||| Top=1\n[A] ||| a ||| A ||| F=1\n[A] ||| [A] [A] ||| [1] [2] ||| G=1\n"
    )
    Path("two").write_text("[A] ||| b ||| B ||| H=1\n")
    Path("bad").write_text("[A] ||| b ||| [1] ||| H=1\n")
    Path("weights").write_text("Glue -1\nF 1\n")
    lines = (
        '<seg id="0" grammar="one" grammar1="two">a b</seg>\n<seg id="1" grammar="two"> b </seg>\n'
        '<seg id="2" grammar="bad">b</seg>\n<seg id="3" grammar="none">b</seg>\na\n'
    )
    code, rows, err = run(lines, "--pass-through", "none", "--forest", "forests", "--no-distinct", *OWN)
    assert code == 0
    assert rows == [
        ["0", "A B", "Top=1 F=1 G=1 H=1", "1.000000"],
        ["0", "A B", "Top=2 F=1 H=1 Glue=1", "0.000000"],
    ]
    empty = "its output is empty\n"
    assert err == (
        "warning: bad:1: the target side uses variable 1, which the source side lacks; the rule is left out\n"
        f"warning: input:2: no derivation covers the sentence; {empty}"
        f"warning: input:3: no derivation covers the sentence; {empty}"
        f"warning: input:4: its own grammar: none: No such file or directory; {empty}"
        f"warning: input:5: no derivation covers the sentence; {empty}"
    )
    assert Path("forests").read_text().count("[A] ||| b ||| B") == 1
    # With rules for all sentences beside them.
    code, rows, err = run('<seg grammar="two">a b</seg>\na\n', "--pass-through", "none", "--grammar", "one", *OWN)
    assert [row[1] for row in rows] == ["A B", "A"]
    assert (code, err) == (0, "")


def test_the_rules_of_a_sentence_are_gone_after_it(tmp_path):
    import gc
    import weakref

    (tmp_path / "rules").write_text("[X] ||| a ||| A ||| F=1\n")
    gc.disable()  # it counts objects of Python, not how large a table is
    try:
        translator = ForeignTranslator(read_grammar(tmp_path / "rules"), ForeignWeights("cdec", {"F": 1.0}))
        assert translator.translate("a").text == "A"
        gone = weakref.ref(translator)
        del translator
        assert gone() is None
    finally:
        gc.enable()


def test_the_name_of_a_grammar_with_a_control_character(run):
    Path("one").write_text("[X] ||| a ||| A ||| F=1\n")
    Path("weights").write_text("F 1\n")
    lines = '<seg grammar="a\0b">a</seg>\n<seg grammar="one">a</seg>\n'
    code, rows, err = run(lines, "--pass-through", "none", *OWN)
    assert (code, rows) == (0, [["1", "A", "F=1", "1.000000"]])
    problem = "its own grammar: a file's name with a control character; its output is empty"
    assert err == f"warning: input:1: {problem}\n"


def test_a_grammar_is_needed(run):
    Path("weights").write_text("Glue -1\n")
    code, rows, err = run("a b\n")
    assert (code, rows, err) == (2, [], "error: missing option '--grammar' (see treeglot decode --help)\n")


def test_a_translator_without_files_refuses_grammars_of_sentences(tmp_path):
    (tmp_path / "rules").write_text("[X] ||| a ||| A ||| F=1\n")
    translator = ForeignTranslator(read_grammar(tmp_path / "rules"), ForeignWeights("cdec", {"F": 1.0}))
    found = translator.translate('<seg grammar="x">a</seg>')
    assert found.problem == "its own grammar: rules are not looked for beside those that were given"


RULES = "[S] ||| [NP,1] geht [NP,2] ||| [NP,1] goes [NP,2] ||| 0\n[NP] ||| er ||| he ||| 1\n"
GLUE = (
    "[GOAL] ||| <s> ||| <s> ||| 0\n[GOAL] ||| [GOAL,1] [S,2] ||| [GOAL,1] [S,2] ||| -1\n"
    "[GOAL] ||| [GOAL,1] </s> ||| [GOAL,1] </s> ||| 0\n"
)


def joshua(weights: str) -> list[str]:
    Path("rules").write_text(RULES)
    Path("glue").write_text(GLUE)
    Path("weights").write_text(f"tm = thrax pt 12 rules\ntm = thrax glue -1 glue\ntm_pt_0 1\ntm_glue_0 1\n{weights}")
    return ["--format", "joshua", "--grammar", "rules", "--grammar", "glue", "--no-glue"]


def test_labels_and_marks_of_words_that_pass_through(run):
    given = joshua("oov-list = NN 0.5 NP 0.25\nmark_oovs = true\nOOVPenalty 2\n")
    _, rows, err = run("er geht heim\n", *given)
    values = 2 * math.log(0.25)
    assert rows[0] == [
        "0",
        "he goes heim_OOV",
        f"tm_glue_0=1 tm_pt_0=-1 OOVPenalty={math.log(0.25):.6g}",
        f"{values:.6f}",
    ]
    assert err == ""
    # Before version 6, whose weight is negative, words are counted, whatever the label.
    _, rows, _ = run("er geht heim\n", *joshua("oov-list = NN 0.5 NP 0.25\nOOVPenalty -2\n"))
    assert rows[0] == ["0", "he goes heim", "tm_glue_0=1 tm_pt_0=-1 OOVPenalty=1", "-2.000000"]
    # And without a list there is no NP.
    _, rows, err = run("er geht heim\n", *joshua("OOVPenalty 2\n"))
    assert rows == []
    assert "no derivation covers the sentence" in err


def test_only_words_without_rules_pass_through(run):
    given = joshua("oov-list = NP 1\ntrue-oovs-only = true\nnum_translation_options = 1\n")
    _, rows, _ = run("er geht heim\n", *given)
    assert [row[1] for row in rows] == ["he goes heim"]
    assert read_foreign_weights("weights", "joshua").settings.per_source == 1


def test_feature_functions_of_joshua(run):
    Path("rules").write_text("[X] ||| a ||| A ||| -1\n")
    given = ["--format", "joshua", "--grammar", "rules", "--pass-through", "none"]
    weights = "tm_pt_0 2\nWordPenalty -1\nOOVPenalty 1\n"
    Path("weights").write_text("feature_function = OOVPenalty\nfeature-function = LanguageModel -lm_file x\n" + weights)
    _, rows, err = run("a\n", *given)
    assert rows == [["0", "A", "tm_pt_0=1 tm_glue_0=1", "2.000000"]]
    assert err == "warning: the weights name 'WordPenalty', which is no feature of this model\n"
    Path("weights").write_text(weights)  # before version 5: by their weights
    _, rows, err = run("a\n", *given)
    assert rows == [["0", "A", f"tm_pt_0=1 WordPenalty={-3 * LOG10_E:.6g} tm_glue_0=1", f"{2 + 3 * LOG10_E:.6f}"]]
    assert err == ""


def test_a_phrase_penalty_for_one_owner(run):
    Path("rules").write_text("[X] ||| a ||| A ||| -1\n")
    Path("weights").write_text("tm_pt_0 2\nPhrasePenalty 1\n")
    given = ["--format", "joshua", "--grammar", "rules", "--pass-through", "none"]
    assert run("a\n", *given)[1] == [["0", "A", "tm_pt_0=1 tm_glue_0=1 PhrasePenalty=1", "3.000000"]]
    code, _, err = run("a\n", *given, "--grammar", "rules", "--prefix", "tm_pt", "--prefix", "tm_x")
    problem = "PhrasePenalty counts the rules of one owner: it cannot be had for grammars of several"
    assert (code, err) == (2, f"error: {problem}\n")


def test_built_in_glue_is_listed_without_a_weight(run):
    Path("rules").write_text("[X] ||| a ||| A ||| -1\n")
    Path("weights").write_text("tm_pt_0 2\n")
    _, rows, _ = run("a\n", "--grammar", "rules", "--format", "joshua", "--pass-through", "unknown")
    assert rows == [["0", "A", "tm_pt_0=1 tm_glue_0=1", "2.000000"]]


@pytest.mark.parametrize(
    ("decoder", "line", "problem"),
    [
        (
            "joshua",
            "regexp-grammar = pt",
            "'regexp-grammar = pt' is not supported: words in rules are no regular expressions",
        ),
        ("joshua", "segment_oovs = true", "'segment_oovs = true' is not supported: words are not cut into parts"),
        (
            "joshua",
            "fuzzy-matching=true",
            "'fuzzy-matching=true' is not supported: one label does not stand for another",
        ),
        (
            "joshua",
            "search = stack",
            "'search = stack' is not supported: phrases are not decoded in stacks; expected a grammar for a chart",
        ),
        (
            "joshua",
            "tm = moses -owner pt -maxspan 0 -path phrases",
            "'tm = moses -owner pt -maxspan 0 -path phrases' is not supported: phrases are not decoded in stacks; "
            "expected a grammar for a chart",
        ),
        ("joshua", "oov-list = NN", "'oov-list = NN' is no list of labels; expected LABEL PROBABILITY …"),
        ("joshua", "oov-list = NN 0", "the probability of 'NN' is '0'; expected a number above 0"),
        (
            "joshua",
            "feature-function = LanguageModel -lm_file lm -class_map map",
            "'feature-function = LanguageModel -lm_file lm -class_map map' is not supported: "
            "expected no -class_map and no -value",
        ),
        ("moses", "[inputtype]\n1", "[inputtype] 1 is confusion networks; expected sentences, 0 or 3"),
        ("moses", "[inputtype]\n2", "[inputtype] 2 is lattices; expected sentences, 0 or 3"),
        ("moses", "[search-algorithm]\n1", "[search-algorithm] 1 is for phrases; expected a chart, 3 or 5"),
        ("moses", "[search-algorithm]\n7", "[search-algorithm] 7 is for trees of the input; expected a chart, 3 or 5"),
        (
            "moses",
            "[input-factors]\n0\n1",
            "[input-factors] 1: words of several factors are not read; expected 0 alone",
        ),
        (
            "moses",
            "[drop-unknown]\n1",
            "[drop-unknown] 1 is not supported: unknown words stand in the output as they are",
        ),
        ("moses", "[weight-l]\nx", "the weight in [weight-l] is 'x'; expected a finite number"),
    ],
)
def test_settings_that_would_change_translations(tmp_path, decoder, line, problem):
    (tmp_path / "config").write_text(f"{line}\n")
    with pytest.raises(FormatError) as caught:
        read_foreign_weights(tmp_path / "config", decoder)
    assert str(caught.value) == f"{tmp_path / 'config'}:{1 + line.count(chr(10))}: {problem}"


def test_the_same_settings_when_they_are_off(tmp_path):
    (tmp_path / "config").write_text("fuzzy-matching = false\nsearch = cky\nmark-oovs = false\nlm_0 1\n")
    assert read_foreign_weights(tmp_path / "config", "joshua").settings.mark == ""
    (tmp_path / "ini").write_text("[inputtype]\n3\n[search-algorithm]\n3\n[input-factors]\n0\n[weight]\nLM0= 1\n")
    assert read_foreign_weights(tmp_path / "ini", "moses").weights == {"LM0": 1.0}


def test_old_names_of_settings(tmp_path):
    (tmp_path / "config").write_text("span_limit=50\nphrase_owner=pt\nglue_owner=mono\nlm 0 1.0\nphrasemodel pt 0 2\n")
    found = read_foreign_weights(tmp_path / "config", "joshua")
    assert (found.settings.span_limit, found.settings.prefixes) == (50, ["tm_pt", "tm_mono"])
    assert found.weights == {"lm_0": 1, "tm_pt_0": 2}


OLD = """\
# translation tables
[ttable-file]
6 0 0 2 rules
6 0 0 1 glue
[lmodel-file]
0 0 5 lm
[ttable-limit]
7
[weight-l]
1.5
[weight-t]
0.25
0.5
-0.75
[weight-w]
-2
[max-chart-span]
15
1000
[weight-d]
1
"""


def test_an_old_moses_ini(tmp_path):
    (tmp_path / "ini").write_text(OLD)
    found = read_foreign_weights(tmp_path / "ini", "moses")
    # Language models and word penalties were in decimal logarithms.
    assert found.weights == pytest.approx(
        {
            "UnknownWordPenalty0": 1.0,
            "LM0": 1.5 * LOG10_E,
            "WordPenalty0": -2 * LOG10_E,
            "TranslationModel0_0": 0.25,
            "TranslationModel0_1": 0.5,
            "TranslationModel1": -0.75,
        }
    )
    settings = found.settings
    assert (settings.prefixes, settings.span_limit) == (["TranslationModel0", "TranslationModel1"], 15)
    assert settings.per_source == 7
    (tmp_path / "ini").write_text(OLD.replace("6 0 0", "0 0"))  # as they were before 2009
    assert read_foreign_weights(tmp_path / "ini", "moses").weights == found.weights
    (tmp_path / "ini").write_text(OLD + "[weight]\nLM0= 1\n")  # the new ones, where there are any
    assert read_foreign_weights(tmp_path / "ini", "moses").weights == {"LM0": 1.0}


def test_files_that_a_configuration_names(tmp_path, monkeypatch):
    (tmp_path / "model").mkdir()
    (tmp_path / "model/labels").write_text("NN 1\n")
    monkeypatch.chdir(tmp_path)
    for name in ("labels", "model/labels", tmp_path / "model/labels"):  # beside it, from here, and from anywhere
        Path("model/ini").write_text(f"[unknown-lhs]\n{name}\n[weight]\nLM0= 1\n")
        assert read_foreign_weights("model/ini", "moses").settings.passed_labels == {"NN": 0.0}


def test_labels_of_unknown_words_in_moses(tmp_path):
    (tmp_path / "ini").write_text("[unknown-lhs]\nlabels\n[weight]\nUnknownWordPenalty0= 0.5\n")
    (tmp_path / "labels").write_text("NN 0.75\nNP 0.25\n\n")
    (tmp_path / "rules").write_text("a [X][NP] [X] ||| [X][NP] A [S] ||| 1 ||| 1-0\n")
    table, weights = read_grammar(tmp_path / "rules", "moses"), read_foreign_weights(tmp_path / "ini", "moses")
    found = ForeignTranslator(table, weights).translate("a new")
    # a is unknown, too, for no rule has it alone: two words under NN are likelier than one under NP.
    assert {h.text: h.features["UnknownWordPenalty0"] for h in reversed(found.kbest(9))} == pytest.approx(
        {"a new": 2 * math.log(0.75), "new A": math.log(0.25)}
    )
    (tmp_path / "labels").write_text("NN\n")
    with pytest.raises(FormatError, match="labels:1: 'NN' is no list of labels; expected LABEL PROBABILITY …"):
        read_foreign_weights(tmp_path / "ini", "moses")
    with pytest.raises(
        UsageError, match=r"PhrasePenalty0 counts unknown words: it cannot be had beside \[unknown-lhs\]"
    ):
        ForeignWeights("moses", {"PhrasePenalty0": 1.0}, settings=weights.settings)


CDEC_INI = """\
# a system
formalism=SCFG
grammar=rules
weights = weights
feature_function=WordPenalty
feature_function=KLanguageModel -n Big lm
scfg_max_span_limit=2
scfg_default_nt=N
goal=T
k_best=100
cubepruning_pop_limit=30
"""


@pytest.fixture
def cdec_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "system"
    folder.mkdir()
    (folder / "rules").write_text("[N] ||| a ||| A ||| F=1\n[N] ||| a a a ||| B ||| F=9\n")
    (folder / "weights").write_text("F 1\nWordPenalty -1\nSourceWordPenalty 5\nBig 0.5\nGlue -0.25\nPassThrough -3\n")
    (folder / "lm").write_text("\\data\\\nngram 1=4\n\n\\1-grams:\n-2\t<unk>\n0\t<s>\n-1\t</s>\n-0.5\tA\n\n\\end\\\n")
    (folder / "cdec.ini").write_text(CDEC_INI)
    (tmp_path / "input").write_text("a a a\nb\n")
    monkeypatch.chdir(tmp_path)
    return folder


def test_a_cdec_ini(cdec_files, capsys):
    assert main(["decode", "input", "--config", "system/cdec.ini", "--kbest", "5", "--skip-bad"]) == 0
    found = capsys.readouterr()
    # B is too wide, only the features of two functions are on, and nothing passes through.
    listed = f"F=3 Big=-2.5 WordPenalty={-3 * LOG10_E:.6g} Glue=2"
    assert found.out == f"0 ||| A A A ||| {listed} ||| {3 - 1.25 + 3 * LOG10_E - 0.5:.6f}\n"
    assert messages(found.err).splitlines() == [
        "warning: the weights name 'SourceWordPenalty', which is no feature of this model",
        "warning: input:2: no derivation covers the sentence; its output is empty",
    ]


def test_what_is_given_beside_a_cdec_ini_counts(cdec_files, capsys):
    (cdec_files / "cdec.ini").write_text(CDEC_INI + "add_pass_through_rules=true\n")
    (cdec_files / "other").write_text("[N] ||| a ||| C ||| F=1\n")
    given = ["--grammar", "system/other", "--span-limit", "3", "--skip-bad", "--kbest", "0"]
    assert main(["decode", "input", "--config", "system/cdec.ini", *given]) == 0
    assert capsys.readouterr().out == "C C C\nb\n"
    assert main(["decode", "input", "--config", "system/cdec.ini", *given, "--pass-through", "none"]) == 0
    assert capsys.readouterr().out == "C C C\n\n"


def test_rules_above_the_label_of_sentences(run):
    rules = "[S] ||| a ||| A ||| F=1\n[NP] ||| [S,1] ||| [1] ||| F=1\n[S] ||| [NP,1] b ||| [1] B ||| F=1\n"
    Path("rules").write_text(rules)
    Path("weights").write_text("F 1\n")
    for glue in ("--glue", "--no-glue"):
        _, rows, err = run("a b\n", "--grammar", "rules", "--pass-through", "none", glue)
        assert (rows, err) == ([["0", "A B", "F=3", "3.000000"]], "")
    # Where glue would lead back to the sentence, it is said.
    Path("rules").write_text(rules + "[X] ||| [NP,1] ||| [1] ||| F=1\n")
    _, rows, err = run("a b\n", "--grammar", "rules", "--pass-through", "none")
    assert rows == []
    assert "1 rules from one nonterminal to another close a circle of labels; they are left out" in err


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("formalism=fst", "formalism=fst is not supported; expected scfg or t2s"),
        (
            "feature_function=ArityPenalty",
            "feature_function=ArityPenalty is not supported; known: WordPenalty, SourceWordPenalty, LanguageModel, "
            "KLanguageModel",
        ),
        ("feature_function=KLanguageModel other", "another language model; expected one"),
        ("feature_function2=WordPenalty", "'feature_function2=WordPenalty' is not supported: expected one pass"),
        (
            "max_translation_beam=5",
            "'max_translation_beam=5' is not supported: derivations of one translation are not added up",
        ),
        (
            "add_pass_through_rules=true\nformalism=t2s",
            "add_pass_through_rules is not supported for formalism=t2s: nothing passes through without a rule",
        ),
        ("formalism", "'formalism' is not a setting; expected NAME=VALUE such as formalism=scfg"),
        ("scfg_max_span_limit=99999999999", "scfg_max_span_limit is 99999999999; expected at most 4294967295"),
    ],
)
def test_bad_lines_of_a_cdec_ini(cdec_files, capsys, line, problem):
    (cdec_files / "cdec.ini").write_text(f"{CDEC_INI}{line}\n")
    assert main(["decode", "input", "--config", "system/cdec.ini"]) == 1
    last = 12 + line.count("\n")
    assert capsys.readouterr().err == f"error: system/cdec.ini:{last}: {problem}\n"


def test_sentences_with_the_label_that_glue_would_join(cdec_files, capsys):
    ini = "formalism=scfg\ngrammar=rules\nweights=weights\nscfg_default_nt=N\ngoal=N\n"
    (cdec_files / "cdec.ini").write_text(ini + "scfg_no_hiero_glue_grammar=1\n")
    assert main(["decode", "input", "--config", "system/cdec.ini", "--kbest", "5", "--skip-bad"]) == 0
    assert capsys.readouterr().out == "0 ||| B ||| F=9 ||| 9.000000\n"
    (cdec_files / "cdec.ini").write_text(ini)
    assert main(["decode", "input", "--config", "system/cdec.ini"]) == 2
    problem = "the label of sentences and the one that glue joins are both 'N'; expected no glue"
    assert f"error: {problem}\n" in capsys.readouterr().err


def test_options_of_a_language_model(cdec_files, capsys):
    (cdec_files / "cdec.ini").write_text("feature_function=KLanguageModel -x lm\n")
    assert main(["decode", "input", "--config", "system/cdec.ini"]) == 1
    problem = "'KLanguageModel -x lm' is not supported; expected a file, and -n NAME or -o ORDER alone"
    assert capsys.readouterr().err == f"error: system/cdec.ini:1: {problem}\n"


def test_a_run_without_weights(cdec_files, capsys):
    assert main(["decode", "input", "--grammar", "system/rules", "--kbest", "1", "--quiet"]) == 0
    assert [line.split(" ||| ")[3] for line in capsys.readouterr().out.splitlines()] == ["0.000000", "0.000000"]


def test_kbest_lists_and_pop_limits_of_a_cdec_ini(cdec_files, capsys):
    ini = "formalism=scfg\ngrammar=rules\nweights=weights\nscfg_default_nt=N\nfeature_function=KLanguageModel lm\n"
    (cdec_files / "cdec.ini").write_text(ini + "k_best=2\ncubepruning_pop_limit=30\nadd_pass_through_rules=1\n")
    settings = read_config(cdec_files / "cdec.ini", "cdec").settings
    assert (settings.kbest, settings.pop_limit) == (2, 30)
    assert main(["decode", "input", "--config", "system/cdec.ini", "--quiet"]) == 0
    rows = [line.split(" ||| ") for line in capsys.readouterr().out.splitlines()]
    assert [row[0] for row in rows] == ["0", "0", "1"]
    assert "LanguageModel_OOV=1" in rows[2][2]  # it is listed without a weight
    (cdec_files / "cdec.ini").write_text(ini + "cll_gradient=1\n")
    assert main(["decode", "input", "--config", "system/cdec.ini"]) == 1
    assert "'cll_gradient=1' is not supported: gradients are not computed" in capsys.readouterr().err


def test_a_sentence_names_only_grammars_in_the_folder(run, tmp_path):
    Path("inside").mkdir()
    Path("weights").write_text("F 1\n")
    Path("inside/one").write_text("[X] ||| a ||| A ||| F=1\n")
    Path("outside").write_text("[X] ||| a ||| B ||| F=1\n")
    Path("inside/link").symlink_to(tmp_path / "outside")
    names = ["one", "inside/one", "../outside", "inside/link", "/dev/zero"]
    lines = "".join(f'<seg grammar="{name}">a</seg>\n' for name in names)
    _, rows, err = run(lines, "--pass-through", "none", "--sentence-grammars", "inside")
    assert [row[0] for row in rows] == ["0", "1"]
    assert [line.split("own grammar: ")[1].split(";")[0] for line in err.splitlines()] == [
        "../outside: is not in the folder inside",
        "inside/inside/link: No such file or directory",
        "/dev/zero: is not in the folder inside",
    ]


@pytest.mark.parametrize(
    "line", ["<seg " + "a" * 400_000 + ">", "[" * 400_000 + "]", "<seg " + "a=b " * 100_000 + ">x", "|||a" * 100_000]
)
@pytest.mark.parametrize("decoder", ["cdec", "joshua"])
def test_long_lines_are_read_in_one_look(line, decoder):
    assert input_line(line, decoder).problem == ""


MOSES_INI = """[feature]
UnknownWordPenalty
WordPenalty
PhraseDictionaryMemory name=TM0 num-features=1 path=rules table-limit=20
PhraseDictionaryMemory name=TM1 num-features=1 path=glue
KENLM name=LM0 factor=0 path=lm order=1

[weight]
UnknownWordPenalty0= 1
WordPenalty0= -1
TM0= 1
TM1= 0.5
LM0= 0.5
"""
JOSHUA_CONFIG = """tm = thrax -owner pt -maxspan 12 -path rules
tm = thrax -owner glue -maxspan -1 -path glue
feature-function = StateMinimizingLanguageModel -lm_order 1 -lm_file lm
feature-function = WordPenalty
tm_pt_0 1
tm_glue_0 0.5
lm_0 0.5
WordPenalty -1
"""


@pytest.mark.parametrize("decoder", ["moses", "joshua"])
def test_a_configuration_suffices(cdec_files, capsys, decoder):
    if decoder == "moses":
        (cdec_files / "rules").write_text("a [X] ||| A [X] ||| 0.5 |||\n")
        glue = "<s> [X] ||| <s> [S] ||| 1 |||\n[X][S] </s> [X] ||| [X][S] </s> [S] ||| 1 ||| 0-0\n"
        (cdec_files / "glue").write_text(glue + "[X][S] [X][X] [X] ||| [X][S] [X][X] [S] ||| 2.718 ||| 0-0 1-1\n")
        (cdec_files / "config").write_text(MOSES_INI)
        constant, per_word = math.log(10) * -0.5, math.log(0.5) + 0.5 * math.log(2.718) + 1 - 0.25 * math.log(10)
    else:
        (cdec_files / "rules").write_text("[X] ||| a ||| A ||| -1\n")
        glue = "[GOAL] ||| <s> ||| <s> ||| 0\n[GOAL] ||| [GOAL,1] [X,2] ||| [GOAL,1] [X,2] ||| -1\n"
        (cdec_files / "glue").write_text(glue + "[GOAL] ||| [GOAL,1] </s> ||| [GOAL,1] </s> ||| 0\n")
        (cdec_files / "config").write_text(JOSHUA_CONFIG)
        constant, per_word = -0.5, 1 + 0.5 + LOG10_E - 0.25
    (cdec_files / "input").write_text("a a a\n")
    assert main(["decode", "system/input", "--config", "system/config", "--kbest", "1", "--quiet"]) == 0
    _, text, _, score = capsys.readouterr().out.strip().split(" ||| ")
    marks = 2.0 if decoder == "moses" else 2 * LOG10_E
    assert (text, float(score)) == ("A A A", pytest.approx(constant + marks + 3 * per_word, abs=1e-5))


@pytest.mark.parametrize(
    ("config", "problem"),
    [
        (MOSES_INI.replace("WordPenalty\nPhr", "Distortion\nPhr"), "config:3: 'Distortion' is not supported; known: "),
        (MOSES_INI.replace("\n\n[w", "\nKENLM name=LM1 path=lm2\n\n[w"), "config:7: another language model, 'lm2'"),
        (JOSHUA_CONFIG + "feature-function = EdgePhraseSimilarity\n", "config:9: 'feature-function = EdgePhraseSimil"),
        ("nothing = 1\n", "config: is no configuration of cdec, Joshua, Moses or Travatar that is known"),
    ],
)
def test_what_a_configuration_names_and_cannot_be_used(cdec_files, capsys, config, problem):
    (cdec_files / "config").write_text(config)
    assert main(["decode", "input", "--config", "system/config"]) == 1
    assert f"error: system/{problem}" in capsys.readouterr().err
