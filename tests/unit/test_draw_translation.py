"""Pictures of translations: every node and word in the colour of its rule."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import bush
import pytest
from forest_rules import ForestRule, forest_table

from treeglot._core import Derivation, Step
from treeglot.cli import main
from treeglot.decode import Translator
from treeglot.decode.draw import to_html, used_tree, word_steps
from treeglot.decode.draw_derivation import boxes, bracketed
from treeglot.decode.matchers import match_forests
from treeglot.decode.search import SearchOptions
from treeglot.models.folder import write_model
from treeglot.syntax import heads, write
from treeglot.syntax.draw import page
from treeglot.syntax.draw.shapes import Text, pixels

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


def test_translations_show_themselves_in_notebooks() -> None:
    forest = bush.forest()
    found = translator(RULES).translate(forest)
    assert found.given is forest
    assert found._repr_html_() == to_html(found, forest)
    picture = found._repr_svg_()
    assert picture is not None
    root = ElementTree.fromstring(picture)
    texts = [text.text for text in root.iter("{http://www.w3.org/2000/svg}text")]
    assert {"jǔxíng", "held", "6  VPB( VV( jǔxíng ) AS( le ) [NPB,1] ) → held a [NPB,1]"} <= set(texts)
    drawn = found.derivation._repr_svg_()
    assert drawn is not None
    texts = [text.text for text in ElementTree.fromstring(drawn).iter("{http://www.w3.org/2000/svg}text")]
    assert len(texts) == 2 * len(found.derivation.steps)
    assert "held a [NPB,1]" in texts
    assert "held a [NPB,1]" in found.best._repr_html_()


def test_words_are_escaped_in_notebooks() -> None:
    from treeglot import ParseForest, Tree

    given = ParseForest.from_tree(Tree.parse("(S (X <b>) (Y </svg>))"))
    found = translator([ForestRule(("<b>",), ("<script>",), phrase=True)]).translate(given)
    for shown in (found._repr_html_(), found._repr_svg_(), found.best._repr_html_(), found.derivation._repr_svg_()):
        assert shown is not None
        assert "<script>" not in shown
        assert "<b></" not in shown
        assert shown.count("</svg>") == shown.count("<svg ")
        assert "&lt;script&gt;" in shown


def test_what_has_no_derivation_has_no_picture() -> None:
    nothing = translator(RULES).translate("")
    assert nothing._repr_svg_() is None
    assert nothing.derivation._repr_svg_() is None
    assert nothing._repr_html_().startswith("<p")
    long = Derivation((Step("S", "x", "y", (0, 1), 0, False),) * 301)
    assert long._repr_svg_() is None


def test_a_derivation_of_many_levels_and_branches_does_not_overlap() -> None:
    wide = [Step("X", f"w{n} " * 5, f"v{n}", (n, n + 1), 0, False) for n in range(3)]
    steps = [Step("S", "[X,1] [X,2]", "[X,2] [X,1]", (0, 3), 2, False), wide[0], Step("X", "a", "b", (1, 3), 2, False)]
    drawing = boxes(Derivation((*steps, *wide[1:])), dict.fromkeys(range(5), 1))
    texts = [shape for shape in drawing.shapes if isinstance(shape, Text)]
    for one in texts:
        assert one.x - pixels(one.text) / 2 >= 0
        assert one.x + pixels(one.text) / 2 <= drawing.width
        for other in texts:
            if other is not one and other.y == one.y:
                assert abs(other.x - one.x) >= (pixels(one.text) + pixels(other.text)) / 2
