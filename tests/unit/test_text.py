"""The text layer: words with their places, what is learnt from text, and the way back."""

import pickle
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treeglot import FormatError, UsageError
from treeglot._core import Caser, Segmenter, Spacer, Tokens
from treeglot.text import TextPipeline, TextSettings, TextSide
from treeglot.text.languages import find_language, find_languages
from treeglot.text.numbers import convert_number
from treeglot.text.protected import Protected, addresses, split_protected, tokenise_protected
from treeglot.text.side import Learnt, lowered, train_caser, untokenise
from treeglot.text.variables import NumberVariables
from treeglot.text.words import ADAPTERS, HIDDEN, broken

LANGUAGES = ["ar", "de", "en", "fr", "hi", "it", "ja", "km", "ko", "sv", "th", "zh", "zh-Hant"]


def words(text: str, language: str = "en") -> list[str]:
    [tokens] = TextSide(TextSettings(language)).tokenise([text])
    return tokens.words


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("en", "Don't, he can't.", "Do n't , he ca n't ."),
        ("en", "It’s Tom's dog: they'd've gone.", "It ’s Tom 's dog : they 'd 've gone ."),
        ("en", "The dog 's tail", "The dog 's tail"),
        ("en", "He said 'd'accord'.", "He said ' d'accord ' ."),
        ("en", "The well-known U.S. e-mail cost $3.50 (10%)!", "The well-known U.S. e-mail cost $ 3.50 ( 10 % ) !"),
        ("en", "At 12:30 on 2020-01-02, 1,000,000 -- wait...", "At 12:30 on 2020-01-02 , 1,000,000 -- wait ..."),
        ("en", "See https://a.org/b?c=d-e, or www.b.de.", "See https://a.org/b?c=d-e , or www.b.de ."),
        ("en", "Mail to first.last+tag@sub.example.org.", "Mail to first.last+tag@sub.example.org ."),
        ("en", "3 < 5 <b>and</b> 6 > 2", "3 < 5 <b> and </b> 6 > 2"),
        ("en", '<g id="1">x</g>', '<g\u00a0id="1"> x </g>'),
        ("en", "<a\thref=1\u2028\x00>x", "<a\u00a0href=1\u00a0\u00a0> x"),
        (
            "en",
            "[Https://a.org/b] (www.a.org/b_(c)) {http://[::1]/}",
            "[ Https://a.org/b ] ( www.a.org/b_(c) ) { http://[::1]/ }",
        ),
        ("de", "https://de.a.org/Müller, jürgen.müller@grün.de", "https://de.a.org/Müller , jürgen.müller@grün.de"),
        ("zh", "见www.a.org或a@b.org。", "见 www.a.org 或 a@b.org 。"),
        ("ar", "\u200fفي ١٢:٣٠ يوم ١٢/٣\u200f", "في ١٢:٣٠ يوم ١٢/٣"),
        ("de", "\u2067Donau\u00addampf\u2069 \u200e", "Donaudampf"),
        ("en", "Hi 😀👍🏽 👨‍👩‍👧!", "Hi 😀 👍🏽 👨‍👩‍👧 !"),
        ("fr", "L'homme qu'il a vu aujourd'hui", "L' homme qu' il a vu aujourd'hui"),
        ("it", "Dell'amico un’altra", "Dell' amico un’ altra"),
        ("de", "Geht's, Herr Müller-Lüdenscheidt?", "Geht's , Herr Müller-Lüdenscheidt ?"),
        ("sv", "Vad gör du?", "Vad gör du ?"),
        ("zh", "我喜欢Python3。", "我 喜欢 Python3 。"),
        ("ja", "東京に行きます。", "東京 に 行き ます 。"),
        ("th", "ฉันรักภาษาไทย", "ฉัน รัก ภาษา ไทย"),
    ],
)
def test_words(language: str, text: str, expected: str) -> None:
    assert words(text, language) == expected.split(" ")


@pytest.mark.parametrize(
    "text", ["", " ", "\n", "\x00", "a\ud800b", "\u200b\ufeff", "x" * 10_000, "a " * 10_000, "\u0301"]
)
def test_odd_texts(text: str) -> None:
    [tokens] = TextSide(TextSettings("en")).tokenise([text])
    assert "".join(tokens.words).replace("\ufffd", "\ud800") == "".join(text.replace("\x00", " ").split()).strip(
        "\u200b\ufeff"
    )


@given(st.lists(st.text(), max_size=4), st.sampled_from(LANGUAGES))
def test_words_are_at_their_places(texts: list[str], language: str) -> None:
    for text, tokens in zip(texts, TextSide(TextSettings(language)).tokenise(texts), strict=True):
        assert len(tokens.text) == len(text)
        last = 0
        for word, (begin, end) in zip(tokens.words, tokens.spans, strict=True):
            assert last <= begin < end
            assert word and " " not in word
            assert all(_is_space(character) for character in text[last:begin])
            last = end
        assert all(_is_space(character) for character in text[last:])


def _is_space(character: str) -> object:
    """Whether a character may be in no word."""
    return character.isspace() or ord(character) < 0xA1 or character in "\u200b\ufeff\u1680" or HIDDEN.match(character)


def test_words_are_normalised_and_places_are_not() -> None:
    [tokens] = TextSide(TextSettings("fr")).tokenise(["Cafe\u0301 noir"])
    assert tokens.words == ["Café", "noir"]
    assert tokens.spans == [(0, 5), (6, 10)]


def test_what_does_not_show_has_a_place() -> None:
    [tokens] = TextSide(TextSettings("he")).tokenise(["\u200fab\u200e \u00ad c"])
    assert tokens.words == ["ab", "c"]
    assert tokens.spans == [(1, 4), (7, 8)]


def test_surrogates_do_not_move_places() -> None:
    """A pair of them, too, is two characters."""
    for text in ("\ud83d\ude00 ok", "\udc00\ud800 ok"):
        [tokens] = TextSide(TextSettings("en")).tokenise([text])
        assert tokens.spans[-1] == (3, 5)
        assert TextSide(TextSettings("en")).split(text) == [(0, 5)]


def test_boundaries_are_found_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = ["😀 a\r", "", "b c", "d\ne", "\u0301x", ""]
    for language in ("en", "zh"):
        text, ends = broken(texts, find_language(language))
        for size in (1, 4):
            monkeypatch.setattr("treeglot.text.words.AT_ONCE", size)
            again = broken(texts, find_language(language))
            assert again[0] == text
            assert again[1].tolist() == ends.tolist()
        monkeypatch.undo()


def test_places_count_characters() -> None:
    [tokens] = TextSide(TextSettings("en")).tokenise(["😀😀 ok"])
    assert tokens.spans == [(0, 1), (1, 2), (3, 5)]


def test_tokens_pickle_and_refuse_wrong_spans() -> None:
    [tokens] = TextSide(TextSettings("en")).tokenise(["It's so."])
    assert pickle.loads(pickle.dumps(tokens)) == tokens
    for spans, problem in (
        ([(0, 3)], "word 0 has the span 0-3; expected spans in order, within the text of 2 characters"),
        ([(1, 0)], "word 0 has the span 1-0"),
        ([], "there are 1 words and 0 spans; expected a span for each word"),
    ):
        with pytest.raises(ValueError, match=problem):
            Tokens("ab", ["ab"], spans)


def test_sentences() -> None:
    side = TextSide(TextSettings("en"))
    text = " Dr. Fox left. He ran!\n\n“Why?” she asked."
    assert [text[a:b] for a, b in side.split(text)] == ["Dr. Fox left.", "He ran!", "“Why?” she asked."]
    assert TextSide(TextSettings("zh")).split("你好。再见！") == [(0, 3), (3, 6)]
    assert side.split("") == side.split(" \n ") == []


def test_sentences_end_with_their_lines() -> None:
    side = TextSide(TextSettings("en"))
    text = "one\rtwo\r\nthree\u2028four\x0cfive"
    assert [text[a:b] for a, b in side.split(text)] == ["one", "two", "three", "four", "five"]


@pytest.mark.parametrize("text", ["“我。" * 30, "One two. Mr. Fox ran! " * 20, "x " * 100 + "Y. Z. " * 9, "。" * 50])
def test_sentences_of_long_lines_are_found_in_parts(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    side = TextSide(TextSettings("zh"))
    found = side.split(text)
    for size in (20, 50):
        monkeypatch.setattr("treeglot.text.sentences.AT_ONCE", size)
        assert side.split(text) == found


@given(st.text(), st.sampled_from(LANGUAGES))
def test_sentences_lose_nothing(text: str, language: str) -> None:
    last = 0
    for begin, end in TextSide(TextSettings(language)).split(text):
        assert not text[last:begin].strip()
        last = end
    assert not text[last:].strip()


def test_addresses() -> None:
    def found(text: str) -> list[str]:
        return [text[begin:end] for begin, end in addresses(text)]

    assert found("见https://a.org/b。然后，写给a@b.org！") == ["https://a.org/b", "a@b.org"]
    assert found("HTTP://A.org/x), 邮箱müller@b.org") == ["HTTP://A.org/x", "müller@b.org"]
    assert not found("我" * 200_000)  # in linear time


def test_parts_that_stay_are_words() -> None:
    side = TextSide(TextSettings("en"))
    text = "See a. b now. And c d too."
    given = Protected(text, ((4, 8), (18, 21)))
    places = split_protected(side, given)
    assert places == [(0, 13), (14, 26)]
    sentences = tokenise_protected(side, [(given, place) for place in places])
    assert [tokens.words for tokens in sentences] == [["See", "a.\u00a0b", "now", "."], ["And", "c\u00a0d", "too", "."]]
    assert [tokens.spans[1] for tokens in sentences] == [(4, 8), (4, 7)]


def test_codes_of_languages() -> None:
    assert find_language("DEU").code == "de"
    assert [find_language(code).code for code in ("kor", "tur-Latn", "dut", "yue", "und")] == [
        "ko",
        "tr-Latn",
        "nl",
        "yue",
        "und",
    ]
    assert not find_language("zh-Hant").spaces
    with pytest.raises(UsageError, match="not a language code"):
        TextSettings("english")
    with pytest.raises(UsageError, match="unknown tokeniser 'mecab'; known: icu, learnt, fugashi, jieba, sudachi"):
        TextSettings("ja", tokeniser="mecab")


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr("treeglot.text.words.importlib.import_module", missing)
    for name in ADAPTERS:
        with pytest.raises(UsageError, match=rf"is not installed: pip install treeglot\[{name}\]"):
            TextSide(TextSettings("ja", tokeniser=name)).tokenise(["x"])


def test_another_packages_words_get_their_places(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(ADAPTERS, "halves", lambda: lambda text: iter([text[:2], "  ", text[2:].strip()]))
    [tokens] = TextSide(TextSettings("zh", tokeniser="halves")).tokenise(["你好 世界"])
    assert tokens.words == ["你好", "世界"]
    assert tokens.spans == [(0, 2), (3, 5)]


def test_what_another_package_changes_is_not_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(ADAPTERS, "changing", lambda: lambda text: iter(["ABC", "世界", "\x07", "!"]))
    text = "abc de世界\x07和<a\tb>邮箱a@b.org或www.c.org或\u200f"
    [tokens] = TextSide(TextSettings("zh", tokeniser="changing")).tokenise([text])
    assert tokens.words == ["abc", "de", "世界", "和", "<a\u00a0b>", "邮箱", "a@b.org", "或", "www.c.org", "或"]
    assert [text[begin:end] for begin, end in tokens.spans][3:6] == ["和", "<a\tb>", "邮箱"]
    [tokens] = TextSide(TextSettings("zh", tokeniser="changing")).tokenise(["我" * 200_000])  # in linear time
    assert sum(map(len, tokens.words)) == 200_000


def test_marks_of_other_scripts_lean_on_words() -> None:
    """A tokeniser that is learnt from words alone must see them where text has them."""
    for language, joined in (("ar", "نعم، لا؟"), ("hi", "हाँ। नहीं॥"), ("hy", "այո։"), ("am", "አዎ። አይ፣")):
        assert untokenise([words(joined, language)], find_language(language))[0].text == joined


def test_rules_join_words() -> None:
    english = untokenise(
        [["``", "No", ",", "I", "do", "n't", "(", "yet", ")", ".", '"', "Ok", '"', "."]], find_language("en")
    )
    assert english[0].text == '`` No, I don\'t (yet). "Ok".'
    assert untokenise([["l'", "homme", "."]], find_language("fr"))[0].text == "l'homme."
    assert untokenise([["我", "喜欢", "Tom", "Hanks", "。"]], find_language("zh"))[0].text == "我喜欢Tom Hanks。"


def zh_corpus() -> tuple[list[str], list[str]]:
    """Sentences of few words, some of them ambiguous, with full-width marks in the words and not in the texts."""
    draw = random.Random(7)
    subjects, verbs, objects = (
        ["我们", "他", "小明"],
        ["喜欢", "不 喜欢", "看见 了"],
        ["北京 大学", "大 学生", "猫", "Tom"],
    )
    lines = [f"{draw.choice(subjects)} {draw.choice(verbs)} {draw.choice(objects)} ，" for _ in range(400)]
    return [line.replace(" ", "").replace("，", ",") for line in lines], lines


def test_a_tokeniser_is_learnt() -> None:
    texts, lines = zh_corpus()
    side = TextSide.learn(TextSettings("zh", "learnt"), texts[:300], lines[:300])
    assert [tokens.line for tokens in side.tokenise(texts[300:])] == lines[300:]
    assert side.learnt.unaligned == 0
    [tokens] = side.tokenise([" 他 看见了北京大学,"])
    assert tokens.words == ["他", "看见", "了", "北京", "大学", "，"]
    assert tokens.spans == [(1, 2), (3, 5), (5, 6), (6, 8), (8, 10), (10, 11)]
    [tokens] = side.tokenise(["他喜欢<b>a.b@c.org</b>"])
    assert tokens.words[2:] == ["<b>", "a.b@c.org", "</b>"]


def test_a_tokeniser_is_learnt_without_raw_text() -> None:
    _, lines = zh_corpus()
    side = TextSide.learn(TextSettings("zh", "learnt"), words=lines)
    assert side.tokenise(["小明不喜欢大学生，"])[0].line == "小明 不 喜欢 大 学生 ，"


def test_sentences_with_other_characters_are_counted() -> None:
    texts, lines = zh_corpus()
    side = TextSide.learn(TextSettings("zh", "learnt"), [*texts, "你好", "a b"], [*lines, "你 们 好", "a b c"])
    assert side.learnt.unaligned == 2


def test_learning_needs_words_and_as_many_of_both() -> None:
    with pytest.raises(UsageError, match="expected a tokenised corpus"):
        TextSide.learn(TextSettings("zh", "learnt"), ["你好"])
    with pytest.raises(UsageError, match="nothing to learn from"):
        TextSide.learn(TextSettings("zh"))
    with pytest.raises(ValueError, match="2 raw sentences and 1 in words"):
        TextSide.learn(TextSettings("zh", "learnt"), ["你好", "你"], ["你 好"])
    with pytest.raises(UsageError, match="has not been learnt"):
        TextSide(TextSettings("zh", "learnt")).tokenise(["你好"])


TEXTS = [
    "Tom said: “I like N.Y., don't you?”",
    "The NASA man (Tom) isn't here.",
    "A McDonald's is near.",
    "Is 10\u00a0% of it “his”?",
] * 20


def test_spacing_is_learnt() -> None:
    side = TextSide.learn(TextSettings("en"), TEXTS)
    found = side.detokenise([tokens.words for tokens in side.tokenise(TEXTS)])
    assert [tokens.text for tokens in found] == TEXTS
    for tokens in found:
        assert [tokens.text[begin:end] for begin, end in tokens.spans] == tokens.words


def test_tags_have_blanks_again() -> None:
    text = 'Say <g id="1" x="2">no</g>\u00a0% now.'
    for side in (TextSide(TextSettings("en")), TextSide.learn(TextSettings("en"), [text] * 20)):
        [tokens] = side.detokenise([side.tokenise([text])[0].words])
        assert '<g id="1" x="2">' in tokens.text
        assert tokens.words[1] == '<g\u00a0id="1"\u00a0x="2">'
        begin, end = tokens.spans[1]
        assert tokens.text[begin:end] == '<g id="1" x="2">'
    assert tokens.text == text


def test_case_is_learnt() -> None:
    side = TextSide.learn(TextSettings("en"), TEXTS)
    sentences = [tokens.words for tokens in side.tokenise(TEXTS)]
    folded = side.fold(sentences)
    assert folded[1][:3] == ["the", "nasa", "man"]
    assert side.unfold(folded) == sentences
    assert side.unfold([[]]) == [[]]
    keep = TextSide.learn(TextSettings("en", case="keep"), TEXTS)
    assert keep.fold(sentences) == keep.unfold(sentences) == sentences


def test_text_without_capitals_has_no_case_to_learn() -> None:
    assert train_caser([["a", "b"]]) is None
    assert TextSide.learn(TextSettings("zh"), ["你好"]).unfold([["你好"]]) == [["你好"]]


def test_lower_case_keeps_the_number_of_words() -> None:
    assert lowered([["İ", "A\u00a0B"], [], ["ß"]]) == [["i̇", "a\u00a0b"], [], ["ß"]]


def test_words_with_blanks_remain_one() -> None:
    assert lowered([["New York", "X"], ["", "A"]]) == [["new york", "x"], ["", "a"]]


def test_turkish_letters_keep_their_dots() -> None:
    texts = ["Iğdır İzmir'den ırak.", "İyi ışık Isparta'da.", "Bu ılık su iyi."] * 10
    side = TextSide.learn(TextSettings("tr"), texts)
    sentences = [tokens.words for tokens in side.tokenise(texts)]
    folded = side.fold(sentences)
    assert folded[0][0] == "ığdır"
    assert folded[1][0] == "iyi"
    assert side.unfold(folded) == sentences
    assert side.learnt.caser is not None
    assert side.fold([["IĞDIR"]]) == [["ığdır"]]
    assert TextSide(TextSettings("tr")).unfold([["(", "iyi"]]) == [["(", "İyi"]]


@pytest.mark.threads
def test_threads_do_not_change_results() -> None:
    texts, lines = zh_corpus()
    side = TextSide.learn(TextSettings("zh", "learnt"), texts, lines)
    assert side.tokenise(texts, threads=4) == side.tokenise(texts)
    sentences = [line.split(" ") for line in lines]
    assert side.detokenise(sentences, threads=4) == side.detokenise(sentences)
    english = TextSide.learn(TextSettings("en"), TEXTS)
    folded = english.fold([tokens.words for tokens in english.tokenise(TEXTS, threads=3)])
    assert english.unfold(folded, threads=4) == english.unfold(folded)


def test_a_pipeline_is_saved_and_loaded(tmp_path: Path) -> None:
    texts, lines = zh_corpus()
    made = TextPipeline(
        TextSide.learn(TextSettings("zh", "learnt"), texts, lines), TextSide.learn(TextSettings("en"), TEXTS)
    )
    made.write(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "source.caser",
        "source.segmenter",
        "source.spacer",
        "target.caser",
        "target.spacer",
        "text.toml",
    ]
    bytes_before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    loaded = TextPipeline.load(tmp_path)
    assert loaded.source.settings == made.source.settings
    assert loaded.source.tokenise(texts) == made.source.tokenise(texts)
    folded = made.target.fold([tokens.words for tokens in made.target.tokenise(TEXTS)])
    assert loaded.target.unfold(folded) == made.target.unfold(folded)
    again = tmp_path / "again"
    again.mkdir()
    TextPipeline(
        TextSide.learn(TextSettings("zh", "learnt"), texts, lines), TextSide.learn(TextSettings("en"), TEXTS)
    ).write(again)
    assert {path.name: path.read_bytes() for path in again.iterdir()} == bytes_before


@pytest.mark.parametrize(("name", "kind"), [("segmenter", Segmenter), ("spacer", Spacer), ("caser", Caser)])
def test_damaged_files_are_refused(tmp_path: Path, name: str, kind: type[Segmenter | Spacer | Caser]) -> None:
    side = TextSide.learn(TextSettings("en", "learnt"), TEXTS, [" ".join(text.split()) for text in TEXTS])
    side.learnt.write(tmp_path, "source")
    path = tmp_path / f"source.{name}"
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    with pytest.raises(FormatError, match="damaged"):
        Learnt.load(tmp_path, "source", [name])
    path.write_bytes(content[:100])
    with pytest.raises(FormatError, match=r"bytes long|cut short"):
        kind.open(str(path))


def test_boundaries_count_utf16() -> None:
    text, ends = broken(["😀 a", "b"], find_language("en"))
    assert text == "😀 a\nb"
    assert ends.tolist() == [2, 3, 4, 5, 6]


def test_agreement_with_other_words() -> None:
    texts, lines = zh_corpus()
    side = TextSide.learn(TextSettings("zh", "learnt"), texts, lines)
    assert side.agreement(lines, texts) == 100.0
    whole = [line.replace("看见 了", "看见了") for line in lines]
    # Each "看见了" of one word is two here, neither of them right.
    joined = sum("看见了" in line for line in whole)
    total = sum(len(line.split(" ")) for line in lines)
    wanted = 200 * (total - 2 * joined) / (total + total - joined)
    assert side.agreement(whole, texts) == pytest.approx(wanted)


def test_tokenisers_of_other_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that takes everything apart and drops nothing; Sudachi's own refuses long texts."""

    def cut(text: str) -> Iterator[str]:
        assert len(text) <= 10_000
        return iter(text)

    monkeypatch.setattr("treeglot.text.words._adapter", lambda name: ADAPTERS[name]())  # none is kept for later
    monkeypatch.setitem(sys.modules, "jieba", SimpleNamespace(cut=cut, setLogLevel=lambda level: None))
    side = TextSide(TextSettings("ja", "jieba"))
    text = "\u304b\u3099\u2126 3.5 a@b.org <b c=d> https://a.org/b?c=1。👍🏽\x07a\ud800"
    [tokens] = side.tokenise([text])
    whole = ["3.5", "a@b.org", "<b\u00a0c=d>", "https://a.org/b?c=1", "。", "👍🏽", "a", "\ufffd"]
    assert tokens.words == ["\u304c", "\u03a9", *whole]
    assert tokens.spans[:3] == [(0, 2), (2, 3), (4, 7)]
    assert [tokens.text[begin:end].replace(" ", "\u00a0") for begin, end in tokens.spans[2:]] == whole
    assert [len(found) for found in side.tokenise(["", " ", "字" * 25_000])] == [0, 0, 25_000]


@pytest.mark.parametrize(
    ("languages", "word", "wanted"),
    [
        ("de-en", "1.234.567,89", "1,234,567.89"),
        ("en-de", "1,234.5", "1.234,5"),
        ("en-fr", "-1,234.5%", "-1\u00a0234,5%"),
        ("fr-en", "1\u202f234,5", "1,234.5"),
        ("de-en", "1999", "1999"),
        ("de-en", "3.5.2004", "3.5.2004"),
        ("de-en", "14:30", "14:30"),
        ("de-en", "1.2.3", "1.2.3"),
        ("en-de", "12,34", "12,34"),
        ("de-en", "A4", "A4"),
        ("de-en", "192.168.100.200", "192.168.100.200"),
        ("de-en", "192.168.100.300", "192,168,100,300"),
        ("de-en", "2024-05-01", "2024-05-01"),
        ("de-en", "2024-05-01T12:30:00Z", "2024-05-01T12:30:00Z"),
        ("de-en", "12:30:15", "12:30:15"),
        ("de-en", "3,5kg", "3.5kg"),
        ("de-en", "1.500km²", "1,500km²"),
        ("ar-en", "١٢٣٫٥", "123.5"),
        ("ja-en", "１２３", "123"),
        ("zh-en", "二〇〇八", "2008"),
        ("zh-en", "三百零五", "305"),
        ("zh-en", "三百五", "350"),
        ("zh-en", "两三", "两三"),  # two or three
        ("zh-en", "九" * 5000, "九" * 5000),
        ("zh-ja", "三百零五", "三百零五"),
        ("zh-en", "万一", "万一"),
        ("zh-en", "一", "一"),
        ("de-en", "", ""),
    ],
)
def test_numbers_have_the_form_of_the_target_language(languages: str, word: str, wanted: str) -> None:
    assert convert_number(word, *find_languages(languages)) == wanted


def test_units_of_measurement() -> None:
    """Numbers are variables, units words of their own, and blanks as the language has them, learnt or not."""
    source, target = TextSide(TextSettings("de")), TextSide.learn(TextSettings("en"), ["A dog runs."] * 20)
    numbers = NumberVariables(source.language, target.language)
    given = ["5 km", "20 °C", "-20 °F", "3,5 kg", "10 %", "10%", "30 m²", "100 km/h", "192.168.100.200", "1.2.3"]
    found = [tokens.words for tokens in source.tokenise(given)]
    assert [" ".join(numbers.fold_source(words)) for words in found] == [
        *("5 km", "⟨1⟩ °C", "- ⟨1⟩ °F", "⟨1⟩ kg", "⟨1⟩ %", "⟨1⟩ %", "⟨1⟩ m²", "⟨1⟩ km / h", "⟨1⟩", "⟨1⟩"),
    ]
    out = [numbers.unfold(numbers.fold_source(words), words) for words in found]
    wanted = ["5 km", "20 °C", "3.5 kg", "10%", "10%", "30 m²", "192.168.100.200", "1.2.3"]
    assert [target.detokenise([out[place]])[0].text for place in (0, 1, 3, 4, 5, 6, 8, 9)] == wanted
    assert target.detokenise([["it", "is", "$", "77.50", "."]])[0].text == "it is $77.50."


def test_sentences_begin_with_a_capital_if_the_corpus_has_none() -> None:
    side = TextSide.learn(TextSettings("en", "learnt"), words=["« it is john ."] * 3)
    assert side.unfold([["«", "it", "is", "john", "."], ["3", "dogs"], [], ["."]]) == [
        ["«", "It", "is", "john", "."],
        ["3", "dogs"],
        [],
        ["."],
    ]
    kept = TextSide(TextSettings("en", case="keep"))
    assert kept.unfold([["it"]]) == [["it"]]


def test_numbers_as_variables() -> None:
    numbers = NumberVariables(*find_languages("de-en"), frozenset({"20"}))
    pair = numbers.fold_pair(["1999", "20", "3,5", "und", "77"], ["3.5", "and", "1999", "in", "20"])
    assert pair == (["⟨1⟩", "20", "⟨2⟩", "und", "77"], ["⟨2⟩", "and", "⟨1⟩", "in", "20"])
    source = ["1999", "1.000", "77", "1999", "88", "20", "7"]
    assert numbers.fold_source(source) == ["⟨1⟩", "⟨2⟩", "⟨3⟩", "⟨1⟩", "88", "20", "7"]
    assert numbers.unfold(["a", "⟨2⟩", "⟨1⟩", "⟨1⟩"], source) == ["a", "1,000", "1999", "1999"]
    assert numbers.fold_pair(["um", "14:30"], ["at", "14:30"]) == (["um", "⟨1⟩"], ["at", "⟨1⟩"])
    assert numbers.unfold(["at", "⟨1⟩"], ["um", "3.5.2004"]) == ["at", "3.5.2004"]
    assert numbers.unfold(["⟨3⟩"], ["44"]) == ["44"]  # a rule gave what the sentence has not
    assert numbers.unfold(["⟨1⟩"], ["x"]) == ["…"]
