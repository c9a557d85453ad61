"""Aligners, their score against gold, and the command."""

import re
from pathlib import Path

import pytest

from treeglot import sample
from treeglot.align import ALIGNERS, align_corpus, score_alignments
from treeglot.align.corpus import align_directions
from treeglot.base.errors import UsageError
from treeglot.cli import main
from treeglot.syntax import Alignment
from treeglot.syntax.formats import read_alignments

PAIRS = sample.read_pairs(300)
SOURCE = [pair.source_tree.words for pair in PAIRS]
TARGET = [pair.target_tree.words for pair in PAIRS]
GOLD = [pair.alignment for pair in PAIRS]
BUILT_IN = [name for name in ALIGNERS if name != "eflomal"]


@pytest.mark.parametrize("method", BUILT_IN)
def test_aligners_find_most_links_of_the_sample(method: str) -> None:
    links = align_corpus(SOURCE, TARGET, method)
    assert score_alignments(links, GOLD).f1 > (0.6 if method == "fast-align" else 0.75)  # it keeps to the diagonal
    for words, others, alignment in zip(SOURCE, TARGET, links, strict=True):
        alignment.check(len(words), len(others))


@pytest.mark.parametrize("method", BUILT_IN)
def test_threads_do_not_matter_and_a_run_repeats_itself(method: str) -> None:
    some = SOURCE[:60], TARGET[:60]
    once = align_corpus(*some, method, threads=1)
    assert align_corpus(*some, method, threads=2) == once
    assert align_corpus(*some, method, threads=4) == once


def test_the_directions() -> None:
    forward, backward = align_directions(SOURCE[:80], TARGET[:80])
    for links in forward:
        assert len({target for _, target in links}) == len(links)
    for links in backward:
        assert len({source for source, _ in links}) == len(links)


@pytest.mark.parametrize("method", BUILT_IN)
def test_progress_goes_up_to_the_end(method: str) -> None:
    told: list[tuple[int, int]] = []
    align_corpus(SOURCE[:60], TARGET[:60], method, threads=2, report=lambda done, of: told.append((done, of)))
    assert told == sorted(told)
    assert told[-1] == (100, 100)


def test_the_sampler_does_all_rounds_of_a_small_corpus() -> None:
    told: list[tuple[int, int]] = []
    ALIGNERS.make("sampler", {})(SOURCE[:60], TARGET[:60], lambda done, of: told.append((done, of)))
    # eflomal's schedule: the smaller the corpus the more rounds, far more than for a large one (48).
    assert len(told) == told[-1][0] == told[-1][1] > 200


def test_sentences_that_cannot_be_aligned_have_no_links() -> None:
    long = ["a"] * 201
    with pytest.warns(UserWarning, match="1 sentence pairs have a side of more than 200 words"):
        links = align_corpus([[], ["a"], long, ["a"]] * 1, [["b"], [], ["b"], ["b"]], "hmm")
    assert [len(alignment) for alignment in links] == [0, 0, 0, 1]
    assert align_corpus([], []) == []


def test_bad_usage() -> None:
    with pytest.raises(UsageError, match="there are 1 source sentences and 2 target sentences"):
        align_corpus([["a"]], [["b"], ["c"]])
    with pytest.raises(UsageError, match="unknown aligner 'hnm'; did you mean 'hmm'"):
        align_corpus([["a"]], [["b"]], "hnm")
    with pytest.raises(UsageError, match="unknown symmetrisation 'grow'"):
        align_corpus([["a"]], [["b"]], symmetrization="grow")
    with pytest.raises(UsageError, match="hmm: ibm1 and iterations: 0 iterations in all; expected at least one"):
        align_corpus([["a"]], [["b"]], "hmm", options={"ibm1": 0, "iterations": 0})
    with pytest.raises(UsageError, match="hmm: ibm1 is -3; expected at least 0"):
        align_corpus([["a"]], [["b"]], "hmm", options={"ibm1": -3})
    for null in (1.0, -0.5, float("nan")):
        with pytest.raises(UsageError, match=f"null is {null}; expected .*at least 0 and below 1"):
            align_corpus([["a"]], [["b"]], "hmm", options={"null": null})
    with pytest.raises(UsageError, match="the program 'no-such-program' is not there"):
        align_corpus([["a"]], [["b"]], "eflomal", options={"program": "no-such-program"})
    for seed, bound in ((-1, "at least 0"), (1 << 32, "at most 2^32 - 1")):
        with pytest.raises(UsageError, match=re.escape(f"sampler: seed is {seed}; expected {bound}")):
            align_corpus([["a"]], [["b"]], "sampler", options={"seed": seed})
    with pytest.raises(UsageError, match="eflomal: model is 4; expected 1 to 3"):
        align_corpus([["a"]], [["b"]], "eflomal", options={"model": 4})
    for iterations in (0.0, float("nan"), float("inf")):
        with pytest.raises(UsageError, match=f"eflomal: iterations is {iterations}; expected .*above 0"):
            align_corpus([["a"]], [["b"]], "eflomal", options={"iterations": iterations})


def test_the_program_eflomal_is_called_as_it_wants(tmp_path: Path) -> None:
    # A stand-in that checks what it reads and links the first words.
    program = tmp_path / "eflomal"
    program.write_text(
        "#!/bin/sh\n"
        "while [ $# -gt 0 ]; do case $1 in -s) s=$2;; -t) t=$2;; -f) f=$2;; esac; shift; done\n"
        'cat "$s" "$t" >> "$(dirname "$0")/seen"\n'
        'printf "0-0\\n0-0\\n" > "$f"\n'
    )
    program.chmod(0o755)
    links = align_corpus(
        [["a", "b"], ["c"]], [["x"], ["x", "y"]], "eflomal", "union", options={"program": str(program)}
    )
    assert [str(alignment) for alignment in links] == ["0-0", "0-0"]
    source, target = ["2 3", "2 0 1", "1 2"], ["2 2", "1 0", "2 0 1"]
    assert (tmp_path / "seen").read_text().splitlines() == [*source, *target, *target, *source]


def test_score() -> None:
    given = [Alignment.parse("0-0 1-1 2-2")]
    judged = score_alignments(given, [Alignment.parse("0-0 1-2")], [Alignment.parse("1-1")])
    assert (judged.precision, judged.recall) == (2 / 3, 1 / 2)
    assert judged.aer == pytest.approx(1 - (1 + 2) / (3 + 2))
    assert score_alignments([], []).aer == 0


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, sentences in (("zh", SOURCE), ("en", TARGET)):
        (tmp_path / name).write_text("".join(" ".join(words) + "\n" for words in sentences[:60]))
    (tmp_path / "gold.align").write_text("".join(f"{links}\n" for links in GOLD[:60]))
    files = [str(tmp_path / "zh"), str(tmp_path / "en"), "-o", str(tmp_path / "out.align")]
    assert main(["align", *files, "--gold", str(tmp_path / "gold.align"), "--set", "null=0.2"]) == 0
    assert "AER 0." in capsys.readouterr().err
    assert list(read_alignments(tmp_path / "out.align")) == align_corpus(
        SOURCE[:60], TARGET[:60], options={"null": 0.2}
    )
    (tmp_path / "en").write_text("one\n")
    assert main(["align", *files]) == 1
    assert "en: has 1 lines; expected 60" in capsys.readouterr().err
