"""Progress of long commands: how fast it goes, and how long it still takes."""

from __future__ import annotations

import io

from rich.console import Console
from rich.progress import Progress

from plausibly.cli import common


def test_progress_shows_rate_and_time_left_from_the_second_second_on() -> None:
    clock = [0.0]
    bars = Progress(get_time=lambda: clock[0], console=Console(file=io.StringIO()))
    number = bars.add_task("", total=None)
    task = bars.tasks[number]

    def shown() -> str:
        return " ".join(str(column.render(task)) for column in (common._Rate("reports"), common._TimeLeft())).strip()

    clock[0] = 0.5
    bars.update(task.id, completed=1000, total=61_000)
    assert shown() == "1,000 reports"
    clock[0] = 1.0
    assert shown() == "1,000 reports, 1,000/s 0:01:00 left"
    clock[0] = 2.0
    bars.update(task.id, completed=31_000, total=61_000)
    assert shown() == "31,000 reports, 20,000/s 0:00:02 left"
    task.total = None
    assert "left" not in shown()
