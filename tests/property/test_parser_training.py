"""Training of grammars against its definition: relative frequencies, sums over sub-states, EM that never goes down."""

import math
from collections import Counter, defaultdict
from itertools import pairwise, product

from hypothesis import given, settings
from hypothesis import strategies as st

from treeglot._core import SignatureKind, SplitGrammar, Trainer
from treeglot.lm.classes import WordClasses
from treeglot.parse import ParserTraining, ParsingOptions, train_parser, treebank
from treeglot.parse.parser import GrammarParser
from treeglot.syntax import Tree

Nested = tuple[object, ...]
PLAIN = ParserTraining(cycles=0, clean=False, root="ROOT")


def trees(words: str = "ab") -> st.SearchStrategy[Nested]:
    tag = st.tuples(st.sampled_from("AB"), st.sampled_from(words))
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


RARE = 10  # words seen so often or more tell a word class no more than this
PRIOR = 16.0  # occurrences of all words, which a word class has beside its own
LEAST_TAG = 1e-3


def lexicon(grammar: SplitGrammar) -> dict[str, dict[str, float]]:
    """The probabilities of level 0 by word and tag."""
    found: defaultdict[str, dict[str, float]] = defaultdict(dict)
    for line in grammar.texts(0)[2].decode().splitlines():
        tag, word, score = line.split()
        found[word][tag] = float(score.strip("[]"))
    return dict(found)


@given(st.lists(trees("abcdefgh"), min_size=1, max_size=8), st.lists(st.integers(0, 2), min_size=9, max_size=9))
@settings(max_examples=60, deadline=None)
def test_word_classes_are_evidence_beside_forms(nested: list[Nested], numbers: list[int]) -> None:
    bank, _ = treebank([Tree.from_nested(tree) for tree in nested], PLAIN)
    classes = WordClasses([*"abcdefgh", "new"], numbers)
    plain, classed = (lexicon(train_parser(bank, PLAIN, classes=given)) for given in (None, classes))
    rules = [rule for tree in nested for rule in rules_of(tree) if rule[0] in "AB"]
    tags = Counter(tag for tag, _ in rules)
    seen = Counter(word for _, (word,) in rules)
    every, of_class = Counter[str](), defaultdict(Counter[str])
    for tag, (word,) in rules:
        share = min(1.0, RARE / seen[word])
        every[tag] += share
        of_class[numbers["abcdefgh".index(word)]][tag] += share

    def both(number: int) -> dict[str, float]:
        """P(t | u, v) for a form that all words have; P(t | u) if no word of the class was seen."""
        given = {tag: p * tags[tag] for tag, p in plain.get("UNK-LC", plain["UNK"]).items()}
        if number not in of_class:
            return given
        total = sum(every.values())
        given = {tag: p * (PRIOR + of_class[number][tag] * total / every[tag]) for tag, p in given.items()}
        return {tag: p / sum(given.values()) for tag, p in given.items() if p / sum(given.values()) >= LEAST_TAG}

    wanted = {word: rows for word, rows in plain.items() if word.startswith("UNK") or seen[word] >= RARE}
    form = "UNK-LC" if "UNK-LC" in plain else "UNK"
    for number in {classes.classes[i] for i, word in enumerate(classes.words) if word not in seen} & of_class.keys():
        wanted[f"{form}/{number}"] = {tag: p / tags[tag] for tag, p in both(number).items()}
    for word in seen.keys() - wanted.keys():
        counts = Counter(tag for tag, (other,) in rules if other == word)
        given = both(numbers["abcdefgh".index(word)])
        wanted[word] = {
            tag: min(1.0, (counts[tag] + given.get(tag, 0.0)) / (seen[word] + 1) * seen[word] / tags[tag])
            for tag in counts.keys() | given.keys()
        }
    assert classed.keys() == wanted.keys()
    for word, rows in wanted.items():
        assert classed[word].keys() == rows.keys()
        assert all(math.isclose(classed[word][tag], p, rel_tol=1e-9) for tag, p in rows.items())


@given(banks)
@settings(max_examples=20, deadline=None)
def test_trained_grammars_parse_what_they_were_trained_on(nested: list[Nested]) -> None:
    bank, _ = treebank([Tree.from_nested(tree) for tree in nested], PLAIN)
    grammar = train_parser(bank, ParserTraining(cycles=1, clean=False, split_iterations=3, merge_iterations=2))
    parser = GrammarParser(grammar, ParsingOptions(coarse=(math.inf,)))
    for parsed in parser.trees(Tree.from_nested(tree).words for tree in nested):
        assert parsed.status == "parsed"
