"""The part of many estimates that a table shows: matching items, sorted, a page at a time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..core.estimates import Estimates
from ..core.wording import label_of

ROWS = 50
SORTS = ("size", "item")
"""Orders of a table: largest first, and that of the domain. Smallest first would only list noise."""


@dataclass(frozen=True)
class Listing:
    """A request for rows: items whose label contains ``find``, in the order ``sort``, page ``page`` from 1."""

    find: str = ""
    sort: str = "size"
    page: int = 1


@dataclass(frozen=True, eq=False)
class Listed:
    """The rows of a request. ``marks`` allow for the whole list, whichever part of it is shown."""

    shown: Estimates
    marks: npt.NDArray[np.bool_] | None
    matching: int
    first: int
    """Number of matching items before the shown ones."""

    @property
    def pages(self) -> int:
        """Number of pages of all matching items."""
        return max(1, -(-self.matching // ROWS))


def listed(made: Estimates, asked: Listing) -> Listed:
    """The requested rows; the item for all other values is the last of every page."""
    places = np.flatnonzero(~made.apart)
    if asked.find:
        wanted = asked.find.casefold()
        labels = made.items[places].tolist()
        places = places[[wanted in label_of(item).casefold() for item in labels]]
    first = ROWS * (min(asked.page, max(1, -(-len(places) // ROWS))) - 1)
    others = np.flatnonzero(made.apart)
    some = made.taken(np.concatenate([places, others]))
    if asked.sort == "size":
        # The intervals allow for the choice of the largest, down to the last one of this page.
        some = some.arranged(max(1, min(first + ROWS, len(places))))
    here = np.flatnonzero(~some.apart)[first : first + ROWS]
    shown = some.taken(np.concatenate([here, np.flatnonzero(some.apart)]))
    marks = None
    if made.variance is not None and made.n:
        marks = made.stands_out[[made.place(item) for item in shown.items.tolist()]].astype(np.bool_)
    return Listed(shown, marks, len(places), first)
