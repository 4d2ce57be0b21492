"""A real collector on loopback: statuses, access, privacy, slow senders, full disks, restarts."""

from __future__ import annotations

import csv
import hashlib
import http.client
import io
import json
import os
import random
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow.parquet
import pytest

import plausibly
from plausibly import Ordered, Strings, encode_reports, make
from plausibly.service.assets import STYLE
from plausibly.service.collections import Collection
from plausibly.service.metrics import OUTCOMES
from plausibly.service.routes import all_operations
from serving import (
    HOST,
    ITEMS,
    GoneError,
    Serving,
    expect_described,
    filed,
    new_key,
    place,
    question,
    records,
    serving,
)

pytestmark = pytest.mark.full


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    with serving(tmp_path_factory.mktemp("shared") / "collector") as running:
        yield running
        assert running.terminate() == 0
        assert "error" not in running.logged()


def created(server: Serving, collection: Collection) -> str:
    assert server.request("POST", "/v1/collections", collection.document, "admin").status == 201
    return place(collection)


def soon(**more: int) -> datetime:
    return datetime.now(UTC).replace(microsecond=0) + timedelta(**more)


# --- statuses ------------------------------------------------------------------------------------------------------


def test_a_collection_is_made_once_and_cached_forever(server: Serving) -> None:
    asked = question("made once")
    first = server.request("POST", "/v1/collections", asked.document, "admin")
    assert (first.status, first.headers["location"]) == (201, place(asked))
    assert first.json["id"] == asked.id
    assert server.request("POST", "/v1/collections", asked.document, "admin").status == 200
    assert server.request("POST", "/v1/collections", "{}", "admin").status == 400
    found = server.request("GET", place(asked))
    assert hashlib.sha256(found.body).hexdigest() == asked.id
    assert "immutable" in found.headers["cache-control"]
    again = server.request("GET", place(asked), headers={"If-None-Match": found.headers["etag"]})
    assert (again.status, again.body) == (304, b"")
    scheme = server.request("GET", f"{place(asked)}/scheme")
    assert hashlib.sha256(scheme.body).hexdigest() == asked.scheme.fingerprint()
    listed = server.request("GET", "/v1/collections", role="read").json["collections"]
    assert asked.id in [each["id"] for each in listed]


def test_the_warning_about_other_values_comes_back(server: Serving) -> None:
    asked = Collection(name="labels", scheme=make("OUE", epsilon=1, domain=["a", "b"]))
    made = server.request("POST", "/v1/collections", asked.document, "admin")
    assert "no item for other values" in made.json["warnings"][0]


def test_reports_count_once_in_batches_and_bare(server: Serving) -> None:
    asked = question("once")
    where = f"{created(server, asked)}/reports"
    key, body = new_key(), records(asked, range(10))
    batch = encode_reports(asked.scheme, asked.scheme.privatize(range(5)))
    assert [server.request("POST", f"{where}/{key}", body).status for _ in range(3)] == [201, 200, 200]
    assert [server.request("POST", f"{where}/{name}", batch).status for name in [new_key()] * 2] == [201, 200]
    assert server.request("GET", f"{place(asked)}/estimates", role="read").json["reports"] == 15


def test_batches_that_arrive_together_are_one_commit(server: Serving) -> None:
    asked = question("together")
    created(server, asked)
    assert server.send(asked, new_key(), range(1)) == 201
    before = commits(server)
    with ExitStack() as stack:
        connections = [stack.enter_context(closing(http.client.HTTPConnection(HOST, server.port))) for _ in range(50)]
        for connection in connections:
            connection.request("GET", "/healthz")
            connection.getresponse().read()
        server.process.send_signal(signal.SIGSTOP)
        os.waitpid(server.process.pid, os.WUNTRACED)
        for connection in connections:
            connection.request("POST", f"{place(asked)}/reports/{new_key()}", records(asked, range(3)))
        server.process.send_signal(signal.SIGCONT)
        assert [connection.getresponse().status for connection in connections] == [201] * 50
    assert commits(server) == before + 1


def commits(server: Serving) -> int:
    (found,) = re.findall(rb"^plausibly_commits_total (\d+)$", server.request("GET", "/metrics").body, re.MULTILINE)
    return int(found)


def test_every_refusal_has_its_status(server: Serving) -> None:
    asked = question("refusals", cap=10)
    where = f"{created(server, asked)}/reports"
    good = records(asked, range(3))
    assert server.request("POST", f"{where}/{new_key()}", b"abc").status == 400
    assert server.request("POST", f"{where}/xyz", good).status == 400
    assert server.request("POST", f"{where}/{new_key().upper()}A", good).status == 400
    assert server.request("POST", f"/v1/collections/{'0' * 64}/reports/{new_key()}", good).status == 404
    assert server.request("POST", f"/v1/collections/zz/reports/{new_key()}", good).status == 404
    assert server.request("POST", f"{where}/{new_key()}", records(asked, range(11))).status == 429
    assert server.request("GET", "/v1/nothing").status == 404
    assert server.request("GET", f"{place(asked)}/").status == 404
    early, late = question("early", opens=soon(hours=1)), question("late", closes=soon(seconds=-1))
    assert server.request("POST", f"{created(server, early)}/reports/{new_key()}", good).status == 409
    assert server.request("POST", f"{created(server, late)}/reports/{new_key()}", good).status == 410


def test_bodies_have_a_limit_whether_their_length_is_said_or_not(server: Serving) -> None:
    where = f"{created(server, question('large'))}/reports/{new_key()}"
    assert sent_raw(server, where, b"Content-Length: 99999999\r\n\r\n").startswith(b"HTTP/1.1 413 ")
    chunk = b"%x\r\n%s\r\n" % (1 << 20, bytes(1 << 20))
    assert sent_raw(server, where, b"Transfer-Encoding: chunked\r\n\r\n" + chunk * 9).startswith(b"HTTP/1.1 413 ")


def sent_raw(server: Serving, path: str, rest: bytes) -> bytes:
    with socket.create_connection((HOST, server.port), 10) as connection:
        connection.sendall(f"POST {path} HTTP/1.1\r\nHost: x\r\n".encode() + rest)
        return connection.recv(4096)


def test_estimates_come_in_three_formats_with_a_tag(server: Serving) -> None:
    asked = Collection(name="ages", scheme=make("SLIDE", epsilon=1, domain=Ordered(0, 120)), minimum=100, cap=10_000)
    where = created(server, asked)
    for route in ("estimates", "estimates.csv", "estimates.parquet", "tally"):
        assert server.request("GET", f"{where}/{route}", role="admin").status == 409, route
    body = encode_reports(asked.scheme, asked.scheme.privatize([30] * 600 + [70] * 400))
    assert server.request("POST", f"{where}/reports/{new_key()}", body).status == 201
    found = server.request(
        "GET", f"{where}/estimates?ranges=0..40,41..120&quantiles=.5&mean=1&level=.999999", role="read"
    )
    assert found.status == 200
    assert {"ranges", "quantiles", "mean", "epsilon_per_report"} <= set(found.json)
    assert found.json["influence_of_one_percent_fakes"]["fakes"] == 10
    low = found.json["ranges"][0]
    assert low["low"] < 600 < low["high"], "a false alarm once in a million runs"
    for suffix, read in (
        ("csv", lambda content: len(content.decode().splitlines()) - 1),
        ("parquet", lambda content: pyarrow.parquet.read_table(io.BytesIO(content)).num_rows),
    ):
        table = server.request("GET", f"{where}/estimates.{suffix}", role="read")
        assert read(table.body) == asked.scheme.answers.size
    tag = found.headers["etag"]
    same = server.request("GET", f"{where}/estimates?mean=1", role="read", headers={"If-None-Match": tag})
    assert (same.status, same.body) == (304, b"")
    server.request("POST", f"{where}/reports/{new_key()}", body)
    assert server.request("GET", f"{where}/estimates", role="read", headers={"If-None-Match": tag}).status == 200
    for wrong in ("ranges=3", "quantiles=x", "level=2", "level=x", "nothing=1", "item=999x", "postprocess=no"):
        assert server.request("GET", f"{where}/estimates?{wrong}", role="read").status == 400, wrong
    tally = server.request("GET", f"{where}/tally", role="admin")
    assert len(plausibly.files.Collected.from_bytes(tally.body).tally) == 2000
    again = server.request("GET", f"{where}/tally", role="admin", headers={"If-None-Match": tally.headers["etag"]})
    assert again.status == 304


def test_every_format_states_epsilon_and_what_fake_reports_can_do(server: Serving) -> None:
    asked = Collection(name="stated", scheme=make("DE", epsilon=1, domain_size=3))
    where = created(server, asked)
    assert server.send(asked, new_key(), [0, 1, 2] * 100) == 201
    influence = asked.scheme.influence()
    assert influence is not None
    stated = {
        "epsilon_per_report": str(asked.scheme.epsilon),
        "influence_of_one_percent_fakes": {"fakes": 3, "count_moves_at_most": influence * 3},
    }
    for query in ("", "?top=2"):
        found = {
            suffix: server.request("GET", f"{where}/estimates{suffix}{query}", role="read").body
            for suffix in ("", ".csv", ".parquet")
        }
        metadata = pyarrow.parquet.read_table(io.BytesIO(found[".parquet"])).schema.metadata
        for facts in (json.loads(found[""]), json.loads(metadata[b"plausibly.estimates"])):
            assert {name: facts[name] for name in stated} == stated
        for row in csv.DictReader(io.StringIO(found[".csv"].decode())):
            assert row["epsilon_per_report"] == str(asked.scheme.epsilon)
            assert float(row["influence_of_one_percent_fakes"]) == influence * 3


def test_questions_that_make_no_sense_are_refused_as_questions(server: Serving) -> None:
    scheme = make("OLH", epsilon=1, domain=plausibly.Keys())
    where = created(server, asked := Collection(name="keys", scheme=scheme))
    body = encode_reports(scheme, scheme.privatize(["x"] * 20))
    assert server.request("POST", f"{where}/reports/{new_key()}", body).status == 201
    assert server.request("GET", f"{where}/estimates", role="read").status == 400, "open domains need items"
    assert server.request("GET", f"{where}/estimates?item=x&postprocess=norm-sub", role="read").status == 400
    assert server.request("GET", f"{where}/estimates?item=x&mean=1", role="read").status == 400
    assert server.request("GET", f"{where}/estimates?item=x&item=y", role="read").json["reports"] == 20
    assert server.request("DELETE", place(asked), role="admin").status == 204


def test_searches_find_common_strings(server: Serving) -> None:
    scheme = plausibly.TRELLIS(4, domain=Strings("abcd", 3), users=4000)
    asked = Collection(name="strings", scheme=scheme)
    where = created(server, asked)
    body = encode_reports(scheme, scheme.privatize(["abc"] * 3500 + ["dd"] * 500))
    assert server.request("POST", f"{where}/reports/{new_key()}", body).status == 201
    found = server.request("GET", f"{where}/search?k=3", role="read")
    assert found.json["estimates"][0]["item"] == "abc"
    for wrong in ("k=0", "k=x", "k=9999", "level=x", "other=1"):
        assert server.request("GET", f"{where}/search?{wrong}", role="read").status == 400, wrong


def test_closing_rolls_and_refuses_and_deleting_deletes(server: Serving) -> None:
    asked = question("closed")
    where = created(server, asked)
    key = new_key()
    assert server.send(asked, key, range(7)) == 201
    assert server.request("POST", f"{where}/close", role="admin").json["closed"] is True
    assert server.request("POST", f"{where}/close", role="admin").status == 200
    assert server.send(asked, key, range(7)) == 410
    assert server.request("GET", f"{where}/estimates?item=3", role="read").json["reports"] == 7
    assert server.request("DELETE", where, role="admin").status == 204
    for method, path in (("GET", where), ("DELETE", where), ("POST", f"{where}/close")):
        assert server.request(method, path, role="admin").status == 404
    assert server.send(asked, key, range(7)) == 404


def test_a_page_of_any_origin_may_send_but_not_read(server: Serving) -> None:
    asked = question("pages")
    where = created(server, asked)
    posted = server.request("POST", f"{where}/reports/{new_key()}", records(asked, range(2)), headers={"Origin": "x"})
    shared = {path for path, operation in all_operations() if operation.shared}
    assert shared == {f"/v1/collections/{{id}}{rest}" for rest in ("", "/scheme", "/reports/{key}")}
    assert posted.headers["access-control-allow-origin"] == "*"
    for path in ("", "/scheme"):
        assert server.request("GET", where + path).headers["access-control-allow-origin"] == "*"
        assert server.request("OPTIONS", where + path).headers["access-control-allow-methods"] == "GET"
    refused = server.request("POST", f"{where}/reports/{new_key()}", b"abc")
    assert refused.headers["access-control-allow-origin"] == "*", "a page is told why"
    for method, path in (("GET", "/estimates"), ("GET", "/table"), ("GET", "/tally"), ("POST", "/close")):
        answer = server.request(method, where + path, role="read")
        assert "access-control-allow-origin" not in answer.headers
    assert "access-control-allow-origin" not in server.request("DELETE", where).headers
    assert "access-control-allow-origin" not in server.request("OPTIONS", f"{where}/estimates").headers


# --- access --------------------------------------------------------------------------------------------------------

ROLES = ("", "a wrong token", "read", "admin")
OPEN, READ, ADMIN, NO = (200,) * 4, (401, 401, 200, 200), (401, 401, 403, 200), (405,) * 4
SIGN_IN, FOREIGN = (303,) * 4, (403,) * 4
"""The dashboard takes no token but in its own form: who may see its pages is in test_dashboard.py."""
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
ACCESS: dict[str, dict[str, tuple[int, ...]]] = {
    "/healthz": {"GET": OPEN},
    "/readyz": {"GET": OPEN},
    "/metrics": {"GET": OPEN},
    "/openapi.json": {"GET": OPEN},
    "/v1/collections": {"GET": READ, "POST": ADMIN},
    "/v1/collections/{id}/scheme": {"GET": OPEN},
    "/v1/collections/{id}/reports/{key}": {"POST": OPEN},
    "/v1/collections/{id}/estimates": {"GET": READ},
    "/v1/collections/{id}/estimates.csv": {"GET": READ},
    "/v1/collections/{id}/estimates.parquet": {"GET": READ},
    "/v1/collections/{id}/table": {"GET": (401, 401, 400, 400)},
    "/v1/collections/{id}/table.csv": {"GET": (401, 401, 400, 400)},
    "/v1/collections/{id}/table.parquet": {"GET": (401, 401, 400, 400)},
    "/v1/collections/{id}/search": {"GET": (401, 401, 400, 400)},
    "/v1/collections/{id}/tally": {"GET": ADMIN},
    "/v1/collections/{id}/close": {"POST": ADMIN},
    "/dashboard": {"GET": SIGN_IN},
    "/dashboard/sign-in": {"GET": OPEN, "POST": FOREIGN},
    "/dashboard/sign-out": {"POST": FOREIGN},
    "/dashboard/try": {"GET": OPEN},
    "/dashboard/static/{name}": {"GET": OPEN},
    "/dashboard/collections/{id}": {"GET": SIGN_IN},
    "/dashboard/collections/{id}/charts/{name}": {"GET": SIGN_IN},
    "/dashboard/collections/{id}/estimates.csv": {"GET": SIGN_IN},
    "/dashboard/collections/{id}/estimates.parquet": {"GET": SIGN_IN},
    "/dashboard/changes": {"GET": SIGN_IN},
    "/dashboard/changes/chart": {"GET": SIGN_IN},
    "/v1/collections/{id}": {"GET": OPEN, "DELETE": (401, 401, 403, 204)},
}
"""Statuses for each of the roles; the last route is deleted at its end."""


def test_every_route_and_method_and_role(server: Serving) -> None:
    assert set(ACCESS) == {path for path, _ in all_operations()}
    assert {(path, method) for path in ACCESS for method in ACCESS[path]} == {
        (path, operation.method) for path, operation in all_operations()
    }
    asked = question("matrix")
    key = new_key()
    created(server, asked)
    assert server.send(asked, key, range(5)) == 201
    for template, allowed in ACCESS.items():
        if template.endswith("/close"):  # before the reports are refused
            continue
        path = template.replace("{id}", asked.id).replace("{key}", key).replace("{name}", STYLE.name)
        tried(server, path, allowed, asked)
    closed = question("matrix, closed")
    created(server, closed)
    tried(server, f"{place(closed)}/close", ACCESS["/v1/collections/{id}/close"], closed)


def tried(server: Serving, path: str, allowed: dict[str, tuple[int, ...]], asked: Collection) -> None:
    for method in sorted(METHODS, key=lambda each: each == "DELETE"):
        expected = allowed.get("GET" if method == "HEAD" else method, (204,) * 4 if method == "OPTIONS" else NO)
        for role, status in zip(ROLES, expected, strict=True):
            body = asked.document if path.endswith("collections") else records(asked, range(5)).decode("latin-1")
            given = body.encode("latin-1") if method == "POST" else None
            assert server.request(method, path, given, role).status == status, (method, path, role)


def test_behind_a_proxy_operators_need_a_token_too(tmp_path: Path) -> None:
    with serving(tmp_path / "collector", "--behind-proxy") as proxied:
        for path in ("/healthz", "/readyz", "/metrics"):
            assert [proxied.request("GET", path, role=role).status for role in ROLES] == list(READ)


def test_the_description_is_complete_and_wrong_statuses_would_be_noticed(server: Serving) -> None:
    served = server.request("GET", "/openapi.json").json
    assert served["openapi"] == "3.1.0"
    described = {(path, method.upper()) for path, methods in served["paths"].items() for method in methods}
    routes = {(path, operation.method) for path, operation in all_operations()}
    assert described == routes | {(path, "OPTIONS") for path, _ in routes}
    names = [each["operationId"] for methods in served["paths"].values() for each in methods.values()]
    assert len(set(names)) == len(names)
    for path, methods in served["paths"].items():
        for method in methods.values():
            inside = {each["name"] for each in method.get("parameters", ()) if each["in"] == "path"}
            assert inside == set(re.findall(r"\{(\w+)\}", path))
    answer = server.request("GET", "/healthz")
    with pytest.raises(AssertionError, match="is not described"):
        expect_described("GET", "/healthz", type(answer)(418, {}, b""))


def test_operators_see_counters(server: Serving) -> None:
    created(server, asked := question("metrics"))
    server.send(asked, new_key(), range(5))
    text = server.request("GET", "/metrics").body.decode()
    assert int(re.findall(r"^plausibly_reports_total (\d+)$", text, re.MULTILINE)[0]) >= 5
    assert set(re.findall(r'^plausibly_batches_total\{outcome="(\w+)"\} \d+$', text, re.MULTILINE)) == set(OUTCOMES)
    assert int(re.findall(r"^plausibly_disk_free_bytes (\d+)$", text, re.MULTILINE)[0]) > 0
    assert server.request("GET", "/readyz").json == {"status": "ready"}


# --- what is not stored --------------------------------------------------------------------------------------------


def test_nothing_about_a_sender_is_stored_logged_or_printed(tmp_path: Path) -> None:
    folder, asked = tmp_path / "collector", question("unmistakable")
    canaries = {name: f"canary-{name.lower()}-7531" for name in ("User-Agent", "Cookie", "Referer", "Origin")}
    canaries |= {"X-Forwarded-For": "203.0.113.77", "Forwarded": "for=203.0.113.78", "X-Request-Id": "canary-request"}
    key, repeated = new_key(), new_key()
    answers = []
    with serving(folder, source="127.0.0.77") as server:
        created(server, asked)
        body = records(asked, range(100))
        where, records_of = place(asked), created(server, survey := records_asked())
        sent = encode_reports(survey.scheme, survey.scheme.privatize([("dark", 3)] * 5))
        assert server.request("POST", f"{records_of}/reports/{new_key()}", sent, headers=canaries).status == 201
        for status, method, path, content in (
            (201, "POST", f"{where}/reports/{key}", body),
            (201, "POST", f"{where}/reports/{repeated}", body),
            (200, "POST", f"{where}/reports/{repeated}", body),
            (400, "POST", f"{where}/reports/{new_key()}", b"canary-report"),
            (400, "POST", f"{where}/reports/{new_key()}", b"PLB\x01canary-batch"),
            (400, "POST", f"{where}/reports/canary-key", body),
            (404, "POST", f"/v1/collections/canary-collection/reports/{key}", body),
            (400, "GET", f"{where}/estimates?item=canary-item", None),
            (400, "GET", f"{where}/estimates?level=canary-level", None),
            (400, "GET", f"{where}/estimates?canary-name=1", None),
            (400, "GET", f"{where}/table?rows=canary-attribute", None),
            (400, "GET", f"{records_of}/table?rows=canary-attribute&columns=theme", None),
            (400, "POST", f"{records_of}/reports/{new_key()}", b"canary-record"),
            (200, "GET", f"{records_of}/table?rows=theme&columns=age", None),
            (404, "PUT", f"{where}/canary-path", None),
            (403, "GET", f"{where}/tally", None),
            (403, "POST", "/v1/collections", b"canary-document"),
            (200, "GET", f"{where}/estimates?item=1", None),
            (200, "GET", "/metrics", None),
            (200, "GET", "/readyz", None),
        ):
            answer = server.request(method, path, content, "read", canaries)
            assert answer.status == status, path
            if "?" not in path:  # an analyst's own question may be quoted
                answers.append(repr(answer).encode())
        with socket.create_connection((HOST, server.port), 5, source_address=("127.0.0.77", 0)) as connection:
            connection.sendall(b"canary-garbage\r\n\r\n")
            answers.append(connection.recv(1000))
        with socket.create_connection((HOST, server.port), 5, source_address=("127.0.0.77", 0)) as connection:
            connection.sendall(f"POST {where}/reports/{key} HTTP/1.1\r\nX-Canary: canary-half\r\n".encode())
        tokens = [server.tokens["read"], server.tokens["admin"]]
        hidden = [secret.encode() for secret in (*canaries.values(), "canary-", "127.0.0.77", *tokens)]
        told = [secret for secret in hidden if any(secret in answer for answer in answers)]
        assert told == [], "answers do not repeat what was sent, either"
        hidden.append(socket.inet_aton("127.0.0.77"))

        def found() -> list[bytes]:
            everything = stored_and_logged(folder, server)
            return [secret for secret in hidden if secret in everything]

        names = {path.name for path in folder.rglob("*")}
        assert {"inbox.db", "inbox.db-wal", "inbox.db-shm", "tokens.json", "lock"} <= names
        assert b"unmistakable" in stored_and_logged(folder, server), "the search would find something"
        assert found() == []
        assert bytes.fromhex(key) in stored_and_logged(folder, server), "an open collection knows its keys"
        server.request("POST", f"{where}/close", role="admin", headers=canaries)
        names = {path.name for path in folder.rglob("*")}
        assert "collected.tally" in names
        assert any(name.endswith(".parquet") for name in names)
        assert found() == []
        assert bytes.fromhex(key) not in stored_and_logged(folder, server), "a closed one does not"
        server.request("DELETE", where, role="admin", headers=canaries)
        assert b"unmistakable" not in stored_and_logged(folder, server)
        assert server.terminate() == 0
        assert found() == []
        log = server.logged()
        assert not re.search(r"\d\d:\d\d|20\d\d-\d\d", log), "no time"
        assert key not in log


def records_asked() -> Collection:
    """A collection of records of two attributes."""
    survey = plausibly.Table({"theme": plausibly.Labels(["dark", "light"], other=True), "age": 9})
    return Collection(name="records", scheme=make("CLIQUE", epsilon=1, domain=survey))


def stored_and_logged(folder: Path, server: Serving) -> bytes:
    found = [path.read_bytes() for path in folder.rglob("*") if path.is_file()]
    return b"\n".join([*found, server.log.read_bytes(), *(str(path).encode() for path in folder.rglob("*"))])


# --- rough times ---------------------------------------------------------------------------------------------------


def test_a_second_collector_on_the_folder_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "collector"
    with serving(folder) as first:
        with pytest.raises(GoneError, match="another process is using this folder"), serving(folder):
            pass
        command = [sys.executable, "-m", "plausibly", "collections", "list", str(folder)]
        refused = subprocess.run(command, capture_output=True, text=True, check=False)
        assert refused.returncode == 1
        assert "another process is using this folder" in " ".join(refused.stderr.split())
        assert first.request("GET", "/healthz").status == 200
        first.kill()
    with serving(folder) as second:
        assert second.request("GET", "/readyz").status == 200


def test_a_storm_of_retries_across_a_restart_counts_each_once(tmp_path: Path) -> None:
    folder, asked = tmp_path / "collector", question()
    batches = {new_key(): range(10 * number, 10 * number + 10) for number in range(300)}
    posts = [*batches.items()] * 2
    random.Random(21).shuffle(posts)
    statuses: list[int] = []
    for half in (posts[:300], posts[300:]):
        with serving(folder, "--every", "0.2") as server:
            if not statuses:
                created(server, asked)
            with ThreadPoolExecutor(8) as pool:
                statuses += pool.map(lambda each, server=server: server.send(asked, *each), half)  # type: ignore[misc]
            assert server.terminate() == 0
    assert {key for key, _ in posts[:300]} & {key for key, _ in posts[300:]}, "some are repeated after the restart"
    assert (statuses.count(201), statuses.count(200)) == (300, 300)
    with serving(folder) as server:
        server.request("POST", f"{place(asked)}/close", role="admin")
        assert server.terminate() == 0
    assert filed(folder, asked) == list(range(3000))


def test_sigterm_answers_what_has_arrived_and_does_not_wait_for_the_rest(tmp_path: Path) -> None:
    folder, asked = tmp_path / "collector", question()
    with serving(folder) as server:
        created(server, asked)
        half = socket.create_connection((HOST, server.port), 10)
        half.sendall(
            f"POST {place(asked)}/reports/{new_key()} HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n".encode()
        )
        idle = http.client.HTTPConnection(HOST, server.port, timeout=10)
        idle.request("POST", f"{place(asked)}/reports/{new_key()}", records(asked, range(5)))
        assert idle.getresponse().status == 201
        begun = time.monotonic()
        assert server.terminate() == 0
        assert time.monotonic() - begun < 10
        half.close()
        idle.close()
        assert "stopped; everything that was acknowledged is stored" in server.logged()
    with serving(folder) as server:
        assert server.request("GET", f"{place(asked)}/estimates?item=1", role="read").json["reports"] == 5


def test_a_damaged_file_is_named_in_the_log_and_reports_are_still_accepted(tmp_path: Path) -> None:
    folder, asked = tmp_path / "collector", question()
    with serving(folder, "--every", "0.1") as server:
        created(server, asked)
        server.send(asked, new_key(), range(10))
        tally = folder / asked.id / "collected.tally"
        while not tally.exists():
            time.sleep(0.02)
        assert server.terminate() == 0
    tally.write_bytes(tally.read_bytes()[:-1])
    with serving(folder) as server:
        assert server.request("GET", f"{place(asked)}/estimates?item=1", role="read").status == 503
        assert server.send(asked, new_key(), range(10, 20)) == 201
        assert "collected.tally: expected" in server.logged()
    (folder / "inbox.db").write_bytes((folder / "inbox.db").read_bytes()[:5000])
    with pytest.raises(GoneError, match=r"inbox\.db: damaged"), serving(folder):
        pass


def test_a_collection_whose_time_is_over_closes_by_itself(tmp_path: Path) -> None:
    folder = tmp_path / "collector"
    with serving(folder, "--every", "2") as server:
        asked = question(closes=soon(seconds=4))
        created(server, asked)
        key = new_key()
        assert server.send(asked, key, range(10)) == 201
        until = time.monotonic() + 60
        while not server.request("GET", "/v1/collections", role="read").json["collections"][0]["closed"]:
            assert time.monotonic() < until
            time.sleep(0.05)
        assert server.send(asked, key, range(10)) == 410
        while not (folder / asked.id / "collected.tally").exists():
            assert time.monotonic() < until
            time.sleep(0.05)
        assert server.request("GET", f"{place(asked)}/estimates?item=1", role="read").json["reports"] == 10
        assert server.terminate() == 0
    assert filed(folder, asked) == list(range(10))


# --- kill -9 -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cycles", [20, pytest.param(200, marks=pytest.mark.slow)])
def test_kills_while_eight_writers_send_and_rolls_happen_lose_and_repeat_nothing(cycles: int, tmp_path: Path) -> None:
    folder, asked = tmp_path / "collector", question()
    every = {new_key(): range(4 * number, 4 * number + 4) for number in range(min(ITEMS // 4, 75 * cycles))}
    acknowledged: set[str] = set()
    killed = rolled = 0

    def deliver(server: Serving, key: str) -> bool:
        before = key in acknowledged
        try:
            status = server.send(asked, key, every[key])
        except GoneError:
            return False
        assert status == 200 if before else status in (200, 201)
        acknowledged.add(key)
        return True

    def report_files() -> int:
        return sum(1 for _ in (folder / asked.id / "reports").glob("[0-9]*.parquet"))

    for cycle in range(cycles):
        with serving(folder, "--every", "0.05") as server:
            if not cycle:
                created(server, asked)
            before, until = report_files(), time.monotonic() + 20
            mine = list(every)[cycle * 75 : cycle * 75 + 75]
            with ThreadPoolExecutor(8) as pool:
                # Every other batch is one of an earlier cycle, sent again.
                again = [key for pair in zip(mine, list(every)[: len(mine)], strict=False) for key in pair]
                running = [pool.submit(deliver, server, key) for key in again]
                while sum(each.done() for each in running) < len(running) * (1 + cycle % 3) // 4:
                    time.sleep(0.002)
                while cycle % 4 == 3 and report_files() == before and time.monotonic() < until:
                    time.sleep(0.002)
                server.process.send_signal(signal.SIGKILL)
                answered = [each.result() for each in running]
            assert server.process.wait(10) == -signal.SIGKILL
            killed += not all(answered)
            rolled += report_files() > before
    assert killed >= cycles // 2, "kills that hit senders"
    assert rolled >= cycles // 4, "rolls"
    with serving(folder) as server:
        assert all(deliver(server, key) for key in every)
        found = server.request("GET", f"{place(asked)}/estimates?item=1", role="read")
        assert found.json["reports"] == 4 * len(every)
        server.request("POST", f"{place(asked)}/close", role="admin")
        assert server.terminate() == 0
    assert filed(folder, asked) == list(range(4 * len(every)))


def test_documents_of_answers_are_json(server: Serving) -> None:
    asked = question("json", minimum=3)
    created(server, asked)
    server.send(asked, new_key(), range(9))
    found = server.request("GET", f"{place(asked)}/estimates?item=5&item=7", role="read")
    assert [each["item"] for each in json.loads(found.body)["estimates"]] == [5, 7]
