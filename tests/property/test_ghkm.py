"""Extraction from forests against a slow twin written from the definitions of the c2d page."""

import math
import tempfile
from collections import defaultdict
from dataclasses import replace
from itertools import combinations, pairwise, product
from pathlib import Path

import extraction
import numpy as np
import pytest
from enumeration import derivations, score, tails_of
from extraction import UNIT, pairs_of
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from syntax_strategies import few_labels, forests, mild_scores

from treeglot.graph import prune
from treeglot.rules.ghkm import GhkmOptions
from treeglot.syntax import Alignment, Dependency, write

BIG = 10**6


@st.composite
def parsed_pairs(draw: st.DrawFn):
    """A forest, its target words with any heads (trees mostly), and links."""
    forest = draw(forests(st.sampled_from(["a", "b", ")"]), few_labels, mild_scores, max_trees=24))
    target = draw(st.lists(st.sampled_from(["x", "y", "[", "z("]), min_size=1, max_size=5))
    size = len(target)
    if draw(st.integers(0, 3)) > 0:  # a tree: words hang from those drawn before
        order = draw(st.permutations(range(size)))
        heads = [0] * size
        for place, word in enumerate(order):
            heads[word] = order[draw(st.integers(0, place - 1))] if place else -1
    else:
        heads = [draw(st.sampled_from([h for h in range(-2, size) if h != word])) for word in range(size)]
    tags = [draw(st.sampled_from(["N", "V", "S"])) for _ in target]
    cells = list(product(range(len(forest.words)), range(size)))
    links = sorted(draw(st.lists(st.sampled_from(cells), max_size=6, unique=True)))
    return forest, Dependency(target, heads, tags), links


limit = st.sampled_from([-1, -1, -1, 1, 2, 4])
options = st.builds(
    GhkmOptions,
    well_formed=st.sampled_from([False, True, True]),
    structure=st.just(False),
    phrases=st.sampled_from(["none", "all", "all", "well-formed"]),
    max_phrase=st.sampled_from([1, 3, -1]),
    phrase_loose=st.sampled_from([0, 1, -1]),
    sequences=st.booleans(),
    all_spans=st.booleans(),
    max_nonterminals=st.sampled_from([0, 0, 1, 2, 3]),
    max_span=st.sampled_from([2, 3, 10]),
    max_symbols=st.sampled_from([2, 3, 6]),
    prune=st.sampled_from([0.0, 1.0, 3.0, math.inf]),
    max_composed=st.integers(1, 3),
    minimal_height=limit,
    minimal_edges=limit,
    minimal_leaves=limit,
    minimal_fragments=st.just(-1),
    composed_height=limit,
    composed_edges=limit,
    composed_leaves=limit,
    composed_fragments=st.just(-1),
    max_attachments=st.sampled_from([1, 1, 4, -1]),
)


def no_limit(value):
    return BIG if value == -1 else value


def well_formed(heads, begin, end):
    """Whether the span is fixed or floating: the words that hang from outside, and what from."""
    for word in range(begin, end):  # a cycle within hangs from nothing
        seen = []
        while begin <= word < end and word not in seen:
            seen.append(word)
            word = heads[word]
        if begin <= word < end:
            return None
    outward = [w for w in range(begin, end) if not begin <= heads[w] < end]
    of = {heads[w] for w in outward}
    floating = len(outward) > 1 and len(of) == 1 and of != {-2}
    return outward if len(outward) == 1 or floating else None


class Slow:
    """A pair, cut wherever the definitions allow."""

    def __init__(self, forest, dependency, links, o, parsed=()):
        self.parsed = parsed  # trees of phrases
        self.o, self.heads, self.links = o, dependency.heads, links
        self.target, self.tags = dependency.words, dependency.tags
        self.forest = forest.prune(o.prune)
        kept = prune(forest.graph, forest.scores, o.prune).edge_map
        self.logs = forest.conditional().scores[kept]  # what pruning drops stays in the sums
        self.graph, self.n = self.forest.graph, len(forest.words)
        self.spans = [tuple(map(int, span)) for span in self.forest.spans]
        self.cut = {}  # the frontier set, and what its nodes stand for
        for node in range(self.n, self.graph.nodes):
            span = self.target_span(node)
            if span and (not o.well_formed or well_formed(self.heads, *span)):
                self.cut[node] = span

    def target_span(self, node):
        begin, end = self.spans[node]
        linked = [t for s, t in self.links if begin <= s < end]
        if not linked:
            return None
        if any(min(linked) <= t <= max(linked) for s, t in self.links if not begin <= s < end):
            return None
        return (0, len(self.target)) if node == self.graph.goal else (min(linked), max(linked) + 1)

    def fragments(self, node, root=True):
        """All fragments below a node: nested (node, edge, children), leaves are nodes."""
        if node < self.n:
            yield node
            return
        if node in self.cut and not root:
            yield node
        for edge in range(int(self.graph.first_edge[node]), int(self.graph.first_edge[node + 1])):
            below = [list(self.fragments(tail, False)) for tail in tails_of(self.graph, edge)]
            for children in product(*below):
                yield (node, edge, children)

    def kept(self, fragment):
        rules, edges, leaves, height = self.measure(fragment)
        if rules > self.o.max_composed:
            return False
        kind = "minimal" if rules == 1 else "composed"
        most = [no_limit(getattr(self.o, f"{kind}_{name}")) for name in ("edges", "leaves", "height")]
        return edges <= most[0] and leaves <= most[1] and height <= most[2]

    def measure(self, fragment):
        if isinstance(fragment, int):
            return 0, 0, 1, 0
        node, _, children = fragment
        below = [self.measure(child) for child in children]
        rules, edges, leaves, heights = zip(*below, strict=True)
        return (node in self.cut) + sum(rules), 1 + sum(edges), sum(leaves), 1 + max(heights)

    def rules(self):
        """(source, target, structure, labels, alignment), the fragment and its share, for every fragment's rules."""
        for node in self.cut:
            for fragment in self.fragments(node):
                if self.kept(fragment):
                    rules = {self.rule(fragment, *spans) for spans in self.attachments(fragment)}
                    for rule in rules:
                        yield rule, fragment, 1 / len(rules)

    def attachments(self, fragment):
        """Spans of the root and the variables, for every way to attach the unaligned words."""
        order = []
        collect(fragment, self.n, order)
        root, holes = self.cut[fragment[0]], [self.cut[v] for v in order]
        if self.o.max_attachments == 1:
            return [(root, holes)]
        linked = {t for _, t in self.links}
        covered = {w for hole in holes for w in range(*hole)}
        free = [w not in linked and w not in covered for w in range(len(self.target))]
        runs = [
            (b, e)
            for b, e in product(range(len(free)), range(1, len(free) + 1))
            if b < e and all(free[b:e]) and not any(free[max(b - 1, 0) : b] + free[e : e + 1])
        ]
        takers = []
        for begin, end in runs:
            if root[0] <= begin and end <= root[1]:
                beside = [i for i, hole in enumerate(holes) if hole[1] == begin or hole[0] == end]
                takers.append([((begin, end), taker) for taker in ("rule", *beside)])
            elif end == root[0] or begin == root[1]:
                takers.append([((begin, end), taker) for taker in ("nobody", "rule")])
        choices = list(product(*takers))
        if len(choices) > no_limit(self.o.max_attachments):
            return [(root, holes)]
        found = []
        for choice in choices:
            spans = {"rule": root, "nobody": root, **dict(enumerate(holes))}
            for run, taker in choice:
                spans[taker] = hull(spans[taker], run) if taker != "nobody" else root
            mine, theirs = spans["rule"], [spans[i] for i in range(len(holes))]
            if not self.o.well_formed or all(well_formed(self.heads, *span) for span in (mine, *theirs)):
                found.append((mine, theirs))
        return found

    def rule(self, fragment, root, spans):
        symbols, variables, words = [], [], {}

        def walk(item):
            if isinstance(item, int) and item >= self.n:
                variables.append(item)
                symbols.append(f"[{self.forest.labels[item]},{len(variables)}]")
            elif isinstance(item, int):
                words[item] = len(symbols)
                symbols.append(escaped(self.forest.words[item]))
            else:
                symbols.append(self.forest.labels[item[0]] + "(")
                for child in item[2]:
                    walk(child)
                symbols.append(")")

        walk(fragment)
        names = [f"[{self.forest.labels[v]},{i}]" for i, v in enumerate(variables, 1)]
        return (" ".join(symbols), *self.side(root, list(zip(spans, names, strict=True)), words))

    def side(self, span, holes, words, ill_formed=False):
        """The target side, its structure, its words' tags and the links to source words at places `words`."""
        text, heads, tags, place = [], [], [], {}
        at = span[0]
        while at < span[1]:
            hole = next(((s, t) for s, t in holes if s[0] == at), None)
            end = hole[0][1] if hole else at + 1
            for word in range(at, end):
                place[word] = len(text)
            if hole:
                outward = well_formed(self.heads, at, end)
                heads.append(self.heads[outward[0]] if outward else None)
                text.append(hole[1])
            else:
                heads.append(self.heads[at])
                text.append(escaped(self.target[at]))
                tags.append(self.tags[at])
            at = end
        structure = [place[h] + 1 if h in place else 0 for h in heads] + [1] * ill_formed
        links = [f"{words[s]}-{place[t]}" for s, t in self.links if s in words]
        if not self.o.structure:
            return " ".join(text), "", "", " ".join(links)
        return " ".join(text), " ".join(map(str, structure)), " ".join(tags), " ".join(links)

    def phrases(self):
        linked = {t for _, t in self.links}
        everywhere = set(combinations(range(self.n + 1), 2))
        spans = everywhere if self.o.all_spans else self.covered()
        spans = {s for s in spans if s[1] - s[0] <= no_limit(self.o.max_phrase)}
        for i, j in [] if self.o.phrases == "none" else sorted(spans):
            for k, m in product(range(len(self.target)), range(1, len(self.target) + 1)):
                inside = [t for s, t in self.links if i <= s < j]
                if k >= m or not inside or any((i <= s < j) != (k <= t < m) for s, t in self.links):
                    continue
                loose = [w in linked for w in range(k, m)]
                if loose.index(True) + loose[::-1].index(True) > no_limit(self.o.phrase_loose):
                    continue
                good = well_formed(self.heads, k, m) is not None
                if good or self.o.phrases == "all":
                    source = " ".join(escaped(self.forest.words[w]) for w in range(i, j))
                    side = self.side((k, m), [], {w: w - i for w in range(i, j)}, not good)
                    yield source, *(side if good else self.own_structure(self.target[k:m], side))

    def own_structure(self, words, side):
        """The target side of an ill-formed phrase, with the structure and tags of the first parse of its words."""
        found = [tree for tree in self.parsed if tree.words == words]
        if not found or not self.o.structure:
            return side
        structure = " ".join(str(head + 1) for head in found[0].heads)
        return side[0], structure, " ".join(found[0].tags), side[3]

    def covered(self):
        """The spans of constituents and, if wanted, of neighbouring children."""
        found = set(self.spans[self.n :])
        for edge in range(self.graph.edges if self.o.sequences else 0):
            tails = tails_of(self.graph, edge)
            found |= {(self.spans[a][0], self.spans[b][1]) for a, b in combinations(tails, 2)}
        return found

    def hierarchical(self):
        """Phrases with variables."""
        parts = {}
        for i, j in self.covered():
            inside = [t for s, t in self.links if i <= s < j]
            if j - i > self.o.max_span or not inside:
                continue
            k, m = min(inside), max(inside) + 1
            crossing = any((i <= s < j) != (k <= t < m) for s, t in self.links)
            if not crossing and (not self.o.well_formed or well_formed(self.heads, k, m)):
                parts[i, j] = (k, m)
        for (i, j), size in product(parts, range(1, self.o.max_nonterminals + 1)):
            inside = sorted(p for p in parts if i <= p[0] and p[1] <= j and p != (i, j))
            for holes in combinations(inside, size):
                left = [s for s in range(i, j) if not any(s in range(*hole) for hole in holes)]
                apart = all(b[0] > a[1] for a, b in pairwise(holes))
                if not apart or len(left) + size > self.o.max_symbols or not {s for s, _ in self.links} & {*left}:
                    continue
                names = [f"[X,{k}]" for k in range(1, size + 1)]
                starts = {hole[0]: name for hole, name in zip(holes, names, strict=True)}
                shown = [s for s in range(i, j) if s in left or s in starts]
                source = " ".join(starts.get(s) or escaped(self.forest.words[s]) for s in shown)
                places = {s: shown.index(s) for s in left}
                targets = [(parts[hole], name) for hole, name in zip(holes, names, strict=True)]
                yield source, *self.side(parts[i, j], targets, places)

    def expected(self, fragment):
        """How often the fragment is expected in a tree of the forest: over all trees, one by one."""
        total = inside = 0.0
        edges = edges_of(fragment)
        for derivation in derivations(self.graph, self.graph.goal):
            p = math.exp(score(self.graph, self.logs, derivation))
            total += p
            inside += p * (edges <= set(derivation))
        return inside / total


def hull(a, b):
    return min(a[0], b[0]), max(a[1], b[1])


def edges_of(fragment):
    if isinstance(fragment, int):
        return set()
    return {fragment[1]}.union(*map(edges_of, fragment[2]))


def escaped(word):
    return "\\" + word if word == ")" or word.endswith("(") else word


def usable(forest, dependency, links, o):
    whole = well_formed(dependency.heads, 0, len(dependency.words))
    return forest.parsed and bool(links) and not (o.well_formed and whole is None)


def rows_of(pairs, o, threads=1):
    """{(source, target, structure, labels, alignment): (units, occurrences)}, the counts and the labels"""
    triples = ((f.words, d.words, Alignment(links)) for f, d, links in pairs)
    parses = {"source_forest": [f for f, _, _ in pairs], "target_dependency": [d for _, d, _ in pairs]}
    rows, counts, labels = extraction.run("ghkm", pairs_of(triples, **parses), o, threads)
    found = {
        (r.source, r.target, r.structure, r.labels, r.alignment): (r.units, r.occurrences) for r in rows
    }  # fmt: skip
    return found, counts, labels


@st.composite
def phrase_trees(draw: st.DrawFn):
    """Parses of phrases: projective trees, some of them with several roots or with words that no sentence has."""
    words = draw(st.lists(st.sampled_from(["x", "y", "[", "z(", "w"]), min_size=1, max_size=3))
    heads = [draw(st.sampled_from([-1, *range(word)])) for word in range(len(words))]
    tags = [draw(st.sampled_from(["N", "T"])) for _ in words]
    tree = Dependency(words, heads, tags)
    assume(tree.is_projective())
    return tree


@settings(max_examples=100)
@given(st.lists(parsed_pairs(), min_size=1, max_size=2), options, st.lists(phrase_trees(), max_size=8))
def test_parsed_phrases_have_structures_of_their_own(pairs, o, parsed):
    o = replace(o, well_formed=True, structure=True, phrases="all")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "phrases.conllu"
        write(path, parsed)
        found, counts, _ = rows_of(pairs, replace(o, phrase_dependencies=path))
    times = defaultdict(int)
    own = 0
    for pair in pairs:
        if not usable(*pair, o):
            continue
        slow, plain = Slow(*pair, o, parsed), Slow(*pair, o)
        for rule, before in zip(slow.phrases(), plain.phrases(), strict=True):
            times[rule] += 1
            own += rule[2] != before[2]
        for rule in [rule for rule, _, _ in slow.rules()] + list(slow.hierarchical()):
            times[rule] += 1
    assert {rule: n for rule, (_, n) in found.items()} == times
    assert counts["phrases_parsed"] == own
    assert counts["phrases"] == counts["phrases_well_formed"] + own + sum(
        n for (_, target, structure, *_), n in times.items() if len(structure.split()) > len(target.split())
    )


def with_structure(o, structure):
    return GhkmOptions(**{**vars(o), "structure": structure and o.well_formed})


@settings(max_examples=300)
@given(st.lists(parsed_pairs(), min_size=1, max_size=2), options, st.sampled_from([False, True, True]))
def test_rules_are_those_of_the_definitions(pairs, o, structure):
    o = with_structure(o, structure)
    found, counts, _ = rows_of(pairs, o)
    units, times = defaultdict(float), defaultdict(int)
    phrases = on_nodes = gappy = 0
    for pair in pairs:
        if not usable(*pair, o):
            continue
        slow = Slow(*pair, o)
        for rule, fragment, share in slow.rules():
            units[rule] += slow.expected(fragment) * share * UNIT
            times[rule] += 1
        for rule in slow.phrases():
            units[rule] += UNIT
            times[rule] += 1
            phrases += 1
        on_nodes += len(list(Slow(*pair, replace(o, all_spans=False)).phrases()))
        for rule in slow.hierarchical():
            units[rule] += UNIT
            times[rule] += 1
            gappy += 1
    assert {rule: n for rule, (_, n) in found.items()} == times
    for rule, (u, n) in found.items():
        assert u == pytest.approx(units[rule], abs=n * 2, rel=1e-9)
    assert (counts["pairs"], counts["phrases"], counts["gappy"]) == (len(pairs), phrases, gappy)
    assert counts["minimal"] + counts["composed"] == sum(times.values()) - phrases - gappy
    assert counts["phrases_on_nodes"] == on_nodes
    assert counts["minimal_capped"] == counts["composed_capped"] == 0
    if o.max_attachments == -1:
        assert counts["attachments_capped"] == 0


@settings(max_examples=100)
@given(parsed_pairs(), st.booleans())
def test_minimal_rules_share_out_what_their_root_counts(pair, wf):
    """The counts of the minimal rules below a node add up to αβ(node) / αβ(TOP): the share of trees that have it."""
    o = GhkmOptions(wf, phrases="none", max_composed=1, **dict.fromkeys(UNLIMITED, -1))
    assume(usable(*pair, o))
    slow = Slow(*pair, o)
    found, _, _ = rows_of([pair], o)
    expected = 0.0
    for node in slow.cut:
        shares = [
            (math.exp(score(slow.graph, slow.logs, d)), any(int(slow.graph.heads[e]) == node for e in d))
            for d in derivations(slow.graph, slow.graph.goal)
        ]
        expected += sum(p for p, has in shares if has) / sum(p for p, _ in shares)
    total = sum(u for u, _ in found.values()) / UNIT
    assert total == pytest.approx(expected, abs=1e-6)


UNLIMITED = [
    f"{kind}_{name}" for kind in ("minimal", "composed") for name in ("height", "edges", "leaves", "fragments")
]


@settings(max_examples=100)
@given(parsed_pairs(), st.booleans(), st.sampled_from([1, -1]))
def test_a_pair_is_derived_again_from_its_rules(pair, wf, ways):
    """Any tree of the pruned forest, with the rules of its fragments put together, gives the target sentence."""
    off = dict.fromkeys(UNLIMITED, -1)
    o = GhkmOptions(wf, wf, "none", prune=math.inf, max_composed=1, max_attachments=ways, **off)
    assume(usable(*pair, o))
    slow = Slow(*pair, o)
    known = defaultdict(set)
    for source, target, structure, *_ in rows_of([pair], o)[0]:
        known[source].add((target, structure))

    def translations(node):
        """What the rules make of the fragments below a node, from the rules' text alone: words and their heads."""
        for fragment in slow.fragments(node):
            if slow.measure(fragment)[0] != 1:
                continue
            below, order = [], []
            collect(fragment, slow.n, order)
            below = [list(translations(leaf)) for leaf in order]
            for target, structure in known[slow.rule(fragment, *slow.attachments(fragment)[0])[0]]:
                for parts in product(*below):
                    yield join(target.split(), structure.split(), parts)

    sentence = tuple(map(escaped, slow.target))
    made = [(heads, roots) for words, heads, roots in translations(slow.graph.goal) if words == sentence]
    assert made
    if wf and Dependency(slow.target, slow.heads).is_tree():
        assert any(len(roots) == 1 for _, roots in made)


def collect(item, n, order):
    if isinstance(item, int):
        order += [item] if item >= n else []
        return
    for child in item[2]:
        collect(child, n, order)


def join(symbols, structure, parts):
    """Put the parts in place of a target side's variables: words, heads, and the roots among the words."""
    words, heads, roots, tops = [], [], [], []
    for symbol in symbols:
        if symbol.startswith("[") and symbol != "[":
            part_words, part_heads, part_roots = parts[int(symbol[1:-1].rsplit(",", 1)[1]) - 1]
            base = len(words)
            heads += [h if h is None else h + base for h in part_heads]
            words += part_words
            tops.append([r + base for r in part_roots])
        else:
            tops.append([len(words)])
            words.append(symbol)
            heads.append(None)
    for mine, head in zip(tops, map(int, structure), strict=False):
        for word in mine:
            heads[word] = tops[head - 1][0] if head else None
            roots += [] if head else [word]
    return tuple(words), tuple(heads), tuple(roots)


@settings(max_examples=50)
@given(parsed_pairs(), st.integers(1, 3), st.integers(1, 3))
def test_caps_are_counted(pair, minimal, composed):
    off = dict.fromkeys(UNLIMITED, -1)
    o = GhkmOptions(phrases="none", **{**off, "minimal_fragments": minimal, "composed_fragments": composed})
    assume(usable(*pair, o))
    slow = Slow(*pair, o)
    _, counts, _ = rows_of([pair], o)
    wanted = np.zeros(4, dtype=int)
    for node in slow.cut:
        rules = [slow.measure(f)[0] for f in slow.fragments(node)]
        one, more = rules.count(1), sum(1 < r <= 3 for r in rules)
        wanted += [min(one, minimal), min(more, composed), one > minimal, more > composed]
    assert [counts[name] for name in ("minimal", "composed", "minimal_capped", "composed_capped")] == wanted.tolist()


@settings(max_examples=10)
@given(st.lists(parsed_pairs(), min_size=40, max_size=60), options)
def test_threads_do_not_show(pairs, o):
    several = []
    for threads in (1, 2, 4):
        found, _, labels = rows_of(pairs * 3, o, threads)
        several.append((list(found.items()), labels))
    assert several[0] == several[1] == several[2]
