"""Options: what a declaration accepts, and the exact words when it does not."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal, Optional

import pytest

from treeglot.base.errors import FormatError, TreeglotError, UsageError
from treeglot.base.options import (
    Options,
    Range,
    annotations_of,
    changed,
    file_options,
    from_table,
    load_options,
    option,
    options_of,
    options_table,
    required,
    with_values,
)
from treeglot.base.registry import Registry


@dataclass(frozen=True)
class Search(Options):
    """How a translation forest is searched."""

    pop_limit: int = option(200, "hypotheses popped per node", least=1)
    beam: float = option(12.0, "margin in natural logarithms", least=0, below=100, paper="c2d")
    exact: bool = option(False, "search without pruning")
    strategy: Literal["cube", "grow"] = option("cube", "how hypotheses are combined")


@dataclass(frozen=True)
class Model(Options):
    name: str = required("what it is called")
    file: Path | None = option(None, "where it is kept")


@dataclass(frozen=True)
class Recipe(Options):
    search: Search = option(Search(), "how to search")
    systems: tuple[Model, ...] = option((), "what to compare")
    weights: dict[str, float] | None = option(None, "a weight for each feature")
    orders: tuple[int, ...] = option((5,), "of the language models")
    seed: int | None = option(None, "of everything random")


def load(tmp_path: Path, text: str) -> Recipe:
    path = tmp_path / "recipe.toml"
    path.write_text(text, encoding="utf-8")
    return load_options(Recipe, path)


def test_defaults() -> None:
    assert from_table(Recipe, {}) == Recipe()


def test_everything(tmp_path: Path) -> None:
    recipe = load(
        tmp_path,
        """
        orders = [3, 4]
        seed = 7
        [search]
        pop_limit = 10
        beam = 3          # an integer is a number
        exact = true
        strategy = "grow"
        [[systems]]
        name = "hiero"
        [[systems]]
        name = "t2t"
        file = "a/b.tg"
        [weights]
        lm = 0.5
        words = -1
        """,
    )
    assert recipe == Recipe(
        Search(10, 3.0, True, "grow"),
        (Model("hiero"), Model("t2t", Path("a/b.tg"))),
        {"lm": 0.5, "words": -1.0},
        (3, 4),
        7,
    )
    assert type(recipe.search.beam) is float


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("sede = 1", 1, "unknown option 'sede'; did you mean 'seed'? known: orders, search, seed, systems, weights"),
        (
            "\n[search]\npoplimit = 1",
            3,
            "unknown option of [search] 'poplimit'; did you mean 'pop_limit'? known: beam, exact, pop_limit, strategy",
        ),
        ("[search]\nx = 1", 2, "unknown option of [search] 'x'; known: beam, exact, pop_limit, strategy"),
        ("[search]\n\npop_limit = 'many'", 3, "search.pop_limit is 'many', a string; expected an integer"),
        ("search.pop_limit = 1.5", 1, "search.pop_limit is 1.5, a number; expected an integer"),
        ("search.pop_limit = true", 1, "search.pop_limit is true, a truth value; expected an integer"),
        ("search.beam = false", 1, "search.beam is false, a truth value; expected a number"),
        ("search.exact = 1", 1, "search.exact is 1, an integer; expected true or false"),
        ("seed = 2020-01-01", 1, "seed is datetime.date(2020, 1, 1), a date or time; expected an integer"),
        ("search.strategy = 'cubes'", 1, "search.strategy is 'cubes', a string; expected 'cube' or 'grow'"),
        ("search = 3", 1, "search is 3, an integer; expected a table"),
        ("orders = 3", 1, "orders is 3, an integer; expected a list, each an integer"),
        ("orders = [3, 'x']", 1, "orders[1] is 'x', a string; expected an integer"),
        ("seed = []", 1, "seed is [], a list; expected an integer"),
        ("weights = {lm = 'x'}", 1, "weights.lm is 'x', a string; expected a number"),
        (
            "[[systems]]\nname='a'\n[[systems]]\nfile = 'x'",
            3,
            "option 'name' of [systems[1]] is missing; expected a string: what it is called",
        ),
        ("[[systems]]\nname='a'\n[[systems]]\nname = 3", 4, "systems[1].name is 3, an integer; expected a string"),
        ("[search]\npop_limit = 0", 2, "search: pop_limit is 0; expected at least 1"),
        ("\nseed = 4294967296", 2, "seed is 4294967296; expected at most 2^32 - 1"),
        ("\nsearch = { pop_limit = 4294967296 }", 2, "search: pop_limit is 4294967296; expected at most 2^32 - 1"),
        ("search.beam = 1" + 400 * "0", 1, "has a number or a name of 401 characters; expected at most 400"),
        ("search.beam = 1" + 350 * "0", 1, "search.beam is 1" + 56 * "0" + "...; expected a finite number"),
        ("search.beam = 1e400", 1, "search: beam is inf; expected a finite number, at least 0 and below 100"),
        ("seed = 0x1" + 390 * "0", 1, f"seed is {str(16**390)[:57]}...; expected at most 2^32 - 1"),
        ("\na = 1" + 40_000 * "0", 2, "has a number or a name of 40,001 characters; expected at most 400"),
        ("a = 1\nb = " + 40_000 * "[", 2, "has more than 100 lists or tables in each other; expected fewer"),
        ("\na" + 40_000 * ".a" + " = 1", 2, "has a key of more than 100 parts; expected fewer"),
        ("a" + 40_000 * " " + "b", 1, "is not TOML: expected '=' after a key in a key/value pair"),
        ("[[systems]]\nname = 'a'\n[systems.x]\ny = 1", 3, "unknown option of [systems[0]] 'x'; known: file, name"),
        ("orders = [\n3,\n'x']", 3, "orders[1] is 'x', a string; expected an integer"),
        ("[search\n", 1, "is not TOML: expected ']' at the end of a table declaration"),
        ("a = \n", 1, "is not TOML: invalid value"),
        ("x = '" + "y" * 100 + "'", 1, "unknown option 'x'; known: orders, search, seed, systems, weights"),
        ("seed = '" + "y" * 100 + "'", 1, "seed is '" + "y" * 56 + "..., a string; expected an integer"),
    ],
)  # fmt: skip
def test_refusals(tmp_path: Path, text: str, line: int, problem: str) -> None:
    with pytest.raises(FormatError) as caught:
        load(tmp_path, text)
    assert (caught.value.file, caught.value.line) == (str(tmp_path / "recipe.toml"), line)
    assert caught.value.problem == problem


def test_not_utf8(tmp_path: Path) -> None:
    path = tmp_path / "recipe.toml"
    path.write_bytes(b"seed = 1\n# \xff\n")
    with pytest.raises(FormatError, match=r"recipe.toml:2: byte 0xff is not UTF-8$"):
        load_options(Recipe, path)


def test_without_a_file() -> None:
    with pytest.raises(UsageError, match=r"^pop_limit is 'x', a string; expected an integer$"):
        from_table(Search, {"pop_limit": "x"})


def test_nothing_as_json_has_it() -> None:
    assert from_table(Model, {"name": "a", "file": None}).file is None
    with pytest.raises(UsageError, match=r"pop_limit is none, .*; expected an integer"):
        from_table(Search, {"pop_limit": None})


def test_docs_table() -> None:
    assert options_table(Search).splitlines()[2:] == [
        "| `pop_limit` | an integer, at least 1 | 200 | hypotheses popped per node |",
        "| `beam` | a number, at least 0 and below 100 | 12.0 | margin in natural logarithms (c2d) |",
        "| `exact` | true or false | false | search without pruning |",
        "| `strategy` | 'cube' or 'grow' | 'cube' | how hypotheses are combined |",
    ]


@pytest.mark.parametrize(
    ("declared", "value", "expected"),
    [
        (Range(), 2**32, "at most 2^32 - 1"),
        (Range(), -(2**32), "at least -(2^32 - 1)"),
        (Range(), math.nan, "a finite number"),
        (Range(), math.inf, "a finite number"),
        (Range(infinite=True), math.inf, ""),
        (Range(infinite=True), math.nan, "a number"),
        (Range(most=2**40), 2**32, ""),
        (Range(least=0), 0, ""),
        (Range(above=0), 0, "above 0"),
        (Range(least=0, below=1), 1.0, "at least 0 and below 1"),
        (Range(least=0, most=6), 7, "0 to 6"),
        (Range(least=1, unlimited=True), -1, ""),
        (Range(least=1, unlimited=True), 0, "at least 1, or -1 for no limit"),
        (Range(least=0), (1, -1), "at least 0"),
        (Range(least=0), None, ""),
    ],
)
def test_ranges(declared: Range, value: Any, expected: str) -> None:
    assert declared.expected(value) == expected


def test_a_range_holds_however_options_are_made() -> None:
    problem = r"^pop_limit is 0; expected at least 1$"
    for make in (
        lambda: Search(pop_limit=0),
        lambda: replace(Search(), pop_limit=0),
        lambda: from_table(Search, {"pop_limit": 0}),
        lambda: changed(Search(), {"pop_limit": 0}),
    ):
        with pytest.raises(UsageError, match=problem) as refused:
            make()
        assert refused.value.key == ("pop_limit",)
    with pytest.raises(ValueError, match=r"^strategy is 'grown'; expected 'cube' or 'grow'$"):
        Search(strategy="grown")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"^pop_limit is an integer of 16,610 bits; expected at most 2\^32 - 1$"):
        Search(pop_limit=10**5000)  # Python refuses to print it
    with pytest.raises(ValueError, match=r"^beam is nan; expected a finite number, at least 0 and below 100$"):
        Search(beam=math.nan)


def test_changes_leave_the_rest_as_it_is() -> None:
    @dataclass(frozen=True)
    class Kind(Options):
        search: Search = option(Search(beam=3.0, exact=True), "how to search")

    assert changed(Kind(), {"search": {"pop_limit": 7}}).search == Search(7, 3.0, True)
    assert from_table(Kind, {"search": {"pop_limit": 7}}).search == Search(7, 3.0, True)
    with pytest.raises(UsageError, match=r"^unknown option of \[search\] 'pops'"):
        changed(Kind(), {"search": {"pops": 1}})


def test_a_factory_declares_options_too() -> None:
    class Thing:
        def __init__(self, size: Annotated[int, "how large"], colour: str = "red") -> None:
            self.size = size

    size, colour = options_of(Thing)
    assert (size.name, size.type, size.help) == ("size", int, "how large")
    assert (colour.name, colour.default) == ("colour", "red")
    assert from_table(Thing, {"size": 3}).size == 3
    with pytest.raises(UsageError, match=r"^option 'size' is missing; expected an integer: how large$"):
        from_table(Thing, {})


def registry() -> Registry[Any]:
    feature: Registry[Any] = Registry("feature")

    @feature("word_penalty")
    def word_penalty(weight: float = -1.0) -> tuple[str, float]:
        return "word", weight

    @feature("refuses")
    def refuses() -> None:
        raise TreeglotError("no model was given")

    return feature


def test_registry() -> None:
    feature = registry()
    assert list(feature) == ["word_penalty", "refuses"]
    assert "word_penalty" in feature and len(feature) == 2
    assert feature.make("word_penalty", {"weight": 2}) == ("word", 2.0)
    assert feature.make("word_penalty") == ("word", -1.0)
    with pytest.raises(ValueError, match=r"^there is a feature 'refuses' already$"):
        feature("refuses")(print)


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("wordpenalty", {}, "unknown feature 'wordpenalty'; did you mean 'word_penalty'? known: refuses, word_penalty"),
        ("lm", {}, "unknown feature 'lm'; known: refuses, word_penalty"),
        ("word_penalty", {"wait": 1}, "unknown option of [word_penalty] 'wait'; did you mean 'weight'? known: weight"),
        ("word_penalty", {"weight": "x"}, "word_penalty.weight is 'x', a string; expected a number"),
        ("refuses", {}, "refuses: no model was given"),
    ],
)  # fmt: skip
def test_registry_refusals(name: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError) as caught:
        registry().make(name, options)
    assert str(caught.value) == message


@dataclass(frozen=True)
class Treebank(Options):
    heads: str = option("english", "head table", names=lambda: ["english", "german"])
    text: Path | None = option(None, "what is parsed")


@dataclass(frozen=True)
class WithTreebank(Options):
    bank: Treebank | None = option(None, "a treebank")
    name: str = option("x", "a name")


def test_options_that_are_files_in_tables_too() -> None:
    table = {"bank": {"heads": "a.heads", "text": "b.txt"}, "name": "c.txt"}
    assert file_options(WithTreebank, table) == {"bank.heads": "a.heads", "bank.text": "b.txt"}
    assert file_options(WithTreebank, {"bank": {"heads": "german"}, "other": 1}) == {}
    assert file_options(WithTreebank, {"bank": 3, "name": 4}) == {}  # refused elsewhere
    placed = with_values(table, {"bank.heads": "/a.heads"})
    assert placed == {"bank": {"heads": "/a.heads", "text": "b.txt"}, "name": "c.txt"}
    assert table["bank"] == {"heads": "a.heads", "text": "b.txt"}


def test_annotations_are_found_with_any_python() -> None:
    """Python 3.10 gives Optional[Annotated[…]] for a parameter with the default None; here it stands so."""

    def made(files: Optional[Annotated[Path | None, "where it is"]] = None, times: Annotated[int, "how often"] = 1): ...  # noqa: UP045

    assert annotations_of(made)["files"] == Annotated[Path | None, "where it is"]
    assert [o.help for o in options_of(made)] == ["where it is", "how often"]
