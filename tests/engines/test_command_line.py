"""The commands on real clusters: the bytes of this machine, or one message and nothing left behind."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import plausibly
from engines.making import names
from engines.spark_sessions import LOOPBACK, port_of
from plausibly import Keys
from plausibly.cli import app
from plausibly.engines import collect
from plausibly.files import write_reports


def run(*words: object, **variables: str) -> tuple[int, str, str]:
    """Exit code and output of a command in a process of its own: a session of Spark belongs to its process."""
    line = [sys.executable, "-m", "plausibly", *map(str, words)]
    ended = subprocess.run(
        line, env={**os.environ, **variables}, capture_output=True, text=True, timeout=100, check=False
    )
    return ended.returncode, ended.stdout, ended.stderr


@pytest.mark.full
@pytest.mark.xdist_group("spark")
def test_collect_on_spark_connect_gives_the_bytes_of_threads(spark: Any, folder: Path, tmp_path: Path) -> None:
    collect([folder], tmp_path / "threads.tally")
    out, master = tmp_path / "spark.tally", f"sc://{LOOPBACK}:{port_of(spark)}"
    code, shown, told = run("collect", folder, "--out", out, "--engine", "spark", "--master", master)
    assert code == 0, told
    assert "added   68 reports" in shown
    assert out.read_bytes() == (tmp_path / "threads.tally").read_bytes()
    assert names(tmp_path) == ["reports", "spark.tally", "threads.tally"]
    assert told == ""
    # Nothing is new, so nobody is asked.
    words = ["collect", str(folder), "--out", str(out), "--engine", "spark", "--master", "sc://127.0.0.1:1"]
    assert CliRunner().invoke(app, words).exit_code == 0


@pytest.mark.full
@pytest.mark.xdist_group("spark")
def test_estimate_asks_reports_on_spark_connect(spark: Any, tmp_path: Path) -> None:
    scheme = plausibly.make("OLH", epsilon=1, domain=Keys())
    write_reports(tmp_path / "keys.parquet", scheme, scheme.privatize(["cat", "dog"] * 50))
    words = ["estimate", str(tmp_path / "keys.parquet"), "--items", "cat,dog", "--json"]
    there = run(*words, "--engine", "spark", "--master", f"sc://{LOOPBACK}:{port_of(spark)}")
    assert there == (0, CliRunner().invoke(app, words).stdout, "")


def refused(folder: Path, tmp_path: Path, *words: str) -> str:
    """What a collection says that is refused, and that leaves nothing behind."""
    ended = CliRunner().invoke(app, ["collect", str(folder), "--out", str(tmp_path / "x.tally"), *words])
    assert isinstance(ended.exception, SystemExit), ended.exception
    assert (ended.exit_code, ended.stdout) == (1, "")
    assert names(tmp_path) == ["reports"]
    return " ".join(ended.stderr.split())


def test_a_master_that_nobody_serves_is_named(folder: Path, tmp_path: Path) -> None:
    pytest.importorskip("pyspark")
    told = refused(folder, tmp_path, "--engine", "spark", "--master", "sc://127.0.0.1:1")
    assert "sc://127.0.0.1:1: 127.0.0.1 port 1 does not answer" in told
    assert "start the cluster there" in told


@pytest.mark.parametrize(("engine", "package"), [("spark", "pyspark"), ("dask", "distributed")])
def test_a_package_that_is_absent_is_named(
    engine: str, package: str, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in (package, "pyspark.sql"):
        monkeypatch.setitem(sys.modules, name, None)
    assert f"pip install {package}" in refused(folder, tmp_path, "--engine", engine, "--master", "local")


def test_java_that_is_absent_is_named(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyspark")
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    told = refused(folder, tmp_path, "--engine", "spark", "--master", "local")
    assert "needs Java 17 or newer" in told
