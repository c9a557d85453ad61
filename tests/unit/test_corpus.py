"""One pass over the files of a corpus: the pairs that it gives, and what is kept on disk between two uses."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from treeglot import Alignment, Dependency, FormatError, ParseForest, Tree, UsageError
from treeglot.corpus import Corpus, Needs
from treeglot.corpus.files import SourceFiles, check_format, is_parsed
from treeglot.syntax import write

SOURCE = ["我 来 了", "( dna )", "好"]
TARGET = ["I came", "( He )", "good"]
SOURCE_TREES = ["(IP (NP (PN 我)) (VP (VV 来) (AS 了)))", "(IP (PU -LRB-) (NP (PN DNA)) (PU -RRB-))", "(())"]
TARGET_TREES = ["(S (NP (PRP I)) (VP (VBD came)))", "(S (-LRB- -LRB-) (NP (PRP he)) (-RRB- -RRB-))", "(())"]


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    files = {"zh.txt": SOURCE, "en.txt": TARGET, "zh.tree": SOURCE_TREES, "en.tree": TARGET_TREES}
    for name, lines in (files | {"a.align": ["0-0 1-1", "0-0 1-1 2-2", "0-0"]}).items():
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines))
    return Corpus(
        source=tmp_path / "zh.txt",
        target=tmp_path / "en.txt",
        alignments=tmp_path / "a.align",
        source_trees=tmp_path / "zh.tree",
        target_trees=tmp_path / "en.tree",
    )


def test_words_and_links_alone(corpus: Corpus) -> None:
    pairs = corpus.pairs(Needs())
    first, second, third = pairs
    assert (first.number, first.source, first.target) == (1, ["我", "来", "了"], ["I", "came"])
    assert second.source == ["(", "dna", ")"]
    assert third.links == Alignment.parse("0-0")
    assert first.source_tree is first.source_forest is first.target_dependency is None
    assert pairs.counts.pairs == 3
    assert not pairs.counts.lines()


def test_parses_that_are_translated_lend_their_words(corpus: Corpus) -> None:
    pairs = corpus.pairs(Needs(source="forest", target="dependency"))
    first, second, third = pairs
    assert second.source == ["(", "DNA", ")"]
    assert second.target == ["(", "He", ")"]
    assert isinstance(first.source_forest, ParseForest)
    assert third.source_forest is None
    assert second.target_dependency is not None
    assert second.target_dependency.words == second.target
    assert third.target_dependency == Dependency([], [])
    assert pairs.counts.respelt == 1
    assert "1 source sentences have another case or other brackets" in pairs.counts.lines()[0]


def test_trees_keep_their_words_beside_the_texts(corpus: Corpus) -> None:
    pairs = corpus.pairs(Needs(source="tree", target="tree"))
    _, second, third = pairs
    assert second.source == ["(", "dna", ")"]
    assert second.source_tree == Tree.parse(SOURCE_TREES[1])
    assert third.target_tree == Tree()
    assert pairs.counts.missing == {"source": 1, "target": 1}
    without = replace(corpus, source_trees=None).pairs(Needs(source="tree", target="tree"))
    assert all(pair.source_tree is None for pair in without)
    assert without.counts.missing == {"source": 0, "target": 1}


def test_without_text_the_words_are_those_of_the_parses(corpus: Corpus) -> None:
    first, second, third = replace(corpus, source=None, target=None).pairs(Needs())
    assert (first.target, second.target) == (["I", "came"], ["(", "he", ")"])
    assert (third.source, third.target, third.links) == ([], [], Alignment())
    with pytest.raises(UsageError, match="there is no --target, and no parses of that side"):
        replace(corpus, target=None, target_trees=None).pairs(Needs())
    with pytest.raises(UsageError, match="there is no --alignments"):
        replace(corpus, alignments=None).pairs(Needs())


def test_other_words_are_refused_or_left_out(corpus: Corpus, tmp_path: Path) -> None:
    (tmp_path / "other.tree").write_text("\n".join([*TARGET_TREES[:1], "(S (NP (PRP she)))", "(())\n"]))
    given = replace(corpus, target_trees=tmp_path / "other.tree")
    for target in ("tree", "dependency"):
        with pytest.raises(
            FormatError, match=r"other\.tree: tree 2: it has 1 words; its sentence in line 2 of .*en\.txt"
        ):
            list(given.pairs(Needs(target=target)))  # type: ignore[arg-type]
        pairs = given.pairs(Needs(target=target, skip_bad=True))  # type: ignore[arg-type]
        second = list(pairs)[1]
        assert len(second.target_tree or second.target_dependency or ()) == 0
        assert pairs.counts.mismatched == {"source": 0, "target": 1}
        assert pairs.counts.lines()[-1] == "1 target parses were left out: their words are not the text's"


def test_a_link_outside_its_pair_names_its_line(corpus: Corpus, tmp_path: Path) -> None:
    (tmp_path / "bad.align").write_text("0-0\n9-0\n0-0\n")
    with pytest.raises(FormatError, match=r"bad\.align:2: "):
        list(replace(corpus, alignments=tmp_path / "bad.align").pairs(Needs()))


def test_crossing_arcs_are_lifted_and_tags_asked_for(corpus: Corpus, tmp_path: Path) -> None:
    crossing = Dependency(["a", "b", "c", "d"], [2, -1, 1, 0])
    write(tmp_path / "en.conllu", [crossing, Dependency(["(", "He", ")"], [1, -1, 1]), Dependency(["good"], [-1])])
    (tmp_path / "en.txt").write_text("a b c d\n( He )\ngood\n")
    given = replace(corpus, target_trees=None, target_dependencies=tmp_path / "en.conllu")
    pairs = given.pairs(Needs(target="dependency"))
    assert all(pair.target_dependency and pair.target_dependency.is_projective() for pair in pairs)
    assert pairs.counts.lines() == ["1 target dependency trees were not projective, and were made so"]
    with pytest.raises(FormatError, match=r"en\.conllu: tree 1: it has no tags; a model over tags needs them"):
        list(given.pairs(Needs(target="dependency", tags=True)))


def test_the_declaration_says_what_files_hold() -> None:
    assert Corpus.names()[: len(SourceFiles.names())] == SourceFiles.names()
    assert [name for name in Corpus.names() if not is_parsed(name)] == ["source", "target", "alignments", "posteriors"]
    with pytest.raises(UsageError, match=r"trees dev\.align: the format pharaoh holds alignments, not trees"):
        check_format("source_trees", Path("dev.align"), "trees")
    check_format("source_forests", Path("dev.tree"), "forests")
