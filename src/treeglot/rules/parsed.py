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


@dataclass(frozen=True)
class ParsedBitext:
    """Aligned sentence pairs and their trees; a sentence without a tree gives rules without labels on its side."""

    pairs: Bitext
    source_trees: TreeBatch
    target_trees: TreeBatch
    mismatched: int = 0  # trees left out because their words are not the sentence's

    def __len__(self) -> int:
        return len(self.pairs)

    @property
    def missing(self) -> tuple[int, int]:
        """Sentences without a tree, source and target."""
        return self.source_trees.missing, self.target_trees.missing


def parsed_bitext(
    records: Iterable[tuple[Sequence[str], Sequence[str], Alignment, Tree, Tree]],
    *,
    files: tuple[str, str] = ("source trees", "target trees"),
    ignore_case: bool = False,
    skip_bad: bool = False,
) -> ParsedBitext:
    """Sentence pairs with their alignments and trees, as extractors read them.

    A tree whose words are not the sentence's is an error that names the file of `files` and the tree; with `skip_bad`
    it is left out and counted. With `ignore_case` words are compared in lower case.

    >>> trees = Tree.parse("(NP (DT das) (NN Haus))"), Tree.parse("(NP (DT The) (NN house))")
    >>> pair = ("das Haus".split(), "the house".split(), Alignment.parse("0-0 1-1"), *trees)
    >>> parsed_bitext([pair])
    Traceback (most recent call last):
    ...
    treeglot.base.errors.FormatError: target trees: tree 1: word 1 of the tree is 'The'; expected 'the', as the text has
    >>> parsed_bitext([pair], skip_bad=True).mismatched
    1
    """
    builder, batches, mismatched = BitextBuilder(), (TreeBatch(), TreeBatch()), 0
    for number, (source, target, alignment, source_tree, target_tree) in enumerate(records, 1):
        builder.append(source, target, alignment)
        sides = zip(batches, (source_tree, target_tree), (source, target), files, strict=True)
        for batch, tree, words, file in sides:
            try:
                if ignore_case:
                    batch.append(tree, [word.lower() for word in words], [word.lower() for word in tree.words])
                else:
                    batch.append(tree, words, tree.words)
            except ValueError as problem:
                if not skip_bad:
                    raise FormatError(file, 0, f"tree {number}: {problem}") from None
                batch.append(Tree(), words, [])
                mismatched += 1
    return ParsedBitext(builder.finish(), *batches, mismatched)


def fuzzy_labels(parsed: ParsedBitext, *, nesting: bool = False, hard: bool = False) -> FuzzyLabels:
    """Labels for the phrases of Hiero's rules: the categories of their spans in the trees.

    `nesting` uses only phrases no two of which cross; `hard` makes target categories part of the rules.
    """
    source, target = punctuation(parsed.pairs.source_words), punctuation(parsed.pairs.target_words)
    return FuzzyLabels(parsed.pairs, parsed.source_trees, parsed.target_trees, source, target, nesting, hard)


def punctuation(words: Sequence[str]) -> npt.NDArray[np.uint8]:
    """Which words have nothing in them but punctuation, by Unicode.

    >>> punctuation(["a", "。", "...", "'s"])
    array([0, 1, 1, 0], dtype=uint8)
    """
    flags = [all(unicodedata.category(c).startswith("P") for c in word) for word in words]
    return np.array(flags, dtype=np.uint8)
