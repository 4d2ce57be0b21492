"""What a scheme costs: bytes, state, server time by a simple model, and what one fake report can do."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, log2, prod

from ..core.laws import CountMean, Estimator
from ..core.scheme import Scheme
from ..search.base import Search
from ..search.folding import Fold
from ..search.parts import Part
from ..sketches.rows import RowSketch

CLASSES = ((1.0, "at most a second"), (60.0, "at most a minute"), (3600.0, "at most an hour"))
_LONGEST = "more than an hour"

# Seconds on one core, rounded from measurements (bench/results): they tell a second from a minute, not 1 from 2.
_REPORT = 5e-9
"""To read a report."""
_PLACE = 1.2e-9
"""To add one of its places to a table of coefficients."""
_BYTE = 6e-11
"""To count a byte of a bitmap."""
_TEST = 3e-11
"""To test a listed item against a hashed report."""
_BUTTERFLY = 1.5e-10
"""A step of a Hadamard transform."""
_LOOKUP = 2e-8
"""To read an item in one row of a sketch."""
_TABULATED = 6e-10
"""To read an item in one row of FLH's table."""
_CANDIDATE = {"OLH": 6e-10, "BLH": 6e-10, "TLH": 2.5e-9}
"""To test a candidate against a kept report."""


@dataclass(frozen=True)
class Costs:
    """What a scheme costs a collection of n users."""

    report_bytes: int
    state_bytes: int
    seconds: float
    keeps_reports: bool

    @property
    def time_class(self) -> int:
        """0 for a second, 1 for a minute, 2 for an hour at most; 3 for more."""
        return sum(self.seconds > most for most, _ in CLASSES)

    @property
    def time_text(self) -> str:
        """The class in words."""
        return [*(text for _, text in CLASSES), _LONGEST][self.time_class]


def costs_of(scheme: Scheme, n: int, candidates: int) -> Costs:
    """Bytes of a report, of the state of n reports, and seconds of one core to collect and estimate."""
    asked = scheme.domain.size or candidates
    size = scheme.report_dtype.itemsize
    kept = scheme.cell_shape is None and not isinstance(scheme, Search)
    return Costs(size, state_bytes(scheme, n), _seconds(scheme, n, asked), kept)


def state_bytes(scheme: Scheme, n: int) -> int:
    """Bytes of the state of n reports."""
    if isinstance(scheme, Search):
        return sum(state_bytes(part.scheme, users) for part, users in _parts(scheme, n))
    if scheme.cell_shape is None:
        return n * scheme.report_dtype.itemsize
    return 8 * prod(scheme.cell_shape) * (scheme.channels or 1)


def _seconds(scheme: Scheme, n: int, asked: int) -> float:
    if isinstance(scheme, Search):
        # The search itself as measured: 0.4 s for 6 symbols, 2 s for 64.
        collected = sum(_seconds(part.scheme, users, 0) for part, users in _parts(scheme, n))
        return collected + 0.25 + 0.03 * scheme.strings.length
    if isinstance(scheme, RowSketch):
        decoding = _seconds(scheme.oracle, 0, 0) * scheme.rows + _LOOKUP * asked * scheme.rows
        return _seconds(scheme.oracle, n, 0) + decoding
    seconds, name = n * _REPORT, scheme.name
    if scheme.cell_shape is None:
        return seconds + n * asked * _CANDIDATE.get(name, max(_CANDIDATE.values()))
    cells = prod(scheme.cell_shape)
    if name in ("OLH", "BLH"):
        return seconds + n * cells * _TEST
    if name == "FLH":
        return seconds + prod(scheme.cell_shape[:-1]) * asked * _TABULATED
    if name in ("TLH", "HM"):
        seconds += n * 2 ** _hash_bits(scheme) * _PLACE
    elif name == "AGR":
        seconds += n * int(scheme.parameters["window"]) * _REPORT
    elif name not in ("DE", "HR"):
        return seconds + n * scheme.report_dtype.itemsize * _BYTE
    return seconds if name == "DE" else seconds + cells * log2(cells + 1) * _BUTTERFLY


def _whole_share(scheme: Search) -> float:
    # Of the users who report whole strings, all of whom stand for the others.
    last = scheme.parts[scheme.whole]
    return float(sum(scheme.share(i) for i, part in enumerate(scheme.parts) if part.label == last.label))


def _parts(scheme: Search, n: int) -> list[tuple[Part, int]]:
    return [(part, ceil(n * scheme.share(i))) for i, part in enumerate(scheme.parts)]


def _hash_bits(scheme: Scheme) -> int:
    return int(scheme.parameters["hash_bits" if scheme.name == "TLH" else "coefficients"])


def linear(scheme: Scheme) -> bool:
    """Whether its estimates are sums over reports, with a variance in closed form; those of a regression are not."""
    return scheme.estimator().law is not None


def influence(scheme: Scheme) -> float:
    """By how much one report more, of whatever content, can move the estimated count of an item.

    A report adds its score less the offset, times the scale. Scores are 0 or 1, or signs where the offset is 0. A
    search counts given strings by those who report whole ones. Only for schemes that are ``linear``.
    """
    if isinstance(scheme, Search):
        whole = scheme.parts[scheme.whole]
        own = max(map(abs, _debiased(_ends(whole.scheme), whole.scheme.size))) if isinstance(whole, Fold) else None
        return (influence(whole.scheme) if own is None else own) / _whole_share(scheme)
    if not isinstance(scheme, RowSketch):
        return max(map(abs, _ends(scheme)))
    low, high = _ends(scheme.oracle)
    if scheme.signed:
        return high - low  # one cell less another
    return max(map(abs, _debiased((low, high), scheme.width)))


def _ends(oracle: Scheme) -> tuple[float, float]:
    # The least and the most that a report adds to a count.
    decoder = oracle.estimator()
    assert isinstance(decoder, Estimator)
    scale, offset = float(decoder.scale), float(decoder.offset)
    return -scale * (offset or 1.0), scale * (1.0 - offset)


def _debiased(ends: tuple[float, float], cells: int) -> tuple[float, float]:
    # What others are expected to add to a cell is subtracted, for each report.
    low, high = (CountMean(cells).counts(end, 1) for end in ends)
    return low, high
