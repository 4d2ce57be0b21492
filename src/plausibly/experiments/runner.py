"""Measure the missing cells of figures in several processes; an interrupted run resumes where it stopped."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import closing, contextmanager
from multiprocessing import active_children, get_context, parent_process
from threading import Thread

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from .cells import PLAIN, Cell, View
from .measures import Metrics, measure
from .results import Results

Setup = Callable[[], object]
"""Function that every worker process calls first; it registers user-defined schemes and crowds."""
_PERIOD = 3600.0
"""Window in seconds for estimating the time left: long, because short and long measurements alternate."""

_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")

Measured = tuple[Cell, Metrics, dict[str, Metrics]]


def run(
    cells: Mapping[Cell, Sequence[View]],
    results: Results,
    *,
    jobs: int = 2,
    console: Console,
    setup: Setup | None = None,
) -> None:
    """Run all missing cells in several processes, and add each to the results as soon as it is done."""
    missing = results.missing(cells)
    columns = [TextColumn("measuring"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn()]
    unseen = not missing or not console.is_terminal
    with Progress(*columns, console=console, disable=unseen, speed_estimate_period=_PERIOD) as progress:
        task = progress.add_task("", total=len(missing))
        with closing(_measured(missing, jobs, setup)) as finished:
            for measured in finished:
                results.add(*measured)
                progress.advance(task)


def _measured(cells: Mapping[Cell, Sequence[View]], jobs: int, setup: Setup | None) -> Generator[Measured, None, None]:
    # Repeat by repeat, so that an interrupted run is balanced; by crowd within a repeat, so that each is drawn once.
    order = sorted(cells, key=lambda cell: (cell.repeat, cell.data, cell.data_seed, cell.n, cell.d))
    if not order:
        return
    others = set(active_children())
    warm = ("OUE", *sorted({cell.scheme for cell in order if cell.extra}))
    pool = ProcessPoolExecutor(
        min(jobs, len(order)), mp_context=get_context("spawn"), initializer=_prepare, initargs=(warm, setup)
    )
    try:
        with _one_thread_each():
            futures = [pool.submit(_measure, cell, cells[cell]) for cell in order]
        for future in as_completed(futures):
            yield future.result()
    except BaseException:
        # Unfinished measurements are lost anyway, and waiting for them may take minutes.
        pool.shutdown(wait=False, cancel_futures=True)
        for process in set(active_children()) - others:
            process.terminate()
        raise
    finally:
        pool.shutdown()


@contextmanager
def _one_thread_each() -> Iterator[None]:
    # A library of linear algebra reads its number of threads when a process loads it. With all requested processes
    # busy, more threads would wait for each other.
    given = {name: os.environ.get(name) for name in _THREADS}
    os.environ.update(dict.fromkeys(_THREADS, "1"))
    try:
        yield
    finally:
        for name, value in given.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _measure(cell: Cell, views: Sequence[View]) -> Measured:
    try:
        return cell, *measure(cell, views)
    except Exception as error:
        error.add_note(f"while measuring {cell}")
        raise


def _prepare(warm: Sequence[str], setup: Setup | None) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles it and stops this process
    # All requested processes are busy already, and times are comparable only for a single thread.
    os.environ["PLAUSIBLY_THREADS"] = "1"
    Thread(target=_end_with_parent, daemon=True).start()
    if setup is not None:
        setup()
    # Load and compile now, so that the first cell is not charged for it.
    for scheme in warm:
        measure(Cell(scheme, data="uniform", n=1000, d=16), [PLAIN])


def _end_with_parent() -> None:
    # Without this, the workers of a killed parent would wait for ever.
    parent = parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)
