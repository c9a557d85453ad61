"""Head tables, structures, checks and brackets against slow twins written from the definitions."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from structures import Structure, structure, structures

from treeglot._core import HeadTable
from treeglot.syntax import Dependency, Tree, to_dependency


@st.composite
def head_arrays(draw: st.DrawFn, max_size: int = 9) -> list[int]:
    """Any heads at all: cycles, several roots, missing heads; often a tree."""
    size = draw(st.integers(1, max_size))
    if draw(st.booleans()):
        order = draw(st.permutations(range(size)))
        heads = [-1] * size
        for i in range(1, size):
            heads[order[i]] = order[draw(st.integers(0, i - 1))]
        return heads
    heads = []
    for word in range(size):
        head = draw(st.integers(-2, size - 1))
        heads.append(-1 if head == word else head)
    return heads


@st.composite
def projective_heads(draw: st.DrawFn) -> list[int]:
    size = draw(st.integers(1, 12))
    heads = [-1] * size
    spans = [(0, size, -1)]
    while spans:
        begin, end, parent = spans.pop()
        while begin < end:
            cut = draw(st.integers(begin + 1, end))
            head = draw(st.integers(begin, cut - 1))
            heads[head] = parent
            spans += [(begin, head, head), (head + 1, cut, head)]
            begin = cut
    return heads


def dependency(heads: list[int]) -> Dependency:
    return Dependency([f"w{i}" for i in range(len(heads))], heads)


def ancestors(heads: list[int], word: int) -> list[int]:
    """What following heads from `word` leads to, one round of a cycle at most."""
    found: list[int] = []
    while heads[word] >= 0 and heads[word] not in found:
        word = heads[word]
        found.append(word)
    return found


def slow_structure(heads: list[int], begin: int, end: int, strict: bool) -> Structure:
    inside = range(begin, end)
    outside = [k for k in range(len(heads)) if k not in inside]
    if any(word in ancestors(heads, word) and all(k in inside for k in ancestors(heads, word)) for word in inside):
        return Structure()  # a whole cycle
    for h in inside:
        if heads[h] not in inside and all(heads[k] in inside for k in inside if k != h):
            closed = all(heads[k] == h or heads[k] not in inside for k in outside)
            return Structure((h,)) if closed or not strict else Structure()
    for head in [-1, *outside]:
        floating = tuple(k for k in inside if heads[k] == head)
        if len(floating) >= 2 and all(heads[k] in inside for k in inside if k not in floating):
            closed = all(heads[k] not in inside for k in outside)
            return Structure(floating) if closed or not strict else Structure()
    return Structure()


@given(head_arrays(), st.booleans(), st.integers(1, 10))
@settings(max_examples=400)
def test_structures(heads: list[int], strict: bool, max_length: int) -> None:
    value = dependency(heads)
    expected = {
        (begin, end): found
        for begin in range(len(heads))
        for end in range(begin + 1, len(heads) + 1)
        if (found := slow_structure(heads, begin, end, strict)).well_formed
    }
    assert structures(value, strict=strict) == expected
    short = {span: found for span, found in expected.items() if span[1] - span[0] <= max_length}
    assert structures(value, max_length, strict) == short
    for begin in range(len(heads)):
        for end in range(begin + 1, len(heads) + 1):
            assert structure(value, begin, end, strict) == expected.get((begin, end), Structure())


@given(head_arrays())
@settings(max_examples=300)
def test_checks(heads: list[int]) -> None:
    value = dependency(heads)
    size = len(heads)
    above = [ancestors(heads, word) for word in range(size)]
    on_cycle = [word for word in range(size) if word in above[word]]
    arcs = [
        word
        for word in range(size)
        if heads[word] >= 0
        and any(heads[word] not in above[k] for k in range(min(word, heads[word]) + 1, max(word, heads[word])))
    ]
    assert value.nonprojective_arcs() == arcs
    assert value.is_projective() == (not arcs)
    assert value.roots() == [word for word in range(size) if heads[word] == -1]
    cycle = value.cycle()
    if on_cycle:
        assert cycle[0] == on_cycle[0]
        assert [heads[word] for word in cycle] == [*cycle[1:], cycle[0]]
    else:
        assert cycle == []
    assert value.is_tree() == (heads.count(-1) == 1 and heads.count(-2) == 0 and not on_cycle)


@given(projective_heads())
def test_brackets_round_trip(heads: list[int]) -> None:
    value = dependency(heads)
    assert value.is_projective()
    assert Dependency.from_brackets(value.to_brackets()) == value


@given(st.text("ab() 我", max_size=14))
@settings(max_examples=300)
def test_any_text_is_a_dependency_or_refused(text: str) -> None:
    try:
        value = Dependency.from_brackets(text)
    except ValueError:
        return
    assert Dependency.from_brackets(value.to_brackets()) == value


LABELS = ["A", "B", "C", "D", "E"]
UNKNOWN = "Z"


@st.composite
def tables(draw: st.DrawFn) -> tuple[dict[str, list[tuple[str, list[str]]]], list[str], list[str]]:
    """Rules by label (* for the default), the labels passed over, the conjunctions."""
    rules = {}
    for label in ["*", *draw(st.lists(st.sampled_from(LABELS), unique=True))]:
        order = draw(st.lists(st.sampled_from(LABELS), unique=True))
        steps = []
        while order:
            cut = draw(st.integers(1, len(order)))
            steps.append((draw(st.sampled_from(["first", "last"])), order[:cut]))
            order = order[cut:]
        if not steps or draw(st.booleans()):
            steps.append((draw(st.sampled_from(["first", "last"])), []))
        rules[label] = steps
    few = st.lists(st.sampled_from(LABELS), max_size=2, unique=True)
    return rules, draw(few), draw(few)


def written(rules: dict[str, list[tuple[str, list[str]]]], passed: list[str], conjunctions: list[str]) -> str:
    lines = [f"%pass {' '.join(passed)}", f"%conjunctions {' '.join(conjunctions)}"]
    for label, steps in rules.items():
        text = " > ".join(" ".join([direction, *labels]) for direction, labels in steps)
        lines.append(f"%default {text}" if label == "*" else f"{label} = {text}")
    return "\n".join(lines) + "\n"


def slow_head(
    rules: dict[str, list[tuple[str, list[str]]]],
    passed: list[str],
    conjunctions: list[str],
    label: str,
    children: list[str],
) -> int:
    steps = rules.get(label, rules["*"])
    candidates = [i for i, child in enumerate(children) if child not in passed] or list(range(len(children)))

    def search() -> int:
        for direction, labels in [*steps, (steps[-1][0], [])]:
            for i in candidates if direction == "first" else reversed(candidates):
                if children[i] in labels or not labels:
                    return i
        raise AssertionError("the last step takes any child")

    head = search()
    if head >= 2 and children[head - 1] in conjunctions:
        before = [i for i in range(head - 1) if children[i] not in passed]
        # The conjunct stands right before the conjunction, but for labels passed over.
        if before:
            head = before[-1]
    return head


@given(
    tables(), st.sampled_from([*LABELS, UNKNOWN]), st.lists(st.sampled_from([*LABELS, UNKNOWN]), min_size=1, max_size=6)
)
@settings(max_examples=400)
def test_head_child(
    table: tuple[dict[str, list[tuple[str, list[str]]]], list[str], list[str]], label: str, children: list[str]
) -> None:
    compiled = HeadTable.read(written(*table), "t")
    assert compiled.head_child(label, children) == slow_head(*table, label, children)


nested = st.recursive(
    st.sampled_from(["v", "w"]),
    lambda child: st.tuples(st.sampled_from(LABELS), st.lists(child, min_size=1, max_size=4)).map(
        lambda t: (t[0], *t[1])
    ),
    max_leaves=12,
).filter(lambda tree: not isinstance(tree, str))


@given(tables(), nested)
def test_conversion(table: tuple[dict[str, list[tuple[str, list[str]]]], list[str], list[str]], tree: object) -> None:
    heads: list[int] = []

    def convert(node: object) -> int:
        """The position of the head word; a word has no label of its own."""
        if isinstance(node, str):
            heads.append(-1)
            return len(heads) - 1
        assert isinstance(node, tuple)
        words = [convert(child) for child in node[1:]]
        labels = ["" if isinstance(child, str) else child[0] for child in node[1:]]
        head = slow_head(*table, node[0], labels)
        for i, word in enumerate(words):
            if i != head:
                heads[word] = words[head]
        return words[head]

    convert(tree)
    result = to_dependency(Tree.from_nested(tree), HeadTable.read(written(*table), "t"))
    assert list(result.heads) == heads
    assert result.is_tree()
    assert result.is_projective()
