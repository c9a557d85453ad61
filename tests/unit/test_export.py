"""Models written for other decoders, and read back: the same best scores."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from small_table import table

from treeglot import UsageError, _core, sample
from treeglot.cli import main
from treeglot.corpus import Corpus
from treeglot.decode import SearchOptions
from treeglot.foreign import export
from treeglot.foreign.grammar import write_grammar
from treeglot.lm import compile_ngram, load_ngram, train_ngram
from treeglot.models import load as load_model
from treeglot.models import train as train_model
from treeglot.models.folder import write_model
from treeglot.models.kinds import find_kind
from treeglot.rules.ghkm import GhkmOptions
from treeglot.syntax import write

CONFIGURATIONS = {"cdec": "cdec.ini", "joshua": "joshua.config", "moses": "moses.ini"}
LINES = ["the house is the", "house is the house", "that is a house", "the that", "is is the"]
WEIGHTS = {"p": 0.7, "lm": 0.3, "glue": -0.2, "unknown": -5.0, "word_penalty": 0.4, "rule_penalty": -0.1}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "model"
    folder.mkdir()
    table().write(str(folder / "rules.table"))
    with pytest.warns(UserWarning):
        compile_ngram(train_ngram(LINES, order=3), folder / "lm.bin")
    write_model(folder, "hiero", WEIGHTS, SearchOptions(pop_limit=50))
    (tmp_path / "test.de").write_text("das ist haus\ndas Schloss\nhaus\nist das haus [ das\n")
    return folder


def scores(text: str) -> list[tuple[str, float]]:
    rows = [line.split(" ||| ") for line in text.splitlines()]
    return [(row[1], float(row[-1])) for row in rows]


CORRECTIONS = """
add ||| [X] ||| das haus ||| the building ||| ||| preferred=3 p=-0.5
add ||| [X] ||| Schloss ||| castle
forbid ||| [X] ||| das ||| the
reweight ||| [X] ||| [X,1] ist [X,2] ||| [X,2] is [X,1] ||| ||| p=-4
"""


@pytest.mark.parametrize("format", CONFIGURATIONS)
@pytest.mark.parametrize(
    ("filtered", "corrections"), [(False, ""), (True, ""), (False, CORRECTIONS), (True, CORRECTIONS)]
)
def test_an_export_has_the_same_best_scores(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], format: str, filtered: bool, corrections: str
) -> None:
    if corrections:
        sparse = "" if format == "moses" else "preferred=3 "  # which Moses has no place for
        (folder / "corrections.txt").write_text(corrections.replace("preferred=3 ", sparse))
    test, out = str(tmp_path / "test.de"), tmp_path / "out"
    assert main(["translate", str(folder), test, "--kbest", "1", "--quiet"]) == 0
    wanted = scores(capsys.readouterr().out)
    assert (
        main(["export", str(folder), "--format", format, "-o", str(out), *(["--filter", test] if filtered else [])])
        == 0
    )
    capsys.readouterr()
    assert main(["decode", test, "--config", str(out / CONFIGURATIONS[format]), "--kbest", "1", "--quiet"]) == 0
    said = capsys.readouterr()
    found = scores(said.out)
    assert [text for text, _ in found] == [text for text, _ in wanted]
    assert [score for _, score in found] == pytest.approx([score for _, score in wanted], abs=1e-5)
    assert said.err == ""


def test_a_filter_leaves_rules_out(folder: Path, tmp_path: Path) -> None:
    model = load_model(folder)
    every = export(model, tmp_path / "all", "cdec").rules
    assert 0 < export(model, tmp_path / "some", "cdec", test=["haus"]).rules < every


def test_what_a_format_cannot_hold_is_refused(folder: Path, tmp_path: Path) -> None:
    model = load_model(folder)
    with pytest.raises(UsageError, match="a hiero model cannot be written for travatar; expected c2s or "):
        export(model, tmp_path / "out", "travatar")
    with pytest.raises(UsageError, match="the feature lm_unknown has a weight, and moses has no such feature"):
        export(model.with_weights({**WEIGHTS, "lm_unknown": -1.0}), tmp_path / "out", "moses")
    with pytest.raises(UsageError, match=r"the feature subst_f\[X→Y\] has a weight, and cannot be written for cdec"):
        export(model.with_weights({**WEIGHTS, "subst_f[X→Y]": -1.0}), tmp_path / "out", "cdec")
    with pytest.raises(UsageError, match="unknown format 'phrasal'"):
        export(model, tmp_path / "out", "phrasal")  # type: ignore[arg-type]


@pytest.mark.parametrize("format", ["cdec", "moses"])
def test_a_word_that_a_format_cannot_hold_is_no_bug(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], format: str
) -> None:
    builder = _core.RuleTableBuilder(["p"])
    x, word = builder.label("X"), builder.source_word("[1]")
    builder.add(x, [word], [builder.target_word("[1]")], [-0.5], [(0, 0)], [], [])
    builder.finish().write(str(folder / "rules.table"))
    assert main(["export", str(folder), "--format", format, "-o", str(tmp_path / "out")]) == 2
    said = capsys.readouterr().err
    assert f"error: the model cannot be written for {format}: the word '[1]' would be read as something else" in said


def test_an_unknown_word_that_cdec_cannot_read_is_refused(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"cannot be written for cdec: the word '\[1\]' would be read as something"):
        export(load_model(folder), tmp_path / "out", "cdec", test=["das [1]"])


def test_a_bar_in_words_is_escaped_for_moses(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    builder = _core.RuleTableBuilder(["p"])
    x, bar, word = builder.label("X"), builder.source_word("a|b"), builder.source_word("das")
    builder.add(x, [bar], [builder.target_word("|"), builder.target_word("c|||d")], [-0.5], [], [], [])
    builder.add(x, [word], [builder.target_word("the")], [-0.25], [], [], [])
    builder.finish().write(str(folder / "rules.table"))
    with pytest.warns(UserWarning):
        compile_ngram(train_ngram(["| c|||d the", "the | c|||d"], order=2), folder / "lm.bin")
    wanted = load_model(folder).translate("das a|b")
    assert main(["export", str(folder), "--format", "moses", "-o", str(tmp_path / "out"), "--quiet"]) == 0
    (tmp_path / "test").write_text("das a&#124;b\n")
    assert (
        main(["decode", str(tmp_path / "test"), "--config", str(tmp_path / "out/moses.ini"), "--kbest", "1", "-q"]) == 0
    )
    [(text, score)] = scores(capsys.readouterr().out)
    assert wanted.text == "the | c|||d"
    assert text == "the &#124; c&#124;&#124;&#124;d"
    assert score == pytest.approx(wanted.score, abs=1e-5)


def test_moses_sorts_the_rules_of_a_source_side_and_leaves_none_out(folder: Path, tmp_path: Path) -> None:
    builder = _core.RuleTableBuilder(["p"])
    x, word = builder.label("X"), builder.source_word("das")
    for number in range(300):
        builder.add(x, [word], [builder.target_word(f"word{number}")], [-0.01 * number], [], [], [])
    builder.finish().write(str(folder / "rules.table"))
    model = load_model(folder)
    every = model.with_search(replace(model.file.search, per_source=0))
    assert export(every, tmp_path / "out", "moses").rules == 300
    limits = [int(limit) for limit in re.findall(r"table-limit=(\d+)", (tmp_path / "out/moses.ini").read_text())]
    assert len(limits) == 2
    assert min(limits) > 300  # with 0, Moses would not sort


def test_words_that_would_be_one_are_refused(folder: Path, tmp_path: Path) -> None:
    builder = _core.RuleTableBuilder(["p"])
    x = builder.label("X")
    for word in ("|", "&#124;"):
        builder.add(x, [builder.source_word(word)], [builder.target_word("the")], [-0.5], [], [], [])
    builder.finish().write(str(folder / "rules.table"))
    with pytest.raises(UsageError, match=r"the source side has '\|' and '&#124;', which are one word in moses"):
        export(load_model(folder), tmp_path / "out", "moses")


def test_a_refused_export_leaves_nothing(folder: Path, tmp_path: Path) -> None:
    builder = _core.RuleTableBuilder(["p"])
    builder.add(builder.label("X"), [builder.source_word("[1]")], [], [-0.5], [], [], [])
    builder.finish().write(str(folder / "rules.table"))
    (tmp_path / "there").mkdir()
    for out in (tmp_path / "there", tmp_path / "new/folder"):
        with pytest.raises(UsageError, match="would be read as something else"):
            export(load_model(folder), out, "cdec")
    assert not list((tmp_path / "there").iterdir())
    assert not (tmp_path / "new").exists()


def test_a_grammar_is_written_from_a_table(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="write_grammar was given 'rules'; expected a rule table, then the path"):
        write_grammar("rules", tmp_path / "out")  # type: ignore[arg-type]


@pytest.mark.parametrize("layout", ["fast", "small"])
def test_a_compiled_model_becomes_an_arpa_file_again(tmp_path: Path, layout: str) -> None:
    golden = Path(__file__).parents[1] / "golden/lm/pets.3.arpa"
    model = compile_ngram(golden, tmp_path / "lm.bin", layout=layout)  # type: ignore[arg-type]
    assert main(["lm", "export", str(tmp_path / "lm.bin"), "-o", str(tmp_path / "lm.arpa"), "--quiet"]) == 0
    again = load_ngram(tmp_path / "lm.arpa")
    if layout == "fast":
        assert again.counts == [n + b for n, b in zip(model.core.counts, model.core.blanks, strict=True)]
    words = [model.word(number) for number in range(len(model))]
    texts = [f"{a} {b} {c}" for a in words for b in words[::3] for c in words[::5]]
    assert [again.score(text) for text in texts] == [model.score(text) for text in texts]
    # What was written is written again as it is.
    again.write_arpa(tmp_path / "twice.arpa")
    assert (tmp_path / "twice.arpa").read_bytes() == (tmp_path / "lm.arpa").read_bytes()


@pytest.mark.parametrize("name", ["pets.1", "pets.3", "pets.3.prune01", "pets.4.prune112", "pets.6"])
def test_the_words_of_ngrams_are_listed(tmp_path: Path, name: str) -> None:
    """Every n-gram of the file, and the blanks that it needs."""

    def ngrams(path: Path) -> list[set[str]]:
        parts = path.read_text().split("-grams:\n")[1:]
        return [{line.split("\t")[1] for line in part.splitlines() if "\t" in line} for part in parts]

    golden = Path(__file__).parents[1] / f"golden/lm/{name}.arpa"
    compile_ngram(golden).write_arpa(tmp_path / "lm.arpa")
    wanted = ngrams(golden)
    for order in range(len(wanted) - 1, 0, -1):  # what an n-gram ends in
        wanted[order - 1] |= {ngram.split(" ", 1)[1] for ngram in wanted[order]}
    assert ngrams(tmp_path / "lm.arpa") == wanted


@pytest.mark.filterwarnings("ignore::treeglot.lm.train.DiscountWarning")
@pytest.mark.parametrize("format", CONFIGURATIONS)
def test_hiero_on_the_sample(tmp_path: Path, capsys: pytest.CaptureFixture[str], format: str) -> None:
    pairs = sample.split(sample.read_pairs(150))["train"]
    write(tmp_path / "zh.txt", [pair.source for pair in pairs])
    write(tmp_path / "en.txt", [pair.target for pair in pairs])
    write(tmp_path / "links.align", [pair.alignment for pair in pairs])
    files = {"source": tmp_path / "zh.txt", "target": tmp_path / "en.txt", "alignments": tmp_path / "links.align"}
    model = train_model("hiero", Corpus(**files), tmp_path / "model")
    lines = (tmp_path / "zh.txt").read_text().splitlines()[:40]
    wanted = [(t.text, t.score) for t in model.translate_batch(lines)]
    export(model, tmp_path / "out", format, test=lines)  # type: ignore[arg-type]
    (tmp_path / "test").write_text("\n".join(lines) + "\n")
    config = str(tmp_path / "out" / CONFIGURATIONS[format])
    assert main(["decode", str(tmp_path / "test"), "--config", config, "--kbest", "1", "--quiet"]) == 0
    found = scores(capsys.readouterr().out)
    assert [text for text, _ in found] == [text for text, _ in wanted]
    assert [score for _, score in found] == pytest.approx([score for _, score in wanted], abs=1e-4)


def test_forests_on_the_sample(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    parts = sample.split(sample.read_pairs(120))
    forests = sample.forests(parts, cycles=1)
    write(tmp_path / "zh.forest.jsonl", forests["train"])
    write(tmp_path / "en.txt", [pair.target for pair in parts["train"]])
    write(tmp_path / "links.align", [pair.alignment for pair in parts["train"]])
    write(tmp_path / "test.forest.jsonl", forests["test"])
    corpus = Corpus(
        source_forests=tmp_path / "zh.forest.jsonl",
        target=tmp_path / "en.txt",
        alignments=tmp_path / "links.align",
    )
    whole = train_model("c2s", corpus, tmp_path / "whole")
    test = list(whole.read(tmp_path / "test.forest.jsonl"))
    with pytest.raises(UsageError, match=r"Travatar has no hierarchical phrases, .*; expected a model trained with"):
        export(whole, tmp_path / "none", "travatar", test=test)
    options = replace(find_kind("c2s").options(), extract=GhkmOptions(), search=SearchOptions(pseudo_structures=False))
    model = train_model("c2s", corpus, tmp_path / "model", options)
    with pytest.raises(UsageError, match=r"no phrases off forest nodes; .* without search\.crossing_phrases"):
        crossing = replace(model.translator.options, crossing_phrases=True)
        export(model.with_search(crossing), tmp_path / "none", "travatar", test=test)
    with pytest.raises(UsageError, match="a c2s model has phrases and pseudo rules, which Travatar lacks"):
        export(model, tmp_path / "out", "travatar")
    # Travatar does not prune forests.
    model = model.with_search(replace(model.translator.options, forest_margin=1e9, pop_limit=1000))
    wanted = [(t.text, t.score) for t in model.translate_batch(test)]
    export(model, tmp_path / "out", "travatar", test=test)
    source, config = str(tmp_path / "test.forest.jsonl"), str(tmp_path / "out/travatar.ini")
    assert main(["decode", source, "--config", config, "--kbest", "1", "--quiet"]) == 0
    found = scores(capsys.readouterr().out)
    assert [score for _, score in found] == pytest.approx([score for _, score in wanted], abs=1e-4)
    assert [text for text, _ in found] == [text for text, _ in wanted]
