"""Files of weights and k-best lists: what is read, what is written, what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from treeglot.base.errors import FormatError
from treeglot.base.numbers import LARGEST
from treeglot.decode.kbest import write_kbest
from treeglot.decode.weights import read_weights, write_weights
from treeglot.tune.kbest import KBest
from treeglot.tune.pool import Pool

NAMES = st.text(st.characters(exclude_categories=["Cs", "Cc", "Z"]), min_size=1).filter(
    lambda name: not name.startswith("#") and not any(c.isspace() for c in name)
)


@given(st.dictionaries(NAMES, st.floats(-LARGEST, LARGEST)))
def test_weights_survive_the_file(tmp_path_factory, weights: dict[str, float]) -> None:
    path = tmp_path_factory.mktemp("weights") / "a.weights"
    write_weights(path, weights, "made\nby hand")
    assert read_weights(path) == {name: weight for name, weight in weights.items() if weight}
    first = path.read_bytes()
    assert first.startswith(b"# made\n# by hand\n")
    write_weights(path, dict(reversed(weights.items())), "made\nby hand")
    assert path.read_bytes() == first


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("lm 1\nlm\n", 2, "'lm' is not a weight; expected NAME VALUE such as lm 0.5"),
        ("lm " + 40_000 * "1" + "x\n", 1, f"the weight of lm is '{30 * '1'}'; expected a finite number"),
        ("lm " + 40_000 * "1" + "\n", 1, f"the weight of lm is '{30 * '1'}'; expected a finite number"),
        ("lm " + 350 * "1" + "\n", 1, f"the weight of lm is '{30 * '1'}'; expected a finite number"),
        ("=\n", 1, "'=' is not a weight; expected NAME VALUE such as lm 0.5"),
        ("lm 1 2\n", 1, "'lm 1 2' is not a weight; expected NAME VALUE such as lm 0.5"),
        (" 1\n", 1, "' 1' is not a weight; expected NAME VALUE such as lm 0.5"),
        ("lm = 1\n", 1, "'lm = 1' is not a weight; expected NAME VALUE such as lm 0.5"),
        ("lm one\n", 1, "the weight of lm is 'one'; expected a finite number"),
        ("lm 1_000\n", 1, "the weight of lm is '1_000'; expected a finite number"),
        ("lm nan\n", 1, "the weight of lm is 'nan'; expected a finite number"),
        ("lm 1e999\n", 1, "the weight of lm is '1e999'; expected a finite number"),
        ("# note\n\nlm 1\nlm 2\n", 4, "lm has a weight already"),
    ],
)
def test_bad_weights(tmp_path: Path, text: str, line: int, problem: str) -> None:
    path = tmp_path / "bad.weights"
    path.write_text(text)
    with pytest.raises(FormatError) as error:
        read_weights(path)
    assert str(error.value) == f"{path}:{line}: {problem}"


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ({"a b": 1.0}, "'a b' is not the name of a feature; expected no blanks and no # at its beginning"),
        ({"#a": 1.0}, "'#a' is not the name of a feature; expected no blanks and no # at its beginning"),
        ({"": 1.0}, "'' is not the name of a feature; expected no blanks and no # at its beginning"),
        ({"a": float("inf")}, "the weight of a is inf; expected a finite number"),
    ],
)
def test_weights_that_cannot_be_written(tmp_path: Path, weights: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError) as error:
        write_weights(tmp_path / "bad.weights", weights)
    assert str(error.value) == message
    assert list(tmp_path.iterdir()) == []


TEXTS = st.lists(st.sampled_from(["a", "b", "中", "||", "="]), max_size=4).map(" ".join)
VALUES = st.floats(-1000, 1000, width=32).filter(bool)
LISTS = st.lists(st.lists(st.tuples(TEXTS, st.dictionaries(NAMES, VALUES, max_size=3)), max_size=3), max_size=4)


def as_lists(kbest: KBest) -> list[list[tuple[str, dict[str, float]]]]:
    found: list[list[tuple[str, dict[str, float]]]] = [[] for _ in range(len(kbest))]
    for hypothesis, sentence in enumerate(kbest.sentences()):
        row = slice(int(kbest.first_feature[hypothesis]), int(kbest.first_feature[hypothesis + 1]))
        pairs = zip(kbest.features[row].tolist(), kbest.values[row].tolist(), strict=True)
        found[sentence].append((kbest.texts[hypothesis], {kbest.names[feature]: value for feature, value in pairs}))
    return found


@given(LISTS)
def test_kbest_lists_survive_files(tmp_path_factory, lists) -> None:
    folder = tmp_path_factory.mktemp("kbest")
    kbest = KBest.of(lists)
    assert as_lists(kbest) == lists
    kbest.save(folder / "a.kbest")
    assert as_lists(KBest.load(folder / "a.kbest")) == lists
    write_kbest(folder / "a.txt.gz", kbest.entries())
    assert as_lists(KBest.read(folder / "a.txt.gz", len(lists), missing=True)) == lists


def test_a_kbest_list_as_text(tmp_path: Path) -> None:
    kbest = KBest.of([[("a b", {"lm": -1.5, "words": 2})], [], [("", {})]])
    write_kbest(tmp_path / "k", kbest.entries())
    assert (tmp_path / "k").read_text() == "0 ||| a b ||| lm= -1.5 words= 2\n2 |||  ||| \n"
    scored = KBest(*(getattr(kbest, name) for name in list(kbest.__dataclass_fields__)[:-1]), np.array([-1.0, 0.25]))
    write_kbest(tmp_path / "k", scored.entries())
    assert (tmp_path / "k").read_text() == "0 ||| a b ||| lm= -1.5 words= 2 ||| -1\n2 |||  |||  ||| 0.25\n"
    assert as_lists(KBest.read(tmp_path / "k", 3, missing=True)) == as_lists(kbest)


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("0 ||| a\n", 1, "2 parts between |||; expected SENTENCE ||| TRANSLATION ||| NAME= VALUE … ||| SCORE"),
        ("0 ||| a ||| lm=1\nx ||| a |||\n", 2, "'x' is not the number of a sentence; expected 0, 1, 2 …"),
        ("-1 ||| a |||\n", 1, "'-1' is not the number of a sentence; expected 0, 1, 2 …"),
        ("2 ||| a |||\n", 1, "sentence 2; there are references for 2, from 0 on"),
        ("1 ||| a |||\n0 ||| a |||\n", 2, "sentence 0 after sentence 1; expected them in order"),
        ("0 ||| a ||| lm: -1\n", 1, "'lm:' is not a feature; expected NAME= VALUE, a finite number"),
        ("0 ||| a ||| lm=\n", 1, "'lm=' is not a feature; expected NAME= VALUE, a finite number"),
        ("0 ||| a ||| lm= words= 1\n", 1, "'lm=' is not a feature; expected NAME= VALUE, a finite number"),
        ("0 ||| a ||| tm= 1 x\n", 1, "'x' is not a feature; expected NAME= VALUE, a finite number"),
        ("0 ||| a ||| =1\n", 1, "'=1' is not a feature; expected NAME= VALUE, a finite number"),
        ("0 ||| a ||| lm=nan\n", 1, "'lm=nan' is not a feature; expected NAME= VALUE, a finite number"),
        ("0 ||| a ||| lm=1 lm=2\n", 1, "feature lm is there twice"),
        ("0 ||| a ||| lm= 1e39\n", 1, "'1e39' is not a feature; expected NAME= VALUE, a finite number"),
    ],
)
def test_bad_kbest_lists(tmp_path: Path, text: str, line: int, problem: str) -> None:
    path = tmp_path / "bad.kbest"
    path.write_text(text)
    with pytest.raises(FormatError) as error:
        KBest.read(path, sentences=2)
    assert str(error.value) == f"{path}:{line}: {problem}"


@pytest.mark.parametrize(("text", "absent", "first"), [("", 3, 0), ("0 ||| a |||\n2 ||| b |||\n", 1, 1)])
def test_lists_without_hypotheses_for_a_sentence(tmp_path: Path, text: str, absent: int, first: int) -> None:
    path = tmp_path / "k"
    path.write_text(text)
    with pytest.raises(FormatError) as error:
        KBest.read(path, sentences=3)
    problem = f"has nothing for {absent} of 3 sentences, the first is sentence {first}"
    assert str(error.value) == f"{path}: {problem}; expected hypotheses for each, as there are references"


def test_a_tab_is_a_blank(tmp_path: Path) -> None:
    (tmp_path / "w").write_text("lm\t0.5\nglue  1 \n")
    assert read_weights(tmp_path / "w") == {"lm": 0.5, "glue": 1.0}


def test_kbest_lists_that_cannot_be_kept(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"^the translation 'a\\nb' has a line feed in it$"):
        KBest.of([[("a\nb", {})]]).save(tmp_path / "k")
    twice = KBest(
        ["lm"],
        np.array([0, 1], dtype=np.uint32),
        ["a"],
        np.array([0, 2], dtype=np.uint64),
        np.zeros(2, dtype=np.uint32),
        np.ones(2, dtype=np.float32),
    )
    from treeglot.evaluate import Bleu

    with pytest.raises(ValueError, match=r"^a hypothesis of sentence 0 has feature lm twice$"):
        Pool(Bleu().prepare([["a"]])).merged(twice)
