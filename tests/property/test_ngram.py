"""N-gram queries: equal to KenLM's and to the definition, from left to right and in any bracketing."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from arpa import WORDS, Model, models, slow_score, slow_text, texts, to_arpa, write
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from lm_pieces import ids, score_rule, score_word
from peer_lm import kenlm, needs_kenlm

from treeglot import FormatError
from treeglot._core import ArpaReader, ChartState, NgramLayout, NgramState
from treeglot.lm import NgramModel

LAYOUTS = st.sampled_from(["fast", "small"])


def build(model: Model, layout: str = "fast") -> NgramModel:
    reader = ArpaReader("random.arpa")
    reader.feed(to_arpa(model).encode())
    return NgramModel(reader.finish(NgramLayout[layout]))


@given(models((1, 6)), LAYOUTS)
@settings(max_examples=60)
def test_tables_in_files_give_the_same_bytes(model: Model, layout: str) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file, memory in (("here", 0), ("there", 1)):
            reader = ArpaReader("random.arpa", 0, memory, name)
            reader.feed(to_arpa(model).encode())
            assert reader.spills == (memory == 1 and len(model) > 1)
            if reader.spills:
                with pytest.raises(RuntimeError, match=r"tables of random\.arpa are in files; expected write"):
                    reader.finish(NgramLayout[layout])
            reader.write(str(folder / file), NgramLayout[layout])
            with pytest.raises(RuntimeError, match=r"are in files|has ended; expected one end"):
                reader.finish(NgramLayout[layout])
        assert (folder / "here").read_bytes() == (folder / "there").read_bytes()
        assert sorted(path.name for path in folder.iterdir()) == ["here", "there"]


@given(models((1, 4)), LAYOUTS)
@settings(max_examples=150)
def test_rest_costs_are_sums_over_all_contexts(model: Model, layout: str) -> None:
    """log10 of the sum over words c of p(c) p(w | c), by 1-grams and 2-grams; a sentence begins as often as it ends."""
    built = build(model, layout)
    if len(model) == 1:
        assert built.core.rests.size == 0
        return
    alone = {ngram[0]: value for ngram, value in model[0].items()}
    alone.setdefault("<unk>", (-100.0, None))
    often = {word: 10**log10 for word, (log10, _) in alone.items()}
    contexts = {**often, "<s>": often["</s>"], "</s>": 0.0}
    for word, (log10, _) in alone.items():
        if word == "<s>":
            continue
        found = 0.0
        for context, share in contexts.items():
            both = model[1].get((context, word))
            found += share * (10 ** both[0] if both is not None else 10 ** (log10 + (alone[context][1] or 0.0)))
        expected = math.log10(found) if 0 < found <= 1 else log10
        assert built.core.rests[built.id(word)] == pytest.approx(expected, abs=1e-4)


@contextmanager
def in_kenlm(model: Model) -> Iterator[Any]:
    quiet = kenlm.Config()
    quiet.show_progress = False
    quiet.arpa_complain = kenlm.ARPALoadComplain.NONE
    with tempfile.TemporaryDirectory() as folder:
        try:
            loaded = kenlm.Model(str(write(model, Path(folder) / "x.arpa")), quiet)
        except OSError as error:
            assume("Avoid pruning" not in str(error))  # its tables are too small for so many blanks
            raise
        yield loaded


@needs_kenlm
@given(models(), st.lists(texts(), min_size=1, max_size=4), LAYOUTS, st.booleans(), st.booleans())
@settings(max_examples=150)
def test_equals_kenlm(model: Model, sentences: list[list[str]], layout: str, bos: bool, eos: bool) -> None:
    ours = build(model, layout)
    with in_kenlm(model) as theirs:
        for words in sentences:
            text = " ".join(words)
            assert ours.score(text, bos=bos, eos=eos) == pytest.approx(theirs.score(text, bos, eos), abs=1e-5)
            got = ours.full_scores(text, bos=bos, eos=eos)
            wanted = list(theirs.full_scores(text, bos, eos))
            assert [(s.length, s.oov) for s in got] == [(length, oov) for _, length, oov in wanted]
            assert [s.log10 for s in got] == pytest.approx([log10 for log10, _, _ in wanted], abs=1e-5)


@given(models((1, 9)), texts(12), LAYOUTS, st.booleans(), st.booleans())
@settings(max_examples=150)
def test_equals_the_definition(model: Model, words: list[str], layout: str, bos: bool, eos: bool) -> None:
    ours = build(model, layout)
    wanted = slow_text(model, words, bos, eos)
    assert ours.score(" ".join(words), bos=bos, eos=eos) == pytest.approx(wanted, abs=1e-3, rel=1e-6)
    state = ours.core.begin_state() if bos else NgramState()
    for i, word in enumerate([*words, *(["</s>"] if eos else [])]):
        score, state = score_word(ours, state, word)
        before = [*(["<s>"] if bos else []), *words[:i]]
        assert score.log10 == pytest.approx(slow_score(model, before, word), abs=1e-4)
        assert len(state) < len(model)


@given(models((1, 9)), st.lists(texts(12), max_size=40), LAYOUTS, st.booleans(), st.booleans())
@settings(max_examples=60)
def test_bulk_equals_one_by_one(model: Model, batch: list[list[str]], layout: str, bos: bool, eos: bool) -> None:
    ours = build(model, layout)
    ids, offsets = ours.encode([" ".join(words) for words in batch])
    log10, length = ours.score_words(ids, offsets, bos=bos, eos=eos)
    wanted = []
    for words in batch:
        state = ours.core.begin_state() if bos else NgramState()
        for word in [*words, *(["</s>"] if eos else [])]:
            score, state = score_word(ours, state, word)
            wanted.append(score)
    assert log10.tolist() == [score.log10 for score in wanted]
    assert length.tolist() == [score.length for score in wanted]
    sums = ours.score_texts(ids, offsets, bos=bos, eos=eos)
    assert sums.tolist() == [ours.score(" ".join(words), bos=bos, eos=eos) for words in batch]


@given(models((1, 6)), st.data(), st.integers(1, 8), LAYOUTS)
@settings(max_examples=60)
def test_rows_of_ngrams(model: Model, data: st.DataObject, width: int, layout: str) -> None:
    ours = build(model, layout)
    row = st.lists(st.sampled_from([*WORDS, "<s>", "</s>", "x"]), min_size=width, max_size=width)
    rows = data.draw(st.lists(row, max_size=30))
    numbers = np.array([ids(ours, words) for words in rows], np.uint32).reshape(-1, width)
    wanted = [slow_score(model, words[:-1], words[-1]) for words in rows]
    assert ours.core.score_ngrams(numbers).tolist() == pytest.approx(wanted, abs=1e-4)


def continuations(model: Model) -> list[list[str]]:
    known = [ngram[0] for ngram in model[0] if ngram[0] != "<s>"]
    return [list(words) for n in range(1, len(model)) for words in product(known, repeat=n)]


@given(models((2, 3)), st.lists(texts(4), min_size=2, max_size=12))
@settings(max_examples=80)
def test_equal_states_have_equal_futures(model: Model, histories: list[list[str]]) -> None:
    ours = build(model)
    by_state: dict[NgramState, list[str]] = {}
    for history in histories:
        state = NgramState()
        for word in history:
            _, state = score_word(ours, state, word)
        other = by_state.setdefault(state, history)
        for future in continuations(model):
            for i, word in enumerate(future):
                assert slow_score(model, [*history, *future[:i]], word) == pytest.approx(
                    slow_score(model, [*other, *future[:i]], word), abs=1e-9
                )


@needs_kenlm
@given(models((2, 5), pruned=False, unknown=True, backoff=0.0), st.lists(texts(6), min_size=2, max_size=12))
@settings(max_examples=80)
def test_states_are_as_short_as_kenlm_s(model: Model, histories: list[list[str]]) -> None:
    ours = build(model)
    with in_kenlm(model) as theirs:
        reached = []
        for history in histories:
            state = NgramState()
            their_state, after = kenlm.State(), kenlm.State()
            theirs.NullContextWrite(their_state)
            for word in history:
                _, state = score_word(ours, state, word)
                theirs.BaseScore(their_state, word, after)
                their_state, after = after, their_state
            reached.append((state, their_state))
        for (a, their_a), (b, their_b) in product(reached, repeat=2):
            assert (a == b) == (their_a == their_b)
            assert a != b or hash(a) == hash(b)


def brackets(random: Random, size: int) -> list:
    """A text of so many words in random brackets, some of them empty: a word is a string, a bracket a list."""
    parts: list = []
    while size > 0:
        part = random.randint(1, size)
        parts.append(random.choice([*WORDS, "a", "x"]) if part == 1 else brackets(random, part - random.randint(0, 1)))
        size -= part
    if random.random() < 0.1:
        parts.insert(random.randint(0, len(parts)), [])
    return parts


def leaves(tree: str | list) -> list[str]:
    return [tree] if isinstance(tree, str) else [word for part in tree for word in leaves(part)]


def by_rules(ours: NgramModel, tree: str | list, begins: bool = False) -> tuple[float, ChartState]:
    """The score of a bracketed text and its state, each bracket a rule."""
    total, parts = 0.0, []
    for part in [tree] if isinstance(tree, str) else tree:
        if isinstance(part, str):
            parts.append(part)
        else:
            score, state = by_rules(ours, part)
            total += score
            parts.append(state)
    score, state = score_rule(ours, parts, begins_sentence=begins)
    return total + score, state


@given(models((1, 9)), st.integers(0, 2**32), LAYOUTS)
@settings(max_examples=250)
def test_every_bracketing_scores_the_same(model: Model, seed: int, layout: str) -> None:
    ours = build(model, layout)
    random = Random(seed)
    for _ in range(20):
        tree = brackets(random, random.randint(0, 8))
        words = leaves(tree)
        score, state = by_rules(ours, tree)
        flat_score, flat_state = score_rule(ours, words)
        assert state == flat_state
        assert hash(state) == hash(flat_state)
        wanted = slow_text(model, words, bos=False, eos=False)
        assert score == pytest.approx(wanted, abs=1e-4)
        assert flat_score == pytest.approx(wanted, abs=1e-4)
        whole, _ = by_rules(ours, [tree, "</s>"], begins=True)
        assert whole == pytest.approx(slow_text(model, words), abs=1e-4)


@given(models((2, 3)), st.lists(texts(5), min_size=2, max_size=10), texts(3), texts(3))
@settings(max_examples=100)
def test_equal_chart_states_change_alike(
    model: Model, pieces: list[list[str]], before: list[str], after: list[str]
) -> None:
    ours = build(model)
    by_state: dict[ChartState, list[str]] = {}
    for piece in pieces:
        _, state = score_rule(ours, piece)
        other = by_state.setdefault(state, piece)
        changes = [
            slow_text(model, [*before, *text, *after], False, False) - slow_text(model, text, False, False)
            for text in (piece, other)
        ]
        assert changes[0] == pytest.approx(changes[1], abs=1e-9)


@given(models((1, 4)), st.integers(0, 2**32), LAYOUTS)
@settings(max_examples=200)
def test_a_damaged_arpa_file_is_refused_or_read(model: Model, seed: int, layout: str) -> None:
    """Whatever happens to a file: it is an error that names it, or a model that can be asked."""
    random = Random(seed)
    lines = to_arpa(model).encode().split(b"\n")
    for _ in range(random.randint(1, 3)):
        at, other = random.randrange(len(lines)), random.randrange(len(lines))
        match random.randrange(6):
            case 0:
                lines[at] = lines[other]
            case 1:
                lines[at], lines[other] = lines[other], lines[at]
            case 2:
                del lines[at]
            case 3:
                lines.insert(at, lines[other])
            case 4:
                where = random.randint(0, len(lines[at]))
                lines[at] = lines[at][:where] + bytes([random.randrange(256)]) + lines[at][where + 1 :]
            case 5:
                fields = lines[at].split(b"\t")
                fields[random.randrange(len(fields))] = random.choice(
                    [b"nan", b"", b"a a", b"-1e30", b"1e-60", b"ngram 2=9"]
                )
                lines[at] = b"\t".join(fields)
        if not lines:
            break
    data = b"\n".join(lines)
    reader = ArpaReader("x.arpa", len(data))
    try:
        while data:
            size = random.randint(1, 50)
            reader.feed(data[:size])
            data = data[size:]
        built = NgramModel(reader.finish(NgramLayout[layout]))
    except FormatError as error:
        assert error.file == "x.arpa"
        return
    text = " ".join(random.choice([*WORDS, "x"]) for _ in range(20))
    assert np.isfinite(built.score(text))
    assert np.isfinite(score_rule(built, text.split())[0])


def test_the_empty_piece_is_no_full_piece() -> None:
    model: Model = [{("<unk>",): (-1.0, 0.0), ("<s>",): (-99.0, 0.0), ("</s>",): (-1.0, 0.0), ("a",): (-1.0, -0.5)}, {}]
    ours = build(model)
    _, empty = score_rule(ours, [])
    _, word = score_rule(ours, ["x"])
    assert empty == ChartState()
    assert (empty.left, empty.full, word.left, word.full) == ([], False, [], True)
    assert empty != word
    assert score_rule(ours, ["a", empty, "x"])[0] == pytest.approx(-2.5)
    assert score_rule(ours, ["a", word])[0] == pytest.approx(-1.5)


def test_a_backoff_waits_for_the_next_word() -> None:
    """No n-gram begins with `w`, but `r w` has a backoff: it must not be charged where the text ends."""
    model: Model = [
        {("<s>",): (-99.0, 0.0), ("</s>",): (-2.0, 0.0), ("r",): (-1.0, -0.2), ("w",): (-1.0, 0.0)},
        {("r", "w"): (-0.5, -0.3), ("r", "r"): (-0.4, -0.3)},
        {("r", "r", "w"): (-0.3, None)},
    ]
    ours = build(model)
    assert by_rules(ours, ["r", ["w"]])[0] == pytest.approx(-1.5)
    assert by_rules(ours, ["r", ["w"], "</s>"])[0] == pytest.approx(-3.8)
