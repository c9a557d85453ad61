"""Models that find their rules on demand: they translate as models with a table, and take pairs at any time."""

from __future__ import annotations

import shutil
from dataclasses import fields, replace
from pathlib import Path
from threading import Thread

import jsonschema
import pytest
from neural_models import random_model
from served import Client, service

from treeglot import FormatError, UsageError, sample
from treeglot.cli import main
from treeglot.corpus import Corpus
from treeglot.decode import Translation, Translator
from treeglot.decode.constraints import Constraints
from treeglot.experiment.report import _rules
from treeglot.foreign.export import export
from treeglot.models import KINDS, Model, load, train
from treeglot.models import folder as model_folder
from treeglot.models.compact import compact
from treeglot.models.confidence import judge
from treeglot.models.joint import join
from treeglot.models.train import install_model
from treeglot.rules.corrections import Correction, changing
from treeglot.rules.on_demand import EXACT, FACTS
from treeglot.syntax import write
from treeglot.web.openapi import MODEL

pytestmark = pytest.mark.filterwarnings("ignore:.*discount", "ignore::treeglot.lm.train.DiscountWarning")
SHARED = Path(__file__).parents[2].parent / "shared/data"
PAIRS, MORE = 200, 40


def corpus_in(folder: Path, first: int, last: int) -> Corpus:
    pairs = sample.read_pairs(last)[first:]
    files = {"source": "zh.txt", "target": "en.txt", "alignments": "links.align"}
    folder.mkdir()
    write(folder / "zh.txt", [pair.source_tree.words for pair in pairs])
    write(folder / "en.txt", [[word.lower() for word in pair.target_tree.words] for pair in pairs])
    write(folder / "links.align", [pair.alignment for pair in pairs])
    return Corpus(**{name: folder / file for name, file in files.items()})


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("on_demand")
    corpus = corpus_in(place / "first", 0, PAIRS)
    corpus_in(place / "more", PAIRS, PAIRS + MORE)
    options = {"lm_order": 3}
    train("hiero", corpus, place / "table", KINDS["hiero"].options(**options))
    train("hiero", corpus, place / "exact", KINDS["hiero"].options(**options, on_demand=True, demand=EXACT))
    return place


@pytest.fixture(scope="module")
def models(folder: Path) -> tuple[Model, Model]:
    return load(folder / "table"), load(folder / "exact")


def words_of(folder: Path, name: str, file: str = "zh.txt") -> list[str]:
    return (folder / name / file).read_text(encoding="utf-8").splitlines()


def assert_same(found: Translation, expected: Translation, table: Translator) -> None:
    """Compare the hypotheses of a model without a table with those of one that has it."""
    assert found.problem == expected.problem
    assert len(found.hypotheses) == len(expected.hypotheses)
    for one, other in zip(found.hypotheses, expected.hypotheses, strict=True):
        assert (one.text, one.score, one.features) == (other.text, other.score, other.features)
        for step, known in zip(one.derivation.steps, other.derivation.steps, strict=True):
            for name in ("label", "source", "target", "span", "children", "local", "links"):
                assert getattr(step, name) == getattr(known, name), name
            assert step.rule is None
            assert list(step.values) == ([] if known.rule is None else table.table.rule(known.rule)[3])


def test_translations_and_scores_are_those_of_a_table(models: tuple[Model, Model], folder: Path) -> None:
    table, found = models
    sources = [*words_of(folder, "first")[:60], *words_of(folder, "more"), "", "unseen words"]
    for threads in (1, 2):
        mine = found.translate_batch(sources, 5, threads=threads)
        theirs = table.translate_batch(sources, 5)
        for one, other in zip(mine, theirs, strict=True):
            assert_same(one, other, table.translator)


@pytest.mark.skipif(not (SHARED / "zh-en").is_dir(), reason="shared/data/zh-en is absent")
def test_translations_of_chinese_news_are_those_of_a_table(tmp_path: Path) -> None:
    files = {"source": "train.zh", "target": "train.lc.en", "alignments": "train.gdfa"}
    for name in files.values():
        lines = (SHARED / "zh-en" / name).read_text(encoding="utf-8").splitlines(keepends=True)
        (tmp_path / name).write_text("".join(lines[:1500]), encoding="utf-8")
    corpus = Corpus(**{name: tmp_path / file for name, file in files.items()})
    options = {"lm_order": 3}
    table = train("hiero", corpus, tmp_path / "table", KINDS["hiero"].options(**options))
    more = {"on_demand": True, "demand": EXACT}
    found = train("hiero", corpus, tmp_path / "exact", KINDS["hiero"].options(**options, **more))
    sources = (SHARED / "zh-en/dev.zh").read_text(encoding="utf-8").splitlines()[:40]
    for one, other in zip(found.translate_batch(sources, 3), table.translate_batch(sources, 3), strict=True):
        assert_same(one, other, table.translator)


def test_constraints_and_markup_and_glossaries(models: tuple[Model, Model], folder: Path) -> None:
    table, found = models
    source = words_of(folder, "more")[3]
    first, last = source.split()[0], source.split()[-1]
    reached = table.translate(source).text
    for wanted in (Constraints(exactly=reached), Constraints(prefix="the"), Constraints(forbid=(reached.split()[0],))):
        assert_same(found.translate(source, wanted), table.translate(source, wanted), table.translator)
    terms = {first: "Alpha", last: "omega ."}
    assert_same(found.translate(source, glossary=terms), table.translate(source, glossary=terms), table.translator)
    assert found.complete(source, "the") == table.complete(source, "the")


def test_searches_can_be_asked_for_more(models: tuple[Model, Model], folder: Path) -> None:
    table, found = models
    sources = words_of(folder, "more")[:6]
    mine, theirs = ([model.translate(source) for source in sources] for model in (found, table))
    for one, other in zip(mine, theirs, strict=True):  # the searches of most are gone, and are made again
        assert_same(
            one.with_hypotheses(found.translator.kbest(one, 20)),
            other.with_hypotheses(table.translator.kbest(other, 20)),
            table.translator,
        )
        graphs = (model.translator.forest(each, 5.0) for model, each in ((found, one), (table, other)))
        values = [(graph.scores.tolist(), list(graph.rules)) for graph in graphs]
        assert values[0] == values[1]


def test_explanations_and_confidence(models: tuple[Model, Model], folder: Path) -> None:
    table, found = models
    source = words_of(folder, "more")[5]
    mine, theirs = (model.explain(source, "the people") for model in (found, table))
    assert any(reason.probability is not None for reason in theirs.reasons)
    for one, other in zip(mine.reasons, theirs.reasons, strict=True):
        assert (one.probability, one.margin, one.words) == (other.probability, other.margin, other.words)
        assert (one.runner_up is None) == (other.runner_up is None)
    assert mine.instead is not None and theirs.instead is not None
    assert (mine.instead.parts, mine.instead.missing) == (theirs.instead.parts, theirs.instead.missing)
    sides = words_of(folder, "first")[:30], words_of(folder, "first", "en.txt")[:30]
    assert judge(found, *sides).rows == judge(table, *sides).rows


def test_neural_features_see_the_links_of_rules(models: tuple[Model, Model], folder: Path) -> None:
    sources = words_of(folder, "more")[:8]
    words = sorted({word for line in words_of(folder, "first")[:20] for word in line.split()})
    targets = sorted({word for line in words_of(folder, "first", "en.txt")[:20] for word in line.split()})
    network, outputs = random_model(words, targets), []
    for model in models:
        own = model.translator
        weights = {**own.weights, "neural": 0.5}
        made = Translator(own.table, weights, own.lm, own.options, own.setup, neural=network)
        outputs.append([(each.text, each.score) for each in made.translate_batch(sources)])
    assert outputs[0] == outputs[1]


def test_tuning_gives_the_weights_of_a_table(folder: Path, tmp_path: Path) -> None:
    weights = []
    for name in ("table", "exact"):
        model = Path(shutil.copytree(folder / name, tmp_path / name))
        sides = ["--dev", str(folder / "more/zh.txt"), "--refs", str(folder / "more/en.txt")]
        assert main(["tune", str(model), *sides, "--iterations", "2", "--kbest", "20"]) == 0
        weights.append((model / "weights.txt").read_text(encoding="utf-8"))
    assert weights[0] == weights[1]


def add_arguments(folder: Path, name: str = "more") -> list[str]:
    files = {"--source": "zh.txt", "--target": "en.txt", "--alignments": "links.align"}
    return [part for option, file in files.items() for part in (option, str(folder / name / file))]


def test_added_pairs_count_as_if_they_had_been_there(folder: Path, tmp_path: Path) -> None:
    model = Path(shutil.copytree(folder / "exact", tmp_path / "model"))
    loaded, source = load(model), words_of(folder, "more")[0]
    before = loaded.translate(source)
    assert main(["add-pairs", str(model), *add_arguments(folder)]) == 0
    whole = corpus_in(tmp_path / "whole", 0, PAIRS + MORE)
    given = {"on_demand": True, "demand": EXACT, "lm_order": 3}
    lm = model / "lm.bin"
    expected = train("hiero", whole, tmp_path / "expected", KINDS["hiero"].options(**given), lm=lm)
    facts = tmp_path / "expected" / FACTS  # its discounts are those of all pairs; the other model keeps its own
    kept = (model / FACTS).read_text(encoding="utf-8").partition('"discounts"')[2]
    changed = facts.read_text(encoding="utf-8").partition('"discounts"')
    facts.write_text(changed[0] + changed[1] + kept, encoding="utf-8")
    after = load(model).translate(source)
    assert (after.text, after.score) != (before.text, before.score)
    wanted = load(expected.directory).translate(source)
    assert (after.text, after.score) == (wanted.text, wanted.score)
    assert loaded.translate(source).score == before.score  # a loaded model stays as it is
    assert loaded.add_pairs(load(model).read_pairs(*(folder / "more" / name for name in NAMES))) == PAIRS + 2 * MORE
    assert loaded.translate(source).score != before.score  # unless it takes the pairs itself


NAMES = "zh.txt", "en.txt", "links.align"


def test_a_model_of_text_aligns_new_pairs_and_is_served_with_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    nouns = {"Hund": "dog", "Mann": "man", "Baum": "tree", "Tisch": "table"}
    lines = [
        (f"Der {a} sieht den {b}.", f"The {one} sees the {two}.")
        for a, one in nouns.items()
        for b, two in nouns.items()
    ] * 2
    for side, code in enumerate(("de", "en")):
        (tmp_path / f"train.{code}").write_text("".join(pair[side] + "\n" for pair in lines), encoding="utf-8")
    new = ["Der Hund kennt den Baum."] * 3, ["The dog knows the tree."] * 3
    for code, texts in zip(("de", "en"), new, strict=True):
        (tmp_path / f"new.{code}").write_text("\n".join(texts) + "\n", encoding="utf-8")
    model = tmp_path / "model"
    sides = ["--source", str(tmp_path / "train.de"), "--target", str(tmp_path / "train.en")]
    assert main(["train", "hiero", "--languages", "de-en", *sides, "-o", str(model), "--on-demand"]) == 0
    made = service([str(model)])
    client = Client(made)
    question = {"q": ["Der Mann kennt den Tisch."], "source": "de", "target": "en"}

    def answer() -> str:
        return str(client.ask("POST", "/v1/translate", json=question).json()["translations"][0]["text"])

    assert "kennt" in answer()
    files = ["--source", str(tmp_path / "new.de"), "--target", str(tmp_path / "new.en")]
    assert main(["add-pairs", str(model), *files]) == 0
    assert "3 sentence pairs added; 35 in all" in capsys.readouterr().err
    assert made.shelf.refresh() == ["model"]
    assert "knows" in answer() and "kennt" not in answer()
    [listed] = client.ask("GET", "/v1/models").json()["models"]
    assert (listed["rules"], listed["on_demand"]) == (None, True)
    jsonschema.validate(listed, MODEL)
    found = client.ask("POST", "/v1/rules", json={"source": "Mann"})
    assert found.status_code == 400 and "finds its rules on demand" in found.text
    (tmp_path / "new.en").write_text("one\ntwo\n\n", encoding="utf-8")
    assert main(["add-pairs", str(model), *files]) != 0
    assert "new.de:3: a side of the pair is empty" in capsys.readouterr().err
    assert load(model).add_pairs([]) == 35


@pytest.mark.parametrize(
    ("what", "problem"),
    [
        ("learn", "corrections need a model with a rule table"),
        ("correct", "corrections need a model with a rule table"),
        ("compact", "corrections need a model with a rule table"),
        ("export", "exports need a model with a rule table"),
        ("join", "finds its rules on demand; expected a model with a rule table"),
    ],
)
def test_what_needs_a_table_is_refused(what: str, problem: str, models: tuple[Model, Model], tmp_path: Path) -> None:
    table, found = models
    forbid = Correction("forbid", "X", "a", "b")
    tasks = {
        "learn": lambda: found.learn("a b", "c d", alignment="0-0 1-1"),
        "correct": lambda: found.with_corrections([forbid]),
        "compact": lambda: compact(found.directory),
        "export": lambda: export(found, tmp_path / "out", "moses"),
        "join": lambda: join({"a": table.directory, "b": found.directory}, tmp_path / "joint"),
    }
    with pytest.raises(UsageError, match=problem):
        tasks[what]()
    assert not (tmp_path / "out").exists()


def test_commands_that_need_a_table_are_refused(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model, table = str(folder / "exact"), str(folder / "table")
    files = add_arguments(folder, "first")
    out = ["train", "hiero", *files, "-o", str(tmp_path / "model"), "--on-demand"]
    wanted = {
        ("rules", model, "--source", "a"): "searches of rules need a model with a rule table",
        ("rules", model, "--forbid", "[X] ||| a ||| b"): "corrections need a model with a rule table",
        (
            "check-corrections",
            model,
            "--dev",
            str(folder / "first/zh.txt"),
        ): "corrections need a model with a rule table",
        ("concordance", model, "a"): "finds its rules on demand; concordances need a model with a rule table",
        ("add-pairs", table, *files): "has a rule table, which no pairs can be added to",
        (*out, "--set", "provenance=true"): "provenance was asked for and needs a rule table",
        (*out, "--filter", str(folder / "first/zh.txt")): "a filter was asked for and needs a rule table",
        (*out, "--set", "compile.shapes=true"): "compile.shapes is True; expected False for rules on demand",
        ("train", "c2d", *files, "-o", str(tmp_path / "model"), "--on-demand"): "of kind c2d cannot find its rules",
        (*out[:-1], "--set", "demand.samples=5"): "demand.samples is 5, which a model with a rule table does not use",
    }
    for command, problem in wanted.items():
        assert main(list(command)) != 0
        assert problem in capsys.readouterr().err, command
    assert not (tmp_path / "model").exists()


@pytest.mark.parametrize(
    "change", [{"matcher": lambda: None}, {"source_heads": True}, {"dependency_models": ("word",)}]
)
def test_a_kind_that_matches_otherwise_is_refused(
    change: dict[str, object], folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind = replace(KINDS["hiero"], name="mine", **change)  # type: ignore[arg-type]
    assert not {"on_demand", "demand"} & {field.name for field in fields(kind.options)}
    monkeypatch.setitem(KINDS, "mine", kind)
    model = Path(shutil.copytree(folder / "exact", tmp_path / "model"))
    file = model / "model.toml"
    file.write_text(file.read_text(encoding="utf-8").replace('"hiero"', '"mine"'), encoding="utf-8")
    with pytest.raises(FormatError, match="a model of kind mine cannot find its rules on demand"):
        load(model)


RULES = {"rules.table", "rules.parquet", FACTS, "index-1.bin", "index-2.bin"}


def test_a_model_in_place_of_the_other_variant_leaves_no_rules_of_it(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = Path(shutil.copytree(folder / "table", tmp_path / "model"))
    source = words_of(folder, "first")[0]

    def put(name: str) -> set[str]:
        """Put a model into the place; gives the names of rules that are there then."""
        install_model(Path(shutil.copytree(folder / name, tmp_path / "new")), place)
        assert load(place).translate(source).text == load(folder / name).translate(source).text
        assert bool(_rules(place)) == (name == "table")
        return RULES & {path.name for path in place.iterdir()}

    assert put("exact") == {FACTS, "index-1.bin"}
    assert load(place).add_pairs(load(place).read_pairs(*(folder / "more" / name for name in NAMES))) == PAIRS + MORE
    assert (place / "index-2.bin").is_file()
    assert put("exact") == {FACTS, "index-1.bin"}
    assert put("table") == {"rules.table", "rules.parquet"}
    with monkeypatch.context() as patch:  # what is interrupted is done by the next

        def stop(*given: object) -> None:
            raise KeyboardInterrupt

        patch.setattr(model_folder, "_remove_other_rules", stop)
        with pytest.raises(KeyboardInterrupt):
            put("exact")
    assert (place / "rules.table").is_file()
    load(place)
    assert RULES & {path.name for path in place.iterdir()} == {FACTS, "index-1.bin"}


def test_pairs_that_cannot_be_added_change_nothing(folder: Path, tmp_path: Path) -> None:
    model = Path(shutil.copytree(folder / "exact", tmp_path / "model"))
    before = {path.name: path.read_bytes() for path in model.iterdir()}
    (tmp_path / "zh.txt").write_text("a b\n\n", encoding="utf-8")
    (tmp_path / "en.txt").write_text("c d\n", encoding="utf-8")
    (tmp_path / "links.align").write_text("0-0\n5-5\n", encoding="utf-8")
    loaded = load(model)
    with pytest.raises(FormatError, match=r"en\.txt: has 1 records, fewer than"):
        loaded.add_pairs(loaded.read_pairs(*(tmp_path / name for name in NAMES)))
    with pytest.raises(UsageError, match="has no aligner"):
        loaded.add_pairs(loaded.read_pairs(tmp_path / "zh.txt", tmp_path / "en.txt"))
    assert {path.name: path.read_bytes() for path in model.iterdir()} == before


def test_a_new_model_waits_for_pairs_that_are_being_added(folder: Path, tmp_path: Path) -> None:
    place = Path(shutil.copytree(folder / "exact", tmp_path / "model"))
    new = Path(shutil.copytree(folder / "exact", tmp_path / "new"))
    before = load(place).directory.joinpath("model.toml").stat().st_ino
    training = Thread(target=install_model, args=(new, place))
    with changing(place / FACTS):
        training.start()
        training.join(0.5)
        assert training.is_alive()
        assert (place / "model.toml").stat().st_ino == before
    training.join()
    assert (place / "model.toml").stat().st_ino != before
    assert len(load(place).translate(words_of(folder, "first")[0]).words)


def test_a_caller_that_has_the_lock_moves_a_new_model_in(folder: Path, tmp_path: Path) -> None:
    place = Path(shutil.copytree(folder / "exact", tmp_path / "model"))
    (place / model_folder.NEXT).mkdir()
    (place / model_folder.NEXT / "note").write_text("new")
    with changing(place / FACTS):
        worker = Thread(target=model_folder.move_in, args=(place,), kwargs={"locked": True}, daemon=True)
        worker.start()
        worker.join(30)
        assert not worker.is_alive()
    assert (place / "note").read_text() == "new"
