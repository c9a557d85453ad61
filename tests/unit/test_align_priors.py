"""Priors of word pairs: lexicons, cognates and stems."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import pytest

from treeglot import _core
from treeglot.align import Aligner
from treeglot.align.aligners import read_lexicon
from treeglot.base.errors import FormatError, UsageError
from treeglot.experiment import load_recipe, steps_of

# Every pair has the same two words a side: nothing in the text says which belong together.
SAME = [(["a", "b"], ["x", "y"]), (["b", "a"], ["x", "y"])] * 4


def linked(pairs: list[tuple[list[str], list[str]]], **options: Any) -> Aligner:
    return Aligner.train(pairs, options={"rounds": 20, "chains": 8, "model": "ibm1", **options})


def test_a_lexicon_decides_what_the_text_does_not(tmp_path: Path) -> None:
    for known, others in (({"a": "y", "b": "x"}, "0-1 1-0"), ({"a": "x", "b": "y"}, "0-0 1-1")):
        (tmp_path / "words").write_text("".join(f"{s}\t{t}\n" for s, t in known.items()) + "unseen\tword\n")
        aligner = linked(SAME, lexicon=str(tmp_path / "words"), lexicon_links=20.0)
        assert str(aligner.align(["a", "b"], ["x", "y"])) == others
        shares = {(s, t): forward for s, t, forward, _ in aligner.lexicon()}
        assert all(shares[pair] > 0.8 for pair in known.items())
        # It is told once: an update neither reads the file nor adds it again.
        (tmp_path / "words").unlink()
        again = {(s, t): forward for s, t, forward, _ in aligner.update(SAME[:1]).lexicon()}
        assert all(again[pair] > 0.8 for pair in known.items())
        assert _counts(aligner.update([(["z"], ["z"])])) == _counts(aligner)
        aligner.save(tmp_path / "saved")
        assert str(Aligner.load(tmp_path / "saved").align(["a", "b"], ["x", "y"])) == others
    (tmp_path / "words").write_text("unseen\tword\n")
    with pytest.warns(UserWarning, match="words: no word pair occurs in the text"):
        linked([(["q"], ["r"])], lexicon=str(tmp_path / "words"))


def _counts(aligner: Aligner) -> list[tuple[str, str, float]]:
    return [(s, t, round(forward, 4)) for s, t, forward, _ in aligner.lexicon() if s != "z"]


@pytest.mark.parametrize("line", ["a", "a\t", "a\tb\tc", "a\tb\t-1", "a\tb\t1\t2", "", "a\tb\tnan", "a\tb\t1001"])
def test_a_bad_lexicon_is_refused(line: str, tmp_path: Path) -> None:
    (tmp_path / "words").write_text(f"a\tb\na\tc\t2.5\n{line}\n")
    with pytest.raises(FormatError, match=r"words:3: .* is not a word pair; expected SOURCE TAB TARGET"):
        read_lexicon(tmp_path / "words")
    (tmp_path / "words").write_text("a\tb\na\tc\t2.5\n")
    assert read_lexicon(tmp_path / "words", 3) == [("a", "b", 3), ("a", "c", 2.5)]


def subsequence(a: str, b: str) -> int:
    """The length of the longest common subsequence."""
    if not a or not b:
        return 0
    if a[0] == b[0]:
        return 1 + subsequence(a[1:], b[1:])
    return max(subsequence(a[1:], b), subsequence(a, b[1:]))


@pytest.mark.parametrize(
    ("source", "target"),
    [("Musik", "music"), ("1984", "1984"), ("kurz", "short"), ("und", "uns"), ("naïve", "naive"), ("Haus", "house")],
)
def test_similarity(source: str, target: str) -> None:
    share = subsequence(source.lower(), target.lower()) / max(len(source), len(target), 1)
    wanted = share if share >= 0.7 and min(len(source), len(target)) >= 4 else 0.0
    found = _core.cognate_similarity(source, target)
    assert found == pytest.approx(1.0 if source == target else wanted)
    assert _core.cognate_similarity(target, source) == found


def test_cognates_are_linked_even_if_they_occur_once() -> None:
    pairs = [*SAME, (["b", "Transistor", "a"], ["x", "y", "transistors"]), (["a", "1984"], ["1984", "y"])]
    aligner = linked(pairs, cognates=5.0)
    assert (1, 2) in set(aligner.align(*pairs[-2]))
    assert (1, 0) in set(aligner.align(*pairs[-1]))


def test_stems_tell_of_forms_that_occur_once() -> None:
    clear = [(["singt"], ["sings"]), (["lacht"], ["laughs"])] * 6
    odd = (["singen", "lachen"], ["laughing", "singing"])
    assert str(linked([*clear, odd], stems=5.0).align(*odd)) == "0-1 1-0"


@pytest.mark.parametrize(("method", "options"), [("sampler", {}), ("sampler", {"stems": 1.0}), ("hmm", {})])
def test_what_comes_before_rounds_can_be_interrupted(method: str, options: dict[str, Any]) -> None:
    told: list[tuple[int, int]] = []

    def stop(done: int, of: int) -> None:
        told.append((done, of))
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Aligner.train(SAME, method, options=options, report=stop)
    assert told == [(0, 1)]


def test_more_links_than_can_be_counted_are_refused(tmp_path: Path) -> None:
    pairs = [(["a"], ["x"])] * 13
    Aligner.train(pairs).save(tmp_path)
    file = str(tmp_path / "aligner.bin")
    content = _core.read_sections(file, "aligner", 1)
    _core.write_sections(file, "aligner", 1, content | {"forward.links": struct.pack("<f", 2.0**27)})
    problem = "a word occurs 13 times, and a word pair has 134217728 links already; expected at most 33554431 in all"
    with pytest.raises(UsageError, match=problem):
        Aligner.load(tmp_path).update(pairs)


def test_a_recipe_finds_its_lexicon(tmp_path: Path) -> None:
    for name in ("a", "b", "c", "d", "words"):
        (tmp_path / name).write_text("x\ty\n")
    text = (
        "[corpus]\nsource = 'a'\ntarget = 'b'\n[align]\noptions = { lexicon = 'words' }\n"
        "[test.t]\nsource = 'c'\nreferences = ['d']\n[[system]]\nname = 'h'\nkind = 'hiero'\n"
        "tune = { method = 'none' }\n"
    )
    (tmp_path / "recipe.toml").write_text(text)
    (step,) = [step for step in steps_of(load_recipe(tmp_path / "recipe.toml")) if step.name == "align"]
    assert step.inputs["lexicon"] == tmp_path / "words"
