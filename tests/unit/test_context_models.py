"""Models of all kinds with context features: training, files, names, and what else models do with them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from small_models import LINES, sources, trained

from treeglot import FormatError, UsageError
from treeglot._core import FeatureSet
from treeglot.cli import main
from treeglot.decode.constraints import Constraints
from treeglot.decode.context import ContextWords
from treeglot.decode.weights import write_weights
from treeglot.foreign.export import export
from treeglot.models import load
from treeglot.models.joint import join
from treeglot.models.kinds import find_kind
from treeglot.syntax.lattice import Lattice

KINDS = ("hiero", "c2s-wf-s2s", "c2d", "dep2str-aug", "t2t-fuzzy")
WORDS = 5
pytestmark = pytest.mark.filterwarnings("ignore::treeglot.lm.train.DiscountWarning")


def context_of(features: dict[str, float]) -> dict[str, float]:
    return {name: value for name, value in features.items() if name.startswith(("left=", "right="))}


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """A model of each kind, with weights of the features that its translations have."""
    made = {}
    for kind in KINDS:
        folder = tmp_path_factory.mktemp(kind) / "model"
        model = trained(kind, folder, options=find_kind(kind).options(context_words=WORDS))
        given = [model.reader.kind.prepare(source) for source in sources(kind)]
        fired = {
            name: 0.01 * (len(name) % 7 - 3)
            for found in model.translator.translate_batch(given, 5)
            for hypothesis in found.hypotheses
            for name in context_of(hypothesis.features)
        }
        write_weights(folder / "weights.txt", {**model.weights, **fired})
        made[kind] = load(folder)
    return made


def test_training_takes_the_most_frequent_words(models: dict[str, Any], tmp_path: Path) -> None:
    for model in models.values():
        words = json.loads((model.directory / "context.json").read_text(encoding="utf-8"))
        assert [len(words["source"]), len(words["target"])] == [WORDS, WORDS]
        assert model.translator.context == ContextWords(tuple(words["source"]), tuple(words["target"]))
    plain = trained("hiero", tmp_path / "plain")
    assert plain.translator.context is None
    assert not (tmp_path / "plain" / "context.json").exists()
    assert not context_of(plain.translate(" ".join(LINES[0])).best.features)


@pytest.mark.parametrize("kind", KINDS)
def test_scores_are_sums_with_any_number_of_threads(models: dict[str, Any], kind: str) -> None:
    model = models[kind]
    assert not model.translator.unknown_weights
    given = [model.reader.kind.prepare(source) for source in sources(kind)]
    one, four = (model.translator.translate_batch(given, 5, threads=threads) for threads in (1, 4))
    assert [[(h.text, h.score) for h in t.hypotheses] for t in one] == [
        [(h.text, h.score) for h in t.hypotheses] for t in four
    ]
    fired = 0
    for hypothesis in (h for translation in one for h in translation.hypotheses):
        fired += len(context_of(hypothesis.features))
        total = sum(model.weights.get(name, 0.0) * value for name, value in hypothesis.features.items())
        assert total == pytest.approx(hypothesis.score, abs=1e-3)
    assert fired > 0


def test_constraints_explanations_and_lists_have_the_features(
    models: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = models["hiero"]
    found = model.translate(" ".join(LINES[0]))
    forced = model.translate(" ".join(LINES[0]), Constraints(exactly=found.best.text))
    assert forced.best.score == pytest.approx(found.best.score, abs=1e-4)
    assert context_of(forced.best.features) == context_of(found.best.features)
    explained = model.explain(" ".join(LINES[0])).translation
    assert context_of(explained.best.features) == context_of(found.best.features)
    (tmp_path / "zh").write_text(" ".join(LINES[0]) + "\n", encoding="utf-8")
    assert main(["translate", str(model.directory), str(tmp_path / "zh"), "--kbest", "1"]) == 0
    shown = capsys.readouterr().out.split(" ||| ")[2]
    assert "left=<s>|她→she= 1" in shown
    assert "right=她→she|其实= 1" in shown


def test_joint_models_share_the_features(models: dict[str, Any], tmp_path: Path) -> None:
    folders = {name: models[name].directory for name in ("hiero", "dep2str-aug")}
    said: list[str] = []
    joint = join(folders, tmp_path / "joint", report=said.append)
    assert joint.translator.context == models["hiero"].translator.context
    assert not any("context" in line for line in said)
    assert not joint.translator.unknown_weights
    assert context_of(dict(joint.weights))
    other = tmp_path / "other"
    shutil.copytree(models["dep2str-aug"].directory, other)
    ContextWords(("a",), ("b",)).write(other / "context.json")
    join({"hiero": folders["hiero"], "tree": other}, tmp_path / "both", report=said.append)
    assert "hiero: the words of its context features are used; tree had others" in said


def test_lattices_are_refused(models: dict[str, Any]) -> None:
    found = models["hiero"].translator.translate(Lattice.from_words(LINES[0]))
    assert found.problem.endswith("a model with a neural network or context features translates sentences")


def test_other_decoders_have_no_such_features(models: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="has a weight"):
        export(models["hiero"], tmp_path / "moses", "moses")


def test_weights_of_words_that_are_not_told_apart_are_no_problem(models: dict[str, Any]) -> None:
    model = models["hiero"]
    names = ["left=nowhere|a→b", "right=a→b|nowhere"]
    assert not model.with_weights({**model.weights, **dict.fromkeys(names, 1.0)}).translator.unknown_weights
    wrong = ["left=a→b|c", "right=c|a→b", "left=a→b", "left=a|b", "right=a→b"]
    changed = model.with_weights({**model.weights, **dict.fromkeys(wrong, 1.0)})
    assert changed.translator.unknown_weights == wrong


def test_files_of_words_hold_any_word(tmp_path: Path) -> None:
    words = ContextWords(("她", '"', "a=b"), ("\\", "é"))
    words.write(tmp_path / "context.json")
    assert ContextWords.read(tmp_path / "context.json") == words


def test_words_that_names_cannot_tell_apart(models: dict[str, Any], tmp_path: Path) -> None:
    bad: list[tuple[tuple[str, ...], str]] = [
        (("a", "a"), "a"),
        (("a|b",), "a|b"),
        (("→",), "→"),
        (("<s>",), "<s>"),
        (("",), ""),
    ]
    for words, shown in bad:
        with pytest.raises(UsageError, match="among the words of context features") as error:
            ContextWords(words, ())
        assert str(error.value).startswith(f"found {shown!r} among the words of context features; expected")
        with pytest.raises(ValueError, match="is no word of context features; expected different words"):
            FeatureSet(models["hiero"].translator.table).add_context([], list(words))
    folder = tmp_path / "model"
    shutil.copytree(models["hiero"].directory, folder)
    for content, problem in (
        ('{"source": ["a", "a"], "target": []}', "found 'a' among the words of context features"),
        ('{"source": [1], "target": []}', "source has 1; expected words"),
        ('{"source": []}', "target"),
    ):
        (folder / "context.json").write_text(content)
        with pytest.raises(FormatError, match=problem):
            load(folder)
