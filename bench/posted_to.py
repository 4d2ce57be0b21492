"""The collector that `bench.collector` measures, in a process of its own: ``python -m bench.posted_to FOLDER``.

With ``--no-storage`` it checks and answers as always, but commits nothing; without ``--roll-reports`` it does not roll.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from time import monotonic
from typing import Any

from plausibly.service import rolling, server
from plausibly.service.inbox import Batch, Outcome
from plausibly.service.sqlite_inbox import SqliteInbox

NEVER = 1 << 62


def _forget(self: SqliteInbox, arrived: Mapping[str, Sequence[Batch]]) -> dict[str, list[Outcome]]:
    return {identity: [Outcome.NEW] * len(batches) for identity, batches in arrived.items()}


def main() -> None:
    """Serve until SIGTERM."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--no-storage", action="store_true")
    parser.add_argument("--inbox", help="address of a database, instead of SQLite in the folder")
    parser.add_argument("--roll-reports", type=int, default=NEVER)
    parser.add_argument("--points", type=Path, help="file for the times of all points of rolls")
    given = parser.parse_args()
    if given.no_storage:
        SqliteInbox.commit = _forget  # type: ignore[method-assign]
    if given.roll_reports == NEVER:
        rolling.ROLL_BYTES = NEVER

    def reached(point: str) -> None:
        if given.points:
            with given.points.open("a", encoding="utf-8") as file:
                file.write(json.dumps([point, monotonic()]) + "\n")

    options: dict[str, Any] = {"inbox": given.inbox} if given.inbox else {}
    server.serve(given.folder, port=0, roll_every=1e9, roll_reports=given.roll_reports, reached=reached, **options)


if __name__ == "__main__":
    main()
