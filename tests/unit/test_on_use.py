"""Files that are verified when they are used: what is read is checked first, and damage ends the run."""

from __future__ import annotations

import math
import random
import struct
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from crafted_files import FAST, RULES, SMALL, Content, crafted, large_table, put, small_table
from neural_models import random_model
from small_lm import ARPA
from small_table import table

from treeglot import FormatError, _core
from treeglot.decode import SearchOptions, Translator
from treeglot.lm import NgramModel, compile_ngram
from treeglot.models import load
from treeglot.models.folder import write_model
from treeglot.models.verify import verify_model
from treeglot.rules import open_table
from treeglot.web.shelf import open_served

ON_USE, BACKGROUND = _core.Opening.on_use, _core.Opening.background


def rules(table: _core.RuleTable) -> list[object]:
    return [(table.rule(rule), table.sparse_features(rule), table.notes(rule)) for rule in range(len(table))]


def large_file(folder: Path) -> Path:
    """A table of more than a megabyte."""
    builder = _core.RuleTableBuilder(["p", "q"])
    x = builder.label("X")
    for i in range(40_000):
        source = [builder.source_word(f"s{i % 977}"), 2**31 | x, builder.source_word(f"s{i}")]
        builder.add(x, source, [builder.target_word(f"t{i % 811}"), -1], [-1.0, i / 7], [(0, 0)])
    path = folder / "large.table"
    builder.finish().write(str(path))
    assert path.stat().st_size > 1 << 20
    return path


@pytest.mark.parametrize("make", [small_table, large_table])
def test_a_table_on_use_is_the_table(tmp_path: Path, make: type[_core.RuleTable]) -> None:
    path = tmp_path / "rules.table"
    make().write(str(path))
    table = _core.RuleTable.open(str(path), ON_USE)
    assert rules(table) == rules(_core.RuleTable.open(str(path)))
    table.verify()
    assert rules(table) == rules(_core.RuleTable.open(str(path)))
    table.write(str(tmp_path / "again"))
    assert (tmp_path / "again").read_bytes() == path.read_bytes()


@pytest.mark.threads
def test_a_large_table_is_verified_in_the_background(tmp_path: Path) -> None:
    path = large_file(tmp_path)
    expected = rules(_core.RuleTable.open(str(path)))
    table = _core.RuleTable.open(str(path), BACKGROUND)
    translator = Translator(table, {"p": 1.0})
    for _ in range(10):
        translator.translate("unknown words")
    assert rules(table) == expected  # while and after the thread works
    table.verify()
    assert rules(table) == expected


@pytest.mark.threads
def test_a_thread_finds_damage_that_no_sentence_uses(tmp_path: Path) -> None:
    path = damaged_rule(tmp_path)
    on_use = Translator(_core.RuleTable.open(str(path), ON_USE), {"p": 1.0})
    for _ in range(20):
        assert str(on_use.translate("unknown words")) == "unknown words"
    background = Translator(_core.RuleTable.open(str(path), BACKGROUND), {"p": 1.0})
    end = time.monotonic() + 120
    with pytest.raises(FormatError, match=r"they are in its section 'rule.features'"):
        while time.monotonic() < end:
            background.translate("unknown words")


def flip_a_bit(path: Path, section: str, at: int) -> None:
    data = bytearray(path.read_bytes())
    data[data.index(_core.read_sections(str(path), "neural-joint", 2)[section]) + at] ^= 1
    path.write_bytes(data)


def put_nan(path: Path, section: str, at: int) -> None:
    """With right checksums."""
    content = _core.read_sections(str(path), "neural-joint", 2)
    put("f", section, at // 4, math.nan)(content)
    _core.write_sections(str(path), "neural-joint", 2, content)


@pytest.mark.threads
@pytest.mark.parametrize("section", ["source.embeddings", "tables", "output"])
@pytest.mark.parametrize(
    ("damage", "problem"),
    [(flip_a_bit, "they are in its section '{}'"), (put_nan, "its section '{}' has a number that is not finite")],
)
def test_a_thread_finds_damage_of_a_network_that_no_sentence_uses(
    tmp_path: Path, section: str, damage: Callable[[Path, str, int], None], problem: str
) -> None:
    words = [f"w{i}" for i in range(8000)]
    path = tmp_path / "joint.bin"
    random_model(words, words).write(str(path))
    row = 4 * (32 if section != "source.embeddings" else 16)  # bytes
    damage(path, section, 4000 * row)
    assert path.stat().st_size > 1 << 20
    rule, weights = table(("X", "a", "b", -1.0)), {"p": 1.0, "neural": 1.0}
    on_use = Translator(rule, weights, neural=_core.JointModel.open(str(path), ON_USE))
    for _ in range(20):
        assert str(on_use.translate("a")) == "b"
    background = Translator(rule, weights, neural=_core.JointModel.open(str(path), BACKGROUND))
    end = time.monotonic() + 120
    with pytest.raises(FormatError, match=problem.format(section)):
        while time.monotonic() < end:
            background.translate("a")


def test_translations_are_the_same(tmp_path: Path) -> None:
    path = large_file(tmp_path)
    (tmp_path / "lm.arpa").write_text(ARPA)
    compile_ngram(tmp_path / "lm.arpa", tmp_path / "lm.bin")
    lines = ["s1 x s1", "s7 s8 s7", "s919 s1 s39999"]
    found = []
    for how in (_core.Opening.verified, ON_USE, BACKGROUND):
        model = NgramModel(_core.NgramModel.open(str(tmp_path / "lm.bin"), how), str(tmp_path / "lm.bin"))
        translator = Translator(_core.RuleTable.open(str(path), how), {"p": -9.0, "q": 0.1, "lm": 1.0}, model)
        found.append([(str(t), t.score) for t in translator.translate_batch(lines * 2)])
    assert found[0] == found[1] == found[2]
    assert found[0][0][0] == "t1 x"


@pytest.mark.parametrize("name", RULES)
def test_crafted_tables_are_refused_on_use(tmp_path: Path, name: str) -> None:
    path = tmp_path / "rules.table"
    small_table().write(str(path))
    expected = rules(_core.RuleTable.open(str(path)))
    bad = crafted(path, "rules", 2, RULES[name])
    with pytest.raises(FormatError, match="is damaged"):
        _core.RuleTable.open(str(bad), ON_USE).verify()
    with suppress(FormatError):
        table = _core.RuleTable.open(str(bad), ON_USE)
        for rule in range(len(table)):
            with suppress(FormatError):
                assert (table.rule(rule), table.sparse_features(rule), table.notes(rule)) == expected[rule]


def test_a_name_of_a_feature_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    """Features are numbered by their names, so weights would be missing for the last ones."""
    names = [f"f{i:04}" for i in range(10_000)]
    builder = _core.RuleTableBuilder(names)
    builder.add(builder.label("X"), [builder.source_word("a")], [builder.target_word("b")], [1.0] * len(names), [])
    path = tmp_path / "rules.table"
    builder.finish().write(str(path))
    whole = _core.RuleTable.open(str(path), ON_USE)
    assert Translator(whole, dict.fromkeys(names, 0.25)).translate("a").score == 2500.0

    def repeat(content: Content) -> None:
        content["features.bytes"] = content["features.bytes"][:5] * len(names)

    with pytest.raises(FormatError, match=r"features\.slots does not fit the strings"):
        _core.RuleTable.open(str(crafted(path, "rules", 2, repeat)), ON_USE)


def two_rules(folder: Path) -> Path:
    """Rule 0 translates one word, rule 1 twenty; the last one of them has a link."""
    builder = _core.RuleTableBuilder(["p"])
    x = builder.label("X")
    words = [builder.source_word(word) for word in "abcdefghijklmnopqrstu"]
    builder.add(x, words[:1], [builder.target_word("A")], [-1.0], [(0, 0)])
    builder.add(x, words[1:], [builder.target_word("B")], [-2.0], [(19, 0)])
    path = folder / "rules.table"
    builder.finish().write(str(path))
    return path


def first_rules(numbers: list[int]) -> Callable[[Content], None]:
    def damage(content: Content) -> None:
        content["trie.first_rule"] = struct.pack(f"<{len(numbers)}I", *numbers)

    return damage


@pytest.mark.parametrize("first", ["a", "b c d e f g h i j k l m n o p q r s t u"])
def test_nodes_that_share_rules_are_refused(tmp_path: Path, first: str) -> None:
    """The links of rule 1 lie within its own source side, but not within that of the node which claims it."""
    path = two_rules(tmp_path)
    bad = crafted(path, "rules", 2, first_rules([0, 0, 2] + [1] * 19 + [2]))
    translator = Translator(_core.RuleTable.open(str(bad), ON_USE), {"p": 1.0})
    with suppress(FormatError):
        translator.translate(first)
    with pytest.raises(FormatError, match="its trie is not in order"):
        translator.translate("a")


def test_every_rule_belongs_to_one_node(tmp_path: Path) -> None:
    """Whatever the file says where rules begin, a rule is that of its own source side, or it is refused."""
    path = two_rules(tmp_path)
    draw = random.Random(5)
    used = 0
    for _ in range(300):
        numbers = [0, 0, *(draw.choice([0, 1, 1, 1, 2]) for _ in range(20)), 2]
        if numbers == [0, 0] + [1] * 20 + [2]:
            continue
        bad = crafted(path, "rules", 2, first_rules(numbers))
        table = _core.RuleTable.open(str(bad), ON_USE)
        translator = Translator(table, {"p": 1.0})
        owners: dict[int, str] = {}
        for text in ("a", "b c d e f g h i j k l m n o p q r s t u"):
            try:
                words = str(translator.translate(text)).split()
            except FormatError:
                continue
            for rule in (rule for rule, word in enumerate("AB") if word in words):
                assert owners.setdefault(rule, text) == text, numbers
                source = table.rule(rule)[1]
                assert source == ([0] if text == "a" else list(range(1, 1 + len(source)))), numbers
                used += 1
    assert used > 0


@pytest.mark.parametrize(
    ("layout", "damage"),
    [("fast", d) for d in FAST.values()] + [("small", d) for d in SMALL.values()],
    ids=[*FAST.keys(), *SMALL.keys()],
)
def test_crafted_language_models_are_refused_on_use(
    tmp_path: Path, layout: str, damage: Callable[[Content], None]
) -> None:
    (tmp_path / "x.arpa").write_text(ARPA)
    compile_ngram(tmp_path / "x.arpa", tmp_path / "lm.bin", layout=layout)  # type: ignore[arg-type]
    bad = str(crafted(tmp_path / "lm.bin", "ngram-lm", 1, damage))
    with pytest.raises(FormatError, match="is damaged"):
        _core.NgramModel.open(bad, ON_USE).verify()
    with suppress(FormatError):
        model = NgramModel(_core.NgramModel.open(bad, ON_USE), bad)
        translated = Translator(small_table(), {"p": 1.0, "lm": 1.0}, model).translate("das haus haus das")
        assert math.isfinite(translated.score)


@pytest.mark.parametrize(("section", "place"), [("unigrams", "section 'unigrams'"), ("table.2", "table of order 2")])
def test_huge_values_are_named_on_use(tmp_path: Path, section: str, place: str) -> None:
    (tmp_path / "x.arpa").write_text(ARPA)
    compile_ngram(tmp_path / "x.arpa", tmp_path / "lm.bin")
    content = _core.read_sections(str(tmp_path / "lm.bin"), "ngram-lm", 1)
    # Every value is huge, so that any use finds one.
    values = np.frombuffer(content[section], np.float32).copy()
    if section == "unigrams":
        values[0::2] = -2e38
    else:
        values.reshape(-1, 16)[:, 8::2] = -2e38
    content[section] = values.tobytes()
    _core.write_sections(str(tmp_path / "bad"), "ngram-lm", 1, content)
    model = NgramModel(_core.NgramModel.open(str(tmp_path / "bad"), ON_USE), str(tmp_path / "bad"))
    translator = Translator(table(("X", "a", "u v", -1.0)), {"p": 1.0, "lm": 1.0}, model)
    with pytest.raises(FormatError, match=f"bad: is damaged: its {place} has values that cannot be"):
        translator.translate("a")


def test_words_are_verified_when_they_are_used(tmp_path: Path) -> None:
    path = large_file(tmp_path)
    expected = _core.RuleTable.open(str(path))
    data = bytearray(path.read_bytes())
    data[data.index(b"s20000")] ^= 1
    path.write_bytes(data)
    table = _core.RuleTable.open(str(path), ON_USE)
    assert table.target_words == expected.target_words
    assert table.knows_source_word("s39999")
    assert not table.knows_source_word("t1")
    assert str(Translator(table, {"p": -1.0}).translate("s1 x s1")) == "t1 x"
    with pytest.raises(FormatError, match=r"the checksum of its bytes \d+ to \d+ does not fit; .*'source.bytes'"):
        _ = table.source_words


def damaged_rule(folder: Path) -> Path:
    """A large table with a false feature of rule 30,000, in a block that rule 0 is not in."""
    path = large_file(folder)
    sections = _core.read_sections(str(path), "rules", 2)
    data = bytearray(path.read_bytes())
    features = data.index(sections["rule.features"])
    data[features + 4 * 2 * 30_000] ^= 1
    path.write_bytes(data)
    return path


def test_a_damaged_rule_harms_only_those_who_use_it(tmp_path: Path) -> None:
    path = damaged_rule(tmp_path)
    table = _core.RuleTable.open(str(path), ON_USE)
    table.rule(0)
    with pytest.raises(FormatError, match=r"the checksum of its bytes \d+ to \d+ does not fit; .*'rule.features'"):
        table.rule(30_000)
    with pytest.raises(FormatError, match="does not fit"):
        table.verify()
    with pytest.raises(FormatError, match="does not fit"):
        open_table(path)


def test_damage_ends_a_translation(tmp_path: Path) -> None:
    path = large_file(tmp_path)
    sections = _core.read_sections(str(path), "rules", 2)
    data = bytearray(path.read_bytes())
    begin = data.index(sections["rule.target"])
    for at in range(begin + 1024, begin + len(sections["rule.target"]) - 1024, 64):
        data[at] ^= 1
    path.write_bytes(data)
    translator = Translator(_core.RuleTable.open(str(path), ON_USE), {"p": 1.0})
    assert str(translator.translate("unknown words")) == "unknown words"
    with pytest.raises(FormatError, match=r"section 'rule.target'"):
        translator.translate("s900 x s900")
    with pytest.raises(FormatError, match=r"section 'rule.target'"):
        list(translator.translate_batch(["unknown words", "s900 x s900"], threads=2))


def test_a_damaged_language_model_ends_a_search(tmp_path: Path) -> None:
    table = tmp_path / "rules.table"
    small_table().write(str(table))
    (tmp_path / "lm.arpa").write_text(ARPA)
    for layout in ("fast", "small"):
        path = tmp_path / layout
        compile_ngram(tmp_path / "lm.arpa", path, layout=layout)
        sections = _core.read_sections(str(path), "ngram-lm", 1)
        data = bytearray(path.read_bytes())
        data[data.index(sections["table.2"]) + 9] ^= 1
        path.write_bytes(data)
        with pytest.raises(FormatError, match="does not fit"):
            NgramModel(_core.NgramModel.open(str(path), ON_USE), str(path)).score("the house")


def test_random_damage_never_changes_a_rule(tmp_path: Path) -> None:
    path = large_file(tmp_path)
    expected = rules(_core.RuleTable.open(str(path)))
    whole = path.read_bytes()
    draw = random.Random(3)
    for _ in range(20):
        data = bytearray(whole)
        for _ in range(3):
            data[draw.randrange(64, len(data))] ^= 1 << draw.randrange(8)
        path.write_bytes(data)
        try:
            table = _core.RuleTable.open(str(path), ON_USE)
        except FormatError:
            continue
        refused = 0
        for rule in range(0, len(table), 97):
            try:
                assert (table.rule(rule), table.sparse_features(rule), table.notes(rule)) == expected[rule]
            except FormatError:
                refused += 1
        with pytest.raises(FormatError):
            table.verify()
        assert refused < len(expected)


def test_a_model_opens_with_damage_that_verify_finds(tmp_path: Path) -> None:
    damaged_rule(tmp_path).rename(tmp_path / "rules.table")
    (tmp_path / "lm.arpa").write_text(ARPA)
    compile_ngram(tmp_path / "lm.arpa", tmp_path / "lm.bin")
    write_model(tmp_path, "hiero", {"p": -9.0, "lm": 0.1}, SearchOptions())
    assert str(load(tmp_path).translate("s1 x s1")) == "t1 x"
    with pytest.raises(FormatError, match=r"rules.table: is damaged: .*'rule.features'"):
        load(tmp_path, wait=True)
    with pytest.raises(FormatError, match=r"rules.table: is damaged: .*'rule.features'"):
        verify_model(tmp_path)
    with pytest.raises(FormatError, match=r"rules.table: is damaged: .*'rule.features'"):
        open_served(f"de-en={tmp_path}")
