"""Documents translated in place: what is text changes, what is not stays, and inline elements go with their words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from treeglot import UsageError
from treeglot._core import Derivation, Hypothesis, Step, Tokens
from treeglot._core import Translation as Found
from treeglot.decode import Translation
from treeglot.decode.translation import Texts, join_translations
from treeglot.documents import translate_html
from treeglot.documents.inline import Begin, End, Object, translate_segments
from treeglot.text import TextPipeline, TextSettings, TextSide
from treeglot.text.protected import Protected, split_protected, tokenise_protected

WORDS = {
    "rot": "red",
    "haus": "house",
    "der": "the",
    "ist": "is",
    "auf": "up",
    "steht": "stands",
    "und": "",
    "zu": "A B",
}


class Reversing:
    """A model whose translations are the words in the opposite order, but for the last; each links to its own."""

    def __init__(self) -> None:
        self.text = TextPipeline(TextSide(TextSettings("de")), TextSide(TextSettings("en")))

    def translate_batch(self, sources: Any, kbest: int = 1, distinct: bool = False, threads: int = 1) -> Any:
        return [self.translated(source) for source in sources]

    def translated(self, given: Protected) -> Translation:
        side = self.text.source
        places = split_protected(side, given)
        parts = []
        for place, tokens in zip(places, tokenise_protected(side, [(given, p) for p in places]), strict=True):
            kept = {word for word, (a, b) in enumerate(tokens.spans) if (place[0] + a, place[0] + b) in given.places}
            parts.append(self.sentence(tokens, kept))
        return join_translations(given.text, places, parts, True)

    def sentence(self, tokens: Tokens, kept: set[int]) -> Translation:
        order = [*range(len(tokens.words) - 2, -1, -1), len(tokens.words) - 1]
        words, steps, given_by = [], [], []
        for number, place in enumerate(order):
            word = tokens.words[place]
            made = [word] if place in kept else WORDS.get(word.lower(), word).split()
            steps.append(Step("X", word, " ".join(made), (place, place + 1), 0, False, links=[(place, 0)]))
            given_by += [number] * len(made)
            words += made
        best = Hypothesis(" ".join(words), 0.0, {}, Derivation(steps), given_by=given_by)
        found = Translation(Found(tokens.words, tokens.words, [best], "", (), None, 0.0))
        return found.with_texts(Texts(tokens, self.text.target.detokenise([words])[0]))


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ("<p>Der Hund.</p>", "<p>Hund the.</p>"),
        # An element goes with its words, and in pieces where these part.
        ("a <b>b c</b> d.", "d <b>c b</b> a."),
        ("<b>a b</b> c.", "c <b>b a</b>."),
        ("<b>a</b> <i>b</i> <b>c d</b>", "<b>c</b> <i>b</i> <b>a</b> <b>d</b>"),
        ("<p><b>Der Hund.</b></p>", "<p><b>Hund the.</b></p>"),
        ("<b>a <i class=x>b</i></b> c.", "c <b><i class=x>b</i> a</b>."),
        # A word that gives two, of which the rule links one.
        ("a <b>zu</b> c.", "c <b>A</b> B a."),
        # What has words no more is not lost.
        ('a <a href="u">und</a> b.', '<a href="u"></a>b a.'),
        ("a <a name=x></a>b.", "<a name=x></a>b a."),
        # One with an id appears once: nothing is between its words, or what is there is another's.
        ('<b id="i">a</b> b <i>c</i> d.', 'd <i>c</i> b <b id="i">a</b>.'),
        ('<b id="i">a</b> c <i>e</i> <u>f</u>', '<i>e</i> c <b id="i">a</b> <u>f</u>'),
        # Empty elements stand beside their words.
        ("a <img src=x>b c.", "c <img src=x>b a."),
        ("a b<img src=x> c.", "c b<img src=x> a."),
        ("a b. <img src=x>", "b a. <img src=x>"),
        ("a <!-- c --> b c.", "c <!-- c --> b a."),
        # What stays: code, marked elements, addresses.
        ("a <code>der &lt; x</code> b.", "b <code>der &lt; x</code> a."),
        ('der <span translate="no">der <b>Hund</b></span>.', '<span translate="no">der <b>Hund</b></span> the.'),
        ('der <b class="x notranslate">der</b>.', '<b class="x notranslate">der</b> the.'),
        ("der https://der.de/der?a=1&amp;b rot.", "red https://der.de/der?a=1&amp;b the."),
        ("<pre>a  b.\n  c d.</pre>", "<pre>b a.\n  d c.</pre>"),
        ("<script>if (a < b) der();</script>\n<style>der {}</style>", None),
        ("<!DOCTYPE html>\n<?php der ?><!-- der -->\n", None),
        ("<textarea>der Hund</textarea><svg><text>der</text></svg>", None),
        # Blocks part text, and spaces around them stay; in them a line's end is a blank.
        ("\n <ul>\n  <li>a\n  b.\n  <li>c d.\n </ul>\n", "\n <ul>\n  <li>b a.\n  <li>d c.\n </ul>\n"),
        ("a b.<br>c d.<hr/>", "b a.<br>d c.<hr/>"),
        ("Rot ist. Rot steht.", "is red. stands red."),
        # References to characters are characters.
        ("&lt;a&gt; &amp;&nbsp;b&#46;", "b &amp; &lt;a&gt;."),
        # Ends that are missing or too many part the text, and stay.
        ("<b>a b.<p>c d.</b>", "<b>b a.<p>d c.</b>"),
        ("<a href=x><div>a b.</div></a>", "<a href=x><div>b a.</div></a>"),
        ("a b.</i> c d.", "b a.</i> d c."),
        ("<b><i>a b.</b></i>", "<b><i>b a.</b></i>"),
        # Attributes that are text.
        ('<img alt="a b." src="a b.">', '<img alt="b a." src="a b.">'),
        ("<p title='a &quot;b.'>c</p>", '<p title="b &quot;a.">c</p>'),
        ("a < b &unknown; <", "; unknown &amp; b &lt; a &lt;"),
        ("", None),
        ("<", "&lt;"),
    ],
)
def test_html(given: str, wanted: str | None) -> None:
    assert translate_html(Reversing(), given) == (given if wanted is None else wanted)


def test_what_a_model_refuses_stays_as_it_is() -> None:
    class Refusing(Reversing):
        def sentence(self, tokens: Tokens, kept: set[int]) -> Translation:
            found = Translation(Found(tokens.words, [], [], "too long", (), None, 0.0))
            return found.with_texts(Texts(tokens, Tokens("", [], [])))

    with pytest.warns(UserWarning, match="'a b' stays as it is: too long"):
        assert translate_html(Refusing(), "<p>a <b>b</b></p>") == "<p>a <b>b</b></p>"


def test_a_model_of_words_has_no_documents() -> None:
    model = Reversing()
    model.text = None  # type: ignore[assignment]
    with pytest.raises(UsageError, match="the model takes words, which no document has"):
        translate_html(model, "a")


def test_nothing_is_lost_or_doubled() -> None:
    """Random nestings of elements and objects: each object once, each element once at least, all well nested."""
    import random

    chance = random.Random(7)
    for _ in range(300):
        items: list[Any] = []
        opened = 0
        for number in range(chance.randrange(1, 14)):
            kind = chance.randrange(6)
            if kind == 0:
                items.append(Begin(f"b{number}", whole=chance.random() < 0.5))
                opened += 1
            elif kind == 1 and opened:
                items.append(End())
                opened -= 1
            elif kind == 2:
                items.append(Object(f"o{number}", chance.choice(["", "x y"])))
            else:
                items.append(chance.choice(["der ", "rot", " und ", " ", "zu.", " a b"]))
        items += [End()] * opened
        [found] = translate_segments(Reversing(), [items])
        _check(items, found)


def _check(items: Sequence[Any], found: Sequence[Any]) -> None:
    def tags(of: Sequence[Any], kind: type) -> list[str]:
        return sorted(item.tag for item in of if isinstance(item, kind))

    assert tags(found, Object) == tags(items, Object)
    assert set(tags(found, Begin)) == set(tags(items, Begin))
    whole = [item.tag for item in found if isinstance(item, Begin) and item.whole]
    assert len(whole) == len(set(whole))
    opened: list[str] = []
    for item in found:
        if isinstance(item, Begin):
            opened.append(item.tag)
        elif isinstance(item, End) and item.tag is not None:
            assert opened.pop() == item.tag
