"""The report of an experiment in a real browser: what a reader can click does what it should."""

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from treeglot.experiment.report import page

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
if BROWSER is None and not os.environ.get("CI"):  # where changes are judged it has to be there
    pytest.skip("there is no chromium here", allow_module_level=True)
if not os.environ.get("CI"):
    pytest.importorskip("playwright.sync_api")


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
    steps = [["S", "[X,1]", "[X,1]", 0, 2, 1], ["X", "[X,1] 屋", "the [X,1]", 0, 2, 1], ["X", "小", "small", 0, 1, 0]]
    explained = {"steps": steps, "heads": [1, -1], "tags": ["DT", "NN"]}
    # Over 小 屋: NP of JJ NN, or of NN NN; the last node is in neither.
    forest = {
        "words": ["小", "屋"],
        "trees": 2.0,
        "nodes": [["JJ", 0, 1], ["NN", 0, 1], ["NN", 1, 2], ["NP", 0, 2], ["NP", 1, 2]],
        "edges": [[2, 0], [3, 0], [4, 1], [5, 2, 4], [5, 3, 4], [6, 4]],
        "goal": 5,
    }
    tree = {"words": ["小", "屋"], "heads": [1, -1], "tags": ["JJ", "NN"]}
    system = {
        "kind": "hiero",
        "summary": "rules",
        "rules": 1234,
        "flat": 12,
        "features": 9,
        "signature": "kind:hiero|model:0123",
        "tuning": [{"iteration": 1, "score": 9.5}],
    }
    return {
        "title": "A test </script> & more",
        "baseline": "a",
        "signature": "treeglot",
        "systems": [{"name": "a", **system}, {"name": "b", **system, "rules": 99}],
        "tests": {
            "news": {
                "sources": ["小 屋", "房子"],
                "references": [["the small house", "a house <!--<script>"]],
                "outputs": {"a": ["the small hut", "a house"], "b": ["the house", "a home"]},
                "judged": {"a": [60.5, 100.0], "b": [70.0, 20.0]},
                "derivations": {
                    "a": [explained, explained],
                    "b": [explained | {"forest": 0, "used": [1, 2, 4], "tree": tree}],
                },
                "forests": [forest],
                "scores": [score("a", 20.0, False), score("b", 25.5, True)],
            }
        },
    }


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        yield opened
        opened.close()


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
    assert counts == ["a", "rules", "1,234", "12", "1,222", "9", "9.50", "20.00"]
    assert "a kind:hiero|model:0123" in view.locator("footer").inner_text()


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
    assert view.locator("mark").all_inner_texts() == ["hut", "home"]
    view.get_by_label("compare with").select_option("b")
    assert view.locator("mark").all_inner_texts() == ["small", "hut", "house"]


def test_forests_show_their_trees(view: Any) -> None:
    view.locator("tr.system").nth(1).click()
    assert view.locator(".drawing svg").count() == 4  # output's tree, derivation, the input's tree, its forest
    strong = view.locator(".forest g.node.strong text")
    assert strong.all_text_contents() == ["小", "屋", "NN", "NN", "NP"]  # what was translated
    assert view.locator(".forest g.edge").count() == 6
    assert view.locator(".forest g.edge.strong").count() == 3
    view.locator(".forest g.several").click()
    assert strong.all_text_contents() == ["小", "屋", "JJ", "NN", "NP"]
    view.locator(".forest g.several").click()
    assert strong.all_text_contents() == ["小", "屋", "NN", "NN", "NP"]
    assert view.get_by_text("The forest of the source, 2 trees").is_visible()


def test_wide_drawings_scroll_and_leave_the_page_as_it_is(browser: Any, tmp_path: Path) -> None:
    wide = data()
    words = [f"a-rather-long-word-{n}" for n in range(60)]
    wide["tests"]["news"]["outputs"]["a"][0] = " ".join(words)
    wide["tests"]["news"]["derivations"]["a"][0] |= {"heads": [-1, *range(59)], "tags": ["NN"] * 60}
    (tmp_path / "report.html").write_text(page(wide))
    view = browser.new_page(viewport={"width": 1000, "height": 700})
    view.goto((tmp_path / "report.html").as_uri())
    view.locator("tr.system").first.click()
    drawing = view.locator(".drawing").first
    assert drawing.evaluate("e => e.scrollWidth > e.clientWidth")
    assert view.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    view.close()


def test_a_click_on_an_output_draws_how_it_was_made(view: Any) -> None:
    view.locator("tr.system").first.click()
    drawings = view.locator(".drawing svg")
    assert drawings.count() == 2  # the dependency tree and the derivation
    nodes = view.locator(".drawing g.node")
    assert nodes.count() == 3
    nodes.last.click()  # the root is drawn last
    assert nodes.count() == 1
    nodes.last.click()
    assert nodes.count() == 3
    view.locator("tr.system").first.click()
    assert not drawings.first.is_visible()


def test_derivations_beyond_those_that_are_kept(view: Any) -> None:
    view.locator("tr.system").nth(3).click()
    assert view.get_by_text("Derivations are kept of the first sentences alone.").is_visible()


def test_without_timings(browser: Any, tmp_path: Path) -> None:
    (tmp_path / "report.html").write_text(page(data()))
    view = browser.new_page()
    view.goto((tmp_path / "report.html").as_uri())
    assert view.get_by_text("timings.js is not beside this page.").is_visible()
    view.close()
