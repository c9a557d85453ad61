"""Joint models: made of trained ones, searched together, tuned together."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from messages import messages

from treeglot import sample
from treeglot.base.errors import FormatError, UsageError
from treeglot.cli import main
from treeglot.corpus import Corpus
from treeglot.decode.constraints import Constraints
from treeglot.decode.glossary import Entry, Glossary
from treeglot.decode.weights import read_weights
from treeglot.models import Model, load, train
from treeglot.models.joint import join
from treeglot.models.kinds import find_kind
from treeglot.rules.sql import ScoreOptions
from treeglot.syntax import write

KINDS = ("hiero", "c2d", "dep2str-aug")


@pytest.fixture(scope="module")
def parts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with models of several kinds, of a corpus that is there, too."""
    folder = tmp_path_factory.mktemp("parts")
    pairs = sample.split(sample.read_pairs(70))["train"]
    write(folder / "zh.tree", [pair.source_tree for pair in pairs])
    write(folder / "en.tree", [pair.target_tree for pair in pairs])
    write(folder / "zh.txt", [pair.source for pair in pairs])
    write(folder / "en.txt", [pair.target for pair in pairs])
    write(folder / "links.align", [pair.alignment for pair in pairs])
    words = {"source": folder / "zh.txt", "target": folder / "en.txt"}
    trees = {"source_trees": folder / "zh.tree", "target_trees": folder / "en.tree"}
    files = {
        "hiero": words,
        "c2d": trees,
        "dep2str-aug": {"source_trees": folder / "zh.tree", "target": folder / "en.txt"},
    }
    for kind, given in files.items():
        corpus = Corpus(alignments=folder / "links.align", **given)
        train(kind, corpus, folder / kind, find_kind(kind).options(lm_order=2, score=ScoreOptions()))
    for kind in ("samt", "t2s"):  # what they hold is never read
        (folder / kind).mkdir()
        (folder / kind / "model.toml").write_text(f'kind = "{kind}"\n')
    return folder


@pytest.fixture(scope="module")
def joint(parts: Path) -> Model:
    return join({kind: parts / kind for kind in KINDS}, parts / "joint")


def test_a_joint_model_has_the_features_of_its_parts(joint: Model, parts: Path) -> None:
    assert joint.kind == "joint" and joint.file.parts == {kind: kind for kind in KINDS}
    assert not joint.translator.unknown_weights
    for kind in KINDS:
        own = load(parts / kind).translator
        common = {"word_penalty", "glue", "unknown", "preferred", "lattice", "lm", "lm_unknown"}
        without_trees = set(own.features) - {"dlm_words", "dlm_tags", "ill_formed"}
        assert {name if name in common else f"{kind}.{name}" for name in without_trees} <= set(
            joint.translator.features
        )
    rules = sum(load(parts / kind).translator.rules for kind in KINDS)
    assert joint.translator.rules == rules and f"{rules:,}" in repr(joint) and f"{rules:,}" in joint._repr_html_()


def test_weights_are_on_one_scale_and_common_ones_averages(joint: Model, parts: Path) -> None:
    given = {kind: load(parts / kind).weights for kind in KINDS}
    size = sum(weights["lm"] for weights in given.values()) / len(KINDS)
    assert joint.weights["lm"] == pytest.approx(size)
    for kind, weights in given.items():
        wanted = weights["p_target_given_source"] * size / weights["lm"]
        assert joint.weights[f"{kind}.p_target_given_source"] == pytest.approx(wanted)
    glue = [weights["glue"] * size / weights["lm"] for weights in given.values()]
    assert joint.weights["glue"] == pytest.approx(sum(glue) / len(KINDS))


def test_derivations_name_the_grammar_of_each_rule(joint: Model, parts: Path) -> None:
    found = joint.translate_batch(list(joint.read(parts / "zh.tree")), threads=2)
    assert not any(one.problem or one.notes for one in found)
    seen = {step.grammar for one in found for step in one.derivation.steps if not step.local}
    assert seen == set(KINDS)
    mixed = [one for one in found if len({s.grammar for s in one.derivation.steps if not s.local}) > 1]
    assert len(mixed) > len(found) // 4
    for one in mixed[:5]:
        explained = joint.explain(one.given)
        assert sorted(place for reason in explained.reasons for place in reason.words) == list(
            range(len(one.best.text.split(" ")))
        )
        for reason in explained.reasons:
            table = joint.translator.tables[reason.step.grammar]
            assert reason.step.local or str(reason.step).startswith(f"{reason.step.grammar}: [")
            if reason.step.rule is not None:
                words = {table.target_words[word] for word in table.rule(reason.step.rule)[2] if word >= 0}
                assert {one.best.text.split(" ")[place] for place in reason.words} <= words
        assert one._repr_html_() and one.forest()


def test_it_is_at_least_as_good_as_each_part_by_its_own_score(joint: Model, parts: Path) -> None:
    """Without limits of the search."""
    exact = joint.all_rules
    for kind, file in (("hiero", "zh.txt"), ("dep2str-aug", "zh.tree")):
        alone = load(parts / kind)
        own = {name.removeprefix(f"{kind}."): weight for name, weight in joint.weights.items()}
        part = alone.translator.with_search(exact.options).with_weights(
            {name: weight for name, weight in own.items() if name in alone.translator.features}
        )
        sources = zip(alone.read(parts / file), joint.read(parts / "zh.tree"), strict=True)
        for line, tree in [(line, tree) for line, tree in sources if len(tree.words) < 8][:12]:
            assert exact.translate(tree).score >= part.translate(line).score - 1e-3


def test_it_takes_search_options_of_any_part(joint: Model) -> None:
    options = replace(joint.translator.options, max_combinations=1)
    assert joint.with_search(options).translator.options.max_combinations == 1


def test_it_refuses_search_options_that_no_part_uses(
    parts: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = join({kind: parts / kind for kind in ("hiero", "dep2str-aug")}, tmp_path / "joint")
    known = (
        "these use dependency_trees, label_limit, match_limit, max_combinations, pseudo_structures, unknown_labels; "
        "expected 100000, as it was"
    )
    problem = f"search.step_limit is 5, which no part uses (hiero, dep2str-aug); {known}"
    usual = model.translator.options
    with pytest.raises(UsageError) as raised:
        model.with_search(replace(usual, step_limit=5))
    assert str(raised.value) == problem
    assert raised.value.key == ("search", "step_limit")
    changed = replace(usual, label_limit=5, max_combinations=2, pop_limit=3)
    assert model.with_search(changed).translator.options == changed
    source = str(parts / "zh.tree")
    for command in (
        ["translate", "joint", source],
        ["tune", "joint", "--dev", source, "--refs", str(parts / "en.txt")],
    ):
        command[1] = str(tmp_path / "joint")
        assert main([*command, "--set", "search.step_limit=5"]) == 2
        assert problem in capsys.readouterr().err


def test_terms_and_constraints_hold_for_all_grammars(joint: Model, parts: Path) -> None:
    tried = 0
    for tree in list(joint.read(parts / "zh.tree"))[:12]:
        plain = joint.translate(tree)
        words = plain.text.split(" ")
        [step] = [s for s in plain.derivation.steps if not s.local and s.target and "[" not in s.target][:1] or [None]
        if step is None or len(words) < 3:
            continue
        tried += 1
        forbidden = joint.translate(tree, glossary=Glossary((Entry("", words[1], "forbid"),)))
        assert words[1] not in forbidden.text.split(" ")
        forced = joint.translate(tree, glossary={plain.words[0]: "zzz"})
        assert "zzz" in forced.text.split(" ")
        again = joint.translate(tree, Constraints(exactly=plain.text, steps=plain.derivation.steps))
        assert again.score == pytest.approx(plain.score, abs=1e-3)
        assert str(again.derivation) == str(plain.derivation)
        begun = joint.translate(tree, Constraints(prefix=words[0], forbid=[words[-2]]))
        for found in (forbidden, forced, begun):
            assert found in (forbidden, forced) or found.problem or found.text.startswith(words[0])
            if found.problem:
                continue
            total = sum(joint.weights.get(name, 0.0) * value for name, value in found.best.features.items())
            assert found.score == pytest.approx(total, abs=1e-3)
            assert {s.grammar for s in found.derivation.steps} <= set(KINDS)
    assert tried > 5


def test_it_is_tuned_and_moved_like_other_models(
    joint: Model, parts: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    moved = tmp_path / "moved"
    shutil.copytree(joint.directory, moved)
    few = tmp_path / "few.tree"
    few.write_text("".join((parts / "zh.tree").read_text().splitlines(keepends=True)[:20]))
    refs = tmp_path / "few.en"
    refs.write_text("".join((parts / "en.txt").read_text().splitlines(keepends=True)[1:21]))
    assert main(["tune", str(moved), "--dev", str(few), "--refs", str(refs), "--iterations", "1", "--kbest", "10"]) == 0
    tuned = read_weights(moved / "tune-mert-1" / "01.weights")
    assert tuned != joint.weights and {name.split(".")[0] for name in tuned if "." in name} == set(KINDS)
    assert main(["join", *(str(parts / kind) for kind in KINDS), "-o", str(moved)]) != 0
    assert "has a joint model; expected --force" in messages(capsys.readouterr().err)
    assert main(["translate", str(moved), str(few), "--json", "--trace", "--index", "1"]) == 0
    entry = json.loads(capsys.readouterr().out)
    assert {step["grammar"] for step in entry["derivation"]} <= set(KINDS)


def test_one_model_twice_translates_text_as_that_model_does(served_hiero: list[str], tmp_path: Path) -> None:
    [one] = [folder.rpartition("=")[2] for folder in served_hiero][:1]
    alone, twice = load(one), join({"a": one, "b": one}, tmp_path / "twice")
    text = "他 在 家"
    assert twice.text is not None
    assert twice.translate(text).score == pytest.approx(alone.translate(text).score, abs=1e-4)
    assert twice.translate(text).text == alone.translate(text).text


def test_what_cannot_be_joined_is_refused(
    joint: Model, parts: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"

    def refused(*models: str) -> str:
        assert main(["join", *models, "-o", str(out)]) == 2
        assert not out.exists()
        return messages(capsys.readouterr().err)

    hiero = str(parts / "hiero")
    assert "1 model to join; expected two or more" in refused(hiero)
    assert "samt is a samt model, whose target side has labels" in refused(hiero, str(parts / "samt"))
    assert "t2s their best trees; expected parts that translate the same" in refused(
        str(parts / "c2d"), str(parts / "t2s")
    )
    assert "is a joint model; expected the models that it is made of" in refused(hiero, str(joint.directory))
    assert "two parts have the same name" in refused(f"x={hiero}", f"x={parts / 'c2d'}")
    assert "is no name of a part" in refused(f"a.b={hiero}", hiero)
    assert "has no model.toml" in refused(hiero, str(tmp_path))
    assert main(["train", "joint", "--out", str(out)]) == 2
    assert "a joint model is made of trained ones, by treeglot join" in messages(capsys.readouterr().err)
    with pytest.raises(UsageError, match="several rule tables; expected one of the models that it is made of"):
        joint.with_corrections([])
    with pytest.raises(UsageError, match="made of trained ones"):
        joint.learn("a", "b")


def test_choices_are_told(parts: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    shutil.copytree(parts / "hiero", other)
    shutil.copyfile(parts / "hiero" / "rules.table", other / "copy.table")
    arpa = tmp_path / "small.arpa"
    assert main(["lm", "train", str(parts / "zh.txt"), "--order", "1", "--out", str(arpa)]) == 0
    assert main(["lm", "compile", str(arpa), "--out", str(other / "lm.bin")]) == 0
    told: list[str] = []
    made = join({"c2d": parts / "c2d", "h": other}, tmp_path / "made", report=told.append)
    assert told == [
        "c2d: its dependency models are left out, for they need trees of all that is shared",
        "c2d: its language model is used; h had another",
    ]
    assert made.reader.kind.translates == ("source_forests", "source_trees")
    (made.directory / "parts" / "h" / "rules.table").unlink()
    with pytest.raises((FormatError, FileNotFoundError)):
        load(made.directory)
