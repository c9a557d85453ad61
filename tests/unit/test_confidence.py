"""How sure translations are, and how they go on after a prefix."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from treeglot import sample
from treeglot.base.errors import FormatError, UsageError
from treeglot.cli import main
from treeglot.corpus import Corpus
from treeglot.decode.confidence import Logistic
from treeglot.decode.constraints import Constraints
from treeglot.models import Model, load, train
from treeglot.models.complete import Completion
from treeglot.models.confidence import fit_confidence, roc_area
from treeglot.models.kinds import find_kind
from treeglot.syntax import write


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model, and sentences that it was not trained on, of which it knows some words only."""
    folder = tmp_path_factory.mktemp("confidence")
    pairs = sample.read_pairs(160)
    for name, some in (("train", pairs[:110]), ("dev", pairs[110:])):
        write(folder / f"{name}.zh.txt", [pair.source for pair in some])
        write(folder / f"{name}.en.txt", [pair.target for pair in some])
        write(folder / f"{name}.align", [pair.alignment for pair in some])
    corpus = Corpus(source=folder / "train.zh.txt", target=folder / "train.en.txt", alignments=folder / "train.align")
    train("hiero", corpus, folder / "model", find_kind("hiero").options(lm_order=2))
    return folder


@pytest.fixture(scope="module")
def model(folder: Path) -> Model:
    files = [str(folder / "model"), str(folder / "dev.zh.txt"), "--refs", str(folder / "dev.en.txt")]
    assert main(["confidence", *files, "-q"]) == 0
    return load(folder / "model")


def test_confidence_says_which_sentences_and_words_are_good(model: Model, folder: Path) -> None:
    lines = (folder / "dev.zh.txt").read_text().splitlines()
    references = (folder / "dev.en.txt").read_text().splitlines()
    found = model.translate_batch(lines)
    assert all(0 < one.confidence < 1 for one in found)
    has, scores = [], []
    for one, reference in zip(found, references, strict=True):
        assert len(one.word_confidence) == len(one.text.split())
        has += [word in reference.split() for word in one.text.split()]
        scores += one.word_confidence
    assert roc_area(scores, has) > 0.6
    known = (folder / "train.zh.txt").read_text().splitlines()[:20]
    sure = np.mean([one.confidence for one in model.translate_batch(known)])
    assert model.translate("什么 nowhere 也 never").confidence < sure
    assert model.translate("").confidence == 1.0


def test_confidence_is_the_same_however_it_is_asked(model: Model, folder: Path) -> None:
    line = (folder / "dev.zh.txt").read_text().splitlines()[0]
    alone, [listed] = model.translate(line), model.translate_batch([line], 100, True)
    assert alone.confidence == pytest.approx(listed.confidence)
    assert alone.word_confidence == pytest.approx(listed.word_confidence)


def test_the_same_sentences_give_the_same_bytes(model: Model, folder: Path) -> None:
    before = (folder / "model/confidence.json").read_bytes()
    lines = (folder / "dev.zh.txt").read_text().splitlines()
    fitted = fit_confidence(model, lines, (folder / "dev.en.txt").read_text().splitlines(), threads=2)
    assert (folder / "model/confidence.json").read_bytes() == before
    assert fitted.sentences == len(lines)
    with pytest.raises(UsageError, match="expected as many"):
        fit_confidence(model, lines, ["a"])


def test_uncertain_sentences_are_left_out(model: Model, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = (folder / "dev.zh.txt").read_text().splitlines()
    sure = [one.confidence for one in model.translate_batch(lines)]
    least = sorted(sure)[10]
    assert main(["translate", str(folder / "model"), str(folder / "dev.zh.txt"), "--abstain", f"{least:.12f}"]) == 0
    out = capsys.readouterr()
    assert [not line for line in out.out.splitlines()] == [p < round(least, 12) for p in sure]
    assert "left out: a confidence below" in out.err


def test_without_a_confidence_model(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plain = tmp_path / "plain"
    plain.mkdir()
    for file in (folder / "model").iterdir():
        if file.name != "confidence.json":
            (plain / file.name).write_bytes(file.read_bytes())
    with pytest.raises(ValueError, match="no confidence"):
        _ = load(plain).translate("什么").confidence
    assert main(["translate", str(plain), str(folder / "dev.zh.txt"), "--abstain", "0.5"]) == 2
    assert "expected `treeglot confidence` before --abstain" in capsys.readouterr().err
    for text in ("[]", "{}", json.dumps({"sentence": {}, "word": {}})):
        (plain / "confidence.json").write_text(text)
        with pytest.raises(FormatError, match="is no confidence model"):
            load(plain)


def test_a_logistic_model_finds_the_weights_it_was_drawn_from() -> None:
    draw = np.random.default_rng(1)
    rows = draw.normal(size=(4000, 2))
    labels = draw.random(4000) < 1 / (1 + np.exp(-(0.5 + 2 * rows[:, 0] - rows[:, 1])))
    fitted = Logistic.fit(["a", "b"], rows, labels)
    assert np.array(fitted.weights) == pytest.approx([0.5, 2, -1], abs=0.2)


def test_completion_begins_with_the_prefix(model: Model, folder: Path) -> None:
    line = (folder / "dev.zh.txt").read_text().splitlines()[0]
    best = model.translate(line)
    assert model.complete(line, "") == Completion(best.text, True)
    listed = best.kbest(20, distinct=True)
    other = listed[-1].text
    for size in (1, len(other) // 2, len(other)):
        found, wanted = model.complete(line, other[:size]), model.translate(line, Constraints(prefix=other[:size]))
        assert found == Completion(wanted.text[size:], True)
        assert wanted.text.startswith(other[:size])
        assert wanted.score >= next(h.score for h in listed if h.text.startswith(other[:size])) - 1e-6


def test_completion_goes_on_after_words_that_no_rule_gives(model: Model, folder: Path) -> None:
    line = (folder / "dev.zh.txt").read_text().splitlines()[0]
    words = model.translate(line).text.split()
    found = model.complete(line, " ".join(["nowhere", *words[1:3]]) + " ")
    assert not found.reached
    assert found.rest == " ".join(words[3:])
    part = model.complete(line, " ".join(["nowhere", *words[1:3], words[3][:1]]))
    assert part.rest == " ".join(words[3:])[1:]
