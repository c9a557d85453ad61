"""Readers take time that grows with the size of their input and no faster, whatever the input is.

Each reader gets 40,000 characters of the same short piece, after beginnings that lead into its different parts. A
linear reader takes milliseconds, a quadratic one billions of steps. The bound is CPU time: other work does not matter.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import pairwise
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from small_table import table

from treeglot import TreeglotError, _core
from treeglot.base.files import iterate_lines, read_json
from treeglot.base.sizes import parse_size
from treeglot.base.toml import TomlFile
from treeglot.decode import SearchOptions, Translator
from treeglot.decode.kbest import read_kbest
from treeglot.decode.weights import read_weights
from treeglot.foreign import ForeignTranslator
from treeglot.foreign.config import read_config
from treeglot.foreign.grammar import read_grammar
from treeglot.foreign.input import input_line
from treeglot.foreign.weights import ForeignWeights, read_foreign_weights
from treeglot.lm import compile_ngram
from treeglot.parse.kbest import read_tree_lists
from treeglot.syntax import formats, heads
from treeglot.syntax.ccg import parse_category

SECONDS = 100.0 if "asan" in os.environ.get("LD_PRELOAD", "") else 5.0  # of CPU, for one input
LENGTH = 40_000
PIECES = (
    *"()[]{}<>\"'\\,-_=:;\t 1a.#&é", "|||", " ||| ", "0-0 ", "(A ", "(A b) ", "[X,1] ", "a=1 ", "a=1;", "a= 1 ", " 1",
    "<seg a=", 'a="', '<x translation="', '{"a":', "[{", "/>", "x0:X ", '"a" ', "a\t", "1\t", "\n", "\n\n", "a 1\n",
    "[a]\n", "a = 1\n", "<sentence ", "<a>",
)  # fmt: skip
RULE, ARPA = "[X] ||| a ||| b ||| ", "\\data\\\nngram 1=1\n\n\\1-grams:\n-1 "
DECODERS = ("cdec", "joshua", "moses", "travatar")


def all_of(values: Iterator[Any]) -> None:
    for _ in values:
        pass


def markup(path: Path) -> None:
    translator = Translator(table(), {"p": 1.0}, options=SearchOptions(markup=True))
    for line in list(iterate_lines(path))[:1]:
        if line.count(" ") < 100:  # reading is meant, not search
            translator.translate(line)


def parser_grammar(place: int) -> Callable[[Path], None]:
    def read(path: Path) -> None:
        states, rules = b"ROOT\t0\t1 [0]\nS\t1\t1 [0]\nA\t2\t1 [0]\n", b"ROOT_0 -> S_0 1.0\nS_0 -> A_0 0.5\n"
        texts = [states, rules, b"A a [0.5]\nA UNK [0.1]\n"]
        texts[place] = path.read_bytes() + b"\n"
        first, second, third = zip(("states", "rules", "lexicon"), texts, strict=True)
        _core.SplitGrammar.read([(first, second, third)])

    return read


# Reader → what its input begins with.
READERS: dict[str, tuple[Callable[[Path], object], tuple[str, ...]]] = {
    **{
        name: (lambda path, name=name: all_of(formats.read(path, name)), begins)
        for name, begins in {
            "text": ("",),
            "brackets": ("", "(A ", "(A (B b) "),
            "egret": ("", "sentence 1 :\na\n", "sentence 1 :\na b\nA[0,0] => "),
            "jsonl": ("", '{"goal":0,"nodes":[', '{"'),
            "conllu": ("", "1\ta\ta\tA\tA\t", "# "),
            "conllx": ("", "1\ta\ta\tA\tA\t"),
            "pharaoh": ("", "0-0 "),
            "candc": ("", "(ncmod _ a_0 b_1)\n", "<c> "),
            "enju": ("", "<sentence ", "<sentence>", '<sentence id="a">', "<a", "<a ", "<a>"),
            "enju-standoff": ("", "0\t1\tsentence ", "0\t1\ttok "),
        }.items()
    },
    **{
        f"{what} of {decoder}": (lambda path, read=read, decoder=decoder: read(path, decoder), begins)
        for decoder in DECODERS
        for what, read, begins in (
            ("grammar", read_grammar, ("", RULE, "[X] ||| ", "[X] ||| a ||| ", "a ||| b ||| ")),
            ("weights", read_foreign_weights, ("", "a ", "[weight]\nLM0= ", "LM0= ")),
            ("configuration", read_config, ("", "a ", "a = ", "[weight]\nLM0= ", "tm = ")),
            ("input", lambda path, decoder: [input_line(line, decoder) for line in iterate_lines(path)], ("", "<seg ")),
        )
    },
    "weights": (read_weights, ("", "a ")),
    "k-best list": (lambda path: all_of(read_kbest(path)), ("", "0 ||| ", "0 ||| a ||| ", "0 ||| a ||| x= ")),
    "k-best trees": (lambda path: all_of(read_tree_lists(path)), ("", "sentence 1 :\n", "1 best:\n")),
    "TOML": (lambda path: TomlFile(path).line_of(("a",)), ("", "a = ", 'a = "', "a = '''")),
    "JSON": (read_json, ("", '{"a":', '{"a":"', '{"a":1')),
    "ARPA": (lambda path: compile_ngram(path, path.with_name("lm.bin")), ("", ARPA, "\\data\\\n", ARPA + "a\t-1\n")),
    "head table": (lambda path: heads.load(str(path)), ("", "A ", "A left ")),
    "category": (lambda path: parse_category(path.read_text()), ("", "(")),
    "size": (lambda path: parse_size(path.read_text()), ("", "1.")),
    "markup": (markup, ("", "<x ", '<x translation="')),
    **{f"parser's {name}": (parser_grammar(i), begins) for i, (name, begins) in enumerate(
        (("states", ("", "S\t1\t1 ", "S\t1\t1 [0 ")), ("rules", ("", "S_0 -> ")), ("lexicon", ("", "A a ["))))
    },
}  # fmt: skip


@contextmanager
def bounded(seconds: float) -> Iterator[None]:
    """Fails after so many seconds of CPU time."""

    def late(number: int, frame: FrameType | None) -> None:
        raise AssertionError(f"more than {seconds} s of CPU time")

    before = signal.signal(signal.SIGPROF, late)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("read", "begins"), READERS.values(), ids=READERS.keys())
def test_no_reader_is_superlinear(tmp_path: Path, read: Callable[[Path], object], begins: tuple[str, ...]) -> None:
    path = tmp_path / "input"
    for begin in begins:
        for piece in PIECES:
            path.write_text(begin + piece * (LENGTH // len(piece)))
            # OSError: configurations name files.
            with bounded(SECONDS), suppress(TreeglotError, ValueError, OSError):
                read(path)


def test_a_rule_with_many_features(tmp_path: Path) -> None:
    features = 40_000
    for decoder, feature in (("cdec", "f{0}=1"), ("joshua", "f{0}=1"), ("joshua", "1"), ("cdec", "1")):
        path = tmp_path / "grammar"
        path.write_text("[X] ||| a ||| b ||| " + " ".join(feature.format(i) for i in range(features)) + "\n")
        with bounded(SECONDS):
            assert len(read_grammar(path, decoder).features) == features  # type: ignore[arg-type]


def test_a_language_model_with_many_words_is_written_as_text(tmp_path: Path) -> None:
    """A search for the words of its 2-grams among all pairs would take minutes."""
    words = [f"w{i}" for i in range(100_000)]
    ones = "".join(f"-5\t{word}\t-0.5\n" for word in ["<s>", "</s>", "<unk>", *words])
    twos = "".join(f"-1\t{a} {b}\n" for a, b in pairwise(words))
    head = f"\\data\\\nngram 1={len(words) + 3}\nngram 2={len(words) - 1}\n"
    (tmp_path / "a.arpa").write_text(f"{head}\n\\1-grams:\n{ones}\n\\2-grams:\n{twos}\n\\end\\\n")
    model = compile_ngram(tmp_path / "a.arpa", tmp_path / "lm.bin")
    with bounded(SECONDS):
        model.write_arpa(tmp_path / "b.arpa")
    lines = (tmp_path / "b.arpa").read_text().splitlines()
    assert lines[lines.index("\\2-grams:") + 1 : -2] == twos.splitlines()


def test_a_hypothesis_with_many_features(tmp_path: Path) -> None:
    path = tmp_path / "list"
    for text in (" ".join(f"f{i}= 1" for i in range(40_000)), "f= " + "1 " * 40_000):
        path.write_text(f"0 ||| a ||| {text} ||| 1\n")
        with bounded(SECONDS):
            (entry,) = read_kbest(path)
        assert len(entry.features) == 40_000


@pytest.mark.parametrize(
    "line",
    [
        f'<x translation="a">{"b " * 20_000}</x>',
        '<x translation="a">b</x> ' * 20_000,
        f'<x translation="{"||".join(f"a{i}" for i in range(100_000))}">b</x>',
        " ".join(f"b{i}" for i in range(20_000)),
    ],
    ids=["one wide part", "many parts", "many translations", "many unknown words"],
)
def test_long_lines_with_markup(line: str) -> None:
    """No cells are kept but those that rules or given translations may have, and no list is searched for each word."""
    translator = Translator(table(), {"p": 1.0}, options=SearchOptions(markup=True))
    with bounded(SECONDS):
        assert translator.translate(line).text


@pytest.mark.parametrize("glue", [True, False], ids=["built in", "in the grammar"])
def test_long_lines_with_rules_of_whole_sentences(tmp_path: Path, glue: bool) -> None:
    """Cells above the span limit are kept where the sentence begins, and nowhere else."""
    own = "[GOAL] ||| <s> ||| <s> ||| 0\n[GOAL] ||| [GOAL,1] [X,2] ||| [GOAL,1] [X,2] ||| 0\n"
    own += "[GOAL] ||| [GOAL,1] </s> ||| [GOAL,1] </s> ||| 0\n"
    path = tmp_path / "grammar"
    path.write_text("[X] ||| a ||| b ||| 0\n[GOAL] ||| c [X,1] ||| [X,1] c ||| 0\n" + ("" if glue else own))
    weights = ForeignWeights("joshua", {"tm_pt_0": 1.0, "OOVPenalty": -1.0})
    translator = ForeignTranslator(read_grammar(path, "joshua"), weights, glue=glue)
    with bounded(SECONDS):
        assert translator.translate("a d " * 10_000).text == " ".join(["b d"] * 10_000)
