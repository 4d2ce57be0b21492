"""Sessions on a Spark cluster, or on this machine."""

from __future__ import annotations

import os
import sys
from typing import Any

from ..masters import answer_of, expect_java, expect_reachable
from .java import start_java

_LOCAL = {
    "spark.app.name": "plausibly",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.log.level": "ERROR",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}
"""Settings of a Spark that runs on this machine only: Spark otherwise listens to the whole network."""


def connect(master: str) -> Any:
    """A Spark session on the cluster at an address such as ``sc://host:15002``, or on this machine: ``local[2]``."""
    try:
        from pyspark.sql import SparkSession
    except ImportError as error:
        raise ImportError("Spark needs pyspark: pip install pyspark") from error
    if master.startswith("sc://"):
        _expect_answer(master)
        return SparkSession.builder.remote(master).getOrCreate()
    expect_java()
    if master.startswith("spark://"):
        expect_reachable(master, 7077)
    if master.startswith("local"):
        _start_here(master)
    return SparkSession.builder.master(master).getOrCreate()


def _start_here(master: str) -> None:
    # A context in a new Java process, unless there is one already: each Python process has one at most.
    from pyspark import SparkConf, SparkContext

    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    settings = SparkConf().setMaster(master).setAll(list(_LOCAL.items()))
    if SparkContext._gateway is None:
        SparkContext(conf=settings, gateway=start_java(settings))
    else:
        SparkContext.getOrCreate(settings)


def _expect_answer(master: str) -> None:
    # A session would try for ten minutes, and again when the process ends.
    expect_reachable(master, 15002)
    try:
        import grpc
        from pyspark.sql.connect.client import DefaultChannelBuilder
    except ImportError as error:
        raise ImportError("Spark Connect needs more packages: pip install 'pyspark[connect]'") from error
    with DefaultChannelBuilder(master).toChannel() as channel:
        answer_of(grpc.channel_ready_future(channel).result, master)
