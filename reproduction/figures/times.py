"""Not in the paper as a figure: times with compiled and with NumPy kernels, for its claims about speed."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from plausibly.experiments import PLAIN, Figure, Line, Sweep, Table, View, line, view

from .sketches import over

_PAPER = view(decoder="paper")
_MANY = 1_000_000


def _timed(label: str, of: str, *, collections: int, reading: View = PLAIN, **parameters: Any) -> Line:
    # A single collection of an oracle takes only milliseconds.
    return line(label, "TIMES", view=reading, of=of, collections=collections, **parameters)


_few = partial(_timed, collections=10)
_many = partial(_timed, collections=4)
_once = partial(_timed, collections=1)


def _sweep(name: str, lines: list[Line], *, n: int, d: int, repeats: int = 5) -> Sweep:
    # Times do not depend on the counts, and uniform ones are drawn fast.
    return Sweep(name=name, lines=lines, data="uniform", n=n, d=d, repeats=repeats)


_SKETCHED: Mapping[str, tuple[str, str, Mapping[str, Any]]] = {
    "CM (Mean) OUE": ("mean", "OUE", {}),
    "CM (Mean) HM (t = 1)": ("mean", "HM", {"coefficients": 1}),
    "CM (Mean) HM (t = 3)": ("mean", "HM", {"coefficients": 3}),
    "CM (Median) FLH": ("median", "FLH", {"hashes": 500}),
    "CM (Median) HR": ("median", "HR", {}),
    "CM (Median) HM (t = 3)": ("median", "HM", {"coefficients": 3}),
}


def _sketch(label: str, combine: str, oracle: str, parameters: Mapping[str, Any]) -> Line:
    inside = {"oracle": {"decoder": "paper"}} if oracle == "HM" else {}
    return _once(label, "CM", reading=view(combine=combine, **inside), **over(oracle, **parameters))


_SWEEPS = [
    _sweep(
        "many",
        [_many("OLH, d = 500", "OLH"), _many("FLH (k′ = 10,000), d = 500", "FLH", hashes=10_000)],
        n=_MANY,
        d=500,
    ),
    _sweep(
        "oracles",
        [
            _few("HR", "HR"),
            _few("HM (t = 3)", "HM", reading=_PAPER, coefficients=3),
            _few("OUE", "OUE"),
            _few("OLH", "OLH"),
            _few("BLH", "BLH"),
            *(_few(f"FLH (k′ = {k:,})", "FLH", hashes=k) for k in (100, 1000, 5000, 10_000)),
        ],
        n=100_000,
        d=2048,
    ),
    _sweep(
        "hadamard",
        [
            _many("HR, many users", "HR"),
            *(_many(f"HM (t = {t}), many users", "HM", reading=_PAPER, coefficients=t) for t in (1, 3)),
        ],
        n=_MANY,
        d=2048,
    ),
    _sweep("sketches", [_sketch(label, *way) for label, way in _SKETCHED.items()], n=_MANY, d=10_000, repeats=3),
]


def _milliseconds(*names: str) -> Callable[[Mapping[str, float]], str]:
    def told(mean: Mapping[str, float]) -> str:
        return f"{1000 * sum(mean[name] for name in names):.1f}" if names[0] in mean else ""

    return told


FIGURE = Figure(
    name="times",
    title="Times with compiled and with NumPy kernels, in milliseconds",
    about="Each claim of the paper about speed is judged twice: with our compiled kernels, and with the NumPy kernels, "
    "which are vectorised too, and far faster than the loops of the paper's program. Times are processor milliseconds "
    "of one thread: of the server, which adds up all reports and decodes them, and of server and clients together.",
    sweeps=_SWEEPS,
    table=Table(
        sweeps=[sweep.name for sweep in _SWEEPS],
        columns={
            "users": lambda mean: f"{mean['n']:,.0f}",
            "d": lambda mean: f"{mean['d']:,.0f}",
            **{
                f"{shown}: {side}, ms": _milliseconds(*(f"{kind}_{name}" for name in names))
                for kind, shown in (("compiled", "compiled"), ("interpreted", "NumPy"))
                for side, names in (("server", ("server", "estimate")), ("total", ("total",)))
            },
        },
        said={one.label: () for sweep in _SWEEPS for one in sweep.lines},
        note="Times are processor milliseconds of one thread. Over OUE, the clients of a sketch spend most of their "
        "time on generating and copying random words, outside the kernels: the two kinds of kernels differ there by no "
        "more than the repeats of one kind do.",
    ),
)
