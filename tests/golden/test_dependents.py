"""The picture of a derivation of a dependency tree: the paper's Figure 4, both structures replaced by phrases."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

from treeglot import _core
from treeglot._core import Derivation, Hypothesis, Step
from treeglot.decode import Translation
from treeglot.decode.draw import to_html
from treeglot.decode.draw_dependents import dependents
from treeglot.syntax import Dependency
from treeglot.syntax.draw import svg

TREE = Dependency(
    ["他", "今晚", "给", "你", "做", "饭"], [4, 4, 4, 2, -1, 4], ["PN", "NT", "P", "PN", "VV", "NN"]
)  # fmt: skip
STEPS = (
    Step("S", "[S,1]", "[S,1]", (0, 6), 1, True),
    Step("S", "[X,1]", "[X,1]", (0, 6), 1, True),
    Step("X", "[PN,1] [X,2] [X,3]", "[PN,1] [X,3] [X,2]", (0, 6), 3, False),
    Step("PN", "他", "he", (0, 1), 0, False),
    Step("X", "今晚 给 你", "for you this evening", (1, 4), 0, True),
    Step("X", "做 饭", "makes dinner", (4, 6), 0, True),
)


def test_structures_are_marked(golden) -> None:
    picture = svg.render(dependents(TREE, Derivation(STEPS), {0: 0, 1: 0, 2: 1, 3: 2, 4: 3, 5: 4}), "figure 4")
    golden("draw/dependents.svg", picture)
    texts = [element.text for element in ElementTree.fromstring(picture).iter() if element.text]
    assert [text for text in texts if text.startswith("▣")] == ["▣ makes dinner", "▣ for you this evening"]
    assert "he" in texts
    assert picture.count('stroke-width="4"/>') == 2  # the bold brackets


def test_the_page_of_a_translation_has_the_picture() -> None:
    best = Hypothesis(
        "he makes dinner for you this evening", 0.0, {}, Derivation(STEPS), given_by=(3, 5, 5, 4, 4, 4, 4)
    )
    source = " ".join(TREE.words)
    page = to_html(Translation(_core.Translation(source, TREE.words, [best], tree=TREE)), source)
    assert page.count("▣") == 2
    assert "[PN,1] [X,3] [X,2]" in page
