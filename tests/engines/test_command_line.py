"""The commands on real clusters: the bytes of this machine, or one message and nothing left behind."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import plausibly
from engines.making import names
from engines.spark_sessions import LOOPBACK, port_of
from files.making import group_size, small_file
from plausibly import Keys
from plausibly.cli import app
from plausibly.cli.collect import _KEPT
from plausibly.engines import collect
from plausibly.engines.spark.java import pass_on
from plausibly.files import Collected, read_tally, write_reports


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
@pytest.mark.xdist_group("spark here")
def test_spark_on_this_machine_prints_no_notices(folder: Path, tmp_path: Path) -> None:
    collect([folder], tmp_path / "threads.tally")
    out = tmp_path / "spark.tally"
    code, shown, told = run("collect", folder, "--out", out, "--engine", "spark", "--master", "local[2]")
    assert (code, told) == (0, "")
    assert "added   68 reports" in shown
    assert out.read_bytes() == (tmp_path / "threads.tally").read_bytes()


def test_errors_of_java_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    notices = [
        "WARNING: Using incubator modules: jdk.incubator.vector",
        "26/11/18 01:00:03 WARN NativeCodeLoader: Unable",
    ]
    errors = ["26/11/18 01:00:03 ERROR SparkContext: Failed", "# There is insufficient memory for Java to continue."]
    reader, writer = os.pipe()
    with open(writer, "w") as pipe:
        pipe.write("".join(f"{line}\n" for line in (*notices, *errors)))
    pass_on(reader)
    assert capsys.readouterr().err.splitlines() == errors


@pytest.mark.full
@pytest.mark.xdist_group("spark")
def test_estimate_asks_reports_on_spark_connect(spark: Any, tmp_path: Path) -> None:
    scheme = plausibly.make("OLH", epsilon=1, domain=Keys())
    write_reports(tmp_path / "keys.parquet", scheme, scheme.privatize(["cat", "dog"] * 50))
    words = ["estimate", str(tmp_path / "keys.parquet"), "--items", "cat,dog", "--json"]
    there = run(*words, "--engine", "spark", "--master", f"sc://{LOOPBACK}:{port_of(spark)}")
    assert there == (0, CliRunner().invoke(app, words).stdout, "")


# The command, which saves after each wave, and whose waves are small.
STEP_BY_STEP = """
from plausibly.cli import app
from plausibly.engines import collecting, masters, pacing, survey
collecting.collect.__kwdefaults__["save_every"] = 0
survey._TASKS_EACH, survey._REPORTS_PER_CELL = 10**6, 0
pacing._SHORT = 0
masters._ANSWERED = 1
app()
"""


@pytest.mark.full
@pytest.mark.xdist_group("spark")
@pytest.mark.parametrize(
    ("sign", "code", "said"), [(signal.SIGINT, 130, f"{_KEPT}\n"), (signal.SIGKILL, -9, "")], ids=["Ctrl-C", "kill"]
)
def test_a_command_on_spark_that_is_stopped_goes_on_where_it_was(
    sign: int, code: int, said: str, spark: Any, tmp_path: Path
) -> None:
    folder, out, unfinished = tmp_path / "reports", tmp_path / "x.tally", tmp_path / "x.tally.unfinished"
    folder.mkdir()
    small_file(folder / "0.parquet", 600)
    words = ["collect", str(folder), "--out", str(out)]
    master = ["--engine", "spark", "--master", f"sc://{LOOPBACK}:{port_of(spark)}"]
    line = [sys.executable, "-c", STEP_BY_STEP, *words, *master]
    command = subprocess.Popen(line, stderr=subprocess.PIPE, start_new_session=True, text=True)
    for _ in range(6000):
        if unfinished.exists() or command.poll() is not None:
            break
        time.sleep(0.01)
    os.killpg(command.pid, sign)
    told = command.communicate(timeout=60)[1]
    assert (command.returncode, told) == (code, said)
    assert not out.exists()
    saved = len(Collected.read(unfinished, complete=False))
    assert 0 < saved < 600
    again = CliRunner().invoke(app, [*words, "--json"])
    assert again.exit_code == 0, again.stderr
    assert {"resumed": saved, "added": 600 - saved}.items() <= json.loads(again.stdout).items()
    collect([folder], tmp_path / "threads.tally")
    assert out.read_bytes() == (tmp_path / "threads.tally").read_bytes()
    assert names(tmp_path) == ["reports", "threads.tally", "x.tally"]


@pytest.mark.full
@pytest.mark.parametrize(("engine", "kind"), [("spark", "sc"), ("dask", "tcp")])
def test_a_master_that_says_nothing_ends_the_command_soon(engine: str, kind: str, folder: Path, tmp_path: Path) -> None:
    with socket.create_server((LOOPBACK, 0)) as silent:
        master = f"{kind}://{LOOPBACK}:{silent.getsockname()[1]}"
        words = ["collect", str(folder), "--out", str(tmp_path / "x.tally"), "--engine", engine, "--master", master]
        start = time.monotonic()
        ended = subprocess.run(
            [sys.executable, "-c", STEP_BY_STEP, *words], capture_output=True, text=True, timeout=100, check=False
        )
        assert time.monotonic() - start < 20
        silent.accept()[0].close()  # somebody has asked
    assert (ended.returncode, ended.stdout) == (1, "")
    told = " ".join(ended.stderr.split())
    assert f"{master}: no answer within 1 seconds; check that a cluster is running there" in told
    assert names(tmp_path) == ["reports"]


def in_dask(*words: object, client: Any) -> list[str]:
    return [*map(str, words), "--engine", "dask", "--master", client.scheduler.address]


@pytest.mark.full
@pytest.mark.xdist_group("dask")
def test_the_commands_on_dask_give_the_answers_of_threads(client: Any, folder: Path, tmp_path: Path) -> None:
    collect([folder], tmp_path / "threads.tally")
    out = tmp_path / "dask.tally"
    assert CliRunner().invoke(app, in_dask("collect", folder, "--out", out, client=client)).exit_code == 0
    assert out.read_bytes() == (tmp_path / "threads.tally").read_bytes()
    scheme = plausibly.make("OLH", epsilon=1, domain=Keys())
    write_reports(tmp_path / "keys.parquet", scheme, scheme.privatize(["cat", "dog"] * 50))
    words = ["estimate", str(tmp_path / "keys.parquet"), "--items", "cat,dog", "--json"]
    there = CliRunner().invoke(app, in_dask(*words, client=client))
    assert (there.exit_code, there.stdout) == (0, CliRunner().invoke(app, words).stdout)


@pytest.mark.full
@pytest.mark.xdist_group("dask")
def test_ctrl_c_on_dask_ends_with_one_message_and_the_next_call_goes_on(
    client: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    group_size(monkeypatch, 20_000)
    scheme = plausibly.make("OLH", epsilon=1, domain_size=5000)
    write_reports(tmp_path / "0.parquet", scheme, scheme.privatize([3] * 800_000))
    out = tmp_path / "x.tally"
    words = [sys.executable, "-m", "plausibly", *in_dask("collect", tmp_path, "--out", out, client=client)]
    ended = subprocess.Popen(words, stderr=subprocess.PIPE, start_new_session=True, text=True)
    folding = False
    for _ in range(600):
        folding = any(str(key).startswith("run-") for keys in client.processing().values() for key in keys)
        if folding or ended.poll() is not None:
            break
        time.sleep(0.05)
    os.killpg(ended.pid, signal.SIGINT)
    told = ended.communicate(timeout=60)[1]
    assert folding
    assert (ended.returncode, told) == (130, f"{_KEPT}\n")
    assert not out.exists()
    assert CliRunner().invoke(app, ["collect", str(tmp_path), "--out", str(out)]).exit_code == 0
    assert len(read_tally(out)) == 800_000
    assert names(tmp_path) == ["0.parquet", "x.tally"]


def refused(folder: Path, tmp_path: Path, *words: str) -> str:
    """What a collection says that is refused, and that leaves nothing behind."""
    ended = CliRunner().invoke(app, ["collect", str(folder), "--out", str(tmp_path / "x.tally"), *words])
    assert isinstance(ended.exception, SystemExit), ended.exception
    assert (ended.exit_code, ended.stdout) == (1, "")
    assert names(tmp_path) == ["reports"]
    return " ".join(ended.stderr.split())


@pytest.mark.full
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
    assert f"pip install {package}" in refused(
        folder, tmp_path, "--engine", engine, "--master", "sc://a" if engine == "spark" else "tcp://a"
    )


@pytest.mark.full
def test_java_that_is_absent_is_named(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyspark")
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    told = refused(folder, tmp_path, "--engine", "spark", "--master", "local")
    assert "needs Java 17 or newer" in told
