"""Sentence pairs with trees on both sides: what tree-to-tree extraction reads."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from treeglot._core import Bitext, BitextBuilder, FuzzyLabels, TreeBatch
from treeglot.base.errors import FormatError
from treeglot.syntax import Alignment, Tree
from treeglot.syntax.same_words import ESCAPES, difference

HINT = "is a tree before it missing? (()) stands for one: blank lines are passed over"


@dataclass(frozen=True)
class ParsedBitext:
    """Aligned sentence pairs and their trees; a sentence without a tree gives rules without labels on its side."""

    pairs: Bitext
    source_trees: TreeBatch
    target_trees: TreeBatch
    missing: tuple[int, int] = (0, 0)  # sentences for which there was no tree, source and target
    mismatched: tuple[int, int] = (0, 0)  # trees left out because their words are not the sentence's

    def __len__(self) -> int:
        return len(self.pairs)

    @property
    def counts(self) -> dict[str, int]:
        """How many trees there were not, and why, as `extraction.json` has it."""
        named = {"missing": self.missing, "mismatched": self.mismatched}
        return {f"{side}_{name}": of[at] for name, of in named.items() for at, side in enumerate(("source", "target"))}

    def lines(self) -> list[str]:
        """The same in words."""
        out = [f"{len(self):,} sentence pairs; {self.missing[0]:,} and {self.missing[1]:,} without a tree"]
        if any(self.mismatched):
            source, target = self.mismatched
            out.append(f"{source:,} source and {target:,} target trees were left out: their words are not the text's")
        return out


def parsed_bitext(
    records: Iterable[tuple[Sequence[str], Sequence[str], Alignment, Tree | None, Tree | None]],
    *,
    files: tuple[str, str] = ("source trees", "target trees"),
    skip_bad: bool = False,
) -> ParsedBitext:
    """Sentence pairs with their alignments and trees, as extractors read them.

    An empty tree is a missing one, None one that nobody asked for. A tree whose words are not the sentence's, case and
    escaped brackets aside, is an error that names the file of `files` and the tree; with `skip_bad` it is left out and
    counted. The words are those of the sentence.

    >>> trees = Tree.parse("(NP (DT das) (NN Haus))"), Tree.parse("(NP (DT The) (NN house))")
    >>> pair = ("das Haus".split(), "the home".split(), Alignment.parse("0-0 1-1"), *trees)
    >>> parsed_bitext([pair])  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    treeglot.base.errors.FormatError: target trees: tree 1: word 2 is 'house'; in line 1 of the text it is 'home'...
    >>> parsed_bitext([pair], skip_bad=True).mismatched
    (0, 1)
    """
    builder, batches = BitextBuilder(), (TreeBatch(), TreeBatch())
    missing, mismatched = [0, 0], [0, 0]
    for number, (source, target, alignment, source_tree, target_tree) in enumerate(records, 1):
        builder.append(source, target, alignment)
        sides = zip(batches, (source_tree, target_tree), (source, target), files, strict=True)
        for side, (batch, tree, words, file) in enumerate(sides):
            if tree is None:
                batch.append(Tree(), words, [])
                continue
            missing[side] += bool(words) and not len(tree)
            problem = difference(tree.words, words, f"line {number} of the text") if len(tree) else ""
            if problem and not skip_bad:
                raise FormatError(file, 0, f"tree {number}: {problem} ({HINT})")
            mismatched[side] += bool(problem)
            usable = len(tree) > 0 and not problem
            batch.append(tree if usable else Tree(), words, words if usable else [])
    return ParsedBitext(builder.finish(), *batches, (missing[0], missing[1]), (mismatched[0], mismatched[1]))


def fuzzy_labels(parsed: ParsedBitext, *, nesting: bool = False, hard: bool = False) -> FuzzyLabels:
    """Labels for the phrases of Hiero's rules: the categories of their spans in the trees.

    `nesting` uses only phrases no two of which cross; `hard` makes target categories part of the rules.
    """
    source, target = punctuation(parsed.pairs.source_words), punctuation(parsed.pairs.target_words)
    return FuzzyLabels(parsed.pairs, parsed.source_trees, parsed.target_trees, source, target, nesting, hard)


def punctuation(words: Sequence[str]) -> npt.NDArray[np.uint8]:
    """Which words have nothing in them but punctuation: by Unicode, and as treebanks write quotes and brackets.

    >>> punctuation(["a", "。", "...", "'s", "``", "-LRB-"])
    array([0, 1, 1, 0, 1, 1], dtype=uint8)
    """

    def is_mark(c: str) -> bool:
        return c == "`" or unicodedata.category(c).startswith("P")

    flags = [word.lower() in ESCAPES or all(map(is_mark, word)) for word in words]
    return np.array(flags, dtype=np.uint8)
