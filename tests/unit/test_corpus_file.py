"""A new file of a corpus takes one line, the one in docs/architecture.md; here a copy of the package has it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import treeglot
from treeglot.corpus import Corpus

ROOT = Path(__file__).parents[2]
PACKAGE = Path(treeglot.__file__).parent


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package with the line of the docs after the last file."""
    folder = tmp_path_factory.mktemp("copy")
    shutil.copytree(PACKAGE, folder / "treeglot", ignore=shutil.ignore_patterns("__pycache__", "*.so"))
    for core in PACKAGE.glob("*.so"):
        (folder / "treeglot" / core.name).symlink_to(core)
    [line] = re.findall(r"^    target_forests: .*$", (ROOT / "docs/architecture.md").read_text(), re.MULTILINE)
    declaration = folder / "treeglot/corpus/files.py"
    text = declaration.read_text()
    last = re.findall(rf"^    {Corpus.names()[-1]}: .*$", text, re.MULTILINE)[0]
    declaration.write_text(text.replace(last, f"{last}\n{line}"))
    return folder


def run(copy: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(copy), "COLUMNS": "200"}
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=False, env=environment)


def test_the_command_line_has_its_option(copy: Path) -> None:
    shown = run(copy, "-m", "treeglot", "train", "--help").stdout
    assert "--target-forests" in shown
    assert "packed forests of the target sentences" in shown
    refused = run(copy, "-m", "treeglot", "train", "hiero", "--out", str(copy / "model"), "--target-forests", "x.jsonl")
    assert refused.returncode == 2


def test_recipes_have_it(copy: Path) -> None:
    program = (
        "from treeglot.base.options import options_of\n"
        "from treeglot.experiment.recipe import Recipe, System\n"
        "for schema in (Recipe, System):\n"
        "    corpus = next(o.type for o in options_of(schema) if o.name == 'corpus')\n"
        "    print([o.help for o in options_of(corpus) if o.name == 'target_forests'])\n"
    )
    assert run(copy, "-c", program).stdout == "['packed forests of the target sentences']\n" * 2


def test_checks_know_it(copy: Path, tmp_path: Path) -> None:
    files = {"zh": "a\n", "en": "x y\n", "en.tree": "(S (A x) (B z))\n", "align": "0-0\n"}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    program = (
        "from pathlib import Path\n"
        "from treeglot import TreeglotError\n"
        "from treeglot.corpus import Corpus, Needs\n"
        "from treeglot.experiment.check import check_step\n"
        "from treeglot.experiment.pipeline import Pipeline\n"
        "files = {'source': Path('zh'), 'target': Path('en'), 'target_forests': Path('en.tree')}\n"
        "corpus = Corpus(**files, alignments=Path('align'))\n"
        "for check in (\n"
        "    Corpus(target_forests=Path('en.conllu')).check_formats,\n"
        "    Pipeline([check_step('train', files, ['target_forests'])], 'work').run,\n"
        "    lambda: list(corpus.pairs(Needs(target='dependency'))),\n"
        "):\n"
        "    try:\n"
        "        check()\n"
        "    except TreeglotError as error:\n"
        "        print(error)\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(copy)}
    command = [sys.executable, "-c", program]
    ended = subprocess.run(command, capture_output=True, text=True, check=True, env=environment, cwd=tmp_path)
    formats, recipe, pairs = ended.stdout.splitlines()
    assert formats == "--target-forests en.conllu: the format conllu holds dependencies, not forests or trees"
    assert recipe.startswith("en.tree: tree 1: word 2 is 'z'; in line 1 of en it is 'y'")
    assert pairs.startswith("en.tree: tree 1: word 2 is 'z'; in line 1 of en it is 'y'")
