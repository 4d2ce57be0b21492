"""The benchmark of engines: it counts the time of all processes, and the guide quotes what it measured."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from bench import engines, trees
from bench.timing import plain

pytestmark = pytest.mark.full

ROOT = Path(__file__).resolve().parent.parent
KEPT = ROOT / "bench" / "results"


@pytest.fixture(scope="module")
def results() -> Any:
    return json.loads((KEPT / "engines.json").read_text(encoding="utf-8"))


def test_the_guide_quotes_the_stored_results(results: Any) -> None:
    guide = (ROOT / "docs" / "engines.md").read_text(encoding="utf-8")
    for table in engines.tables(results):
        assert engines.rows_of(table) in guide, table.title
    assert (KEPT / "engines.md").read_text(encoding="utf-8") == engines.page(results)


def test_costs_follow_from_the_rates(results: Any) -> None:
    computed = plain(engines.costs(engines.Data(ROOT, 0), results["rates"]))
    for found, stored in zip(computed, results["costs"], strict=True):
        assert found == stored | {key: pytest.approx(stored[key], rel=1e-4) for key in ("core_minutes", "bytes_read")}
    for row in results["costs"]:
        assert row["core_minutes"] > 0
        assert row["bytes_of_states"] % row["states"] == 0


def test_every_bar_is_judged_by_its_ratio(results: Any) -> None:
    assert [each["name"] for each in results["ratios"]] == [bar.name for bar in engines.BARS]
    for each, bar in zip(results["ratios"], engines.BARS, strict=True):
        assert each["met"] == (each["ratio"] <= bar.at_most)


def test_processor_time_counts_children_that_nobody_waits_for() -> None:
    # As Spark's workers: their parent ignores their end, and so does the kernel's own sum.
    parent = "import os, signal, time\nsignal.signal(signal.SIGCHLD, signal.SIG_IGN)\nif not os.fork():\n    "
    parent += "while time.process_time() < 0.6: pass\n    time.sleep(1.5)\nelse:\n    print(flush=True)\n    input()"
    with trees.Meter() as meter:
        before = meter.seconds()
        child = subprocess.Popen([sys.executable, "-c", parent], stdin=-1, stdout=-1)
        assert child.stdout is not None
        child.stdout.readline()
        assert trees.peak_of(Path(f"/proc/{child.pid}/comm").read_text().strip()) > 1
        for _ in range(200):
            children = Path(f"/proc/{child.pid}/task/{child.pid}/children").read_text()
            if not children:
                break
            time.sleep(0.1)
        assert not children
        child.communicate(b"\n")
        assert 0.5 <= meter.seconds() - before < 30


def test_sizes_have_units() -> None:
    assert [engines.size(each) for each in (7, 8192, 2.02e9, 5e14)] == ["7 bytes", "8.19 kB", "2.02 GB", "500 TB"]
