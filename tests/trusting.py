"""A device that takes every scheme that keeps its own promise: any epsilon, domains that refuse values, no memo."""

from __future__ import annotations

from typing import Any

from plausibly import device

POLICY: dict[str, Any] = {"max_epsilon": 1000, "total": False, "memo": "once"}


def load(scheme_json: str) -> device.Client:
    """The client of a scheme, without the limits that a device has by default."""
    return device.load(scheme_json, **POLICY)


def client(scheme: dict[str, Any]) -> device.Client:
    """The same for a document that is parsed already."""
    return device.Client(scheme, **POLICY)
