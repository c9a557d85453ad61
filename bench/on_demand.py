"""How long rules on demand take: `python bench/on_demand.py SOURCE TARGET LINKS TEST`, with words that blanks part.

Prints the CPU time to index the pairs and to open the index, its size, and the CPU time for test sentences of 14 to 16
words.
"""

import argparse
import tempfile
import time
from pathlib import Path

from treeglot.corpus import Corpus, Needs
from treeglot.rules.on_demand import DemandOptions, build_index, open_rules
from treeglot.rules.sql import ScoreOptions


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("source", "target", "alignments", "test"):
        parser.add_argument(name, type=Path)
    parser.add_argument("--samples", type=int, default=DemandOptions().samples)
    parser.add_argument("--scanned", type=int, default=DemandOptions().scanned)
    parser.add_argument("--target-samples", type=int, default=DemandOptions().target_samples)
    parser.add_argument("--sentences", type=int, default=30)
    given = parser.parse_args()
    demand = DemandOptions(given.samples, given.scanned, given.target_samples)
    corpus = Corpus(source=given.source, target=given.target, alignments=given.alignments)
    lines = [line.split() for line in given.test.read_text(encoding="utf-8").splitlines()]
    chosen = [words for words in lines if 14 <= len(words) <= 16][: given.sentences]
    with tempfile.TemporaryDirectory() as name:
        start = time.process_time()
        build_index(corpus.pairs(Needs()), name, score=ScoreOptions(smoothing="kneser-ney"), demand=demand)
        built = time.process_time()
        size = sum(path.stat().st_size for path in Path(name).iterdir())
        rules = open_rules(Path(name, "on_demand.json"))
        opened = time.process_time()
        found = [len(rules.rules_for(words, 10)) for words in chosen]
        done = time.process_time()
        again = [len(rules.rules_for(words, 10)) for words in chosen]
        last = time.process_time()
    assert again == found
    print(
        f"{rules.pairs:,} pairs indexed in {built - start:.1f} s, {size / 1e6:.0f} MB; opened in {opened - built:.2f} s"
    )
    each = 1000 / len(chosen)
    print(
        f"{len(chosen)} sentences, {sum(found) / len(chosen):,.0f} rules each: "
        f"{(done - opened) * each:.1f} ms, {(last - done) * each:.1f} ms with known target sides"
    )


if __name__ == "__main__":
    main()
