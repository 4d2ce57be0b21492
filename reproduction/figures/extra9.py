"""Not in the paper: fake reports, by the attacks and countermeasures of Cao, Jia and Gong (2021), and what we add."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from plausibly.experiments import Figure, Line, Panel, Sweep, Table, line, view

_NAMES = {"DE": "DE (kRR)", "OUE": "OUE", "OLH": "OLH"}
_HASHED_OR_UNARY = ("OUE", "OLH")
_ATTACKS = ("random items", "random reports", "maximal gain")
_SHARE, _TARGETS, _ITEMS = 0.05, 10, 64
_USERS, _FEWER = 100_000, 20_000
"""Users, and users where all sets of items are mined, which takes long."""
_REPEATS = {"DE": 20, "OUE": 10, "OLH": 5}
"""Repeats of the gains by ε: random reports on DE have much noise, and looking for hash functions takes long."""
_JUDGED = 1
"""Seed of the crowd of shares that are judged by the binomial law: no other sweep has their random numbers."""

REMEDIES: Mapping[str, str] = {
    "no defence": "none",
    "normalization": "normalization",
    "itemsets": "itemsets",
    "itemsets, then normalization": "itemsets, then normalization",
    "conditional probabilities": "conditional probabilities",
}
"""Published countermeasures by the label of their line."""
INTERVALS: Mapping[str, str] = {
    "usual intervals": "none",
    "after itemsets": "itemsets",
    "after conditional probabilities": "conditional probabilities",
    "despite_fakes": "despite fakes",
}
DETECTORS: Mapping[str, str] = {"itemsets": "itemsets", "tally.diagnose": "tally", "diagnose_reports": "reports"}
_OURS = ("despite_fakes", "tally.diagnose", "diagnose_reports")


def _applies(of: str, defence: str) -> bool:
    # A report of DE supports one item: there are no sets.
    return of != "DE" or "itemsets" not in defence


def _line(label: str, of: str, **options: Any) -> Line:
    given = {name: value for name, value in options.items() if value != "none" or name == "attack"}
    return line(label, "POISONED", view=view(**given), ours=label in _OURS, of=of)


def _sweep(name: str, lines: Sequence[Line], *, users: int = _FEWER, repeats: int, **more: Any) -> Sweep:
    return Sweep(name=name, lines=lines, n=users, repeats=repeats, **{"d": _ITEMS, "epsilon": 1.0, **more})


def _gains(of: str) -> Sweep:
    lines = [_line(attack, of, attack=attack, share=_SHARE, targets=_TARGETS) for attack in _ATTACKS]
    vary = {"epsilon": (0.5, 1.0, 2.0, 3.0)}
    return _sweep(f"epsilon, {of}", lines, users=_USERS, repeats=_REPEATS[of], vary=vary)


def _by_targets(of: str, defences: Mapping[str, str]) -> list[Line]:
    return [
        _line(label, of, attack="maximal gain", share=_SHARE, targets=targets, defence=defence)
        for label, defence in defences.items()
        if _applies(of, defence)
        for targets in (1, 2, 5, 10)
    ]


def _remedied(of: str) -> Sweep:
    return _sweep(f"targets, {of}", _by_targets(of, REMEDIES), repeats=10)


def _covered(of: str) -> Sweep:
    return _sweep(f"targets, {of}, intervals", _by_targets(of, INTERVALS), repeats=10)


def _judged_intervals(of: str) -> Sweep:
    """Enough targets to tell 97.5 % from 95 %: ten in each of 200 collections."""
    wanted = [*((attack, "despite_fakes") for attack in _ATTACKS), (_ATTACKS[-1], "usual intervals")]
    lines = [
        _line(f"{attack}: {label}", of, attack=attack, share=_SHARE, targets=_TARGETS, defence=INTERVALS[label])
        for attack, label in wanted
    ]
    return _sweep(f"intervals, {of}", lines, repeats=200, data_seed=_JUDGED)


def _seen(of: str) -> Sweep:
    lines = [
        _line(label, of, attack="maximal gain", share=share, targets=_TARGETS, defence=defence)
        if share
        else _line(label, of, attack="none", share=0.0, targets=_TARGETS, defence=defence)
        for label, defence in DETECTORS.items()
        for share in (0.0, 0.01, 0.02, 0.05)
    ]
    return _sweep(f"share, {of}", lines, repeats=10)


def _others(of: str) -> Sweep:
    """Attacks that are not the maximal gain, with every defence."""
    lines = [
        _line(f"{attack}: {label}", of, attack=attack, share=_SHARE, targets=_TARGETS, defence=defence)
        for attack in _ATTACKS[:2]
        for label, defence in {**REMEDIES, **DETECTORS, **INTERVALS}.items()
        if _applies(of, defence)
    ]
    return _sweep(f"other attacks, {of}", lines, repeats=10)


_FUNCTIONS = _sweep(
    "functions",
    [
        _line("maximal gain", "OLH", attack="maximal gain", share=_SHARE, targets=_TARGETS, functions=functions)
        for functions in (10, 100, 1000)
    ],
    repeats=5,
)
_DOMAINS = [
    _sweep(
        f"domain, {of}",
        [_line("maximal gain", of, attack="maximal gain", share=_SHARE, targets=_TARGETS)],
        users=_USERS,
        repeats=5,
        vary={"d": (16, 32, 64, 128, 256)},
    )
    for of in ("DE", "OUE")
]

# --- the table of power -----------------------------------------------------------------------------------------

_POWER: Mapping[str, Mapping[str, Sequence[float]]] = {
    "OUE": {
        "random items": (0.01, 0.05),
        "random reports": (0.001, 0.01),
        "maximal gain": (0.001, 0.003, 0.01),
        "bare": (0.001, 0.003, 0.01),
        "spread": (0.001, 0.003, 0.01),
    },
    "OLH": {
        "random items": (0.01, 0.05),
        "random reports": (0.01, 0.05),
        "maximal gain": (0.001, 0.003, 0.01, 0.05),
    },
}
_FEW: Mapping[str, tuple[str, Mapping[int, Sequence[float]]]] = {
    "OUE": ("spread", {1: (0.01, 0.05), 2: (0.01, 0.05), 5: (0.01,)}),
    "OLH": ("maximal gain", {1: (0.01, 0.05), 2: (0.01, 0.05), 5: (0.01,)}),
}
"""Shares of fakes by fewer targets, for the attack that is the least noticed."""
_BEST = ("maximal gain", "spread")
"""Attacks whose fakes have as many ones as honest reports: the least noticed that gain the most."""
_CALLED = {"bare": "maximal gain, only the targets", "spread": "maximal gain, usual law of ones"}


def _power() -> Sweep:
    rows = [
        (of, attack, share, _TARGETS)
        for of, attacks in _POWER.items()
        for attack, shares in attacks.items()
        for share in shares
    ]
    rows += [
        (of, attack, share, targets)
        for of, (attack, few) in _FEW.items()
        for targets, shares in few.items()
        for share in shares
    ]
    lines = [_line(_row(*row), row[0], **_attack(*row[1:]), defence=by) for row in rows for by in _POWER_OF]
    return _sweep("power", lines, users=_USERS, repeats=20)


def _judged_alarms() -> Sweep:
    rows = [(of, attack, 0.01, _TARGETS) for of, attacks in _POWER.items() for attack in attacks if attack in _BEST]
    lines = [_line(_row(*row), row[0], **_attack(*row[1:]), defence=by) for row in rows for by in ("tally", "reports")]
    return _sweep("noticed", lines, users=_USERS, repeats=100, data_seed=_JUDGED)


def _row(of: str, attack: str, share: float, targets: int) -> str:
    number = "" if targets == _TARGETS else f", {targets} target{'s' * (targets > 1)}"
    return f"{of}, {_CALLED.get(attack, attack)}, {100 * share:g} %{number}"


def _attack(attack: str, share: float, targets: int) -> dict[str, Any]:
    return {"attack": attack, "share": share, "targets": targets}


_POWER_OF = ("none", "tally", "reports")


def _percent(name: str) -> Callable[[Mapping[str, float]], str]:
    return lambda mean: f"{100 * mean[name]:.0f} %"


def _gained(of: str) -> Panel:
    return _panel(f"Gains: {_NAMES[of]}", f"epsilon, {of}", x="epsilon", xlabel="ε", law="formula", **_GAIN)


def _left(of: str) -> Panel:
    return _panel(f"What is left: {_NAMES[of]}", f"targets, {of}", x="targets", xlabel="targets", **_GAIN)


def _panel(title: str, sweep: str, **given: Any) -> Panel:
    return Panel(title=title, sweeps=[sweep], optimum=False, logy=False, **given)


_GAIN: Mapping[str, Any] = {"y": "gain", "ylabel": "users per fake"}
_INTERVALS: Mapping[str, Any] = {"x": "targets", "xlabel": "targets", "y": "covered", "ylabel": "contain the truth, %"}
_ALARMS: Mapping[str, Any] = {"x": "share", "xlabel": "share of fakes", "y": "alarm", "ylabel": "with an alarm, %"}
_SWEEP_POWER = _power()
FIGURE = Figure(
    name="extra9",
    title="Fake reports: three attacks, published countermeasures and our own",
    about="Attacks and countermeasures of Cao, Jia and Gong, Data Poisoning Attacks to Local Differential Privacy "
    "Protocols (USENIX Security 2021), as we understand them, beside our own. The gain of an attack is the number "
    "of users that each fake adds to the targets together; a user who has a target adds one. Random items are "
    "reports about targets as honest users make them, random reports are any records, and the maximal gain supports "
    "as many targets as a record can; on OUE with the usual number of ones, on OLH by the best of 1,000 hash "
    "functions. First row: 5 % of all reports are fake and there are ten targets; marks are measured, lines are the "
    "published formulas. Second row: what countermeasures leave of the maximal gain. Below zero, they lower the "
    "targets further than the attack had raised them. Third row: how often the 95 % interval of a target contains "
    "the truth. Fourth row: how often fakes are noticed; at 0, all reports are honest. Last row: DE, which the "
    "authors call kRR; its reports support one item, so that nothing can be mined. Itemset mining looks for items "
    "that too many reports support together, and drops these reports; conditional probabilities drop those that are "
    "more probably fake than honest, by a server that knows everything about the attack. Dashed lines are ours: "
    "despite_fakes has intervals that allow for the share of fakes, tally.diagnose and diagnose_reports notice "
    "them.",
    sweeps=[
        *map(_gains, _NAMES),
        *map(_remedied, _NAMES),
        *map(_covered, _NAMES),
        *map(_judged_intervals, _NAMES),
        *map(_seen, _HASHED_OR_UNARY),
        *map(_others, _NAMES),
        _FUNCTIONS,
        *_DOMAINS,
        _SWEEP_POWER,
        _judged_alarms(),
    ],
    panels=[
        *map(_gained, _HASHED_OR_UNARY),
        *map(_left, _HASHED_OR_UNARY),
        *(
            _panel(f"Intervals: {of}", f"targets, {of}, intervals", percent=True, **_INTERVALS)
            for of in _HASHED_OR_UNARY
        ),
        *(_panel(f"Collections: {of}", f"share, {of}", percent=True, **_ALARMS) for of in _HASHED_OR_UNARY),
        _gained("DE"),
        _left("DE"),
    ],
    table=Table(
        sweeps=[_SWEEP_POWER.name],
        said={one.label: () for one in _SWEEP_POWER.lines},
        columns={
            "users per fake": lambda mean: f"{round(mean['gain'], 1) + 0:.1f}",  # no -0.0
            "the tally sees it": _percent("alarm by tally"),
            "reports see it": _percent("alarm by reports"),
        },
        note="Ten targets if nothing else is said. The share is that of the fakes among all reports. Users per fake "
        "are the users that each fake adds to the targets together. The last columns are the collections in which "
        "tally.diagnose and diagnose_reports raise an alarm; honest reports raise one in 1 % of them at most",
    ),
)
