"""A script: ends itself in the middle of a roll, once at every point, and looks at what the next start makes of it.

Each kill is that of a forked process, so that one start of Python serves all of them.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

from plausibly.files import ReportFile
from plausibly.service.collector import Collector, opened
from plausibly.service.inbox import Batch
from plausibly.service.rolling import POINTS
from serving import filed, new_key, question, records

SMALLEST = 100
DROPS = ("begun", "counted", "removed", "truncated")
"""The points of a close that drops what is left."""


def main() -> None:
    place, where = Path(sys.argv[1]), ({} if len(sys.argv) == 2 else {"inbox": sys.argv[2]})
    folder = place / "collector"
    for closes, points in ((False, POINTS), (True, DROPS)):
        for point in points:
            asked = question(f"{point} {closes}", smallest_batch=SMALLEST)
            child = os.fork()
            if child == 0:
                try:
                    _rolled(folder, asked, point, where, closes=closes)
                finally:
                    os._exit(1)  # it should have been killed
            _, status = os.waitpid(child, 0)
            found = {"point": point, "closes": closes, "killed": os.WTERMSIG(status) == signal.SIGKILL}
            print(json.dumps(found | _restarted(folder, asked, where)))


def _rolled(folder: Path, asked: Any, point: str, where: dict[str, str], *, closes: bool) -> None:
    ready: list[bool] = []

    def reached(name: str) -> None:
        if ready and name == point:
            os.kill(os.getpid(), signal.SIGKILL)

    with opened(folder, **where, reached=reached) as collector:
        collector.create(asked)
        _add(collector, asked, 0, 120)
        collector.roller.roll(asked.id)
        # The first roll has left a tally.
        _add(collector, asked, 120, 150 if closes else 250)
        ready.append(True)
        (collector.close if closes else collector.roller.roll)(asked.id)


def _restarted(folder: Path, asked: Any, where: dict[str, str]) -> dict[str, Any]:
    with opened(folder, **where) as collector:
        answered = [len(collector.answers.state(asked.id).tally)]
        account = collector.account(asked.id)
        if account is not None and not account.closed:
            _add(collector, asked, account.received, account.received + 50)
            collector.roller.roll(asked.id)
            answered.append(len(collector.answers.state(asked.id).tally))
        collector.close(asked.id)
        answered.append(len(collector.answers.state(asked.id).tally))
        account = collector.account(asked.id)
        with collector.inbox.view() as view:
            rows = sum(1 for _ in view.rows("pending"))
    assert account is not None
    files = [len(ReportFile(path)) for path in (folder / asked.id / "reports").glob("*.parquet")]
    told = {"answered": answered, "files": sorted(files), "filed": filed(folder, asked), "rows": rows}
    return told | {"received": account.received, "released": account.released, "dropped": account.dropped}


def _add(collector: Collector, asked: Any, first: int, last: int) -> None:
    for start in range(first, last, 10):
        batch = Batch(bytes.fromhex(new_key()), records(asked, range(start, start + 10)), 10)
        collector.writer.run(lambda batch=batch: collector.inbox.commit({asked.id: [batch]})).result()  # type: ignore[misc]


if __name__ == "__main__":
    main()
