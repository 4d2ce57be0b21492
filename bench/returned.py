"""The items that one simulated collection returns, each beside its true count.

A run is one cell of ``plausibly.experiments``: its own hash functions and noise, on the crowd of its setting. Reports
come from ``scheme.simulate``, which is the client that ships. Importing this module registers both measures.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from functools import lru_cache
from statistics import NormalDist
from typing import Any

import numpy as np

import plausibly
from plausibly import SeededRandom, Strings
from plausibly.demo import counts, sites
from plausibly.experiments import ALPHABET, DATASETS, MEASURES, Cell, Crowd, Measured, Metrics, View, crowd
from plausibly.search.base import SearchTally

LEVEL = 0.95
K = 10
"""Number of items that a run returns if its cell does not say."""
SEARCH, TOP = "intervals of a search", "intervals of top"
"""Names of the two measures, as the scheme of a cell."""
NOBODY = -1
"""Place of a string that nobody has."""
DEMO_LETTERS = "abcdefghijklmnopqrstuvwxyz.-/"
_VISITS = {"visits": Strings(ALPHABET, 64, other=True), "demo": Strings(DEMO_LETTERS, 64)}
"""The visits of ``plausibly sample``: over the alphabet of README's commands, and over that of the demo."""


@dataclass(frozen=True)
class Item:
    """One returned item: the truth, the answer, and both intervals."""

    place: float
    """Place of the item in the crowd or domain, or ``NOBODY``."""
    truth: float
    estimate: float
    error: float
    low: float
    high: float
    plain_low: float
    plain_high: float
    p_value: float

    @property
    def covered(self) -> bool:
        """Whether the interval contains the true count."""
        return self.low <= self.truth <= self.high

    @property
    def covered_plainly(self) -> bool:
        """Whether the plain interval contains the true count."""
        return self.plain_low <= self.truth <= self.plain_high

    @property
    def z(self) -> float:
        """Error of the estimate, in standard errors."""
        return (self.estimate - self.truth) / self.error

    @property
    def nothing(self) -> bool:
        """Whether the item cannot be told from nothing: it has an upper bound only, in an interval that begins at 0."""
        return self.low == 0


def intervals(found: Any) -> tuple[Any, Any]:
    """The default intervals of a result and the plain ones, each as lower and upper ends."""
    return found.interval(LEVEL), found.interval(LEVEL, plain=True)


def search_run(cell: Cell) -> list[Item]:
    """The strings that one search returns, best first."""
    data, _, length = cell.data.partition("/")
    domain, people = strings_of(data, int(length)), string_crowd(data, cell.n, int(length), cell.data_seed)
    scheme = plausibly.TRELLIS(cell.epsilon, domain=domain, users=cell.n, hash_seed=cell.seed("hashes"))
    held = dict(zip(people.strings.tolist(), people.counts.tolist(), strict=True))
    tally = scheme.simulate(held, SeededRandom(cell.seed("noise")))
    assert isinstance(tally, SearchTally)
    found = tally.search(k=cell.parameters.get("k", K))
    assert found.p_values is not None
    places = {string: place for place, string in enumerate(held)}
    return _items(
        found, [places.get(item, NOBODY) for item in found.items.tolist()], people.counts, found.p_values.tolist()
    )


def top_run(cell: Cell) -> list[Item]:
    """The items with the largest estimates in a listed domain, largest first."""
    people = _listed_crowd(cell.data, cell.n, cell.d, cell.data_seed)
    given: dict[str, Any] = {"epsilon": cell.epsilon, "domain_size": cell.d}
    name = cell.parameters["of"]
    if "hash_seed" in {field.name for field in fields(plausibly.CATALOG[name])}:
        given["hash_seed"] = cell.seed("hashes")
    scheme = plausibly.make(name, **given)
    found = scheme.simulate(people, SeededRandom(cell.seed("noise"))).estimate().top(cell.parameters.get("k", K))
    assert found.variance is not None
    # Adjusted for all items of the domain, as the p-values of a search are for all strings.
    z = found.values / np.sqrt(found.variance)
    p_values = [min(1.0, cell.d * NormalDist().cdf(-each)) for each in z.tolist()]
    return _items(found, found.items.tolist(), people, p_values)


def strings_of(data: str, length: int) -> Strings:
    """Domain in which a crowd's strings of at most ``length`` characters are searched."""
    known = _VISITS.get(data)
    return Strings(ALPHABET, length) if known is None else Strings(known.alphabet, length, other=known.other)


@lru_cache(maxsize=2)
def string_crowd(data: str, n: int, length: int, seed: int) -> Crowd:
    """A crowd of strings by name; ``visits`` and ``demo`` are the crowd of ``plausibly sample``."""
    if data not in _VISITS:
        return DATASETS[data](n, length, seed)
    return Crowd(data, np.array(sites()), counts(n)).truncated(length)


_listed_crowd = lru_cache(maxsize=8)(crowd)


def _items(found: Any, places: Sequence[int], counted: Any, p_values: Sequence[float]) -> list[Item]:
    (low, high), (plain_low, plain_high) = intervals(found)
    truths = [0 if place == NOBODY else int(counted[place]) for place in places]
    answers = (found.values, np.sqrt(found.variance), low, high, plain_low, plain_high, p_values)
    columns = [np.asarray(answer, dtype=np.float64).tolist() for answer in answers]
    return [Item(*row) for row in zip(places, truths, *columns, strict=True)]


def to_metrics(items: Sequence[Item]) -> Metrics:
    """The items of a run as numbers by name, for a row of results."""
    named = {
        f"{name} {rank}": float(value) for rank, item in enumerate(items, 1) for name, value in asdict(item).items()
    }
    return {"returned": float(len(items)), **named}


def from_metrics(metrics: Metrics) -> list[Item]:
    """The items that ``to_metrics`` has written; their ranks are their order."""
    names = [field.name for field in fields(Item)]
    ranks = range(1, int(metrics["returned"]) + 1)
    return [Item(*(metrics[f"{name} {rank}"] for name in names)) for rank in ranks]


def _measure_search(cell: Cell, views: Sequence[View], number: int) -> Measured:
    return {}, {view.key: to_metrics(search_run(cell)) for view in views}


def _measure_top(cell: Cell, views: Sequence[View], number: int) -> Measured:
    return {}, {view.key: to_metrics(top_run(cell)) for view in views}


def register() -> None:
    """Enter both measures by name, as every worker process does first."""
    MEASURES.update({SEARCH: _measure_search, TOP: _measure_top})


register()
