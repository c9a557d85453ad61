"""Models learn from one sentence pair, keep it, take it back, and merge it into their tables."""

from __future__ import annotations

import io
import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from small_models import CORPUS, EN, LINKS, PAIR, ZH, kill_learners, pair, parsed, sources, trained

from treeglot import UsageError
from treeglot._core import LeastProbabilities, RuleTableBuilder
from treeglot.align import Aligner
from treeglot.cli import main
from treeglot.decode import Translator
from treeglot.models import KINDS, Model, load
from treeglot.models import compact as compacting
from treeglot.models.compact import compact
from treeglot.models.learn import cut_pair
from treeglot.models.radius import check_corrections, touched
from treeglot.rules.corrections import Correction, Corrections
from treeglot.rules.find import find_rules
from treeglot.rules.learn import seen_again
from treeglot.syntax import Alignment

pytestmark = pytest.mark.filterwarnings("ignore:.*discount", "ignore::treeglot.lm.train.DiscountWarning")


def outputs(model: Model, kind: str) -> list[tuple[str, float]]:
    return [(found.text, found.score) for found in model.translate_batch(sources(kind))]


@pytest.mark.parametrize("kind", list(KINDS))
def test_what_is_learnt_comes_out_and_undoing_it_leaves_nothing(kind: str, tmp_path: Path) -> None:
    model = trained(kind, tmp_path / "model")
    before = outputs(model, kind)
    assert "跳舞" in before[-1][0]  # nobody knows the word
    learnt = model.learn(*pair(kind), alignment=LINKS, author="Anna")
    assert {each.action for each in learnt.rules} == {"add"}
    assert learnt.known > 0
    after = outputs(model, kind)
    assert after[-1][0] == PAIR[1]
    again = load(tmp_path / "model")
    assert outputs(again, kind) == after
    assert Corrections.read(tmp_path / "model/corrections.txt").groups == (learnt.group,)
    assert len(model.undo()) == len(learnt.rules)
    assert outputs(model, kind) == before
    source, _ = pair(kind)
    model.learn(source, pair(kind, EN[::-1])[1], alignment=LINKS)
    assert outputs(model, kind)[-1][0] == " ".join(EN[::-1])  # whatever it is
    model.undo()
    with pytest.raises(UsageError, match="has learnt nothing that could be undone"):
        again.undo()


def test_the_last_translation_that_was_taught_holds(tmp_path: Path) -> None:
    model = trained("hiero", tmp_path / "model")
    for words in (EN, EN[::-1], EN[1:], EN):
        last = model.learn(ZH, words, alignment="0-0 1-2 2-3 3-1", author=" Anna  B")
        assert model.translate(ZH).text == load(tmp_path / "model").translate(ZH).text == " ".join(words)
    model.undo(last.group)
    assert model.translate(ZH).text == " ".join(EN[1:])
    twice = [f"f{i % 10}" for i in range(20)]  # a sentence of two parts that are the same
    model.learn(twice, twice[:10] * 2, alignment=" ".join(f"{i}-{i}" for i in range(20)))
    assert model.translate(twice).text == " ".join(twice)
    long = [f"g{i}" for i in range(12)]
    for links in ("0-0 11-11", "0-4 4-0 11-11", "0-6 6-0 11-11"):  # it is cut elsewhere each time
        model.learn(long, [links[:3], *long[1:]], alignment=links)
        assert model.translate(long).text == " ".join([links[:3], *long[1:]])


def test_a_sentence_wins_over_its_parts(tmp_path: Path) -> None:
    model = trained("hiero", tmp_path / "model")
    for words in ("abc", "def", "abcdef"):
        taught = list(words), list(words.upper()[::-1])
        model.learn(*taught, alignment=" ".join(f"{i}-{len(words) - 1 - i}" for i in range(len(words))))
    for words in ("abcdef", "def", "abc"):
        assert model.translate(list(words)).text == " ".join(words.upper()[::-1])


def test_no_part_of_a_sentence_is_left_out() -> None:
    assert cut_pair(12, 1, Alignment.parse("11-0"), 10) == []
    assert cut_pair(12, 2, Alignment.parse("4-0 11-1"), 10) == [((0, 5), (0, 1)), ((5, 12), (1, 2))]


def test_explaining_goes_on_while_a_model_learns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trained("hiero", tmp_path / "model", options=KINDS["hiero"].options(provenance=True))
    model = load(tmp_path / "model")
    model.explain(ZH)
    model.learn(*PAIR, alignment=LINKS)
    assert [reason.correction is None for reason in model.explain(ZH).reasons] == [False]
    real = Translator.translate

    def undone(translator: Translator, *given: Any) -> Any:  # by another thread
        monkeypatch.undo()
        found = real(translator, *given)
        model.undo()
        return found

    monkeypatch.setattr(Translator, "translate", undone)
    assert [reason.correction is None for reason in model.explain(ZH).reasons] == [False]
    assert model.corrections is not None
    assert not len(model.corrections)


@pytest.fixture(scope="module")
def taught(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Folders of models that have learnt the pair; nobody changes them."""
    out = {}
    for kind in ("hiero", "c2d", "t2t-fuzzy"):
        out[kind] = tmp_path_factory.mktemp("taught") / kind
        trained(kind, out[kind]).learn(*pair(kind), alignment=LINKS)
    return out


@pytest.mark.filterwarnings("ignore::treeglot.models.corrections.CorrectionWarning")
@pytest.mark.parametrize("kind", ["hiero", "c2d", "t2t-fuzzy"])
def test_merged_tables_score_like_corrections(
    kind: str, taught: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "model"
    shutil.copytree(taught[kind], folder)
    with (folder / "corrections.txt").open("a", encoding="utf-8") as stream:
        stream.write("# mine\nforbid ||| ||| 她\nadd ||| [X] ||| 司机 ||| chauffeur\n")
        stream.write("reweight ||| [X] ||| 爸爸 ||| dad ||| ||| preferred=0.5\n")
    expected = outputs(load(folder), kind)

    def check() -> None:
        found = outputs(load(folder), kind)
        assert [text for text, _ in found] == [text for text, _ in expected]
        assert [score for _, score in found] == pytest.approx([score for _, score in expected], abs=1e-4)

    real, calls = compacting.move_in, []

    def interrupted(place: Path, **given: bool) -> None:
        calls.append(place)
        if len(calls) == 2:
            raise KeyboardInterrupt
        real(place, **given)

    monkeypatch.setattr(compacting, "move_in", interrupted)
    with pytest.raises(KeyboardInterrupt):
        compact(folder)
    assert (folder / ".next/rules.table").is_file()
    check()  # the new tables are moved in, and the corrections hold twice
    assert not (folder / ".next").exists()
    monkeypatch.undo()
    merged = compact(folder)
    assert [each.source for each in merged.left] == [PAIR[0], "爸爸"]  # a table has no column for a bonus
    lines = (folder / "corrections.txt").read_text().splitlines()
    assert [line[:8] for line in lines] == ["add ||| ", "# mine", "reweight"]
    check()
    (folder / "provenance.bin").write_bytes(b"old")
    with pytest.raises(UsageError, match=r"provenance.bin, which new tables do not fit; expected --drop-provenance"):
        compact(folder)


def test_sides_that_are_written_otherwise_are_merged(taught: dict[str, Path], tmp_path: Path) -> None:
    folder = shutil.copytree(taught["hiero"], tmp_path / "model")
    lines = [
        r"forbid ||| ||| \她",
        r"add ||| [X] ||| 跳舞 跳舞 ||| \|||",
        r"add ||| [X] ||| 跳舞 [X,2] 跳舞 [X,1] ||| [X,2] to [X,1]",
        r"reweight ||| [X] ||| 跳舞 [X,1] 跳舞 [X,2] ||| [X,1] to [X,2] ||| ||| p_target_given_source=0.001",
    ]
    (folder / "corrections.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    given = ["她", "跳舞 跳舞", "跳舞 爸爸 跳舞 我们"]
    expected = [(each.text, each.score) for each in load(folder).translate_batch(given)]
    assert [text for text, _ in expected[:2]] == ["她", "|||"]
    before = len(pq.read_table(folder / "rules.parquet"))
    forbidden = len(find_rules(folder / "rules.parquet", "她", whole=True)[1])
    assert compact(folder).rules == before + 2 - forbidden
    found = [(each.text, each.score) for each in load(folder).translate_batch(given)]
    assert [text for text, _ in found] == [text for text, _ in expected]
    assert [score for _, score in found] == pytest.approx([score for _, score in expected], abs=1e-4)


def test_rules_that_compiling_leaves_out_stay_corrections(tmp_path: Path) -> None:
    folder = trained("t2t-exact", tmp_path / "model").directory
    wide = "add ||| [X] ||| [X,1] [X,2] [X,3] [X,4] ||| [X,4] [X,3] [X,2] [X,1]"
    (folder / "corrections.txt").write_text(f"add ||| [X] ||| 司机 ||| chauffeur\n{wide}\n", encoding="utf-8")
    assert [str(each) for each in compact(folder).left] == [wide]
    assert (folder / "corrections.txt").read_text() == f"{wide}\n"


@pytest.mark.filterwarnings("ignore:.*'p_rule_given_root' has no weight")
def test_corrections_with_columns_that_the_table_lacks_stay(taught: dict[str, Path], tmp_path: Path) -> None:
    folder = shutil.copytree(taught["hiero"], tmp_path / "model")
    labelled = "add ||| [X] ||| 司机 司机 ||| two drivers" + " |||" * 6 + " A B"
    unknown = "add ||| [X] ||| 司机 爸爸 ||| father ||| ||| p_rule_given_root=0.5"
    lines = f"add ||| [X] ||| 司机 ||| chauffeur\n{labelled}\n{unknown}\n"
    (folder / "corrections.txt").write_text(lines, encoding="utf-8")
    given = ["司机 司机", "司机 爸爸", "司机"]
    before = [each.text for each in load(folder).translate_batch(given)]
    assert [str(each) for each in compact(folder).left] == [labelled, unknown]
    assert [each.text for each in load(folder).translate_batch(given)] == before


@pytest.mark.parametrize("target", ["she ||| ||| ||| Anna", "*"])
def test_teaching_allows_what_was_forbidden(target: str, tmp_path: Path) -> None:
    folder = trained("hiero", tmp_path / "model").directory
    path = folder / "corrections.txt"
    path.write_text(f"forbid ||| [X] ||| \\她 ||| {target}\n", encoding="utf-8")
    model = load(folder)
    assert model.translate("她").text != "she"
    learnt = model.learn(ZH, EN, alignment=LINKS)
    [again] = [rule for rule in learnt.rules if rule.source == "她"]
    assert dict(again.features)["p_target_given_source"] < 1  # as it was, and seen once more
    assert model.translate("她").text == load(folder).translate("她").text == "she"
    assert all(rule.source != "她" for rule in model.learn(ZH, EN, alignment=LINKS).rules)
    model.undo()
    model.undo()
    assert model.translate("她").text != "she"


def test_twenty_kills_lose_nothing_acknowledged(tmp_path: Path) -> None:
    model = trained("hiero", tmp_path / "model")
    acknowledged = [group for group, _, _ in kill_learners(model, PAIR[1])]
    kept = Corrections.read(tmp_path / "model/corrections.txt")
    assert len(acknowledged) >= 30
    assert set(acknowledged) <= set(kept.groups)
    sizes = {group: len(kept.of_group(group)) for group in kept.groups}
    assert len(set(sizes.values())) == 1  # no group is there in part
    assert outputs(load(tmp_path / "model"), "hiero")[-1][0] == PAIR[1]


@pytest.mark.parametrize("kind", ["hiero", "c2d"])
def test_only_sentences_that_can_change_are_translated(kind: str, taught: dict[str, Path]) -> None:
    model = load(taught[kind])
    given = sources(kind)
    words = [ZH[:3], ["我们", "和", "跳舞"], ["司机"]] if kind == "hiero" else []
    given += words
    references = [*(CORPUS / "en.txt").read_text().splitlines(), PAIR[1], *["us"] * len(words)]
    found = check_corrections(model, given, references)
    before, after = (
        [each.text for each in one.translate_batch(given)] for one in (model.with_corrections(None), model)
    )
    assert {change.number: (change.before, change.after) for change in found.changes} == {
        number: texts for number, texts in enumerate(zip(before, after, strict=True)) if texts[0] != texts[1]
    }
    assert 3 in found.touched
    assert set(found.touched) < set(range(len(given)))
    assert found.scores["BLEU"][0] < found.scores["BLEU"][1]
    everywhere = [Correction("forbid", "", "[X,1] [X,2]", None)]
    assert touched(model, given, everywhere) == list(range(len(given)))
    with pytest.raises(UsageError, match="sentences and 1 references; expected as many"):
        check_corrections(model, given, ["one"])


def test_probabilities_with_one_occurrence_more() -> None:
    assert seen_again(0.0, 0.25, 1.0) == 0.2
    assert seen_again(0.25, np.inf, 0.7) == 0.7
    rules = [("a", "x", 0.5, 0.25), ("a", "y", 0.25, 1.0), ("b", "x", 1.0, 0.125)]
    builder = RuleTableBuilder(["p", "q"])
    other = RuleTableBuilder(["row"])
    for source, target, p, q in rules:
        values = [float(np.log(p)), float(np.log(q))]
        builder.add(builder.label("X"), [builder.source_word(source)], [builder.target_word(target)], values, [])
    wanted = [("c", "z"), ("b", "y"), ("a", "x")]
    for row, (source, target) in enumerate(wanted):
        other.add(other.label("X"), [other.source_word(source)], [other.target_word(target)], [float(row)], [])
    table, small = builder.finish(), other.finish()
    least = LeastProbabilities(table, 0, 1, None)
    assert (np.exp(least.lone_given_source), np.exp(least.lone_given_target)) == (1.0, 1.0)
    found = {wanted[int(small.rule(i)[3][0])]: each for i, each in enumerate(least.find(small))}
    assert found["c", "z"] == (None, np.inf, np.inf, np.inf)
    assert found["b", "y"] == (None, 0.0, np.inf, np.inf)  # a target side of one rule counts as new
    rule, given_source, given_target, _ = found["a", "x"]
    assert rule is not None
    assert table.rule(rule)[3] == pytest.approx([np.log(0.5), np.log(0.25)])
    assert np.exp([given_source, given_target]) == pytest.approx([0.25, 0.125])


def test_pairs_that_cannot_be_learnt(taught: dict[str, Path]) -> None:
    model = load(taught["hiero"])
    with pytest.raises(UsageError, match="has no aligner, because it was trained with given links"):
        model.learn(*PAIR)
    with pytest.raises(UsageError, match="a side of the pair is empty"):
        model.learn("", "us", alignment="")
    for links in ("0-7", "0 0"):
        with pytest.raises(UsageError, match="alignment: "):
            model.learn("她", "she", alignment=links)
    with pytest.raises(UsageError, match="has no group 'none'"):
        model.undo("none")
    with pytest.raises(UsageError, match=r"c2d model learns from parses of the target side, and .* has no parser"):
        load(taught["c2d"]).learn(sources("c2d")[-1], PAIR[1], alignment=LINKS)


def test_a_model_keeps_what_it_learns_with(tmp_path: Path) -> None:
    Aligner.train([(ZH, EN)] * 4).save(tmp_path / "saved")
    (tmp_path / "english").write_bytes(b"a parser's model")
    given = {"aligner": tmp_path / "saved", "target_parser": f"udpipe:{tmp_path / 'english'}"}
    model = trained("hiero", tmp_path / "model", **given)
    assert model.file.target_parser == "udpipe:target.parser"
    assert (tmp_path / "model/target.parser").read_bytes() == b"a parser's model"
    shutil.rmtree(tmp_path / "saved")
    Aligner.train([(ZH, EN[::-1])] * 4).save(tmp_path / "other")
    links = [model.learn(*PAIR, aligner=given).links for given in (None, tmp_path / "other", None)]
    assert links[0] == links[2] != links[1]  # another aligner is for one pair
    assert model.translate(PAIR[0]).text == PAIR[1]


class OneParse:
    """A parser that knows one sentence."""

    def __init__(self, words: list[str], parse: Any) -> None:
        self.words, self.value = words, parse

    def parse(self, sentences: Any) -> list[Any]:
        assert list(sentences) == [self.words]
        return [self.value]


@pytest.mark.parametrize("kind", ["c2d", "t2t-fuzzy"])
def test_text_is_parsed_where_the_kind_wants_it(kind: str, taught: dict[str, Path], tmp_path: Path) -> None:
    model = load(shutil.copytree(taught[kind], tmp_path / "model"))
    expected = [(each.lhs, each.source, each.target, each.structure) for each in model.corrections or ()]
    model.undo()
    model.reader.__dict__["parser"] = OneParse(ZH, parsed("source_forests", ZH))
    model.reader.__dict__["target_parser"] = OneParse(EN, parsed("target_trees", EN))
    learnt = model.learn(*PAIR, alignment=LINKS)
    assert [(each.lhs, each.source, each.target, each.structure) for each in learnt.rules] == expected


def test_words_that_mean_something_in_the_file_are_learnt(taught: dict[str, Path], tmp_path: Path) -> None:
    model = load(shutil.copytree(taught["hiero"], tmp_path / "model"))
    model.learn(["她", "|||"], ["*"], alignment="0-0 1-0")
    assert model.translate(["她", "|||"]).text == "*"
    assert load(tmp_path / "model").translate(["她", "|||"]).text == "*"
    odd = ["她", ")", "[X,1]", "a(", "\\b", "|||"]
    model.learn(odd, odd[::-1], alignment="0-5")
    assert load(tmp_path / "model").translate(odd).text == " ".join(odd[::-1])
    before = len(model.corrections or ())
    model.learn(["睡觉", "\ue000"], ["sleeps", "x"], alignment="0-0 1-1")  # the second stands for what stays as it is
    assert len(model.corrections or ()) == before + 1
    model.learn(["睡觉"], ["⟨1⟩"], alignment="0-0")  # a number from nowhere
    assert len(model.corrections or ()) == before + 1


def test_commands(
    taught: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = str(shutil.copytree(taught["hiero"], tmp_path / "model"))
    Aligner.train([(ZH, EN)] * 4).save(tmp_path / "aligner")
    monkeypatch.setattr(sys, "stdin", io.StringIO("她 睡觉\tshe sleeps\n我们 睡觉\twe sleep\n"))
    assert main(["learn", folder, "--aligner", str(tmp_path / "aligner"), "--author", "Anna"]) == 0
    lines = capsys.readouterr().out.splitlines()
    kept = Corrections.read(Path(folder, "corrections.txt"))
    assert kept.corrections[-1].author == "Anna"
    for line, group in zip(lines, kept.groups[1:], strict=True):
        assert line.startswith(f"{group}\t{len(kept.of_group(group))} rules added\t")
    assert load(folder).translate("我们 睡觉").text == "we sleep"
    (tmp_path / "zh").write_text("她 睡觉\n她 爱 司机\n", encoding="utf-8")
    (tmp_path / "en").write_text("she sleeps\nshe loves\n")
    arguments = ["check-corrections", folder, "--dev", str(tmp_path / "zh"), "--refs", str(tmp_path / "en")]
    assert main(arguments) == 0
    shown = capsys.readouterr()
    assert shown.out == "1\t- she 睡觉\n1\t+ she sleeps\n"
    assert "2 sentences, 1 can change, 1 do" in shown.err
    assert main(["undo", folder]) == 0
    assert main(["undo", folder, "--group", lines[0].split("\t")[0]]) == 0
    assert load(folder).corrections is not None
    assert "睡觉" in load(folder).translate("她 睡觉").text
    assert main(["compact", folder]) == 0
    assert [each.source for each in Corrections.read(Path(folder, "corrections.txt"))] == [PAIR[0]]
    assert load(folder).translate(PAIR[0]).text == PAIR[1]
    assert main(["learn", folder, "one side"]) == 2
    assert "one side of a pair is missing" in capsys.readouterr().err
    monkeypatch.setattr(sys, "stdin", io.StringIO("no tab\n"))
    assert main(["learn", folder]) == 1
    assert "standard input:1: 'no tab\\n' is not a pair; expected SOURCE TAB TARGET" in capsys.readouterr().err
