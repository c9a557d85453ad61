"""Parsing: agreement with another parser's trees, speed, and what training makes of a treebank.

python bench/parse.py agree GRAMMAR TEXT TREES [--level 1]      trees of TEXT, compared with TREES, and speed
python bench/parse.py treebank TRAIN TEST [--cycles 5] [--seed 1] [--smooth-grammar 0.01]
                                                                F1 by cycle, oracles of forests, time and memory
python bench/parse.py sample [--cycles 4]                       the same on 3,000 trees of the sample treebank

CPU time, grammar loading not counted; trained with as many threads as --threads says.
"""

import argparse
import resource
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from record import add_option, column, record

from treeglot._core import clean_tree
from treeglot.parse import ParserTraining, ParsingOptions, load_parser, train_parser, treebank
from treeglot.parse.brackets import BracketOptions, compare
from treeglot.parse.parser import GrammarParser
from treeglot.sample import read_pairs
from treeglot.syntax import ParseForest, Tree
from treeglot.syntax.formats import read_text, read_trees

LENGTHS = ((5, 15), (20, 30))
MARGINS = (3.0, 5.0, 10.0)


def memory() -> str:
    return f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB"


def agree(arguments: argparse.Namespace) -> None:
    parser = load_parser(arguments.grammar, ParsingOptions(), arguments.level)
    sentences = list(read_text(arguments.text))
    trees = [parsed.value for parsed in parser.trees(sentences)]
    counts = compare(list(read_trees(arguments.trees)), trees, BracketOptions(left_out=(), equal=()))
    print(parser.summary())
    print(f"F1 {100 * counts.f1:.2f}, the same tree {counts.exact} of {counts.sentences}, peak {memory()}")
    forests = [parsed.value for parsed in parser.forests(sentences)]
    nodes = [[(f.label(v), f.span(v)) for v in range(len(f.words), f.graph.nodes)] for f in forests]
    print(
        f"forests: {sum(map(len, nodes))} nodes, {sum(len(found) - len(set(found)) for found in nodes)} of them beside "
        f"another of their label and span, {sum(f.graph.edges - len(f.words) for f in forests)} edges"
    )
    for low, high in LENGTHS:
        some = [words for words in sentences if low <= len(words) <= high]
        for what in (parser.trees, parser.forests):
            begin = time.process_time()
            for _ in what(some):
                pass
            rate = len(some) / (time.process_time() - begin)
            print(f"{low}-{high} words: {len(some)} sentences, {rate:.0f} {what.__name__} a second")


def judge(grammar_trees: Sequence[Tree], gold: Sequence[Tree], options: ParserTraining, out: Path | None) -> None:
    bank, report = treebank(grammar_trees, options)
    print(f"{report.trees} trees, {report.left_out} left out, {report.unary_cycles} unary cycles")
    at = [0.0, 0.0]

    def progress(step: str, done: int, total: int, log_likelihood: float) -> None:
        if done == total:
            print(f"  {step}: {time.perf_counter() - at[0]:.1f} s, {time.process_time() - at[1]:.1f} s CPU, {memory()}")

    at[:] = [time.perf_counter(), time.process_time()]
    grammar = train_parser(bank, options, progress)
    words = [tree.words for tree in gold]
    rows = []
    for level in range(options.cycles + 1):
        parser = GrammarParser(grammar, ParsingOptions(prune=max(MARGINS), threads=1), level)
        begin = time.process_time()
        trees = [parsed.value for parsed in parser.trees(words)]
        seconds = time.process_time() - begin
        counts = compare(gold, trees)
        how = parser.summary()
        forests: list[ParseForest] = [parsed.value for parsed in parser.forests(words)]
        oracles = [100 * compare(gold, [f.prune(margin) for f in forests]).f1 for margin in MARGINS]
        print(
            f"cycle {level}: {sum(grammar.states[level])} states, F1 {100 * counts.f1:.2f}, "
            f"exact {100 * counts.exact / counts.sentences:.1f}, tags {100 * counts.right_tags / counts.words:.2f}, "
            f"oracle {' / '.join(f'{o:.2f}' for o in oracles)}, {1000 * seconds / len(gold):.1f} ms a sentence; " + how
        )
        right = [100 * counts.f1, 100 * counts.exact / counts.sentences, 100 * counts.right_tags / counts.words]
        rows.append([level, sum(grammar.states[level]), *right, oracles, 1000 * seconds / len(gold)])
    print(f"peak {memory()}")
    columns = [column("cycle"), column("states"), column("F1", 2), column("exact", 1), column("tags", 2)]
    record(out, [*columns, column("oracle F1, margins 3, 5, 10", 2), column("ms a sentence", 1)], rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("agree")
    for name in ("grammar", "text", "trees"):
        one.add_argument(name)
    one.add_argument("--level", type=int)
    two = commands.add_parser("treebank")
    for name in ("train", "test"):
        two.add_argument(name)
    three = commands.add_parser("sample")
    for command, cycles in ((two, 5), (three, 4)):
        command.add_argument("--cycles", type=int, default=cycles)
        command.add_argument("--threads", type=int, default=2)
        add_option(command)
        command.add_argument("--seed", type=int, default=1)
        command.add_argument("--smooth-grammar", type=float, default=ParserTraining().smooth_grammar)
    arguments = parser.parse_args()
    if arguments.command == "agree":
        agree(arguments)
        return
    options = ParserTraining(
        cycles=arguments.cycles,
        threads=arguments.threads,
        seed=arguments.seed,
        smooth_grammar=arguments.smooth_grammar,
    )
    if arguments.command == "treebank":
        gold = [clean_tree(tree) for tree in read_trees(arguments.test)]
        judge(list(read_trees(arguments.train)), gold, options, arguments.json)
    else:
        trees = [pair.source_tree for pair in read_pairs()]
        judge(trees[:2800], trees[2800:], replace(options, signature="chinese"), arguments.json)


if __name__ == "__main__":
    main()
