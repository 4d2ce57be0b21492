"""The end of a real collector: within ten seconds, whatever is under way, and with everything that was acknowledged."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from plausibly.core.errors import StateError
from plausibly.service.collections import Collection
from plausibly.service.collector import opened
from plausibly.service.folder import Folder
from plausibly.service.rolling import POINTS
from plausibly.service.tokens import Scope, create_token
from serving import Answer, Serving, filed, new_key, place, port_of, question, serving

pytestmark = pytest.mark.full

ASKED = question()


def created(server: Serving, collection: Collection = ASKED) -> str:
    assert server.request("POST", "/v1/collections", collection.document, "admin").status == 201
    return place(collection)


def eventually(met: Callable[[], bool]) -> None:
    until = time.monotonic() + 30
    while not met():
        assert time.monotonic() < until
        time.sleep(0.01)


def end(server: Serving) -> None:
    """Stop the collector, which has ten seconds."""
    begun = time.monotonic()
    assert server.terminate() == 0
    assert time.monotonic() - begun < 10
    assert "stopped; everything that was acknowledged is stored" in server.logged()
    for sign in ("Traceback", "exception", "Exception"):
        assert sign not in server.logged()


def expect_cut_off(answer: Answer) -> None:
    assert (answer.status, answer.headers["retry-after"]) == (503, "2")
    assert "is being stopped" in answer.json["detail"]


def test_the_end_does_not_wait_for_a_slow_answer(tmp_path: Path) -> None:
    folder = tmp_path / "collector"
    with serving(folder, "--slow-answers", "60") as server, ThreadPoolExecutor() as pool:
        where = created(server)
        assert server.send(ASKED, new_key(), range(5)) == 201
        slow = [pool.submit(server.request, "GET", f"{where}/estimates", role="read") for _ in range(2)]
        eventually(lambda: server.logged().count("answering") == 2)
        assert server.send(ASKED, new_key(), range(5, 9)) == 201
        end(server)
        for each in slow:
            expect_cut_off(each.result())
    with opened(folder) as collector:
        assert len(collector.answers.state(ASKED.id).tally) == 9


def test_the_command_ends_too(tmp_path: Path) -> None:
    folder, log = tmp_path / "collector", tmp_path / "log"
    with opened(folder) as collector:
        collector.create(ASKED)
    reader = create_token(folder / "tokens.json", Scope.READ)
    slow = "import time; from plausibly.service.answers import Answers; from plausibly.cli import app\n"
    slow += "Answers.estimates = lambda *given: (print('answering', flush=True), time.sleep(60))\n"
    command = [sys.executable, "-c", f"{slow}app(['serve', {str(folder)!r}, '--port', '0', '--json'])"]
    with log.open("wb") as file, subprocess.Popen(command, stdout=file, stderr=file) as process:
        server = Serving(process, port_of(process, log), log, {"read": reader})
        with ThreadPoolExecutor() as pool:
            answer = pool.submit(server.request, "GET", f"{place(ASKED)}/estimates", role="read")
            eventually(lambda: "answering" in server.logged())
            end(server)
            expect_cut_off(answer.result())


@pytest.mark.parametrize(
    "point", [each if each == "linked" else pytest.param(each, marks=pytest.mark.slow) for each in POINTS]
)
def test_the_end_does_not_wait_for_the_roll_of_a_close(point: str, tmp_path: Path) -> None:
    folder = tmp_path / "collector"
    with serving(folder, "--hang-at", point) as server, ThreadPoolExecutor() as pool:
        where = created(server)
        assert server.send(ASKED, new_key(), range(500)) == 201
        closing_it = pool.submit(server.request, "POST", f"{where}/close", role="admin")
        eventually(lambda: "hanging" in server.logged())
        assert server.send(ASKED, new_key(), range(5)) == 410
        end(server)
        expect_cut_off(closing_it.result())
    with serving(folder, "--every", "0.1") as server:
        eventually(lambda: filed(folder, ASKED) == list(range(500)))
        assert server.request("GET", f"{where}/estimates", role="read").json["reports"] == 500
        end(server)


def test_the_end_does_not_wait_for_a_roll_by_itself(tmp_path: Path) -> None:
    folder = tmp_path / "collector"
    with serving(folder, "--every", "0.1", "--hang-at", "written") as server:
        created(server)
        assert server.send(ASKED, new_key(), range(500)) == 201
        eventually(lambda: "hanging" in server.logged())
        end(server)
    with opened(folder) as collector:
        assert len(collector.answers.state(ASKED.id).tally) == 500


def test_the_end_does_not_wait_for_a_tool_that_holds_the_inbox(tmp_path: Path) -> None:
    folder, key = tmp_path / "collector", new_key()
    with serving(folder) as server, ThreadPoolExecutor() as pool:
        where = created(server)
        assert server.send(ASKED, new_key(), range(5)) == 201
        with closing(sqlite3.connect(folder / "inbox.db", isolation_level=None)) as tool:
            tool.execute("BEGIN IMMEDIATE")
            waiting = pool.submit(server.request, "POST", f"{where}/reports/{key}", b"\x05\x00\x06\x00")
            time.sleep(0.5)  # if it has not arrived by then, the connection is refused
            end(server)
        expect_cut_off(waiting.result())
    with serving(folder) as server:
        assert server.request("GET", f"{where}/estimates", role="read").json["reports"] == 5
        assert server.send(ASKED, key, range(5, 7)) == 201
        assert server.request("POST", f"{where}/close", role="admin").status == 200
        end(server)
    assert filed(folder, ASKED) == list(range(7))


def is_locked(folder: Path) -> bool:
    try:
        with Folder(folder).locked():
            return False
    except StateError:
        return True


def test_the_folder_is_locked_until_a_thread_that_was_left_behind_has_ended(tmp_path: Path) -> None:
    # Its roll would write files beside those of the next collector.
    folder = tmp_path / "collector"
    with serving(folder, "--hang-at", "written") as server, ThreadPoolExecutor() as pool:
        where = created(server)
        assert server.send(ASKED, new_key(), range(5)) == 201
        pool.submit(server.request, "POST", f"{where}/close", role="admin")
        eventually(lambda: "hanging" in server.logged())
        server.process.terminate()
        while is_locked(folder):
            time.sleep(0.005)
        assert server.process.wait(1) == 0
