"""The commands in the documentation exist, with their options, and the first tutorial works as it stands."""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from entry_points import install_entry_points

from treeglot.base import toml
from treeglot.cli import main
from treeglot.cli.app import COMMANDS, build_command
from treeglot.decode.weights import read_weights
from treeglot.models import KINDS, Kind, load
from treeglot.rules import score, sql
from treeglot.sample import read_pairs
from treeglot.text import TextSettings, TextSide, languages

TOP = Path(__file__).parents[1]
PAGES = [*sorted((TOP / "docs").rglob("*.md")), TOP / "README.md"]
NAMES = sorted((name for names in COMMANDS.values() for name in names), key=len, reverse=True)


def commands(page: Path) -> Iterator[tuple[int, list[str]]]:
    """The command lines of a page, with the lines that they begin at; comments and pipes end them."""
    text = page.read_text(encoding="utf-8")
    for found in re.finditer(r"^ {0,4}(?:\$ )?treeglot ((?:.*\\\n)*.*)$", text, re.MULTILINE):
        words = shlex.split(found[1].replace("\\\n", " "), comments=True)
        ends = [place for place, word in enumerate(words) if word[0:1] in ("|", "<", ">", "&", "…")]
        yield text.count("\n", 0, found.start()) + 1, words[: ends[0] if ends else len(words)]


def options(name: str) -> set[str]:
    """The options of a command."""
    return {one for parameter in build_command(name).params for one in (*parameter.opts, *parameter.secondary_opts)}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(TOP)))
def test_commands_exist_with_their_options(page: Path) -> None:
    for line, words in commands(page):
        name = next((name for name in NAMES if words[: len(name.split())] == name.split()), None)
        if name is None:
            assert not words or words[0].startswith("-") or words[0].isupper(), f"{page}:{line}: treeglot {words[0]}"
            continue
        known = options(name) | {"--help", "--quiet", "-q", "--debug"}
        for word in words[len(name.split()) :]:
            if re.fullmatch(r"--?[a-z][\w-]*(?:=.*)?", word):
                assert word.split("=")[0] in known, f"{page}:{line}: treeglot {name} has no {word}"


def test_the_first_tutorial(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    page = TOP / "docs/tutorials/first-translation.md"
    done = []
    for _, words in commands(page):
        if words[0] in ("tour", "serve"):  # tests of their own
            continue
        more = ["--pairs", "200"] if words[0] == "sample" else []
        assert main([*words, *more]) == 0, words
        done.append(words[0])
    assert done == ["sample", "train", "translate", "score", "train", "translate", "score", "translate"]
    assert "<svg" in Path("why.html").read_text()


@pytest.mark.filterwarnings("ignore::treeglot.lm.train.DiscountWarning")  # the corpus is small
def test_the_second_tutorial(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With English words as if they were German ones. Documents, books and the service have tests of their own."""
    monkeypatch.chdir(tmp_path)
    english = [re.sub(r" (\W)", r"\1", " ".join(pair.target).capitalize()) for pair in read_pairs(160)]
    Path("all.en").write_text("".join(f"{line}\n" for line in english))
    Path("all.de").write_text("".join(re.sub(r"(\w+)", r"\1en", line) + "\n" for line in english))
    page = TOP / "docs/tutorials/your-language-pair.md"
    text = page.read_text(encoding="utf-8").replace("\\\n", " ").replace("N=500", "N=20")
    done, shell = [], "true"
    for line in re.findall(r"^    (\S.*)$", text, re.MULTILINE):
        words = shlex.split(line)
        if words[0] == "treeglot":
            if words[1] in ("align-sentences", "serve") or "page.html" in words:
                continue
            subprocess.run(["bash", "-euc", shell], check=True)
            shell = "true"
            assert main(words[1:]) == 0, line
            done.append(words[1])
        elif words[0] not in ("curl", "-d", "echo"):
            shell += f"\n{line}"
    assert done == ["clean", "train", "translate", "score", "why", "learn", "check-corrections"]
    assert len(Path("dev.de").read_text().splitlines()) == len(Path("test.en").read_text().splitlines()) == 20
    assert Path("de-en/glossary.tsv").read_text() == "Wiese\tmeadow\n"
    capsys.readouterr()
    for source, target in (
        ("Ein Hund läuft über die Straße.", "A dog runs across the street."),  # as taught
        ("Ein Hund läuft über die Wiese.", "meadow"),
    ):
        assert source in text
        assert target in load("de-en").translate(source).text


@pytest.mark.filterwarnings("ignore::treeglot.lm.train.DiscountWarning")  # the corpus is small
def test_a_kind_of_another_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = TOP / "docs/how-to/add-a-kind.md"
    text = page.read_text(encoding="utf-8")
    declared, used = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    project, recipe = re.findall(r"```toml\n(.*?)```", text, re.DOTALL)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    Path("short.py").write_text(declared)
    Path("recipe.toml").write_text(recipe)
    install_entry_points(tmp_path, toml.loads(project)["project"]["entry-points"])
    done = []
    try:
        for _, words in commands(page):
            assert main([*words, *(["--pairs", "120"] if words[0] == "sample" else [])]) == 0, words
            done.append(words[0])
        assert done == ["sample", "train", "translate", "score", "run"]
        exec(compile(used, page.name, "exec"), {})
        assert isinstance(KINDS["hiero-short"], Kind)
        assert main(["run", "recipe.toml", "--plan"]) == 0
    finally:
        KINDS.pop("hiero-short", None)


@pytest.mark.filterwarnings("ignore::treeglot.lm.train.DiscountWarning")  # the corpus is small
def test_a_feature_of_another_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = TOP / "docs/how-to/add-a-feature.md"
    text = page.read_text(encoding="utf-8")
    declared, scorer = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    [project] = re.findall(r"```toml\n(.*?)```", text, re.DOTALL)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sql, "COLUMNS", dict(sql.COLUMNS))  # the one that the package adds goes again
    monkeypatch.setattr(score, "COLUMNS", sql.COLUMNS)
    Path("rarity.py").write_text(declared)
    Path("length.py").write_text(scorer)
    install_entry_points(tmp_path, toml.loads(project)["project"]["entry-points"])
    done = []
    try:
        for _, words in commands(page):
            assert main([part.replace("python ", f"{sys.executable} ") for part in words]) == 0, words
            done.append(words[0])
    finally:
        KINDS.pop("hiero-rarity", None)
    assert done == ["sample", *["train", "tune"] * 2, "translate", *["translate", "rerank"] * 2]
    assert "rarity= " in capsys.readouterr().out
    assert {"variables", "count_bin=1"} <= read_weights("more/weights.txt").keys()
    assert read_weights("length.weights").keys() == {"length", "score"}


def test_tuning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    page = TOP / "docs/how-to/tune.md"
    monkeypatch.chdir(tmp_path)
    for _, words in commands(page):
        assert main(words) == 0, words
    [shown] = re.findall(r"```text\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    assert shown in capsys.readouterr().err
    for name in ("best.weights", "start.weights", "plot.svg", "log.jsonl"):
        assert Path("model/tune-mert-1", name).exists()


def test_words_of_a_language(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    text = (TOP / "docs/how-to/add-a-language.md").read_text(encoding="utf-8")
    run, entry = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    [shown] = re.findall(r"```text\n(.*?)```", text, re.DOTALL)
    exec(compile(run, "page", "exec"), {})
    assert capsys.readouterr().out == shown
    [language] = eval(f"[{entry.strip()}]", {"Language": languages.Language})
    assert TextSide.learn(TextSettings(language.code), ["L'ostal."] * 5).tokenise(["L'ostal."])[0].words[0] == "L'ostal"
    monkeypatch.setitem(languages._KNOWN, language.code, language)
    languages.find_language.cache_clear()
    try:
        side = TextSide.learn(TextSettings(language.code), ["L'ostal."] * 5)
        assert side.tokenise(["L'ostal."])[0].words == ["L'", "ostal", "."]
    finally:
        languages.find_language.cache_clear()


@pytest.mark.filterwarnings("ignore::treeglot.lm.train.DiscountWarning")  # the corpus is small
def test_a_derivation_in_the_terminal_and_in_a_notebook(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = TOP / "docs/how-to/read-a-derivation.md"
    text = page.read_text(encoding="utf-8")
    [shown] = re.findall(r"```text\n(.*?)```", text, re.DOTALL)
    monkeypatch.chdir(tmp_path)
    for _, words in commands(page):
        assert main(words) == 0, words
    assert shown in capsys.readouterr().out
    forest, translation, derivation = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    cells: dict[str, Any] = {}
    for cell in (forest, translation):
        exec(compile(cell, page.name, "exec"), cells)
        assert "<svg" in eval(cell.splitlines()[-1], cells)._repr_html_()
    assert eval(derivation, cells)._repr_svg_().startswith("<svg")
    assert shown.splitlines()[0] == cells["found"].text


def test_pictures_are_as_the_commands_draw_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`TREEGLOT_REWRITE=1` draws them again."""
    page = TOP / "docs/pictures.md"
    monkeypatch.chdir(tmp_path)
    for _, words in commands(page):
        assert words[0] == "serve" or main(words) == 0, words
    drawn = [*Path().glob("*.svg"), Path("c2d/tune-mert-1/plot.svg")]
    stored = TOP / "docs/pictures"
    if os.environ.get("TREEGLOT_REWRITE"):
        for path in drawn:
            (stored / path.name).write_bytes(path.read_bytes())
    assert {path.name: path.read_text(encoding="utf-8") for path in drawn} == {
        path.name: path.read_text(encoding="utf-8") for path in stored.glob("*.svg")
    }
    assert len(drawn) == 6


def test_every_page_is_in_the_index() -> None:
    entry = re.compile(r"```\{toctree\}\n(.*?)```", re.DOTALL)
    listed = {"index"}
    for page in (TOP / "docs").rglob("*.md"):
        for tree in entry.findall(page.read_text(encoding="utf-8")):
            for name in re.findall(r"^[^:\s].*$", tree, re.MULTILINE):
                found = (page.parent / f"{name}.md").resolve().relative_to(TOP.resolve() / "docs")
                listed |= {
                    str(one.relative_to(TOP / "docs").with_suffix("")) for one in (TOP / "docs").glob(str(found))
                }
    assert {str(page.relative_to(TOP / "docs").with_suffix("")) for page in (TOP / "docs").rglob("*.md")} == listed


def test_configurations_of_other_decoders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = (TOP / "docs/how-to/other-decoders.md").read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    Path("test.de").write_text("das Haus ist klein\n")
    Path("test.de.tree").write_text(re.findall(r"echo '(.*)' > test.de.tree", page)[0] + "\n")
    for name, files, source, kbest in (
        ("Moses", ("moses.ini", "rules.txt", "glue.txt", "lm.arpa"), "test.de", 2),
        ("Joshua", ("grammar.joshua", "glue.joshua", "joshua.config"), "test.de", 2),
        ("Travatar", ("rules.travatar", "travatar.ini"), "test.de.tree", 1),
    ):
        section = page.partition(f"## Try it with {name}")[2].partition("\n## ")[0]
        *contents, shown = re.findall(r"```(?:ini|text)\n(.*?)```", section, re.DOTALL)
        for file, content in zip(files, contents, strict=True):
            Path(file).write_text(content)
        [config] = [file for file in files if "ini" in file or "config" in file]
        run = ["decode", source, "--config", config, "--kbest", str(kbest)]
        assert f"    treeglot {' '.join(run)}\n" in section
        assert main(run) == 0
        assert capsys.readouterr().out == shown
