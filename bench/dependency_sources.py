"""Dependencies of one text from independent parsers, for recipes/string-to-dependency.toml.

python bench/dependency_sources.py train.en --train ud-en/train.conllu.xz --sentences 5000 --out DIR \\
    [--other graph-based=train.en.conllu] [--trees train.en.tree.xz] [--agreement FILE] [--json FILE]

UDPipe is trained on the projective trees of --train and parses the text: DIR/udpipe.conllu. `--other NAME=FILE` adds
another parser's trees of the text, such as those of parsers/graph_parser.py. `--trees` adds trees, with the head table
in each style. A failed parse has words, but no heads. Prints how far the sources agree, which --agreement writes;
--json writes how many trees are illegal.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from record import add_option, column, record

from treeglot.evaluate.dependencies import DependencyComparison, compare_dependencies
from treeglot.evaluate.dependency_page import as_text
from treeglot.parse.adapters import open_parser
from treeglot.syntax import Dependency, Tree, heads, write
from treeglot.syntax.constituents import to_dependencies
from treeglot.syntax.formats import read_dependencies, read_text, read_trees
from treeglot.syntax.head_style import STYLES

TAGGER = (
    "models=1;templates_1=tagger;guesser_suffix_rules_1=6;guesser_enrich_dictionary_1=6;use_lemma_1=0;use_xpostag_1=1;"
    "use_feats_1=0;provide_lemma_1=0;provide_xpostag_1=1;provide_feats_1=0;iterations_1=6"
)
PARSER = (
    "iterations=4;embedding_upostag=20;embedding_feats=0;embedding_xpostag=0;embedding_form=30;embedding_lemma=0;"
    "embedding_deprel=10;learning_rate=0.02;learning_rate_final=0.001;l2=0.5;hidden_layer=120;batch_size=10;"
    "transition_system=projective;transition_oracle=static;structured_interval=0"
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("text", type=Path)
    parser.add_argument("--trees", type=Path, help="constituents of the text, whose heads are compared, too")
    add_options(parser)
    arguments = parser.parse_args()
    lines = list(read_text(arguments.text))
    analyses = parsed(arguments, lines)
    if arguments.trees:
        analyses |= by_styles(list(read_trees(arguments.trees)), lines)
    compared_and_written(arguments, analyses)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Let a benchmark take sources of dependencies, and say where its tables go."""
    parser.add_argument("--train", type=Path, required=True, help="dependencies that UDPipe is trained on")
    parser.add_argument("--sentences", type=int, help="of them, the first projective ones")
    parser.add_argument("--model", type=Path, help="where UDPipe's model is kept, and taken from if it is there")
    parser.add_argument("--other", action="append", default=[], metavar="NAME=FILE", help="another parser's trees")
    parser.add_argument("--out", type=Path, required=True, help="where the analyses go")
    parser.add_argument("--agreement", type=Path, metavar="FILE", help="write how far the sources agree, as a table")
    add_option(parser)


def parsed(arguments: argparse.Namespace, lines: Sequence[list[str]]) -> dict[str, list[Dependency]]:
    """The analyses of UDPipe, which is trained first, and of the parsers that `--other` names."""
    arguments.out.mkdir(parents=True, exist_ok=True)
    model = arguments.model or arguments.out / "parser.udpipe"
    if not model.exists():
        bank = [tree for tree in read_dependencies(arguments.train) if tree.is_tree() and tree.is_projective()]
        model.write_bytes(train_parser(bank[: arguments.sentences]))
        print(f"UDPipe is trained on {len(bank[: arguments.sentences]):,} trees: {time.process_time():.0f} CPU s")
    analyses = {"UDPipe": list(open_parser("udpipe", str(model)).parse(lines))}
    for one in arguments.other:
        name, _, path = one.partition("=")
        analyses[name] = list(read_dependencies(path))
    return analyses


def train_parser(trees: Iterable[Dependency]) -> bytes:
    """A model of UDPipe 1, tagger and projective parser."""
    from ufal import udpipe

    rows = []
    for tree in trees:
        for place, (word, tag, head) in enumerate(zip(tree.words, tree.tags, tree.heads.tolist(), strict=True), 1):
            relation = "root" if head < 0 else "dep"
            rows.append(f"{place}\t{word}\t_\t{tag}\t{tag}\t_\t{head + 1}\t{relation}\t_\t_\n")
        rows.append("\n")
    reader, sentences, error = udpipe.InputFormat.newConlluInputFormat(), udpipe.Sentences(), udpipe.ProcessingError()
    reader.setText("".join(rows))
    sentence = udpipe.Sentence()
    while reader.nextSentence(sentence, error):
        sentences.push_back(sentence)
        sentence = udpipe.Sentence()
    model: bytes = udpipe.Trainer.train(
        "morphodita_parsito", sentences, udpipe.Sentences(), "none", TAGGER, PARSER, error
    )
    if error.occurred():
        raise SystemExit(error.message)
    return model


def by_styles(trees: Sequence[Tree], lines: Sequence[list[str]]) -> dict[str, list[Dependency]]:
    """The heads of trees by the table, in each style."""
    table = heads.load("english")
    return {
        f"trees, {name}": list(over_text(to_dependencies(trees, table, style), lines)) for name, style in STYLES.items()
    }


def over_text(trees: Iterable[Dependency], lines: Iterable[list[str]]) -> Iterator[Dependency]:
    """The same trees with the words of the text."""
    for tree, words in zip(trees, lines, strict=True):
        if len(tree):
            yield Dependency(words, tree.heads.tolist(), tree.tags)
        else:
            yield Dependency(words, [Dependency.NO_HEAD] * len(words))


def compared_and_written(
    arguments: argparse.Namespace, analyses: dict[str, list[Dependency]], gold: Sequence[Dependency] | None = None
) -> None:
    """Write the analyses and the tables, and print the comparison."""
    for name, found in analyses.items():
        write(arguments.out / f"{name.replace(', ', '-').lower()}.conllu", found, tags="xpos")
    compared = compare_dependencies(analyses, gold)
    print(as_text(compared))
    print(f"{time.process_time():.0f} CPU s")
    record(arguments.agreement, *agreement_table(compared))
    record(arguments.json, *source_table(compared))


def agreement_table(compared: DependencyComparison) -> tuple[list[dict[str, Any]], list[list[Any]]]:
    """Columns and rows: above the diagonal the share of equal roots, below it that of equal heads."""
    columns = [column("same roots \\ same heads, %"), *(column(name, 1) for name in compared.names)]
    rows: list[list[Any]] = []
    for i, one in enumerate(compared.names):
        row: list[Any] = [one]
        for j, other in enumerate(compared.names):
            both = None if i == j else compared.between(one, other)
            row.append(both and 100 * (both.roots if i < j else both.heads))
        rows.append(row)
    return columns, rows


def source_table(compared: DependencyComparison) -> tuple[list[dict[str, Any]], list[list[Any]]]:
    """Columns and rows: a row for each source, with its invalid trees, and its accuracy if there are gold trees."""
    accuracy = [column("precision, %", 1), column("recall, %", 1)] if compared.accuracy else []
    counts = ("sentences", "unparsed", "illegal trees", "several roots", "cycles", "crossing arcs")
    rows: list[list[Any]] = []
    for name in compared.names:
        right, trees = compared.accuracy.get(name), compared.trees[name]
        row = [name] if right is None else [name, 100 * right.precision, 100 * right.recall]
        row += [trees.sentences, trees.unparsed, trees.illegal, trees.several_roots, trees.cycles, trees.nonprojective]
        rows.append(row)
    return [column("source"), *accuracy, *(column(name) for name in counts)], rows


if __name__ == "__main__":
    main()
