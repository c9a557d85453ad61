"""The examples of docs/architecture.md: what is added in one place works from there on."""

import doctest
from pathlib import Path
from unittest.mock import patch

from treeglot.rules import EXTRACTORS
from treeglot.rules.sql import COLUMNS

PAGE = Path(__file__).parents[1] / "docs/architecture.md"


def test_the_examples() -> None:
    with patch.dict(EXTRACTORS), patch.dict(COLUMNS):  # what the examples add goes when the test ends
        results = doctest.testfile(str(PAGE), module_relative=False, encoding="utf-8")
    assert results.attempted > 10
    assert results.failed == 0
