"""A cell is one measurement. Its key depends only on what is measured, so figures share equal cells."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any

from .. import presets
from ..catalog import CATALOG, make
from ..core.arguments import whole_number
from ..core.domain import Strings
from ..core.errors import ParameterError
from ..core.scheme import Scheme
from .crowds import domain_of


def _recommended(*, epsilon: float, domain: Strings, users: int, hash_seed: int) -> Scheme:
    return presets.TRELLIS(epsilon, domain=domain, users=users, hash_seed=hash_seed)


SCHEMES: dict[str, Callable[..., Scheme]] = {presets.TRELLIS.__name__: _recommended}
"""Schemes beside the catalogue's, by name: called with epsilon, domain_size, hash_seed and the cell's parameters.

Searches are called with a domain of strings instead of its size, and with the number of users.
"""
SOURCES: dict[str, str] = {}
"""Digests of the source code of schemes, crowds and measures that an experiment enters, by name.

Post-processing steps are here as well, each after a plus sign.
"""


@dataclass(frozen=True, eq=False)
class Cell:
    """A scheme with its parameters, a crowd, a privacy, and the number of the repeat.

    A repeat is the mean of ``rounds`` collections from the same crowd: in a small domain one has few errors to average.

    The parameters are plain JSON values; those of a sketch are its ``width``, ``rows`` and ``oracle``, the latter again
    parameters with the name of their ``scheme``. The items of a crowd of strings cannot be listed: there d is 0,
    and the scheme is a search.

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
        """The optional extra of the package that the scheme needs, if any."""
        return CATALOG[self.scheme].extra if self.scheme in CATALOG else ""

    def to_dict(self) -> dict[str, Any]:
        """Everything that the measurement depends on, ready for JSON."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    @cached_property
    def key(self) -> str:
        """The name of the measurement: the same in every process, on every machine, for every figure."""
        own = {"sources": self.sources} if self.sources else {}
        return hashlib.sha256(canonical(self.to_dict() | own).encode()).hexdigest()[:32]

    @property
    def sources(self) -> dict[str, str]:
        """Digests of the source code that this cell depends on, by the names that an experiment entered."""
        oracle = self.parameters.get("oracle")
        within = oracle.get("scheme") if isinstance(oracle, dict) else None
        names = (self.scheme, within, self.data, self.data.partition("/")[0])
        return {name: SOURCES[name] for name in names if name in SOURCES}

    def seed(self, purpose: str, number: int = 0) -> int:
        """A distinct 64-bit seed for each purpose and round of this cell."""
        return int.from_bytes(hashlib.sha256(f"{purpose} {number} {self.key}".encode()).digest()[:8], "big")

    def make(self, number: int = 0) -> Scheme:
        """The scheme; public hash functions, if any, are different in each cell and round."""
        own: dict[str, Any] = {"epsilon": self.epsilon, "hash_seed": self.seed("hashes", number)}
        own |= {"domain_size": self.d} if self.d else {"domain": domain_of(self.data), "users": self.n}
        return _made(self.scheme, own, self.parameters)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Cell) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)


@dataclass(frozen=True)
class View:
    """One way to read a tally: options of ``estimate``, and the steps of post-processing after it.

    An option with a dot is one of the oracle within a sketch: ``oracle.decoder``.
    """

    steps: tuple[str, ...] = ()
    options: tuple[tuple[str, Any], ...] = ()

    @property
    def keywords(self) -> dict[str, Any]:
        """The options as ``estimate`` takes them."""
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
        """The name under which its measurements are kept: the view in words, and the digests of its own steps."""
        return " ".join([str(self), *(SOURCES[f"+{step}"] for step in self.steps if f"+{step}" in SOURCES)])

    def __str__(self) -> str:
        return ", ".join([*(f"{name}={value}" for name, value in self.options), *self.steps]) or "plain"


PLAIN = View()
"""Unbiased, as the scheme estimates by default."""


def view(*steps: str, **options: Any) -> View:
    """The view with these steps and options.

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
    """Canonical JSON: sorted, without spaces, in ASCII. Values that JSON cannot express are refused."""
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
            raise ParameterError(f"width: expected for {name} with its oracle, got nothing")
        # A signed sketch reports a cell and a sign: two items of its oracle for each cell.
        cells = given.pop("width") * (2 if getattr(CATALOG[name], "signed", False) else 1)
        given["oracle"] = _made(oracle.pop("scheme"), own | {"domain_size": cells}, oracle)
    else:
        given["epsilon"] = own["epsilon"]
    return make(name, domain_size=own["domain_size"], **given)
