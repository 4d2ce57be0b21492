"""Errors of senders. No message has a value, a key or an address."""

from __future__ import annotations

from ..device import DeviceError


class ClientError(DeviceError):
    """A report cannot be sent as requested."""


class UntrustedError(ClientError):
    """The server's document is not the one that the address or the application names. Nothing was sent."""


class SpentError(ClientError):
    """One more report would exceed the total epsilon that the application allows. Nothing was sent."""


class LedgerError(ClientError):
    """The ledger cannot be read or written. Nothing was sent."""


class UnreachableError(ClientError):
    """The server did not answer, or something else answered in its place."""
