"""Publishes the models of an experiment, each in a folder that anyone can load: `WORK/models/NAME`."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path

from treeglot.base.files import write_binary
from treeglot.experiment.pipeline import Planned
from treeglot.experiment.step import FINISHED

MODELS = "models"
MADE = "made.txt"  # the keys of the steps that a model is made of


def publish_models(work: Path, done: Sequence[Planned], systems: Iterable[str]) -> list[Path]:
    """Publish the trained model of each system, with its tuned weights, in the folder of its name.

    If the folder already contains a model of the same steps, it stays. The files are links to the files of the steps.
    """
    plan = {planned.step.name: planned for planned in done}
    out = []
    for name in systems:
        trained, tuned = plan[f"train {name}"], plan.get(f"tune {name}")
        keys = "".join(f"{step.key}\n" for step in (trained, tuned) if step is not None)
        folder = work / MODELS / name
        out.append(folder)
        if (folder / MADE).is_file() and (folder / MADE).read_bytes() == keys.encode():
            continue
        aside = work / MODELS / f".{name}.part"
        shutil.rmtree(aside, ignore_errors=True)
        aside.mkdir(parents=True)
        shutil.copytree(trained.folder, aside, copy_function=_link, dirs_exist_ok=True)
        (aside / FINISHED).unlink()
        if tuned is not None:
            with write_binary(aside / "weights.txt") as stream:
                stream.write((tuned.folder / "best.weights").read_bytes())
        (aside / MADE).write_text(keys)
        shutil.rmtree(folder, ignore_errors=True)
        aside.rename(folder)
    return out


def _link(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:  # a file system without links
        shutil.copyfile(source, target)
