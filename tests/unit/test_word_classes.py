"""Words in classes, language models over them, and several language models in one translation model."""

from __future__ import annotations

import random
import re
import shutil
from collections import Counter
from itertools import pairwise
from math import log
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treeglot import sample
from treeglot.base.errors import FormatError, OptionError, UsageError
from treeglot.cli import main
from treeglot.corpus import Corpus
from treeglot.foreign.export import export
from treeglot.lm import compile_ngram, load_ngram, ngram, train_ngram
from treeglot.lm.classes import ClassOptions, WordClasses, learn_classes
from treeglot.lm.ngram import Layout
from treeglot.models import Model, load, train
from treeglot.models.kinds import find_kind
from treeglot.models.options import ClassLmOptions
from treeglot.syntax import write

pytestmark = pytest.mark.filterwarnings("ignore:.*fallback discounts:treeglot.lm.train.DiscountWarning")
BORDER = ""
words = st.lists(st.lists(st.sampled_from("abcdef"), max_size=6), min_size=1, max_size=12)


def likelihood(lines: list[list[str]], class_of: dict[str, int]) -> float:
    """By the definition: the class of each word after that of the word before it, and the word given its class."""
    of = {**class_of, BORDER: -1}
    bigrams = [pair for line in lines for pair in pairwise([BORDER, *line, BORDER])]
    pairs = Counter((of[a], of[b]) for a, b in bigrams)
    first, second = Counter(of[a] for a, _ in bigrams), Counter(of[b] for _, b in bigrams)
    word = Counter(b for _, b in bigrams)
    return sum(log(pairs[of[a], of[b]] / first[of[a]] * word[b] / second[of[b]]) for a, b in bigrams)


@given(words.filter(any), st.integers(1, 4))
def test_no_word_is_better_in_another_class(lines: list[list[str]], classes: int) -> None:
    made = learn_classes(lines, ClassOptions(classes, rounds=1000))
    of = dict(zip(made.words, made.classes, strict=True))
    assert set(of) == {word for line in lines for word in line}
    best = likelihood(lines, of)
    assert made.likelihoods[-1] == pytest.approx(best, abs=1e-6)
    assert all(later >= earlier - 1e-6 for earlier, later in pairwise(made.likelihoods))
    for word in of:
        for other in range(classes):
            assert likelihood(lines, of | {word: other}) <= best + 1e-6


@pytest.mark.parametrize("memory", ["1", "1K", "4M", "6M"])
def test_classes_do_not_depend_on_memory(memory: str) -> None:
    draw = random.Random(1)
    lines = [[f"w{int(1000 * draw.random() ** 2)}" for _ in range(1000)] for _ in range(500)]
    expected = learn_classes(lines, ClassOptions(5, rounds=2))
    assert learn_classes(lines, ClassOptions(5, rounds=2), memory=memory) == expected
    with pytest.raises(FileNotFoundError):  # where the files would be
        learn_classes(lines, ClassOptions(5, rounds=2), memory=memory, scratch="/none")


def test_little_memory_does_not_make_many_runs() -> None:
    lines = [pair.target for pair in sample.read_pairs(300)]
    assert sum(map(len, lines)) > 1000
    found = learn_classes(lines, ClassOptions(20), memory="1", scratch="/none")  # one run needs no file
    assert found == learn_classes(lines, ClassOptions(20))


@pytest.mark.parametrize("layout", ["fast", "small"])
def test_a_model_over_classes_is_one_of_the_text_of_classes(layout: Layout, tmp_path: Path) -> None:
    lines = [list(pair.target) for pair in sample.read_pairs(60)]
    made = learn_classes(lines, ClassOptions(8))
    of = dict(zip(made.words, map(str, made.classes), strict=True))
    plain = compile_ngram(train_ngram([[of[word] for word in line] for line in lines], order=3), layout=layout)
    compile_ngram(train_ngram(lines, order=3, classes=made), tmp_path / "lm.bin", layout=layout)
    model = load_ngram(tmp_path / "lm.bin")
    assert len(model) == len(plain) == len(set(of.values())) + 3
    for line in lines:
        assert model.score(" ".join(line)) == plain.score(" ".join(of[word] for word in line))
    assert [score.oov for score in model.full_scores(f"{lines[0][0]} nowhere <s>")] == [False, True, True, False]


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, bool]]:
    """The memory for the tables of each ARPA file that is read, and whether they are in files."""
    found: list[tuple[int, bool]] = []

    def read(*given: Any) -> Any:
        reader = read_arpa(*given)
        found.append((given[1], reader.spills))
        return reader

    read_arpa = ngram._read_arpa
    monkeypatch.setattr(ngram, "_read_arpa", read)
    return found


@pytest.mark.parametrize("classes", [0, 200])
def test_training_stays_within_memory(classes: int, tmp_path: Path, compiled: list[tuple[int, bool]]) -> None:
    lines = [list(pair.target) for pair in sample.read_pairs(1500)]
    made = learn_classes(lines, ClassOptions(classes, rounds=2)) if classes else None
    large = ngram.train_compiled(lines, tmp_path / "large", 4, classes=made)
    ngram.train_compiled(lines, tmp_path / "small", 4, classes=made, memory="64K")
    assert compiled == [(2 << 30, False), (65536, True)]
    assert (tmp_path / "large").read_bytes() == (tmp_path / "small").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["large", "small"]
    assert load_ngram(tmp_path / "small").counts == large.report.kept
    in_memory = compile_ngram(train_ngram(lines, 4, classes=made))
    text = " ".join(lines[0])
    assert load_ngram(tmp_path / "small").score(text) == pytest.approx(in_memory.score(text), abs=1e-5)
    with pytest.raises(UsageError, match="a compiled model cannot be written to standard output"):
        ngram.train_compiled(lines, "-")


def test_models_install_within_memory(tmp_path: Path, compiled: list[tuple[int, bool]]) -> None:
    train_ngram([list(pair.target) for pair in sample.read_pairs(60)], 3, out=tmp_path / "lm.arpa")
    ngram.install_ngram(tmp_path / "lm.arpa", tmp_path / "large")
    ngram.install_ngram(tmp_path / "lm.arpa", tmp_path / "small", memory="1K")
    assert compiled == [(2 << 30, False), (1024, True)]
    ngram.install_ngram(tmp_path / "small", tmp_path / "again", memory="1K")
    assert len(compiled) == 2  # a compiled file is not compiled
    assert len({(tmp_path / name).read_bytes() for name in ("large", "small", "again")}) == 1


def test_all_models_of_training_stay_within_memory(
    corpus: Corpus, tmp_path: Path, compiled: list[tuple[int, bool]]
) -> None:
    train_ngram(corpus.target, order=3, out=tmp_path / "lm.arpa")
    options = find_kind("hiero").options(class_lm=ClassLmOptions(classes=6, order=4))
    arpa: dict[str, Any] = {"lm": tmp_path / "lm.arpa", "lms": {"more": tmp_path / "lm.arpa"}}
    train("hiero", corpus, tmp_path / "model", options, memory="200M", **arpa)
    assert compiled == [(200 << 20, False)] * 3


def test_classes_are_written_and_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "text").write_text("the dog runs\na cat runs\nthe cat sleeps\na dog sleeps\n")
    files = [str(tmp_path / "text"), "-o", str(tmp_path / "classes")]
    assert main(["lm", "classes", *files, "--classes", "3"]) == 0
    assert "6 words in 3 classes" in capsys.readouterr().err
    made = WordClasses.read(tmp_path / "classes")
    assert made.words == learn_classes(tmp_path / "text", ClassOptions(3)).words
    compiled = ["--classes", str(tmp_path / "classes"), "-o", str(tmp_path / "lm.bin"), "--order", "2"]
    assert main(["lm", "train", str(tmp_path / "text"), *compiled, "-q"]) == 0
    assert load_ngram(tmp_path / "lm.bin").score("the dog runs") == load_ngram(tmp_path / "lm.bin").score(
        "a cat sleeps"
    )
    assert main(["lm", "info", str(tmp_path / "lm.bin")]) == 0
    assert "classes of\t6 words" in capsys.readouterr().out
    (tmp_path / "more").write_text("the horse runs\n")
    assert main(["lm", "train", str(tmp_path / "more"), *compiled]) != 0
    assert "more:1: 'horse' has no class" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a 1\nb\n", ":2: 'b' is not a word with its class; expected WORD CLASS"),
        ("a -1\n", ":1: 'a -1' is not a word"),
        ("a 1234567890\n", ":1: 'a 1234567890' is not a word"),
        ("a ²\n", ":1: 'a ²' is not a word"),
        ("a 1\nb 2\na 1\n", ":3: the word 'a' comes twice"),
        ("a 1\n<s> 2\n", ":2: <s> is a word of models themselves"),
    ],
)
def test_a_bad_file_of_classes_is_refused(text: str, problem: str, tmp_path: Path) -> None:
    (tmp_path / "classes").write_text(text)
    with pytest.raises(FormatError, match=re.escape(problem)):
        WordClasses.read(tmp_path / "classes")


def test_blanks_of_words_are_those_of_texts(tmp_path: Path) -> None:
    learn_classes(["10\u00a0km weit", "10\u00a0km"], ClassOptions(2)).write(tmp_path / "classes")
    assert set(WordClasses.read(tmp_path / "classes").words) == {"10\u00a0km", "weit"}


def test_a_text_without_words_has_no_classes() -> None:
    with pytest.raises(UsageError, match="text has no words"):
        learn_classes(["", ""])


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    folder = tmp_path_factory.mktemp("classes")
    pairs = sample.read_pairs(60)
    write(folder / "zh.txt", [pair.source for pair in pairs])
    write(folder / "en.txt", [pair.target for pair in pairs])
    write(folder / "links.align", [pair.alignment for pair in pairs])
    return Corpus(source=folder / "zh.txt", target=folder / "en.txt", alignments=folder / "links.align")


@pytest.fixture(scope="module")
def model(corpus: Corpus, tmp_path_factory: pytest.TempPathFactory) -> Model:
    """A model with three language models."""
    folder = tmp_path_factory.mktemp("model")
    train_ngram(corpus.target, order=1, out=folder / "small.arpa")
    options = find_kind("hiero").options(lm_order=2, class_lm=ClassLmOptions(classes=6, order=3))
    return train("hiero", corpus, folder / "model", options, lms={"small": folder / "small.arpa"})


def test_each_language_model_is_a_feature(model: Model, corpus: Corpus, tmp_path: Path) -> None:
    shutil.copytree(model.directory, tmp_path / "moved")
    moved = load(tmp_path / "moved")
    assert {"lm", "lm_unknown", "lm_small", "lm_small_unknown", "lm_classes"} <= set(moved.translator.features)
    assert "lm_classes_unknown" not in moved.translator.features
    assert moved.weights["lm_classes"] == moved.weights["lm_small"] == 0.1
    files = {"lm": "lm.bin", "lm_small": "lm_small.bin", "lm_classes": "lm_classes.bin"}
    models = {name: load_ngram(tmp_path / "moved" / file) for name, file in files.items()}
    assert models["lm_classes"].core.classed
    for line in corpus.source.read_text().splitlines()[:10]:
        for best in moved.translate(line).kbest(5):
            for name, lm in models.items():
                assert best.features[name] == pytest.approx(lm.score(best.text) * log(10), abs=1e-3), name


def test_a_model_with_its_first_weights_can_be_trained_again(model: Model, corpus: Corpus) -> None:
    options = find_kind("hiero").options(lm_order=2)
    again = train("hiero", corpus, model.directory.with_name("again"), options)
    assert not again.translator.lms
    train("hiero", corpus, model.directory.with_name("again"), options)  # not tuned: it may be replaced
    weights = (again.directory / "weights.txt").read_text()
    (again.directory / "weights.txt").write_text(weights + "lm_classes 0.2\n")
    with pytest.raises(UsageError, match="tuned weights"):
        train("hiero", corpus, again.directory, options)


def test_what_cannot_be_is_refused(
    model: Model, corpus: Corpus, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(UsageError, match=r"lm_(classes|small) has a weight, and cannot be written for moses"):
        export(model, tmp_path / "moses", "moses")
    options = find_kind("hiero").options(class_lm=ClassLmOptions(classes=2))
    with pytest.raises(UsageError, match="two language models are called classes"):
        train("hiero", corpus, tmp_path / "model", options, lms={"classes": model.directory / "lm.bin"})
    shutil.copytree(model.directory, tmp_path / "other")
    toml = (tmp_path / "other" / "model.toml").read_text()
    for old, new, problem in (
        ('small = "lm_small.bin"', 'Small = "lm_small.bin"', "lms.Small is not a name of a language model"),
        ('"lm_small.bin"', '"../lm.bin"', "lms.small is '../lm.bin'; expected a file in the model's folder"),
    ):
        (tmp_path / "other" / "model.toml").write_text(toml.replace(old, new))
        with pytest.raises(FormatError, match=re.escape(problem)):
            load(tmp_path / "other")
    for name in ("News", "a/b", "unknown", "news_unknown"):
        with pytest.raises(OptionError, match=f"lms.{name} is not a name of a language model"):
            train("hiero", corpus, model.directory, lms={name: model.directory / "lm.bin"}, force=True)
    with pytest.raises(UsageError, match="read several times for classes of words; expected a file"):
        train("hiero", corpus, tmp_path / "model", options, lm_text="-")
    assert load(model.directory).translator.lms  # it is still there
    files = ["--source", str(corpus.source), "--target", str(corpus.target), "--alignments", str(corpus.alignments)]
    assert main(["train", "hiero", *files, "-o", str(tmp_path / "model"), "--lms", "small"]) != 0
    assert "--lms is 'small'; expected NAME=FILE" in capsys.readouterr().err
