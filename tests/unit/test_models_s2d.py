"""String-to-dependency models, trained on the sample treebank and asked for translations."""

import math
from pathlib import Path

import pytest

from treeglot import sample
from treeglot.cli import main
from treeglot.corpus import Corpus
from treeglot.lm import load_dependency
from treeglot.lm.train_dependency import Conditioning, DependencyLmOptions
from treeglot.models import load, train
from treeglot.models.kinds import find_kind
from treeglot.syntax import Dependency, heads, write
from treeglot.syntax.constituents import to_dependencies
from treeglot.syntax.formats import read_dependencies

pytestmark = pytest.mark.filterwarnings("ignore::treeglot.lm.train.DiscountWarning")  # small data
FILES = {"source": "zh.txt", "target": "en.txt", "alignments": "links.align", "target_trees": "en.tree"}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpus")
    pairs = sample.read_pairs(120)
    write(folder / "zh.txt", [pair.source_tree.words for pair in pairs])
    write(folder / "en.txt", [pair.target_tree.words for pair in pairs])
    write(folder / "links.align", [pair.alignment for pair in pairs])
    trees = [pair.target_tree for pair in pairs]
    write(folder / "en.tree", trees)
    write(folder / "en.conllu", to_dependencies(trees, heads.load("english")), tags="xpos")
    return folder


@pytest.mark.parametrize(("kind", "conditioning"), [("s2d", "sibling"), ("s2d", "trigram"), ("s2d-pos", "trigram")])
def test_output_is_a_string_and_the_tree_that_the_models_scored(
    kind: str, conditioning: Conditioning, corpus: Path, tmp_path: Path
) -> None:
    lines: list[str] = []
    files = Corpus(**{name: corpus / file for name, file in FILES.items()})
    options = find_kind(kind).options(dependency_lm=DependencyLmOptions(conditioning))
    model = train(kind, files, tmp_path, options, report=lines.append)
    assert any("phrases refused for their structures, 0 sentences without a tree" in line for line in lines)
    sources = (corpus / "zh.txt").read_text().splitlines()
    references = (corpus / "en.txt").read_text().splitlines()
    found = model.translate_batch(sources, threads=2)
    assert sum(t.text == reference for t, reference in zip(found, references, strict=True)) > len(sources) * 0.6
    scored = {"dlm_words": load_dependency(tmp_path / "dlm.words.bin")}
    if kind == "s2d-pos":
        scored["dlm_tags"] = load_dependency(tmp_path / "dlm.tags.bin")
    assert set(model.weights) >= set(scored)
    assert {dependency_model.conditioning for dependency_model in scored.values()} == {conditioning}
    for best in found:
        assert best.dependency is not None
        assert best.dependency.words == best.text.split()
        for name, dependency_model in scored.items():
            expected = dependency_model.score(best.dependency) * math.log(10)
            assert best.features[name] == pytest.approx(expected, abs=1e-3)


def test_most_words_come_back_with_the_head_they_had(corpus: Path, tmp_path: Path) -> None:
    model = train("s2d", Corpus(**{name: corpus / file for name, file in FILES.items()}), tmp_path)
    pairs = sample.read_pairs(120)
    gold = to_dependencies([pair.target_tree for pair in pairs], heads.load("english"))
    same = total = 0
    for pair, tree in zip(pairs, gold, strict=True):
        best = model.translate(" ".join(pair.source_tree.words))
        if best.dependency is not None and best.dependency.words == tree.words:
            total += len(tree)
            same += int((best.dependency.heads == tree.heads).sum())
    assert total > 600
    assert same > 0.85 * total  # what is glued has a root of its own


def test_dependencies_serve_as_trees_do(corpus: Path, tmp_path: Path) -> None:
    def arguments(out: str, *trees: str) -> list[str]:
        files = {"--source": "zh.txt", "--target": "en.txt", "--alignments": "links.align"}
        named = [part for key, name in files.items() for part in (key, str(corpus / name))]
        return ["train", "s2d", *named, *trees, "-o", str(tmp_path / out)]

    assert main(arguments("trees", "--target-trees", str(corpus / "en.tree"))) == 0
    assert main(arguments("dependencies", "--target-dependencies", str(corpus / "en.conllu"))) == 0
    for name in ("dlm.words.bin", "lm.bin"):
        assert (tmp_path / "trees" / name).read_bytes() == (tmp_path / "dependencies" / name).read_bytes()
    line = (corpus / "zh.txt").read_text().splitlines()[0]
    first, second = (load(tmp_path / name).translate(line) for name in ("trees", "dependencies"))
    assert first.text == second.text


@pytest.mark.parametrize("kind", ["s2d", "s2d-pos"])
def test_a_failed_parse_as_conll_has_it(kind: str, corpus: Path, tmp_path: Path) -> None:
    """Words without heads and tags: the sentence has no tree, and gives no rules."""
    trees = list(read_dependencies(corpus / "en.conllu", tags="xpos"))
    trees[0] = Dependency(trees[0].words, [Dependency.NO_HEAD] * len(trees[0]))
    write(tmp_path / "en.conllu", trees)
    lines: list[str] = []
    files = {name: corpus / file for name, file in FILES.items() if name != "target_trees"}
    train(kind, Corpus(**files, target_dependencies=tmp_path / "en.conllu"), tmp_path / "model", report=lines.append)
    assert any("phrases refused for their structures, 1 sentences without a tree" in line for line in lines)


def test_trees_are_needed(corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = ["--source", "zh.txt", "--target", "en.txt", "--alignments", "links.align"]
    files = [part if part.startswith("--") else str(corpus / part) for part in given]
    assert main(["train", "s2d", *files, "-o", str(tmp_path)]) != 0
    assert "a s2d model is trained with --target-trees or --target-dependencies; none was given" in (
        capsys.readouterr().err.replace("\n", " ")
    )
