"""KenLM, which tests compare with. Its package does not build for Python 3.13 and newer."""

import sys
from typing import Any

import pytest

kenlm: Any
if sys.version_info < (3, 13):
    import kenlm
else:
    kenlm = None
needs_kenlm = pytest.mark.skipif(kenlm is None, reason="the package kenlm does not build for Python 3.13")
