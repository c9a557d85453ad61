"""Settings for all the tests."""

from hypothesis import HealthCheck, settings

# Machines differ in speed: no deadlines. Examples are drawn from a fixed seed, so that a run can be repeated.
settings.register_profile(
    "treeglot", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.load_profile("treeglot")
