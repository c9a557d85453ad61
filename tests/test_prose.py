"""Prose is short and plain; what is still hard to read is counted, and may only become less."""

import os
from pathlib import Path

import pytest
from prose import Finding, docstrings, page, sentences

TOP = Path(__file__).parents[1]
LEFT = Path(__file__).with_name("prose_left.txt")
PAGES = sorted((TOP / "docs").rglob("*.md")) + [TOP / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")]


def found() -> dict[str, list[Finding]]:
    pages = {str(path.relative_to(TOP)): page(path) for path in PAGES}
    code = [one for path in sorted((TOP / "src").rglob("*.py")) for one in docstrings(path)]
    return {name: one for name, one in {**pages, "docstrings": code}.items() if one}


def test_no_page_becomes_harder_to_read() -> None:
    """`TREEGLOT_REWRITE=1` writes the counts anew; a count that rises needs a better sentence instead."""
    counts = {name: len(one) for name, one in found().items()}
    if os.environ.get("TREEGLOT_REWRITE"):
        LEFT.write_text("".join(f"{name} {count}\n" for name, count in counts.items()))
    left = dict(line.split(" ") for line in LEFT.read_text().splitlines())
    for name, findings in found().items():
        shown = "\n".join(f"{name}:{one.line}: {one.why}: {one.sentence}" for one in findings)
        assert len(findings) <= int(left.get(name, 0)), f"{shown}\nexpected at most {left.get(name, 0)}"
    assert {name: int(count) for name, count in left.items()} == counts, "fewer: run it with TREEGLOT_REWRITE=1"


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
    path.write_text(f'def one() -> None:\n    """Short.\n\n    {"word " * 30}\n\n    >>> {"code " * 30}\n    """\n')
    assert [one.line for one in docstrings(path)] == [1]
