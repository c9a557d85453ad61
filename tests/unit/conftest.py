"""What several files of tests share."""

from pathlib import Path

import pytest
import served
from messages import messages
from s3_server import KEY, s3_server

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


@pytest.fixture(scope="session")
def served_hiero(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The folder of a small model that takes Chinese text; nobody changes it."""
    return served.train_models(tmp_path_factory.mktemp("served"))


@pytest.fixture
def store(monkeypatch, tmp_path):
    """The objects of a server that URIs of S3 lead to."""
    with s3_server() as (found, port):
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{port}")
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", KEY)
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
        monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
        monkeypatch.setenv("TREEGLOT_CACHE", str(tmp_path / "cache"))
        yield found
