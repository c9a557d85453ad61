"""ARPA files: what is read, and how what is not is refused."""

from __future__ import annotations

import gzip
import lzma
import random
from decimal import Context, Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import zstandard
from lm_pieces import score_word

from treeglot import FormatError, UsageError
from treeglot.lm import NgramModel, compile_ngram, load_ngram, train_ngram

GOOD = """\\data\\
ngram 1=4
ngram 2=3
ngram 3=1

\\1-grams:
-1.5	<unk>
-99	<s>	-0.4
-0.5	</s>
-0.7	a	-0.3

\\2-grams:
-0.2	<s> a	-0.1
-0.6	a a
-0.4	a </s>	0

\\3-grams:
-0.1	<s> a a

\\end\\
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "x.arpa"


def read(path: Path, text: str | bytes) -> NgramModel:
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return load_ngram(path)


def test_good(path: Path) -> None:
    model = read(path, GOOD)
    assert (model.order, len(model), model.counts) == (3, 4, [4, 3, 1])
    assert [model.word(i) for i in range(4)] == ["<unk>", "<s>", "</s>", "a"]
    # <s> a a: -0.2 - 0.1; then </s>: "a a </s>" backs off from "a a", which has no backoff, to "a </s>"
    assert model.score("a a") == pytest.approx(-0.2 - 0.1 - 0.4)
    # <unk>: backoffs of "<s> a" and "a"; </s>: nothing begins with <unk>
    assert model.score("a z") == pytest.approx(-0.2 + (-0.1 - 0.3 - 1.5) - 0.5)
    assert model.score("a", eos=False) == pytest.approx(-0.2)
    assert model.score("a", bos=False) == pytest.approx(-0.7 - 0.4)
    assert model.score("", eos=False) == 0
    assert repr(model) == f"<NgramModel of order 3, fast from {path}>"


@pytest.mark.parametrize(
    "variant",
    [
        "\n\n" + GOOD,
        "# made by hand\n" + GOOD,
        GOOD.replace("\n\n\\", "\n\n\n\n\\"),
        GOOD.replace("\n\n\\", "\n\\"),
        GOOD.replace("\t", " "),
        GOOD.removesuffix("\n"),
        GOOD + "\n  \n",
        GOOD.replace("<unk>", "<UNK>"),
        GOOD.replace("a a\n", "a a\t0\n"),
        GOOD.replace("-0.4\n", "-4e-1\n"),
    ],
)
def test_variants(path: Path, variant: str) -> None:
    assert read(path, variant).score("a z a a") == read(path, GOOD).score("a z a a")


@pytest.mark.parametrize(("suffix", "opener"), [(".gz", gzip.open), (".xz", lzma.open), (".zst", zstandard.open)])
def test_compressed(tmp_path: Path, suffix: str, opener) -> None:
    path = tmp_path / f"x.arpa{suffix}"
    with opener(path, "wb") as stream:
        stream.write(GOOD.encode())
    assert load_ngram(path).score("a a") == pytest.approx(-0.7)
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(FormatError):
        load_ngram(path)


def test_without_unknown(path: Path) -> None:
    model = read(path, GOOD.replace("1=4", "1=3").replace("-1.5\t<unk>\n", ""))
    assert model.core.unknown_added
    assert len(model) == 4
    assert model.score("z", bos=False, eos=False) == -100
    assert not read(path, GOOD).core.unknown_added


def test_both_unknowns_are_two_words(path: Path) -> None:
    model = read(path, GOOD.replace("1=4", "1=5").replace("-0.7\ta", "-0.9\t<UNK>\n-0.7\ta"))
    assert model.score("<UNK>", bos=False, eos=False) == pytest.approx(-0.9)
    assert model.score("z", bos=False, eos=False) == pytest.approx(-1.5)


def test_a_missing_suffix_becomes_a_blank(path: Path) -> None:
    model = read(path, GOOD.replace("2=3", "2=2").replace("-0.6\ta a\n", ""))
    assert model.core.blanks == [0, 1, 0]
    assert model.full_scores("a a", eos=False)[1] == pytest.approx((-0.1, 3, False))
    assert model.full_scores("a a", bos=False, eos=False)[1] == pytest.approx((-1.0, 2, False))  # -0.7 - 0.3


def test_a_context_may_be_a_blank_that_comes_later(path: Path) -> None:
    text = """\\data\\
ngram 1=5
ngram 2=3
ngram 3=2
ngram 4=2

\\1-grams:
-1	<unk>
-99	<s>	-0.5
-1	</s>
-1	a	-0.5
-1	b	-0.5

\\2-grams:
-0.5	<s> a	-0.1
-0.5	a a	-0.1
-0.5	a b	-0.1

\\3-grams:
-0.4	<s> a a	-0.2
-0.4	a a b	-0.2

\\4-grams:
-0.3	a b a a
-0.3	<s> a a b

\\end\\
"""
    with pytest.raises(FormatError) as error:
        read(path, text)
    assert str(error.value) == f"{path}:24: the 4-gram 'a b a a' begins with 'a b a', which is no 3-gram"
    text = text.replace("4=2", "4=3").replace("-0.3\t<s> a a b", "-0.3\t<s> a a b\n-0.3\ta a b a")
    model = read(path, text)
    assert model.core.blanks == [0, 1, 2, 0]  # b a; b a a, a b a
    assert model.score("a b a a", bos=False, eos=False) == pytest.approx(-1 - 0.5 + (-0.1 - 0.5 - 1) - 0.3)


def change(old: str, new: str) -> str:
    assert old in GOOD
    return GOOD.replace(old, new, 1)


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("", 0, "ends without \\data\\"),
        ("hello\n", 1, "'hello' found; expected \\data\\"),
        ("\n\n\\1-grams:\n", 3, "'\\1-grams:' found; expected \\data\\"),
        ("\\data\\\n\n", 2, "\\data\\ without counts; expected ngram 1=COUNT"),
        (change("ngram 2=3", "ngram 2:3"), 3, "'ngram 2:3' is not a count; expected ngram 2=COUNT"),
        (change("ngram 2=3", "ngram 2=-3"), 3, "'ngram 2=-3' is not a count; expected ngram 2=COUNT"),
        (change("ngram 2=3", "ngram 2=3x"), 3, "'ngram 2=3x' is not a count; expected ngram 2=COUNT"),
        (change("ngram 2=3", "2=3"), 3, "'2=3' is not a count; expected ngram 2=COUNT"),
        (change("ngram 2=3\n", ""), 3, "a count of 3-grams; expected ngram 2=COUNT"),
        (change("ngram 1=4", "ngram 1=5"), 11, "4 1-grams end here; \\data\\ promises 5"),
        (change("ngram 1=4", "ngram 1=3"), 10, "more than the 3 1-grams that \\data\\ promises"),
        (change("ngram 3=1", "ngram 3=99999999999999"), 19, "1 3-grams end here; \\data\\ promises 99999999999999"),
        (change("\\2-grams:", "\\3-grams:"), 12, "'\\3-grams:' found; expected \\2-grams:"),
        (change("\\2-grams:", "2-grams:"), 12, "'2-grams:' found; expected \\2-grams:"),
        (change("\\3-grams:\n-0.1	<s> a a\n\n", ""), 17, "'\\end\\' found; expected \\3-grams:"),
        (change("\\end\\", "\\4-grams:"), 20, "'\\4-grams:' found; expected \\end\\"),
        (change("\\end\\\n", ""), 19, "ends before \\end\\"),
        (GOOD[: GOOD.index("\\3-grams:")], 16, "ends before \\3-grams:"),
        (GOOD[: GOOD.index("-0.4	a </s>")], 14, "2 2-grams end here; \\data\\ promises 3"),
        (GOOD + "\\data\\\n", 21, "'\\data\\' follows \\end\\; expected nothing"),
        (change("-0.7	a	-0.3", "-0.7	a	-0.3	x"), 10,
         "'-0.7\\x09a\\x09-0.3\\x09x' has 4 fields; expected a log10 probability, 1 word and a backoff"),
        (change("-0.6	a a", "-0.6	a"), 14,
         "'-0.6\\x09a' has 2 fields; expected a log10 probability, 2 words and a backoff"),
        (change("<s> a a", "<s> a a a a"), 18,
         "'-0.1\\x09<s> a a a a' has 6 fields; expected a log10 probability, 3 words"),
        (change("-0.6	a a", "-0.6	a  a"), 14,
         "an empty field in '-0.6\\x09a  a'; expected single tabs or spaces between fields"),
        (change("-0.6	a a", "-0.6	a a "), 14,
         "an empty field in '-0.6\\x09a a '; expected single tabs or spaces between fields"),
        (change("-0.6	a a", "minus	a a"), 14, "'minus' is not a finite number; expected a log10 probability"),
        (change("-0.6	a a", "nan	a a"), 14, "'nan' is not a finite number; expected a log10 probability"),
        (change("-0.6	a a", "-inf	a a"), 14, "'-inf' is not a finite number; expected a log10 probability"),
        (change("-0.6	a a", "-1e99	a a"), 14, "'-1e99' is not a finite number; expected a log10 probability"),
        (change("-0.6	a a", "-0.6.1	a a"), 14, "'-0.6.1' is not a finite number; expected a log10 probability"),
        (change("-0.6	a a", "0.6	a a"), 14, "the log10 probability 0.6 is above 0"),
        (change("-0.6	a a", "-2e38	a a"), 14, "the log10 value -2e38 is too large; expected -1e6 to 1e6"),
        (change("-0.7	a	-0.3", "-0.7	a	1e7"), 10, "the log10 value 1e7 is too large; expected -1e6 to 1e6"),
        (change("-0.7	a	-0.3", "-0.7	a	inf"), 10, "'inf' is not a finite number; expected a log10 backoff"),
        (change("<s> a a", "<s> a a	-0.2"), 18, "the backoff -0.2 of a 3-gram; the highest order has none"),
        (change("-0.6	a a", "-0.6	a b"), 14, "the word 'b' is not among the 1-grams"),
        (change("-1.5	<unk>", "-1.5	b").replace("a a\n", "<unk> a\n", 1), 14,
         "the word '<unk>' is not among the 1-grams"),
        (change("-0.5	</s>", "-0.5	a"), 10, "the 1-gram 'a' is here a second time"),
        (change("-0.5	</s>", "-0.5	<unk>"), 9, "the 1-gram '<unk>' is here a second time"),
        (change("-0.6	a a", "-0.6	<s> a"), 14, "the 2-gram '<s> a' is here a second time"),
        (change("<s> a a", "</s> a a"), 18, "the 3-gram '</s> a a' begins with '</s> a', which is no 2-gram"),
        (change("-99	<s>	-0.4\n", "").replace("1=4", "1=3").replace("<s>", "a"), 13,
         "the 2-gram 'a a' is here a second time"),
        (change("	a	", "	\udcff	").encode(errors="surrogateescape"), 10,
         "the byte 0xff at byte 6 is not UTF-8"),
        (change("	a	", "	\0	"), 10, "a NUL at byte 6; expected text"),
        (GOOD.replace("\n", "\r\r\n"), 1, "a carriage return at byte 7 within the line; expected one at its end only"),
    ],
)  # fmt: skip
def test_refused(path: Path, text: str | bytes, line: int, problem: str) -> None:
    with pytest.raises(FormatError) as error:
        read(path, text)
    assert str(error.value) == (f"{path}:{line}: {problem}" if line else f"{path}: {problem}")


def test_orders_above_nine(path: Path) -> None:
    counts = "".join(f"ngram {n}=0\n" for n in range(1, 11))
    with pytest.raises(FormatError, match=r":11: a model of order 10; orders 1 to 9 can be read"):
        read(path, f"\\data\\\n{counts}\n")


@pytest.mark.parametrize("marker", ["<s>", "</s>"])
def test_sentence_markers_are_needed(path: Path, marker: str) -> None:
    text = f"\\data\\\nngram 1=2\n\n\\1-grams:\n-1\t{marker}\n-1\tx\n\n\\end\\\n"
    missing = {"<s>": "</s>", "</s>": "<s>"}[marker]
    with pytest.raises(FormatError) as error:
        read(path, text)
    assert str(error.value) == f"{path}: has no 1-gram {missing}"


def test_every_cut_is_refused(path: Path) -> None:
    for length in range(GOOD.index("\\end\\")):
        with pytest.raises(FormatError):
            read(path, GOOD[:length])


def test_order_one(path: Path) -> None:
    model = read(path, "\\data\\\nngram 1=3\n\n\\1-grams:\n-0.5\t</s>\n-99\t<s>\n-0.7\ta\n\n\\end\\\n")
    assert model.order == 1
    assert model.score("a a") == pytest.approx(-1.9)
    assert model.core.begin_state() == score_word(model, model.core.begin_state(), "a")[1]


def test_numbers_are_the_nearest_floats(path: Path) -> None:
    draw = random.Random(18)
    half = [Fraction(draw.randrange(1 << 23, 1 << 24) * 2 + 1, 1 << draw.randrange(1, 34)) for _ in range(60)]
    numbers = [f"{draw.randrange(10**digits)}e-{draw.randrange(12)}" for digits in range(1, 18) for _ in range(12)]
    numbers += [f"{draw.random() * 9:.{digits}f}" for digits in range(1, 18) for _ in range(12)]
    numbers += ["0", "0.0", "1e-50", "1.17549435e-38", "1e38", "5e-324", "16777217", "16777219", "0.000001e6"]
    for number in half:  # just between two floats, and a little beside
        digits = str(Context(prec=60).divide(Decimal(number.numerator), Decimal(number.denominator)))
        assert Fraction(digits) == number
        numbers += [digits, digits + "0001", digits[:-1] + "4999", str(Context(prec=16).plus(Decimal(digits)))]
    numbers = [number for number in numbers if float(number) < 1e6]
    assert len(numbers) > 300
    lines = "".join(f"-{number}\tw{i}\n" for i, number in enumerate(numbers))
    counts = f"\\data\\\nngram 1={len(numbers) + 2}\n\n\\1-grams:\n-99\t<s>\n-1\t</s>\n"
    model = read(path, counts + lines + "\n\\end\\\n")
    for i, number in enumerate(numbers):
        found = np.float32(-model.score(f"w{i}", bos=False, eos=False))
        near = [found, np.nextafter(found, np.float32(0)), np.nextafter(found, np.float32(np.inf))]
        distances = [abs(Fraction(float(one)) - Fraction(number)) for one in near]
        assert distances[0] == min(distances), number
        if distances.count(distances[0]) > 1:  # the even one of two
            assert found.view(np.uint32) % 2 == 0, number


def test_words_shared_with_the_line_before(path: Path) -> None:
    """<unk> and <UNK> are told apart in the same place of two lines."""
    text = "\\data\\\nngram 1=4\nngram 2=2\n\n\\1-grams:\n-1\t<s>\n-1\t</s>\n-1\t<UNK>\n-1\ta\n\n\\2-grams:\n"
    assert read(path, text + "-0.5\t<UNK> a\n-0.5\ta a\n\n\\end\\\n").counts == [4, 2]
    with pytest.raises(FormatError, match="the word '<unk>' is not among the 1-grams"):
        read(path, text + "-0.5\t<UNK> a\n-0.5\t<unk> a\n\n\\end\\\n")


def test_other_files(tmp_path: Path) -> None:
    kenlm = tmp_path / "kenlm.bin"
    kenlm.write_bytes(b"mmap lm http://kheafield.com/code format version 5\n\0" + bytes(100))
    with pytest.raises(FormatError, match="is a binary file of KenLM; expected an ARPA file or one that Treeglot"):
        load_ngram(kenlm)
    with pytest.raises(FileNotFoundError):
        load_ngram(tmp_path / "none")
    with pytest.raises(FileNotFoundError):
        compile_ngram(tmp_path / "none", tmp_path / "out")
    assert [p.name for p in tmp_path.iterdir()] == ["kenlm.bin"]


def test_what_is_compiled_is_not_compiled_again(tmp_path: Path) -> None:
    kenlm, once = tmp_path / "kenlm.bin", tmp_path / "once.lm"
    kenlm.write_bytes(b"mmap lm http://kheafield.com/code format version 5\n\0" + bytes(100))
    compile_ngram(train_ngram(["a a a b", "a b b", "b a a c", "c d e", "d a f", "e f a g a", "b a"], order=2), once)
    for path, problem in ((kenlm, "is a binary file of KenLM"), (once, "is a compiled file; expected an ARPA file")):
        with pytest.raises(FormatError, match=f"{path.name}: {problem}"):
            compile_ngram(path, tmp_path / "again.lm")
    assert not (tmp_path / "again.lm").exists()


def test_what_training_estimated(tmp_path: Path) -> None:
    lines = ["a a a b", "a b b", "b a a c", "c d e", "d a f", "e f a g a", "b a"]
    training = train_ngram(lines, order=2)
    written = train_ngram(lines, order=2, out=tmp_path / "x.arpa")
    assert compile_ngram(training).score("a b x") == pytest.approx(
        load_ngram(tmp_path / "x.arpa").score("a b x"), abs=1e-6
    )
    with pytest.raises(UsageError, match="nothing to compile"):
        compile_ngram(written)
