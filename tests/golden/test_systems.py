"""A system of every kind, trained on a tiny corpus: its whole table, its translations and their scores."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from treeglot.corpus import Corpus
from treeglot.decode.kbest import Entry
from treeglot.models import KINDS, Model, train
from treeglot.models.kinds import find_kind
from treeglot.rules import compile_table, open_table
from treeglot.rules.corrections import Correction
from treeglot.syntax import ParseForest, Tree, read
from treeglot.tune.decoder import DecoderTranslator

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


@pytest.fixture(scope="module", params=list(KINDS))
def system(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Model, list[object]]:
    """A model of each kind, and what it translates."""
    declared = KINDS[request.param]
    needed = {next(name for name in need.split("|") if name in FILES) for need in declared.files}
    corpus = Corpus(**{name: CORPUS / FILES[name] for name in needed | {"source", "target", "alignments"}})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of language models on so few words
        model = train(declared.name, corpus, tmp_path_factory.mktemp("system") / "model")
    name = declared.translates[0]
    path = CORPUS / FILES[name]
    if name == "source":
        return model, [*path.read_text(encoding="utf-8").splitlines()]
    return model, [forest(value) for value in read(path)]


def test_text_gives_the_table_that_codes_gave(system: tuple[Model, list[object]], tmp_path: Path) -> None:
    """Training compiles codes; compiling the text of the same rules is the slow twin of that."""
    model, _ = system
    compiling = find_kind(model.kind).options().compile
    compile_table(model.directory / "rules.parquet", tmp_path / "rules.table", compiling)
    assert (tmp_path / "rules.table").read_bytes() == (model.directory / "rules.table").read_bytes()


def test_a_system_is_what_it_was(system: tuple[Model, list[object]], golden) -> None:
    model, sources = system
    lines = []
    for row in pq.read_table(model.directory / "rules.parquet").to_pylist():
        values = (f"{value:.6g}" if isinstance(value, float) else str(value) for value in row.values())
        lines.append(" ||| ".join(values))
    lines.append("")
    for found in model.translate_batch(sources):
        for hypothesis in model.translator.kbest(found, 2):
            features = " ".join(f"{name}={value:.5g}" for name, value in sorted(hypothesis.features.items()))
            lines.append(f"{hypothesis.text} ||| {features} ||| {hypothesis.score:.6g}")
    golden(f"system/{model.kind}.txt", "\n".join(lines) + "\n")


@pytest.mark.parametrize("distinct", [False, True])
def test_lists_for_tuning_have_the_features_of_translations(system: tuple[Model, list[object]], distinct: bool) -> None:
    """Tuning reads derivations in brief; reading them whole is the slow twin of that, to the bit."""
    model, sources = system
    size = 50
    brief = DecoderTranslator(model.translator, "", distinct=distinct).translate(sources, model.weights, size)
    whole = model.translate_batch(sources, size, distinct)
    expected = [
        Entry(number, hypothesis.text, dict(hypothesis.features), hypothesis.score)
        for number, found in enumerate(whole)
        for hypothesis in found.hypotheses
    ]
    found = list(brief.entries())
    assert [(e.sentence, e.text, e.score) for e in found] == [(e.sentence, e.text, e.score) for e in expected]
    assert [dict(e.features) for e in found] == [dict(e.features) for e in expected]
    assert len(found) > len(whole)


def test_corrections_are_as_good_as_compiled(system: tuple[Model, list[object]], tmp_path: Path) -> None:
    """One rule that is used is forbidden, one reweighted, and one gets another target side beside it."""
    model, sources = system
    rows = pq.read_table(model.directory / "rules.parquet")
    plain = model.translate_batch(sources)
    used = {step.rule for found in plain for step in found.derivation.steps if step.rule is not None}
    keys = [(row["lhs"], row["source"], row["target"]) for row in rows.to_pylist()]
    wanted = {text_of(model, rule) for rule in sorted(used)}
    long = [n for n, key in enumerate(keys) if key in wanted and len(key[1].split()) > 1 and len(key[2].split()) > 1]
    forbidden, reweighted, other = keys[long[0]], keys[long[1]], rows.to_pylist()[long[-1]]
    probability = next(name for name in model.translator.table.features if name.startswith("p_"))
    target = f"{other['target']} zzz"
    notes = {name: other[name] for name in ("alignment", "labels", "structure")}
    if other["structure"]:
        notes |= {"labels": f"{other['labels'] or ''} NN".strip(), "structure": f"{other['structure']} 0"}
    links = {name: value or "" for name, value in notes.items()}
    given = [
        Correction("forbid", *forbidden),
        Correction("reweight", *reweighted, features=((probability, 0.0625), ("preferred", 0.5))),
        Correction("add", other["lhs"], other["source"], target, features=(("preferred", 40.0),), **links),
    ]
    # The same as rows of a table; the new one has the features that docs/corrections.md says, and is the last.
    kept = [row for row in rows.to_pylist() if (row["lhs"], row["source"], row["target"]) != forbidden]
    for row in kept:
        row["preferred"] = 0.0
        if (row["lhs"], row["source"], row["target"]) == reweighted:
            row |= {probability: 0.0625, "preferred": 0.5}
    sure = {name: 1.0 for name in rows.column_names if name.startswith(("p_", "lex_"))}
    ones = {"count": 1.0, "occurrences": 1, "count_bin": "1", "preferred": 40.0}
    kept.append({**other, **notes, **sure, **ones, "target": target})
    options = find_kind(model.kind).options().compile
    options = replace(options, features=(*options.features, "preferred"))
    pq.write_table(
        pa.Table.from_pylist(kept, rows.schema.append(pa.field("preferred", pa.float32()))), tmp_path / "rules"
    )
    compile_table(tmp_path / "rules", tmp_path / "table", options)
    compiled = model.translator.with_table(open_table(tmp_path / "table"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        corrected = model.with_corrections(given)
    whole = compiled.translate_batch(sources, 5)
    over = corrected.translator.translate_batch(sources, 5)
    scores = [[hypothesis.score for hypothesis in found.hypotheses] for found in over]
    assert scores == [pytest.approx([h.score for h in found.hypotheses], abs=1e-5) for found in whole]
    assert [found.text for found in over] == [found.text for found in whole] != [found.text for found in plain]
    assert any("zzz" in found.text for found in over)
    assert not any(
        text_of(model, step.rule) == forbidden
        for found in over
        for step in found.derivation.steps
        if step.rule is not None and step.rule < model.translator.table.own_rules
    )


def text_of(model: Model, rule: int) -> tuple[str, str, str]:
    """A rule as the rule table has it."""
    table = model.translator.table
    lhs, source, target, _, _ = table.rule(rule)
    words, labels, variables = [], [], 0
    for symbol in source:
        if symbol >= 1 << 31:
            labels.append(table.labels[symbol - (1 << 31)])
            variables += 1
            words.append(f"[{labels[-1]},{variables}]")
        else:
            words.append(table.source_words[symbol].strip())
    others = [table.target_words[t] if t >= 0 else f"[{labels[-1 - t]},{-t}]" for t in target]
    return table.labels[lhs], " ".join(words), " ".join(others)
