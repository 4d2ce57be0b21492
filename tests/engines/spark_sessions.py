"""Spark sessions for tests, on the loopback interface only."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from plausibly.engines.masters import expect_java

LOOPBACK = "127.0.0.1"
SETTINGS = {
    "spark.driver.bindAddress": LOOPBACK,
    "spark.driver.host": LOOPBACK,
    "spark.driver.memory": "1g",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "OFF",  # tasks fail on purpose
    "spark.plugins": "org.apache.spark.sql.connect.SparkConnectPlugin",
    "spark.connect.grpc.binding.address": LOOPBACK,
    "spark.connect.grpc.binding.port": "0",
    "spark.sql.shuffle.partitions": "4",
}


def classic(master: str, folder: Path) -> Any:
    """A session in a Java process that serves Spark Connect as well. It writes to this folder only."""
    from pyspark.sql import SparkSession

    expect_java()
    os.environ["SPARK_LOCAL_IP"] = LOOPBACK
    os.environ["PYSPARK_PYTHON"] = sys.executable
    # Workers import the faults that tests produce.
    os.environ["PYTHONPATH"] = str(Path(__file__).parents[1])
    own = {"spark.local.dir": str(folder / "local"), "spark.sql.warehouse.dir": str(folder / "warehouse")}
    return SparkSession.builder.master(master).config(map={**SETTINGS, **own}).getOrCreate()


def remote(session: Any) -> Any:
    """A session over Spark Connect, in the same Java process."""
    from pyspark.sql.connect.session import SparkSession

    return SparkSession.builder.remote(f"sc://{LOOPBACK}:{port_of(session)}").create()


def port_of(session: Any) -> int:
    """The port at which the session's Java process serves Spark Connect."""
    service = getattr(session._jvm, "org.apache.spark.sql.connect.service.SparkConnectService$")
    return int(getattr(service, "MODULE$").localPort())
