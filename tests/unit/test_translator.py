"""Translating with a small table: texts, derivations, markup, odd input, weights."""

import pytest
from small_table import table

from treeglot._core import FeatureSet, ForeignMatcher, RuleTableBuilder
from treeglot.decode import SearchOptions, Translator
from treeglot.decode.draw import to_html, to_svg
from treeglot.graph import count, kbest
from treeglot.lm import compile_ngram, train_ngram

WEIGHTS = {"p": 1.0, "glue": -0.1, "unknown": -5.0}


def translator(*extra: tuple[str, str, str, float], markup: bool = False, span_limit: int = 10) -> Translator:
    return Translator(table(*extra), WEIGHTS, options=SearchOptions(markup=markup, span_limit=span_limit))


def test_text_score_features_derivation() -> None:
    found = translator().translate("das ist haus")
    assert found.text == "house is the"
    assert found.score == pytest.approx(-2.2)
    assert found.features == {"p": pytest.approx(-2.2), "word_penalty": 3.0, "rule_penalty": 3.0}
    assert str(found.derivation).splitlines() == [
        "[S] ||| [S,1] ||| [S,1]    0-3",
        "  [S] ||| [X,1] ||| [X,1]    0-3",
        "    [X] ||| [X,1] ist [X,2] ||| [X,2] is [X,1]    0-3",
        "      [X] ||| das ||| the    0-1",
        "      [X] ||| haus ||| house    2-3",
    ]
    assert [h.text for h in found.kbest(2)] == ["house is the", "house is that"]
    assert len(found.kbest(100)) == 4  # with 'ist' passed through, the two of "das", then glue
    assert found.kbest(3)[0].derivation == found.derivation


def test_unknown_words_pass_through() -> None:
    found = translator().translate("das Schloss")
    assert found.text == "the Schloss"
    assert found.features["unknown"] == 1.0


def test_above_the_span_limit_there_is_only_glue() -> None:
    narrow = translator(span_limit=2).translate("das ist haus")
    assert narrow.text == "the ist house"
    assert narrow.features["glue"] == 2.0


def exploding(**limits: float) -> Translator:
    """A rule of three variables above words with so many translations each that all triples are too many."""
    words = [f"w{i}" for i in range(330)]
    rules = [("X", "a", word, -1.0 - i / 1000) for i, word in enumerate(words)]
    with pytest.warns(UserWarning):
        model = compile_ngram(train_ngram([" ".join(words[i:]) for i in range(0, 330, 30)], order=2))
    options = SearchOptions(pop_limit=0, per_source=0, **limits)  # type: ignore[arg-type]
    return Translator(table(*rules, ("X", "X b X c X", "1 2 3", -0.1)), {**WEIGHTS, "lm": 0.1}, model, options)


def test_an_exact_search_that_does_not_finish_is_refused() -> None:
    found = exploding().translate_batch(["a b a c a", "a b a"])
    assert found[0].problem.startswith("an exact search does not finish: it has 3.6e+07 hypotheses")
    assert found[0].problem.endswith("expected a pop limit or a time limit")
    assert not found[1].problem


def test_a_refused_search_changes_no_later_one() -> None:
    used, fresh = exploding(), exploding()
    assert used.translate_batch(["a b a c a"], threads=1)[0].problem
    (found,), (wanted,) = (one.translate_batch(["a b a"], threads=1) for one in (used, fresh))
    assert [(one.text, one.score) for one in found.kbest(50)] == [(one.text, one.score) for one in wanted.kbest(50)]


def test_a_time_limit_holds_for_an_exact_search() -> None:
    limited = exploding(time_limit=0.05)
    found = limited.translate("a b a c a")
    assert (len(found.text.split()), found.problem) == (3, "")
    assert list(found.notes) == ["not searched to the end: time was up"]
    assert not limited.translate("das").notes


@pytest.mark.parametrize("line", ["", "   ", "\t"])
def test_an_empty_line_gives_an_empty_text(line: str) -> None:
    found = translator().translate(line)
    assert (found.text, found.score, found.features, found.problem) == ("", 0.0, {}, "")
    assert found.kbest(3) == ()


def test_a_long_sentence() -> None:
    found = translator().translate(" ".join(["das", "haus", "ist"] * 170))
    assert len(found.text.split()) == 510


def test_one_bad_line_does_not_end_the_run() -> None:
    first, bad, last = translator().translate_batch(["das", "a\x07b", "haus"], threads=2)
    assert (first.text, last.text) == ("the", "house")
    assert bad.text == ""
    assert bad.problem == "a control character at byte 2, near 'a\\x07b'"


def test_markup_is_obeyed() -> None:
    found = translator(markup=True).translate('<n translation="a hut||a shed">das haus</n> ist das')
    assert {h.text for h in found.kbest(20, distinct=True)} == {
        f"{left} {right}"
        for hut in ("a hut", "a shed")
        for the in ("the", "that")
        for left, right in [(f"{the} is", hut), (f"{hut} ist", the)]
    }


def test_words_are_those_without_markup() -> None:
    line = '<n translation="a hut">das haus</n> ist &lt;'
    found = translator(markup=True).translate(line)
    assert found.words == ["das", "haus", "ist", "<"]
    assert "translation=" not in (to_svg(found) or "translation=")
    assert "translation=" not in to_html(found, line)
    assert translator().translate("das <b").words == ["das", "<b"]
    refused = translator(markup=True).translate("<n>das</n>")
    assert refused.problem and not refused.words


def test_markup_may_be_wider_than_the_span_limit() -> None:
    found = translator(markup=True, span_limit=1).translate('<n translation="hut">das haus ist</n> das')
    assert found.text == "hut the"


def test_without_markup_it_is_text() -> None:
    assert translator().translate("<b> das").text == "<b> the"


def test_entities_in_markup() -> None:
    found = translator(markup=True).translate('&lt;b&gt; <x translation="R&amp;D">das</x>')
    assert found.text == "<b> R&D"


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("<x>das</x>", "the tag '<x>' has no translation; expected <name translation=\"…\">"),
        ('<x translation="a">das', "<x> is not closed; expected '</x>'"),
        ('<x translation="a">das <y translation="b">haus</y></x>', "<x> is not closed; expected '</x>'"),
        ("das <x", "the tag '<x' is not closed by '>'"),
        ('<x translation="a"></x>', "<x> has no words in it"),
    ],
)
def test_bad_markup(line: str, problem: str) -> None:
    assert translator(markup=True).translate(line).problem == problem


def test_unary_rules() -> None:
    found = translator(("Y", "X", "y 1", -0.1), ("Z", "Y", "z 1", -0.1), ("X", "Z klein", "1 small", 0.0))
    assert found.translate("das klein").text == "z y the small"


def test_unknown_words_under_unary_rules() -> None:
    found = translator(("Y", "X", "y 1", 0.1), ("Z", "Y ist", "z 1", 0.1))
    assert found.translate("Schloss ist").text == "z y Schloss"


def test_forest() -> None:
    found = translator().translate("das haus ist das")
    forest = found.forest()
    best = found.kbest(100)
    assert count(forest.graph) == len(best)
    derivations = kbest(forest.graph, forest.scores, 100)
    assert [d.score for d in derivations] == pytest.approx([h.score for h in best])
    for derivation, hypothesis in zip(derivations, best, strict=True):
        summed: dict[str, float] = {}
        for edge in derivation.edges:
            for name, value in forest.features[edge].items():
                summed[name] = summed.get(name, 0.0) + value
        assert summed == pytest.approx(hypothesis.features)
    assert {forest.rules[edge] for edge in derivations[0].edges} == {str(step) for step in best[0].derivation.steps}
    assert count(found.forest(margin=0.0).graph) == 1
    assert translator().translate("").forest().graph.nodes == 0
    with pytest.raises(ValueError, match="a control character at byte 1"):
        translator().translate("\x07").forest()


def test_a_circle_of_unary_rules_ends() -> None:
    found = translator(("Y", "X", "y 1", 0.1), ("X", "Y", "x 1", 0.1), ("Y", "Y", "more 1", 0.1))
    assert found.translate("das").text == "y the"


def test_weights_that_no_feature_has_are_named() -> None:
    some = Translator(table(), {"p": 1.0, "glueing": 2.0, "lm": 1.0})
    assert some.unknown_weights == ["glueing", "lm"]


def test_a_column_with_the_name_of_another_feature_is_one_with_it() -> None:
    builder = RuleTableBuilder(["rule_penalty", "p", "unknown"])
    builder.add(builder.label("X"), [builder.source_word("a")], [builder.target_word("b")], [2.0, 3.0, 4.0], [])
    found = Translator(builder.finish(), {"rule_penalty": 1.0, "p": 10.0, "unknown": 100.0, "glue": 1000.0})
    best = found.translate("a a c").kbest(1)[0]
    assert best.features == {"rule_penalty": 6.0, "p": 6.0, "unknown": 9.0, "word_penalty": 3.0, "glue": 2.0}
    assert best.score == 6 + 60 + 900 + 2000


def test_limits_of_a_span_leave_unknown_words_and_given_translations() -> None:
    limits = SearchOptions(label_limit=1, match_limit=1, markup=True)
    limited = Translator(table(), WEIGHTS, options=limits)
    assert limited.translate("das ist haus").text == "house is the"
    assert limited.translate("das Schloss").text == "the Schloss"
    assert limited.translate('das ist <x translation="castle||fort">das haus</x>').text == "castle is the"


def test_limits_of_a_span_that_cut_are_noted() -> None:
    rules = [("X", "a", "x", -1.0), ("Y", "a", "y", -2.0), ("X", "b", "z", -1.0)]
    labels, matches = "more labels on a span than label_limit", "more matches on a span than match_limit"

    def notes(line: str, **limits: int) -> tuple[str, ...]:
        return Translator(table(*rules), WEIGHTS, options=SearchOptions(**limits)).translate(line).notes

    assert notes("b a b", label_limit=1) == (labels,)
    assert notes("b a b", match_limit=1) == (matches,)
    assert notes("b a b", label_limit=2, match_limit=2) == ()
    assert notes("b b", label_limit=1, match_limit=1) == ()
    assert notes("b a b") == ()


def test_limits_of_a_span_and_rules_of_sentences() -> None:
    features = FeatureSet(table())
    with pytest.raises(ValueError, match="label_limit and match_limit are for tables without rules of whole sentences"):
        ForeignMatcher(features, SearchOptions(match_limit=3), [], {"goal": "S"})
