"""Translations as values: what they are made of, what is no sentence, pickles, views, shared decoders."""

import math
import pickle
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from small_table import table

from treeglot import _core
from treeglot._core import Derivation, Hypothesis, Step
from treeglot.base.errors import OptionError
from treeglot.decode import SearchOptions, Translation, Translator
from treeglot.decode.translation import as_object
from treeglot.lm import NgramModel, compile_ngram, load_ngram, train_ngram
from treeglot.syntax import Dependency, ParseForest, Tree

WEIGHTS = {"p": 1.0, "glue": -0.1, "unknown": -5.0}
LINES = ["das ist haus", "das haus ist das", "haus", "das Schloss", "", "ist ist das haus das"]


def translator(markup: bool = False, **weights: float) -> Translator:
    return Translator(table(), WEIGHTS | weights, options=SearchOptions(markup=markup))


@pytest.fixture(scope="module")
def lm(tmp_path_factory: pytest.TempPathFactory) -> NgramModel:
    path = tmp_path_factory.mktemp("lm") / "lm.bin"
    with pytest.warns(UserWarning):
        compile_ngram(train_ngram(["the house is the", "house is the house", "that is a house"], order=3), path)
    return load_ngram(path)


@pytest.mark.parametrize(
    "value", [None, 3, 2.5, b"das", object(), {"das": 1}, math.nan, np.array([1]), [None], ["das", 3]]
)
def test_what_is_no_sentence_is_a_type_error(value: Any) -> None:
    for call in (lambda: translator().translate(value), lambda: translator().translate_batch(["das", value])):
        with pytest.raises(TypeError, match=r"is no (sentence|token); expected a string, a list of tokens"):
            call()


def test_a_lone_surrogate_is_a_value_error() -> None:
    for value in ("das \ud800", ["das", "\udfff"]):
        with pytest.raises(ValueError, match="a lone surrogate, which is no character"):
            translator().translate(value)


def test_tokens() -> None:
    found = translator(markup=True).translate(["das", "<x>", "haus"])
    assert found.words == ["das", "<x>", "haus"]
    assert found.text == "the <x> house"
    assert (found.given, found.source) == (["das", "<x>", "haus"], "das <x> haus")
    assert translator().translate(("das", "haus")).text == translator().translate("das haus").text
    assert translator().translate([]).text == ""
    refused = translator().translate(["das haus", "ist"])
    assert refused.problem == "'das haus' is not a token; expected text without blanks"


@pytest.mark.parametrize("weight", [math.nan, math.inf, -math.inf, 1e39])
def test_weights_are_finite(weight: float) -> None:
    with pytest.raises(
        OptionError, match=rf"the weight of p is {re.escape(str(weight))}; expected a finite number of 32 bits"
    ):
        translator().with_weights({"p": weight})


def test_scores_are_never_nan() -> None:
    huge = Translator(table(), {"p": 3e38, "glue": -3e38, "word_penalty": -3e38, "unknown": 3e38})
    for line in LINES:
        assert all(math.isfinite(h.score) for h in huge.translate(line).kbest(50))


def test_sentence_marks_are_words(lm: NgramModel) -> None:
    model = Translator(table(), WEIGHTS | {"lm": 1.0}, lm)
    for mark in ("<s>", "</s>"):
        marked, unknown = model.translate(f"das {mark} haus"), model.translate("das Schloss haus")
        assert marked.text == f"the {mark} house"
        assert marked.features == unknown.features
        assert marked.features["lm_unknown"] == 1.0


def test_words_of_parses_are_no_markup() -> None:
    words = ["das", '<x_translation="a">']
    forest = ParseForest.from_tree(Tree.parse('(S (D das) (N <x_translation="a">))'))
    for value in (forest, Dependency(words, [1, -1])):
        found = translator(markup=True).translate(value)
        assert (found.problem, found.words, found.marks) == ("", words, ())


def test_markup_that_is_not_understood_is_refused() -> None:
    found = translator(markup=True).translate('<x translation="a||b" prob="0.5||0.5">das</x>')
    assert found.problem.endswith("has the attribute 'prob'; expected one translation and nothing else")
    twice = translator(markup=True).translate('<x translation="a" translation="b">das</x>')
    assert "has the attribute 'translation'" in twice.problem


def test_a_bracket_without_a_name_is_text() -> None:
    assert translator(markup=True).translate("das < haus > ist").text == "the < house > ist"
    assert translator(markup=True).translate("5 <3 haus <").text == "5 <3 house <"


def test_features_are_frozen_with_a_decoder() -> None:
    features = _core.FeatureSet(table())
    matcher = _core.ChartMatcher(features, SearchOptions())
    _core.Decoder(features, matcher, [("p", 1.0)], SearchOptions())
    with pytest.raises(ValueError, match="a decoder uses these features; expected additions before it is built"):
        _core.add_unknown_lengths(features)


def test_one_by_one_as_in_a_batch() -> None:
    model = translator()
    batch = model.translate_batch(LINES, kbest=5, threads=3)
    for line, found in zip(LINES, batch, strict=True):
        alone = model.translate(line)
        assert as_object(alone, trace=True) == as_object(found, trace=True)
        assert same(alone.kbest(5), found.hypotheses)


def test_more_of_old_translations_is_found_again() -> None:
    model = translator()
    fresh = [translator().translate(line) for line in LINES]
    alone = [model.translate(line) for line in LINES]
    batch = model.translate_batch(LINES)
    for wanted, *others in zip(fresh, alone, batch, strict=True):
        for found in others:
            assert same(found.kbest(7), wanted.kbest(7))
            assert found.forest().to_json() == wanted.forest().to_json()
            assert same(found.kbest(3, distinct=True), wanted.kbest(3, distinct=True))


def test_more_of_what_another_decoder_translated() -> None:
    """What this one translated last, however it is counted, is not taken for it."""
    model, other = translator(), translator()
    wanted = other.translate("das ist haus").kbest(3)
    for given in (other.translate("das ist haus"), pickle.loads(pickle.dumps(other.translate("das ist haus")))):
        model.translate("haus")
        assert same(model.kbest(given, 3), wanted)
        model.translate_batch(["haus"])
        assert same(model.kbest(given, 3), wanted)
        assert model.forest(given, math.inf).to_json() == other.translate("das ist haus").forest().to_json()
    empty = _core.Translation("", [], [Hypothesis("a", 0.0, {}, Derivation())])
    with pytest.raises(ValueError, match="a translation of nothing has hypotheses"):
        model.core.kbest(empty, 2, False)


def test_threads_share_a_decoder(lm: NgramModel) -> None:
    model = Translator(table(), WEIGHTS | {"lm": 0.5}, lm)
    wanted = {line: [as_object(model.translate(line)), model.translate(line).forest().to_json()] for line in LINES}

    def work(line: str) -> list[Any]:
        found = model.translate(line)
        return [as_object(found), found.forest().to_json()]

    with ThreadPoolExecutor(8) as pool:
        for line, found in zip(LINES * 40, pool.map(work, LINES * 40), strict=True):
            assert found == wanted[line]


def same(left: tuple[Hypothesis, ...], right: tuple[Hypothesis, ...]) -> bool:
    return [(h.text, h.score, h.features, h.derivation, h.given_by) for h in left] == [
        (h.text, h.score, h.features, h.derivation, h.given_by) for h in right
    ]


def test_values_cannot_be_changed() -> None:
    found = translator().translate("das haus")
    for value, name in ((found.best, "text"), (found.derivation, "steps"), (found.derivation.steps[0], "label")):
        with pytest.raises(AttributeError):
            setattr(value, name, "other")


def test_parts_outlive_the_whole() -> None:
    steps = translator().translate("das ist haus").derivation.steps
    assert [step.target for step in steps][-1] == "house"


def test_pickles() -> None:
    found = translator().translate("das haus ist das")
    again: Translation = pickle.loads(pickle.dumps(found))
    assert as_object(again, trace=True) == as_object(found, trace=True)
    assert (again.given, again.words, again.seconds) == (found.given, found.words, found.seconds)
    with pytest.raises(ValueError, match="comes from a pickle, without its decoder"):
        again.kbest(2)
    for value in (found.derivation, *found.derivation.steps):
        assert pickle.loads(pickle.dumps(value)) == value
        assert hash(pickle.loads(pickle.dumps(value))) == hash(value)
    best = found.best
    assert same((pickle.loads(pickle.dumps(best)),), (best,))
    forest = found.forest()
    assert pickle.loads(pickle.dumps(forest)).to_json() == forest.to_json()
    tree, parse = Dependency(["das", "haus"], [1, -1], ["D", "N"]), ParseForest.from_tree(Tree.parse("(S (D das))"))
    given = _core.Translation(
        parse, ["das"], [Hypothesis("a b", -1.0, {"p": -1.0}, Derivation(), tree, [0, 0])], tree=tree
    )
    restored = pickle.loads(pickle.dumps(Translation(given, None, "(S (D das))")))
    assert (restored.given, restored.tree, restored.dependency) == (parse, tree, tree)
    assert restored.source == "(S (D das))"


def test_reprs_fit_on_a_screen() -> None:
    long = " ".join(["sehr", "langer", "Satz"] * 100)
    found = translator().translate(long)
    tree = Dependency(long.split(), [-1, *range(299)], ["N"] * 300)
    values = [
        found, found.best, found.derivation, *found.derivation.steps, found.forest(), tree, found.forest().graph,
        Tree.parse("(S " * 200 + "a" + ")" * 200), Step("X", long, long, (0, 300), 0, False), translator(),
    ]  # fmt: skip
    for value in values:
        assert len(repr(value)) <= 200, type(value)


def test_views() -> None:
    found = translator().translate("das ist haus")
    assert "the" in found.best._repr_html_()  # type: ignore[attr-defined]
    assert found.derivation._repr_svg_().startswith("<svg")  # type: ignore[attr-defined]
    assert "derivations" in found.forest()._repr_html_()
    assert "<table" in translator().translate("").forest()._repr_html_()


def test_json(tmp_path: Path) -> None:
    found = translator().translate_batch(["das haus"], kbest=2)[0]
    entry = as_object(found, 7, kbest=True, trace=True)
    assert list(entry) == ["number", "source", "text", "score", "features", "derivation", "kbest"]
    assert entry["derivation"][0] == {"label": "S", "source": "[S,1]", "target": "[S,1]", "span": (0, 2), "children": 1}
    assert [one["text"] for one in entry["kbest"]] == [h.text for h in found.hypotheses]
    assert as_object(translator().translate("\x07"))["problem"].startswith("a control character")
