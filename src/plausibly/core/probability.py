"""Exact privacy parameters: epsilon as a rational, probabilities as integers over 2^64.

e^epsilon is irrational for every rational epsilon > 0, so the floor of any expression a*e^eps/(a*e^eps + b) is
decided by a narrow enough rational enclosure of e^eps. Every implementation that refines until decided gets
the same integer (docs/adr/0002-thresholds.md).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache

from .errors import ParameterError
from .wording import shown
from .words import Setting, Words, kind_of

WORD = 2**64
"""Number of values of one random word; every probability is an integer threshold over it."""

EpsilonLike = int | str | float | Fraction | Decimal

_LARGEST_EPSILON = 1000
_EPSILON = Setting("epsilon")


def exact_epsilon(epsilon: EpsilonLike, setting: Setting = _EPSILON) -> Fraction:
    """The privacy parameter of exact probabilities: the rational number its decimal text denotes, 1/10 for 0.1.

    ``setting`` is the parameter that an error names.
    """
    exact = exact_fraction(setting, epsilon)
    if exact > _LARGEST_EPSILON:
        raise ParameterError(Words(setting, f": expected at most {_LARGEST_EPSILON}, got {shown(epsilon)}"))
    return exact


def exact_fraction(name: str | Setting, number: EpsilonLike) -> Fraction:
    """A positive parameter of a probability as the rational number its decimal text denotes."""
    setting = name if isinstance(name, Setting) else Setting(name)
    if isinstance(number, bool) or not isinstance(number, int | str | float | Fraction | Decimal):
        raise ParameterError(Words(setting, ": expected a number or its decimal text, got ", kind_of(number)))
    # A short text can denote a number of a billion digits, which would take for ever.
    power = re.search(r"[eE]([+-]?[\d_]+)\s*$", str(number)) if isinstance(number, str | Decimal) else None
    digits = re.sub(r"[+_-]", "", power[1]) if power else ""
    if len(digits) > 4 or int(digits or 0) > 2000:
        raise ParameterError(Words(setting, ": expected an exponent within 2000, got one beyond"))
    try:
        exact = Fraction(repr(float(number))) if isinstance(number, float) else Fraction(number)
    except (ValueError, OverflowError, ZeroDivisionError):
        raise ParameterError(Words(setting, f": expected a finite positive number, got {shown(number)}")) from None
    if exact <= 0:
        raise ParameterError(Words(setting, f": expected a positive number, got {shown(number)}"))
    if max(exact.numerator, exact.denominator).bit_length() > 4096:
        raise ParameterError(Words(setting, ": expected a fraction of at most 4096 bits, got a longer one"))
    return exact


@lru_cache(maxsize=256)
def exp_enclosure(exponent: Fraction, bits: int) -> tuple[Fraction, Fraction]:
    """Rationals (low, high) for exact probabilities: low < e^exponent < high, relative distance below 2^-bits."""
    # e^x = (e^(x/2^k))^(2^k) with x/2^k < 1: integer Taylor series below and above, then k squarings,
    # each of which at most doubles the relative width (and the guard bits pay for that).
    halvings = max(0, (exponent.numerator // exponent.denominator).bit_length())
    reduced = exponent / 2**halvings
    precision = bits + 2 * halvings + 16
    one = 1 << precision
    low = high = one
    term_low = term_high = one
    k = 0
    while term_high > 1:
        k += 1
        term_low = term_low * reduced.numerator // (reduced.denominator * k)
        term_high = -(-term_high * reduced.numerator // (reduced.denominator * k))
        low, high = low + term_low, high + term_high
    high += 2 * term_high  # the remaining tail is below the last term, since reduced < 1
    for _ in range(halvings):
        low, high = low * low >> precision, -(-high * high >> precision)
    return Fraction(low, one), Fraction(high, one)


def decide(exponent: Fraction, integer_of: Callable[[Fraction], int], bits: int = 96) -> int:
    """The exact floor of a probability's monotone expression in e^exponent, refined until both bounds agree.

    ``bits``: the precision to begin with, more where the expression is monotone only close to e^exponent.
    """
    while True:
        low, high = exp_enclosure(exponent, bits)
        at_low, at_high = integer_of(low), integer_of(high)
        if at_low == at_high:
            return at_low
        bits *= 2


def keep_threshold(exponent: Fraction, inside: int, outside: int) -> int:
    """floor(2^64 * a*L / (a*L + b)), L = e^exponent, a = inside, b = outside: the largest private keep-probability.

    Floor: a larger threshold would exceed epsilon. Rounding down cannot reach 2^64, so it always fits a word.
    """
    threshold = decide(exponent, lambda e: math.floor(WORD * inside * e / (inside * e + outside)))
    # On alphabets that are not a power of two, a tiny epsilon can be rounded below the uniform
    # probability, and then the *lies* would be more likely than the truth.
    if threshold * (inside + outside) <= WORD * inside:
        raise ParameterError(
            f"epsilon: {float(exponent):.3g} is too small for an alphabet of {inside + outside}: "
            "64-bit probabilities cannot represent it"
        )
    return threshold


def floor_exp(exponent: Fraction, scale: int = 1) -> int:
    """floor(scale * e^exponent), exactly, for thresholds of probabilities."""
    return decide(exponent, lambda e: math.floor(scale * e))


def within_exp(ratio: Fraction, exponent: Fraction) -> bool:
    """Whether a ratio of probabilities is at most e^exponent, decided in integers."""
    return decide(exponent, lambda e: int(ratio <= e)) == 1


def log_upper_bound(ratio: Fraction, ceiling: Fraction) -> Fraction:
    """Upper bound of the log of a ratio of probabilities: the smallest k/2^53 with ratio <= e^(k/2^53).

    It never exceeds ``ceiling`` where that bound holds too.
    """
    if ratio <= 1:
        return Fraction(0)
    # A float logarithm finds the neighbourhood; the integers decide.
    guess = math.log(ratio.numerator) - math.log(ratio.denominator) if ratio > 2 else _log1p(ratio)
    k = max(0, math.floor(Fraction(guess) * 2**53) - 8)
    step = 8
    while k == 0 or not within_exp(ratio, Fraction(k, 2**53)):
        k += step
    while k > 1 and within_exp(ratio, Fraction(k - 1, 2**53)):
        k -= 1
    bound = Fraction(k, 2**53)
    return min(bound, ceiling) if within_exp(ratio, ceiling) else bound


def _log1p(ratio: Fraction) -> float:
    return math.log1p(float(ratio - 1))
