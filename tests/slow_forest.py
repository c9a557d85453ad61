"""The slow twin of decoding forests: all derivations of random small forests and rules."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import combinations, pairwise, product
from typing import NamedTuple

from dependency_pieces import TAGS_MODEL, WORDS_MODEL, Piece, join, projective
from forest_rules import ForestRule, Fragment, forest_table
from hypothesis import strategies as st
from small_lm import LM, log_probability, unknown_words
from syntax_strategies import forests, mild_scores

from treeglot import ParseForest
from treeglot._core import Decoder, FeatureSet, ForestMatcher
from treeglot.decode import SearchOptions
from treeglot.syntax import Dependency, heads

LABELS = ["S", "NP", "V"]
SOURCE = ["a", "b", "c"]
TARGET = ["u", "v", "w"]
WEIGHTS = {"p": 1.0, "word_penalty": -0.3, "rule_penalty": 0.2, "glue": -0.7, "unknown": -1.1, "lm": 0.8}
WEIGHTS |= {"lm_unknown": -0.4, "parse": 0.6, "pseudo": -0.9, "lattice": 0.7}
WEIGHTS |= {"dlm_words": 0.9, "dlm_tags": 0.6, "ill_formed": -0.5}
TAGS = ["N", "V"]
HEADS = heads.load("chinese")


class Made(NamedTuple):
    score: float
    piece: Piece
    edges: frozenset[int]  # of the forest, that fragments took


small_forests = forests(st.sampled_from(SOURCE), st.sampled_from(LABELS), mild_scores, max_trees=12)


@st.composite
def cases(draw: st.DrawFn, most_variables: int = 0) -> tuple[ParseForest, list[ForestRule]]:
    """A parsed forest, and rules most of which match somewhere. Phrases may have variables."""
    forest = draw(small_forests.filter(lambda forest: forest.parsed))
    graph = forest.graph

    def grow(node: int, size: int) -> Fragment:
        edges = range(graph.first_edge[node], graph.first_edge[node + 1])
        tails = tails_of(forest, draw(st.sampled_from(edges)))
        children: list[object] = []
        for tail in tails:
            if forest.is_word(tail):
                children.append(forest.label(tail))
            elif size > 0 and draw(st.booleans()):
                children.append(grow(tail, size - 1))
            else:
                children.append((forest.label(tail),))
        return (forest.label(node), *children)

    inner = [node for node in range(graph.nodes) if not forest.is_word(node)]
    rules = []
    for _ in range(draw(st.integers(0, 6))):
        if draw(st.integers(0, 3)) <= (most_variables > 0):
            words = draw(st.lists(st.sampled_from(SOURCE), min_size=1, max_size=2))
            variables, phrase = draw(st.integers(0, most_variables)), True
            source: Fragment = tuple(draw(st.permutations([*words, *[("X",)] * variables])))
        else:
            source, phrase = grow(draw(st.sampled_from(inner)), 2), False
            variables = len(leaves(source))
        words = draw(st.lists(st.sampled_from(TARGET), max_size=2))
        target = draw(st.permutations([str(k + 1) for k in range(variables)] + words))
        structure = tuple(head + 1 for head in draw(projective(len(target))))
        tags = tuple(draw(st.sampled_from(TAGS)) for _ in words)
        rules.append(ForestRule(source, tuple(target), draw(st.integers(-40, 0)) / 8, phrase, structure, tags))
    return forest, rules


def tails_of(forest: ParseForest, edge: int) -> list[int]:
    """The nodes below a hyperedge."""
    graph = forest.graph
    return [int(node) for node in graph.tails[graph.first_tail[edge] : graph.first_tail[edge + 1]]]


def leaves(fragment: object) -> list[str]:
    """The labels of a fragment's variables."""
    if not isinstance(fragment, tuple):
        return []
    if len(fragment) == 1:
        return [fragment[0]]
    return [label for child in fragment[1:] for label in leaves(child)]


# Spans of words, what they may be read as, and the scores of that.
Variants = Sequence[tuple[tuple[int, int], list[str], float]]


class Twin:
    """All derivations of a forest, from the definitions of the c2d page. Words may have variants."""

    def __init__(
        self, forest: ParseForest, rules: list[ForestRule], variants: Variants = (), crossing: bool = False
    ) -> None:
        self.forest, self.rules, self.variants, self.crossing = forest, rules, variants, crossing
        self.graph = forest.graph
        self.logs = forest.conditional().scores
        self.best = {node: self.best_below(node) for node in range(self.graph.nodes)}
        self.known: dict[int, list[Made]] = {}
        self.reached: set[int] = set()  # nodes that are part of a parse
        waiting = [int(self.graph.goal or 0)]
        while waiting:
            node = waiting.pop()
            if node not in self.reached:
                self.reached.add(node)
                waiting += [tail for edge in self.edges(node) for tail in tails_of(forest, edge)]

    def edges(self, node: int) -> range:
        return range(self.graph.first_edge[node], self.graph.first_edge[node + 1])

    def best_below(self, node: int) -> float:
        """The probability of the best tree below a node, which is the best by the scores as given."""

        def tree(at: int) -> tuple[float, float]:
            if self.forest.is_word(at):
                return 0.0, 0.0
            found = []
            for edge in self.edges(at):
                below = [tree(tail) for tail in tails_of(self.forest, edge)]
                given = self.forest.scores[edge] + sum(g for g, _ in below)
                found.append((given, self.logs[edge] + sum(p for _, p in below)))
            return max(found, key=lambda one: one[0])

        return tree(node)[1]

    def occurrences(self, fragment: object, node: int) -> Iterator[tuple[list[int], list[int]]]:
        """The edges and the variables' nodes, for every way in which a fragment stands at a node."""
        if not isinstance(fragment, tuple):
            if self.forest.is_word(node) and self.forest.label(node) == fragment:
                yield [], []
        elif not self.forest.is_word(node) and self.forest.label(node) == fragment[0]:
            if len(fragment) == 1:
                yield [], [node]
                return
            for edge in self.edges(node):
                tails = tails_of(self.forest, edge)
                if len(tails) != len(fragment) - 1:
                    continue
                ways = [list(self.occurrences(c, t)) for c, t in zip(fragment[1:], tails, strict=True)]
                for way in product(*ways):
                    yield [edge, *(e for es, _ in way for e in es)], [v for _, vs in way for v in vs]

    def derivations(self, node: int) -> list[Made]:
        if node not in self.known:
            self.known[node] = self.all_of(node)
        return self.known[node]

    def all_of(self, node: int) -> list[Made]:
        found: list[Made] = []
        begun = set()
        for rule in self.rules:
            for edges, tails in [] if rule.phrase else self.occurrences(rule.source, node):
                begun.add(edges[0])
                found += self.put_together(rule, self.step(rule), edges, tails)
        begin, end = self.forest.span(node)
        words = tuple(self.forest.words[begin:end])
        phrases = [rule for rule in self.rules if rule.phrase and rule.source == words]
        parse = WEIGHTS["parse"] * self.best[node]
        for rule in phrases:
            found += self.put_together(rule, self.step(rule) + parse, [], [])
        if not self.forest.is_word(node):
            spanning = self.hierarchical((begin, end)) + self.side_by_side((begin, end))
            found += [made._replace(score=made.score + parse) for made in spanning]
        is_word = self.forest.is_word(node)
        found += [made._replace(score=made.score + parse) for made in self.readings((begin, end), not is_word)]
        unknown = Piece(words, ("",), (-1,))
        if is_word:
            passes = Made(WEIGHTS["unknown"] + WEIGHTS["word_penalty"], unknown, frozenset())
            return found if phrases else [*found, passes]
        for edge in self.edges(node):
            tails = tails_of(self.forest, edge)
            if edge in begun:
                continue
            if len(tails) > 1 or not self.forest.is_word(tails[0]):
                order = tuple(str(k + 1) for k in range(len(tails)))
                labels = ["" if self.forest.is_word(tail) else self.forest.label(tail) for tail in tails]
                head = HEADS.head_child(self.forest.label(node), labels)
                structure = tuple(0 if k == head else head + 1 for k in range(len(tails)))
                pseudo = ForestRule((), order, heads=structure)
                found += self.put_together(pseudo, WEIGHTS["pseudo"], [edge], tails)
                for first, last in self.sequences(edge):
                    found += self.with_sequence(edge, head, first, last)
            elif not phrases:
                score = WEIGHTS["unknown"] + WEIGHTS["word_penalty"] + WEIGHTS["parse"] * self.logs[edge]
                found.append(Made(score, unknown, frozenset([edge])))
        return found

    def sequences(self, edge: int) -> list[tuple[int, int]]:
        """The first and last of neighbouring children that no node covers, and that phrases translate."""
        tails = tails_of(self.forest, edge)
        pairs = [(first, last) for last in range(len(tails)) for first in range(last)]
        spans = [(self.forest.span(tails[first])[0], self.forest.span(tails[last])[1]) for first, last in pairs]
        return [pair for pair, span in zip(pairs, spans, strict=True) if not self.nodes(span) and self.fillers(span)]

    def with_sequence(self, edge: int, head: int, first: int, last: int) -> list[Made]:
        """What a pseudo rule makes whose children from `first` to `last` are one variable."""
        tails = tails_of(self.forest, edge)
        inside = tails[first : last + 1]
        span = self.forest.span(inside[0])[0], self.forest.span(inside[-1])[1]
        below = [self.derivations(tail) for tail in tails]
        below[first : last + 1] = [self.fillers(span)]
        at = head if head < first else first if head <= last else head - (last - first)
        order = tuple(str(k + 1) for k in range(len(below)))
        pseudo = ForestRule((), order, heads=tuple(0 if k == at else at + 1 for k in range(len(below))))
        parse = WEIGHTS["parse"] * sum(self.best[tail] for tail in inside)
        return self.put_below(pseudo, WEIGHTS["pseudo"] + parse, [edge], below)

    def nodes(self, span: tuple[int, int]) -> list[int]:
        """Of a span: constituents, or a word if there are none."""
        found = [node for node in sorted(self.reached) if tuple(self.forest.span(node)) == span]
        return [node for node in found if not self.forest.is_word(node)] or found

    def spans(self) -> set[tuple[int, int]]:
        """What a variable of a phrase may stand for."""
        if self.crossing:
            return set(combinations(range(len(self.forest.words) + 1), 2))
        return self.parsed_spans()

    def parsed_spans(self) -> set[tuple[int, int]]:
        """The spans of nodes and of neighbouring children."""
        found = {tuple(self.forest.span(node)) for node in self.reached}
        for edge in (edge for node in self.reached for edge in self.edges(node)):
            tails = tails_of(self.forest, edge)
            found |= {
                (self.forest.span(tails[first])[0], self.forest.span(tails[last])[1])
                for last in range(len(tails))
                for first in range(last)
            }
        return found

    def fillers(self, span: tuple[int, int]) -> list[Made]:
        """What a variable of a phrase stands for: any node of its span, or a sequence that has phrases."""
        if nodes := self.nodes(span):
            best = WEIGHTS["parse"] * max(self.best[node] for node in nodes)
            return [made._replace(score=made.score - best) for node in nodes for made in self.derivations(node)]
        words = tuple(self.forest.words[slice(*span)])
        flat = [rule for rule in self.rules if rule.phrase and rule.source == words]
        found = [made for rule in flat for made in self.put_together(rule, self.step(rule), [], [])]
        if span not in self.parsed_spans():
            return found
        return found + self.hierarchical(span) + self.readings(span, True)

    def side_by_side(self, span: tuple[int, int]) -> list[Made]:
        """Two or three fillers in source order, at least one of them a phrase on a span of its own."""
        made: list[Made] = []
        inside = range(span[0] + 1, span[1])
        for cuts in [*combinations(inside, 1), *combinations(inside, 2)] if self.crossing else ():
            parts = list(pairwise((span[0], *cuts, span[1])))
            if self.parsed_spans().issuperset(parts):
                continue
            both = ForestRule((), ("1", "2", "3")[: len(parts)], heads=(0,) * len(parts))
            made += self.put_below(both, WEIGHTS["glue"] * len(cuts), [], [self.fillers(part) for part in parts])
        return made

    def readings(self, span: tuple[int, int], has_gaps: bool) -> list[Made]:
        """What phrases make of a span in which at least one variant is read, and what the parts of a variant make."""

        def cover(symbols: Fragment, at: int, used: bool) -> Iterator[tuple[list[tuple[int, int]], float]]:
            if not symbols:
                if at == span[1] and used:
                    yield [], 0.0
            elif isinstance(symbols[0], tuple):
                for gap in self.spans() if has_gaps else ():
                    if gap[0] == at and gap[1] <= span[1] and gap != span:
                        yield from (([gap, *rest], score) for rest, score in cover(symbols[1:], gap[1], used))
            else:
                if at < span[1] and self.forest.words[at] == symbols[0]:
                    yield from cover(symbols[1:], at + 1, used)
                for (begin, end), words, score in self.variants:
                    if begin == at and end <= span[1] and symbols[: len(words)] == tuple(words):
                        more = cover(symbols[len(words) :], end, True)
                        yield from ((rest, score + others) for rest, others in more)

        made = []
        for rule in self.rules:
            for gaps, score in cover(rule.source, span[0], False) if rule.phrase else ():
                below = [self.fillers(gap) for gap in gaps]
                made += self.put_below(rule, self.step(rule) + WEIGHTS["lattice"] * score, [], below)
        for own, words, score in self.variants:
            if tuple(own) == span:
                price = WEIGHTS["lattice"] * score
                made += [one._replace(score=one.score + price) for one in self.glued(tuple(words), False)]
        return made

    def glued(self, words: tuple[str, ...], whole: bool) -> list[Made]:
        """Phrases for words one after the other, at least two of them unless it may be a `whole` one."""
        flat = [rule for rule in self.rules if whole and rule.phrase and rule.source == words]
        made = [one for rule in flat for one in self.put_together(rule, self.step(rule), [], [])]
        for middle in range(1, len(words)):
            last = [rule for rule in self.rules if rule.phrase and rule.source == words[middle:]]
            right = [one for rule in last for one in self.put_together(rule, self.step(rule), [], [])]
            both = ForestRule((), ("1", "2"), heads=(0, 0))
            made += self.put_below(both, WEIGHTS["glue"], [], [self.glued(words[:middle], True), right])
        return made

    def hierarchical(self, span: tuple[int, int]) -> list[Made]:
        """What phrases with variables make of a span."""

        def cover(symbols: Fragment, at: int) -> Iterator[list[tuple[int, int]]]:
            if not symbols:
                if at == span[1]:
                    yield []
            elif not isinstance(symbols[0], tuple):
                if at < span[1] and self.forest.words[at] == symbols[0]:
                    yield from cover(symbols[1:], at + 1)
            else:
                for gap in self.spans():
                    if gap[0] == at and gap[1] <= span[1] and gap != span:
                        yield from ([gap, *rest] for rest in cover(symbols[1:], gap[1]))

        made = []
        for rule in self.rules:
            if rule.phrase and any(isinstance(symbol, tuple) for symbol in rule.source):
                for gaps in cover(rule.source, span[0]):
                    made += self.put_below(rule, self.step(rule), [], [self.fillers(gap) for gap in gaps])
        return made

    def step(self, rule: ForestRule) -> float:
        words = sum(not t.isdigit() for t in rule.target)
        return rule.score + WEIGHTS["word_penalty"] * words + WEIGHTS["rule_penalty"]

    def put_together(self, rule: ForestRule, score: float, edges: list[int], tails: list[int]) -> list[Made]:
        return self.put_below(rule, score, edges, [self.derivations(tail) for tail in tails])

    def put_below(self, rule: ForestRule, score: float, edges: list[int], filled: list[list[Made]]) -> list[Made]:
        score += WEIGHTS["parse"] * sum(self.logs[edge] for edge in edges)
        made = []
        for below in product(*filled):
            tags = iter(rule.tags)
            items = [below[int(t) - 1].piece if t.isdigit() else Piece((t,), (next(tags),), (-1,)) for t in rule.target]
            piece = join([head - 1 for head in rule.heads], items)
            used = frozenset(edges).union(*(one.edges for one in below))
            made.append(Made(score + sum(one.score for one in below), piece, used))
        return made

    def all(self) -> list[Made]:
        whole = self.derivations(int(self.graph.goal or 0))
        return [made._replace(score=made.score + model_scores(made.piece)) for made in whole]


def model_scores(piece: Piece) -> float:
    """What the n-gram model and both dependency models say of a whole output."""
    words = piece.words
    score = WEIGHTS["lm"] * log_probability(words) + WEIGHTS["lm_unknown"] * unknown_words(words)
    if words:
        tree = Dependency(list(words), list(piece.heads), list(piece.tags))
        logs = WEIGHTS["dlm_words"] * WORDS_MODEL.score(tree) + WEIGHTS["dlm_tags"] * TAGS_MODEL.score(tree)
        score += math.log(10) * logs
    return score + WEIGHTS["ill_formed"] * (piece.ill + (len(piece.roots) > 1))


def decoder(
    rules: list[ForestRule], margin: float = math.inf, pop_limit: int = 0, steps: int = 0, crossing: bool = False
) -> Decoder:
    features = FeatureSet(forest_table(rules, LABELS))
    features.add_ngram(LM)
    features.add_dependency(WORDS_MODEL.core)
    features.add_dependency(TAGS_MODEL.core)
    search = SearchOptions(
        pop_limit=pop_limit, forest_margin=margin, step_limit=steps, per_source=0, crossing_phrases=crossing
    )
    return Decoder(features, ForestMatcher(features, HEADS, search), list(WEIGHTS.items()), search)
