"""The slow twin of joint decoding: all derivations of what several grammars match in one sentence.

A match is a rule on a span of words, with a span for each of its variables. Each grammar finds its matches alone. Then
every derivation of a variable's words may fill it, whichever grammar its rules are from.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from itertools import product
from typing import NamedTuple

import slow_chart
import slow_dependents
import slow_forest
from forest_rules import ForestRule, forest_table
from hypothesis import strategies as st
from small_lm import LM

from treeglot import ParseForest
from treeglot._core import (
    ChartMatcher,
    Decoder,
    Dependency,
    FeatureSet,
    ForestMatcher,
    HeadDependentsMatcher,
    JointMatcher,
    Matcher,
)
from treeglot.decode import SearchOptions

Span = tuple[int, int]
COMMON = ("word_penalty", "unknown", "glue", "lm", "lm_unknown")
MOST = 3000  # derivations of a case


class Match(NamedTuple):
    """A rule on a span."""

    span: Span
    score: float
    target: tuple[str, ...]  # words, or "1", "2": the variables
    tails: tuple[Span, ...] = ()
    below: int = 0  # where its variable covers the same words: how many such matches its grammar has upon each other


class Part(NamedTuple):
    """What a grammar finds in a sentence."""

    matches: list[Match]
    glued: list[Span]  # what may stand beside what is on its left
    glue_all: bool  # whether the sentence is glued from these, or one of them
    weights: Mapping[str, float]


class TooManyError(Exception):
    """There are more derivations than a test enumerates."""


class Made(NamedTuple):
    score: float
    words: tuple[str, ...]
    height: int = 0


def score_of(weights: Mapping[str, float], value: float, target: tuple[str, ...]) -> float:
    words = sum(not symbol.isdigit() for symbol in target)
    return weights["p"] * value + weights["rule_penalty"] + weights["word_penalty"] * words


def chart_part(grammar: list[slow_chart.Rule], sentence: list[str], scale: float) -> Part:
    """What a string grammar with labels finds: rules on spans whose variables have their labels in its own chart."""
    weights = dict(slow_chart.WEIGHTS) | {"p": scale}
    labels: set[tuple[str, int, int]] = set()
    matches = []

    def covers(symbols: tuple[str, ...], begin: int, end: int) -> Iterator[tuple[Span, ...]]:
        if not symbols:
            if begin == end:
                yield ()
        elif symbols[0] not in slow_chart.LABELS:
            if begin < end and sentence[begin] == symbols[0]:
                yield from covers(symbols[1:], begin + 1, end)
        else:
            for middle in range(begin + 1, end + 1):
                if (symbols[0], begin, middle) in labels:
                    yield from (((begin, middle), *rest) for rest in covers(symbols[1:], middle, end))

    for width in range(1, min(slow_chart.LIMIT, len(sentence)) + 1):
        for begin in range(len(sentence) - width + 1):
            span = begin, begin + width
            found = [(rule, tails) for rule in grammar for tails in covers(rule.source, *span)]
            for rule, tails in found:
                labels.add((rule.lhs, *span))
                matches.append(Match(span, score_of(weights, rule.score, rule.target), rule.target, tails))
            if width == 1 and not found:
                labels.add(("X", *span))
                matches.append(unknown(span, sentence[begin], weights))
    return Part(matches, sorted({(begin, end) for _, begin, end in labels}), True, weights)


def unknown(span: Span, word: str, weights: Mapping[str, float], more: float = 0.0) -> Match:
    return Match(span, weights["unknown"] + weights["word_penalty"] + more, (word,))


def forest_part(forest: ParseForest, rules: list[ForestRule], scale: float) -> Part:
    """What fragments, phrases and pseudo rules find at the nodes of a forest that they reach from its root."""
    weights = dict(slow_forest.WEIGHTS) | {"p": scale}
    twin = slow_forest.Twin(forest, rules)
    matches: list[Match] = []

    def add_sequence(span: Span, tails: list[int], first: int, last: int, score: float) -> None:
        """A pseudo rule with the children from `first` to `last` as one, and the phrases on them."""
        spans = [forest.span(tail) for tail in tails]
        sequence = spans[first][0], spans[last][1]
        words = tuple(forest.words[slice(*sequence)])
        for rule in rules:
            match = Match(sequence, score_of(weights, rule.score, rule.target), rule.target)
            if rule.phrase and rule.source == words and match not in matches:
                matches.append(match)
        score += weights["parse"] * sum(twin.best[tail] for tail in tails[first : last + 1])
        spans[first : last + 1] = [sequence]
        matches.append(Match(span, score, tuple(str(k + 1) for k in range(len(spans))), tuple(spans)))

    found: dict[int, list[tuple[float, tuple[str, ...], list[int]]]] = {}

    def at(node: int) -> None:
        if node in found:
            return
        span = forest.span(node)
        words = tuple(forest.words[span[0] : span[1]])
        here: list[tuple[float, tuple[str, ...], list[int]]] = []
        begun = set()
        for rule in rules:
            for edges, tails in [] if rule.phrase else twin.occurrences(rule.source, node):
                begun.add(edges[0])
                parse = weights["parse"] * sum(twin.logs[edge] for edge in edges)
                here.append((score_of(weights, rule.score, rule.target) + parse, rule.target, tails))
        phrases = [rule for rule in rules if rule.phrase and rule.source == words]
        for rule in phrases:
            parse = weights["parse"] * twin.best[node]
            here.append((score_of(weights, rule.score, rule.target) + parse, rule.target, []))
        passing = weights["unknown"] + weights["word_penalty"]
        if forest.is_word(node):
            here += [] if phrases else [(passing, words, [])]
        else:
            for edge in set(twin.edges(node)) - begun:
                tails = slow_forest.tails_of(forest, edge)
                parse = weights["parse"] * twin.logs[edge]
                if len(tails) > 1 or not forest.is_word(tails[0]):
                    here.append((weights["pseudo"] + parse, tuple(str(k + 1) for k in range(len(tails))), tails))
                    for first, last in twin.sequences(edge):
                        add_sequence(span, tails, first, last, weights["pseudo"] + parse)
                elif not phrases:
                    here.append((passing + parse, words, []))
        found[node] = here
        for _, _, tails in here:
            for tail in tails:
                at(tail)

    goal = int(forest.graph.goal or 0)
    at(goal)

    @cache
    def height(node: int) -> int:
        same = [t for _, _, tails in found[node] for t in tails if forest.span(t) == forest.span(node)]
        return max((height(tail) + 1 for tail in same), default=0)

    for node, here in found.items():
        span = forest.span(node)
        for score, target, tails in here:
            spans = tuple(forest.span(tail) for tail in tails)
            below = height(tails[0]) if spans == (span,) else 0
            matches.append(Match(span, score, target, spans, below))
    return Part(matches, [forest.span(goal)], False, weights)


def dependents_part(case: slow_dependents.Case, scale: float) -> Part:
    """What rules on relations find in a dependency tree, without structures inside them."""
    tree, rules = case
    weights = dict(slow_dependents.WEIGHTS) | {"p": scale}
    matches = []

    def add(rule: slow_dependents.Rule, span: Span, tails: tuple[Span, ...] = ()) -> None:
        target = tuple(str(symbol) for symbol in rule.target)
        matches.append(Match(span, score_of(weights, rule.score, target), target, tails))

    def phrases(span: Span) -> bool:
        source = tuple((word, False) for word in tree.words[span[0] : span[1]])
        found = [rule for rule in rules if rule.lhs == "X" and rule.source == source]
        for rule in found:
            add(rule, span)
        return bool(found)

    for head in range(len(tree)):
        if not phrases((head, head + 1)):
            matches.append(unknown((head, head + 1), tree.words[head], weights))
        if slow_dependents.is_leaf(tree, head):
            continue
        in_order = slow_dependents.members(tree, head)
        covered = [(m, m + 1) if m == head else slow_dependents.subtree(tree, m) for m in in_order]
        whole = slow_dependents.subtree(tree, head)
        phrases(whole)
        sources = slow_dependents.instances(tree, head)
        matching = [rule for rule in rules if (rule.lhs, rule.source) in sources]
        for rule in matching:
            add(rule, whole, tuple(covered[i] for i, (_, variable) in enumerate(rule.source) if variable))
        if not matching:
            order = tuple(str(k + 1) for k in range(len(covered)))
            matches.append(Match(whole, weights["pseudo"], order, tuple(covered)))
    roots = [slow_dependents.subtree(tree, word) for word in range(len(tree)) if tree.heads[word] < 0]
    return Part(matches, roots, True, weights)


def enumerate_all(parts: list[Part], length: int) -> list[Made]:
    """All derivations of the union of what the parts match; some may be there several times."""

    def filled(match: Match) -> Iterator[Made]:
        unary = match.tails == (match.span,)
        below = [of_height(match.span, match.below)] if unary else [of(tail) for tail in match.tails]
        for tails in product(*below):
            words: list[str] = []
            for symbol in match.target:
                words.extend(tails[int(symbol) - 1].words if symbol.isdigit() else [symbol])
            height = match.below + 1 if unary else 0
            yield Made(match.score + sum(tail.score for tail in tails), tuple(words), height)

    @cache
    def of_height(span: Span, height: int) -> list[Made]:
        """The derivations of a span in which no more than so many matches of all its words stand on another."""
        out: list[Made] = []
        for part in parts:
            for match in part.matches:
                if match.span == span and (match.tails != (span,) or match.below < height):
                    for made in filled(match):
                        out.append(made)
                        if len(out) > MOST:
                            raise TooManyError
        return out

    def of(span: Span) -> list[Made]:
        return of_height(span, max((1 + m.below for p in parts for m in p.matches if m.tails == (m.span,)), default=0))

    left: list[set[Made]] = [set() for _ in range(length + 1)]
    whole: set[Made] = set()
    for end in range(1, length + 1):
        for part in parts:
            for begin, stop in part.glued:
                if stop != end:
                    continue
                if not part.glue_all:
                    whole.update(made._replace(height=0) for made in of((begin, stop)))
                elif begin == 0:
                    left[end].update(made._replace(height=0) for made in of((begin, stop)))
                else:
                    for before, after in product(left[begin], of((begin, stop))):
                        score = before.score + after.score + part.weights["glue"]
                        left[end].add(Made(score, before.words + after.words))
                        if len(left[end]) > MOST:
                            raise TooManyError
    whole |= left[length]
    return [Made(made.score + slow_chart.lm_score(made.words), made.words) for made in whole]


def joint_weights(parts: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """The weights of a joint model, of those that each grammar has for itself."""
    out = {}
    for name, weights in parts.items():
        for feature, weight in weights.items():
            out[feature if feature in COMMON else f"{name}.{feature}"] = weight
    return out


def joint_decoder(
    chart: list[slow_chart.Rule],
    forest: list[ForestRule] | None = None,
    tree: slow_dependents.Case | None = None,
    again: list[slow_chart.Rule] | None = None,
    *,
    scales: tuple[float, float] = (1.0, 1.0),
    augmented: bool = False,
) -> Decoder:
    """A decoder of a string grammar, alone or with another grammar: of forests, of dependency trees, of strings."""
    limit = slow_chart.LIMIT
    search = SearchOptions(pop_limit=0, span_limit=limit, per_source=0, forest_margin=math.inf, step_limit=0)
    matchers: list[Callable[[FeatureSet], Matcher]] = [lambda features: ChartMatcher(features, search)]
    tables, weights = [("h", slow_chart.compiled(chart))], {"h": dict(slow_chart.WEIGHTS)}
    if forest is not None:
        tables.append(("f", forest_table(forest, slow_forest.LABELS)))
        weights["f"] = dict(slow_forest.WEIGHTS)
        matchers.append(lambda features: ForestMatcher(features, None, search))
    if tree is not None:
        tables.append(("d", slow_dependents.compiled(tree.rules)))
        weights["d"] = dict(slow_dependents.WEIGHTS)
        matchers.append(lambda features: HeadDependentsMatcher(features, None, search, augmented))
    if again is not None:
        tables.append(("g", slow_chart.compiled(again)))
        weights["g"] = dict(slow_chart.WEIGHTS)
        matchers.append(matchers[0])
    features = FeatureSet(tables)
    features.add_ngram(LM)
    made = [make(part) for make, part in zip(matchers, features.parts, strict=True)]
    for own, scale in zip(weights.values(), scales, strict=False):
        own["p"] = scale
    return Decoder(features, JointMatcher(features, made), list(joint_weights(weights).items()), search)


scales = st.sampled_from([0.25, 0.5, 1.0, 2.0])


def sentence_of(source: ParseForest | Dependency) -> list[str]:
    return list(source.words)
