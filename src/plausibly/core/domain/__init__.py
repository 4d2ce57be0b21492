"""Domains: what a user's value may be, and the integer a scheme sees of it; a file for each kind."""

from __future__ import annotations

from typing import Any

from ..arguments import parse_integer, whole_number
from ..errors import ParameterError
from ..wording import nearest, plural, shown
from .base import MAX_DOMAIN_SIZE, OTHER, Domain, Encoded, Items, listed
from .integers import Integers
from .keys import Keys
from .labels import Labels
from .strings import MAX_LENGTH, MAX_SYMBOLS, OTHER_CHARACTER, Strings

__all__ = [
    "MAX_DOMAIN_SIZE",
    "MAX_LENGTH",
    "MAX_SYMBOLS",
    "OTHER",
    "OTHER_CHARACTER",
    "Domain",
    "Encoded",
    "Integers",
    "Items",
    "Keys",
    "Labels",
    "Strings",
    "describe",
    "domain_from_dict",
    "listed",
    "make_domain",
]


def describe(domain: Domain) -> str:
    """A domain in words."""
    if isinstance(domain, Keys):
        return "any text, asked about by candidates"
    if isinstance(domain, Strings):
        return f"unknown strings of up to {domain.length} of {domain.symbols - 1} characters"
    if isinstance(domain, Labels) and domain.other:
        return f"a list of {plural(domain.size - 1, 'item')} and all others"
    return f"a list of {domain.size:,} items"


def make_domain(*, domain_size: object = None, domain: object = None, other: object = None) -> Domain:
    """The domain that ``domain_size=d``, ``domain=[labels]`` (with ``other=``) or ``domain=Keys()`` asks for."""
    if (domain_size is None) == (domain is None):
        got = "neither" if domain is None else "both"
        raise ParameterError(f"expected either domain_size= or domain=, got {got}")
    if other is not None and (domain is None or isinstance(domain, Domain)):
        raise ParameterError("other: goes with domain=[labels] only")
    if domain is None:
        return Integers(whole_number("domain_size", domain_size, 2, MAX_DOMAIN_SIZE))
    if isinstance(domain, Domain):
        return domain
    options: dict[str, Any] = {"labels": domain} if other is None else {"labels": domain, "other": other}
    return Labels(**options)


def domain_from_dict(fields: object) -> Domain:
    """The domain of the JSON fields that ``Domain.to_dict`` wrote."""
    if not isinstance(fields, dict):
        raise ParameterError(f"domain: expected an object, got {type(fields).__name__}")
    texts = ("alphabet", "length", "long", "other")
    kinds = {
        "integers": ("size",),
        "labels": ("labels", "other"),
        "keys": ("hash_seed",),
        "strings": texts,
        "byte strings": texts,
    }
    kind = fields.get("type")
    if not isinstance(kind, str) or kind not in kinds:
        raise ParameterError(f"domain: unknown type {shown(kind)}; {nearest(kind, kinds)}")
    names = {"type", *kinds[kind]}
    if fields.keys() != names:
        raise ParameterError(f"domain: expected the fields {sorted(names)}, got {shown(sorted(fields))}")
    if kind == "integers":
        return Integers(fields["size"])
    if kind == "keys":
        return Keys(parse_integer("hash_seed", fields["hash_seed"]))
    if kind in ("strings", "byte strings"):
        alphabet = fields["alphabet"]
        if not isinstance(alphabet, str):
            raise ParameterError("alphabet: expected text")
        if kind == "byte strings":
            try:
                alphabet = bytes.fromhex(alphabet)
            except ValueError:
                raise ParameterError("alphabet: expected the bytes in hexadecimal") from None
        return Strings(alphabet, fields["length"], long=fields["long"], other=fields["other"])
    if not isinstance(fields["labels"], list):
        raise ParameterError("domain: expected a list of labels")
    return Labels(tuple(fields["labels"]), other=fields["other"])
