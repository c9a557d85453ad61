"""How many subtrees of gold dependencies a parser leaves whole.

python bench/gold_spans.py --of zh_pud-ud-test.conllu chn_grammar --of en_pud-ud-test.conllu eng_grammar
    [--characters TSCharacters.txt] [--json FILE]
python bench/gold_spans.py --finest --of en_pud-ud-test.conllu eng_grammar,ptb-1

A gold span has the words of a subtree: two or more, side by side, and fewer than the sentence. It is crossed if a
constituent overlaps it and neither holds the other. It is found if a constituent has the same words. A flat tree
crosses nothing and finds nothing, so both shares count. The spans of a sentence without a parse count as crossed, so
no share can rise by failing. The first 250 sentences of at most 20 words are those of Egret's figures. The others are
all sentences.

Several grammars, with commas between them, parse together as with `treeglot parse --also`. They need
--finest: their numbers of levels may differ.

--characters is OpenCC's table of traditional and simplified characters: PUD is traditional, and the grammar is not.
"""

from __future__ import annotations

import argparse
import itertools
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from record import add_option, column, record

from treeglot.base.files import read_lines
from treeglot.parse import ParsingOptions, load_parser
from treeglot.syntax import Dependency, Tree
from treeglot.syntax.formats import read_dependencies

Spans = set[tuple[int, int]]


@dataclass(frozen=True)
class Shares:
    """Shares of gold spans."""

    uncrossed: float
    found: float
    spans: int
    failures: int


def shares(gold: Iterable[Spans], found: Iterable[Spans | None]) -> Shares:
    """The shares of the gold spans of all sentences that the spans found leave whole, and that are among them.

    None stands for a sentence without a parse, which leaves no span whole.
    """
    spans = uncrossed = same = failures = 0
    for wanted, given in zip(gold, found, strict=True):
        spans += len(wanted)
        if given is None:
            failures += 1
            continue
        same += len(wanted & given)
        uncrossed += sum(not any(crosses(span, other) for other in given) for span in wanted)
    return Shares(uncrossed / spans, same / spans, spans, failures)


def crosses(one: tuple[int, int], other: tuple[int, int]) -> bool:
    """Whether spans overlap and neither holds the other."""
    return one[0] < other[0] < one[1] < other[1] or other[0] < one[0] < other[1] < one[1]


def subtree_spans(tree: Dependency) -> Spans:
    """The words of the subtrees of two words or more, where they are side by side."""
    heads = tree.heads.tolist()
    first, last, size = list(range(len(heads))), list(range(len(heads))), [1] * len(heads)
    for word in range(len(heads)):
        above = heads[word]
        while above >= 0:
            first[above], last[above] = min(first[above], word), max(last[above], word)
            size[above] += 1
            above = heads[above]
    found = zip(first, last, size, strict=True)
    return {(begin, end + 1) for begin, end, words in found if words > 1 and end + 1 - begin == words}


def constituent_spans(tree: Tree) -> Spans:
    """The words of the constituents of two words or more."""
    found, open_nodes = set(), [tree.root]
    while open_nodes:
        node = open_nodes.pop()
        begin, end = node.span
        if end - begin > 1:
            found.add((begin, end))
            open_nodes += node.children
    return found


def read_gold(
    path: Path, characters: Mapping[str, str], sentences: int = 0, longest: int = 0
) -> tuple[list[Spans], list[list[str]]]:
    """The gold spans of sentences, and their words in other characters; 0 is no limit."""
    trees = [tree for tree in read_dependencies(path) if not longest or len(tree) <= longest]
    if sentences:
        trees = trees[:sentences]
    gold = [{span for span in subtree_spans(tree) if span != (0, len(tree))} for tree in trees]
    return gold, [["".join(characters.get(one, one) for one in word) for word in tree.words] for tree in trees]


def load_characters(path: Path | None) -> dict[str, str]:
    """A table of characters in OpenCC's format: the character, a tab, and what it becomes, the likeliest first."""
    if path is None:
        return {}
    rows = (line.split("\t") for line in read_lines(path) if not line.startswith("#"))
    return {row[0]: row[1].split()[0] for row in rows if len(row) == 2}


SHORT = (250, 20)  # sentences, and words of the longest
CRITERIA: tuple[Literal["rules", "spans"], ...] = ("rules", "spans")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    help_of = "gold dependencies and the folder of a grammar, or several with commas; may be repeated"
    parser.add_argument("--of", nargs=2, action="append", required=True, metavar=("GOLD", "GRAMMAR"), help=help_of)
    parser.add_argument("--characters", type=Path, metavar="FILE", help="OpenCC's TSCharacters.txt")
    parser.add_argument("--finest", action="store_true", help="parse with the finest levels alone, not with 0 and 1")
    add_option(parser)
    arguments = parser.parse_args()
    columns = [column(name) for name in ("grammar", "level", "`criterion`", "sentences", "failures", "gold spans")]
    columns += [column("not crossed, %", 1), column("found, %", 1), column("CPU ms a sentence", 1)]
    rows = []
    for path, names in arguments.of:
        first, *also = map(Path, names.split(","))
        called = ", ".join(one.name for one in (first, *also))
        for sentences, longest in (SHORT, (0, 0)):
            gold, text = read_gold(Path(path), load_characters(arguments.characters), sentences, longest)
            for level, criterion in itertools.product((None,) if arguments.finest else (0, 1), CRITERIA):
                grammar_parser = load_parser(first, ParsingOptions(criterion=criterion), level, also)
                begin = time.process_time()
                parses = list(grammar_parser.trees(text))
                seconds = time.process_time() - begin
                found = (constituent_spans(parse.value) if parse.has_parse else None for parse in parses)
                one = shares(gold, found)
                which = f"{len(text):,}" + (f", at most {longest} words" if longest else "")
                rows.append([called, level, criterion, which, one.failures, one.spans])
                rows[-1] += [100 * one.uncrossed, 100 * one.found, 1000 * seconds / len(text)]
                print(*rows[-1], grammar_parser.summary(), sep="\t", flush=True)
    record(arguments.json, columns, rows)


if __name__ == "__main__":
    main()
