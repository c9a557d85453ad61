"""The sample corpus: pairs of sentences with trees, dependencies, alignment and forests, and its files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path

from treeglot.base.errors import UsageError
from treeglot.base.files import PathLike
from treeglot.parse import GrammarParser, ParserTraining, ParsingOptions, train_parser, treebank
from treeglot.sample.derive import DeadEndError, Deriver
from treeglot.sample.grammar import Grammar
from treeglot.sample.grammar_reader import load_grammar
from treeglot.sample.lexicon import load_lexicon
from treeglot.sample.notation import Place, statements
from treeglot.sample.tree import Node
from treeglot.syntax import Alignment, Dependency, ParseForest, Tree
from treeglot.syntax import write as write_values

SHORTEST, LONGEST = 4, 30
"""The lengths of sentences, in tokens, on either side."""

# The grammar's files, in the order in which they are read: the same draws need the same order.
RULES = ("declarations", "sentences", "clauses", "states", "verbs", "nouns")
WORDS = ("people", "places", "things", "matters", "verbs", "modifiers", "small")

FEWEST_PAIRS = 3
HELD_OUT = 15  # one pair in fifteen for dev, as many for test


@dataclass(frozen=True)
class SamplePair:
    """A sentence pair with all that is known about it; `rules` are the grammar's rules that made it, by name."""

    source_tree: Tree
    target_tree: Tree
    source_dependency: Dependency
    target_dependency: Dependency
    alignment: Alignment
    rules: tuple[str, ...]

    @property
    def source(self) -> list[str]:
        """The Chinese words."""
        return self.source_tree.words

    @property
    def target(self) -> list[str]:
        """The English words."""
        return self.target_tree.words


@cache
def grammar() -> Grammar:
    """The grammar that comes with Treeglot.

    >>> len(grammar().rules["np"]) > 5
    True
    """
    return load_grammar(_statements("rules", RULES), load_lexicon(_statements("words", WORDS)))


def _statements(folder: str, names: Sequence[str]) -> Iterator[tuple[Place, str]]:
    for name in names:
        file = files("treeglot.sample") / folder / f"{name}.txt"
        yield from statements(f"{folder}/{name}.txt", file.read_text(encoding="utf-8"))


def generate(pairs: int = 3000, seed: int = 1) -> list[SamplePair]:
    """Sentence pairs, all different on either side; the same for the same seed.

    >>> pair = generate(pairs=3, seed=1)[0]
    >>> len(pair.source) == len(pair.source_dependency)
    True
    """
    return list(_pairs(pairs, seed))


def _pairs(pairs: int, seed: int) -> Iterator[SamplePair]:
    deriver = Deriver(grammar(), seed)
    seen: set[str] = set()
    while pairs > 0:
        try:
            source, target, rules = deriver.derive()
        except DeadEndError:
            continue
        words = [source.words(), target.words()]
        if not all(SHORTEST <= len(side) <= LONGEST for side in words):
            continue
        # A Chinese sentence is never an English one: one set serves for both.
        texts = {" ".join(word.word for word in side) for side in words}
        if texts & seen:
            continue
        seen |= texts
        pairs -= 1
        yield SamplePair(
            _tree(source),
            _tree(target),
            _dependency(source, words[0]),
            _dependency(target, words[1]),
            _alignment(*words),
            tuple(f"{rule.category} {rule.name}" for rule in rules),
        )


def split(pairs: Sequence[SamplePair]) -> dict[str, Sequence[SamplePair]]:
    """The parts `train`, `dev` and `test`: one pair in fifteen for dev, as many for test, at least one each.

    >>> {name: len(part) for name, part in split(generate(pairs=30, seed=1)).items()}
    {'train': 26, 'dev': 2, 'test': 2}
    """
    _check_size(len(pairs))
    held_out = max(1, len(pairs) // HELD_OUT)
    train = len(pairs) - 2 * held_out
    return {"train": pairs[:train], "dev": pairs[train : train + held_out], "test": pairs[train + held_out :]}


def _check_size(pairs: int) -> None:
    if pairs < FEWEST_PAIRS:
        raise UsageError(f"{pairs} pairs cannot be split into train, dev and test; expected {FEWEST_PAIRS} or more")


def forests(
    parts: Mapping[str, Sequence[SamplePair]], cycles: int = 2, prune: float = 10.0, threads: int = 1
) -> dict[str, list[ParseForest]]:
    """Forests of the Chinese sentences by a parser trained on the training trees: what a real corpus would have.

    >>> parts = split(generate(pairs=30, seed=1))
    >>> [len(found) for found in forests(parts, cycles=1).values()]
    [26, 2, 2]
    """
    options = ParserTraining(cycles=cycles, signature="chinese", threads=threads)
    bank, _ = treebank((pair.source_tree for pair in parts["train"]), options)
    parser = GrammarParser(train_parser(bank, options), ParsingOptions(prune=prune, threads=threads))
    return {
        name: [parsed.value for parsed in parser.forests(pair.source for pair in part)] for name, part in parts.items()
    }


def write_corpus(directory: PathLike, pairs: int = 3000, seed: int = 1) -> dict[str, int]:
    """Generate a corpus and write its files into `directory`, made if need be; how many pairs each part has."""
    _check_size(pairs)
    folder = Path(directory)
    folder.mkdir(parents=True, exist_ok=True)
    parts = split(generate(pairs, seed))
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


def _tree(root: Node) -> Tree:
    """Preorder labels and subtree sizes; a word is a leaf below its tag."""
    labels: list[str] = []
    sizes: list[int] = []
    nodes: list[tuple[int, Node]] = []
    for node in root.preorder():
        nodes.append((len(labels), node))
        labels.append(node.label)
        sizes.append(1)
        if not node.children:
            labels.append(node.word)
            sizes.append(1)
    at = {id(node): index for index, node in nodes}
    for index, node in reversed(nodes):
        sizes[index] += sum(sizes[at[id(child)]] for child in node.children) if node.children else 1
    return Tree(labels, sizes)


def _dependency(root: Node, words: list[Node]) -> Dependency:
    position = {id(word): i for i, word in enumerate(words)}
    heads = [-1] * len(words)
    relations = ["root"] * len(words)
    for node in root.preorder():
        if node.governor is not None:
            word = position[id(node.head_word())]
            heads[word] = position[id(node.governor.head_word())]
            relations[word] = node.relation
    return Dependency([word.word for word in words], heads, [word.label for word in words], relations)


def _alignment(source: list[Node], target: list[Node]) -> Alignment:
    """Words with the same link number are linked."""
    places: dict[int, list[int]] = {}
    for i, word in enumerate(target):
        for link in word.links:
            places.setdefault(link, []).append(i)
    return Alignment([(i, j) for i, word in enumerate(source) for link in word.links for j in places.get(link, ())])
