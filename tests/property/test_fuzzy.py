"""Fuzzy extraction: Hiero's rules and counts, labels and nesting against slow twins."""

from collections import Counter, defaultdict

import extraction
import pytest
from categories import category
from extraction import pairs_of
from hypothesis import given, settings
from hypothesis import strategies as st
from slow_hiero import slow_occurrences, slow_phrases
from syntax_strategies import trees
from taiwan import ALIGNMENT, SOURCE, SOURCE_TREE, TARGET, TARGET_TREE

from treeglot.rules.hiero import FuzzyOptions, HieroOptions
from treeglot.syntax import Alignment, Tree

WIDE = HieroOptions(max_phrase=-1, max_symbols=-1)


@st.composite
def parsed_pairs(draw, longest=6):
    def words(alphabet):
        return draw(st.lists(st.sampled_from(alphabet), min_size=1, max_size=longest))

    def tree(side):
        return Tree() if draw(st.integers(0, 6)) == 0 else draw(trees(words=st.just(side)))

    source, target = words(["a", "b", "。", "-LRB-"]), words(["x", "y", ",", "``"])
    cells = [(s, t) for s in range(len(source)) for t in range(len(target))]
    links = draw(st.lists(st.sampled_from(cells), max_size=7, unique=True))
    both = tree(source), tree(target)
    return source, target, sorted(links), *both


def run(pairs, options, labelled=True, threads=1, **how):
    """The tally's rows {(lhs, source, target, alignment, labels): (units, times)}, and the counts."""
    triples = ((s, t, Alignment(a)) for s, t, a, _, _ in pairs)
    trees = {"source_tree": [f for *_, f, _ in pairs], "target_tree": [e for *_, e in pairs]}
    options = FuzzyOptions(**vars(options), **how) if labelled else options
    rows, counts, _ = extraction.run("fuzzy" if labelled else "hiero", pairs_of(triples, **trees), options, threads)
    return {(r.lhs, r.source, r.target, r.alignment, r.labels): (r.units, r.occurrences) for r in rows}, counts


def label(tree, begin, end):
    return category(tree, begin, end) if tree.words else "X"


def slow_rows(pairs, options, accept=None):
    found = defaultdict(list)
    for source, target, links, f, e in pairs:
        how = {"accept": lambda phrases, f=f, e=e: accept(phrases, f, e)} if accept else {}
        for rule in slow_occurrences(source, target, links, options, **how):
            spans = (rule.phrase, *rule.holes)
            labels = " ".join(x for i, j, k, m in spans for x in (label(f, i, j), label(e, k, m)))
            found["X", rule.source, rule.target, rule.alignment, labels].append(rule.units)
    return {key: (sum(units), len(units)) for key, units in found.items()}


@settings(max_examples=80)
@given(st.lists(parsed_pairs(), min_size=1, max_size=3), st.sampled_from([HieroOptions(), WIDE]))
def test_labels_are_the_categories_of_the_phrases(pairs, options):
    rows, _ = run(pairs, options)
    assert rows == slow_rows(pairs, options)


@settings(max_examples=60)
@given(st.lists(parsed_pairs(), min_size=1, max_size=4))
def test_the_fuzzy_grammar_has_exactly_hieros_rules_and_counts(pairs):
    def sums(rows):
        units, times = Counter(), Counter()
        for (lhs, source, target, alignment, _), (u, t) in rows.items():
            units[lhs, source, target, alignment] += u
            times[lhs, source, target, alignment] += t
        return units, times

    fuzzy, counts = run(pairs, HieroOptions())
    hiero, plain = run(pairs, HieroOptions(), labelled=False)
    assert sums(fuzzy) == sums(hiero)
    assert [counts[name] for name in ("flat", "gappy", "refused")] == [plain["flat"], plain["gappy"], 0]


def crosses(a, b):
    return a[0] < b[0] < a[1] < b[1] or b[0] < a[0] < b[1] < a[1]


def slow_nesting(phrases, source, target, f, e):
    """2.3, word by word."""

    def constituents(tree):
        return {tree[node].span for node in range(len(tree))}

    def rank(phrase):
        i, j, k, m = phrase
        simple = sum(span in constituents(tree) for tree, span in ((f, (i, j)), (e, (k, m))))
        crossed = sum(crosses(span, c) for tree, span in ((f, (i, j)), (e, (k, m))) for c in constituents(tree))
        ends = {source[i], source[j - 1], target[k], target[m - 1]}
        return -simple, crossed, bool(ends & {"。", ",", "-LRB-", "``"}), (-i, -j, -k, -m)

    accepted = []
    for p in sorted(phrases, key=rank):
        if not any(crosses(p[:2], q[:2]) or crosses(p[2:], q[2:]) for q in accepted):
            accepted.append(p)
    return accepted


@settings(max_examples=80)
@given(parsed_pairs(), st.sampled_from([HieroOptions(), WIDE]))
def test_nesting_phrases(pair, options):
    source, target, links, f, e = pair
    rows, counts = run([pair], options, nesting=True)
    accepted = slow_nesting([p for p, *_ in slow_phrases(source, target, links, options)], source, target, f, e)
    assert not any(crosses(p[:2], q[:2]) or crosses(p[2:], q[2:]) for p in accepted for q in accepted)
    assert counts["phrases"] - counts["refused"] == len(accepted)
    assert rows == slow_rows([pair], options, lambda phrases, f, e: slow_nesting(phrases, source, target, f, e))


@pytest.mark.parametrize("mark", ["。", "``", "`", "''", "-LRB-", "-rcb-"])
def test_phrases_that_end_in_punctuation_nest_last(mark):
    pair = ["a", "b", mark], ["x", "y", "z"], [(0, 0), (1, 1), (2, 2)], Tree(), Tree()
    sources = {source for _, source, *_ in run([pair], HieroOptions(), nesting=True)[0]}
    assert "a b" in sources
    assert f"b {mark}" not in sources


@settings(max_examples=30)
@given(st.lists(parsed_pairs(), min_size=1, max_size=3))
def test_hard_labels_are_target_categories_inside_the_rules(pairs):
    rows, _ = run(pairs, HieroOptions(), hard=True)
    expected = defaultdict(list)
    for source, target, links, _, e in pairs:
        for rule in slow_occurrences(source, target, links, HieroOptions()):
            texts = {f"[X,{n}]": f"[{label(e, k, m)},{n}]" for n, (_, _, k, m) in enumerate(rule.holes, 1)}
            sides = [" ".join(texts.get(word, word) for word in side.split()) for side in (rule.source, rule.target)]
            expected[(label(e, *rule.phrase[2:]), *sides, rule.alignment, "")].append(rule.units)
    assert rows == {key: (sum(units), len(units)) for key, units in expected.items()}


@settings(max_examples=10)
@given(st.lists(parsed_pairs(), min_size=3, max_size=5), st.booleans())
def test_threads_do_not_show(pairs, nesting):
    pairs = [pairs[n * n % len(pairs)] for n in range(150)]
    assert list(run(pairs, WIDE, nesting=nesting)[0].items()) == list(
        run(pairs, WIDE, nesting=nesting, threads=3)[0].items()
    )


def test_the_figures():
    pair = (SOURCE, TARGET, list(ALIGNMENT), SOURCE_TREE, TARGET_TREE)
    rows, _ = run([pair], HieroOptions(max_symbols=7))
    noted = {(source, target): labels for _, source, target, _, labels in rows}
    # Figure 1: (γ2, α2) and (γ3, α3) are phrase pairs, (γ1, α1) is what subtracting one from the other leaves.
    assert noted["两 岸 贸易", "trade between the two shores"] == "NP NP"
    assert noted["在 两 岸 贸易 中", "in trade between the two shores"] == "PP PP"
    assert noted["在 [X,1] 中", "in [X,1]"] == "PP PP NP NP"
    # Figure 4: 台湾 在 … 顺差 is no constituent, its counterpart is.
    whole = next(labels for (source, _), labels in noted.items() if source == "台湾 [X,1] 顺差")
    assert whole == "IP/VP NP PP PP"
    # The heuristic chooses structure (a): of the crossing phrases (4) and (5) of the paper, (4).
    nested, _ = run([pair], HieroOptions(max_symbols=9), nesting=True)
    spans = {source for _, source, *_ in nested if "[" not in source}
    assert "台湾 在 两 岸 贸易 中 顺差" in spans
    assert "在 两 岸 贸易 中 顺差 一百四十七亿 美元" not in spans
