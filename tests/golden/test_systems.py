"""A system of every kind, trained on a tiny corpus: its whole table, its translations and their scores."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from treeglot.corpus import Corpus
from treeglot.models import KINDS, train
from treeglot.syntax import ParseForest, Tree, read

CORPUS = Path(__file__).parent / "system" / "corpus"
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


def forest(value: object) -> object:
    """A tree as the forest that has it alone."""
    return ParseForest.from_tree(value) if isinstance(value, Tree) else value


@pytest.mark.filterwarnings("ignore")  # of language models on so few words
@pytest.mark.parametrize("kind", list(KINDS))
def test_a_system_is_what_it_was(kind: str, golden, tmp_path: Path) -> None:
    declared = KINDS[kind]
    needed = {next(name for name in need.split("|") if name in FILES) for need in declared.files}
    corpus = Corpus(**{name: CORPUS / FILES[name] for name in needed | {"source", "target", "alignments"}})
    model = train(kind, corpus, tmp_path / "model")
    lines = []
    for row in pq.read_table(tmp_path / "model" / "rules.parquet").to_pylist():
        values = (f"{value:.6g}" if isinstance(value, float) else str(value) for value in row.values())
        lines.append(" ||| ".join(values))
    name = declared.translates[0]
    path = CORPUS / FILES[name]
    sources = (
        path.read_text(encoding="utf-8").splitlines() if name == "source" else [forest(value) for value in read(path)]
    )
    lines.append("")
    for found in model.translate_batch(sources):
        for hypothesis in model.translator.kbest(found, 2):
            features = " ".join(f"{name}={value:.5g}" for name, value in sorted(hypothesis.features.items()))
            lines.append(f"{hypothesis.text} ||| {features} ||| {hypothesis.score:.6g}")
    golden(f"system/{kind}.txt", "\n".join(lines) + "\n")
