"""Roots, cycles, trees, projectivity, and the bracket notation."""

from pathlib import Path

import pytest

from treeglot.syntax import Dependency

SHARED = Path(__file__).parents[2].parent / "shared/data"


def of(*heads: int) -> Dependency:
    return Dependency([f"w{i}" for i in range(len(heads))], heads)


def test_roots() -> None:
    assert of(1, -1, -2, -1).roots() == [1, 3]
    assert of().roots() == []


def test_cycle() -> None:
    assert of(-1, 0, 1).cycle() == []
    assert of(-1, 3, 1, 2).cycle() == [1, 3, 2]
    assert of(3, 2, 1, 4, 3).cycle() == [1, 2]
    assert of(1, 0).cycle() == [0, 1]


@pytest.mark.parametrize(
    ("heads", "expected"),
    [
        ((-1,), True),
        ((1, -1, 1), True),
        ((2, -1, 1), True),
        ((), False),
        ((-1, -1), False),
        ((-2,), False),
        ((-1, -2), False),
        ((-1, 2, 1), False),
        ((1, 0), False),
    ],
)
def test_is_tree(heads: tuple[int, ...], expected: bool) -> None:
    assert of(*heads).is_tree() is expected


@pytest.mark.parametrize(
    ("heads", "arcs"),
    [
        ((), []),
        ((1, -1, 1), []),
        ((2, 3, 3, -1), [0]),  # 2 -> 0 passes over 1, which hangs from 3
        ((2, 3, -1, 2), [1]),
        ((-1, -1, 1), []),  # several roots
        ((2, -1, -1), [0]),  # an arc over a root
        ((2, -2, -1), [0]),  # an arc over a word without a head
        ((1, 2, 0), []),  # in a cycle everything descends from everything
        ((3, 2, 1, -1), [0]),  # an arc over a cycle
        ((2, 0, 1, -1), []),
    ],
)
def test_projectivity(heads: tuple[int, ...], arcs: list[int]) -> None:
    assert of(*heads).nonprojective_arcs() == arcs
    assert of(*heads).is_projective() is (not arcs)


@pytest.mark.parametrize(
    ("text", "heads"),
    [
        ("(Bush) held ((a) talk) (with (Sharon))", [1, -1, 3, 1, 1, 4]),
        ("held", [-1]),
        ("", []),
        ("(x1) x3 (with (x2))", [1, -1, 1, 2]),
        ("((a) talk) (with (Sharon))", [1, -1, -1, 2]),
        ("(((a) b) c) d", [1, 2, 3, -1]),
        ("a (b (c (d)))", [-1, 0, 1, 2]),
        ("(我) 来 (了)", [1, -1, 1]),
    ],
)
def test_brackets(text: str, heads: list[int]) -> None:
    dependency = Dependency.from_brackets(text)
    assert list(dependency.heads) == heads
    assert dependency.tags is None
    assert dependency.to_brackets() == text


def test_brackets_read_freely_and_escape_brackets() -> None:
    assert Dependency.from_brackets(" ( Bush )held\t((a)talk )\n").to_brackets() == "(Bush) held ((a) talk)"
    dependency = Dependency.from_brackets("(-LRB-) so (-RRB-)")
    assert dependency.words == ["(", "so", ")"]
    assert dependency.to_brackets() == "(-LRB-) so (-RRB-)"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a) b", "a closing bracket too many at character 2"),
        ("a (b (c)", "the bracket at character 3 is not closed"),
        ("我 ((a) b) c", "'c' at character 11 is a second head word, after '我'; dependents stand in brackets"),
        ("held ((a))", "the brackets at character 6 hold no head word"),
        ("held ()", "the brackets at character 6 hold no head word"),
        ("(held)", "the sentence is one bracket; expected a head word outside brackets, or several roots in brackets"),
    ],
)
def test_bad_brackets(text: str, problem: str) -> None:
    with pytest.raises(ValueError) as caught:
        Dependency.from_brackets(text)
    assert str(caught.value) == problem


@pytest.mark.parametrize(
    ("heads", "problem"),
    [
        ([2, 3, 3, -1], "the arc from word 2 to word 0 is not projective: it cannot be written in brackets"),
        ([-1, 2, 1], "word 1 is in a cycle: it cannot be written in brackets"),
        ([-1, -2], "word 1 has no head: it cannot be written in brackets"),
    ],
)
def test_what_brackets_cannot_hold(heads: list[int], problem: str) -> None:
    with pytest.raises(ValueError) as caught:
        of(*heads).to_brackets()
    assert str(caught.value) == problem


def test_words_that_brackets_cannot_hold() -> None:
    with pytest.raises(ValueError, match="a b"):
        Dependency(["a b"], [-1]).to_brackets()


def test_long_chains_do_not_overflow() -> None:
    size = 50_000
    right = of(*range(-1, size - 1))
    left = of(*range(1, size), -1)
    for dependency in (right, left):
        assert dependency.is_tree()
        assert dependency.is_projective()
        assert list(Dependency.from_brackets(dependency.to_brackets()).heads) == list(dependency.heads)
    assert len(of(*range(1, size), 0).cycle()) == size


@pytest.mark.parametrize(("language", "nonprojective"), [("en", 47), ("zh", 20)])
def test_gold_trees(language: str, nonprojective: int) -> None:
    # The numbers are those of trees with crossing arcs, the root to the left of all words: for trees, the same thing.
    path = SHARED / f"pud/{language}_pud-ud-test.conllu"
    if not path.exists():
        pytest.skip(f"{path} is not there")
    trees = []
    for block in path.read_text(encoding="utf-8").strip().split("\n\n"):
        rows = [line.split("\t") for line in block.splitlines() if not line.startswith("#")]
        rows = [row for row in rows if row[0].isdigit()]
        trees.append(Dependency([row[1] for row in rows], [int(row[6]) - 1 for row in rows]))
    assert len(trees) == 1000
    assert all(tree.is_tree() for tree in trees)
    assert sum(not tree.is_projective() for tree in trees) == nonprojective
    for tree in trees:
        if tree.is_projective():
            assert list(Dependency.from_brackets(tree.to_brackets()).heads) == list(tree.heads)
