"""Kinds of models that other packages bring."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

import pytest
from entry_points import install_entry_points

from treeglot import sample
from treeglot.base.errors import UsageError
from treeglot.base.program import module_digest
from treeglot.experiment import Pipeline, load_recipe, steps_of
from treeglot.models import KINDS
from treeglot.models.kinds import GROUP, KindWarning, find_kind, installed_kinds
from treeglot.rules import EXTRACTORS
from treeglot.rules.sql import COLUMNS

DECLARED = """
from dataclasses import replace
from treeglot.models.kinds import find_kind
MINE = replace(find_kind("hiero"), name="mine")
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    KINDS.pop("mine", None)
    sys.modules.pop("my_kinds", None)


def test_is_found_by_its_name(folder: Path) -> None:
    (folder / "my_kinds.py").write_text(DECLARED)
    install_entry_points(folder, {GROUP: {"mine": "my_kinds:MINE"}})
    kind = find_kind("mine")
    assert (kind.name, kind.extractor, kind.code) == ("mine", "hiero", module_digest("my_kinds"))
    assert find_kind("mine") is kind
    with pytest.raises(UsageError, match=r"unknown kind of model 'mime'; did you mean 'mine'\? known: .*hiero"):
        find_kind("mime")


@pytest.mark.parametrize(
    ("code", "problem"),
    [
        ("import no_such_module", "which cannot be imported: ModuleNotFoundError: No module named 'no_such_module'"),
        ("MINE = 3", "which is of type int; expected a treeglot.models.Kind"),
        (DECLARED.replace('"mine"', '"other"'), "whose name is 'other'; expected the same name in both places"),
    ],
)
def test_a_wrong_declaration_is_refused(folder: Path, code: str, problem: str) -> None:
    (folder / "my_kinds.py").write_text(code)
    install_entry_points(folder, {GROUP: {"mine": "my_kinds:MINE"}})
    with pytest.raises(UsageError, match=re.escape(f"the kind of model 'mine' is my_kinds:MINE, {problem}")):
        find_kind("mine")
    assert "mine" not in KINDS


def test_two_packages_with_the_same_kind_are_refused(folder: Path) -> None:
    for package in ("one", "two"):
        install_entry_points(folder, {GROUP: {"mine": f"{package}_kinds:MINE"}}, package)
    problem = (
        r"'mine' is (one|two)_kinds:MINE of the package \1 and (one|two)_kinds:MINE of the package \2; expected one"
    )
    with pytest.raises(UsageError, match=problem):
        find_kind("mine")


def test_one_kind_that_is_found_twice_is_no_conflict(folder: Path) -> None:
    (folder / "my_kinds.py").write_text(DECLARED)
    for package in ("one", "two"):
        install_entry_points(folder, {GROUP: {"mine": "my_kinds:MINE"}}, package)
    assert find_kind("mine").name == "mine"


def test_a_kind_with_the_name_of_a_built_in_one_is_warned_of(folder: Path) -> None:
    install_entry_points(folder, {GROUP: {"hiero": "my_kinds:MINE"}})
    with pytest.warns(KindWarning, match="'hiero' is treeglot's own; my_kinds:MINE of the package package"):
        assert find_kind("hiero") is KINDS["hiero"]


def test_its_code_is_part_of_a_step(folder: Path) -> None:
    (folder / "my_kinds.py").write_text(DECLARED)
    install_entry_points(folder, {GROUP: {"mine": "my_kinds:MINE"}})
    for name in ("a", "b", "links"):
        (folder / name).write_text("")
    (folder / "recipe.toml").write_text(
        '[corpus]\nsource = "a"\ntarget = "b"\nalignments = "links"\n[test.t]\nsource = "a"\nreferences = ["b"]\n'
        '[tune]\nmethod = "none"\n[[system]]\nname = "x"\nkind = "mine"\n[[system]]\nname = "y"\nkind = "hiero"\n'
    )
    steps = {step.name: step for step in steps_of(load_recipe(folder / "recipe.toml"))}
    assert steps["train x"].settings["code"] == find_kind("mine").code
    assert "code" not in steps["train y"].settings


def test_the_digest_follows_the_code(folder: Path) -> None:
    package = folder / "my_package"
    package.mkdir()
    for name in ("__init__.py", "one.py"):
        (package / name).write_text("")
    first = module_digest("my_package.one")
    (package / "__init__.py").write_text("# more\n")
    assert module_digest("my_package.one") != first


BRINGING = """
from dataclasses import replace
from treeglot.models.kinds import find_kind
from treeglot.rules.extract import extractor
from treeglot.rules.hiero import HieroOptions, hiero
from treeglot.rules.sql import COLUMNS, Column

extractor("mine", HieroOptions)(hiero)
COLUMNS["rarity"] = Column("float", "1 / CAST(r.count AS DOUBLE)")
MINE = replace(find_kind("hiero"), name="mine", extractor="mine")
"""
RECIPE = """
[corpus]
source = "train.zh"
target = "train.en"
alignments = "train.align"
[test.one]
source = "test.zh"
references = ["test.en"]
[lm]
order = 2
[tune]
method = "none"
[[system]]
name = "y"
kind = "hiero"
[[system]]
name = "x"
kind = "mine"
"""


@pytest.mark.filterwarnings("ignore::treeglot.lm.train.DiscountWarning")  # the corpus is small
def test_workers_have_what_its_package_registers(folder: Path) -> None:
    """The column is in the tables of all kinds."""
    (folder / "my_kinds.py").write_text(BRINGING)
    install_entry_points(folder, {GROUP: {"mine": "my_kinds:MINE"}})
    sample.write_corpus(folder, 40)
    (folder / "recipe.toml").write_text(RECIPE)
    with patch.dict(EXTRACTORS), patch.dict(COLUMNS):
        steps = steps_of(load_recipe(folder / "recipe.toml"))
        assert installed_kinds() == ["mine"]
        assert "rarity" in COLUMNS
        for jobs in (1, 2):
            Pipeline(steps, folder / str(jobs)).run(jobs=jobs)
    found = sorted(path.relative_to(folder / "1") for path in (folder / "1").rglob("*") if path.is_file())
    assert {"rules.table", "output.txt", "report.json"} <= {path.name for path in found}
    for path in found:
        if path.name not in ("timings.json", ".lock"):
            assert (folder / "1" / path).read_bytes() == (folder / "2" / path).read_bytes(), path
