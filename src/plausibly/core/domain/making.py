"""The domain that arguments ask for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..arguments import whole_number
from ..errors import ParameterError
from ..words import Words, kind_of
from .base import MAX_DOMAIN_SIZE, Domain
from .integers import Integers
from .labels import Labels


def make_domain(
    *, domain_size: object = None, domain: object = None, other: object = None, normalize: object = None
) -> Domain:
    """Make the domain that the arguments ask for.

    ``domain_size=d``, ``domain=[labels]`` (with ``other=`` and ``normalize=``) or ``domain=Keys()``.
    """
    if (domain_size is None) == (domain is None):
        got = "neither" if domain is None else "both"
        raise ParameterError(f"expected either a domain_size or a domain, got {got}")
    if other is not None and (domain is None or isinstance(domain, Domain)):
        raise ParameterError("other: goes with a domain of labels only")
    if normalize is not None and (domain is None or isinstance(domain, Domain)):
        raise ParameterError(
            "normalize: goes with a domain of labels only; keys and strings have a parameter of this name"
        )
    if domain is None:
        return Integers(whole_number("domain_size", domain_size, 2, MAX_DOMAIN_SIZE))
    if isinstance(domain, Domain):
        return domain
    options: dict[str, Any] = {"labels": domain, "other": other, "normalize": normalize}
    return Labels(**{name: option for name, option in options.items() if option is not None})


def as_domain(given: object) -> Domain:
    """Make the domain that one argument asks for: a number of items, a list of labels, or a domain."""
    if isinstance(given, Domain):
        return given
    if isinstance(given, int | np.integer) and not isinstance(given, bool):
        return Integers(whole_number("domain: number of items", given, 2, MAX_DOMAIN_SIZE))
    if given is None or isinstance(given, bool | float | str | bytes):
        raise ParameterError(
            Words(
                "domain: expected a number of items, a list of labels, Keys for texts asked about by name or Strings "
                "for texts to be found, got ",
                kind_of(given),
            )
        )
    return make_domain(domain=given)


def expect_domain(given: object, accepts: Sequence[type[Domain]], name: str) -> None:
    """Refuse an argument that is not a domain, or not one that the scheme of this name works on."""
    if not isinstance(given, Domain):
        raise ParameterError(Words("domain: expected a Domain, got ", kind_of(given)))
    if not isinstance(given, tuple(accepts)):
        kinds = " or ".join(kind.title for kind in accepts)
        raise ParameterError(Words(f"domain: {name} works on {kinds}, got ", kind_of(given)))
