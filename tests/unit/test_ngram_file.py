"""Compiled n-gram models: what is written is what was asked, damage is noticed, the small layout keeps its bounds."""

from __future__ import annotations

import math
import pickle
import random
import re
import struct
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from arpa import Model, to_arpa

from treeglot import FormatError, UsageError, _core
from treeglot._core import write_sections
from treeglot.lm import NgramModel, compile_ngram, load_ngram
from treeglot.lm.ngram import RestWarning, install_ngram


def large_model(words: int = 300, ngrams: int = 6000) -> Model:
    """A trigram model with more different values than the small layout has codes."""
    draw = random.Random(1)
    vocabulary = [f"w{i}" for i in range(words)]
    model: Model = [{("<unk>",): (-4.0, 0.0), ("<s>",): (-99.0, -0.5), ("</s>",): (-1.0, 0.0)}]
    for word in vocabulary:
        model[0][word,] = (draw.uniform(-4, -1), draw.uniform(-1, 0))
    bigrams = {(draw.choice(vocabulary), draw.choice(vocabulary)) for _ in range(ngrams)}
    model.append({ngram: (draw.uniform(-3, 0), draw.choice([0.0, draw.uniform(-1, 0.2)])) for ngram in sorted(bigrams)})
    contexts = sorted(bigrams)
    trigrams: dict[tuple[str, ...], tuple[float, float | None]] = {}
    for _ in range(ngrams):
        a, b = draw.choice(contexts)
        trigrams[a, b, draw.choice(vocabulary)] = (draw.uniform(-2, 0), None)
    model.append(trigrams)
    return model


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("lm")
    (path / "x.arpa").write_text(to_arpa(large_model()))
    for layout in ("fast", "small"):
        compile_ngram(path / "x.arpa", path / layout, layout=layout)
    return path


@pytest.fixture(scope="module")
def texts() -> list[str]:
    draw = random.Random(2)
    ngrams = [ngram for ngrams in large_model() for ngram in ngrams]
    return [" ".join(" ".join(draw.choice(ngrams)) for _ in range(4)) for _ in range(500)]


def scores(model: NgramModel, texts: list[str]) -> list[float]:
    return model.score_texts(*model.encode(texts)).tolist()


@pytest.mark.parametrize("layout", ["fast", "small"])
def test_a_file_answers_as_what_it_was_written_from(folder: Path, texts: list[str], layout: str) -> None:
    in_memory = load_ngram(folder / "x.arpa", layout=layout)
    for verify in (True, False):
        mapped = load_ngram(folder / layout, verify=verify)
        assert mapped.layout == layout
        assert (mapped.order, mapped.counts, len(mapped)) == (in_memory.order, in_memory.counts, len(in_memory))
        assert scores(mapped, texts) == scores(in_memory, texts)
        assert scores(pickle.loads(pickle.dumps(mapped)), texts) == scores(mapped, texts)


def test_the_same_model_gives_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    for layout in ("fast", "small"):
        compile_ngram(folder / "x.arpa", tmp_path / layout, layout=layout)
        assert (tmp_path / layout).read_bytes() == (folder / layout).read_bytes()


def test_the_small_layout_is_small(folder: Path) -> None:
    # Without the words and unigrams, which both have in full: they are most of so small a model.
    both = 301 * 8 + 301 * 4 + 1024 * 8 + sum(len(f"w{i}") for i in range(300))
    assert 3 * ((folder / "small").stat().st_size - both) < (folder / "fast").stat().st_size - both


def test_the_bounds_of_the_small_layout_hold(folder: Path, texts: list[str]) -> None:
    fast, small = load_ngram(folder / "fast"), load_ngram(folder / "small")
    probs, backoffs = small.core.prob_error, small.core.backoff_error
    # Half a step of 256 over the range of the values; bigrams that were put in as blanks are in [-5, -2].
    assert (probs[0], backoffs[0], backoffs[2]) == (0, 0, 0)
    assert 0 < probs[1] < 5.01 / 512
    assert 0 < probs[2] < 2.01 / 512
    assert 0 < backoffs[1] < 1.21 / 508
    assert small.core.shadowed == [0, 0, 0]
    ids, offsets = fast.encode(texts)
    exact, lengths = fast.score_words(ids, offsets)
    rounded, small_lengths = small.score_words(ids, offsets)
    assert lengths.tolist() == small_lengths.tolist()
    # At most one prob and one backoff of an order above 1 are in a trigram model's score.
    bound = np.array([0, *probs])[lengths] + (lengths < 3) * backoffs[1] + 1e-5
    assert (np.abs(exact - rounded) <= bound).all()
    assert not np.array_equal(exact, rounded)


def test_false_positives_are_as_rare_as_stated(folder: Path) -> None:
    """N-grams that the model does not have: of 3 million, a handful are taken for others."""
    fast, small = load_ngram(folder / "fast"), load_ngram(folder / "small")
    draw = np.random.default_rng(3)
    found = 0
    for _ in range(10):
        rows = draw.integers(3, 303, (100_000, 3), dtype=np.uint32)
        a, b = fast.core.score_ngrams(rows), small.core.score_ngrams(rows)
        found += int((np.abs(a - b) > 0.02).sum())
    assert found <= 20  # 10^6 rows ask 2 or 3 times each, about 10 fingerprints of 23 bits a time: 2 to 4 expected


def damage(data: bytes, draw: random.Random) -> bytes:
    flipped = bytearray(data)
    bit = draw.randrange(8 * len(data))
    flipped[bit // 8] ^= 1 << bit % 8
    return bytes(flipped)


@pytest.mark.parametrize("layout", ["fast", "small"])
def test_a_flipped_bit_is_noticed(folder: Path, tmp_path: Path, layout: str) -> None:
    data = (folder / layout).read_bytes()
    draw = random.Random(4)
    path = tmp_path / "x"
    for _ in range(200):
        path.write_bytes(damage(data, draw))
        with pytest.raises(FormatError) as error:
            load_ngram(path)
        assert error.value.file == str(path)


@pytest.mark.parametrize("layout", ["fast", "small"])
def test_a_cut_file_is_noticed(folder: Path, tmp_path: Path, layout: str) -> None:
    data = (folder / layout).read_bytes()
    draw = random.Random(5)
    path = tmp_path / "x"
    for length in [0, 1, 63, 64, 65, len(data) - 64, len(data) - 1, *(draw.randrange(len(data)) for _ in range(30))]:
        path.write_bytes(data[:length])
        with pytest.raises(FormatError):
            load_ngram(path)


@pytest.mark.parametrize("layout", ["fast", "small"])
def test_damage_without_verifying_is_no_crash(folder: Path, tmp_path: Path, texts: list[str], layout: str) -> None:
    data = bytearray((folder / layout).read_bytes())
    draw = random.Random(6)
    path = tmp_path / "x"
    for _ in range(20):
        damaged = bytearray(data)
        for _ in range(2000):
            damaged[draw.randrange(2048, len(data))] = draw.randrange(256)
        path.write_bytes(damaged)
        try:
            model = load_ngram(path, verify=False)
        except FormatError:
            continue
        assert len(scores(model, texts)) == len(texts)


def test_sections_that_do_not_fit_together(folder: Path, tmp_path: Path) -> None:
    """A file with right checksums and wrong content."""
    from treeglot._core import read_sections

    content = read_sections(str(folder / "fast"), "ngram-lm", 1)
    path = tmp_path / "x"

    def problem(**changes: bytes | None) -> str:
        changed = {
            k: v
            for k, v in {**content, **{k.replace("_", "."): v for k, v in changes.items()}}.items()
            if v is not None
        }
        write_sections(str(path), "ngram-lm", 1, changed)
        with pytest.raises(FormatError) as error:
            load_ngram(path)
        return error.value.problem

    assert problem(unigrams=content["unigrams"][:-8]) == "is damaged: its section 'model' contradicts the others"
    assert problem(model=struct.pack("<I", 77) + content["model"][4:]).endswith("contradicts the others")
    assert problem(model=content["model"] * 2) == "is damaged: its section 'model' has another size"
    assert problem(table_2=b"") == "is damaged: the table of order 2 is empty"
    assert problem(table_3=None) == "has no section 'table.3'"
    assert problem(table_3=bytes(63)) == "has 63 bytes in its section 'table.3'; expected a multiple of 64"
    assert problem(words_bytes=b"") == "is damaged: words.ends does not fit words.bytes"
    words = len(content["words.ends"]) // 4
    assert problem(words_slots=bytes(8)) == f"is damaged: words.slots has 1 places for {words} strings"
    assert problem(words_ends=b"") == "is damaged: words.ends does not fit words.bytes"
    assert problem(words_ends=b"", words_bytes=b"") == "is damaged: it has no words"


def test_a_file_of_another_kind(tmp_path: Path) -> None:
    write_sections(str(tmp_path / "x"), "rule-table", 1, {})
    with pytest.raises(FormatError, match="is a file of kind 'rule-table'; expected one of kind 'ngram-lm'"):
        load_ngram(tmp_path / "x")


def test_where_a_model_is_written(folder: Path, tmp_path: Path) -> None:
    model = load_ngram(folder / "small")
    with pytest.raises(UsageError, match="cannot be written to standard output"):
        model.write("-")
    with pytest.raises(FileNotFoundError):
        model.write(tmp_path / "none/x")
    with pytest.raises(IsADirectoryError):
        model.write(tmp_path)
    model.write("/dev/null")
    assert not Path("/dev/null").is_file()
    (tmp_path / "link").symlink_to(tmp_path / "target")
    model.write(tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "target").read_bytes() == (folder / "small").read_bytes()
    assert len(list(tmp_path.iterdir())) == 2


def test_a_pickled_model_is_opened_as_it_was(folder: Path, tmp_path: Path) -> None:
    damaged = bytearray((folder / "fast").read_bytes())
    tables = _core.read_sections(str(folder / "fast"), "ngram-lm", 1)
    damaged[damaged.index(tables["table.2"]) + 9] ^= 1
    (tmp_path / "bad").write_bytes(damaged)
    trusting = pickle.loads(pickle.dumps(load_ngram(tmp_path / "bad", verify=False)))
    assert len(trusting) == len(load_ngram(folder / "fast"))
    compiled = load_ngram(folder / "x.arpa", layout="small")
    assert pickle.loads(pickle.dumps(compiled)).layout == "small"
    used = load_ngram(folder / "fast", wait=False)
    assert pickle.loads(pickle.dumps(used)).opened == {"verify": True, "wait": False}


@pytest.mark.parametrize("layout", ["fast", "small"])
def test_missing_rest_costs_are_reported_once(folder: Path, tmp_path: Path, texts: list[str], layout: str) -> None:
    assert load_ngram(folder / layout).core.has_rests
    content = _core.read_sections(str(folder / layout), "ngram-lm", 1)
    del content["rests"]
    old = tmp_path / "old"
    write_sections(str(old), "ngram-lm", 1, content)
    said = rf"^{re.escape(str(old))} has no rest costs; compile it again for a better search$"
    with pytest.warns(RestWarning, match=said) as caught:
        model = load_ngram(old)
    assert len(caught) == 1
    assert not model.core.has_rests
    assert scores(pickle.loads(pickle.dumps(model)), texts) == scores(load_ngram(folder / layout), texts)
    with pytest.warns(RestWarning, match=said) as caught:
        install_ngram(old, tmp_path / "installed")
    assert len(caught) == 1
    assert (tmp_path / "installed").read_bytes() == old.read_bytes()


def test_a_model_of_order_1_needs_no_rest_costs(tmp_path: Path) -> None:
    (tmp_path / "x.arpa").write_text(to_arpa([{ngram: (prob, None) for ngram, (prob, _) in large_model()[0].items()}]))
    compile_ngram(tmp_path / "x.arpa", tmp_path / "lm.bin")
    assert not load_ngram(tmp_path / "lm.bin").core.has_rests  # a warning would fail here


def test_models_in_memory_are_not_pickled(folder: Path) -> None:
    model = compile_ngram(folder / "x.arpa")
    with pytest.raises(TypeError, match="write it and load the file"):
        pickle.dumps(model)


def test_numbers_are_checked(folder: Path) -> None:
    model = load_ngram(folder / "fast")
    ids, offsets = model.encode(["w1 w2", ""])
    assert (ids.tolist(), offsets.tolist()) == ([4, 5], [0, 2, 2])
    with pytest.raises(ValueError, match="the number 303 is no word; the model has words 0 to 302"):
        model.score_texts(np.array([303], np.uint32), np.array([0, 1], np.uint64))
    with pytest.raises(ValueError, match="the number 303 is no word"):
        model.core.score_word(model.core.begin_state(), 303)
    with pytest.raises(ValueError, match="the number 303 is no word"):
        model.core.score_rule([303])
    with pytest.raises(ValueError, match="the number 303 is no word"):
        model.core.score_ngrams(np.array([[1, 303]], np.uint32))
    for wrong in ([0, 3], [1, 2], [0, 2, 1, 2], []):
        with pytest.raises(ValueError, match="offsets begin with 0, never decrease and end with the number"):
            model.score_texts(ids, np.array(wrong, np.uint64))
    with pytest.raises(IndexError):
        model.word(303)


def test_perplexity(folder: Path) -> None:
    model = load_ngram(folder / "fast")
    lines = ["w1 zz w2 w3", "", "zz zz", "w4"]
    found = model.perplexity(lines)
    words = [score for line in lines for score in model.full_scores(line)]
    assert (found.texts, found.tokens, found.oovs) == (4, 11, 3)
    assert found.log10 == pytest.approx(sum(score.log10 for score in words))
    assert found.log10_oovs == pytest.approx(sum(score.log10 for score in words if score.oov))
    assert found.including_oovs == pytest.approx(10 ** (-found.log10 / 11))
    assert found.excluding_oovs == pytest.approx(10 ** (-(found.log10 - found.log10_oovs) / 8))
    assert math.isnan(model.perplexity([]).including_oovs)
    with pytest.raises(TypeError, match="expected several"):
        model.perplexity("w1 w2")


@pytest.mark.parametrize("layout", ["fast", "small"])
def test_many_threads_ask_one_model(folder: Path, texts: list[str], layout: str) -> None:
    model = load_ngram(folder / layout)
    ids, offsets = model.encode(texts)
    wanted = model.score_texts(ids, offsets).tolist()
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: model.score_texts(ids, offsets).tolist(), range(16)))
    assert all(each == wanted for each in found)


def test_blanks_separate_words(folder: Path) -> None:
    model = load_ngram(folder / "fast")
    assert model.score("\tw1  w2\r\n w3\v\f") == model.score("w1 w2 w3")
    assert model.encode(["w1\u00a0w2"])[0].tolist() == [0]  # as KenLM: no blank of ASCII, no blank


def test_numbers_of_other_types(tmp_path: Path) -> None:
    path = tmp_path / "model.arpa"
    path.write_text(to_arpa(large_model(20, 50)))
    model = load_ngram(path)
    offsets = np.array([0, 2], np.uint64)
    assert model.score_texts(np.array([3, 4]), offsets) == model.score_texts(np.array([3, 4], np.uint32), offsets)
    for wrong in (2**32 + 3, -1):  # cut to 32 bits, the first would be word 3
        with pytest.raises(ValueError, match=f"numbers of words from .*{wrong}.*; expected 0 to 4294967295"):
            model.score_texts(np.array([wrong, 4]), offsets)
        with pytest.raises(TypeError):
            model.core.score_ngrams(np.array([[wrong, 4]]))
    with pytest.raises(TypeError, match="numbers of words are of type float64; expected integers"):
        model.score_words(np.array([3.7]), np.array([0, 1], np.uint64))  # type: ignore[arg-type]


def test_layouts_have_names(tmp_path: Path) -> None:
    path = tmp_path / "model.arpa"
    path.write_text(to_arpa(large_model(20, 50)))
    with pytest.raises(UsageError, match="layout is 'tiny'; expected 'fast' or 'small'"):
        load_ngram(path, layout="tiny")  # type: ignore[arg-type]
