"""Published ways to tables of two attributes: their exact laws, and collections with reports of the library's oracles.

InpHT (Cormode, Kulkarni and Srivastava, SIGMOD 2018): a user reports one of the m + m(m-1)/2 Hadamard coefficients of
one and two yes/no attributes, which is a sign, by randomized response. Pairs over OLH (CALM of Zhang et al., CCS 2018,
with views of two): a user reports the cell of one pair of attributes, and each pair is estimated from its own users
alone. Both scale a group's sum up by its known share of the users, as CLIQUE does, so that they are unbiased.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from math import prod, tanh
from typing import Any

import numpy as np

from plausibly import SeededRandom, make

from .latent import drawn_into

Places = tuple[int, ...]
Tables = Iterator[tuple[Places, Any]]
"""Attributes, and the estimated counts of their table."""


class InpHT:
    """Hadamard coefficients of yes/no attributes."""

    def __init__(self, sizes: Sequence[int], epsilon: float) -> None:
        self.attributes, self.epsilon = len(sizes), epsilon
        self.sets: list[Places] = [(j,) for j in range(len(sizes))]
        self.sets += combinations(range(len(sizes)), 2)

    def variance(self, attributes: int) -> float:
        """Mean variance per user of a cell of the tables of this number of attributes, for any crowd.

        A user's part in a coefficient is K times a sign, divided by c = tanh(eps/2), if they report it, else 0. A cell
        is the mean of all coefficients of its table, which has 2^k - 1 besides the known one. Of the squared mean, 1
        in a coefficient, only this many are left on average over the cells: their products cancel.
        """
        own = 2**attributes - 1
        return own * (len(self.sets) / tanh(self.epsilon / 2) ** 2 - 1) / 4**attributes

    def tables(self, records: Any, seed: int) -> Tables:
        """All tables of one and two attributes from one collection."""
        oracle = make("DE", epsilon=self.epsilon, domain_size=2)
        chosen = drawn_into(len(self.sets), len(records), seed)
        coefficients = {}
        for number, places in enumerate(self.sets):
            bits = records[chosen == number][:, list(places)].sum(axis=1) % 2
            tally = oracle.accumulator()
            tally.add(oracle.privatize_encoded(bits.astype(np.uint64), SeededRandom(seed * len(self.sets) + number)))
            even, odd = tally.estimate().values
            coefficients[places] = len(self.sets) * (even - odd)
        signs = np.array([1.0, -1.0])
        for places in self.sets:
            counts = np.full([2] * len(places), float(len(records)))
            for axis, j in enumerate(places):
                counts += coefficients[j,] * signs.reshape([-1 if i == axis else 1 for i in range(len(places))])
            if len(places) == 2:
                counts += coefficients[places] * np.multiply.outer(signs, signs)
            yield places, counts / 2 ** len(places)


class PairsOverOLH:
    """Every pair of attributes from its own users, through OLH."""

    def __init__(self, sizes: Sequence[int], epsilon: float) -> None:
        self.sizes = tuple(sizes)
        self.sets = list(combinations(range(len(sizes)), 2))
        cells = [prod(sizes[j] for j in places) for places in self.sets]
        self.oracles = {size: make("OLH", epsilon=epsilon, domain_size=size) for size in {*cells}}
        self.cells = cells

    def variance(self, attributes: int) -> float | None:
        """Mean variance per user of a cell of the tables of two attributes, for any crowd.

        With P pairs, a user's part in a cell is P times the oracle's score if they report the pair, else 0.
        """
        if attributes != 2:
            return None
        pairs = len(self.sets)
        return float(np.mean([pairs * self.oracles[d].variance(1, 1 / d) + (pairs - 1) / d for d in self.cells]))

    def tables(self, records: Any, seed: int) -> Tables:
        """All tables of two attributes from one collection."""
        chosen = drawn_into(len(self.sets), len(records), seed)
        for number, places in enumerate(self.sets):
            sizes = [self.sizes[j] for j in places]
            own = records[chosen == number]
            codes = own[:, places[0]] * sizes[1] + own[:, places[1]]
            oracle = self.oracles[self.cells[number]]
            tally = oracle.accumulator()
            tally.add(oracle.privatize_encoded(codes.astype(np.uint64), SeededRandom(seed * len(self.sets) + number)))
            yield places, len(self.sets) * tally.estimate().values.reshape(sizes)
