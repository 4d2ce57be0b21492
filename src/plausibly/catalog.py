"""Names to schemes: ``make("OLH", ...)``, and JSON back to the scheme it came from."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields
from types import MappingProxyType
from typing import Any

from . import oracles, search, sketches
from . import postprocess as postprocess  # whoever has a scheme has the steps for its estimates
from .core.domain import make_domain
from .core.errors import ParameterError
from .core.scheme import Scheme, required
from .core.wording import nearest, shown

CATALOG: Mapping[str, type[Scheme]] = MappingProxyType(
    {
        kind.name: kind
        for layer in (oracles, sketches, search)
        for kind in vars(layer).values()
        if isinstance(kind, type) and issubclass(kind, Scheme)
    }
)
"""Every scheme by its name."""


_MOST_BRACKETS = 2**20


def make(name: str, **parameters: Any) -> Scheme:
    """The scheme of that name: ``make("OLH", epsilon=1.0, domain_size=1024)``.

    The domain is ``domain_size=d`` for the integers 0 to d-1; or ``domain=[...]`` for a list of labels, where
    ``other=True`` adds one more item for every text that is not in the list; or ``domain=Keys()`` for any text, with
    the schemes that need no list. ``CATALOG`` has the names; ``help(CATALOG["FLH"])`` shows the parameters of one.
    """
    kind = _kind(name)
    own = {field.name for field in fields(kind) if field.init} - {"domain"}
    valid = own | {"domain_size", "domain", "other"}
    for given in parameters:
        if given not in valid:
            raise ParameterError(f"unknown parameter {shown(given)} for {name}; {nearest(given, valid)}")
    for missing in sorted(required(kind) - parameters.keys()):
        raise ParameterError(f"{missing}: expected for {name}, got nothing")
    shape = {key: parameters.pop(key, None) for key in ("domain_size", "domain", "other")}
    return kind(domain=make_domain(**shape), **parameters)


def from_json(text: str) -> Scheme:
    """The scheme that ``to_json`` wrote; whatever is derived is computed again and must agree."""
    try:
        expect_few_brackets(text, _MOST_BRACKETS)
        given = json.loads(text, object_pairs_hook=_without_repeats)
    except (ValueError, RecursionError, TypeError, AttributeError):
        raise ParameterError("expected the JSON text of a scheme, got something that is not JSON") from None
    try:
        return _from_fields(given)
    except RecursionError:
        raise ParameterError("expected the JSON text of a scheme, got one nested too deeply") from None


def expect_few_brackets(text: str, most: int) -> None:
    """Raises ValueError if JSON text has more lists and objects than this: empty ones take fifty times their text."""
    if text.count("[") + text.count("{") > most:
        raise ValueError(f"expected at most {most} opening brackets, got more")


def _from_fields(given: object) -> Scheme:
    if not isinstance(given, dict) or not isinstance(given.get("scheme"), str):
        raise ParameterError('expected a JSON object with the name of a "scheme"')
    kind = _kind(given["scheme"])
    own = {field.name for field in fields(kind)} - {"domain"}
    parts = {name: _from_fields(part) for name, part in given.items() if name in own and isinstance(part, dict)}
    return kind.from_dict(given, parts)


def _kind(name: str) -> type[Scheme]:
    if not isinstance(name, str) or name not in CATALOG:
        raise ParameterError(f"unknown scheme {shown(name)}; {nearest(name, CATALOG)}")
    return CATALOG[name]


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise ValueError("a field occurs twice")
    return fields
