"""Arguments that make no sense never end the process: every function of the core, in a process of its own."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from treeglot import _core
from treeglot.graph import Builder
from treeglot.syntax import Dependency, ParseForest, Tree


@pytest.mark.skipif("libasan" in os.environ.get("LD_PRELOAD", ""), reason="it takes minutes: CONTRIBUTING.md")
@pytest.mark.parametrize("seed", range(4))
def test_the_core_refuses_what_makes_no_sense(seed: int, tmp_path: Path) -> None:
    script = Path(__file__).parents[1] / "hostile.py"
    log = tmp_path / "last"
    done = subprocess.run(
        [sys.executable, script, str(seed), "3000"],
        capture_output=True,
        text=True,
        env={**os.environ, "HOSTILE_LOG": str(log)},
    )
    assert done.returncode == 0, f"{done.stderr[-2000:]}\nthe last call was {log.read_text()}"


@pytest.mark.parametrize(("first", "last"), [(0, 2**32), (0, 129), (2**63, 2**64 - 1), (5, 4)])
def test_partitions_that_a_tally_does_not_have(first: int, last: int) -> None:
    bitext = _core.BitextBuilder().finish()
    with pytest.raises(ValueError, match=f"no partitions from {first} to {last}; expected a range in 0 to 128"):
        _core.Tally().columns(first, last, _core.LexicalTable(bitext), True)


def test_none_among_values() -> None:
    tree = Tree.parse("(S (NP a))")
    with pytest.raises(ValueError, match="found None in a pair"):
        _core.count_brackets([(tree, None)], _core.BracketOptions([], []))
    with pytest.raises(TypeError):
        _core.DependencyTrainer(_core.DependencyUnit.words, [0.5, 1.0, 1.5], _core.DependencyConditioning.sibling).add(
            [Dependency(["a"], [-1]), None]
        )
    with pytest.raises(TypeError, match="found None among the hypotheses"):
        _core.Translation("a", ["a"], [None])


def test_a_list_that_holds_itself_is_no_tree() -> None:
    nested: list = ["S"]
    nested.append(nested)
    with pytest.raises(ValueError, match="deeper than 1048576 levels"):
        Tree.from_nested(nested)


def test_offsets_outside_of_a_column() -> None:
    renderer = _core.Renderer(["a"], ["b"], ["X"])
    code = np.zeros(2, dtype=np.int8)
    for offsets in ([0, 3], [-1, 1], [2, 1], [1, 2**31 - 1]):
        numbers = np.array(offsets, dtype=np.int32)
        with pytest.raises(ValueError, match="the offsets of a column decrease or lead outside of its bytes"):
            renderer.source(numbers, code)
        with pytest.raises(ValueError, match="the offsets of a column decrease or lead outside of its bytes"):
            _core.RuleTableBuilder([]).add_rows("f", 1, [(numbers, code)] * 6, [], [])


def test_states_of_pickles_that_do_not_fit() -> None:
    for state in ((), ([0], [0]), ([0], [0], [], None, 1)):
        with pytest.raises(TypeError, match=r"^__setstate__\(\) cannot take \(Hypergraph, tuple\); expected "):
            _core.Hypergraph.__new__(_core.Hypergraph).__setstate__(state)
    with pytest.raises(ValueError, match="a pickle with text that is not UTF-8"):
        _core.Tree.__new__(_core.Tree).__setstate__(((b"S\xff", b"\1\0\0\0\2\0\0\0"), b"\2\0\0\0\1\0\0\0"))


def test_numbers_that_would_take_all_memory_or_time() -> None:
    bleu = _core.BleuMetric({})
    rows = np.ones(bleu.width)
    graph = Builder()
    graph.add_edge(graph.add_node())
    single = graph.freeze(0).graph
    for call in (
        lambda: Builder().add_nodes(2**32),
        lambda: _core.graph_sample(single, np.zeros(1), 2**40, 1),
        lambda: ParseForest.from_tree(Tree.parse("(S a)")).sample(2**40, 1),
        lambda: _core.paired_bootstrap(bleu, rows, rows, 2**40, 1),
        lambda: _core.annotate(Dependency(["a"], [-1]), 2**40, _core.Alignment()),
        lambda: pool(features=2**40),
        lambda: _core.sample_pairs(pool(), np.zeros(2), {"samples": 2**32 - 1}, 1),
        lambda: _core.ascend(pool(), bleu, np.ones(1), np.ones(1), {"rounds": 2**32 - 1}, 1),
        lambda: _core.mira(pool(), bleu, bleu, np.ones(1), np.ones(1), np.zeros(1), {"epochs": 2**32 - 1}, 1),
    ):
        with pytest.raises(ValueError, match=r"^(the|a) number of \w+ ?\w* is \d+; expected at most \d+$"):
            call()


def pool(features: int = 1) -> _core.HypothesisPool:
    """Two hypotheses of one sentence, with one feature."""
    return _core.HypothesisPool(
        np.array([0, 2], dtype=np.uint32),
        np.array([0, 1, 2], dtype=np.uint64),
        np.zeros(2, dtype=np.uint32),
        np.array([1.0, 2.0], dtype=np.float32),
        np.ones(2 * _core.BleuMetric({}).width),
        features,
    )


def test_arrays_that_do_not_fit_a_pool() -> None:
    bleu, nothing = _core.BleuMetric({}), np.zeros(0)
    for call in (
        lambda: pool().best(nothing),
        lambda: pool().scores(nothing),
        lambda: pool().score(bleu, nothing, np.ones(1)),
    ):
        with pytest.raises(ValueError, match="0 weights for 1 features"):
            call()
    for metric, chosen in ((bleu, nothing), (_core.TerMetric(), np.ones(1))):
        with pytest.raises(ValueError, match="the sentences chosen and the metric do not fit the pool"):
            pool().score(metric, np.ones(1), chosen)
    with pytest.raises(ValueError, match="a score is not a finite number"):
        _core.sample_pairs(pool(), np.array([np.nan, 0.0]), {}, 1)


def test_steps_of_training_in_any_order() -> None:
    bank = _core.Treebank()
    bank.add(Tree.parse("(S (NP a) (VP b))"))
    trainer = _core.Trainer(bank, _core.SignatureKind.english)
    trainer.finish_level()
    trainer.finish_level()
    trainer.split(1)
    trainer.split(2)
    trainer.finish_level()
    trainer.finish_level()
    levels = [trainer.grammar.texts(level) for level in range(trainer.levels)]
    read = _core.SplitGrammar.read([tuple(("file", text) for text in level) for level in levels])  # type: ignore[misc]
    assert [read.texts(level) for level in range(4)] == levels
    for share in (-1.0, 2.0, float("nan")):
        for step in (
            lambda share=share: trainer.split(1, share),
            lambda share=share: trainer.merge(share),
            lambda share=share: trainer.smooth(share, 0.0),
            lambda share=share: trainer.finish_level(1, share),
        ):
            with pytest.raises(ValueError, match="expected a number from 0 to 1"):
                step()
