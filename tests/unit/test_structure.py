"""Fixed, floating and ill-formed structures: the examples of the papers, and head arrays that are no trees."""

import pytest
from structures import Structure, structure, structures

from treeglot.syntax import Dependency

#                                       0      1     2   3      4     5
SENTENCE = Dependency.from_brackets("(Bush) held ((a) talk) (with (Sharon))")


@pytest.mark.parametrize(
    ("begin", "end", "relaxed", "strict"),
    [
        (0, 2, (1,), (1,)),  # (Bush) held
        (1, 4, (1,), (1,)),  # held ((a) talk)
        (2, 6, (3, 4), (3, 4)),  # ((a) talk) (with (Sharon))
        (3, 6, (3, 4), ()),  # (talk) (with (Sharon)): a is left out
        (1, 3, (), ()),  # held ((a))
        (0, 6, (1,), (1,)),
        (3, 4, (3,), (3,)),
        (4, 5, (4,), (4,)),  # with, fixed though Sharon is outside: it depends on the head
        (3, 5, (3, 4), ()),
        (2, 5, (3, 4), ()),
        (2, 4, (3,), (3,)),
        (2, 3, (2,), (2,)),
        (1, 2, (1,), (1,)),
        (0, 1, (0,), (0,)),
        (1, 5, (1,), ()),  # held ((a) talk) (with): Sharon depends on with
        (0, 5, (1,), ()),
    ],
)
def test_the_example(begin: int, end: int, relaxed: tuple[int, ...], strict: tuple[int, ...]) -> None:
    assert structure(SENTENCE, begin, end) == Structure(relaxed)
    assert structure(SENTENCE, begin, end, strict=True) == Structure(strict)
    assert structures(SENTENCE).get((begin, end), Structure()) == Structure(relaxed)
    assert structures(SENTENCE, strict=True).get((begin, end), Structure()) == Structure(strict)


def test_the_value() -> None:
    fixed, floating, ill = structure(SENTENCE, 1, 4), structure(SENTENCE, 2, 6), structure(SENTENCE, 1, 3)
    assert [s.kind for s in (fixed, floating, ill)] == ["fixed", "floating", "ill-formed"]
    assert [s.head for s in (fixed, floating, ill)] == [1, None, None]
    assert [s.well_formed for s in (fixed, floating, ill)] == [True, True, False]
    assert len({fixed, structure(SENTENCE, 0, 2), floating, ill}) == 3


def of(heads: list[int], begin: int, end: int) -> str:
    return structure(Dependency(["w"] * len(heads), heads), begin, end).kind


def test_several_roots_share_the_head_of_the_sentence() -> None:
    assert of([-1, 0, -1], 0, 3) == "floating"
    assert of([-1, 0, -1], 1, 3) == "ill-formed"


def test_missing_heads_lie_outside_but_are_not_the_same() -> None:
    assert of([-2, 0], 0, 2) == "fixed"
    assert of([-2, -2], 0, 2) == "ill-formed"
    assert of([-2, -1], 0, 2) == "ill-formed"


def test_a_whole_cycle_is_ill_formed_and_a_part_of_it_is_not() -> None:
    heads = [1, 0, -1, 2, 0]
    assert of(heads, 0, 2) == "ill-formed"
    assert of(heads, 0, 3) == "ill-formed"
    assert of(heads, 0, 1) == "fixed"
    assert of(heads, 1, 3) == "ill-formed"
    assert of(heads, 2, 4) == "fixed"
    assert of([1, 2, 0, 0], 2, 4) == "floating"


@pytest.mark.parametrize(("begin", "end"), [(0, 0), (3, 2), (0, 7), (6, 7)])
def test_spans_outside(begin: int, end: int) -> None:
    with pytest.raises(ValueError, match=rf"^no span \[{begin}, {end}\) in a sentence of 6 words$"):
        structure(SENTENCE, begin, end)


def test_max_length() -> None:
    assert max(end - begin for begin, end in structures(SENTENCE, 3)) == 3
    assert structures(SENTENCE, 0) == {}
    assert structures(SENTENCE, 100) == structures(SENTENCE)
    assert structures(Dependency([], [])) == {}
