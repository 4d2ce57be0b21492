"""The turns of a device in a question that is repeated: one slot of any window of consecutive slots."""

from __future__ import annotations

from ..device import DeviceError, Source, WordSource

MOST_SLOTS = 2**31
"""The most slots of a rota, and of a series with one."""


class Rota:
    """The turns of a device: it reports in one slot of any ``slots`` consecutive ones.

    The ``offset`` is drawn once, from nothing but coins, and kept before anything is sent: a device that draws it again
    may report twice within ``slots`` slots, and spend twice the epsilon there. ``Collector`` keeps it in the ledger; an
    application that sends in its own way keeps both numbers itself.
    """

    def __init__(self, slots: int, offset: int) -> None:
        if type(slots) is not int or type(offset) is not int or not 2 <= slots <= MOST_SLOTS:
            raise DeviceError(f"expected a rota of 2 to {MOST_SLOTS} slots with a whole offset, got another")
        if not 0 <= offset < slots:
            raise DeviceError("expected an offset below the number of slots of the rota, got another")
        self.slots, self.offset = slots, offset

    @classmethod
    def drawn(cls, slots: int, source: Source | None = None) -> Rota:
        """A rota with a fresh offset, exactly uniform."""
        whole = cls(slots, 0).slots
        return cls(whole, (source or WordSource(1)).below(whole))

    def due(self, slot: int) -> bool:
        """Whether the device reports in this slot."""
        return slot % self.slots == self.offset
