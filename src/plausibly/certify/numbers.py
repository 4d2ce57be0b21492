"""Numbers of a certificate as text."""

from __future__ import annotations

import math
from fractions import Fraction


def rounded_up(epsilon: Fraction | float) -> str:
    """A certified epsilon in twelve digits, rounded up: "<=" must be true of the digits shown."""
    return "infinity" if epsilon == math.inf else f"{math.ceil(epsilon * 10**12) / 10**12:.12g}"


def exact_text(number: Fraction | float) -> str:
    """An exact number of a certificate; an infinite one as "infinity"."""
    return "infinity" if number == math.inf else str(number)
