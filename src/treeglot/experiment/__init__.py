"""Experiments: recipes, the steps that they consist of, and reports."""

from treeglot.experiment.pipeline import Pipeline
from treeglot.experiment.recipe import load_recipe
from treeglot.experiment.report import publish
from treeglot.experiment.results import load_report
from treeglot.experiment.steps import steps_of

__all__ = ["Pipeline", "load_recipe", "load_report", "publish", "steps_of"]
