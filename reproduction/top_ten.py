"""The 10 most common strings, found by each search and each ceiling: one run of docs/heavy_hitters.md.

Seeds are those of the published runs, derived from six settings of a run. Strings use the whole alphabet of the
crowds, whereas table 2 uses the paper's 28 symbols.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from functools import lru_cache, partial
from typing import Any

import numpy as np

import plausibly
from plausibly.experiments import ALPHABET, DATASETS, Cell, Crowd, Measured, Metrics, View, false_items, score

from .baselines import extend_and_peel, pem_plus
from .ceilings import exhaustive, known_candidates

K = 10
LEVEL = 0.05


def name(method: str) -> str:
    """The scheme name of the method in cells."""
    return f"top ten by {method}"


def _measure(method: str, cell: Cell, views: Sequence[View], number: int) -> Measured:
    data, _, length = cell.data.partition("/")
    strings, crowd = plausibly.Strings(ALPHABET, int(length)), _crowd(data, cell.n, int(length), cell.data_seed)
    run = _Run(cell.epsilon, strings, crowd, seed(method, data, cell.n, cell.epsilon, int(length), cell.data_seed))
    metrics: Metrics = {}
    found = _SEARCHES[method](run, metrics)
    metrics |= asdict(score(found, crowd, K))
    return {}, {view.key: metrics for view in views}


def seed(method: str, data: str, n: int, epsilon: float, length: int, run: int) -> int:
    """A distinct seed for every run, so that no two share their noise."""
    told = f"Cell(method={method!r}, data={data!r}, n={n!r}, epsilon={epsilon!r}, length={length!r}, run={run!r})"
    return int.from_bytes(hashlib.sha256(told.encode()).digest()[:6], "big")


@lru_cache(maxsize=1)
def _crowd(data: str, n: int, length: int, run: int) -> Crowd:
    return DATASETS[data](n, length, run)


class _Run:
    """A crowd and an epsilon, with the run's own noise."""

    def __init__(self, epsilon: float, strings: plausibly.Strings, crowd: Crowd, seed: int) -> None:
        self.epsilon, self.strings, self.crowd, self.seed = epsilon, strings, crowd, seed

    @property
    def rng(self) -> np.random.Generator:
        """A fresh generator for crowds and ceilings."""
        return np.random.default_rng(self.seed)

    def collect(self, scheme: Any, metrics: Metrics) -> Any:
        """The tally of every user's report, in the order of a shuffled crowd; times are added to ``metrics``."""
        holders = self.crowd.holders(self.rng)
        codes = scheme.domain.encode(self.crowd.strings)
        started = time.perf_counter()
        reports = scheme.privatize_encoded(codes[holders], plausibly.SeededRandom(self.seed))
        metrics["client_seconds"] = time.perf_counter() - started
        started = time.perf_counter()
        tally = scheme.accumulator()
        tally.add(reports)
        metrics["server_seconds"] = time.perf_counter() - started
        return tally


def _trellis(run: _Run, metrics: Metrics) -> list[str]:
    scheme = plausibly.TRELLIS(str(run.epsilon), domain=run.strings, users=run.crowd.n, hash_seed=run.seed)
    tally = run.collect(scheme, metrics)
    started = time.perf_counter()
    found: list[str] = tally.search(k=K).items.tolist()
    metrics["search_seconds"] = time.perf_counter() - started
    significant = tally.search(k=K, level=LEVEL).items.tolist()
    metrics |= {"significant": len(significant), "false": len(false_items(significant, run.crowd, K))}
    metrics["significant_right"] = round(score(significant, run.crowd, K).precision * len(significant))
    return found


def _prefixes(run: _Run, metrics: Metrics) -> list[str]:
    return extend_and_peel(run.collect(pem_plus(run.epsilon, run.strings, run.seed), metrics), K)


def _all_strings(run: _Run, metrics: Metrics) -> list[str]:
    return exhaustive(run.crowd, run.epsilon, K, run.strings.length, run.strings.symbols, run.rng)


def _known(run: _Run, metrics: Metrics) -> list[str]:
    return known_candidates(run.crowd, run.epsilon, K, run.rng)


_SEARCHES: Mapping[str, Callable[[_Run, Metrics], list[str]]] = {
    "TRELLIS": _trellis,
    "PEM+": _prefixes,
    "C3U": _all_strings,
    "C1": _known,
}
METHODS: Mapping[str, Callable[[Cell, Sequence[View], int], Measured]] = {
    name(method): partial(_measure, method) for method in _SEARCHES
}
"""The measures, by their scheme name in cells."""
