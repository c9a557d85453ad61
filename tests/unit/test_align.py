"""Aligners, their score against gold, and the command."""

import json
import re
from pathlib import Path

import pytest

from treeglot import _core, sample
from treeglot.align import ALIGNERS, Aligner, align_corpus, score_alignments
from treeglot.align.clean import CleanOptions, judge
from treeglot.align.symmetrize import symmetrize
from treeglot.base.errors import FormatError, UsageError
from treeglot.cli import main
from treeglot.syntax import Alignment
from treeglot.syntax.formats import read_alignments

PAIRS = sample.read_pairs(300)
SOURCE = [pair.source_tree.words for pair in PAIRS]
TARGET = [pair.target_tree.words for pair in PAIRS]
GOLD = [pair.alignment for pair in PAIRS]
BUILT_IN = [name for name in ALIGNERS if name != "eflomal"]


@pytest.mark.parametrize(
    ("method", "options", "error"),
    [
        ("sampler", {}, 0.17),
        ("sampler", {"model": "hmm"}, 0.21),
        ("sampler", {"model": "ibm1"}, 0.25),
        ("hmm", {}, 0.26),
        ("hmm", {"iterations": 0}, 0.27),
    ],
)
def test_aligners_find_most_links_of_the_sample(method: str, options: dict[str, object], error: float) -> None:
    links = align_corpus(SOURCE, TARGET, method, options=options)
    assert score_alignments(links, GOLD).aer < error
    for words, others, alignment in zip(SOURCE, TARGET, links, strict=True):
        alignment.check(len(words), len(others))


@pytest.mark.parametrize("method", BUILT_IN)
def test_threads_do_not_matter_and_a_run_repeats_itself(method: str) -> None:
    some = SOURCE[:60], TARGET[:60]
    once = align_corpus(*some, method, threads=1)
    assert align_corpus(*some, method, threads=2) == once
    assert align_corpus(*some, method, threads=4) == once


def test_the_seed_matters() -> None:
    links = [align_corpus(SOURCE[:60], TARGET[:60], options={"seed": seed, "chains": 1}) for seed in (1, 2)]
    assert links[0] != links[1]


@pytest.fixture(scope="module")
def aligner() -> Aligner:
    return Aligner.train(zip(SOURCE, TARGET, strict=True), threads=2)


def test_the_directions(aligner: Aligner) -> None:
    pairs = list(zip(SOURCE, TARGET, strict=True))
    both = list(aligner.directions(pairs))
    for forward, backward in both:
        assert len({target for _, target in forward}) == len(forward)
        assert len({source for source, _ in backward}) == len(backward)
    for method in ("union", "grow-diag-final-and"):
        assert list(aligner.align_all(pairs, method)) == symmetrize(*zip(*both, strict=True), method)


def test_posteriors_and_agreement(aligner: Aligner) -> None:
    source, target = SOURCE[0], TARGET[0]
    forward, backward = aligner.posteriors(source, target)
    assert forward.shape == backward.shape == (len(source), len(target))
    assert (forward.sum(axis=0) < 1.001).all()
    assert (backward.sum(axis=1) < 1.001).all()
    (links,) = aligner.align_all([(source, target)], "agreement", agreement=0.3)
    mean = (forward * backward) ** 0.5
    assert set(links) == {(s, t) for s in range(len(source)) for t in range(len(target)) if mean[s, t] >= 0.3}
    with pytest.raises(UsageError, match="the pair has 0 and 1 words; expected 1 to 200"):
        aligner.posteriors([], ["a"])
    likely, nothing = aligner.likely([(source, target), ([], ["a"])], least=0.2)
    cells = {(s, t): (forward[s, t], backward[s, t]) for s in range(len(source)) for t in range(len(target))}
    assert {(s, t): (f, b) for s, t, f, b in likely} == {cell: p for cell, p in cells.items() if max(p) >= 0.2}
    assert nothing == []


def test_a_saved_aligner_gives_the_links_of_training(aligner: Aligner, tmp_path: Path) -> None:
    aligner.save(tmp_path / "saved")
    loaded = Aligner.load(tmp_path / "saved")
    pairs = list(zip(SOURCE, TARGET, strict=True))
    assert list(loaded.align_all(pairs, threads=2)) == align_corpus(SOURCE, TARGET)
    assert loaded.align(*pairs[7]) == align_corpus(SOURCE, TARGET)[7]
    assert loaded.facts == aligner.facts
    assert list(loaded.lexicon()) == list(aligner.lexicon())
    unknown = loaded.align([*SOURCE[0], "unheard-of"], [*TARGET[0], "unseen"])
    unknown.check(len(SOURCE[0]) + 1, len(TARGET[0]) + 1)


def test_a_damaged_aligner_is_refused(aligner: Aligner, tmp_path: Path) -> None:
    aligner.save(tmp_path)
    model = tmp_path / "aligner.bin"
    content = bytearray(model.read_bytes())
    content[len(content) // 2] ^= 1
    model.write_bytes(content)
    with pytest.raises(FormatError, match="is damaged"):
        Aligner.load(tmp_path)
    facts = {"method": "guess", "options": {}, "pairs": 1, "empty": 0, "long": 0}
    (tmp_path / "aligner.json").write_text(json.dumps(facts))
    with pytest.raises(FormatError, match="has no method of an aligner"):
        Aligner.load(tmp_path)


def test_scores_tell_translations_from_others(aligner: Aligner) -> None:
    right = list(aligner.score_all(zip(SOURCE, TARGET, strict=True)))
    wrong = list(aligner.score_all(zip(SOURCE, TARGET[1:] + TARGET[:1], strict=True)))
    assert sum(score > 0 for score in right) > 0.95 * len(right)
    assert sum(score < 0 for score in wrong) > 0.95 * len(wrong)
    assert list(aligner.score_all([([], ["a"])])) == [float("-inf")]


def test_lexicon(aligner: Aligner) -> None:
    rows = list(aligner.lexicon())
    assert len({row[:2] for row in rows}) == len(rows)
    assert all(0 <= forward <= 1 and 0 <= backward <= 1 for _, _, forward, backward in rows)
    best = max((row for row in rows if row[0] == "约翰"), key=lambda row: row[2])
    assert best[1].lower() == "john"


def test_an_update_learns_new_words_and_forgets_none(aligner: Aligner) -> None:
    new = [(["新词", "约翰"], ["newword", "John"]), (["新词"], ["newword"])] * 5
    updated = aligner.update(new, threads=2)
    assert updated.facts["pairs"] == 310
    assert aligner.update([*new, ([], ["a"])]).facts["empty"] == aligner.facts["empty"] + 1
    assert str(updated.align(["新词", "约翰"], ["John", "newword"])) == "0-1 1-0"
    old = {row[:2] for row in aligner.lexicon()}
    assert old <= {row[:2] for row in updated.lexicon()}
    again = score_alignments(updated.align_all(zip(SOURCE, TARGET, strict=True)), GOLD)
    assert again.aer < 0.18
    with pytest.raises(UsageError, match="only an aligner trained by the method sampler can be updated"):
        Aligner.train(new, "hmm").update(new)


def test_a_run_that_was_interrupted_resumes_with_the_same_result(tmp_path: Path) -> None:
    corpus = _core.SentencePairs(200)
    corpus.extend(list(zip(SOURCE[:60], TARGET[:60], strict=True)))
    options = {"rounds": 40, "chains": 2, "save_every": 0.0}

    def train(folder: str, stop: bool) -> _core.Aligner:
        def watch(done: int, of: int) -> None:
            if stop and done > 0:
                raise KeyboardInterrupt

        return _core.train_sampler(corpus, None, [], options, 2, folder, watch)

    with pytest.raises(KeyboardInterrupt):
        train(str(tmp_path), True)
    assert (tmp_path / "chain-0").exists()
    train(str(tmp_path), False).save(str(tmp_path / "resumed"))
    train("", False).save(str(tmp_path / "at-once"))
    assert (tmp_path / "resumed").read_bytes() == (tmp_path / "at-once").read_bytes()
    # A state that is damaged, or another corpus's, is not gone on with.
    (tmp_path / "chain-0").write_bytes(b"no chain")
    train(str(tmp_path), False).save(str(tmp_path / "again"))
    assert (tmp_path / "again").read_bytes() == (tmp_path / "at-once").read_bytes()
    options["seed"] = 2
    train(str(tmp_path), False).save(str(tmp_path / "other"))
    assert (tmp_path / "other").read_bytes() != (tmp_path / "at-once").read_bytes()


@pytest.mark.parametrize("method", BUILT_IN)
def test_progress_goes_up_to_the_end(method: str) -> None:
    told: list[tuple[int, int]] = []
    align_corpus(SOURCE[:60], TARGET[:60], method, threads=2, report=lambda done, of: told.append((done, of)))
    assert told == sorted(told)
    assert told[-1] == (100, 100)


def test_small_corpora_get_more_rounds() -> None:
    rounds = [_core.sampler_rounds(pairs) for pairs in (10, 3000, 50_000, 10_000_000)]
    assert rounds == sorted(rounds, reverse=True)
    assert rounds[0] > rounds[1] > rounds[2] >= rounds[3] > 10


def test_sentences_that_cannot_be_aligned_have_no_links() -> None:
    long = ["a"] * 201
    with pytest.warns(UserWarning, match="1 sentence pairs have a side of more than 200 words"):
        links = align_corpus([[], ["a"], long, ["a"]] * 1, [["b"], [], ["b"], ["b"]])
    assert [len(alignment) for alignment in links] == [0, 0, 0, 1]
    assert align_corpus([], []) == []
    facts = Aligner.train([([], ["b"]), (long, ["b"]), (["a"], ["b"])]).facts
    assert (facts["pairs"], facts["empty"], facts["long"]) == (3, 1, 1)


@pytest.mark.parametrize("method", BUILT_IN)
def test_an_aligner_of_no_text_knows_nothing(method: str, tmp_path: Path) -> None:
    made = Aligner.train([([], ["a"])], method)
    made.save(tmp_path)
    for aligner in (made, Aligner.load(tmp_path)):
        assert all((p > 0).all() and (p < 1).all() for p in aligner.posteriors(["a", "b"], ["c"]))
        assert aligner.score(["a"], ["b"]) == pytest.approx(0, abs=1e-6)


def test_an_aligner_without_null_is_loaded(tmp_path: Path) -> None:
    Aligner.train([(["a"], ["b"])] * 3, "hmm", options={"null": 0.0}).save(tmp_path)
    assert str(Aligner.load(tmp_path).align(["a"], ["b"])) == "0-0"


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
    with pytest.raises(UsageError, match="eflomal is a program of its own and leaves no aligner"):
        Aligner.train([(["a"], ["b"])], "eflomal")
    with pytest.raises(UsageError, match="the program 'no-such-program' is not there"):
        align_corpus([["a"]], [["b"]], "eflomal", options={"program": "no-such-program"})
    for seed, bound in ((-1, "0 to 2^63 - 1"), (1 << 63, "0 to 2^63 - 1")):
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
    assert main(["align", *files, "--gold", str(tmp_path / "gold.align"), "--set", "null=0.3"]) == 0
    assert "AER 0." in capsys.readouterr().err
    assert list(read_alignments(tmp_path / "out.align")) == align_corpus(
        SOURCE[:60], TARGET[:60], options={"null": 0.3}
    )
    (tmp_path / "en").write_text("one\n")
    assert main(["align", *files]) == 1
    assert "en: has 1 records, fewer than" in capsys.readouterr().err


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    for name, sentences in (("zh", SOURCE), ("en", TARGET)):
        (tmp_path / name).write_text("".join(" ".join(words) + "\n" for words in sentences[:60]))
    return [str(tmp_path / "zh"), str(tmp_path / "en")]


def test_the_command_saves_applies_and_updates_aligners(files: list[str], tmp_path: Path) -> None:
    saved, words = str(tmp_path / "aligner"), tmp_path / "words.tsv"
    run = ["align", *files, "--set", "chains=1", "--quiet"]
    posteriors = tmp_path / "posteriors"
    run_once = [*run, "--posteriors", str(posteriors)]
    assert main([*run_once, "-o", str(tmp_path / "a"), "--save", saved, "--lexicon", str(words)]) == 0
    likely = Aligner.load(saved).likely(zip(SOURCE[:60], TARGET[:60], strict=True))
    wanted = [" ".join(f"{s}-{t}:{f:.3f}:{b:.3f}" for s, t, f, b in links) for links in likely]
    assert posteriors.read_text().splitlines() == wanted
    assert main(["align", *files, "-o", str(tmp_path / "b"), "--model", saved]) == 0
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert sorted(path.name for path in (tmp_path / "aligner").iterdir()) == ["aligner.bin", "aligner.json"]
    assert all(len(line.split("\t")) == 4 for line in words.read_text().splitlines())
    more = str(tmp_path / "more")
    assert main(["align", *files, "-o", str(tmp_path / "c"), "--model", saved, "--update", "--save", more]) == 0
    assert Aligner.load(more).facts["pairs"] == 120
    assert main([*run, "--update"]) == 2
    assert main([*run, "--method", "eflomal", "--save", saved]) == 2


def test_the_command_resumes(files: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = ["align", *files, "--set", "chains=1", "-o", str(tmp_path / "links")]
    assert main(run) == 0
    whole = (tmp_path / "links").read_bytes()
    (tmp_path / "links").unlink()
    with monkeypatch.context() as patched:
        patched.setattr(Aligner, "align_all", lambda *given, **named: 1 / 0)
        assert main(run) == 1
    state = tmp_path / ".links.state"
    assert sorted(path.name for path in state.iterdir()) == ["chain-0", "chain-1"]
    assert main(run) == 0
    assert (tmp_path / "links").read_bytes() == whole
    assert not state.exists()


def test_dirty_lines_are_counted_and_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a").write_text("x\n\ny\n\n" + "z " * 201 + "\n")
    (tmp_path / "b").write_text("x\nx\n\n\nz\n")
    assert main(["align", str(tmp_path / "a"), str(tmp_path / "b"), "-o", str(tmp_path / "links")]) == 0
    said = capsys.readouterr().err
    assert "1 of 5 pairs have no links:" in said
    for line, words in ((2, "a has no words, but"), (3, "b has no words, but"), (4, "both lines are empty")):
        assert re.search(rf"{words}.*\(first in line {line}\)", said)
    assert "a side has more than 200 words (first in line 5)" in said
    assert len((tmp_path / "links").read_text().splitlines()) == 5


def test_a_side_in_the_other_language_is_dropped() -> None:
    pairs = [(["das", "haus"], ["the", "house"]), (["das", "buch"], ["the", "book"])] * 5
    aligner = Aligner.train(pairs, options={"chains": 1})
    given = [pairs[0], (["the", "book"], ["das", "buch"]), (["das", "buch"], ["das", "haus"]), (["7"], ["das"])]
    options = CleanOptions(least_score=float("-inf"), copies=True)
    assert [verdict.reason for _, verdict in judge(given, aligner, options)] == ["", *["language"] * 3]
    assert {verdict.reason for _, verdict in judge(given, None, options)} == {""}


def test_clean(files: list[str], aligner: Aligner, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    saved = str(tmp_path / "aligner")
    aligner.save(saved)
    source, target = (Path(name).read_text().splitlines() for name in files)
    long = " ".join(["word"] * 201)
    bad = [(source[0], ""), (source[0], long), (source[0].split()[0], " ".join(target[1].split() * 3)), ("a", "a")]
    bad += [(target[2], target[3]), (source[0], target[5])]
    for name, side in zip(files, zip(*bad, strict=True), strict=True):
        with Path(name).open("a") as stream:
            stream.writelines(f"{line}\n" for line in side)
    out = [str(tmp_path / name) for name in ("kept.zh", "kept.en", "dropped.tsv")]
    options = ["--source-language", "zh", "--model", saved, "--threads", "2"]
    run = ["clean", *files, "--out-source", out[0], "--out-target", out[1], "--dropped", out[2], *options]
    assert main(run) == 0
    kept = [Path(name).read_text().splitlines() for name in out[:2]]
    rows = [line.split("\t") for line in Path(out[2]).read_text().splitlines()]
    assert len(kept[0]) == len(kept[1]) == 66 - len(rows)
    reasons = {int(row[0]): row[1] for row in rows}
    assert [reasons[61 + k] for k in range(6)] == ["empty", "long", "ratio", "copy", "language", "score"]
    assert len([number for number in reasons if number <= 60]) < 5
    assert f"kept {len(kept[0])} of 66 pairs; dropped: copy 1, empty 1, language 1, long 1" in capsys.readouterr().err
