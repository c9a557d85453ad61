"""Minimum Bayes risk in `translate`, and `treeglot combine`."""

import math
import random
from pathlib import Path

import pytest
from small_table import model_folder, table

from treeglot.base.errors import UsageError
from treeglot.cli import main
from treeglot.decode import SearchOptions, Translator
from treeglot.decode.consensus import ConsensusOptions
from treeglot.decode.weights import read_weights
from treeglot.tune.combination import Combination
from treeglot.tune.decoder import DecoderTranslator

# "w x v" scores best, but only "w y …" have "w y" in common.
RULES = [("X", "a b", "w x v", -1.0), ("X", "a b", "w y z", -1.1), ("X", "a b", "w y u", -1.2)]
LISTS = {
    "hiero": "0 ||| a b c ||| lm= -1 ||| -1\n0 ||| a x c ||| lm= -2 ||| -1.5\n1 ||| d ||| ||| -1\n",
    "c2s": "0 ||| a x c ||| ||| -10\n0 ||| a x d ||| ||| -12\n",
    "moses": "0 ||| a x c ||| ||| -3\n0 ||| e f g h ||| ||| -3.2\n1 ||| i j k l ||| ||| -1\n",
}


def test_mbr_chooses_what_hypotheses_agree_on() -> None:
    plain = Translator(table(*RULES), {"p": 1.0, "glue": -0.1, "unknown": -5.0})
    risk = plain.with_search(SearchOptions(mbr=10))
    assert plain.translate("a b").text == "w x v"
    assert risk.translate("a b").text == "w y z"
    batch = risk.translate_batch(["a b", "", "a b"], kbest=2, threads=2)
    assert [[h.text for h in one.hypotheses] for one in batch] == [["w y z", "w y u"], [], ["w y z", "w y u"]]
    assert plain.with_search(SearchOptions(mbr=1)).translate("a b").text == "w x v"
    assert plain.with_search(SearchOptions(mbr=10, mbr_scale=50.0)).translate("a b").text == "w x v"


@pytest.fixture
def lists(tmp_path: Path) -> list[str]:
    for name, content in LISTS.items():
        (tmp_path / f"{name}.kbest").write_text(content)
    return [str(tmp_path / f"{name}.kbest") for name in LISTS]


def test_combine_prints_what_systems_agree_on(
    lists: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["combine", *lists]) == 0
    shown = capsys.readouterr()
    assert shown.out.splitlines()[0] == "a x c"
    assert shown.out.splitlines()[1] in {"d", "i j k l"}
    assert "list 2 has nothing for 1 of 2 sentences" in shown.err


def test_combine_tunes_and_keeps_weights(lists: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "refs").write_text("e f g h\ni j k l\n")
    saved = tmp_path / "weights"
    command = ["combine", *lists, "--method", "mert", "--refs", str(tmp_path / "refs")]
    assert main([*command, "--save", str(saved)]) == 0
    tuned = capsys.readouterr()
    assert tuned.out == "e f g h\ni j k l\n"
    assert "with equal weights" in tuned.err
    assert main(["combine", *lists, "--weights", str(saved)]) == 0
    assert capsys.readouterr().out == tuned.out
    assert set(read_weights(saved)) <= set(Combination({"1": [], "2": [], "3": []}).features)


def test_scales_of_scores_do_not_count() -> None:
    given = {"a": [[("x y", -1.0), ("x z", -2.0)]], "b": [[("x z", -1.0), ("w z", -1.5)]]}
    times = {name: [[(text, 1000 * score) for text, score in each] for each in found] for name, found in given.items()}
    assert Combination(given).best() == Combination(times).best() == ["x z"]


# Forests of "a b c" have "w y s", which no list has; lists agree on "w y" and "y s".
AGAIN = [("X", "a", "w", -1.0), ("X", "b", "x", -1.0), ("X", "b", "y", -4.0), ("X", "c", "t", -1.0)]
AGAIN += [("X", "c", "s", -4.0)]
VOTES = {
    "one": [[("w y k l", 0.0)]],
    "two": [[("m n y s", 0.0), ("o p y s", -1.0)]],
    "three": [[("w y q r", 0.0)]],
    "four": [[("u v y s", 0.0)]],
}


@pytest.mark.parametrize("margin", [math.inf, 7.0, 2.0])
def test_forests_are_searched_for_what_lists_agree_on(margin: float) -> None:
    translator = Translator(table(*AGAIN), {"p": 1.0, "glue": -0.1}, options=SearchOptions(pop_limit=0, per_source=0))
    tunable = DecoderTranslator(translator, "small")
    everything = tunable.translate(["a b c"], translator.weights, 1000)
    best = max(entry.score or 0.0 for entry in everything.entries())
    near = [entry.text for entry in everything.entries() if (entry.score or 0.0) >= best - margin]
    combination = Combination(VOTES, ConsensusOptions(precision=0.7, found=3, margin=margin))
    found = tunable.translate(["a b c"], translator.weights, 1, combination.hopes())
    [candidates] = combination.candidates([found])
    assert set(candidates) <= {near[0], *near}
    exhaustive = Combination(VOTES, combination.options, [near])
    gains = dict(zip(exhaustive.found[0].texts, exhaustive.found[0].gains(combination.options), strict=True))
    wanted = sorted((gains[text] for text in near), reverse=True)[:3]
    assert [gains[text] for text in found.texts[1:]] == pytest.approx(wanted, abs=1e-9)
    assert Combination(VOTES, combination.options, [candidates]).best() == exhaustive.best()
    assert (exhaustive.best() == ["w y s"]) == (margin > 6)


def test_candidates_do_not_vote() -> None:
    plain = Combination(VOTES)
    more = Combination(VOTES, candidates=[["q w z", "q w z u"]])
    assert more.features == plain.features
    assert more.best({"own_three": 1.0}) == ["w y q r"]
    rows = dict(zip(more.found[0].texts, more.rows(0).tolist(), strict=True))
    for text, row in zip(plain.found[0].texts, plain.rows(0).tolist(), strict=True):
        assert rows[text] == row


def test_scorers_add_features_to_each_text() -> None:
    """The choice is that of a weighted sum over all texts, written out."""
    scorers = {
        "long": lambda pairs: [float(len(text)) for _, text in pairs],
        "same": lambda pairs: [float(len(set(source) & set(text))) for source, text in pairs],
    }
    lists = {
        "a": [[("x y", -1.0), ("x z v", -2.0)], [("u", 0.0)], []],
        "b": [[("x z", -1.0), ("w z", -1.5)], [("u v", -1.0), ("v", -2.0)], []],
    }
    sources = ["w v", "u v", ""]
    found, plain = Combination(lists, sources=sources, scorers=scorers), Combination(lists)
    assert found.features == [*plain.features, "long", "same"]
    rng = random.Random(1)
    for _ in range(50):
        weights = {name: rng.uniform(-1, 1) for name in found.features}
        wanted = []
        for i, (source, one) in enumerate(zip(sources, plain.found, strict=True)):
            sums = {
                text: sum(weights[name] * value for name, value in zip(plain.features, row, strict=True))
                + sum(weights[name] * scorer([(source, text)])[0] for name, scorer in scorers.items())
                for text, row in zip(one.texts, plain.rows(i), strict=True)
            }
            wanted.append(max(sums, key=lambda text: sums[text]) if sums else "")
        assert found.best(weights) == wanted
    assert found.best() == plain.best()  # without weights of their own, scorers change nothing
    with pytest.raises(UsageError, match="there are 1 source sentences; the lists have 3"):
        Combination(lists, sources=["w"], scorers=scorers)
    with pytest.raises(UsageError, match="a scorer is called words, which is a feature"):
        Combination(lists, sources=sources, scorers={"words": scorers["long"]})


def test_combine_tunes_scorers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One sentence's best text is the first and the other's is the second: only the scorer tells them apart."""
    entries = ["0 ||| a b c p ||| ||| -1", "0 ||| a b c q ||| ||| -2", "1 ||| d e f r ||| ||| -1"]
    (tmp_path / "kbest").write_text("\n".join([*entries, "1 ||| d e f s ||| ||| -2"]) + "\n")
    (tmp_path / "refs").write_text("a b c p\nd e f s\n")
    (tmp_path / "source").write_text("A\nD\n")
    scored = ["--scorer", "right=awk '{print /p$|s$/ ? 1 : 0}'", "--source", str(tmp_path / "source")]
    given, saved = ["combine", str(tmp_path / "kbest"), "--method", "mert"], str(tmp_path / "weights")
    assert main([*given, *scored, "--refs", str(tmp_path / "refs"), "--save", saved]) == 0
    assert capsys.readouterr().out == "a b c p\nd e f s\n"
    assert read_weights(saved)["right"] > 0
    assert main([*given, *scored, "--weights", saved]) == 0
    assert capsys.readouterr().out == "a b c p\nd e f s\n"
    for arguments, problem in (
        (["--weights", saved], "unknown feature 'right'"),
        (scored, "scorers have no weights; expected --refs"),
        ([*scored[:2], "--weights", saved], "--scorer and --source belong together"),
    ):
        assert main([*given, *arguments]) != 0
        assert problem in capsys.readouterr().err


def test_combine_searches_models_again(lists: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    hiero = model_folder(tmp_path / "model")
    (tmp_path / "in").write_text("das haus\ndas haus\n")
    assert main(["combine", *lists, f"{hiero}={tmp_path / 'in'}", "--again"]) == 0
    shown = capsys.readouterr()
    assert "texts of search forests" in shown.err
    assert len(shown.out.splitlines()) == 2
    assert main(["translate", str(hiero), str(tmp_path / "in"), "--kbest", "200", "-o", str(tmp_path / "kbest")]) == 0
    capsys.readouterr()
    outputs = []
    model = f"{hiero}={tmp_path / 'in'}"
    for system in (model, f"other={model}", f"model={tmp_path / 'kbest'}"):  # a model is its list
        assert main(["combine", *lists, system]) == 0
        outputs.append(capsys.readouterr().out)
    assert outputs[0] == outputs[1] == outputs[2]
    (tmp_path / "in").write_text("das haus\n")
    assert main(["combine", *lists, f"{hiero}={tmp_path / 'in'}"]) != 0
    assert "has 1 sentences; expected 2, as the others have" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "content", "problem"),
    [
        (["a=one.kbest", "a=one.kbest"], "0 ||| a ||| ||| 1\n", "two systems have the same name, a; expected"),
        (
            ["no/model=one.kbest"],
            "0 ||| a ||| ||| 1\n",
            "no/model has no model.toml; expected a model's folder",
        ),
        (["hiro=one.kbest"], "das haus\n", "it was read as a k-best list, since hiro is not the folder of a model"),
        (["."], "0 ||| a ||| ||| 1\n", ". is a folder; expected MODEL=INPUT"),
        (["a b=one.kbest"], "0 ||| a ||| ||| 1\n", "has the name 'a b'"),
        (["one.kbest", "--seed", "-1"], "0 ||| a ||| ||| 1\n", "--seed"),
        (["x=one.kbest", "--weights", "w"], "0 ||| a ||| ||| 1\n", "unknown feature 'own_y'; did you mean 'own_x'?"),
        (["one.kbest"], "0 ||| a ||| f= 1\n", "one.kbest:1: has no score"),
        (["one.kbest"], "1 ||| a ||| ||| 1\n0 ||| a ||| ||| 1\n", "one.kbest:2: sentence 0 after sentence 1"),
        (["one.kbest"], "", "one.kbest: is empty"),
        (["one.kbest", "--size", "0"], "0 ||| a ||| ||| 1\n", "size is 0"),
        (["one.kbest", "--set", "scale=-1"], "0 ||| a ||| ||| 1\n", "scale is -1"),
        (["one.kbest", "--again"], "0 ||| a ||| ||| 1\n", "--again is for models; expected a system MODEL=INPUT"),
        (["one.kbest", "--save", "w"], "0 ||| a ||| ||| 1\n", "--save is for tuned weights"),
        (["one.kbest", "--refs", "refs"], "1 ||| a ||| ||| 1\n", "has 1 lines; the lists have 2 sentences"),
    ],
)
def test_combine_refuses(
    arguments: list[str],
    content: str,
    problem: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("one.kbest").write_text(content)
    Path("refs").write_text("a\n")
    Path("w").write_text("own_y 1\n")
    assert main(["combine", *arguments]) != 0
    assert problem in capsys.readouterr().err
