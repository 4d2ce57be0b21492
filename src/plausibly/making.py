"""``make``: a scheme by its name, with the parameters of every scheme written down for editors and type checkers.

A test compares these signatures with the fields of the schemes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal, overload

from .catalog import kind_of
from .core.domain import Domain, Strings, make_domain
from .core.errors import ParameterError
from .core.probability import EpsilonLike
from .core.scheme import Scheme, required
from .core.wording import nearest, shown

if TYPE_CHECKING:
    from .longitudinal import LOLOHA, LOSUE, LSUE
    from .oracles import AGR, BLH, DE, FLH, HM, HR, OLH, OUE, SS, SUE, THE, TLH
    from .ordered import HAAR, HH, MEAN, SLIDE, SW
    from .search import BITSTOGRAM, PEM, ROUND, SFP, TH, TRELLIS
    from .sketches import BLOOM, CM, CS
    from .tables import CLIQUE, SMP, SPL


@overload
def make(
    name: Literal["DE"],
    *,
    epsilon: EpsilonLike,
    domain_size: int | None = None,
    domain: Domain | Iterable[str] | None = None,
    other: bool | None = None,
    normalize: Sequence[str] | None = None,
) -> DE: ...


@overload
def make(
    name: Literal["SUE"],
    *,
    epsilon: EpsilonLike,
    domain_size: int | None = None,
    domain: Domain | Iterable[str] | None = None,
    other: bool | None = None,
    normalize: Sequence[str] | None = None,
) -> SUE: ...


@overload
def make(
    name: Literal["OUE"],
    *,
    epsilon: EpsilonLike,
    domain_size: int | None = None,
    domain: Domain | Iterable[str] | None = None,
    other: bool | None = None,
    normalize: Sequence[str] | None = None,
) -> OUE: ...


@overload
def make(
    name: Literal["THE"],
    *,
    epsilon: EpsilonLike,
    domain_size: int | None = None,
    domain: Domain | Iterable[str] | None = None,
    other: bool | None = None,
    normalize: Sequence[str] | None = None,
    threshold: Fraction | str | float | None = None,
) -> THE: ...


@overload
def make(
    name: Literal["BLH"],
    *,
    epsilon: EpsilonLike,
    domain_size: int | None = None,
    domain: Domain | Iterable[str] | None = None,
    other: bool | None = None,
    normalize: Sequence[str] | None = None,
) -> BLH: ...


@overload
def make(
    name: Literal["OLH"],
    *,
    epsilon: EpsilonLike,
    domain_size: int | None = None,
    domain: Domain | Iterable[str] | None = None,
    other: bool | None = None,
    normalize: Sequence[str] | None = None,
    hash_range: int | None = None,
) -> OLH: ...


@overload
def make(
    name: Literal["FLH"],
    *,
    epsilon: EpsilonLike,
    domain_size: int | None = None,
    domain: Domain | Iterable[str] | None = None,
    other: bool | None = None,
    normalize: Sequence[str] | None = None,
    hashes: int = 1000,
    hash_seed: int = 0,
    hash_range: int | None = None,
) -> FLH: ...


@overload
def make(
    name: Literal["HR"],
    *,
    epsilon: EpsilonLike,
    domain_size: int | None = None,
    domain: Domain | Iterable[str] | None = None,
    other: bool | None = None,
    normalize: Sequence[str] | None = None,
    variant: str = "auto",
) -> HR: ...


@overload
def make(
    name: Literal["HM"],
    *,
    epsilon: EpsilonLike,
    domain_size: int | None = None,
    domain: Domain | Iterable[str] | None = None,
    other: bool | None = None,
    normalize: Sequence[str] | None = None,
    coefficients: int | None = None,
) -> HM: ...


@overload
def make(
    name: Literal["SS"],
    *,
    epsilon: EpsilonLike,
    domain_size: int | None = None,
    domain: Domain | Iterable[str] | None = None,
    other: bool | None = None,
    normalize: Sequence[str] | None = None,
    subset_size: int | None = None,
) -> SS: ...


@overload
def make(
    name: Literal["TLH"],
    *,
    epsilon: EpsilonLike,
    domain_size: int | None = None,
    domain: Domain | Iterable[str] | None = None,
    other: bool | None = None,
    normalize: Sequence[str] | None = None,
    hash_bits: int | None = None,
    window: int | None = None,
) -> TLH: ...


@overload
def make(
    name: Literal["AGR"],
    *,
    epsilon: EpsilonLike,
    domain_size: int | None = None,
    domain: Domain | Iterable[str] | None = None,
    other: bool | None = None,
    normalize: Sequence[str] | None = None,
    hash_bits: int | None = None,
    dimension: int | None = None,
    window: int | None = None,
) -> AGR: ...


@overload
def make(
    name: Literal["BLOOM"],
    *,
    domain_size: int | None = None,
    domain: Domain | Iterable[str] | None = None,
    other: bool | None = None,
    normalize: Sequence[str] | None = None,
    epsilon: EpsilonLike | None = None,
    oracle: Scheme | None = None,
    bits: int | None = None,
    hashes: int = 2,
    cohorts: int = 64,
    hash_seed: int = 0,
) -> BLOOM: ...


@overload
def make(
    name: Literal["CM"],
    *,
    oracle: Scheme,
    rows: int,
    domain_size: int | None = None,
    domain: Domain | Iterable[str] | None = None,
    other: bool | None = None,
    normalize: Sequence[str] | None = None,
    hash_seed: int = 0,
) -> CM: ...


@overload
def make(
    name: Literal["CS"],
    *,
    oracle: Scheme,
    rows: int,
    domain_size: int | None = None,
    domain: Domain | Iterable[str] | None = None,
    other: bool | None = None,
    normalize: Sequence[str] | None = None,
    hash_seed: int = 0,
    signs: Literal["cells", "coefficients"] = "cells",
) -> CS: ...


@overload
def make(
    name: Literal["BITSTOGRAM"],
    *,
    oracle: Scheme,
    word_oracle: Scheme,
    domain: Strings,
    hash_bits: int = 10,
    weights: tuple[int, ...] | None = None,
    hash_seed: int = 0,
) -> BITSTOGRAM: ...


@overload
def make(
    name: Literal["SFP"],
    *,
    oracle: Scheme,
    word_oracle: Scheme | None,
    domain: Strings,
    fragment: int = 2,
    hash_bits: int = 8,
    hash_seed: int = 0,
    split: str = "budget",
) -> SFP: ...


@overload
def make(
    name: Literal["PEM"],
    *,
    oracle: Scheme,
    domain: Strings,
    start: int = 2,
    step: int = 2,
    weights: tuple[int, ...] | None = None,
) -> PEM: ...


@overload
def make(
    name: Literal["ROUND"],
    *,
    oracle: Scheme,
    prefixes: tuple[str | bytes, ...],
    stem: int,
    reach: int,
    domain: Strings,
) -> ROUND: ...


@overload
def make(
    name: Literal["TH"],
    *,
    oracle: Scheme,
    word_oracle: Scheme,
    domain: Strings,
    start: int = 2,
    step: int = 2,
    split: str = "budget",
) -> TH: ...


@overload
def make(
    name: Literal["TRELLIS"],
    *,
    letters: Scheme,
    first: Scheme,
    weights: tuple[int, ...],
    domain: Strings,
    pairs: Scheme | None = None,
    folded: Scheme | None = None,
    deep: Scheme | None = None,
    start: int = 4,
    step: int = 2,
    cohorts: int = 2,
    hash_seed: int = 0,
) -> TRELLIS: ...


@overload
def make(
    name: Literal["CLIQUE"],
    *,
    epsilon: EpsilonLike,
    domain_size: int | None = None,
    domain: Domain | Iterable[str] | None = None,
    other: bool | None = None,
    normalize: Sequence[str] | None = None,
    cliques: Sequence[Sequence[int | str]] | int | None = None,
    weights: tuple[int, ...] | None = None,
) -> CLIQUE: ...


@overload
def make(
    name: Literal["SMP"],
    *,
    epsilon: EpsilonLike,
    domain_size: int | None = None,
    domain: Domain | Iterable[str] | None = None,
    other: bool | None = None,
    normalize: Sequence[str] | None = None,
) -> SMP: ...


@overload
def make(
    name: Literal["SPL"],
    *,
    epsilon: EpsilonLike,
    domain_size: int | None = None,
    domain: Domain | Iterable[str] | None = None,
    other: bool | None = None,
    normalize: Sequence[str] | None = None,
) -> SPL: ...


@overload
def make(
    name: Literal["SLIDE"],
    *,
    epsilon: EpsilonLike,
    domain_size: int | None = None,
    domain: Domain | Iterable[str] | None = None,
    other: bool | None = None,
    normalize: Sequence[str] | None = None,
    widths: tuple[int, ...] | None = None,
    weights: tuple[int, ...] | None = None,
) -> SLIDE: ...


@overload
def make(
    name: Literal["HH"],
    *,
    epsilon: EpsilonLike,
    domain_size: int | None = None,
    domain: Domain | Iterable[str] | None = None,
    other: bool | None = None,
    normalize: Sequence[str] | None = None,
    branching: int = 4,
    weights: tuple[int, ...] | None = None,
) -> HH: ...


@overload
def make(
    name: Literal["HAAR"],
    *,
    epsilon: EpsilonLike,
    domain_size: int | None = None,
    domain: Domain | Iterable[str] | None = None,
    other: bool | None = None,
    normalize: Sequence[str] | None = None,
    weights: tuple[int, ...] | None = None,
) -> HAAR: ...


@overload
def make(
    name: Literal["SW"],
    *,
    epsilon: EpsilonLike,
    domain_size: int | None = None,
    domain: Domain | Iterable[str] | None = None,
    other: bool | None = None,
    normalize: Sequence[str] | None = None,
    reach: int | None = None,
) -> SW: ...


@overload
def make(
    name: Literal["MEAN"],
    *,
    epsilon: EpsilonLike,
    domain_size: int | None = None,
    domain: Domain | Iterable[str] | None = None,
    other: bool | None = None,
    normalize: Sequence[str] | None = None,
) -> MEAN: ...


@overload
def make(
    name: Literal["LOLOHA"],
    *,
    epsilon: EpsilonLike,
    memo_epsilon: EpsilonLike,
    domain_size: int | None = None,
    domain: Domain | Iterable[str] | None = None,
    other: bool | None = None,
    normalize: Sequence[str] | None = None,
    hash_bits: int | None = None,
) -> LOLOHA: ...


@overload
def make(
    name: Literal["LOSUE"],
    *,
    epsilon: EpsilonLike,
    memo_epsilon: EpsilonLike,
    domain_size: int | None = None,
    domain: Domain | Iterable[str] | None = None,
    other: bool | None = None,
    normalize: Sequence[str] | None = None,
) -> LOSUE: ...


@overload
def make(
    name: Literal["LSUE"],
    *,
    epsilon: EpsilonLike,
    memo_epsilon: EpsilonLike,
    domain_size: int | None = None,
    domain: Domain | Iterable[str] | None = None,
    other: bool | None = None,
    normalize: Sequence[str] | None = None,
) -> LSUE: ...


@overload
def make(name: str, **parameters: Any) -> Scheme: ...


def make(name: str, **parameters: Any) -> Scheme:
    """The scheme of that name in the catalogue: ``make("OLH", epsilon=1.0, domain_size=1024)``.

    The domain is ``domain_size=d`` for the integers 0 to d-1; or ``domain=[...]`` for a list of labels, where
    ``other=True`` adds one more item for every text that is not in the list, and ``normalize="nfc,lower,strip"`` makes
    "Dog " the item "dog"; or ``domain=Keys()`` for any text, with the schemes that need no list. ``CATALOG`` has the
    names; ``help(CATALOG["FLH"])`` shows the parameters of one.
    """
    kind = kind_of(name)
    own = {field.name for field in fields(kind) if field.init} - {"domain"}
    valid = own | {"domain_size", "domain", "other", "normalize"}
    for given in parameters:
        if given not in valid:
            raise ParameterError(f"unknown parameter {shown(given)} for {name}; {nearest(given, valid)}")
    for missing in sorted(required(kind) - parameters.keys()):
        raise ParameterError(f"{missing}: expected for {name}, got nothing")
    shape = {key: parameters.pop(key, None) for key in ("domain_size", "domain", "other", "normalize")}
    return kind(domain=make_domain(**shape), **parameters)
