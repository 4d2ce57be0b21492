"""Mishaps of operators with a real collector: files that are moved and edited, signals, a disk without room."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from plausibly.service.collector import Collector, opened
from plausibly.service.tokens import Scope, Tokens
from serving import Serving, filed, limit_files, new_key, place, question, serving

pytestmark = pytest.mark.full

ASKED = question()


def created(server: Serving) -> None:
    assert server.request("POST", "/v1/collections", ASKED.document, "admin").status == 201


# --- files ---------------------------------------------------------------------------------------------------------


def test_nothing_is_acknowledged_while_the_folder_is_somewhere_else(tmp_path: Path) -> None:
    folder, elsewhere = tmp_path / "collector", tmp_path / "elsewhere"
    with serving(folder) as server:
        created(server)
        assert server.send(ASKED, new_key(), range(10)) == 201
        folder.rename(elsewhere)
        key = new_key()
        assert server.send(ASKED, key, range(10, 20)) == 503
        assert [server.request("GET", path).status for path in ("/healthz", "/readyz", "/metrics")] == [200, 503, 503]
        shutil.copytree(elsewhere, folder)  # another folder with the same files
        assert server.send(ASKED, key, range(10, 20)) == 503
        assert server.request("GET", "/v1/collections", role="read").status == 503
        shutil.rmtree(folder)
        elsewhere.rename(folder)
        assert server.send(ASKED, key, range(10, 20)) == 201
        server.request("POST", f"{place(ASKED)}/close", role="admin")
        assert server.terminate() == 0
        assert "the file was moved or replaced while the collector runs" in server.logged()
    assert filed(folder, ASKED) == list(range(20))


def test_a_deletion_for_which_the_disk_has_no_room_can_be_repeated(tmp_path: Path) -> None:
    folder = tmp_path / "collector"
    with serving(folder, "--every", "0.2") as server:
        created(server)
        assert server.send(ASKED, new_key(), range(10_000)) == 201
        until = time.monotonic() + 20
        while not filed(folder, ASKED) and time.monotonic() < until:
            time.sleep(0.05)
        limit_files(server.process.pid, 0)
        assert server.request("DELETE", place(ASKED), role="admin").status == 507
        limit_files(server.process.pid, -1)
        server.send(ASKED, new_key(), range(10))
        time.sleep(0.6)  # several rolls are due
        assert server.request("DELETE", place(ASKED), role="admin").status in (204, 404)
        assert server.request("GET", place(ASKED)).status == 404
        assert not [path.name for path in folder.iterdir() if ASKED.id in path.name]
        created(server)
        assert server.send(ASKED, new_key(), range(7)) == 201
        assert server.terminate() == 0
    with serving(folder) as server:
        assert server.request("GET", f"{place(ASKED)}/estimates?item=1", role="read").json["reports"] == 7


def test_files_that_could_not_be_removed_are_not_those_of_the_same_collection_made_again(tmp_path: Path) -> None:
    with opened(tmp_path / "collector") as collector:
        collector.create(ASKED)
        before = collector.account(ASKED.id)
        assert before is not None
        collector.delete(ASKED.id)
        left = tmp_path / "collector" / f".{ASKED.id}.{before.number}.deleted"
        left.mkdir()
        collector.create(ASKED)
    with opened(tmp_path / "collector") as collector:
        assert collector.account(ASKED.id) is not None
        assert not left.exists()


def test_a_deletion_is_not_undone_by_a_request_that_began_before_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(tmp_path / "collector") as collector:
        collector.create(ASKED)
        deleted_while_reading(collector, monkeypatch)
        assert collector.account(ASKED.id) is not None, "the account as it was before the deletion"
        assert collector.known(ASKED.id) is None
        assert collector.account(ASKED.id) is None


def deleted_while_reading(collector: Collector, monkeypatch: pytest.MonkeyPatch) -> None:
    """Delete the collection when the next reader has read its account, and not yet handed it on."""
    view = collector.inbox.view

    class Slow:
        def __init__(self) -> None:
            self.inside = view()

        def __enter__(self) -> object:
            return self.inside.__enter__()

        def __exit__(self, *error: object) -> None:
            self.inside.__exit__(None, None, None)
            monkeypatch.undo()
            collector.delete(ASKED.id)

    monkeypatch.setattr(collector.inbox, "view", Slow)


# --- tokens --------------------------------------------------------------------------------------------------------

DAMAGED = ("", "[", "[1]", "[" * 100_000, "null", "5", '[{"scope": "root", "sha256": "%s", "name": ""}]' % ("0" * 64))


def test_a_damaged_file_of_tokens_lets_nobody_in_and_stops_no_device(tmp_path: Path) -> None:
    folder = tmp_path / "collector"
    with serving(folder, "--behind-proxy") as server:
        created(server)
        whole = (folder / "tokens.json").read_bytes()
        for content in DAMAGED:
            (folder / "tokens.json").write_text(content, encoding="utf-8")
            for path in ("/v1/collections", "/healthz", "/readyz", "/metrics"):
                assert server.request("GET", path, role="admin").status == 503, content[:20]
            assert server.send(ASKED, new_key(), [1]) == 201
        (folder / "tokens.json").unlink()
        assert server.request("GET", "/v1/collections", role="admin").status == 401
        (folder / "tokens.json").write_bytes(whole)
        assert server.request("GET", "/v1/collections", role="admin").status == 200
        assert server.terminate() == 0
        assert "Error" not in server.logged()


def test_tokens_that_are_created_and_revoked_at_once_are_all_there_and_all_gone(tmp_path: Path) -> None:
    def run(*words: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "plausibly", "tokens", *words, "--json"]
        return subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True)

    old = [json.loads(run("create", "collector").communicate()[0]) for _ in range(2)]
    processes = [run("create", "collector") for _ in range(4)]
    processes += [run("revoke", "collector", "--id", each["id"]) for each in old]
    printed = [process.communicate()[0] for process in processes]
    assert [process.returncode for process in processes] == [0] * 6
    tokens = Tokens(tmp_path / "collector" / "tokens.json")
    made = [json.loads(text)["token"] for text in printed[:4]]
    assert [tokens.scope(f"Bearer {token}") for token in made] == [Scope.READ] * 4
    assert [tokens.scope(f"Bearer {each['token']}") for each in old] == [None] * 2


# --- signals -------------------------------------------------------------------------------------------------------


def test_signals_after_the_first_do_not_cut_off_the_orderly_end(tmp_path: Path) -> None:
    with serving(tmp_path / "collector") as server:
        created(server)
        assert server.send(ASKED, new_key(), range(10)) == 201
        until = time.monotonic() + 20
        while "stopped" not in server.logged() and time.monotonic() < until and server.process.poll() is None:
            server.process.send_signal(signal.SIGTERM)
            time.sleep(0.001)
        server.process.wait(20)
        assert "stopped; everything that was acknowledged is stored" in server.logged()


def test_a_collector_that_was_suspended_counts_what_has_arrived_meanwhile(tmp_path: Path) -> None:
    with serving(tmp_path / "collector", "--patience", "0.5") as server, ThreadPoolExecutor() as pool:
        created(server)
        server.process.send_signal(signal.SIGSTOP)
        keys = [new_key() for _ in range(8)]
        first = [pool.submit(server.send, ASKED, key, [number]) for number, key in enumerate(keys)]
        time.sleep(1)  # the deadline of all these requests passes
        assert not any(each.done() for each in first)
        server.process.send_signal(signal.SIGCONT)
        # A connection may be closed unanswered; its sender sends the batch again.
        known = [each.exception() is None and each.result() == 201 for each in first]
        again = [server.send(ASKED, key, [number]) for number, key in enumerate(keys)]
        assert all(status == 200 or (status == 201 and not sure) for status, sure in zip(again, known, strict=True))
        assert server.request("GET", f"{place(ASKED)}/estimates?item=1", role="read").json["reports"] == 8
