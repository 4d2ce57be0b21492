"""Not in the paper: schemes for ordered values on crowds of six shapes (section 9 names ranges and quantiles)."""

from collections.abc import Mapping

from plausibly.experiments import Figure, Line, Map, Panel, Sweep, line, view

_EPSILONS = (0.5, 1.0, 2.0, 3.0)
_USERS = (10_000, 100_000, 1_000_000)
_ITEMS = 1024
_ROUNDS = 2
"""Collections in each repeat: the error of ranges varies much from one to another."""
_SHAPES: Mapping[str, str] = {
    "smooth": "Smooth",
    "bimodal": "Two peaks",
    "even": "Even",
    "income": "Incomes, rounded",
    "spiky": "A few heavy values",
    "ends": "Half at each end",
}
_RISING = view("monotone")

BEST_SHARES: Mapping[float, tuple[int, ...]] = {
    0.5: (263, 96, 104, 98, 107, 97, 91, 82, 51, 11),
    1.0: (260, 95, 103, 102, 104, 99, 92, 79, 62, 4),
    2.0: (258, 95, 103, 100, 104, 98, 92, 94, 56, 1),
    3.0: (253, 93, 102, 92, 108, 94, 117, 125, 17, 1),
}
"""Users of each level of a tree with two blocks in each block, per thousand: the best for all ranges at even data."""


def _best_shares(epsilon: float) -> tuple[int, ...]:
    return BEST_SHARES[epsilon]


_LINES = [
    line("SLIDE"),
    line("SLIDE, monotone", "SLIDE", view=_RISING),
    line("HH₂", "HH", branching=2),
    line("HH₂, monotone", "HH", branching=2, view=_RISING),
    line("HH₄", "HH", branching=4),
    line("HH₄, monotone", "HH", branching=4, view=_RISING),
    line("HH₂, best shares", "HH", branching=2, weights=_best_shares),
    line("HH₂, best shares, monotone", "HH", branching=2, weights=_best_shares, view=_RISING),
    line("HAAR"),
    line("HAAR, monotone", "HAAR", view=_RISING),
    line("SW, EMS", "SW"),
    line("SW, EM", "SW", view=view(smooth=False)),
]
_METHODS = {
    "SLIDE": ("SLIDE, monotone",),
    "SW": ("SW, EMS", "SW, EM"),
    "HH": ("HH₂, best shares, monotone", "HH₂, monotone", "HH₄, monotone"),
    "HAAR": ("HAAR, monotone",),
}
"""Lines that compete in the maps. All but SW, which needs it not, are made monotone: this helps all of them."""
_SHOWN = ("SLIDE", "SLIDE, monotone", "HH₄", "HH₂, best shares", "HAAR", "SW, EMS")


def _of_shape(data: str) -> Sweep:
    vary = {"n": _USERS, "epsilon": _EPSILONS}
    return Sweep(name=data, lines=_LINES, vary=vary, data=data, d=_ITEMS, repeats=4, errors=_ROUNDS * _ITEMS)


def _against_the_bound(data: str) -> Sweep:
    lines: list[Line] = [one for one in _LINES if one.label in _SHOWN]
    vary = {"epsilon": _EPSILONS}
    return Sweep(
        name=f"epsilon, {data}", lines=lines, vary=vary, data=data, d=_ITEMS, repeats=4, errors=_ROUNDS * _ITEMS
    )


def _map(data: str) -> Map:
    return Map(title=_SHAPES[data], sweeps=[data], methods=_METHODS, xlabel="ε (less private →)")


def _ratio(data: str) -> Panel:
    return Panel(
        title=_SHAPES[data],
        sweeps=[f"epsilon, {data}"],
        x="epsilon",
        xlabel="ε",
        y="range_mse",
        ylabel="error / least possible",
        relative=True,
        root=True,
    )


FIGURE = Figure(
    name="extra8",
    title="Values in order: which method has the least error?",
    note="A cell names it. 1.8×: the next best has 1.8 times the error.\n"
    "Pale with ≈: too close to call. SW has no intervals.",
    about="Crowds of six shapes, drawn in grey, with 1,024 values. A cell names the method with the least error, a "
    "root mean square over all ranges of values; the number says how many times larger that of the next best method "
    "is. SW, the square wave, smooths its estimates: it is the best for crowds without spikes, and stays wrong "
    "where there are spikes. SLIDE, HH and HAAR are unbiased and have intervals; in the maps, all of them are "
    "made monotone, which helps each. HH is the best of three trees: with two or four blocks in each block and "
    "equal numbers of users at each level, as published, or with two and the best numbers. SW is the better of "
    "its two decoders, EMS and EM. Cells whose two best methods are less than two standard errors apart are pale. "
    "The last two panels have the error relative to the least possible one of unbiased answers, if users are "
    "spread evenly; biased ones, those of SW and after the monotone step, can go below it.",
    sweeps=[*map(_of_shape, _SHAPES), *map(_against_the_bound, ("smooth", "spiky"))],
    panels=[*map(_map, _SHAPES), *map(_ratio, ("smooth", "spiky"))],
)
