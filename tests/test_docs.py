"""The commands in the documentation exist, with their options, and the first tutorial works as it stands."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from entry_points import install_entry_points

from treeglot.base import toml
from treeglot.cli import main
from treeglot.cli.app import COMMANDS, build_command
from treeglot.models import KINDS, Kind

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


def test_a_configuration_of_moses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = (TOP / "docs/how-to/other-decoders.md").read_text(encoding="utf-8")
    *files, shown = re.findall(r"```(?:ini|text)\n(.*?)```", page, re.DOTALL)
    monkeypatch.chdir(tmp_path)
    for name, content in zip(("moses.ini", "rules.txt", "glue.txt", "lm.arpa"), files, strict=True):
        Path(name).write_text(content)
    Path("test.de").write_text("das Haus ist klein\n")
    assert main(["decode", "test.de", "--config", "moses.ini", "--kbest", "2"]) == 0
    assert capsys.readouterr().out == shown
