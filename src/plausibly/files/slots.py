"""The slots of a series by the names of its files: day07.tally is slot 7, and 2026-01-31.tally a day."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import date
from pathlib import PurePath

from ..core.errors import ParameterError, StateError
from ..core.wording import visible
from .tallies import Collected

_DATE = re.compile(r"(?<!\d)(\d{4})-?([01]\d)-?([0-3]\d)(?!\d)")
_NUMBER = re.compile(r"\d+")


def slots_of(names: Sequence[str]) -> list[tuple[int, str]]:
    """The slot of each file and its label: from the date in each name, or from the last number in it.

    >>> slots_of(["day9.tally", "day10.tally"])
    [(9, '9'), (10, '10')]
    >>> slots_of(["pets-2026-01-31.tally", "pets-2026-02-01.tally"])
    [(739647, '2026-01-31'), (739648, '2026-02-01')]
    """
    stems = [PurePath(name).stem for name in names]
    dated = [name for name, stem in zip(names, stems, strict=True) if _DATE.search(stem)]
    if dated and len(dated) < len(names):
        other = next(name for name in names if name not in set(dated))
        raise ParameterError(
            f"{visible(other)}: expected a date in the name, as in {visible(dated[0])}, got none; name all files alike"
        )
    read = _day if dated else _number
    found = [read(name, stem) for name, stem in zip(names, stems, strict=True)]
    places: dict[int, str] = {}
    for name, (slot, label) in zip(names, found, strict=True):
        if slot in places:
            raise ParameterError(
                f"{visible(name)}: expected a slot of its own, got slot {label} as for {visible(places[slot])}; merge "
                "the tallies of one slot with plausibly merge, or name them by slot"
            )
        places[slot] = name
    return found


def expect_apart(tallies: Iterable[tuple[str, Collected]]) -> None:
    """Raise if two slots have reports of the same files."""
    seen: dict[str, list[tuple[str, Collected]]] = {}
    for name, tally in tallies:
        for identity in tally.files:
            earlier = seen.setdefault(identity, [])
            for other, known in earlier:
                if tally.overlaps(known):
                    raise StateError(
                        f"{visible(name)}: expected reports that are in no other slot, got some of {visible(other)}"
                    )
            earlier.append((name, tally))


def _day(name: str, stem: str) -> tuple[int, str]:
    found = _DATE.search(stem)
    assert found is not None
    try:
        day = date(*map(int, found.groups()))
    except ValueError:
        raise ParameterError(
            f"{visible(name)}: expected a date such as 2026-01-31 in the name, got one that no calendar has; rename "
            "the file"
        ) from None
    return day.toordinal(), day.isoformat()


def _number(name: str, stem: str) -> tuple[int, str]:
    found = _NUMBER.findall(stem)
    if not found or len(found[-1]) > 9:
        raise ParameterError(
            f"{visible(name)}: expected the number or the date of the slot in the name, such as day07.tally or "
            "2026-01-31.tally; rename the file"
        )
    return int(found[-1]), str(int(found[-1]))
