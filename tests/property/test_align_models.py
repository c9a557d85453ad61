"""Alignment models against enumeration of all alignments of tiny corpora."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from treeglot import _core
from treeglot.align import Aligner

NULL, LEXICAL, JUMP, FERTILITY = 0.01, 0.3, 0.5, 0.5
FERTILITIES, FARTHEST = 8, 100
VOCABULARIES = ("abc", "xyz")
sentences = [st.lists(st.sampled_from(letters), min_size=1, max_size=3) for letters in VOCABULARIES]
corpora = st.lists(st.tuples(*sentences), min_size=2, max_size=6)


def alignments(given: int, words: int) -> Iterator[tuple[int, ...]]:
    """The given word of each word, or -1."""
    return itertools.product(range(-1, given), repeat=words)


def jumps_of(links: tuple[int, ...], given: int) -> list[int]:
    """From before the sentence, by the given words of linked words, to behind it."""
    stops = [-1, *(link for link in links if link >= 0), given]
    return [to - start for start, to in itertools.pairwise(stops)]


def enumerated(aligner: Aligner, source: list[str], target: list[str], backwards: bool, level: int) -> np.ndarray:
    """The posteriors of links, words by given words."""
    links, none, growth, jumps = aligner.core.factors(source, target, backwards)
    words, given = links.shape
    out = np.zeros((words, given))
    total = 0.0
    for chosen in alignments(given, words):
        weight = math.prod(none[j] if i < 0 else links[j, i] for j, i in enumerate(chosen))
        if level > 1:
            weight *= math.prod(jumps[jump + FARTHEST] for jump in jumps_of(chosen, given))
        if level > 2:
            for i in range(given):
                weight *= math.prod(growth[i, k] for k in range(chosen.count(i)))
        total += weight
        for j, i in enumerate(chosen):
            if i >= 0:
                out[j, i] += weight
    return out / total


@pytest.mark.parametrize(
    ("method", "model", "level"),
    [("sampler", "ibm1", 1), ("sampler", "hmm", 2), ("sampler", "fertility", 3), ("hmm", "", 2)],
)
@given(corpora)
@settings(max_examples=8, deadline=None, derandomize=True)  # draws must not fail by chance
def test_posteriors_of_a_pair(method: str, model: str, level: int, corpus: list[tuple[list[str], list[str]]]) -> None:
    options = {"model": model, "chains": 1, "rounds": 3, "lexical": LEXICAL} if model else {}
    aligner = Aligner.train(corpus, method, options=options)
    source, target = corpus[0]
    forward, backward = aligner.core.posteriors(source, target, rounds=40_000)
    # Exact but for rounding, or an average over many draws.
    tolerance = {"rtol": 0, "atol": 0.04} if level == 3 else {"rtol": 1e-3, "atol": 1e-5}
    np.testing.assert_allclose(forward.T, enumerated(aligner, source, target, False, level), **tolerance)
    np.testing.assert_allclose(backward, enumerated(aligner, source, target, True, level), **tolerance)


def polya(counts: Mapping[Any, int], priors: Mapping[Any, float]) -> float:
    """The log probability of draws with these counts, under a Dirichlet prior."""
    all_of = sum(priors.values())
    total = math.lgamma(all_of) - math.lgamma(all_of + sum(counts.values()))
    return total + sum(math.lgamma(priors[k] + n) - math.lgamma(priors[k]) for k, n in counts.items())


def expected_shares(
    corpus: list[tuple[str, str]], words: str, lexicon: Mapping[tuple[str, str], float]
) -> dict[tuple[str, str], float]:
    """Expected links of word pairs over expected links of their given word, by all alignments of the whole corpus.

    Pairs of the lexicon have so many links from the start.
    """
    pair_links: dict[tuple[str, str], float] = Counter()
    given_links: dict[str, float] = Counter()
    all_weights = 0.0
    for chosen in itertools.product(*(list(alignments(len(s), len(t))) for s, t in corpus)):
        lexical: dict[str, Counter[str]] = {}
        jumps: Counter[int] = Counter()
        fertilities: dict[str, Counter[int]] = {}
        log = 0.0
        for (source, target), links in zip(corpus, chosen, strict=True):
            for j, i in enumerate(links):
                log += math.log(NULL if i < 0 else 1 - NULL)
                lexical.setdefault("" if i < 0 else source[i], Counter())[target[j]] += 1
            jumps.update(jumps_of(links, len(source)))
            for i, word in enumerate(source):
                fertilities.setdefault(word, Counter())[links.count(i)] += 1
        for known, counts in lexical.items():
            log += polya(counts, {word: LEXICAL + lexicon.get((known, word), 0) for word in words})
        log += polya(jumps, {k: JUMP * (1 + 256 * 2.0 ** -abs(k - 1)) for k in range(-FARTHEST, FARTHEST + 1)})
        log += sum(polya(counts, dict.fromkeys(range(FERTILITIES), FERTILITY)) for counts in fertilities.values())
        weight = math.exp(log)
        all_weights += weight
        for known, counts in lexical.items():
            for word, n in counts.items():
                pair_links[known, word] += weight * n
                given_links[known] += weight * n
    for pair, links in lexicon.items():
        pair_links[pair] += links * all_weights
        given_links[pair[0]] += links * all_weights
    return {pair: n / given_links[pair[0]] for pair, n in pair_links.items() if pair[0]}


@pytest.mark.parametrize("lexicon", [{}, {("a", "x"): 1.5, ("b", "z"): 0.75}])
def test_chains_sample_from_the_posterior_of_the_whole_corpus(
    lexicon: dict[tuple[str, str], float], tmp_path: Path
) -> None:
    corpus = [("ab", "xy"), ("ab", "yz"), ("b", "y"), ("a", "xz")]
    pairs = [(list(source), list(target)) for source, target in corpus]
    options: dict[str, Any] = {"chains": 500, "rounds": 30, "null": NULL, "lexical": LEXICAL}
    if lexicon:
        options["lexicon"] = str(tmp_path / "lexicon")
        Path(options["lexicon"]).write_text("".join(f"{s}\t{t}\t{n}\n" for (s, t), n in lexicon.items()))
    aligner = Aligner.train(pairs, options=options)
    wanted = expected_shares(corpus, "xyz", lexicon)
    found = {(source, target): forward for source, target, forward, _ in aligner.lexicon()}
    # Others have one cell, and need no count.
    assert set(found) == {("a", "x"), ("a", "y"), ("a", "z"), ("b", "y"), *lexicon}
    for pair, share in found.items():
        assert share == pytest.approx(wanted[pair], abs=0.025), pair


def test_a_sum_over_all_alignments_is_what_the_hmm_learns_from() -> None:
    # One iteration of EM from uniform parameters, by hand: counts are posteriors.
    corpus = _core.SentencePairs(10)
    corpus.extend([(["a"], ["x", "y"]), (["a"], ["x"])])
    options = {"ibm1": 1, "iterations": 0, "variational": False, "null": 0.5}
    aligner = _core.train_hmm(corpus, options, 1, lambda done, of: None)
    # Each word is linked with posterior 1/2: p(x | a) = 2 / 3.
    assert {(s, t): pytest.approx(p) for s, t, p, _ in aligner.lexicon(0, 9)} == {("a", "x"): 2 / 3, ("a", "y"): 1 / 3}
