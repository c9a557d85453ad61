"""Neural joint models: their file and their scores, compared with NumPy."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from neural_models import CONSTITUENTS, DEPENDENCIES, Reference, random_model, slow_affiliations, slow_context

from treeglot import FormatError, _core
from treeglot.syntax import Alignment, Dependency, ParseForest, Tree

SOURCE, TARGET = ["das", "ist", "ein", "haus"], ["this", "is", "a", "house"]
KIND, VERSION = "neural-joint", 2


@pytest.mark.parametrize(
    "shape",
    [
        {},
        {"history": 1, "before": 0, "after": 0},
        {"history": 4, "before": 5, "after": 5, "hidden": 48},
        {"second": 16},
        {"has_source": False, "embedding": 0},
        {"sentence": False},
        {"history": 0},
        {"history": 0, "second": 16, "sentence": False},
        {"embedding": 32, "hidden": 16, "before": 1, "after": 3},
    ],
)
def test_scores_are_those_of_numpy(shape: dict[str, int]) -> None:
    model = random_model(SOURCE, [*TARGET, "sinking house"], target_fallbacks=["<*ing>"], **shape)
    reference = Reference(model)
    for source, target, links in [
        (SOURCE, TARGET, [(0, 0), (1, 1), (2, 2), (3, 3)]),
        (["das", "boot"], ["the", "sinking", "house", "is"], [(0, 0), (1, 1), (0, 1), (1, 2)]),
        (["haus"], ["house"], []),
        ([], [], []),
    ]:
        for normalise in (False, True):
            scores, sums = model.score(source, target, Alignment(links), normalise)
            expected = reference.score(source, target, Alignment(links), normalise=normalise)
            np.testing.assert_allclose(scores, expected, atol=1e-4)
            assert len(sums) == (len(scores) if normalise else 0)
            assert len(scores) == (len(source) if shape.get("history") == 0 else len(target) + 1)


LABELS = [f"label {label}" for label in ("TOP", "S", "NP", "VP", "DT", "NN", "VB", "nsubj")]
BARE = "(S (NP (DT das)) (VP (VB ist) (NP (XX ein) (NN haus))))"
TREE = Tree.parse(f"(TOP {BARE})")
PARSES = {
    CONSTITUENTS: [TREE, ParseForest.from_tree(TREE), Tree()],
    DEPENDENCIES: [
        Dependency(SOURCE, [1, -1, 3, 1], ["DT", "VB", "XX", "NN"], ["nsubj", "root", "det", "obj"]),
        Dependency(SOURCE, [1, -2, 3, 1]),
        Dependency([], []),
    ],
}


def test_a_parse_says_four_things_of_each_word() -> None:
    found = _core.parse_context(TREE)
    texts = [found[at : at + 4] for at in range(0, len(found), 4)]
    assert [[text.removeprefix("label ") for text in each] for each in texts] == [
        ["DT", "NP", "S", "NP"],
        ["VB", "VP", "VP", "VB"],
        ["XX", "NP", "NP", "XX"],
        ["NN", "NP", "NN", "S"],
    ]
    assert all(text.startswith("label ") for text in found)
    for root in ("(ROOT {})", "( {})", "(S1 {})", "{}"):  # formats of the same trees differ here
        assert _core.parse_context(Tree.parse(root.format(BARE))) == found
    assert _core.parse_context(PARSES[DEPENDENCIES][0]) == [
        *("label DT", "label nsubj", "ist", "label VB"),
        *("label VB", "label root", "", ""),
        *("label XX", "label det", "haus", "label NN"),
        *("label NN", "label obj", "ist", "label VB"),
    ]
    for parses in PARSES.values():
        for parse in parses:
            assert _core.parse_context(parse) == [text for texts in slow_context(parse) for text in texts]


@pytest.mark.parametrize("kind", [CONSTITUENTS, DEPENDENCIES])
@pytest.mark.parametrize("shape", [{}, {"history": 0}, {"second": 16, "sentence": False}])
def test_scores_with_a_parse_are_those_of_numpy(kind: int, shape: dict[str, Any]) -> None:
    model = random_model([*SOURCE, *LABELS], TARGET, parse=kind, source_fallbacks=["<*X>"], **shape)
    assert model.facts["parse"] == kind
    reference, links = Reference(model), Alignment([(0, 0), (1, 1), (3, 3)])
    found = []
    for parse in PARSES[kind]:
        scores, _ = model.score(SOURCE, TARGET, links, parse=parse)
        np.testing.assert_allclose(scores, reference.score(SOURCE, TARGET, links, parse), atol=1e-4)
        found.append(scores.tolist())
    assert found[0] != found[-1]


def test_a_model_that_sees_parses_needs_one_of_their_kind() -> None:
    model = random_model([*SOURCE, *LABELS], TARGET, parse=CONSTITUENTS)
    problem = r"a model that sees constituents of 4 words was given "
    for parse, found in [
        (None, "no parse of 0"),
        (PARSES[DEPENDENCIES][0], "dependencies of 4"),
        (Tree.parse("(S (NP a))"), "constituents of 1"),
    ]:
        with pytest.raises(ValueError, match=problem + found):
            model.score(SOURCE, TARGET, Alignment([(0, 0)]), parse=parse)
    plain = random_model(SOURCE, TARGET)
    links = Alignment([(0, 0)])
    assert plain.score(SOURCE, TARGET, links, parse=TREE)[0].tolist() == plain.score(SOURCE, TARGET, links)[0].tolist()


TREES = [[1, -1, 3, 1], [-1, 0, 0, 0], [3, 3, 3, -1], [-1, -1, -2, -1], [1, 2, 3, -1], [3, 0, 0, -1]]


@pytest.mark.parametrize("heads", TREES)
@pytest.mark.parametrize("shape", [{}, {"second": 16}, {"has_source": False, "embedding": 0}])
def test_scores_over_heads_are_those_of_numpy(heads: list[int], shape: dict[str, Any]) -> None:
    model = random_model(SOURCE, TARGET, heads=True, history=4, **shape)
    tree, links = Dependency(TARGET, heads), Alignment([(0, 0), (1, 1), (3, 3)])
    for normalise in (False, True):
        scores, sums = model.score(SOURCE, TARGET, links, normalise, tree=tree)
        assert len(scores) == len(TARGET) and len(sums) == (len(scores) if normalise else 0)
        expected = Reference(model).score(SOURCE, TARGET, links, tree=tree, normalise=normalise)
        np.testing.assert_allclose(scores, expected, atol=1e-4)
    for other, found in {None: "no tree", Dependency(["a"], [-1]): "a tree of 1 words"}.items():
        with pytest.raises(ValueError, match=f"a model over heads was given {found}; expected the dependency tree"):
            model.score(SOURCE, TARGET, links, tree=other)


def test_a_model_over_heads_has_four_words_of_history() -> None:
    with pytest.raises(ValueError, match="a joint model of this shape is not possible"):
        random_model(SOURCE, TARGET, heads=True, history=3)


@pytest.mark.parametrize("length", [16, 32, 48, 256, 272])
def test_the_width_of_registers_does_not_matter(length: int) -> None:
    draw = np.random.default_rng(length)
    a, b = (draw.normal(0, 1, length).astype(np.float32) for _ in range(2))
    widths = [width for width in (4, 8, 16) if width <= _core.register_width()]
    assert len({_core.neural_dot(a, b, width) for width in widths}) == 1
    assert _core.neural_dot(a, b, 4) == pytest.approx(float(a.astype(np.float64) @ b), abs=1e-4)


def test_tanh_is_the_same_for_all_registers() -> None:
    odd = [0.0, -0.0, 1e-30, 7.5, -7.5, 1e38, -1e38, np.inf, -np.inf]
    values = np.array([*np.linspace(-10, 10, 3191), *odd], np.float32)
    widths = [width for width in (4, 8, 16) if width <= _core.register_width()]
    found = [_core.neural_tanh(values, width) for width in widths]
    assert len({each.tobytes() for each in found}) == 1
    np.testing.assert_allclose(found[0], np.tanh(values.astype(np.float64)), atol=1e-6)
    assert np.abs(found[0]).max() < 1
    assert np.isfinite(_core.neural_tanh(np.full(16, np.nan, np.float32), 4)).all()


@pytest.mark.parametrize("parts", [1, 2, 5])
def test_tanh_of_a_sum_is_that_of_the_sum(parts: int) -> None:
    values = np.random.default_rng(parts).normal(0, 1, (parts, 48)).astype(np.float32)
    widths = [width for width in (4, 8, 16) if width <= _core.register_width()]
    found = [_core.neural_tanh_of_sum(values.ravel(), 48, width) for width in widths]
    assert len({each.tobytes() for each in found}) == 1
    np.testing.assert_allclose(found[0], np.tanh(values.astype(np.float64).sum(axis=0)), atol=2e-6)


@pytest.mark.parametrize(("rows", "depth", "columns"), [(1, 1, 16), (3, 7, 48), (4, 16, 32), (9, 33, 80)])
def test_products_are_the_same_for_all_registers(rows: int, depth: int, columns: int) -> None:
    draw = np.random.default_rng(depth)
    a, b = (draw.normal(0, 1, shape).astype(np.float32) for shape in ((rows, depth), (depth, columns)))
    widths = [width for width in (4, 8, 16) if width <= _core.register_width()]
    found = [_core.neural_multiply(a.ravel(), b.ravel(), columns, width) for width in widths]
    assert len({each.tobytes() for each in found}) == 1
    np.testing.assert_allclose(found[0].reshape(rows, columns), a.astype(np.float64) @ b, atol=1e-5)


def test_rare_words_fall_back() -> None:
    model = random_model(
        ["see"],
        ["see", "<s>x"],
        source_fallbacks=["<*海>", "<*大海>", "<#>"],
        target_fallbacks=["<#>", "<*g>", "<*ing>", "<*1>"],
    )
    words = model.target_words()
    found = [words[i] for i in model.target_ids(["see", "sing", "bag", "go", "7ing", "1", "<s>", "<*g>", "", "g"])]
    assert found == ["see", "<*ing>", "<*g>", "<unk>", "<#>", "<#>", "<unk>", "<unk>", "<unk>", "<*g>"]
    words = model.source_words()
    assert [words[i] for i in model.source_ids(["海", "大海", "东大海", "河"])] == [
        "<*海>",
        "<*大海>",
        "<*大海>",
        "<unk>",
    ]


@given(
    st.integers(1, 7).flatmap(
        lambda words: st.tuples(st.just(words), st.sets(st.tuples(st.integers(0, 6), st.integers(0, words - 1))))
    )
)
@settings(max_examples=200)
def test_affiliations_follow_their_definition(case: tuple[int, set[tuple[int, int]]]) -> None:
    words, links = case
    assert _core.affiliations(Alignment(sorted(links)), words, 9) == slow_affiliations(
        Alignment(sorted(links)), words, 9
    )


def test_links_outside_the_pair_are_refused() -> None:
    model = random_model(SOURCE, TARGET)
    with pytest.raises(ValueError, match="link 0-1: the target sentence has 1 word"):
        model.score(["das"], ["this"], Alignment([(0, 1)]))


def test_a_written_model_is_the_same(tmp_path: Path) -> None:
    model = random_model(SOURCE, TARGET, second=16)
    path = tmp_path / "joint.bin"
    model.write(str(path))
    again = _core.JointModel.open(str(path))
    assert again.facts == model.facts and again.bytes == path.stat().st_size
    links = Alignment([(0, 0)])
    assert again.score(SOURCE, TARGET, links)[0].tolist() == model.score(SOURCE, TARGET, links)[0].tolist()


def test_the_numbers_of_the_file_have_the_documented_order(tmp_path: Path) -> None:
    sizes = {"before": 5, "after": 6, "embedding": 32, "hidden": 48, "second": 16}
    model = random_model(
        SOURCE, TARGET, history=4, heads=True, parse=2, source_fallbacks=["<*us>"], target_fallbacks=["<*e>"], **sizes
    )
    model.write(str(tmp_path / "joint.bin"))
    content = _core.read_sections(str(tmp_path / "joint.bin"), KIND, VERSION)["model"]
    names = ("history", "before", "after", "has_source", "heads", "embedding", "hidden", "second")
    names += ("source_fallbacks", "target_fallbacks", "sentence", "parse")
    assert dict(zip(names, struct.unpack("<3I2H5I2H", content), strict=True)) == model.facts
    assert model.facts["heads"] == 1 and model.facts["parse"] == 2


def test_damage_is_found(tmp_path: Path) -> None:
    path = tmp_path / "joint.bin"
    random_model(SOURCE, TARGET, second=16).write(str(path))
    content = path.read_bytes()
    for at in range(0, len(content), max(1, len(content) // 150)):
        path.write_bytes(content[:at] + bytes([content[at] ^ 0x10]) + content[at + 1 :])
        with pytest.raises(FormatError, match=r"joint\.bin"):
            _core.JointModel.open(str(path))


def scores(model: _core.JointModel, source: list[str], target: list[str]) -> list[float]:
    found: list[float] = model.score(source, target, Alignment([(0, 0)]))[0].tolist()
    return found


def test_what_is_used_is_verified(tmp_path: Path) -> None:
    source, target = ([f"{side}{i}" for i in range(3000)] for side in "st")
    path = tmp_path / "joint.bin"
    model = random_model(source, target, second=16)
    model.write(str(path))
    pairs = [(source[i : i + 3], target[i : i + 2]) for i in (0, 1500, 2990)]
    for how in (_core.Opening.on_use, _core.Opening.background, _core.Opening.trusted):
        opened = _core.JointModel.open(str(path), how)
        assert [scores(opened, *pair) for pair in pairs] == [scores(model, *pair) for pair in pairs]
        opened.verify()
    content = bytearray(path.read_bytes())
    sections = _core.read_sections(str(path), KIND, VERSION)
    for section, columns in (("source.embeddings", 16), ("tables", 32), ("output", 16)):
        row = 4 + 1500  # of the special words and the first ones
        damaged = bytearray(content)
        damaged[content.index(sections[section]) + 4 * columns * row] ^= 1
        path.write_bytes(damaged)
        opened = _core.JointModel.open(str(path), _core.Opening.on_use)
        assert scores(opened, *pairs[0]) == scores(model, *pairs[0])
        with pytest.raises(FormatError, match=rf"the checksum of its bytes \d+ to \d+ does not fit; .*'{section}'"):
            scores(opened, *pairs[1])
        with pytest.raises(FormatError, match="does not fit"):
            opened.verify()


def test_numbers_that_are_none_are_found_by_a_whole_check(tmp_path: Path) -> None:
    random_model(SOURCE, TARGET).write(str(tmp_path / "joint.bin"))
    content = _core.read_sections(str(tmp_path / "joint.bin"), KIND, VERSION)
    content["output"] = np.full(len(content["output"]) // 4, np.nan, np.float32).tobytes()
    _core.write_sections(str(tmp_path / "bad"), KIND, VERSION, content)
    opened = _core.JointModel.open(str(tmp_path / "bad"), _core.Opening.on_use)
    assert np.isfinite(scores(opened, SOURCE, TARGET)).all()
    with pytest.raises(FormatError, match="its section 'output' has a number that is not finite"):
        opened.verify()


def number(section: str, form: str, index: int, value: float) -> Callable[[dict[str, bytes]], None]:
    def damage(content: dict[str, bytes]) -> None:
        numbers = bytearray(content[section])
        struct.pack_into("<" + form, numbers, index * struct.calcsize(form), value)
        content[section] = bytes(numbers)

    return damage


@pytest.mark.parametrize(
    "damage",
    [
        number("model", "I", 0, 0),
        number("model", "I", 0, 2**31),
        number("model", "I", 1, 2**31),
        number("model", "I", 3, 2),
        number("model", "I", 5, 33),
        number("model", "I", 5, 0),
        number("model", "I", 6, 64),
        number("model", "I", 7, 2**31),
        number("model", "I", 8, 5),
        number("model", "I", 9, 0),
        number("model", "I", 9, 2),
        number("tables", "f", 5, float("nan")),
        number("output", "f", 0, float("inf")),
        number("share", "f", 1, float("-inf")),
        number("target.bytes", "B", 0, 0xFF),
        lambda content: content.update({"bias": content["bias"][:-4]}),
        lambda content: content.update({"output.bias": b""}),
        lambda content: content.pop("tables") and None,
    ],
)
def test_a_crafted_file_is_refused(tmp_path: Path, damage: Callable[[dict[str, bytes]], None]) -> None:
    path, bad = tmp_path / "joint.bin", tmp_path / "bad"
    random_model(SOURCE, TARGET).write(str(path))
    content = _core.read_sections(str(path), KIND, VERSION)
    damage(content)
    _core.write_sections(str(bad), KIND, VERSION, content)
    with pytest.raises(FormatError, match="bad"):
        _core.JointModel.open(str(bad))


def test_parts_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="not possible"):
        random_model(SOURCE, TARGET, hidden=17)
    with pytest.raises(ValueError, match="not possible"):
        random_model(SOURCE, TARGET, history=0, has_source=False)


def parts_of(model: _core.JointModel) -> dict[str, Any]:
    names = ("source.embeddings", "source.weights", "tables", "bias", "second.weights", "second.bias")
    values = {name.replace(".", "_"): model.values(name).copy() for name in (*names, "output", "output.bias", "share")}
    words = {"source_words": model.source_words(), "target_words": model.target_words()}
    return {"facts": model.facts, **words, **values}


def test_words_must_differ_and_begin_with_the_special_ones() -> None:
    parts = parts_of(random_model(SOURCE, TARGET))
    words = parts["target_words"]
    with pytest.raises(ValueError, match=r"has the target word 'is' twice; expected different words"):
        _core.JointModel.make(**{**parts, "target_words": [*words[:-1], "is"]})
    with pytest.raises(ValueError, match=r"the source word 0 of a joint model is 'x'; expected '<unk>'"):
        _core.JointModel.make(**{**parts, "source_words": ["x", *words[1:]]})
    with pytest.raises(ValueError, match=r"the source word 2 of a joint model is missing; expected '</s>'"):
        _core.JointModel.make(**{**parts, "source_words": words[:2]})


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("section", ["tables", "output", "output_bias", "share"])
def test_huge_weights_have_finite_scores(tmp_path: Path, section: str, sign: int) -> None:
    parts = parts_of(random_model(SOURCE, TARGET))
    given = parts[section]
    huge = np.full_like(given, sign * 3e38)
    huge[::2] *= -1
    _core.JointModel.make(**{**parts, section: huge}).write(str(tmp_path / "huge"))
    opened = _core.JointModel.open(str(tmp_path / "huge"))
    for normalise in (False, True):
        scores, sums = opened.score(SOURCE, TARGET, Alignment([(0, 0), (2, 3)]), normalise)
        assert np.isfinite(scores).all() and np.isfinite(sums).all()


def test_too_many_target_words_are_refused() -> None:
    with pytest.raises(ValueError, match=r"there are 4611686018427387904 target words; expected at most 16777216"):
        _core.affiliations(Alignment([]), 2**62, 0)
