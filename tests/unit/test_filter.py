"""Models with the rules for a test set alone: the same translations from fewer rules."""

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from treeglot import UsageError, sample
from treeglot.corpus import Corpus
from treeglot.models import load, train
from treeglot.models.kinds import find_kind


@pytest.mark.filterwarnings("ignore")  # too little text for the language model's discounts
@pytest.mark.parametrize("kind", ["hiero", "dep2str", "t2s"])
def test_filtered_models_translate_as_whole_ones(kind: str, tmp_path: Path) -> None:
    sample.write_corpus(tmp_path, 90)
    suffix = {"dep2str": ".conllu", "t2s": ".tree"}.get(kind, "")
    parses = {"dep2str": "source_dependencies", "t2s": "source_trees"}
    given = {parses[kind]: tmp_path / f"train.zh{suffix}"} if kind in parses else {}
    text = {"source": tmp_path / "train.zh", "target": tmp_path / "train.en", "alignments": tmp_path / "train.align"}
    test = tmp_path / f"test.zh{suffix}"
    said: list[str] = []
    train(kind, Corpus(**text, **given), tmp_path / "whole")
    train(kind, Corpus(**text, **given), tmp_path / "part", filter=test, report=said.append)
    rows = [pq.read_table(tmp_path / name / "rules.parquet").to_pylist() for name in ("whole", "part")]
    assert 0 < len(rows[1]) < len(rows[0]) // 2
    assert all(row in rows[0] for row in rows[1][:50])
    assert f"{len(rows[1]):,} rules scored that can meet {test}" in said
    models = [load(tmp_path / name) for name in ("whole", "part")]
    inputs = list(find_kind(kind).read(test, None))
    found = [[(t.score, t.text) for t in model.translate_batch(inputs)] for model in models]
    assert found[0] == found[1]


def test_features_that_depend_on_all_rules_are_refused(tmp_path: Path) -> None:
    from dataclasses import replace

    options = find_kind("hiero").options()
    options = replace(options, compile=replace(options.compile, word_pairs=3))
    for name in ("f", "e", "a"):
        (tmp_path / name).write_text("")
    corpus = Corpus(source=tmp_path / "f", target=tmp_path / "e", alignments=tmp_path / "a")
    with pytest.raises(UsageError, match=r"^compile\.word_pairs takes the most frequent words of all rules"):
        train("hiero", corpus, tmp_path / "model", options, filter=tmp_path / "f")
