"""Runs that leave out the full tests draw a fourth of the examples."""

import pytest
from hypothesis import settings

settings.register_profile("quick", max_examples=25)


def pytest_configure(config: pytest.Config) -> None:
    if "not full" in config.getoption("markexpr"):
        settings.load_profile("quick")
