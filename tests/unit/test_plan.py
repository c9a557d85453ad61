"""Estimates of cost: measured sizes cost what was measured, larger ones in proportion, and the docs have the same."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from treeglot import UsageError
from treeglot.cli import main
from treeglot.experiment.plan import Point, Step, parse_count, plan, read_rates, rows, total

TOP = Path(__file__).parents[2]
SIZES = {"50,000": 50_000, "200,000": 200_000, "1,000,000": 1_000_000, "10,000,000": 10_000_000}


def step(*points: tuple[str, int, int, float], **more: bool) -> Step:
    made = (Point(text, pairs, words, cpu, cpu * 2, cpu * 3, "a test") for text, pairs, words, cpu in points)
    return Step("work", "works", tuple(made), **more)


def test_a_measured_size_costs_what_was_measured() -> None:
    known = step(("a", 10, 100, 1.0), ("a", 40, 400, 8.0))
    for pairs, words, cpu in ((10, 100, 1.0), (40, 400, 8.0)):
        [found] = plan(pairs, words, [known])
        assert (found.cpu, found.memory, found.disk) == ((cpu, cpu), (cpu * 2, cpu * 2), (cpu * 3, cpu * 3))
        assert found.beyond <= 1


def test_the_rate_is_interpolated_and_stays_beyond_the_largest_size() -> None:
    known = step(("a", 10, 100, 1.0), ("a", 40, 400, 8.0))  # rates of 0.01 and 0.02
    assert plan(25, 250, [known])[0].cpu == pytest.approx((250 * 0.015, 250 * 0.015))
    assert plan(5, 50, [known])[0].cpu == pytest.approx((0.5, 0.5))
    [found] = plan(400, 4000, [known])
    assert found.cpu == pytest.approx((80.0, 80.0))
    assert found.memory == pytest.approx((184.0, 184.0))  # 16 for 400 words, and 14 more for each 300
    assert found.beyond == 10


def test_texts_give_a_range() -> None:
    known = step(("a", 10, 100, 1.0), ("b", 10, 200, 6.0))
    assert plan(10, 100, [known])[0].cpu == pytest.approx((1.0, 3.0))


def test_steps_that_do_not_grow_with_the_words() -> None:
    constant = step(("a", 10, 100, 1.0), ("a", 10, 100, 4.0), constant=True)
    assert plan(1000, 10_000, [constant])[0].cpu == (1.0, 4.0)
    bounded = step(("a", 10, 100, 1.0), fixed_memory=True)
    assert plan(100, 1000, [bounded])[0].memory == (2.0, 2.0)
    by_length = step(("short", 10, 100, 1.0), ("long", 10, 200, 8.0), by_length=True)
    assert plan(100, 1500, [by_length])[0].cpu == pytest.approx((37.5, 37.5))  # 0.025 for a word of 15 in a sentence


def test_sums_leave_out_what_takes_the_place_of_other_steps() -> None:
    found = plan(
        10, 100, [step(("a", 10, 100, 1.0)), step(("a", 10, 100, 3.0)), step(("a", 10, 100, 9.0), instead=True)]
    )
    whole = total(found)
    assert (whole.cpu, whole.memory, whole.disk) == ((4.0, 4.0), (6.0, 6.0), (12.0, 12.0))


def test_every_rate_has_a_source_that_is_there() -> None:
    for each in read_rates():
        for point in each.points:
            name = point.source.partition(" and ")[0]
            assert (TOP / name).is_file(), point


def test_plans_agree_with_whole_runs() -> None:
    """Within a fifth, for all runs but the smallest, where costs that do not grow weigh most."""
    measured = json.loads((TOP / "bench/results/scale.json").read_text(encoding="utf-8"))
    names = [column["name"] for column in measured["columns"]]
    runs = [run for row in measured["rows"] if (run := dict(zip(names, row, strict=True)))["pairs"] >= 30_000]
    assert runs[-1]["pairs"] == 1_000_000
    for run in runs:
        found = {each.step: each for each in plan(run["pairs"], round(run["pairs"] * 7.836))}
        for name in ("align", "extract", "score and compile"):
            low, high = found[name].cpu
            assert 0.8 * low <= run[f"{name}, CPU s"] <= 1.2 * high, (run["pairs"], name)
        low, high = total(list(found.values())).disk
        assert 0.8 * low <= run["peak disk, GB"] * 1000 <= 1.2 * high


@pytest.mark.parametrize("text", ["", "ten", "-5", "0", "1e9", "5T", "9" * 16])
def test_numbers_that_are_none(text: str) -> None:
    with pytest.raises(UsageError, match="expected one such as 50000 or 10M"):
        parse_count(text)


def test_fewer_words_than_pairs_are_refused() -> None:
    with pytest.raises(UsageError, match="expected at least a word for each pair"):
        plan(10, 5)


def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", "--pairs", "10M", "--words", "250M"]) == 0
    shown = capsys.readouterr().out
    assert "score and compile" in shown and "extrapolated" in shown and "together" in shown
    assert main(["plan", "--pairs", "50k", "--words", "500k", "--json"]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["step"] for line in lines] == [each.name for each in read_rates()]
    assert all(line["sources"] for line in lines)


def test_the_page_has_the_same_figures() -> None:
    page = (TOP / "docs/cost.md").read_text(encoding="utf-8")
    tables = [rows(plan(pairs, 10 * pairs)) for pairs in SIZES.values()]
    for name, *cells in zip(*tables, strict=True):
        if name[0] not in ("step", "together"):
            for title, column in (("CPU", 1), ("memory", 2), ("disk", 3)):
                line = f"| {name[0].removesuffix(' (not in the sum)')}, {title} | "
                line += " | ".join(one[column] for one in (name, *cells)) + " |"
                assert line in page, line
        elif name[0] == "together":
            for pairs, one in zip(SIZES.values(), (name, *cells), strict=True):
                line = f"| {pairs:,} | {one[1]} | {one[2]} | {one[3]} |"
                assert line in page, line
