"""The law of the items that a report supports, by enumeration of all coins."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from plausibly import Scheme
from plausibly.core.enumeration import mixture, output_law, public_outcomes


def supports(scheme: Scheme) -> list[tuple[npt.NDArray[Any], list[Fraction]]]:
    """By the user's item: the scores of all items in each possible report, and the probability of that report."""
    client, laws = scheme.randomizer, []
    publics = public_outcomes(client, 20_000)
    for item in range(scheme.size):
        law = mixture([output_law(client, item, public) for public in publics])
        records = np.frombuffer(b"".join(law.weights), dtype=scheme.report_dtype)
        sets = []
        for record in records:
            tally = scheme.accumulator()
            tally.add(np.array([record]))
            sets.append(tally.scores())
        laws.append((np.array(sets), [Fraction(weight, law.denominator) for weight in law.weights.values()]))
    return laws
