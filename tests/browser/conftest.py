"""The browser for tests of pages."""

import os
import shutil
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

import pytest

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A real one. `.ci/run` installs it; where changes are judged it has to be there.

    It closes after each module: as long as it is open, its event loop keeps other tests from starting one.
    """
    if not os.environ.get("CI"):
        if BROWSER is None:
            pytest.skip("there is no chromium here")
        if find_spec("playwright") is None:
            pytest.skip("there is no playwright here")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        yield opened
        opened.close()
