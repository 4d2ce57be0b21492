"""Notes on schemes that devices refuse by default."""

from __future__ import annotations

from ..core.memoised import Memoised
from ..core.scheme import Scheme
from ..core.words import Words
from ..device import MAX_EPSILON

_REFUSED = "Devices refuse this scheme unless told otherwise"
LARGE_EPSILON = f"refuse ε above {MAX_EPSILON} unless the application allows it, or knows the scheme by its fingerprint"
"""How devices treat a large ε."""


def epsilon_refused(scheme: Scheme) -> bool:
    """Whether devices refuse the ε of a planned scheme by default."""
    largest = scheme.memo_epsilon if isinstance(scheme, Memoised) else scheme.epsilon
    return largest > MAX_EPSILON


def device_notes(scheme: Scheme) -> tuple[str, ...]:
    """Notes on why devices refuse a planned scheme by default, with the remedy, and on what its ε does not promise."""
    found: list[str] = [Words(f"{_REFUSED}: ", reason) for reason in scheme.domain.refusals]
    found += [f"Devices {LARGE_EPSILON}."] * epsilon_refused(scheme)
    return (*found, *[scheme.caution] * bool(scheme.caution))
