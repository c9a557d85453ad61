"""Files are written aside; links, devices and pipes are what they were."""

from __future__ import annotations

import itertools
import lzma
import os
import subprocess
import sys
import threading
import zlib
from pathlib import Path
from typing import Any

import pytest
import zstandard

from treeglot import FormatError, UsageError
from treeglot.base import files
from treeglot.base.files import iterate_lines, read_chunks, write_binary
from treeglot.cli.output import show_data


def test_nothing_is_left_after_an_error(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"old")
    with pytest.raises(RuntimeError), write_binary(path) as stream:
        stream.write(b"new")
        raise RuntimeError
    assert [p.name for p in tmp_path.iterdir()] == ["a.txt"]
    assert path.read_bytes() == b"old"


def test_a_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"old")
    (tmp_path / "link").symlink_to("a.txt")
    with write_binary(tmp_path / "link") as stream:
        stream.write(b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "a.txt").read_bytes() == b"new"


def test_a_pipe_is_written_as_it_is(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    received: list[bytes] = []
    reader = threading.Thread(target=lambda: received.extend(read_chunks(pipe)))
    reader.start()
    with write_binary(pipe) as stream:
        stream.write(b"text")
    reader.join()
    assert received == [b"text"]
    assert pipe.is_fifo()


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as caught, write_binary(tmp_path / "x" / "a.txt"):
        pass
    assert caught.value.filename == str(tmp_path / "x" / "a.txt")


def test_a_folder_is_not_a_file(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError), write_binary(tmp_path):
        pass


@pytest.mark.parametrize("suffix", ["", ".gz", ".xz", ".zst"])
def test_a_full_disk_is_named(tmp_path: Path, suffix: str) -> None:
    """A limit on the size of files stands for the disk."""
    path = tmp_path / f"a.txt{suffix}"
    code = (
        "import os, resource, signal; from treeglot.base.files import write_binary\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN); resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))\n"
        "try:\n"
        f"    with write_binary({str(path)!r}) as stream: stream.write(os.urandom(1 << 20))\n"
        "except OSError as error: print(error.filename)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == (f"{path}\n", "")
    assert list(tmp_path.iterdir()) == []


def test_a_line_in_many_pieces_is_put_together_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """As a slow pipe gives it; put together at every piece, it would take hours."""
    monkeypatch.setattr(files, "read_chunks", lambda path: itertools.repeat(b"0123456789", 1_000_000))
    assert [len(line) for line in iterate_lines("x")] == [10_000_000]
    monkeypatch.setattr(files, "read_chunks", lambda path: iter([b"a", b"b\n\nc", b"\r", b"\n", b"d\n"]))
    assert list(iterate_lines("x")) == ["ab", "", "c", "d"]


def peak(code: str, **environment: str) -> tuple[str, int]:
    """What a process prints, and the most memory that it used, in MiB."""
    # Of this process alone: getrusage counts the memory of the process that started it, too.
    code += "\nprint(next(line for line in open('/proc/self/status') if line.startswith('VmHWM')).split()[1])"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, **environment}
    )
    assert done.returncode == 0, done.stderr
    *said, used = done.stdout.splitlines()
    return "\n".join(said), int(used) >> 10


LINUX = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak of a process is in /proc")


@pytest.fixture(scope="module", params=[".gz", ".xz", ".zst"])
def bomb(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One line of 1,100 MiB, more than a reader may use: sanitizers take some hundred of them. The fastest presets."""
    path = tmp_path_factory.mktemp("bomb") / f"bomb.txt{request.param}"
    compressors: dict[str, Any] = {
        ".gz": lambda: zlib.compressobj(1, zlib.DEFLATED, 31),
        ".xz": lambda: lzma.LZMACompressor(preset=0),
        ".zst": lambda: zstandard.ZstdCompressor(1).compressobj(),
    }
    compressor = compressors[request.param]()
    with path.open("wb") as stream:
        for _ in range(1100):
            stream.write(compressor.compress(b"a" * (1 << 20)))
        stream.write(compressor.flush())
    return path


@LINUX
def test_a_bomb_is_an_error_in_bounded_memory(bomb: Path) -> None:
    for reader in ["files.iterate_lines", "formats.read_text"]:
        check_bomb(bomb, reader)


def check_bomb(path: Path, reader: str) -> None:
    code = f"""
from treeglot import FormatError
from treeglot.syntax import formats
from treeglot.base import files
try:
    print(len(list({reader}({str(path)!r}))))
except FormatError as error:
    print(error)"""
    said, used = peak(code)
    assert said.startswith(f"{path}:1: ")
    assert said.endswith("is longer than 67108864 bytes; TREEGLOT_LONGEST_LINE sets another limit")
    assert used < 1000
    said, used = peak(code, TREEGLOT_LONGEST_LINE="1000")
    assert "is longer than 1000 bytes" in said


@LINUX
def test_a_record_of_many_lines_has_a_limit(tmp_path: Path) -> None:
    path = tmp_path / "x.tree"
    path.write_text("(S" + "\n (NP a)" * 1000)
    code = f"""
from treeglot import FormatError
from treeglot.syntax import formats
try:
    list(formats.read_trees({str(path)!r}))
except FormatError as error:
    print(error)"""
    said, _ = peak(code, TREEGLOT_LONGEST_LINE="1000")
    assert "the record is longer than 1000 bytes" in said


def test_an_xz_file_that_asks_for_too_much_memory_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.txt.xz"
    huge = [{"id": lzma.FILTER_LZMA2, "dict_size": 1 << 30, "mode": lzma.MODE_FAST, "nice_len": 16, "mf": lzma.MF_HC3}]
    path.write_bytes(lzma.compress(b"a", filters=huge))
    with pytest.raises(FormatError, match="Memory usage limit"):
        list(iterate_lines(path))


def test_xz_streams_one_after_the_other(tmp_path: Path) -> None:
    path = tmp_path / "x.txt.xz"
    path.write_bytes(lzma.compress(b"a\nb") + bytes(8) + lzma.compress(b"c\n") + bytes(4))
    assert list(iterate_lines(path)) == ["a", "bc"]


def test_a_limit_of_lines_that_is_no_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.tree").write_text("(S (A a))\n")
    command = [sys.executable, "-m", "treeglot", "convert", str(tmp_path / "a.tree"), str(tmp_path / "b.tree")]
    done = subprocess.run(command, env=os.environ | {"TREEGLOT_LONGEST_LINE": "abc"}, capture_output=True, text=True)
    problem = "error: TREEGLOT_LONGEST_LINE is 'abc'; expected a number of bytes such as 67108864\n"
    assert (done.returncode, done.stderr) == (2, problem)
    for given in ("", "-1", "0", "1e6", "²", "9" * 30):
        monkeypatch.setenv("TREEGLOT_LONGEST_LINE", given)
        with pytest.raises(UsageError, match="TREEGLOT_LONGEST_LINE is "):
            files.longest_line.__wrapped__()


def test_control_characters_do_not_reach_the_terminal(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    written = "a\tb\x1b[2J\x9b1m é\x07\x7f\n".encode()
    ours, theirs = os.openpty()
    with os.fdopen(theirs, "w", encoding="utf-8") as terminal:
        monkeypatch.setattr(sys, "stdout", terminal)
        with write_binary("-") as stream:
            for byte in written:  # however it is cut
                stream.write(bytes([byte]))
            stream.flush()
        show_data("c\x1b[31m")
        terminal.flush()
        shown = b""
        while b"[31m" not in shown:
            shown += os.read(ours, 1000)
    os.close(ours)
    assert shown.decode().split() == ["a", r"b\x1b[2J\x9b1m", r"é\x07\x7f", r"c\x1b[31m"]
    with (tmp_path / "pipe").open("w", encoding="utf-8") as file:
        monkeypatch.setattr(sys, "stdout", file)
        with write_binary("-") as stream:
            stream.write(written)
    assert (tmp_path / "pipe").read_bytes() == written
