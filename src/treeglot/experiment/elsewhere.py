"""Runs steps of a recipe in shards on a cluster, with the same bytes as on one machine."""

from __future__ import annotations

import dataclasses
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from treeglot.decode import Translator
    from treeglot.experiment.step import Task
    from treeglot.parse.parser import GrammarParser
    from treeglot.rules.engines import Engine
    from treeglot.syntax import ParseForest
    from treeglot.tune.decoder import DecoderTranslator
    from treeglot.tune.elsewhere import RemoteTranslator


def parse_elsewhere(parser: GrammarParser, engine: Engine, task: Task) -> list[ParseForest]:
    """Parse the sentences of a task on the machines of an engine. `parser` adds up what the machines report."""
    from treeglot.base.shards import RECORDS, in_shards, shards_of, state_of
    from treeglot.parse.job import ParseShard
    from treeglot.syntax import read
    from treeglot.syntax.formats import read_text

    folder = Path(parser.name).resolve()
    alone = dataclasses.replace(parser.options, threads=1)
    job = ParseShard(str(folder), alone, parser.level, str(task.out), "jsonl", 0)
    shards = shards_of(read_text(task.inputs["sentences"]), RECORDS)
    key = state_of(folder)
    with in_shards(job, shards, task.out, engine, key=key, threads=task.threads, report=task.report) as parts:
        for part in parts:
            parser.take(**part.facts)
        return [forest for part in parts for forest in read(part.path, "jsonl")]


def decode_elsewhere(like: DecoderTranslator, engine: Engine, task: Task) -> RemoteTranslator:
    """Return a translator that decodes with a task's model on the machines of an engine."""
    from treeglot.tune.elsewhere import RemoteTranslator

    model = task.inputs["model"].resolve()
    return RemoteTranslator(partial(_open_translator, model), like, engine, task.out, task.report, str(model))


def _open_translator(folder: Path) -> Translator:
    """Open the translator of a model, on any machine that sees the model's folder."""
    from treeglot.models import load

    return load(folder).translator
