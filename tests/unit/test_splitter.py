"""Words of languages without blanks: those that are several are split, as the corpus has it."""

from itertools import combinations
from math import log
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treeglot import FormatError
from treeglot._core import Tokens
from treeglot.text import TextPipeline, TextSettings, TextSide
from treeglot.text.splitter import WordSplitter


def paths(word: str, counts: dict[str, int]) -> list[tuple[str, ...]]:
    """All ways to make a word of others, by enumeration."""
    cuts = [places for size in range(len(word)) for places in combinations(range(1, len(word)), size)]
    found = [tuple(word[a:b] for a, b in zip((0, *places), (*places, len(word)), strict=True)) for places in cuts]
    return [parts for parts in found if all(part in counts for part in parts)]


@given(
    st.dictionaries(st.text("一二三", min_size=1, max_size=3), st.integers(1, 9), min_size=1),
    st.text("一二三", max_size=6),
)
def test_the_most_likely_words(counts: dict[str, int], word: str) -> None:
    found = WordSplitter(counts).split(word)
    total = sum(counts.values())

    def score(parts: tuple[str, ...]) -> float:
        return sum(log(counts[part] / total) for part in parts)

    known = paths(word, counts)
    if word in counts or not known:
        assert found == (word,)
    else:
        assert score(found) == pytest.approx(max(map(score, known)))


def test_words_that_stand_together_by_chance_are_split() -> None:
    """That 中 and 的 stand together is chance, for both are everywhere; 国 stands after 中 alone."""
    often = [["中", "家", "的", *"abcdefgh"], ["的", "山", "中", *"ijklmnop"]] * 30
    sentences = [*often, *[["中的"]] * 3, *[["中国"]] * 20, ["国"], ["国"], ["山家"], ["国山家"]]
    splitter = WordSplitter.learn(sentences)
    words = ("中的", "中国", "山家", "国山家", "家中国", "X光", "中国x")
    assert [" ".join(splitter.split(word)) for word in words] == [
        *("中 的", "中国", "山 家", "国 山 家", "家 中国", "X光", "中国x")
    ]
    assert WordSplitter.learn(sentences, ["中的"]).split("中的") == ("中的",)


def test_parts_have_their_places() -> None:
    splitter = WordSplitter({"中": 2, "的": 2})
    text = "的中的，中\u200e的。"
    given = Tokens(text, ["的中的", "，", "中的", "。"], [(0, 3), (3, 4), (4, 7), (7, 8)])
    [found] = splitter.apply([given])
    assert found.words == ["的", "中", "的", "，", "中的", "。"]  # what does not show has no place among parts
    assert [text[begin:end] for begin, end in found.spans] == ["的", "中", "的", "，", "中\u200e的", "。"]


@pytest.mark.parametrize(
    ("language", "texts"),
    [
        ("zh", ["我的狗在家。", "他在看我的书。", "狗在看我。", "他的猫在三百零五号。"]),
        ("ja", ["私の犬は家にいます。", "彼は本を読みました。", "犬には名前がある。", "コンピューターを買った。"]),
        ("th", ["ฉันมีหมาสองตัว", "เขาอ่านหนังสือที่บ้าน", "หมาอยู่ที่บ้าน"]),
        ("my", ["ကျွန်တော် ကျောင်းသွားတယ်။", "သူ စာအုပ်ဖတ်တယ်။"]),
    ],
)
def test_text_comes_back(language: str, texts: list[str], tmp_path: Path) -> None:
    """Splitting loses nothing, and a folder holds what was learnt."""
    learnt = TextSide.learn(TextSettings(language), texts * 10)
    english = TextSide(TextSettings("en"))
    TextPipeline(learnt, english).write(tmp_path)
    side = TextPipeline.load(tmp_path).source
    found = side.tokenise(texts)
    assert found == learnt.tokenise(texts, threads=2)
    assert [made.text for made in side.detokenise([tokens.words for tokens in found])] == texts
    for tokens, text in zip(found, texts, strict=True):
        assert tokens.words == [text[begin:end] for begin, end in tokens.spans]
    assert TextSide.learn(TextSettings("en"), ["a b"]).learnt.splitter is None


def test_numbers_stay_whole() -> None:
    texts = ["二十。", "二。", "二。", "十。", "十。", "十狗。", "狗。", "狗。"]
    assert TextSide.learn(TextSettings("zh"), texts).tokenise(texts[:1])[0].words == ["二十", "。"]


@pytest.mark.parametrize("line", ["中", "中 x", " 3", "中 0", "中 -1"])
def test_damaged_files_are_refused(line: str, tmp_path: Path) -> None:
    (tmp_path / "a").write_text(f"的 2\n{line}\n")
    with pytest.raises(FormatError, match=r"a:2: .* is not a word with its count; expected WORD COUNT"):
        WordSplitter.open(str(tmp_path / "a"))
