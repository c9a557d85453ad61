"""Are the dependency trees of a model's output what they should be? For c2d, c2d-s2d, s2d and s2d-pos.

python bench/check_trees.py MODEL INPUT [--weights FILE] [--kbest 10] [--threads 2]

For every hypothesis: the tree's words are the output's, no arcs cross, and each dependency model's score of the whole
tree, computed from scratch, is the value in the list. Prints what was checked; ends with 1 if something fails.
"""

import argparse
import math
import sys
from pathlib import Path

from treeglot.decode.weights import read_weights
from treeglot.lm import load_dependency
from treeglot.models import load

CLOSE = 1e-3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("input", type=Path)
    parser.add_argument("--weights", type=Path)
    parser.add_argument("--kbest", type=int, default=10)
    parser.add_argument("--threads", type=int, default=2)
    given = parser.parse_args()

    model = load(given.model)
    if given.weights:
        model = model.with_weights(read_weights(given.weights))
    dependency_models = {
        f"dlm_{unit}": load_dependency(given.model / f"dlm.{unit}.bin")
        for unit in ("words", "tags")
        if f"dlm_{unit}" in model.translator.features
    }
    sentences = checked = outside = crossing = 0
    furthest = dict.fromkeys(dependency_models, 0.0)
    for translation in model.translate_batch(model.read(given.input), kbest=given.kbest, threads=given.threads):
        sentences += 1
        for hypothesis in translation.hypotheses:
            tree = hypothesis.dependency
            checked += 1
            outside += tree is None or " ".join(tree.words) != hypothesis.text
            if tree is None:
                continue
            crossing += not tree.is_projective()
            for name, dependency_model in dependency_models.items():
                score = dependency_model.score(tree) * math.log(10) if tree.words else 0.0
                furthest[name] = max(furthest[name], abs(score - hypothesis.features.get(name, 0.0)))
    print(f"{sentences:,} sentences, {checked:,} hypotheses")
    print(f"{outside:,} trees with other words than the output, {crossing:,} with crossing arcs")
    for name, distance in furthest.items():
        print(f"{name}: at most {distance:.2e} from the score of the whole tree")
    sys.exit(bool(not checked or outside or crossing or max(furthest.values(), default=0.0) > CLOSE))


if __name__ == "__main__":
    main()
