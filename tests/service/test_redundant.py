"""Two collectors on one PostgreSQL database: exact together, whichever of them, or the database, goes away."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from bench.database import PASSWORD, Server

from plausibly.core.errors import ParameterError, StateError
from plausibly.files import Collected
from plausibly.service.backup import backup
from plausibly.service.collections import Collection
from plausibly.service.collector import Collector, opened
from plausibly.service.inbox import Batch, Outcome
from plausibly.service.rolling import POINTS
from serving import GoneError, Serving, filed, new_key, place, question, records, serving
from stores import Database, execute

ASKED = question()

pytestmark = pytest.mark.full


def batch(collection: Collection, values: range) -> Batch:
    return Batch(bytes.fromhex(new_key()), records(collection, values), len(values))


def committed(collector: Collector, *batches: Batch) -> list[Outcome]:
    return collector.writer.run(lambda: collector.inbox.commit({ASKED.id: batches})).result()[ASKED.id]


def created(server: Serving, collection: Collection) -> str:
    assert server.request("POST", "/v1/collections", collection.document, "admin").status == 201
    return place(collection)


def reports(server: Serving, collection: Collection) -> int:
    found = server.request("GET", f"{place(collection)}/estimates?item=1", role="read")
    assert found.status == 200, server.logged()
    return int(found.json["reports"])


def eventually(happened: Callable[[], bool]) -> None:
    until = time.monotonic() + 30
    while not happened():
        assert time.monotonic() < until
        time.sleep(0.01)


def expect_exact(folder: Path, collection: Collection, count: int) -> None:
    assert filed(folder, collection) == list(range(count))
    tally = Collected.read(folder / collection.id / "collected.tally").tally
    assert [int(each) for each in tally.evidence.ravel()][: count + 1] == [1] * count + [0]


# --- two inboxes ---------------------------------------------------------------------------------------------------


def test_the_same_keys_at_the_same_time_are_new_to_one_inbox_only(address: str) -> None:
    store = Database(address)
    inboxes = [store.open() for _ in range(3)]
    # In opposite orders: each commit holds several collections, and none may wait for the other forever.
    asked = [question(f"{number}") for number in range(3)]
    for each in asked:
        inboxes[0].create(each)
    batches = {each.id: [batch(each, range(2 * at, 2 * at + 2)) for at in range(60)] for each in asked}
    begin = threading.Barrier(len(inboxes))

    def send(number: int) -> list[Outcome]:
        source, found = random.Random(number), []
        begin.wait(10)
        for _ in range(20):
            names = source.sample(list(batches), 3)
            arrived = {name: source.sample(batches[name], 9) for name in names}
            found += [each for outcomes in inboxes[number].commit(arrived).values() for each in outcomes]
        return found

    with ThreadPoolExecutor(len(inboxes)) as pool:
        outcomes = [each for found in pool.map(send, range(len(inboxes))) for each in found]
    with inboxes[0].view() as view:
        sent = sum(account.received for account in view.accounts())
        rows = [b"".join(view.pending(account)) for account in view.accounts()]
    new = outcomes.count(Outcome.NEW)
    assert outcomes.count(Outcome.REPEATED) == len(outcomes) - new > new > 150
    assert sent == 2 * new == sum(map(len, rows)) // 2
    assert all(len({row[at : at + 2] for at in range(0, len(row), 2)}) == len(row) // 2 for row in rows), (
        "no report twice"
    )
    store.open()
    store.close()


def test_the_cap_holds_for_all_collectors_together(address: str) -> None:
    store, capped = Database(address), question("capped", cap=100)
    inboxes = [store.open() for _ in range(2)]
    inboxes[0].create(capped)

    def send(number: int) -> list[Outcome]:
        return [inboxes[number].commit({capped.id: [batch(capped, range(3))]})[capped.id][0] for _ in range(30)]

    with ThreadPoolExecutor(2) as pool:
        outcomes = [each for found in pool.map(send, range(2)) for each in found]
    assert (outcomes.count(Outcome.NEW), outcomes.count(Outcome.CAPPED)) == (33, 27)
    store.close()


def test_two_collectors_make_the_tables_and_a_collection_at_the_same_time(address: str) -> None:
    begin = threading.Barrier(4)

    def start(number: int) -> bool:
        begin.wait(10)
        store = Database(address)
        made = store.open().create(ASKED)
        store.close()
        return made

    with ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(start, range(4))) == [False, False, False, True]


# --- one process that is both --------------------------------------------------------------------------------------


def test_answers_and_rolls_of_two_collectors_agree(address: str, tmp_path: Path) -> None:
    with opened(tmp_path, inbox=address) as one, opened(tmp_path, inbox=address) as two:
        one.create(ASKED)
        for number in range(8):
            assert committed((one, two)[number % 2], batch(ASKED, range(50 * number, 50 * number + 50)))
            if number % 3 == 2:
                (two, one)[number % 2].roller.roll(ASKED.id)
            tallies = [each.answers.state(ASKED.id).tally.to_bytes() for each in (one, two)]
            assert tallies[0] == tallies[1]
        with ThreadPoolExecutor(6) as pool:
            rolls = [pool.submit(each.roller.roll, ASKED.id) for each in (one, two) * 2]
            asked = [pool.submit(each.answers.state, ASKED.id) for each in (one, two)]
        assert sum(each.result() for each in rolls) == 100
        assert [len(each.result().tally) for each in asked] == [400, 400]
    expect_exact(tmp_path, ASKED, 400)


def test_a_collection_that_was_deleted_and_made_again_by_the_other_begins_anew(address: str, tmp_path: Path) -> None:
    with opened(tmp_path, inbox=address) as one, opened(tmp_path, inbox=address) as two:
        for collector, other in ((one, two), (two, one)):
            collector.create(ASKED)
            committed(collector, batch(ASKED, range(10)))
            collector.roller.roll(ASKED.id)
            committed(other, batch(ASKED, range(10, 15)))
            assert [len(each.answers.state(ASKED.id).tally) for each in (one, two)] == [15, 15]
            other.delete(ASKED.id)
            assert collector.account(ASKED.id) is None
            assert committed(collector, batch(ASKED, range(3))) == [Outcome.UNKNOWN]
        one.create(ASKED)
        committed(two, batch(ASKED, range(4)))
        assert [len(each.answers.state(ASKED.id).tally) for each in (one, two)] == [4, 4]
    assert not (tmp_path / ASKED.id).exists()


def test_a_deletion_that_was_cut_off_is_completed_and_never_hits_a_collection_made_since(
    address: str, tmp_path: Path
) -> None:
    with opened(tmp_path, inbox=address) as one, opened(tmp_path, inbox=address) as two:
        one.create(ASKED)
        committed(one, batch(ASKED, range(10)))
        one.roller.roll(ASKED.id)
        first = one.accounts()[0].number
        one.folder.set_aside(ASKED.id, first)  # and then it ended
        two.roller.complete_deletions()
        assert (one.accounts(), list(tmp_path.glob(".*"))) == ([], [])
        two.create(ASKED)
        committed(two, batch(ASKED, range(5)))
        (tmp_path / f".{ASKED.id}.{first}.deleted").mkdir()
        one.roller.complete_deletions()
        assert [account.received for account in two.accounts()] == [5]
        assert list(tmp_path.glob(".*")) == []


def test_a_backup_of_a_database_is_a_folder_that_can_be_served(address: str, tmp_path: Path) -> None:
    folder, copy = tmp_path / "collector", tmp_path / "copy"
    known = batch(ASKED, range(20, 30))
    with opened(folder, inbox=address) as collector:
        collector.create(ASKED)
        committed(collector, batch(ASKED, range(20)))
        collector.roller.roll(ASKED.id)
        backup(folder, tmp_path / "rolled", address)
        committed(collector, known)
        (account,) = backup(folder, copy, address)
        assert account.received == 30
        committed(collector, batch(ASKED, range(30, 40)))
        collector.roller.roll(ASKED.id)
    with opened(copy) as restored:
        assert committed(restored, known) == [Outcome.REPEATED]
        assert committed(restored, batch(ASKED, range(30, 35))) == [Outcome.NEW]
        restored.close(ASKED.id)
    expect_exact(copy, ASKED, 35)
    with opened(tmp_path / "rolled") as restored:
        assert committed(restored, known) == [Outcome.NEW]


# --- refusals ------------------------------------------------------------------------------------------------------


def test_a_folder_belongs_to_one_database(address: str, tmp_path: Path) -> None:
    folder, other = tmp_path / "collector", tmp_path / "other"
    with opened(folder, inbox=address) as collector:
        collector.create(ASKED)
        committed(collector, batch(ASKED, range(10)))
        collector.roller.roll(ASKED.id)
    with pytest.raises(StateError, match="all its collectors share one"), opened(other, inbox=address):
        pass
    with pytest.raises(StateError, match="its inbox is in a database; give its address"), opened(folder):
        pass
    execute(address, "DROP SCHEMA plausibly CASCADE")
    with pytest.raises(StateError, match="all its collectors share one"), opened(folder, inbox=address):
        pass
    with opened(tmp_path / "file"):
        pass
    with pytest.raises(StateError, match="has an inbox of its own"), opened(tmp_path / "file", inbox=address):
        pass


def test_databases_that_cannot_keep_reports_are_refused(postgres: Server, address: str, tmp_path: Path) -> None:
    execute(address, "DROP DATABASE IF EXISTS ascii")
    execute(address, "CREATE DATABASE ascii ENCODING 'SQL_ASCII' TEMPLATE template0")
    with pytest.raises(StateError, match="expected a database with the encoding UTF8, got SQL_ASCII; make another"):
        Database(postgres.address("ascii")).open()
    execute(address, "DROP DATABASE ascii")
    execute(address, "CREATE SCHEMA plausibly")
    with pytest.raises(StateError, match="expected an inbox of version 1 in the schema plausibly, got another"):
        Database(address).open()
    execute(address, "DROP SCHEMA plausibly")
    for setting in ("fsync", "full_page_writes"):
        execute(address, f"ALTER SYSTEM SET {setting} = off")
        execute(address, "SELECT pg_reload_conf()")
        try:
            eventually(lambda setting=setting: execute(address, f"SHOW {setting}") == [("off",)])  # type: ignore[misc]
            with pytest.raises(StateError, match=f"expected the setting {setting} = on"):
                Database(address).open()
        finally:
            execute(address, f"ALTER SYSTEM RESET {setting}")
            execute(address, "SELECT pg_reload_conf()")
        eventually(lambda setting=setting: execute(address, f"SHOW {setting}") == [("on",)])  # type: ignore[misc]


def test_commits_are_durable_whatever_the_database_does_by_default(address: str) -> None:
    execute(address, "ALTER DATABASE postgres SET synchronous_commit = off")
    try:
        assert execute(address, "SHOW synchronous_commit") == [("off",)]
        store = Database(address)
        with store.open()._transaction() as connection:
            assert connection.execute("SHOW synchronous_commit").fetchone() == ("on",)
        store.close()
    finally:
        execute(address, "ALTER DATABASE postgres RESET synchronous_commit")


@pytest.mark.parametrize(
    ("spoilt", "kind", "message"),
    [
        (lambda address: address.replace(f":{PASSWORD}@", f":not-{PASSWORD}@"), StateError, "authentication failed"),
        (lambda address: address.rpartition(":")[0] + ":1/postgres", StateError, "is the server running"),
        (lambda address: address.rpartition("/")[0] + "/nothing", StateError, "does not exist"),
        (lambda address: address + "?nonsense=1", ParameterError, "expected an address such as postgresql://name@host"),
        (lambda address: address.replace("@", "%zz@"), ParameterError, "expected an address such as"),
        (lambda address: address.replace("postgresql:", "mysql:"), ParameterError, "expected an address such as"),
    ],
)
def test_a_password_is_never_told(
    address: str, spoilt: Callable[[str], str], kind: type[Exception], message: str, tmp_path: Path
) -> None:
    with pytest.raises(kind, match=message) as raised, opened(tmp_path / "collector", inbox=spoilt(address)):
        pass
    assert PASSWORD not in str(raised.value) + repr(raised.value)
    assert raised.value.__cause__ is None
    if kind is ParameterError and "nonsense" not in spoilt(address):
        return
    command = [sys.executable, "-m", "plausibly", "serve", str(tmp_path / "collector"), "--inbox", spoilt(address)]
    ended = subprocess.run([*command, "--port", "0"], capture_output=True, text=True, timeout=60)
    assert ended.returncode == (2 if kind is ParameterError else 1)
    told = " ".join((ended.stdout + ended.stderr).split())
    assert message.split()[0] in told
    assert PASSWORD not in told


def test_without_psycopg_the_fix_is_told(tmp_path: Path) -> None:
    program = (
        "import sys; sys.modules['psycopg'] = None\n"
        "from plausibly.cli import app\n"
        f"app(['collections', 'list', {str(tmp_path)!r}, '--inbox', 'postgresql://x@127.0.0.1/x'])"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert ended.returncode == 1
    assert "an inbox in PostgreSQL needs psycopg: pip install 'psycopg[binary]'" in " ".join(ended.stderr.split())


# --- processes -----------------------------------------------------------------------------------------------------


@pytest.mark.full
@pytest.mark.parametrize("cycles", [3, pytest.param(40, marks=pytest.mark.slow)])
def test_kills_of_one_collector_while_eight_writers_send_to_both_lose_and_repeat_nothing(
    address: str, tmp_path: Path, cycles: int
) -> None:
    folder, rolling = tmp_path / "collector", ("--inbox", address, "--every", "0.05")
    every = {new_key(): range(4 * number, 4 * number + 4) for number in range(120 * cycles)}
    acknowledged: list[str] = []
    lost: list[str] = []

    def deliver(server: Serving, key: str) -> int:
        try:
            status = server.send(ASKED, key, every[key])
        except GoneError:
            lost.append(key)
            return 0
        if status == 201:
            acknowledged.append(key)
        assert status in (200, 201)
        return status

    with serving(folder, *rolling) as stays:
        created(stays, ASKED)
        for cycle in range(cycles):
            mine = list(every)[120 * cycle : 120 * cycle + 120]
            before = len(lost)
            with serving(folder, *rolling) as killed, ThreadPoolExecutor(8) as pool:
                # Each batch goes to both, some to one of them twice.
                posts = [(server, key) for key in mine for server in (stays, killed, killed)[: 2 + len(key) % 2]]
                random.Random(cycle).shuffle(posts)
                running = [pool.submit(deliver, *each) for each in posts]
                eventually(lambda: sum(each.done() for each in running) >= len(running) * (1 + cycle % 3) // 4)  # noqa: B023
                killed.process.send_signal(signal.SIGKILL)
                assert [each.result() for each in running]
                assert killed.process.wait(10) == -signal.SIGKILL
            assert len(lost) > before, "the kill hit senders"
        with ThreadPoolExecutor(8) as pool:
            statuses = list(pool.map(lambda key: deliver(stays, key), every))
        assert len(acknowledged) == len(set(acknowledged)), "no key is new twice"
        # A commit whose answer the kill has cut off was nobody's 201.
        assert len(every) - len(acknowledged) <= len(lost)
        assert statuses.count(200) + statuses.count(201) == len(every)
        assert reports(stays, ASKED) == 4 * len(every)
        assert stays.request("POST", f"{place(ASKED)}/close", role="admin").status == 200
        assert len(list((folder / ASKED.id / "reports").iterdir())) > cycles, "it rolled"
        assert stays.terminate() == 0
    expect_exact(folder, ASKED, 4 * len(every))


@pytest.mark.full
def test_a_kill_at_every_point_of_a_roll_is_completed_by_the_other_collector(address: str, tmp_path: Path) -> None:
    folder, keys = tmp_path / "collector", [new_key() for _ in range(4)]
    with serving(folder, "--inbox", address) as stays:
        for point in POINTS:
            asked = question(point)
            created(stays, asked)
            with serving(folder, "--inbox", address, "--every", "0.05", "--die-at", point, "--after", "1") as dies:
                # The second roll: the first one has left a tally.
                assert dies.send(asked, keys[0], range(50)) == 201
                eventually(lambda: (folder / asked.id / "collected.tally").exists())  # noqa: B023
                assert stays.send(asked, keys[1], range(50, 100)) == 201
                assert dies.process.wait(30) == -signal.SIGKILL, "the kill has not happened"
            # Not even the next answer waits for a restart.
            assert reports(stays, asked) == 100, point
            assert [stays.send(asked, key, range(50)) for key in keys[:2]] == [200, 200]
            assert stays.send(asked, keys[2], range(100, 120)) == 201
            assert stays.request("POST", f"{place(asked)}/close", role="admin").status == 200
            expect_exact(folder, asked, 120)
        assert stays.terminate() == 0
        assert "error" not in stays.logged()


@pytest.mark.full
def test_a_database_that_goes_and_comes_back_loses_and_repeats_nothing(
    postgres: Server, address: str, tmp_path: Path
) -> None:
    folder, rolling = tmp_path / "collector", ("--inbox", address, "--every", "0.1")
    every = {new_key(): range(5 * number, 5 * number + 5) for number in range(600)}
    seen: list[int] = []

    def deliver(servers: tuple[Serving, Serving], keys: list[str]) -> int:
        new = 0
        for number, key in enumerate(keys):
            for attempt in range(2000):
                status = servers[(number + attempt) % 2].send(ASKED, key, every[key])
                seen.append(status)
                if status != 503:
                    break
                time.sleep(0.02)
            new += status == 201
            assert status == 201 or attempt
        return new

    with serving(folder, *rolling) as one, serving(folder, *rolling) as two:
        created(one, ASKED)
        keys = list(every)
        with ThreadPoolExecutor(8) as pool:
            running = [pool.submit(deliver, (one, two), keys[at::8]) for at in range(8)]
            for number in range(2):
                eventually(lambda: seen.count(201) > 150 * (number + 1))  # noqa: B023
                postgres.stop("immediate")
                try:
                    assert one.request("GET", "/readyz").status == 503
                    refused = two.request("POST", f"{place(ASKED)}/reports/{new_key()}", records(ASKED, range(1)))
                    assert (refused.status, refused.headers["retry-after"]) == (503, "2")
                    asked = one.request("GET", f"{place(ASKED)}/estimates?item=1", role="read")
                    assert (asked.status, asked.headers["retry-after"]) == (503, "2")
                    assert two.request("GET", "/healthz").status == 200
                finally:
                    postgres.start()
            new = sum(each.result() for each in running)
        assert seen.count(503) > 0
        assert len(every) - 16 <= new <= len(every), "at most one commit of each collector lost its answer, each time"
        for server in (one, two):
            assert reports(server, ASKED) == 5 * len(every)
            assert server.request("GET", "/readyz").status == 200
        assert [two.send(ASKED, key, every[key]) for key in keys[:50]] == [200] * 50
        assert two.request("POST", f"{place(ASKED)}/close", role="admin").status == 200
        for server in (one, two):
            assert server.terminate() == 0
            assert PASSWORD not in server.logged()
            assert "is the server running" in server.logged()
    expect_exact(folder, ASKED, 5 * len(every))


@pytest.mark.full
def test_what_one_collector_closes_or_deletes_the_other_knows_at_once_and_nothing_tells_of_a_sender(
    address: str, tmp_path: Path
) -> None:
    folder, key, agent = tmp_path / "collector", new_key(), {"User-Agent": "canary-agent", "Cookie": "canary-cookie"}

    def everything() -> bytes:
        tables = [execute(address, f"SELECT * FROM {table}") for table in ("collections", "keys", "pending")]
        files = [path.read_bytes() for path in folder.rglob("*") if path.is_file()]
        return repr(tables).encode() + b"".join(files) + one.log.read_bytes() + two.log.read_bytes()

    with (
        serving(folder, "--inbox", address, source="127.0.0.77") as one,
        serving(folder, "--inbox", address, source="127.0.0.77") as two,
    ):
        where = created(one, ASKED)
        body = records(ASKED, range(300, 310))
        assert one.request("POST", f"{where}/reports/{key}", body, headers=agent).status == 201
        assert two.request("POST", f"{where}/reports/{key}", body, headers=agent).status == 200
        assert two.request("POST", f"{where}/reports/{new_key()}", b"PLB\x01canary-body", headers=agent).status == 400
        rows = execute(address, "SELECT collection, reports, records FROM pending")
        assert bytes.fromhex(key) not in b"".join(bytes(row[1]) for row in rows)
        assert repr(bytes.fromhex(key)).encode() in everything(), "the search would find something"
        for secret in (b"canary-", b"127.0.0.77", PASSWORD.encode()):
            assert secret not in everything()
        assert one.request("POST", f"{where}/close", role="admin").status == 200
        assert two.send(ASKED, key, range(300, 310)) == 410
        assert execute(address, "SELECT count(*) FROM keys") == [(0,)]
        assert repr(bytes.fromhex(key)).encode() not in everything()
        assert two.request("GET", f"{where}/scheme").status == 200
        assert one.request("DELETE", where, role="admin").status == 204
        for path in ("", "/scheme"):
            assert two.request("GET", where + path).status == 404
        assert two.send(ASKED, key, range(5)) == 404
        assert [execute(address, f"SELECT * FROM {table}") for table in ("collections", "keys", "pending")] == [[]] * 3
