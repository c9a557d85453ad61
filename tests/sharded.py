"""Commands that work in shards, and what they need, for tests of engines."""

import re
from pathlib import Path

from treeglot import sample
from treeglot.cli import main

CASES = {
    "translate": ["translate", "model", "good.zh"],
    "translate-kbest": ["translate", "model", "good.zh", "--kbest", "3", "--set", "search.pop_limit=5"],
    "translate-json": ["translate", "model", "bad.zh", "--json", "--index", "3-18", "--skip-bad", "--markup"],
    "align": ["align", "good.zh", "good.en", "--model", "aligner", "--gold", "good.align"],
    "align-trees": ["align", "good.zh", "good.en", "--model", "aligner", "--target-trees", "good.tree"],
    "parse": ["parse", "grammar", "some.zh", "--to", "egret", "--longest", "9"],
    "parse-kbest": ["parse", "grammar", "some.zh", "--kbest", "2"],
    "lm": ["lm", "train", "train.en", "--order", "3", "--prune", "0 0 1"],
}
SENTENCES = 20


def prepare(folder: Path) -> None:
    """A model, an aligner, a grammar and text for the commands, which run in this folder."""
    sample.write_corpus(folder, 120)
    files = {"source": "train.zh", "target": "train.en", "alignments": "train.align"}
    given = [part for name, file in files.items() for part in (f"--{name}", str(folder / file))]
    assert main(["train", "hiero", *given, "-o", str(folder / "model"), "--set", "lm_order=2", "-q"]) == 0
    text = [str(folder / "train.zh"), str(folder / "train.en"), "-o", str(folder / "links")]
    assert main(["align", *text, "--save", str(folder / "aligner"), "-q"]) == 0
    bank = [str(folder / "train.zh.tree"), "--out", str(folder / "grammar")]
    assert main(["parser", "train", *bank, "--cycles", "1", "-q"]) == 0
    for name, file in (("zh", "train.zh"), ("en", "train.en"), ("align", "train.align"), ("tree", "train.en.tree")):
        _write(folder / f"good.{name}", _lines(folder / file)[:SENTENCES])
    lines = _lines(folder / "good.zh")
    _write(folder / "some.zh", [*lines[:8], "", lines[8] * 2, *lines[9:]])
    lines[12] = '<x translation="a\u2028b"> 一'  # U+2028 ends a line for Python, but not in a file
    _write(folder / "bad.zh", lines)


def remarks(text: str) -> list[str]:
    """What a command said, but how long it took, and what it says of shards alone."""
    return [line for line in text.splitlines() if not re.search(r" in [\d.]+ s$", line)]


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").removesuffix("\n").split("\n")


def _write(path: Path, lines: list[str]) -> None:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
