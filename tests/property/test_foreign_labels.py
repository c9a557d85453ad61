"""Words that pass through under several labels are rules like others."""

import math
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeAlias

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from treeglot.decode import SearchOptions
from treeglot.foreign import ForeignTranslator, read_foreign_weights, read_grammar
from treeglot.foreign.weights import ForeignWeights

LABELS = st.sampled_from(["X", "A", "B", "GOAL"])
WORDS = st.sampled_from(["a", "b", "c"])


@st.composite
def rules(draw: st.DrawFn) -> str:
    source = draw(st.lists(st.one_of(WORDS, LABELS), min_size=1, max_size=3))
    variables = [f"[{symbol},{1 + i}]" for i, symbol in enumerate(s for s in source if s.isupper())]
    left, count = [], 0
    for symbol in source:
        count += symbol.isupper()
        left.append(f"[{symbol},{count}]" if symbol.isupper() else symbol)
    target = [*draw(st.permutations(variables)), *draw(st.lists(st.sampled_from("uvw"), max_size=1))]
    value = draw(st.integers(-4, 4)) / 4
    return f"[{draw(LABELS)}] ||| {' '.join(left)} ||| {' '.join(target)} ||| {value}"


@settings(max_examples=120, deadline=None)
@given(
    st.lists(rules(), min_size=1, max_size=6, unique=True),
    st.dictionaries(st.sampled_from(["X", "A", "B", "C"]), st.sampled_from([0.1, 0.3, 0.5]), min_size=1),
    st.lists(WORDS, min_size=1, max_size=4),
    st.booleans(),
)
def test_labels_are_rules(grammar: list[str], labels: dict[str, float], words: list[str], glue: bool) -> None:
    weights = "tm_pt_0 1\ntm_glue_0 -0.25\nOOVPenalty 0.5\n"
    listed = " ".join(f"{label} {probability}" for label, probability in labels.items())
    explicit = [
        f"[{label}] ||| {word} ||| {word} ||| OOVPenalty={math.log(probability)}"
        for word in sorted(set(words))
        for label, probability in labels.items()
    ]
    options = SearchOptions(pop_limit=0, span_limit=20, per_source=0)
    sentence = " ".join(words)
    with TemporaryDirectory() as folder:
        path = Path(folder)
        found = []
        # Label C is no label of the grammar's: every translator has a table that knows it.
        known = "[C] ||| z ||| z ||| 0"
        for name, lines, more, passing in (
            ("listed", [*grammar, known], f"oov-list = {listed}\n", "all"),
            ("explicit", [*grammar, known, *explicit], "", "none"),
        ):
            (path / name).write_text("".join(f"{line}\n" for line in lines))
            (path / f"{name}.config").write_text(weights + more)
            translator = ForeignTranslator(
                read_grammar(path / name, "joshua"),
                read_foreign_weights(path / f"{name}.config", "joshua"),
                None,
                options,
                pass_through=passing,
                glue=glue,
            )
            found.append([(h.text, h.score) for h in translator.translate_batch([sentence], 200)[0].hypotheses])
    one, other = found
    assert [score for _, score in one] == pytest.approx([score for _, score in other], abs=1e-4)
    if len(one) < 200:
        assert sorted(text for text, _ in one) == sorted(text for text, _ in other)


# Labels that a rule of one variable may have below each: no circle, glue (S above X) among them.
BELOW = {"S": ["X"], "A": ["X", "S"], "B": ["X", "S", "A"]}
Ruled: TypeAlias = tuple[str, str, float]  # label, source side, feature


@st.composite
def glued_rules(draw: st.DrawFn) -> Ruled:
    label = draw(st.sampled_from(["X", "S", "A", "B"]))
    unary = [f"[{below},1]" for below in BELOW.get(label, ())]
    left = draw(st.sampled_from(["a", "b", "[A,1] b", "[B,1] a", "[S,1] a", "a [B,1]", *unary]))
    return label, left, draw(st.integers(-4, 4)) / 4


def derivations(grammar: list[Ruled], words: list[str], label: str, begin: int, end: int) -> list[float]:
    """The scores of all of them, by cdec's definition."""
    found = [-0.5] if label == "X" and end == begin + 1 else []
    for lhs, left, score in grammar:
        symbols = left.split()
        if lhs != label or len(symbols) > end - begin:
            continue
        if "[" not in left:
            found += [score] if words[begin:end] == symbols else []
            continue
        at = next(i for i, symbol in enumerate(symbols) if symbol.startswith("["))
        inner = (begin + at, end - (len(symbols) - 1 - at))
        if words[begin : inner[0]] + words[inner[1] : end] == symbols[:at] + symbols[at + 1 :]:
            found += [score + below for below in derivations(grammar, words, symbols[at][1], *inner)]
    if label == "S" and begin == 0:
        found += derivations(grammar, words, "X", 0, end)
        for middle in range(1, end):
            right = derivations(grammar, words, "X", middle, end)
            found += [a + b - 0.25 for a in derivations(grammar, words, "S", 0, middle) for b in right]
    return found


@settings(max_examples=100, deadline=None)
@given(st.lists(glued_rules(), min_size=2, max_size=6, unique=True), st.lists(st.sampled_from("ab"), max_size=3))
def test_rules_with_the_label_of_sentences_below_them(grammar: list[Ruled], words: list[str]) -> None:
    words = ["a", *words]
    weights = ForeignWeights("cdec", {"F": 1.0, "Glue": -0.25, "PassThrough": -0.5})
    with TemporaryDirectory() as folder:
        path = Path(folder) / "rules"
        path.write_text(
            "".join(f"[{a}] ||| {b} ||| {'[1]' if '[' in b else 'u'} ||| F={value}\n" for a, b, value in grammar)
        )
        options = SearchOptions(pop_limit=0, span_limit=20, per_source=0)
        translator = ForeignTranslator(read_grammar(path), weights, None, options)
    assert translator.left_out == 0
    found = [h.score for h in translator.translate_batch([" ".join(words)], 100)[0].hypotheses]
    expected = sorted(derivations(grammar, words, "S", 0, len(words)), reverse=True)
    assert found == pytest.approx(expected[:100], abs=1e-4)
