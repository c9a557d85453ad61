"""Dependencies from independent parsers beside gold trees (tables 2 and 3 of the s2d paper, without BLEU).

python bench/dependency_gold.py en_pud-ud-test.conllu --grammar eng_grammar --train ud-en/train.conllu.xz --out DIR

The sources are UDPipe, trained on the sentences of --train, and trees of a split grammar with the head table in each
style. `--other NAME=FILE` adds another parser's trees of the gold sentences, such as those of parsers/graph_parser.py.
All parse the words of the gold sentences. Prints precision, recall and agreement; --json writes the first two.
"""

import argparse
import time
from pathlib import Path

from dependency_sources import over_text, train_parser
from record import add_option, column, record

from treeglot.evaluate.dependencies import compare_dependencies
from treeglot.evaluate.dependency_page import as_text
from treeglot.parse import ParsingOptions, load_parser
from treeglot.parse.adapters import open_parser
from treeglot.syntax import heads, write
from treeglot.syntax.constituents import to_dependencies
from treeglot.syntax.formats import read_dependencies
from treeglot.syntax.head_style import STYLES


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gold", type=Path)
    parser.add_argument("--grammar", type=Path, required=True, help="the folder of a split grammar")
    parser.add_argument("--train", type=Path, required=True, help="dependencies that UDPipe is trained on")
    parser.add_argument("--sentences", type=int, help="of them, the first ones")
    parser.add_argument("--out", type=Path, required=True, help="where the analyses and UDPipe's model go")
    parser.add_argument("--other", action="append", default=[], metavar="NAME=FILE", help="another parser's trees")
    add_option(parser)
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    gold = list(read_dependencies(arguments.gold))
    lines = [tree.words for tree in gold]
    model = arguments.out / "parser.udpipe"
    if not model.exists():
        bank = [tree for tree in read_dependencies(arguments.train) if tree.is_tree() and tree.is_projective()]
        model.write_bytes(train_parser(bank[: arguments.sentences]))
        print(f"UDPipe is trained on {len(bank[: arguments.sentences]):,} trees: {time.process_time():.0f} CPU s")
    analyses = {"UDPipe": list(open_parser("udpipe", str(model)).parse(lines))}
    for one in arguments.other:
        name, _, path = one.partition("=")
        analyses[name] = list(read_dependencies(path))
    trees = [parsed.value for parsed in load_parser(arguments.grammar, ParsingOptions()).trees(lines)]
    for name, style in STYLES.items():
        analyses[f"trees, {name}"] = list(over_text(to_dependencies(trees, heads.load("english"), style), lines))
    for name, found in analyses.items():
        write(arguments.out / f"{name.replace(', ', '-')}.conllu", found, tags="xpos")
    compared = compare_dependencies(analyses, gold)
    print(as_text(compared))
    rows = [
        [name, 100 * one.precision, 100 * one.recall, compared.trees[name].illegal, compared.trees[name].unparsed]
        for name, one in compared.accuracy.items()
    ]
    columns = [column("source"), column("precision, %", 1), column("recall, %", 1), column("illegal trees")]
    record(arguments.json, [*columns, column("unparsed")], rows)


if __name__ == "__main__":
    main()
