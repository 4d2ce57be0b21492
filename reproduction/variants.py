"""Schemes for experiments only: published ones with a defect put back, or with a choice other than the paper's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from plausibly import CATALOG, Integers, Scheme, StateError, make
from plausibly.extend import Decoder, Draws, Encoded, PartEvidence, Reports, decoding, scaled_up

CM: Any = CATALOG["CM"]
CS: Any = CATALOG["CS"]
SFP: Any = CATALOG["SFP"]
TH: Any = CATALOG["TH"]

_ITEMS_AT_ONCE = 1 << 14


def _medians(values: npt.NDArray[Any], axis: int) -> npt.NDArray[Any]:
    # Like np.median, which takes three times as long.
    sorted_half = np.ascontiguousarray(np.moveaxis(values, axis, -1))
    half = sorted_half.shape[-1] // 2
    sorted_half.partition(half, axis=-1)
    upper = sorted_half[..., half]
    whole: npt.NDArray[Any] = upper if values.shape[axis] % 2 else (sorted_half[..., :half].max(axis=-1) + upper) / 2
    return whole


_COMBINE: Mapping[str, Any] = {"mean": np.sum, "median": _medians, "min": np.min}
"""How to combine the readings of all rows; each row has a share of the users, so that the mean is a sum."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class SharedSigns(CS):
    """The Count-Sketch of the paper's program: the sign of an item is the parity of its cell.

    The program takes both from one hash, h mod c and h mod 2, and every c is even. All items of a cell therefore have
    the same sign, nothing cancels, and each estimate is (n−f)/c too high: a Count-Min sketch that is not debiased, with
    the noise of two cells.
    """

    name = "CS, shared signs"

    def respond(self, values: Encoded, draws: Draws, out: Reports) -> npt.NDArray[np.int64]:
        rows, refused, rest = draws.choose(self.rows)
        cells = self.hash_items(rows, values, self.width).astype(np.uint64)
        out["row"] = rows
        redo = self.oracle.respond(cells + np.uint64(self.width) * (cells % np.uint64(2)), rest, out["report"])
        return np.union1d(refused, redo)

    def likelihood(self, report: np.void, item: int) -> Any:
        [cell] = self.hash_items(np.array([report["row"]]), np.array([item], dtype=np.uint64), self.width).tolist()
        return self.oracle.likelihood(report["report"], cell + self.width * (cell % 2))

    def estimator(self, combine: str = "mean", oracle: Mapping[str, Any] = MappingProxyType({})) -> Decoder:
        return _AsTheyAre(self, self.oracle.estimator(**oracle), combine)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class RawCells(CM):
    """The Count-Min sketch as published: the mean is debiased, the median and the minimum are not.

    The estimate of the paper's program takes the median and the minimum of the cells as they are (file
    sketch_response_server), which are n/c too high before noise pulls the minimum down. The text asks for "appropriate
    corrections to make the estimation unbiased" of the mean and the median, not of the minimum. They are known for the
    mean, where others add n/c to a cell; ``correction="n/c"`` applies them to the median, too. It is then too low where
    a few heavy items add most of n/c to a few cells. Our CM subtracts the median of all cells instead.
    """

    name = "CM, not debiased"

    def estimator(
        self,
        combine: str = "mean",
        oracle: Mapping[str, Any] = MappingProxyType({}),
        correction: Literal["none", "n/c"] = "none",
    ) -> Decoder:
        if combine == "mean":
            debiased: Decoder = super().estimator(combine, oracle=oracle)
            return debiased
        return _AsTheyAre(self, self.oracle.estimator(**oracle), combine, corrected=correction == "n/c")


@dataclass(frozen=True)
class _AsTheyAre:
    """Estimates that combine the cells of an item as they are, without debiasing collisions, or less n/c."""

    sketch: Any
    oracle: Decoder
    combine: str
    corrected: bool = False
    law: ClassVar[None] = None
    """Collisions bias these estimates."""

    @property
    def history(self) -> Any:
        return (decoding("rows less n/c" if self.corrected else "rows not debiased"),)

    def scores(self, evidence: Any, n: Any, codes: Any, /) -> Any:
        raise StateError("expected debiased cells: cells that are not debiased have no integer scores")

    def estimate(self, evidence: Any, n: Any, codes: Any) -> Any:
        rows = np.flatnonzero(n) if n.any() else np.arange(len(n))
        table = np.stack([self.oracle.estimate(evidence[row], int(n[row]), None)[0] for row in rows])
        if self.sketch.signed:
            plus, minus = np.split(table, 2, axis=1)
            table = np.where(np.arange(self.sketch.width) % 2 == 1, minus - plus, plus - minus)
        if self.combine != "mean":
            table *= (int(n.sum()) / np.maximum(n[rows], 1))[:, None]
        if self.corrected:
            table = (table - int(n.sum()) / self.sketch.width) * (self.sketch.width / (self.sketch.width - 1))
        items = np.arange(self.sketch.size, dtype=np.uint64) if codes is None else codes
        parts = [items[first : first + _ITEMS_AT_ONCE] for first in range(0, len(items), _ITEMS_AT_ONCE)]
        return np.concatenate([np.zeros(0), *(self._read(rows, table, part) for part in parts)]), None

    def _read(self, rows: npt.NDArray[Any], table: npt.NDArray[Any], items: npt.NDArray[Any]) -> Any:
        read = np.empty((len(table), len(items)))
        for place, row in enumerate(rows):
            read[place] = table[place][self.sketch.hash_items(np.full(len(items), row), items, table.shape[1])]
        return _COMBINE[self.combine](read, axis=0)


@dataclass(frozen=True)
class OverOracle:
    """A factory of one kind of sketch over a named oracle; ``signs`` as those of a Count-Sketch."""

    kind: Any
    signs: str = ""

    def __call__(
        self, *, epsilon: float, domain_size: int, hash_seed: int, oracle: Mapping[str, Any], width: int, rows: int
    ) -> Scheme:
        """The sketch with ``width`` cells per row; ``oracle`` holds its name as ``scheme``, and its parameters."""
        own = {"signs": self.signs} if self.signs else {}
        cells = named_oracle(oracle, epsilon, width if self.signs else width * (1 + self.kind.signed), hash_seed)
        sketch: Scheme = self.kind(domain=Integers(domain_size), oracle=cells, rows=rows, hash_seed=hash_seed, **own)
        return sketch


def named_oracle(given: Mapping[str, Any], epsilon: float, domain_size: int, hash_seed: int) -> Scheme:
    """The oracle named by ``scheme`` with the other given parameters, seeded if it has hash functions."""
    parameters = {name: value for name, value in given.items() if name != "scheme"}
    if given["scheme"] == "FLH":
        parameters["hash_seed"] = hash_seed
    return make(given["scheme"], epsilon=epsilon, domain_size=domain_size, **parameters)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class AllFragments(SFP):
    """The sequence fragment puzzle whose users report every fragment, with a share of the budget for each."""

    name = "SFP, all fragments"

    @property
    def groups(self) -> tuple[tuple[int, ...], ...]:
        return (tuple(range(self.whole)),)

    @property
    def group_weights(self) -> tuple[int, ...]:
        return (1,)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ByPrefixes(TH):
    """TreeHistogram over sketches as in the paper's program: whole strings are chosen by the reports of prefixes.

    The random prefix of a user may be the whole string (``TreeHistClient.privatise``), and the reports of all lengths
    are in one oracle, so that each length has the noise of all users (``TreeHistServer.find_heavy_hitters``). The
    search returns the ``keep`` best prefixes of the last length. The reports of whole strings remove those with a
    negative estimate, nothing else.
    """

    name = "TH, by prefixes"

    @cached_property
    def levels(self) -> tuple[int, ...]:
        return (*super().levels, self.strings.length)

    @cached_property
    def parts(self) -> tuple[Any, ...]:
        *prefixes, longest, whole = super().parts
        return (*prefixes, replace(longest, label=f"first {longest.last} characters"), whole)

    def search(
        self,
        tally: Any,
        *,
        k: int | None = 10,
        threshold: float | None = None,
        keep: int = 20,
        oracle: Mapping[str, Any] = MappingProxyType({}),
    ) -> Any:
        return super().search(_OneOracle(tally), k=k, threshold=threshold, keep=keep, oracle=oracle)


class _OneOracle:
    """A tally of ``ByPrefixes`` that has the reports of prefixes of all lengths together."""

    def __init__(self, tally: Any) -> None:
        self.scheme, self.n = tally.scheme, len(tally)
        *prefixes, whole = tally.parts
        together = self.scheme.oracle.accumulator()
        for part in prefixes:
            together.merge(part)
        self.parts = (*(together for _ in prefixes), whole)

    def __len__(self) -> int:
        return self.n

    def estimate_part(self, number: int, items: Any, options: Mapping[str, Any]) -> Any:
        """Counts for all users; a prefix of each length is reported by one in three."""
        own, sketch = self.parts[number], self.scheme.parts[number].scheme
        evidence = PartEvidence(own.evidence, own.numbers)
        return scaled_up(_as_published(sketch, **options), evidence, items, float(self.scheme.share(number)))

    def estimate_part_and_unheld(self, number: int, items: Any, options: Mapping[str, Any]) -> Any:
        """The counts of one part without a law of items without holders: the published program has none."""
        return (*self.estimate_part(number, items, options), None)


def _as_published(sketch: Any, combine: str = "mean", oracle: Mapping[str, Any] = MappingProxyType({})) -> Decoder:
    # Medians are not debiased, as those of RawCells: fewer of them are negative.
    if combine == "mean":
        debiased: Decoder = sketch.estimator(combine, oracle=oracle)
        return debiased
    return _AsTheyAre(sketch, sketch.oracle.estimator(**oracle), combine)


SKETCHES: Mapping[str, OverOracle] = {
    **{kind.name: OverOracle(kind) for kind in (SharedSigns, RawCells)},
    "CS, signs on coefficients": OverOracle(CS, signs="coefficients"),
}
"""The sketches by name: called with epsilon, domain_size, hash_seed, and their oracle, width and rows."""
