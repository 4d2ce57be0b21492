"""Schemes for experiments alone: published ones with a defect put back, or with another choice than the paper's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from plausibly import Integers, Scheme, StateError, device, kernels, make
from plausibly.core.history import History, decoding
from plausibly.core.laws import Cells, Codes, Decoder, Floats, Scores
from plausibly.core.randomness import Draws
from plausibly.core.scheme import Encoded, Reports
from plausibly.search.fragment_puzzle import SFP
from plausibly.search.tree_histogram import TH
from plausibly.sketches.combining import Rows
from plausibly.sketches.count_min import CM
from plausibly.sketches.count_sketch import CS
from plausibly.sketches.rows import RowSketch


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class SharedSigns(CS):
    """The Count-Sketch of the paper's program: the sign of an item is the parity of its cell.

    There both are taken from one hash, h mod c and h mod 2, and every c is even. So all items of a cell have the same
    sign, nothing cancels, and each estimate is (n−f)/c too high: a Count-Min sketch that is not debiased, with the
    noise of two cells.
    """

    name = "CS, shared signs"

    def respond(self, values: Encoded, draws: Draws, out: Reports) -> npt.NDArray[np.int64]:
        rows, refused, rest = draws.choose(self.rows)
        cells = kernels.local_hash(self.seeds[rows], values, self.split, self.width).astype(np.uint64)
        out["row"] = rows
        redo = self.oracle.respond(cells + np.uint64(self.width) * (cells % np.uint64(2)), rest, out["report"])
        return np.union1d(refused, redo)

    def likelihood(self, report: np.void, item: int) -> Any:
        cell = device.local_hash(int(self.seeds[report["row"]]), item, self.split, self.width)
        return self.oracle.likelihood(report["report"], cell + self.width * (cell % 2))

    def estimator(
        self,
        combine: Literal["mean", "median", "min", "peel"] = "mean",
        postprocess_rows: str | None = None,
        oracle: Mapping[str, Any] = MappingProxyType({}),
    ) -> Decoder:
        chosen: Any = super().estimator(combine, postprocess_rows, oracle)
        return _Biased(replace(chosen, rows=_ParityRows(**vars(chosen.rows))))


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class RawCells(CM):
    """The Count-Min sketch of the paper's program: what others add to a cell is taken out of the mean alone.

    So median and minimum are n/c too high, before noise draws the minimum down.
    """

    name = "CM, not debiased"

    def estimator(
        self,
        combine: Literal["mean", "median", "min", "peel"] = "mean",
        postprocess_rows: str | None = None,
        oracle: Mapping[str, Any] = MappingProxyType({}),
    ) -> Decoder:
        chosen: Any = super().estimator(combine, postprocess_rows, oracle)
        raw: dict[str, Any] = {"median": np.median, "min": np.min}
        decoder: Decoder = _Raw(chosen.rows, raw[combine]) if combine in raw else chosen
        return decoder


@dataclass(frozen=True)
class OverOracle:
    """Makes one of these sketches over an oracle of a name."""

    kind: type[RowSketch]

    def __call__(
        self, *, epsilon: float, domain_size: int, hash_seed: int, oracle: Mapping[str, Any], width: int, rows: int
    ) -> Scheme:
        """The sketch of so many cells a row; ``oracle`` has its name as ``scheme``, and its parameters."""
        cells = named_oracle(oracle, epsilon, width * (1 + self.kind.signed), hash_seed)
        return self.kind(domain=Integers(domain_size), oracle=cells, rows=rows, hash_seed=hash_seed)


def named_oracle(given: Mapping[str, Any], epsilon: float, domain_size: int, hash_seed: int) -> Scheme:
    """The oracle whose name is that of its ``scheme``, with the other parameters given, and seeded if it has hashes."""
    parameters = {name: value for name, value in given.items() if name != "scheme"}
    if given["scheme"] == "FLH":
        parameters["hash_seed"] = hash_seed
    return make(given["scheme"], epsilon=epsilon, domain_size=domain_size, **parameters)


@dataclass(frozen=True)
class _ParityRows(Rows):
    """Rows in which odd cells count negatively, whatever item is in them."""

    def of_items(self, cells: npt.NDArray[Any]) -> npt.NDArray[Any]:
        # One column for each cell, not two: decoders hash items to as many as there are.
        plus, minus = np.split(cells, 2, axis=1)
        odd = np.arange(plus.shape[1]) % 2 == 1
        signed: npt.NDArray[Any] = np.where(odd, minus - plus, plus - minus)
        return signed


@dataclass(frozen=True)
class _Raw:
    """A combination of the cells of an item as they are, each scaled to all users."""

    rows: Rows
    combine: Callable[..., Floats]
    law: ClassVar[None] = None

    @property
    def history(self) -> History:
        return (*self.rows.history, decoding("rows not debiased"))

    def scores(self, state: Cells, n: Any, codes: Codes | None, /) -> Scores:
        raise StateError("cells scaled to all users are no integer scores")

    def estimate(self, state: Cells, n: Any, codes: Codes | None) -> tuple[Floats, Floats | None]:
        scaled = self.rows.cells(state, n) * (int(n.sum()) / np.maximum(n, 1))[:, None]
        return self.rows.read(scaled, codes, lambda values: self.combine(values, axis=1)), None


@dataclass(frozen=True)
class _Biased:
    """The estimates of another decoder, without its claim about their variance."""

    decoder: Decoder
    law: ClassVar[None] = None

    @property
    def history(self) -> History:
        return self.decoder.history

    def scores(self, evidence: Cells, n: Any, codes: Codes | None, /) -> Scores:
        return self.decoder.scores(evidence, n, codes)

    def estimate(self, evidence: Cells, n: Any, codes: Codes | None) -> tuple[Floats, Floats | None]:
        return self.decoder.estimate(evidence, n, codes)[0], None


class _UsersSplit:
    """Half of the users report the whole string and the others a part of it: one report each, at the whole budget."""

    @property
    def groups(self) -> tuple[tuple[int, ...], ...]:
        return tuple((part,) for part in range(self.whole + 1))  # type: ignore[attr-defined]

    @property
    def group_weights(self) -> tuple[int, ...]:
        return (*(1,) * self.whole, self.whole)  # type: ignore[attr-defined]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class SplitTH(_UsersSplit, TH):
    """TreeHistogram that splits its users instead of its budget."""

    name = "TH, users split"


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class SplitSFP(_UsersSplit, SFP):
    """The sequence fragment puzzle that splits its users instead of its budget."""

    name = "SFP, users split"


SKETCHES: Mapping[str, OverOracle] = {kind.name: OverOracle(kind) for kind in (SharedSigns, RawCells)}
"""The sketches by name: called with epsilon, domain_size, hash_seed, and their oracle, width and rows."""
