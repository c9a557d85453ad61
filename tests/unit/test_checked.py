"""Large files are checked once, and again after any change."""

from __future__ import annotations

import os
import time

import pytest
from small_table import table

from treeglot import FormatError
from treeglot.base import checked
from treeglot.base.checked import forget, open_checked
from treeglot.decode import SearchOptions
from treeglot.lm import compile_ngram, train_ngram
from treeglot.models import load
from treeglot.models.model import write_model
from treeglot.models.verify import verify_model


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.setenv("TREEGLOT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(checked, "SETTLED", 0)
    path = tmp_path / "rules.table"
    path.write_bytes(b"good")
    time.sleep(0.02)  # later than the clock of files can tell apart
    return path


def verified(path, large=1):
    """Whether a file was checked when it was opened; a file that says `bad` is refused if so."""

    def opener(name, verify):
        if verify and path.read_bytes().startswith(b"bad"):
            raise FormatError(name, 0, "is damaged")
        return verify

    return open_checked(path, opener, large)


def test_a_file_is_checked_once(file):
    assert verified(file)
    assert not verified(file)
    assert verified(file, large=5)  # small ones are always checked
    forget(file)
    assert verified(file)
    forget(file.with_name("none"))


def test_a_changed_file_is_checked_again(file):
    assert verified(file)
    times = file.stat()
    file.write_bytes(b"bad!")
    os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))  # as if nothing had happened
    for _ in range(2):
        with pytest.raises(FormatError, match="is damaged"):
            verified(file)
    other = file.with_name("other")
    other.write_bytes(b"bad!")
    other.replace(file)
    with pytest.raises(FormatError, match="is damaged"):
        verified(file)


def test_a_file_that_has_just_been_written_is_not_recorded(file, monkeypatch):
    monkeypatch.setattr(checked, "SETTLED", 60_000_000_000)
    assert verified(file)
    assert verified(file)


def test_a_file_that_changes_while_it_is_checked_is_not_recorded(file):
    def opener(name, verify):
        file.write_bytes(b"bad!")
        return verify

    assert open_checked(file, opener, 1)
    assert open_checked(file, opener, 1)


def test_records_that_cannot_be_used(file, monkeypatch, tmp_path):
    assert verified(file)
    [record] = (tmp_path / "cache" / "checked").iterdir()
    record.write_bytes(b"[1,")
    assert verified(file)
    assert not verified(file)
    (tmp_path / "blocked").write_bytes(b"")
    monkeypatch.setenv("TREEGLOT_CACHE", str(tmp_path / "blocked"))
    assert verified(file)
    assert verified(file)


def test_a_missing_file_is_for_the_opener(file):
    file.unlink()
    with pytest.raises(FileNotFoundError):
        verified(file)


def test_models_are_opened_so(file, monkeypatch, tmp_path):
    """The table and the language model of a model are recorded; verifying a model checks them again."""
    monkeypatch.setattr(checked, "LARGE", 1)
    file.unlink()
    table(("X", "a", "b", -1.0)).write(str(file))
    with pytest.warns(UserWarning):
        compile_ngram(train_ngram(["b b", "b"], order=2), tmp_path / "lm.bin")
    write_model(tmp_path, "hiero", {"p": 1.0, "lm": 0.1}, SearchOptions())
    time.sleep(0.02)
    records = tmp_path / "cache" / "checked"
    load(tmp_path)
    made = list(records.iterdir())
    assert len(made) == 2
    for path in made:
        path.write_bytes(path.read_bytes() + b" ")  # the same record with a mark
    load(tmp_path)
    assert all(path.read_bytes().endswith(b" ") for path in made)
    verify_model(tmp_path)
    assert not any(path.read_bytes().endswith(b" ") for path in made)  # written anew
