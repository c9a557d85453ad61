"""Learns head tables from constituents and dependencies of the same sentences, for any language."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from treeglot._core import Dependency, HeadLearner, HeadTable, Tree
from treeglot.base.errors import UsageError
from treeglot.syntax.same_words import difference, punctuation


@dataclass(frozen=True)
class LearntHeads:
    """A learnt head table, with counts of the data that it was learnt from."""

    table: HeadTable
    trees: int
    left_out: int  # sentences without a tree, or without dependencies
    constituents: int  # with two children or more
    without_head: int  # of them: those whose words have several heads outside; they teach nothing
    right: int  # of them: those whose heads the table finds

    def summary(self) -> str:
        """Summarise the counts in one line."""
        used = self.constituents - self.without_head
        share = 100 * self.right / max(1, used)
        return (
            f"{self.trees:,} trees ({self.left_out:,} left out), {self.constituents:,} constituents "
            f"({self.without_head:,} with several heads); the table finds {share:.2f} % of the other heads"
        )


def learn_heads(pairs: Iterable[tuple[Tree, Dependency]], name: str = "learnt.heads") -> LearntHeads:
    """Learn the head table that best reproduces the dependencies of some trees. In messages, its name is `name`.

    Each rule is a list of steps. Steps that make no mistake are preferred. So if any head table can produce all
    dependencies, the learnt table does.

    >>> tree = Tree.parse("(S (NP (DT the) (NN dog)) (VP (VBZ sees) (NP (PRP me))))")
    >>> learnt = learn_heads([(tree, Dependency.from_brackets("((the) dog) sees (me)"))])
    >>> learnt.table.head_child("S", ["NP", "VP"]), learnt.table.head_child("NP", ["DT", "NN"])
    (1, 1)
    """
    learner = HeadLearner()
    trees = left_out = 0
    for number, (tree, dependency) in enumerate(pairs, 1):
        if not len(tree) or not len(dependency):
            left_out += 1
            continue
        if problem := difference(dependency.words, tree.words, f"tree {number}"):
            raise UsageError(f"dependency tree {number}: {problem}")
        learner.add(tree, dependency)
        trees += 1
    text, constituents, right = learner.learn(punctuation(learner.words))
    if not constituents:
        raise UsageError(f"of {trees:,} trees, no constituent has two children and one head; expected some")
    without = learner.without_head
    table = HeadTable.read(f"# Learnt from {constituents:,} constituents of {trees:,} trees.\n{text}", name)
    return LearntHeads(table, trees, left_out, constituents + without, without, right)
