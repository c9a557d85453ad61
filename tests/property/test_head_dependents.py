"""Rules from head-dependents relations against a slow twin written from the definitions of the paper's section 3.2."""

from collections import defaultdict
from itertools import combinations, pairwise, product

import pytest
from extraction import UNIT, pairs_of, run
from hypothesis import given, settings
from hypothesis import strategies as st

from treeglot import _core
from treeglot.rules.head_dependents import HeadDependentsOptions
from treeglot.syntax import Alignment, Dependency


@st.composite
def trees(draw: st.DrawFn, longest: int = 7, roots: int = 2) -> Dependency:
    """A projective tree, or two side by side, over few words and tags."""
    size = draw(st.integers(1, longest))
    order = draw(st.permutations(range(size)))
    heads = [-1] * size
    for place, word in enumerate(order):
        first = draw(st.integers(1 if roots == 1 else 0, max(place, 1))) if place else 0
        heads[word] = order[first - 1] if place and first else -1
    words = draw(st.lists(st.sampled_from("abc"), min_size=size, max_size=size))
    tags = draw(st.lists(st.sampled_from(["P", "*Q", "="]), min_size=size, max_size=size))
    return Dependency(words, heads, tags).projectivise()[0]


@st.composite
def aligned(draw: st.DrawFn, longest: int = 7) -> tuple[Dependency, list[str], list[tuple[int, int]]]:
    tree = draw(trees(longest))
    target = draw(st.lists(st.sampled_from("xyz"), min_size=1, max_size=longest))
    if draw(st.booleans()):  # a link a word, most relations acceptable, with unaligned and others' words in between
        target += draw(st.lists(st.sampled_from("xyz"), min_size=2, max_size=3))
        places = draw(st.permutations(range(len(target))))
        return tree, target, list(enumerate(places))[: len(tree)]
    cells = list(product(range(len(tree)), range(len(target))))
    return tree, target, sorted(draw(st.lists(st.sampled_from(cells), max_size=8, unique=True)))


def closure(positions):
    return (min(positions), max(positions) + 1) if positions else (0, 0)


def subtree(tree, word):
    found = {word}
    while True:
        more = found | {w for w in range(len(tree)) if tree.heads[w] in found}
        if more == found:
            return sorted(found)
        found = more


def consistent(links, source, target):
    inside = [(s, t) for s, t in links if s in source and t in target]
    leaving = [(s, t) for s, t in links if (s in source) != (t in target)]
    return bool(inside) and not leaving


def head_span(links, word):
    return closure([t for s, t in links if s == word])


def dependency_span(tree, links, word):
    spans = [head_span(links, w) for w in subtree(tree, word)]
    kept = [s for w, s in zip(subtree(tree, word), spans, strict=True) if consistent(links, [w], range(*s))]
    return closure([t for s in kept for t in range(*s)])


def members(tree, head):
    return sorted([head, *(w for w in range(len(tree)) if tree.heads[w] == head)])


def is_leaf(tree, word):
    return members(tree, word) == [word]


def spans_of(tree, links, head):
    return {m: head_span(links, m) if m == head else dependency_span(tree, links, m) for m in members(tree, head)}


def acceptable(tree, links, head):
    if is_leaf(tree, head) or not consistent(links, [head], range(*head_span(links, head))):
        return False
    spans = spans_of(tree, links, head)
    if any(begin == end and not is_leaf(tree, m) for m, (begin, end) in spans.items()):
        return False
    covered = [t for span in spans.values() for t in range(*span)]
    return len(covered) == len(set(covered))


@settings(max_examples=300)
@given(aligned())
def test_annotation_is_that_of_the_definition(pair):
    tree, target, links = pair
    found = _core.annotate(tree, len(target), Alignment(links))
    assert found == [
        (
            head_span(links, w),
            consistent(links, [w], range(*head_span(links, w))),
            dependency_span(tree, links, w),
            acceptable(tree, links, w),
        )
        for w in range(len(tree))
    ]


def tag_label(tag):
    return "\\" + tag if tag[0] in "*=\\" else tag


def symbol(tree, links, head, member, kinds):
    """The symbol of a member, and whether it is a variable. A leaf without a span has nothing to become one."""
    unlexical_head, unlexical_internal, unlexical_leaf = kinds
    if member == head or is_leaf(tree, member):
        begin, end = dependency_span(tree, links, member)
        variable = unlexical_head if member == head else unlexical_leaf and begin < end
        return (tag_label(tree.tags[member]), True) if variable else (tree.words[member], False)
    return ("*" + tree.tags[member] if unlexical_internal else "=" + tree.words[member]), True


def structures(tree, links, head, symbols):
    found = []
    in_order = members(tree, head)
    for first, last in product(range(len(in_order)), repeat=2):
        part = in_order[first : last + 1]
        if not 2 <= len(part) < len(in_order) or not all(symbols[m][1] for m in part):
            continue
        words = sorted({w for m in part for w in ([m] if m == head else subtree(tree, m))})
        roots = _core.structure_roots(tree, words[0], words[-1] + 1, True)
        assert roots == ([head] if head in part else part)  # strictly fixed on the head, or floating
        touched = closure([t for s, t in links if s in words])
        if consistent(links, words, range(*touched)):
            found.append(f"{first + 1}-{last + 1}")
    return " ".join(found)


def in_target_order(spans):
    """Members with target words."""
    return sorted((m for m, (b, e) in spans.items() if b < e), key=lambda m: spans[m][0])


def variants(spans, links):
    """Every way to extend the spans over unaligned words between them: as far as a linked word or another span.

    Two spans that meet share out all words between them. One whose other side is a word linked to something else takes
    as many as it likes.
    """
    linked = {t for _, t in links}
    order = in_target_order(spans)
    choices = []
    for left, right in pairwise(order):
        end, begin = spans[left][1], spans[right][0]
        possible = [
            (new_end, new_begin)
            for new_end, new_begin in product(range(end, begin + 1), repeat=2)
            if new_end <= new_begin
            and not linked & {*range(end, new_end), *range(new_begin, begin)}
            and (new_end == new_begin or linked & {*range(end, begin)})
        ]
        choices.append(possible)
    for chosen in product(*choices):
        extended = dict(spans)
        for (left, right), (end, begin) in zip(pairwise(order), chosen, strict=True):
            extended[left] = (extended[left][0], end)
            extended[right] = (begin, extended[right][1])
        yield extended


def slow_rules(pair):
    """{(lhs, source, target): (count, {alignment}, {labels})}."""
    tree, target, links = pair
    found = defaultdict(lambda: [0.0, set(), set()])
    for head in range(len(tree)):
        if not acceptable(tree, links, head):
            continue
        in_order = members(tree, head)
        spans = spans_of(tree, links, head)
        every = list(variants(spans, links))
        seen = set()
        for kinds in product([False, True], repeat=3):
            symbols = {m: symbol(tree, links, head, m, kinds) for m in in_order}
            if tuple(symbols.values()) in seen:  # the relation has no node of a kind
                continue
            seen.add(tuple(symbols.values()))
            variables = {m: i + 1 for i, m in enumerate(m for m in in_order if symbols[m][1])}
            text = {m: f"[{s},{variables[m]}]" if v else s for m, (s, v) in symbols.items()}
            labels = structures(tree, links, head, symbols)
            for extended in every:
                target_side, places = [], {}
                for m in in_target_order(spans):
                    if symbols[m][1]:
                        target_side.append(text[m])
                        continue
                    for t in range(*extended[m]):
                        places[t] = len(target_side)
                        target_side.append(target[t])
                inside = [
                    (in_order.index(s), places[t])
                    for s, t in links
                    if s in symbols and not symbols[s][1] and t in places
                ]
                rule = found[f"H{in_order.index(head) + 1}", " ".join(text.values()), " ".join(target_side)]
                rule[0] += 1 / len(every)
                rule[1].add(" ".join(f"{s}-{t}" for s, t in sorted(inside)))
                rule[2].add(labels)
    return found


def extracted(pairs, options, threads=1):
    """(lhs, source, target, alignment, labels, count) of every row but phrases."""
    built = pairs_of(
        ((tree.words, target, Alignment(links)) for tree, target, links in pairs),
        source_dependency=[tree for tree, _, _ in pairs],
    )
    found, counts, _ = run("head-dependents", built, options, threads)
    assert len(pairs) == counts["pairs"]
    rows = [(r.lhs, r.source, r.target, r.alignment, r.labels, r.units / UNIT) for r in found]
    return [row for row in rows if row[0] != "X"], [row for row in rows if row[0] == "X"], counts


@settings(max_examples=250)
@given(st.lists(aligned(), min_size=1, max_size=2))
def test_rules_are_those_of_the_definition(pairs):
    options = HeadDependentsOptions(max_variants=10_000)
    rows, _, counts = extracted(pairs, options)
    assert counts["capped"] == 0
    expected = defaultdict(lambda: [0.0, set(), set()])
    for pair in pairs:
        for rule, (count, alignments, labels) in slow_rules(pair).items():
            expected[rule][0] += count
            expected[rule][1] |= alignments
            expected[rule][2] |= labels
    found = defaultdict(lambda: [0.0, set(), set()])
    for *rule, alignment, labels, count in rows:
        found[tuple(rule)][0] += count
        found[tuple(rule)][1].add(alignment)
        found[tuple(rule)][2].add(labels)
    assert found.keys() == expected.keys()
    for rule, (count, alignments, labels) in expected.items():
        assert found[rule][0] == pytest.approx(count, abs=1e-5)
        assert found[rule][1:] == [alignments, labels]
    assert counts["acceptable"] == sum(acceptable(t, a, w) for t, _, a in pairs for w in range(len(t)))


@settings(max_examples=150)
@given(aligned())
def test_every_rule_applied_to_its_tree_derives_its_target_again(pair):
    tree, target, links = pair
    rows, _, _ = extracted([pair], HeadDependentsOptions())
    for lhs, source, target_side, *_ in rows:
        assert any(derives(tree, target, links, head, lhs, source, target_side) for head in range(len(tree)))


def derives(tree, target, links, head, lhs, source, target_side):
    """Whether the rule matches at `head` and, its variables' spans put in, gives the words of the relation's span."""
    if not acceptable(tree, links, head) or lhs != f"H{members(tree, head).index(head) + 1}":
        return False
    for kinds in product([False, True], repeat=3):
        symbols = {m: symbol(tree, links, head, m, kinds) for m in members(tree, head)}
        variables = [m for m in symbols if symbols[m][1]]
        text = [f"[{s},{variables.index(m) + 1}]" if v else s for m, (s, v) in symbols.items()]
        if " ".join(text) != source:
            continue
        spans = spans_of(tree, links, head)
        for extended in variants(spans, links):
            words = []
            for token in target_side.split():
                place = token.rpartition(",")[2]
                if token.startswith("[") and place.endswith("]"):
                    words += [target[t] for t in range(*extended[variables[int(place[:-1]) - 1]])]
                else:
                    words.append(token)
            if words == [target[t] for m in in_target_order(spans) for t in range(*extended[m])]:
                return True
    return False


@settings(max_examples=100)
@given(aligned(longest=5), st.integers(1, 5))
def test_phrases_are_all_consistent_pairs_within_the_limit(pair, longest):
    tree, target, links = pair
    _, phrases, counts = extracted([pair], HeadDependentsOptions(max_phrase=longest))
    expected = defaultdict(float)
    for i, k in product(range(len(tree)), range(len(target))):
        for j, m in product(range(i + 1, len(tree) + 1), range(k + 1, len(target) + 1)):
            if max(j - i, m - k) <= longest and consistent(links, range(i, j), range(k, m)):
                expected[" ".join(tree.words[i:j]), " ".join(target[k:m])] += 1
    found = defaultdict(float)
    for _, source, target_side, _, labels, count in phrases:
        assert labels == ""
        found[source, target_side] += count
    assert found == expected
    assert counts["phrases"] == sum(expected.values())


@settings(max_examples=150)
@given(aligned(), st.integers(1, 3), st.integers(2, 7), st.integers(2, 6))
def test_hierarchical_phrases_are_those_of_the_definition(pair, nonterminals, longest, symbols):
    tree, target, links = pair
    options = HeadDependentsOptions(max_nonterminals=nonterminals, max_span=longest, max_symbols=symbols)
    _, phrases, counts = extracted([pair], options)
    nodes = {(w, w + 1) for w in range(len(tree))}
    for head in range(len(tree)):
        in_order = members(tree, head)
        parts = [in_order[i:j] for i in range(len(in_order)) for j in range(i + 2, len(in_order) + 1)]
        covered = [[w for m in part for w in ([m] if m == head else subtree(tree, m))] for part in parts]
        nodes |= {closure(words) for words in covered if len(words) <= longest}
    nodes = {n: closure([t for s, t in links if s in range(*n)]) for n in nodes}
    nodes = {n: t for n, t in nodes.items() if consistent(links, range(*n), range(*t))}
    expected = defaultdict(float)
    for (begin, end), size in product(nodes, range(1, nonterminals + 1)):
        inside = sorted(n for n in nodes if begin <= n[0] and n[1] <= end and n != (begin, end))
        for holes in combinations(inside, size):
            left = [s for s in range(begin, end) if not any(s in range(*hole) for hole in holes)]
            apart = all(b[0] > a[1] for a, b in pairwise(holes))
            if not apart or len(left) + size > symbols or not {s for s, _ in links} & {*left}:
                continue
            sides = []
            for words, span, gaps in (
                (tree.words, (begin, end), holes),
                (target, nodes[begin, end], [nodes[hole] for hole in holes]),
            ):
                starts = {gap[0]: f"[X,{k}]" for k, gap in enumerate(gaps, start=1)}
                hidden = {at for gap in gaps for at in range(*gap)}
                shown = [starts.get(at) or words[at] for at in range(*span) if at in starts or at not in hidden]
                sides.append(" ".join(shown))
            expected[tuple(sides)] += 1
    found = defaultdict(float)
    for _, source, target_side, _, _, count in phrases:
        if "[X," in source:
            found[source, target_side] += count
    assert found == expected
    assert counts["gappy"] == sum(expected.values())


@settings(max_examples=20)
@given(st.lists(aligned(), min_size=70, max_size=90))
def test_threads_do_not_change_anything(pairs):
    assert extracted(pairs, HeadDependentsOptions(), 1)[:2] == extracted(pairs, HeadDependentsOptions(), 3)[:2]


@st.composite
def any_trees(draw: st.DrawFn) -> list[int]:
    size = draw(st.integers(1, 9))
    order = draw(st.permutations(range(size)))
    heads = [-1] * size
    for place, word in enumerate(order[1:], start=1):
        heads[word] = draw(st.sampled_from([-1, *order[:place]]))
    return heads


@settings(max_examples=300)
@given(any_trees())
def test_projectivising_lifts_the_shortest_arc_until_none_crosses(heads):
    def above(word):
        chain = [word]
        while heads[chain[-1]] >= 0:
            chain.append(heads[chain[-1]])
        return chain

    tree = Dependency(["w"] * len(heads), heads)
    made, lifts = tree.projectivise()
    steps = 0
    while True:
        bad = [
            k for k, h in enumerate(heads) if h >= 0 and any(h not in above(w) for w in range(min(k, h) + 1, max(k, h)))
        ]
        if not bad:
            break
        word = min(bad, key=lambda k: (abs(k - heads[k]), k))
        heads[word] = heads[heads[word]]
        steps += 1
    assert (list(made.heads), lifts) == (heads, steps)
    assert made.is_projective()
