"""The sample corpus: sentence pairs with trees, dependencies, alignments and forests, and the files for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any

from treeglot.base.errors import UsageError
from treeglot.base.files import PathLike, write_binary
from treeglot.parse import ParserTraining, ParsingOptions, train_parser, treebank
from treeglot.parse.parser import GrammarParser
from treeglot.sample.varied import varied
from treeglot.syntax import Alignment, Dependency, ParseForest, Tree
from treeglot.syntax import write as write_values
from treeglot.syntax.formats import FORMATS, read_alignments, read_dependencies, read_trees

PAIRS = 3000
FEWEST_PAIRS = 3
HELD_OUT = 15  # one pair in fifteen for dev, as many for test


@dataclass(frozen=True)
class SamplePair:
    """A sentence pair of the sample corpus, with its trees, dependencies and alignment."""

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
    """Return the first sentence pairs. No sentence occurs twice on either side.

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
    """Split the pairs into `train`, `dev` and `test`.

    One pair in fifteen is for dev and one for test, at least one each.

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
    """Parse the Chinese sentences into forests, with a parser that is trained on the training trees.

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


FILES: dict[str, tuple[str, Callable[[SamplePair], Any]]] = {
    ".zh": ("text", lambda pair: pair.source),
    ".en": ("text", lambda pair: pair.target),
    ".zh.tree": ("brackets", lambda pair: pair.source_tree),
    ".en.tree": ("brackets", lambda pair: pair.target_tree),
    ".zh.conllu": ("conllu", lambda pair: pair.source_dependency),
    ".en.conllu": ("conllu", lambda pair: pair.target_dependency),
    ".align": ("pharaoh", lambda pair: pair.alignment),
}
"""The files of a part by suffix: their formats, and what they have of a pair."""


def write_corpus(directory: PathLike, pairs: int = PAIRS) -> dict[str, int]:
    """Write the first `pairs` into `directory`, which is created if needed, and return the pairs of each part.

    If `pairs` is larger than PAIRS, the size of the corpus, `train` repeats its pairs with other nouns and names. It
    then has no forests.
    """
    own = read_pairs(min(pairs, PAIRS))
    parts, more = split(own), max(0, pairs - PAIRS)
    folder = Path(directory)
    folder.mkdir(parents=True, exist_ok=True)
    for name, found in forests(parts).items():
        _write_part(folder / name, parts[name], more if name == "train" else 0)
        if not more or name != "train":
            write_values(folder / f"{name}.zh.forest.jsonl", found)
        else:
            (folder / f"{name}.zh.forest.jsonl").unlink(missing_ok=True)  # of another corpus
    return {name: len(part) + (more if name == "train" else 0) for name, part in parts.items()}


def _write_part(path: Path, pairs: Sequence[SamplePair], more: int) -> None:
    """Write the files of these pairs, followed by a number of varied pairs."""
    writers = [(FORMATS[format].open_writer({}), get) for format, get in FILES.values()]

    def records(pair: SamplePair) -> list[str]:
        return [to_text(get(pair)) for to_text, get in writers]

    with ExitStack() as stack:
        streams = [stack.enter_context(write_binary(path.with_name(path.name + suffix))) for suffix in FILES]
        formats = {suffix: format for suffix, (format, _) in FILES.items()}
        for found in chain(map(records, pairs), islice(varied(pairs, formats, records), more)):
            for stream, record in zip(streams, found, strict=True):
                stream.write(record.encode())
