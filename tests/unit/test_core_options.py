"""The core's structs of options are set by the names of their fields."""

import dataclasses

import numpy as np
import pytest

from treeglot import _core
from treeglot.evaluate import Bleu
from treeglot.tune.mira import Mira
from treeglot.tune.pro import Pro


def no_pool() -> _core.HypothesisPool:
    none = np.zeros(1, dtype=np.uint64)
    return _core.HypothesisPool(none.astype(np.uint32), none, none[:0].astype(np.uint32), np.zeros(0), np.zeros(0), 0)


def pairs(options: object) -> None:
    _core.sample_pairs(no_pool(), np.zeros(0), options, 1)


def test_a_dataclass_or_a_part_of_the_fields_is_taken() -> None:
    pairs(Pro())
    pairs({"samples": 3})
    pairs({})


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"sample": 3}, "unknown option 'sample'; known: samples, kept, least"),
        ({1: 3}, "unknown option 1; known: samples, kept, least"),
        ({"\udc80": 3}, "unknown option '\\udc80'; known: samples, kept, least"),
        ({"least": "é" * 40}, "least is '" + "\\xe9" * 14 + "...; expected a number"),
        ({"samples": -1}, "samples is -1; expected an integer from 0 to 4294967295"),
        ({"samples": 2**32}, "samples is 4294967296; expected an integer from 0 to 4294967295"),
        ({"samples": True}, "samples is True; expected an integer from 0 to 4294967295"),
        ({"samples": 1.5}, "samples is 1.5; expected an integer from 0 to 4294967295"),
        ({"samples": None}, "samples is None; expected an integer from 0 to 4294967295"),
        ({"least": "much"}, "least is 'much'; expected a number"),
        ({"least": float("nan")}, "least is nan; expected a number"),
        (Mira(), "option 'samples' is missing from <class 'treeglot.tune.mira.Mira'>; expected: samples, kept, least"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(given: object, problem: str) -> None:
    with pytest.raises(ValueError) as refused:
        pairs(given)
    assert str(refused.value) == problem


def test_enums_are_set_by_name() -> None:
    @dataclasses.dataclass
    class Odd:
        c: float = 0.1
        decay: float = 0.9
        background: object = "best"
        epochs: int = 1
        patience: int = 1

    def mira(options: object) -> None:
        nothing = np.zeros(0)
        _core.mira(no_pool(), Bleu().core, Bleu().core, nothing, nothing, nothing.astype(np.uint8), options, 1)

    with pytest.raises(ValueError, match="do not fit the pool"):
        mira(Odd(background="model"))
    for bad in ("best", 1, None, "\udc80"):
        with pytest.raises(ValueError, match=r"^background is .*; expected 'hope' or 'model'$"):
            mira(Odd(background=bad))
