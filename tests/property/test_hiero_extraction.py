"""Extraction against a slow twin written from the definitions of phrase pairs and hierarchical rules."""

from collections import defaultdict
from dataclasses import replace
from itertools import product
from math import prod

import pytest
from extraction import pairs_of, run
from hypothesis import given, settings
from hypothesis import strategies as st
from slow_hiero import slow_occurrences

from treeglot.rules.hiero import HieroOptions
from treeglot.syntax import Alignment


@st.composite
def aligned_pairs(draw: st.DrawFn, longest: int = 6) -> tuple[list[str], list[str], list[tuple[int, int]]]:
    """A pair with few different words, so that rules repeat, and any links at all."""
    source = draw(st.lists(st.sampled_from(["a", "b", "c", "[X,1]", "\\"]), min_size=1, max_size=longest))
    target = draw(st.lists(st.sampled_from(["x", "y", "[", "[X,2]"]), min_size=1, max_size=longest))
    cells = list(product(range(len(source)), range(len(target))))
    links = draw(st.lists(st.sampled_from(cells), max_size=7, unique=True))
    return source, target, sorted(links)


limits = st.builds(
    HieroOptions,
    max_phrase=st.sampled_from([2, 4, -1]),
    max_target_phrase=st.sampled_from([3, -1, -1]),
    max_symbols=st.sampled_from([1, 3, 5, -1]),
    max_nonterminals=st.integers(0, 3),
    min_hole=st.integers(1, 2),
    adjacent=st.booleans(),
    loose_source=st.sampled_from([0, 1, -1]),
    loose_target=st.sampled_from([0, 1, -1]),
    phrase_loose_source=st.sampled_from([0, 1, -1]),
    phrase_loose_target=st.sampled_from([0, 1, -1]),
)


def slow_rules(source, target, links, options, core=True):
    """{(source, target): [(alignment, units)]}, in the order in which they are found."""
    found = defaultdict(list)
    for rule in slow_occurrences(source, target, links, options, core):
        found[rule.source, rule.target].append((rule.alignment, rule.units))
    return found


def rows_of(pairs, options, threads=1, merged=False):
    """(source, target, alignment, units, occurrences) of every row, and the counts."""
    triples = ((s, t, Alignment(a)) for s, t, a in pairs)
    rows, counts, _ = run("hiero", pairs_of(triples), options, threads, merged)
    return [(r.source, r.target, r.alignment, r.units, r.occurrences) for r in rows], counts


@settings(max_examples=250)
@given(st.lists(aligned_pairs(), min_size=1, max_size=3), limits, st.data())
def test_rules_are_those_of_the_definition(pairs, options, data):
    core = data.draw(st.integers(0, len(pairs)))
    options = replace(options, core=core)
    expected = defaultdict(list)
    for number, (source, target, links) in enumerate(pairs):
        for rule, seen in slow_rules(source, target, links, options, number < core).items():
            expected[rule] += seen
    by_alignment = {
        (*rule, alignment): (sum(u for a, u in seen if a == alignment), sum(a == alignment for a, _ in seen))
        for rule, seen in expected.items()
        for alignment in {a for a, _ in seen}
    }
    rows, counts = rows_of(pairs, options)
    assert {(s, t, a): (units, times) for s, t, a, units, times in rows} == by_alignment
    assert len(rows) == len(by_alignment)
    assert counts["flat"] + counts["gappy"] == sum(len(seen) for seen in expected.values())
    # Merged: a row for each rule, with its most frequent alignment; which is first among equals is the order of finding
    # them, which the twin does not share.
    merged, _ = rows_of(pairs, options, merged=True)
    assert {(s, t): (units, times) for s, t, _, units, times in merged} == {
        rule: (sum(u for _, u in seen), len(seen)) for rule, seen in expected.items()
    }
    for s, t, alignment, _, _ in merged:
        assert by_alignment[s, t, alignment][1] == max(by_alignment[s, t, a][1] for a, _ in expected[s, t])


@settings(max_examples=100)
@given(aligned_pairs(), limits, st.data())
def test_rules_count_by_the_weights_of_their_links(pair, options, data):
    source, target, links = pair
    drawn = data.draw(st.lists(st.sampled_from([1.0, 0.75, 0.5, 0.125]), min_size=len(links), max_size=len(links)))
    weights = dict(zip(links, drawn, strict=True))
    expected = defaultdict(int)
    for rule in slow_occurrences(source, target, links, options):
        expected[rule.source, rule.target] += round(rule.units * prod(weights[link] for link in rule.links))
    weighted = replace(pairs_of([(source, target, Alignment(links))])[0], weights=drawn)
    rows, _, _ = run("hiero", [weighted], options, merged=True)
    assert {(row.source, row.target): row.units for row in rows} == pytest.approx(expected, abs=10)


def derivable(rules, source, target):
    """All (i, j, k, m) that the rules derive from words alone: a closure, slow."""
    done = set()
    while True:
        new = set(done)
        for source_symbols, target_symbols in rules:
            for i, k in product(range(len(source)), range(len(target))):
                new |= {(i, j, k, m) for j, m in matches(source_symbols, target_symbols, source, target, i, k, done)}
        if new == done:
            return done
        done = new


def matches(source_symbols, target_symbols, source, target, i, k, done):
    """Ends (j, m) at which a rule put at (i, k) matches, its variables being spans in `done`."""

    def walk(symbols, words, at, binding):
        if not symbols:
            yield at, binding
        elif symbols[0].startswith("[X,"):
            for end in range(at + 1, len(words) + 1):
                yield from walk(symbols[1:], words, end, {**binding, symbols[0]: (at, end)})
        elif at < len(words) and symbols[0].removeprefix("\\") == words[at]:
            yield from walk(symbols[1:], words, at + 1, binding)

    for j, source_binding in walk(source_symbols, source, i, {}):
        for m, target_binding in walk(target_symbols, target, k, {}):
            if all((*source_binding[v], *target_binding[v]) in done for v in source_binding):
                yield j, m


@settings(max_examples=60)
@given(aligned_pairs(longest=4))
def test_a_pair_is_derived_again_from_its_rules(pair):
    source, target, links = pair
    off = HieroOptions(
        max_phrase=-1, max_symbols=-1, max_nonterminals=2, adjacent=True, loose_source=-1, loose_target=-1,
        phrase_loose_source=-1, phrase_loose_target=-1,
    )  # fmt: skip
    rules = [(s.split(), t.split()) for s, t, *_ in rows_of([pair], off, merged=True)[0]]
    whole = (0, len(source), 0, len(target))
    assert (whole in derivable(rules, source, target)) == bool(links)
    # Without the rule that is the pair itself the others still derive it, if any of them came from the whole of it.
    gappy = [r for r in rules if any(symbol.startswith("[X,") for symbol in r[0])]
    from_whole = any(
        set(matches(*r, source, target, 0, 0, derivable(rules, source, target))) & {whole[1::2]} for r in gappy
    )
    smaller = [r for r in rules if r in gappy or len(r[0]) < len(source) or len(r[1]) < len(target)]
    if from_whole:
        assert whole in derivable(smaller, source, target)


@settings(max_examples=20)
@given(st.lists(aligned_pairs(), min_size=30, max_size=60), limits)
def test_threads_do_not_show(pairs, options):
    several = [rows_of(pairs * 3, options, threads, merged=True)[0] for threads in (1, 2, 4)]
    assert several[0] == several[1] == several[2]
