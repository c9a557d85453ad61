"""Words that pass through under several labels are rules like others."""

import math
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from treeglot.decode import ForeignTranslator, SearchOptions, read_foreign_weights
from treeglot.rules import read_grammar

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
            found.append([(h.text, h.score) for h in translator.translate_all([sentence], 200)[0].hypotheses])
    one, other = found
    assert [score for _, score in one] == pytest.approx([score for _, score in other], abs=1e-4)
    if len(one) < 200:
        assert sorted(text for text, _ in one) == sorted(text for text, _ in other)
