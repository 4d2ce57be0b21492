"""The part of the vectors that belongs to SW and MEAN: their settings, and what must be refused."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import naive_client as naive
from naive_client import Fields, N
from vectors.slides import AGES, BINS, DATES, TIMES, integers

TENTHS: Fields = {"type": "bins", "edges": [0, "0.1", "0.2", "0.3", "0.4", "0.5", 1]}
DOLLARS: Fields = {"type": "bins", "edges": [-5, 0, "12.5", 100, "1e+20"]}


def settings(name: str) -> Iterator[tuple[str, Fields, Fields]]:
    """Epsilon, domain and own parameters: few and many items, and all kinds of order."""
    reaches: list[Fields] = [{"reach": reach} for reach in (0, 1, 3, 80)] if name == "SW" else [{}] * 4
    yield "1", integers(9), {}
    yield "3", _inside(AGES), {}
    yield "1", integers(80), reaches[3]
    yield "2", integers(2), {}
    yield "1/10", BINS, {}
    yield "5", _inside(DATES), reaches[1]
    yield "1", _inside(TIMES), {}
    yield "2", TENTHS, {}
    yield "1/2", DOLLARS, reaches[2]
    yield "8", integers(70_000), {}
    yield "20", integers(64), reaches[0]
    yield "1", integers(2**20), {}
    yield "4", integers(257), {}
    yield "1/100", integers(5), {}
    # The last two are broken in many ways.
    yield "1/2", {"type": "bins", "edges": [0, 1, 4, 5]}, {}
    yield "1/2", integers(9), {}


def _inside(domain: Fields) -> Fields:
    return {name: value for name, value in domain.items() if name != "other"}


def broken_waves(scheme: Fields) -> Iterator[tuple[str, bool, Fields]]:
    """Why, whether a client must refuse, and the fields: square waves with a wrong reach, besides wrong thresholds."""
    reach = scheme["reach"]
    for wrong in (None, -1, 10, 2**32, "1", True, 1.5, [reach]):
        yield "a reach that is none", True, {**scheme, "reach": wrong}
    yield "no reach", True, {key: value for key, value in scheme.items() if key != "reach"}
    yield "a smaller reach, whose places are more likely each", True, {**scheme, "reach": reach - 1}
    yield "a larger reach for the same threshold", False, {**scheme, "reach": reach + 1}


def broken_bits(scheme: Fields) -> Iterator[tuple[str, bool, Fields]]:
    """The same for MEAN: wrong thresholds, steps and places."""

    def changed(why: str, client: bool, **fields: Any) -> tuple[str, bool, Fields]:
        return why, client, {**scheme, **fields}

    first, step, top = int(scheme["first"]), int(scheme["step"]), naive.size_of(scheme["domain"]) - 1
    for field in ("first", "step"):
        for wrong in (None, 7, 1.5, "", "-1", "0", str(N), "01", "one", [scheme[field]]):
            yield changed(f"a {field} that is none", True, **{field: wrong})
        yield f"no {field}", True, {key: value for key, value in scheme.items() if key != field}
    yield changed("a first threshold one step too low", True, first=str(first - top))
    yield changed("a first threshold too high for the last one", True, first=str(first + top))
    yield changed("a step one too large", True, step=str(step + 1))
    yield changed("a step one too small", False, step=str(step - 1))
    yield changed("probabilities beyond 1", True, step=str(N // top))
    yield changed("places that say nothing", False, places=list(range(top + 1)))
    for places in (None, [], 5, "012345678", [0] * top, [*range(top + 2)], [*range(top), None], [*range(top), 1.5]):
        yield changed("places that are none", True, places=places)
    yield changed("places in falling order", True, places=[*range(top, -1, -1)])
    yield changed("a place below the first one", True, places=[-1, *range(1, top + 1)])
    yield changed("a place beyond the last one", True, places=[*range(top), top + 1])
    yield changed("a place far beyond", True, places=[*range(top), 2**40 + 1])
    yield changed("places closer together", False, places=[0] * (top + 1))
