"""Small models of each kind, and a sentence pair that they learn from."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

from treeglot import ParseForest, Tree
from treeglot._core import ScoreKind
from treeglot.corpus import Corpus
from treeglot.graph import Builder
from treeglot.models import KINDS, Model, train
from treeglot.models.reading import with_words
from treeglot.syntax import read

CORPUS = Path(__file__).parents[0] / "golden/system/corpus"
FILES = {
    "source": "zh.txt",
    "target": "en.txt",
    "alignments": "links.align",
    "source_trees": "zh.tree",
    "source_forests": "zh.jsonl",
    "source_dependencies": "zh.conllu",
    "target_trees": "en.tree",
    "target_dependencies": "en.conllu",
}
LINES = [line.split() for line in (CORPUS / "zh.txt").read_text(encoding="utf-8").splitlines()]
ZH, EN, LINKS = (
    ["她", "和", "我们", "跳舞", "。"],
    ["she", "dances", "with", "us", "."],
    "0-0 1-2 2-3 3-1 4-4",
)  # like the second pair
PAIR = " ".join(ZH), " ".join(EN)


def parsed(name: str, words: list[str]) -> Any:
    """The second parse of a file, with other words."""
    value = list(read(CORPUS / FILES[name]))[1]
    if isinstance(value, Tree):
        return with_words(ParseForest.from_tree(value), words).viterbi()  # type: ignore[union-attr]
    return with_words(value, words)


def unparsed(words: list[str]) -> ParseForest:
    """What a parser gives that found no parse."""
    builder = Builder()
    builder.add_nodes(len(words))
    for word in range(len(words)):
        builder.add_edge(word, [])
    spans = [(at, at + 1) for at in range(len(words))]
    return ParseForest(builder.freeze(None).graph, words, spans, [0.0] * len(words), ScoreKind.posterior)


def trained(kind: str, folder: Path, **more: Any) -> Model:
    needed = {next(name for name in need.split("|") if name in FILES) for need in KINDS[kind].files}
    corpus = Corpus(**{name: CORPUS / FILES[name] for name in needed | {"source", "target", "alignments"}})
    return train(kind, corpus, folder, **more)


def sources(kind: str) -> list[Any]:
    """What a model translates: the sentences of the corpus, and a new one."""
    name = KINDS[kind].translates[0]
    if name == "source":
        return [*LINES, ZH]
    return [*read(CORPUS / FILES[name]), parsed(name, ZH)]


def pair(kind: str, words: list[str] = EN) -> tuple[Any, Any]:
    """The new pair as the kind learns it, perhaps with other target words."""
    needs = KINDS[kind].needs
    source = parsed("source_trees", ZH) if needs.source == "tree" else sources(kind)[-1]
    target = {"words": words, "tree": "target_trees", "dependency": "target_dependencies"}[needs.target]
    return source, parsed(target, words) if isinstance(target, str) else target


KILLED = """
import itertools, os, random, signal, sys, time
from treeglot.models import load
model = load(sys.argv[1])
source, links, weights, *targets = sys.argv[2:]
model.learn(source, targets[0], alignment=links, author="first")
model.undo()
acknowledged = []
for number in range(20):
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        for target in itertools.cycle(targets):
            learnt = model.learn(source, target, alignment=links, weights=bool(weights))
            os.write(writing, f"{learnt.group}:{len(learnt.rules)}:{int(learnt.step is not None)} ".encode())
    os.close(writing)
    said = b""
    while said.count(b" ") < number % 4:
        more = os.read(reading, 4096)
        if not more:
            sys.exit("a process ended by itself")
        said += more
    time.sleep(random.random() / 200)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    while more := os.read(reading, 4096):
        said += more
    acknowledged += said.decode().split()
print(*acknowledged)
"""


def kill_learners(model: Model, *targets: str, weights: bool = False) -> list[tuple[str, int, int]]:
    """Twenty processes learn translations of one sentence until they are killed.

    For each pair that they acknowledged: its group, how many rules it has, and how many steps of weights.
    """
    given = [str(model.directory), PAIR[0], LINKS, "yes" if weights else "", *targets]
    done = subprocess.run([sys.executable, "-c", KILLED, *given], capture_output=True, text=True, check=True)
    said = (each.split(":") for each in done.stdout.split())
    return [(group, int(rules), int(steps)) for group, rules, steps in said]
