"""Cells: single measurements, keyed by their settings alone, so that figures with a setting in common share them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any

from .. import presets
from ..catalog import CATALOG
from ..core.arguments import whole_number
from ..core.domain import Ordered, Strings
from ..core.errors import ParameterError
from ..core.scheme import Scheme
from ..making import make
from .item_crowds import domain_of, is_ordered


def _recommended(*, epsilon: float, domain: Strings, users: int, hash_seed: int) -> Scheme:
    return presets.TRELLIS(epsilon, domain=domain, users=users, hash_seed=hash_seed)


SCHEMES: dict[str, Callable[..., Scheme]] = {presets.TRELLIS.__name__: _recommended}
"""Schemes in addition to the catalogue, by name: called with epsilon, domain_size, hash_seed and the cell's parameters.

On crowds of items that have an order, they are called with an ``Ordered`` domain instead of a domain size. Searches are
called with a ``Strings`` domain, and with the number of users.
"""
SOURCES: dict[str, str] = {}
"""Digests of the source code of the schemes, crowds and measures that experiments define, by name.

Names of post-processing steps are prefixed with a plus sign.
"""


@dataclass(frozen=True, eq=False)
class Cell:
    """One cell: a measurement of a scheme with its parameters, a crowd, epsilon, and the number of the repeat.

    A repeat is the mean of ``rounds`` collections from the same crowd: one collection has few errors in a small domain.

    The parameters are plain JSON values. A sketch takes ``width``, ``rows`` and ``oracle``, which is a mapping of the
    oracle's own parameters with its name as ``scheme``. For a crowd of strings, whose domain cannot be enumerated, d is
    0 and the scheme is a search.

    >>> cell = Cell("FLH", {"hashes": 100}, data="zipf-1.1", n=1000, d=64, epsilon=3)
    >>> cell == Cell("FLH", {"hashes": 100}, data="zipf-1.1", n=1000, d=64, epsilon=3.0)
    True
    >>> cell.make().report_dtype.itemsize
    2
    """

    scheme: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    data: str = "zipf-1.1"
    n: int = 100_000
    d: int = 1024
    epsilon: float = 3.0
    data_seed: int = 0
    repeat: int = 0
    rounds: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "parameters", json.loads(canonical(self.parameters)))
        object.__setattr__(self, "epsilon", float(self.epsilon))
        for name in ("n", "d", "data_seed", "repeat", "rounds"):
            object.__setattr__(self, name, whole_number(name, getattr(self, name), 0, 2**31 - 1))

    @property
    def extra(self) -> str:
        """The optional extra of the package that the cell's scheme needs, if any."""
        return CATALOG[self.scheme].extra if self.scheme in CATALOG else ""

    def to_dict(self) -> dict[str, Any]:
        """All settings of the cell, as JSON values."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    @cached_property
    def key(self) -> str:
        """Unique name of the cell: the same in every process, on every machine and for every figure."""
        own = {"sources": self.sources} if self.sources else {}
        return hashlib.sha256(canonical(self.to_dict() | own).encode()).hexdigest()[:32]

    @cached_property
    def setting(self) -> str:
        """Unique name of the cell without the number of its repeat."""
        return replace(self, repeat=0).key

    @property
    def sources(self) -> dict[str, str]:
        """Digests of the user-defined source code that this cell depends on, by name."""
        oracle = self.parameters.get("oracle")
        within = oracle.get("scheme") if isinstance(oracle, dict) else None
        names = (self.scheme, within, self.data, self.data.partition("/")[0])
        return {name: SOURCES[name] for name in names if name in SOURCES}

    def seed(self, purpose: str, number: int = 0) -> int:
        """A distinct 64-bit seed for every cell, purpose and round."""
        return int.from_bytes(hashlib.sha256(f"{purpose} {number} {self.key}".encode()).digest()[:8], "big")

    def make(self, number: int = 0) -> Scheme:
        """The scheme of the cell; if it has public hash functions, every cell and round gets different ones."""
        own: dict[str, Any] = {"epsilon": self.epsilon, "hash_seed": self.seed("hashes", number)}
        return _made(self.scheme, own | self._place(), self.parameters)

    def _place(self) -> dict[str, Any]:
        # The domain, and for a search how many users there will be.
        if not self.d:
            return {"domain": domain_of(self.data), "users": self.n}
        return {"domain": Ordered(0, self.d - 1)} if is_ordered(self.data) else {"domain_size": self.d}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Cell) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)


@dataclass(frozen=True)
class View:
    """One way to read the tally of a cell: options of ``estimate`` and the post-processing steps that follow.

    A dotted option such as ``oracle.decoder`` applies to the oracle inside a sketch.
    """

    steps: tuple[str, ...] = ()
    options: tuple[tuple[str, Any], ...] = ()

    @property
    def keywords(self) -> dict[str, Any]:
        """The options of a cell's view as keyword arguments of ``estimate``."""
        given: dict[str, Any] = {}
        for name, value in self.options:
            whole, _, part = name.partition(".")
            if part:
                given.setdefault(whole, {})[part] = value
            else:
                given[whole] = value
        return given

    @property
    def key(self) -> str:
        """Key of the view in the measurements of a cell: its text, and the digests of user-defined steps."""
        return " ".join([str(self), *(SOURCES[f"+{step}"] for step in self.steps if f"+{step}" in SOURCES)])

    def __str__(self) -> str:
        return ", ".join([*(f"{name}={value}" for name, value in self.options), *self.steps]) or "plain"


PLAIN = View()
"""The scheme's default, unbiased estimates."""


def view(*steps: str, **options: Any) -> View:
    """The view of a cell with these steps and options.

    >>> str(view("norm-sub", combine="median")), str(view())
    ('combine=median, norm-sub', 'plain')
    >>> str(view(oracle={"decoder": "paper"}))
    'oracle.decoder=paper'
    """
    flat: dict[str, Any] = {}
    for name, value in options.items():
        parts = value.items() if isinstance(value, Mapping) else ()
        flat |= {f"{name}.{part}": each for part, each in parts} if parts else {name: value}
    return View(steps, tuple(sorted(flat.items())))


def canonical(value: Any) -> str:
    """Canonical JSON for the keys of cells: sorted, no spaces, ASCII; raises for values that JSON cannot express."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def _made(name: str, own: dict[str, Any], parameters: Mapping[str, Any]) -> Scheme:
    if name in SCHEMES:
        return SCHEMES[name](**own, **parameters)
    given = dict(parameters)
    takes = {each.name for each in fields(CATALOG[name]) if each.init} if name in CATALOG else set()
    if "hash_seed" in takes:
        given.setdefault("hash_seed", own["hash_seed"])
    if "oracle" in takes and "oracle" in given:
        oracle = dict(given.pop("oracle"))
        if "width" not in given:
            raise ParameterError(f"width: expected a width for {name} with an oracle, got none")
        # A signed sketch reports a cell and a sign: two items of its oracle for each cell.
        cells = given.pop("width") * (2 if getattr(CATALOG[name], "signed", False) else 1)
        inner = {name: value for name, value in own.items() if name != "domain"}
        given["oracle"] = _made(oracle.pop("scheme"), inner | {"domain_size": cells}, oracle)
    else:
        given["epsilon"] = own["epsilon"]
    place = {key: own[key] for key in ("domain_size", "domain") if key in own}
    return make(name, **place, **given)
