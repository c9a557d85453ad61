"""Training of grammars against its definition: relative frequencies, sums over sub-states, EM that never goes down."""

import math
from collections import Counter
from itertools import pairwise, product

from hypothesis import given, settings
from hypothesis import strategies as st

from treeglot._core import SignatureKind, Trainer
from treeglot.parse import ParserTraining, ParsingOptions, train_parser, treebank
from treeglot.parse.parser import GrammarParser
from treeglot.syntax import Tree

Nested = tuple[object, ...]
PLAIN = ParserTraining(cycles=0, clean=False, root="ROOT")


def trees() -> st.SearchStrategy[Nested]:
    tag = st.tuples(st.sampled_from("AB"), st.sampled_from("ab"))
    grow = lambda parts: st.builds(  # noqa: E731
        lambda label, children: (label, *children), st.sampled_from("XYZ"), st.lists(parts, min_size=1, max_size=3)
    )
    return st.recursive(tag, grow, max_leaves=5).filter(lambda t: t[0] not in "AB")


banks = st.lists(trees(), min_size=1, max_size=4)


def binary(tree: Nested) -> Nested:
    """Parts @X cover a rule's first children."""
    label, *children = tree
    if isinstance(children[0], str):
        return tree
    # A unary chain that comes back to its label is cut short.
    chain = children
    while len(chain) == 1 and not isinstance(chain[0][1], str):
        below = chain[0]
        if below[0] == label:
            children = list(below[1:])
        chain = list(below[1:])
    made = [binary(child) for child in children]
    while len(made) > 2:
        made[:2] = [(f"@{label}", made[0], made[1])]
    return (label, *made)


def rules_of(tree: Nested) -> list[tuple[str, tuple[str, ...]]]:
    label, *children = tree
    if isinstance(children[0], str):
        return [(str(label), (children[0],))]
    rules = [(str(label), tuple(str(child[0]) for child in children))]
    return rules + [rule for child in children for rule in rules_of(child)]


def made(nested: list[Nested]) -> Trainer:
    bank, report = treebank([Tree.from_nested(tree) for tree in nested], PLAIN)
    assert report.left_out == 0
    return Trainer(bank, SignatureKind.english)


@given(banks)
@settings(max_examples=60, deadline=None)
def test_a_plain_pcfg_has_relative_frequencies(nested: list[Nested]) -> None:
    counts = Counter(rule for tree in nested for rule in rules_of(("ROOT", binary(tree))))
    heads = Counter[str]()
    for (head, _), number in counts.items():
        heads[head] += number
    trainer = made(nested)
    found = {}
    for head, body, word, p in trainer.rules:
        found[head[:-2], tuple(body) if word else tuple(part[:-2] for part in body)] = p
    assert found.keys() == counts.keys()
    for rule, p in found.items():
        assert math.isclose(p, counts[rule] / heads[rule[0]], rel_tol=1e-12)


def likelihood(trainer: Trainer, tree: Nested) -> float:
    """The sum over all sub-states of all nodes."""
    rules = {(head, tuple(body)): p for head, body, _, p in trainer.rules}
    states = Counter[str]()
    for head, body, _, _ in trainer.rules:
        for state in (head, *body):
            label, mark, number = state.rpartition("_")
            if mark:
                states[label] = max(states[label], int(number) + 1)

    def inside(node: Nested, state: int) -> float:
        label, *children = node
        head = f"{label}_{state}"
        if isinstance(children[0], str):
            return rules.get((head, (children[0],)), 0.0)
        total = 0.0
        for subs in product(*(range(states[str(child[0])]) for child in children)):
            body = tuple(f"{child[0]}_{sub}" for child, sub in zip(children, subs, strict=True))
            p = rules.get((head, body), 0.0)
            for child, sub in zip(children, subs, strict=True):
                p *= inside(child, sub) if p else 1.0
            total += p
        return total

    return inside(("ROOT", binary(tree)), 0)


@given(st.lists(trees(), min_size=1, max_size=2), st.integers(0, 5))
@settings(max_examples=25, deadline=None)
def test_likelihood_sums_over_sub_states(nested: list[Nested], seed: int) -> None:
    trainer = made(nested)
    trainer.split(seed, 0.3)
    trainer.em()
    wanted = math.fsum(math.log(likelihood(trainer, tree)) for tree in nested)
    assert math.isclose(trainer.log_likelihood(), wanted, abs_tol=1e-9)


@given(banks, st.integers(0, 5))
@settings(max_examples=30, deadline=None)
def test_em_never_lowers_the_likelihood(nested: list[Nested], seed: int) -> None:
    trainer = made(nested)
    for cycle in range(2):
        trainer.split(seed + cycle, 0.1)
        found = [trainer.em() for _ in range(8)]
        assert all(b >= a - 1e-9 for a, b in pairwise(found))
        trainer.merge(0.5)
        found = [trainer.em() for _ in range(4)]
        assert all(b >= a - 1e-9 for a, b in pairwise(found))


@given(banks, st.integers(0, 5))
@settings(max_examples=30, deadline=None)
def test_merging_all_splits_undoes_them(nested: list[Nested], seed: int) -> None:
    trainer = made(nested)
    before = {(head, *body): p for head, body, _, p in trainer.rules}
    trainer.split(seed, 0.0)
    assert trainer.merge(1.0) == len({rule[0] for rule in before}) - 1  # the root is never split
    after = {(head, *body): p for head, body, _, p in trainer.rules}
    assert after.keys() == before.keys()
    assert all(math.isclose(after[rule], p, rel_tol=1e-9) for rule, p in before.items())


@given(banks)
@settings(max_examples=20, deadline=None)
def test_trained_grammars_parse_what_they_were_trained_on(nested: list[Nested]) -> None:
    bank, _ = treebank([Tree.from_nested(tree) for tree in nested], PLAIN)
    grammar = train_parser(bank, ParserTraining(cycles=1, clean=False, split_iterations=3, merge_iterations=2))
    parser = GrammarParser(grammar, ParsingOptions(coarse=(math.inf,)))
    for parsed in parser.trees(Tree.from_nested(tree).words for tree in nested):
        assert parsed.status == "parsed"
