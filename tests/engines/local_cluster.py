"""A Spark cluster on this machine, its executors in processes of their own: ``python -m engines.local_cluster FOLDER``.

A Java process has one Spark at most, so a test runs this module in a Python of its own. ``FOLDER`` has folders of
report files, whose tallies are written beside them. With ``large`` after it, only the folder of this name is collected.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pyarrow

from engines.making import ITEMS, ON_ENGINES, same_answer
from engines.misfortunes import DoneTwice, ExecutorKilled, GatewayDoneTwice, Unlucky, descendants, listening
from engines.spark_sessions import add_host, classic
from files.making import SMALL
from plausibly.engines import ask, collect, survey
from plausibly.engines.spark import Spark, privatize, tables

SPECULATION = {
    "spark.speculation": "true",
    "spark.speculation.interval": "100ms",
    "spark.speculation.minTaskRuntime": "1s",
    "spark.speculation.quantile": "0.5",
}
"""Spark tries a task again, at another address, when it takes longer than half of the others."""


def everything(session: Any, folder: Path) -> None:
    """All kinds of states, scores, tasks that are done twice, and an executor that is killed."""
    for name in ON_ENGINES:
        collect([folder / name], folder / f"{name}.tally", engine=Spark(session, wave=8))
    assert same_answer(ask([folder / "keys"], ITEMS, engine=Spark(session, wave=8)), ask([folder / "keys"], ITEMS))
    unlucky = Unlucky(Spark(session, wave=8), DoneTwice, folder / "notes of tasks")
    collect([folder / "TLH"], folder / "twice.tally", engine=unlucky)
    gateway = tables.Gateway
    tables.Gateway = lambda *given: GatewayDoneTwice(gateway(*given), folder / "notes of gateways")  # type: ignore
    table = session.createDataFrame(pyarrow.table({"value": [1, 2, 3] * 8})).repartition(4)
    privatize(table, "value", SMALL, folder / "private")
    unlucky = Unlucky(Spark(session, wave=8), ExecutorKilled, folder / "notes of executors")
    collect([folder / "TLH"], folder / "killed.tally", engine=unlucky)
    java = [process for process in descendants(os.getpid()) if "java" in Path(f"/proc/{process}/comm").read_text()]
    print(len(java), *sorted({address for process in java for address in listening(process)}))


def main(folder: Path, *only: str) -> None:
    """Run everything, or collect one folder."""
    survey._TASKS_EACH, survey._REPORTS_PER_CELL = 10**6, 0
    session = classic("local-cluster[1,1,1024]", folder / "spark", SPECULATION)
    add_host(session, "127.0.0.2", folder / "spark" / "other")
    if only:
        collect([folder / only[0]], folder / f"{only[0]}.tally", engine=Spark(session, wave=4))
    else:
        everything(session, folder)
    session.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
