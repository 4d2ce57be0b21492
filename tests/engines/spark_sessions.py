"""Spark sessions for tests, on the loopback interface only."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping
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


def classic(master: str, folder: Path, settings: Mapping[str, str] = {}) -> Any:
    """A session in a Java process that serves Spark Connect as well. It writes to this folder only."""
    from pyspark.sql import SparkSession

    expect_java()
    os.environ["SPARK_LOCAL_IP"] = LOOPBACK
    os.environ["PYSPARK_PYTHON"] = sys.executable
    # Workers import the faults that tests produce.
    os.environ["PYTHONPATH"] = str(Path(__file__).parents[1])
    own = {"spark.local.dir": str(folder / "local"), "spark.sql.warehouse.dir": str(folder / "warehouse")}
    return SparkSession.builder.master(master).config(map={**SETTINGS, **own, **settings}).getOrCreate()


def remote(session: Any) -> Any:
    """A session over Spark Connect, in the same Java process."""
    from pyspark.sql.connect.session import SparkSession

    return SparkSession.builder.remote(f"sc://{LOOPBACK}:{port_of(session)}").create()


def port_of(session: Any) -> int:
    """The port at which the session's Java process serves Spark Connect."""
    service = getattr(session._jvm, "org.apache.spark.sql.connect.service.SparkConnectService$")
    return int(getattr(service, "MODULE$").localPort())


def add_host(session: Any, host: str, folder: Path) -> None:
    """Add a worker with one executor to a local cluster, at another address of this machine."""
    context = session.sparkContext
    java, state = context._jvm, context._jsc.sc()
    cluster = getattr(getattr(java, "org.apache.spark.deploy.LocalSparkCluster$"), "MODULE$").get().get()
    masters = cluster.getClass().getDeclaredField("masterRpcEnvs")  # the only place that knows the port
    masters.setAccessible(True)
    address = masters.get(cluster).apply(0).address()
    urls = context._gateway.new_array(java.java.lang.String, 1)
    urls[0] = f"spark://{address.host()}:{address.port()}"
    some = java.scala.Option.apply
    worker = getattr(getattr(java, "org.apache.spark.deploy.worker.Worker$"), "MODULE$")
    worker.startRpcEnvAndEndpoint(host, 0, 0, 1, 1024, urls, str(folder), some(9), state.conf(), some(None))
    for _ in range(600):
        if state.getExecutorMemoryStatus().size() == 3:  # of the driver, too
            return
        time.sleep(0.1)
    raise AssertionError("no executor at the other address within a minute")
