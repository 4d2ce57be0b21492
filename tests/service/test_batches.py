"""Releases in batches: nothing but whole batches is ever seen, whoever asks, closes, or is killed."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path

import pytest
from typer.testing import CliRunner

import killed
import plausibly
from dashboards import Analyst
from plausibly import Labels, encode_reports, make
from plausibly.cli import app
from plausibly.client import Collector as Sender
from plausibly.client import Outcome as Sent
from plausibly.core.errors import StateError
from plausibly.files import Collected, ReportFile
from plausibly.service.answers import TooFewError
from plausibly.service.backup import backup
from plausibly.service.collections import Collection
from plausibly.service.collector import Collector, opened
from plausibly.service.inbox import Account, Batch, DamagedInboxError
from plausibly.service.progress import Progress
from plausibly.service.release import central, release_of, sentences
from serving import filed, new_key, place, question, records, serving
from stores import Store

SMALLEST = 100
ASKED = question(smallest_batch=SMALLEST)


def add(collector: Collector, first: int, last: int, asked: Collection = ASKED) -> None:
    batch = Batch(bytes.fromhex(new_key()), records(asked, range(first, last)), last - first)
    collector.writer.run(lambda: collector.inbox.commit({asked.id: [batch]})).result()


def account_of(collector: Collector, asked: Collection = ASKED) -> Account:
    found = collector.account(asked.id)
    assert found is not None
    return found


def sizes(folder: Path, asked: Collection = ASKED) -> list[int]:
    """The numbers of reports in the files of a collection."""
    return [len(ReportFile(path)) for path in (folder / asked.id / "reports").glob("[0-9]*.parquet")]


def eventually(happened: Callable[[], bool]) -> None:
    until = time.monotonic() + 30
    while not happened():
        assert time.monotonic() < until
        time.sleep(0.01)


def test_answers_and_their_tags_know_nothing_of_reports_that_wait(tmp_path: Path, where: dict[str, str]) -> None:
    with opened(tmp_path, **where) as collector:
        collector.create(ASKED)
        before = collector.answers.moment(ASKED.id)[1]
        add(collector, 0, SMALLEST - 1)
        assert collector.roller.roll(ASKED.id) == 0
        assert collector.answers.moment(ASKED.id)[1] == before
        assert len(collector.answers.state(ASKED.id).tally) == 0
        with pytest.raises(TooFewError, match="expected at least 100 reports in batches before estimates are shown"):
            collector.answers.estimates(ASKED.id, {"item": ["1"]})
        add(collector, SMALLEST - 1, 130)
        assert collector.roller.roll(ASKED.id) == 130
        first = collector.answers.state(ASKED.id)
        for start in range(130, 220, 30):
            add(collector, start, start + 30)
            again = collector.answers.state(ASKED.id)
            assert collector.roller.roll(ASKED.id) == 0
            assert (again.tag, again.collected.to_bytes()) == (first.tag, first.collected.to_bytes())
        # Nothing that is kept from an earlier answer, nor a restart, makes a difference.
        assert (account_of(collector).released, account_of(collector).waiting) == (130, 90)
    with opened(tmp_path, **where) as collector:
        assert collector.answers.state(ASKED.id).collected.to_bytes() == first.collected.to_bytes()
        add(collector, 220, 230)
        assert collector.roller.roll(ASKED.id) == 100
        assert collector.answers.state(ASKED.id).tag != first.tag
    assert sizes(tmp_path) in ([130, 100], [100, 130])
    assert filed(tmp_path, ASKED) == list(range(230))


@pytest.mark.parametrize(("left", "dropped"), [(SMALLEST - 1, SMALLEST - 1), (SMALLEST, 0), (0, 0)])
def test_what_is_left_at_the_close_is_a_batch_or_dropped_and_counted(
    left: int, dropped: int, tmp_path: Path, where: dict[str, str]
) -> None:
    with opened(tmp_path, **where) as collector:
        collector.create(ASKED)
        add(collector, 0, 120)
        collector.roller.roll(ASKED.id)
        if left:
            add(collector, 120, 120 + left)
        collector.close(ASKED.id)
        collector.close(ASKED.id)
        found = account_of(collector)
        assert (found.received, found.dropped, found.waiting) == (120 + left, dropped, 0)
        assert len(collector.answers.state(ASKED.id).tally) == found.released == 120 + left - dropped
        told = release_of(found)
        assert told is not None
        assert told["dropped"] == dropped
        note = "99 reports were dropped at the close, because a batch has at least 100 reports."
        assert told.get("note") == (note if dropped else None)
        assert list(sentences(found))[1:] == [note] * bool(dropped)
        assert collector.roller.dropped == dropped
        with collector.inbox.view() as view:
            assert [list(view.rows(table)) for table in ("pending", "keys")] == [[], []]
    assert filed(tmp_path, ASKED) == list(range(120 + left - dropped))
    with opened(tmp_path, **where) as collector:
        assert account_of(collector) == found


@pytest.mark.parametrize("enough", [1, 40, 90])
@pytest.mark.parametrize("total", [130, 250, 430, 1200])
def test_no_part_of_a_large_roll_is_smaller_than_a_batch(
    total: int, enough: int, tmp_path: Path, where: dict[str, str]
) -> None:
    with opened(tmp_path, **where, roll_reports=enough) as collector:
        collector.create(ASKED)
        for start in range(0, total, 30):
            add(collector, start, min(start + 30, total))
        assert collector.roller.roll(ASKED.id) == total
    found = sizes(tmp_path)
    assert min(found) >= SMALLEST
    # A part has at most a row more than it should, and less than a batch that would be left.
    assert max(found) < max(SMALLEST, 2 * enough) + 30 + SMALLEST
    assert filed(tmp_path, ASKED) == list(range(total))


def test_reports_that_were_dropped_are_in_the_sealed_account(store: Store) -> None:
    inbox = store.open()
    inbox.create(ASKED)
    inbox.commit({ASKED.id: [Batch(bytes(16), records(ASKED, range(9)), 9)]})
    with inbox.view() as view:
        (open_account,) = view.accounts()
        last = view.last(open_account)
    with pytest.raises(StateError, match="another collector"):
        inbox.drop(open_account, last)
    inbox.close_collection(ASKED.id)
    with inbox.view() as view:
        (closed,) = view.accounts()
    inbox.drop(closed, last)
    with pytest.raises(StateError, match="another collector"):
        inbox.drop(closed, last)
    inbox.remove_rolled(ASKED.id, 10)
    inbox.close()
    with store.open().view() as view:
        assert [(each.received, each.dropped, each.waiting) for each in view.accounts()] == [(9, 9, 0)]
    store.execute("UPDATE collections SET closed = closed - 1")
    with pytest.raises(DamagedInboxError, match="the account of a collection was changed"):
        store.open()


def test_a_file_that_is_smaller_than_a_batch_is_never_counted(tmp_path: Path) -> None:
    with opened(tmp_path) as collector:
        collector.create(ASKED)
        add(collector, 0, 50)
        with collector.inbox.view() as view:
            found = account_of(collector)
            content, last = b"".join(view.pending(found)), view.last(found)
        with pytest.raises(StateError, match="expected at least 100 reports for a batch, got 50"):
            collector.roller._write(found, last, content)
        # One that somebody else has put there.
        like = question()
        collector.create(like)
        add(collector, 0, 50, like)
        collector.roller.roll(like.id)
        (path,) = collector.folder.report_files(like.id).values()
        collector.folder.prepare(ASKED.id)
        path.rename(collector.folder.report_file(ASKED.id, last))
        with pytest.raises(StateError, match="expected at least 100 reports for a batch, got 50"):
            collector.roller.roll(ASKED.id)
        assert len(collector.answers.state(ASKED.id).tally) == 0


def test_the_promise_is_that_of_the_shuffled_scheme_with_its_conditions() -> None:
    for name in ("OLH", "HM"):
        made = Collection(name="x", scheme=make(name, epsilon=3, domain_size=1000), smallest_batch=10_000)
        found, expected = central(made), plausibly.shuffled(made.scheme, 10_000)
        assert found is not None
        assert (found.epsilon, found.verdict, found.given) == (expected.epsilon, expected.verdict, expected.given)
        told = release_of(Account(1, made))
        assert told is not None
        assert told["central"]["epsilon"] == expected.epsilon
        said = " ".join(told["central"]["conditions"])
        for condition in ("The collector is the shuffler", "fake ones hide nobody", "the ε of the scheme"):
            assert condition in said
        assert ("pairwise uniform" in said) == (name == "OLH")
    slot = Collection(name="x", scheme=made.scheme, smallest_batch=10_000, series="daily", slot=1, rota=7)
    assert "other slots of the series add up" in " ".join(release_of(Account(1, slot))["central"]["conditions"])  # type: ignore[index]
    assert (central(question()), release_of(Account(1, question())), list(sentences(Account(1, question())))) == (
        *(None, None),
        [],
    )


@pytest.mark.parametrize(
    ("minimum", "filed_ones", "waiting", "dropped", "told", "enough"),
    [
        (1, 0, 0, 0, "No reports yet", False),
        (1, 0, 70, 0, "70 of the 100 reports that an answer needs", False),
        (1, 0, 110, 0, "110 reports waiting for the first batch", False),
        (1, 120, 0, 0, "120 reports in batches of at least 100", True),
        (1, 1200, 7, 0, "1,200 reports in batches of at least 100, 7 waiting for the next batch", True),
        (1, 0, 0, 70, "70 of the 100 reports that an answer needs", False),
        (250, 120, 110, 0, "230 of the 250 reports that an answer needs", False),
        (250, 180, 50, 0, "230 of the 280 reports that an answer needs", False),
        (250, 180, 110, 0, "180 reports in batches of at least 100, 110 waiting for the next batch", False),
        (250, 280, 0, 20, "280 reports in batches of at least 100", True),
    ],
)
def test_the_progress_counts_what_waits(
    minimum: int, filed_ones: int, waiting: int, dropped: int, told: str, enough: bool
) -> None:
    asked = question(smallest_batch=SMALLEST, minimum=minimum)
    received = filed_ones + waiting + dropped
    progress = Progress.of(
        Account(1, asked, filed=filed_ones, received=received, closed=bool(dropped), dropped=dropped)
    )
    assert (progress.reports(), progress.enough) == (told, enough)


def test_a_backup_has_the_batches_and_what_waits(tmp_path: Path) -> None:
    with opened(tmp_path / "collector") as collector:
        collector.create(ASKED)
        add(collector, 0, 120)
        collector.roller.roll(ASKED.id)
        add(collector, 120, 150)
        backup(tmp_path / "collector", tmp_path / "copy")
    with opened(tmp_path / "copy") as copy:
        assert (account_of(copy).released, account_of(copy).waiting) == (120, 30)
        copy.close(ASKED.id)
    with opened(tmp_path / "copy") as copy:
        backup(tmp_path / "copy", tmp_path / "again")
    with opened(tmp_path / "again") as again:
        assert (account_of(again).released, account_of(again).dropped) == (120, 30)


# --- two collectors ------------------------------------------------------------------------------------------------


@pytest.mark.full
def test_two_collectors_release_no_difference_that_is_smaller_than_a_batch(address: str, tmp_path: Path) -> None:
    seen: set[int] = set()
    ended = threading.Event()
    with opened(tmp_path, inbox=address) as one, opened(tmp_path, inbox=address) as two:
        one.create(ASKED)

        def send(number: int) -> None:
            for start in range(900 * number, 900 * number + 900, 15):
                add((one, two)[number], start, start + 15)

        def until_the_end(work: Callable[[Collector], None]) -> None:
            source = random.Random(3)
            while not ended.is_set():
                work(source.choice((one, two)))

        with ThreadPoolExecutor(6) as pool:
            others = [pool.submit(until_the_end, lambda each: each.roller.roll(ASKED.id) and None) for _ in range(2)]
            others += [
                pool.submit(until_the_end, lambda each: seen.add(len(each.answers.state(ASKED.id).tally)))
                for _ in range(2)
            ]
            try:
                assert list(pool.map(send, range(2))) == [None, None]
            finally:
                ended.set()
            assert [each.result() for each in others] == [None] * 4
        two.close(ASKED.id)
        found = account_of(one)
        seen.add(len(one.answers.state(ASKED.id).tally))
    files = sizes(tmp_path)
    assert len(files) > 2, "it rolled"
    assert min(files) >= SMALLEST
    assert sum(files) == found.released == 1800 - found.dropped
    values = sorted(seen | {0})
    assert min(after - before for before, after in pairwise(values)) >= SMALLEST
    assert len(set(filed(tmp_path, ASKED))) == found.released


# --- kills ---------------------------------------------------------------------------------------------------------


@pytest.mark.full
def test_a_kill_at_every_point_of_a_roll_and_of_a_close_leaves_whole_batches(
    tmp_path: Path, where: dict[str, str]
) -> None:
    ended = subprocess.run(
        [sys.executable, killed.__file__, str(tmp_path), *where.values()],
        capture_output=True,
        text=True,
        timeout=120,
        env={"PYTHONPATH": str(Path(killed.__file__).parent)},
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    found = [json.loads(line) for line in ended.stdout.splitlines()]
    assert [(each["point"], each["closes"]) for each in found] == [
        *((point, False) for point in killed.POINTS),
        *((point, True) for point in killed.DROPS),
    ]
    placed = killed.POINTS.index("linked")
    for each in found:
        if each["closes"]:
            expected = [120] * 2, [120], 150, 30
        elif killed.POINTS.index(each["point"]) < placed:
            expected = [120, 300, 300], [120, 180], 300, 0
        else:
            expected = [250, 250, 250], [120, 130], 300, 50
        assert each["killed"], "the kill has not happened"
        assert (each["answered"], each["files"], each["received"], each["dropped"]) == expected, each
        assert each["released"] == each["received"] - each["dropped"]
        assert (each["filed"], each["rows"]) == (list(range(each["released"])), 0)


# --- a server ------------------------------------------------------------------------------------------------------


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path / "collector"


@pytest.mark.full
def test_every_answer_of_a_running_collector_is_of_batches_and_says_what_they_are_worth(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pets = Labels(["cat", "dog"], other=True)
    asked = Collection(name="pets", scheme=make("DE", epsilon=2, domain=pets), smallest_batch=SMALLEST)
    scheme = asked.scheme
    with serving(here, "--every", "0.2") as server:
        where = place(asked)
        assert server.request("POST", "/v1/collections", asked.document, "admin").status == 201
        sender = Sender(f"http://127.0.0.1:{server.port}{where}", max_epsilon=2, ledger="ledger")
        assert sender.report("cat") is Sent.COUNTED, "clients accept the document"

        def send(count: int) -> None:
            body = encode_reports(scheme, scheme.privatize(["cat"] * count))
            assert server.request("POST", f"{where}/reports/{new_key()}", body).status == 201

        def listed() -> dict[str, int]:
            (one,) = server.request("GET", "/v1/collections", role="read").json["collections"]
            return {name: one["release"][name] for name in ("released", "waiting")} | {"reports": one["reports"]}

        analyst = Analyst(server)
        assert analyst.sign_in(server.tokens["read"]).status == 303
        send(SMALLEST - 2)
        time.sleep(0.5)
        assert listed() == {"released": 0, "waiting": 99, "reports": 99}
        for path in ("estimates", "estimates.csv", "estimates.parquet"):
            assert server.request("GET", f"{where}/{path}", role="read").status == 409
        page = analyst.page(f"/collections/{asked.id}")
        assert "99 of the 100 reports that an answer needs" in page
        assert "<b>1 more report</b> is needed" in page
        send(21)
        eventually(lambda: listed()["released"] == 120)
        first = server.request("GET", f"{where}/estimates", role="read")
        assert first.json["reports"] == 120
        promise = plausibly.shuffled(scheme, SMALLEST)
        assert first.json["release"]["central"]["epsilon"] == promise.epsilon
        assert "waiting" not in first.json["release"]
        assert server.request("GET", f"{where}/search", role="read").status == 400
        routes = ("estimates", "estimates.csv", "estimates.parquet", "tally")
        tags = {each: server.request("GET", f"{where}/{each}", role="admin").headers["etag"] for each in routes}
        send(60)
        time.sleep(0.5)
        assert listed() == {"released": 120, "waiting": 60, "reports": 180}
        for route, tag in tags.items():
            found = server.request("GET", f"{where}/{route}", role="admin", headers={"If-None-Match": tag})
            assert (found.status, found.body) == (304, b""), route
        assert server.request("GET", f"{where}/estimates", role="read").body == first.body
        csv = analyst.get(f"/collections/{asked.id}/estimates.csv")
        assert csv.status == 200
        page = analyst.page(f"/collections/{asked.id}").replace("\N{NO-BREAK SPACE}", " ")
        for told in (
            *("120 reports in batches of at least 100, 60 waiting for the next batch", promise.verdict[1:]),
            *("The collector is the shuffler", "If 1 % of the reports (1) are fake"),
        ):
            assert told in page, told
        assert f"central ε = {plausibly.shuffling.rounded_up(promise.epsilon)}" in analyst.page()
        closed = server.request("POST", f"{where}/close", role="admin").json
        note = "60 reports were dropped at the close, because a batch has at least 100 reports."
        assert (closed["reports"], closed["release"]["note"], closed["release"]["dropped"]) == (180, note, 60)
        last = server.request("GET", f"{where}/estimates", role="read", headers={"If-None-Match": tags["estimates"]})
        assert (last.status, last.json["reports"], last.json["release"]["note"]) == (200, 120, note)
        assert note in analyst.page(f"/collections/{asked.id}")
        assert analyst.get(f"/collections/{asked.id}/estimates.csv").body == csv.body
        metrics = server.request("GET", "/metrics").body.decode()
        assert "plausibly_dropped_reports_total 60\n" in metrics
        monkeypatch.setenv("PLAUSIBLY_TOKEN", server.tokens["read"])
        for action in (["list"], ["read", "--id", asked.id]):
            ended = CliRunner().invoke(app, ["collections", *action, "--to", f"http://127.0.0.1:{server.port}"])
            assert promise.verdict in " ".join(ended.stdout.split())
            assert note in " ".join(ended.stdout.split())
        assert server.terminate() == 0
        assert "error" not in server.logged()
    assert sizes(here, asked) == [120]
    assert len(Collected.read(here / asked.id / "collected.tally").tally) == 120
