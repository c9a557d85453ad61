"""Models of all kinds with a neural joint model: affiliations, values, and what else decoders do."""

from __future__ import annotations

import pickle
import shutil
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from neural_models import CONSTITUENTS, DEPENDENCIES, Reference, random_model, slow_affiliations
from small_models import LINES, sources, trained, unparsed

from treeglot import FormatError, ParseForest, UsageError
from treeglot._core import Hypothesis
from treeglot.base.errors import OptionError
from treeglot.cli import main
from treeglot.decode import Translator
from treeglot.decode.constraints import Constraints
from treeglot.decode.translator import network_feature
from treeglot.decode.weights import write_weights
from treeglot.foreign.export import export
from treeglot.models import load
from treeglot.models.joint import join
from treeglot.models.kinds import find_kind
from treeglot.models.neural import add_neural, seen_parse
from treeglot.neural.average import average
from treeglot.neural.options import JointOptions
from treeglot.syntax import Alignment, Dependency

KINDS = ("hiero", "c2s-wf-s2s", "c2d", "dep2str", "dep2str-aug", "t2t-fuzzy")
WEIGHT = 0.4
pytestmark = pytest.mark.filterwarnings("ignore::treeglot.lm.train.DiscountWarning")


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """A model of each kind, with random networks of their words."""
    made = {}
    for kind in KINDS:
        folder = tmp_path_factory.mktemp(kind)
        model = trained(kind, folder / "model")
        target = [word for word in model.translator.table.target_words if not word.startswith("<")]
        network = random_model(sorted({w for line in LINES for w in line[1:]}), target, seed=len(made), history=3)
        network.write(str(folder / "network.bin"))
        add_neural(folder / "model", folder / "network.bin", weight=WEIGHT)
        both = [f"{one} {other}" for one in target[:6] for other in target[:6]]
        lexical = random_model(sorted({w for line in LINES for w in line[1:]}), [*target, *both], history=0)
        lexical.write(str(folder / "lexical.bin"))
        made[kind] = add_neural(folder / "model", folder / "lexical.bin", weight=WEIGHT)
    return made


def spans_below(hypothesis: Hypothesis) -> list[list[tuple[int, int]]]:
    """The spans of the steps directly below each step."""
    steps, depths = hypothesis.derivation.steps, hypothesis.derivation.depths()
    below: list[list[tuple[int, int]]] = [[] for _ in steps]
    for i, depth in enumerate(depths):
        above = next((j for j in range(i - 1, -1, -1) if depths[j] == depth - 1), None)
        if above is not None:
            below[above].append(steps[i].span)
    return below


def places(translator: Translator, step: Any, below: list[tuple[int, int]]) -> list[list[int]]:
    """For each word that a step gives the source words that it may be affiliated with, by the definition."""
    own = [at for at in range(*step.span) if not any(begin <= at < end for begin, end in below)]
    words = sum(not (symbol.startswith("[") and symbol.endswith("]")) for symbol in step.target.split())
    if not own:
        return [sorted({at for begin, end in below for at in (begin, end - 1)})] * words
    along = [[own[i * len(own) // words]] for i in range(words)]
    every = [*product(own, range(words))]
    if step.rule is None:
        if sorted(step.links) == sorted(every) and len(every) > 1:  # a phrase with all links, or what has none
            by_links = slow_affiliations(Alignment(list(step.links)), words, -1)
            return [sorted({*one, other}) for one, other in zip(along, by_links, strict=True)]
        return [[at] for at in slow_affiliations(Alignment(list(step.links)), words, -1)]
    if not translator.table.rule(step.rule)[4]:
        return along
    return [[at] for at in slow_affiliations(Alignment(list(step.links)), words, -1)]


@pytest.mark.parametrize("kind", KINDS)
def test_scores_are_those_of_numpy_for_the_words_that_rules_link(models: dict[str, Any], kind: str) -> None:
    model = models[kind]
    reference = Reference(model.translator.neural)
    for source in sources(kind):
        [found] = model.translator.translate_batch([model.reader.kind.prepare(source)], 20)
        assert found.hypotheses, found.problem
        for hypothesis in found.hypotheses:
            words = hypothesis.text.split()
            assert len(hypothesis.affiliations) == len(words)
            below = spans_below(hypothesis)
            given: dict[int, list[int]] = {}
            for place, number in enumerate(hypothesis.given_by):
                given.setdefault(number, []).append(place)
            for number, own in given.items():
                allowed = places(model.translator, hypothesis.derivation.steps[number], below[number])
                for place, among in zip(own, allowed, strict=True):
                    assert hypothesis.affiliations[place] in among
            links = Alignment([(at, i) for i, at in enumerate(hypothesis.affiliations)])
            expected = reference.score(found.words, words, links)
            assert hypothesis.features["neural"] == pytest.approx(sum(expected), abs=1e-4)
            total = sum(model.weights.get(name, 0.0) * value for name, value in hypothesis.features.items())
            assert total == pytest.approx(hypothesis.score, abs=1e-3)


def expected_links(translator: Translator, hypothesis: Hypothesis) -> set[tuple[int, int]]:
    """The links of all rules that have some; words of the others follow their source words."""
    out: set[tuple[int, int]] = set()
    below = spans_below(hypothesis)
    for number, step in enumerate(hypothesis.derivation.steps):
        words = [place for place, giving in enumerate(hypothesis.given_by) if giving == number]
        own = [at for at in range(*step.span) if not any(begin <= at < end for begin, end in below[number])]
        every = {*product(own, range(len(words)))}
        if (step.rule is not None and translator.table.rule(step.rule)[4]) or {*step.links} != every:
            out |= {(at, words[word]) for at, word in step.links}
        elif own:
            out |= {(own[i * len(own) // len(words)], place) for i, place in enumerate(words)}
    return out


@pytest.mark.parametrize("kind", KINDS)
def test_a_lexical_network_scores_the_translation_of_each_source_word(models: dict[str, Any], kind: str) -> None:
    model = models[kind]
    reference = Reference(model.translator.networks["lexical"])
    for source in sources(kind):
        [found] = model.translator.translate_batch([model.reader.kind.prepare(source)], 20)
        for hypothesis in found.hypotheses:
            assert {*hypothesis.links} == expected_links(model.translator, hypothesis)
            expected = reference.score(found.words, hypothesis.text.split(), Alignment(hypothesis.links))
            assert len(expected) == len(found.words)
            assert hypothesis.features["neural_lexical"] == pytest.approx(sum(expected), abs=1e-4)


PARSED_KINDS = {
    "c2s": CONSTITUENTS,
    "c2d": CONSTITUENTS,
    "t2s": CONSTITUENTS,
    "dep2str": DEPENDENCIES,
    "dep2str-aug": DEPENDENCIES,
}
TINY = JointOptions(embedding=16, hidden=16, epochs=1, batch=16, held_out=2, parse=True)


@pytest.fixture(scope="module")
def parsed_models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Models with networks that were trained with the parses that the models were trained with."""
    made = {}
    for kind in PARSED_KINDS:
        options = find_kind(kind).options(neural=True, neural_lexical=True, network=TINY)
        made[kind] = trained(kind, tmp_path_factory.mktemp(kind) / "model", options=options)
    return made


def with_any_threads(model: Any, given: Any) -> Any:
    """Translations, whose scores are the same with 1, 2 and 4 threads."""
    one, two, four = (model.translator.translate_batch(given, 5, threads=threads) for threads in (1, 2, 4))
    assert [[h.score for h in found.hypotheses] for found in one] == [[h.score for h in f.hypotheses] for f in two]
    assert [[h.score for h in found.hypotheses] for found in one] == [[h.score for h in f.hypotheses] for f in four]
    return one


@pytest.mark.parametrize("kind", PARSED_KINDS)
def test_networks_see_what_the_parse_says(parsed_models: dict[str, Any], kind: str) -> None:
    model = parsed_models[kind]
    networks = {"neural": model.translator.neural, "neural_lexical": model.translator.networks["lexical"]}
    given = [model.reader.kind.prepare(source) for source in sources(kind)]
    for source, found in zip(given, with_any_threads(model, given), strict=True):
        assert found.hypotheses, found.problem
        for name, network in networks.items():
            assert network.facts["parse"] == PARSED_KINDS[kind]
            assert any(word.startswith("label ") for word in network.source_words())
            assert seen_parse(network, found) == source
            for hypothesis in found.hypotheses:
                joint = Alignment([(at, i) for i, at in enumerate(hypothesis.affiliations)])
                links = Alignment(hypothesis.links) if name == "neural_lexical" else joint
                expected = Reference(network).score(found.words, hypothesis.text.split(), links, source)
                assert hypothesis.features[name] == pytest.approx(sum(expected), abs=1e-4)
    explained = model.explain(sources(kind)[0])
    best = explained.translation.best.features
    assert sum(one.score for one in explained.neural) == pytest.approx(best["neural"], abs=1e-4)
    shown = sum(one.score for one in explained.networks["lexical"])
    assert shown == pytest.approx(best["neural_lexical"], abs=1e-4)


def test_a_network_sees_dependencies_that_are_made_of_a_forest(parsed_models: dict[str, Any]) -> None:
    model = parsed_models["dep2str-aug"]
    for source in sources("c2s"):
        [found] = model.translator.translate_batch([model.reader.kind.prepare(source)], 5)
        assert isinstance(found.given, ParseForest) and found.tree is not None
        for hypothesis in found.hypotheses:
            links = Alignment([(at, i) for i, at in enumerate(hypothesis.affiliations)])
            reference = Reference(model.translator.neural)
            expected = reference.score(found.words, hypothesis.text.split(), links, found.tree)
            assert hypothesis.features["neural"] == pytest.approx(sum(expected), abs=1e-4)


@pytest.mark.parametrize("kinds", [["c2s"], ["dep2str"], ["dep2str-aug"], ["hiero", "dep2str"], ["c2s", "dep2str"]])
def test_a_failed_parse_says_nothing(
    parsed_models: dict[str, Any], models: dict[str, Any], kinds: list[str], tmp_path: Path
) -> None:
    model = parsed_models[kinds[0]] if len(kinds) == 1 else None
    if model is None:
        folders = {kind: (parsed_models.get(kind) or models[kind]).directory for kind in kinds}
        join(folders, tmp_path / "joint", report=lambda line: None)
        network = Path(parsed_models["dep2str"].directory) / "neural.bin"
        model = add_neural(tmp_path / "joint", network, name="parsed")
    networks = {network_feature(name): network for name, network in model.translator.networks.items()}
    networks = {"neural": model.translator.neural, **networks}
    seeing = {name: network for name, network in networks.items() if network.facts["parse"]}
    assert seeing
    [found] = model.translator.translate_batch([model.reader.kind.prepare(unparsed(LINES[0]))], 5)
    assert found.hypotheses, found.problem
    for name, network in seeing.items():
        nothing = unparsed(LINES[0]) if network.facts["parse"] == CONSTITUENTS else Dependency([], [], [])
        for hypothesis in found.hypotheses:
            joint = Alignment([(at, i) for i, at in enumerate(hypothesis.affiliations)])
            links = joint if network.facts["history"] else Alignment(hypothesis.links)
            expected = Reference(network).score(found.words, hypothesis.text.split(), links, nothing)
            assert hypothesis.features[name] == pytest.approx(sum(expected), abs=1e-4)
    explained = model.explain(unparsed(LINES[0]))
    shown = sum(one.score for one in explained.networks["lexical"])
    assert shown == pytest.approx(explained.translation.best.features["neural_lexical"], abs=1e-4)


def test_what_has_no_parse_is_refused_by_a_network_that_sees_parses(
    parsed_models: dict[str, Any], models: dict[str, Any], tmp_path: Path
) -> None:
    for kind, seen in {"c2s": "constituents", "dep2str-aug": "dependencies"}.items():
        model = parsed_models[kind]
        [found] = model.translator.translate_batch([LINES[0]], 1)
        assert found.problem == (
            f"the input has no {seen}, which the neural network of the model sees; expected a parse with them"
        )
        unparsed = Dependency(LINES[0], [-2] * len(LINES[0])) if kind == "dep2str-aug" else None
        if unparsed is not None:  # a failed parse says nothing, as in training
            [found] = model.translator.translate_batch([unparsed], 1)
            assert found.hypotheses, found.problem
    network = Path(parsed_models["c2s"].directory) / "neural.bin"
    for kind, reads in {"hiero": "no parses", "dep2str": "dependencies"}.items():
        problem = f"sees constituents of source parses, and a {kind} model reads {reads}; expected a network that sees"
        with pytest.raises(UsageError, match=problem):
            add_neural(models[kind].directory, network)
    shutil.copytree(models["c2d"].directory, tmp_path / "c2d")
    assert "parsed" in add_neural(tmp_path / "c2d", network, name="parsed", weight=0.0).translator.networks
    problem = (
        r"network.parse is true, and a hiero model translates sentences without parses; expected false, or another"
    )
    with pytest.raises(UsageError, match=problem):
        trained("hiero", tmp_path / "model", options=find_kind("hiero").options(neural=True, network=TINY))


@pytest.mark.parametrize("kind", ["s2d", "c2d"])
def test_a_network_over_heads_scores_the_trees_of_the_output(kind: str, tmp_path: Path) -> None:
    small = replace(TINY, parse=kind == "c2d", heads=True)
    options = find_kind(kind).options(neural=True, neural_lexical=True, network=small)
    model = trained(kind, tmp_path / "model", options=options)
    network = model.translator.neural
    assert network.facts["heads"] == 1 and model.translator.networks["lexical"].facts["heads"] == 0
    given = [model.reader.kind.prepare(source) for source in sources(kind)]
    for source, found in zip(given, with_any_threads(model, given), strict=True):
        assert found.hypotheses, found.problem
        for hypothesis in found.hypotheses:
            links = Alignment([(at, i) for i, at in enumerate(hypothesis.affiliations)])
            parse = source if kind == "c2d" else None
            expected = Reference(network).score(
                found.words, hypothesis.text.split(), links, parse, hypothesis.dependency
            )
            assert hypothesis.features["neural"] == pytest.approx(sum(expected), abs=1e-4)
    explained = model.explain(sources(kind)[0])
    assert [one.word for one in explained.neural] == explained.translation.best.text.split()
    shown = sum(one.score for one in explained.neural)
    assert shown == pytest.approx(explained.translation.best.features["neural"], abs=1e-4)


def test_a_joint_model_takes_networks_that_see_what_a_part_reads(
    parsed_models: dict[str, Any], models: dict[str, Any], tmp_path: Path
) -> None:
    networks = {kind: Path(parsed_models[kind].directory) / "neural.bin" for kind in ("c2s", "dep2str")}
    for number, (kinds, reads) in enumerate(
        {
            ("hiero", "dep2str"): {"dep2str": "dependencies"},
            ("hiero", "c2d"): {"c2s": "constituents"},
            ("c2d", "dep2str"): {"c2s": "constituents", "dep2str": "dependencies"},
        }.items()
    ):
        folder = tmp_path / str(number)
        join({kind: models[kind].directory for kind in kinds}, folder)
        for kind, network in networks.items():
            if kind in reads:
                made = add_neural(folder, network, name="parsed")
                given = sources("c2d" if "c2d" in kinds else "dep2str")[0]
                [found] = made.translator.translate_batch([made.reader.kind.prepare(given)], 1)
                assert found.hypotheses and "neural_parsed" in found.best.features, found.problem
                continue
            before = (folder / "model.toml").read_bytes()
            [read] = reads.values()
            [seen] = {"constituents", "dependencies"} - {read}
            problem = f"sees {seen} of source parses, and the parts of the joint model read {read}"
            with pytest.raises(UsageError, match=problem):
                add_neural(folder, network, name="parsed")
            assert (folder / "model.toml").read_bytes() == before


def test_a_translator_refuses_a_network_over_heads_without_trees(models: dict[str, Any]) -> None:
    heads = random_model(["a"], ["b"], heads=True, history=4)
    rules = models["hiero"].translator.table
    problem = "is a network over heads, and outputs have no dependency trees; expected a setup with dependency models"
    with pytest.raises(OptionError, match=f"neural {problem}"):
        Translator(rules, {"neural": 0.1}, neural=heads)
    with pytest.raises(OptionError, match=f"neural_more {problem}"):
        Translator(rules, {"neural_more": 0.1}, networks={"more": heads})
    made = models["c2d"].translator
    trees = Translator(made.table, {"neural": 0.1}, setup=made.setup, neural=heads)
    assert "ill_formed" in trees.features and trees.makes_trees


def test_a_network_over_heads_needs_a_model_that_makes_trees(models: dict[str, Any], tmp_path: Path) -> None:
    random_model(["a"], ["b"], heads=True, history=4).write(str(tmp_path / "heads.bin"))
    problem = "is a network over heads, and a hiero model makes no dependency trees; expected a kind such as s2d or c2d"
    with pytest.raises(UsageError, match=problem):
        add_neural(models["hiero"].directory, tmp_path / "heads.bin")
    options = find_kind("hiero").options(neural=True, network=replace(TINY, parse=False, heads=True))
    with pytest.raises(UsageError, match=f"network.heads {problem}"):
        trained("hiero", tmp_path / "model", options=options)
    folder = tmp_path / "c2d"
    shutil.copytree(models["c2d"].directory, folder)
    before = add_neural(folder, tmp_path / "heads.bin", name="heads").weights
    assert before["neural_heads"] and before["word_penalty"] != models["c2d"].weights["word_penalty"]
    said: list[str] = []
    parts = {"c2d": folder, "hiero": models["hiero"].directory}
    joint = join(parts, tmp_path / "joint", report=said.append)
    assert "heads" not in joint.translator.networks
    assert any("c2d: its network heads is left out, for it needs trees of all that is shared" in line for line in said)
    plain = join({**parts, "c2d": models["c2d"].directory}, tmp_path / "plain")
    assert joint.weights == pytest.approx(plain.weights)
    assert not joint.translator.unknown_weights


def test_a_joint_weight_is_not_that_of_a_network_that_is_left_out(models: dict[str, Any], tmp_path: Path) -> None:
    random_model(["a"], ["b"], heads=True, history=4).write(str(tmp_path / "heads.bin"))
    folder = tmp_path / "c2d"
    shutil.copytree(models["c2d"].directory, folder)
    write_weights(folder / "weights.txt", models["c2d"].weights | {"neural": 1.5})
    add_neural(folder, tmp_path / "heads.bin")
    hiero = models["hiero"].weights
    said: list[str] = []
    joint = join({"c2d": folder, "hiero": models["hiero"].directory}, tmp_path / "joint", report=said.append)
    assert any("c2d: its network is left out" in line for line in said)
    assert joint.translator.neural.facts["heads"] == 0 and not joint.translator.unknown_weights
    assert joint.weights["neural"] == pytest.approx(hiero["neural"] * joint.weights["lm"] / hiero["lm"])
    scaled = {}
    for name, weights in {"c2d": models["c2d"].weights, "hiero": hiero}.items():
        given_back = 2 * 1.5 if name == "c2d" else 0.0
        scaled[name] = (weights["word_penalty"] - given_back) * joint.weights["lm"] / weights["lm"]
    assert joint.weights["word_penalty"] == pytest.approx(sum(scaled.values()) / 2)


def test_a_plain_language_model_and_a_mean_score_as_numpy_does(tmp_path: Path) -> None:
    trained("hiero", tmp_path / "model")
    words = [word for word in load(tmp_path / "model").translator.table.target_words if not word.startswith("<")]
    plain = random_model([], words, seed=5, has_source=False, embedding=0)
    each = [random_model(sorted({w for line in LINES for w in line[1:]}), words, seed=seed) for seed in (6, 7, 8)]
    for name, network in {"plain": plain, "mean": average(each)}.items():
        network.write(str(tmp_path / "network.bin"))
        add_neural(tmp_path / "model", tmp_path / "network.bin", weight=WEIGHT, name=name)
    model = load(tmp_path / "model")
    assert {*model.translator.networks} == {"plain", "mean"}
    for source in sources("hiero"):
        [found] = model.translator.translate_batch([model.reader.kind.prepare(source)], 20)
        assert found.hypotheses, found.problem
        for hypothesis in found.hypotheses:
            links = Alignment([(at, i) for i, at in enumerate(hypothesis.affiliations)])
            for name, network in model.translator.networks.items():
                expected = Reference(network).score(found.words, hypothesis.text.split(), links)
                assert hypothesis.features[f"neural_{name}"] == pytest.approx(sum(expected), abs=1e-4)


@pytest.mark.parametrize("kind", KINDS)
def test_the_search_heeds_it_with_any_number_of_threads(models: dict[str, Any], kind: str) -> None:
    model = models[kind]
    given = [model.reader.kind.prepare(source) for source in sources(kind)]
    one, two, four = (
        [
            [(h.text, h.score, h.affiliations, h.links) for h in found.hypotheses]
            for found in model.translator.translate_batch(given, 5, threads=threads)
        ]
        for threads in (1, 2, 4)
    )
    assert one == two == four
    forest = model.translator.translate(given[0])
    assert forest.hypotheses[0].text == one[0][0][0]
    assert [h.text for h in model.translator.kbest(forest, 5)] == [text for text, *_ in one[0]]
    copied = pickle.loads(pickle.dumps(forest.hypotheses[0]))
    assert copied.affiliations == forest.hypotheses[0].affiliations
    assert copied.links == forest.hypotheses[0].links


def test_constraints_and_explanations_keep_its_score(models: dict[str, Any]) -> None:
    model = models["hiero"]
    found = model.translate(" ".join(LINES[0]))
    forced = model.translate(" ".join(LINES[0]), Constraints(exactly=found.best.text))
    assert forced.best.score == pytest.approx(found.best.score, abs=1e-4)
    assert forced.best.features["neural"] == pytest.approx(found.best.features["neural"], abs=1e-4)
    explained = model.explain(" ".join(LINES[0]))
    assert [one.word for one in explained.neural] == [*found.best.text.split(), "</s>"]
    assert sum(one.score for one in explained.neural) == pytest.approx(found.best.features["neural"], abs=1e-4)
    assert [one.source for one in explained.neural[:-1]] == [LINES[0][at] for at in found.best.affiliations]
    assert forced.best.features["neural_lexical"] == pytest.approx(found.best.features["neural_lexical"], abs=1e-4)
    lexical = explained.networks["lexical"]
    assert [one.source for one in lexical] == list(LINES[0])
    assert sum(one.score for one in lexical) == pytest.approx(found.best.features["neural_lexical"], abs=1e-4)
    words, places = found.best.text.split(), [at for at, _ in found.best.links]
    assert [one.word for one in lexical if places.count(one.place) == 1] == [
        words[place] for at, place in found.best.links if places.count(at) == 1
    ]
    assert all((one.word == "<none>") == (one.place not in places) for one in lexical)


def test_why_shows_the_scores_of_both_networks(models: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    model = models["hiero"]
    assert main(["why", str(model.directory), " ".join(LINES[0])]) == 0
    shown = capsys.readouterr().out
    assert "neural joint model, by word: natural log, word, affiliated source word" in shown
    lines = shown.partition("network lexical: natural log, output, source word\n")[2].splitlines()
    assert [line.split()[-2:] for line in lines] == [[word, f"({at})"] for at, word in enumerate(LINES[0])]


def test_networks_have_names_and_files(models: dict[str, Any], tmp_path: Path) -> None:
    folder = tmp_path / "model"
    shutil.copytree(models["hiero"].directory, folder)
    network = random_model(["a"], ["b"], history=2)
    network.write(str(tmp_path / "network.bin"))
    with pytest.raises(UsageError, match=r"networks.A! is no name of a network; expected letters a to z, digits and _"):
        add_neural(folder, tmp_path / "network.bin", name="A!")
    assert main(["neural", "add", str(folder), str(tmp_path / "network.bin"), "--name", "other"]) == 0
    made = load(folder)
    assert sorted(made.file.networks.items()) == [("lexical", "neural_lexical.bin"), ("other", "neural_other.bin")]
    assert made.weights["neural_other"] == 0.2 and made.weights["neural_lexical"] == WEIGHT
    assert made.translator.networks["other"].facts["history"] == 2
    assert {"neural", "neural_lexical", "neural_other"} <= {*made.translate(" ".join(LINES[0])).best.features}
    assert add_neural(folder, tmp_path / "network.bin", name="other").file == made.file
    with pytest.raises(UsageError, match="the network's name is empty"):
        add_neural(folder, tmp_path / "network.bin", name="")
    place = folder / "model.toml"
    place.write_text(place.read_text().replace("[networks]", "[networks] # ours"))
    assert set(add_neural(folder, tmp_path / "network.bin", name="third").file.networks) == {
        *made.file.networks,
        "third",
    }
    (folder / "model.toml").write_text((folder / "model.toml").read_text().replace("other =", "Other ="))
    with pytest.raises(FormatError, match=r"model.toml:[0-9]+: networks.Other is no name of a network"):
        load(folder)


def test_a_joint_network_needs_no_name(
    models: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "model"
    shutil.copytree(models["hiero"].directory, folder)
    random_model(["a"], ["b"], history=2).write(str(tmp_path / "network.bin"))
    assert main(["neural", "add", str(folder), str(tmp_path / "network.bin")]) == 0
    assert "its feature neural has the weight" in capsys.readouterr().err
    made = load(folder)
    assert made.translator.neural.facts["history"] == 2
    assert [*made.file.networks] == ["lexical"]


def test_joint_models_share_it(models: dict[str, Any], tmp_path: Path) -> None:
    folders = {name: models[name].directory for name in ("hiero", "dep2str")}
    said: list[str] = []
    joint = join(folders, tmp_path / "joint", report=said.append)
    assert any("neural" in line for line in said)
    reference, lexical = Reference(joint.translator.neural), Reference(joint.translator.networks["lexical"])
    assert joint.weights["neural"] != 0
    assert joint.weights["neural_lexical"] != 0
    for source in sources("dep2str"):
        [found] = joint.translator.translate_batch([joint.reader.kind.prepare(source)], 10)
        for hypothesis in found.hypotheses:
            links = Alignment([(at, i) for i, at in enumerate(hypothesis.affiliations)])
            expected = sum(reference.score(found.words, hypothesis.text.split(), links))
            assert hypothesis.features["neural"] == pytest.approx(expected, abs=1e-4)
            expected = sum(lexical.score(found.words, hypothesis.text.split(), Alignment(hypothesis.links)))
            assert hypothesis.features["neural_lexical"] == pytest.approx(expected, abs=1e-4)


def test_other_decoders_have_no_such_feature(models: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="the feature neural has a weight"):
        export(models["hiero"], tmp_path / "moses", "moses")


def test_a_long_history_is_refused(models: dict[str, Any], tmp_path: Path) -> None:
    network = random_model(["a"], ["b"], history=7)
    network.write(str(tmp_path / "long.bin"))
    with pytest.raises(UsageError, match="7 words of history; expected at most 6"):
        add_neural(models["hiero"].directory, tmp_path / "long.bin")
    assert load(models["hiero"].directory).translator.neural.facts["history"] == 3


def test_training_refuses_a_lexical_network_as_the_joint_one(tmp_path: Path) -> None:
    options = find_kind("hiero").options(neural=True, network=JointOptions(lexical=True))
    with pytest.raises(UsageError, match=r"network.lexical is true; expected neural_lexical=true for a lexical"):
        trained("hiero", tmp_path / "model", options=options)


def test_training_refuses_a_long_history_at_once(tmp_path: Path) -> None:
    options = find_kind("hiero").options(neural=True, network=JointOptions(history=8))
    said: list[str] = []
    with pytest.raises(UsageError, match=r"network.history is 8; expected at most 6"):
        trained("hiero", tmp_path / "model", options=options, report=said.append)
    assert not said


def test_a_bad_weight_changes_no_file(models: dict[str, Any], tmp_path: Path) -> None:
    folder = Path(models["hiero"].directory)
    before = {path: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    random_model(["a"], ["b"]).write(str(tmp_path / "other.bin"))
    with pytest.raises(UsageError, match="the weight of the feature neural is nan; expected a finite number"):
        add_neural(folder, tmp_path / "other.bin", weight=float("nan"))
    assert {path: path.read_bytes() for path in folder.iterdir() if path.is_file()} == before


def test_training_makes_a_model_with_a_network(tmp_path: Path) -> None:
    small = JointOptions(embedding=16, hidden=16, epochs=1, batch=16, held_out=2)
    options = find_kind("hiero").options(neural=True, neural_lexical=True, network=small)
    said: list[str] = []
    model = trained("hiero", tmp_path / "model", options=options, report=said.append)
    assert any(line.startswith("network, epoch 1 of at most 1: perplexity ") for line in said)
    assert any(line.startswith("lexical network, epoch 1 of at most 1: perplexity ") for line in said)
    assert model.translator.networks["lexical"].facts["history"] == 0
    assert model.weights["neural_lexical"] == 0.2
    assert model.translator.neural.facts["hidden"] == 16
    assert model.weights["neural"] == 0.2
    found = model.translate(" ".join(LINES[0]))
    assert found.best.features["neural"] == pytest.approx(
        sum(one.score for one in model.explain(LINES[0]).neural), abs=1e-4
    )
    trained("hiero", tmp_path / "model", options=options)  # its weights are not tuned


def test_training_makes_a_model_with_the_mean_of_networks(tmp_path: Path) -> None:
    small = JointOptions(embedding=16, hidden=16, epochs=1, batch=16, held_out=2, networks=2)
    said: list[str] = []
    model = trained(
        "hiero", tmp_path / "model", options=find_kind("hiero").options(neural=True, network=small), report=said.append
    )
    assert any(line.startswith("network 2 of 2, epoch 1 of at most 1: perplexity ") for line in said)
    assert model.translator.neural.facts["hidden"] == 32
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_a_killed_training_continues_its_network(tmp_path: Path) -> None:
    small = JointOptions(embedding=16, hidden=16, epochs=3, patience=3, batch=16, held_out=2)
    options = find_kind("hiero").options(neural=True, network=small)
    trained("hiero", tmp_path / "once", options=options)

    def kill(line: str) -> None:
        if line.startswith("network, epoch 2 "):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        trained("hiero", tmp_path / "again", options=options, report=kill)
    assert sorted(path.name for path in tmp_path.iterdir()) == [".again.network", "once"]
    said: list[str] = []
    trained("hiero", tmp_path / "again", options=options, report=said.append)
    epochs = [line.split(" of ")[0] for line in said if line.startswith("network,")]
    assert epochs == ["network, epoch 2", "network, epoch 3"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["again", "once"]
    once, again = ((tmp_path / name / "neural.bin").read_bytes() for name in ("once", "again"))
    assert once == again
