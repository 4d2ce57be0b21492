"""Rolls: shuffled files, a tally that agrees, and a kill at every point of a roll."""

from __future__ import annotations

import os
import queue
import random
import shutil
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from plausibly import PlausiblyError, make
from plausibly.files import Collected, ReportFile
from plausibly.service import rolling
from plausibly.service.collections import Collection
from plausibly.service.collector import Collector, opened
from plausibly.service.inbox import Batch
from plausibly.service.rolling import POINTS, random_order
from serving import GoneError, Serving, filed, new_key, place, question, records, serving

ASKED = question()


def add(collector: Collector, first: int, last: int) -> None:
    batch = Batch(bytes.fromhex(new_key()), records(ASKED, range(first, last)), last - first)
    collector.writer.run(lambda: collector.inbox.commit({ASKED.id: [batch]})).result()


def counts(tally: Any) -> list[int]:
    """How often each value was reported."""
    return [int(count) for count in tally.evidence.ravel()]


def test_a_roll_shuffles_files_and_tally_and_answers_stay_the_same(tmp_path: Path, where: dict[str, str]) -> None:
    with opened(tmp_path, **where) as collector:
        collector.create(ASKED)
        add(collector, 0, 1000)
        before = collector.answers.state(ASKED.id)
        assert collector.roller.roll(ASKED.id) == 1000
        after = collector.answers.state(ASKED.id)
        assert before.tag != after.tag
        assert before.tally.to_bytes() == after.tally.to_bytes()
        add(collector, 1000, 1500)
        assert len(collector.answers.state(ASKED.id).tally) == 1500
        assert collector.roller.roll(ASKED.id) == 500
        assert collector.roller.roll(ASKED.id) == 0
    assert filed(tmp_path, ASKED) == list(range(1500))
    tally = Collected.read(tmp_path / ASKED.id / "collected.tally")
    assert counts(tally.tally)[:1501] == [1] * 1500 + [0]
    assert sorted(each.name for each in (tmp_path / ASKED.id / "reports").iterdir()) == ["1.parquet", "2.parquet"]


class CutOffError(Exception):
    """The end of a roll in its middle."""


def rows(collector: Collector) -> int:
    with collector.inbox.view() as view:
        return sum(1 for _ in view.rows("pending"))


@pytest.mark.parametrize("point", ["", *(pytest.param(each, marks=pytest.mark.full) for each in POINTS)])
def test_what_has_gathered_is_rolled_in_parts_that_fit_into_memory(
    point: str, tmp_path: Path, where: dict[str, str]
) -> None:
    reached: list[str] = []

    def cut_off(at: str) -> None:
        reached.append(at)
        if reached.count(at) == 3 and at == point:
            raise CutOffError

    with opened(tmp_path, **where, roll_reports=50, reached=cut_off) as collector:
        collector.create(ASKED)
        for number in range(100):
            add(collector, 7 * number, 7 * number + 7)
        if point:
            with pytest.raises(CutOffError):
                collector.roller.roll(ASKED.id)
        else:
            assert collector.roller.roll(ASKED.id) == 700
            assert reached == [*POINTS] * 7
        assert len(collector.answers.state(ASKED.id).tally) == 700
    with opened(tmp_path, **where, roll_reports=50) as collector:
        collector.roller.roll(ASKED.id)
        assert rows(collector) == 0
    # 15 rows of 7 reports are the first to have twice 50; those that are left are in the last file.
    sizes = {len(ReportFile(each)) for each in (tmp_path / ASKED.id / "reports").glob("[0-9]*.parquet")}
    assert sizes == {105, 70}
    assert filed(tmp_path, ASKED) == list(range(700))


@pytest.mark.parametrize("allowed", [True, False])
def test_the_thread_that_rolls_lets_others_go_first(
    allowed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if sys.platform != "linux":
        pytest.skip("only on Linux has each thread a priority of its own")
    asked_for: queue.Queue[tuple[int, int, int]] = queue.Queue()

    def noted(which: int, who: int, priority: int) -> None:
        asked_for.put((which, who, priority))
        if not allowed:
            raise PermissionError

    # Some sandboxes forbid priorities, and the system is trusted to follow them.
    monkeypatch.setattr(os, "setpriority", noted)
    with opened(tmp_path, roll_every=0.1) as collector:
        collector.create(ASKED)
        collector.roller.start()
        which, who, priority = asked_for.get(timeout=30)
        assert (which, who) == (os.PRIO_PROCESS, collector.roller._thread.native_id)
        assert priority > 0
        add(collector, 0, 10)
        eventually(lambda: collector.roller.rolls == 1)
    assert asked_for.empty()


def test_an_hourly_roll_that_failed_is_tried_again_after_a_minute(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    monkeypatch.setattr(rolling, "time", SimpleNamespace(monotonic=lambda: now[0], sleep=time.sleep))
    with opened(tmp_path) as collector:
        roller = collector.roller

        def due_in(seconds: float) -> bool:
            now[0] += seconds
            return roller._due() == [ASKED.id]

        collector.create(ASKED)
        add(collector, 0, 10)
        assert not due_in(0)
        assert not due_in(3599)
        assert due_in(2)
        obstacle = tmp_path / ASKED.id
        obstacle.write_bytes(b"")  # where its folder will be
        for failures in (1, 2, 3):
            roller._try(ASKED.id)
            assert (roller.rolls, roller.failures) == (0, failures)
            assert not due_in(59)
            assert due_in(2)
        obstacle.unlink()
        roller._try(ASKED.id)
        assert (roller.rolls, roller.failures) == (1, 3)
        add(collector, 10, 20)
        assert not due_in(3599)
        assert due_in(2)
        roller._try(ASKED.id)
    assert filed(tmp_path, ASKED) == list(range(20))


def eventually(met: Callable[[], bool]) -> None:
    until = time.monotonic() + 30
    while not met():
        assert time.monotonic() < until
        time.sleep(0.01)


def test_a_log_that_an_answer_keeps_is_emptied_when_it_has_been_read(tmp_path: Path) -> None:
    log = tmp_path / "inbox.db-wal"
    with opened(tmp_path, roll_every=0.2) as collector:
        collector.create(ASKED)
        add(collector, 0, 100)
        collector.roller.start()
        with collector.inbox.view() as view:
            assert view.account(ASKED.id) is not None
            collector.roller.roll(ASKED.id)
            add(collector, 100, 200)
            collector.roller.roll(ASKED.id)
            assert log.stat().st_size > 0
        # Nothing is rolled any more.
        eventually(lambda: log.stat().st_size == 0)


@pytest.mark.parametrize("point", ["collected", pytest.param("counted", marks=pytest.mark.full)])
def test_rolled_rows_are_removed_a_few_at_a_time_and_after_an_interruption_too(
    point: str, tmp_path: Path, where: dict[str, str]
) -> None:
    removed: list[int] = []

    def cut_off(reached: str) -> None:
        if reached == point:
            raise CutOffError

    with opened(tmp_path, **where, reached=cut_off) as collector:
        collector.create(ASKED)
        for number in range(100):
            add(collector, 5 * number, 5 * number + 5)
        with pytest.raises(CutOffError):
            collector.roller.roll(ASKED.id)
        assert rows(collector) == 100
        assert len(collector.answers.state(ASKED.id).tally) == 500
    with opened(tmp_path, **where) as collector:
        assert rows(collector) == 0
        assert len(collector.answers.state(ASKED.id).tally) == 500
        for number in range(100, 200):
            add(collector, 5 * number, 5 * number + 5)
        remove = collector.inbox.remove_rolled

        def noted(identity: str, most: int) -> bool:
            removed.append(most)
            return remove(identity, most)

        collector.inbox.remove_rolled = noted  # type: ignore[method-assign]
        assert collector.roller.roll(ASKED.id) == 500
        assert rows(collector) == 0
    assert len(removed) > 1
    assert removed[0] == 1
    assert filed(tmp_path, ASKED) == list(range(1000))


def test_the_order_of_reports_is_uniform() -> None:
    # 6,000 orders of three: chi-square with 5 degrees of freedom, and a false alarm once in a million runs.
    seen: dict[tuple[int, ...], int] = {}
    for _ in range(6000):
        order = tuple(random_order(3).tolist())
        seen[order] = seen.get(order, 0) + 1
    assert sum((count - 1000) ** 2 / 1000 for count in seen.values()) + 1000 * (6 - len(seen)) < 36.5
    assert random_order(0).tolist() == []


def test_a_removed_tally_is_made_again_and_a_foreign_file_is_refused(tmp_path: Path, where: dict[str, str]) -> None:
    with opened(tmp_path, **where) as collector:
        collector.create(ASKED)
        add(collector, 0, 10)
        collector.roller.roll(ASKED.id)
        (tmp_path / ASKED.id / "collected.tally").unlink()
        with pytest.raises(PlausiblyError, match="No such file"):
            collector.answers.state(ASKED.id)
        add(collector, 10, 20)
        collector.roller.roll(ASKED.id)
        assert counts(collector.answers.state(ASKED.id).tally)[:21] == [1] * 20 + [0]
        shutil.copy(tmp_path / ASKED.id / "reports" / "1.parquet", tmp_path / ASKED.id / "reports" / "7.parquet")
        add(collector, 20, 30)
        with pytest.raises(PlausiblyError, match=r"7\.parquet: expected the reports that are pending"):
            collector.roller.roll(ASKED.id)


@pytest.mark.full
@pytest.mark.parametrize(("flips", "cuts"), [(150, 50), pytest.param(3000, 1000, marks=pytest.mark.slow)])
def test_damaged_reports_and_tallies_never_change_a_count(tmp_path: Path, flips: int, cuts: int) -> None:
    whole = tmp_path / "whole"
    small = Collection(name="small", scheme=make("DE", epsilon=1, domain_size=500))
    with opened(whole) as collector:
        collector.create(small)
        for key in range(2):
            rows = Batch(bytes.fromhex(new_key()), records(small, range(100 * key, 100 * key + 100)), 100)
            collector.writer.run(lambda rows=rows: collector.inbox.commit({small.id: [rows]})).result()  # type: ignore[misc]
            collector.roller.roll(small.id)
        extra = Batch(bytes.fromhex(new_key()), records(small, range(200, 300)), 100)
        collector.writer.run(lambda: collector.inbox.commit({small.id: [extra]})).result()
    source = random.Random(7)
    files = sorted(path.relative_to(whole) for path in (whole / small.id).rglob("*.*"))
    assert [path.name for path in files] == ["collected.tally", "1.parquet", "2.parquet"]
    noticed = 0
    for number in range(flips + cuts):
        spoilt = tmp_path / "spoilt"
        shutil.copytree(whole, spoilt)
        path = spoilt / source.choice(files)
        content = bytearray(path.read_bytes())
        if number < flips:
            content[source.randrange(len(content))] ^= 1 << source.randrange(8)
        else:
            del content[source.randrange(len(content)) :]
        path.write_bytes(content)
        with opened(spoilt) as collector:
            try:
                state = collector.answers.state(small.id)
                assert len(state.tally) == 300
                collector.roller.roll(small.id)
                assert len(collector.answers.state(small.id).tally) == 300
                assert counts(collector.answers.state(small.id).tally) == [1] * 300 + [0] * 200
            except PlausiblyError:
                noticed += 1
                assert collector.accounts()[0].received == 300, "good data is kept"
        shutil.rmtree(spoilt)
    assert noticed > (flips + cuts) // 5, "a third of the files is the tally, where every byte matters"


# --- kills --------------------------------------------------------------------------------------------------------


MOST_BATCHES = 400


def wait_for_end(server: Serving) -> None:
    assert server.process.wait(30) == -signal.SIGKILL, "the kill has not happened"


@pytest.mark.full
@pytest.mark.parametrize("smallest", [None, pytest.param(120, marks=pytest.mark.slow)])
@pytest.mark.parametrize("point", POINTS)
def test_a_kill_at_every_point_of_a_roll_loses_and_repeats_nothing(
    point: str, smallest: int | None, tmp_path: Path
) -> None:
    folder, asked = tmp_path / "collector", question(smallest_batch=smallest)
    with opened(folder) as collector:
        collector.create(asked)
    keys: dict[str, range] = {}
    acknowledged = set()
    with serving(folder, "--every", "0.1", "--die-at", point, "--after", "1") as server:
        for number in range(MOST_BATCHES):
            key = new_key()
            keys[key] = range(50 * number, 50 * number + 50)
            try:
                assert server.send(asked, key, keys[key]) == 201
                acknowledged.add(key)
                time.sleep(0.05)
            except GoneError:
                break
        wait_for_end(server)
    assert acknowledged
    count = 50 * len(keys)
    with serving(folder) as server:
        for key, values in keys.items():
            status = server.send(asked, key, values)
            assert status == 200 if key in acknowledged else status in (200, 201)
        estimates = server.request("GET", f"{place(asked)}/estimates?item=3", role="read").json["reports"]
        closed = server.request("POST", f"{place(asked)}/close", role="admin")
        assert closed.status == 200
        assert server.terminate() == 0
    released = count if smallest is None else closed.json["release"]["released"]
    assert estimates == count if smallest is None else smallest <= estimates <= released
    assert filed(folder, asked) == list(range(released))
    assert counts(Collected.read(folder / asked.id / "collected.tally").tally)[: released + 1] == [1] * released + [0]
    if smallest is not None:
        assert 0 <= count - released == closed.json["release"]["dropped"] < smallest
        files = (folder / asked.id / "reports").glob("[0-9]*.parquet")
        assert min(len(ReportFile(path)) for path in files) >= smallest
