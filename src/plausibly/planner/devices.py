"""Which schemes devices refuse unless the application says otherwise, in words."""

from __future__ import annotations

from ..core.domain import Domain, Labels, Strings
from ..core.scheme import Scheme
from ..device import MAX_EPSILON

_REFUSED = "Devices refuse this scheme unless told otherwise"
LARGE_EPSILON = f"refuse ε above {MAX_EPSILON} unless max_epsilon= or fingerprint= says otherwise"
"""What devices do with a large ε."""


def large(scheme: Scheme) -> bool:
    """Whether ε is above what devices accept by default."""
    return scheme.epsilon > MAX_EPSILON


def refuses_others(domain: Domain) -> bool:
    """Whether the domain lacks an item for other texts, or a symbol for other characters."""
    if isinstance(domain, Strings):
        return not (domain.other or (isinstance(domain.alphabet, bytes) and len(domain.alphabet) == 256))
    return isinstance(domain, Labels) and not domain.other


def device_notes(scheme: Scheme) -> tuple[str, ...]:
    """Why devices refuse the scheme by default, and the remedy; empty if they accept it."""
    found, domain = [], scheme.domain
    if refuses_others(domain):
        adds = "--other adds one (other=True in Python)"
        if isinstance(domain, Strings) and isinstance(domain.alphabet, bytes):
            adds = "An alphabet of all 256 bytes needs none"
        found.append(f"{_REFUSED}: it has no item for other values. {adds}.")
    if isinstance(domain, Strings) and domain.long == "refuse":
        found.append(f'{_REFUSED}: it refuses longer texts. long="truncate" cuts them.')
    if large(scheme):
        found.append(f"Devices {LARGE_EPSILON}.")
    return tuple(found)
