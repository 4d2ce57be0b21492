"""Notes on schemes that devices refuse by default."""

from __future__ import annotations

from ..core.scheme import Scheme
from ..core.words import Words
from ..device import MAX_EPSILON

_REFUSED = "Devices refuse this scheme unless told otherwise"
LARGE_EPSILON = f"refuse ε above {MAX_EPSILON} unless the application allows it, or knows the scheme by its fingerprint"
"""How devices treat a large ε."""


def epsilon_refused(scheme: Scheme) -> bool:
    """Whether devices refuse the ε of a planned scheme by default."""
    return scheme.epsilon > MAX_EPSILON


def device_notes(scheme: Scheme) -> tuple[str, ...]:
    """Notes on why devices refuse a planned scheme by default, with the remedy; empty if they accept it."""
    found = [Words(f"{_REFUSED}: ", reason) for reason in scheme.domain.refusals]
    return (*found, f"Devices {LARGE_EPSILON}.") if epsilon_refused(scheme) else tuple(found)
