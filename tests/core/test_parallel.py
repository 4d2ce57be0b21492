"""The thread pool: order, errors, few results alive, forks, and users who bring threads of their own."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from cases import in_turn
from plausibly import ParameterError, SeededRandom, make
from plausibly.core import parallel
from plausibly.core import scheme as scheme_module
from plausibly.core.parallel import in_chunks, in_order, thread_count


@pytest.fixture(autouse=True)
def four_threads(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("PLAUSIBLY_THREADS", "4")
    monkeypatch.setattr(parallel, "_pool", None)
    yield
    if parallel._pool is not None:
        parallel._pool.shutdown()


@in_turn("threads", ["1", "2", "7"])
@in_turn(("count", "chunk"), [(0, 5), (1, 5), (5, 5), (6, 5), (100, 7), (3, 1)])
def test_ranges_cover_everything_once_in_order(
    count: int, chunk: int, threads: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLAUSIBLY_THREADS", threads)
    ranges = list(in_chunks(count, chunk, lambda first, last: (first, last)))
    assert [i for first, last in ranges for i in range(first, last)] == list(range(count))
    assert all(last - first <= chunk for first, last in ranges)


def test_results_come_in_order_though_the_first_is_slow() -> None:
    def work(first: int, last: int) -> int:
        time.sleep(0.03 if first == 0 else 0)
        return first

    assert list(in_chunks(8, 1, work)) == list(range(8))


def test_work_is_done_on_the_pool_s_threads_and_alone_on_one() -> None:
    names = set(in_chunks(8, 1, lambda first, last: threading.current_thread().name))
    assert all(name.startswith("plausibly") for name in names)
    assert list(in_chunks(1, 1, lambda first, last: threading.current_thread())) == [threading.current_thread()]


def test_an_error_of_a_chunk_reaches_the_caller_and_nothing_runs_on() -> None:
    running, started = [], []

    def work(first: int, last: int) -> int:
        started.append(first)
        if first == 3:
            raise KeyError("chunk 3")
        running.append(first)
        time.sleep(0.005)
        running.remove(first)
        return first

    with pytest.raises(KeyError, match="chunk 3"):
        list(in_chunks(1000, 1, work))
    assert running == []
    assert len(started) < 20, "chunks after the error are not begun"
    assert list(in_chunks(5, 1, lambda first, last: first)) == [0, 1, 2, 3, 4], "the pool still works"


def test_a_caller_who_stops_early_leaves_nothing_running() -> None:
    running: list[int] = []

    def work(first: int, last: int) -> int:
        running.append(first)
        time.sleep(0.005)
        running.remove(first)
        return first

    results = in_chunks(1000, 1, work)
    assert next(results) == 0
    results.close()  # type: ignore[attr-defined]
    assert running == []


def test_an_interrupted_wait_leaves_nothing_running(monkeypatch: pytest.MonkeyPatch) -> None:
    running: list[int] = []

    def work(first: int, last: int) -> int:
        running.append(first)
        time.sleep(0.02)
        running.remove(first)
        return first

    def interrupted(self: object, timeout: float | None = None) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Future, "result", interrupted)
    with pytest.raises(KeyboardInterrupt):
        list(in_chunks(5, 1, work))
    assert running == []


def test_only_a_few_results_are_alive_at_a_time() -> None:
    begun = []
    for taken, _ in enumerate(in_chunks(200, 1, lambda first, last: begun.append(first))):
        assert len(begun) <= taken + 1 + 2 * 4


def test_users_threads_may_all_call_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scheme_module, "_CHUNK_BYTES", 1 << 9)
    schemes = [make(name, epsilon=1, domain_size=20) for name in ("DE", "OUE", "OLH", "HR")] * 3
    items = [i % 20 for i in range(500)]

    def job(scheme: object) -> tuple[bytes, bytes]:
        reports = scheme.privatize(items, rng=SeededRandom(3))  # type: ignore[attr-defined]
        tally = scheme.accumulator()  # type: ignore[attr-defined]
        tally.add(reports)
        return reports.tobytes(), tally.to_bytes()

    wanted = [job(scheme) for scheme in schemes]
    with ThreadPoolExecutor(12) as users:
        assert list(users.map(job, schemes, timeout=60)) == wanted


def test_the_pool_works_in_a_forked_child_of_a_parent_that_used_it() -> None:
    assert list(in_chunks(8, 1, lambda first, last: first)) == list(range(8))
    child = os.fork()
    if child == 0:
        status = 1
        try:
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.alarm(30)
            names = set(in_chunks(8, 1, lambda first, last: threading.current_thread().name))
            status = 0 if all(name.startswith("plausibly") for name in names) else 2
        finally:
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0


@pytest.mark.parametrize("threads", ["0", "-1", "two", "1.5", " ", "²", "10000", "9" * 5000])
def test_a_number_of_threads_that_is_none_is_refused(threads: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLAUSIBLY_THREADS", threads)
    with pytest.raises(ParameterError, match="PLAUSIBLY_THREADS: expected a positive integer"):
        thread_count()


def test_without_a_wish_there_is_a_thread_for_each_core(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLAUSIBLY_THREADS", "")
    assert thread_count() == len(os.sched_getaffinity(0))


@in_turn("threads", ["1", "2", "7"])
def test_tasks_give_their_results_in_order_and_few_are_alive(threads: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLAUSIBLY_THREADS", threads)
    made: list[int] = []

    def tasks() -> Iterator[Callable[[], int]]:
        for i in range(50):
            made.append(i)
            yield lambda i=i: time.sleep(0.001 * (i % 3)) or i  # type: ignore[misc]

    for place, result in enumerate(in_order(tasks())):
        assert result == place
        assert len(made) <= place + int(threads) + 2


@in_turn("threads", ["1", "4"])
def test_an_error_in_making_tasks_comes_after_the_results_before_it(
    threads: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLAUSIBLY_THREADS", threads)

    def tasks(wrong: int) -> Iterator[Callable[[], int]]:
        for i in range(3):
            yield lambda i=i: 1 // (i - wrong)  # type: ignore[misc]
        raise ValueError

    found: list[int] = []
    with pytest.raises(ValueError, match=r"^$"):
        found.extend(in_order(tasks(9)))
    assert len(found) == 3
    with pytest.raises(ZeroDivisionError):
        list(in_order(tasks(2)))
