"""Training n-gram models: what lmplz gives, what a text may look like, and how a bad one is refused."""

from __future__ import annotations

import gzip
import io
import lzma
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import zstandard
from kneser_ney import assert_close, read_arpa
from messages import messages
from peer_lm import kenlm, needs_kenlm

from treeglot._core import NgramTrainer, TrainingText, sort_ngrams
from treeglot.base.errors import FormatError, UsageError
from treeglot.base.sizes import parse_size
from treeglot.cli import main
from treeglot.lm import train_ngram
from treeglot.lm.train import DiscountWarning
from treeglot.rules.engines import DuckDB

GOLDEN = Path(__file__).parents[1] / "golden/lm"  # pets.*.arpa: what lmplz of KenLM 0.3.0 made of pets.txt
SHARED = Path(__file__).parents[2].parent / "shared/data"
LINES = ["a a a b", "a b b", "b a a c", "c d e", "d a f", "e f a g a", "b a"]  # no fallback up to order 2


@pytest.mark.parametrize(
    ("name", "order", "prune"),
    [
        ("pets.1", 1, ()),
        ("pets.3", 3, ()),
        ("pets.3.prune01", 3, (0, 1)),
        ("pets.4.prune112", 4, (1, 1, 2)),
        ("pets.6", 6, ()),
    ],
)
def test_agrees_with_lmplz(tmp_path: Path, name: str, order: int, prune: tuple[int, ...]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DiscountWarning)
        train_ngram(GOLDEN / "pets.txt", order, prune=prune, out=tmp_path / "x.arpa")
    assert_close(read_arpa(tmp_path / "x.arpa"), read_arpa(GOLDEN / f"{name}.arpa"))


@needs_kenlm
def test_real_text(tmp_path: Path) -> None:
    text = SHARED / "zh-en/train.lc.en"
    if not text.exists():
        pytest.skip(f"{text} is absent")
    report = train_ngram(text, 5, out=tmp_path / "x.arpa").report
    assert (report.sentences, report.tokens, report.types) == (50707, 533041, 22248)
    assert report.kept == [22251, 175171, 329369, 395565, 395300]
    lmplz = [
        (0.633948, 0.931556, 1.3352),
        (0.773395, 1.09552, 1.42196),
        (0.869732, 1.2026, 1.41459),
        (0.928814, 1.29123, 1.5447),
        (0.924777, 1.45308, 1.60883),
    ]
    assert np.allclose(report.discounts, lmplz, rtol=1e-5)
    model = kenlm.Model(str(tmp_path / "x.arpa"))
    held_out = (SHARED / "zh-en/dev.lc.en").read_text().splitlines()
    total = sum(model.score(line) for line in held_out)
    perplexity = 10 ** (-total / sum(len(line.split()) + 1 for line in held_out))
    assert 50 < perplexity < 150


@needs_kenlm
def test_kenlm_reads_the_model(tmp_path: Path) -> None:
    train_ngram(LINES, 2, out=tmp_path / "x.arpa")
    model = kenlm.Model(str(tmp_path / "x.arpa"))
    assert model.order == 2
    scores = [model.score(line) for line in [*LINES, "never seen", ""]]
    assert np.isfinite(scores).all()
    assert max(scores) < 0


def test_a_model_in_memory_is_the_model_in_the_file(tmp_path: Path) -> None:
    training = train_ngram(LINES, 2)
    estimate = training.estimate
    assert estimate is not None
    assert estimate.order == 2
    train_ngram(LINES, 2, out=tmp_path / "x.arpa")
    with (tmp_path / "y.arpa").open("wb") as stream:
        estimate.write_arpa(stream.write)
    assert (tmp_path / "y.arpa").read_bytes() == (tmp_path / "x.arpa").read_bytes()
    words = np.array(estimate.vocabulary)[estimate.words(2)].reshape(-1, 2)
    model = read_arpa(tmp_path / "x.arpa")
    assert [tuple(pair) for pair in words] == list(model[1])
    assert np.allclose(estimate.log10_probability(2), [p for p, _ in model[1].values()], atol=1e-6)
    assert np.allclose(estimate.log10_backoff(1), [b for _, b in model[0].values()], atol=1e-6)
    assert len(estimate.log10_backoff(2)) == 0
    with pytest.raises(ValueError, match=r"^there is no order 3; expected 1 to 2$"):
        estimate.words(3)


def test_all_ways_to_give_a_text(tmp_path: Path) -> None:
    text = "\n".join(LINES).encode()
    (tmp_path / "x.txt").write_bytes(text)
    (tmp_path / "x.txt.gz").write_bytes(gzip.compress(text))
    (tmp_path / "x.txt.xz").write_bytes(lzma.compress(text))
    (tmp_path / "x.txt.zst").write_bytes(zstandard.compress(text))
    (tmp_path / "blanks.txt").write_bytes(text.replace(b" ", b" \t ").replace(b"\n", b" \n") + b"\n")
    ways = [
        *(tmp_path / name for name in ("x.txt", "x.txt.gz", "x.txt.xz", "x.txt.zst", "blanks.txt")),
        str(tmp_path / "x.txt"),
        LINES,
        iter(LINES),
        (line + "\n" for line in LINES),
        [line.split() for line in LINES],
        [tuple(line.split()) for line in LINES],
    ]
    made = set()
    for way in ways:
        train_ngram(way, 2, out=tmp_path / "x.arpa")
        made.add((tmp_path / "x.arpa").read_bytes())
    assert len(made) == 1
    train_ngram(LINES, 2, out=tmp_path / "x.arpa.gz")
    assert made == {gzip.decompress((tmp_path / "x.arpa.gz").read_bytes())}


def test_empty_lines_are_sentences(tmp_path: Path) -> None:
    assert train_ngram([*LINES, "", []], 2).report.sentences == len(LINES) + 2


def test_fallback_is_said() -> None:
    message = "^text: no 3-grams have the adjusted count 3; fallback discounts for order 3: 0.5, 1, 1.5$"
    with pytest.warns(DiscountWarning, match=message):
        training = train_ngram(LINES, 3)
    assert training.report.fallbacks == [(3, "no 3-grams have the adjusted count 3")]
    assert training.report.discounts[2] == (0.5, 1.0, 1.5)
    with pytest.warns(DiscountWarning, match="fallback discounts for order 3: 0.25, 0.5, 0.75$"):
        train_ngram(LINES, 3, fallback=(0.25, 0.5, 0.75))


def test_a_discount_out_of_range_falls_back() -> None:
    # Counts of counts of the words: 1 1 8 8, so D2 = 2 − 3 · (1/3) · 8/1.
    lines = [
        "a", "b b", *(f"{w} {w} {w}" for w in "cdefghij"), *(f"{w} {w} {w} {w}" for w in "klmnopqr"),
    ]  # fmt: skip
    message = "discount of 1-grams with the adjusted count 2 comes out as -6, outside 0 to 2; fallback"
    with pytest.warns(DiscountWarning, match=message):
        train_ngram(lines, 1)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "{path}: has no words; expected text"),
        (b"\n \n\n", "{path}: has no words; expected text"),
        (
            b"a b\nb\n",
            "{path}: has no 5-grams: its longest line has 2 words; expected a line of at least 3, or a lower order",
        ),
        (b"a b\nc \xff d\n", "{path}:2: the byte 0xff at byte 3 is not UTF-8"),
        (b"a b\nc\0d\n", "{path}:2: a NUL at byte 2; expected text"),
        (b"a b\r\r\nc d\r\n", "{path}:1: a carriage return at byte 4 within the line; expected one at its end only"),
        (b"a b\nc <s> d\n", "{path}:2: '<s>' is a word of the model itself; expected text without it"),
        (b"a </s>\n", "{path}:1: '</s>' is a word of the model itself; expected text without it"),
        (b"a b\n\n<unk>", "{path}:3: '<unk>' is a word of the model itself; expected text without it"),
    ],
)
def test_bad_text(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "x.txt"
    path.write_bytes(content)
    out = tmp_path / "x.arpa"
    with pytest.raises(FormatError) as error:
        train_ngram(path, 5, out=out)
    assert str(error.value) == message.format(path=path)
    assert [file.name for file in tmp_path.iterdir()] == ["x.txt"]


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([], "text: has no words; expected text"),
        (["a", "b\nc"], "text:2: a line break inside of a line; expected one line at a time"),
        (["a", "b \ud800"], "text:2: the byte 0xed at byte 3 is not UTF-8"),
        ([["a"], ["b c"]], "text:2: 'b c' is not a word; expected words that are not empty and have no blanks"),
        ([["a", ""]], "text:1: '' is not a word; expected words that are not empty and have no blanks"),
        ([["a", "b\t"]], "text:1: 'b\\t' is not a word; expected words that are not empty and have no blanks"),
        ([["a", "<s>"]], "text:1: '<s>' is a word of the model itself; expected text without it"),
    ],
)
def test_bad_lines(lines: list[str], message: str) -> None:
    with pytest.raises(FormatError) as error:
        train_ngram(lines, 1)
    assert str(error.value) == message


def test_discounts_without_fallback() -> None:
    with pytest.raises(FormatError) as error:
        train_ngram(["a b", "b"], 2, fallback=None)
    assert str(error.value) == (
        "text: the discounts of order 1 cannot be estimated: no 1-grams have the adjusted count 3; "
        "expected a larger or less repetitive text, or fallback discounts"
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"order": 0}, "order is 0; expected 1 to 9"),
        ({"order": 10}, "order is 10; expected 1 to 9"),
        ({"order": -1}, "order is -1; expected 1 to 9"),
        ({"threads": 0}, "threads is 0; expected at least 1"),
        ({"prune": [-1]}, "a pruning threshold is -1; expected 0 or more"),
        ({"prune": [0, 2, 1]}, "the pruning threshold 1 comes after 2; expected thresholds that do not fall"),
        (
            {"order": 2, "prune": [0, 1, 2]},
            "there are 3 pruning thresholds for a model of order 2; expected at most one for each order",
        ),
        ({"memory": 1000}, "memory is 1000 bytes; expected at least 65536"),
        ({"memory": "much"}, "'much' is not an amount of memory; expected one such as 500M or 2G"),
        (
            {"fallback": (0.5, 2.5, 3)},
            "the fallback discount for the count 2 is 2.500000; expected more than 0 and at most 2",
        ),
    ],
)
def test_bad_options(options: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError) as error:
        train_ngram(LINES, **options)  # type: ignore[arg-type]
    assert str(error.value) == message


def test_a_scratch_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="no scratch file can be made: No such file or directory"):
        train_ngram(["a b c"] * 1000, 2, memory="64K", scratch=tmp_path / "none")


def test_sizes() -> None:
    for bad in ("9" * 400, "1" * 40_000 + "x", "1" + " " * 40_000 + "x", "-1G", "1e3"):
        with pytest.raises(UsageError, match="is not an amount of memory; expected one such as 500M or 2G"):
            parse_size(bad)
    assert [parse_size(size) for size in ("7", "1K", "1k", "2 MB", "1GiB", "0.5T", 12)] == [
        7, 1024, 1024, 2 << 20, 1 << 30, 1 << 39, 12,
    ]  # fmt: skip


def test_progress_is_told() -> None:
    told: list[tuple[str, int, int]] = []
    report = train_ngram(LINES, 2, progress=lambda *what: told.append(what)).report
    assert [stage for stage, _, _ in told] == ["counting", "sorting", "sorting", "writing", "writing"]
    assert told[0] == ("counting", report.tokens, 0)
    assert told[-1] == ("writing", sum(report.kept), sum(report.kept))


def test_an_error_in_a_callback_ends_training(tmp_path: Path) -> None:
    def progress(stage: str, done: int, total: int) -> None:
        if stage == "writing":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train_ngram(LINES, 2, out=tmp_path / "x.arpa", threads=2, progress=progress)
    assert not list(tmp_path.iterdir())


def test_a_very_long_word(tmp_path: Path) -> None:
    long = "x" * 100_000
    train_ngram([*LINES, f"{long} a"], 2, out=tmp_path / "x.arpa")
    assert (long, "a") in read_arpa(tmp_path / "x.arpa")[1]


def test_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = tmp_path / "x.txt"
    text.write_text("\n".join(LINES))
    assert main(["lm", "train", str(text), "--order", "2", "--out", str(tmp_path / "x.arpa")]) == 0
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.splitlines()[-3:] == [
        "24 words, 7 different ones, in 7 lines",
        "1-grams: 10, discounts 0.1111 1.9167 3.0000",
        "2-grams: 23, discounts 0.5714 1.7143 3.0000",
    ]
    assert [line.split(":")[0] for line in captured.err.splitlines()[:-3]] == ["counting", "sorting", "writing"]
    assert len(read_arpa(tmp_path / "x.arpa")[1]) == 23

    assert main(["lm", "train", str(text), "--order", "3", "--prune", "0 1", "-o", str(tmp_path / "y")]) == 0
    captured = capsys.readouterr()
    assert messages(captured.err) == (
        f"warning: {text}: no 3-grams have the adjusted count 3; fallback discounts for order 3: 0.5, 1, 1.5\n"
    )
    assert main(["lm", "train", str(text), "--order", "3", "--no-fallback"]) == 1
    assert "error: " in capsys.readouterr().err
    assert main(["lm", "train", str(text), "--prune", "x"]) == 2
    assert capsys.readouterr().err == "error: --prune is 'x'; expected counts such as '0 0 1'\n"
    assert main(["lm", "train", str(text), "--order", "12"]) == 2
    assert capsys.readouterr().err == "error: order is 12; expected 1 to 9\n"


def block_of(order: int, *lines: str) -> tuple[NgramTrainer, np.ndarray, bytes]:
    """A trainer, the block that it gave, and its sorted run."""
    trainer = NgramTrainer({"order": order})
    text = TrainingText("text", trainer)
    text.feed("".join(f"{line}\n" for line in lines).encode())
    text.finish()
    assert trainer.waiting == sum(len(line.split()) + 2 for line in lines)
    block = trainer.take_block()
    assert trainer.waiting == 0
    run = io.BytesIO()
    sort_ngrams(block, order, run.write)
    return trainer, block, run.getvalue()


def test_a_block_whose_run_did_not_come_back_is_an_error() -> None:
    trainer, _, _ = block_of(2, "a b", "b b a")
    problem = "has 7 words and ends of lines, but 0 were counted; expected the runs of all blocks"
    with pytest.raises(FormatError, match=problem):
        trainer.estimate("text", None)


def test_a_sorted_run_has_ngrams_with_their_last_word_first() -> None:
    _, block, run = block_of(2, "a b", "b b a", "a b")
    a, b = 3, 4
    assert block.tolist() == [1, a, b, 2, 1, b, b, a, 2, 1, a, b, 2]
    records = np.frombuffer(run, dtype=np.uint32).reshape(-1, 4).tolist()
    assert records == [
        [2, a, 1, 0],
        [2, b, 2, 0],
        [a, 1, 2, 0],
        [a, b, 1, 0],
        [b, 1, 1, 0],
        [b, a, 2, 0],
        [b, b, 1, 0],
    ]


@pytest.mark.parametrize(
    ("change", "record"),
    [
        (lambda words: words[:-1], 7),  # cut off
        (lambda words: [*words[4:8], *words[:4]], 2),  # not sorted
        (lambda words: [*words[:4], *words[:4]], 2),  # the same again
        (lambda words: [5, *words[1:]], 1),  # a word that the text has not
        (lambda words: [2, 0, *words[2:]], 1),  # <unk>
        (lambda words: [1, 1, *words[2:]], 1),  # <s> at the end
        (lambda words: [2, 2, *words[2:]], 1),  # </s> inside
        (lambda words: [2, 3, 0, 0, *words[4:]], 1),  # no count
    ],
)
def test_a_damaged_run_is_refused(change: Callable[[list[int]], list[int]], record: int, tmp_path: Path) -> None:
    trainer, _, run = block_of(2, "a b", "b b a", "a b")
    changed = np.array(change(np.frombuffer(run, dtype=np.uint32).tolist()), dtype=np.uint32)
    (tmp_path / "run").write_bytes(changed.tobytes())
    with pytest.raises(FormatError, match=f"run: record {record} is damaged; expected a sorted run of 2-grams"):
        trainer.add_run(str(tmp_path / "run"))


def test_all_runs_must_come_back(tmp_path: Path) -> None:
    trainer, _, run = block_of(2, "a b", "b b a", "a b")
    with pytest.raises(OSError, match="No such file"):
        trainer.add_run(str(tmp_path / "none"))
    with pytest.raises(FormatError, match="text: has 10 words and ends of lines, but 0 were counted"):
        trainer.estimate("text", None)
    trainer, _, run = block_of(2, "a b", "b b a", "a b")
    (tmp_path / "run").write_bytes(run[:-16])
    trainer.add_run(str(tmp_path / "run"))
    with pytest.raises(
        FormatError, match="text: has 10 words and ends of lines, but 9 were counted; expected the runs"
    ):
        trainer.estimate("text", None)
    # As many words, but not those of the text: (b, a) has no context.
    trainer, _, run = block_of(3, "a b", "c c")
    records = np.frombuffer(run, dtype=np.uint32).reshape(-1, 5).copy()
    records[-1, 0:3] = 5, 4, 4
    (tmp_path / "run").write_bytes(records.tobytes())
    trainer.add_run(str(tmp_path / "run"))
    with pytest.raises(FormatError, match="sorted runs: an n-gram has no context; expected all runs"):
        trainer.estimate("text", None)


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ([3, 2], "word 0 of a block is number 3; expected sentences from <s> to </s>"),
        ([1, 3, 1, 2], "word 2 of a block is number 1; expected sentences"),
        ([1, 0, 2], "word 1 of a block is number 0; expected sentences"),
        ([1, 3], "a block ends within a sentence; expected whole sentences"),
    ],
)
def test_what_is_no_block_is_refused(words: list[int], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        sort_ngrams(np.array(words, dtype=np.uint32), 2, lambda data: None)
    with pytest.raises(ValueError, match="order is 0; expected 1 to 9"):
        sort_ngrams(np.array([1, 2], dtype=np.uint32), 0, lambda data: None)


def test_machines_write_a_file() -> None:
    with pytest.raises(UsageError, match="machines count n-grams for a file; expected `out`"):
        train_ngram(["a b"], 2, machines=DuckDB())
