"""What searches count, in builds that do: `cmake --preset count` and `--preset sanitize`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from small_table import table

from treeglot import _core
from treeglot.decode import SearchOptions, Translator
from treeglot.lm import NgramModel, compile_ngram

counted = pytest.mark.skipif(not hasattr(_core, "search_counts"), reason="this build does not count")
EXACT = SearchOptions(pop_limit=0)


def unigrams(folder: Path) -> NgramModel:
    lines = ["\\data\\", "ngram 1=5", "", "\\1-grams:", "-2 <unk>", "-1 <s>", "-0.5 </s>", "-0.25 the", "-0.75 that"]
    (folder / "lm.arpa").write_text("\n".join([*lines, "", "\\end\\", ""]))
    return compile_ngram(folder / "lm.arpa")


@counted
def test_an_exact_search_counts_the_edges_and_nodes_of_its_forest() -> None:
    translator = Translator(table(), {"p": 1.0}, None, EXACT)
    misses = []
    for line in ("das", "das ist haus", "das haus"):
        before = _core.search_counts()
        found = translator.translate(line)
        counts = {name: number - before[name] for name, number in _core.search_counts().items()}
        nodes = json.loads(found.forest().to_json())["nodes"]
        assert (counts["searches"], counts["states"]) == (1, len(nodes))
        assert counts["candidates"] == sum(map(len, nodes))
        misses.append(counts["misses"])
    assert misses == [1, 2, 0]  # das; haus and X ist X; the cache has all


@counted
def test_queries_are_recorded_and_asked_again(tmp_path: Path) -> None:
    lm = unigrams(tmp_path)
    _core.forget_queries(lm.core)
    _core.record_queries(True)
    try:
        translator = Translator(table(), {"p": 1.0, "lm": 1.0}, lm, EXACT)
        translator.translate("das")
        once = _core.replay_queries(lm.core)
        translator.translate("das")
        twice = _core.replay_queries(lm.core)
    finally:
        _core.record_queries(False)
    # The rules "the" and "that" are estimated. The search scores both, and then </s>. The features of the best
    # derivation are the scores of "the" and </s>.
    estimated, searched, replayed = -0.25 - 0.75, -0.25 - 0.75 - 0.5, -0.25 - 0.5
    assert once[::2] == (7, pytest.approx(estimated + searched + replayed))
    assert twice[::2] == (12, pytest.approx(estimated + 2 * (searched + replayed)))  # the cache has the estimates
    Translator(table(), {"p": 1.0, "lm": 1.0}, lm, EXACT).translate("das")
    assert _core.replay_queries(lm.core)[0] == 12
    _core.forget_queries(lm.core)
    assert _core.replay_queries(lm.core)[::2] == (0, 0.0)


@counted
def test_equal_outputs_of_a_node_ask_the_language_model_once(tmp_path: Path) -> None:
    lines = ["\\data\\", "ngram 1=5", "ngram 2=3", "", "\\1-grams:", "-2 <unk>", "-1 <s> -0.1", "-0.5 </s>"]
    lines += ["-0.25 the -0.1", "-0.75 that -0.1", "", "\\2-grams:", "-0.5 <s> the", "-0.5 the the", "-0.5 that that"]
    (tmp_path / "lm.arpa").write_text("\n".join([*lines, "", "\\end\\", ""]))
    lm = compile_ngram(tmp_path / "lm.arpa")

    def queries(*more: tuple[str, str, str, float]) -> int:
        """Those of a sentence of two words, with more rules than those for one word."""
        _core.forget_queries(lm.core)
        _core.record_queries(True)
        try:
            translator = Translator(table(*more), {"p": 1.0, "lm": 1.0}, lm, EXACT)
            translator.translate("das das")
            before = _core.replay_queries(lm.core)[0]
            translator.translate("das das")  # the cache has the rules
            return _core.replay_queries(lm.core)[0] - before
        finally:
            _core.record_queries(False)
            _core.forget_queries(lm.core)

    # Glue makes "that that", too, so a rule for both words costs nothing. Another output asks for its words.
    assert queries() == queries(("X", "das das", "that that", -9.0)) < queries(("X", "das das", "that house", -9.0))
