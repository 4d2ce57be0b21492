"""The slots of a series by the names of its files: day07.tally is slot 7, and 2026-01-31.tally a day."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date
from pathlib import PurePath

from ..core.errors import ParameterError
from ..core.wording import visible

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
    days = [_day(stem) for stem in stems]
    found = (
        [(day.toordinal(), day.isoformat()) for day in days if day is not None]
        if None not in days
        else [_number(name, stem) for name, stem in zip(names, stems, strict=True)]
    )
    places: dict[int, str] = {}
    for name, (slot, label) in zip(names, found, strict=True):
        if slot in places:
            raise ParameterError(
                f"{visible(name)}: expected a slot of its own, got slot {label} as for {visible(places[slot])}; merge "
                "the tallies of one slot with plausibly merge, or name them by slot"
            )
        places[slot] = name
    return found


def _day(stem: str) -> date | None:
    found = _DATE.search(stem)
    try:
        return None if found is None else date(*map(int, found.groups()))
    except ValueError:
        return None


def _number(name: str, stem: str) -> tuple[int, str]:
    found = _NUMBER.findall(stem)
    if not found or len(found[-1]) > 9:
        raise ParameterError(
            f"{visible(name)}: expected the number or the date of the slot in the name, such as day07.tally or "
            "2026-01-31.tally; rename the file"
        )
    return int(found[-1]), str(int(found[-1]))
