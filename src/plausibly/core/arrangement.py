"""The arrangement of items in tables and charts."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Arrangement:
    """How people expect to see the items of a domain.

    ``ordered``: the items have an order of their own, such as numbers, and are shown in it if all are shown. ``other``:
    the name of the item that takes all other values; it is shown last and apart.
    """

    ordered: bool = False
    other: str | None = None
