"""Counts in parts, added up: against a dictionary of all rows."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from zlib import crc32

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from treeglot import _core

UNIT = 2**28

# Source, target, alignment, labels, units and occurrences.
rows = st.tuples(
    st.sampled_from([b"a", b"ab", b"b", b"\xff", b""]),
    st.sampled_from([b"u", b"v", b"uv"]),
    st.sampled_from([b"", b"0", b"1"]),
    st.sampled_from([b"", b"x", b"y"]),
    st.integers(0, 2**33),
    st.integers(1, 5) | st.integers(2**30, 2**31),
)


def buffers(texts):
    offsets = np.cumsum([0, *map(len, texts)], dtype=np.int32)
    return offsets, np.frombuffer(b"".join(texts), dtype=np.int8)


def columns(part):
    """A part as the core takes it. Lexical weights say which source, target and alignment they are of."""
    codes = [buffers([row[i] for row in part]) for i in range(4)]
    counts = np.array([row[4] / UNIT for row in part], dtype=np.float64)
    times = np.array([row[5] for row in part], dtype=np.uint32)
    lhs = np.array([len(row[0]) for row in part], dtype=np.uint32)
    weights = [np.array([lexical(row[:3], sign) for row in part], dtype=np.float32) for sign in (1, -1)]
    return (*codes, counts, times, lhs, lhs.astype(np.uint8), *weights)


def lexical(key, sign):
    return sign * (crc32(repr(key).encode()) % 1000)


def texts(column):
    offsets, data = column
    return [data[b:e].tobytes() for b, e in pairwise(offsets)]


def ordered(part):
    """Rows as a tally has them: by source side, else as they came."""
    return sorted(part, key=lambda row: row[0])


def slow(parts, whole):
    """By definition: sums over all rows of a rule, and the most frequent notes, of equals the first."""
    found = {}
    for part in parts:
        for row in part:
            found.setdefault(row[:2], []).append(row)
    out = []
    for (source, target), seen in sorted(found.items(), key=lambda item: item[0][0]):
        alignments, labels = Counter(), Counter()
        for row in seen:
            alignments[row[2]] += row[5]
            labels[row[3]] += row[5]
        alignment = max(alignments, key=alignments.get)  # a Counter keeps the order of first sight
        units, times = sum(row[4] for row in seen), sum(row[5] for row in seen)
        if whole > 1:
            units, times = max(units, 1), max((times + whole // 2) // whole, 1)
        weights = [lexical((source, target, alignment), sign) for sign in (1, -1)]
        out.append((source, target, alignment, max(labels, key=labels.get), units, times, len(source), *weights))
    return out


@given(st.lists(st.lists(rows, max_size=12).map(ordered), max_size=4), st.sampled_from([1, 60]))
def test_parts_add_up(parts, whole):
    if whole == 1:  # sums of large numbers have no place in a row
        parts = [[(*row[:5], row[5] % 8 + 1) for row in part] for part in parts]
    made = _core.add_up_counts([columns(part) for part in parts], whole)
    codes, (counts, times, lhs, variables, forward, backward, source_row) = made[:4], made[4:]
    numbers = (counts * UNIT).tolist(), times.tolist(), lhs.tolist(), forward.tolist(), backward.tolist()
    found = list(zip(*map(texts, codes), *numbers, strict=True))
    wanted = slow(parts, whole)
    assert found == wanted
    assert variables.tolist() == lhs.tolist()
    sources = [row[0] for row in wanted]
    assert source_row.tolist() == [sources.index(source) for source in sources]


def test_rows_out_of_order():
    part = columns([(b"b", b"u", b"", b"", UNIT, 1), (b"a", b"u", b"", b"", UNIT, 1)])
    with pytest.raises(ValueError, match="row 1 of the counts is out of order"):
        _core.add_up_counts([part])


def test_columns_of_different_lengths():
    part = columns([(b"a", b"u", b"", b"", UNIT, 1)])
    with pytest.raises(ValueError, match="the columns of counts differ in length"):
        _core.add_up_counts([(*part[:4], np.zeros(2), *part[5:])])
