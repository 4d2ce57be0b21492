"""Our half of the comparison: the timed work of an oracle, on data that need no random generator."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import plausibly
from plausibly import kernels
from plausibly.core import randomness

from .timing import Sample, enough, seconds, threads

ROOT = Path(__file__).resolve().parent.parent
_MOST_USERS = 1_000_000
_MOST_BYTES = 1 << 28


@lru_cache(maxsize=4)
def crowd(n: int, d: int) -> npt.NDArray[np.int64]:
    """The items of n users, unordered, with Zipf(1.1) frequencies."""
    share = np.cumsum(np.arange(1, d + 1) ** -1.1)
    # Multiples of the golden ratio modulo 1 are spread evenly: quantiles without a random generator.
    places = np.arange(n) * 0.6180339887498949 % 1
    return np.searchsorted(share / share[-1], places, side="right").clip(0, d - 1).astype(np.int64)


@dataclass(frozen=True)
class Job:
    """One oracle at one setting."""

    oracle: str
    d: int
    epsilon: int = 3

    def scheme(self) -> plausibly.Scheme:
        """A new scheme, without caches from earlier repetitions."""
        return plausibly.make(self.oracle, epsilon=self.epsilon, domain_size=self.d)

    @cached_property
    def parameters(self) -> dict[str, Any]:
        """Parameters with which a peer does the same work: number of hash functions, number of coefficients."""
        scheme = self.scheme()
        own = {field.name for field in fields(scheme)} & {"hashes", "coefficients"}
        return {name: scheme.parameters[name] for name in own}

    def whole(self, n: int, thread_count: int | None = None) -> Sample:
        """Build the scheme, privatize n values with secure randomness, collect, estimate."""
        items = crowd(n, self.d)

        def work() -> None:
            scheme = self.scheme()
            tally = scheme.accumulator()
            tally.add(scheme.privatize(items))
            tally.estimate()

        with threads(thread_count):
            return {"seconds": seconds(work)}

    def users_within(self, budget: float) -> int:
        """Number of users that client and server can serve in the given seconds, limited by memory."""

        def time_of(n: int) -> float:
            step = self.steps(n)
            return float(step["client_us"] + step["server_us"]) * n / 1e6

        return enough(budget, time_of, few=1000, most=self._room())

    def steps(self, n: int) -> Sample:
        """Times of the steps: client and server per user, and decoding once; without set-up."""
        scheme, items = self.scheme(), crowd(n, self.d)
        scheme.accumulator().add(scheme.privatize(items[:1]))
        held: list[Any] = []
        client = seconds(lambda: held.append(scheme.privatize(items)))
        tally = scheme.accumulator()
        server = seconds(lambda: tally.add(held[0]))
        decode = seconds(tally.estimate)
        return {"client_us": 1e6 * client / n, "server_us": 1e6 * server / n, "decode_s": decode}

    def server(self, n: int) -> Callable[[], Sample]:
        """A repeatable measurement of the whole server: collecting n reports and estimating."""
        scheme = self.scheme()
        reports = scheme.privatize(crowd(n, self.d))

        def work() -> None:
            tally = scheme.accumulator()
            tally.add(reports)
            tally.estimate()

        return lambda: {"seconds": seconds(work)}

    def peak(self, n: int) -> dict[str, float]:
        """Peak memory of a fresh process that privatizes and collects n values in batches, in MB."""
        request = json.dumps({"oracle": self.oracle, "d": self.d, "epsilon": self.epsilon, "n": n})
        command = [sys.executable, "-m", "bench.peak", request]
        run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
        answer: dict[str, float] = json.loads(run.stdout)
        return answer

    def shares(self, n: int) -> Sample:
        """Shares of the whole job, on one thread, that are keystream, kernels, and neither."""
        with stopwatch() as inside:
            total = self.whole(n, 1)["seconds"]
        keystream, kernel = inside["keystream"] / total, inside["kernels"] / total
        return {"keystream": keystream, "kernels": kernel, "outside": 1 - keystream - kernel, "seconds": total}

    def _room(self) -> int:
        return min(_MOST_USERS, _MOST_BYTES // self.scheme().report_dtype.itemsize)


@contextmanager
def stopwatch() -> Iterator[dict[str, float]]:
    """Seconds spent in kernels and in AES inside the block; for one thread only, since parallel times would add up."""
    spent = {"keystream": 0.0, "kernels": 0.0}

    def timed(account: str, work: Callable[..., Any]) -> Callable[..., Any]:
        def run(*args: Any, **kwargs: Any) -> Any:
            held: list[Any] = []
            spent[account] += seconds(lambda: held.append(work(*args, **kwargs)))
            return held[0]

        return run

    class Encryptor:
        def __init__(self, inner: Any) -> None:
            self.update = timed("keystream", inner.update)
            self.update_into = timed("keystream", inner.update_into)

    class Cipher(randomness.Cipher):  # type: ignore[type-arg]
        def encryptor(self) -> Any:
            return Encryptor(super().encryptor())

    originals = {name: getattr(kernels, name) for name in kernels.NAMES}
    honest = randomness.Cipher
    try:
        randomness.Cipher = Cipher  # type: ignore[misc]
        for name, kernel in originals.items():
            setattr(kernels, name, timed("kernels", kernel))
        yield spent
    finally:
        randomness.Cipher = honest  # type: ignore[misc]
        for name, kernel in originals.items():
            setattr(kernels, name, kernel)
