"""String-to-dependency extraction against the definitions of Shen et al. (2008), written out word by word."""

from collections import Counter, defaultdict
from itertools import product

from dependency_pieces import Piece, join
from extraction import pairs_of, run
from hypothesis import given, settings
from hypothesis import strategies as st
from slow_hiero import slow_occurrences

from treeglot.rules.hiero import HieroOptions, StructureOptions
from treeglot.syntax import Alignment, Dependency

OPEN = HieroOptions(max_phrase=-1, max_symbols=-1, adjacent=True, loose_source=1, loose_target=1, phrase_loose_source=1)
NARROW = HieroOptions(max_phrase=4, max_symbols=3, max_nonterminals=2)


@st.composite
def treed_pairs(draw, longest=5):
    """A pair with links and, for its target side, mostly a tree; else any heads at all, or no parse."""
    source = draw(st.lists(st.sampled_from("abc"), min_size=1, max_size=longest))
    target = draw(st.lists(st.sampled_from("xyz"), min_size=1, max_size=longest))
    size = len(target)
    cells = list(product(range(len(source)), range(size)))
    links = draw(st.lists(st.sampled_from(cells), max_size=7, unique=True))
    kind = draw(st.integers(0, 5))
    if kind == 5:
        return source, target, sorted(links), Dependency([], [])
    if kind == 4:
        heads = [draw(st.sampled_from([h for h in range(-2, size) if h != word])) for word in range(size)]
    else:  # words hang from those drawn before, or are roots of the sentence
        order = draw(st.permutations(range(size)))
        heads = [-1] * size
        for place, word in enumerate(order[1:], 1):
            heads[word] = draw(st.sampled_from([*order[:place], *order[:place], -1]))
    tags = [draw(st.sampled_from(["N", "V", "X"])) for _ in target]
    return source, target, sorted(links), Dependency(target, heads, tags)


def holds_cycle(heads, inside):
    """Whether some words of `inside` hang from each other and so from no root."""
    for k in inside:
        seen = set()
        while k in inside and k not in seen:
            seen.add(k)
            k = heads[k]
        if k in inside:
            return True
    return False


def roots_over(heads, begin, end, strict):
    """The roots of a well-formed structure over [begin, end), or none."""
    inside = range(begin, end)
    outside = [k for k in range(len(heads)) if k not in inside]
    roots = [k for k in inside if heads[k] not in inside]
    if holds_cycle(heads, inside):
        return []
    leaking = {heads[k] for k in outside if heads[k] in inside}
    if len(roots) == 1:
        return roots if not strict or leaking <= set(roots) else []
    above = {heads[k] for k in roots}
    if len(above) == 1 and -2 not in above:
        return roots if not strict or not leaking else []
    return []


def structure_of(heads, occurrence):
    """The rule's numbers: its symbols in order, each with its head's place + 1, or 0. Some may have several heads."""
    _, _, k, m = occurrence.phrase
    holes = sorted((h[2], h[3]) for h in occurrence.holes)
    symbols, at = [], k
    while at < m:
        end = next((e for b, e in holes if b == at), at + 1)
        symbols.append(range(at, end))
        at = end
    numbers = []
    for symbol in symbols:
        above = {heads[w] for w in symbol if heads[w] not in symbol}
        places = [i + 1 for i, other in enumerate(symbols) if above & set(other)]
        numbers.append(places[0] if len(above) == 1 and places else 0)
    return numbers, symbols


def extract(pairs, options, strict=True, ill_formed=False, structured=True):
    """(source, target, structure, alignment, labels, units) of every row, and the counts."""
    built = pairs_of(((s, t, Alignment(a)) for s, t, a, _ in pairs), target_dependency=[tree for *_, tree in pairs])
    if structured:
        chosen = StructureOptions(**vars(options), strict=strict, ill_formed=ill_formed)
        rows, counts, _ = run("string-dependency", built, chosen)
    else:
        rows, counts, _ = run("hiero", built, options)
    return [(r.source, r.target, r.structure, r.alignment, r.labels, r.units) for r in rows], counts


def occurrences(pairs, options, strict, ill_formed=False):
    """(pair, occurrence) of the rules all of whose phrases are well-formed, or at least without a cycle."""
    for pair in pairs:
        source, target, links, tree = pair
        heads = tree.heads.tolist()

        def fine(_, __, begin, end, heads=heads):
            well_formed = roots_over(heads, begin, end, strict)
            return well_formed or (ill_formed and not holds_cycle(heads, range(begin, end)))

        def accept(phrases, heads=heads, fine=fine):
            return [p for p in phrases if heads and fine(*p)]

        for occurrence in slow_occurrences(source, target, links, options, accept=accept):
            yield pair, occurrence


@settings(max_examples=150)
@given(st.lists(treed_pairs(), min_size=1, max_size=3), st.sampled_from([OPEN, NARROW]), st.booleans(), st.booleans())
def test_rules_are_those_of_the_definitions(pairs, options, strict, ill_formed):
    expected = Counter()
    for (_, _, _, tree), occurrence in occurrences(pairs, options, strict, ill_formed):
        heads = tree.heads.tolist()
        numbers, symbols = structure_of(heads, occurrence)
        assert not holds_cycle([n - 1 for n in numbers], range(len(numbers)))
        if not all(roots_over(heads, k, m, strict) for *_, k, m in [occurrence.phrase, *occurrence.holes]):
            numbers.append(1)  # the mark
        words = [s[0] for s, text in zip(symbols, occurrence.target.split(), strict=True) if "[X" not in text]
        tags = " ".join(tree.tags[w] for w in words)
        structure = " ".join(map(str, numbers))
        expected[occurrence.source, occurrence.target, structure, occurrence.alignment, tags] += occurrence.units
    rows, counts = extract(pairs, options, strict, ill_formed)
    assert {row[:5]: row[5] for row in rows} == expected
    assert counts["unparsed"] == sum(len(tree) == 0 for *_, tree in pairs)
    assert (counts["flat"], counts["gappy"]) == tuple(
        sum(bool(o.holes) == gappy for _, o in occurrences(pairs, options, strict, ill_formed))
        for gappy in (False, True)
    )


@settings(max_examples=100)
@given(st.lists(treed_pairs(), min_size=1, max_size=2))
def test_what_hiero_has_more_is_what_is_ill_formed(pairs):
    """Minus its structures, the set of rules is Hiero's but for those that are ill-formed wherever they occur."""
    hiero = {row[:2] for row in extract(pairs, OPEN, structured=False)[0]}
    kept = {row[:2] for row in extract(pairs, OPEN)[0]}
    well_formed = defaultdict(bool)
    for source, target, links, tree in pairs:
        heads = tree.heads.tolist()
        for rule in slow_occurrences(source, target, links, OPEN):
            spans = [rule.phrase, *rule.holes]
            fine = bool(heads) and all(roots_over(heads, k, m, True) for *_, k, m in spans)
            well_formed[rule.source, rule.target] |= fine
    assert hiero == set(well_formed)
    assert hiero - kept == {rule for rule, fine in well_formed.items() if not fine}
    assert kept <= hiero


@settings(max_examples=150)
@given(treed_pairs())
def test_a_rule_put_back_in_its_place_rebuilds_the_tree(pair):
    found = {(row[0], row[1], row[2]) for row in extract([pair], OPEN)[0]}
    for (_, target, _, tree), occurrence in occurrences([pair], OPEN, True):
        heads, tags = tree.heads.tolist(), tree.tags
        numbers, symbols = structure_of(heads, occurrence)
        row = (occurrence.source, occurrence.target, " ".join(map(str, numbers)))
        assert row in found

        def piece(words, heads=heads, tags=tags, target=target):
            inside = [heads[w] - words[0] if heads[w] in words else -1 for w in words]
            return Piece(tuple(target[w] for w in words), tuple(tags[w] for w in words), tuple(inside))

        rebuilt = join([int(n) - 1 for n in row[2].split()], [piece(s) for s in symbols])
        assert rebuilt == piece(range(occurrence.phrase[2], occurrence.phrase[3]))
        assert rebuilt.ill == 0


def test_threads_make_no_difference(tmp_path):
    from treeglot.rules import extract as write

    source, target = ["a", "b", "c", "d"], ["x", "y", "z", "x"]
    tree = Dependency(target, [1, -1, 1, 2], ["N", "V", "N", "N"])
    links = Alignment.parse("0-0 1-1 2-2 3-3")
    pairs = pairs_of([(source, target, links)] * 100, target_dependency=[tree] * 100)
    files = []
    for threads in (1, 2):
        folder = tmp_path / str(threads)
        write("string-dependency", pairs, folder, threads=threads)
        files.append([path.read_bytes() for path in sorted(folder.iterdir())])
    assert files[0] == files[1]
