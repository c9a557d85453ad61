"""The workbench in a real browser, with a service on a free port of loopback."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
import served
from served import EN, ZH

import treeglot
from treeglot.models.confidence import fit_confidence
from treeglot.web.keys import Keys

EVIL = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    places = served.train_models(tmp_path_factory.mktemp("web"), ("c2s", "hiero"))
    evil = Path(places[1]).with_name("<img src=x onerror=alert(1)>")
    Path(places[1]).rename(evil)
    return [places[0], str(evil)]


@pytest.fixture(scope="module")
def address(models: list[str]) -> Iterator[str]:
    with served.running(models) as (found, _):
        yield found


@pytest.fixture
def view(browser: Any, address: str) -> Iterator[Any]:
    """A page that says nothing on its console and opens no dialogue."""
    opened = browser.new_page(viewport={"width": 1000, "height": 800})
    opened.set_default_timeout(60_000)
    problems: list[str] = []
    opened.on("pageerror", lambda error: problems.append(str(error)))
    opened.on("console", lambda message: problems.append(message.text))
    opened.on("dialog", lambda dialog: problems.append(dialog.message))
    opened.goto(address)
    done(opened)
    yield opened
    assert problems == []
    opened.close()


def typed(view: Any, text: str, sentences: int) -> None:
    view.get_by_role("textbox", name="Text").press_sequentially(text)
    done(view)
    assert view.locator(".sentence").count() == sentences


def done(view: Any) -> None:
    """A key makes the page busy at once, until all is translated."""
    view.locator("#sentences[aria-busy=false]").wait_for(state="attached")


def test_translations_appear_while_typing(view: Any, models: list[str]) -> None:
    model = treeglot.load(models[0])
    text = f"{ZH[0]}{ZH[1]}\n{ZH[2]}"
    typed(view, text, 3)
    assert view.locator("#translation").inner_text() == model.translate(text).text
    first = view.locator(".sentence").first.element_handle()
    typed(view, ZH[3], 4)
    assert view.locator(".sentence").first.element_handle().evaluate("(a, b) => a === b", first)  # it stays
    view.get_by_role("textbox", name="Text").fill("")
    view.locator(".sentence").first.wait_for(state="detached")


def test_words_show_what_they_come_from(view: Any, models: list[str]) -> None:
    found = treeglot.load(models[0]).translate(ZH[0])
    typed(view, ZH[0], 1)
    card = view.locator(".sentence")
    targets, sources = card.locator(".target .word"), card.locator(".source .word")
    assert targets.all_inner_texts() == found.target_tokens.words
    place = found.best.text.split().index("coat")
    targets.nth(place).hover()
    linked = {found.source_tokens.words[i] for i, j in found.alignment.links.tolist() if j == place}
    assert set(card.locator(".source .word.lit").all_inner_texts()) == linked
    step = found.derivation.steps[found.best.given_by[place]]
    assert card.locator(".source .word.ruled").count() == step.span[1] - step.span[0]
    assert f"{step.source} → {step.target}" in card.locator(".hint").inner_text()
    sources.first.focus()
    view.keyboard.press("ArrowRight")
    assert view.evaluate("document.activeElement.textContent") == found.source_tokens.words[1]
    assert card.locator(".hint").inner_text() != ""


def test_a_sentence_opens_and_another_parse_is_translated(view: Any, models: list[str]) -> None:
    typed(view, ZH[0], 1)
    before = view.locator("#translation").inner_text()
    view.get_by_role("button", name="Explain").click()
    view.locator(".drawn svg").first.wait_for()
    view.locator(".target .word").first.hover()
    assert view.locator(".explanation table.rules tr.lit").count() == 1
    assert view.locator(".explanation table.rules tr").first.evaluate("e => e.style.color") != ""
    view.locator("summary", has_text="The forest").click()
    strong = view.locator(".explanation text[data-node].strong")
    tree = strong.all_text_contents()
    view.locator(".explanation text.several").first.click()
    assert strong.all_text_contents() != tree or view.locator(".explanation text.several").count() > 0
    clicked = strong.all_text_contents()
    view.locator(".explanation text.several").first.press("Enter")  # the same by keyboard
    assert strong.all_text_contents() != clicked or view.locator(".explanation text.several").count() > 1
    view.get_by_role("button", name="Translate this parse").click()
    view.get_by_role("button", name="Undo all changes").wait_for()
    assert "edits=" in view.url
    view.get_by_role("button", name="Undo all changes").click()
    view.get_by_role("button", name="Undo all changes").wait_for(state="detached")
    assert view.locator(".sentence .target").first.inner_text() == before
    assert "edits=" not in view.url


def test_competing_rules_and_weights(view: Any) -> None:
    typed(view, ZH[0], 1)
    before = view.locator(".sentence .target").first.inner_text()
    view.get_by_role("button", name="Explain").click()
    view.locator("summary", has_text="Competing rules").click()
    assert view.locator("table.competing tbody tr").count() > 5
    view.locator("details[data-counted]").wait_for()
    row = view.locator("table.competing tbody tr", has=view.get_by_role("button", name="forbid")).first
    numbers = [float(each.replace(",", "")) for each in row.locator("td.number").all_inner_texts()[1:]]
    assert len(numbers) == 3  # a count and two probabilities
    assert numbers[0] >= 1 >= max(numbers[1:]) > 0
    view.get_by_label("Compare with").select_option("itself, without changes")
    done(view)
    view.locator("summary", has_text="Weights").click()
    slider = view.get_by_label("word_penalty", exact=False)
    slider.focus()
    slider.press("Home")
    view.get_by_role("button", name="Undo all changes").wait_for()
    slider = view.get_by_label("word_penalty", exact=False)
    assert float(slider.input_value()) < 0
    changed = view.locator(".sentence .target").first.inner_text()
    assert len(changed.split()) < len(before.split())
    assert view.locator(".sentence .target").nth(1).inner_text() == f"unchanged{before}"
    link = view.url
    view.goto("about:blank")
    view.goto(link)
    done(view)
    assert view.locator(".sentence .target").first.inner_text() == changed  # the link has the change
    assert view.locator("#translation").inner_text() == changed


def test_forced_and_forbidden_phrases(view: Any) -> None:
    typed(view, ZH[0], 1)
    target = view.locator(".sentence .target").first
    before = target.inner_text()
    view.get_by_role("button", name="Explain").click()
    view.get_by_label("Must not contain").fill("coat")
    view.get_by_label("Must not contain").press("Enter")
    view.get_by_role("button", name="remove coat").wait_for()
    assert "coat" not in target.inner_text().split()
    view.get_by_role("button", name="remove coat").click()
    view.get_by_role("button", name="Undo all changes").wait_for(state="detached")
    assert target.inner_text() == before
    view.get_by_label("Must contain").fill(EVIL)
    view.get_by_label("Must contain").press("Enter")
    view.get_by_role("button", name="Undo all changes").wait_for()
    assert "no derivation meets the constraints" in view.locator(".sentence").inner_text()


def test_a_late_answer_shows_nothing(view: Any) -> None:
    """The answer to the first of two changes comes last."""
    typed(view, ZH[0], 1)
    target = view.locator(".sentence .target").first
    view.get_by_role("button", name="Explain").click()
    field = view.get_by_label("Must not contain")
    field.wait_for()
    held: list[Any] = []
    view.route("**/v1/explain", lambda route: route.continue_() if held else held.append(route))
    for phrase in ("he", "coat"):
        field.fill(phrase)
        field.press("Enter")
    view.get_by_role("button", name="remove coat").wait_for()
    shown = target.inner_text()
    with view.expect_response("**/v1/explain") as late:
        held[0].continue_()
    late.value.finished()
    view.evaluate("() => new Promise(after => setTimeout(after, 100))")
    assert "coat" not in shown.split()
    assert target.inner_text() == shown


def test_corrections_are_kept_and_taken_back(browser: Any, models: list[str], tmp_path: Path) -> None:
    """With a key that may correct, in the address; the translation of a term is markup, which stays text."""
    folder = Path(shutil.copytree(models[0], tmp_path / "model"))
    key = Keys(tmp_path / "keys.json").add("editor", ("translate", "correct", "learn"), 0, 0)
    fit_confidence(treeglot.load(folder), ZH[:25], EN[:25])
    dev = tmp_path / "dev"
    dev.write_text("\n".join(ZH[:10]) + "\n")
    term = treeglot.load(folder).translate(ZH[0]).source_tokens.words[3]
    (tmp_path / "said").write_text(
        json.dumps({"time": "2026", "source": "zh", "target": "en", "q": ZH[0], "s": EVIL}) + "\n"
    )
    options = ("--keys", str(tmp_path / "keys.json"), "--dev", str(dev), "--suggestions", str(tmp_path / "said"))
    with served.running([str(folder)], *options) as (address, _):
        view = browser.new_page()
        view.goto(f"{address}#key={key}&q={ZH[0]}")
        done(view)
        target = view.locator(".sentence .target").first
        assert re.search("[0-9]+ % sure$", target.inner_text())
        sure = [int(word.get_attribute("title").split()[0]) for word in target.locator(".word").all()]
        shaded = target.locator(".word").evaluate_all("words => words.map(word => /unsure/.test(word.className))")
        assert shaded == [each < 80 for each in sure]
        before = target.inner_text()
        view.get_by_role("button", name="Explain").click()
        view.get_by_label("Term", exact=True).fill(term)
        view.get_by_label("Its translation").fill(EVIL)
        view.get_by_label("Its translation").press("Enter")
        view.get_by_role("button", name=f"try {term}").wait_for()
        assert "<script>" in target.inner_text()
        assert key not in view.url
        view.get_by_role("button", name=f"try {term}").click()
        view.get_by_text("1 of 10 other sentences change").wait_for()  # the first of them is this one
        view.get_by_role("button", name="Keep").click()
        view.locator("#state", has_text="kept in the glossary").wait_for()
        assert EVIL in (folder / "glossary.tsv").read_text()
        assert "<script>" in target.inner_text()
        view.locator(".explanation").first.wait_for()
        view.locator("summary", has_text="Glossary of this model").click()
        view.get_by_role("button", name=f"remove {term} from the glossary").click()
        view.locator("#state", has_text="removed from the glossary").wait_for()
        assert target.inner_text() == before
        assert "edits=" not in view.url
        view.get_by_label("New term", exact=True).fill(term)
        view.get_by_label("Translation of the new term").fill("overcoat")
        view.get_by_label("Translation of the new term").press("Enter")
        view.locator("#state", has_text="kept in the glossary").wait_for()
        assert "overcoat" in target.inner_text()
        with view.expect_download() as saved:
            view.locator("#glossary").get_by_role("link", name="Save as a file").click()
        assert saved.value.path().read_bytes() == (folder / "glossary.tsv").read_bytes()
        view.get_by_role("button", name=f"remove {term} from the glossary").click()
        view.locator("#state", has_text="removed from the glossary").wait_for()

        view.locator("summary", has_text="Competing rules").click()
        view.get_by_role("button", name="forbid").first.click()
        view.get_by_text("of 10 other sentences change").wait_for()
        view.get_by_role("button", name="Drop").click()
        view.get_by_label("Source side of a rule").fill("很 [QQ,1]")
        view.get_by_label("Its target side").fill("very [QQ,1]")
        view.get_by_label("Its target side").press("Enter")
        view.get_by_text("never matches: it is no fragment").wait_for()
        view.get_by_role("button", name="Drop").click()
        view.get_by_label("Better translation").fill("Nobody wore the green hat.")
        view.get_by_label("Better translation").press("Enter")
        view.get_by_text("→ Nobody wore the green hat.").wait_for()
        assert not (folder / "corrections.txt").exists()
        view.get_by_role("button", name="Keep").click()
        view.locator("#state", has_text="learnt").wait_for()
        assert target.inner_text() != before
        view.locator("summary", has_text="Corrections of this model").click()
        with view.expect_download() as saved:
            view.locator("#corrections").get_by_role("link", name="Save as a file").click()
        assert saved.value.path().read_bytes() == (folder / "corrections.txt").read_bytes()
        view.get_by_role("button", name="What they change").click()
        view.locator("#held").get_by_text("of 10 other sentences change").wait_for()
        view.get_by_role("button", name="undo").first.click()
        view.locator("#state", has_text="taken back").wait_for()
        assert target.inner_text() == before

        view.locator("summary", has_text="Suggestions of users").click()
        view.get_by_role("button", name=f"look at {EVIL}").click()
        view.locator(".explanation textarea:focus").wait_for()
        assert view.get_by_label("Better translation").input_value() == EVIL
        view.close()


def test_why_and_why_not(view: Any) -> None:
    typed(view, ZH[0], 1)
    view.get_by_role("button", name="Explain").click()
    view.get_by_role("button", name="Why?").click()
    view.get_by_role("columnheader", name="sentence pairs").wait_for()
    view.get_by_text("it was trained without provenance").wait_for()
    view.get_by_label("Must not contain").fill("coat")
    view.get_by_label("Must not contain").press("Enter")
    view.get_by_role("button", name="remove coat").wait_for()
    view.get_by_role("button", name="Why?").click()
    view.get_by_text("Without your changes: Although that coat").wait_for()
    view.get_by_role("button", name="remove coat").click()
    view.get_by_role("button", name="remove coat").wait_for(state="detached")
    field = view.get_by_label("Why not this translation")
    field.fill(EVIL)
    field.press("Enter")
    view.get_by_text("It would take the rule").wait_for()
    field.fill(view.locator(".sentence .target").first.inner_text())
    field.press("Enter")
    view.get_by_text("It scores 0.000 less").or_(view.get_by_text("It scores -0.000 less")).wait_for()


def test_two_models_side_by_side(view: Any, models: list[str]) -> None:
    view.get_by_label("Compare with").select_option(Path(models[1]).name)
    typed(view, ZH[4], 1)
    other = view.locator(".sentence .target").nth(1)
    other.wait_for()
    words = treeglot.load(models[1]).translate(ZH[4]).target_tokens.words
    assert other.locator(".word").all_inner_texts() == words


def test_markup_in_texts_and_names_stays_text(view: Any, models: list[str]) -> None:
    """The model's own name is markup, too; the fixture listens for what a script would do."""
    view.get_by_label("Model", exact=True).select_option(Path(models[1]).name)
    typed(view, f"{EVIL}<b>{ZH[0]}", 1)
    view.get_by_role("button", name="Explain").first.click()
    view.locator(".drawn").first.wait_for()
    assert view.locator("b, img, main script").count() == view.locator(".drawn b").count()
    assert Path(models[1]).name in view.locator("#about").inner_text()


def test_markup_in_labels_stays_text(view: Any, address: str) -> None:
    """A link brings a parse whose labels are markup."""
    label = "<img src=x onerror=alert(1)>"
    edits = {ZH[0]: {"tree": [label, [EVIL, "小屋"]]}}
    view.goto("about:blank")
    view.goto(f"{address}#model=c2s&q={quote(ZH[0])}&edits={quote(json.dumps(edits))}")
    done(view)
    view.get_by_role("button", name="Explain").click()
    view.locator(".drawn").first.wait_for()
    assert label in view.locator(".drawn").inner_html().replace("&lt;", "<").replace("&gt;", ">")
    assert view.locator("img, main script").count() == 0


def test_an_old_link_says_so(view: Any, address: str) -> None:
    view.goto("about:blank")
    view.goto(f"{address}#model=c2s&digest=0123&q={ZH[0]}")
    view.locator("#state", has_text="another version of the model").wait_for()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_keeps_people_out(browser: Any, address: str, scheme: Any) -> None:
    """axe finds nothing, and a screen of 360 pixels is wide enough."""
    from axe_playwright_python.sync_playwright import Axe

    opened = browser.new_page(viewport={"width": 360, "height": 700}, color_scheme=scheme)
    opened.goto(f"{address}#q={ZH[0]}{ZH[1]}")
    done(opened)
    opened.get_by_role("button", name="Explain").first.click()
    opened.locator(".drawn svg").first.wait_for()
    for title in ("The forest", "Competing rules", "Weights"):
        opened.locator("summary", has_text=title).first.click()
    found = Axe().run(opened).response["violations"]
    assert [(each["id"], each["nodes"][0]["html"][:200]) for each in found] == []
    assert opened.evaluate("document.documentElement.scrollWidth") <= 360
    opened.close()
