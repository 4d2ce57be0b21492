"""Planted faults of the privacy of shuffled reports: blankets, groups, pairs, sums, rounds, and refusals."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import plausibly
from faults.detectors import Detector
from faults.planting import Edit
from plausibly import Integers, Ordered, ParameterError
from plausibly.core import blanket as blankets
from plausibly.shuffling.crowd import Crowd
from plausibly.shuffling.rounds import Rounds

DIGITS = "the central epsilon is another"
LAW = "the laws of two values do not add up to 1"
CROWD = "groups are not one crowd"
LOWER = "the lower bound is above the upper one, or far below"
ORDER = "one order of two values is forgotten"
ROUNDS = "two rounds are less than their exact composition"
LINKED = "reports that can be linked are accepted"
LOCAL = "the local epsilon does not keep the central one"


def _epsilon(name: str, users: int = 10_000, **parameters: Any) -> float:
    return plausibly.shuffled(plausibly.make(name, **parameters), users).epsilon


def _digits() -> Iterator[str]:
    expected = {
        0.1079: _epsilon("DE", epsilon=3, domain_size=64),
        0.1561: _epsilon("SS", epsilon=3, domain_size=64),
        0.1657: _epsilon("HM", epsilon=3, domain_size=1024),
        0.0788: _epsilon("OUE", epsilon=2, domain_size=100),
        0.0343: _epsilon("FLH", epsilon=1, domain_size=100),
    }
    blocks = plausibly.make("HR", epsilon=3, domain_size=64, variant="block").blanket()
    signed = plausibly.make("HAAR", epsilon=1, domain=Ordered(0, 1)).blanket()
    # Items in different blocks, and an item and its negative, share no report.
    apart = all(atom.one == 1 or atom.other == 1 for blanket in (blocks, signed) for atom in blanket.atoms)
    if not apart or any(abs(found - wanted) > 6e-5 for wanted, found in expected.items()):
        yield DIGITS
    for name in ("DE", "SS", "TLH", "AGR", "SUE", "HR"):
        atoms = plausibly.make(name, epsilon=2, domain_size=10).blanket().atoms
        if not sum(a.mass * a.one for a in atoms) == sum(a.mass * a.other for a in atoms) == 1:
            yield LAW


def _crowd() -> Iterator[str]:
    parts = [plausibly.make("OLH", epsilon=3, domain_size=1000, hash_range=g).blanket() for g in (2, 64)]
    if not 0.1325 < Crowd(blankets.mixed(parts, [Fraction(1, 2)] * 2), 10_000, 3.0).epsilon(1e-6) < 0.1335:
        yield CROWD
    scheme = plausibly.make("SLIDE", epsilon=1, domain=Ordered(0, 200))
    if not math.isclose(sum(atom.mass * atom.one for atom in scheme.blanket().atoms), 1):
        yield CROWD


def _bounds() -> Iterator[str]:
    found = plausibly.shuffled(plausibly.make("DE", epsilon=3, domain_size=64), 10_000)
    if found.lower is None or not found.lower <= found.epsilon <= 1.001 * found.lower:
        yield LOWER
    mean = plausibly.make("DE", epsilon=1, domain_size=2).blanket()
    tilted = type(mean)(tuple(a._replace(mass=a.mass * (1 + i) / 3) for i, a in enumerate(mean.atoms)))
    if len(Crowd(tilted, 10, 1.0).pairs) != 2:
        yield ORDER
    p = math.e / (math.e + 1)
    exact = p * p - math.exp(1.5) * (1 - p) ** 2
    if not exact <= Rounds(Crowd(mean, 1, 1.0), 2, 1e-6).delta_at(1.5) <= 1.05 * exact:
        yield ROUNDS


def _answers() -> Iterator[str]:
    class Memoised(plausibly.CATALOG["DE"]):  # type: ignore[misc]
        linkable = "every user has one memo"

    try:
        plausibly.shuffled(Memoised(epsilon=Fraction(1), domain=Integers(4)), 1000)
        yield LINKED
    except ParameterError:
        pass
    local = plausibly.local_epsilon(1, 10_000)
    made = plausibly.make("OUE", epsilon=local, domain_size=10)
    if not 0.98 < plausibly.shuffled(made, 10_000).epsilon <= 1 + 1e-6:
        yield LOCAL


digits = Detector("central epsilons against known digits", _digits)
crowd = Detector("groups as one crowd", _crowd)
bounds = Detector("bounds of shuffled batches", _bounds)
answers = Detector("answers about shuffled batches", _answers)

PLANS: list[tuple[Any, ...]] = []


def plan(name: str, what: str, edit: Edit, detector: Detector, finding: str) -> None:
    """Plan a fault of the privacy of shuffled reports."""
    PLANS.append((f"shuffled-{name}", what, (edit,), detector, finding))


_LAWS, _SUPPORT = "core.blanket:", "support_blanket"
plan(
    "every-report-hides",
    "the chance that a report says nothing about its value is forgotten",
    Edit(f"{_LAWS}support_blanket", "level = (1 - p) / (1 - share)", "level = p / p", at=f"oracles.direct:{_SUPPORT}"),
    digits,
    LAW,
)
plan(
    "apart",
    "values that share reports are taken for values that do not",
    Edit(
        f"{_LAWS}support_blanket",
        "{2: both, 1: share - both, 0: 1 - 2 * share + both}",
        "{2: 0, 1: share, 0: 1 - 2 * share}",
        at=f"oracles.subset_selection:{_SUPPORT}",
    ),
    digits,
    DIGITS,
)
plan(
    "groups-mixed-apart",
    "the masses of groups are averaged apart from their laws",
    Edit(
        f"{_LAWS}mixed",
        "Atom(share * atom.mass,",
        "Atom(share * atom.mass / blanket.mass * sum(b.mass for b in blankets) / len(blankets),",
    ),
    crowd,
    CROWD,
)
plan(
    "groups-without-weights",
    "every group counts as the whole crowd",
    Edit("core.grouped:Grouped.blanket", "shares.get(schemes, 0) + weight", "sum(self.group_weights)"),
    crowd,
    CROWD,
)
plan(
    "third-item-ignored",
    "the others of the lower bound have no value of their own",
    Edit(
        f"{_LAWS}support_blanket",
        "exactly[i + j + k] * ratio**k",
        "exactly[i + j + k]",
        at=f"oracles.direct:{_SUPPORT}",
    ),
    bounds,
    LOWER,
)
plan(
    "one-order",
    "only one of two values is hidden",
    Edit("shuffling.crowd:Crowd.pairs", "self.blanket.atoms, self.blanket.reversed.atoms", "(self.blanket.atoms,)"),
    bounds,
    ORDER,
)
plan(
    "blocks-that-meet",
    "items in different blocks of HR are taken for items of one block",
    Edit("oracles.hadamard_response:HR.blanket", "if self.blocks == 1 else Fraction(0)", "if True else Fraction(0)"),
    digits,
    DIGITS,
)
plan(
    "opposite-signs-that-meet",
    "an item and its negative are taken for two items",
    Edit("oracles.hadamard_mechanism:HM.signed_blanket", "Fraction(0)", "Fraction(1, self.g**2)"),
    digits,
    DIGITS,
)
plan(
    "average-pair",
    "the items of FLH that collide least are taken for an average pair",
    Edit("oracles.fast_local_hashing:FLH.blanket", "Fraction(0)", "Fraction(1, self.g**2)"),
    digits,
    DIGITS,
)
plan(
    "one-user-too-many",
    "the user in question is counted twice",
    Edit("shuffling.crowd:Pair.delta", "high / self.users", "high / (2 * self.users)"),
    digits,
    DIGITS,
)
plan(
    "noise-that-helps",
    "the integrand ends long before it vanishes",
    Edit("shuffling.sums:Sum._line", "_REACH / (eta * step)", "0.001 * _REACH / (eta * step)"),
    digits,
    DIGITS,
)
plan(
    "rounds-are-one",
    "several rounds reveal as much as one",
    Edit("shuffling.rounds:Rounds._loss", "0.0, self.rounds, epsilon", "0.0, 1, epsilon"),
    bounds,
    ROUNDS,
)
plan(
    "linked-reports",
    "memoised reports are shuffled",
    Edit("shuffling.answer:crowd_of", "if linked:", "if not linked and users < 0:"),
    answers,
    LINKED,
)
plan(
    "local-of-half",
    "the local epsilon is that of reports with half of it",
    Edit("shuffling.answer:_best", "keep_threshold(local,", "keep_threshold(local / 2,"),
    answers,
    LOCAL,
)
