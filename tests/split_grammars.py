"""Small split grammars, and all their derivations one by one, from the definition."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from hypothesis import strategies as st

from treeglot.parse import SplitGrammar

LABELS = ("ROOT", "X", "Y", "A", "B")
WORDS = ("a", "b")
# Unary rules lead from a label to a later one: no cycles.
UNARY = (("ROOT", "X"), ("ROOT", "Y"), ("ROOT", "A"), ("X", "Y"), ("X", "A"), ("Y", "B"), ("X", "B"))
# Where they stand for chains already, at most one is in a row: they may lead back.
CHAINS = (*UNARY, ("Y", "X"), ("Y", "A"), ("A", "X"), ("A", "B"))
BINARY = tuple((head, left, right) for head in "XY" for left in "XYAB" for right in "XYAB")
# With a label that stands for a part of a rule.
PARTS = tuple((h, x, y) for h in ("X", "@Z") for x, y in (("A", "@Z"), ("@Z", "B"), ("@Z", "@Z"), ("A", "X")))

State = tuple[str, int]
Edge = tuple[str, int, int, tuple[tuple[str, int, int], ...]]  # head, its span, its tails
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
        """Probability and labelled edges of every derivation of the root."""

        @cache
        def built(state: State, i: int, j: int) -> tuple[Derivation, ...]:
            return (*stepped(state, i, j), *joined(state, i, j))

        def stepped(state: State, i: int, j: int) -> Iterator[Derivation]:
            below = joined if self.closed else built
            for (head, child), p in self.unary.items():
                if head == state and p > 0:
                    for q, edges in below(child, i, j):
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


def show(state: State) -> str:
    """As the files have it."""
    return f"{state[0]}_{state[1]}"


@st.composite
def levels(draw: st.DrawFn, states: dict[str, int], closed: bool, positive: bool) -> Split:
    """Rules between all states of some labels; probabilities of one head sum to less than 1."""
    probability = st.sampled_from([0.01, 0.02, 0.05] if positive else [0.0, 0.01, 0.02, 0.05])
    unary_labels = draw(st.lists(st.sampled_from(CHAINS if closed else UNARY), min_size=2, unique=True))
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
    words = {(t, word): draw(st.sampled_from([0.1, 0.3])) for tag in "AB" for t in subs[tag] for word in WORDS}
    # Every label has a rule: grammars without are refused as cut short.
    for head in states:
        if head in ("ROOT", "X", "Y") and not any(h[0] == head for h, _ in unary):
            unary |= {(h, c): 0.05 for h in subs[head] for c in subs["B"]}
    return Split(states, unary, binary, words, closed)


@st.composite
def grammars(draw: st.DrawFn, closed: bool = False, positive: bool = False) -> tuple[Split, Split, SplitGrammar]:
    """A coarse and a fine level with the same labels in their rules: the coarse one has every parse of the fine.

    Forests are of labels: where states exclude each other, one may hold a tree of which every rule is in some parse,
    but not all of them in one. In a `positive` grammar no states do.
    """
    labels = (*LABELS, "@Z") if closed else LABELS
    fine_states = {"ROOT": 1} | {label: draw(st.integers(1, 2)) for label in labels[1:]}
    fine = draw(levels(fine_states, closed, positive))
    coarse = Split(
        dict.fromkeys(labels, 1),
        {((h[0], 0), (c[0], 0)): 0.05 for h, c in fine.unary},
        {((h[0], 0), (x[0], 0), (y[0], 0)): 0.05 for h, x, y in fine.binary},
        {((t[0], 0), word): 0.2 for t, word in fine.words},
        closed,
    )
    trees = {label: "[0 0]" if number == 1 else "[0 0 1]" for label, number in fine_states.items()}
    files = [coarse.files(0, trees), fine.files(1, trees)]
    return coarse, fine, SplitGrammar.read([(f[0], f[1], f[2]) for f in files])


def posteriors(found: list[Derivation]) -> dict[Edge, float]:
    """Of edges of labels."""
    total = math.fsum(p for p, _ in found)
    out: dict[Edge, float] = {}
    for p, edges in found:
        for edge in set(edges):
            out[edge] = out.get(edge, 0.0) + p / total * edges.count(edge)
    return out
