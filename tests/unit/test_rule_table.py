"""The compiled rule table: what goes in comes out, in a file too, and bad rules and files are refused."""

import struct
from pathlib import Path

import pytest

from treeglot import FormatError
from treeglot._core import RuleTable, RuleTableBuilder, read_sections, write_sections

NT = 0x80000000


def small() -> RuleTable:
    builder = RuleTableBuilder(["p", "q"])
    x, y = builder.label("X"), builder.label("Y")
    das, haus = builder.source_word("das"), builder.source_word("haus")
    the, house = builder.target_word("the"), builder.target_word("house")
    builder.add(x, [das, NT | x], [the, -1], [-1.0, 0.5], [(0, 0)])
    builder.add(y, [das], [the], [-2.0, 0.0], [(0, 0)])
    builder.add(x, [das], [the, the], [-3.0, 1.0], [])
    builder.add(x, [das, haus], [house], [0.0, 0.0], [(0, 0), (1, 0)])
    builder.add(x, [NT | y, das, NT | x], [-2, -1], [0.0, 0.0], [])
    return builder.finish()


RULES = [
    (0, [0], [0, 0], [-3.0, 1.0], []),
    (1, [0], [0], [-2.0, 0.0], [(0, 0)]),
    (0, [0, 1], [1], [0.0, 0.0], [(0, 0), (1, 0)]),
    (0, [0, NT], [0, -1], [-1.0, 0.5], [(0, 0)]),
    (0, [NT | 1, 0, NT], [-2, -1], [0.0, 0.0], []),
]


def test_rules_come_out_by_source_side() -> None:
    table = small()
    assert [table.rule(i) for i in range(len(table))] == RULES
    assert table.source_words == ["das", "haus"]
    assert table.target_words == ["the", "house"]
    assert table.labels == ["X", "Y"]
    assert table.features == ["p", "q"]
    with pytest.raises(IndexError):
        table.rule(5)


def test_file(tmp_path: Path) -> None:
    path = tmp_path / "x.rules"
    small().write(str(path))
    table = RuleTable.open(str(path))
    assert [table.rule(i) for i in range(len(table))] == RULES
    assert table.file_size == path.stat().st_size


def test_a_flipped_bit_or_a_cut_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.rules"
    small().write(str(path))
    whole = path.read_bytes()
    for at in range(0, len(whole), 37):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 4]) + whole[at + 1 :])
        with pytest.raises(FormatError, match=r"x\.rules"):
            RuleTable.open(str(path))
        path.write_bytes(whole[:at])
        with pytest.raises(FormatError, match=r"x\.rules"):
            RuleTable.open(str(path))


def test_strings_that_do_not_fit_together(tmp_path: Path) -> None:
    """A file with right checksums and wrong content."""
    path = tmp_path / "x.rules"
    small().write(str(path))
    content = read_sections(str(path), "rules", 2)

    def problem(section: str, value: bytes) -> str:
        write_sections(str(path), "rules", 2, {**content, section: value})
        with pytest.raises(FormatError) as error:
            RuleTable.open(str(path))
        return error.value.problem

    assert problem("source.bytes", b"das") == "is damaged: source.ends does not fit source.bytes"
    assert problem("target.ends", struct.pack("<2Q", 9, 8)) == "is damaged: target.ends does not fit target.bytes"
    assert problem("labels.slots", bytes(8)) == "is damaged: labels.slots has 2 places for 2 strings"


@pytest.mark.parametrize(
    ("source", "target", "features", "links", "message"),
    [
        ([], [0], [0.0], [], "a rule needs a source side"),
        ([NT], [-2], [0.0], [], "the target side uses variable 2, the source side has 1"),
        ([NT, NT], [-1, -1], [0.0], [], "the target side uses variable 1 twice"),
        ([NT, NT], [-1], [0.0], [], "the source side has 2 variables, the target side uses 1"),
        ([0], [0], [], [], "a rule with 0 features in a table with 1"),
        ([0], [0], [float("nan")], [], "feature 'p' is nan; expected a finite number"),
        ([0], [0], [0.0], [(1, 0)], "link 1-0 is outside a rule of 1 source and 1 target symbols"),
        ([7], [0], [0.0], [], "the source side has a word or label that the table lacks"),
        ([NT | 7], [-1], [0.0], [], "the source side has a word or label that the table lacks"),
        ([0], [7], [0.0], [], "the target side has a word that the table lacks"),
    ],
)
def test_refusals(
    source: list[int], target: list[int], features: list[float], links: list[tuple[int, int]], message: str
) -> None:
    builder = RuleTableBuilder(["p"])
    builder.label("X")
    builder.source_word("f")
    builder.target_word("e")
    with pytest.raises(ValueError) as caught:
        builder.add(0, source, target, features, links)
    assert str(caught.value) == message


def test_empty_table() -> None:
    table = RuleTableBuilder([]).finish()
    assert len(table) == 0
