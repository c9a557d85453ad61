"""Settings for all the tests."""

import os
import secrets
from typing import Any

import hypothesis.core
import pytest
from hypothesis import HealthCheck, settings

# Machines differ in speed, and examples from run to run: neither is a failure.
BY_CHANCE = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]
settings.register_profile("treeglot", deadline=None, suppress_health_check=BY_CHANCE, print_blob=True, database=None)
settings.load_profile("treeglot")

# The judge gives a commit the same verdict each time, so it has one seed. Other runs look for new faults.
SEED_OF_CI = 1


def pytest_configure(config: pytest.Config) -> None:
    """Draw new examples in every run but CI's, from one seed for all processes."""
    if config.getoption("--hypothesis-seed") is None:
        own = SEED_OF_CI if os.environ.get("CI") else secrets.randbelow(2**32)
        hypothesis.core.global_force_seed = getattr(config, "workerinput", {}).get("hypothesis_seed", own)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tell a worker of pytest-xdist the seed."""
    node.workerinput["hypothesis_seed"] = hypothesis.core.global_force_seed


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Say how to draw the same examples again."""
    terminalreporter.write_line(f"examples: --hypothesis-seed={hypothesis.core.global_force_seed}")
