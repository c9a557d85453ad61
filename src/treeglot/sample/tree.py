"""Trees under construction: nodes that know their heads, relations and links."""

from __future__ import annotations

from collections.abc import Iterator


class Node:
    """A node of a tree under construction; a word's node is its tag."""

    __slots__ = ("children", "governor", "head", "label", "links", "relation", "word")

    def __init__(self, label: str, word: str = "") -> None:
        self.label, self.word = label, word
        self.children: list[Node] = []
        self.head: Node | None = None  # the child that heads it; none for a word
        self.governor: Node | None = None  # the node beside it that it depends on, when it is no head
        self.relation = "root"
        self.links: list[int] = []

    def head_word(self) -> Node:
        """The word that heads the phrase."""
        node = self
        while node.head is not None:
            node = node.head
        return node

    def preorder(self) -> Iterator[Node]:
        """The nodes below and this one, parents before children, from left to right."""
        todo = [self]
        while todo:
            node = todo.pop()
            yield node
            todo += reversed(node.children)

    def words(self) -> list[Node]:
        """The words from left to right."""
        return [node for node in self.preorder() if not node.children]


class Side:
    """What a rule gives on one side: nodes in a row, and the one that heads the others."""

    __slots__ = ("head", "nodes")

    def __init__(self, nodes: list[Node], head: Node | None) -> None:
        self.nodes, self.head = nodes, head
