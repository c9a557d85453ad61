"""Pictures of translations: every node and word in the colour of its rule."""

from __future__ import annotations

import re
from pathlib import Path

import bush
import pytest
from forest_rules import ForestRule, forest_table

from treeglot.cli import main
from treeglot.decode import Translator, match_forests
from treeglot.decode.draw import bracketed, to_html, used_tree, word_steps
from treeglot.decode.search import SearchOptions
from treeglot.models.model import write_model
from treeglot.syntax import heads, write
from treeglot.syntax.draw import page

NPB, VPB, PP = ("NPB",), ("VPB",), ("PP",)
RULES = [
    ForestRule(("VP", PP, VPB), ("2", "1")),
    ForestRule(("PP", ("P", "yǔ"), NPB), ("with", "1")),
    ForestRule(("VPB", ("VV", "jǔxíng"), ("AS", "le"), NPB), ("held", "a", "1")),
    ForestRule(("Bùshí",), ("Bush",), phrase=True),
    ForestRule(("huìtán",), ("talk",), phrase=True),
]


def translator(rules: list[ForestRule]) -> Translator:
    return Translator(
        forest_table(rules), {"pseudo": -1.0, "unknown": -1.0}, setup=match_forests(heads.load("chinese"))
    )


def test_each_node_belongs_to_the_rule_that_took_it() -> None:
    forest = bush.forest()
    found = translator(RULES).translate(forest)
    assert found.text == "Bush held a talk with Shālóng"
    outline = used_tree(found.derivation, forest)
    shown = dict(zip(outline.labels, outline.groups, strict=True))
    # A pseudo rule over IP, a phrase, the VP, the PP with its preposition, an unknown name, the VPB, a phrase.
    assert shown == {
        "IP₁": 1, "NPB₂": 2, "Bùshí": 2, "VP₃": 3, "PP₄": 4, "P": 4, "yǔ": 4, "NPB₅": 5, "Shālóng": 5,
        "VPB₆": 6, "VV": 6, "jǔxíng": 6, "AS": 6, "le": 6, "NPB₇": 7, "huìtán": 7,
    }  # fmt: skip
    assert outline.sizes[0] == len(outline.labels)
    steps = found.derivation.steps
    assert [steps[step].source for step in found.best.given_by] == [
        "Bùshí",
        *["VPB( VV( jǔxíng ) AS( le ) [NPB,1] )"] * 2,
        "huìtán",
        "PP( P( yǔ ) [NPB,1] )",
        "NPB( Shālóng )",
    ]


def test_words_below_a_pseudo_rule_are_its_variables() -> None:
    from treeglot import ParseForest, Tree

    forest = ParseForest.from_tree(Tree.parse("(S a (X b) c)"))
    found = translator([ForestRule(("a",), ("u",), phrase=True)]).translate(forest)
    outline = used_tree(found.derivation, forest)
    assert list(zip(outline.labels, outline.groups, strict=True)) == [
        ("S₁", 1),
        ("a", 2),
        ("X₃", 3),
        ("b", 3),
        ("c", 4),
    ]


def test_a_page_of_translations() -> None:
    forest = bush.forest()
    one = translator(RULES)
    text = page(
        "a page", [("forest", to_html(one.translate(forest), forest)), ("line", to_html(one.translate("le"), "le"))]
    )
    assert text.count("<svg") == 5  # parse, output and forest; words and output
    assert set(re.findall(r'data-part="(\d+)"', text)) == {str(n) for n in range(1, 8)}
    assert "mouseover" in text
    assert "(not of the table)" in text
    assert to_html(one.translate(""), "") == '<p class="output"><br><b></b></p>'


def test_structures_are_brackets() -> None:
    found = translator(RULES).translate(bush.forest())
    assert bracketed(found.derivation.steps[3]) == "[VPB,2] [PP,1]"  # a model without trees has none
    assert word_steps(found.derivation, 6) == [2, 4, 5, 6, 6, 7]


def test_pages_and_trees_by_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    forest_table(RULES).write(str(tmp_path / "rules.table"))
    (tmp_path / "source.heads").write_text(heads.load("chinese").text)
    write_model(tmp_path, "c2s", {"pseudo": -1.0}, SearchOptions())
    model = (tmp_path / "model.toml").read_text()
    (tmp_path / "model.toml").write_text('lm = ""\n' + model)
    write(tmp_path / "in.jsonl", [bush.forest()] * 3)
    command = ["translate", str(tmp_path), str(tmp_path / "in.jsonl")]
    assert main([*command, "--index", "2-3", "--html", str(tmp_path / "out.html")]) == 0
    assert capsys.readouterr().out == "Bush held a talk with Shālóng\n" * 2
    assert re.findall("<h2>(.*?)</h2>", (tmp_path / "out.html").read_text()) == ["sentence 2", "sentence 3"]
    assert main([*command, "--dependencies", str(tmp_path / "out.conllu")]) == 2
    assert "the model makes no dependency trees" in capsys.readouterr().err
