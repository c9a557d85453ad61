"""Experiments: steps that know what they are made of, recipes of them, and reports of what came out."""

from treeglot.experiment.pipeline import Pipeline, Planned, Watcher
from treeglot.experiment.recipe import Recipe, load_recipe
from treeglot.experiment.report import publish
from treeglot.experiment.results import Report, load_report
from treeglot.experiment.step import Input, Output, Step, Task
from treeglot.experiment.steps import steps_of

__all__ = [
    "Input",
    "Output",
    "Pipeline",
    "Planned",
    "Recipe",
    "Report",
    "Step",
    "Task",
    "Watcher",
    "load_recipe",
    "load_report",
    "publish",
    "steps_of",
]
