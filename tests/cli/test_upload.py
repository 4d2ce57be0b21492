"""plausibly upload: files of reports to a real collector, exact whatever is killed on the way."""

from __future__ import annotations

import json
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from client.proxying import Proxy, proxying
from plausibly import SeededRandom, make
from plausibly.cli import app
from plausibly.engines.upload_keys import UploadKeys
from plausibly.files import Key, write_reports
from plausibly.service.collections import Collection
from serving import Serving, place, question, serving

pytestmark = pytest.mark.full

BATCH = 1 << 13
REPORTS = 20 * BATCH + 5


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    with serving(tmp_path_factory.mktemp("shared") / "collector") as running:
        yield running
        assert running.terminate() == 0
        assert "error" not in running.logged()


@pytest.fixture
def proxy(server: Serving) -> Iterator[Proxy]:
    with proxying(server.port) as running:
        yield running


def asked(server: Serving, **options: Any) -> Collection:
    made = question(f"upload {time.monotonic_ns()}", **options)
    assert server.request("POST", "/v1/collections", made.document, "admin").status == 201
    return made


def counted(server: Serving, collection: Collection) -> int:
    listed = server.request("GET", "/v1/collections", role="read").json["collections"]
    return int(next(each["reports"] for each in listed if each["id"] == collection.id))


def written(path: Path, collection: Collection, reports: int = REPORTS) -> Path:
    write_reports(path, collection.scheme, collection.scheme.privatize([7] * reports))
    return path


def told(*words: object) -> Any:
    ended = CliRunner().invoke(app, ["upload", *map(str, words), "--json"])
    assert ended.exit_code == 0, ended.output
    return json.loads(ended.stdout)


def refused(*words: object) -> str:
    ended = CliRunner().invoke(app, ["upload", *map(str, words), "--wait", "0"])
    assert ended.exit_code == 1, ended.output
    return " ".join(ended.stderr.split())


def test_every_report_is_counted_once_however_often_it_is_uploaded(
    server: Serving, proxy: Proxy, tmp_path: Path
) -> None:
    asking = asked(server)
    first = written(tmp_path / "a.parquet", asking)
    found = told(first, "--to", proxy.url(asking.id))
    assert {name: found[name] for name in ("reports", "new", "repeated", "batches", "files")} == {
        "reports": REPORTS,
        "new": REPORTS,
        "repeated": 0,
        "batches": 21,
        "files": 1,
    }
    assert (found["collection"], found["fingerprint"]) == (asking.id, asking.scheme.fingerprint())
    written(tmp_path / "b.parquet", asking, 10)
    (tmp_path / "copy.parquet").write_bytes(first.read_bytes())
    again = told(tmp_path, "--to", proxy.url(asking.id))
    assert (again["new"], again["repeated"], again["files"]) == (10, REPORTS, 2)
    assert again["copies"] == [str(tmp_path / "copy.parquet")]
    assert counted(server, asking) == REPORTS + 10
    assert stat.S_IMODE((tmp_path / "a.parquet.upload").stat().st_mode) == 0o600
    shown = CliRunner().invoke(app, ["upload", str(first), "--to", proxy.url(asking.id)]).stdout
    assert shown.splitlines()[0].split() == f"uploaded 0 reports; {REPORTS:,} were counted already".split()


def test_keys_depend_on_the_secret_the_collection_the_file_and_the_place(tmp_path: Path) -> None:
    keys, others = UploadKeys.kept(tmp_path / "state"), UploadKeys.kept(tmp_path / "other")
    assert keys == UploadKeys.kept(tmp_path / "state") != others
    named = [(c, f, g, b) for c in ("c", "d") for f in ("f", "h") for g in (0, 1) for b in (0, 11)]
    made = [each.key(*name) for each in (keys, others) for name in named]
    assert len(set(made)) == len(made) == 32
    assert {len(key) for key in made} == {16}


def test_a_state_of_its_own_is_used_for_all_files(server: Serving, proxy: Proxy, tmp_path: Path) -> None:
    asking = asked(server)
    reports, state = written(tmp_path / "a.parquet", asking, 10), tmp_path / "state"
    for new in (10, 0):
        assert told(reports, "--to", proxy.url(asking.id), "--state", state)["new"] == new
    assert not (tmp_path / "a.parquet.upload").exists()
    whole = state.read_bytes()
    for damaged in (b"", whole[:-9], whole.replace(b"8192", b"8193"), b"{}", b"[" * 4000):
        state.write_bytes(damaged)
        said = refused(reports, "--to", proxy.url(asking.id), "--state", state)
        assert "expected the state of an upload, got something else or a damaged file" in said
    assert counted(server, asking) == 10


def test_a_lost_answer_and_a_busy_collector_change_no_count(server: Serving, proxy: Proxy, tmp_path: Path) -> None:
    asking = asked(server)
    proxy.faults.extend(["", "lost answer", "busy", "", "deaf", "lost answer", "portal", "no disk"])
    found = told(written(tmp_path / "a.parquet", asking), "--to", proxy.url(asking.id))
    assert (found["new"] + found["repeated"], counted(server, asking)) == (REPORTS, REPORTS)
    assert found["repeated"] == 2 * BATCH
    assert proxy.faults == type(proxy.faults)()


def test_refusals_say_what_to_do(server: Serving, proxy: Proxy, tmp_path: Path) -> None:
    asking, full, closed = asked(server), asked(server, cap=5 * BATCH + 1), asked(server)
    reports = written(tmp_path / "a.parquet", asking)
    assert server.request("POST", f"{place(closed)}/close", role="admin").status == 200
    assert "closed and accepts no more reports; 0 of 163,845" in refused(reports, "--to", proxy.url(closed.id))
    assert "the collection has all reports that it accepts" in refused(reports, "--to", proxy.url(full.id))
    assert counted(server, full) <= 5 * BATCH
    other = make("DE", epsilon=2, domain_size=1 << 16)
    write_reports(tmp_path / "other.parquet", other, other.privatize([1]))
    said = refused(tmp_path / "other.parquet", "--to", proxy.url(asking.id))
    assert "expected the scheme of the collection, got another: epsilon is" in said
    write_reports(tmp_path / "made-up.parquet", asking.scheme, asking.scheme.privatize([1], SeededRandom(1)))
    assert "pass --simulated to accept them" in refused(tmp_path / "made-up.parquet", "--to", proxy.url(asking.id))
    assert told(tmp_path / "made-up.parquet", "--to", proxy.url(full.id), "--simulated")["new"] == 1
    ended = CliRunner().invoke(app, ["upload", str(reports), "--to", proxy.url(asking.id), "--wait", "nan"])
    assert (ended.exit_code, "--wait: expected a number of seconds" in ended.stderr) == (2, True)
    assert "no collection with this id" in refused(reports, "--to", proxy.url("0" * 64))
    for fault, message in (
        ("portal", "expected the document whose SHA-256 is the id in the address"),
        ("elsewhere", "got status 302; check the address"),
        ("deaf", "the collector did not answer"),
    ):
        proxy.faults.append(fault)
        assert message in refused(reports, "--to", proxy.url(asking.id))
    nobody = f"http://127.0.0.1:9/v1/collections/{asking.id}"
    assert "the collector did not answer: Connection refused" in refused(reports, "--to", nobody)
    assert proxy.posts() == [path for path in proxy.posts() if asking.id not in path], "nothing was sent"
    proxy.faults.extend(["", "refused"])
    assert "the collector refused a batch: no;" in refused(reports, "--to", proxy.url(asking.id))
    proxy.faults.extend(["", *["busy"] * 30])
    assert "run the same command again to continue" in refused(reports, "--to", proxy.url(asking.id))
    proxy.faults.clear()
    assert told(reports, "--to", proxy.url(asking.id))["reports"] == counted(server, asking) == REPORTS


def test_reports_written_with_a_key_need_it(server: Serving, proxy: Proxy, tmp_path: Path) -> None:
    asking, key = asked(server), tmp_path / "key"
    key.write_bytes(b"0123456789abcdef")
    key.chmod(0o600)
    reports = asking.scheme.privatize([1, 2])
    write_reports(tmp_path / "a.parquet", asking.scheme, reports, key=Key.read(key))
    assert "pass --key-file FILE" in refused(tmp_path / "a.parquet", "--to", proxy.url(asking.id))
    assert told(tmp_path / "a.parquet", "--to", proxy.url(asking.id), "--key-file", key)["new"] == 2


def begun(reports: Path, url: str, *more: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "plausibly", "upload", str(reports), "--to", url, "--json", *more]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def wait_for(proxy: Proxy, posts: int, process: subprocess.Popen[str]) -> None:
    until = time.monotonic() + 60
    while len(proxy.posts()) < posts and process.poll() is None and time.monotonic() < until:
        time.sleep(0.002)


def test_an_uploader_that_is_killed_again_and_again_counts_every_report_once(
    server: Serving, proxy: Proxy, tmp_path: Path
) -> None:
    asking = asked(server)
    reports = written(tmp_path / "a.parquet", asking)
    killed = 0
    for posts in (1, 4, 11):
        proxy.seen.clear()
        process = begun(reports, proxy.url(asking.id))
        wait_for(proxy, posts, process)
        process.kill()
        process.communicate(timeout=60)
        killed += process.returncode == -9
    assert killed >= 2
    partly = counted(server, asking)
    assert partly > 0
    last = begun(reports, proxy.url(asking.id))
    out, error = last.communicate(timeout=120)
    assert last.returncode == 0, error
    found = json.loads(out)
    assert found["repeated"] >= partly
    assert found["reports"] == counted(server, asking) == REPORTS


def test_a_collector_that_is_killed_during_the_upload_counts_every_report_once(tmp_path: Path) -> None:
    folder = tmp_path / "collector"
    with serving(folder) as running, proxying(running.port) as proxy:
        asking = asked(running)
        proxy.faults.extend(["", *[""] * 6, *["deaf"] * 1000])
        process = begun(written(tmp_path / "a.parquet", asking), proxy.url(asking.id))
        wait_for(proxy, 6, process)
        running.kill()
        with serving(folder) as again:
            assert process.poll() is None, "the upload goes on"
            proxy.target = again.port
            proxy.faults.clear()
            out, error = process.communicate(timeout=120)
            assert process.returncode == 0, error
            assert json.loads(out)["reports"] == counted(again, asking) == REPORTS
