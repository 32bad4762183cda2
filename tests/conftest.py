"""Settings of the whole suite: of Hypothesis, and how many tests run side by side."""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, settings

# No verdict depends on how busy the machine is.
settings.register_profile("unhurried", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("unhurried")


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int | None:
    """Return for ``-n auto`` three workers for two cores: many tests wait for a process."""
    if config.option.numprocesses != "auto":
        return None  # xdist's own count
    return 3 * (os.cpu_count() or 1) // 2
