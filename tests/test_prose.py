"""Prose is short and plain: no sentence is too long, and none has a construction that is hard to read."""

from collections.abc import Callable
from pathlib import Path

import pytest
from prose import Finding, comments, cpp_comments, docstrings, messages, page, sentences

TOP = Path(__file__).parents[1]
FILES = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "bench/RESULTS.md", "bench/results/README.md")
PAGES = sorted((TOP / "docs").rglob("*.md")) + [TOP / name for name in FILES]
CODE = sorted((TOP / "src").rglob("*.py"))
CORE = sorted(path for ending in ("cc", "h") for path in (TOP / "cpp").rglob(f"*.{ending}"))


def shown(path: Path, findings: list[Finding]) -> str:
    return "\n".join(f"{path.relative_to(TOP)}:{one.line}: {one.why}: {one.sentence}" for one in findings)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(TOP)))
def test_pages_read_well(path: Path) -> None:
    assert not (found := page(path)), shown(path, found)


@pytest.mark.parametrize("part", [docstrings, comments, messages])
def test_code_reads_well(part: Callable[[Path], list[Finding]]) -> None:
    problems = [shown(path, found) for path in CODE if (found := part(path))]
    assert not problems, "\n".join(problems)


def test_the_core_reads_well() -> None:
    assert len(CORE) > 100
    problems = [shown(path, found) for path in CORE if (found := cpp_comments(path))]
    assert not problems, "\n".join(problems)


def test_comments_of_the_core_are_read(tmp_path: Path) -> None:
    path = tmp_path / "code.cc"
    half = "word " * 15
    address = f'auto a = "http://{half}{half}";'
    path.write_text(f"{address}\nint b;  // {half}\n// {half}\nint c;\n// {half}\n// {half}\n//\n// {half}\n")
    assert [one.line for one in cpp_comments(path)] == [5]
    path.write_text(f"int b;  // {half}\n        // {half}\n\n// A list:\n// - {half}\n// - {half}\n")
    assert [one.line for one in cpp_comments(path)] == [1]
    path.write_text(f"// Code:\n//\n//   {half}{half}\n//\n// {half}{half}\n")
    assert len(cpp_comments(path)) == 1


def test_a_long_sentence_is_found(tmp_path: Path) -> None:
    path = tmp_path / "page.md"
    ignored = f"| {'cell ' * 40} |\n\n    {'code ' * 40}"
    path.write_text(f"# One\n\nShort. Too {'word ' * 25}long.\n\n{ignored}\n\nIt is to be done.\n")
    assert [(one.line, one.why) for one in page(path)] == [
        (3, "27 words; expected at most 25"),
        (9, "'is to be': say who does it"),
    ]


@pytest.mark.parametrize(
    ("text", "number"),
    [("One. Two.", 2), ("See Koehn et al. (2004) for it.", 1), ("It has `a. B. c`. Then 3 more.", 2), ("", 0)],
)
def test_sentences(text: str, number: int) -> None:
    assert len(list(sentences(text))) == number


def test_docstrings_are_read(tmp_path: Path) -> None:
    path = tmp_path / "code.py"
    long = "word " * 30
    table = f"name   {long}"
    path.write_text(f'def one() -> None:\n    """Short.\n\n    {long}\n\n    >>> {long}\n\n    {table}\n    """\n')
    assert [one.line for one in docstrings(path)] == [1]
    path.write_text(f'def one() -> None:\n    """Short.\n\n    - one\n    - {long}\n    - two\n    """\n')
    assert [one.line for one in docstrings(path)] == [1]


def test_comments_are_read(tmp_path: Path) -> None:
    path = tmp_path / "code.py"
    half = "word " * 15
    path.write_text(f"a = 1  # {half}\n# {half}\nb = 2\n# {half}\n# {half}\nc = 3\n")
    assert [one.line for one in comments(path)] == [4]


def test_messages_are_read(tmp_path: Path) -> None:
    path = tmp_path / "code.py"
    long = "word " * 30
    path.write_text(f'option(help="{long}")\n\nraise ValueError(f"{{x}} {long}")\nraise ValueError("short")\n')
    assert sorted(one.line for one in messages(path)) == [1, 3]
    path.write_text('cups: int = option(2, "cups for whoever comes")\nwarn("blanks part words")\nprint("whoever")\n')
    assert sorted((one.line, one.why) for one in messages(path)) == [
        (1, "'whoever': name the person or the process"),
        (2, "'blanks part': say 'separate' or 'split'"),
    ]


@pytest.mark.parametrize(
    "text", ["It is but for this.", "a, for it is b", "words that it has not.", "what stands there"]
)
def test_paraphrases_are_found(tmp_path: Path, text: str) -> None:
    path = tmp_path / "page.md"
    path.write_text(f"{text}\n")
    assert len(page(path)) == 1
    path.write_text("It has not been seen. He made amends for it. All but four. Parts of words. Blanks are parts.\n")
    assert not page(path)
