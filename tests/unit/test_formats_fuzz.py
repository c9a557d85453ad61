"""Mutated inputs: every reader ends in values or in a FormatError that names file and line, and in nothing else."""

import random
from typing import Any

import pytest
from mutants import mutated

from treeglot import FormatError
from treeglot.syntax import FORMATS

SEEDS: dict[str, list[str]] = {
    "text": ["I saw the bank .\n\nein Satz\n", "一 个 房间 。\na \n", "x\n"],
    "brackets": [
        "( (S (NP (PRP I)) (VP (VBD saw) (NP (DT the) (NN bank))) (. .)))\n(())\n",
        "# comment\n\n( (S\n    (NP-SBJ (-LRB- -LRB-) (NN a-RSB-b))\n    (VP 一)))\n\n(X a (Y b) c)\n()\n",
    ],
    "egret": [
        "sentence 1 :\ntime flies\nNN[0,0] => time ||| -0.1\nNNS[1,1] => flies ||| -1.2\nVBZ[1,1] => flies ||| -0.4\n"
        "VP^g[1,1] => VBZ[1,1] ||| -1e-05\nS^g[0,1] => NN[0,0] VP^g[1,1] ||| -0.25\nROOT[0,1] => S^g[0,1] ||| 0\n\n"
        "sentence 2 :\nno parse\n\n\n",
        "sentence 7 :\n-LRB- 个\nX^g[0,1] => A[0,0] B[1,1] ||| -3\nA[0,0] => -LRB- ||| 0\nB[1,1] => 个 ||| 0\n\n",
    ],
    "jsonl": [
        '{"words": ["time", "fl\\u00efes\\ud835\\udd18"], "scores": "posterior", "goal": 3, "nodes": [{"label": "N", '
        '"span": [0, 1], "edges": [[-0.1, 0]]}, {"label": "S", "span": [0, 2], "edges": [[-1.5, 2, 1], '
        "[2.5e-1, 0, 1]]}]}\n"
        '{"goal": null, "nodes": [], "scores": "arbitrary", "words": []}\n',
    ],
    "lattice": [
        '{"arcs": [[0, 1, "das", -0.1], [0, 2, "das\\u00df", -2.5e0], [1, 2, "haus", 0], [1, 2, "", 1]]}\n'
        '{"arcs": [[0, 1, "x", 0]]}\n',
    ],
    "conllu": [
        "# sent_id = 1\n1-2\tdon't\t_\t_\t_\t_\t_\t_\t_\t_\n1\tdo\tdo\tAUX\tVBP\t_\t3\taux\t_\t_\n"
        "2\tn't\tnot\tPART\tRB\t_\t3\tadvmod\t_\t_\n2.1\tx\t_\t_\t_\t_\t_\t_\t_\t_\n3\tgo\tgo\tVERB\tVB\t_\t0\troot\t_\t_\n\n"
        "1\ta b\t_\t_\t_\t_\t_\t_\t_\t_\n\n",
    ],
    "conllx": [
        "1\ta\t_\tN\tNN\t_\t2\tnsubj\t_\t_\n2\tb\t_\tV\tVB\t_\t0\tROOT\t_\t_\n\n1\t一\t_\tX\tX\t_\t0\t_\t_\t_\n\n"
    ],
    "pharaoh": ["0-0 1-2 11-3\n\n3-0 \n", "0-4294967295\n"],
}


def outcome(name: str, data: bytes, skip_bad: bool, size: int) -> tuple[list[Any], FormatError | None, int]:
    reader = FORMATS[name].open_reader("some file", skip_bad, {})
    values: list[Any] = []
    try:
        for begin in range(0, len(data), size):
            values += reader.feed(data[begin : begin + size])
        while more := reader.finish():
            values += more
    except FormatError as error:
        return values, error, reader.skipped
    return values, None, reader.skipped


@pytest.mark.parametrize("name", FORMATS)
def test_mutated_inputs(name: str) -> None:
    chance = random.Random(f"fuzz {name}")
    to_text = FORMATS[name].open_writer({})
    good = bad = 0
    for _ in range(1500):
        data = mutated(chance.choice(SEEDS[name]), chance)
        values, error, _ = outcome(name, data, False, 1 << 20)
        again, same_error, _ = outcome(name, data, False, chance.randint(1, 40))
        assert (again, str(same_error)) == (values, str(error))
        if error is not None:
            bad += 1
            assert error.file == "some file"
            assert 1 <= error.line <= data.count(b"\n") + 1
            assert str(error) == f"some file:{error.line}: {error.problem}"
            assert "\n" not in error.problem
        else:
            good += 1
        kept, no_error, skipped = outcome(name, data, True, 1 << 20)
        assert no_error is None
        assert kept.count(None) == skipped
        assert (skipped == 0) == (error is None)
        assert kept[: len(values)] == values
        for value in values:
            try:
                text = to_text(value)
            except ValueError:
                continue  # such as two nodes over the whole sentence after ^g has been taken off
            assert outcome(name, text.encode(), False, 1 << 20)[:2] == ([value], None)
    assert good > 20
    assert bad > 400
