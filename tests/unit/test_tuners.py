"""Each tuner finds the best weights of a problem whose best weights are known; what they do with degenerate pools."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from synthetic import LogLinear

from treeglot import _core
from treeglot.base.errors import UsageError
from treeglot.decode import SearchOptions
from treeglot.evaluate import Bleu, Ter
from treeglot.tune import METHODS, LoopOptions, tune_weights
from treeglot.tune.kbest import KBest
from treeglot.tune.mert import Mert, random_start
from treeglot.tune.method import derived_seed
from treeglot.tune.mira import Mira
from treeglot.tune.pool import Pool
from treeglot.tune.pro import Pro

PROBLEM = LogLinear(sentences=60, candidates=30, features=5)
BEST = Bleu().score(Bleu().statistics(PROBLEM.translate(PROBLEM.lines, PROBLEM.best, 1).best(), [PROBLEM.references]))


@pytest.mark.parametrize(
    "tuner",
    [Mert(restarts=4, directions=5), Mira(mean=False), Pro(samples=300, kept=100)],
    ids=lambda t: type(t).__name__,
)
@pytest.mark.parametrize("seed", range(10))
def test_close_to_the_best_weights_from_any_start(tuner, seed: int, tmp_path: Path) -> None:
    draw = random.Random(seed)
    start = {name: draw.uniform(-1, 1) for name in PROBLEM.names}
    options = LoopOptions(iterations=6, kbest=12, patience=0, seed=seed)
    found = tune_weights(PROBLEM, PROBLEM.lines, [PROBLEM.references], tuner, start, tmp_path, options=options)
    output = PROBLEM.translate(PROBLEM.lines, found.weights, 1).best()
    reached = Bleu().score(Bleu().statistics(output, [PROBLEM.references]))
    assert found.log[0]["score"] < BEST - 5  # no start is good
    assert reached > BEST - 0.2


@pytest.mark.parametrize("seed", range(3))
def test_the_mean_of_updates_forgets_a_poor_start(seed: int, tmp_path: Path) -> None:
    """It holds early updates, so it need not be the best; the start itself is not in it."""
    draw = random.Random(seed)
    start = {name: draw.uniform(-1, 1) for name in PROBLEM.names}
    options = LoopOptions(iterations=6, kbest=12, patience=0, seed=seed)
    found = tune_weights(PROBLEM, PROBLEM.lines, [PROBLEM.references], Mira(), start, tmp_path, options=options)
    assert found.mean
    assert found.score > BEST - 0.2 > found.log[0]["score"] + 20


def test_no_weights_beat_the_best() -> None:
    """What the test above rests on."""
    complete = Pool(Bleu().prepare([PROBLEM.references])).merged(PROBLEM.translate(PROBLEM.lines, {}, 30))
    assert complete.score(PROBLEM.best) == pytest.approx(BEST)
    assert Mert(restarts=3).update(complete, {}, seed=1).after <= BEST + 1e-9


def pool_of(lists, references=("a b c d e", "f g h i j")) -> Pool:
    return Pool(Bleu().prepare([list(references)])).merged(KBest.of(lists))


TUNERS = [Mert(restarts=2), Mira(), Pro()]


@pytest.mark.parametrize("tuner", TUNERS, ids=lambda t: type(t).__name__)
def test_all_hypotheses_equal(tuner) -> None:
    pool = pool_of([[("a b c d e", {"lm": 1.0})], [("f g h", {"lm": 2.0}), ("f g h i", {"lm": 2.0})]])
    update = tuner.update(pool, {"lm": 0.5}, seed=1)
    assert update.weights == {"lm": 0.5}


@pytest.mark.parametrize("tuner", TUNERS, ids=lambda t: type(t).__name__)
def test_empty_output(tuner) -> None:
    update = tuner.update(pool_of([[], []]), {"lm": 0.5}, seed=1)
    assert (update.weights, update.before, update.after) == ({"lm": 0.5}, 0.0, 0.0)


def test_a_metric_that_is_better_when_lower() -> None:
    pool = Pool(Ter().prepare([["a b c", "d e f"]])).merged(
        KBest.of([[("a b c", {"x": 1.0}), ("c b", {"x": 2.0})], [("d e f", {"x": 1.5}), ("e", {"x": 3.0})]])
    )
    for tuner in (Mert(restarts=2), Pro(least=0.0), Mira(held_out_share=0.0, c=1.0)):
        update = tuner.update(pool, {"x": 1.0}, seed=1)
        assert (update.before > 50.0, update.after) == (True, 0.0)


def test_features_that_never_differ_keep_their_weights() -> None:
    lists = [[("a b c d e", {"lm": -3.0, "constant": 7.1}), ("a b x d e", {"lm": -1.0, "constant": 7.1})], []]
    for tuner in TUNERS:
        for start in (1.0, 40.0):
            update = tuner.update(pool_of(lists), {"lm": start, "constant": 1.5, "elsewhere": 2.5}, seed=1)
            assert update.weights["lm"] < 1.0 or start > 1.0
            assert (update.weights["constant"], update.weights["elsewhere"]) == (1.5, 2.5)


def test_the_scale_of_what_mira_learns_stays() -> None:
    # Steps are small beside weights as large as these: what is learnt is about as large as it was.
    lists = [[("a b c d e", {"lm": -3.0, "words": 2.0}), ("a b x d e", {"lm": -1.0, "words": 3.0})], []]
    update = Mira(epochs=1).update(pool_of(lists), {"lm": 400.0, "words": -100.0, "elsewhere": 1.0}, seed=1)
    assert sum(map(abs, update.weights.values())) > 100


def test_several_runs_of_mira_give_the_mean_of_single_ones() -> None:
    start = dict.fromkeys(PROBLEM.names, 0.1)
    pool = Pool(Bleu().prepare([PROBLEM.references])).merged(PROBLEM.translate(PROBLEM.lines, start, 20))
    found = Mira(epochs=3, runs=3).update(pool, start, seed=5)
    seeds = [5, derived_seed(5, 1), derived_seed(5, 2)]
    each = [Mira(epochs=3).update(pool, start, seed=seed).weights for seed in seeds]
    assert each[0] != each[1]
    for name in start:
        assert found.weights[name] == pytest.approx(np.mean([one[name] for one in each]))


def test_features_below_the_least_spread_move_less() -> None:
    lists = [[("a b c d e", {"lm": 1.0, "rare": 0.01}), ("a b x d e", {"lm": 0.0, "rare": 0.0})], []]
    start = {"lm": -1.0, "rare": -1.0}
    moved = [
        abs(Mira(least_spread=least).update(pool_of(lists), start, seed=1).weights["rare"] - start["rare"])
        for least in (0.0, 0.1, 1.0)
    ]
    assert moved[0] > moved[1] > moved[2]


def test_mert_from_a_random_start_keeps_what_never_differs() -> None:
    spreads, weights = np.array([2.0, 0.0]), np.array([1.0, -7.0])
    assert [random_start(spreads, weights, seed)[1] for seed in range(3)] == [-7.0] * 3


def test_mert_keeps_the_size_of_the_weights() -> None:
    lists = [[("a b c d e", {"lm": -3.0, "words": 2.0}), ("a b x d e", {"lm": -1.0})], []]
    update = Mert(restarts=2).update(pool_of(lists), {"lm": 3.0, "words": -1.0}, seed=1)
    assert update.after > update.before
    assert sum(map(abs, update.weights.values())) == pytest.approx(4.0)


def test_mert_refuses_very_many_features() -> None:
    pool = pool_of([[("a", {f"f{i}": 1.0 for i in range(1001)})], []])
    with pytest.raises(UsageError, match=r"^MERT takes at most 1000 features, the pool has 1001$"):
        Mert().update(pool, {}, seed=1)


def test_mira_with_many_sparse_features() -> None:
    """Every sentence has features of its own beside two that all share; only the shared ones help elsewhere."""
    problem = LogLinear(sentences=60, candidates=20, features=3)
    plain = problem.translate(problem.lines, {}, 20)
    lists = []
    for sentence, (begin, end) in enumerate(zip(plain.first[:-1].tolist(), plain.first[1:].tolist(), strict=True)):
        one = []
        for hypothesis in range(begin, end):
            row = slice(int(plain.first_feature[hypothesis]), int(plain.first_feature[hypothesis + 1]))
            pairs = zip(plain.features[row].tolist(), plain.values[row].tolist(), strict=True)
            dense = {plain.names[feature]: value for feature, value in pairs}
            sparse = {f"s{sentence}.{hypothesis}.{i}": 1.0 for i in range(80)}
            one.append((plain.texts[hypothesis], dense | sparse))
        lists.append(one)
    pool = Pool(Bleu().prepare([problem.references])).merged(KBest.of(lists))
    assert len(pool.names) == 3 + 60 * 20 * 80
    update = Mira().update(pool, dict.fromkeys(problem.names, 0.1), seed=1)
    assert update.after > update.before + 10
    assert 0 < sum(weight != 0 for weight in update.weights.values()) < len(pool.names)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Mira(c=0.0), "c is 0.0; expected above 0"),
        (lambda: Mira(decay=1.5), "decay is 1.5; expected above 0 and at most 1"),
        (lambda: Mira(held_out_share=1.0), "held_out_share is 1.0; expected at least 0 and below 1"),
        (lambda: Pro(share=0.0), "share is 0.0; expected above 0 and at most 1"),
        (lambda: Pro(prior=0.0), "prior is 0.0; expected above 0"),
        (lambda: Pro(samples=-3), "samples is -3; expected at least 1"),
        (lambda: Pro(kept=0), "kept is 0; expected at least 1"),
        (lambda: Mert(restarts=-3), "restarts is -3; expected at least 0"),
        (lambda: Mert(rounds=0), "rounds is 0; expected at least 1"),
        (lambda: Mira(epochs=0), "epochs is 0; expected at least 1"),
        (lambda: Mira(runs=0), "runs is 0; expected at least 1"),
        (lambda: Mira(least_spread=-1.0), "least_spread is -1.0; expected at least 0"),
        (lambda: LoopOptions(kbest=2**32), "kbest is 4294967296; expected at most 2^32 - 1"),
        (lambda: SearchOptions(pop_limit=-1), "pop_limit is -1; expected at least 0"),
        (lambda: SearchOptions(threshold=float("nan")), "threshold is nan; expected a finite number, at least 0"),
        (lambda: LoopOptions(kbest=0), "kbest is 0; expected at least 1"),
        (lambda: LoopOptions(iterations=0), "iterations is 0; expected at least 1"),
        (lambda: LoopOptions(seed=-1), "seed is -1; expected 0 to 2^63 - 1"),
    ],
)
def test_options_that_make_no_sense(make, message: str) -> None:
    with pytest.raises(ValueError) as error:
        make()
    assert str(error.value) == message


def test_methods_by_name() -> None:
    assert sorted(METHODS) == ["mert", "mira", "pro"]
    assert METHODS.make("mert", {"restarts": 3}) == Mert(restarts=3)
    with pytest.raises(
        UsageError, match=r"^unknown tuning method 'mart'; did you mean 'mert'\? known: mert, mira, pro$"
    ):
        METHODS["mart"]


def test_bad_arrays_are_refused() -> None:
    first, none = np.array([0, 1], dtype=np.uint32), np.zeros(0, dtype=np.uint32)
    row, one = np.array([0, 1], dtype=np.uint64), np.ones(1, dtype=np.float32)

    zero = np.zeros(1, dtype=np.uint32)

    def make(hypotheses=first, rows=row, features=zero, values=one, statistics=10, number=1):
        return _core.HypothesisPool(hypotheses, rows, features, values, np.zeros(statistics), number)

    assert make().hypotheses == 1
    with pytest.raises(ValueError, match=r"^first_hypothesis ends with 1; expected 2$"):
        make(rows=np.array([0, 1, 1], dtype=np.uint64), statistics=20)
    with pytest.raises(ValueError, match=r"^first_feature, features and values do not fit together$"):
        make(features=none)
    with pytest.raises(ValueError, match=r"^0 statistics for 1 hypotheses$"):
        make(statistics=0)
    with pytest.raises(ValueError, match=r"^hypothesis 0 of sentence 0 has feature 0 of 0$"):
        make(number=0)
    with pytest.raises(ValueError, match=r"^hypothesis 0 of sentence 0 has feature 0 = nan; expected a finite number$"):
        make(values=np.array([np.nan], dtype=np.float32))
    pool = make()
    with pytest.raises(ValueError, match=r"^2 weights for 1 features$"):
        _core.line_search(pool, Bleu().core, np.zeros(2), np.zeros(2))
    with pytest.raises(ValueError, match=r"^a weight is not a finite number$"):
        _core.line_search(pool, Bleu().core, np.array([np.inf]), np.zeros(1))
    with pytest.raises(ValueError, match=r"^the pool has 10 statistics, the metric has 2$"):
        _core.line_search(pool, Ter().core, np.zeros(1), np.zeros(1))


def test_scores_that_are_too_large_name_the_hypothesis() -> None:
    lists = [[("a b c d", {"x": 1.0}), ("a c", {"x": -1e30})], [("e", {"x": 1.0}), ("f", {"x": 3e38, "y": 1.0})]]
    pool = Pool(Bleu().prepare([["a b c d", "e f g h"]])).merged(KBest.of(lists))
    problem = (
        "hypothesis 1 of sentence {} has the score {}; expected a finite number: weights or features are too large"
    )
    for weight, sentence, score in ((1e300, 0, "-inf"), (-1e300, 0, "inf"), (1e275, 1, "inf")):
        weights = {"x": weight, "y": 1.0}
        wanted = f"^{problem.format(sentence, score)}$"
        with pytest.raises(UsageError, match=wanted):
            Mert(restarts=1).update(pool, weights, seed=1)
        for function in (pool.score, pool.scores):
            with pytest.raises(UsageError, match=wanted):
                function(weights)
        dense = pool.dense(weights)
        for call in (lambda dense=dense: pool.core.best(dense), lambda dense=dense: _search(pool, 0 * dense, dense)):
            with pytest.raises(OverflowError, match=wanted):
                call()
    assert pool.score({"x": 1e250, "y": 1.0}) == pool.score({"x": 1.0, "y": 0.0})
    for bad in ([0.0, np.inf], [np.nan, 0.0]):
        with pytest.raises(ValueError, match=r"^(slope|intercept) [01] is (inf|nan); expected a finite number$"):
            _core.upper_envelope(np.array(bad), np.zeros(2))
        with pytest.raises(ValueError, match=r"^intercept [01] is (inf|nan); expected a finite number$"):
            _core.upper_envelope(np.zeros(2), np.array(bad))


def _search(pool: Pool, weights: npt.NDArray[np.float64], direction: npt.NDArray[np.float64]) -> None:
    _core.line_search(pool.core, pool.metric.core, weights, direction)
