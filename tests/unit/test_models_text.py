"""Models that take text: raw strings, documents, words and parses in; text with its words and their places out."""

from __future__ import annotations

import json
import pickle
import random
import shutil
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from treeglot import Alignment, Model, UsageError, load, sample
from treeglot._core import Derivation, Hypothesis
from treeglot.base.errors import FormatError
from treeglot.cli import main
from treeglot.corpus import Corpus
from treeglot.decode.glossary import Entry, Glossary
from treeglot.decode.translation import _best_choices, place_words
from treeglot.models import train
from treeglot.models.kinds import KINDS, find_kind
from treeglot.models.languages import with_heads
from treeglot.models.reading import Reader, shorter
from treeglot.parse import ParserTraining, adapters, treebank
from treeglot.parse.train import train_in
from treeglot.syntax import ParseForest, Tree, write
from treeglot.syntax.lattice import Lattice
from treeglot.text import TextPipeline, TextSettings, TextSide
from treeglot.text.languages import find_language
from treeglot.text.side import lowered, untokenise
from treeglot.text.variables import NumberVariables

PAIRS = sample.split(sample.read_pairs(150))["train"]
SOURCE = [pair.source_tree.words for pair in PAIRS]
TARGET = [pair.target_tree.words for pair in PAIRS]
RAW_SOURCE = [tokens.text for tokens in untokenise(SOURCE, find_language("zh"))]
RAW_TARGET = [tokens.text[0].upper() + tokens.text[1:] for tokens in untokenise(TARGET, find_language("en"))]
QUICK = ParserTraining(cycles=1, split_iterations=4, merge_iterations=2, smooth_iterations=1, signature="chinese")


@pytest.fixture(scope="module")
def pipeline() -> TextPipeline:
    source = TextSide.learn(TextSettings("zh", "learnt"), RAW_SOURCE, [" ".join(words) for words in SOURCE])
    return TextPipeline(source, TextSide.learn(TextSettings("en"), RAW_TARGET))


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpus")
    write(folder / "zh.tree", [pair.source_tree for pair in PAIRS])
    write(folder / "zh.txt", SOURCE)
    write(folder / "en.tree", [_lower(pair.target_tree) for pair in PAIRS])
    write(folder / "en.txt", lowered(TARGET))
    write(folder / "links.align", [pair.alignment for pair in PAIRS])
    train_in(folder / "grammar", treebank([pair.source_tree for pair in PAIRS], QUICK)[0], QUICK)
    return folder


def _lower(tree: Tree) -> Tree:
    text = str(tree)
    for word in tree.words:
        text = text.replace(f" {word})", f" {word.lower()})")
    return Tree.parse(text)


def trained(kind: str, corpus: Path, pipeline: TextPipeline, out: Path, parser: bool = True) -> Model:
    names = {"source": "zh.txt", "target": "en.txt", "alignments": "links.align"}
    names |= {"source_trees": "zh.tree", "target_trees": "en.tree"}
    wanted = {choice for need in find_kind(kind).files for choice in need.split("|")} | {"alignments", "target"}
    files = {name: corpus / file for name, file in names.items() if name in wanted}
    grammar = corpus / "grammar" if parser and find_kind(kind).parses else ""
    return train(kind, Corpus(**files), out, find_kind(kind).options(lm_order=3), text=pipeline, parser=grammar)


def forbid(words: list[str]) -> Glossary:
    return Glossary((Entry("", " ".join(words), "forbid"),))


@pytest.fixture(scope="module")
def hiero(corpus: Path, pipeline: TextPipeline, tmp_path_factory: pytest.TempPathFactory) -> Model:
    return trained("hiero", corpus, pipeline, tmp_path_factory.mktemp("hiero") / "model")


@pytest.mark.parametrize("value", [None, 3, 2.5, b"das", object(), {"das": 1}, {"das"}, [None], ["das", 3]])
def test_what_is_no_sentence_is_a_type_error(hiero: Model, value: Any) -> None:
    """As for decoders themselves, whether a model takes text or words."""
    words = Model(hiero.directory, hiero.file, hiero.translator, Reader(find_kind("hiero")))
    for model in (hiero, words):
        for call in (lambda m=model: m.translate(value), lambda m=model: m.translate_batch(["a", value])):
            with pytest.raises(TypeError, match="is not a sentence; expected a string, a list of tokens, a tree"):
                call()
    with pytest.raises(ValueError, match="a lone surrogate, which is no character"):
        words.translate("a \ud800")


def test_forests_of_text(hiero: Model, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An empty line has an empty one, and several sentences have none in common."""
    empty = hiero.translate("")
    assert (empty.source, empty.forest().graph.nodes, empty.kbest(3)) == ("", 0, ())
    two = hiero.translate(RAW_SOURCE[0] + RAW_SOURCE[1])
    with pytest.raises(ValueError, match="a text of 2 sentences; expected one of its `sentences`"):
        two.forest()
    assert two.sentences[0].forest().graph.nodes > 0
    (tmp_path / "in").write_text(f"\n{RAW_SOURCE[0]}\n{RAW_SOURCE[0]}{RAW_SOURCE[1]}\n")
    command = ["translate", str(hiero.directory), str(tmp_path / "in"), "--forest", str(tmp_path / "out")]
    assert main([*command, "--index", "1-2"]) == 0
    assert len((tmp_path / "out").read_text().splitlines()) == 2
    assert main(command) == 2
    assert f"error: {tmp_path / 'in'}:3: --forest is for one sentence a line" in capsys.readouterr().err


def test_lattices_of_words(hiero: Model, pipeline: TextPipeline) -> None:
    """The words of a path are read as a list of words is: folded, with numbers for variables."""
    numbers = NumberVariables(pipeline.source.language, pipeline.target.language)
    with_numbers = Reader(find_kind("hiero"), replace(pipeline, numbers=numbers))
    for model in (hiero, Model(hiero.directory, hiero.file, hiero.translator, with_numbers)):
        for words in (hiero.text.source.tokenise(RAW_SOURCE[:1])[0].words, ["Xyz", "12345", "。"]):
            line, lattice = model.translate(words), model.translate(Lattice.from_words(words))
            assert (lattice.text, lattice.source, lattice.alignment) == (line.text, line.source, line.alignment)
            assert lattice.source_tokens.words == words
        two = Lattice([(0, 1, "777", -9.0), (0, 1, "12345", 0.0), (1, 2, "Xyz", 0.0), (1, 2, "abc", -9.0)])
        assert model.translate(two).text == model.translate(["12345", "Xyz"]).text
        assert model.translate(two).source == "12345 Xyz"
        sources, references = model.reader.development([two, RAW_SOURCE[0]], [["a", "b"]])
        assert isinstance(sources[0], Lattice)
        assert sources[0].words == (
            ["⟨1⟩", "⟨2⟩", "xyz", "abc"] if model is not hiero else ["777", "12345", "xyz", "abc"]
        )
        assert (sources[1], references) == (SOURCE[0], [["a", "b"]])


def test_lists_of_several_sentences(hiero: Model) -> None:
    """The best of all choices of one hypothesis from each sentence's list."""
    text = RAW_SOURCE[0] + RAW_SOURCE[1]
    for distinct in (False, True):
        [found] = hiero.translate_batch([text], kbest=6, distinct=distinct)
        lists = [part.kbest(6, distinct) for part in hiero.translate(text).sentences]
        assert len(lists) == 2
        every = sorted((a.score + b.score for a in lists[0] for b in lists[1]), reverse=True)
        assert [one.score for one in found.hypotheses] == pytest.approx(every[:6])
        assert len({one.text for one in found.hypotheses}) == 6 or not distinct
        for one in found.hypotheses:
            assert one.score == pytest.approx(sum(hiero.weights[n] * v for n, v in one.features.items()), abs=1e-3)
        assert found.best.text == hiero.translate(text).best.text


@pytest.mark.parametrize("name", ["target.caser", "source.spacer"])
def test_learnt_files_lie_in_the_folder(hiero: Model, tmp_path: Path, name: str) -> None:
    model = Path(shutil.copytree(hiero.directory, tmp_path / "model"))
    (model / name).rename(tmp_path / "outside")
    (model / name).symlink_to(tmp_path / "outside")
    with pytest.raises(FormatError, match=f"model: has '{name}', a link that leads out of it"):
        load(model)


def test_files_of_a_parser_lie_in_the_folder(hiero: Model, corpus: Path, tmp_path: Path) -> None:
    model = Path(shutil.copytree(hiero.directory, tmp_path / "model"))
    toml = model / "model.toml"
    toml.write_text('parser = "parser"\n' + toml.read_text())
    shutil.copytree(corpus / "grammar", model / "parser")
    load(model)
    (model / "parser/level0.grammar").unlink()
    (model / "parser/level0.grammar").symlink_to(corpus / "grammar/level0.grammar")
    with pytest.raises(FormatError, match=r"parser is 'parser', a link that leads out of it"):
        load(model)


@pytest.mark.parametrize("name", ["supar:parser", "spacy:parser", "supar:model.pt", "supar:sub/parser"])
def test_a_parser_that_may_run_code_is_opened_only_if_it_is_trusted(
    hiero: Model, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    adapter, path = name.split(":")
    monkeypatch.setitem(adapters.ADAPTERS, adapter, lambda model: opened.append(model))
    model = Path(shutil.copytree(hiero.directory, tmp_path / "model"))
    (model / "parser").write_bytes(b"a pickle")
    toml = model / "model.toml"
    toml.write_text(f'parser = "{name}"\n' + toml.read_text())
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model.pt").touch()  # which the package would take for the model of that name
    with pytest.raises(UsageError, match=rf"{name}, whose files may run any code .*; TREEGLOT_TRUST_PARSERS=1 opens"):
        _ = load(model).reader.parser
    assert opened == []
    if path != "sub/parser":
        _ = load(model, trust_parser=True).reader.parser
        monkeypatch.setenv("TREEGLOT_TRUST_PARSERS", "1")
        _ = load(model).reader.parser
        assert opened == [str(model / path) if path == "parser" else path] * 2
    monkeypatch.setitem(adapters.ADAPTERS, "udpipe", lambda model: opened.append(model))  # which runs none
    toml.write_text(toml.read_text().replace(name, "udpipe:parser"))
    monkeypatch.delenv("TREEGLOT_TRUST_PARSERS", raising=False)
    _ = load(model).reader.parser
    assert opened[-1] == str(model / "parser")


def test_a_translation_goes_on_with_the_same_text_pipeline_alone(hiero: Model, tmp_path: Path, monkeypatch) -> None:
    model = Path(shutil.copytree(hiero.directory, tmp_path / "model"))
    (tmp_path / "in").write_text("".join(f"{line}\n" for line in RAW_SOURCE[:2]))
    command = ["translate", str(model), str(tmp_path / "in"), "-o", str(tmp_path / "out"), "--resume", "-q"]
    with monkeypatch.context() as context:
        context.setattr(Model, "translate_batch", lambda *_: 1 / 0)
        for _ in range(2):
            assert main(command) == 1
        (model / "text.toml").write_text((model / "text.toml").read_text() + "# as a user may change it\n")
        assert main(command) == 1
    assert len(list(tmp_path.glob(".out.*.partial"))) == 2
    assert main(command) == 0
    assert (tmp_path / "out").read_text().splitlines() == [t.text for t in hiero.translate_batch(RAW_SOURCE[:2])]


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_translates_text_after_its_folder_moved(
    kind: str, corpus: Path, pipeline: TextPipeline, tmp_path: Path
) -> None:
    trained(kind, corpus, pipeline, tmp_path / "here")
    (tmp_path / "here").rename(tmp_path / "there")
    model = load(tmp_path / "there")
    found = model.translate_batch(RAW_SOURCE[:20], threads=2)
    right = sum(one.text == reference for one, reference in zip(found, RAW_TARGET, strict=False))
    assert right >= 8, [one.text for one in found]
    assert [one.text for one in model.translate_batch(RAW_SOURCE[:20])] == [one.text for one in found]
    assert model.translate(RAW_SOURCE[0]).text == found[0].text
    linked = [one.alignment == pair.alignment for one, pair in zip(found, PAIRS, strict=False)]
    assert sum(linked) >= right * 9 // 10
    page = model.translate_html(f"<p>{''.join(SOURCE[0][:-1])}<code>{SOURCE[0][1]} Xy</code>。")
    assert f"<code>{SOURCE[0][1]} Xy</code>" in page  # one word, which no rule and no caser changes
    # Two neighbours are forced, constituents or not; their words are never in a rule.
    for sentence in found[:12]:
        words = sentence.source_tokens.words
        place = len(words) // 2 - 1
        term, text = "".join(words[place : place + 2]), sentence.source
        forced = model.translate(text, glossary={term: "Purple Widget"})
        assert [(used.target, used.entry) for used in forced.terms] == [("purple widget", 0)] * text.count(term)
        assert forced.text.count("Purple Widget") == text.count(term), forced.text
        best = sentence.best.text.split()
        assert " ".join(best[:2]) not in model.translate(text, glossary=forbid(best[:2])).best.text


def test_words_and_places_on_both_sides(hiero: Model) -> None:
    found = hiero.translate(RAW_SOURCE[3])
    assert found.source == RAW_SOURCE[3]
    assert found.source_tokens.words == SOURCE[3]
    for tokens, text in ((found.source_tokens, found.source), (found.target_tokens, found.text)):
        assert [text[begin:end] for begin, end in tokens.spans] == tokens.words
    assert found.sentences == (found,)
    assert found.alignment == PAIRS[3].alignment
    assert found.best.text == " ".join(word.lower() for word in found.target_tokens.words)


def test_a_text_of_several_sentences(hiero: Model) -> None:
    alone = [hiero.translate(text) for text in RAW_SOURCE[:3]]
    text = f"\t{RAW_SOURCE[0]}{RAW_SOURCE[1]}\n\n  {RAW_SOURCE[2]} "
    found = hiero.translate(text)
    assert found.source == text
    assert found.text == f"\t{alone[0].text} {alone[1].text}\n\n  {alone[2].text} "
    wide = hiero.translate(f"\u3000{RAW_SOURCE[0]}\u3000{RAW_SOURCE[1]}\r\n")  # blanks of Japanese and Chinese
    assert wide.text == f"\u3000{alone[0].text} {alone[1].text}\r\n"
    assert [one.text for one in found.sentences] == [one.text for one in alone]
    assert found.score == pytest.approx(sum(one.score for one in alone))
    assert [text[begin:end] for begin, end in found.source_tokens.spans] == found.source_tokens.words
    assert [found.text[begin:end] for begin, end in found.target_tokens.spans] == found.target_tokens.words
    assert len(found.alignment) == sum(len(one.alignment) for one in alone)
    assert max(i for i, _ in found.alignment) == len(found.source_tokens) - 1


def test_endless_sentences_are_translated_in_pieces(hiero: Model) -> None:
    text = "，".join(["我" * 150] * 4) + "我" * 1000
    found = hiero.translate(text)
    assert found.source_tokens.words == [*"，".join(["我" * 150] * 4), *"我" * 1000]
    assert [text[begin:end] for begin, end in found.source_tokens.spans] == found.source_tokens.words
    assert [len(piece.words) for piece in found.sentences] == [*[100, 51] * 3, *[100] * 11, 50]
    assert found.notes == ("a sentence of more than 100 words: translated in pieces",)
    assert max(i for i, _ in found.alignment) == len(text) - 1


def test_pieces_end_at_marks() -> None:
    """Vowel signs, elisions and opening brackets are no marks that end a clause."""
    words = ["हिन्दी"] * 60 + ["।"] + ["l'", "हिन्दी", "("] * 20
    first, second = shorter((0, 1), place_words(words))
    assert len(first[1]) == 61
    assert len(second[1]) == 60


def test_words_that_are_none_are_refused(hiero: Model, c2s: Model) -> None:
    for model in (hiero, c2s):
        for words in (["New York", "X"], ["", "我"], ["a\tb"]):
            found = model.translate(words)
            assert "is not a token; expected text without blanks" in found.problem
            assert found.text == ""


def test_a_refused_sentence_stays_among_others(hiero: Model) -> None:
    text = "".join(RAW_SOURCE[:3])

    def translate(inputs: list[Any], _: Any) -> list[Any]:
        return hiero.translator.translate_batch([["a b"] if i == 1 else words for i, words in enumerate(inputs)])

    [found] = hiero.reader.translate(translate, [text])
    assert "'a b' is not a token" in found.problem
    assert found.text == f"{RAW_TARGET[0]} {RAW_SOURCE[1]} {RAW_TARGET[2]}"
    assert len(found.target_tokens) == len(TARGET[0]) + len(SOURCE[1]) + len(TARGET[2])
    assert found.target_tokens.words[max(j for _, j in found.alignment)] == TARGET[2][-1]
    assert found.source_tokens.words[max(i for i, _ in found.alignment)] == SOURCE[2][-1]


@pytest.mark.parametrize("distinct", [False, True])
def test_the_best_choices_of_several_lists(distinct: bool) -> None:
    """Against all choices."""
    draw = random.Random(3)
    for most in (1, 2, 7, 100) * 10:
        lists = []
        for _ in range(draw.randint(1, 4)):
            scores = sorted((-draw.random() for _ in range(draw.randint(1, 3))), reverse=True)
            lists.append([Hypothesis(draw.choice(["a", "a b", "b"]), score, {}, Derivation()) for score in scores])
        every = [(sum(h.score for h in some), " ".join(h.text for h in some)) for some in product(*lists)]
        wanted: dict[Any, float] = {}
        for score, text in sorted(every, reverse=True):
            wanted.setdefault(text if distinct else len(wanted), score)
        found = _best_choices(lists, most, distinct)
        assert [one.score for one in found] == pytest.approx(list(wanted.values())[:most])
        assert not distinct or [one.text for one in found] == list(wanted)[:most]


def test_words_pass_as_words(hiero: Model) -> None:
    assert hiero.translate(SOURCE[5]).text == hiero.translate(RAW_SOURCE[5]).text
    assert hiero.translate(["没", "有"]).source_tokens.spans == [(0, 1), (2, 3)]
    assert hiero.translate([]).text == ""


def test_parses_pass_as_parses(c2s: Model, corpus: Path, pipeline: TextPipeline, tmp_path: Path) -> None:
    model = c2s
    from_tree = model.translate(PAIRS[0].source_tree)
    assert from_tree.text == RAW_TARGET[0]
    assert model.translate(from_tree.given).text == from_tree.text
    dependencies = trained("dep2str", corpus, pipeline, tmp_path / "dep2str")
    assert dependencies.translate(PAIRS[0].source_dependency).text[-1] == "."


def test_unknown_words_keep_their_case(hiero: Model) -> None:
    found = hiero.translate(["McXyz", *SOURCE[3]])
    assert "McXyz" in found.text
    assert "mcxyz" in found.best.text
    assert "305" in hiero.translate(["三百零五", *SOURCE[3]]).text


def test_html_in_place(hiero: Model) -> None:
    """Inline elements go with their words; what a protected word would be as text is not translated."""
    words = SOURCE[1]
    page = f"<p>{words[0]}<b>{words[1]}{words[2]}</b>{''.join(words[3:-1])}<i translate=no>{words[0]}</i>。</p>\n"
    wanted = "<p>The officials <b>think</b> that President Martin will lead the Russian team <b>today</b> "
    assert hiero.translate_html(page) == f"{wanted}<i translate=no>{words[0]}</i>.</p>\n"


@pytest.fixture(scope="module")
def c2s(corpus: Path, pipeline: TextPipeline, tmp_path_factory: pytest.TempPathFactory) -> Model:
    return trained("c2s", corpus, pipeline, tmp_path_factory.mktemp("c2s") / "model")


ODD = ["", " \n", "。", "x", "\x07\x00", "Das ist Deutsch.", "мир 世界 world \u0635\u0628", "a\ud800b", "<b>", "\u0301"]
ODD += ["\u202e我\u200d", "\ufeff", "1" * 400, "<a\tb>", "<a\x00>"]


@pytest.mark.parametrize("kind", ["hiero", "c2s"])
def test_odd_text_has_an_answer(kind: str, hiero: Model, c2s: Model) -> None:
    """Another language, nothing, one character, words without a full stop, control characters, several scripts."""
    model = hiero if kind == "hiero" else c2s
    for text in [*ODD, "\n".join(ODD), "我" * 101]:
        found = model.translate(text)
        assert not found.problem
        words = found.source_tokens.words
        assert {i for i, _ in found.alignment} <= set(range(len(words)))
        shown = [c for c in text if c.isalnum()]
        assert [c for word in words for c in word if c.isalnum()] == shown  # nothing is lost on the way in
        assert len(found.target_tokens) >= (1 if words else 0)
        assert found.text.count("\n") == text.count("\n")


def test_a_translation_of_text_pickles(hiero: Model) -> None:
    for text in (RAW_SOURCE[0], "".join(RAW_SOURCE[:2])):
        found = hiero.translate(text)
        again = pickle.loads(pickle.dumps(found))
        assert (again.text, again.source, again.alignment) == (found.text, found.source, found.alignment)
        assert again.target_tokens == found.target_tokens


def test_more_of_a_translation(hiero: Model) -> None:
    found = hiero.translate(RAW_SOURCE[2])
    assert found.kbest(3)[0].text == found.best.text
    assert found.forest().graph.edges > 0


def test_without_a_parser_there_is_a_warning(corpus: Path, pipeline: TextPipeline, tmp_path: Path) -> None:
    model = trained("c2s", corpus, pipeline, tmp_path / "model", parser=False)
    with pytest.warns(UserWarning, match="a c2s model translates parses; it has no parser"):
        model.translate(RAW_SOURCE[0])


def test_addresses_and_placeholders_stay(hiero: Model) -> None:
    for stays in ("https://a.org/B?c=1", "{Name}", "%(Count)d", "`a = B`"):
        found = hiero.translate(f"{RAW_SOURCE[0][:-1]} {stays} {RAW_SOURCE[0][-1]}")
        assert stays in found.text.replace("\u00a0", " ")


def test_markup_gives_translations(hiero: Model, c2s: Model) -> None:
    marked = hiero.with_search(replace(hiero.translator.options, markup=True))
    plain = hiero.translate(RAW_SOURCE[3])
    assert marked.translate(RAW_SOURCE[3]).text == plain.text
    words = SOURCE[3]
    line = "".join(words[:2]) + '<x translation="{}">' + words[2] + "</x>" + "".join(words[3:])
    assert marked.translate(line.format("qq ww ee||fan")).text == plain.text
    found = marked.translate(line.format("McFan &amp; co"))
    assert found.text == plain.text.replace("fan", "McFan & co")
    assert found.source == RAW_SOURCE[3]
    assert found.source_tokens.words == words
    assert [found.text[a:b] for a, b in found.target_tokens.spans] == found.target_tokens.words
    with pytest.raises(UsageError, match="'<b>' is not markup; expected <x translation"):
        marked.translate("<b>")


def test_markup_in_text_that_is_parsed(hiero: Model, c2s: Model) -> None:
    for model in (hiero, c2s):
        marked = model.with_search(replace(model.translator.options, markup=True))
        line = "".join(SOURCE[3][:2]) + "<x {}>" + SOURCE[3][2] + "</x>" + "".join(SOURCE[3][3:])
        found = marked.translate(line.format('translation="McFan &amp; co"'))
        assert "McFan & co" in found.text
        assert [(term.span, term.target, term.entry) for term in found.terms] == [((2, 3), "mcfan & co", -1)]
        assert found.source == RAW_SOURCE[3]
        kept = marked.translate(line.format('translate="no"') + " {Name}")
        assert SOURCE[3][2] in kept.text
        assert "{Name}" in kept.text
        other = marked.translate(line.format('translation="McFan"'), glossary={SOURCE[3][2]: "no", SOURCE[3][0]: "yes"})
        assert [term.entry for term in other.terms] == [1, -1, 1]  # markup comes first


def test_markup_in_lines_that_are_parsed(c2s: Model) -> None:
    options = replace(c2s.translator.options, markup=True)
    reader = Reader(find_kind("c2s"), None, c2s.reader.open_parser)
    model = Model(c2s.directory, c2s.file, c2s.translator.with_search(options), reader)
    words = [*SOURCE[3][:2], f'<x translation="hut">{SOURCE[3][2]}</x>', *SOURCE[3][3:]]
    found, refused = model.translate_batch([" ".join(words), "a <b>c</b>"], glossary={SOURCE[3][2]: "no"})
    assert isinstance(found.given, ParseForest)
    assert found.words == SOURCE[3]
    assert [(term.span, term.target) for term in found.terms] == [((2, 3), "hut")]
    assert "has no translation; expected <name translation=" in refused.problem


def test_the_command_translates_text(hiero: Model, tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_text("\n".join(RAW_SOURCE[:30]) + "\n", encoding="utf-8")
    assert main(["translate", str(hiero.directory), str(tmp_path / "in.txt"), "-o", str(tmp_path / "out.txt")]) == 0
    lines = (tmp_path / "out.txt").read_text(encoding="utf-8").splitlines()
    assert lines == [one.text for one in hiero.translate_batch(RAW_SOURCE[:30])]
    json_out = tmp_path / "out.jsonl"
    assert main(["translate", str(hiero.directory), str(tmp_path / "in.txt"), "--json", "-o", str(json_out)]) == 0
    first = json.loads(json_out.read_text(encoding="utf-8").splitlines()[0])
    assert (first["source"], first["text"]) == (RAW_SOURCE[0], lines[0])
    assert first["tokens"] == hiero.translate(RAW_SOURCE[0]).best.text


def test_the_command_translates_documents(hiero: Model, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page, out = tmp_path / "in.html", tmp_path / "out.html"
    page.write_text(f"<p>\n{RAW_SOURCE[0]}<i>{RAW_SOURCE[1]}</i></p>", encoding="utf-8")
    assert main(["translate", str(hiero.directory), str(page), "-o", str(out)]) == 0
    assert out.read_text(encoding="utf-8") == f"<p>\n{RAW_TARGET[0]} <i>{RAW_TARGET[1]}</i></p>"
    assert main(["translate", str(hiero.directory), str(page), "-o", str(out), "--json"]) == 2
    assert "is a document, which is translated whole; expected --out and --threads alone" in capsys.readouterr().err
    (tmp_path / "in.txt").write_text(f"\n{RAW_SOURCE[0]} https://我.org/我\n", encoding="utf-8")
    assert main(["translate", str(hiero.directory), str(tmp_path / "in.txt"), "--document"]) == 0
    assert capsys.readouterr().out == f"\n{RAW_TARGET[0]} https://我.org/我\n"


def test_the_folder_says_what_the_model_was_made_of(hiero: Model, corpus: Path) -> None:
    facts = json.loads((hiero.directory / "training.json").read_text())
    assert facts["languages"] == ["zh", "en"]
    assert facts["pairs"] == len(PAIRS)
    assert len(facts["digest"]) == 32
    assert str(corpus) not in json.dumps(facts)


def test_a_new_model_takes_the_place_of_one_with_a_parser(corpus: Path, pipeline: TextPipeline, tmp_path: Path) -> None:
    for _ in range(2):
        trained("c2s", corpus, pipeline, tmp_path / "model")
    assert load(tmp_path / "model").translate(RAW_SOURCE[0]).text


def test_a_folder_with_a_strange_text_file_is_refused(hiero: Model, tmp_path: Path) -> None:
    shutil.copytree(hiero.directory, tmp_path / "model")
    path = tmp_path / "model" / "text.toml"
    path.write_text(path.read_text().replace('"spacer"', '"gloss"', 1))
    with pytest.raises(FormatError, match=r"text\.toml:\d+: source: unknown part 'gloss'"):
        load(tmp_path / "model")


def test_head_tables_follow_the_language() -> None:
    kind = find_kind("dep2str")

    def table(source: str, given: str = "chinese-particles") -> str:
        text = TextPipeline(TextSide(TextSettings(source)), TextSide(TextSettings("en")))
        return str(with_heads(kind, kind.options(source_heads=given), text).source_heads)

    assert (table("zh"), table("de"), table("ja"), table("de", "english")) == (
        "chinese-particles",
        "german",
        "last",
        "english",
    )
    with pytest.warns(UserWarning, match="no head table of the language sv"):
        assert table("sv") == "first"


def test_links_are_those_of_rules(hiero: Model) -> None:
    words = hiero.translate(["一", "个"])
    assert isinstance(words.alignment, Alignment)
    assert {i for i, _ in words.alignment} <= {0, 1}
