"""Hierarchical rules written from the definitions: slow twin of the extractor."""

from itertools import combinations, pairwise, product
from typing import NamedTuple

BIG = 10**6
UNIT = 2**28


def no_limit(value):
    return BIG if value == -1 else value


def consistent(links, i, j, k, m):
    inside = [(s, t) for s, t in links if i <= s < j and k <= t < m]
    leaving = [(s, t) for s, t in links if (i <= s < j) != (k <= t < m)]
    return bool(inside) and not leaving


def loose(aligned, begin, end):
    """Unaligned words at the two ends."""
    words = [w in aligned for w in range(begin, end)]
    return words.index(True) + words[::-1].index(True)


def side(words, begin, end, holes):
    """The symbols of [begin, end) with holes {index: (begin, end)}, and where its words have gone."""
    symbols, places, at = [], {}, begin
    while at < end:
        hole = next((n for n, (b, _) in holes.items() if b == at), None)
        if hole is None:
            places[at] = len(symbols)
            word = words[at]
            escape = word.startswith("\\") or (word.startswith("[") and word.endswith("]") and len(word) > 1)
            symbols.append(("\\" if escape else "") + word)
            at += 1
        else:
            symbols.append(f"[X,{hole + 1}]")
            at = holes[hole][1]
    return " ".join(symbols), places


class Occurrence(NamedTuple):
    """A rule, the phrase pair (i, j, k, m) that it was taken from, and those that its variables stand for."""

    source: str
    target: str
    alignment: str
    units: int
    links: tuple[tuple[int, int], ...]  # of its words
    phrase: tuple[int, int, int, int]
    holes: tuple[tuple[int, int, int, int], ...]


def slow_phrases(source, target, links, options):
    """[((i, j, k, m), whether gappy rules come of it, whether it is a rule itself)]."""
    o = options
    phrases = []
    for i, j, k, m in product(
        range(len(source)), range(1, len(source) + 1), range(len(target)), range(1, len(target) + 1)
    ):
        if i >= j or k >= m or not consistent(links, i, j, k, m):
            continue
        if j - i > no_limit(o.max_phrase) or m - k > no_limit(o.max_target_phrase):
            continue
        loose_source = loose({s for s, _ in links}, i, j)
        loose_target = loose({t for _, t in links}, k, m)
        tight = loose_source <= no_limit(o.loose_source) and loose_target <= no_limit(o.loose_target)
        plain = loose_source <= no_limit(o.phrase_loose_source) and loose_target <= no_limit(o.phrase_loose_target)
        if loose_source <= max(no_limit(o.loose_source), no_limit(o.phrase_loose_source)) and loose_target <= max(
            no_limit(o.loose_target), no_limit(o.phrase_loose_target)
        ):
            phrases.append(((i, j, k, m), tight, plain))
    return phrases


def slow_occurrences(source, target, links, options, core=True, accept=lambda phrases: phrases):
    """All rules of a pair, as they are found; `accept` may drop phrases before they are used."""
    o = options
    phrases = slow_phrases(source, target, links, options)
    kept = set(accept([p for p, *_ in phrases]))
    phrases = [p for p in phrases if p[0] in kept]
    holes = [p for p, tight, _ in phrases if tight and p[1] - p[0] >= o.min_hole]
    for (i, j, k, m), tight, plain in phrases:
        choices = [()] if plain and j - i <= no_limit(o.max_symbols) else []
        if core and tight:
            for n in range(1, o.max_nonterminals + 1):
                choices += [c for c in combinations(holes, n) if allowed((i, j, k, m), c, links, o)]
        for chosen in choices:
            source_side, source_places = side(source, i, j, dict(enumerate((h[0], h[1]) for h in chosen)))
            target_side, target_places = side(target, k, m, dict(enumerate((h[2], h[3]) for h in chosen)))
            inside = [(s, t) for s, t in links if s in source_places and t in target_places]
            alignment = " ".join(f"{source_places[s]}-{target_places[t]}" for s, t in inside)
            units = round(UNIT / len(choices))
            yield Occurrence(source_side, target_side, alignment, units, tuple(inside), (i, j, k, m), chosen)


def allowed(phrase, chosen, links, o):
    i, j, k, m = phrase
    if any(h == phrase or h[0] < i or h[1] > j or h[2] < k or h[3] > m for h in chosen):
        return False
    gap = 0 if o.adjacent else 1
    if any(a[1] + gap > b[0] for a, b in pairwise(chosen)):
        return False
    if any(a[2] < b[3] and b[2] < a[3] for a, b in combinations(chosen, 2)):
        return False
    symbols = j - i - sum(h[1] - h[0] - 1 for h in chosen)
    own = [(s, t) for s, t in links if i <= s < j and not any(h[0] <= s < h[1] for h in chosen)]
    return symbols <= no_limit(o.max_symbols) and bool(own)
