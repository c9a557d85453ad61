"""The sample corpus: what it holds, how it is split and written, and that its sentences are right."""

from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path

import pytest

from treeglot.cli import main
from treeglot.parse.brackets import compare
from treeglot.sample import forests, read_pairs, split, write_corpus
from treeglot.sample.corpus import SamplePair
from treeglot.sample.varied import varied
from treeglot.syntax import ParseForest, Tree
from treeglot.syntax.formats import read_alignments, read_dependencies, read_forests, read_text, read_trees

PARTS = {"train": 2600, "dev": 200, "test": 200}


@pytest.fixture(scope="module")
def corpus() -> list[SamplePair]:
    return read_pairs()


# ---------------------------------------------------------------- what every pair must be


def test_sizes(corpus: list[SamplePair]) -> None:
    lengths = [len(side) for pair in corpus for side in (pair.source, pair.target)]
    assert min(lengths) >= 4
    assert max(lengths) <= 30
    assert 10 <= sum(lengths) / len(lengths) <= 13
    assert len({word for pair in corpus for word in pair.source}) >= 600
    assert len({word for pair in corpus for word in pair.target}) >= 600


def test_no_sentence_twice(corpus: list[SamplePair]) -> None:
    assert len({" ".join(pair.source) for pair in corpus}) == len(corpus)
    assert len({" ".join(pair.target) for pair in corpus}) == len(corpus)


def test_parts(corpus: list[SamplePair]) -> None:
    parts = split(corpus)
    assert {name: len(part) for name, part in parts.items()} == PARTS
    assert [pair for part in parts.values() for pair in part] == corpus


def test_trees_dependencies_and_links_fit_the_words(corpus: list[SamplePair]) -> None:
    for pair in corpus:
        pair.alignment.check(len(pair.source), len(pair.target))
        for tree, dependency in (
            (pair.source_tree, pair.source_dependency),
            (pair.target_tree, pair.target_dependency),
        ):
            assert tree.root.label == "TOP"
            assert dependency.words == tree.words
            assert dependency.tags == tree.tags
            assert dependency.is_tree()
            assert dependency.is_projective()
            assert all(not tree.is_word(child) or tree.size == 2 for child in tree.children(0))


def test_no_phrase_holds_nothing_but_its_like(corpus: list[SamplePair]) -> None:
    for pair in corpus:
        for tree in (pair.source_tree, pair.target_tree):
            for node in range(tree.size):
                children = tree.children(node)
                assert len(children) != 1 or tree.is_word(children[0]) or tree.label(children[0]) != tree.label(node)


def test_alignments_look_like_real_ones(corpus: list[SamplePair]) -> None:
    links = [set(pair.alignment) for pair in corpus]
    source_words = sum(len(pair.source) for pair in corpus)
    target_words = sum(len(pair.target) for pair in corpus)
    unaligned_source = source_words - sum(len({i for i, _ in pair}) for pair in links)
    unaligned_target = target_words - sum(len({j for _, j in pair}) for pair in links)
    assert 0.1 < unaligned_source / source_words < 0.25
    assert 0.08 < unaligned_target / target_words < 0.25
    unaligned = {w for pair, found in zip(corpus, links, strict=True) for w in unaligned_words(pair, found)}
    assert {"的", "了", "个", "把", "吗", "the", "a", "did", "that", "it"} <= unaligned
    assert any(sum(i == k for k, _ in found) > 1 for found in links for i, _ in found), "one to many"
    assert any(sum(j == k for _, k in found) > 1 for found in links for _, j in found), "many to one"
    assert any(a < c and b > d for found in links[:50] for a, b in found for c, d in found), "crossing"


def unaligned_words(pair: SamplePair, links: set[tuple[int, int]]) -> set[str]:
    source = {word for i, word in enumerate(pair.source) if all(i != k for k, _ in links)}
    return source | {word for j, word in enumerate(pair.target) if all(j != k for _, k in links)}


# ---------------------------------------------------------------- phenomena


def tags(pair: SamplePair) -> set[tuple[str, str]]:
    return set(zip(pair.source, pair.source_tree.tags, strict=True))


def has(word: str, tag: str) -> Callable[[SamplePair], bool]:
    return lambda pair: (word, tag) in tags(pair)


def linked(source: str, tag: str, target: str) -> Callable[[SamplePair], bool]:
    return lambda pair: any(
        (pair.source[i], pair.source_tree.tags[i], pair.target[j]) == (source, tag, target) for i, j in pair.alignment
    )


def rules_of(tree: Tree) -> set[tuple[str, ...]]:
    return {
        (tree.label(node), *(tree.label(child) for child in tree.children(node)))
        for node in range(tree.size)
        if not tree.is_word(node)
    }


def source_rule(*labels: str) -> Callable[[SamplePair], bool]:
    return lambda pair: labels in rules_of(pair.source_tree)


def target_rule(*labels: str) -> Callable[[SamplePair], bool]:
    return lambda pair: labels in rules_of(pair.target_tree)


def phrase_before_verb_goes_behind_it(pair: SamplePair) -> bool:
    """A Chinese preposition depends on a verb to its right, its English one stands behind the English verb."""
    heads = pair.source_dependency.heads
    for i, j in pair.alignment:
        if pair.source_tree.tags[i] == "P" and heads[i] > i:
            verbs = [b for a, b in pair.alignment if a == heads[i]]
            if verbs and j > max(verbs) and pair.target_tree.tags[j] == "IN":
                return True
    return False


def topic(pair: SamplePair) -> bool:
    """The Chinese object stands before the subject, the English one behind the verb."""
    relations = pair.source_dependency.relations or []
    if "dobj" not in relations or "nsubj" not in relations or relations.index("dobj") > relations.index("nsubj"):
        return False
    at = relations.index("dobj")
    if any(word in pair.source[:at] for word in ("把", "为了")) or pair.source_dependency.heads[at] < at:
        return False
    english = pair.target_dependency.relations or []
    return any(i == at and english[j] == "dobj" for i, j in pair.alignment)


PHENOMENA: dict[str, Callable[[SamplePair], bool]] = {
    "phrases before the verb in Chinese and behind it in English": phrase_before_verb_goes_behind_it,
    **{f"{word} as and": linked(word, "CC", "and") for word in "与和跟"},
    **{f"{word} as with": linked(word, "P", "with") for word in "与和跟"},
    "relative clauses with that": lambda pair: (
        linked("的", "DEC", "that")(pair) and target_rule("NP", "NP", "SBAR")(pair)
    ),
    "relative clauses with who": linked("的", "DEC", "who"),
    "relative clauses without a pronoun": target_rule("SBAR", "S"),
    "ba": source_rule("VP", "BA", "IP"),
    "bei with an agent": linked("被", "LB", "by"),
    "bei without one": has("被", "SB"),
    **{f"classifier {word}": has(word, "M") for word in "个本张只条辆把件台部封位名家座"},
    **{f"aspect {word}": has(word, "AS") for word in "了着过"},
    "progressive": linked("正在", "AD", "is"),
    "progressive with 在": has("在", "AD"),
    "topics": topic,
    "times": lambda pair: "NT" in pair.source_tree.tags,
    "places": source_rule("PP", "P", "LCP"),
    "coordinated noun phrases": source_rule("NP", "NP", "CC", "NP"),
    "lists": source_rule("NP", "NP", "PU", "NP", "CC", "NP"),
    "coordinated verb phrases": source_rule("VP", "VP", "CC", "VP"),
    "coordinated clauses": source_rule("IP", "IP", "PU", "ADVP", "IP", "PU"),
    "numbers": linked("三", "CD", "three"),
    "embedded clauses": lambda pair: source_rule("VP", "VV", "IP")(pair) and target_rule("SBAR", "IN", "S")(pair),
    "bu": has("不", "AD"),
    "mei": has("没", "AD"),
    "modals": linked("应该", "VV", "should"),
    "possessive pronouns": linked("的", "DEG", "my"),
    "possessive names": linked("的", "DEG", "'s"),
    "kin without de": source_rule("NP", "NP", "NP"),
    "phrases inside noun phrases": source_rule("DNP", "PP", "DEG"),
    "places inside noun phrases": source_rule("DNP", "LCP", "DEG"),
    "comparison": linked("比", "P", "than"),
    "superlatives": linked("最", "AD", "most"),
    "manner": source_rule("VP", "DVP", "VP"),
    "serial verbs": source_rule("VP", "VP", "VP"),
    "existence": linked("有", "VE", "there"),
    "being": has("是", "VC"),
    "yes-no questions": source_rule("CP", "IP", "SP", "PU"),
    "questions for the object": linked("什么", "PN", "what"),
    "conditions": has("如果", "CS"),
    "reasons": has("因为", "CS"),
    "subjects left out": lambda pair: ("IP", "VP") in rules_of(pair.source_tree) and "but" in pair.target,
    "passives": target_rule("VP", "VBN", "PP"),
    "articles before vowels": lambda pair: "an" in pair.target,
}


@pytest.mark.parametrize("name", PHENOMENA)
def test_phenomenon(name: str, corpus: list[SamplePair]) -> None:
    assert sum(PHENOMENA[name](pair) for pair in corpus) >= 3, name


@pytest.mark.parametrize(
    ("chinese", "english"),
    [
        ("打", {"play", "hit", "call", "called"}),
        ("开", {"drive", "open", "hold", "turn"}),
        ("看", {"read", "watch", "visit", "look"}),
        ("做", {"cook", "make", "do"}),
        ("想", {"wants", "misses"}),
        ("会", {"will", "can", "would"}),
    ],
)
def test_a_chinese_word_has_several_translations(chinese: str, english: set[str], corpus: list[SamplePair]) -> None:
    assert english <= {pair.target[j] for pair in corpus for i, j in pair.alignment if pair.source[i] == chinese}


@pytest.mark.parametrize(
    ("english", "chinese"),
    [
        ("play", {"打", "踢", "玩"}),
        ("bank", {"银行", "河边"}),
        ("letter", {"信", "字母"}),
        ("match", {"比赛", "火柴"}),
        ("with", {"与", "和", "跟", "用"}),
        ("for", {"为", "给", "替"}),
        ("book", {"书", "预订"}),
        ("study", {"学习", "研究"}),
        ("water", {"水", "浇"}),
    ],
)
def test_an_english_word_has_several_sources(english: str, chinese: set[str], corpus: list[SamplePair]) -> None:
    assert chinese <= {pair.source[i] for pair in corpus for i, j in pair.alignment if pair.target[j] == english}


@pytest.mark.parametrize(
    "word", ["工作", "计划", "研究", "翻译", "编辑", "导演", "在", "给", "把", "过", "花", "画", "上"]
)
def test_a_chinese_word_has_several_tags(word: str, corpus: list[SamplePair]) -> None:
    assert len({tag for pair in corpus for found, tag in tags(pair) if found == word}) > 1


# ---------------------------------------------------------------- right English, right Chinese

PLURAL = {"they", "we", "you", "these", "those"}


def test_articles(corpus: list[SamplePair]) -> None:
    sounds_otherwise = {"university", "uniform", "useful", "honest", "hour"}
    for pair in corpus:
        for word, tag, following in zip(pair.target, pair.target_tree.tags, [*pair.target[1:], ""], strict=True):
            if tag == "DT" and word in ("a", "an"):
                vowel = (following[0] in "aeiouAEIOU") != (following in sounds_otherwise)
                assert (word == "an") == vowel, " ".join(pair.target)


def test_determiners_agree_with_nouns(corpus: list[SamplePair]) -> None:
    for pair in corpus:
        words, heads, found = pair.target, pair.target_dependency.heads, pair.target_tree.tags
        for i, word in enumerate(words):
            if found[i] == "DT" and word in ("a", "an", "this", "every"):
                assert found[heads[i]] in ("NN", "NNP"), " ".join(words)
            if found[i] == "DT" and word in ("these", "those"):
                assert found[heads[i]] == "NNS", " ".join(words)
            if found[i] == "CD" and found[heads[i]].startswith("NN"):
                assert found[heads[i]] == "NNS", " ".join(words)


def is_plural(pair: SamplePair, subject: int) -> bool:
    heads, relations = pair.target_dependency.heads, pair.target_dependency.relations or []
    joined = any(heads[k] == subject and relations[k] == "conj" for k in range(len(heads)))
    return joined or pair.target_tree.tags[subject] == "NNS" or pair.target[subject] in PLURAL


def test_verbs_agree_with_subjects(corpus: list[SamplePair]) -> None:
    seen = 0
    for pair in corpus:
        heads, relations = pair.target_dependency.heads, pair.target_dependency.relations or []
        found, words = pair.target_tree.tags, pair.target
        for subject, relation in enumerate(relations):
            if relation not in ("nsubj", "nsubjpass") or found[subject] in ("WP", "WDT"):
                continue
            verb = int(heads[subject])
            own = [
                k for k, r in enumerate(relations) if heads[k] == verb and r in ("aux", "auxpass", "cop") and k != verb
            ]
            finite = next((k for k in (*own, verb) if found[k] in ("VBZ", "VBP", "VBD", "MD")), None)
            if finite is None:
                continue
            seen += 1
            sentence = " ".join(words)
            if found[finite] == "VBZ":
                assert not is_plural(pair, subject) and words[subject] != "I", sentence
            if found[finite] == "VBP":
                assert is_plural(pair, subject) or words[subject] == "I", sentence
            assert (words[finite] == "am") <= (words[subject] == "I"), sentence
            assert (words[finite] == "were") <= is_plural(pair, subject), sentence
            assert (words[finite] == "was") <= (not is_plural(pair, subject)), sentence
    assert seen > 3000


def test_pronouns_have_the_right_case(corpus: list[SamplePair]) -> None:
    for pair in corpus:
        relations, heads = pair.target_dependency.relations or [], pair.target_dependency.heads
        for i, word in enumerate(pair.target):
            role = relations[i]
            while role == "conj":
                role = relations[int(heads[i])]
            if word in ("I", "he", "she", "we", "they"):
                assert role in ("nsubj", "nsubjpass"), " ".join(pair.target)
            if word in ("me", "him", "us", "them"):
                assert role not in ("nsubj", "nsubjpass"), " ".join(pair.target)


# ---------------------------------------------------------------- forests


@pytest.fixture(scope="module")
def parts(corpus: list[SamplePair]) -> dict[str, Sequence[SamplePair]]:
    return split(corpus[:600])


@pytest.fixture(scope="module")
def parses(parts: dict[str, Sequence[SamplePair]]) -> dict[str, list[ParseForest]]:
    return forests(parts, cycles=1)


def test_many_sentences_are_ambiguous(parses: dict[str, list[ParseForest]]) -> None:
    counts = [forest.count() for part in parses.values() for forest in part]
    assert min(counts) >= 1
    assert sum(count > 1 for count in counts) / len(counts) >= 0.4


def test_forests_hold_most_gold_trees(
    parts: dict[str, Sequence[SamplePair]], parses: dict[str, list[ParseForest]]
) -> None:
    for name, part in parts.items():
        assert [forest.words for forest in parses[name]] == [pair.source for pair in part]
        found = compare([pair.source_tree for pair in part], parses[name])
        assert found.exact >= 0.9 * len(part)


# ---------------------------------------------------------------- files and the command


def test_files(tmp_path: Path) -> None:
    assert write_corpus(tmp_path / "a", pairs=60) == {"train": 52, "dev": 4, "test": 4}
    pairs = split(read_pairs(60))
    for name, part in pairs.items():
        base = tmp_path / "a" / name
        assert list(read_text(f"{base}.zh")) == [pair.source for pair in part]
        assert list(read_text(f"{base}.en")) == [pair.target for pair in part]
        assert list(read_trees(f"{base}.zh.tree")) == [pair.source_tree for pair in part]
        assert list(read_trees(f"{base}.en.tree")) == [pair.target_tree for pair in part]
        assert list(read_dependencies(f"{base}.zh.conllu")) == [pair.source_dependency for pair in part]
        assert list(read_dependencies(f"{base}.en.conllu")) == [pair.target_dependency for pair in part]
        assert list(read_alignments(f"{base}.align")) == [pair.alignment for pair in part]
        assert [forest.words for forest in read_forests(f"{base}.zh.forest.jsonl")] == [pair.source for pair in part]
    assert len(list((tmp_path / "a").iterdir())) == 24


def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "made" / "here"
    assert main(["sample", "--pairs", "30", "--out", str(out)]) == 0
    assert capsys.readouterr().err == f"{out}: 26 pairs in train, 2 pairs in dev, 2 pairs in test\n"
    assert (out / "test.zh.forest.jsonl").exists()


@pytest.mark.parametrize(
    ("pairs", "problem"),
    [
        (-1, "-1 pairs are not in the sample corpus; expected 1 to 3000"),
        (0, "0 pairs are not in the sample corpus; expected 1 to 3000"),
        (2, "2 pairs cannot be split into train, dev and test; expected 3 or more"),
    ],
)
def test_bad_numbers_of_pairs(pairs: int, problem: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sample", "--pairs", str(pairs), "--out", str(tmp_path / "x")]) == 2
    assert problem in capsys.readouterr().err
    assert not (tmp_path / "x").exists()


def test_more_pairs_than_there_are(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The pairs of the corpus come first, then varied ones, the same every time; all records fit together."""
    (tmp_path / "train.zh.forest.jsonl").write_text("of another corpus")
    assert main(["sample", "--pairs", "5700", "--out", str(tmp_path)]) == 0
    assert "2,700 pairs in train are others with new nouns and names; train has no forests" in capsys.readouterr().err
    assert not (tmp_path / "train.zh.forest.jsonl").exists()
    made = [
        SamplePair(*found)
        for found in zip(
            read_trees(tmp_path / "train.zh.tree"),
            read_trees(tmp_path / "train.en.tree"),
            read_dependencies(tmp_path / "train.zh.conllu"),
            read_dependencies(tmp_path / "train.en.conllu"),
            read_alignments(tmp_path / "train.align"),
            strict=True,
        )
    ]
    own = split(read_pairs())["train"]
    assert len(made) == len(own) + 2700
    assert made[: len(own)] == own
    texts = [list(read_text(tmp_path / f"train.{language}")) for language in ("zh", "en")]
    assert [[pair.source for pair in made], [pair.target for pair in made]] == texts
    again = 0
    for old, new in zip([*own, *own], made[len(own) :], strict=False):
        assert new.source_dependency.words == new.source and new.target_dependency.words == new.target
        assert (new.alignment, new.source_tree.tags, new.target_tree.tags) == (
            old.alignment,
            old.source_tree.tags,
            old.target_tree.tags,
        )
        assert list(new.target_dependency.heads) == list(old.target_dependency.heads)
        changed = [i for i, (a, b) in enumerate(zip(old.source, new.source, strict=True)) if a != b]
        assert {old.source_tree.tags[i] for i in changed} <= {"NN", "NR"}
        again += not changed
    assert again < 400  # those without a noun, above all
    test_articles(made)
    assert list(read_text(tmp_path / "dev.zh")) == [pair.source for pair in split(read_pairs())["dev"]]


def test_fewer_varied_pairs_are_the_first_of_more(tmp_path: Path) -> None:
    pairs = read_pairs(60)
    formats = {".zh": "text"}

    def first(number: int) -> list[list[str]]:
        return list(islice(varied(pairs, formats, lambda pair: [" ".join(pair.source) + "\n"]), number))

    assert first(200)[:130] == first(130)
    assert len({line for [line] in first(200)}) > 120
