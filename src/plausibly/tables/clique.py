"""CLIQUE: a public set of attributes, and the cell of the record in their joint table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from typing import Any, cast

from ..core.arguments import whole_number
from ..core.domain import Domain, Table
from ..core.errors import ParameterError
from ..core.grouped import weights_of
from ..core.probability import EpsilonLike
from ..core.scheme import OracleMaker, Scheme
from ..core.table_law import Axes
from ..core.wording import shown
from ..core.words import Setting, Words, kind_of
from .attributed import MOST_CELLS, Attributed
from .designs import MOST_CLIQUES, sets_of

_TOGETHER = (2, 3)
"""Numbers of attributes in a clique that are tried: four were never better."""
_BETTER = 1 - 1e-6


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class CLIQUE(Attributed):
    """Cliques of attributes: a user reports the cell of the record in the table of a public, random set of attributes.

    ``cliques``: the sets of attributes, by their names or positions, or the number of attributes in each. By default
    all sets of two, or of three if the predicted variance of two-way tables is lower, as for yes/no questions;
    too many sets of three are thinned out so that every two attributes are in at least one. One attribute in each is
    best for one-way tables, and has no others. ``weights``: relative numbers of the users of each set.
    A cell is reported through subset selection if there are at most 64 of them, else through the Hadamard mechanism.
    Derivation: docs/adr/0039-clique.md.
    Privacy: that of the oracles for the whole record, because the set is drawn without looking at it.
    Estimates: ``tally.table("age", "plan")``. All one-way and two-way tables, and larger ones of attributes that are in
    one set; unbiased, consistent with each other, and with the sum n.
    Variance: exact, linear in the counts of the table; for eight yes/no questions and eps = 1, the error of a cell is
    9 % above the least possible one.
    Cost: the number of the set, of 1 byte for up to 256 sets, and up to 8 bytes for sets of at most 64 cells: 9 bytes
    for 64. The state has a cell for each cell of each set, with those of more than 64 rounded up to a power of two.

    >>> import plausibly
    >>> survey = plausibly.Table({"browser": ["Firefox", "Chrome"], "theme": ["dark", "light"]}, missing=False)
    >>> scheme = CLIQUE(epsilon=1, domain=survey)
    >>> crowd = {("Firefox", "dark"): 4000, ("Firefox", "light"): 1000, ("Chrome", "light"): 5000}
    >>> scheme.simulate(crowd, plausibly.SeededRandom(1)).table("theme", "browser")["dark", "Firefox"]
    <dark, Firefox: 4,127 [3,845, 4,410]>
    """

    name = "CLIQUE"

    cliques: Sequence[Sequence[int | str]] | int | None = None
    weights: tuple[int, ...] | None = None

    def prepare(self) -> None:
        object.__setattr__(self, "cliques", self._sets_of(self.cliques))
        usual = (1,) * len(self.sets)
        object.__setattr__(self, "weights", weights_of(self.weights, len(usual), usual))

    def _sets_of(self, given: object) -> tuple[Axes, ...]:
        attributes = len(self.records.names)
        if given is None:
            return self._best()
        if not isinstance(given, Sequence):
            return sets_of(attributes, whole_number("cliques", given, 1, attributes))
        if isinstance(given, str | bytes) or not 1 <= len(given) <= MOST_CLIQUES:
            words = f": expected the number of attributes in each, or a list of 1 to {MOST_CLIQUES} sets of them, got "
            raise ParameterError(Words(Setting("cliques"), words, kind_of(given)))
        sets = tuple(self._set_of(places) for places in given)
        if len(set(sets)) != len(sets):
            raise ParameterError("cliques: expected different sets of attributes, got one of them twice")
        for place, name in enumerate(self.records.names):
            if not any(place in chosen for chosen in sets):
                raise ParameterError(
                    f"cliques: expected every attribute in at least one of them, {shown(name)} is in none"
                )
        return sets

    def _set_of(self, given: object) -> Axes:
        if isinstance(given, str | bytes) or not isinstance(given, Sequence) or not given:
            raise ParameterError(Words("cliques: expected lists of names of attributes, got ", kind_of(given)))
        last = len(self.records.names) - 1
        places = [
            self.records.place(one) if isinstance(one, str) else whole_number("cliques", one, 0, last) for one in given
        ]
        if len(set(places)) != len(places):
            raise ParameterError("cliques: expected different attributes in each, got one of them twice")
        return tuple(sorted(places))

    def _best(self) -> tuple[Axes, ...]:
        # The number of attributes with the lowest predicted variance of a cell of a two-way table.
        sizes = sorted(self.records.sizes)
        found, least = sets_of(len(sizes), 2), 0.0
        for together in _TOGETHER:
            if together > len(sizes) or (together > 2 and prod(sizes[-together:]) > MOST_CELLS):
                continue
            sets = sets_of(len(sizes), together)
            if len(sets) > MOST_CLIQUES:
                continue
            variance = type(self)(epsilon=self.epsilon, domain=self.domain, cliques=sets).estimator().even_variance(2)
            if not least or variance < _BETTER * least:
                found, least = sets, variance
        return found

    @property
    def sets(self) -> tuple[Axes, ...]:
        return cast(tuple[Axes, ...], self.cliques)  # numbers, once the scheme is made

    @property
    def together(self) -> int:
        """Number of attributes in the largest clique."""
        return max(map(len, self.sets))

    @property
    def group_weights(self) -> tuple[int, ...]:
        return self.weights or ()

    @property
    def parameters(self) -> dict[str, Any]:
        return {"cliques": [list(places) for places in self.sets], "weights": list(self.group_weights)}

    def shrunk(self, size: int) -> CLIQUE:
        table = self.small_table(size)
        return CLIQUE(epsilon=self.epsilon, domain=table, cliques=min(self.together, len(table.names)))

    @classmethod
    def variants(cls, epsilon: Fraction, domain: Domain, memory: int) -> Iterator[Mapping[str, Any]]:
        if isinstance(domain, Table):
            yield from ({"cliques": together} for together in _TOGETHER)

    @classmethod
    def examples(cls, through: OracleMaker | None = None, *, epsilon: EpsilonLike = 1) -> dict[str, Scheme]:
        usual = super().examples(through, epsilon=epsilon)
        table = Table(dict.fromkeys("abcd", 2), missing=False)
        three = cls(epsilon=epsilon, domain=table, cliques=3, weights=(1, 2, 1, 1))  # type: ignore[arg-type]
        return usual | {"three": three}
