"""The measure ``TIMES``: a scheme's times with the compiled kernels and with the NumPy kernels.

A process has one kind of kernels for its whole life, so that each kind is timed in a process of its own.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from plausibly.experiments import Cell, Measured, Metrics, View

KERNELS: Mapping[str, str] = {"compiled": "", "interpreted": "numpy"}
"""Values of PLAUSIBLY_KERNELS by the names of the metrics; those of the NumPy kernels are called interpreted."""
_SIDES = {"client_seconds": "client", "server_seconds": "server", "estimate_seconds": "estimate", "seconds": "total"}
_SLOWER = "plausibly uses its slower NumPy kernels"
"""Beginning of the warning of a package without compiled kernels."""
# The first measurement loads and compiles, and is not counted. The least of several times is hardly affected by other
# programs on the machine.
_PROGRAM = """
import json, sys
from plausibly.experiments import Cell, View, measure
asked = json.load(sys.stdin)
views = [View(tuple(steps), tuple(tuple(option) for option in options)) for steps, options in asked["views"]]
cell = Cell(**asked["cell"])
measure(Cell(cell.scheme, cell.parameters, data="uniform", n=1000, d=16), views)
found = [[] for _ in views]
for _ in range(asked["collections"]):
    collected, answers = measure(cell, views)
    for own, view in zip(found, views):
        own.append(collected | answers[view.key])
print(json.dumps([{name: min(metrics[name] for metrics in own) for name in own[0]} for own in found]))
"""


def times(cell: Cell, views: Sequence[View], _number: int) -> Measured:
    """Measure a cell that has the scheme to be timed among its parameters, and the number of ``collections``.

    The metrics are the processor seconds of the fastest collection, such as ``compiled_server`` and
    ``interpreted_total``. Without compiled kernels there are no metrics of them.
    """
    parameters = {**cell.parameters}
    scheme, collections = parameters.pop("of"), parameters.pop("collections")
    inner = replace(cell, scheme=scheme, parameters=parameters)
    found: list[Metrics] = [{} for _ in views]
    for kind, value in KERNELS.items():
        for metrics, seconds in zip(found, _timed(inner, views, collections, value), strict=False):
            metrics |= {f"{kind}_{side}": seconds[name] for name, side in _SIDES.items()}
    return {}, {view.key: metrics for view, metrics in zip(views, found, strict=True)}


def _timed(cell: Cell, views: Sequence[View], collections: int, kernels: str) -> list[dict[str, float]]:
    ways = [(view.steps, view.options) for view in views]
    asked = {"cell": cell.to_dict(), "views": ways, "collections": collections}
    done = subprocess.run(
        [sys.executable, "-W", f"error:{_SLOWER}", "-c", _PROGRAM],
        input=json.dumps(asked),
        env={**os.environ, "PLAUSIBLY_KERNELS": kernels, "PLAUSIBLY_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode and _SLOWER in done.stderr:
        return []
    if done.returncode:
        raise RuntimeError(f"timing {cell.scheme} failed: {done.stderr.strip().splitlines()[-1]}")
    answers: list[dict[str, Any]] = json.loads(done.stdout)
    return answers


TIMED: Mapping[str, Callable[[Cell, Sequence[View], int], Measured]] = {"TIMES": times}
"""The measure by its name."""
