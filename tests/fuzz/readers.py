"""Mutated inputs for every reader that is written in Python: `python tests/fuzz/readers.py READER|all COUNT SEED`.

An input may be refused with a `TreeglotError` or an `OSError` alone. Another exception, 10 seconds of CPU time or 1 GB
for one input end the run with an error. The input is then in `fuzz-READER.bad`.
"""

from __future__ import annotations

import faulthandler
import io
import json
import os
import random
import resource
import signal
import sys
import tempfile
import warnings
import zipfile
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from treeglot import TreeglotError, _core
from treeglot.align import Aligner
from treeglot.align.aligners import read_lexicon
from treeglot.base.files import read_chunks
from treeglot.base.options import load_options, resolved
from treeglot.base.toml import TomlFile
from treeglot.corpus.pairs import Pair
from treeglot.decode import Translator
from treeglot.decode.confidence import SENTENCE, WORD, ConfidenceModel
from treeglot.decode.context import ContextWords
from treeglot.decode.glossary import Glossary
from treeglot.decode.kbest import read_kbest
from treeglot.decode.weights import read_weights
from treeglot.documents.files import translate_file
from treeglot.experiment import Pipeline
from treeglot.experiment.card import VERSION, card_digest
from treeglot.experiment.recipe import load_recipe
from treeglot.experiment.results import load_report
from treeglot.experiment.step import Identity, Step, file_digest
from treeglot.experiment.verify import verify_card
from treeglot.foreign import read_foreign_weights
from treeglot.foreign.config import decoder_of, read_config
from treeglot.foreign.input import input_line
from treeglot.lm.classes import WordClasses
from treeglot.models.folder import ModelFile
from treeglot.models.kinds import find_kind
from treeglot.models.learn import training_options
from treeglot.parse.grammar import read_settings
from treeglot.parse.kbest import read_tree_lists
from treeglot.rules.corrections import Corrections
from treeglot.rules.extract import Extraction
from treeglot.rules.on_demand import FACTS, build_index, open_rules
from treeglot.rules.parts import _counted
from treeglot.rules.table import compile_table
from treeglot.syntax import Alignment
from treeglot.syntax.formats import read_dependencies
from treeglot.text import TextPipeline, TextSettings, TextSide
from treeglot.text.splitter import WordSplitter
from treeglot.tune import LoopOptions, tune_weights
from treeglot.tune.kbest import KBest
from treeglot.tune.loop import read_log
from treeglot.tune.mert import Mert
from treeglot.tune.plot import plot
from treeglot.web.keys import Keys
from treeglot.web.suggestions import Suggestions

SECONDS, MEMORY = 10, 1 << 30
PARTS = [
    b"(", b")", b"[", b"]", b"{", b"}", b"[[", b"]]", b"=", b"==", b",", b".", b":", b'"', b"'", b'"""', b"#", b"\n",
    b"\r\n", b"\t", b" ", b"\\", b"\\u", b"\\ud800", b"|||", b"|", b"<", b">", b"</", b"<c>", b"&amp;", b"&#0;", b"_",
    b"-", b"--", b"0", b"-1", b"4294967296", b"18446744073709551616", b"9" * 400, b"1e999", b"nan", b"inf", b"-0.0",
    b"0x1f", b"1_0", b"true", b"null", b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xf0\x9f\x98\x80", b"\0", b"\xef\xbb\xbf",
    b"1979-05-27", b"lm", b"X",
]  # fmt: skip
Reader = Callable[[Path], Any]


def mutated(seeds: list[bytes], draw: random.Random) -> bytes:
    """One of the seeds after one to six changes."""

    def below(count: int) -> int:  # half the time of randrange
        return int(draw.random() * count)

    data = bytearray(seeds[below(len(seeds))])
    for _ in range(1 + below(6)):
        at = below(len(data) + 1)
        until = min(len(data), at + (1, 1, 2, 8, 60)[below(5)])
        part = PARTS[below(len(PARTS))]
        how = below(9)
        if how == 0:
            data[at:at] = part
        elif how == 1:
            data[at:until] = part
        elif how == 2:
            del data[at:until]
        elif how == 3:
            data[at:at] = data[at:until]
        elif how == 4 and data:
            data[below(len(data))] = below(256)
        elif how == 5 and data:
            data[below(len(data))] ^= 1 << below(8)
        elif how == 6:
            data[at:] = seeds[below(len(seeds))][at:]
        elif how == 7:
            many = (3, 40)[below(2)] if below(16) else 2000
            data[at:at] = (part if below(2) else bytes(data[at:until])) * many
        else:
            del data[at:]
    return bytes(data)


def pools(folder: Path) -> tuple[list[bytes], Callable[[bytes, random.Random], bytes]]:
    """A tuning pool, and what gives half of its mutants valid checksums: numbers change within the sections."""
    path = folder / "seed"
    KBest.of([[("the house", {"lm": -0.5, "p": 1.0}), ("a", {"p": 2.0})], []]).save(path)
    content = _core.read_sections(str(path), "kbest", 1)

    def valid(_: bytes, draw: random.Random) -> bytes:
        changed = dict(content)
        for _ in range(draw.randint(1, 3)):
            name = draw.choice(sorted(changed))
            changed[name] = mutated([changed[name]], draw)
            if draw.random() < 0.1:
                del changed[draw.choice(sorted(changed))]
            if not changed:
                break
        _core.write_sections(str(path), "kbest", 1, changed)
        return path.read_bytes()

    return [path.read_bytes()], valid


def parquet(folder: Path) -> bytes:
    """A rule table as training writes it."""
    columns: dict[str, Any] = {
        "lhs": ["X", "NP"], "source": ["das [X,1]", "NP( DT( das ) [NN,1] )"], "target": ["the [X,1]", "[NN,1] it"],
        "alignment": ["0-0", ""], "labels": ["X NP", ""], "structure": ["2 0", "0 1"],
        **{f"{kind}_{way}": [0.5, 0.25] for kind in ("p", "lex")
           for way in ("target_given_source", "source_given_target")},
    }  # fmt: skip
    pq.write_table(pa.table(columns), folder / "seed.parquet", compression="none")
    return (folder / "seed.parquet").read_bytes()


def through(read: Callable[[Path], Iterable[Any]]) -> Reader:
    """Reads to the end."""
    return lambda path: list(read(path))


def config(path: Path) -> None:
    read_config(path, decoder_of(path))


def lines(path: Path) -> None:
    for line in path.read_bytes().decode("utf-8", "replace").split("\n"):
        for decoder in ("cdec", "joshua", "moses", "travatar"):
            input_line(line, decoder, markup=True)


def as_named(name: str, read: Callable[[Path], Any], place: str = "folder") -> Reader:
    """Reads a folder that holds the input under its name."""

    def use(path: Path) -> None:
        folder = path.parent / place
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(path.read_bytes())
        read(folder)

    return use


def plan(folder: Path) -> None:
    Pipeline([Step("one", lambda _: None, {}, {"a": 2, "b": {"c": 3}})], folder).plan()


def aligner(folder: Path) -> None:
    with suppress(FileNotFoundError):  # the model that belongs to it
        Aligner.load(folder)


def corrections() -> Reader:
    """Corrects a table, and translates with it."""
    builder = _core.RuleTableBuilder(["p_target_given_source"])
    variable = builder.label("X") | 1 << 31
    builder.add(0, [builder.source_word("das")], [builder.target_word("the")], [-1.0], [(0, 0)])
    builder.add(0, [builder.source_word("das"), variable], [builder.target_word("the"), -1], [-2.0], [(0, 0)])
    table = builder.finish()

    def use(path: Path) -> None:
        corrected, _ = Corrections.read(path).apply(table)
        for rule in range(len(corrected)):
            corrected.rule(rule)
        str(Translator(corrected, {"p_target_given_source": 1.0}).translate("das Haus das").derivation)

    return use


def suffixed(suffix: str, read: Reader) -> Reader:
    """Reads a file whose name says its format."""

    def use(path: Path) -> None:
        named = path.with_suffix(suffix)
        named.write_bytes(path.read_bytes())
        read(named)

    return use


def confidence() -> bytes:
    """A model of confidence, as `treeglot confidence` writes it."""
    parts = {
        name: {
            "names": names,
            "means": [0.5] * len(names),
            "scales": [1] * len(names),
            "weights": [0] * (len(names) + 1),
        }
        for name, names in (("sentence", SENTENCE), ("word", WORD))
    }
    return json.dumps(parts).encode()


def docx() -> bytes:
    """A file of Word with one paragraph."""
    body = (
        '<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body><w:p><w:r><w:rPr>'
        "<w:b/></w:rPr><w:t>Das</w:t></w:r><w:r><w:tab/><w:t>Haus</w:t></w:r></w:p></w:body></w:document>"
    )
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("word/document.xml", body)
    return out.getvalue()


def document(suffix: str) -> Reader:
    """Reads a document, and writes it again as it is."""
    sides = TextSide(TextSettings("de")), TextSide(TextSettings("en"))
    same = SimpleNamespace(sentences=(), source_tokens=())
    model: Any = SimpleNamespace(
        text=TextPipeline(*sides), translate_batch=lambda given, threads: [same for _ in given]
    )

    return suffixed(suffix, lambda path: translate_file(model, path, os.devnull))


def card(work: Path) -> bytes:
    """A card of an experiment with one system in this folder."""
    files = {"a.txt": "the house\n", "b.txt": "the big house\n", "models/x/w": "lm 1\n"}
    for name, content in files.items():
        (work / name).parent.mkdir(parents=True, exist_ok=True)
        (work / name).write_text(content)
    digests = {name: file_digest(work / name) for name in files}
    step = Identity("one", "p", {"a": 1}, {"in": digests["b.txt"]})
    output = {"file": "a.txt", "digest": digests["a.txt"], "scores": {"BLEU": 50.0}}
    scores = {"references": ["b.txt"], "options": {"samples": 5}, "signatures": {"BLEU": "x"}, "outputs": [output]}
    made = {
        "card": VERSION, "system": "x", "program": "p", "data": {"b.txt": digests["b.txt"]},
        "steps": {"one": {"key": step.key, "settings": step.settings, "inputs": step.inputs}},
        "model": {"models/x/w": digests["models/x/w"]},
        "weights": [{"file": "models/x/w", "digest": digests["models/x/w"]}], "scores": {"news": scores},
    }  # fmt: skip
    return json.dumps({**made, "digest": card_digest(made)}).encode()


def tune(folder: Path) -> None:
    """Tunes two sentences, or continues in a folder where that was done."""
    lists = KBest.of([[("a b", {"p": 1.0}), ("a c", {"p": 2.0, "q": 1.0})], [("c", {"q": -1.0})]])
    translator: Any = SimpleNamespace(signature="x", translate=lambda *_: lists)
    options, method = LoopOptions(iterations=2, kbest=2), Mert(restarts=1, directions=1)
    found = tune_weights(translator, ["x", "y"], [["a b", "c"]], method, {"p": 1.0}, folder, options=options)
    plot(found.log)


def on_demand(folder: Path) -> bytes:
    """What describes an index of one pair in this folder."""
    pair = Pair(1, ["das", "Haus"], ["the", "house"], Alignment.parse("0-0 1-1"))
    build_index([pair], folder)
    return (folder / FACTS).read_bytes()


def states(folder: Path) -> dict[str, tuple[list[bytes], Reader]]:
    """What our own steps leave for others, in JSON."""
    extraction = {
        "labels": True, "roots": False, "apart": False, "parts": 1, "rows": 5, "extractor": "hiero",
        "options": {"max_phrase": 10}, "counts": {"pairs": 3, "rules": 5},
    }  # fmt: skip
    trained = [{"options": {"search": {"beam": 5}}}, {"options": resolved(find_kind("hiero").options, {})}]
    suggested = b'{"time": "1", "source": "de", "target": "en", "q": "das", "s": "the"}\n'
    part = {"key": "1", "tallies": 1, "rows": 5, "counts": {"pairs": 2}}
    speeds = b'const TIMINGS = {"steps": {"translate x dev": {"wall": 1.5, "sentences_per_second": 5}}};\n'
    bleu = {"score": 1.5, "interval": [1, 2], "signature": "x", "against": {"difference": 1, "sign_test": {"p": 0.5}}}
    report = {
        "title": "A", "baseline": "x", "signature": "y", "systems": [{"name": "x", "rules": 5, "unlike": []}],
        "tests": {"dev": {"scores": [{"system": "x", "scores": {"BLEU": bleu}}]}},
    }  # fmt: skip
    for place in ("run", "update", "timed"):
        (folder / place).mkdir()
    tune(folder / "run")
    tune(folder / "update")
    (folder / "timed/report.json").write_text(json.dumps(report))
    step = Identity("one", "treeglot 0.1", {"a": 1, "b": {"c": [2]}}, {"in": "0123"}).to_json().encode()
    aligned = {"method": "hmm", "options": {"ibm1": 5}, "pairs": 7, "empty": 0, "long": 1}
    return {
        "step.json": ([step], as_named("one.0/step.json", plan)),
        "aligner.json": ([json.dumps(aligned).encode()], as_named("aligner.json", aligner)),
        "card": (
            [card(folder / "work")],
            as_named("cards/x.json", lambda place: list(verify_card(place / "cards/x.json")), "work"),
        ),
        "training.json": (
            [json.dumps(options).encode() for options in trained],
            as_named("training.json", lambda place: training_options(place, find_kind("hiero"))),
        ),
        "extraction.json": (
            [json.dumps(extraction).encode()],
            as_named("extraction.json", lambda place: Extraction.open(place).counts),
        ),
        "part.json": (
            [json.dumps(part).encode()],
            as_named("part-000001.json", lambda place: _counted(place / "part-000001.json", "1")),
        ),
        "on_demand.json": (
            [on_demand(folder / "index")],
            as_named(FACTS, lambda place: open_rules(place / FACTS).rules_for(["das", "Haus"], 10), "index"),
        ),
        "tuning-run": ([(folder / "run/run.json").read_bytes()], as_named("run.json", tune, "run")),
        "tuning-update": ([(folder / "update/01.weights").read_bytes()], as_named("01.weights", tune, "update")),
        "tuning-log": ([(folder / "run/log.jsonl").read_bytes()], lambda path: plot(read_log(path))),
        "suggestions": ([suggested * 2], lambda path: Suggestions(path).last(10)),
        "report": ([json.dumps(report).encode()], as_named("report.json", load_report)),
        "timings": ([speeds], as_named("timings.js", load_report, "timed")),
    }


def readers(folder: Path) -> dict[str, tuple[list[bytes], Reader]]:
    """By name: seeds, and what reads a file."""
    toml = (
        b'kind = "hiero"\nlm = "lm.bin"\nrules = "rules.table"\n\n'
        b"[search]\npop_limit = 200\nbeam = 0\nthreshold = 0.5\n"
    )
    recipe = (
        b'title = "A"\n\n[corpus]\nsource = "a"\ntarget = "b"\nalignments = "l"\n\n[dev]\nsource = "c"\n'
        b'references = ["d", "e"]\n\n[test.news]\nsource = "f"\nreferences = ["g"]\n\n[lm]\norder = 3\n\n[[system]]\n'
        b'name = "x"\nkind = "hiero"\noptions = { search = { pop_limit = 10 } }\ntune = { iterations = 2 }\n'
    )
    candc = (
        b"# made by hand\n(The_1 (NP[nb]{Y}/N{Y}<1>){_} 1 dog_2 0)\nwill_3 (S[dcl]\\NP)/(S[b]\\NP) 1 dog_2 0\n"
        b"<c> The|the|DT|I-NP|O|NP[nb]/N dog|dog|NN|I-NP|O|N will|will|MD|I-VP|O|N\n\n"
    )
    enju = (
        b'<sentence id="s0" parse_status="success"><cons id="c0" cat="S" head="c1" sem_head="c1"><cons id="c1" '
        b'cat="NX" head="t0" sem_head="t0"><tok id="t0" cat="N" pos="NN" base="dog" pred="noun_arg0">Dogs</tok></cons> '
        b'<tok id="t1" cat="V" pos="VBP" base="bark" pred="verb_arg1" arg1="c1">bark</tok></cons>.</sentence>\n'
    )
    around = (
        b"<?xml version='1.0'?><doc><p>" + enju.strip() + enju.replace(b'"t', b'"u') + b"</p></doc>\n"
        b'<sentence id="s1" parse_status="time limit exceeded">It isn&apos;t easy.</sentence>\n'
    )
    standoff = b'0\t12\tsentence id="s0"\n0\t4\ttok id="t0" cat="N" pos="NN" base="dog" pred="noun_arg0"\n'
    standoff += b"\n" + standoff + b'13\t15\tsentence id="s1"\n'
    (folder / "text").write_text("Dogs bark \u00e9.\nNo")
    moses = (
        b"[feature]\nKENLM name=LM0 factor=0 path=lm.arpa order=3\nPhraseDictionaryMemory name=TM0 path=rules\n"
        b"[weight]\nLM0= 0.5\nTM0= 0.1 0.2\nWordPenalty0= -1\n[cube-pruning-pop-limit]\n100\n"
    )
    joshua = (
        b"lm = kenlm 3 false false 100 lm.arpa\ntm = hiero -owner pt -maxspan 20 -path grammar\n"
        b"pop-limit = 100\nlm_0 1.0\ntm_pt_0 0.3\n"
    )
    travatar = b"[tm_file]\nrules.gz\n\n[lm_file]\nlm.arpa\n\n[weight_vals]\nlm=0.2\nword=0.5\n[pop_limit]\n200\n"
    cdec = (
        b"formalism=scfg\ngrammar=rules.gz\nweights=weights.txt\n"
        b"feature_function=KLanguageModel lm.arpa\nfeature_function=WordPenalty\n"
    )
    text = (
        b'[source]\nlanguage = "de"\ntokeniser = "icu"\ncase = "lower"\nlearnt = []\n\n[target]\nlanguage = "en"\n'
        b'tokeniser = "icu"\ncase = "keep"\nlearnt = []\n'
    )
    grammar = b'signature = "english"\nhorizontal = 0\nvertical = 1\nsteps = false\nlevels = 1\nsizes = [1, 20, 300]\n'
    corrected = (
        b"# mine\n\nadd ||| [X] ||| das Haus ||| the house ||| 0-0 1-1 ||| p_target_given_source=0.5 new=-1 ||| A ||| "
        b"2026-11-16 ||| g ||| X Y ||| 2 0\nforbid ||| [X] ||| das [X,1]\nforbid ||| ||| das ||| *\n"
        b"reweight ||| [X] ||| das ||| the ||| ||| preferred=2e0\nadd ||| [NP] ||| NP( das [X,1] ) ||| [X,1]\n"
        b"add ||| [Y] ||| [X,1] ||| [X,1] \\|||\nadd ||| [X] ||| [Y,2] ||| [Y,2]\n"
    )
    terms = (
        b"source\ttarget\tmode\tcase\tforms\nHaus\thouse\tforce\tany\tHauses|H\xc3\xa4user\nBank\tbench\tforbid\n# x\n"
    )
    tbx = (
        b'<?xml version="1.0"?><tbx xmlns="urn:iso:std:iso:30042:ed-2"><text><body><conceptEntry id="1">'
        b'<langSec xml:lang="de"><termSec><term>Haus</term></termSec></langSec><langSec xml:lang="en"><termSec>'
        b'<term>house</term></termSec><termSec><term>home</term><termNote type="administrativeStatus">deprecated'
        b"</termNote></termSec></langSec></conceptEntry></body></text></tbx>"
    )
    keys = json.dumps({"keys": [{"name": "a", "digest": "0f", "rights": ["translate"], "requests": 5}]}).encode()
    html = (
        b'<!DOCTYPE html><html><head><meta charset="utf-8"><title>Das</title><style>p {}</style></head><body>'
        b'<p>Das <b id="i">Haus</b> ist <i>klein</i><sup>1</sup>.<br/>H<sub>2</sub>O <!-- x --><![CDATA[y]]> {z} &amp; '
        b"&#x41;<pre>a  b</pre></body></html>"
    )
    xliff = (
        b'<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2"><file source-language="de"><body>'
        b'<trans-unit id="1"><source>Das <g id="1">Haus</g> <x id="2"/></source></trans-unit><trans-unit id="2">'
        b'<source>a</source><seg-source><mrk mtype="seg" mid="1">a</mrk></seg-source></trans-unit></body></file>'
        b"</xliff>"
    )
    po = (
        b'msgid ""\nmsgstr ""\n"Language: \\n"\n"Plural-Forms: nplurals=2; plural=n != 1;\\n"\n\n#, c-format\n'
        b'msgctxt "x"\nmsgid "das %s"\nmsgid_plural "die <b>%s</b>"\nmsgstr[0] ""\nmsgstr[1] ""\n\n'
        b'msgid "a"\nmsgstr ""\n'
    )
    return {
        "text.toml": ([text], as_named("text.toml", TextPipeline.load)),
        "parser.toml": ([grammar], as_named("parser.toml", read_settings)),
        "weights": ([b"# a guess\nlm 0.5\nword_penalty -1e-3\n\nsubst_f[X\xe2\x86\x92Y] 2\n"], read_weights),
        "model.toml": ([toml], lambda path: load_options(ModelFile, path)),
        "toml": ([toml, recipe], lambda path: TomlFile(path)),
        "recipe": ([recipe], load_recipe),
        "candc": ([candc], through(lambda path: read_dependencies(path, "candc"))),
        "candc-skip": ([candc], through(lambda path: read_dependencies(path, "candc", skip_bad=True))),
        "enju": ([enju, around], through(lambda path: read_dependencies(path, "enju", skip_bad=True))),
        "enju-so": (
            [standoff],
            through(lambda path: read_dependencies(path, "enju-so", skip_bad=True, text=str(folder / "text"))),
        ),
        "kbest": ([b"0 ||| the house ||| lm=-1.5 p=0.25 ||| -2.5\n1 ||| a ||| p=1 ||| 0\n"], through(read_kbest)),
        "tree-lists": (
            [b"sentence 1:\na\n2 best:\n-1.5\t( (S (A a)))\n-2\t( (S (B a)))\n\n"],
            through(read_tree_lists),
        ),
        "configs": ([moses, joshua, travatar, cdec], config),
        "moses.ini": ([moses], lambda path: read_foreign_weights(path, "moses")),
        "joshua.config": ([joshua], lambda path: read_foreign_weights(path, "joshua")),
        "travatar.ini": ([travatar], lambda path: read_foreign_weights(path, "travatar")),
        "cdec.weights": ([b"LanguageModel 0.5\nPhraseModel_0 1.5\n"], lambda path: read_foreign_weights(path, "cdec")),
        "input-lines": ([b'<seg id="1" grammar="g.gz"> das haus ||| the house </seg>\ndas &lt;x> haus\n'], lines),
        "parquet": ([parquet(folder)], lambda path: compile_table(path, folder / "table")),
        "corrections.txt": ([corrected], corrections()),
        "glossary": ([terms], Glossary.read),
        "glossary.tbx": ([tbx], suffixed(".tbx", Glossary.read)),
        "confidence.json": ([confidence()], ConfidenceModel.load),
        "context.json": (['{"source": ["das", "Haus"], "target": ["the", "é"]}'.encode()], ContextWords.read),
        "classes": ([b"das 0\nHaus 12\nist 3\n"], lambda path: WordClasses.read(path).core),
        "lexicon": ([b"das\tthe\nHaus\thouse\t2.5\n"], read_lexicon),
        "splitter": (["在 5\n中国 12\n".encode()], lambda path: WordSplitter.open(str(path))),
        "keys.json": ([keys], lambda path: Keys(path).find("a")),
        "html": ([html], document(".html")),
        "xliff": ([xliff], document(".xliff")),
        "po": ([po], document(".po")),
        "docx": ([docx()], document(".docx")),
        "pool": ([], KBest.load),
        **states(folder),
    }


class Fuzzer:
    """One reader, one stream of inputs."""

    def __init__(self, name: str, folder: Path, seeds: list[bytes], read: Reader) -> None:
        self.name = name
        self.folder = folder
        self.seeds, self.read = seeds, read
        self.valid: Callable[[bytes, random.Random], bytes] | None = None
        if name == "pool":
            self.seeds, self.valid = pools(folder)
        self.path = folder / {"parquet": "in.parquet"}.get(name, "in")
        self.file = os.open(self.path, os.O_WRONLY | os.O_CREAT)  # one for all inputs
        self.input = b""

    def fail(self, problem: str) -> None:
        bad = Path(f"fuzz-{self.name}.bad")
        bad.write_bytes(self.input)
        raise SystemExit(f"{self.name}: {problem}; the input is in {bad}")

    def one(self, data: bytes) -> bool:
        """Whether an input is refused."""
        self.input = data
        os.pwrite(self.file, data, 0)
        os.ftruncate(self.file, len(data))
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        try:
            self.read(self.path)
        except (TreeglotError, OSError):
            return True
        except BaseException as error:
            self.fail(f"{type(error).__name__}: {error}")
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
        return False

    def run(self, count: int, seed: int) -> None:
        draw = random.Random(f"{self.name} {seed}")
        signal.signal(signal.SIGPROF, lambda *_: self.fail(f"takes more than {SECONDS} s of CPU time"))
        for good in self.seeds:
            if self.one(good):
                self.fail("a seed is refused")
        refused = 0
        for number in range(count):
            data = mutated(self.seeds, draw)
            refused += self.one(self.valid(data, draw) if self.valid and number % 2 else data)
        print(f"{self.name}: {count} inputs, {refused} refused, seed {seed}", flush=True)


def main() -> None:
    faulthandler.enable()
    read_chunks.__defaults__ = (1 << 14,)  # small buffers: the sanitizer needs a millisecond for a large one
    warnings.simplefilter("ignore")
    name, count, seed = sys.argv[1], sys.argv[2], sys.argv[3]
    with tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as place:
        folder = Path(place)
        known = readers(folder)
        if name != "all" and name not in known:
            raise SystemExit(f"{name} is no reader; expected all, {', '.join(known)}")
        if "libasan" not in os.environ.get("LD_PRELOAD", ""):
            used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
            resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))
        for each in known if name == "all" else [name]:
            fuzzer = Fuzzer(each, folder, *known[each])
            if seed == "-":
                fuzzer.one(Path(count).read_bytes())
            else:
                fuzzer.run(int(count), int(seed))


if __name__ == "__main__":
    main()
