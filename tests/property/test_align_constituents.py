"""Links that break constituents, against a slow twin, and the command."""

from __future__ import annotations

import json
import math
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from enumeration import derivations
from hypothesis import given, settings
from hypothesis import strategies as st
from syntax_strategies import forests, mild_scores

from treeglot import ParseForest, Tree, _core, sample
from treeglot.align import Aligner, score_alignments
from treeglot.base.errors import UsageError
from treeglot.cli import main
from treeglot.syntax import Alignment
from treeglot.syntax.formats import read_forests

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
    sure = [[ParseForest.from_tree(tree)] if tree.size else None for tree in trees]
    assert [found] == list(trained().mend([text], [Alignment(links)], *sure, cost=cost))


@settings(max_examples=100)
@given(forests(scores=mild_scores, max_trees=30))
def test_constituents_of_forests(forest: ParseForest) -> None:
    conditional, words = forest.conditional(), len(forest.words)
    found = dict.fromkeys(product(range(words + 1), repeat=2), 0.0)
    shares = {
        d: math.exp(sum(conditional.scores[edge] for edge in d)) for d in derivations(forest.graph, forest.graph.goal)
    }
    for derivation, share in shares.items():
        for span in {forest.span(int(forest.graph.heads[edge])) for edge in derivation}:
            found[span] += share / sum(shares.values())
    given = {(begin, end): probability for begin, end, probability in _core.constituents(forest)}
    for (begin, end), probability in found.items():
        inner = 1 < end - begin < words
        if not inner or probability < 0.00999:
            assert (begin, end) not in given
        elif probability > 0.01001:
            assert given[begin, end] == pytest.approx(probability)


HALF = {
    "words": ["a", "b", "c"],
    "scores": "conditional",
    "goal": 5,
    "nodes": [
        {"label": "L", "span": [0, 2], "edges": [[0, 0, 1]]},
        {"label": "R", "span": [1, 3], "edges": [[0, 1, 2]]},
        {"label": "S", "span": [0, 3], "edges": [[math.log(0.5), 3, 2], [math.log(0.5), 0, 4]]},
    ],
}


def test_a_constituent_of_a_forest_counts_by_its_probability(tmp_path: Path) -> None:
    (tmp_path / "half.jsonl").write_text(json.dumps(HALF) + "\n")
    (forest,) = read_forests(tmp_path / "half.jsonl")
    assert sorted(_core.constituents(forest)) == [(0, 2, pytest.approx(0.5)), (1, 3, pytest.approx(0.5))]
    text, links = (forest.words, ["x", "y", "z"]), Alignment.parse("0-0 1-2 2-1")  # c is inside what [a b] covers
    forward, backward = trained().posteriors(*text)
    worth = {link: -math.log(1 - 0.5 * float(forward[link] + backward[link])) for link in links}
    cheapest = min(worth.values())
    assert cheapest > 0
    tree = Tree.parse("(S (L (A a) (B b)) (C c))")
    for cost, kept in ((0.9 * cheapest, [3, 3]), (1.5 * cheapest, [2, 3]), (2.5 * cheapest, [2, 2])):
        found = [list(trained().mend([text], [links], [parse], cost=cost)) for parse in (tree, forest)]
        assert [len(one) for (one,) in found] == kept


def test_trees_help_on_the_sample() -> None:
    links = list(trained().align_all(TEXT))
    gold = [pair.alignment for pair in PAIRS]
    sides = [pair.source_tree for pair in PAIRS], [pair.target_tree for pair in PAIRS]
    better = list(trained().mend(TEXT, links, *sides, threads=2))
    assert score_alignments(better, gold).aer < score_alignments(links, gold).aer
    assert list(trained().mend([([], ["a"])], [Alignment()], [Tree()])) == [Alignment()]
    with pytest.raises(UsageError, match=r"a parse has \d+ words; expected 1, as its sentence has: a"):
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
