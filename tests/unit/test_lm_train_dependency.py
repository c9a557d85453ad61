"""Training dependency language models: examples and refusals."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
from peer_lm import kenlm, needs_kenlm

from treeglot._core import EstimatedNgrams
from treeglot.base.errors import UsageError
from treeglot.lm import train_dependency
from treeglot.lm.train import DiscountWarning
from treeglot.syntax import Dependency

SAW = Dependency(["the", "old", "man", "saw", "a", "dog"], [2, 2, 3, -1, 5, 3], tags=["D", "J", "N", "V", "D", "N"])


def quietly(*sentences: Dependency, **options: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DiscountWarning)
        return train_dependency(sentences, **options)


def ngrams(estimate: EstimatedNgrams, order: int) -> list[str]:
    words = estimate.vocabulary
    return [" ".join(words[i] for i in ngram) for ngram in estimate.words(order).reshape(-1, order)]


def test_events_go_from_the_nearest_child_outwards() -> None:
    training = quietly(SAW)
    assert ngrams(training.left, 3) == ["<h>man old the"]
    assert sorted(ngrams(training.left, 2)) == ["<h>dog a", "<h>man old", "<h>saw man", "old the"]
    assert ngrams(training.right, 3) == []
    assert ngrams(training.right, 2) == ["<h>saw dog"]
    assert ngrams(training.root, 1) == ["<unk>", "<s>", "</s>", "the", "old", "man", "saw", "a", "dog"]
    assert training.events == (4, 1, 1)


def test_events_of_children_with_their_head_and_last_sibling() -> None:
    training = quietly(SAW, conditioning="sibling")
    assert sorted(ngrams(training.left, 3)) == ["<s> <h>dog a", "<s> <h>man old", "<s> <h>saw man", "old <h>man the"]
    assert ngrams(training.right, 3) == ["<s> <h>saw dog"]
    assert ngrams(training.root, 1) == ["<unk>", "<s>", "</s>", "the", "old", "man", "saw", "a", "dog"]
    assert training.events == (4, 1, 1)


def test_a_window_of_the_left_model_backs_off_to_the_head_and_then_to_the_child() -> None:
    training = quietly(SAW, conditioning="sibling")
    predicted = {"<h>dog a", "<h>man old", "<h>man the", "<h>saw man"}
    contexts = {"<s> <h>dog", "<s> <h>man", "<s> <h>saw", "old <h>man"}
    assert set(ngrams(training.left, 2)) == predicted | contexts
    assert [word for word in ngrams(training.left, 1) if word.startswith("<h>")] == ["<h>man", "<h>saw", "<h>dog"]


def test_tags() -> None:
    training = quietly(SAW, unit="tags")
    assert ngrams(training.left, 3) == ["<h>N J D"]
    assert sorted(ngrams(training.left, 2)) == ["<h>N D", "<h>N J", "<h>V N", "J D"]


def test_one_side_may_have_no_children() -> None:
    training = quietly(Dependency(["a", "b"], [1, -1]))
    assert training.events == (1, 0, 1)
    assert list(training.right.log10_probability(1)) == pytest.approx([-0.4771213, -99, -99, -0.4771213, -0.4771213])


@needs_kenlm
def test_kenlm_reads_the_models(tmp_path: Any) -> None:
    training = quietly(SAW)
    with (tmp_path / "left.arpa").open("wb") as stream:
        training.left.write_arpa(stream.write)
    model = kenlm.Model(str(tmp_path / "left.arpa"))
    scores = list(model.full_scores("<h>man old the", bos=False, eos=False))
    position = ngrams(training.left, 3).index("<h>man old the")
    assert scores[-1][:2] == (pytest.approx(training.left.log10_probability(3)[position], abs=1e-6), 3)


def test_fallback_is_said() -> None:
    message = (
        "^no 1-grams have the adjusted count 2; fallback discounts 0.5, 1, 1.5 for: "
        "left 1, left 2, left 3, right 1, right 2, right 3, root 1$"
    )
    with pytest.warns(DiscountWarning, match=message):
        training = train_dependency([SAW])
    assert training.fallbacks[-1] == ("root", 1, "no 1-grams have the adjusted count 2")


@pytest.mark.parametrize(
    ("sentences", "unit", "message"),
    [
        ([], "words", "there are no sentences; expected dependency trees"),
        ([SAW, Dependency(["a"], [-1])], "tags", "sentence 2: has no tags; expected one for each word"),
        (
            [Dependency(["<s>"], [-1])],
            "words",
            "sentence 1: '<s>' is a word of the model itself; expected others",
        ),
        (
            [SAW, Dependency(["<h>a"], [-1])],
            "words",
            "sentence 2: '<h>a' begins with '<h>', which marks heads; expected other words",
        ),
    ],
)
def test_refusals(sentences: list[Dependency], unit: Any, message: str) -> None:
    with pytest.raises(ValueError) as error:
        train_dependency(sentences, unit)
    assert str(error.value) == message


def test_what_is_no_sentence() -> None:
    with pytest.raises(TypeError, match=r"add\(\) cannot take"):
        train_dependency([SAW, None])  # type: ignore[list-item]


def test_words_with_spaces_stay_out_of_arpa_files() -> None:
    training = quietly(Dependency(["10 000", "dogs"], [1, -1]))
    assert "10 000" in training.left.vocabulary
    with pytest.raises(ValueError, match=r"^the word '10 000' cannot be written to an ARPA file; expected no space$"):
        training.left.write_arpa(lambda block: None)


def test_units_have_names() -> None:
    with pytest.raises(UsageError, match="unit is 'lemmas'; expected 'words' or 'tags'"):
        train_dependency([], unit="lemmas")  # type: ignore[arg-type]
