"""Rule tables with all that rules can have, and ways to damage binary files under correct checksums."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path

from treeglot import _core

Content = dict[str, bytes]


def put(form: str, section: str, index: int, value: float) -> Callable[[Content], None]:
    """Overwrites one number of a section; a negative index counts from its end."""

    def damage(content: Content) -> None:
        size = struct.calcsize(form)
        numbers = bytearray(content[section])
        at = index * size if index >= 0 else len(numbers) + index * size
        struct.pack_into("<" + form, numbers, at, value)
        content[section] = bytes(numbers)

    return damage


def crafted(path: Path, kind: str, version: int, damage: Callable[[Content], None]) -> Path:
    content = _core.read_sections(str(path), kind, version)
    before = dict(content)
    damage(content)
    assert content != before
    bad = path.with_name("bad")
    _core.write_sections(str(bad), kind, version, content)
    return bad


def small_table() -> _core.RuleTable:
    """Rules with all that rules can have."""
    builder = _core.RuleTableBuilder(["p"])
    x, noun = builder.label("X"), builder.label("N")
    das, haus = builder.source_word("das"), builder.source_word("haus")
    the, house = builder.target_word("the"), builder.target_word("house")
    builder.add(noun, [haus], [house], [-0.5], [(0, 0)], [noun], [0])
    builder.add(x, [das, haus], [the, house], [-1.0], [(0, 0), (1, 1)], [x, noun], [2, 0])
    builder.add(x, [das, 2**31 | noun], [-1, the], [-2.0], [(0, 1)], [x], [0, 1])
    return builder.finish()


def sparse(ends: list[int], feature: int, value: float) -> Callable[[Content], None]:
    """Gives the first rule a sparse feature."""

    def damage(content: Content) -> None:
        content["rule.sparse.ends"] = struct.pack(f"<{len(ends)}I", *ends)
        content["rule.sparse"] = struct.pack("<If", feature, value)

    return damage


RULES: dict[str, Callable[[Content], None]] = {
    "first child behind the nodes": put("I", "trie.first_child", 1, 2**31),
    "first child falls": put("I", "trie.first_child", 0, 0),
    "first rule behind the rules": put("I", "trie.first_rule", 2, 2**32 - 1),
    "a rule at the root": put("I", "trie.first_rule", 1, 1),
    "a parent of itself": put("I", "trie.parent", -1, 4),
    "a parent behind the nodes": put("I", "trie.parent", 1, 2**30),
    "a source word": put("I", "trie.symbol", 1, 2**30),
    "a source label": put("I", "trie.symbol", -1, 2**31 + 2**20),
    "a left-hand side": put("I", "rule.lhs", 0, 99),
    "an infinite feature": put("f", "rule.features", 0, float("inf")),
    "a feature that is no number": put("f", "rule.features", -1, float("nan")),
    "a sparse feature": sparse([0, 1, 1, 1], 2**20, 1.0),
    "a sparse feature that is dense": sparse([0, 1, 1, 1], 0, 1.0),
    "where a target side ends": put("I", "rule.target.ends", 1, 2**30),
    "where target sides begin": put("I", "rule.target.ends", 0, 1),
    "a target word": put("i", "rule.target", 0, 2**30),
    "a variable": put("i", "rule.target", 0, -(2**31)),
    "a variable that the source side lacks": put("i", "rule.target", 0, -3),
    "where sparse features end": sparse([0, 2, 0, 1], 1, 1.0),
    "where links end": put("I", "rule.links.ends", 1, 2**30),
    "a link": put("B", "rule.links", 0, 200),
    "a rule's label": put("I", "rule.labels", 0, 77),
    "where labels end": put("I", "rule.labels.ends", 1, 2**30),
    "a structure": put("i", "rule.structure", 0, 1000),
    "a negative structure": put("i", "rule.structure", 0, -(2**31)),
    "a word that is no UTF-8": put("B", "target.bytes", 0, 0xFF),
    "where a word ends": put("Q", "source.ends", 0, 2**40),
    "a place of a word": lambda content: content.update({"labels.slots": b"\xff" * 16}),
}
# Of n-gram models, by layout.
FAST: dict[str, Callable[[Content], None]] = {
    "an infinite 1-gram": put("f", "unigrams", 2, float("-inf")),
    "a huge 1-gram": put("f", "unigrams", 2, -2e38),
    "a huge probability": put("f", "table.2", 8, -2e38),
    "a huge backoff": put("f", "table.2", 9, 2e38),
    "a probability that is no number": put("f", "table.2", 8, float("nan")),
    "no rest costs in their section": lambda content: content.update({"rests": b""}),
    "a rest cost too few": lambda content: content.update({"rests": content["rests"][:-4]}),
    "a rest cost that is no number": put("f", "rests", 2, float("nan")),
    "a huge rest cost": put("f", "rests", 2, -2e38),
    "the order": put("I", "model", 0, 10),
    "the layout": put("I", "model", 1, 2),
    "the beginning of a sentence": put("I", "model", 2, 2**20),
    "a word that is no UTF-8": put("B", "words.bytes", 0, 0xC0),
    "where a word ends": put("I", "words.ends", 0, 2**30),
    "a place of a word": put("I", "words.slots", 1, 2**20),
}
SMALL: dict[str, Callable[[Content], None]] = {
    "more places than a bucket has": put("B", "table.2", 60, 32),
    "more places than a last bucket has": put("B", "table.3", 60, 255),
    "an infinite code": put("f", "codes", 5, float("inf")),
    "a huge code": put("f", "codes", 5, 2e38),
}


def large_table() -> _core.RuleTable:
    """Rules with long sides, many variables and long lists among many short ones."""
    builder = _core.RuleTableBuilder(["p"])
    x = builder.label("X")
    words = [builder.source_word(f"s{i}") for i in range(40)]
    targets = [builder.target_word(f"t{i}") for i in range(40)]
    variable = 2**31 | x
    for first in range(30):
        for second in range(30):
            builder.add(x, [words[first], words[second]], [targets[second]], [-1.0], [(1, 0)], [x], [0])
    for count in range(1, 12):  # more variables than are counted in one number
        order = [-1 - k for k in reversed(range(count))]
        builder.add(
            x, [words[0]] + [variable] * count, [*order, targets[0]], [-1.0], [(0, count)], [], [0] * (count + 1)
        )
    for size in (15, 16, 255):
        builder.add(x, [words[1], variable], [targets[1]] * (size - 1) + [-1], [-1.0], [(0, size - 2)], [], [1] * size)
    builder.add(x, words[:30] * 8, [targets[0]], [-1.0], [(239, 0)] * 20, [], [1, 1])  # a mark of ill-formed ones
    return builder.finish()
