"""What the fuzzers have found in Python, and that they run."""

import json
import struct
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from small_lm import LM

from treeglot import FormatError, _core
from treeglot.align import Aligner
from treeglot.experiment import Pipeline
from treeglot.experiment.results import load_report
from treeglot.experiment.step import Step
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


SETTINGS = {"a prior": (0, "f", float("nan")), "no word without link": (16, "f", 1.0), "a level": (24, "I", 4)}
SETTINGS |= {"rounds": (28, "I", 2**32 - 1), "a discount": (20, "f", -1.0)}


@pytest.mark.parametrize(("at", "kind", "value"), SETTINGS.values(), ids=SETTINGS.keys())
def test_settings_of_an_aligner(tmp_path: Path, at: int, kind: str, value: float) -> None:
    """Checksums are right: the numbers make no sense, or would take for ever."""
    path = str(tmp_path / "aligner.bin")
    Aligner.train([(["a", "b"], ["c", "d"])], "hmm").core.save(path)
    content = dict(_core.read_sections(path, "aligner", 1))
    settings = bytearray(content["settings"])
    struct.pack_into(f"<{kind}", settings, at, value)
    _core.write_sections(path, "aligner", 1, content | {"settings": bytes(settings)})
    with pytest.raises(FormatError, match=r"aligner\.bin: is damaged: its settings make no sense"):
        _core.Aligner.open(path)


def test_a_chain_of_samples_whose_links_lead_nowhere(tmp_path: Path) -> None:
    """It starts again, with the same result."""
    pairs = [(["a", "b"], ["c", "d"]), (["a"], ["c"])]
    wanted = Aligner.train(pairs, "sampler", options={"rounds": 4}, folder=tmp_path).align(["a", "b"], ["c", "d"])
    chains = sorted(tmp_path.glob("chain-*"))
    assert chains
    for chain in chains:
        content = dict(_core.read_sections(str(chain), "align-chain", 1))
        content["links"] = struct.pack("<3H", 1, 2, 60_000)
        _core.write_sections(str(chain), "align-chain", 1, content)
    assert (
        Aligner.train(pairs, "sampler", options={"rounds": 4}, folder=tmp_path).align(["a", "b"], ["c", "d"]) == wanted
    )


def test_a_damaged_description_of_an_aligner(tmp_path: Path) -> None:
    (tmp_path / "aligner.json").write_text('{"method": ["hmm"]}')
    with pytest.raises(FormatError, match=r"aligner\.json: has no method of an aligner"):
        Aligner.load(tmp_path)


def test_a_damaged_step_has_not_run(tmp_path: Path) -> None:
    (tmp_path / "one.0").mkdir()
    (tmp_path / "one.0/step.json").write_text('{"step": "one", "program": "", "settings": 5, "inputs": []}')
    assert Pipeline([Step("one", lambda _: None, {}, {"a": 1})], tmp_path).plan()[0].reason == "it has not run yet"


def test_a_name_of_a_column_that_is_not_utf8(tmp_path: Path) -> None:
    path = tmp_path / "rules.parquet"
    pq.write_table(pa.table({"lhs": ["X"], "source": ["a"]}), path, compression="none", store_schema=False)
    path.write_bytes(path.read_bytes().replace(b"source", b"s\xfcurce"))
    with pytest.raises(FormatError, match=r"rules\.parquet: "):
        compile_table(path, tmp_path / "rules.table")
