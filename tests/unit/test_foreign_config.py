"""Configurations that suffice: cdec.ini, joshua.config and moses.ini with the files that they name."""

import math
from pathlib import Path

import pytest
from messages import messages

from treeglot.cli import main
from treeglot.foreign.config import read_config

LOG10_E = 1 / math.log(10)


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
        "warning: the weights name 'SourceWordPenalty', which is not a feature of this model",
        "warning: input:2: no derivation covers the sentence; its output is empty",
    ]


def test_two_files_of_one_name(cdec_files, capsys):
    Path("weights").symlink_to("system/weights")  # the same file
    Path("rules").write_text("[N] ||| a ||| here ||| F=1\n")
    assert main(["decode", "input", "--config", "system/cdec.ini", "--kbest", "0", "--skip-bad"]) == 0
    found = capsys.readouterr()
    assert found.out == "here here here\n\n"
    told = "system/cdec.ini names rules: the file in the current folder is used, not system/rules"
    assert messages(found.err).splitlines()[0] == f"warning: {told}"
    assert found.err.count("current folder") == 1


def test_what_is_given_beside_a_cdec_ini_counts(cdec_files, capsys):
    (cdec_files / "cdec.ini").write_text(CDEC_INI + "add_pass_through_rules=true\n")
    (cdec_files / "other").write_text("[N] ||| a ||| C ||| F=1\n")
    given = ["--grammar", "system/other", "--span-limit", "3", "--skip-bad", "--kbest", "0"]
    assert main(["decode", "input", "--config", "system/cdec.ini", *given]) == 0
    assert capsys.readouterr().out == "C C C\nb\n"
    assert main(["decode", "input", "--config", "system/cdec.ini", *given, "--pass-through", "none"]) == 0
    assert capsys.readouterr().out == "C C C\n\n"


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
        ("nothing = 1\n", "config: is not a known configuration of cdec, Joshua, Moses or Travatar"),
    ],
)
def test_what_a_configuration_names_and_cannot_be_used(cdec_files, capsys, config, problem):
    (cdec_files / "config").write_text(config)
    assert main(["decode", "input", "--config", "system/config"]) == 1
    assert f"error: system/{problem}" in capsys.readouterr().err
