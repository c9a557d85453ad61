"""What several files of tests share."""

from pathlib import Path

import pytest
from messages import messages

from treeglot.cli import main


@pytest.fixture
def decode_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    """`treeglot decode` of some lines with the file `weights`, in a folder of its own: code, list and messages."""
    monkeypatch.chdir(tmp_path)

    def decode(lines: str, *arguments: str) -> tuple[int, list[list[str]], str]:
        Path("input").write_text(lines)
        code = main(["decode", "input", "--weights", "weights", "--kbest", "9", "--skip-bad", *arguments])
        out = capsys.readouterr()
        return code, [row.split(" ||| ") for row in out.out.splitlines()], messages(out.err)

    return decode
