"""Experiments: steps that know what they are made of, recipes of them, and reports of what came out."""

from treeglot.experiment.pipeline import Pipeline, Planned, Watcher
from treeglot.experiment.step import Input, Output, Step, Task

__all__ = ["Input", "Output", "Pipeline", "Planned", "Step", "Task", "Watcher"]
