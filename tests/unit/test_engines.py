"""Where scoring's SQL runs: what it says when there is no room."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from treeglot.base.errors import TreeglotError
from treeglot.rules.engines import DuckDB, Statement

STATEMENTS = [
    Statement("wider", "SELECT a, a + 1 AS b, a * 2 AS c FROM rows"),
    Statement("", "SELECT * FROM wider ORDER BY c"),
]


def test_a_place_for_what_does_not_fit_into_memory_that_cannot_be_made(tmp_path: Path) -> None:
    pq.write_table(pa.table({"a": np.arange(2_000_000)}), tmp_path / "rows.parquet")
    (tmp_path / ".duckdb").write_text("in the way")
    engine = DuckDB(memory=16 << 20, folder=tmp_path)
    with pytest.raises(TreeglotError, match=r"^scoring the rules: IO Error: .*\.duckdb"):
        list(engine.run({"rows": [tmp_path / "rows.parquet"]}, STATEMENTS))
