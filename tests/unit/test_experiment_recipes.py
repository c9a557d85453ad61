"""The recipes that come with Treeglot."""

from pathlib import Path

import pytest

from treeglot.experiment import load_recipe, steps_of
from treeglot.models import KINDS

RECIPES = Path(__file__).parents[2] / "recipes"


@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        ("forests", ["c2s", "c2s-wf", "c2s-wf-s2s", "c2d-s2d", "c2d", "t2s"]),
        ("dependents", ["hiero", "dep2str", "dep2str-aug", "dep2str-aug"]),
        ("zh-en", list(KINDS)),
    ],
)
def test_the_recipes_that_come_with_treeglot_are_well_formed(name: str, kinds: list[str]) -> None:
    recipe = load_recipe(RECIPES / f"{name}.toml")
    assert [system.kind for system in recipe.system] == kinds
    wanted = {f"{step} {kind}" for step in ("train", "tune") for kind in kinds} | {"score test", "report"}
    assert {step.name for step in steps_of(recipe)} >= wanted


@pytest.mark.parametrize(("name", "models"), [("tree-to-tree", {"lm"}), ("two-language-models", {"lm", "lm large"})])
def test_the_recipes_of_source_and_target_syntax_are_well_formed(name: str, models: set[str]) -> None:
    recipe = load_recipe(RECIPES / f"{name}.toml")
    steps = {step.name: step for step in steps_of(recipe)}
    for system in ("hiero-20", "t2t-exact", "t2t-fuzzy", "t2t-fuzzy-nested"):
        assert {given for given in steps[f"train {system}"].inputs if given.startswith("lm")} == models
        assert f"tune {system} seed 3" in steps
    assert models <= set(steps)


def test_the_recipe_of_phrases_over_all_spans_changes_nothing_else() -> None:
    recipe = load_recipe(RECIPES / "all-spans.toml")
    systems = {system.name: system for system in recipe.system}
    wanted = {"extract": {"all_spans": True}, "search": {"crossing_phrases": True}}
    for kind in ("c2d", "c2s"):
        assert {systems[name].kind for name in (kind, f"{kind}-all")} == {kind}
        assert systems[f"{kind}-all"].options == systems[kind].options | wanted
    assert {"tune c2d-all seed 3", "tune c2s-all seed 3"} <= {step.name for step in steps_of(recipe)}


def test_the_recipe_with_a_network_combines_its_systems() -> None:
    recipe = load_recipe(RECIPES / "zh-en-network.toml")
    steps = {step.name: step for step in steps_of(recipe)}
    systems = [system.name for system in recipe.system]
    assert all("network neural" in steps[f"train {name}"].inputs for name in systems)
    [combined] = recipe.combination
    assert set(combined.systems) < set(systems)
    assert {"combine combined test", "combine combined test seed 3"} <= set(steps)


def test_the_recipe_of_compounds_is_well_formed() -> None:
    recipe = load_recipe(RECIPES / "compounds.toml")
    assert [(system.name, system.kind) for system in recipe.system] == [
        *(("hiero", "hiero"), ("hiero-neural", "hiero"), ("s2d-neural", "s2d"))
    ]
    steps = {step.name: step for step in steps_of(recipe)}
    assert {name for name, step in steps.items() if "target_dependencies" in step.inputs} >= {"train s2d-neural"}
    assert {"align", "tune hiero-neural seed 3", "score test"} <= set(steps)


def test_the_recipe_of_sources_of_dependencies_is_well_formed() -> None:
    recipe = load_recipe(RECIPES / "string-to-dependency.toml")
    steps = {step.name: step for step in steps_of(recipe)}
    trained = {system.name: set(steps[f"train {system.name}"].inputs) for system in recipe.system}
    shared = {"source", "target", "alignments", "aligner", "lm"}
    trees = dict.fromkeys(["s2d-table", "s2d-content"], shared | {"target_trees"})
    parsers = dict.fromkeys(["s2d-udpipe", "s2d-graph"], shared | {"target_dependencies"})
    assert trained == trees | parsers | {"hiero": shared}


def test_the_recipe_of_sources_of_dependencies_differs_in_them_alone() -> None:
    """Links, features and tuner are those of the recipe with all kinds."""
    recipe, kinds = (load_recipe(RECIPES / f"{name}.toml") for name in ("string-to-dependency", "zh-en"))
    steps, others = ({step.name: step for step in steps_of(one)} for one in (recipe, kinds))
    for name in ("align", "lm", "train hiero", "tune hiero", "tune hiero seed 3", "translate hiero test"):
        one, other = steps[name], others[name]
        assert (one.inputs, one.settings) == (other.inputs, other.settings), name
    assert (recipe.tune, recipe.seeds, recipe.lowercase) == (kinds.tune, kinds.seeds, kinds.lowercase)
    wanted = others["train s2d"].settings
    assert steps["train s2d-content"].settings["options"] == wanted["options"] | {"target_style": "content"}
    for name in ("s2d-table", "s2d-udpipe", "s2d-graph"):
        assert steps[f"train {name}"].settings == wanted, name


@pytest.mark.parametrize("name", ["forests", "de-en"])
def test_a_recipe_tunes_each_system_with_three_seeds(name: str) -> None:
    recipe = load_recipe(RECIPES / f"{name}.toml")
    steps = {step.name for step in steps_of(recipe)}
    assert {f"tune {system.name}{end}" for system in recipe.system for end in ("", " seed 2", " seed 3")} <= steps
