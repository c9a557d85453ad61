"""Links that break constituents, against a slow twin, and the command."""

from __future__ import annotations

import math
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from treeglot import Tree, sample
from treeglot.align import Aligner, score_alignments
from treeglot.base.errors import UsageError
from treeglot.cli import main
from treeglot.syntax import Alignment

PAIRS = sample.read_pairs(200)
TEXT = [(pair.source_tree.words, pair.target_tree.words) for pair in PAIRS]
Link = tuple[int, int]


@cache
def trained() -> Aligner:
    return Aligner.train(TEXT, options={"chains": 2}, threads=2)


def spans(tree: Tree) -> set[tuple[int, int]]:
    """Constituents of several words, but not of all."""
    found = {tree.span(node) for node in range(tree.size)}
    return {(begin, end) for begin, end in found if 1 < end - begin < len(tree.words)}


def broken(links: list[Link], constituents: set[tuple[int, int]]) -> int:
    """How many constituents of the first side have a link from outside to what they cover."""
    count = 0
    for begin, end in constituents:
        covered = [t for s, t in links if begin <= s < end]
        outside = [t for s, t in links if not begin <= s < end]
        count += bool(covered) and any(min(covered) <= t <= max(covered) for t in outside)
    return count


def mended(links: list[Link], trees: tuple[Tree, Tree], worth: dict[Link, float], cost: float) -> list[Link]:
    """The greedy search of `Aligner.mend`, by its definition."""

    def breaks(kept: list[Link]) -> int:
        return broken(kept, spans(trees[0])) + broken([(t, s) for s, t in kept], spans(trees[1]))

    while True:
        gains = [cost * (breaks(links) - breaks([k for k in links if k != link])) - worth[link] for link in links]
        if not gains or max(gains) <= 0:
            return links
        links = [link for k, link in enumerate(links) if k != gains.index(max(gains))]


@settings(deadline=None, max_examples=40)
@given(st.integers(0, len(PAIRS) - 1), st.floats(0, 5), st.booleans(), st.booleans(), st.data())
def test_mending(number: int, cost: float, source: bool, target: bool, data: st.DataObject) -> None:
    pair, text = PAIRS[number], TEXT[number]
    cells = [(s, t) for s in range(len(text[0])) for t in range(len(text[1]))]
    links = sorted({*trained().align(*text, "union"), *data.draw(st.lists(st.sampled_from(cells), max_size=3))})
    forward, backward = trained().posteriors(*text)
    share = {link: min(0.5 * float(forward[link] + backward[link]), 0.999999) for link in links}
    worth = {link: -math.log(1 - p) for link, p in share.items()}
    trees = (pair.source_tree if source else Tree(), pair.target_tree if target else Tree())
    given_trees = [[tree] if tree.size else None for tree in trees]
    (found,) = trained().mend([text], [Alignment(links)], *given_trees, cost=cost)
    assert list(found) == mended(links, trees, worth, cost)


def test_trees_help_on_the_sample() -> None:
    links = list(trained().align_all(TEXT))
    gold = [pair.alignment for pair in PAIRS]
    sides = [pair.source_tree for pair in PAIRS], [pair.target_tree for pair in PAIRS]
    better = list(trained().mend(TEXT, links, *sides, threads=2))
    assert score_alignments(better, gold).aer < score_alignments(links, gold).aer
    assert list(trained().mend([([], ["a"])], [Alignment()], [Tree()])) == [Alignment()]
    with pytest.raises(UsageError, match=r"a tree has \d+ words; expected 1, as its sentence has: a"):
        list(trained().mend([(["a"], ["b"])], [Alignment()], [sides[0][0]]))
    nothing: Any = [None]
    for links, trees in ((nothing, [Tree()]), ([Alignment()], nothing)):
        with pytest.raises(TypeError):
            trained().core.mended([(["a"], ["b"])], links, trees, trees, 1.0, 1)


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trained().save(tmp_path / "aligner")
    files: dict[str, list[str]] = {"zh": [], "en": [], "zh.tree": []}
    for pair, (source, target) in zip(PAIRS[:30], TEXT, strict=False):
        files["zh"].append(" ".join(source))
        files["en"].append(" ".join(target))
        files["zh.tree"].append(str(pair.source_tree))
    for name, lines in files.items():
        (tmp_path / name).write_text("\n".join(lines) + "\n")
    run = ["align", *(str(tmp_path / name) for name in ("zh", "en")), "--model", str(tmp_path / "aligner")]
    run += ["-o", str(tmp_path / "links"), "--source-trees", str(tmp_path / "zh.tree"), "--constituent-cost", "2"]
    assert main(run) == 0
    links = trained().mend(
        TEXT[:30], trained().align_all(TEXT[:30]), [pair.source_tree for pair in PAIRS[:30]], cost=2.0
    )
    assert (tmp_path / "links").read_text().splitlines() == [str(one) for one in links]
    (tmp_path / "zh.tree").write_text(files["zh.tree"][0] + "\n")
    assert main(run) == 1
    assert "zh.tree: has 1 records, fewer than" in capsys.readouterr().err
