"""Clusters that do not answer: a message within seconds."""

from __future__ import annotations

import socket
import sys
import time
from collections.abc import Iterator

import pytest

from plausibly.core.errors import StateError
from plausibly.engines import masters
from plausibly.engines.masters import answer_of, expect_java, expect_reachable, gave_up, without_secrets
from plausibly.engines.spark import connect


@pytest.fixture
def silent() -> Iterator[int]:
    """The port of a server that accepts connections and never says anything."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def closed_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


@pytest.mark.full
@pytest.mark.parametrize("scheme", ["sc", "spark"])
def test_a_master_that_is_not_there_is_named(scheme: str) -> None:
    start = time.monotonic()
    with pytest.raises(StateError, match=rf"{scheme}://127\.0\.0\.1:\d+: .* does not answer \(Connection refused\)"):
        connect(f"{scheme}://127.0.0.1:{closed_port()}")
    assert time.monotonic() - start < 5


@pytest.mark.full
def test_a_master_that_is_something_else_is_given_up(silent: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(masters, "_ANSWERED", 1.0)
    with pytest.raises(StateError, match=rf"sc://127\.0\.0\.1:{silent}: no answer within 1 seconds"):
        connect(f"sc://127.0.0.1:{silent}")


@pytest.mark.parametrize("address", ["sc://", "sc://:15002", "sc://host:port"])
def test_an_address_without_a_machine_is_refused(address: str) -> None:
    with pytest.raises(StateError, match="expected an address like sc://host:15002"):
        expect_reachable(address, 15002)


@pytest.mark.parametrize(
    ("master", "shown"),
    [
        ("sc://host:15002/;token=hush", "sc://host:15002"),
        ("sc://host/;user_id=a;token=hush", "sc://host"),
        ("tcp://user:hu/sh@host:8786", "tcp://host:8786"),
        ("https://host/?token=hush", "https://host"),
        ("k8s://https://host:443", "k8s://https://host:443"),
        ("local[2]", "local[2]"),
    ],
)
def test_the_token_of_a_master_is_not_shown(master: str, shown: str) -> None:
    assert without_secrets(master) == shown


def test_no_refusal_of_a_master_shows_its_token(silent: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(masters, "_ANSWERED", 0.01)
    for address, call in [
        (f"127.0.0.1:{closed_port()}", lambda master: expect_reachable(master, 1)),
        ("127.0.0.1:port", lambda master: expect_reachable(master, 1)),
        (f"127.0.0.1:{silent}", lambda master: answer_of(lambda: time.sleep(0.1), master)),
    ]:
        with pytest.raises(StateError) as raised:
            call(f"sc://user:hush@{address}/;token=hush")
        assert "hush" not in str(raised.value)


def test_answers_and_errors_in_time_are_passed_on() -> None:
    assert answer_of(lambda: 7, "sc://host") == 7
    with pytest.raises(ZeroDivisionError):
        answer_of(lambda: 1 // 0, "sc://host")


@pytest.mark.full
def test_without_java_the_message_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    with pytest.raises(StateError, match=r"needs Java 17 or newer.*apt install openjdk-17"):
        connect("local[2]")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(StateError, match="needs Java 17"):
        expect_java()


def test_without_pyspark_the_message_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyspark.sql", None)
    with pytest.raises(ImportError, match="Spark needs pyspark: pip install pyspark"):
        connect("local[2]")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Traceback …\nModuleNotFoundError: No module named 'plausibly'\n", "cannot import plausibly; install"),
        ("Traceback …\nModuleNotFoundError: No module named 'pyarrow.lib'\n", "cannot import pyarrow; install"),
        (
            "A worker:\nTraceback …\nbuiltins.OSError: the disk is full\n at java",
            "Engine gave up: OSError: the disk is",
        ),
        (
            "Error during deserialization of the task graph. This frequently\noccurs if the Scheduler",
            "the scheduler of Engine cannot load the tasks; install plausibly ",
        ),
        ("Job aborted.\nDriver stacktrace:", "Engine gave up: Job aborted."),
        ("", "Engine gave up: RuntimeError"),
    ],
)
def test_the_last_error_of_a_worker_is_named(text: str, message: str) -> None:
    assert message in str(gave_up("Engine", RuntimeError(text)))
