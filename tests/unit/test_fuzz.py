"""What the fuzzers have found in Python, and that they run."""

import json
import struct
import subprocess
import sys
from pathlib import Path

import pytest
from small_lm import LM

from treeglot import FormatError, _core
from treeglot.experiment.results import load_report
from treeglot.rules.extract import Extraction
from treeglot.rules.table import compile_table
from treeglot.syntax import Tree


def test_every_reader_survives_a_few_mutants(tmp_path: Path) -> None:
    script = Path(__file__).parents[1] / "fuzz/readers.py"
    done = subprocess.run([sys.executable, script, "all", "30", "1"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    assert "model.toml: 30 inputs" in done.stdout


@pytest.mark.parametrize("text", ["", "[]", '{"tests": 5}', '{"tests": {"dev": {}}}', "[" * 100_000, "\ud800"])
def test_a_damaged_report(tmp_path: Path, text: str) -> None:
    (tmp_path / "report.json").write_bytes(text.encode("utf-8", "surrogatepass"))
    with pytest.raises(FormatError, match=r"report\.json"):
        load_report(tmp_path)


def test_damaged_timings_of_a_report(tmp_path: Path) -> None:
    (tmp_path / "report.json").write_text(json.dumps({"tests": {}}))
    (tmp_path / "timings.js").write_text("timings = [")
    with pytest.raises(FormatError, match=r"timings\.js"):
        load_report(tmp_path)


def test_a_damaged_extraction(tmp_path: Path) -> None:
    (tmp_path / "extraction.json").write_text("5")
    with pytest.raises(FormatError, match=r"extraction\.json: is a number; expected a JSON object"):
        Extraction.open(tmp_path)


def test_a_damaged_table_of_rules(tmp_path: Path) -> None:
    (tmp_path / "rules.parquet").write_bytes(b"PAR1 no footer")
    with pytest.raises(FormatError, match=r"rules\.parquet: is a damaged Parquet file"):
        compile_table(tmp_path / "rules.parquet", tmp_path / "rules.table")


def test_a_language_model_that_counts_more_than_it_has(tmp_path: Path) -> None:
    path = str(tmp_path / "lm.bin")
    LM.write(path)
    content = _core.read_sections(path, "ngram-lm", 1)
    numbers = bytearray(content["model"])
    struct.pack_into("<Q", numbers, 24 + 8 * 2, 99)  # trigrams
    _core.write_sections(path, "ngram-lm", 1, {**content, "model": bytes(numbers)})
    with pytest.raises(ValueError, match="found 3 of 99 n-grams of order 3: the model is damaged"):
        _core.NgramModel.open(path).arpa()


def test_a_state_of_training_with_any_number_changed() -> None:
    bank = _core.Treebank()
    bank.add(Tree.parse("(S (NP a) (VP b))"))
    trainer = _core.Trainer(bank, _core.SignatureKind.english)
    trainer.finish_level()
    trainer.split(1)
    state = trainer.state()
    refused = 0
    for at in range(0, len(state) - 8, 4):
        for number in (2, 2**31, 2**64 - 1):
            damaged = bytearray(state)
            struct.pack_into("<Q", damaged, at, number)
            other = _core.Trainer(bank, _core.SignatureKind.english)
            try:
                other.restore(bytes(damaged))
            except ValueError as error:
                assert "the saved state of training is" in str(error)
                refused += 1
            else:
                other.merge(0.5)
                other.finish_level()
                _core.SplitParser(other.grammar, 1).trees([["a", "b"]], {})
    assert refused > 200
    other.restore(state)
    assert other.state() == state
