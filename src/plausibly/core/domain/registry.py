"""Registry of the kinds of domains by their names in JSON."""

from __future__ import annotations

from typing import TypeVar

from ..errors import ParameterError
from ..wording import nearest, shown
from ..words import Words, kind_of
from .base import Domain

Kind = TypeVar("Kind", bound=type[Domain])

_KINDS: dict[str, type[Domain]] = {}


def register_domain(kind: Kind) -> Kind:
    """Register a kind of domain for ``from_json``; a decorator for its class. Its names must not be taken.

    A client on a device also needs its own ``device.register_domain``.
    """
    if not (isinstance(kind, type) and issubclass(kind, Domain)):
        raise ParameterError(f"expected a subclass of Domain, got {shown(kind)}")
    kinds: object = getattr(kind, "kinds", None)
    if not isinstance(kinds, tuple) or not kinds or not all(isinstance(name, str) for name in kinds):
        raise ParameterError(f'kinds: expected a tuple of names, such as ("dates",), got {shown(kinds)}')
    for name in kind.kinds:
        if _origin(_KINDS.get(name, kind)) != _origin(kind):
            raise ParameterError(f"kinds: {shown(name)} is taken by another kind of domain; choose another name")
    _KINDS.update(dict.fromkeys(kind.kinds, kind))
    return kind


def is_domain_kind(name: object) -> bool:
    """Whether a kind of domain is registered under this name."""
    return isinstance(name, str) and name in _KINDS


def _origin(kind: type[Domain]) -> tuple[str, str]:
    # A module that is imported anew defines the same class anew.
    return kind.__module__, kind.__qualname__


def domain_from_dict(fields: object) -> Domain:
    """The domain of the JSON fields that ``Domain.to_dict`` wrote, by the registered kind."""
    if not isinstance(fields, dict):
        raise ParameterError(Words("domain: expected an object, got ", kind_of(fields)))
    kind = fields.get("type")
    if not isinstance(kind, str) or not is_domain_kind(kind):
        raise ParameterError(f"domain: unknown type {shown(kind)}; {nearest(kind, _KINDS)}")
    return _KINDS[kind].from_dict(fields)
