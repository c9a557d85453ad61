"""The models of forests, trained on the sample treebank and asked for translations."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from treeglot import sample
from treeglot.base.errors import FormatError
from treeglot.base.files import read_json
from treeglot.cli import main
from treeglot.corpus import Corpus
from treeglot.lm import load_dependency
from treeglot.models import load, train
from treeglot.models.c2d import C2D_KINDS
from treeglot.models.kinds import find_kind
from treeglot.models.learn import Learner
from treeglot.rules.find import ill_formed_phrases
from treeglot.syntax import Alignment, heads, write
from treeglot.syntax.constituents import to_dependencies
from treeglot.syntax.formats import read_forests, read_text

PAIRS = 120


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpus")
    parts = sample.split(sample.read_pairs(PAIRS))
    pairs = parts["train"]
    # Forests of a parser that was trained, as users have them: some of their best trees are wrong.
    write(folder / "zh.forest.jsonl", sample.forests(parts, cycles=1)["train"])
    write(folder / "zh.tree", [pair.source_tree for pair in pairs])
    write(folder / "en.tree", [pair.target_tree for pair in pairs])
    write(folder / "en.conllu", to_dependencies([pair.target_tree for pair in pairs], heads.load("english")))
    write(folder / "en.txt", [pair.target for pair in pairs])
    write(folder / "links.align", [pair.alignment for pair in pairs])
    return folder


def files(corpus: Path, target: str = "target_trees") -> Corpus:
    name = {"target_trees": "en.tree", "target_dependencies": "en.conllu"}[target]
    given = {"source_forests": corpus / "zh.forest.jsonl", "alignments": corpus / "links.align", target: corpus / name}
    return Corpus(**given)


@pytest.mark.parametrize("kind", [kind.name for kind in C2D_KINDS])
def test_each_kind_is_trained_and_translates_what_it_was_trained_on(kind: str, corpus: Path, tmp_path: Path) -> None:
    model = train(kind, files(corpus), tmp_path / "model")
    assert not model.translator.unknown_weights
    features = set(model.translator.features)
    assert features >= {"p_target_given_source", "p_source_given_target", "p_rule_given_root", "lm", "parse"}
    assert features >= {"lex_source_given_target", "lex_target_given_source", "rule_penalty", "word_penalty"}
    trees = kind in ("c2d", "c2d-s2d")
    assert ({"dlm_words", "dlm_tags", "ill_formed"} <= features) is trees

    references = [" ".join(words) for words in read_text(corpus / "en.txt")]
    found = model.translate_batch(model.read(corpus / "zh.forest.jsonl"), threads=2)
    right = sum(t.text == reference for t, reference in zip(found, references, strict=True))
    assert right > len(references) * 0.4
    assert not any(t.notes or t.problem for t in found)
    for translation in found:
        assert (translation.dependency is not None) is trees


def test_every_output_of_c2d_has_a_projective_tree_that_scores_what_the_list_says(corpus: Path, tmp_path: Path) -> None:
    model = train("c2d", files(corpus), tmp_path / "model")
    words, tags = (load_dependency(tmp_path / "model" / f"dlm.{unit}.bin") for unit in ("words", "tags"))
    forests = list(read_forests(corpus / "zh.forest.jsonl"))[:25]
    checked = 0
    for translation in model.translate_batch(forests, kbest=10):
        for hypothesis in translation.hypotheses:
            tree = hypothesis.dependency
            assert tree is not None
            assert " ".join(tree.words) == hypothesis.text
            assert tree.is_projective()
            for name, dependency_model in (("dlm_words", words), ("dlm_tags", tags)):
                score = dependency_model.score(tree) * math.log(10)
                assert hypothesis.features[name] == pytest.approx(score, abs=1e-3)
            checked += 1
    assert checked > 100


def test_target_dependencies_serve_as_target_trees_do(corpus: Path, tmp_path: Path) -> None:
    for target in ("target_trees", "target_dependencies"):
        train("c2d", files(corpus, target), tmp_path / target)
    rules, others = (
        sorted(pq.read_table(tmp_path / target / "rules.parquet").to_pylist(), key=str)
        for target in ("target_trees", "target_dependencies")
    )
    assert rules
    assert rules == others


def test_t2s_takes_trees_and_the_best_trees_of_forests(corpus: Path, tmp_path: Path) -> None:
    given = Corpus(source_trees=corpus / "zh.tree", target=corpus / "en.txt", alignments=corpus / "links.align")
    model = train("t2s", given, tmp_path / "model")
    [first, *_] = model.read(corpus / "zh.forest.jsonl")
    assert not isinstance(first, str)
    assert first.count() == 1  # type: ignore[union-attr]
    assert model.translate(first).text


def test_training_and_translating_by_command(corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["train", "c2d", "--source-forests", "zh.forest.jsonl", "--target-trees", "en.tree"]
    command += ["--alignments", "links.align"]
    command = [str(corpus / part) if "." in part else part for part in command]
    assert main([*command, "-o", str(tmp_path / "model")]) == 0
    lines = (corpus / "zh.forest.jsonl").read_text().splitlines()
    some = tmp_path / "some.jsonl"
    some.write_text("\n".join(lines[:3]) + "\n")
    capsys.readouterr()
    assert main(["translate", str(tmp_path / "model"), str(some)]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 3
    text = tmp_path / "some.zh"
    text.write_text("他 来 了\n")
    assert main(["translate", str(tmp_path / "model"), str(text)]) == 0
    assert "no parse, translated by phrases and glue: 1 of 1 sentences" in capsys.readouterr().err


def test_phrases_are_parsed_by_commands(corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The commands of docs/forests.md: all ill-formed phrases of the first model have structures in the second."""
    trees = ["--source-forests", corpus / "zh.forest.jsonl", "--target-trees", corpus / "en.tree"]
    command = ["train", "c2d", *trees, "--alignments", corpus / "links.align"]
    phrases = tmp_path / "phrases"
    parser = ["parser", "train", corpus / "en.tree", "--cycles", 0, "--out", tmp_path / "grammar"]
    for each in (
        [*command, "--out", tmp_path / "plain"],
        parser,
        ["analyse", "ill-formed", tmp_path / "plain", "--out", phrases],
        ["parse", tmp_path / "grammar", phrases, "--trees", "--to", "brackets", "--out", f"{phrases}.tree"],
        ["convert", f"{phrases}.tree", f"{phrases}.conllu", "--heads", "english"],
        [*command, "--set", f"extract.phrase_dependencies={phrases}.conllu", "--out", tmp_path / "parsed"],
    ):
        assert main(list(map(str, each))) == 0
    before, after = (read_json(tmp_path / name / "extraction.json")["counts"] for name in ("plain", "parsed"))
    ill_formed = before["phrases"] - before["phrases_well_formed"]
    assert after == before | {"phrases_parsed": ill_formed}
    assert ill_formed > 0
    said = f"{ill_formed:,} ill-formed phrases have the structures of their own parses, 0 have none"
    assert said in capsys.readouterr().err
    assert phrases.read_text().splitlines() == ill_formed_phrases(tmp_path / "plain/rules.parquet")
    assert ill_formed_phrases(tmp_path / "parsed/rules.parquet") == []
    model = load(tmp_path / "parsed")
    assert all(found.text for found in model.translate_batch(model.read(corpus / "zh.forest.jsonl")))
    assert main(["analyse", "ill-formed", str(corpus)]) == 2
    assert "has no rules.parquet" in capsys.readouterr().err
    Path(f"{phrases}.conllu").unlink()  # a model learns without it
    assert Learner(model).rules.options.phrase_dependencies is None
    assert Learner(model).options.extract.phrase_dependencies is not None
    capsys.readouterr()
    again = [*map(str, command), "--out", str(tmp_path / "again"), "--set"]
    for kind, problem in (("c2d", "and there is no such file"), ("c2s", "they are of rules that keep structures")):
        assert main(["train", kind, *again[2:], f"extract.phrase_dependencies={phrases}.conllu"]) == 2
        assert f"extract.phrase_dependencies is {phrases}.conllu" in (said := capsys.readouterr().err)
        assert problem in said


def test_bad_corpora_are_refused(corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    links = [Alignment.parse(line) for line in (corpus / "links.align").read_text().splitlines()]
    links[4] = Alignment.parse("0-0 99-0")
    write(tmp_path / "outside.align", links)
    with pytest.raises(FormatError, match=r"outside\.align:5: link 99-0: the source sentence has \d+ words"):
        train(
            "c2s",
            Corpus(
                source_forests=corpus / "zh.forest.jsonl",
                target=corpus / "en.txt",
                alignments=tmp_path / "outside.align",
            ),
            tmp_path / "model",
        )
    swapped = (corpus / "en.txt").read_text().splitlines()
    swapped[2] = swapped[2] + " more"
    (tmp_path / "longer.txt").write_text("\n".join(swapped) + "\n")
    with pytest.raises(FormatError, match=r"en\.tree: tree 3: it has \d+ words; its sentence in .*longer\.txt has \d+"):
        train("c2d", replace(files(corpus), target=tmp_path / "longer.txt"), tmp_path / "model")
    options = tmp_path / "options.toml"
    options.write_text('[extract]\nphrases = "none"\n')
    arguments = ["--source-forests", corpus / "zh.forest.jsonl", "--target-trees", corpus / "en.tree"]
    arguments += ["--alignments", corpus / "links.align", "-o", tmp_path / "model", "--options", options]
    assert main(["train", "c2d", *map(str, arguments)]) == 2
    assert "extract.phrases is 'none'; the rules of c2d have 'all'" in capsys.readouterr().err


def test_options_keep_the_kinds_rules(corpus: Path, tmp_path: Path) -> None:
    from treeglot.rules.ghkm import GhkmOptions

    small = train(
        "c2d", files(corpus), tmp_path / "small", find_kind("c2d").options(extract=GhkmOptions(max_composed=1))
    )
    large = train("c2d", files(corpus), tmp_path / "large")
    assert 0 < len(small.translator.table) < len(large.translator.table)
    [first, *_] = small.read(corpus / "zh.forest.jsonl")
    assert small.translate(first).dependency is not None
