"""Recipes: what they refuse, a whole run on the sample treebank, its report."""

import base64
import dataclasses
import errno
import json
import re
import zlib
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from treeglot import sample
from treeglot.align import ALIGNERS
from treeglot.base.errors import FormatError, UsageError
from treeglot.base.options import options_of
from treeglot.cli import main
from treeglot.decode import SearchOptions
from treeglot.evaluate import Bleu
from treeglot.evaluate.report import ReportOptions
from treeglot.experiment import Pipeline, load_recipe, steps_of
from treeglot.experiment.comparable import unlike
from treeglot.experiment.pipeline import Planned, Watcher
from treeglot.experiment.report import page
from treeglot.experiment.step import Identity, Output
from treeglot.experiment.verify import verify_card
from treeglot.lm.ngram import load_ngram
from treeglot.models import KINDS, load
from treeglot.models.hiero import WEIGHTS
from treeglot.models.kinds import find_kind
from treeglot.models.train import LM_WEIGHT
from treeglot.parse import ParsingOptions
from treeglot.parse.train import ParserTraining
from treeglot.rules.engines import DuckDB
from treeglot.rules.sql import ScoreOptions
from treeglot.syntax import heads
from treeglot.syntax.formats import read_alignments
from treeglot.tune import METHODS, LoopOptions
from treeglot.tune.mert import Mert

RECIPE = """
title = "A <small> sample"
[corpus]
source = "train.zh"
target = "train.en"
source_forests = "train.zh.forest.jsonl"
target_trees = "train.en.tree"
[dev]
source = "dev.zh"
source_forests = "dev.zh.forest.jsonl"
references = ["dev.en"]
[test.one]
source = "test.zh"
source_forests = "test.zh.forest.jsonl"
references = ["test.en"]
[lm]
order = 3
[tune]
iterations = 1
kbest = 20
options = { restarts = 1, directions = 1 }
[[system]]
name = "hiero"
kind = "hiero"
options = { search = { pop_limit = 20 } }
[[system]]
name = "c2d"
kind = "c2d"
options = { search = { pop_limit = 20 } }
tune = { method = "none" }
"""


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpus")
    sample.write_corpus(folder, 150)
    (folder / "recipe.toml").write_text(RECIPE)
    return folder


@pytest.fixture(scope="module")
def done(corpus: Path) -> Path:
    assert main(["run", str(corpus / "recipe.toml"), "--threads", "2"]) == 0
    return corpus / "recipe"


def test_a_table_of_options_keeps_the_kinds_other_defaults(corpus: Path) -> None:
    recipe = corpus / "kinds.toml"
    recipe.write_text(
        RECIPE.replace(
            'kind = "hiero"\noptions = { search = { pop_limit = 20 } }',
            'kind = "hiero"\noptions = { search = { pop_limit = 20 }, score = { min_occurrences = 2 } }',
        )
    )
    steps = {step.name: step for step in steps_of(load_recipe(recipe))}
    options = steps["train hiero"].settings["options"]
    assert options["search"] == dataclasses.asdict(SearchOptions(pop_limit=20))
    assert options["score"] == dataclasses.asdict(ScoreOptions(smoothing="kneser-ney", min_occurrences=2))


def test_a_run_leaves_a_report(done: Path) -> None:
    figures = json.loads((done / "report.json").read_text())
    assert [system["name"] for system in figures["systems"]] == ["hiero", "c2d"]
    assert all(system["rules"] > 100 for system in figures["systems"])
    assert len(figures["systems"][0]["tuning"]) == 2
    assert figures["systems"][0]["different"] is None
    assert all(figures["systems"][1]["different"][kind] > 100 for kind in ("fragments", "phrases"))
    assert figures["systems"][1]["tuning"] == []
    hiero, c2d = figures["tests"]["one"]["scores"]
    assert hiero["scores"]["BLEU"]["score"] > 5
    assert "against" in c2d["scores"]["BLEU"]
    assert "ms_per_sentence" in (done / "timings.js").read_text()


def test_the_page_stands_alone(done: Path) -> None:
    html = (done / "report.html").read_text()
    assert "<title>A &lt;small&gt; sample</title>" in html
    assert not re.search(r'(?:src|href)="(?!timings\.js)', html)
    assert "http" not in html.replace("http://www.w3.org/2000/svg", "")
    data = json.loads(html.split(" DATA = ")[1].split(";</script>")[0])
    test = data["tests"]["one"]
    assert len(test["sources"]) == len(test["references"][0]) == len(test["outputs"]["c2d"])
    _, drawn = json.loads(zlib.decompress(base64.b64decode(test["drawn"][0])))[0]
    assert test["outputs"]["c2d"][0] in drawn
    assert drawn.count("<svg") == 3  # the tree that was used, the output's, the forest
    assert '<table class="rules">' in drawn
    bleu = Bleu(smooth="add-one")
    [wanted] = bleu.scores(bleu.statistics(test["outputs"]["c2d"][:1], [test["references"][0][:1]]))
    assert test["judged"]["c2d"][0] == pytest.approx(wanted, abs=0.05)
    signature = data["systems"][0]["signature"]
    assert re.fullmatch(
        r"kind:hiero\|model:[0-9a-f]{12}\|tuned:mert\|seed:1\|tuning:[0-9a-f]{12}\|version:.*", signature
    )
    assert (done / f"train-hiero.{signature.split('model:')[1][:12]}").is_dir()
    assert "|tuned:none|" in data["systems"][1]["signature"]


def test_no_sentence_ends_the_data_of_the_page_or_keeps_it_open() -> None:
    text = "a <!--<script> b </script> c"
    html = page({"title": "t", "tests": [text]})
    assert html.lower().count("<script") == html.count("</script>") == 3
    assert "<!--" not in html
    assert json.loads(html.split(" DATA = ")[1].split(";</script>")[0])["tests"] == ["a <!--<script> b </script> c"]


def test_nothing_runs_twice_and_threads_do_not_matter(
    corpus: Path, done: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert main(["run", str(corpus / "recipe.toml"), "--plan"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 13
    assert all(line.startswith("done") for line in lines)
    assert main(["run", str(corpus / "recipe.toml"), "--work", str(tmp_path / "again"), "--threads", "1"]) == 0
    for path in done.rglob("*"):
        measured = path.name in ("timings.js", "timings.json", ".lock") or path.parent.name == "cards"
        if path.is_file() and not measured:
            assert path.read_bytes() == (tmp_path / "again" / path.relative_to(done)).read_bytes(), path


def test_a_setting_changes_what_depends_on_it_alone(corpus: Path, done: Path) -> None:
    other = corpus / "other.toml"
    other.write_text(RECIPE.replace("iterations = 1", "iterations = 2"))
    plan = Pipeline(steps_of(load_recipe(other)), done).plan()
    missing = [planned.step.name for planned in plan if not planned.done]
    assert missing == ["tune hiero", "translate hiero one", "score one", "report"]
    assert next(planned.reason for planned in plan if not planned.done) == "iterations was 1"


def settings(tmp_path: Path, text: str) -> dict[str, Any]:
    recipe = tmp_path / "recipe.toml"
    recipe.write_text(text)
    return {step.name: json.loads(json.dumps(step.settings)) for step in steps_of(load_recipe(recipe))}


WITH_PARSER = RECIPE.replace("[lm]", '[parser]\ntrees = "bank.tree"\n[lm]')


def test_a_default_that_is_given_is_the_same_setting(tmp_path: Path) -> None:
    given = WITH_PARSER.replace("pop_limit = 20 } }", "pop_limit = 20, per_source = 20 }, lm_order = 5 }", 1)
    given = given.replace("restarts = 1,", "restarts = 1, rounds = 20,")
    given = given.replace("[lm]", "[align]\noptions = { null = 0.2 }\n[lm]")
    given = given.replace('"bank.tree"', '"bank.tree"\nprune = 10')
    assert settings(tmp_path, given) == settings(tmp_path, WITH_PARSER)


@pytest.mark.parametrize(
    ("steps", "owner", "name", "value"),
    [
        (["train hiero"], find_kind("hiero").options, "lm_order", 4),
        (["tune hiero"], Mert, "rounds", 7),
        (["parser"], ParserTraining, "merge", 0.25),
        (["parse train", "parse dev", "parse test one"], ParsingOptions, "most_edges", 9),
        (["score one"], ReportOptions, "samples", 17),
    ],
)
def test_a_default_that_changes_is_another_setting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, steps: list[str], owner: Any, name: str, value: Any
) -> None:
    before = settings(tmp_path, WITH_PARSER)
    field = owner.__dataclass_fields__[name]
    defaults = list(owner.__init__.__defaults__)
    defaults[list(owner.__dataclass_fields__).index(name)] = value
    monkeypatch.setattr(field, "default", value)
    monkeypatch.setattr(owner.__init__, "__defaults__", tuple(defaults))
    after = settings(tmp_path, WITH_PARSER)
    assert [step for step in before if before[step] != after[step]] == steps


def test_default_weights_and_aligners_are_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = settings(tmp_path, RECIPE)
    monkeypatch.setitem(WEIGHTS, "lm", 0.25)
    defaults = tuple(0.3 if value == 0.2 else value for value in ALIGNERS["sampler"].__defaults__)
    monkeypatch.setattr(ALIGNERS["sampler"], "__defaults__", defaults)
    after = settings(tmp_path, RECIPE)
    assert [step for step in before if before[step] != after[step]] == ["align", "train hiero"]
    assert after["align"]["options"] == before["align"]["options"] | {"null": 0.3}


def test_what_is_not_the_same_is_said_of_tables_too() -> None:
    before = Identity("train", "treeglot", {"options": {"search": {"pop_limit": 20, "beam": 1}, "old": 1}}, {})
    after = Identity("train", "treeglot", {"options": {"search": {"pop_limit": 30, "beam": 1}, "new": None}}, {})
    assert after.differs_from(before) == [
        "options.new was not set",
        "options.old was 1",
        "options.search.pop_limit was 20",
    ]


def test_a_file_that_is_no_longer_read_is_a_difference() -> None:
    before = Identity("check train", "treeglot", {}, {"source": "a", "target_trees": "b"})
    assert Identity("check train", "treeglot", {}, {"source": "a"}).differs_from(before) == ["target_trees changed"]


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (('kind = "c2d"', 'kind = "c2x"'), "system 'c2d': unknown kind of model 'c2x';"),
        (('name = "c2d"', 'name = "hiero"'), "there are two systems 'hiero'"),
        (('name = "c2d"', 'name = "c/d"'), "'c/d' is no name of a system"),
        (('name = "c2d"', 'name = "reference"'), "a system is called 'reference', as the references of test sets are"),
        (("[test.one]", '[test."one seed 5"]'), "the test set 'one seed 5' ends as the steps of a seed do"),
        (("order = 3", "ordre = 3"), "unknown option of [lm] 'ordre'; did you mean 'order'?"),
        (("order = 3", "order = 4294967296"), "lm: order is 4294967296; expected 1 to 9"),
        (("order = 3", "order = 3\nmore = { News = 'x' }"), "lm: more.News is not a name of a language model"),
        (('title = "A <small> sample"', 'baseline = "x"'), "unknown system 'x'"),
        (("[lm]", "[align]\nsymmetrization = 'grow'\n[lm]"), "unknown symmetrisation 'grow'"),
    ],
)
def test_recipes_that_are_refused(tmp_path: Path, change: tuple[str, str], problem: str) -> None:
    recipe = tmp_path / "recipe.toml"
    recipe.write_text(RECIPE.replace(*change))
    with pytest.raises(FormatError, match=re.escape(problem)):
        load_recipe(recipe)


COMBINED = """[[combination]]
name = "both"
systems = ["hiero", "c2d"]
"""
TREES = "options = { search = { pop_limit = 20 } }\ntune"  # of the second system


@pytest.mark.parametrize(
    ("old", "new", "line", "problem"),
    [
        ("order = 3", "order = 0", 17, "lm: order is 0; expected 1 to 9"),
        ("iterations = 1", "iterations = 0", 19, "tune: iterations is 0; expected at least 1"),
        ("kbest = 20", "kbest = -1", 20, "tune: kbest is -1; expected at least 1"),
        ("restarts = 1,", "restarts = -1,", 21, "tune: restarts is -1; expected at least 0"),
        ("pop_limit = 20", "pop_limit = -1", 25, "system 'hiero': search: pop_limit is -1; expected at least 0"),
        ("pop_limit = 20", "pops = 20", 25, "system 'hiero': unknown option of [search] 'pops'"),
        ('kind = "c2d"', 'kind = "c2x"', 28, "system 'c2d': unknown kind of model 'c2x'"),
        ('name = "c2d"', 'name = "hiero"', 27, "there are two systems 'hiero'"),
        ("[test.one]", '[test."a/b"]', 12, "'a/b' is no name of a test set; expected letters"),
        ('["dev.en"]', "[]", 11, "dev: references is empty; expected at least one file"),
        ('title = "A <small> sample"', 'baseline = "x"', 2, "unknown system 'x'; known: c2d, hiero"),
        ("[lm]", "[align]\nmethod = 'hmmm'\n[lm]", 17, "align: unknown aligner 'hmmm'; did you mean 'hmm'?"),
        ("[lm]", "[align]\noptions = { null = 2 }\n[lm]", 17, "align: null is 2.0; expected above 0 and below 1"),
        ("[lm]", "[align]\noptions = { rounds = -1 }\n[lm]", 17, "align: rounds is -1; expected 0 to 100,000"),
        ("[lm]", "[align]\nconstituent_cost = -1\n[lm]", 17, "align: constituent_cost is -1.0; expected at least 0"),
        ("[dev]", "posteriors = 'a.posteriors'\n[dev]", 8, "[corpus] has posteriors and no alignments; expected both"),
        ("[lm]", "[parser]\ntrees = 'x.tree'\ncycles = -1\n[lm]", 18, "parser: cycles is -1; expected 0 to 6"),
        ("[lm]", "[parser]\ntrees = 'x.tree'\nprune = -1\n[lm]", 18, "parser: prune is -1.0; expected at least 0"),
        ("[lm]", "[parser]\ntrees = 'x.align'\n[lm]", 17, "parser: trees x.align: the format pharaoh holds alignments"),
        (TREES, "options = { target_style = 'x' }\ntune", 29, "system 'c2d': unknown style of heads 'x'"),
        (TREES, "options = { lm_order = 2 }\ntune", 29, "system 'c2d': lm_order is 2; all systems of a recipe"),
        (TREES, "options = { extract = { max_phrase = 0 } }\ntune", 29,
         "system 'c2d': extract: max_phrase is 0; expected at least 1, or"),
        ("search = { pop_limit = 20 }", "score = { significance = nan }", 25,
         "system 'hiero': score: significance is nan; expected a finite number, at least 0"),
        ("search = { pop_limit = 20 }", 'compile = { features = ["cuont"] }', 25,
         "system 'hiero': compile.features: unknown column 'cuont'; did you mean 'count'?"),
        ("[dev]", "alignments = 'a.align'\n[align]\nmethod = 'x'\n[dev]", 10, "align: unknown aligner 'x'; known: "),
        ("[lm]", "[neural]\nhidden = 20\n[lm]", 17, "neural: hidden is 20; expected a multiple of 16"),
        ("[lm]", "[neural]\nheads = true\n[lm]", 17, "neural.heads is true, and not all kinds can use such a network"),
        ("[lm]", "[neural_lexical]\nparse = true\n[lm]", 17, "neural_lexical.parse is true, and not all kinds can"),
        ("[lm]", "[neural]\nlexical = true\n[lm]", 17, "neural.lexical is true; expected a table [neural_lexical]"),
        ("[lm]", COMBINED.replace('"c2d"', '"c2x"') + "[lm]", 18, "combination 'both': unknown system 'c2x'"),
        ("[lm]", COMBINED.replace(', "c2d"', "") + "[lm]", 18, "combination[0]: systems has 1; expected two systems"),
        ("[lm]", COMBINED.replace('"c2d"', '"hiero"') + "[lm]", 18, "combination[0]: systems names 'hiero' twice"),
        ("[lm]", COMBINED.replace('"both"', '"c2d"') + "[lm]", 17, "there are two systems 'c2d'"),
        ('source_forests = "test.zh.forest.jsonl"\n', "", 25, "system 'c2d': a c2d model translates source_forests or "
         "source_trees; [test.one] has none"),
    ],
)  # fmt: skip
def test_what_a_recipe_asks_for_is_judged_before_any_work(
    tmp_path: Path, old: str, new: str, line: int, problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """With the line of the recipe; no file of its need be there."""
    recipe = tmp_path / "recipe.toml"
    assert old in RECIPE
    recipe.write_text(RECIPE.replace(old, new, 1))
    assert main(["run", str(recipe), "--plan"]) == 1
    said = capsys.readouterr().err.replace(f"{tmp_path}/", "")
    assert said.startswith(f"error: recipe.toml:{line}: {problem}"), said


def test_folders_and_files_in_each_others_places(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recipe, file = tmp_path / "recipe.toml", tmp_path / "file"
    recipe.write_text(RECIPE.replace('"dev.en"', '"folder"'))
    file.touch()
    (tmp_path / "folder").mkdir()
    run = ["run", str(recipe), "--data", str(corpus), "--data"]
    wanted = {
        (*run, str(tmp_path / "no")): f"no: is not a folder; expected the one with the files of {recipe}",
        (*run, str(file)): f"file: is not a folder; expected the one with the files of {recipe}",
        (*run, str(tmp_path)): "folder: is a folder, not a file; step 'check dev' wants it as reference 0",
        (*run, str(tmp_path), "--work", str(file)): "file: is not a folder; expected the folder of results",
        (*run, str(tmp_path), "--work", str(file / "x")): "file/x: is not a folder; expected the folder of results",
    }
    for arguments, problem in wanted.items():
        assert main(list(arguments)) == 1
        assert capsys.readouterr().err == f"error: {tmp_path}/{problem}\n"


def test_a_treebank_without_trees(corpus: Path, tmp_path: Path) -> None:
    (tmp_path / "bank.tree").write_text("(S a b)\n")
    recipe = tmp_path / "recipe.toml"
    recipe.write_text(WITH_PARSER)
    pipeline = Pipeline(steps_of(load_recipe(recipe, [corpus, tmp_path])), tmp_path / "work")
    problem = "bank.tree: has no tree to train on, of 1 that were read; expected trees whose words have tags"
    with pytest.raises(FormatError, match=problem):
        pipeline.run()


def test_sentences_that_cannot_be_translated_are_told_of(corpus: Path, tmp_path: Path) -> None:
    """A control character is one bad line, not the end of a run."""
    for name in ("dev.zh", "test.zh"):
        lines = (corpus / name).read_text().splitlines()
        (tmp_path / name).write_text("\n".join([lines[0], lines[1] + "\x07", *lines[2:]]) + "\n")
    recipe = tmp_path / "recipe.toml"
    recipe.write_text(RECIPE[: RECIPE.rindex("[[system]]")])
    pipeline = Pipeline(steps_of(load_recipe(recipe, [tmp_path, corpus])), tmp_path / "work")
    with pytest.warns() as caught:
        pipeline.run()
    said = [str(warning.message).replace(f"{tmp_path}/", "") for warning in caught]
    wanted = "1 outputs are empty, as their sentences could not be translated; the first is 2: a control character at"
    assert [line.partition(": ")[0] for line in said if wanted in line] == ["dev.zh", "test.zh"]


def test_files_that_a_kind_wants(tmp_path: Path) -> None:
    recipe = tmp_path / "recipe.toml"
    recipe.write_text(RECIPE.replace('target_trees = "train.en.tree"\n', ""))
    with pytest.raises(UsageError, match="a c2d model is trained with target_trees or target_dependencies"):
        steps_of(load_recipe(recipe))
    recipe.write_text(RECIPE.replace('source_forests = "test.zh.forest.jsonl"\n', ""))
    with pytest.raises(UsageError, match="a c2d model translates source_forests or source_trees"):
        steps_of(load_recipe(recipe))
    recipe.write_text(RECIPE.replace("pop_limit = 20", "pops = 20"))
    with pytest.raises(UsageError, match="unknown option of \\[search\\] 'pops'"):
        steps_of(load_recipe(recipe))
    recipe.write_text(RECIPE.replace("[lm]", "[align]\noptions = { samplers = 3 }\n[lm]"))
    with pytest.raises(UsageError, match=r"align: unknown option 'samplers'; .*known: chains,"):
        steps_of(load_recipe(recipe))
    recipe.write_text(RECIPE.replace("restarts = 1,", "restart = 1,"))
    with pytest.raises(UsageError, match=r"^tune: unknown option 'restart'; did you mean 'restarts'"):
        steps_of(load_recipe(recipe))
    recipe.write_text(RECIPE)
    with pytest.raises(FormatError, match=r"train.zh: is not there; step 'check train' wants it as source"):
        Pipeline(steps_of(load_recipe(recipe)), tmp_path / "work").plan()


def test_links_respect_the_constituents_of_forests(corpus: Path, done: Path) -> None:
    recipe = corpus / "mended.toml"
    recipe.write_text(RECIPE.replace("[lm]", "[align]\nconstituent_cost = 2\n[lm]"))
    steps = {step.name: step for step in steps_of(load_recipe(recipe))}
    assert steps["train c2d"].inputs["alignments"] == Output("mend", "links.align")
    assert steps["train c2d"].inputs["aligner"] == Output("align", "aligner")
    assert steps["train hiero"].inputs["alignments"] == Output("align", "links.align")
    recipe.write_text(RECIPE.replace("[lm]", "[align]\nconstituent_cost = 0\n[lm]"))
    assert "mend" not in {step.name for step in steps_of(load_recipe(recipe))}
    align, mend = Pipeline([steps["align"], steps["mend"]], done).run()
    before, after = (list(read_alignments(planned.folder / "links.align")) for planned in (align, mend))
    assert len(before) == len(after)
    assert all({*fewer} <= {*links} for links, fewer in zip(before, after, strict=True))
    assert sum(map(len, after)) < sum(map(len, before))


def test_files_of_one_system(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its own files come before those of the corpus that serve alike; what its kind has no use for is refused."""
    recipe, more = tmp_path / "recipe.toml", tmp_path / "more"
    more.mkdir()
    (tmp_path / "data").mkdir()
    (more / "own.conllu").touch()
    own = 'tune = { method = "none" }\ncorpus = { target_dependencies = "own.conllu", alignments = "own.align" }'
    recipe.write_text(RECIPE.replace('tune = { method = "none" }', own))
    steps = {step.name: step for step in steps_of(load_recipe(recipe, [tmp_path / "data", more]))}
    assert steps["train c2d"].inputs["target_dependencies"] == more / "own.conllu"
    assert steps["train c2d"].inputs["alignments"] == tmp_path / "data/own.align"  # where it is not, either
    assert steps["train c2d"].inputs["source_forests"] == tmp_path / "data/train.zh.forest.jsonl"
    assert "target_trees" not in steps["train c2d"].inputs
    assert set(steps["train hiero"].inputs) == {"source", "target", "alignments", "aligner", "lm"}
    assert steps["train hiero"].inputs["alignments"] == Output("align", "links.align")
    wrong = 'kind = "hiero"\ncorpus = { target_trees = "train.en.tree" }'
    recipe.write_text(RECIPE.replace('kind = "hiero"', wrong))
    with pytest.raises(UsageError, match=r"^system 'hiero': a hiero model does not use target_trees$"):
        steps_of(load_recipe(recipe))
    assert main(["run", str(recipe)]) == 1
    assert f"{recipe}:22: system 'hiero': a hiero model does not use target_trees" in capsys.readouterr().err


def test_a_head_table_of_ones_own_counts_by_its_content(corpus: Path, tmp_path: Path) -> None:
    """It is found where all files of a recipe are, and the steps that use it run again when it changes."""
    table = tmp_path / "data" / "my.heads"
    table.parent.mkdir()
    table.write_text(heads.load("english").text)
    recipe = tmp_path / "recipe.toml"
    options = 'options = { target_heads = "my.heads", search = { pop_limit = 20 } }\ntune = { method = "none" }'
    recipe.write_text(RECIPE.replace('options = { search = { pop_limit = 20 } }\ntune = { method = "none" }', options))
    pipeline = Pipeline(steps_of(load_recipe(recipe, [corpus, table.parent])), tmp_path / "work")
    pipeline.run()
    step = next(step for step in pipeline.steps if step.name == "train c2d")
    assert step.inputs["options.target_heads"] == table
    assert step.settings["options"]["target_heads"] == "a file"
    table.write_text("# changed\n" + heads.load("english").text)
    plan = pipeline.plan()
    assert [planned.step.name for planned in plan if not planned.done] == [
        "train c2d",
        "translate c2d one",
        "score one",
        "report",
    ]
    assert next(planned.reason for planned in plan if not planned.done) == "options.target_heads changed"
    table.rename(tmp_path / "gone")
    with pytest.raises(FormatError) as refused:
        load_recipe(recipe, [corpus, table.parent])
    wanted = f"expected a name that treeglot knows, or a file in {corpus} or {table.parent}"
    assert str(refused.value) == f"{recipe}:29: system 'c2d': options.target_heads is 'my.heads'; {wanted}"


def test_a_recipe_with_two_language_models(corpus: Path, tmp_path: Path) -> None:
    """Every system has the feature of the second model, and a change of its text changes what depends on it."""
    news = tmp_path / "news.en"
    news.write_text((corpus / "train.en").read_text())
    recipe = tmp_path / "recipe.toml"
    recipe.write_text(RECIPE.replace("order = 3", "order = 3\nmore = { news = 'news.en' }"))
    pipeline = Pipeline(steps_of(load_recipe(recipe, [corpus, tmp_path])), tmp_path / "work")
    done = {planned.step.name: planned.folder for planned in pipeline.run()}
    for system in ("hiero", "c2d"):
        model = load(done[f"train {system}"])
        assert {"lm", "lm_news"} <= set(model.translator.features)
        assert model.weights["lm_news"] == LM_WEIGHT
    assert load_ngram(done["lm news"] / "lm.bin").order == 3
    news.write_text("other words\n")
    changed = [planned.step.name for planned in pipeline.plan() if not planned.done]
    assert changed[:2] == ["lm news", "train hiero"]
    assert "lm" not in changed


NETWORK = """[neural]
embedding = 16
hidden = 16
epochs = 1
[neural_lexical]
embedding = 16
hidden = 16
epochs = 1
"""


def test_all_systems_share_networks_and_are_combined(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recipe, work = tmp_path / "recipe.toml", tmp_path / "work"
    recipe.write_text(RECIPE.replace("[corpus]", "seeds = [1, 2]\n[corpus]", 1) + NETWORK + COMBINED)
    run = ["run", str(recipe), "--data", str(corpus), "--work", str(work), "--threads", "2"]
    assert main(run) == 0
    assert "both combines hiero, c2d" in capsys.readouterr().out
    pipeline = Pipeline(steps_of(load_recipe(recipe, corpus)), work)
    folders = {planned.step.name: planned.folder for planned in pipeline.plan()}
    for name, feature in (("neural", "neural"), ("neural_lexical", "neural_lexical")):
        network = (folders[f"network {name}"] / f"{name}.bin").read_bytes()
        for system in ("hiero", "c2d"):
            model = load(work / "models" / system)
            assert (work / "models" / system / f"{name}.bin").read_bytes() == network
            assert model.weights[feature] != 0
    systems = [f"{name}={work}/models/{name}={corpus}/test.zh" for name in ("hiero", "c2d")]
    systems[1] += ".forest.jsonl"
    assert main(["combine", *systems, "-o", str(tmp_path / "by-hand")]) == 0
    combined = [(folders[f"combine both one{ending}"] / "output.txt").read_bytes() for ending in ("", " seed 2")]
    assert combined[0] == (tmp_path / "by-hand").read_bytes()
    assert combined[0] != combined[1]  # hiero has other weights there; c2d is not tuned
    report = json.loads((work / "report.json").read_text())
    assert report["combinations"] == [{"name": "both", "systems": ["hiero", "c2d"]}]
    row = report["tests"]["one"]["scores"][2]
    assert (row["system"], len(row["tunings"]["BLEU"]["scores"])) == ("both", 2)
    html = (work / "report.html").read_text()
    data = json.loads(html.split(" DATA = ")[1].split(";</script>")[0])
    assert data["tests"]["one"]["outputs"]["both"] == combined[0].decode().splitlines()
    capsys.readouterr()
    assert main([*run, "--systems", "hiero", "--plan"]) == 0
    assert "combine" not in capsys.readouterr().out


def test_a_system_has_no_second_network(tmp_path: Path) -> None:
    recipe = tmp_path / "recipe.toml"
    recipe.write_text(RECIPE.replace("pop_limit = 20 } }", "pop_limit = 20 }, neural = true }", 1) + NETWORK)
    problem = "system 'hiero': options.neural is true, and all systems have the network of [neural]; expected one of"
    with pytest.raises(FormatError, match=re.escape(problem)):
        load_recipe(recipe)


def test_no_combination_of_raw_text(tmp_path: Path) -> None:
    recipe = tmp_path / "recipe.toml"
    recipe.write_text(RECIPE + COMBINED + "[text]\nlanguages = 'zh-en'\n")
    with pytest.raises(FormatError, match=re.escape("the files of [text] are raw; expected text.tokenised = true")):
        load_recipe(recipe)


def test_no_other_option_of_a_recipe_is_a_file() -> None:
    """A file in an option must be an input of its step, as an aligner's lexicon is; else its name alone would count."""
    tuners: list[Any] = [METHODS[name] for name in METHODS]
    aligners: list[Any] = [ALIGNERS[name] for name in ALIGNERS]
    named = {option.name for schema in (*tuners, *aligners) for option in options_of(schema) if "file" in option.help}
    paths = {option.name for schema in (*tuners, *aligners) for option in options_of(schema) if option.type is Path}
    assert (named, paths) == ({"lexicon"}, set())
    assert {
        option.name for kind in KINDS.values() for option in options_of(kind.options) if option.names is not None
    } == {"source_heads", "target_heads"}


@pytest.mark.filterwarnings("ignore")
def test_machines_of_an_engine_change_no_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The shards of parsing, counting n-grams, extracting and decoding are done one after the other here."""
    sample.write_corpus(tmp_path, 80)
    parsed = re.sub(r"(?m)^(source_forests|target_trees) = .*\n", "", RECIPE)
    parsed = parsed.replace("[lm]", '[parser]\ntrees = "train.zh.tree"\ncycles = 0\n[lm]').replace('"c2d"', '"c2s"')
    (tmp_path / "recipe.toml").write_text(parsed.replace('tune = { method = "none" }', ""))
    called: Counter[str] = Counter()
    heard: list[str] = []

    class Machines(DuckDB):
        def map(self, function: Any, shared: Any, items: Any) -> Any:
            name = type(getattr(shared, "job", shared)).__name__
            called[name] += 1
            if called[name] == 1 and name in ("ParseShard", "SortBlock", "DecodeShard"):
                super().map(function, shared, items[:1])
                raise OSError(errno.ENOSPC, "no room")
            return super().map(function, shared, items)

    class Listener(Watcher):
        def said(self, planned: Planned, line: str) -> None:
            heard.append(line)

    monkeypatch.setattr("treeglot.base.shards.RECORDS", 30)
    monkeypatch.setattr("treeglot.tune.elsewhere.SENTENCES", 30)
    steps = steps_of(load_recipe(tmp_path / "recipe.toml"))
    Pipeline(steps, tmp_path / "here").run()
    for _ in range(3):  # each goes on with the part that the last one finished
        with pytest.raises(OSError, match="no room"):
            Pipeline(steps, tmp_path / "there").run(engine=Machines(folder=tmp_path), watcher=Listener())
        assert heard[-1] == "1 parts are finished; the same command continues with them"
    Pipeline(steps, tmp_path / "there").run(engine=Machines(folder=tmp_path), watcher=Listener())
    assert sum("are from an earlier run" in line for line in heard) == 3
    kept = ("forests.jsonl", "lm.bin", "rules.table", "best.weights", "output.txt", "scores.json")
    found = {path.relative_to(tmp_path / "here") for name in kept for path in (tmp_path / "here").rglob(name)}
    assert {path.name for path in found} == set(kept)
    for path in found:
        assert (tmp_path / "here" / path).read_bytes() == (tmp_path / "there" / path).read_bytes(), path
    assert not list((tmp_path / "there").rglob(".*.parts"))


def test_a_recipe_tunes_with_its_own_options(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[LoopOptions] = []

    def tuned(*_: Any, options: LoopOptions, **__: Any) -> None:
        seen.append(options)
        raise UsageError("seen")

    sample.write_corpus(tmp_path, 150)
    recipe = tmp_path / "recipe.toml"
    recipe.write_text(RECIPE.replace("kbest = 20", "kbest = 20\nhopes = 4\npatience = 2\nseed = 7"))
    monkeypatch.setattr("treeglot.tune.tune_weights", tuned)
    with pytest.raises(UsageError, match="seen"):
        Pipeline(steps_of(load_recipe(recipe)), tmp_path / "work").run()
    assert seen == [LoopOptions(iterations=1, kbest=20, hopes=4, patience=2, seed=7)]


def test_several_seeds_are_tuned_and_compared(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    recipe = corpus / "seeds.toml"
    other = 'tune = { method = "mira", iterations = 1 }'
    changed = RECIPE.replace('tune = { method = "none" }', other)
    changed = changed.replace("} }\ntune", '}, score = { smoothing = "none" } }\ntune')
    recipe.write_text("seeds = [1, 5]\n" + changed)
    assert main(["run", str(recipe), "--threads", "2"]) == 0
    shown = capsys.readouterr().out
    assert "BLEU, mean" in shown and "p, Holm" in shown
    assert "* c2d is not comparable with hiero: tuner: mira, not mert; smoothing: none, not kneser-ney" in shown
    figures = json.loads((corpus / "seeds" / "report.json").read_text())
    assert figures["seeds"] == [1, 5]
    hiero, c2d = (one["tunings"]["BLEU"] for one in figures["tests"]["one"]["scores"])
    assert len(hiero["scores"]) == 2 and "against" not in hiero
    assert c2d["against"]["difference"] == pytest.approx(c2d["mean"] - hiero["mean"])
    assert len(c2d["against"]["sign_tests"]) == 2
    references = [(corpus / "test.en").read_text().splitlines()]
    for ending, score in zip(("one", "one-seed-5"), c2d["scores"], strict=True):
        [output] = (corpus / "seeds").glob(f"translate-c2d-{ending}.*/output.txt")
        statistics = Bleu().statistics(output.read_text().splitlines(), references)
        assert Bleu().score(statistics) == pytest.approx(score)


def test_only_differing_options_make_systems_incomparable(corpus: Path) -> None:
    recipe = corpus / "unlike.toml"
    other = 'tune = { method = "mert", iterations = 1, kbest = 20, options = { restarts = 3, directions = 1 } }'
    recipe.write_text(RECIPE.replace('tune = { method = "none" }', other))
    loaded = load_recipe(recipe)
    assert [unlike(loaded, system) for system in loaded.system] == [
        [],
        ["options of the tuner: options.restarts 3, not 1"],
    ]
    mira = RECIPE.replace("iterations = 1", 'method = "mira"').replace("restarts = 1, directions = 1", "c = 0.01")
    for given, problem in {  # the loop has a patience, and MIRA has one
        "patience = 2, options = { c = 0.01 }": "patience 2, not 3",
        "options = { c = 0.01, patience = 2 }": "options.patience 2, not 10",
    }.items():
        other = f'tune = {{ method = "mira", kbest = 20, {given} }}'
        recipe.write_text(mira.replace('tune = { method = "none" }', other))
        loaded = load_recipe(recipe)
        assert unlike(loaded, loaded.system[1]) == [f"options of the tuner: {problem}"]
    recipe.write_text(RECIPE.replace('tune = { method = "none" }', 'tune = { method = "mira", iterations = 1 }'))
    loaded = load_recipe(recipe)
    assert unlike(loaded, loaded.system[1]) == ["tuner: mira, not mert"]


def test_seeds_and_systems_of_the_command_line(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    recipe = str(corpus / "recipe.toml")
    assert main(["run", recipe, "--plan", "--seeds", "3,4", "--systems", "hiero"]) == 0
    planned = capsys.readouterr().out
    assert "tune hiero seed 4" in planned and "translate hiero one seed 4" in planned and "train c2d" not in planned
    assert main(["run", recipe, "--plan", "--seeds", "3,x"]) == 2
    assert "--seeds is '3,x'; expected numbers between commas, such as 1,2,3" in capsys.readouterr().err
    assert main(["run", recipe, "--plan", "--systems", "moses"]) == 2
    assert "unknown system 'moses'" in capsys.readouterr().err
    assert main(["run", recipe, "--plan", "--seeds", "3,3"]) == 2
    assert "seeds has 3; expected different numbers, 0 to 2^63 - 1" in capsys.readouterr().err


def test_jobs_of_the_command_line(corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Steps in processes of their own give the same tables, weights and outputs."""
    run = ["run", str(corpus / "recipe.toml"), "--threads", "2", "--work"]
    for jobs in ("1", "2"):
        assert main([*run, str(tmp_path / jobs), "--jobs", jobs]) == 0
    one, two = (
        {
            str(path.relative_to(tmp_path / jobs)): path.read_bytes()
            for path in (tmp_path / jobs).rglob("*")
            if path.is_file() and path.name not in ("timings.js", "timings.json", ".lock")
        }
        for jobs in ("1", "2")
    )
    cards = {name for name in one if name.startswith("cards/")}
    assert len(cards) == 2
    for name in cards:
        cards_of = [json.loads(files[name]) for files in (one, two)]
        used = [{step["threads"] for step in card["measured"]["steps"].values()} for card in cards_of]
        assert (used[0], min(used[1])) == ({2}, 1)  # shared
        for card in cards_of:
            del card["measured"], card["digest"]
        assert cards_of[0] == cards_of[1]
        assert [check.state for check in verify_card(tmp_path / "2" / name)].count("matches") > 10
    assert {Path(name).name for name in one} >= {"rules.table", "best.weights", "weights.txt", "output.txt"}
    assert {name: one[name] for name in one.keys() - cards} == {name: two[name] for name in two.keys() - cards}
    capsys.readouterr()
    assert main([*run, str(tmp_path / "no"), "--jobs", "2", "--engine", "spark"]) == 2
    assert "--jobs is 2 with --engine spark; expected 1: a cluster runs one step at a time" in capsys.readouterr().err
    assert not (tmp_path / "no").exists()
