"""Where rules come from, why an output, and why not another."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from treeglot import sample
from treeglot._core import TargetConstraints, find_rules
from treeglot._core import Translation as CoreTranslation
from treeglot.base.errors import FormatError, UsageError
from treeglot.cli import main
from treeglot.corpus import Corpus
from treeglot.decode import Translation, Translator
from treeglot.decode.translator import Source
from treeglot.models import Model, load, train
from treeglot.models.kinds import find_kind
from treeglot.rules import extract, score_rules
from treeglot.rules.corrections import Correction
from treeglot.rules.provenance import Concordance
from treeglot.rules.sql import ScoreOptions
from treeglot.syntax import write

KINDS = ["hiero", "c2d", "dep2str", "samt"]
PAIRS = (0, 17, 40)  # that are extracted alone


def corpus_of(kind: str, folder: Path) -> Corpus:
    source = {"hiero": "source", "c2d": "source_forests", "dep2str": "source_trees", "samt": "source"}[kind]
    named = {"source": folder / "zh.txt", "source_forests": folder / "zh.jsonl", "source_trees": folder / "zh.tree"}
    target = {"target": folder / "en.txt"} if kind != "c2d" else {}
    trees = {"target_trees": folder / "en.tree"} if kind in ("c2d", "samt") else {}
    return Corpus(alignments=folder / "links.align", **{source: named[source]}, **target, **trees)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpus")
    parts = sample.split(sample.read_pairs(120))
    pairs = parts["train"]
    write(folder / "zh.jsonl", sample.forests(parts, cycles=1)["train"])
    write(folder / "zh.tree", [pair.source_tree for pair in pairs])
    write(folder / "en.tree", [pair.target_tree for pair in pairs])
    write(folder / "zh.txt", [pair.source for pair in pairs])
    write(folder / "en.txt", [pair.target for pair in pairs])
    write(folder / "links.align", [pair.alignment for pair in pairs])
    return folder


@pytest.fixture(scope="module")
def models(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Model]:
    out = tmp_path_factory.mktemp("models")
    return {
        kind: train(kind, corpus_of(kind, folder), out / kind, find_kind(kind).options(provenance=True, lm_order=2))
        for kind in KINDS
    }


@pytest.mark.parametrize("kind", KINDS)
def test_a_rule_comes_from_the_pairs_that_give_it_alone(
    kind: str, models: dict[str, Model], folder: Path, tmp_path: Path
) -> None:
    model, declared = models[kind], find_kind(kind)
    table, provenance = model.translator.table, model.provenance
    assert provenance is not None
    options = declared.options()
    pairs = list(corpus_of(kind, folder).pairs(declared.pair_needs(options)))
    assert len(provenance.core) == len(pairs)
    lists = [provenance.core.pairs_of(rule, len(pairs))[1] for rule in range(len(table))]
    assert all(lists)
    for number in PAIRS:
        alone = extract(declared.extractor, [pairs[number]], tmp_path / f"{number}", declared.extraction(options))
        score_rules(alone, tmp_path / "rules.parquet", ScoreOptions(targets_per_source=0))
        rows = pq.read_table(tmp_path / "rules.parquet").to_pylist()
        expected = {
            rule
            for row in rows
            for rule in find_rules(table, row["source"], row["target"])
            if table.labels[table.rule(rule)[0]] == row["lhs"]
            and table.notes(rule)[1] == [int(n) for n in (row["structure"] or "").split()]
        }
        assert expected == {rule for rule, found in enumerate(lists) if number in found}


@pytest.mark.parametrize("kind", KINDS)
def test_the_words_of_rules_are_marked(kind: str, models: dict[str, Model]) -> None:
    table, provenance = models[kind].translator.table, models[kind].provenance
    assert provenance is not None
    words = table.source_words, table.target_words
    for rule in range(0, len(table), 7):
        _, source, target, _, _ = table.rule(rule)
        own = [words[0][s] for s in source if s < 1 << 31 and not words[0][s].startswith(" ")]
        for example in provenance.examples(rule, 2).examples:
            assert [example.source[place] for place in example.source_marks] == own
            assert [example.target[place] for place in example.target_marks] == [words[1][t] for t in target if t >= 0]


def test_phrases_are_found_as_by_a_scan(models: dict[str, Model]) -> None:
    provenance = models["hiero"].provenance
    assert provenance is not None
    pairs = [provenance.core.pair(number) for number in range(len(provenance.core))]
    for source, target, _ in pairs[:20]:
        for phrases in ((source[1:3], []), ([], target[:2]), (source[:1], target[-2:])):
            expected = [
                number
                for number, pair in enumerate(pairs, 1)
                if all(
                    not p or f" {' '.join(p)} " in f" {' '.join(side)} "
                    for p, side in zip(phrases, pair[:2], strict=True)
                )
            ]
            found = provenance.find(*phrases, most=len(pairs))
            assert (found.pairs, [example.pair for example in found.examples]) == (len(expected), expected)
    assert provenance.find(["nowhere"]).pairs == 0
    with pytest.raises(UsageError, match="no words to look for"):
        provenance.find()


def test_every_word_has_a_reason(models: dict[str, Model], folder: Path) -> None:
    model = models["hiero"]
    sentence = (folder / "zh.txt").read_text().splitlines()[3]
    found = model.explain(sentence)
    assert sorted(place for reason in found.reasons for place in reason.words) == list(
        range(len(found.translation.text.split()))
    )
    others = [(h.score, {(s.rule, s.span) for s in h.derivation.steps}) for h in found.translation.kbest(5000)]
    for reason in found.reasons:
        assert reason.examples is not None and reason.examples.pairs > 0
        assert 0 < (reason.probability or 0) <= 1
        assert reason.step.rule is not None
        if reason.runner_up is not None and reason.margin is not None:
            assert reason.margin >= 0
            best = next(score for score, used in others if (reason.step.rule, reason.step.span) not in used)
            assert reason.runner_up.score == pytest.approx(best, abs=1e-6)
    assert found.reason(0) is found.reasons[0]


@pytest.mark.parametrize("kind", KINDS)
def test_corrected_rules_keep_their_pairs_and_added_ones_have_none(kind: str, models: dict[str, Model]) -> None:
    model = models[kind]
    assert model.provenance is not None
    rows = pq.read_table(model.directory / "rules.parquet", columns=["lhs", "source", "target"]).to_pylist()[:40:2]
    weighed = (("preferred", 1.0),)
    given = [Correction("reweight", r["lhs"], r["source"], r["target"], features=weighed) for r in rows]
    given.append(Correction("add", rows[0]["lhs"], rows[0]["source"], f"{rows[0]['target']} zzz".strip()))
    corrected = model.with_corrections(given)
    table, provenance = corrected.translator.table, corrected.provenance
    assert provenance is not None and len(table) >= table.own_rules + len(given)
    for rule in range(table.own_rules, len(table)):
        origin, number = table.origin(rule)
        assert number is not None and corrected.correction_of(rule) == given[number]
        assert (origin is None) == (given[number].action == "add")
        pairs = provenance.examples(rule)
        assert pairs == (Concordance(0, ()) if origin is None else model.provenance.examples(origin))
        assert provenance.count(rule) == pairs.pairs
    assert corrected.correction_of(0) is None


def test_why_not_another_output(models: dict[str, Model], folder: Path) -> None:
    model = models["hiero"]
    sentence = (folder / "zh.txt").read_text().splitlines()[3]
    second = model.translate(sentence).kbest(5, distinct=True)[-1]
    instead = model.explain(sentence, instead=second.text).instead
    assert instead is not None and instead.found is not None
    best = model.translate(sentence)
    assert instead.found.text == second.text
    assert instead.found.score >= second.score - 1e-6
    assert sum(loss for _, loss in instead.losses) == pytest.approx(best.score - instead.found.score, abs=1e-4)
    unreachable = model.explain(sentence, instead=f"{second.text} nowhere").instead
    assert unreachable is not None and unreachable.found is None
    [part] = unreachable.parts
    assert part.target == (0, len(second.text.split()))
    assert unreachable.missing.endswith("nowhere")
    with pytest.raises(UsageError, match="expected words"):
        model.explain(sentence, instead=" ")


def test_an_exact_search_that_does_not_finish_is_limited(
    models: dict[str, Model], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = load(models["hiero"].directory)
    sentence = (folder / "zh.txt").read_text().splitlines()[3]
    text, translate = model.translate(sentence).text, Translator.translate

    def refuse(self: Translator, source: Source, constraints: TargetConstraints | None = None) -> Translation:
        found = translate(self, source, constraints)
        return found if self.options.pop_limit else Translation(CoreTranslation(source, [], [], "does not finish"))

    monkeypatch.setattr(Translator, "translate", refuse)
    instead = model.explain(sentence, instead=text).instead
    assert instead is not None and instead.found is not None and instead.found.text == text
    assert not instead.exact


def test_the_commands(models: dict[str, Model], folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = str(models["hiero"].directory)
    sentence = (folder / "zh.txt").read_text().splitlines()[3]
    assert main(["why", place, sentence, "--instead", "nowhere at all", "--examples", "1"]) == 0
    out = capsys.readouterr().out
    assert out.splitlines()[0] == models["hiero"].translate(sentence).text
    assert "  rule      [X] ||| " in out and "  margin    " in out and "  missing   " in out
    assert main(["concordance", place, sentence.split()[0], "--most", "1"]) == 0
    first = capsys.readouterr().out.splitlines()
    assert first[0].endswith(" pairs") and f"*{sentence.split()[0]}*" in first[1]
    step = next(r.step for r in models["hiero"].explain(sentence).reasons)
    assert main(["concordance", place, str(step)]) == 0
    assert capsys.readouterr().out.startswith(f"rule {step.rule}: ")
    assert main(["concordance", place, "a ||| b ||| c ||| d"]) == 2


def test_a_model_without_provenance(folder: Path, tmp_path: Path, models: dict[str, Model]) -> None:
    model = train("hiero", corpus_of("hiero", folder), tmp_path / "plain", find_kind("hiero").options(lm_order=2))
    assert model.provenance is None
    sentence = (folder / "zh.txt").read_text().splitlines()[3]
    assert model.explain(sentence).reasons[0].examples is None
    assert main(["concordance", str(tmp_path / "plain"), "x"]) == 2
    (tmp_path / "plain/provenance.bin").write_bytes((models["samt"].directory / "provenance.bin").read_bytes())
    with pytest.raises(FormatError, match=r"expected .* as the model's"):
        _ = load(tmp_path / "plain").provenance
