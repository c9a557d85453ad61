"""Small split grammars, and all their derivations one by one, from the definition."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache

from enumeration import derivations as forest_derivations
from enumeration import tails_of
from hypothesis import strategies as st

from treeglot._core import SplitGrammar
from treeglot.syntax import ParseForest

LABELS = ("ROOT", "X", "Y", "A", "B")
WORDS = ("a", "b")
# Unary rules lead from a label to a later one: no cycles.
UNARY = (("ROOT", "X"), ("ROOT", "Y"), ("ROOT", "A"), ("X", "Y"), ("X", "A"), ("Y", "B"), ("X", "B"))
# With these they may lead back to a label.
CYCLES = (*UNARY, ("Y", "X"), ("Y", "A"), ("A", "X"), ("A", "B"))
BINARY = tuple((head, left, right) for head in "XY" for left in "XYAB" for right in "XYAB")
# With a label that stands for a part of a rule.
PARTS = tuple((h, x, y) for h in ("X", "@Z") for x, y in (("A", "@Z"), ("@Z", "B"), ("@Z", "@Z"), ("A", "X")))

State = tuple[str, int]
Place = tuple[str, int, int]  # label and span
Edge = tuple[str, int, int, tuple[Place, ...]]  # head, its span, its tails
Tree = frozenset[Edge]
Derivation = tuple[float, tuple[Edge, ...]]


@dataclass(frozen=True)
class Split:
    """One level: sub-states of labels, and probabilities of rules of states."""

    states: dict[str, int]
    unary: dict[tuple[State, State], float]
    binary: dict[tuple[State, State, State], float]
    words: dict[tuple[State, str], float]
    closed: bool = False  # unary rules stand for chains: at most one over a span

    def files(self, level: int, trees: dict[str, str]) -> tuple[tuple[str, bytes], ...]:
        """The three files."""
        names = [f"{label}\t{i}\t{self.states[label]} {trees[label]}\n" for i, label in enumerate(self.states)]
        rules = ["ROOT_0 -> ROOT_0 1.0\n"] if self.closed else []
        rules += [f"{show(h)} -> {show(c)} {p!r}\n" for (h, c), p in self.unary.items()]
        rules += [f"{show(h)} -> {show(x)} {show(y)} {p!r}\n" for (h, x, y), p in self.binary.items()]
        lexicon = []
        for tag in ("A", "B"):
            for word in WORDS:
                values = [self.words.get(((tag, s), word), 0.0) for s in range(self.states[tag])]
                lexicon.append(f"{tag} {word} [{', '.join(map(repr, values))}]\n")
        texts = ("".join(names), "".join(rules), "".join(lexicon))
        return tuple(
            (f"level{level}.{kind}", text.encode())
            for kind, text in zip(("stateInfo", "grammar", "lexicon"), texts, strict=True)
        )

    def derivations(self, words: list[str]) -> list[Derivation]:
        """Probability and labelled edges of each derivation of the root; none with a unary chain past a label twice."""

        @cache
        def built(state: State, i: int, j: int, above: frozenset[str] = frozenset()) -> tuple[Derivation, ...]:
            return (*stepped(state, i, j, above | {state[0]}), *joined(state, i, j))

        def stepped(state: State, i: int, j: int, passed: frozenset[str]) -> Iterator[Derivation]:
            for (head, child), p in self.unary.items():
                if head == state and p > 0 and child[0] not in passed:
                    for q, edges in joined(child, i, j) if self.closed else built(child, i, j, passed):
                        yield p * q, ((state[0], i, j, ((child[0], i, j),)), *edges)

        @cache
        def joined(state: State, i: int, j: int) -> tuple[Derivation, ...]:
            return tuple(_joined(state, i, j))

        def _joined(state: State, i: int, j: int) -> Iterator[Derivation]:
            label = state[0]
            if j == i + 1 and (p := self.words.get((state, words[i]), 0.0)) > 0:
                yield p, ((label, i, j, ()),)
            for (head, left, right), p in self.binary.items():
                if head != state or p == 0:
                    continue
                for k in range(i + 1, j):
                    for q, edges in built(left, i, k):
                        for r, more in built(right, k, j):
                            yield p * q * r, ((label, i, j, ((left[0], i, k), (right[0], k, j))), *edges, *more)

        return list(built(("ROOT", 0), 0, len(words)))

    def best_through(self, words: list[str]) -> dict[tuple[int, int, State], float]:
        """The logarithm of the best derivation through each state and span, where there is one, by plain maxima.

        Where unary rules stand for chains, one may be above a state and another below it.
        """
        spans = [(i, i + length) for length in range(1, len(words) + 1) for i in range(len(words) - length + 1)]
        turns = 1 if self.closed else len(self.states)
        unary = [(head, child, math.log(p)) for (head, child), p in self.unary.items() if p > 0]
        binary = [(head, x, y, math.log(p)) for (head, x, y), p in self.binary.items() if p > 0]
        inside: dict[tuple[int, int], dict[State, float]] = {span: {} for span in spans}
        outside: dict[tuple[int, int], dict[State, float]] = {span: {} for span in spans}
        for i, j in spans:
            here = inside[i, j]
            if j == i + 1:
                here |= {tag: math.log(p) for (tag, word), p in self.words.items() if word == words[i] and p > 0}
            for k in range(i + 1, j):
                left, right = inside[i, k], inside[k, j]
                improve(here, [(h, p + left[x] + right[y]) for h, x, y, p in binary if x in left and y in right])
            for _ in range(turns):
                improve(here, [(h, p + here[c]) for h, c, p in unary if c in here])
        outside[0, len(words)]["ROOT", 0] = 0.0
        for i, j in reversed(spans):
            here = outside[i, j]
            for _ in range(turns):
                improve(here, [(c, p + here[h]) for h, c, p in unary if h in here and h in inside[i, j]])
            for k in range(i + 1, j):
                left, right = inside[i, k], inside[k, j]
                found = [(x, y, p + here[h]) for h, x, y, p in binary if h in here and x in left and y in right]
                improve(outside[i, k], [(x, above + right[y]) for x, y, above in found])
                improve(outside[k, j], [(y, above + left[x]) for x, y, above in found])
        return {
            (i, j, state): score + outside[i, j][state]
            for i, j in spans
            for state, score in inside[i, j].items()
            if state in outside[i, j]
        }

    def padded(self, states: int) -> Split:
        """Labels of two states have more that are impossible."""
        return replace(self, states={label: n + states if n == 2 else n for label, n in self.states.items()})


def improve(best: dict[State, float], scored: Iterable[tuple[State, float]]) -> None:
    """Each state has the greatest of its scores."""
    for state, score in scored:
        best[state] = max(score, best.get(state, -math.inf))


def show(state: State) -> str:
    """As the files have it."""
    return f"{state[0]}_{state[1]}"


@st.composite
def levels(draw: st.DrawFn, states: dict[str, int], closed: bool, cyclic: bool, least: float) -> Split:
    """Rules between all states of some labels; probabilities of one head sum to less than 1."""
    probability = st.sampled_from([p for p in (0.0, 0.01, 0.02, 0.05) if p >= least])
    unary_labels = draw(st.lists(st.sampled_from(CYCLES if cyclic else UNARY), min_size=2, unique=True))
    binary_labels = draw(st.lists(st.sampled_from(BINARY), min_size=3, max_size=8, unique=True))
    if closed:
        binary_labels.append(("@Z", "A", "B"))
        binary_labels += [rule for rule in PARTS if rule not in binary_labels and draw(st.booleans())]
    subs = {label: [(label, s) for s in range(number)] for label, number in states.items()}
    unary = {(h, c): draw(probability) for head, child in unary_labels for h in subs[head] for c in subs[child]}
    binary = {
        (h, x, y): draw(probability)
        for head, left, right in binary_labels
        for h in subs[head]
        for x in subs[left]
        for y in subs[right]
    }
    emitted = st.sampled_from([p for p in (0.0, 0.1, 0.3) if p >= least])
    words = {(t, word): draw(emitted) for tag in "AB" for t in subs[tag] for word in WORDS}
    # Every label has a rule: grammars without are refused as cut short. Every word is known.
    words |= {(("A", 0), "a"): 0.2, (("A", 0), "b"): 0.3, (("B", 0), "a"): 0.1}
    for head in states:
        if head in ("ROOT", "X", "Y") and not any(h[0] == head for h, _ in unary):
            unary |= {(h, c): 0.05 for h in subs[head] for c in subs["B"]}
    return Split(states, unary, binary, words, closed)


@st.composite
def grammars(
    draw: st.DrawFn, closed: bool = False, cyclic: bool = False, least: float = 0.0
) -> tuple[Split, Split, SplitGrammar]:
    """A coarse and a fine level with the same labels in their rules: the coarse one has every parse of the fine.

    Rules of sub-states may have the probability 0, unless `least` is more: then states exclude each other. With
    `closed` unary rules stand for chains, and a label is a part of rules; with `cyclic` unary rules lead back to a
    label.
    """
    labels = (*LABELS, "@Z") if closed else LABELS
    fine_states = {"ROOT": 1} | {label: draw(st.integers(1, 2)) for label in labels[1:]}
    fine = draw(levels(fine_states, closed, closed or cyclic, least))
    coarse = Split(
        dict.fromkeys(labels, 1),
        {((h[0], 0), (c[0], 0)): 0.05 for h, c in fine.unary},
        {((h[0], 0), (x[0], 0), (y[0], 0)): 0.05 for h, x, y in fine.binary},
        {((t[0], 0), word): 0.2 for t, word in fine.words},
        closed,
    )
    return coarse, fine, read(coarse, fine)


def read(coarse: Split, fine: Split) -> SplitGrammar:
    """Both levels."""
    trees = {label: f"[0 {' '.join(map(str, range(number)))}]" for label, number in fine.states.items()}
    files = [coarse.files(0, trees), fine.files(1, trees)]
    return SplitGrammar.read([(f[0], f[1], f[2]) for f in files])


def grammar(states: dict[str, int], rules: str, lexicon: str) -> SplitGrammar:
    """The rules at level 1, all of them with the same probability and without sub-states at level 0."""
    splits = {label: f"[0 {' '.join(str(s) for s in range(number))}]" for label, number in states.items()}
    lines = [line.split() for line in rules.splitlines()]
    coarse = {" ".join(re.sub(r"_\d+$", "_0", field) for field in line[:-1]) for line in lines}
    levels = [
        (dict.fromkeys(states, 1), "".join(f"{rule} 0.05\n" for rule in sorted(coarse))),
        (states, rules),
    ]
    read = []
    for number, (named, its_rules) in enumerate(levels):
        rows = "".join(f"{label}\t{i}\t{named[label]} {splits[label]}\n" for i, label in enumerate(named))
        texts = {"states": rows, "rules": its_rules, "lexicon": lexicon}
        first, second, third = ((f"level{number}.{name}", text.encode()) for name, text in texts.items())
        read.append((first, second, third))
    return SplitGrammar.read(read)


def posteriors(found: list[Derivation]) -> dict[Edge, float]:
    """Of edges of labels."""
    total = math.fsum(p for p, _ in found)
    out: dict[Edge, float] = {}
    for p, edges in found:
        for edge in set(edges):
            out[edge] = out.get(edge, 0.0) + p / total * edges.count(edge)
    return out


def edges_of(forest: ParseForest) -> list[Edge]:
    """Each edge of the forest's graph by labels and spans; words are left out of tails."""
    graph, words = forest.graph, len(forest.words)
    places: list[Place] = [(label, int(b), int(e)) for label, (b, e) in zip(forest.labels, forest.spans, strict=True)]
    tails = [tuple(places[t] for t in tails_of(graph, e) if t >= words) for e in range(graph.edges)]
    return [(*places[int(head)], below) for head, below in zip(graph.heads, tails, strict=True)]


def scored_trees(forest: ParseForest) -> dict[Tree, float]:
    """Each tree that the forest holds, as its edges above words, and the sum of their scores; none is there twice."""
    edges, words = edges_of(forest), len(forest.words)
    out: dict[Tree, float] = {}
    for tree in forest_derivations(forest.graph, forest.graph.goal):
        key = frozenset(edges[e] for e in tree if e >= words)
        assert key not in out
        out[key] = math.fsum(float(forest.scores[e]) for e in tree)
    return out


def is_pruned(forest: ParseForest, trees: dict[Tree, float], margin: float) -> bool:
    """Whether it has all good trees of `trees` and no tree beside them, and each edge of its graph is in a good one.

    A tree at the margin may be good or not, as its sum rounds.
    """
    least = max(trees.values()) - margin - 1e-9
    good = {tree for tree, score in trees.items() if score >= least + 2e-9}
    used: set[int] = set()
    for tree in forest_derivations(forest.graph, forest.graph.goal):
        if math.fsum(float(forest.scores[e]) for e in tree) >= least:
            used |= set(tree)
    return good <= scored_trees(forest).keys() <= trees.keys() and used == set(range(forest.graph.edges))
