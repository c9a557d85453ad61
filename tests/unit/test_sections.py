"""The container of binary files: what is written comes back, and no damage goes unnoticed."""

from __future__ import annotations

import random
import re
import struct
from pathlib import Path

import pytest

from treeglot import FormatError
from treeglot._core import read_sections, write_sections

CONTENT = {"words": b"a b c", "empty": b"", "x" * 31: bytes(range(100))}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    out = tmp_path / "x.bin"
    write_sections(str(out), "test", 3, CONTENT)
    return out


def read(path: Path, **options: bool) -> dict[str, bytes]:
    return read_sections(str(path), "test", 3, **options)


def problem(path: Path, kind: str = "test", version: int = 3) -> str:
    with pytest.raises(FormatError) as error:
        read_sections(str(path), kind, version)
    assert error.value.file == str(path)
    assert error.value.line == 0
    return error.value.problem


def test_round_trip(path: Path) -> None:
    assert read(path) == CONTENT
    assert read(path, verify=False) == CONTENT
    assert [p.name for p in path.parent.iterdir()] == ["x.bin"]


def test_same_content_same_bytes(path: Path, tmp_path: Path) -> None:
    write_sections(str(tmp_path / "y"), "test", 3, dict(reversed(CONTENT.items())))
    assert (tmp_path / "y").read_bytes() == path.read_bytes()


def test_sections_are_aligned(path: Path) -> None:
    data = path.read_bytes()
    offsets = [struct.unpack_from("<Q", data, 64 + 64 * i + 32)[0] for i in range(len(CONTENT))]
    assert len(data) % 64 == 0
    assert all(offset % 64 == 0 for offset in offsets)


def test_every_cut_is_noticed(path: Path) -> None:
    data = path.read_bytes()
    for length in range(0, len(data), 5):
        path.write_bytes(data[:length])
        assert re.search(r"cut short|is empty|begins with", problem(path))
    path.write_bytes(data[:-1])
    assert problem(path) == f"is {len(data) - 1} bytes long; its header says {len(data)}: it is cut short"
    path.write_bytes(data + b"\0")
    assert problem(path) == f"is {len(data) + 1} bytes long; its header says {len(data)}: it is damaged"


def test_a_flipped_bit_is_noticed(path: Path) -> None:
    data = bytearray(path.read_bytes())
    for bit in range(0, 8 * len(data), 3):
        data[bit // 8] ^= 1 << bit % 8
        path.write_bytes(data)
        problem(path)
        data[bit // 8] ^= 1 << bit % 8


def test_high_bits_do_not_cancel(path: Path) -> None:
    content = {"x": bytes(1024)}
    write_sections(str(path), "test", 3, content)
    data = path.read_bytes()
    for distance in range(64, 832, 64):
        damaged = bytearray(data)
        damaged[128 + 7] ^= 0x80
        damaged[128 + 7 + distance] ^= 0x80
        path.write_bytes(damaged)
        assert (
            problem(path) == "is damaged: the checksum of its bytes 0 to 1023 does not fit; they are in its section 'x'"
        )


def test_every_level_of_checksums_is_verified(path: Path) -> None:
    """Content of 600 blocks: their checksums take more than one block themselves."""
    content = {"x": random.Random(2).randbytes(1024 * 600 + 10), "y": b"z"}
    write_sections(str(path), "test", 3, content)
    assert read(path) == content
    data = path.read_bytes()
    sums = 64 * 3 + 1024 * 600 + 128  # each section ends at a multiple of 64 bytes
    assert len(data) == sums + 601 * 8 + 56 + 64
    places = {
        1024 * 570: "the checksum of its bytes 583680 to 584703 does not fit; they are in its section 'x'",
        sums - 128: "the checksum of its bytes 614400 to 614719 does not fit; they are in its sections 'x', 'y'",
        sums + 8 * 570: "the checksum of its bytes 524288 to 525311 does not fit; they are in its section 'x'",
        len(data) - 64: "the checksum of its checksums does not fit",
        len(data) - 1: "the checksum of its checksums does not fit",
    }
    for place, expected in places.items():
        damaged = bytearray(data)
        damaged[place] ^= 1
        path.write_bytes(damaged)
        assert problem(path) == f"is damaged: {expected}"


def test_damage_in_many_places(path: Path) -> None:
    data = path.read_bytes()
    draw = random.Random(1)
    for _ in range(300):
        damaged = bytearray(data)
        for _ in range(draw.randrange(2, 20)):
            damaged[draw.randrange(len(damaged))] = draw.randrange(256)
        if damaged != data:
            path.write_bytes(damaged)
            problem(path)


def test_messages(path: Path) -> None:
    assert problem(path, kind="other") == "is a file of kind 'test'; expected one of kind 'other'"
    old = bytearray(path.read_bytes())
    old[8] = 1
    (path.parent / "old").write_bytes(old)
    again = "make it again with the command that made it, such as treeglot train, lm compile or neural train"
    assert problem(path.parent / "old") == f"has version 1 of the container; expected version 2: {again}"
    assert problem(path, version=4) == f"has version 3 of the format 'test'; expected version 4: {again}"
    path.write_bytes(b"")
    assert problem(path) == "is empty; expected a compiled file of kind 'test'"
    path.write_bytes(b"\\data\\\nngram 1=3\n")
    assert problem(path) == "begins with '\\data\\\\x0an'; expected a compiled file of kind 'test'"


def test_a_file_that_cannot_be_opened(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as error:
        read(tmp_path / "none")
    assert error.value.filename == str(tmp_path / "none")
    with pytest.raises(IsADirectoryError):
        read(tmp_path)
    with pytest.raises(FileNotFoundError):
        write_sections(str(tmp_path / "none/x"), "test", 1, {})


def test_names_have_a_length(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="longer than 31 bytes"):
        write_sections(str(tmp_path / "x"), "test", 1, {"x" * 32: b""})
    assert not list(tmp_path.iterdir())
