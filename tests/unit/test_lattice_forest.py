"""Models of forests with lattices of the forests' words: values, files, commands, and what refuses them by name."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest
from small_models import CORPUS, LINES, trained

from treeglot import FormatError, ParseForest, Tree, UsageError
from treeglot.cli import main
from treeglot.decode.constraints import Constraints
from treeglot.syntax import read, write
from treeglot.syntax.lattice import Lattice, LatticeForest

pytestmark = pytest.mark.filterwarnings("ignore:.*discount", "ignore::treeglot.lm.train.DiscountWarning")


def respelt(forest: ParseForest, place: int, word: str, score: float = -1.0) -> tuple[ParseForest, LatticeForest]:
    """A forest with an unknown word at a place, and the same with the word that stood there as a variant."""
    words = [word if i == place else each for i, each in enumerate(forest.words)]
    labels = [*words, *forest.labels[len(words) :]]
    other = ParseForest(forest.graph, labels, forest.spans.tolist(), forest.scores.tolist(), forest.kind)
    arcs = [(i, i + 1, each, 0.0) for i, each in enumerate(words)]
    return other, LatticeForest(other, Lattice([*arcs, (place, place + 1, forest.words[place], score)]))


def test_values_compare_and_pickle():
    forest = ParseForest.from_tree(Tree.parse("(S (N a) (N b))"))
    lattice = Lattice([(0, 1, "a", 0.0), (0, 2, "A", -2.0), (1, 3, "b", -0.5), (2, 3, "B", 0.0), (1, 2, "", 0.0)])
    both = LatticeForest(forest, lattice)
    assert (both.words, both.forest, both.lattice, both.left_out) == (["a", "b"], forest, lattice, 0)
    assert both.variants == [((0, 2), ["A", "B"], -1.5), ((1, 2), ["B"], 0.5)]
    assert pickle.loads(pickle.dumps(both)) == both == LatticeForest(forest, lattice)
    assert hash(both) == hash(LatticeForest(forest, lattice))
    assert both != LatticeForest(forest, Lattice.from_words(["a", "b"]))
    assert repr(both) == "<LatticeForest of 2 words and 2 variants>"
    more = Lattice([(0, 1, "a", 0.0), (1, 2, "", 0.0), (1, 2, "very", -1.0), (2, 3, "b", 0.0), (2, 3, "", -1.0)])
    assert (LatticeForest(forest, more).variants, LatticeForest(forest, more).left_out) == ([], 2)


def test_too_many_variants_are_refused():
    forest = ParseForest.from_tree(Tree.parse("(S (N a))"))
    inner = [(i, i + 1, word, 0.0) for i in range(1, 20) for word in "bcde"]
    with pytest.raises(ValueError, match="more than 1000 arcs, or 1000000 together; expected fewer"):
        LatticeForest(forest, Lattice([(0, 20, "a", 0.0), (0, 1, "b", 0.0), *inner]))


def test_a_variant_is_translated_in_place_of_an_unknown_word(tmp_path: Path):
    model = trained("c2s", tmp_path / "c2s")
    forest = next(iter(read(CORPUS / "zh.jsonl")))
    place = 0
    other, both = respelt(forest, place, "未知")
    plain, found = model.translate(other), model.translate(both)
    assert plain.features["unknown"] == 1
    assert "unknown" not in found.features
    assert found.features["lattice"] == -1.0
    assert found.words == other.words
    assert both.lattice.words_on(found.best.path) == forest.words
    assert any(forest.words[place] in step.source for step in found.derivation.steps)
    again = pickle.loads(pickle.dumps(found))
    assert (again.given, again.best.path) == (both, found.best.path)
    dear = model.translate(respelt(forest, place, "未知", -1000.0)[1])
    assert (dear.text, both.lattice.words_on(dear.best.path)) == (plain.text, other.words)
    assert model.translate(both, Constraints(contains=("未知",))).features["unknown"] == 1
    assert model.translate(both).forest().graph.goal is not None


def test_parts_of_a_variant_are_glued(tmp_path: Path):
    """Two words that never stand side by side in training, as the parts of one."""
    model = trained("c2s", tmp_path / "c2s")
    first, second = LINES[0][3], LINES[0][0]
    forest = ParseForest.from_tree(Tree.parse("(IP (NN 未知))"))
    arcs = [(0, 2, "未知", -50.0), (0, 1, first, 0.0), (1, 2, second, 0.0)]
    found = model.translate(LatticeForest(forest, Lattice(arcs)))
    assert found.features["lattice"] == 50.0
    assert found.features["glue"] == 1
    sources = [step.source for step in found.derivation.steps]
    assert {f"{first}", f"{second}"} <= set(sources)


def test_commands_read_forests_and_lattices(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    model = trained("c2s", tmp_path / "c2s")
    forests = list(read(CORPUS / "zh.jsonl"))[:3]
    other, both = respelt(forests[0], 0, "未知")
    write(tmp_path / "in.jsonl", [other, *forests[1:]])
    write(tmp_path / "in.lattice", [both.lattice, *(Lattice.from_words(each.words) for each in forests[1:])])
    files = [str(tmp_path / "c2s"), str(tmp_path / "in.jsonl"), "--lattices", str(tmp_path / "in.lattice")]
    assert main(["translate", *files]) == 0
    expected = [model.translate(each).text for each in (both, *forests[1:])]
    assert capsys.readouterr().out.splitlines() == expected
    write(tmp_path / "short.lattice", [both.lattice])
    with pytest.raises(FormatError, match=r"short.lattice:2: ends; expected a record for each of"):
        list(model.read(tmp_path / "in.jsonl", lattices=tmp_path / "short.lattice"))
    write(tmp_path / "wrong.lattice", [Lattice.from_words(["a"])] * 3)
    with pytest.raises(FormatError, match=r"wrong.lattice:1: no path of the lattice has the words of the forest"):
        list(model.read(tmp_path / "in.jsonl", lattices=tmp_path / "wrong.lattice"))
    assert main(["lattice", str(tmp_path / "c2s"), str(tmp_path / "in.jsonl")]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 3


@pytest.mark.parametrize("kind", ["hiero", "dep2str"])
def test_other_kinds_refuse_them(kind: str, tmp_path: Path):
    model = trained(kind, tmp_path / kind)
    forest = next(iter(read(CORPUS / "zh.jsonl")))
    _, both = respelt(forest, 0, "未知")
    problem = "the input is a forest with a lattice, which this kind of model does not translate"
    assert model.translate(both).problem == problem
    with pytest.raises(UsageError, match=f"a {kind} model translates no forests"):
        list(model.read(CORPUS / "zh.txt", lattices=tmp_path / "in.lattice"))
