"""The sample corpus: pairs of sentences with trees, dependencies, alignment and forests, and its files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from treeglot.base.errors import UsageError
from treeglot.base.files import PathLike
from treeglot.parse import ParserTraining, ParsingOptions, train_parser, treebank
from treeglot.parse.parser import GrammarParser
from treeglot.syntax import Alignment, Dependency, ParseForest, Tree
from treeglot.syntax import write as write_values
from treeglot.syntax.formats import read_alignments, read_dependencies, read_trees

PAIRS = 3000
FEWEST_PAIRS = 3
HELD_OUT = 15  # one pair in fifteen for dev, as many for test


@dataclass(frozen=True)
class SamplePair:
    """A sentence pair with all that is known about it."""

    source_tree: Tree
    target_tree: Tree
    source_dependency: Dependency
    target_dependency: Dependency
    alignment: Alignment

    @property
    def source(self) -> list[str]:
        """The Chinese words."""
        return self.source_tree.words

    @property
    def target(self) -> list[str]:
        """The English words."""
        return self.target_tree.words


def read_pairs(pairs: int = PAIRS) -> list[SamplePair]:
    """The first sentence pairs, all different on either side.

    >>> pair = read_pairs(3)[0]
    >>> len(pair.source) == len(pair.source_dependency)
    True
    """
    if not 0 < pairs <= PAIRS:
        raise UsageError(f"{pairs} pairs are not in the sample corpus; expected 1 to {PAIRS}")
    folder = Path(__file__).parent
    read = (
        read_trees(folder / "zh.tree.xz"),
        read_trees(folder / "en.tree.xz"),
        read_dependencies(folder / "zh.conllu.xz"),
        read_dependencies(folder / "en.conllu.xz"),
        read_alignments(folder / "links.align.xz"),
    )
    return [SamplePair(*values) for values in islice(zip(*read, strict=True), pairs)]


def split(pairs: Sequence[SamplePair]) -> dict[str, Sequence[SamplePair]]:
    """The parts `train`, `dev` and `test`: one pair in fifteen for dev, as many for test, at least one each.

    >>> {name: len(part) for name, part in split(read_pairs(30)).items()}
    {'train': 26, 'dev': 2, 'test': 2}
    """
    if len(pairs) < FEWEST_PAIRS:
        raise UsageError(
            f"{len(pairs)} pairs cannot be split into train, dev and test; expected {FEWEST_PAIRS} or more"
        )
    held_out = max(1, len(pairs) // HELD_OUT)
    train = len(pairs) - 2 * held_out
    return {"train": pairs[:train], "dev": pairs[train : train + held_out], "test": pairs[train + held_out :]}


def forests(
    parts: Mapping[str, Sequence[SamplePair]], cycles: int = 2, prune: float = 10.0, threads: int = 1
) -> dict[str, list[ParseForest]]:
    """Forests of the Chinese sentences by a parser trained on the training trees: what a real corpus would have.

    >>> parts = split(read_pairs(30))
    >>> [len(found) for found in forests(parts, cycles=1).values()]
    [26, 2, 2]
    """
    options = ParserTraining(cycles=cycles, signature="chinese", threads=threads)
    bank, _ = treebank((pair.source_tree for pair in parts["train"]), options)
    parser = GrammarParser(train_parser(bank, options), ParsingOptions(prune=prune, threads=threads))
    return {
        name: [parsed.value for parsed in parser.forests(pair.source for pair in part)] for name, part in parts.items()
    }


def write_corpus(directory: PathLike, pairs: int = PAIRS) -> dict[str, int]:
    """Write the files of the first `pairs` into `directory`, made if need be; how many pairs each part has."""
    parts = split(read_pairs(pairs))
    folder = Path(directory)
    folder.mkdir(parents=True, exist_ok=True)
    for name, found in forests(parts).items():
        part = parts[name]
        write_values(folder / f"{name}.zh", [pair.source for pair in part], "text")
        write_values(folder / f"{name}.en", [pair.target for pair in part], "text")
        write_values(folder / f"{name}.zh.tree", [pair.source_tree for pair in part])
        write_values(folder / f"{name}.en.tree", [pair.target_tree for pair in part])
        write_values(folder / f"{name}.zh.conllu", [pair.source_dependency for pair in part])
        write_values(folder / f"{name}.en.conllu", [pair.target_dependency for pair in part])
        write_values(folder / f"{name}.align", [pair.alignment for pair in part])
        write_values(folder / f"{name}.zh.forest.jsonl", found)
    return {name: len(part) for name, part in parts.items()}
