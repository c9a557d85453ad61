"""What searches count, in builds that do: `cmake --preset count` and `--preset sanitize`."""

from __future__ import annotations

import math

import pytest
from small_table import table

from treeglot import _core
from treeglot.decode import SearchOptions, Translator
from treeglot.lm import NgramModel
from treeglot.lm.ngram import compile_ngram

counted = pytest.mark.skipif(not hasattr(_core, "search_counts"), reason="this build does not count")


def unigrams(tmp_path) -> NgramModel:
    lines = ["\\data\\", "ngram 1=5", "", "\\1-grams:", "-2 <unk>", "-1 <s>", "-0.5 </s>", "-0.25 the", "-0.75 that"]
    (tmp_path / "lm.arpa").write_text("\n".join([*lines, "", "\\end\\", ""]))
    return compile_ngram(tmp_path / "lm.arpa")


@counted
def test_candidates_and_states_of_an_exact_search(tmp_path) -> None:
    """The points of all cubes: rules × hypotheses of their variables. A node keeps each state once."""
    lm = unigrams(tmp_path)
    translator = Translator(table(), {"p": 1.0, "lm": 1.0}, lm, SearchOptions(pop_limit=0))
    before = _core.search_counts()
    translator.translate("das")
    # X → the | that; S → X for both. The states of a 1-gram model are all equal.
    after = {name: number - before[name] for name, number in _core.search_counts().items()}
    assert (after["searches"], after["candidates"], after["states"]) == (1, 2 + 1, 1 + 1)
    assert after["misses"] > 0
    before = _core.search_counts()
    translator.translate("das")
    assert _core.search_counts()["misses"] == before["misses"]  # the cache has the rules


@counted
def test_queries_are_recorded_and_asked_again(tmp_path) -> None:
    lm = unigrams(tmp_path)
    _core.forget_queries(lm.core)
    _core.record_queries(True)
    try:
        translator = Translator(table(), {"p": 1.0, "lm": 1.0}, lm, SearchOptions(pop_limit=0))
        translator.translate("das")
    finally:
        _core.record_queries(False)
    queries, seconds, log10 = _core.replay_queries(lm.core)
    # Each rule is estimated and then scored; the best derivation is replayed for its features; </s> ends the sentence.
    assert seconds >= 0
    assert queries > 0 and math.isfinite(log10)
    Translator(table(), {"p": 1.0, "lm": 1.0}, lm, SearchOptions(pop_limit=0)).translate("das")
    assert _core.replay_queries(lm.core)[0] == queries
    _core.forget_queries(lm.core)
    assert _core.replay_queries(lm.core)[::2] == (0, 0.0)
