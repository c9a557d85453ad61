"""Compiled dependency models: files, refusals, what is asked of odd sentences, real trees."""

from __future__ import annotations

import pickle
import random
import struct
import warnings
from pathlib import Path
from typing import get_args

import pytest
from lm_pieces import score_child, score_pieces, score_root

from treeglot import FormatError, UsageError
from treeglot._core import (
    DependencyConditioning,
    DependencySide,
    DependencyState,
    DependencyUnit,
    check_rule_heads,
    join_pieces,
    read_sections,
    write_sections,
)
from treeglot._core import (
    compile_dependency as compile_core,
)
from treeglot.lm import (
    DependencyModel,
    NgramModel,
    compile_dependency,
    compile_ngram,
    load_dependency,
    load_ngram,
    train_dependency,
    train_ngram,
)
from treeglot.lm.dependency import is_dependency_model
from treeglot.lm.train import DiscountWarning
from treeglot.lm.train_dependency import Conditioning
from treeglot.syntax import Dependency
from treeglot.syntax.formats import read_dependencies

SHARED = Path(__file__).parents[2].parent / "shared/data"
PUD = SHARED / "pud/en_pud-ud-test.conllu"
SAW = Dependency(["the", "old", "man", "saw", "a", "dog"], [2, 2, 3, -1, 5, 3], tags=["D", "J", "N", "V", "D", "N"])
HELD = Dependency.from_brackets("(Bush) held ((a) talk) (with (Sharon))")


def small_model(unit: str = "words") -> DependencyModel:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DiscountWarning)
        return compile_dependency(train_dependency([SAW, SAW], unit))  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def model() -> DependencyModel:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DiscountWarning)
        return compile_dependency(train_dependency([SAW, HELD]))


@pytest.fixture(scope="module")
def file(model: DependencyModel, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("dlm") / "x.dlm"
    model.write(path)
    return path


@pytest.mark.parametrize("conditioning", get_args(Conditioning))
def test_the_parts_score_as_n_gram_models_of_windows(conditioning: Conditioning) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DiscountWarning)
        training = train_dependency([SAW, HELD], conditioning=conditioning)
    model = compile_dependency(training)
    for side, part in (("left", compile_ngram(training.left)), ("right", compile_ngram(training.right))):
        assert isinstance(part, NgramModel)
        for sibling in (None, "old", "dog", "talk", "unseen"):
            for head in ("man", "saw", "held", "unseen"):
                for child in ("the", "old", "with", "unseen"):
                    before = [f"<h>{head}"] + [sibling] * (sibling is not None)
                    if conditioning == "sibling":
                        before = [sibling or "<s>", f"<h>{head}"]
                    window = " ".join([*before, child])
                    expected = part.full_scores(window, bos=False, eos=False)[-1].log10
                    assert score_child(model, side, child, head, sibling) == pytest.approx(expected, abs=1e-6)
    roots = compile_ngram(training.root)
    assert score_root(model, "saw") == pytest.approx(roots.score("saw", bos=False, eos=False), abs=1e-6)


def test_the_worked_example(model: DependencyModel) -> None:
    """The worked example by its rules, with pieces in head position."""
    held, vpb, _ = score_pieces(model, [("held", -1), ("a", 2), ("talk", 0)])
    _, bush, _ = score_pieces(model, [("Bush", -1)])
    _, sharon, _ = score_pieces(model, [("Sharon", -1)])
    _, with_, _ = score_pieces(model, [("with", -1)])
    top, whole, tally = score_pieces(model, [(bush, 1), (vpb, -1), (with_, 1), (sharon, 2)])
    assert (tally.ill_heads, tally.overflows) == (0, 0)
    assert whole.fixed
    assert [model.word(root) for root in whole.roots] == ["held"]
    assert model.word(vpb.right[0]) == "talk"
    assert held + top + model.core.complete(whole) == pytest.approx(model.score(HELD), abs=1e-6)


def test_states_as_values(model: DependencyModel) -> None:
    empty = DependencyState()
    assert (empty.roots, empty.fixed, empty.floating, repr(empty)) == ([], False, False, "DependencyState(roots)")
    assert score_pieces(model, [])[:2] == (0.0, empty)
    assert model.core.complete(empty) == model.core.waiting(empty) == 0.0
    one, same, other = (score_pieces(model, [(word, -1)])[1] for word in ("saw", "saw", "dog"))
    assert one == same
    assert hash(one) == hash(same)
    assert one != other
    assert one != "saw"
    assert repr(one) == f"DependencyState(roots {model.id('saw')}, left 1 0, right 1 0)"
    tally = score_pieces(model, [])[2]
    assert (repr(tally), tally == score_pieces(model, [("saw", -1)])[2]) == (
        "DependencyTally(ill_heads=0, overflows=0)",
        True,
    )
    assert model.core.waiting(one) < 0
    _, floating, _ = score_pieces(model, [("the", -1), ("old", -1)])
    assert model.core.waiting(floating) == pytest.approx(
        sum(model.core.waiting(score_pieces(model, [(word, -1)])[1]) for word in ("the", "old"))
    )


def test_a_child_that_cannot_matter_is_forgotten(model: DependencyModel) -> None:
    states = [score_pieces(model, [(child, 1), ("saw", -1)])[1] for child in ("man", "talk", "unseen")]
    assert states[0].left == (0, 0)  # nothing was ever seen left of a man who saw
    assert states[0] == states[1] == states[2]


def test_a_floating_piece_in_head_position(model: DependencyModel) -> None:
    _, floating, _ = score_pieces(model, [("a", -1), ("talk", -1)])
    score, state, tally = score_pieces(model, [("Bush", 1), (floating, -1)])
    assert tally.ill_heads == 1
    assert state.fixed
    pair, _ = join_pieces([-1, -1], [None, None])
    piece, same = join_pieces([1, -1], [None, pair])
    assert same == tally
    assert list(piece.heads) == [1, -1, 1]
    tree = Dependency(["Bush", "a", "talk"], list(piece.heads))
    assert score + model.core.complete(state) == pytest.approx(model.score(tree), abs=1e-6)


@pytest.mark.parametrize(
    ("heads", "what"),
    [
        ([-2, -2], "no heads"),
        ([1, 0], "a cycle"),
        ([1, 2, 0, -1], "a cycle beside a root"),
        ([2, 3, -1, -1], "crossing arcs"),
        ([-1, -1, -1], "several roots"),
    ],
)
def test_every_word_is_scored_once_whatever_the_heads(model: DependencyModel, heads: list[int], what: str) -> None:
    words = ["old", "man", "saw", "dog"][: len(heads)]
    scores = model.full_scores(Dependency(words, heads))
    assert len(scores) == len(words), what
    assert all(-10 < score.log10 < 0 for score in scores)
    for word, head, score in zip(words, heads, scores, strict=True):
        if head < 0:
            assert score.log10 == score_root(model, word)


def test_an_empty_sentence_and_the_words_of_the_model(model: DependencyModel) -> None:
    assert model.score(Dependency([], [])) == 0.0
    assert model.full_scores(Dependency([], [])) == []
    assert model.score_sentences([]).tolist() == []
    odd = Dependency(["<s>", "</s>", "<unk>", "<h>saw"], [-1, 0, 0, 0])
    unseen = Dependency(["x", "x", "x", "x"], [-1, 0, 0, 0])
    assert model.score(odd) == model.score(unseen)
    assert all(score.oov for score in model.full_scores(odd))
    assert ("<s>" in model, "saw" in model, 3 in model) == (False, True, False)


def test_tags() -> None:
    model = small_model("tags")
    assert (model.unit, len(model), repr(model)) == ("tags", 7, "<DependencyModel over tags>")
    assert [score.length for score in model.full_scores(SAW)] == [3, 2, 2, 1, 2, 2]
    with pytest.raises(ValueError, match=r"^sentence 2: has no tags; expected one for each word$"):
        model.score_sentences([SAW, HELD])


def test_deep_and_wide_trees(model: DependencyModel) -> None:
    size = 100_000
    chain = Dependency(["saw"] * size, [-1, *range(size - 1)])
    fan = Dependency(["saw"] * size, [-1] + [0] * (size - 1))
    for tree in (chain, fan):
        assert -10 * size < model.score(tree) < 0


def test_perplexity(model: DependencyModel) -> None:
    found = model.perplexity(iter([SAW, Dependency(["cat", "saw"], [1, -1])]))
    scores = [*model.full_scores(SAW), *model.full_scores(Dependency(["cat", "saw"], [1, -1]))]
    assert (found.texts, found.tokens, found.oovs) == (2, 8, 1)
    assert found.log10 == pytest.approx(sum(score.log10 for score in scores))
    assert found.log10_oovs == pytest.approx(sum(score.log10 for score in scores if score.oov))


# ---------------------------------------------------------------- files


def test_a_file_answers_as_what_it_was_written_from(model: DependencyModel, file: Path) -> None:
    assert is_dependency_model(file)
    for verify in (True, False):
        mapped = load_dependency(file, verify=verify)
        assert repr(mapped) == f"<DependencyModel over words from {file}>"
        assert mapped.score_sentences([SAW, HELD]).tolist() == model.score_sentences([SAW, HELD]).tolist()
        assert mapped.core.counts == model.core.counts
        assert mapped.core.bytes == file.stat().st_size
    assert pickle.loads(pickle.dumps(mapped)).score(SAW) == model.score(SAW)
    with pytest.raises(TypeError, match="write it and load the file"):
        pickle.dumps(model)
    with pytest.raises(UsageError, match="cannot be written to standard output"):
        model.write("-")


def test_the_same_trees_give_the_same_bytes(file: Path, tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DiscountWarning)
        written = compile_dependency(train_dependency([SAW, HELD]), tmp_path / "y")
    assert written.path == str(tmp_path / "y")
    assert (tmp_path / "y").read_bytes() == file.read_bytes()


def test_a_flipped_bit_is_noticed(file: Path, tmp_path: Path) -> None:
    data = file.read_bytes()
    draw = random.Random(4)
    path = tmp_path / "x"
    for _ in range(300):
        flipped = bytearray(data)
        bit = draw.randrange(8 * len(data))
        flipped[bit // 8] ^= 1 << bit % 8
        path.write_bytes(flipped)
        with pytest.raises(FormatError) as error:
            load_dependency(path)
        assert error.value.file == str(path)


def test_a_cut_file_is_noticed(file: Path, tmp_path: Path) -> None:
    data = file.read_bytes()
    draw = random.Random(5)
    path = tmp_path / "x"
    for length in [0, 1, 63, 64, 65, len(data) - 64, len(data) - 1, *(draw.randrange(len(data)) for _ in range(30))]:
        path.write_bytes(data[:length])
        with pytest.raises(FormatError):
            load_dependency(path)


def test_damage_without_verifying_is_no_crash(file: Path, tmp_path: Path) -> None:
    data = file.read_bytes()
    draw = random.Random(6)
    path = tmp_path / "x"
    for _ in range(50):
        damaged = bytearray(data)
        for _ in range(300):
            damaged[draw.randrange(1024, len(data))] = draw.randrange(256)
        path.write_bytes(damaged)
        try:
            model = load_dependency(path, verify=False)
        except FormatError:
            continue
        assert len(model.score_sentences([SAW, HELD])) == 2


def test_sections_that_do_not_fit_together(file: Path, tmp_path: Path) -> None:
    content = read_sections(str(file), "dependency-lm", 1)
    path = tmp_path / "x"

    def problem(name: str, value: bytes | None) -> str:
        changed = {key: was for key, was in {**content, name: value}.items() if was is not None}
        write_sections(str(path), "dependency-lm", 1, changed)
        with pytest.raises(FormatError) as error:
            load_dependency(path)
        return error.value.problem

    contradicts = "is damaged: its section 'model' contradicts the others"
    assert problem("model", content["model"] * 2) == "is damaged: its section 'model' has another size"
    assert problem("model", struct.pack("<I", 2) + content["model"][4:]) == contradicts
    assert problem("root.unigrams", content["root.unigrams"][:-8]) == contradicts
    assert problem("left.unigrams", content["left.unigrams"][:-8]) == contradicts
    assert problem("right.trigrams", b"") == contradicts
    assert problem("right.pairs", None) == "has no section 'right.pairs'"


def test_files_of_other_kinds(file: Path, tmp_path: Path) -> None:
    with pytest.raises(FormatError) as error:
        load_ngram(file)
    assert error.value.problem == "is a file of kind 'dependency-lm'; expected one of kind 'ngram-lm'"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DiscountWarning)
        compile_ngram(train_ngram(["a b", "b a"], order=2), tmp_path / "x")
    assert not is_dependency_model(tmp_path / "x")
    with pytest.raises(FormatError) as error:
        load_dependency(tmp_path / "x")
    assert error.value.problem == "is a file of kind 'ngram-lm'; expected one of kind 'dependency-lm'"
    (tmp_path / "y").write_bytes(b"treeglot")
    assert not is_dependency_model(tmp_path / "y")
    assert not is_dependency_model("-")


# ---------------------------------------------------------------- refusals


def test_models_of_other_orders() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DiscountWarning)
        bigrams = train_ngram(["a b", "b a"], order=2).estimate
        right = train_dependency([SAW])
    assert bigrams is not None
    with pytest.raises(ValueError, match=r"^the model of 'left' has order 2; expected order 3$"):
        compile_core(DependencyUnit.words, DependencyConditioning.trigram, bigrams, right.right, right.root)
    with pytest.raises(ValueError, match=r"^the model of 'root' has order 3; expected order 1$"):
        compile_core(DependencyUnit.words, DependencyConditioning.trigram, right.left, right.right, right.right)


@pytest.mark.parametrize(
    ("heads", "message"),
    [
        ([2, -1], "item 0 of the rule has the head 2; expected -1 or an item from 0 to 1"),
        ([-1, -2], "item 1 of the rule has the head -2; expected -1 or an item from 0 to 1"),
        ([-1, 1], "item 1 of the rule is its own head"),
        ([-1, 2, 1], "item 1 of the rule is on a cycle of heads"),
        ([2, 3, -1, -1], "item 0 of the rule has an arc that is not projective"),
    ],
)
def test_heads_of_rules(model: DependencyModel, heads: list[int], message: str) -> None:
    for refuse in (
        lambda: check_rule_heads(heads),
        lambda: join_pieces(heads, [None] * len(heads)),
        lambda: score_pieces(model, [("saw", head) for head in heads]),
    ):
        with pytest.raises(ValueError) as error:
            refuse()
        assert str(error.value) == message


def test_one_head_for_each_item(model: DependencyModel) -> None:
    message = r"^a rule has 1 items and 2 heads; expected one for each$"
    with pytest.raises(ValueError, match=message):
        model.core.score_rule([-1, 0], [3])
    with pytest.raises(ValueError, match=message):
        join_pieces([-1, 0], [None])


def test_numbers_and_states_of_other_models(model: DependencyModel) -> None:
    small = small_model("tags")
    message = r"^the number \d+ is no word; the model has words 0 to 6$"
    _, foreign, _ = score_pieces(model, [("Sharon", -1)])
    with pytest.raises(ValueError, match=message):
        small.core.score_rule([-1], [7])
    with pytest.raises(ValueError, match=message):
        score_pieces(small, [(foreign, -1)])
    with pytest.raises(ValueError, match=message):
        small.core.complete(foreign)
    with pytest.raises(ValueError, match=message):
        small.core.score_root(7)
    with pytest.raises(ValueError, match=message):
        small.core.score_child(DependencySide.left, (1, 1), 7, 0)
    with pytest.raises(IndexError, match="no word has this number"):
        small.word(7)
    with pytest.raises(
        TypeError, match=r"^score_sentences\(\) cannot take .* expected .*sentences: .*Sequence\[Dependency\]"
    ):
        small.score_sentences([SAW, "the old man"])  # type: ignore[list-item]


@pytest.mark.skipif(not PUD.exists(), reason=f"{PUD.name} of the shared data is not there")
@pytest.mark.parametrize(("unit", "low", "high"), [("words", 5, 50), ("tags", 2, 8)])
def test_real_trees(unit: str, low: float, high: float) -> None:
    """Gold trees of English, scored by a model of themselves: memorised, but smoothed."""
    trees = list(read_dependencies(PUD))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DiscountWarning)
        model = compile_dependency(train_dependency(trees, unit))  # type: ignore[arg-type]
        half = compile_dependency(train_dependency(trees[::2], unit))  # type: ignore[arg-type]
    found = model.perplexity(trees)
    assert (found.texts, found.tokens, found.oovs) == (1000, sum(map(len, trees)), 0)
    assert low < found.including_oovs < high
    unseen = half.perplexity(trees[1::2])
    assert found.including_oovs < unseen.including_oovs < len(half)
    assert model.score_sentences(trees).sum() == pytest.approx(found.log10)
