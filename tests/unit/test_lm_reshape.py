"""Mixed and pruned n-gram models: files, errors and edges."""

from __future__ import annotations

import gzip
import warnings
from pathlib import Path

import pytest

from treeglot import UsageError
from treeglot.cli import main
from treeglot.lm import NgramModel, compile_ngram, load_ngram, train_ngram
from treeglot.lm.classes import ClassOptions, learn_classes
from treeglot.lm.reshape import interpolate_ngrams, prune_ngrams
from treeglot.lm.train import DiscountWarning

NEWS = ["the market fell", "the market rose", "the bank fell", "a bank rose today"]
TALK = ["the dog sleeps", "a dog runs", "the cat runs today", "she saw the dog"]


def model(lines: list[str], order: int = 3) -> NgramModel:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DiscountWarning)
        return compile_ngram(train_ngram(lines, order=order))


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path, Path]:
    news, talk, dev = tmp_path / "news.lm", tmp_path / "talk.arpa", tmp_path / "dev"
    model(NEWS).write(news)
    model(TALK, 2).write_arpa(talk)
    dev.write_text("the dog fell\nthe bank sleeps unseen\n")
    return news, talk, dev


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str]:
    code = main(["lm", *map(str, arguments)])
    return code, capsys.readouterr().err


def test_the_commands(files: tuple[Path, Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    news, talk, dev = files
    code, err = run(capsys, "interpolate", news, talk, "--dev", dev, "-o", tmp_path / "mixed.arpa.gz")
    assert code == 0
    assert "8 tokens, 1 unknown words left out" in err
    assert "perplexity of the mixture of models" in err
    mixed = load_ngram(tmp_path / "mixed.arpa.gz")
    assert mixed.order == 3
    assert {"market", "dog"} <= {mixed.word(i) for i in range(len(mixed))}
    code, err = run(capsys, "interpolate", news, talk, "--weights", "0.5,0.5", "-o", tmp_path / "half")
    assert (code, err.count("0.500000")) == (0, 2)
    code, err = run(capsys, "prune", tmp_path / "mixed.arpa.gz", "--threshold", "0.01", "-o", tmp_path / "small")
    assert code == 0
    assert f"1-grams: {len(mixed)} of {len(mixed)}" in err
    assert sum(load_ngram(tmp_path / "small").counts) < sum(mixed.counts)


def test_the_same_models_give_the_same_bytes(files: tuple[Path, Path, Path], tmp_path: Path) -> None:
    news, talk, dev = files
    for name in "xy":
        interpolate_ngrams([news, talk], dev=dev).write_arpa(tmp_path / f"{name}.gz")
        prune_ngrams(tmp_path / f"{name}.gz", 0.003).write_arpa(tmp_path / name)
    assert gzip.decompress((tmp_path / "x.gz").read_bytes()) == gzip.decompress((tmp_path / "y.gz").read_bytes())
    assert (tmp_path / "x").read_bytes() == (tmp_path / "y").read_bytes()


def test_one_model_stays_as_it_is() -> None:
    only = model(NEWS)
    same = compile_ngram(interpolate_ngrams([only], weights=[1.0]).estimate)
    whole = compile_ngram(prune_ngrams(only, 0.0).estimate)
    for line in [*NEWS, *TALK]:
        assert same.score(line) == pytest.approx(only.score(line), abs=1e-4)
        assert whole.score(line) == pytest.approx(only.score(line), abs=1e-4)


def test_all_n_grams_can_be_pruned() -> None:
    made = prune_ngrams(model(NEWS), 1e9)
    assert (made.estimate.order, made.kept[1:]) == (1, (0, 0))


def test_the_small_layout_is_mixed_as_it_answers(tmp_path: Path) -> None:
    model(NEWS).write_arpa(tmp_path / "x.arpa")
    small = load_ngram(tmp_path / "x.arpa", layout="small")
    mixed = compile_ngram(interpolate_ngrams([small, model(TALK)], weights=[1.0, 0.0]).estimate)
    for line in NEWS:
        assert mixed.score(line) == pytest.approx(small.score(line), abs=1e-3)


def test_a_back_off_weight_above_1_is_written(tmp_path: Path) -> None:
    """What a context leaves to other words can be more than what the order below gives them."""
    arpa = tmp_path / "x.arpa"
    arpa.write_text(
        "\\data\\\nngram 1=5\nngram 2=1\n\n\\1-grams:\n-1\t<unk>\t0\n0\t<s>\t0\n-0.2218487\ta\t0.5528420\n"
        "-0.6989700\tb\t0\n-1\t</s>\t0\n\n\\2-grams:\n-1\ta a\n\n\\end\\\n"
    )
    # 0.9 left after `a`, 0.4 in the order below.
    given = load_ngram(arpa)
    prune_ngrams(given, 0.0).write_arpa(tmp_path / "y.arpa")
    assert "\ta\t0.352182" in (tmp_path / "y.arpa").read_text()
    assert load_ngram(tmp_path / "y.arpa").score("a b") == pytest.approx(-0.2218487 + 0.3521825 - 0.69897 - 1, abs=1e-5)


def test_refusals(files: tuple[Path, Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    news, talk, dev = files
    for arguments, message in (
        (("interpolate", news, talk), "give --dev or --weights, one of the two"),
        (("interpolate", news, talk, "--dev", dev, "--weights", "1 0"), "give --dev or --weights, one of the two"),
        (("interpolate", news, talk, "--dev", "-"), "--dev is standard input, but the text is read twice"),
        (("interpolate", news, talk, "--weights", "a b"), "--weights is 'a b'; expected numbers such as '0.7 0.3'"),
        (("interpolate", news, talk, "--weights", "1"), "1 weights for 2 models; expected one for each"),
        (
            ("interpolate", news, talk, "--weights", "1 1"),
            "the weights sum to 2.000000; expected weights of at least 0",
        ),
        (("interpolate", news, talk, "--weights", "2 -1"), "expected weights of at least 0 that sum to 1"),
        (("prune", news, "--threshold", "-1"), "the threshold is -1.0; expected a number of at least 0"),
        (("prune", news, "--threshold", "nan"), "the threshold is nan; expected a number of at least 0"),
        (("prune", dev, "--threshold", "1"), "expected \\data\\"),
    ):
        code, err = run(capsys, *arguments, "-o", tmp_path / "out")
        assert code != 0
        assert message in err
        assert not (tmp_path / "out").exists()
    with pytest.raises(UsageError, match="no words that a model knows"):
        interpolate_ngrams([news, talk], dev=[])
    with pytest.raises(UsageError, match="there are no models"):
        interpolate_ngrams([], weights=[])


def test_models_over_classes_are_refused(tmp_path: Path) -> None:
    classes = learn_classes(NEWS, ClassOptions(classes=2))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DiscountWarning)
        compile_ngram(train_ngram(NEWS, order=2, classes=classes), tmp_path / "c.lm")
    message = r"c\.lm is over classes of words; expected a model over words$"
    with pytest.raises(UsageError, match=message):
        prune_ngrams(tmp_path / "c.lm", 0.1)
    with pytest.raises(UsageError, match=message):
        interpolate_ngrams([tmp_path / "c.lm"], weights=[1.0])
