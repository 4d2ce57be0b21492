"""Ordered domains as people type them: ``0..120``, ``0,10,20.5,50``, ``0..1000/256``, ``2026-01-01..2026-12-31``."""

from __future__ import annotations

import re
from typing import Any

from ..core.domain import Ordered
from ..core.domain.scales import parsed_number
from ..core.domain.time_scales import UNITS
from ..core.errors import ParameterError
from ..core.wording import shown
from ..core.words import Setting, Words

_EQUAL = re.compile(r"(.+?\.\..+)/\s*([0-9]+)\s*")
_DURATIONS = re.compile(r"(.+?\.\.)(.*?)\s*([a-z]+)")


def range_of(text: str, **options: Any) -> Ordered:
    """The whole numbers of a range such as ``0..120``."""
    low, high = (_whole("range", end, text) for end in _ends("range", text, "0..120"))
    return Ordered(low, high, **options)


def bins_of(text: str, **options: Any) -> Ordered:
    """The bins between edges such as ``0,10,20.5,50``, or bins of equal width such as ``0..1000/256``."""
    equal = _EQUAL.fullmatch(text)
    texts = _ends("bins", equal[1], "0..1000/256") if equal else text.split(",")
    edges = [number for edge in texts if (number := parsed_number(edge)) is not None]
    if len(edges) < len(texts):
        expected = ": expected edges such as 0,10,20.5,50, or equal bins such as 0..1000/256"
        raise ParameterError(Words(Setting("bins"), f"{expected}, got {shown(text)}"))
    return Ordered.equal(edges[0], edges[1], int(equal[2]), **options) if equal else Ordered.bins(edges, **options)


def dates_of(text: str, **options: Any) -> Ordered:
    """The days of a range such as ``2026-01-01..2026-12-31``."""
    first, last = _ends("dates", text, "2026-01-01..2026-12-31")
    return Ordered.dates(first, last, **options)


def durations_of(text: str, **options: Any) -> Ordered:
    """The durations of a range such as ``0..500ms``."""
    found = _DURATIONS.fullmatch(text)
    if found is None:
        raise ParameterError(Words(Setting("durations"), f": expected a range such as 0..500ms, got {shown(text)}"))
    if found[3] not in UNITS:
        units = f": expected one of {', '.join(UNITS)} as the unit, got {shown(found[3])}"
        raise ParameterError(Words(Setting("durations"), units))
    low, high = (_whole("durations", end, text) for end in _ends("durations", found[1] + found[2], "0..500ms"))
    return Ordered.durations(low, high, unit=found[3], **options)


ORDERED = {"range": range_of, "bins": bins_of, "dates": dates_of, "durations": durations_of}
"""Functions that make an ordered domain of the text of an option, by its name."""
WITH_INFINITE = ("range", "bins", "durations")
"""Ordered domains with the option ``infinite``."""
WITH_UNIT = ("range", "bins")
"""Ordered domains with the option ``unit``: durations have theirs in the text."""


def _ends(option: str, text: str, example: str) -> tuple[str, str]:
    low, dots, high = text.partition("..")
    if not (low.strip() and dots and high.strip()):
        raise ParameterError(Words(Setting(option), f": expected two ends such as {example}, got {shown(text)}"))
    return low.strip(), high.strip()


def _whole(option: str, end: str, text: str) -> int:
    number = parsed_number(end)
    if not isinstance(number, int):
        equal = Setting("bins", "0..1000/256", of="plan")
        fix: Any = "" if number is None else Words("; real numbers need bins: ", equal)
        got = f": expected whole numbers as ends, got {shown(text)}"
        raise ParameterError(Words(Setting(option), got, fix))
    return number
