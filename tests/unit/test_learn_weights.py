"""Weights learn from one sentence pair: bounded steps that are kept, taken back, and end with new weights."""

from __future__ import annotations

import math
import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest
from small_models import EN, LINES, LINKS, PAIR, ZH, kill_learners, sources, trained

from treeglot import UsageError
from treeglot.cli import main
from treeglot.decode.weights import write_weights
from treeglot.evaluate import Bleu
from treeglot.models import Model, load
from treeglot.models.compact import compact
from treeglot.models.corrections import CorrectionWarning
from treeglot.models.radius import check_corrections
from treeglot.models.steps import BOUND, STEP, find_step, key_of, stepped
from treeglot.rules.corrections import Correction, Corrections

pytestmark = pytest.mark.filterwarnings("ignore:.*discount", "ignore::treeglot.lm.train.DiscountWarning")
LINKS_OF_OTHER = "0-0 1-1 2-5 3-4 4-3 5-6"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that nobody changes."""
    return trained("hiero", tmp_path_factory.mktemp("trained") / "model").directory


@pytest.fixture
def model(folder: Path, tmp_path: Path) -> Model:
    """One that has several translations of the third sentence."""
    place = shutil.copytree(folder, tmp_path / "model")
    with (place / "corrections.txt").open("w", encoding="utf-8") as stream:
        for source, target, share in (("司机", "chauffeur", 0.3), ("爸爸", "father", 0.2), ("她", "woman", 0.1)):
            stream.write(f"add ||| [X] ||| {source} ||| {target} ||| 0-0 ||| p_target_given_source={share}\n")
    return load(place)


def others(model: Model, number: int = 100) -> list[tuple[str, Mapping[str, float]]]:
    """Translations of the third sentence, the best first."""
    return [(each.text, each.features) for each in model.translate(LINES[2]).kbest(number, distinct=True)]


def slow_step(model: Model, target: str) -> dict[str, float]:
    """From the definition: the hope among all that the search kept, one unit of score of a feature a coordinate."""
    bleu = Bleu(smooth="add-one")
    listed = others(model)
    words = len(target.split())

    def gain(text: str) -> float:
        return bleu.score(bleu.statistics([text], [[target]])) / 100 * words

    fear = listed[0]
    hope = next((one for one in listed if one[0] == target), max(listed, key=lambda one: gain(one[0])))
    moves = [name for name in model.tuned if name not in ("unknown", "preferred")]
    units = {name: model.tuned[name] * (hope[1].get(name, 0.0) - fear[1].get(name, 0.0)) for name in moves}
    ahead = sum(model.weights[name] / model.tuned[name] * unit for name, unit in units.items())
    loss = gain(hope[0]) - gain(fear[0]) - ahead
    if gain(hope[0]) <= gain(fear[0]) or loss <= 0:
        return {}
    changed = [name for name, unit in units.items() if unit]
    mean = sum(units.values()) / len(changed)
    way = {name: units[name] - mean for name in changed}  # all weights keep their size together
    rate = min(loss / sum(unit**2 for unit in way.values()), STEP / max(map(abs, way.values())))
    return {name: rate * unit for name, unit in way.items()}


def test_a_taught_pair_moves_the_weights_and_undoing_it_restores_the_bytes(model: Model) -> None:
    path, weights = model.directory / "corrections.txt", (model.directory / "weights.txt").read_bytes()
    model.learn(*PAIR, alignment=LINKS)
    before, kept = dict(model.weights), path.read_bytes()
    wanted = others(model)[5][0]
    learnt = model.learn(LINES[2], wanted.split(), alignment=LINKS_OF_OTHER, weights=True)
    assert learnt.step is not None
    assert learnt.step.group == learnt.group
    assert model.weights != before
    assert load(model.directory).weights == model.weights
    assert (model.directory / "weights.txt").read_bytes() == weights
    assert len(model.undo()) == len(learnt.rules) + 1
    assert path.read_bytes() == kept
    assert model.weights == before == load(model.directory).weights


@pytest.mark.parametrize("place", [1, 3, 10])
def test_steps_lead_from_the_fear_to_the_hope(place: int, model: Model) -> None:
    target = others(model)[place][0]
    assert slow_step(model, target)
    for _ in range(3):
        expected = slow_step(model, target)
        step = find_step(model.translator, model.tuned, model.corrections, LINES[2], target.split())
        assert dict(step) == pytest.approx(expected, abs=1e-5)
        assert all(abs(value) <= STEP + 1e-9 for _, value in step)
        assert sum(value for _, value in step) == pytest.approx(0, abs=1e-5)
        if not step:
            break
        held = tuple(model.corrections or ())
        model.correct(Corrections((*held, Correction("weigh", "", key_of(model.tuned), None, features=step))))


def test_without_a_derivation_the_nearest_hypothesis_is_the_hope(model: Model) -> None:
    target = "she certainly loves the driver 's dad ."  # no rule has the second word
    assert dict(find_step(model.translator, model.tuned, None, LINES[2], target.split())) == pytest.approx(
        slow_step(model, target), abs=1e-5
    )
    best = others(model)[0][0]
    assert find_step(model.translator, model.tuned, None, LINES[2], best.split()) == ()  # it is right already


def test_weights_stay_within_their_bounds(model: Model) -> None:
    key = key_of(model.tuned)
    steps = [Correction("weigh", "", key, None, features=(("lm", 0.3), ("glue", -0.4)))] * 5
    moved = model.with_corrections(steps).weights
    assert moved["lm"] == model.tuned["lm"] * (1 + BOUND)
    assert moved["glue"] == model.tuned["glue"] * (1 - BOUND)
    assert stepped(model.tuned, []) == model.tuned
    wanted = others(model)[5][0].split()
    at_bound = [
        Correction("weigh", "", key, None, features=tuple((name, math.copysign(BOUND, value)) for name, value in step))
        for step in [find_step(model.translator, model.tuned, None, LINES[2], wanted)]
    ]
    assert find_step(model.translator, model.tuned, at_bound, LINES[2], wanted) == ()


def test_steps_end_with_the_weights_that_they_were_made_for(model: Model) -> None:
    wanted = others(model)[5][0].split()
    model.learn(LINES[2], wanted, alignment=LINKS_OF_OTHER, weights=True)
    moved = model.weights
    compact(model.directory)
    assert load(model.directory).weights == moved  # a table has no place for them: they stay
    tuned = dict(moved)
    assert model.with_weights(tuned).weights == tuned
    write_weights(model.directory / "weights.txt", tuned)
    with pytest.warns(CorrectionWarning, match=r"corrections.txt:[0-9]+: this step was made for other weights"):
        assert load(model.directory).weights == tuned


def test_what_a_step_changes_is_looked_for_everywhere(model: Model) -> None:
    given = sources("hiero")
    step = Correction("weigh", "", key_of(model.tuned), None, features=(("lm", 0.5),))
    assert check_corrections(model.with_corrections([step]), given).touched == tuple(range(len(given)))


def test_steps_that_make_no_sense() -> None:
    for line, problem in (
        ("weigh ||| ||| 00 ||| * ||| ||| lm=1.5", "the weight of 'lm' moves by 1.5; expected a share of it, -1 to 1"),
        ("weigh ||| ||| 00 ||| *", "weights move without features"),
        ("weigh ||| [X] ||| 00 ||| * ||| ||| lm=0.1", "links or labels; expected features"),
    ):
        with pytest.raises(UsageError, match=problem):
            Correction.parse(line)
    line = "weigh ||| ||| 00 ||| * ||| ||| lm=-0.01 p_target_given_source=0.002"
    assert str(Correction.parse(line)) == line


def test_twenty_kills_lose_no_step_of_weights(model: Model) -> None:
    other = " ".join(EN[::-1])
    acknowledged = kill_learners(model, PAIR[1], other, weights=True)
    kept = Corrections.read(model.directory / "corrections.txt")
    assert len(acknowledged) >= 30
    assert sum(steps for _, _, steps in acknowledged) >= 10
    for group, rules, steps in acknowledged:
        actions = [each.action for each in kept.of_group(group)]
        assert (len(actions), actions.count("weigh")) == (rules + steps, steps)
    assert load(model.directory).weights == stepped(model.tuned, kept)


@pytest.mark.parametrize("kind", ["c2d", "dep2str-aug", "t2t-fuzzy"])
def test_other_kinds_make_steps(kind: str, tmp_path: Path) -> None:
    model = trained(kind, tmp_path / "model")
    source = sources(kind)[2]
    best, *listed = model.translate(source).kbest(20, distinct=True)
    assert listed
    for other in listed:
        step = find_step(model.translator, model.tuned, None, source, other.text.split())
        gains = (
            value * model.tuned[name] * (other.features.get(name, 0.0) - best.features.get(name, 0.0))
            for name, value in step
        )
        assert sum(gains) > 0  # the other comes nearer


def test_the_command_says_how_many_weights_moved(model: Model, capsys: pytest.CaptureFixture[str]) -> None:
    wanted = others(model)[5][0]
    given = ["learn", str(model.directory), " ".join(LINES[2]), wanted, "--alignment", LINKS_OF_OTHER]
    assert main([*given, "--weights"]) == 0
    group, _, _, moved = capsys.readouterr().out.rstrip("\n").split("\t")
    [step] = [each for each in Corrections.read(model.directory / "corrections.txt") if each.action == "weigh"]
    assert (step.group, moved) == (group, f"{len(step.features)} weights moved")
    assert main(["undo", str(model.directory)]) == 0
    assert load(model.directory).weights == model.tuned
    assert main(["learn", str(model.directory), " ".join(ZH), " ".join(EN), "--alignment", LINKS]) == 0
    assert "weights" not in capsys.readouterr().out
    assert load(model.directory).weights == model.tuned
