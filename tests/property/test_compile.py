"""A rule table compiled and looked into again, on random rules."""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import given, settings
from hypothesis import strategies as st

from treeglot.rules import compile_table, open_table
from treeglot.rules.table import CompileOptions

WORDS = ["a", "b", "[", "]", "c,1]", "\\"]
NT = 0x80000000


@st.composite
def structures(draw, size):
    """Nothing, or a head that all others hang on, perhaps marked as ill-formed."""
    if size == 0 or draw(st.booleans()):
        return ""
    head = draw(st.integers(0, size - 1))
    numbers = [0 if i == head else head + 1 for i in range(size)]
    return " ".join(map(str, numbers + [1] * draw(st.booleans())))


@st.composite
def rules(draw: st.DrawFn) -> dict[str, object]:
    """A row of a rule table; variables are numbered in any order."""
    labels = draw(st.lists(st.sampled_from(["X", "N,P", "Ü"]), max_size=3))
    numbers = draw(st.permutations(range(1, len(labels) + 1)))
    variables = [f"[{label},{number}]" for label, number in zip(labels, numbers, strict=True)]
    words = [f"\\{word}" if word == "\\" else word for word in WORDS]
    source = draw(st.lists(st.sampled_from(words), min_size=0 if labels else 1, max_size=4))
    target = draw(st.lists(st.sampled_from(words), max_size=4))
    source = draw(st.permutations([*source, *variables]))
    target = draw(st.permutations([*target, *variables]))
    links = [(draw(st.integers(0, len(source) - 1)), draw(st.integers(0, len(target) - 1)))] if target else []
    return {
        "lhs": draw(st.sampled_from(["X", "S"])),
        "source": " ".join(source),
        "target": " ".join(target),
        "alignment": " ".join(f"{s}-{t}" for s, t in links),
        "labels": draw(st.sampled_from(["", "NP", "NP VP·PP"])),
        "structure": draw(structures(len(target))),
        "p_target_given_source": draw(st.floats(2**-20, 1, width=32)),
        "score": draw(st.floats(-100, 100, width=32)),
        "count_bin": draw(st.sampled_from(["1", "2", "3-5"])),
        "rare": draw(st.sampled_from(["yes", "no", "no", "no"])),
    }


def symbols(table, rule):
    """The sides of a compiled rule as text, its variables numbered as on the source side."""
    lhs, source, target, *_ = table.rule(rule)
    count = 0
    text = []
    for symbol in source:
        if symbol & NT:
            count += 1
            text.append((table.labels[symbol ^ NT], count))
        else:
            text.append(table.source_words[symbol])
    return table.labels[lhs], text, [table.target_words[s] if s >= 0 else -s for s in target]


def expected(row):
    order = []
    source = []
    for token in row["source"].split():
        if len(token) > 1 and token[0] == "[" and token[-1] == "]":
            label, number = token[1:-1].rsplit(",", 1)
            order.append(int(number))
            source.append((label, len(order)))
        else:
            source.append(token.removeprefix("\\"))
    target = [
        order.index(int(token[1:-1].rsplit(",", 1)[1])) + 1
        if len(token) > 1 and token[0] == "[" and token[-1] == "]"
        else token.removeprefix("\\")
        for token in row["target"].split()
    ]
    return row["lhs"], source, target


@settings(max_examples=100)
@given(st.lists(rules(), min_size=1, max_size=12))
def test_all_rules_come_back(rows):
    options = CompileOptions(features=("p_target_given_source", "score"), indicators=("count_bin", "rare"))
    with TemporaryDirectory() as name:
        path = Path(name) / "rules.parquet"
        pq.write_table(pa.Table.from_pylist(rows), path)
        done = compile_table(path, Path(name) / "rules.table", options)
        table = open_table(Path(name) / "rules.table")
    assert done.rules == len(table) == len(rows)
    found = []
    for rule in range(len(table)):
        values = dict(zip(table.features, table.rule(rule)[3], strict=False))
        values.update({table.features[f]: v for f, v in table.sparse_features(rule)})
        links = " ".join(f"{s}-{t}" for s, t in table.rule(rule)[4])
        labels, structure = table.notes(rule)
        notes = " ".join(table.labels[label] for label in labels), " ".join(map(str, structure))
        found.append((symbols(table, rule), {n: v for n, v in values.items() if v != 0}, links, *notes))
    wanted = []
    for row in rows:
        log = float(np.float32(np.log(np.float64(np.float32(row["p_target_given_source"])))))
        values = {"p_target_given_source": log, "score": row["score"]}
        values |= {f"count_bin={row['count_bin']}": 1.0, f"rare={row['rare']}": 1.0}
        notes = row["alignment"], row["labels"], row["structure"]
        wanted.append((expected(row), {n: v for n, v in values.items() if v != 0}, *notes))
    assert sorted(found, key=repr) == sorted(wanted, key=repr)
    # Rules of one source and left-hand side keep their order.
    for side in {(e[0][0], repr(e[0][1])) for e in wanted}:
        assert [f for f in found if (f[0][0], repr(f[0][1])) == side] == [
            w for w in wanted if (w[0][0], repr(w[0][1])) == side
        ]
