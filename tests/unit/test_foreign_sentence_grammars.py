"""Grammars that sentences bring along."""

from pathlib import Path

from treeglot.foreign import ForeignTranslator, read_grammar
from treeglot.foreign.weights import ForeignWeights

OWN = ("--sentence-grammars", ".")


def test_sentences_with_grammars_of_their_own(decode_lines):
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
    code, rows, err = decode_lines(lines, "--pass-through", "none", "--forest", "forests", "--no-distinct", *OWN)
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
    code, rows, err = decode_lines(
        '<seg grammar="two">a b</seg>\na\n', "--pass-through", "none", "--grammar", "one", *OWN
    )
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


def test_the_name_of_a_grammar_with_a_control_character(decode_lines):
    Path("one").write_text("[X] ||| a ||| A ||| F=1\n")
    Path("weights").write_text("F 1\n")
    lines = '<seg grammar="a\0b">a</seg>\n<seg grammar="one">a</seg>\n'
    code, rows, err = decode_lines(lines, "--pass-through", "none", *OWN)
    assert (code, rows) == (0, [["1", "A", "F=1", "1.000000"]])
    problem = "its own grammar: a file's name with a control character; its output is empty"
    assert err == f"warning: input:1: {problem}\n"


def test_a_grammar_is_needed(decode_lines):
    Path("weights").write_text("Glue -1\n")
    code, rows, err = decode_lines("a b\n")
    assert (code, rows, err) == (2, [], "error: missing option '--grammar' (see treeglot decode --help)\n")


def test_a_translator_without_files_refuses_grammars_of_sentences(tmp_path):
    (tmp_path / "rules").write_text("[X] ||| a ||| A ||| F=1\n")
    translator = ForeignTranslator(read_grammar(tmp_path / "rules"), ForeignWeights("cdec", {"F": 1.0}))
    found = translator.translate('<seg grammar="x">a</seg>')
    assert found.problem == "its own grammar: rules are not looked for beside those that were given"


def test_a_sentence_names_only_grammars_in_the_folder(decode_lines, tmp_path):
    Path("inside").mkdir()
    Path("weights").write_text("F 1\n")
    Path("inside/one").write_text("[X] ||| a ||| A ||| F=1\n")
    Path("outside").write_text("[X] ||| a ||| B ||| F=1\n")
    Path("inside/link").symlink_to(tmp_path / "outside")
    names = ["one", "inside/one", "../outside", "inside/link", "/dev/zero"]
    lines = "".join(f'<seg grammar="{name}">a</seg>\n' for name in names)
    _, rows, err = decode_lines(lines, "--pass-through", "none", "--sentence-grammars", "inside")
    assert [row[0] for row in rows] == ["0", "1"]
    assert [line.split("own grammar: ")[1].split(";")[0] for line in err.splitlines()] == [
        "../outside: is not in the folder inside",
        "inside/inside/link: No such file or directory",
        "/dev/zero: is not in the folder inside",
    ]
