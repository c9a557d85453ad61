"""Rules that count by the posteriors of their links: every extractor, files, recipes."""

from dataclasses import replace
from pathlib import Path

import pytest
from extraction import pairs_of, run

from treeglot import Alignment, Dependency, FormatError, ParseForest, Tree
from treeglot.corpus import Corpus, Needs
from treeglot.experiment.recipe import training_files
from treeglot.models import KINDS
from treeglot.rules import extract
from treeglot.rules.extract import EXTRACTORS

SOURCE = Tree.parse("(IP (NP (PN 我)) (VP (VV 看) (NP (NN 书) (NN 报))))")
TARGET = Tree.parse("(S (NP (PRP I)) (VP (VBP read) (NP (NNS books) (CC and) (NNS papers))))")
LINKS = Alignment.parse("0-0 1-1 2-2 3-4")
PARSES = {
    "source_tree": SOURCE,
    "target_tree": TARGET,
    "source_forest": ParseForest.from_tree(SOURCE),
    "source_dependency": Dependency(SOURCE.words, [1, -1, 3, 1], ["PN", "VV", "NN", "NN"]),
    "target_dependency": Dependency(TARGET.words, [1, -1, 1, 4, 2], ["PRP", "VBP", "NNS", "CC", "NNS"]),
}


@pytest.mark.parametrize("extractor", EXTRACTORS)
def test_a_rule_counts_by_the_links_of_its_words(extractor: str) -> None:
    triples = [(SOURCE.words, TARGET.words, LINKS)]
    plain = pairs_of(triples, **{name: [value] for name, value in PARSES.items()})

    def found(weights: list[float]) -> list[tuple[str, str, str, str, float]]:
        rows, _, _ = run(extractor, [replace(plain[0], weights=weights)], EXTRACTORS[extractor][0]())
        return [(row.lhs, row.source, row.target, row.alignment, row.units / row.occurrences) for row in rows]

    assert found([1.0] * 4) == found([])
    halved = found([0.5] * 4)
    assert len(halved) > 4
    for (*rule, units), (*same, fewer) in zip(found([]), halved, strict=True):
        assert rule == same
        assert fewer == pytest.approx(units * 0.5 ** len(rule[3].split()), abs=0.5)
    assert min(units for *_, units in found([1e-20] * 4)) == 1  # a rule that was taken has a count


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    files = {
        "source": "das Haus\ndas Buch\n\n",
        "target": "the house\nthe book\n\n",
        "alignments": "0-0 1-1\n" * 2 + "\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    return Corpus(**{name: tmp_path / name for name in files}, posteriors=tmp_path / "posteriors")


def test_posteriors_are_read_beside_their_links(corpus: Corpus) -> None:
    corpus.file("posteriors").write_text("1-1:0.5:1 0-1:0.9:0.06 0-0:1.000:1.000\n1-1:0.06:0\n\n")
    pairs = corpus.pairs(Needs())
    first, second, third = (pair.weights for pair in pairs)
    assert first == [1.0, 0.75]
    assert second == pytest.approx([0.025, 0.03])
    assert third == []
    assert pairs.counts.as_counts()["unlikely_links"] == 1
    assert pairs.counts.lines() == ["1 links have no posterior, and count as 0.025"]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("0-0:1", "'0-0:1' is no posterior; expected SOURCE-TARGET:FORWARD:BACKWARD such as 3-0:0.9:0.75"),
        ("0-0", "'0-0' is no posterior"),
        ("0-0:1.5:1", "'0-0:1.5:1' is no posterior"),
        ("0-0:nan:1", "'0-0:nan:1' is no posterior"),
        ("0-0:1:1:1", "'0-0:1:1:1' is no posterior"),
        ("0-2:1:1", "link 0-2: the target sentence has 2 words"),
    ],
)
def test_bad_posteriors_are_refused(corpus: Corpus, line: str, problem: str) -> None:
    corpus.file("posteriors").write_text(f"0-0:1:1\n{line}\n\n")
    with pytest.raises(FormatError, match="posteriors:2: " + problem):
        list(corpus.pairs(Needs()))
    corpus.file("posteriors").write_text("0-0:1:1\n")
    with pytest.raises(FormatError, match="posteriors"):
        list(corpus.pairs(Needs()))


def test_sure_links_change_nothing(corpus: Corpus, tmp_path: Path) -> None:
    def rules(name: str, given: Corpus) -> list[bytes]:
        KINDS["hiero"].check(given)
        return [file.read_bytes() for file in extract("hiero", given.pairs(Needs()), tmp_path / name).files]

    corpus.file("posteriors").write_text("0-0:1:1 1-1:1:1\n" * 2 + "\n")
    plain = rules("plain", replace(corpus, posteriors=None))
    assert rules("sure", corpus) == plain
    corpus.file("posteriors").write_text("0-0:1:1 1-1:1:1\n0-0:0.5:1 1-1:1:1\n\n")
    assert rules("doubtful", corpus) != plain


def test_posteriors_of_other_links_are_not_used() -> None:
    given = ["source", "target", "alignments", "posteriors"]
    assert "posteriors" in training_files(KINDS["hiero"], given)
    assert "posteriors" not in training_files(KINDS["hiero"], given, ["alignments"])
    assert "posteriors" in training_files(KINDS["hiero"], given, ["alignments", "posteriors"])
