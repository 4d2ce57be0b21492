"""Measure one cell: make every user's report, add them up, decode the sum, and compare the answers with the truth."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from functools import lru_cache
from math import exp
from typing import Any

import numpy as np
import numpy.typing as npt

from ..core.accumulator import Accumulator
from ..core.laws import choose_estimator
from ..core.ordered_estimates import OrderedEstimates
from ..core.randomness import SeededRandom
from ..core.scheme import Encoded, Scheme
from ..search.base import SearchTally
from .cells import Cell, View
from .item_crowds import Counts, crowd, is_ordered, strings
from .order_errors import order_errors, range_optimum, range_theory
from .search_scores import lenient_score, score
from .string_crowds import Crowd

Metrics = dict[str, float]
Floats = npt.NDArray[np.float64]

TOP = 50
"""Number of most common items in the k-MSE."""
WANTED = 10
"""Number of heavy hitters that a search looks for."""
Measured = tuple[Metrics, dict[str, Metrics]]
"""Metrics of the collection, and the metrics of each view by its key."""
MEASURES: dict[str, Callable[[Cell, Sequence[View], int], Measured]] = {}
"""User-defined measures, by the name that a cell gives as its scheme: called with cell, views and round number.

By default, a cell is measured by the errors of its estimates, or by the F1 score of its search.
"""
_CHUNK_BYTES = 1 << 26
"""Maximum size of the reports in memory at a time."""

_counts = lru_cache(maxsize=4)(crowd)
_strings = lru_cache(maxsize=1)(strings)


def measure(cell: Cell, views: Iterable[View]) -> Measured:
    """Measure a cell: the metrics of the collection and of each view's answers; times are processor seconds."""
    asked = list(views)
    one_round = MEASURES.get(cell.scheme, _measure_round)
    rounds = [one_round(cell, asked, number) for number in range(cell.rounds)]
    named = {view.key: _averaged([answers[view.key] for _, answers in rounds]) for view in asked}
    return _averaged([collected for collected, _ in rounds]), named


def _measure_round(cell: Cell, views: Sequence[View], number: int) -> Measured:
    if cell.d == 0:
        return _measure_search(cell, views, number)
    truth = _counts(cell.data, cell.n, cell.d, cell.data_seed)
    scheme = _kept(cell.make(number)) if is_ordered(cell.data) else cell.make(number)
    tally, metrics = measured_tally(scheme, truth, cell.seed("noise", number))
    metrics |= {"report_bytes": scheme.report_dtype.itemsize, "state_bytes": len(tally.to_bytes())}
    return metrics, {view.key: _estimated(tally, truth, view, metrics, cell) for view in views}


@lru_cache(maxsize=32)
def _kept(scheme: Scheme) -> Scheme:
    # The first of equal schemes: it has solved its equations, which take ten times as long as all else.
    return scheme


def _averaged(rounds: list[Metrics]) -> Metrics:
    return {name: float(np.mean([metrics[name] for metrics in rounds])) for name in rounds[0]}


def _measure_search(cell: Cell, views: Sequence[View], number: int) -> Measured:
    truth = _strings(cell.data, cell.n, cell.data_seed)
    scheme = cell.make(number)
    tally, metrics = measured_tally(
        scheme, truth.counts, cell.seed("noise", number), scheme.domain.encode(truth.strings)
    )
    metrics |= {"report_bytes": scheme.report_dtype.itemsize, "state_bytes": len(tally.to_bytes())}
    assert isinstance(tally, SearchTally)
    return metrics, {view.key: _searched(tally, truth, view, metrics) for view in views}


def measured_tally(
    scheme: Scheme, truth: Counts, seed: int, items: Encoded | None = None
) -> tuple[Accumulator, Metrics]:
    """The tally of a measured collection, and the processor seconds of the clients and the server.

    The tally equals that of ``scheme.simulate(truth, SeededRandom(seed))``, which does not time the two sides
    separately. ``items`` are the encoded items that ``truth`` counts; by default, the integers from 0.
    """
    held = np.arange(len(truth), dtype=np.uint64) if items is None else items
    users = np.repeat(np.arange(len(truth), dtype=np.int32), truth)
    tally, size = scheme.accumulator(), max(1, _CHUNK_BYTES // scheme.report_dtype.itemsize)
    client = server = 0.0
    for first in range(0, len(users), size):
        values = held[users[first : first + size]]
        started = time.process_time()
        reports = scheme.privatize_encoded(values, SeededRandom(seed), first_report=first)
        reported = time.process_time()
        tally.add(reports)
        client, server = client + reported - started, server + time.process_time() - reported
    return tally, {"client_seconds": client, "server_seconds": server}


def _estimated(tally: Accumulator, truth: Counts, view: View, collected: Metrics, cell: Cell) -> Metrics:
    started = time.process_time()
    estimates = tally.estimate(**view.keywords)
    for step in view.steps:
        estimates = estimates.postprocess(step)
    seconds = time.process_time() - started
    metrics = {"estimate_seconds": seconds}
    metrics |= {"seconds": collected["client_seconds"] + collected["server_seconds"] + seconds}
    # Single items of an order that means something are too many and too noisy to be asked for.
    if isinstance(estimates, OrderedEstimates) and estimates.order is not None and estimates.order.meant:
        metrics |= order_errors(estimates.values, truth) | range_optimum(cell.d, cell.n, cell.epsilon)
        metric, predict = "range_mse_theory", range_theory
    else:
        metrics |= errors(estimates.values, truth) | optimum(cell)
        metric, predict = "mse_theory", theory
    predicted = None if view.steps else predict(tally.scheme, truth, view.keywords)
    return metrics if predicted is None else metrics | {metric: predicted}


def _searched(tally: SearchTally, truth: Crowd, view: View, collected: Metrics) -> Metrics:
    started = time.process_time()
    found = tally.search(**{"k": WANTED} | view.keywords).items.tolist()
    seconds = time.process_time() - started
    metrics = scores(found, truth) | {"search_seconds": seconds}
    return metrics | {"seconds": collected["client_seconds"] + collected["server_seconds"] + seconds}


def scores(found: Sequence[str], truth: Crowd) -> Metrics:
    """The measured scores of a search: its first 10 strings strictly, and all its strings as the paper's program does.

    ``precision``, ``recall`` and ``f1`` are those of ``score``; with ``_lenient`` they are those of ``lenient_score``.
    """
    strict, lenient = score(found[:WANTED], truth, WANTED), lenient_score(found, truth, WANTED)
    return asdict(strict) | {f"{name}_lenient": value for name, value in asdict(lenient).items()}


def errors(values: Floats, truth: Counts) -> Metrics:
    """The measured mean squared errors of counts over all items and the top 50, as they are and clipped.

    Clipped estimates are rounded, and negative ones are set to zero, as in the paper's program.
    """
    squared = (values - truth) ** 2
    clipped = (np.rint(np.maximum(values, 0)) - truth) ** 2
    top = np.argsort(-truth, kind="stable")[:TOP]
    return {
        "mse": float(squared.mean()),
        "mse_clipped": float(clipped.mean()),
        "k_mse": float(squared[top].mean()),
        "k_mse_clipped": float(clipped[top].mean()),
        "f1": listed_right(values, truth),
    }


def listed_right(values: Floats, truth: Counts) -> float:
    """The measured F1 score of the 10 items with the highest estimates as a list of the 10 most common items.

    Any item that ties for the tenth place counts as correct. If fewer than 10 items occur at all, the list is that
    short. The list has as many items as there are correct ones, so that precision, recall and F1 are equal.
    """
    count = min(WANTED, int(np.count_nonzero(truth)))
    if count == 0:
        return 0.0
    least = np.sort(truth)[-count]
    return float((truth[np.argsort(-values, kind="stable")[:count]] >= least).mean())


def theory(scheme: Scheme, truth: Counts, options: dict[str, Any]) -> float | None:
    """The measure that theory predicts: mean variance by the scheme's law, given the true counts; None without one."""
    law = choose_estimator(scheme.estimator, options).law
    if law is None:
        return None
    squares = float((truth.astype(np.float64) ** 2).sum())
    return float(np.mean(law.at(int(truth.sum()), truth, f2=squares, **law.context_of(truth))))


def optimum(cell: Cell) -> Metrics:
    """Lower bound of the measured mean squared error in a large domain, n·V* with V* = 4e^ε/(e^ε − 1)²."""
    return {"mse_optimum": cell.n * 4 * exp(cell.epsilon) / (exp(cell.epsilon) - 1) ** 2}
