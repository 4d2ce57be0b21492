"""Report files and tallies in an S3 store: a real server on loopback, with faults that are produced and counted."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import shlex
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cases import in_turn
from engines.making import one_task_each
from files.making import SMALL, damage_group, small_file, users_reports
from plausibly import Keys, ParameterError, StateError, make
from plausibly.cli import app
from plausibly.core.atomic import locked
from plausibly.engines import Segment, collect, fold, merge_files
from plausibly.engines.survey import report_files, survey
from plausibly.files import (
    Collected,
    DamagedError,
    ReportFile,
    StoredFile,
    UnreachableError,
    read_tally,
    stores,
    write_reports,
)
from plausibly.files.places import cache_folder, working_path
from storing import BUCKET, SECRET, Store, running

pytestmark = pytest.mark.full

SLOW_DOWN, BROKEN = (503, "SlowDown"), (500, "InternalError")


@pytest.fixture(scope="module")
def server() -> Iterator[Store]:
    """One server for all tests of a process."""
    with running() as store:
        yield store


@pytest.fixture
def store(server: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    """The server with an empty bucket, and an environment that leads there."""
    server.reset()
    stores._s3.cache_clear()
    for name in ("AWS_ENDPOINT_URL_S3", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_ENDPOINT_URL", server.endpoint)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return server


@pytest.fixture
def day(store: Store, folder: Path) -> str:
    """The files of the local folder, in a folder of the store."""
    for path in folder.iterdir():
        store.put(f"day/{path.name}", path.read_bytes())
    return f"s3://{BUCKET}/day/"


@pytest.fixture
def local(folder: Path, tmp_path: Path) -> bytes:
    """The tally of the local folder."""
    collect([folder], tmp_path / "local.tally")
    return (tmp_path / "local.tally").read_bytes()


def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two attempts for each request, and a second of silence."""
    monkeypatch.setattr(stores, "_ATTEMPTS", 2)
    monkeypatch.setattr(stores, "_SILENT_SECONDS", 1.0)
    stores._s3.cache_clear()


def content_of(path: Path, count: int = 25, seed: int = 7) -> bytes:
    """The bytes of a report file."""
    small_file(path, count, seed=seed)
    content = path.read_bytes()
    path.unlink()
    return content


# --- surveying and reading ----------------------------------------------------------------------------------------


def test_surveying_a_file_takes_two_requests(store: Store, day: str, tmp_path: Path) -> None:
    for place in range(20):
        store.put(f"day/more/{place}.parquet", content_of(tmp_path / "more", 5, seed=10 + place))
    sources = report_files([day])
    assert store.asked == [("GET", f"/{BUCKET}")], "one listing"
    store.asked.clear()
    files = [ReportFile(source) for source in sources]
    assert len(files) == 23
    assert set(Counter(store.asked).values()) == {1}
    assert len(store.asked) == 2 * len(files), "its size, and its end"
    assert sum(map(len, files)) == 68 + 20 * 5


def test_long_metadata_take_one_more_request(store: Store, tmp_path: Path) -> None:
    scheme = make("DE", epsilon=1, domain=[f"label {place:030}" for place in range(3000)])
    write_reports(tmp_path / "a", scheme, users_reports(scheme, 25))
    address = store.put("a.parquet", (tmp_path / "a").read_bytes())
    assert [each.tolist() for each in ReportFile(address)] == [each.tolist() for each in ReportFile(tmp_path / "a")]
    assert store.asked == [("HEAD", f"/{BUCKET}/a.parquet")] + 5 * [("GET", f"/{BUCKET}/a.parquet")]


def test_a_tally_has_the_same_bytes_wherever_its_reports_are(
    store: Store, day: str, local: bytes, tmp_path: Path
) -> None:
    assert collect([day], tmp_path / "stored.tally").added == 68
    assert (tmp_path / "stored.tally").read_bytes() == local
    reads = Counter(store.asked)
    for name, groups in {"0": 3, "1": 4, "2": 1}.items():
        path = f"/{BUCKET}/day/{name}.parquet"
        opened = reads["HEAD", path]
        assert 2 <= opened <= 1 + groups, "for the survey, and for each task"
        assert reads["GET", path] == opened + groups, "its end each time, and one request for each row group"


@pytest.mark.full
def test_many_files_are_surveyed_at_a_time_and_in_order(store: Store, tmp_path: Path) -> None:
    for place in range(8):
        content = content_of(tmp_path / "a", 5, seed=place)
        for name in (place, 10 + place):
            store.put(f"day/{name:02}.parquet", content)
    store.before = lambda method, path: time.sleep(0.05)
    found = survey([f"s3://{BUCKET}/day"], None, skip_bad=False)
    assert [each.name[-10:] for each in found.files.values()] == [f"{place:02}.parquet" for place in range(8)]
    assert found.copies == tuple(f"s3://{BUCKET}/day/{10 + place}.parquet" for place in range(8))
    assert store.at_once >= 8


def test_a_stored_folder_is_searched_as_a_local_one(store: Store, folder: Path, tmp_path: Path) -> None:
    names = (
        "b/x y+50%.parquet",
        "b.parquet",
        "ä#1/z.parquet",
        "_hidden/c.parquet",
        "d/.parquet",
        "b/.e.parquet",
        "f.csv",
    )
    for place, name in enumerate(names):
        (tmp_path / "day" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "day" / name).write_bytes(content_of(tmp_path / "a", 5, seed=place))
        store.put(f"day/{name}", (tmp_path / "day" / name).read_bytes())
    here = [str(path) for path in report_files([tmp_path / "day"]) if isinstance(path, Path)]
    assert len(here) == 3
    for address in (f"s3://{BUCKET}/day", f"s3://{BUCKET}/day/", f"s3://{BUCKET}"):
        there = report_files([address])
        assert there == [StoredFile(path.replace(str(tmp_path), f"s3://{BUCKET}")) for path in here]
        assert sum(len(ReportFile(each)) for each in there) == 15
    address = store.put("without-suffix", store.get("day/b.parquet"))
    assert report_files([address]) == [StoredFile(address)]


def test_openers_of_stored_files_are_plain_data(store: Store, day: str) -> None:
    opener = pickle.loads(pickle.dumps(StoredFile(f"{day}0.parquet")))
    assert opener == StoredFile(f"{day}0.parquet")
    with opener.open() as file:
        assert file.read(4) == b"PAR1"
        file.seek(-4, 2)
        assert (file.read(), file.read(1)) == (b"PAR1", b"")
        file.seek(0)
        assert file.seek(2, 1) == 2
        assert file.read(2) == b"R1"


@pytest.mark.full
def test_another_process_reads_what_this_one_has_surveyed(store: Store, day: str) -> None:
    segments = [
        Segment(each, ReportFile(each).identity, 0, len(ReportFile(each).groups)) for each in report_files([day])
    ]
    for method in ("spawn", "fork"):
        with ProcessPoolExecutor(1, multiprocessing.get_context(method)) as pool:
            assert len(pool.submit(fold, SMALL, segments).result(timeout=60)) == 68


# --- faults -------------------------------------------------------------------------------------------------------


@pytest.mark.full
@in_turn("answer", [SLOW_DOWN, BROKEN])
def test_a_store_that_fails_for_a_while_is_asked_again(
    answer: tuple[int, str], store: Store, day: str, local: bytes, tmp_path: Path
) -> None:
    pending = {"HEAD": 1, "GET": 1}

    def fail_once(method: str, path: str) -> None:
        if path.endswith("1.parquet") and pending.get(method):
            pending[method] -= 1
            store.failing.append(answer)

    store.before, store.failed = fail_once, 0
    out = tmp_path / f"{answer[0]}.tally"
    assert collect([day], out).added == 68
    assert (store.failed, out.read_bytes()) == (2, local)


@in_turn("answer", [SLOW_DOWN, BROKEN])
def test_a_row_group_is_asked_for_again(answer: tuple[int, str], store: Store, day: str) -> None:
    file = ReportFile(f"{day}0.parquet")
    store.failing, store.failed = [answer], 0
    assert len(file.read(2)) == 5, "few bytes: fewer than an answer that says what is wrong"
    assert store.failed == 1


@pytest.mark.full
def test_a_store_that_goes_on_failing_is_unreachable_and_not_damaged(
    store: Store, day: str, local: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    impatient(monkeypatch)
    one_task_each(monkeypatch)
    reads = Counter[str]()

    def fail_late(method: str, path: str) -> None:
        reads[path] += 1
        if path.endswith("1.parquet") and reads[path] > 6:
            store.failing.append(BROKEN)

    store.before = fail_late
    with pytest.raises(UnreachableError, match=r"1\.parquet.*: the store answered with an error \((500|INTERN)"):
        collect([day], tmp_path / "out.tally", skip_bad=True)
    assert store.failed >= 2
    assert not (tmp_path / "out.tally").exists()
    store.before = lambda method, path: None
    store.failing.clear()
    found = collect([day], tmp_path / "out.tally", skip_bad=True)
    assert (found.resumed + found.added, found.skipped) == (68, ())
    assert (tmp_path / "out.tally").read_bytes() == local


def test_an_object_that_vanishes_after_the_survey_is_unreachable(store: Store, day: str) -> None:
    segment = Segment(f"{day}0.parquet", ReportFile(f"{day}0.parquet").identity, 0, 3)
    store.reset()
    with pytest.raises(UnreachableError, match=r"0\.parquet: there is no such file"):
        fold(SMALL, [segment], skip_bad=True)


def test_a_truncated_object_is_damaged(store: Store, day: str, tmp_path: Path) -> None:
    store.put("day/1.parquet", store.get("day/1.parquet")[:-100])
    with pytest.raises(DamagedError, match=r"s3://bucket/day/1\.parquet: not a complete Parquet file"):
        collect([day], tmp_path / "out.tally")
    found = collect([day], tmp_path / "out.tally", skip_bad=True)
    assert (found.added, [each.file for each in found.skipped]) == (28, [f"{day}1.parquet"])


def replacing(store: Store, name: str, content: bytes, *, opening: int) -> list[str]:
    """Replace an object when it is opened for the n-th time, or when it is read then; returns when it has happened."""
    opened: list[str] = []
    done: list[str] = []

    def replace(method: str, path: str) -> None:
        if path.endswith(name):
            opened.extend([path] * (method == "HEAD"))
            if len(opened) == opening and not done:
                done.append(path)
                store.put(f"day/{name}", content)

    store.before = replace
    return done


def test_an_object_replaced_between_survey_and_read_is_refused(store: Store, day: str, tmp_path: Path) -> None:
    done = replacing(store, "0.parquet", content_of(tmp_path / "a"), opening=2)
    with pytest.raises(DamagedError, match=r"day/0\.parquet: the file was replaced during the collection"):
        collect([day], tmp_path / "out.tally")
    assert done
    again = replacing(store, "1.parquet", content_of(tmp_path / "a", 40, seed=8), opening=2)
    found = collect([day], tmp_path / "out.tally", skip_bad=True)
    assert again
    assert {each.file for each in found.skipped} == {f"{day}1.parquet"}
    assert len(found.tally) == 25 + 3, "the file that was whole, and what is at the other's place now"


@in_turn("cut", [None, 300])
def test_an_object_replaced_or_cut_off_between_two_row_groups_is_refused(
    cut: int | None, store: Store, tmp_path: Path
) -> None:
    address = store.put("a.parquet", content_of(tmp_path / "a", seed=8))
    file = ReportFile(address)
    assert len(file.read(0)) == 10
    store.put("a.parquet", content_of(tmp_path / "a", seed=9)[:cut])
    for group in (1, 2):
        with pytest.raises((DamagedError, UnreachableError), match=rf"a\.parquet, row group {group}: "):
            file.read(group)


def test_damage_within_a_stored_row_group_is_named(store: Store, day: str, folder: Path, tmp_path: Path) -> None:
    damage_group(folder / "1.parquet", 2)
    store.put("day/1.parquet", (folder / "1.parquet").read_bytes())
    found = collect([day], tmp_path / "out.tally", skip_bad=True)
    assert [(each.file, each.group) for each in found.skipped] == [(f"{day}1.parquet", 2)]
    assert found.added == 58


# --- tallies in the store -----------------------------------------------------------------------------------------


def test_a_tally_is_uploaded_whole_and_added_to(store: Store, day: str, local: bytes, tmp_path: Path) -> None:
    out = f"s3://{BUCKET}/results/day.tally"
    assert collect([f"{day}0.parquet"], out).added == 25
    assert collect([day], out).added == 43
    assert store.get("results/day.tally") == local
    assert len(read_tally(out)) == 68
    store.asked.clear()
    assert collect([day], out).added == 0
    assert not [asked for asked in store.asked if asked[0] in ("PUT", "POST")], "nothing new, nothing uploaded"
    assert not list(cache_folder().iterdir())


@pytest.mark.full
def test_an_upload_that_fails_is_made_good_without_reading_again(
    store: Store, day: str, local: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    impatient(monkeypatch)
    out = f"s3://{BUCKET}/results/day.tally"
    collect([f"{day}0.parquet"], out)
    before = store.get("results/day.tally")

    def fail_uploads(method: str, path: str) -> None:
        if method in ("PUT", "POST"):
            store.failing.append(SLOW_DOWN)

    store.before = fail_uploads
    with pytest.raises(UnreachableError, match=r"s3://bucket/results/day\.tally: the store answered"):
        collect([day], out)
    assert store.failed >= 2
    assert store.get("results/day.tally") == before, "as it was"
    store.before = lambda method, path: None
    store.asked.clear()
    found = collect([day], out)
    assert (found.resumed, found.added, store.get("results/day.tally")) == (43, 0, local)
    reads = Counter(path for method, path in store.asked if method == "GET" and path.endswith(".parquet"))
    assert set(reads.values()) == {1}, "the survey"
    assert not list(cache_folder().iterdir())


KILLED = """
import sys
from plausibly.engines import collect, survey
survey._TASKS_EACH, survey._REPORTS_PER_CELL = 1000, 0
collect([sys.argv[1]], sys.argv[2], save_every=0)
"""


@pytest.mark.full
def test_a_killed_collection_between_stores_resumes(store: Store, day: str, local: bytes) -> None:
    out = f"s3://{BUCKET}/day.tally"
    reads: list[str] = []
    ended: list[int] = []

    def kill(method: str, path: str) -> None:
        reads.extend([path] * (method == "GET" and path.endswith("1.parquet")))
        if len(reads) == 5 and not ended:
            ended.append(process.pid)
            process.kill()

    store.before = kill
    environment = os.environ | {"PLAUSIBLY_THREADS": "1"}
    process = subprocess.Popen([sys.executable, "-c", KILLED, day, out], env=environment)
    assert process.wait(timeout=60) == -signal.SIGKILL
    assert ended == [process.pid]
    assert "day.tally" not in store.names()
    found = collect([day], out)
    assert found.resumed >= 10, "at least the first task was saved"
    assert found.resumed + found.added == 68
    assert store.get("day.tally") == local
    assert not list(cache_folder().iterdir())


def test_two_collections_on_a_machine_do_not_share_a_stored_tally(store: Store, day: str) -> None:
    out = f"s3://{BUCKET}/day.tally"
    with locked(working_path(out)), pytest.raises(StateError, match=r"^s3://bucket/day\.tally: another process"):
        collect([day], out)


def test_stored_tallies_are_merged(store: Store, day: str, local: bytes, tmp_path: Path) -> None:
    parts = [f"s3://{BUCKET}/{place}.tally" for place in range(3)]
    for place, part in enumerate(parts):
        collect([f"{day}{place}.parquet"], part)
    merge_files(parts, f"s3://{BUCKET}/all.tally")
    assert store.get("all.tally") == local
    with pytest.raises(StateError, match=r"all\.tally: the file exists already"):
        merge_files(parts, f"s3://{BUCKET}/all.tally")
    with pytest.raises(ParameterError, match="overwrite an input file"):
        merge_files(parts, parts[0])
    assert store.names()[:2] == ["0.tally", "1.tally"]


def test_a_damaged_stored_tally_is_named(store: Store, day: str, local: bytes) -> None:
    address = store.put("a.tally", local[:-1])
    with pytest.raises(StateError, match=r"s3://bucket/a\.tally: expected [0-9]+ bytes, got [0-9]+: cut off"):
        Collected.read(address)


ODD = ["a b%20c+d", "ü✓", "x?y", "x#y:z@w", "it's \"<&>", "back\\slash"]
"""Names that a store allows, and that lose something where they are taken for a URL."""


def test_objects_with_odd_names_are_read_and_written(store: Store, folder: Path, tmp_path: Path) -> None:
    content = (folder / "0.parquet").read_bytes()
    for number, name in enumerate(ODD):
        store.put(f"{number}/{name}/{name}.parquet", content)
        address = f"s3://{BUCKET}/{number}/{name}"
        assert collect([f"s3://{BUCKET}/{number}"], tmp_path / f"{number}.tally").added == 25
        assert collect([f"{address}/{name}.parquet"], f"{address}.tally").added == 25
        assert f"{number}/{name}.tally" in store.names()


def test_an_object_with_an_empty_part_in_its_name_is_refused_by_name(
    store: Store, day: str, folder: Path, tmp_path: Path
) -> None:
    store.put("day//0.parquet", (folder / "0.parquet").read_bytes())
    for address in (day, f"{day}/0.parquet"):
        with pytest.raises(
            UnreachableError, match=r"s3://bucket/day//0\.parquet: pyarrow cannot read .* rename the object"
        ):
            collect([address], tmp_path / "out.tally", skip_bad=True)


def test_a_tally_may_have_a_longer_name_in_a_store_than_on_a_disk(store: Store, day: str, local: bytes) -> None:
    name = f"{'ü' * 300}.tally"
    assert collect([day], f"s3://{BUCKET}/{name}").added == 68
    assert store.get(name) == local


def test_a_merged_tally_does_not_replace_an_input_that_is_spelled_otherwise(store: Store, day: str) -> None:
    collect([day], f"s3://{BUCKET}/one.tally")
    with pytest.raises(ParameterError, match="the result would overwrite an input file"):
        merge_files([f"s3://{BUCKET}/one.tally"], f"S3://{BUCKET}//one.tally", overwrite=True)


# --- the command line ---------------------------------------------------------------------------------------------


def run(words: str) -> tuple[int, str, str]:
    """Exit code, results and messages of a command."""
    ended = CliRunner().invoke(app, shlex.split(words), terminal_width=200)
    assert ended.exception is None or isinstance(ended.exception, SystemExit), ended.exception
    return ended.exit_code, ended.stdout, " ".join(ended.stderr.split())


@pytest.mark.full
def test_commands_work_on_a_store(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("pets.txt").write_text("cat\ndog\ndog\n", encoding="utf-8")
    Path("scheme.json").write_text(make("DE", epsilon=1, domain=["cat", "dog"]).to_json(), encoding="utf-8")
    for name in ("mon", "tue"):
        command = f"privatize pets.txt --scheme scheme.json --out s3://{BUCKET}/day/{name}.parquet"
        assert run(command)[::2] == (0, "")
        code, _, told = run(command)
        assert (code, told) == (
            1,
            f"s3://{BUCKET}/day/{name}.parquet: exists already, and reports are never overwritten; choose another name",
        )
        command = f"collect s3://{BUCKET}/day/{name}.parquet --out s3://{BUCKET}/{name}.tally"
        code, result, _ = run(command)
        assert code == 0
        assert result.splitlines()[-1] == f"Written: s3://{BUCKET}/{name}.tally"
    assert run(f"merge s3://{BUCKET}/mon.tally s3://{BUCKET}/tue.tally --out all.tally")[0] == 0
    assert run(f"collect s3://{BUCKET}/day --out again.tally")[0] == 0
    assert Path("all.tally").read_bytes() == Path("again.tally").read_bytes()
    assert "6 reports of DE" in run("estimate file://" + str(tmp_path / "all.tally"))[1]
    assert "3 reports of DE" in run(f"estimate s3://{BUCKET}/mon.tally")[1]
    assert run(f"changes s3://{BUCKET}/mon.tally s3://{BUCKET}/tue.tally")[0] == 0
    assert "not in s3://bucket/mon.tally" in run(f"changes s3://{BUCKET}/mon.tally s3://{BUCKET}/mon.tally")[2]
    for name in ("mon.tally", "day/mon.parquet"):
        assert "a tally, " in (shown := run(f"show s3://{BUCKET}/{name}")[1]) or "a file of reports, " in shown
    assert store.names() == ["day/mon.parquet", "day/tue.parquet", "mon.tally", "tue.tally"]


def test_stored_reports_of_an_open_domain_are_asked_as_local_ones(store: Store, tmp_path: Path) -> None:
    scheme = make("OLH", epsilon=1, domain=Keys())
    write_reports(tmp_path / "a.parquet", scheme, scheme.privatize(["x", "y"] * 20))
    store.put("open/a.parquet", (tmp_path / "a.parquet").read_bytes())
    here, there = (run(f"estimate {place} --items x,y --json") for place in (tmp_path, f"s3://{BUCKET}/open"))
    assert here[0] == 0
    assert there == here


def nowhere() -> str:
    """An endpoint where nobody listens."""
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{closed.getsockname()[1]}"


def test_without_any_credentials_the_message_names_those_that_s3_needs(
    store: Store, day: str, local: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.signed_only = True
    monkeypatch.chdir(tmp_path)
    with monkeypatch.context() as without:
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"):
            without.delenv(name, raising=False)
        for name in ("AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE"):
            without.setenv(name, str(tmp_path / "absent"))
        code, result, message = run(f"collect {day} --out out.tally --skip-bad")
    assert store.unsigned > 0
    assert (code, result) == (1, "")
    assert "access denied; check the credentials" in message
    assert "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE" in message
    assert not list(tmp_path.glob("*out*"))
    stores._s3.cache_clear()
    assert run(f"collect {day} --out out.tally")[0] == 0
    assert (tmp_path / "out.tally").read_bytes() == local


@pytest.mark.full
def test_what_cannot_be_reached_is_told_with_advice(
    store: Store, day: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    impatient(monkeypatch)
    monkeypatch.chdir(tmp_path)
    store.put("empty/readme.txt", b"nothing here")
    before = store.names()
    silent = socket.create_server(("127.0.0.1", 0))
    forbid = partial(setattr, store, "forbidden", f"/{BUCKET}")
    allow = partial(setattr, store, "forbidden", "")
    endpoint = partial(monkeypatch.setenv, "AWS_ENDPOINT_URL")
    steps: list[tuple[Callable[[], object], str, str]] = [
        (
            forbid,
            f"collect {day} --out out.tally --skip-bad",
            "access denied; check the credentials in the environment",
        ),
        (forbid, f"collect {day}0.parquet --out out.tally --skip-bad", "access denied; check the credentials"),
        (forbid, f"estimate s3://{BUCKET}/out.tally", "access denied; check the credentials"),
        (forbid, f"show {day}0.parquet", "access denied; check the credentials"),
        (allow, "collect s3://nobody/day --out out.tally", "there is no such bucket; check its name and the endpoint"),
        (allow, f"collect s3://{BUCKET}/night --out out.tally", "expected a file, or a folder of files that end in"),
        (allow, f"collect s3://{BUCKET}/empty --out out.tally", "expected a file, or a folder of files that end in"),
        (
            allow,
            f"collect {day}9.parquet --out out.tally --skip-bad",
            "9.parquet: there is no such file; check its name",
        ),
        (allow, f"collect {day}0.parquet --out s3://nobody/out.tally", "out.tally: there is no such bucket"),
        (allow, f"collect foo://{BUCKET}/day --out out.tally", "expected a path, or one of s3://, gs://"),
        (allow, f"collect s3://key:{SECRET}@{BUCKET}/day --out out.tally", "set them in the environment"),
        (allow, f"collect 's3://{BUCKET}/day?secret_key={SECRET}' --out out.tally", "set them in the environment"),
        (partial(endpoint, nowhere()), f"collect {day} --out out.tally --skip-bad", "the store does not answer; check"),
        (
            partial(endpoint, f"http://127.0.0.1:{silent.getsockname()[1]}"),
            f"collect {day}0.parquet --out out.tally --skip-bad",
            "the store does not answer; check the endpoint in the environment and the network",
        ),
    ]
    with silent:
        for prepare, words, told in steps:
            prepare()
            start = time.monotonic()
            code, result, message = run(words)
            assert time.monotonic() - start < 30, words
            assert (code, result) == (1, ""), (words, message)
            assert told in message, (words, message)
            assert SECRET not in message, words
            assert not list(tmp_path.glob("*out*")), words
    assert [path.name[-20:] for path in cache_folder().iterdir()] == ["out.tally.unfinished"], "of the failed upload"
    assert store.names() == before
