"""Files are written aside; links, devices and pipes are what they were."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from treeglot.base.files import read_chunks, write_binary


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
