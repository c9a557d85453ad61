"""The slow twin of decoding dependency trees: all derivations of random small trees."""

from functools import cache
from itertools import combinations, product
from typing import NamedTuple

from hypothesis import strategies as st
from slow_chart import Links
from small_lm import LM, log_probability, unknown_words

from treeglot._core import Decoder, Dependency, FeatureSet, HeadDependentsMatcher, RuleTable, RuleTableBuilder
from treeglot.decode import SearchOptions

NT = 0x80000000
TARGET = ["u", "v", "w"]
WEIGHTS = {"p": 1.0, "word_penalty": -0.3, "rule_penalty": 0.2, "glue": -0.7, "unknown": -1.1, "pseudo": -0.9}
WEIGHTS |= {"lm": 0.8, "lm_unknown": -0.4, "phrase_p": 0.6}


class Rule(NamedTuple):
    lhs: str
    source: tuple[tuple[str, bool], ...]  # a word or a label, and whether it is a variable
    target: tuple[str | int, ...]  # words, or variables in source order from 1
    structures: tuple[tuple[int, int], ...]  # first and last symbol, from 0
    score: float


class Made(NamedTuple):
    score: float
    words: tuple[str, ...]


class Case(NamedTuple):
    tree: Dependency
    rules: list[Rule]


def members(tree: Dependency, head: int) -> list[int]:
    return sorted([head, *(w for w in range(len(tree)) if tree.heads[w] == head)])


def subtree(tree: Dependency, word: int) -> tuple[int, int]:
    words = [word]
    for w in words:
        words += [d for d in members(tree, w) if d != w]
    return min(words), max(words) + 1


def is_leaf(tree: Dependency, word: int) -> bool:
    return members(tree, word) == [word]


def structures(tree: Dependency) -> dict[tuple[int, int], tuple[int, int, int]]:
    """Subtrees of several words, and structures: what they cover; their head, first and last member."""
    found = {}
    for head in range(len(tree)):
        covered = [(m, m + 1) if m == head else subtree(tree, m) for m in members(tree, head)]
        for first, last in combinations(range(len(covered)), 2):
            found[covered[first][0], covered[last][1]] = head, first, last
    return found


def symbol(tree: Dependency, head: int, member: int, kinds: tuple[bool, bool, bool]) -> tuple[str, bool]:
    assert tree.tags is not None
    if member == head or is_leaf(tree, member):
        variable = kinds[0] if member == head else kinds[2]
        return (tree.tags[member], True) if variable else (tree.words[member], False)
    return ("*" + tree.tags[member] if kinds[1] else "=" + tree.words[member]), True


def instances(tree: Dependency, head: int) -> set[tuple[str, tuple[tuple[str, bool], ...]]]:
    """All source sides that the relation may have: heads, subtrees and leaves by tags or not, but leaves one by one."""
    in_order = members(tree, head)
    leaves = [m for m in in_order if m != head and is_leaf(tree, m)]
    found = set()
    for of_head, of_subtrees, *of_leaves in product([False, True], repeat=2 + len(leaves)):
        by_tag = dict(zip(leaves, of_leaves, strict=True))
        symbols = tuple(symbol(tree, head, m, (of_head, of_subtrees, by_tag.get(m, False))) for m in in_order)
        found.add((f"H{in_order.index(head) + 1}", symbols))
    return found


@st.composite
def cases(draw: st.DrawFn, phrases: bool = True) -> Case:
    size = draw(st.sampled_from([1, 2, 3, 4, 4, 5]))
    order = draw(st.permutations(range(size)))
    heads = [-1] * size
    for place, word in enumerate(order[1:], start=1):
        heads[word] = draw(st.sampled_from([order[0], order[0], *order[:place], -1]))
    words = draw(st.lists(st.sampled_from("abc"), min_size=size, max_size=size))
    tags = draw(st.lists(st.sampled_from("PQ"), min_size=size, max_size=size))
    tree, _ = Dependency(words, heads, tags).projectivise()
    rules: dict[tuple[object, ...], Rule] = {}

    def add(rule: Rule) -> None:
        rules.setdefault(rule[:3], rule)

    inner = [w for w in range(size) if not is_leaf(tree, w)]
    inside: list[tuple[int, int]] = []  # what structures cover
    for _ in range(draw(st.integers(0, 6)) if inner else 0):
        head = draw(st.sampled_from(inner))
        sources = sorted(instances(tree, head), key=lambda i: sum(variable for _, variable in i[1]))
        lhs, source = draw(st.sampled_from([*sources, *sources[-2:], sources[-1]]))
        variables = [i for i, (_, variable) in enumerate(source) if variable]
        target: list[str | int] = [v + 1 for v in range(len(variables))]
        target += draw(st.lists(st.sampled_from(TARGET), max_size=1))
        ranges = [(a, b) for a, b in combinations(range(len(source)), 2) if b - a + 1 < len(source)]
        ranges = [(a, b) for a, b in ranges if all(source[i][1] for i in range(a, b + 1))]
        chosen = draw(st.lists(st.sampled_from(ranges), min_size=1, unique=True)) if ranges else []
        score = draw(st.integers(-40, 0)) / 8
        in_order = members(tree, head)
        covered = [(m, m + 1) if m == head else subtree(tree, m) for m in in_order]
        inside += [(covered[first][0], covered[last][1]) for first, last in chosen]
        add(Rule(lhs, source, tuple(draw(st.permutations(target))), tuple(sorted(chosen)), score))
    for _ in range(draw(st.integers(0, 7))):
        begin = draw(st.integers(0, size - 1))
        end = draw(st.integers(begin + 1, size)) if phrases else begin + 1
        if inside and phrases and draw(st.booleans()):
            begin, end = draw(st.sampled_from(inside))
        target = draw(st.lists(st.sampled_from(TARGET), min_size=1, max_size=2))
        source = tuple((word, False) for word in words[begin:end])
        add(Rule("X", source, tuple(target), (), draw(st.integers(-40, 0)) / 8))
    spans = sorted(structures(tree)) if phrases else []
    for _ in range(draw(st.integers(0, 3)) if spans else 0):
        begin, end = draw(st.sampled_from(spans))
        symbols = [(word, False) for word in words]
        holes = [(w, w + 1) for w in range(begin, end)] + [s for s in spans if begin <= s[0] and s[1] <= end]
        for first, last in draw(st.lists(st.sampled_from(holes), min_size=1, max_size=2)):
            symbols[first:last] = [("X", True)] + [("", False)] * (last - first - 1)
        source = tuple(s for s in symbols[begin:end] if s[0])
        target = [
            *range(1, sum(variable for _, variable in source) + 1),
            *draw(st.lists(st.sampled_from(TARGET), max_size=1)),
        ]
        if len(source) > 1:
            add(Rule("X", source, tuple(draw(st.permutations(target))), (), draw(st.integers(-40, 0)) / 8))
    return Case(tree, list(rules.values()))


def compiled(rules: list[Rule], links: Links = lambda source, target: []) -> RuleTable:
    builder = RuleTableBuilder(["p"])
    builder.label("X")
    for rule in rules:
        source = [NT | builder.label(s) if variable else builder.source_word(s) for s, variable in rule.source]
        target = [-t if isinstance(t, int) else builder.target_word(t) for t in rule.target]
        builder.add(
            builder.label(rule.lhs),
            source,
            target,
            [rule.score],
            links(source, target),
            [builder.label(f"{first + 1}-{last + 1}") for first, last in rule.structures],
        )
    return builder.finish()


def enumerate_all(case: Case, augmented: bool, span_limit: int = 10) -> list[Made]:
    """All derivations, straight from section 3.4 of the paper, but for one thing that is meant otherwise.

    A rule stays beside those built of it: the paper has it (step 3) only where none of its structures has a phrase. So
    the combinations below begin with the empty one. Phrases may have variables, if they cover `span_limit` words or
    fewer.
    """
    tree, rules = case
    length = len(tree)
    places = structures(tree)

    def own(rule: Rule, weight: float) -> float:
        words = sum(isinstance(t, str) for t in rule.target)
        return weight * rule.score + WEIGHTS["word_penalty"] * words + WEIGHTS["rule_penalty"]

    def phrases(begin: int, end: int, weight: float) -> list[Made]:
        source = tuple((word, False) for word in tree.words[begin:end])
        found = [rule for rule in rules if rule.lhs == "X" and rule.source == source]
        return [Made(own(rule, weight), tuple(str(t) for t in rule.target)) for rule in found]

    def word(at: int) -> list[Made]:
        unknown = Made(WEIGHTS["word_penalty"] + WEIGHTS["unknown"], (tree.words[at],))
        return phrases(at, at + 1, WEIGHTS["p"]) or [unknown]

    def put(target: tuple[str | int, ...], tails: dict[int, list[Made]], score: float) -> list[Made]:
        """All ways to fill the variables of a target side that has each once."""
        order = sorted(tails)
        made = []
        for chosen in product(*(tails[k] for k in order)):
            filled = dict(zip(order, chosen, strict=True))
            words: list[str] = []
            for t in target:
                words.extend(filled[t].words if isinstance(t, int) else [t])
            made.append(Made(score + sum(c.score for c in chosen), tuple(words)))
        return made

    def filled(source: tuple[tuple[str, bool], ...], at: int, end: int) -> list[list[tuple[int, int]]]:
        """The spans of the variables of a source side, in every way in which it covers the words."""
        if not source:
            return [[]] if at == end else []
        if not source[0][1]:
            return filled(source[1:], at + 1, end) if at < end and source[0][0] == tree.words[at] else []
        spans = [(at, at + 1), *(span for span in places if span[0] == at)]
        return [[span, *rest] for span in spans if span[1] <= end for rest in filled(source[1:], span[1], end)]

    def hierarchical(begin: int, end: int) -> list[Made]:
        made = []
        for rule in rules if augmented and end - begin <= span_limit else ():
            if rule.lhs == "X" and any(variable for _, variable in rule.source):
                for spans in filled(rule.source, begin, end):
                    tails = {k + 1: on(*span) for k, span in enumerate(spans)}
                    made += put(rule.target, tails, own(rule, WEIGHTS["p"]))
        return made

    @cache
    def on(begin: int, end: int) -> list[Made]:
        if begin + 1 == end:
            return word(begin)
        head, first, last = places[begin, end]
        if last - first + 1 == len(members(tree, head)):
            return node(head)
        return phrases(begin, end, WEIGHTS["phrase_p"]) + hierarchical(begin, end)

    def node(head: int) -> list[Made]:
        if is_leaf(tree, head):
            return word(head)
        in_order = members(tree, head)
        below = [word(m) if m == head else node(m) for m in in_order]
        covered = [(m, m + 1) if m == head else subtree(tree, m) for m in in_order]
        made = phrases(*subtree(tree, head), WEIGHTS["p"]) + hierarchical(*subtree(tree, head))
        sources = instances(tree, head)
        matching = [rule for rule in rules if (rule.lhs, rule.source) in sources]
        for rule in matching:
            places = [i for i, (_, variable) in enumerate(rule.source) if variable]
            usable = {}
            for first, last in rule.structures if augmented else ():
                found = on(covered[first][0], covered[last][1])
                if found:
                    usable[first, last] = found
            for size in range(len(usable) + 1):
                for chosen in combinations(sorted(usable), size):
                    if any(b[0] <= a[1] for a, b in combinations(chosen, 2)):
                        continue
                    # Variables of a structure become one, numbered after all others.
                    number = {v + 1: v + 1 for v in range(len(places))}
                    for k, (first, last) in enumerate(chosen):
                        number |= {v + 1: 100 + k for v, p in enumerate(places) if first <= p <= last}
                    target: list[str | int] = []
                    for t in rule.target:
                        new = number[t] if isinstance(t, int) else t
                        if not (isinstance(new, int) and new >= 100 and target and target[-1] == new):
                            target.append(new)
                    numbers = [t for t in target if isinstance(t, int)]
                    if len(numbers) != len(set(numbers)) or any(100 + k not in numbers for k in range(size)):
                        continue
                    tails = {n: usable[chosen[n - 100]] if n >= 100 else below[places[n - 1]] for n in numbers}
                    made += put(tuple(target), tails, own(rule, WEIGHTS["p"]))
        if not matching:
            ranges = [(m, m) for m in range(len(in_order))]
            pieces = dict(zip(ranges, below, strict=True))
            for first, last in combinations(range(len(in_order)), 2) if augmented else ():
                if last - first + 1 < len(in_order):
                    pieces[first, last] = on(covered[first][0], covered[last][1])
            for size in range(2, len(in_order) + 1):
                for chosen in combinations(sorted(pieces), size):
                    if [m for first, last in chosen for m in range(first, last + 1)] == list(range(len(in_order))):
                        tails = {k + 1: pieces[piece] for k, piece in enumerate(chosen)}
                        made += put(tuple(tails), tails, WEIGHTS["pseudo"])
        return made

    whole = [Made(0.0, ())]
    for place, root in enumerate(w for w in range(length) if tree.heads[w] < 0):
        glue = WEIGHTS["glue"] if place else 0.0
        whole = [Made(a.score + b.score + glue, a.words + b.words) for a, b in product(whole, node(root))]
    return [Made(made.score + lm_score(made.words), made.words) for made in whole]


def lm_score(words: tuple[str, ...]) -> float:
    return WEIGHTS["lm"] * log_probability(words) + WEIGHTS["lm_unknown"] * unknown_words(words)


def decoder(
    case: Case, augmented: bool, pop_limit: int = 0, max_combinations: int = 1000, span_limit: int = 10
) -> Decoder:
    features = FeatureSet(compiled(case.rules))
    features.add_ngram(LM)
    search = SearchOptions(pop_limit=pop_limit, max_combinations=max_combinations, span_limit=span_limit, per_source=0)
    matcher = HeadDependentsMatcher(features, None, search, augmented)
    return Decoder(features, matcher, list(WEIGHTS.items()), search)
