"""Corpora for the models of parses that are not as they should be: what is refused, what is mended and counted."""

from __future__ import annotations

import itertools
import subprocess
import sys
import warnings
from dataclasses import replace
from pathlib import Path

import pytest

from treeglot import Dependency, FormatError, Tree, UsageError, sample
from treeglot.cli.output import shown_warnings
from treeglot.corpus import Corpus, Needs
from treeglot.corpus.pairs import PairCounts
from treeglot.lm.train import DiscountWarning
from treeglot.models import Model, load, train
from treeglot.models.kinds import find_kind
from treeglot.syntax import heads, write
from treeglot.syntax.constituents import to_dependencies
from treeglot.syntax.formats import read_dependencies, read_forests, read_trees

SHARED = Path(__file__).parents[2].parent / "shared/data"
PAIRS = 120


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpus")
    parts = sample.split(sample.read_pairs(PAIRS))
    pairs = parts["train"]
    write(folder / "zh.jsonl", sample.forests(parts, cycles=1)["train"])
    write(folder / "zh.conllu", to_dependencies([pair.source_tree for pair in pairs], heads.load("chinese")))
    write(folder / "zh.tree", [pair.source_tree for pair in pairs])
    write(folder / "zh.txt", [pair.source for pair in pairs])
    write(folder / "en.tree", [pair.target_tree for pair in pairs])
    write(folder / "en.conllu", to_dependencies([pair.target_tree for pair in pairs], heads.load("english")))
    write(folder / "en.txt", [pair.target for pair in pairs])
    write(folder / "links.align", [pair.alignment for pair in pairs])
    return folder


@pytest.fixture(scope="module")
def corpus(folder: Path) -> Corpus:
    return Corpus(
        source_forests=folder / "zh.jsonl",
        target_dependencies=folder / "en.conllu",
        target=folder / "en.txt",
        alignments=folder / "links.align",
    )


@pytest.fixture(scope="module")
def models(folder: Path, corpus: Corpus, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Model]:
    out = tmp_path_factory.mktemp("models")
    trees = Corpus(source_dependencies=folder / "zh.conllu", target=corpus.target, alignments=corpus.alignments)
    return {"c2d": train("c2d", corpus, out / "c2d"), "dep2str": train("dep2str", trees, out / "dep2str")}


@pytest.mark.parametrize("kind", ["c2d", "dep2str"])
def test_a_forest_without_a_parse_is_translated_by_phrases_and_glue(
    kind: str, models: dict[str, Model], folder: Path, tmp_path: Path
) -> None:
    model = models[kind]
    words = next(read_forests(folder / "zh.jsonl")).words
    path = tmp_path / "some.forest"
    path.write_text(f"sentence 1 :\n{' '.join(words)}\n\n\n")
    [first] = model.read(path)
    assert not isinstance(first, str)
    assert first.words == words
    translation = model.translate(first)
    assert translation.text
    assert any("phrases and glue" in note for note in translation.notes)


def test_words_with_other_spaces_in_them_keep_their_places(models: dict[str, Model], tmp_path: Path) -> None:
    from treeglot.decode.draw import to_html

    source = "10\u00a0000 人\u3000们"
    with pytest.warns(UserWarning, match="it has no parser"):
        translation = models["c2d"].translate(source)
    tree = translation.dependency
    assert tree is not None
    assert " ".join(tree.words) == translation.text
    assert "10\u00a0000" in tree.words
    assert to_html(translation, source).count("10\u00a0000") >= 2


def target_dependencies(corpus: Corpus, **needs: bool) -> tuple[list[Dependency], PairCounts]:
    pairs = corpus.pairs(Needs(target="dependency", **needs))
    return [pair.target_dependency for pair in pairs if pair.target_dependency is not None], pairs.counts


def crossed(tree: Dependency) -> Dependency:
    """The same with the first word on the last, the others on the first: arcs cross from four words on."""
    return Dependency(tree.words, [2, -1, 1, 0, *[1] * (len(tree) - 4)], tree.tags)


def test_crossing_arcs_are_lifted_counted_and_translated(folder: Path, corpus: Corpus, tmp_path: Path) -> None:
    trees = list(read_dependencies(folder / "en.conllu"))
    bent = [crossed(tree) if len(tree) >= 4 else tree for tree in trees]
    bad = sum(not tree.is_projective() for tree in bent)
    assert bad > 10
    write(tmp_path / "bent.conllu", bent)
    given = replace(corpus, target_dependencies=tmp_path / "bent.conllu")
    lifted, counts = target_dependencies(given)
    assert all(tree.is_projective() for tree in lifted)
    assert counts.lifted == bad
    said: list[str] = []
    model = train("c2d", given, tmp_path / "model", report=said.append)
    assert f"{bad:,} target dependency trees were not projective, and were made so" in said
    found = model.translate_batch(model.read(folder / "zh.jsonl"))
    assert not any(translation.problem for translation in found)
    assert all(translation.text for translation in found)


def test_numbers_of_records_differ(folder: Path, corpus: Corpus, tmp_path: Path) -> None:
    lines = (folder / "en.tree").read_text().splitlines(keepends=True)
    (tmp_path / "long.tree").write_text("".join([*lines, lines[0]]))
    (tmp_path / "short.tree").write_text("".join(lines[:-1]))
    records = (folder / "zh.jsonl").read_text().splitlines(keepends=True)
    (tmp_path / "long.jsonl").write_text("".join([*records, records[0]]))
    number = len(lines)
    trees = replace(corpus, target_dependencies=None)
    for name, file, problem in (
        ("long.tree", "en.txt", rf"zh\.jsonl: has {number} records, fewer than .*long\.tree"),
        ("short.tree", "en.txt", rf"short\.tree: has {number - 1} records, fewer than .*zh\.jsonl"),
    ):
        with pytest.raises(FormatError, match=problem):
            train("c2d", replace(trees, target_trees=tmp_path / name, target=folder / file), tmp_path / "model")
    with pytest.raises(FormatError, match=rf"zh\.txt: has {number} records, fewer than .*long\.jsonl"):
        given = replace(trees, source=folder / "zh.txt", source_forests=tmp_path / "long.jsonl")
        train("c2s", given, tmp_path / "model")


def test_the_words_of_target_trees_are_the_texts(folder: Path, corpus: Corpus, tmp_path: Path) -> None:
    lines = [line.split(" ") for line in (folder / "en.txt").read_text().splitlines()]
    first = lines[1][0]
    lines[1][0] = "other"
    (tmp_path / "other.txt").write_text("".join(" ".join(line) + "\n" for line in lines))
    given = replace(corpus, target=tmp_path / "other.txt")
    with pytest.raises(FormatError, match=rf"en\.conllu: tree 2: word 1 is '{first}'; in .*other\.txt it is 'other'"):
        train("c2d", given, tmp_path / "model")
    said: list[str] = []
    train("c2d", given, tmp_path / "model", find_kind("c2d").options(skip_bad=True), report=said.append)
    assert "1 target parses were left out: their words are not the text's" in said

    lines[1][0] = first.upper()
    (tmp_path / "upper.txt").write_text("".join(" ".join(line) + "\n" for line in lines))
    trees, _ = target_dependencies(replace(corpus, target=tmp_path / "upper.txt"))
    assert trees[1].words == lines[1]


def test_escaped_brackets_are_brackets(tmp_path: Path) -> None:
    write(tmp_path / "en.tree", [Tree.parse("(S (-LRB- -LRB-) (NN House) (-RRB- -RRB-))")])
    (tmp_path / "en.txt").write_text("( house )\n")
    (tmp_path / "links.align").write_text("\n")
    files = {"source": tmp_path / "en.txt", "target": tmp_path / "en.txt", "alignments": tmp_path / "links.align"}
    trees, _ = target_dependencies(Corpus(target_trees=tmp_path / "en.tree", **files))
    assert [tree.words for tree in trees] == [["(", "house", ")"]]


@pytest.mark.skipif(not (SHARED / "zh-en").is_dir(), reason="shared/data/zh-en is absent")
def test_real_trees_have_the_texts_words() -> None:
    data = SHARED / "zh-en"
    given = Corpus(
        source=data / "train.zh",
        target=data / "train.lc.en",
        alignments=data / "train.gdfa",
        target_trees=data / "train.en.tree.xz",
    )
    pairs = itertools.islice(given.pairs(Needs(target="dependency", tags=True)), 5000)
    assert sum(len(pair.target_dependency or ()) > 0 for pair in pairs) > 4990


def test_source_words_that_differ_name_the_file_or_are_skipped(folder: Path, corpus: Corpus, tmp_path: Path) -> None:
    lines = (folder / "zh.txt").read_text().splitlines()
    lines[2] = " ".join(["别", *lines[2].split(" ")[1:]])
    (tmp_path / "other.txt").write_text("\n".join(lines) + "\n")
    given = replace(corpus, source=tmp_path / "other.txt")
    with pytest.raises(FormatError, match=r"zh\.jsonl: forest 3: word 1 is '.*'; in line 3 of .*other\.txt it is '别'"):
        train("c2s", given, tmp_path / "model")
    options, said = tmp_path / "options.toml", list[str]()
    options.write_text("skip_bad = true\n")
    from treeglot.base.options import load_options

    train("c2s", given, tmp_path / "model", load_options(find_kind("c2s").options, options), report=said.append)
    assert "1 source parses were left out: their words are not the text's" in said


def test_files_of_another_kind_are_refused_before_the_work(folder: Path, corpus: Corpus, tmp_path: Path) -> None:
    def refused(problem: str, kind: str = "c2d", options: object = None, **files: Path) -> None:
        given = replace(corpus, **files)  # type: ignore[arg-type]
        with pytest.raises((UsageError, FormatError), match=problem):
            train(kind, given, tmp_path / "model", options)
        assert not (tmp_path / "model/extraction.json").exists()

    refused(
        r"--target-dependencies .*en\.tree: the format brackets holds trees", target_dependencies=folder / "en.tree"
    )
    refused("the format conllu holds dependencies, not forests or trees", source_forests=folder / "zh.conllu")
    untagged = [Dependency(tree.words, tree.heads.tolist()) for tree in read_dependencies(folder / "en.conllu")]
    write(tmp_path / "untagged.conllu", untagged)
    refused(r"untagged\.conllu: tree 1: it has no tags", target_dependencies=tmp_path / "untagged.conllu")
    refused("klingon", options=find_kind("c2d").options(source_heads="klingon"))


def test_input_of_another_kind_is_refused(models: dict[str, Model], folder: Path) -> None:
    with pytest.raises(UsageError, match=r"en\.conllu is in the format conllu: dependencies; the model"):
        list(models["c2d"].read(folder / "en.conllu"))
    with pytest.raises(UsageError, match=r"links\.align is in the format pharaoh: alignments"):
        list(models["dep2str"].read(folder / "links.align"))


def test_the_format_can_be_told(models: dict[str, Model], folder: Path, tmp_path: Path) -> None:
    (tmp_path / "forests").write_bytes((folder / "zh.jsonl").read_bytes())
    told = list(models["c2d"].read(tmp_path / "forests", "jsonl"))
    assert [source.words for source in told] == [f.words for f in read_forests(folder / "zh.jsonl")]  # type: ignore[union-attr]
    assert isinstance(next(models["c2d"].read(tmp_path / "forests")), str)


def test_dependencies_of_a_string_model_are_refused_before_output(
    models: dict[str, Model], folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from treeglot.cli import main

    model = load(models["dep2str"].directory)
    assert not model.translator.makes_trees
    assert models["c2d"].translator.makes_trees
    arguments = [str(model.directory), str(folder / "zh.conllu"), "--dependencies", str(tmp_path / "out.conllu")]
    assert main(["translate", *arguments]) == 2
    out, err = capsys.readouterr()
    assert not out
    assert "the model makes no dependency trees" in err


@pytest.mark.parametrize("kind", ["c2d", "dep2str", "s2d", "t2t-fuzzy"])
def test_training_opens_each_file_of_the_corpus_once(kind: str, folder: Path, tmp_path: Path) -> None:
    files = {"source": "zh.txt", "target": "en.txt", "alignments": "links.align"}
    files |= {
        "c2d": {"source_forests": "zh.jsonl", "target_trees": "en.tree"},
        "dep2str": {"source_dependencies": "zh.conllu"},
        "s2d": {"target_trees": "en.tree"},
        "t2t-fuzzy": {"source_trees": "zh.tree", "target_trees": "en.tree"},
    }[kind]
    program = (
        "import collections, pathlib, sys\n"
        "kind, out, *given = sys.argv[1:]\n"
        "opened = collections.Counter()\n"
        "sys.addaudithook(lambda event, given: opened.update([str(given[0])] if event == 'open' else []))\n"
        "from treeglot.corpus import Corpus; from treeglot.models import train\n"
        "files = dict(zip(given[::2], map(pathlib.Path, given[1::2])))\n"
        "train(kind, Corpus(**files), out)\n"
        "print([opened[str(path)] for path in files.values()])\n"
    )
    given = [part for name, file in files.items() for part in (name, str(folder / file))]
    command = [sys.executable, "-W", "ignore", "-c", program, kind, str(tmp_path / "model"), *given]
    ended = subprocess.run(command, capture_output=True, text=True, check=True)
    assert ended.stdout == f"{[1] * len(files)}\n"


def test_warnings_name_the_users_file(folder: Path, corpus: Corpus, tmp_path: Path) -> None:
    few = {}
    for field, name in (("source_forests", "zh.jsonl"), ("alignments", "links.align")):
        (tmp_path / name).write_text("".join((folder / name).read_text().splitlines(keepends=True)[:2]))
        few[field] = tmp_path / name
    write(tmp_path / "en.tree", list(read_trees(folder / "en.tree"))[:2])
    given = Corpus(**few, target_trees=tmp_path / "en.tree")
    with pytest.warns(DiscountWarning) as caught:
        train("c2d", given, tmp_path / "model")
    assert {str(warning.message).split(": ")[0] for warning in caught} == {str(tmp_path / "en.tree")}


def test_a_run_shows_warnings_once_and_without_a_place(capsys: pytest.CaptureFixture[str]) -> None:
    with shown_warnings():
        for _ in range(2):
            warnings.warn("en.tree: too small", DiscountWarning, stacklevel=1)
    assert capsys.readouterr().err == "warning: en.tree: too small\n"


def test_strings_to_dependencies_lift_crossing_arcs_too(folder: Path, corpus: Corpus, tmp_path: Path) -> None:
    trees = list(read_dependencies(folder / "en.conllu"))
    write(tmp_path / "bent.conllu", [crossed(tree) if len(tree) >= 4 else tree for tree in trees])
    given = replace(corpus, source_forests=None, source=folder / "zh.txt", target_dependencies=tmp_path / "bent.conllu")
    said: list[str] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DiscountWarning)  # small data
        model = train("s2d", given, tmp_path / "model", report=said.append)
    assert any("target dependency trees were not projective, and were made so" in line for line in said)
    found = model.translate_batch(model.read(folder / "zh.txt"))
    assert not any(translation.problem for translation in found)


@pytest.mark.parametrize("kind", ["c2s", "t2s", "dep2str", "dep2str-aug"])
@pytest.mark.filterwarnings("ignore::treeglot.lm.train.DiscountWarning")  # small data
def test_rules_have_the_words_of_source_parses(kind: str, tmp_path: Path) -> None:
    """A text may have another case and brackets; what is translated are parses, so rules must have their words."""
    files = {
        "zh.tree": "(NP (DT ein) (X -LRB-) (NN haus))\n(NP (DT kein) (NN haus))\n(())\n",
        "zh.txt": "Ein ( Haus\nkein haus\nNein\n",
        "en.txt": "a ( house\nno house\nno\n",
        "links.align": "0-0 1-1 2-2\n0-0 1-1\n0-0\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    given = Corpus(
        source=tmp_path / "zh.txt",
        source_trees=tmp_path / "zh.tree",
        target=tmp_path / "en.txt",
        alignments=tmp_path / "links.align",
    )
    said: list[str] = []
    model = train(kind, given, tmp_path / "model", report=said.append)
    assert "1 source sentences have another case or other brackets in their parses than in the text" in "\n".join(said)
    found = model.translate_batch(model.read(tmp_path / "zh.tree"))
    assert [translation.text for translation in found][:2] == ["a ( house", "no house"]


def test_source_trees_of_other_words_can_be_skipped(folder: Path, corpus: Corpus, tmp_path: Path) -> None:
    lines = (folder / "zh.txt").read_text().splitlines()
    lines[2] = " ".join(["别", *lines[2].split(" ")[1:]])
    (tmp_path / "other.txt").write_text("\n".join(lines) + "\n")
    given = Corpus(
        source=tmp_path / "other.txt",
        source_dependencies=folder / "zh.conllu",
        target=corpus.target,
        alignments=corpus.alignments,
    )
    with pytest.raises(FormatError, match=r"zh\.conllu: tree 3: word 1 is '.*'; in .*other\.txt it is '别'"):
        train("dep2str", given, tmp_path / "model")
    said: list[str] = []
    train("dep2str", given, tmp_path / "model", find_kind("dep2str").options(skip_bad=True), report=said.append)
    assert "1 source parses were left out: their words are not the text's" in said
