"""The table of a run: the step that runs, and what is around it."""

import io
from pathlib import Path

import pytest

from treeglot.cli.board import BEFORE, Board
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


def lines(board: Board) -> list[list[str]]:
    from rich.console import Console

    text = io.StringIO()
    Console(file=text, width=60).print(board.table())
    return [line.split() for line in text.getvalue().splitlines()]


@pytest.mark.parametrize("number", [0, 1, 13, 28, 29])
def test_the_step_that_runs_and_those_before_it(board: Board, number: int) -> None:
    start(board, number)
    shown = lines(board)
    assert [line[1] for line in shown if line[0] == "▶"] == [f"s{number}"]
    assert len(shown) <= BEFORE + 3
    assert (shown[0] == ["✓", f"{number - BEFORE}", "steps", "above"]) == (number > BEFORE)
    assert (shown[-1] == [f"{29 - number}", "steps", "to", "come"]) == (number < 29)


def test_between_steps_and_at_the_end(board: Board) -> None:
    start(board, 12)
    board.finished(board.plan[12], 1.0)
    assert lines(board)[-2:] == [["s13"], ["16", "steps", "to", "come"]]
    for planned in board.plan:
        board.state[planned.step.name] = "done before"
    assert lines(board)[-1] == ["✓", "s29", "done", "before"]


def test_several_steps_that_run(board: Board) -> None:
    start(board, 20)
    board.started(board.plan[2])
    board.state["s3"] = ""  # it waits for s2
    board.said(board.plan[2], "half")
    shown = lines(board)
    assert shown[0] == ["✓", "3", "steps", "above"]  # s0, s1 and s4
    assert [line[1] for line in shown if line[0] == "▶"] == ["s2", "s20"]
    assert shown[1][2:] == ["0", "s,", "half"]
    assert shown[-1] == ["10", "steps", "to", "come"]  # s3 and those after s20
    board.finished(board.plan[2], 2.0)
    assert [line[1] for line in lines(board) if line[0] == "▶"] == ["s20"]
    assert board.state["s2"] == "2.0 s, half"


def test_a_step_that_ends_while_the_board_is_drawn(board: Board) -> None:
    class State(dict[str, str]):
        def __getitem__(self, name: str) -> str:
            board.began.clear()
            return super().__getitem__(name)

    start(board, 20)
    board.state = State(board.state)
    assert any(line[0] == "▶" for line in lines(board))
