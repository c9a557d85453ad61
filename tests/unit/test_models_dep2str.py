"""The dependency-to-string models, trained on the sample treebank and asked for translations."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from treeglot import sample
from treeglot.base.errors import UsageError
from treeglot.cli import main
from treeglot.corpus import Corpus
from treeglot.decode import Translator
from treeglot.models import train
from treeglot.models.dep2str import DEP2STR_KINDS
from treeglot.syntax import Dependency, heads, write
from treeglot.syntax.constituents import to_dependencies
from treeglot.syntax.formats import read_forests, read_text

SEVEN = {
    "p_target_given_source",
    "p_source_given_target",
    "lex_target_given_source",
    "lex_source_given_target",
    "rule_penalty",
    "lm",
    "word_penalty",
}
OTHERS = {"pseudo", "preferred", "lattice", "glue", "unknown", "lm_unknown"}  # what it takes to translate any input


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpus")
    parts = sample.split(sample.read_pairs(120))
    pairs = parts["train"]
    write(folder / "zh.forest.jsonl", sample.forests(parts, cycles=1)["train"])
    write(folder / "zh.tree", [pair.source_tree for pair in pairs])
    table = heads.load(DEP2STR_KINDS[0].options().source_heads)
    write(folder / "zh.conllu", to_dependencies([pair.source_tree for pair in pairs], table))
    write(folder / "zh.txt", [pair.source for pair in pairs])
    write(folder / "en.txt", [pair.target for pair in pairs])
    write(folder / "links.align", [pair.alignment for pair in pairs])
    return folder


def files(corpus: Path, **source: str) -> Corpus:
    given = {name: corpus / file for name, file in source.items()}
    return Corpus(target=corpus / "en.txt", alignments=corpus / "links.align", **given)


@pytest.mark.parametrize("kind", [kind.name for kind in DEP2STR_KINDS])
def test_each_kind_is_trained_and_translates_what_it_was_trained_on(kind: str, corpus: Path, tmp_path: Path) -> None:
    model = train(kind, files(corpus, source_dependencies="zh.conllu"), tmp_path / "model")
    assert not model.translator.unknown_weights
    four = {f"phrase_{name}" for name in SEVEN if name.startswith(("p_", "lex_"))}
    assert set(model.translator.features) == SEVEN | OTHERS | (four if kind == "dep2str-aug" else set())
    counts = json.loads((model.directory / "extraction.json").read_text())["counts"]
    assert (counts["gappy"] > 0) == (kind == "dep2str-aug")
    search = model.translator.options
    assert (search.beam, search.per_source, search.threshold) == (200, 100, 6.9)

    references = [" ".join(words) for words in read_text(corpus / "en.txt")]
    found = model.translate_batch(model.read(corpus / "zh.conllu"), threads=2)
    right = sum(t.text == reference for t, reference in zip(found, references, strict=True))
    assert right > len(references) * 0.4
    assert not any(t.problem for t in found)
    assert {note for t in found for note in t.notes} <= {"more combinations of structures than max_combinations"}


def test_trees_forests_and_dependencies_serve_alike(corpus: Path, tmp_path: Path) -> None:
    made = {
        name: train("dep2str", files(corpus, **{name: file}), tmp_path / name)
        for name, file in (("source_dependencies", "zh.conllu"), ("source_trees", "zh.tree"))
    }
    assert len({len(model.translator.table) for model in made.values()}) == 1
    model = made["source_trees"]
    texts = [[t.text for t in model.translate_batch(model.read(corpus / f))] for f in ("zh.conllu", "zh.tree")]
    assert texts[0] == texts[1]
    # A file of another kind holds sentences: phrases and glue.
    with pytest.warns(UserWarning, match="it has no parser"):
        lines = model.translate_batch(model.read(corpus / "zh.txt"))
    assert all(t.text and t.notes == ("without a tree: translated with phrases and glue",) for t in lines)
    from_forests = model.translate_batch(model.read(corpus / "zh.forest.jsonl"))
    assert not any(t.notes or t.problem for t in from_forests)


@pytest.mark.parametrize("kind", [kind.name for kind in DEP2STR_KINDS])
def test_several_trees_of_a_forest_are_searched_together(kind: str, corpus: Path, tmp_path: Path) -> None:
    """The best derivations are those of all trees, translated one by one; `parse` is the log probability of a tree."""
    model = train(kind, files(corpus, source_trees="zh.tree"), tmp_path / "model").translator
    exact = replace(model.options, pop_limit=0, beam=0, threshold=0.0)
    assert "parse" not in model.features
    forests = [f for f in read_forests(corpus / "zh.forest.jsonl") if 3 <= len(f.words) <= 6 and f.count() > 2][:12]
    assert len(forests) > 5
    table = heads.load(DEP2STR_KINDS[0].options().source_heads)
    several, chosen = 0, 0
    for weight in (0.0, 0.5, -0.5):
        weights = model.weights | {"parse": weight}
        together = Translator(model.table, weights, model.lm, replace(exact, dependency_trees=3), model.setup)
        alone = Translator(model.table, model.weights, model.lm, exact, model.setup)
        for forest in forests:
            trees: dict[tuple[int, ...], tuple[float, Dependency]] = {}
            for score, tree in forest.conditional().kbest(30):
                made = to_dependencies([tree], table)[0]
                trees.setdefault((*made.heads.tolist(), *made.tags), (score, made))  # type: ignore[misc]
            expected = []
            for score, tree in [*trees.values()][:3]:
                listed = alone.translate(tree).kbest(20)
                expected += [(h.score + weight * score, h.text, score) for h in listed]
            expected.sort(key=lambda each: -each[0])
            found = together.translate(forest).kbest(20)
            several += len(trees) > 1
            chosen += expected[0][2] < max(score for score, _ in trees.values())
            assert len(found) == min(20, len(expected))
            assert [h.score for h in found] == pytest.approx([each[0] for each in expected[: len(found)]], abs=1e-4)
            used = found[0].features.get("parse", 0.0)
            assert any(used == pytest.approx(score, abs=1e-4) for _, _, score in expected)
    assert several > 10
    assert chosen > 0


def test_the_command_line_trains_translates_and_tunes(corpus: Path, tmp_path: Path, capfd) -> None:
    folder = tmp_path / "model"
    files = [
        "--source-trees",
        corpus / "zh.tree",
        "--target",
        corpus / "en.txt",
        "--alignments",
        corpus / "links.align",
    ]
    assert main(["train", "dep2str-aug", *map(str, files), "--out", str(folder), "--quiet"]) == 0
    dev = ["--dev", str(corpus / "zh.conllu"), "--refs", str(corpus / "en.txt")]
    assert main(["tune", str(folder), *dev, "--iterations", "1", "--kbest", "5", "--quiet"]) == 0
    capfd.readouterr()
    assert main(["translate", str(folder), str(corpus / "zh.conllu"), "--json", "--trace"]) == 0
    out = [json.loads(line) for line in capfd.readouterr().out.splitlines()]
    assert len(out) == len((corpus / "en.txt").read_text().splitlines())
    assert out[0]["derivation"][0]["label"] == "S"


def test_failed_trees_of_a_file_are_counted(corpus: Path, tmp_path: Path, capfd) -> None:
    folder = tmp_path / "model"
    train("dep2str", files(corpus, source_trees="zh.tree"), folder)
    first = (corpus / "zh.tree").read_text().splitlines()[0]
    (tmp_path / "some.tree").write_text(f"(())\n{first}\n()\n")
    assert main(["translate", str(folder), str(tmp_path / "some.tree"), "--html", str(tmp_path / "page.html")]) == 0
    out, err = capfd.readouterr()
    assert [bool(line) for line in out.split("\n")] == [False, True, False, False]
    assert "a failed parse, without words: 2 of 3 sentences\n" in err
    assert ">root<" in (tmp_path / "page.html").read_text()


def test_files_that_are_missing_are_named(corpus: Path, tmp_path: Path) -> None:
    wanted = "--source-dependencies or --source-trees or --source-forests; none was given"
    with pytest.raises(UsageError, match=f"^a dep2str model is trained with {wanted}$"):
        train("dep2str", files(corpus, source="zh.txt"), tmp_path / "model")


def test_training_says_how_many_rules_are_too_long_for_the_table(tmp_path: Path, capfd) -> None:
    width = 260  # of a relation: its rules have that many symbols
    words = " ".join(["a"] * width)
    write(tmp_path / "zh.conllu", [Dependency(words.split(), [-1, *([0] * (width - 1))], ["A"] * width)])
    (tmp_path / "en.txt").write_text(words + "\n")
    (tmp_path / "links.align").write_text(" ".join(f"{i}-{i}" for i in range(width)) + "\n")
    given = ["--source-dependencies", "zh.conllu", "--target", "en.txt", "--alignments", "links.align"]
    named = [part if part.startswith("--") else str(tmp_path / part) for part in given]
    assert main(["train", "dep2str", *named, "-o", str(tmp_path / "model")]) == 0
    assert "rule table compiled; 4 rules with a side of more than 255 symbols left out\n" in capfd.readouterr().err
