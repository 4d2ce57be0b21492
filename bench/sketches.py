"""Our half of the comparison of sketches: the timed work of a sketch over an oracle."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import plausibly

from .jobs import crowd
from .timing import Sample, seconds, threads

COMBINE = ("mean", "median", "min")


@lru_cache(maxsize=1)
def names(n: int, d: int) -> list[str]:
    """The crowd's items as texts of 25 characters."""
    texts = [f"http://{item:06d}.example.org" for item in range(d)]
    return [texts[item] for item in crowd(n, d).tolist()]


@dataclass(frozen=True)
class SketchJob:
    """A sketch of ``rows`` rows of ``cells`` cells over one oracle; ``options`` are the oracle's."""

    sketch: str
    base: str
    d: int
    rows: int = 32
    cells: int = 1024
    epsilon: int = 3
    options: tuple[tuple[str, int], ...] = ()

    @property
    def label(self) -> str:
        """Name of the sketch in the results."""
        return f"{self.sketch} over {self.base}"

    def scheme(self, *, listed: bool = True) -> plausibly.Scheme:
        """A new scheme, on the integers below d or on any texts."""
        size = self.cells * (2 if self.sketch == "CS" else 1)  # CS's oracle reports a cell and a sign
        oracle = plausibly.make(self.base, epsilon=self.epsilon, domain_size=size, **dict(self.options))
        domain: dict[str, Any] = {"domain_size": self.d} if listed else {"domain": plausibly.Keys()}
        return plausibly.make(self.sketch, oracle=oracle, rows=self.rows, **domain)

    def collected(self, n: int, thread_count: int | None = None) -> Sample:
        """Seconds to privatize n items and to collect the reports."""
        with threads(thread_count):
            return self._run(self.scheme(), crowd(n, self.d))[0]

    def collected_texts(self, n: int, thread_count: int | None = None) -> Sample:
        """Seconds to privatize texts, which must be hashed to keys first, and to collect the reports."""
        with threads(thread_count):
            return self._run(self.scheme(listed=False), names(n, self.d))[0]

    def steps(self, n: int) -> Sample:
        """The same on one thread, and seconds to estimate every item with each way to combine the rows."""
        with threads(1):
            scheme = self.scheme()
            sample, tally = self._run(scheme, crowd(n, self.d))
            for combine in COMBINE:
                sample[f"{combine}_s"] = seconds(lambda combine=combine: tally.estimate(combine=combine))
        return sample | {"bytes": scheme.report_dtype.itemsize, "state_mb": len(tally.to_bytes()) / 1e6}

    def whole(self, n: int, asked: int, combine: str, thread_count: int | None = None) -> Sample:
        """A whole job and its parts: build the scheme, privatize n items, collect, estimate the requested items."""
        with threads(thread_count):
            held: list[plausibly.Scheme] = []
            setup = seconds(lambda: held.append(self.scheme()))
            sample, tally = self._run(held[0], crowd(n, self.d))
            items = range(asked)
            decode = seconds(lambda: tally.estimate(items, combine=combine))
        client, server = sample["privatize_s"], sample["collect_s"]
        parts = {"setup_s": setup, "client_us": 1e6 * client / n, "server_us": 1e6 * server / n, "decode_s": decode}
        return parts | {"seconds": setup + client + server + decode}

    def _run(self, scheme: plausibly.Scheme, items: Sequence[Any]) -> tuple[Sample, plausibly.Accumulator]:
        held: list[Any] = []
        client = seconds(lambda: held.append(scheme.privatize(items)))
        tally = scheme.accumulator()
        server = seconds(lambda: tally.add(held[0]))
        return {"privatize_s": client, "collect_s": server, "both_s": client + server}, tally


@dataclass(frozen=True)
class Race:
    """A sketch that a peer has as well: both sides do the same work, down to the number of estimated items."""

    job: SketchJob
    combine: str
    asked: int

    @property
    def oracle(self) -> str:
        """Name of the sketch in a request to the peer."""
        return f"{self.job.label} by {self.combine}"

    @property
    def d(self) -> int:
        return self.job.d

    @property
    def epsilon(self) -> int:
        return self.job.epsilon

    @property
    def parameters(self) -> dict[str, int]:
        """Parameters with which a peer does the same work."""
        return {"rows": self.job.rows, "cells": self.job.cells, "asked": self.asked, **dict(self.job.options)}


def races(d: int, asked: int) -> tuple[Race, ...]:
    """The sketches of pure-ldp; its CMS flips bits as SUE does, and its HCMS sends one coefficient, as HM can."""
    flh, one = (("hashes", 500),), (("coefficients", 1),)
    pairs = [(SketchJob(name, "FLH", d, options=flh), how) for name in ("CM", "CS") for how in ("median", "mean")]
    pairs += [(SketchJob("CM", "SUE", d), "mean"), (SketchJob("CM", "HM", d, options=one), "mean")]
    return tuple(Race(job, combine, asked) for job, combine in pairs)
