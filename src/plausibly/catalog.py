"""Names to schemes: ``make("OLH", ...)``, and JSON back to the scheme it came from."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import fields
from inspect import isabstract
from types import ModuleType
from typing import Any, TypeGuard, TypeVar

from . import longitudinal, oracles, ordered, plugins, search, sketches, tables
from . import postprocess as postprocess  # so that the steps are available wherever schemes are
from .core.arguments import expect_few_brackets
from .core.domain import Domain, is_domain_kind
from .core.errors import ParameterError
from .core.grouped import MOST_SCHEMES
from .core.probability import EpsilonLike
from .core.scheme import Scheme, required
from .core.wording import nearest, shown

Kind = TypeVar("Kind", bound=type[Scheme])


class _Catalog(Mapping[str, type[Scheme]]):
    """Every scheme by name. Schemes of other packages are loaded when a name is unknown or all are listed."""

    def __init__(self, layers: tuple[ModuleType, ...]) -> None:
        kinds = (kind for layer in layers for kind in vars(layer).values())
        self._kinds: dict[str, type[Scheme]] = {kind.name: kind for kind in kinds if _is_scheme(kind)}
        self._loaded = False
        self.failures: list[str] = []
        """Messages of plug-ins that could not be loaded."""

    def __getitem__(self, name: str) -> type[Scheme]:
        if name not in self._kinds:
            self.load_plugins()
        return self._kinds[name]

    def __iter__(self) -> Iterator[str]:
        self.load_plugins()
        return iter(tuple(self._kinds))  # a scheme may be registered meanwhile

    def __len__(self) -> int:
        self.load_plugins()
        return len(self._kinds)

    def __repr__(self) -> str:
        return f"<catalogue of {', '.join(self)}>"

    def load_plugins(self) -> None:
        """Load the schemes of other packages into the catalogue, once."""
        if not self._loaded:
            self._loaded = True  # set first: a plug-in may ask for a scheme while it loads
            self.failures = plugins.load_plugins(self._take)

    def _take(self, found: object) -> None:
        # A module registers its schemes while it is loaded.
        if not isinstance(found, ModuleType):
            self.add(found)

    def add(self, kind: object) -> None:
        """Add a scheme to the catalogue under its name. Raises if another scheme has it."""
        if not _is_scheme(kind) or not kind.name or isabstract(kind):
            raise ParameterError(f"expected a subclass of Scheme with a name and all members, got {shown(kind)}")
        taken = self._kinds.get(kind.name, kind)
        # A module that is imported anew defines the same class anew.
        if (taken.__module__, taken.__qualname__) != (kind.__module__, kind.__qualname__):
            raise ParameterError(f"name: {kind.name} is already the name of {taken.__module__}.{taken.__qualname__}")
        self._kinds[kind.name] = kind


def _is_scheme(kind: Any) -> TypeGuard[type[Scheme]]:
    return isinstance(kind, type) and issubclass(kind, Scheme) and isinstance(getattr(kind, "name", None), str)


_CATALOG = _Catalog((oracles, sketches, search, ordered, tables, longitudinal))
CATALOG: Mapping[str, type[Scheme]] = _CATALOG
"""Every scheme by name, including those of other packages."""

_MOST_BRACKETS = 2**20


def register(kind: Kind) -> Kind:
    """Register a scheme in the catalogue for ``make``, ``from_json`` and ``CATALOG``; a decorator for its class."""
    _CATALOG.add(kind)
    return kind


def examples(kind: type[Scheme]) -> dict[str, Scheme]:
    """Small example schemes of a kind in the catalogue, over oracles of the catalogue if it reports through others."""
    return kind.examples(None if required(kind) <= {"epsilon"} else example_oracle)


def example_oracle(epsilon: EpsilonLike, domain: Domain) -> Scheme:
    """A small oracle of the catalogue over a domain, which decodes all items at once or given items."""
    return CATALOG["FLH" if domain.size is None else "TLH"].example(epsilon, domain)


def from_json(text: str) -> Scheme:
    """The scheme of the catalogue that ``to_json`` wrote; derived fields are computed again and must agree."""
    try:
        expect_few_brackets(text, _MOST_BRACKETS)
        given = json.loads(text, object_pairs_hook=_without_repeats)
    except (ValueError, RecursionError, TypeError, AttributeError):
        raise ParameterError("expected the JSON text of a scheme, got something that is not JSON") from None
    try:
        return _from_fields(given)
    except RecursionError:
        raise ParameterError("expected the JSON text of a scheme, got one nested too deeply") from None


def _from_fields(given: object) -> Scheme:
    if not isinstance(given, dict) or not isinstance(given.get("scheme"), str):
        raise ParameterError('expected a JSON object with the name of a "scheme"')
    kind = kind_of(given["scheme"])
    domain = given.get("domain")
    if isinstance(domain, dict) and not is_domain_kind(domain.get("type")):
        _CATALOG.load_plugins()  # a domain of another package
    own = {field.name for field in fields(kind)} - {"domain"}
    parts = {name: _parts(written) for name, written in given.items() if name in own and _is_nested(written)}
    return kind.from_dict(given, parts)


def _is_nested(written: object) -> bool:
    # A scheme or a list of schemes, as opposed to a list of numbers or texts.
    return isinstance(written, dict) or (
        isinstance(written, list) and bool(written) and all(isinstance(part, dict) for part in written)
    )


def _parts(written: Any) -> Scheme | tuple[Scheme, ...]:
    if not isinstance(written, list):
        return _from_fields(written)
    if len(written) > MOST_SCHEMES:  # before any of them is made
        raise ParameterError(f"expected a list of at most {MOST_SCHEMES} schemes, got {len(written):,}")
    return tuple(map(_from_fields, written))


def kind_of(name: str) -> type[Scheme]:
    """The class of the scheme of that name in the catalogue. Raises for an unknown name."""
    if not isinstance(name, str) or name not in CATALOG:
        failures = "".join(f"; {failure}" for failure in _CATALOG.failures)
        raise ParameterError(f"unknown scheme {shown(name)}; {nearest(name, CATALOG)}{failures}")
    return CATALOG[name]


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise ValueError("a field occurs twice")
    return fields
