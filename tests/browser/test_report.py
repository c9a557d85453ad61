"""The report of an experiment in a real browser: what a reader can click does what it should."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from treeglot import _core
from treeglot._core import Derivation, Hypothesis, ScoreKind, Step
from treeglot.decode import Translation
from treeglot.decode.draw import to_html
from treeglot.experiment.report import packed, page
from treeglot.graph import Builder
from treeglot.syntax import Dependency, ParseForest
from treeglot.syntax.draw import to_html as draw


def score(system: str, bleu: float, against: bool) -> dict[str, Any]:
    found: dict[str, Any] = {"score": bleu, "signature": "nrefs:1", "interval": [bleu - 2, bleu + 2]}
    if against:
        found["against"] = {
            "difference": bleu - 20,
            "sign_test": {"better": 1, "worse": 1, "equal": 0, "p": 0.04},
            "bootstrap": {"p": 0.0},
        }
    plain = {key: found[key] for key in ("score", "signature", "interval")}
    bins = [{"shortest": 0, "longest": 10, "sentences": 2, "bleu": bleu, "ratio": 1.0}]
    scores = {"BLEU": found, "chrF2": plain, "TER": plain}
    return {"system": system, "scores": scores, "words": 9, "reference_words": 10, "empty": 0, "by_length": bins}


def data() -> dict[str, Any]:
    # Over 小 屋: NP of JJ NN, or of NN NN.
    nodes = ["小", "屋", "JJ", "NN", "NN", "NP"]
    spans = [(0, 1), (1, 2), (0, 1), (0, 1), (1, 2), (0, 2)]
    builder = Builder()
    builder.add_nodes(len(nodes))
    for head, *tails in ([0], [1], [2, 0], [3, 0], [4, 1], [5, 2, 4], [5, 3, 4]):
        builder.add_edge(head, tails)
    forest = ParseForest(builder.freeze(5).graph, nodes, spans, [0.0] * 6 + [-1.0], ScoreKind.arbitrary)
    steps = [
        Step("S", "[NP,1]", "[NP,1]", (0, 2), 1, True),
        Step("NP", "NP( NN( 小 ) [NN,1] )", "the [NN,1]", (0, 2), 1, False, [6, 3]),
        Step("NN", "NN( 屋 )", "hut", (1, 2), 0, False, [4]),
    ]
    tree = Dependency(["the", "hut"], [1, -1], ["DT", "NN"])
    best = Hypothesis("the hut", -1.0, {"p": -1.0}, Derivation(steps), tree, [1, 2])
    drawn = to_html(Translation(_core.Translation(forest, forest.words, [best])))
    system = {
        "kind": "hiero",
        "summary": "rules",
        "rules": 1234,
        "flat": 12,
        "hierarchical": 1222,
        "features": 9,
        "signature": "kind:hiero|model:0123",
        "tuning": [{"iteration": 1, "score": 9.5}],
        "dev": 9.25,
        "unlike": [],
    }
    return {
        "title": "A test </script> & more",
        "baseline": "a",
        "signature": "treeglot",
        "systems": [{"name": "a", **system}, {"name": "b", **system, "rules": 99}],
        "combinations": [],
        "tests": {
            "news": {
                "sources": ["小 屋", "房子"],
                "references": [["the small house", "a house <!--<script>"]],
                "outputs": {"a": ["the small hut", "a a house"], "b": ["the house", "a home"]},
                "judged": {"a": [60.5, 100.0], "b": [70.0, 20.0]},
                "drawn": packed([[drawn, drawn]]),
                "scores": [score("a", 20.0, False), score("b", 25.5, True)],
            }
        },
    }


@pytest.fixture
def view(browser: Any, tmp_path: Path) -> Iterator[Any]:
    (tmp_path / "report.html").write_text(page(data()))
    timings = {"threads": 1, "steps": {"translate a news": {"wall": 1.0, "cpu": 0.5, "ms_per_sentence": 7.25}}}
    (tmp_path / "timings.js").write_text(f"const TIMINGS = {json.dumps(timings)};")
    opened = browser.new_page()
    problems: list[str] = []
    opened.on("pageerror", lambda error: problems.append(str(error)))
    opened.goto((tmp_path / "report.html").as_uri())
    yield opened
    assert problems == []
    opened.close()


def test_what_stands_there(view: Any) -> None:
    assert view.title() == "A test </script> & more"
    rows = view.locator("table").first.locator("tbody tr")
    assert rows.count() == 2
    assert "7.25" in rows.nth(0).inner_text()
    assert "+5.50" in rows.nth(1).inner_text()
    assert "< 0.001" in rows.nth(1).inner_text()
    counts = view.locator("table", has_text="hierarchical").locator("tbody tr").first.inner_text().split("\t")
    assert counts == ["a", "rules", "1,234", "12", "1,222", "9", "9.25", "20.00"]
    assert "a kind:hiero|model:0123" in view.locator("footer").inner_text()


def test_sentences_come_before_timings(view: Any) -> None:
    headings = view.locator("h2").all_inner_texts()
    outputs = next(place for place, text in enumerate(headings) if text.startswith("Outputs on"))
    assert outputs < headings.index("Time")


def test_a_click_on_a_column_sorts(view: Any) -> None:
    table = view.locator("table").first
    first = table.locator("tbody tr td").first
    assert first.inner_text() == "a"
    table.locator("th", has_text="BLEU").click()
    assert first.inner_text() == "b"
    table.locator("th", has_text="BLEU").click()
    assert first.inner_text() == "a"


def test_the_search(view: Any) -> None:
    sentences = view.locator(".sentence")
    assert sentences.count() == 2
    view.get_by_label("search").fill("HUT")
    assert sentences.count() == 1
    assert view.locator("mark").all_inner_texts() == ["hut"]
    view.get_by_label("search").fill("nothing of the kind")
    assert sentences.count() == 0


def test_the_order(view: Any) -> None:
    view.get_by_label("order").select_option("shortest first")
    assert view.locator(".sentence strong").all_inner_texts() == ["2", "1"]


def test_the_order_by_what_a_system_gained(view: Any) -> None:
    numbers = view.locator(".sentence strong")
    view.get_by_label("order").select_option("a: best first")
    assert numbers.all_inner_texts() == ["2", "1"]
    view.get_by_label("order").select_option("b: most gained on a")
    assert numbers.all_inner_texts() == ["1", "2"]
    view.get_by_label("order").select_option("b: most lost to a")
    assert numbers.all_inner_texts() == ["2", "1"]


def test_outputs_beside_those_of_another_system(view: Any) -> None:
    """Only words that the reference lacks are marked, however often it has the others."""
    assert view.locator("mark").all_inner_texts() == ["hut", "home"]
    view.get_by_label("compare with").select_option("b")
    assert view.locator("mark").all_inner_texts() == ["small", "hut", "house"]


def test_a_click_on_an_output_draws_how_it_was_made(view: Any) -> None:
    view.locator("tr.system").first.click()
    drawings = view.locator(".drawing svg")
    drawings.nth(2).wait_for(state="attached")
    assert drawings.count() == 3  # the input's tree, the output's, the forest
    assert view.locator("table.rules tr").count() == 2
    view.locator("table.rules tr").first.hover()
    assert view.locator("table.rules tr.lit").count() == 1
    assert "the" in view.locator(".drawing g.lit text").all_text_contents()
    view.locator("tr.system").first.click()
    assert not drawings.first.is_visible()


def test_forests_show_their_trees(view: Any) -> None:
    view.locator("tr.system").nth(1).click()
    view.locator("summary", has_text="The forest, 2 trees").click()
    strong = view.locator("text[data-node].strong")
    assert strong.all_text_contents() == ["NN", "NN", "NP"]  # what was translated
    assert view.locator("g.edge").count() == 5
    assert view.locator("g.edge.strong").count() == 3
    view.locator("text.several").click()
    assert strong.all_text_contents() == ["JJ", "NN", "NP"]
    view.locator("text.several").click()
    assert strong.all_text_contents() == ["NN", "NN", "NP"]


def test_wide_drawings_scroll_and_leave_the_page_as_it_is(browser: Any, tmp_path: Path) -> None:
    wide = data()
    words = [f"a-rather-long-word-{n}" for n in range(60)]
    drawing = draw(Dependency(words, [-1, *range(59)], ["NN"] * 60))
    wide["tests"]["news"]["drawn"] = packed([[drawing, drawing]])
    (tmp_path / "report.html").write_text(page(wide))
    view = browser.new_page(viewport={"width": 1000, "height": 700})
    view.goto((tmp_path / "report.html").as_uri())
    view.locator("tr.system").first.click()
    view.locator(".drawing svg").first.wait_for()
    assert view.locator(".drawing").first.evaluate("e => e.scrollWidth > e.clientWidth")
    assert view.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    view.close()


def test_drawings_beyond_those_that_are_kept(view: Any) -> None:
    view.locator("tr.system").nth(3).click()
    view.get_by_text("Drawings are kept of the first sentences alone.").wait_for()  # fails if it does not come


def test_without_timings(browser: Any, tmp_path: Path) -> None:
    (tmp_path / "report.html").write_text(page(data()))
    view = browser.new_page()
    view.goto((tmp_path / "report.html").as_uri())
    view.get_by_text("timings.js is not beside this page.").wait_for()  # fails if it does not come
    view.close()


def test_a_combination_stands_beside_its_systems(browser: Any, tmp_path: Path) -> None:
    united = data()
    united["combinations"] = [{"name": "both", "systems": ["a", "b"]}]
    news = united["tests"]["news"]
    news["outputs"]["both"] = ["the small house", "a home"]
    news["judged"]["both"] = [100.0, 20.0]
    news["scores"].append(score("both", 30.0, True))
    (tmp_path / "report.html").write_text(page(united))
    view = browser.new_page()
    view.goto((tmp_path / "report.html").as_uri())
    assert "both: a, b" in view.locator("li").all_inner_texts()
    rows = view.locator("table").first.locator("tbody tr")
    assert rows.count() == 3
    assert "+10.00" in rows.nth(2).inner_text()
    view.locator("tr.system").nth(2).click()
    view.get_by_text("The lists of these systems agree on this text: a, b.").wait_for()  # fails if it does not come
    view.close()
