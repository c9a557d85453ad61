"""Dependencies from independent parsers beside gold trees (tables 2 and 3 of the s2d paper, without BLEU).

python bench/dependency_gold.py en_pud-ud-test.conllu --grammar eng_grammar --train ud-en/train.conllu.xz --out DIR

The sources are UDPipe, trained on the projective trees of --train, and trees of a split grammar with the head table in
each style. `--other NAME=FILE` adds another parser's trees of the gold sentences, such as those of
parsers/graph_parser.py. All parse the words of the gold sentences. Prints precision, recall and agreement. --json
writes precision, recall and how many trees are illegal; --agreement writes how far the sources agree.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from dependency_sources import add_options, by_styles, compared_and_written, parsed

from treeglot.parse import ParsingOptions, load_parser
from treeglot.syntax.formats import read_dependencies


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gold", type=Path)
    parser.add_argument("--grammar", type=Path, required=True, help="the folder of a split grammar")
    add_options(parser)
    arguments = parser.parse_args()
    gold = list(read_dependencies(arguments.gold))
    lines = [tree.words for tree in gold]
    trees = [one.value for one in load_parser(arguments.grammar, ParsingOptions()).trees(lines)]
    compared_and_written(arguments, parsed(arguments, lines) | by_styles(trees, lines), gold)


if __name__ == "__main__":
    main()
