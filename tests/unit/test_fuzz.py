"""What the fuzzers have found in Python, and that they run."""

import gzip
import json
import re
import struct
import subprocess
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from small_lm import LM

from treeglot import FormatError, TreeglotError, _core
from treeglot.align import Aligner
from treeglot.decode.confidence import SENTENCE, WORD, ConfidenceModel
from treeglot.decode.glossary import Glossary
from treeglot.documents.files import translate_file
from treeglot.experiment import Pipeline
from treeglot.experiment.results import load_report
from treeglot.experiment.step import Step
from treeglot.models.kinds import find_kind
from treeglot.models.learn import training_options
from treeglot.rules.extract import Extraction
from treeglot.rules.parts import _counted
from treeglot.rules.table import compile_table
from treeglot.syntax import Tree
from treeglot.text import TextPipeline, TextSettings, TextSide
from treeglot.tune.loop import read_log
from treeglot.web.client import Client
from treeglot.web.keys import Keys
from treeglot.web.suggestions import Suggestions


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


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("5", "is a number; expected a JSON object"),
        ("{}", "has no labels; expected a truth value"),
        ('{"labels": 1}', "labels is 1; expected a truth value"),
        ('{"labels": true, "roots": true, "apart": true, "parts": -1}', "parts is -1; expected a count"),
    ],
)
def test_a_damaged_extraction(tmp_path: Path, text: str, problem: str) -> None:
    (tmp_path / "extraction.json").write_text(text)
    with pytest.raises(FormatError) as raised:
        Extraction.open(tmp_path)
    assert str(raised.value) == f"{tmp_path}/extraction.json: {problem}"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{}", "has no options; expected an object"),
        ('{"options": []}', "options is []; expected an object"),
        ('{"options": {"lm_order": "x"}}', "options.lm_order is 'x', a string; expected an integer"),
        ('{"options": {"lm_order": 0}}', "options: lm_order is 0; expected 1 to 9"),
    ],
)
def test_damaged_options_of_a_training(tmp_path: Path, text: str, problem: str) -> None:
    (tmp_path / "training.json").write_text(text)
    with pytest.raises(FormatError) as raised:
        training_options(tmp_path, find_kind("hiero"))
    assert str(raised.value) == f"{tmp_path}/training.json: {problem}"


def test_a_model_without_its_options_learns_nothing(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"training\.json: is not there; expected the options"):
        training_options(tmp_path, find_kind("hiero"))


@pytest.mark.parametrize("text", ["[]", "{}", '{"key": "1", "tallies": "x", "rows": 1, "counts": {}}'])
def test_a_damaged_part_is_counted_again(tmp_path: Path, text: str) -> None:
    (tmp_path / "part-000001.json").write_text(text)
    assert _counted(tmp_path / "part-000001.json", "1") is None


def test_suggestions_that_are_nested_too_deeply_are_passed_over(tmp_path: Path) -> None:
    suggestions = Suggestions(tmp_path / "suggestions.jsonl")
    suggestions.path.write_text("[" * 100_000 + "\n")
    suggestions.add("de", "en", "das", "the")
    assert [entry["q"] for entry in suggestions.last(5)] == ["das"]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("[]", "is a list; expected a JSON object"),
        ('{"iteration": 1}', "has no score; expected a number"),
        ('{"iteration": true, "score": 1}', "iteration is true; expected a count"),
        ('{"iteration": 1, "score": NaN}', "score is NaN; expected a number"),
    ],
)
def test_a_damaged_log_of_a_tuning(tmp_path: Path, line: str, problem: str) -> None:
    (tmp_path / "log.jsonl").write_text('{"iteration": 1, "score": 20.5}\n' + line + "\n")
    with pytest.raises(FormatError) as raised:
        read_log(tmp_path / "log.jsonl")
    assert str(raised.value) == f"{tmp_path}/log.jsonl:2: {problem}"


def test_a_service_that_does_not_answer_in_json() -> None:
    page = b"<html>Bad Gateway</html>"

    class Proxy(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(502 if self.path.endswith("health") else 200)
            self.end_headers()
            self.wfile.write(page)

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Proxy) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        client = Client(f"http://127.0.0.1:{server.server_port}", timeout=20)
        with pytest.raises(TreeglotError, match="the answer is 502 Bad Gateway without an error in JSON; expected"):
            client.ask("health")
        with pytest.raises(FormatError, match="is not JSON: Expecting value, column 1; expected JSON"):
            client.ask("languages")
        server.shutdown()


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
    facts = {"method": "hmm", "options": {}, "pairs": 1, "empty": 0, "long": 0}
    for change, problem in [
        ({"method": ["hmm"]}, 'method is ["hmm"]; expected a string'),
        ({"method": "guess"}, "has no method of an aligner; expected one of "),
        ({"method": "eflomal"}, "has the method eflomal, which leaves no aligner; expected another method"),
        ({"pairs": 1.5}, "pairs is 1.5; expected a count"),
        ({"options": {"no": 1}}, "unknown option of [hmm] 'no'; known: ibm1"),
    ]:
        (tmp_path / "aligner.json").write_text(json.dumps(facts | change))
        with pytest.raises(FormatError) as raised:
            Aligner.load(tmp_path)
        assert f"{tmp_path}/aligner.json: {problem}" in str(raised.value)


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


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ('{"keys": 5}', "keys is 5; expected a list of objects"),
        ('{"keys": [{}, "a"]}', "keys has 'a'; expected a list of objects"),
        ('{"keys": [{"name": "a"}]}', "option 'digest' is missing; expected a string: SHA-256 of the key"),
        ('{"keys": [{"name": "a", "digest": "é"}]}', "digest is 'é'; expected hexadecimal digits"),
    ],
)
def test_a_damaged_file_of_keys(tmp_path: Path, content: str, problem: str) -> None:
    (tmp_path / "keys.json").write_text(content.replace("{}", '{"name": "b", "digest": "0f"}'))
    with pytest.raises(FormatError, match=re.escape(f"keys.json: {problem}")):
        Keys(tmp_path / "keys.json").find("a")


def test_a_confidence_model_with_a_number_of_400_digits(tmp_path: Path) -> None:
    parts = {
        name: {"names": names, "means": [0] * len(names), "scales": [1] * len(names), "weights": [0] * (len(names) + 1)}
        for name, names in (("sentence", SENTENCE), ("word", WORD))
    }
    (tmp_path / "c.json").write_text(json.dumps(parts))
    ConfidenceModel.load(tmp_path / "c.json")
    (tmp_path / "c.json").write_text(json.dumps(parts).replace("[0,", f"[{'9' * 400},", 1))
    with pytest.raises(FormatError, match="is no confidence model"):
        ConfidenceModel.load(tmp_path / "c.json")


def section(language: str) -> str:
    return f'<langSet xml:lang="{language}"><tig><term>a</term></tig></langSet>'


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (f"<a><termEntry>{section('de')}</termEntry><termEntry>{section('en') + section('fr')}</termEntry></a>",
         ": has terms in de, en, fr; expected two languages"),
        *((f"<?xml version='1.0' encoding='{name}'?><a/>", ":1: is in an encoding that XML readers lack")
          for name in ("x", "gb2312", "idna", "base64")),
    ],
)  # fmt: skip
def test_a_damaged_glossary(tmp_path: Path, content: str, problem: str) -> None:
    (tmp_path / "g.tbx").write_text(content)
    with pytest.raises(FormatError, match=re.escape("g.tbx" + problem)):
        Glossary.read(tmp_path / "g.tbx")


def test_a_glossary_that_is_cut_off(tmp_path: Path) -> None:
    (tmp_path / "g.tbx.gz").write_bytes(gzip.compress(b"<a>" * 1000)[:-9])
    with pytest.raises(FormatError, match=r"is not a complete \.gz file"):
        Glossary.read(tmp_path / "g.tbx.gz")


def test_a_header_of_messages_with_an_odd_number(tmp_path: Path) -> None:
    (tmp_path / "a.po").write_text('msgid ""\nmsgstr "²: a\\n"\n')
    model: Any = SimpleNamespace()
    with pytest.raises(FormatError, match="is not a file of gettext: invalid literal for int"):
        translate_file(model, tmp_path / "a.po", tmp_path / "b.po")


@pytest.mark.parametrize("number", ["0", "7", "0000000012", "000000001" + "0" * 5000])
def test_a_number_of_plurals_that_no_language_has(tmp_path: Path, number: str) -> None:
    (tmp_path / "a.po").write_text(f'msgid ""\nmsgstr "Plural-Forms: nplurals={number};\\n"\n')
    model: Any = SimpleNamespace(text=TextPipeline(*(TextSide(TextSettings(one)) for one in ("de", "en"))))
    with pytest.raises(
        FormatError, match=rf"has nplurals={number.lstrip('0')[:9] or 0} in Plural-Forms; expected 1 to 6"
    ):
        translate_file(model, tmp_path / "a.po", tmp_path / "b.po")
