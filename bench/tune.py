"""Speed of tuning on a synthetic pool: the line search, and one update of each method.

python bench/tune.py
python bench/tune.py --sentences 1000 --hypotheses 100 --features 10 --threads 2
"""

import argparse
import resource
import time

import numpy as np

from treeglot import _core
from treeglot.evaluate import Bleu
from treeglot.tune.kbest import KBest
from treeglot.tune.mert import Mert
from treeglot.tune.mira import Mira
from treeglot.tune.pool import Pool
from treeglot.tune.pro import Pro


def kbest(sentences: int, hypotheses: int, features: int, sparse: int, seed: int) -> tuple[KBest, list[str]]:
    """Hypotheses whose errors follow their features, more or less; `sparse` more features of which few fire at once."""
    rng = np.random.default_rng(seed)
    weights = rng.normal(size=features)
    texts, references = [], []
    dense = rng.normal(size=(sentences * hypotheses, features)) * 10.0 ** rng.uniform(-1, 1, features)
    quality = dense @ weights + rng.normal(size=len(dense))
    for sentence in range(sentences):
        length = int(rng.integers(6, 30))
        words = [f"w{w}" for w in rng.integers(0, 2000, length)]
        references.append(" ".join(words))
        ranks = np.argsort(np.argsort(-quality[sentence * hypotheses : (sentence + 1) * hypotheses]))
        for rank in ranks.tolist():
            share = 0.3 + 0.5 * rank / hypotheses
            texts.append(" ".join("x" if rng.random() < share else word for word in words))
    fired = 20 if sparse else 0
    numbers = np.concatenate(
        [
            np.tile(np.arange(features), (len(dense), 1)),
            features + rng.integers(0, max(sparse, 1), (len(dense), fired)),
        ],
        axis=1,
    )
    numbers.sort(axis=1)
    values = np.concatenate([dense, np.ones((len(dense), fired))], axis=1)
    # A feature that was drawn twice fires once.
    kept = np.diff(numbers, axis=1, prepend=-1) > 0
    first = np.concatenate([[0], np.cumsum(kept.sum(axis=1))])
    found = KBest(
        [f"f{i}" for i in range(features + sparse)],
        (np.arange(sentences + 1) * hypotheses).astype(np.uint32),
        texts,
        first.astype(np.uint64),
        numbers[kept].astype(np.uint32),
        values[kept].astype(np.float32),
    )
    return found, references


def timed(what: str, function, times: int = 1):
    wall, cpu = time.perf_counter(), time.process_time()
    for _ in range(times):
        result = function()
    wall, cpu = (time.perf_counter() - wall) / times, (time.process_time() - cpu) / times
    print(f"{what:60} {1000 * cpu:10.1f} ms CPU {1000 * wall:10.1f} ms", flush=True)
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sentences", type=int, default=1000)
    parser.add_argument("--hypotheses", type=int, default=100)
    parser.add_argument("--features", type=int, default=10)
    parser.add_argument("--sparse", type=int, default=50_000, help="further features, for MIRA and PRO")
    parser.add_argument("--threads", type=int, default=1)
    arguments = parser.parse_args()

    made, references = kbest(arguments.sentences, arguments.hypotheses, arguments.features, 0, 1)
    prepared = timed("references made ready", lambda: Bleu().prepare([references]))
    rows = timed("statistics of all hypotheses", lambda: prepared.statistics(made.texts, made.sentences()))
    print(f"  {len(rows) / 1e3:.0f} thousand hypotheses")
    pool = timed("pool merged with a k-best list", lambda: Pool(prepared).merged(made))
    start, core = np.ones(arguments.features), pool.core
    spreads = core.spreads()
    axis = np.zeros(arguments.features)
    axis[0] = 1 / spreads[0]
    slanted = np.random.default_rng(2).normal(size=arguments.features) / spreads
    timed("line search along a feature", lambda: _core.line_search(core, Bleu().core, start, axis), 20)
    timed("line search along a random direction", lambda: _core.line_search(core, Bleu().core, start, slanted), 20)
    weights = dict(zip(pool.names, start.tolist(), strict=True))
    for method in (Mert(restarts=0), Mert(), Mira(), Pro()):
        update = timed(f"{method}"[:58], lambda m=method: m.update(pool, weights, seed=1, threads=arguments.threads))
        print(f"  BLEU of the pool {update.before:.2f} → {update.after:.2f} {dict(update.notes)}")
    print(f"at most {peak():.2f} GB")

    made, references = kbest(arguments.sentences, arguments.hypotheses, arguments.features, arguments.sparse, 1)
    pool = timed("pool with sparse features", lambda: Pool(Bleu().prepare([references])).merged(made))
    print(f"  {len(pool.names):,} features, {len(pool.features) / pool.hypotheses:.1f} of them in a hypothesis")
    for sparse_method in (Mira(), Pro()):
        update = timed(type(sparse_method).__name__, lambda m=sparse_method: m.update(pool, weights, seed=1))
        print(f"  BLEU of the pool {update.before:.2f} → {update.after:.2f} {dict(update.notes)}")
    print(f"at most {peak():.2f} GB")


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


if __name__ == "__main__":
    main()
