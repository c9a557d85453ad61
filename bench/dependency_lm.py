"""The dependency language model: training, and trees scored per second, on one core.

python bench/dependency_lm.py TREES [--heads english]

TREES has one bracketed tree a line, compressed or not; a head table makes dependencies of them. Reading is not timed.
The model is trained on all trees and scores them again.
"""

import argparse
import tempfile
import warnings
from pathlib import Path

from record import add_option, column, record
from timing import fastest

from treeglot.lm import compile_dependency, load_dependency, train_dependency
from treeglot.lm.train import DiscountWarning
from treeglot.syntax import heads
from treeglot.syntax.constituents import to_dependencies
from treeglot.syntax.formats import read_trees


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trees", type=Path)
    parser.add_argument("--heads", default="english", help="a head table, by name or path")
    add_option(parser)
    options = parser.parse_args()
    rows = []
    warnings.simplefilter("ignore", DiscountWarning)

    trees = to_dependencies(list(read_trees(options.trees, skip_bad=True)), heads.load(options.heads))
    words = sum(map(len, trees))
    print(f"{len(trees)} trees, {words} words")
    for unit in ("words", "tags"):
        seconds, training = fastest(lambda unit=unit: train_dependency(trees, unit), runs=3)
        print(f"{unit}: trained in {seconds:.3f} s, {words / seconds:,.0f} words/s")
        seconds, model = fastest(lambda training=training: compile_dependency(training), runs=3)
        print(f"{unit}: compiled in {seconds:.3f} s to {model.core.bytes:,} bytes, {model.core.counts}")
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model"
            model.write(path)
            for verify in (True, False):
                seconds, mapped = fastest(lambda path=path, verify=verify: load_dependency(path, verify=verify), runs=5)
                print(f"{unit}: opened in {1e3 * seconds:.2f} ms{'' if verify else ' without verifying'}")
            seconds, scores = fastest(lambda mapped=mapped: mapped.score_sentences(trees), runs=5)
            print(f"{unit}: {len(trees) / seconds:,.0f} trees/s, {words / seconds:,.0f} words/s")
            found = mapped.perplexity(trees)
            print(f"{unit}: log10 {scores.sum():.2f}, perplexity {found.including_oovs:.2f}")
            rows.append([unit, model.core.bytes / 1e6, words / seconds / 1e6, found.including_oovs])
    columns = [column("model over"), column("file, MB", 1), column("scored, million words a second", 1)]
    record(options.json, [*columns, column("perplexity on the training trees", 1)], rows)


if __name__ == "__main__":
    main()
