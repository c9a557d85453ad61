"""Settings of other decoders beside weights: labels, penalties, feature functions, old names."""

import math
from pathlib import Path

import pytest

from treeglot import FormatError, UsageError
from treeglot.foreign import ForeignTranslator, read_foreign_weights, read_grammar
from treeglot.foreign.weights import ForeignWeights

LOG10_E = 1 / math.log(10)


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


def test_labels_and_marks_of_words_that_pass_through(decode_lines):
    given = joshua("oov-list = NN 0.5 NP 0.25\nmark_oovs = true\nOOVPenalty 2\n")
    _, rows, err = decode_lines("er geht heim\n", *given)
    values = 2 * math.log(0.25)
    assert rows[0] == [
        "0",
        "he goes heim_OOV",
        f"tm_glue_0=1 tm_pt_0=-1 OOVPenalty={math.log(0.25):.6g}",
        f"{values:.6f}",
    ]
    assert err == ""
    # Before version 6, whose weight is negative, words are counted, whatever the label.
    _, rows, _ = decode_lines("er geht heim\n", *joshua("oov-list = NN 0.5 NP 0.25\nOOVPenalty -2\n"))
    assert rows[0] == ["0", "he goes heim", "tm_glue_0=1 tm_pt_0=-1 OOVPenalty=1", "-2.000000"]
    # And without a list there is no NP.
    _, rows, err = decode_lines("er geht heim\n", *joshua("OOVPenalty 2\n"))
    assert rows == []
    assert "no derivation covers the sentence" in err


def test_only_words_without_rules_pass_through(decode_lines):
    given = joshua("oov-list = NP 1\ntrue-oovs-only = true\nnum_translation_options = 1\n")
    _, rows, _ = decode_lines("er geht heim\n", *given)
    assert [row[1] for row in rows] == ["he goes heim"]
    assert read_foreign_weights("weights", "joshua").settings.per_source == 1


def test_feature_functions_of_joshua(decode_lines):
    Path("rules").write_text("[X] ||| a ||| A ||| -1\n")
    given = ["--format", "joshua", "--grammar", "rules", "--pass-through", "none"]
    weights = "tm_pt_0 2\nWordPenalty -1\nOOVPenalty 1\n"
    Path("weights").write_text("feature_function = OOVPenalty\nfeature-function = LanguageModel -lm_file x\n" + weights)
    _, rows, err = decode_lines("a\n", *given)
    assert rows == [["0", "A", "tm_pt_0=1 tm_glue_0=1", "2.000000"]]
    assert err == "warning: the weights name 'WordPenalty', which is not a feature of this model\n"
    Path("weights").write_text(weights)  # before version 5: by their weights
    _, rows, err = decode_lines("a\n", *given)
    assert rows == [["0", "A", f"tm_pt_0=1 WordPenalty={-3 * LOG10_E:.6g} tm_glue_0=1", f"{2 + 3 * LOG10_E:.6f}"]]
    assert err == ""


def test_a_phrase_penalty_for_one_owner(decode_lines):
    Path("rules").write_text("[X] ||| a ||| A ||| -1\n")
    Path("weights").write_text("tm_pt_0 2\nPhrasePenalty 1\n")
    given = ["--format", "joshua", "--grammar", "rules", "--pass-through", "none"]
    assert decode_lines("a\n", *given)[1] == [["0", "A", "tm_pt_0=1 tm_glue_0=1 PhrasePenalty=1", "3.000000"]]
    code, _, err = decode_lines("a\n", *given, "--grammar", "rules", "--prefix", "tm_pt", "--prefix", "tm_x")
    problem = "PhrasePenalty counts the rules of one owner: it cannot be had for grammars of several"
    assert (code, err) == (2, f"error: {problem}\n")


def test_built_in_glue_is_listed_without_a_weight(decode_lines):
    Path("rules").write_text("[X] ||| a ||| A ||| -1\n")
    Path("weights").write_text("tm_pt_0 2\n")
    _, rows, _ = decode_lines("a\n", "--grammar", "rules", "--format", "joshua", "--pass-through", "unknown")
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
        ("joshua", "oov-list = NN", "'oov-list = NN' is not a list of labels; expected LABEL PROBABILITY …"),
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
    with pytest.raises(FormatError, match="labels:1: 'NN' is not a list of labels; expected LABEL PROBABILITY …"):
        read_foreign_weights(tmp_path / "ini", "moses")
    with pytest.raises(
        UsageError, match=r"PhrasePenalty0 counts unknown words: it cannot be had beside \[unknown-lhs\]"
    ):
        ForeignWeights("moses", {"PhrasePenalty0": 1.0}, settings=weights.settings)


def test_rules_above_the_label_of_sentences(decode_lines):
    rules = "[S] ||| a ||| A ||| F=1\n[NP] ||| [S,1] ||| [1] ||| F=1\n[S] ||| [NP,1] b ||| [1] B ||| F=1\n"
    Path("rules").write_text(rules)
    Path("weights").write_text("F 1\n")
    for glue in ("--glue", "--no-glue"):
        _, rows, err = decode_lines("a b\n", "--grammar", "rules", "--pass-through", "none", glue)
        assert (rows, err) == ([["0", "A B", "F=3", "3.000000"]], "")
    # Where glue would lead back to the sentence, it is said.
    Path("rules").write_text(rules + "[X] ||| [NP,1] ||| [1] ||| F=1\n")
    _, rows, err = decode_lines("a b\n", "--grammar", "rules", "--pass-through", "none")
    assert rows == []
    assert "1 rules from one nonterminal to another close a cycle of labels; they are left out" in err
