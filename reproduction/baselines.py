"""Baseline searches: those of the paper's table 2, and the best search that uses prefixes alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from plausibly import CATALOG, Keys, Scheme, Strings, make

from .variants import AllFragments, ByPrefixes, named_oracle

Floats = npt.NDArray[np.float64]
Rows = npt.NDArray[Any]
"""Strings as rows of symbols, padded with 0."""

PEM: Any = CATALOG["PEM"]
SFP: Any = CATALOG["SFP"]
TH: Any = CATALOG["TH"]


@dataclass(frozen=True)
class OverSketches:
    """A search of the paper's table 2, over Count-Min sketches of an oracle's reports."""

    kind: Any
    reports: int
    """Number of reports that share a user's budget, as published."""

    def __call__(
        self,
        *,
        epsilon: float,
        domain: Strings,
        users: int,
        hash_seed: int,
        oracle: Mapping[str, Any],
        rows: int,
        width: int,
        **own: Any,
    ) -> Scheme:
        """The search with ``epsilon`` as its total budget; the number of users does not matter.

        ``own``: further parameters of the search, such as ``start``, or ``split="users"`` for one report per user.
        """
        seed = {"hash_seed": hash_seed}
        reports = 1 if "split" in own and self.reports == 2 else self.reports
        cells = named_oracle(oracle, epsilon / reports, width, hash_seed)
        sketch = make("CM", oracle=cells, rows=rows, domain=Keys(**seed), **seed)
        takes = {each.name for each in fields(self.kind)}
        parts: dict[str, Any] = {name: sketch for name in ("oracle", "word_oracle") if name in takes}
        search: Scheme = self.kind(domain=domain, **parts | own, **(seed if "hash_seed" in takes else {}))
        return search


SEARCHES: Mapping[str, Callable[..., Scheme]] = {
    "PEM": OverSketches(PEM, reports=1),
    "SFP": OverSketches(SFP, reports=2),
    "TH": OverSketches(TH, reports=2),
    ByPrefixes.name: OverSketches(ByPrefixes, reports=2),
    AllFragments.name: OverSketches(AllFragments, reports=3),
}
"""Searches by name: called with epsilon, domain, users, hash_seed and their own parameters."""


# --- prefixes done well -----------------------------------------------------------------------------------------

_KEPT = 500
_POOL = 400
_PEELED = 40
_FIRST_SHARE = 0.4
_COHORTS = 8


def pem_plus(epsilon: float, strings: Strings, hash_seed: int) -> Any:
    """The prefix extending method without early pruning: a first level that is decoded completely, then whole strings.

    40 % of the users report the first characters, the others the whole string through tables of 2^20 cells.
    """
    symbols, length = strings.symbols, strings.length
    start = next(size for size in range(length, 0, -1) if symbols**size <= 2**22)
    text = str(epsilon)
    first = make("TLH", epsilon=text, domain_size=symbols**start)
    folded = make("TLH", epsilon=text, domain_size=2**20)
    letters = make("SS", epsilon=text, domain_size=symbols)
    million = 10**6
    each = round((1 - _FIRST_SHARE) * million / _COHORTS)
    # The scheme requires users in every group; one in a million makes no difference.
    weights = (*(1,) * length, round(_FIRST_SHARE * million), *(each,) * _COHORTS)
    return make(
        "TRELLIS",
        domain=strings,
        letters=letters,
        first=first,
        folded=folded,
        start=start,
        step=length - start,
        cohorts=_COHORTS,
        weights=weights,
        hash_seed=hash_seed,
    )


def extend_and_peel(tally: Any, k: int) -> list[Any]:
    """The k best extensions of the 500 most common first parts, found one at a time.

    Each string found is subtracted from its cells, so that it does not inflate others. An estimate above that of its
    own first part is pulled towards it, weighted by their variances.
    """
    scheme, n = tally.scheme, len(tally)
    strings = scheme.strings
    first_number = scheme.parts.index(scheme.first_part)
    first, first_variance = _counts(scheme.first_part.scheme, tally.parts[first_number], n)
    best = np.argpartition(-first, _KEPT)[:_KEPT]
    prefixes = _rows(best, strings.symbols, scheme.levels[0])
    candidates = _extensions(prefixes[_are_strings(prefixes)], strings.symbols, strings.length)
    users = sum(len(part) for part in tally.parts[first_number + 1 :])
    tables = [_counts(fold.scheme, part, len(part))[0] for fold, part in _cohorts(scheme, tally)]
    cells = np.stack([fold.items(candidates).astype(np.int64) for fold, _ in _cohorts(scheme, tally)])
    estimates = sum(table[cell] for table, cell in zip(tables, cells, strict=True)) - users / len(tables[0])
    pool = np.argsort(-estimates)[:_POOL]
    cells, scale = cells[:, pool], n / users
    values = np.stack([table[cell] for table, cell in zip(tables, cells, strict=True)])
    found: list[int] = []
    heights: list[float] = []
    for _ in range(min(_PEELED, len(pool))):
        left = values.sum(axis=0) - users / len(tables[0])
        left[found] = -np.inf
        top = int(np.argmax(left))
        found.append(top)
        heights.append(float(left[top]) * scale)
        values -= np.where(cells == cells[:, [top]], left[top] / len(tables), 0.0)
    whole_variance = _counts(scheme.folds[0][0].scheme, tally.parts[-1], users)[1] * scale**2
    own = candidates[pool[found]]
    numbers = _numbers(own[:, : scheme.levels[0]], strings.symbols)
    pooled = _constrained(np.array(heights), whole_variance, first[numbers], first_variance)
    found_strings: list[Any] = strings.decode(own[np.argsort(-pooled, kind="stable")[:k]]).tolist()
    return found_strings


def _cohorts(scheme: Any, tally: Any) -> list[tuple[Any, Any]]:
    return list(zip(scheme.folds[0], tally.parts[-len(scheme.folds[0]) :], strict=True))


def _counts(scheme: Scheme, tally: Any, n: int) -> tuple[Floats, float]:
    # Every item's count, scaled up to n users, and the variance of an item that no user has.
    estimates = tally.estimate()
    scale = n / max(len(tally), 1)
    return estimates.values * scale, scheme.variance(len(tally)) * scale**2


def _constrained(whole: Floats, whole_variance: float, first: Floats, first_variance: float) -> Floats:
    # The most likely counts given that a string is at most as common as its own prefix.
    pooled = (whole / whole_variance + first / first_variance) / (1 / whole_variance + 1 / first_variance)
    return np.where(first < whole, pooled, whole)


def _rows(numbers: npt.NDArray[Any], symbols: int, length: int) -> Rows:
    # The digits of each number, most significant first.
    return (numbers[:, None] // symbols ** np.arange(length - 1, -1, -1) % symbols).astype(np.uint8)


def _numbers(rows: Rows, symbols: int) -> npt.NDArray[np.int64]:
    numbers: npt.NDArray[np.int64] = rows.astype(np.int64) @ symbols ** np.arange(rows.shape[1] - 1, -1, -1)
    return numbers


def _are_strings(rows: Rows) -> npt.NDArray[np.bool_]:
    # Only padding follows padding.
    broken: npt.NDArray[np.bool_] = ((rows[:, :-1] == 0) & (rows[:, 1:] != 0)).any(axis=1)
    return ~broken


def _extensions(prefixes: Rows, symbols: int, length: int) -> Rows:
    # Every string that begins with one of the prefixes.
    more = length - prefixes.shape[1]
    endings = _rows(np.arange(symbols**more), symbols, more)
    pairs = [np.repeat(prefixes, len(endings), axis=0), np.tile(endings, (len(prefixes), 1))]
    strings = np.hstack(pairs)
    return strings[_are_strings(strings)]
