"""The core's BLEU, chrF and TER are sacreBLEU's; what sacreBLEU lacks equals a slow twin from the definition."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sacrebleu.metrics import BLEU, CHRF, TER

from treeglot.evaluate import Bleu, Chrf, Ter

# Few words, so that n-grams match; blanks of several kinds; characters of one to four bytes.
WORDS = st.sampled_from(["a", "b", "A", "c.", "(d", "é", "中", "𝄞x", "!", "..", "the", "İ"])
BLANKS = st.sampled_from([" ", " ", " ", "  ", "\t", "\u3000", "\u00a0", "\x1c", "\u2009"])


@st.composite
def lines(draw: st.DrawFn, longest: int = 12) -> str:
    words = draw(st.lists(WORDS, max_size=longest))
    text = "".join(word + draw(BLANKS) for word in words)
    return text if draw(st.booleans()) else text.strip()


@st.composite
def corpora(draw: st.DrawFn, longest: int = 12) -> tuple[list[str], list[list[str]]]:
    sentences = draw(st.integers(1, 6))
    references = draw(st.integers(1, 4))

    def texts() -> list[str]:
        return draw(st.lists(lines(longest), min_size=sentences, max_size=sentences))

    hypotheses = texts()
    return hypotheses, [texts() for _ in range(references)]


@given(corpora(), st.booleans(), st.sampled_from(["exp", "none", "add-one"]), st.integers(1, 6))
def test_bleu_is_that_of_sacrebleu(corpus, lowercase: bool, smooth: str, order: int) -> None:
    hypotheses, references = corpus
    theirs = BLEU(
        tokenize="none",
        lowercase=lowercase,
        smooth_method="add-k" if smooth == "add-one" else smooth,
        max_ngram_order=order,
    )
    ours = Bleu(lowercase=lowercase, smooth=smooth, order=order)
    rows = ours.statistics(hypotheses, references)
    assert rows.tolist() == theirs._extract_corpus_statistics(hypotheses, references)
    expected = theirs.corpus_score(hypotheses, references).score
    assert ours.score(rows) == pytest.approx(expected, rel=1e-12, abs=1e-9)


class ShortestBLEU(BLEU):
    def _get_closest_ref_len(self, hyp_len: int, ref_lens: list[int]) -> int:
        return min(ref_lens)


def slow_bleu(hypotheses: list[str], references: list[list[str]], length: str, brevity: float | None = None) -> float:
    """BLEU-4 without smoothing, from its definition; `brevity` in place of its own penalty."""
    matches, totals = [0] * 4, [0] * 4
    words = wanted = 0
    for number, hypothesis in enumerate(hypotheses):
        tokens = hypothesis.split()
        others = [reference[number].split() for reference in references]
        words += len(tokens)
        lengths = [len(other) for other in others]
        wanted += min(lengths) if length == "shortest" else min(lengths, key=lambda n: (abs(n - len(tokens)), n))
        for n in range(1, 5):
            ngrams = Counter(tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1))
            for ngram, count in ngrams.items():
                most = max(sum(tuple(o[i : i + n]) == ngram for i in range(len(o) - n + 1)) for o in others)
                matches[n - 1] += min(count, most)
                totals[n - 1] += count
    if not all(matches):
        return 0.0
    if brevity is None:
        brevity = min(1.0, math.exp(1 - wanted / words))
    return 100 * brevity * math.prod(m / t for m, t in zip(matches, totals, strict=True)) ** 0.25


@given(corpora(), st.sampled_from(["closest", "shortest"]))
def test_bleu_is_that_of_the_definition(corpus, length: str) -> None:
    metric = Bleu(smooth="none", length=length)
    assert metric.score(metric.statistics(*corpus)) == pytest.approx(slow_bleu(*corpus, length), abs=1e-9)


@given(corpora(), st.integers(0, 2**16))
def test_a_part_of_a_text_has_the_length_of_all_of_it(corpus, bits: int) -> None:
    metric = Bleu(smooth="none")
    rows = metric.statistics(*corpus)
    part = np.array([bits >> i & 1 for i in range(len(rows))], dtype=np.bool_)
    precisions = slow_bleu(*chosen(corpus, part), "closest", brevity=1.0)
    words, wanted = rows[:, :2].sum(axis=0)
    brevity = min(1.0, math.exp(1 - wanted / words)) if words else 0.0
    assert metric.score_of_part(rows, part) == pytest.approx(precisions * brevity, abs=1e-9)
    ter = Ter()
    others = ter.statistics(*corpus)
    assert ter.score_of_part(others, part) == ter.score(others[part])


def chosen(corpus, part: np.ndarray) -> tuple[list[str], list[list[str]]]:
    hypotheses, references = corpus
    which = part.nonzero()[0].tolist()
    return [hypotheses[i] for i in which], [[reference[i] for i in which] for reference in references]


@given(corpora())
def test_shortest_length_in_sacrebleu(corpus) -> None:
    metric = Bleu(length="shortest")
    expected = ShortestBLEU(tokenize="none").corpus_score(*corpus).score
    assert metric.score(metric.statistics(*corpus)) == pytest.approx(expected, abs=1e-9)


@given(corpora(), st.booleans(), st.integers(1, 7), st.integers(0, 2), st.sampled_from([1, 2, 3]))
def test_chrf_is_that_of_sacrebleu(corpus, lowercase: bool, characters: int, words: int, beta: int) -> None:
    hypotheses, references = corpus
    theirs = CHRF(char_order=characters, word_order=words, beta=beta, lowercase=lowercase)
    ours = Chrf(character_order=characters, word_order=words, beta=beta, lowercase=lowercase)
    rows = ours.statistics(hypotheses, references)
    assert rows.tolist() == theirs._extract_corpus_statistics(hypotheses, references)
    assert ours.score(rows) == pytest.approx(theirs.corpus_score(hypotheses, references).score, abs=1e-9)


@given(corpora(longest=30), st.booleans())
def test_ter_is_that_of_sacrebleu(corpus, lowercase: bool) -> None:
    hypotheses, references = corpus
    theirs = TER(case_sensitive=not lowercase)
    ours = Ter(lowercase=lowercase)
    rows = ours.statistics(hypotheses, references)
    assert rows.tolist() == theirs._extract_corpus_statistics(hypotheses, references)
    assert ours.score(rows) == pytest.approx(theirs.corpus_score(hypotheses, references).score, abs=1e-9)


@given(st.lists(st.integers(0, 12), max_size=4), st.integers(0, 12))
def test_smoothing_with_a_longer_reference(matches: list[int], missing: int) -> None:
    """Nakov et al. (2012): BLEU+1 whose reference has one word more."""
    words = len(matches) + missing
    row = [words, words, *sorted(min(m, words) for m in (matches + [0] * 4)[:4])[::-1]]
    row += [max(words - n, 0) for n in range(4)]
    longer = [row[0], row[1] + 1, *row[2:]]
    assert Bleu(smooth="add-one-length").score(row) == Bleu(smooth="add-one").score(longer)


@given(corpora())
def test_statistics_add_up(corpus) -> None:
    hypotheses, references = corpus
    for metric in (Bleu(), Chrf(), Ter()):
        rows = metric.statistics(hypotheses, references)
        assert metric.score(rows) == metric.score(rows.sum(axis=0))
        prepared = metric.prepare(references)
        order = np.arange(len(hypotheses))[::-1]
        assert np.array_equal(prepared.statistics(hypotheses[::-1], order), rows[::-1])
