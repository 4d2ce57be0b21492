"""Published closed forms of the privacy of a shuffled crowd, which know nothing of a scheme but its epsilon."""

from __future__ import annotations

from math import exp, log, log1p, sqrt


def clones(epsilon: float, users: int, delta: float) -> float | None:
    """Central epsilon of shuffled reports by theorem 3.1 of Feldman, McMillan and Talwar (FOCS 2021).

    None where the theorem does not apply.
    """
    if not exp(epsilon) <= users / (16 * log(2 / delta)):
        return None
    e = exp(epsilon)
    return log1p((e - 1) / (e + 1) * (8 * sqrt(e * log(4 / delta) / users) + 8 * e / users))


def stronger_clones(epsilon: float, users: int, delta: float) -> float | None:
    """Central epsilon of shuffled reports by the closed form of Feldman, McMillan and Talwar (SODA 2023).

    None where the theorem does not apply.
    """
    if not exp(epsilon) <= users / (8 * log(2 / delta)) - 1:
        return None
    e = exp(epsilon)
    return log1p((e - 1) * (4 * sqrt(2 * log(4 / delta) / ((e + 1) * users)) + 4 / users))
