"""The promised names of ``plausibly.experiments``: there, documented, and loaded on demand."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from plausibly import experiments

ROOT = Path(__file__).resolve().parents[2]


def test_every_promised_name_is_there_and_in_the_table() -> None:
    assert set(experiments.__all__) == set(experiments._MODULE_OF)
    assert all(getattr(experiments, name) is not None for name in experiments.__all__)
    assert set(experiments.__all__) <= set(dir(experiments))
    page = (ROOT / "docs" / "experiments.md").read_text(encoding="utf-8").partition("## Promised names")[2]
    assert set(re.findall(r"`(\w+)`", page.partition("|---|---|")[2])) == set(experiments.__all__)


def test_a_name_that_is_not_promised_is_no_attribute() -> None:
    with pytest.raises(AttributeError, match="no attribute 'figures'"):
        experiments.figures  # noqa: B018


@pytest.mark.full
def test_the_door_loads_only_what_is_asked_for() -> None:
    code = "import sys; from plausibly.experiments import Crowd; print('plausibly.experiments.runner' in sys.modules)"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "False"
