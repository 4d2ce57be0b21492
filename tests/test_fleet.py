"""The fleet of `make serve-demo`, in a small size: the collector is killed, and the count is exact."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

FLEET = Path(__file__).resolve().parent.parent / "examples" / "fleet.py"


@pytest.mark.full
def test_a_fleet_is_counted_exactly_although_the_collector_is_killed(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(FLEET), "--devices", "2000"], cwd=tmp_path, capture_output=True, text=True, timeout=300
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "the collector is killed (SIGKILL) and started again" in done.stdout
    assert done.stdout.splitlines()[-1] == "Reports counted: 2,000; devices: 2,000"
    told = re.search(r"([\d,]+) counted, ([\d,]+) counted already, ([\d,]+) lost", done.stdout)
    assert told is not None
    counted, already, lost = (int(number.replace(",", "")) for number in told.groups())
    # A hundred devices send twice; the answers that the kill swallowed come later, as counted already.
    assert counted + already == 2100
    assert already >= 100
    assert lost > 0, "the kill happened while devices were sending"
    assert not list(tmp_path.iterdir())
