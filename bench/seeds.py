"""The systems of a recipe, tuned with several seeds: scores of each, means, and tests of the means' differences.

python bench/seeds.py recipes/tree-to-tree.toml --data DATA/zh-en --work FOLDER --systems t2t-fuzzy,samt --seeds 1,2,3

Runs what is missing of the recipe with each seed (models are trained once, in the same folder), then prints for each
test set:

- BLEU with each seed, their mean, their standard deviation and the range;
- the difference from the baseline seed by seed, with the p of each paired bootstrap (Koehn 2004);
- the mean difference with two 95 % intervals and p's. *sentences*: test sets are drawn anew, the tunings are as they
  are; *both*: seeds are drawn anew, too, for each system by itself, so that the luck of tuning counts as well as that
  of the sentences (after Clark et al. 2011). With few seeds that is still too narrow: the mean of n drawn from n varies
  (n - 1) / n as much (in variance) as that of n new ones.

p is one-sided, as in `treeglot score`: the share of samples on which the system that is better on the whole is not.
Systems other than the baseline and those named are left out of the recipe.
"""

import argparse
import dataclasses
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from treeglot.base.files import read_lines
from treeglot.evaluate import Bleu
from treeglot.evaluate.significance import paired_bootstrap
from treeglot.experiment import Pipeline, load_recipe, steps_of
from treeglot.experiment.pipeline import Planned, Watcher
from treeglot.experiment.recipe import Recipe

Rows = npt.NDArray[np.float64]  # statistics: seed, sentence, count


class Printer(Watcher):
    """Says which steps run."""

    def finished(self, planned: Planned, seconds: float) -> None:
        """A step ended well."""
        print(f"{planned.step.name}: {seconds:.0f} s", flush=True)


def seeded(recipe: Recipe, systems: Sequence[str], seed: int) -> Recipe:
    """The recipe with these systems alone, tuned with this seed."""
    chosen = tuple(
        dataclasses.replace(system, tune=system.tune and dataclasses.replace(system.tune, seed=seed))
        for system in recipe.system
        if system.name in systems
    )
    return dataclasses.replace(recipe, system=chosen, tune=dataclasses.replace(recipe.tune, seed=seed))


def resampled(metric: Bleu, baseline: Rows, system: Rows, samples: int, draw_seeds: bool) -> npt.NDArray[np.float64]:
    """The difference of the mean scores on test sets drawn anew, with the seeds as they are or drawn anew, too."""
    generator = np.random.default_rng(1)
    sentences = baseline.shape[1]

    def mean(counts: npt.NDArray[np.float64], rows: Rows) -> float:
        which = generator.integers(len(rows), size=len(rows)) if draw_seeds else np.arange(len(rows))
        return float(metric.scores(np.stack([counts @ rows[seed] for seed in which])).mean())

    out = np.empty(samples)
    for sample in range(samples):
        counts = np.bincount(generator.integers(sentences, size=sentences), minlength=sentences).astype(np.float64)
        out[sample] = mean(counts, system) - mean(counts, baseline)
    return out


def told(name: str, gain: float, gains: npt.NDArray[np.float64]) -> str:
    """An interval and a p in words."""
    low, high = np.quantile(gains, [0.025, 0.975])
    p = float(np.mean(gains <= 0 if gain >= 0 else gains >= 0))
    return f"{name} {low:+.2f} to {high:+.2f}, p {p:.3f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recipe", type=Path)
    parser.add_argument("--data", type=Path, action="append", required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--systems", default="", help="names, by commas; default: all")
    parser.add_argument("--seeds", default="1,2,3")
    parser.add_argument("--baseline", default="", help="default: the recipe's")
    parser.add_argument("--samples", type=int, default=10_000)
    parser.add_argument("--threads", type=int, default=2)
    args = parser.parse_args()

    recipe = load_recipe(args.recipe, args.data)
    seeds = [int(seed) for seed in args.seeds.split(",")]
    baseline = args.baseline or recipe.baseline or recipe.system[0].name
    names = [s.name for s in recipe.system if not args.systems or s.name in {*args.systems.split(","), baseline}]
    recipe = dataclasses.replace(recipe, baseline=baseline)
    outputs: dict[tuple[str, str], list[list[str]]] = {}
    for seed in seeds:
        steps = steps_of(seeded(recipe, names, seed))
        steps = [step for step in steps if step.name.split()[0] not in ("score", "report")]
        for planned in Pipeline(steps, args.work).run(threads=args.threads, watcher=Printer()):
            if planned.step.name.startswith("translate "):
                _, system, test = planned.step.name.split(" ", 2)
                outputs.setdefault((test, system), []).append(read_lines(planned.folder / "output.txt"))

    metric = Bleu(lowercase=recipe.lowercase)
    for test, files in recipe.test.items():
        references = metric.prepare([read_lines(path) for path in files.references])
        rows = {s: np.stack([references.statistics(lines) for lines in outputs[test, s]]) for s in names}
        scores = {s: metric.scores(rows[s].sum(axis=1)) for s in names}
        print(f"\n{test}: BLEU with seeds {', '.join(map(str, seeds))}; mean, standard deviation, range; length")
        for system in names:
            found, length = scores[system], rows[system][:, :, :2].sum(axis=(0, 1))
            each = ", ".join(f"{score:.2f}" for score in found)
            spread = f"{found.mean():.2f}, {found.std(ddof=1):.2f}, {np.ptp(found):.2f}" if len(seeds) > 1 else ""
            print(f"{system:20} {each}; {spread}; {length[0] / length[1]:.3f}")
        print(f"against {baseline}")
        for system in names:
            if system == baseline:
                continue
            gains = scores[system] - scores[baseline]
            tests = [paired_bootstrap(metric, rows[baseline][i], rows[system][i]) for i in range(len(seeds))]
            each = ", ".join(f"{gain:+.2f} (p {one.p:.3f})" for gain, one in zip(gains, tests, strict=True))
            gain = float(gains.mean())
            print(f"{system:20} {each}; mean {gain:+.2f}")
            for name, draw in (("sentences", False), ("both", True)):
                drawn = resampled(metric, rows[baseline], rows[system], args.samples, draw)
                print(f"{'':20} {told(name, gain, drawn)}")


if __name__ == "__main__":
    main()
