"""Wall-clock measurements, taken in turn, and the progress line."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from statistics import median
from typing import Any, TextIO

Sample = dict[str, Any]


class UnavailableError(Exception):
    """A measurement is not possible here; the others continue."""


def seconds(work: Callable[[], object]) -> float:
    """Seconds of one run of the work."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def enough(budget: float, time_of: Callable[[int], float], *, few: int, most: int) -> int:
    """Number of items to measure at once, within the limits, so that they take about the given seconds."""
    count = min(few, most)
    while (spent := time_of(count)) < budget / 4 and count < most:
        count = min(most, 8 * count)
    return int(min(max(budget / max(spent, 1e-9) * count, min(few, most)), most))


def in_turns(
    repetitions: int, measurements: Mapping[str, Callable[[], Sample]], fewer: Mapping[str, int] | None = None
) -> dict[str, list[Sample]]:
    """The samples of each measurement, one of each in every round, so that a disturbance affects all of them alike.

    ``fewer`` maps slow measurements to their number of rounds; unavailable measurements are omitted.
    """
    taken: dict[str, list[Sample]] = {name: [] for name in measurements}
    missing = set()
    for turn in range(repetitions):
        for name, measure in measurements.items():
            if name not in missing and turn < (fewer or {}).get(name, repetitions):
                try:
                    taken[name].append(measure())
                except UnavailableError:
                    missing.add(name)
    return {name: samples for name, samples in taken.items() if name not in missing}


def medians(samples: Sequence[Sample]) -> Sample:
    """The median of each quantity; values that are not numbers are taken from the last sample."""
    numbers = {key: isinstance(value, int | float) for key, value in samples[-1].items()}
    return {key: median(sample[key] for sample in samples) if numbers[key] else samples[-1][key] for key in numbers}


def paired_ratio(above: Sequence[Sample], below: Sequence[Sample], key: str) -> float | None:
    """The median over rounds of one measurement divided by the other in the same round."""
    pairs = zip(above, below, strict=False)  # the slow one has fewer rounds
    ratios = [a[key] / b[key] for a, b in pairs if a.get(key) and b.get(key)]
    return median(ratios) if ratios else None


@contextmanager
def threads(count: int | None) -> Iterator[None]:
    """Run the package's bulk work on ``count`` threads inside the block; None means all cores."""
    before = os.environ.pop("PLAUSIBLY_THREADS", None)
    if count is not None:
        os.environ["PLAUSIBLY_THREADS"] = str(count)
    try:
        yield
    finally:
        os.environ.pop("PLAUSIBLY_THREADS", None)
        if before is not None:
            os.environ["PLAUSIBLY_THREADS"] = before


class Progress:
    """A progress line on the terminal; without a terminal, one line per stage."""

    def __init__(self, total: int, stream: TextIO | None = None) -> None:
        self.total, self.done, self.start = total, 0, time.monotonic()
        self.stream = sys.stderr if stream is None else stream
        self.live, self.stage = self.stream.isatty(), ""

    def show(self, stage: str, label: str) -> None:
        """Announce the next step."""
        if self.live:
            filled = 24 * self.done // max(1, self.total)
            bar = "█" * filled + "·" * (24 - filled)
            line = f"{bar} {100 * self.done // max(1, self.total):3d} %  {self._clock()}  {stage}: {label}"
            self._write(f"\r\033[K{line[:110]}")
        elif stage != self.stage:
            self._write(f"[{self._clock()}] {stage}\n")
        self.stage = stage
        self.done += 1

    def close(self) -> None:
        """Clear the line."""
        self._write("\r\033[K" if self.live else f"[{self._clock()}] done\n")

    def _clock(self) -> str:
        passed = int(time.monotonic() - self.start)
        return f"{passed // 60}:{passed % 60:02d}"

    def _write(self, text: str) -> None:
        self.stream.write(text)
        self.stream.flush()


def plain(value: Any) -> Any:
    """The value for JSON, with numbers rounded to the significant digits of a measurement."""
    if isinstance(value, dict):
        return {str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    return float(f"{value:.5g}") if isinstance(value, float) else value
