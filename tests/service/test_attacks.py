"""A real collector under attack: slow senders, generated requests, fuzzed bodies, a full disk."""

from __future__ import annotations

import http.client
import os
import random
import re
import resource
import selectors
import shutil
import socket
import sqlite3
import subprocess
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import pytest
import schemathesis
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st
from hypothesis.errors import Unsatisfiable
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from dashboards import Analyst
from plausibly import Table, encode_reports, make
from plausibly.service.collections import Collection
from plausibly.service.openapi import openapi
from plausibly.service.routes import is_page
from serving import HOST, Answer, Serving, expect_described, filed, limit_files, new_key, place, question, serving

pytestmark = pytest.mark.full


def created(server: Serving, collection: Collection) -> str:
    assert server.request("POST", "/v1/collections", collection.document, "admin").status == 201
    return place(collection)


# --- slow senders --------------------------------------------------------------------------------------------------

SIEGE = (("half header", 300), ("half body", 300), ("silent", 100))


@contextmanager
def siege(server: Serving, where: str) -> Iterator[dict[socket.socket, str]]:
    """Connections that have sent half a request or nothing, with the kind of each."""
    room, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(room, min(most, 4096)), most))
    head = f"POST {where}/reports/{new_key()} HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n".encode()
    begun = {"half header": head, "half body": head + b"\r\nabc", "silent": b""}
    slow: dict[socket.socket, str] = {}
    try:
        for kind, count in SIEGE:
            for _ in range(count):
                connection = socket.create_connection((HOST, server.port), 30)
                slow[connection] = kind
                connection.sendall(begun[kind])
        yield slow
    finally:
        for connection in slow:
            connection.close()
        resource.setrlimit(resource.RLIMIT_NOFILE, (room, most))


def test_seven_hundred_slow_senders_are_closed_and_others_are_served(tmp_path: Path) -> None:
    asked = question()
    with serving(tmp_path / "collector") as server:
        where = created(server, asked)
        with siege(server, where) as slow, selectors.DefaultSelector() as open_ones:
            for connection in slow:
                open_ones.register(connection, selectors.EVENT_READ)
            answered, until = 0, time.monotonic() + 15
            while open_ones.get_map() and time.monotonic() < until:
                for connection, kind in slow.items():
                    if kind == "half body" and connection in open_ones.get_map():
                        drip(connection)
                assert server.send(asked, new_key(), range(5)) == 201
                answered += 1
                pause = time.monotonic() + 1
                while open_ones.get_map() and (left := pause - time.monotonic()) > 0:
                    for key, _ in open_ones.select(left):
                        assert isinstance(key.fileobj, socket.socket)
                        assert ended(key.fileobj)
                        open_ones.unregister(key.fileobj)
            assert not open_ones.get_map(), "the last one is closed within 15 seconds"
            assert answered > 5, "senders who drip are given some time, and others are served all the while"
        assert server.request("GET", f"{where}/estimates?item=1", role="read").json["reports"] == 5 * answered
        assert server.terminate() == 0
        assert "Traceback" not in server.logged()


def test_sigterm_does_not_wait_for_slow_senders(tmp_path: Path) -> None:
    with serving(tmp_path / "collector") as server:
        where = created(server, asked := question())
        with siege(server, where):
            assert server.send(asked, new_key(), range(5)) == 201
            server.process.terminate()
            assert server.process.wait(10) == 0
        assert "stopped; everything that was acknowledged is stored" in server.logged()


def drip(connection: socket.socket) -> None:
    try:
        connection.sendall(b"x")
    except OSError:
        return


def ended(connection: socket.socket) -> bool:
    try:
        return connection.recv(1000) == b""
    except ConnectionResetError:
        return True


# --- generated requests --------------------------------------------------------------------------------------------

QUERY = {"rows": ["theme"], "columns": ["age"]}
"""A question that makes sense, to a collection of records."""


@pytest.mark.parametrize("examples", [15, pytest.param(200, marks=pytest.mark.slow)])
@pytest.mark.filterwarnings("ignore::Warning:(schemathesis|jsonschema|hypothesis).*")
def test_generated_requests_get_the_answers_that_the_description_names(tmp_path: Path, examples: int) -> None:
    asked = Collection(name="generated", scheme=make("DE", epsilon=1, domain_size=50), minimum=1)
    closed = Collection(name="closed", scheme=make("DE", epsilon=1, domain_size=50))
    survey = Collection(name="survey", scheme=make("CLIQUE", epsilon=1, domain=Table({"theme": 2, "age": 9})))
    checks = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
    statuses: dict[str, set[int]] = {}
    with serving(tmp_path / "collector") as server:
        address = f"http://{HOST}:{server.port}"
        description = schemathesis.openapi.from_url(f"{address}/openapi.json")
        for collection in (asked, closed):
            created(server, collection)
            server.send(collection, new_key(), range(40))
        server.request("POST", f"{place(closed)}/close", role="admin")
        reports = survey.scheme.privatize([(1, 3)] * 40).tobytes()
        assert server.request("POST", f"{created(server, survey)}/reports/{new_key()}", reports).status == 201
        tokens = [*server.tokens.values(), "wrong"]
        analyst = Analyst(server)

        def tried(case: schemathesis.Case, identity: str | None, token: str) -> None:
            # Generated ids are unknown, so that known ones take part; nothing is deleted before the others are tried.
            if identity is not None and "id" in (case.path_parameters or {}) and case.method != "DELETE":
                case.path_parameters["id"] = identity
            # Pages are tried by an analyst, who has signed in.
            page = {"Cookie": analyst.cookie, "Sec-Fetch-Site": "same-origin"}
            headers = page if is_page(case.formatted_path) else {"Authorization": f"Bearer {token}"}
            response = case.call(base_url=address, headers=headers, allow_redirects=False)
            statuses.setdefault(case.operation.label, set()).add(response.status_code)
            case.validate_response(response, checks=checks)
            seen = {name.lower(): values[0] for name, values in response.headers.items()}
            expect_described(case.method, case.formatted_path, Answer(response.status_code, seen, response.content))

        known = {"identity": st.sampled_from([None, asked.id, closed.id, survey.id]), "token": st.sampled_from(tokens)}
        for found in description.get_all_operations():
            operation = found.ok()
            assert analyst.sign_in(server.tokens["read"]).status == 303
            for mode in schemathesis.GenerationMode:
                try_many(operation, mode, examples, tried, known)
            if operation.method == "get" and operation.path_parameters:
                # Few generated questions make sense.
                known_ones = {"id": asked.id, "key": new_key(), "name": "chart"}
                tried(operation.Case(path_parameters=known_ones), asked.id, server.tokens["admin"])
                names = {name: text for name, text in QUERY.items() if name in {each.name for each in operation.query}}
                table = {"path_parameters": {**known_ones, "id": survey.id, "name": "table-chart"}, "query": names}
                tried(operation.Case(**table), survey.id, server.tokens["admin"])
        assert server.request("GET", "/healthz").status == 200
        assert server.terminate() == 0
        log = server.logged()
    operations = {f"{each.upper()} {path}" for path, methods in openapi()["paths"].items() for each in methods}
    assert operations - set(statuses) == {"GET /openapi.json"}, "only the description itself is left out"
    assert {200, 401} <= statuses["GET /v1/collections/{id}/estimates"]
    for ending in ("", ".csv", ".parquet"):
        assert {200, 400, 401} <= statuses[f"GET /v1/collections/{{id}}/table{ending}"]
    assert {400, 404} <= statuses["POST /v1/collections/{id}/reports/{key}"]
    assert 200 in statuses["GET /dashboard/collections/{id}"]
    assert "Traceback" not in log
    assert "error" not in log


def try_many(
    operation: schemathesis.APIOperation,
    mode: schemathesis.GenerationMode,
    examples: int,
    tried: Callable[[schemathesis.Case, str | None, str], None],
    known: dict[str, st.SearchStrategy[str | None]],
) -> None:
    """Try generated requests of one operation."""

    @seed(21)
    @settings(max_examples=examples, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(case=operation.as_strategy(generation_mode=mode), **known)
    def run(case: schemathesis.Case, identity: str | None, token: str) -> None:
        tried(case, identity, token)

    # An operation without parameters and body has no wrong requests.
    fixed = not (operation.path_parameters or operation.query or operation.body)
    with suppress(*([Unsatisfiable] if fixed and mode is schemathesis.GenerationMode.NEGATIVE else [])):
        run()


# --- fuzzed bodies -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bodies", [1500, pytest.param(100_000, marks=pytest.mark.slow)])
def test_fuzzed_bodies_are_counted_or_refused_and_leave_no_growth(tmp_path: Path, bodies: int) -> None:
    asked = Collection(name=f"fuzzed {bodies}", scheme=make("DE", epsilon=1, domain_size=200))
    whole = encode_reports(asked.scheme, asked.scheme.privatize([7] * 40))
    source, counted, batches, statuses = random.Random(21), 0, 0, set()
    folder = tmp_path / "collector"
    with serving(folder, f"--reports={1 << 16}") as server:
        # The first roll loads the library that writes report files; later ones must not add to that.
        created(server, first := question())
        server.send(first, new_key(), range(100))
        assert server.request("POST", f"{place(first)}/close", role="admin").status == 200
        where = f"{created(server, asked)}/reports"
        connection = http.client.HTTPConnection(HOST, server.port, timeout=30)
        for number in range(bodies):
            body = bytearray(source.choice([whole, whole[28:-4], source.randbytes(source.randrange(60))]))
            for _ in range(source.randrange(3)):
                at = source.randrange(len(body) + 1)
                body[at : at + source.randrange(3)] = source.randbytes(source.randrange(3))
            connection.request("POST", f"{where}/{new_key()}", bytes(body))
            response = connection.getresponse()
            response.read()
            statuses.add(response.status)
            if response.status == 201:
                counted += 40 if body[:4] == whole[:4] else len(body)
                batches += 1
            if number == 1000:
                before = server.resident()
        connection.close()
        assert statuses == {201, 400}
        assert server.resident() < before + 32
        assert server.request("GET", f"{place(asked)}/estimates", role="read").json["reports"] == counted
        server.request("POST", f"{place(asked)}/close", role="admin")
        assert server.terminate() == 0
        assert "Traceback" not in server.logged()
        assert "error" not in server.logged()
    stored = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    assert stored < 1_000_000 + 500 * batches, "refused bodies are not kept"


# --- a full disk ---------------------------------------------------------------------------------------------------


@contextmanager
def small_disk(folder: Path) -> Iterator[bool]:
    """A file system of 8 MiB at the folder; False where mounting is not permitted."""
    folder.mkdir()
    mount = shutil.which("mount")
    command = [mount or "mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", str(folder)]
    mounted = mount is not None and subprocess.run(command, check=False, capture_output=True).returncode == 0
    try:
        yield mounted
    finally:
        if mounted:
            subprocess.run(["umount", str(folder)], check=True)


def test_a_full_disk_is_507_and_the_collector_recovers_by_itself(tmp_path: Path) -> None:
    folder, asked = tmp_path / "collector", question()
    with small_disk(folder) as small:
        with serving(folder) as server:
            created(server, asked)
            assert server.send(asked, new_key(), range(100)) == 201
            fill(server, folder, small)
            lost = new_key()
            assert [server.send(asked, lost, range(100, 2100)) for _ in range(3)] == [507] * 3
            assert server.request("GET", "/healthz").status == 200
            assert server.request("GET", f"{place(asked)}/estimates?item=1", role="read").json["reports"] == 100
            assert server.request("POST", f"{place(asked)}/close", role="admin").status == 507
            make_room(server, folder, small)
            assert [server.send(asked, lost, range(100, 2100)) for _ in range(2)] == [201, 200]
            assert server.request("POST", f"{place(asked)}/close", role="admin").status == 200
            assert server.terminate() == 0
        assert filed(folder, asked) == list(range(2100))


def test_a_roll_for_which_the_disk_has_no_room_is_tried_again(tmp_path: Path) -> None:
    folder, asked = tmp_path / "collector", question()
    # The disk is full long before the roll is due.
    with small_disk(folder) as small:
        with serving(folder, "--every", "4", "--retry", "0.2") as server:
            created(server, asked)
            keys = {new_key(): range(100 * number, 100 * number + 100) for number in range(5)}
            assert [server.send(asked, key, values) for key, values in keys.items()] == [201] * 5
            fill(server, folder, small)
            eventually(lambda: metric(server, "failed_rolls_total") >= 2)
            assert metric(server, "rolls_total") == 0
            assert "reports stay in the inbox" in server.logged()
            assert server.request("GET", f"{place(asked)}/estimates?item=1", role="read").json["reports"] == 500
            make_room(server, folder, small)
            eventually(lambda: metric(server, "rolls_total") == 1)
            failed = metric(server, "failed_rolls_total")
            assert server.request("GET", f"{place(asked)}/estimates?item=1", role="read").json["reports"] == 500
            assert [server.send(asked, key, range(100)) for key in keys] == [200] * 5
            assert server.send(asked, new_key(), range(500, 600)) == 201
            assert server.request("POST", f"{place(asked)}/close", role="admin").status == 200
            assert metric(server, "failed_rolls_total") == failed
            assert server.terminate() == 0
        assert filed(folder, asked) == list(range(600))


def metric(server: Serving, name: str) -> int:
    text = server.request("GET", "/metrics").body.decode()
    (found,) = re.findall(rf"^plausibly_{re.escape(name)} (\d+)$", text, re.MULTILINE)
    return int(found)


def eventually(met: Callable[[], bool]) -> None:
    until = time.monotonic() + 30
    while not met():
        assert time.monotonic() < until
        time.sleep(0.02)


def fill(server: Serving, folder: Path, small: bool) -> None:
    """Leave no room on the disk, or let the collector believe so."""
    if not small:
        limit_files(server.process.pid, max(path.stat().st_size for path in folder.iterdir()))
        return
    ballast = folder / "ballast"
    with ballast.open("wb", buffering=0) as file:
        for size in (1 << 16, 1):
            with suppress(OSError):
                while file.write(bytes(size)) == size:
                    continue
    free = os.statvfs(ballast).f_bavail
    assert free == 0


def make_room(server: Serving, folder: Path, small: bool) -> None:
    """Undo `fill`."""
    if small:
        (folder / "ballast").unlink()
    else:
        limit_files(server.process.pid, 1 << 30)


# --- more than there is room for -----------------------------------------------------------------------------------


def stored(server: Serving, path: str, body: bytes) -> list[Answer]:
    """Send a batch again under its key until it is stored; the answers."""
    answers: list[Answer] = []
    until = time.monotonic() + 60
    while not answers or answers[-1].status == 503:
        assert time.monotonic() < until
        answers.append(server.request("POST", path, body))
        if answers[-1].status == 503:
            assert answers[-1].headers["retry-after"] == "2"
            time.sleep(0.2)
    return answers


def test_when_too_much_waits_senders_are_sent_away_and_counted_later(tmp_path: Path) -> None:
    # Records of 64 KiB, so that bodies of 8 MiB have few reports. Eight bodies may wait beside those of a commit.
    asked = Collection(name="large", scheme=make("OUE", epsilon=1, domain_size=1 << 19))
    size = asked.scheme.report_dtype.itemsize
    count = (8 << 20) // size
    folder, keys = tmp_path / "collector", [new_key() for _ in range(14)]
    with serving(folder) as server, ThreadPoolExecutor(len(keys)) as pool:
        where = created(server, asked)
        with closing(sqlite3.connect(folder / "inbox.db", isolation_level=None)) as tool:
            tool.execute("BEGIN IMMEDIATE")
            sent = [pool.submit(stored, server, f"{where}/reports/{key}", bytes(count * size)) for key in keys]
            eventually(lambda: busy(server) >= 1)
            assert metric(server, "commits_total") == 0
            tool.execute("ROLLBACK")
        answers = [each.result() for each in sent]
        assert [each[-1].status for each in answers] == [201] * len(keys)
        refused = [answer for each in answers for answer in each[:-1]]
        assert any("too many reports are waiting" in answer.json["detail"] for answer in refused)
        (told,) = server.request("GET", "/v1/collections", role="read").json["collections"]
        assert told["reports"] == len(keys) * count
        again = [server.request("POST", f"{where}/reports/{key}", bytes(size)).status for key in keys]
        assert again == [200] * len(keys)
        assert server.terminate() == 0


def busy(server: Serving) -> int:
    return metric(server, 'batches_total{outcome="busy"}')


def test_when_too_much_arrives_senders_are_sent_away_and_counted_later(tmp_path: Path) -> None:
    asked, key = question(), new_key()
    folder, half, other = tmp_path / "collector", bytes(600_000), bytes(500_000)
    with serving(folder, "--receiving", "1000000", "--patience", "60") as server:
        path = f"{created(server, asked)}/reports"
        slow = http.client.HTTPConnection(HOST, server.port, timeout=30)
        slow.putrequest("POST", f"{path}/{key}")
        slow.putheader("Content-Length", str(len(half) + 2))
        slow.endheaders(half)
        answers: list[Answer] = []
        keys: list[str] = []
        until = time.monotonic() + 30
        # The first of these may arrive before the half body.
        while not answers or answers[-1].status == 201:
            assert time.monotonic() < until
            keys.append(new_key())
            answers.append(server.request("POST", f"{path}/{keys[-1]}", other))
        assert (answers[-1].status, answers[-1].headers["retry-after"]) == (503, "2")
        assert "too many reports are arriving" in answers[-1].json["detail"]
        slow.send(bytes(2))
        assert slow.getresponse().status == 201
        slow.close()
        assert stored(server, f"{path}/{keys[-1]}", other)[-1].status == 201
        count = len(keys) * len(other) // 2 + len(half) // 2 + 1
        assert server.request("GET", f"{place(asked)}/estimates?item=1", role="read").json["reports"] == count
        assert server.terminate() == 0
