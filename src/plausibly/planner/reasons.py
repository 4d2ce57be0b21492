"""Reasons for and against schemes, and a comparison with the paper's recommendation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..core.wording import size_text
from ..sketches.rows import RowSketch
from .options import ALIKE, Aim, Option

PAPER = "Cormode, Maddock and Maple (VLDB 2021)"
_THOUSANDS = 4096
"""Number of items up to which a domain counts as the paper's "up to hundreds or thousands", as we read it."""


@dataclass(frozen=True)
class _Advice:
    """The paper's recommendation for domains of one size."""

    scheme: str
    reading: str


_TINY = _Advice(
    "DE",
    "find direct encoding (DE) best for very small domains, and it is, precisely if (d−1)(d−2) ≤ 2e^(2ε)",
)
_SMALL = _Advice("OLH", "recommend local hashing (OLH, or FLH for speed) for up to thousands of items")
_LARGE = _Advice(
    "HR", "recommend Hadamard response (HR) for larger domains, almost as accurate as local hashing and much faster"
)
_SHARED = "FLH"
"""The paper's faster variant of local hashing."""
_USUAL = 1000
"""Default number of its shared hash functions."""
_MORE = 1.2
"""Ratio of squared errors from which on a note mentions it."""


def why_first(option: Option, allowed: Sequence[Option]) -> str:
    """Reason for the recommended scheme."""
    least = min(other.measure for other in allowed)
    if option.measure <= least * 1.005:
        return "the lowest error within the limits"
    return f"within {100 * (option.measure / least - 1):.0f} % of the lowest squared error, at lower cost"


def why_not(option: Option, best: Option, aim: Aim) -> str:
    """First reason against a scheme."""
    costs, limits = option.costs, aim.limits
    if limits.report_bytes is not None and costs.report_bytes > limits.report_bytes:
        return f"{costs.report_bytes:,} bytes a report, more than {limits.report_bytes} allowed"
    if costs.state_bytes > limits.most_memory:
        return f"{size_text(costs.state_bytes)} of state, more than {size_text(limits.most_memory)} allowed"
    ratio = option.measure / best.measure
    if ratio > ALIKE:
        return f"{ratio:,.2f} times the squared error" if ratio < 10 else f"{ratio:,.0f} times the squared error"
    own, first = option.price, best.price
    if own[0] != first[0]:
        return "keeps every report, and tests each candidate against all of them"
    if own[1] != first[1]:
        return "its error depends on how skewed the data are"
    if own[2] > first[2]:
        return f"its server takes {costs.time_text}, instead of {best.costs.time_text}"
    if own[3] > first[3]:
        return f"about as accurate, in {costs.report_bytes:,} bytes instead of {best.costs.report_bytes:,}"
    if ratio > 1.005:
        return f"{100 * (ratio - 1):.0f} % more squared error at the same cost"
    return "as accurate, with a larger state" if own[4] > first[4] else "as accurate"


def notes(best: Option, options: Sequence[Option], aim: Aim) -> tuple[str, ...]:
    """Notes beside the reasons: the paper's recommendation, how newer protocols change it, and caveats."""
    found = _open_notes(best) if aim.domain.size is None else _listed_notes(best, options, aim)
    if best.prediction.assumes:
        found.append(
            "Hash functions are shared, so items collide. The stated error is an average over hash_seed, and this plan "
            "has drawn a fresh one: make a new plan for every collection."
        )
    if best.prediction.law.caveat:
        found.append(best.prediction.law.caveat)
    found.append("ε is for one report of a user; several reports add up.")
    return tuple(found)


def _listed_notes(best: Option, options: Sequence[Option], aim: Aim) -> list[str]:
    name, advice = best.scheme.name, [best.scheme.advice] if best.scheme.advice else []
    if name == _TINY.scheme:
        local = f"Otherwise they recommend local hashing: {_paper(options, _SMALL.scheme, best)}."
        return [f"{PAPER} {_TINY.reading}. {local}", *advice]
    paper = _SMALL if aim.asked <= _THOUSANDS else _LARGE
    here = "That holds here, too." if name == paper.scheme else f"Here {_paper(options, paper.scheme, best)}."
    found = [f"{PAPER} {paper.reading}. {here}", *advice]
    hashes, ratio = _shared_functions(options)
    if ratio > _MORE:
        found.append(
            f"{_SHARED}'s shared functions add an error for which the paper has no formula: with {hashes:,} of them, "
            f"{_SHARED} has {ratio:.3g} times the squared error of {_SMALL.scheme}."
        )
    return found


def _open_notes(best: Option) -> list[str]:
    scheme = best.scheme
    found = f"{PAPER} recommend a Count-Min sketch over FLH, its rows combined by mean or median."
    if isinstance(scheme, RowSketch):
        found += f" Rows of {scheme.width:,} cells over {scheme.oracle.name} have less noise and fewer collisions."
    elif best.costs.keeps_reports:
        found += " Here the server keeps the reports, which costs no accuracy; you may name candidates later."
    return [found, scheme.advice] if scheme.advice else [found]


def _paper(options: Sequence[Option], name: str, best: Option) -> str:
    own = min((o for o in options if o.scheme.name == name), key=lambda option: option.measure, default=None)
    if own is None:
        return f"{name} is not possible"
    ratio = own.measure / best.measure
    size = f"{own.costs.report_bytes:,} bytes instead of {best.costs.report_bytes:,}"
    if ratio > ALIKE:
        return f"{name} has {ratio:.3g} times the squared error of {best.scheme.name}, in {size}"
    if ratio < 1 / ALIKE:
        return f"{name} has {ratio:.2g} times the squared error, but exceeds the limits"
    return f"{name} is about as accurate as {best.scheme.name}, in {size}, and its server takes {own.costs.time_text}"


def _shared_functions(options: Sequence[Option]) -> tuple[int, float]:
    # FLH with about the default number of functions, compared with a separate function for every report.
    shared = min((o for o in options if o.scheme.name == _SHARED), key=lambda o: abs(_hashes(o) - _USUAL))
    least = min(option.measure for option in options if option.scheme.name == _SMALL.scheme)
    return _hashes(shared), shared.measure / least


def _hashes(option: Option) -> int:
    return int(option.scheme.parameters["hashes"])
