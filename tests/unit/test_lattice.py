"""Lattices: the type, its formats, models that translate them, and what refuses them by name."""

from __future__ import annotations

import json
import math
import pickle
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mutants import mutated
from small_models import LINES, trained
from small_table import model_folder
from syntax_strategies import lattices

from treeglot import FormatError, UsageError, load
from treeglot._core import ArcScores, PlfReader
from treeglot.cli import main
from treeglot.decode.constraints import Constraints
from treeglot.decode.weights import read_weights
from treeglot.syntax import read, write
from treeglot.syntax.lattice import Lattice, LatticeForest
from treeglot.text.variants import VariantOptions, word_lattice

pytestmark = pytest.mark.filterwarnings("ignore:.*discount", "ignore::treeglot.lm.train.DiscountWarning")

HOUSE = Lattice([(0, 1, "das", -0.5), (0, 1, "dass", -0.1), (1, 2, "haus", 0.0), (0, 2, "dashaus", -3.0)])


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return model_folder(tmp_path / "model")


def test_a_lattice_sorts_its_arcs_and_pickles():
    assert [word for _, _, word, _ in HOUSE.arcs] == ["das", "dass", "dashaus", "haus"] == HOUSE.words
    assert (HOUSE.nodes, len(HOUSE), HOUSE.words_on([0, 3])) == (3, 4, ["das", "haus"])
    assert pickle.loads(pickle.dumps(HOUSE)) == HOUSE
    assert hash(Lattice(HOUSE.arcs)) == hash(HOUSE)
    assert eval(repr(HOUSE)) == HOUSE
    assert Lattice([*HOUSE.arcs[:-1], (1, 2, "haus", 0.5)]) != HOUSE
    assert Lattice.from_words(["a", "b"]).arcs == [(0, 1, "a", 0.0), (1, 2, "b", 0.0)]
    with pytest.raises(IndexError, match="arc 4 of a lattice of 4 arcs"):
        HOUSE.words_on([4])
    for score in (math.nan, math.inf):
        with pytest.raises(ValueError, match="an arc from node 0 to node 1 without a finite score"):
            Lattice([(0, 1, "a", score)])


def test_scores_of_plf_are_probabilities_logs_or_costs():
    line = """ ( ( ( 'a b'[:1], 1 ) ) ) """.replace("'a b'[:1]", "'a'")
    assert Lattice.parse(line).arcs == [(0, 1, "a", 0.0)]
    half = "((('a',0.5,1),(\"it's\",0,1),('\\'*EPS*',0.25,1),('*EPS*',1,1),('',1,1)))"
    logs = [math.log(0.5), -100.0, math.log(0.25), 0.0, 0.0]
    assert Lattice.parse(half).arcs == [
        (0, 1, word, pytest.approx(score)) for word, score in zip(["a", "it's", "'*EPS*", "", ""], logs, strict=True)
    ]
    assert Lattice.parse("((('a',-2.5,1),),)", ArcScores.log).arcs == [(0, 1, "a", -2.5)]
    for written, score in ((".5", 0.5), ("-.5", -0.5), ("+.5e1", 5.0), ("2.", 2.0), ("+2", 2.0), ("-2.e-1", -0.2)):
        assert Lattice.parse(f"((('a',{written},1),),)", ArcScores.log).arcs == [(0, 1, "a", score)]
    assert Lattice.parse("((('a',2.5,1),('b',1),),)", ArcScores.cost).arcs == [(0, 1, "a", -2.5), (0, 1, "b", 0.0)]


def test_files_of_lattices(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    plf, own = tmp_path / "dev.plf", tmp_path / "dev.lattice.gz"
    plf.write_text("((('a',1.5,1),),)\nno lattice\n((('b',0,1),),)\n")
    assert main(["convert", str(plf), str(own), "--read", "scores=cost", "--skip-bad"]) == 0
    assert "1 bad records were left out" in capsys.readouterr().err
    assert list(read(own)) == [Lattice([(0, 1, "a", -1.5)]), Lattice([(0, 1, "b", 0.0)])]
    assert main(["convert", str(plf), str(own), "--read", "scores=loud"]) != 0
    assert "kind of scores" in capsys.readouterr().err
    with pytest.raises(FormatError, match=r"dev.plf:1: byte 8: found '1.5'; expected a probability"):
        list(read(plf))
    assert main(["show", str(own)]) != 0
    assert "holds lattices, in which there is nothing to draw" in capsys.readouterr().err
    with pytest.raises(UsageError, match="can be read, not written"):
        write(plf, [HOUSE])


def test_an_empty_line_is_a_sentence_without_words(folder: Path, capsys: pytest.CaptureFixture[str]):
    empty = Lattice([])
    assert (empty.nodes, len(empty), empty.words, repr(empty)) == (1, 0, [], "Lattice([])")
    assert pickle.loads(pickle.dumps(empty)) == empty == Lattice.parse("()") == Lattice.parse(" ")
    assert empty == Lattice.from_words([])
    Path("in.plf").write_text("((('das',1,1),),)\n\n()\n((('haus',1,1),),)\n")
    assert main(["translate", "model", "in.plf"]) == 0
    assert capsys.readouterr().out == "the\n\n\nhouse\n"
    write(Path("in.lattice"), read(Path("in.plf")))
    assert Path("in.lattice").read_text().splitlines()[1:3] == ['{"arcs": []}'] * 2
    Path("more.lattice").write_text("\n" + Path("in.lattice").read_text())
    assert [len(each) for each in read(Path("more.lattice"))] == [0, 1, 0, 0, 1]
    found = load(folder).translate(empty)
    assert (found.text, found.words, found.source, found.problem, found.notes) == ("", [], "", "", ())


def plf_of(lattice: Lattice, chance: random.Random) -> str:
    """A lattice as some program may write it."""
    nodes: list[list[str]] = [[] for _ in range(lattice.nodes - 1)]
    for begin, end, word, score in lattice.arcs:
        quote = chance.choice("'\"")
        text = "".join(f"\\{c}" if c in f"{quote}\\" else c for c in word or chance.choice(["", "*EPS*"]))
        blank = chance.choice(["", " "])
        nodes[begin].append(f"({quote}{text}{quote},{blank}{score!r},{blank}{end - begin})")
    comma = chance.choice(["", ","])
    return "(" + ",".join("(" + ",".join(arcs) + comma + ")" for arcs in nodes) + comma + ")"


@given(lattices(st.text(st.characters(exclude_categories=("Cc", "Cs", "Zs"), exclude_characters="\x7f"), min_size=1)))
def test_plf_round_trip(lattice: Lattice):
    chance = random.Random(len(lattice))
    escaped = any(word == "*EPS*" for word in lattice.words)
    assert escaped or Lattice.parse(plf_of(lattice, chance), ArcScores.log) == lattice


def test_mutated_plf_ends_in_values_or_in_errors_with_a_place():
    chance = random.Random("plf")
    seeds = ["((('das',0.9,1),('dass',0.1,1),('d\\'s',0.05,2),),((\"haus\",1.0,1),('*EPS*',1,1)))\n((('个',1,1),),)\n"]
    for seed in seeds:
        whole = PlfReader("seed", False)
        assert [len(value.arcs) for value in [*whole.feed(seed.encode()), *whole.finish()]] == [5, 1]
    good = bad = 0
    for _ in range(2000):
        data = mutated(chance.choice(seeds), chance)
        reader = PlfReader("some file", False)
        values = []
        try:
            values = reader.feed(data)
            values += reader.finish()
            values += reader.finish()
            good += 1
        except FormatError as error:
            bad += 1
            assert str(error) == f"some file:{error.line}: {error.problem}"
            assert 1 <= error.line <= data.count(b"\n") + 1
        assert all(isinstance(value, Lattice) for value in values)
    assert good > 20
    assert bad > 400


def test_the_model_chooses_the_path(folder: Path):
    model = load(folder)
    found = model.translate(HOUSE)
    assert (found.text, found.words, found.source) == ("the house", ["das", "haus"], "das haus")
    assert found.best.path == (0, 3)
    assert found.features["lattice"] == pytest.approx(-0.5)
    assert found.score == pytest.approx(model.translate("das haus").score - 0.5)
    assert str(found.alignment) == "0-0 1-1"
    assert [step.span for step in found.derivation.steps] == [
        step.span for step in model.translate("das haus").derivation.steps
    ]
    paths = [hypothesis.path for hypothesis in found.kbest(10)]
    assert {(0, 3), (1, 3), (2,)} <= set(paths)
    again = pickle.loads(pickle.dumps(found))
    assert (again.words, again.best.path, again.given) == (found.words, found.best.path, HOUSE)
    # Weight 0: unknown words alone decide.
    free = load(folder).with_weights({**model.weights, "lattice": 0.0})
    assert free.translate(HOUSE).score == pytest.approx(model.translate("das haus").score)
    assert free.translate(Lattice([(0, 1, "das", -9.0), (0, 1, "x", 0.0)])).text == "the"
    assert model.translate(Lattice([(0, 1, "das", -9.0), (0, 1, "x", 0.0)])).text == "x"


def test_arcs_without_words_belong_to_the_next_word(folder: Path):
    lattice = Lattice([(0, 1, "", -0.25), (1, 2, "das", 0.0), (2, 3, "", -0.5), (2, 3, "x", 0.0), (3, 4, "haus", 0.0)])
    found = load(folder).translate(lattice)
    assert (found.text, found.words, found.best.path) == ("the house", ["das", "haus"], (0, 1, 2, 4))
    assert found.features["lattice"] == pytest.approx(-0.75)
    ends = Lattice([(0, 1, "das", 0.0), (1, 2, "", -0.5), (1, 2, "haus", -9.0)])
    found = load(folder).translate(ends)
    assert (found.words, found.best.path) == (["das"], (0, 1))
    [step] = [step for step in found.derivation.steps if not step.local]
    assert (step.span, step.links) == ((0, 1), ((0, 0),))


def test_constraints_hold_and_mbr_and_forests_work(folder: Path):
    model = load(folder)
    found = model.translate(HOUSE, Constraints(forbid=("the",)))
    assert found.text == "that house"
    assert model.translate(HOUSE, Constraints(contains=("dass",))).best.path == (1, 3)
    assert model.translate(HOUSE).forest().graph.goal is not None
    from dataclasses import replace

    risk = model.with_search(replace(model.translator.options, mbr=10)).translate(HOUSE)
    assert risk.words == HOUSE.words_on(risk.best.path)
    step = next(step for step in found.derivation.steps if not step.local)
    refused = model.translate(HOUSE, Constraints(steps=(step,)))
    assert refused.problem == "the input is a lattice; steps can be required for sentences only"


def test_commands_read_lattices(folder: Path, capsys: pytest.CaptureFixture[str]):
    Path("in.plf").write_text("((('das',0.6,1),('dass',0.9,1),),(('haus',1,1),),)\n((('ist',1,1),),)\n")
    assert main(["translate", "model", "in.plf"]) == 0
    assert capsys.readouterr().out == "the house\nist\n"
    assert main(["translate", "model", "in.plf", "--json", "--index", "1"]) == 0
    [line] = capsys.readouterr().out.splitlines()
    assert (json.loads(line)["source"], json.loads(line)["path"]) == ("das haus", [0, 2])
    assert main(["translate", "model", "in.plf", "--markup"]) != 0
    assert "--markup is for sentences" in capsys.readouterr().err
    Path("terms.tsv").write_text("source\ttarget\tmode\ndas\tthis\tforce\n")
    assert main(["translate", "model", "in.plf", "--glossary", "terms.tsv"]) != 0
    assert "a glossary finds its terms in sentences; a lattice was given" in capsys.readouterr().err


@pytest.mark.parametrize("method", ["mert", "mira"])
def test_the_weight_of_lattices_is_tuned(method: str, folder: Path):
    """One path is right, and its score says so. The search with the first weights takes another one."""
    line = "(" + "(('das',0.3,1),('haus',0.7,1),)," * 4 + ")"
    Path("dev.plf").write_text(f"{line}\n" * 4)
    Path("dev.en").write_text("house house house house\n" * 4)
    Path("start.weights").write_text("p 1\nglue -0.1\nunknown -5\nlattice -1\n")
    arguments = ["--dev", "dev.plf", "--refs", "dev.en", "--kbest", "32", "--start", "start.weights", "--keep"]
    option = "restarts=2" if method == "mert" else "c=0.1"
    assert main(["tune", "model", *arguments, "--method", method, "--set", option]) == 0
    run = folder / f"tune-{method}-1"
    model, lattice = load(folder), Lattice.parse(line)
    outputs = [
        model.with_weights(read_weights(run / name)).translate(lattice).text
        for name in ("start.weights", "best.weights")
    ]
    assert outputs[0] != outputs[1] == "house house house house"


def test_too_many_ways_around_words_are_refused(folder: Path):
    """Each node has two arcs without words: the paths around words, with their arcs, are kept within a limit."""
    arcs = [(i, i + 1, word, score) for i in range(900) for word, score in (("", 0.0), ("", -1.0), ("das", 0.0))]
    problem = load(folder).translate(Lattice(arcs)).problem
    assert problem == "arcs without words make more than 10000000 ways to go on; expected fewer such arcs"


@pytest.mark.parametrize("kind", ["c2s", "dep2str"])
def test_kinds_of_parses_refuse_lattices(kind: str, tmp_path: Path):
    model = trained(kind, tmp_path / kind)
    lattice = Lattice.from_words(LINES[0])
    assert model.translate(lattice).problem == "the input is a lattice, which this kind of model does not translate"
    Path(tmp_path / "in.lattice").write_text('{"arcs": [[0, 1, "a", 0]]}\n')
    with pytest.raises(UsageError, match="is in the format lattice: lattices; the model translates"):
        list(model.read(tmp_path / "in.lattice"))


@pytest.mark.parametrize("kind", ["hiero", "s2d", "t2t-fuzzy"])
def test_kinds_of_strings_translate_lattices(kind: str, tmp_path: Path):
    model = trained(kind, tmp_path / kind)
    for words in LINES[:3]:
        line, lattice = model.translate(words), model.translate(Lattice.from_words(words))
        assert (line.text, line.score, line.features, line.derivation, line.dependency) == (
            lattice.text,
            lattice.score,
            lattice.features,
            lattice.derivation,
            lattice.dependency,
        )


def test_variants_of_unknown_words():
    known = {"das", "Haus", "Tür", "schlüssel", "ist", "NATO", "wohnung"}.__contains__

    def paths(sentence: str, **options: object) -> list[str]:
        return [word for _, _, word, _ in word_lattice(sentence.split(), known, VariantOptions(**options)).arcs]

    assert paths("das ist") == ["das", "ist"]
    assert paths("Das nato") == ["Das", "das", "nato", "NATO"]
    assert paths("Haustürschlüssel") == ["Haustürschlüssel", "Haus", "Tür", "schlüssel"]
    assert paths("Hauswohnung", split=False) == ["Hauswohnung"]
    assert paths("Wohnungstür") == ["Wohnungstür"]
    assert paths("Wohnungstür", fillers="s") == ["Wohnungstür", "wohnung", "Tür"]
    assert paths("schlüs sel", case=False) == ["schlüs", "schlüssel", "sel"]
    assert paths("schlüs sel", join=False) == ["schlüs", "sel"]
    lattice = word_lattice(["Das"], known, VariantOptions(cost=2.0))
    assert [score for *_, score in lattice.arcs] == [0.0, -2.0]


def test_the_command_lattice_helps_with_unknown_words(folder: Path, capsys: pytest.CaptureFixture[str]):
    Path("in.de").write_text("Das haus\ndashaus ist Das\n")
    assert main(["lattice", "model", "in.de", "-o", "in.lattice"]) == 0
    assert "2 sentences, 2 with variants" in capsys.readouterr().err
    assert main(["translate", "model", "in.lattice"]) == 0
    assert capsys.readouterr().out.splitlines()[0] == "the house"
    assert main(["translate", "model", "in.de"]) == 0
    assert capsys.readouterr().out.splitlines()[0] == "Das house"
    Path("in.de").write_text("das\n\n")
    assert main(["lattice", "model", "in.de"]) == 0
    assert capsys.readouterr().out == '{"arcs": [[0, 1, "das", 0]]}\n{"arcs": []}\n'


def test_a_state_needs_a_forest_and_a_lattice() -> None:
    empty = LatticeForest.__new__(LatticeForest)
    for state in ((None, Lattice([])), (None, None)):
        with pytest.raises(ValueError, match="a state without a forest or a lattice"):
            empty.__setstate__(state)  # type: ignore[arg-type]
