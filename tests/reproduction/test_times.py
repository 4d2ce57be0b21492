"""Times with both kinds of kernels, each in a process of its own."""

from __future__ import annotations

import pytest

from plausibly import kernels
from plausibly.experiments import PLAIN, Cell, view
from reproduction import times


@pytest.mark.full
def test_both_kinds_of_kernels_are_timed() -> None:
    ways = [view(combine="mean"), view(combine="median")]
    parameters = {"of": "CM", "collections": 2, "oracle": {"scheme": "OUE"}, "width": 16, "rows": 2}
    collected, found = times.times(Cell("TIMES", parameters, data="uniform", n=1000, d=32), ways, 0)
    assert collected == {}
    for way in ways:
        metrics = found[way.key]
        for kind in times.KERNELS if kernels.active == "c" else ["interpreted"]:
            parts = [metrics[f"{kind}_{side}"] for side in ("client", "server", "estimate")]
            assert all(part > 0 for part in parts)
            # Each is the least of two collections.
            assert sum(parts) <= metrics[f"{kind}_total"] * (1 + 1e-9)


def test_without_compiled_kernels_there_are_no_times_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    warns = "import warnings; warnings.warn('plausibly uses its slower NumPy kernels: no compiler', RuntimeWarning)"
    monkeypatch.setattr(times, "_PROGRAM", warns)
    cell = Cell("TIMES", {"of": "OUE", "collections": 1}, data="uniform", n=10, d=4)
    assert times.times(cell, [PLAIN], 0) == ({}, {"plain": {}})


@pytest.mark.full
def test_a_failure_is_reported() -> None:
    cell = Cell("TIMES", {"of": "XYZ", "collections": 1}, data="uniform", n=10, d=4)
    with pytest.raises(RuntimeError, match="timing XYZ failed"):
        times.times(cell, [PLAIN], 0)
