"""A backup of a collector that receives and rolls: a restored folder is exact, and retries count what it lacks."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest

import plausibly.service.backup as backing
from plausibly.core.errors import StateError
from plausibly.service.backup import backup
from plausibly.service.collector import Collector, opened
from plausibly.service.inbox import Batch
from serving import Serving, filed, new_key, place, question, records, serving

EACH = 7


def copied(folder: Path, copy: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "plausibly", "backup", str(folder), "--out", str(copy)]
    return subprocess.run(command, capture_output=True, text=True)


def values(number: int) -> range:
    return range(EACH * number, EACH * (number + 1))


@pytest.mark.full
def test_a_backup_of_a_busy_collector_is_exact_at_one_moment(tmp_path: Path) -> None:
    folder, copy, made = tmp_path / "collector", tmp_path / "copy", question()
    keys = [new_key() for _ in range(2000)]
    acknowledged: list[int] = []
    enough, ended = threading.Event(), threading.Event()

    def send(server: Serving) -> None:
        for number, key in enumerate(keys):
            if ended.is_set():
                return
            assert server.send(made, key, values(number)) == 201
            acknowledged.append(number)
            if number == 300:
                enough.set()

    with serving(folder, "--reports", "100", "--every", "0.2") as server:
        server.request("POST", "/v1/collections", made.document, "admin")
        sender = threading.Thread(target=send, args=[server])
        sender.start()
        assert enough.wait(60)
        before = list(acknowledged)
        done = copied(folder, copy)
        assert (done.returncode, done.stderr) == (0, "")
        after = len(acknowledged)
        ended.set()
        sender.join(60)
        server.kill()
    assert len(list((copy / made.id / "reports").iterdir())) > 1, "it rolled before the backup"
    assert after > len(before), "it received during the backup"
    assert not any(path.stat().st_mode & 0o77 for path in (copy, *copy.glob("*.*"))), "for its owner alone"

    with serving(copy, "--reports", "100", "--every", "0.2") as server:
        reports = server.request("GET", "/v1/collections", role="read").json["collections"][0]["reports"]
        kept = reports // EACH
        assert len(before) <= kept <= len(acknowledged)
        # Devices without an answer send again; here all do. Those in the backup are known, the lost ones count now.
        statuses = [server.send(made, keys[number], values(number)) for number in acknowledged]
        assert (statuses.count(200), statuses.count(201)) == (kept, len(acknowledged) - kept)
        assert server.request("POST", f"{place(made)}/close", role="admin").status == 200
        assert server.request("GET", f"{place(made)}/estimates?top=1", role="read").json["reports"] == EACH * len(
            acknowledged
        )
    assert filed(copy, made) == sorted(value for number in acknowledged for value in values(number))


def test_a_backup_refuses_a_folder_that_has_files_and_one_that_is_no_collector(tmp_path: Path) -> None:
    folder, full = tmp_path / "collector", tmp_path / "full"
    full.mkdir()
    with pytest.raises(StateError, match="there is no such file; expected the folder of a collector"):
        backup(full, tmp_path / "copy")
    with opened(folder) as collector:
        collector.create(question())
    (full / "file").touch()
    with pytest.raises(StateError, match="expected a new folder for the copy"):
        backup(folder, full)
    assert [account.collection for account in backup(folder, tmp_path / "copy")] == [question()]


def test_a_tally_that_is_newer_than_the_copied_inbox_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, folder = question(), tmp_path / "collector"

    def filled(collector: Collector, numbers: range) -> None:
        for number in numbers:
            batch = Batch(bytes.fromhex(new_key()), records(made, values(number)), EACH)
            collector.writer.run(lambda batch=batch: collector.inbox.commit({made.id: [batch]})).result()
        collector.roller.roll(made.id)

    with opened(folder) as collector:
        collector.create(made)
        filled(collector, range(3))
        # The inbox is copied, then the collector rolls, and only then its files are copied.
        monkeypatch.setattr(backing, "opened", lambda path: (filled(collector, range(3, 5)), opened(path))[1])
        (account,) = backup(folder, tmp_path / "copy")
    assert account.received == 3 * EACH
    assert len(filed(folder, made)) == 5 * EACH
    assert filed(tmp_path / "copy", made) == list(range(3 * EACH))
    with opened(tmp_path / "copy") as restored:
        assert len(restored.answers.state(made.id).tally) == 3 * EACH
