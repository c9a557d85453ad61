"""How many of Hiero's phrases and rules two definitions of well-formed dependency structures keep.

python bench/well_formed.py DATA/zh-en --json bench/results/well-formed.json

The strict definition is that of Shen et al. (2008). The looser one is that of Mi and Liu (2010). The folder has
train.zh, train.lc.en, train.gdfa and train.en.tree.xz. Trees become dependencies by the head table.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from record import add_option, column, record

from treeglot.corpus import Corpus, Needs
from treeglot.rules import extract
from treeglot.rules.hiero import StructureOptions

DEFINITIONS = {"strict": True, "looser": False}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--threads", type=int, default=1)
    add_option(parser)
    given = parser.parse_args()
    corpus = Corpus(
        source=given.folder / "train.zh",
        target=given.folder / "train.lc.en",
        alignments=given.folder / "train.gdfa",
        target_trees=given.folder / "train.en.tree.xz",
    )
    rows = []
    for name, strict in DEFINITIONS.items():
        with tempfile.TemporaryDirectory() as out:
            pairs = corpus.pairs(Needs(target="dependency", skip_bad=True))
            options = StructureOptions(strict=strict)
            found = extract("string-dependency", pairs, Path(out), options, threads=given.threads).counts
        rules = found["flat"] + found["gappy"]
        rows.append([name, found["phrases"], found["phrases"] - found["refused"], rules])
        print(rows[-1])
    names = ("phrases", "of them well-formed", "rules taken")
    record(given.json, [column("definition"), *map(column, names)], rows)


if __name__ == "__main__":
    main()
