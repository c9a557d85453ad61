"""Crafted binary files: checksums fit, contents do not. Opening one is a `FormatError`, whatever the damage is."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path

import pytest
from crafted_files import FAST, RULES, SMALL, Content, crafted, large_table, put, small_table
from small_lm import ARPA

from treeglot import FormatError, _core
from treeglot.corpus.pairs import Pair
from treeglot.lm import compile_ngram, load_ngram
from treeglot.rules import compile_table, extract, score_rules
from treeglot.syntax import Alignment
from treeglot.tune.kbest import KBest


@pytest.mark.parametrize("damage", RULES.values(), ids=RULES.keys())
def test_a_crafted_rule_table_is_refused(tmp_path: Path, damage: Callable[[Content], None]) -> None:
    path = tmp_path / "rules.table"
    small_table().write(str(path))
    assert _core.RuleTable.open(str(path)).rule(0) == small_table().rule(0)
    with pytest.raises(FormatError, match=r"bad: is damaged"):
        _core.RuleTable.open(str(crafted(path, "rules", 2, damage)))


def target_of(rule: int, index: int, symbol: int) -> Callable[[Content], None]:
    """Overwrites a symbol of a rule's target side."""

    def damage(content: Content) -> None:
        (begin,) = struct.unpack_from("<I", content["rule.target.ends"], 4 * rule)
        put("i", "rule.target", begin + index, symbol)(content)

    return damage


def test_a_table_with_long_rules_is_opened(tmp_path: Path) -> None:
    large_table().write(str(tmp_path / "rules.table"))
    opened = _core.RuleTable.open(str(tmp_path / "rules.table"))
    assert [opened.rule(i) for i in range(len(opened))] == [large_table().rule(i) for i in range(len(large_table()))]


def test_a_variable_of_a_long_rule_is_checked(tmp_path: Path) -> None:
    path = tmp_path / "rules.table"
    large_table().write(str(path))
    table = _core.RuleTable.open(str(path))
    rules = [table.rule(i) for i in range(len(table))]
    odd = [i for i, rule in enumerate(rules) if len(rule[2]) > 1]
    assert len(odd) == 14
    for rule in odd:
        variables = [place for place, symbol in enumerate(rules[rule][2]) if symbol < 0]
        wrong = [0, -1 - len(variables), -17, -(2**31)]
        if len(variables) > 1:  # one twice, another never
            wrong.append(-1)
        for symbol in wrong:
            with pytest.raises(FormatError, match="bad: is damaged"):
                _core.RuleTable.open(str(crafted(path, "rules", 2, target_of(rule, variables[0], symbol))))


@pytest.mark.parametrize("node", [1, 30, 900, -3])
def test_every_part_of_a_large_trie_is_checked(tmp_path: Path, node: int) -> None:
    path = tmp_path / "rules.table"
    large_table().write(str(path))
    for section in ("trie.first_child", "trie.first_rule", "trie.parent", "trie.symbol"):
        with pytest.raises(FormatError, match="bad: is damaged"):
            _core.RuleTable.open(str(crafted(path, "rules", 2, put("I", section, node, 2**30))))


def test_a_changed_byte_is_a_checksum_that_does_not_fit(tmp_path: Path) -> None:
    """Whatever else is wrong with the values."""
    path = tmp_path / "rules.table"
    small_table().write(str(path))
    whole = path.read_bytes()
    for at in range(64 * (1 + len(_core.read_sections(str(path), "rules", 2))), len(whole), 64):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1 :])
        with pytest.raises(FormatError, match=r"the checksum of its (bytes \d+ to \d+|checksums) does not fit"):
            _core.RuleTable.open(str(path))


@pytest.mark.parametrize(
    ("layout", "damage"),
    [("fast", d) for d in FAST.values()] + [("small", d) for d in SMALL.values()],
    ids=[*FAST.keys(), *SMALL.keys()],
)
def test_a_crafted_language_model_is_refused(tmp_path: Path, layout: str, damage: Callable[[Content], None]) -> None:
    (tmp_path / "x.arpa").write_text(ARPA)
    compile_ngram(tmp_path / "x.arpa", tmp_path / "lm.bin", layout=layout)  # type: ignore[arg-type]
    with pytest.raises(FormatError, match=r"bad: is damaged"):
        load_ngram(crafted(tmp_path / "lm.bin", "ngram-lm", 1, damage))


def listed(change: Callable[[bytes], bytes]) -> Callable[[Content], None]:
    """Changes the list of the words of all 2-grams."""
    return lambda content: content.update({"ngrams.2": change(content["ngrams.2"])})


LISTS = {
    "a word that the model lacks": (lambda text: b"\x7f" + text[1:], "has a word that it does not have"),
    "an n-gram that the model lacks": (lambda text: text + b"\0\x03", "has one that it does not have"),
    "an n-gram twice": (lambda text: text + b"\0\0", "has one twice"),
    "half an n-gram": (lambda text: text + b"\0", "ends within one"),
    "half a number": (lambda text: text + b"\0\x80", "list of n-grams is damaged"),
    "a number that is too long": (lambda text: b"\xff\xff\xff\xff\xff" + text, "list of n-grams is damaged"),
    "no n-grams": (lambda text: b"", "found 0 of 6 n-grams of order 2"),
}


@pytest.mark.parametrize(("change", "problem"), LISTS.values(), ids=LISTS.keys())
def test_a_crafted_list_of_ngrams_is_refused(tmp_path: Path, change: Callable[[bytes], bytes], problem: str) -> None:
    (tmp_path / "x.arpa").write_text(ARPA)
    compile_ngram(tmp_path / "x.arpa", tmp_path / "lm.bin")
    model = load_ngram(crafted(tmp_path / "lm.bin", "ngram-lm", 1, listed(change)))
    with pytest.raises(FormatError, match=rf"bad: is damaged: .*{problem}"):
        model.write_arpa(tmp_path / "out.arpa")
    assert not (tmp_path / "out.arpa").exists()


POOL: dict[str, Callable[[Content], None]] = {
    "no offsets": lambda content: content.update(first=b""),
    "half a number": lambda content: content.update(first=content["first"][:-1]),
    "a missing section": lambda content: content.pop("values") and None,
    "offsets that fall": put("I", "first", 1, 2**32 - 1),
    "offsets behind the translations": put("I", "first", -1, 9),
    "offsets behind the features": put("Q", "first_feature", -1, 2**63),
    "a feature without a name": put("I", "features", 0, 7),
    "a value that is no number": put("f", "values", 0, float("nan")),
    "a text that is no UTF-8": put("B", "texts", 0, 0xFF),
    "a name that is no UTF-8": put("B", "names", 0, 0xFF),
}


@pytest.mark.parametrize("damage", POOL.values(), ids=POOL.keys())
def test_a_crafted_pool_is_refused(tmp_path: Path, damage: Callable[[Content], None]) -> None:
    KBest.of([[("a b", {"lm": -1.5}), ("b a", {"lm": -2.0, "words": 2})], []]).save(tmp_path / "pool")
    with pytest.raises(FormatError, match=r"bad: "):
        KBest.load(crafted(tmp_path / "pool", "kbest", 1, damage))


PROVENANCE: dict[str, Callable[[Content], None]] = {
    "no number of rules": lambda content: content.update(rules=b""),
    "another number of rules": put("Q", "rules", 0, 2**20),
    "where source sides end": put("Q", "source.ends", 1, 2**40),
    "where links end": put("Q", "links.ends", -1, 0),
    "a source word": put("I", "source", 0, 2**30),
    "a target word": put("I", "target", -1, 2**30),
    "a link outside its pair": put("I", "links", 0, 7),
    "where a block ends": put("Q", "blocks", -1, 2**40),
    "a list of too many pairs": put("B", "lists", 0, 100),
    "a pair that it does not have": put("B", "lists", 1, 9),
    "a pair twice": put("B", "lists", 2, 0),
}


@pytest.fixture(scope="module")
def provenance(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of one rule that two pairs have, which comes first, and others."""
    folder = tmp_path_factory.mktemp("provenance")
    pairs = [Pair(i, ["das", "Haus"], ["the", "house"], Alignment.parse("0-0 1-1")) for i in (1, 2)]
    kept: list[_core.Extractor] = []
    score_rules(extract("hiero", pairs, folder, keep=kept.append), folder / "rules.parquet")
    compile_table(folder / "rules.parquet", folder / "rules.table")
    kept[0].write_provenance(_core.RuleTable.open(str(folder / "rules.table")), str(folder / "provenance.bin"), 1)
    return folder / "provenance.bin"


@pytest.mark.parametrize("name", PROVENANCE)
def test_a_crafted_list_of_pairs_is_refused(name: str, provenance: Path) -> None:
    assert _core.Provenance.open(str(provenance)).pairs_of(0, 9) == (2, [0, 1])
    with pytest.raises(FormatError, match="is damaged"):
        _core.Provenance.open(str(crafted(provenance, "provenance", 1, PROVENANCE[name])))
