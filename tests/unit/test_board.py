"""The table of a run: what is shown when there are more steps than lines."""

import io
from pathlib import Path

import pytest

from treeglot.cli.board import Board
from treeglot.experiment import Pipeline
from treeglot.experiment.step import Step, Task


def nothing(task: Task) -> None:
    (task.out / "out").touch()


@pytest.fixture
def board(tmp_path: Path) -> Board:
    pipeline = Pipeline([Step(f"s{n}", nothing, {}) for n in range(30)], tmp_path)
    board = Board()
    board.plan = pipeline.plan()
    board.state = {planned.step.name: "" for planned in board.plan}
    return board


def start(board: Board, number: int) -> None:
    for planned in board.plan[:number]:
        board.state[planned.step.name] = "1.0 s"
    board.started(board.plan[number])


@pytest.mark.parametrize("number", [0, 1, 13, 28, 29])
@pytest.mark.parametrize("height", [1, 3, 10, 23])
def test_the_step_that_runs_is_always_shown(board: Board, number: int, height: int) -> None:
    start(board, number)
    first, last = board.window(height)
    assert 0 <= first <= number < last <= 30
    assert last - first == max(height - 2, 1)


def test_all_of_them_if_there_is_room(board: Board) -> None:
    assert board.window(30) == (0, 30)


def test_between_steps_and_at_the_end(board: Board) -> None:
    start(board, 12)
    board.finished(board.plan[12], 1.0)
    first, last = board.window(8)
    assert first <= 13 < last
    for planned in board.plan:
        board.state[planned.step.name] = "done before"
    assert board.window(8) == (24, 30)


def test_what_is_printed(board: Board) -> None:
    from rich.console import Console

    start(board, 13)
    board.live = type("Live", (), {"console": Console(height=8, width=60, file=io.StringIO())})()
    text = io.StringIO()
    Console(file=text, width=60).print(board.table())
    lines = [line.split() for line in text.getvalue().splitlines()]
    assert len(lines) == 7
    assert lines[0] == ["✓", "11", "steps", "above"]
    assert [line[1] for line in lines if line[0] == "▶"] == ["s13"]
    assert lines[-1][-2:] == ["to", "come"]
