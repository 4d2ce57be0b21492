"""The blanket of a scheme: the part of the law of a report that every value shares, which hides people in a crowd.

A report y of value x has probability R_x(y). A blanket is a measure b(y) <= R_x(y) for all x; its mass is the chance
that a report says nothing about its value (Balle, Bell, Gascon and Nissim, CRYPTO 2019). How well a shuffled crowd
hides which of two values somebody has depends only on the joint law, under b, of R_x/b and R_x'/b
(docs/adr/0042-shuffling.md).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from .errors import ParameterError

_MOST_ATOMS = 512
"""Maximum number of different pairs of ratios, so that an answer takes less than a second."""


class Atom(NamedTuple):
    """All reports whose likelihoods have the same ratios to a blanket: its mass there, and the ratios of two values."""

    mass: Fraction
    one: Fraction
    other: Fraction


@dataclass(frozen=True)
class Blanket:
    """The joint law of the likelihood ratios of two values under a blanket, for the values that differ most."""

    atoms: tuple[Atom, ...]
    third: tuple[Atom, ...] = ()
    """The ratios to the law of a third value instead of a blanket, for a lower bound; empty if it is not known."""
    given: str = ""
    """Condition for this law of the blanket, if any."""

    @property
    def alike(self) -> tuple[tuple[Atom, ...], ...]:
        """The ratios to the laws of others who all have one value: a third one, or the first of the two.

        Each is a crowd that may occur, hence a lower bound. Empty if the law of a third value is not known.
        """
        if not self.third:
            return ()
        own = _merged(Atom(atom.mass * atom.one, Fraction(1), atom.other / atom.one) for atom in self.atoms)
        return self.third, own

    @property
    def mass(self) -> Fraction:
        """The mass of the blanket: the chance that a report says nothing about its value."""
        return sum((atom.mass for atom in self.atoms), Fraction(0))

    @property
    def reversed(self) -> Blanket:
        """The law of the blanket for the same two values in the other order."""
        atoms, third = (_merged(Atom(a.mass, a.other, a.one) for a in own) for own in (self.atoms, self.third))
        return Blanket(atoms, third, self.given)


def support_blanket(
    p: Fraction, share: Fraction, both: Fraction, *, three: Fraction | None = None, given: str = ""
) -> Blanket:
    """The blanket of an oracle whose reports support some of the items and are otherwise alike.

    A report supports its own item with probability ``p``. Of a report that says nothing, ``share`` is the probability
    that it supports an item, ``both`` that it supports the two items that share the fewest reports, and ``three``,
    if it is known, that it supports three such items.
    """
    level = (1 - p) / (1 - share)
    ratio = p * (1 - share) / ((1 - p) * share)
    exactly = {2: both, 1: share - both, 0: 1 - 2 * share + both}
    pairs = [(one, other) for one in (0, 1) for other in (0, 1)]
    atoms = [Atom(level * exactly[i + j], ratio**i, ratio**j) for i, j in pairs]
    if three is None:
        return Blanket(_merged(atoms), (), given)
    exactly = {3: three, 2: both - three, 1: share - 2 * both + three, 0: 1 - 3 * share + 3 * both - three}
    third = [
        Atom(level * exactly[i + j + k] * ratio**k, ratio ** (i - k), ratio ** (j - k))
        for i, j in pairs
        for k in (0, 1)
    ]
    return Blanket(_merged(atoms), _merged(third), given)


def mixed(blankets: Sequence[Blanket], shares: Sequence[Fraction]) -> Blanket:
    """The blanket of users in public groups: the group is part of the message, so that all users hide each other."""
    parts = zip(blankets, shares, strict=True)
    atoms = [Atom(share * atom.mass, atom.one, atom.other) for blanket, share in parts for atom in blanket.atoms]
    return Blanket(_merged(atoms), (), _conditions(blankets))


def together(blankets: Sequence[Blanket]) -> Blanket:
    """The blanket of users who send a report through each of several parts: ratios multiply."""
    atoms: tuple[Atom, ...] = (Atom(Fraction(1), Fraction(1), Fraction(1)),)
    for blanket in blankets:
        atoms = _merged(Atom(a.mass * b.mass, a.one * b.one, a.other * b.other) for a in atoms for b in blanket.atoms)
    return Blanket(atoms, (), _conditions(blankets))


def _merged(atoms: Iterable[Atom]) -> tuple[Atom, ...]:
    masses: dict[tuple[Fraction, Fraction], Fraction] = {}
    for mass, one, other in atoms:
        if mass:
            masses[one, other] = masses.get((one, other), Fraction(0)) + mass
    if len(masses) > _MOST_ATOMS:
        raise ParameterError(
            f"scheme: expected at most {_MOST_ATOMS} different likelihoods of its reports, got {len(masses)}; a scheme "
            "that sends one part of a value instead of several has fewer"
        )
    return tuple(Atom(mass, one, other) for (one, other), mass in sorted(masses.items()))


def _conditions(blankets: Sequence[Blanket]) -> str:
    return " and ".join(dict.fromkeys(blanket.given for blanket in blankets if blanket.given))
