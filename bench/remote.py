"""Access to the peers: a subprocess in their own environment, or the reason why there is none."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .jobs import ROOT, Job
from .sketches import Race
from .timing import Sample, UnavailableError

LIBRARIES = ("pure-ldp", "multi-freq-ldpy")


class PeerError(UnavailableError):
    """A peer failed to answer a request."""


class Peers:
    """A connection to the worker, with one request at a time; an idle worker costs nothing."""

    def __init__(self, python: Path) -> None:
        self.absent = ""
        self.about: dict[str, Any] = {}
        self.failures: list[str] = []
        self._oracles: dict[str, list[str]] = {}
        self._worker: subprocess.Popen[str] | None = None
        self._complaints = tempfile.TemporaryFile("w+", encoding="utf-8")  # noqa: SIM115 (closed with the worker)
        if not python.exists():
            self.absent = "they are not installed"
            return
        self._worker = subprocess.Popen(
            [str(python), "-m", "bench.peers"],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._complaints,
            text=True,
        )
        try:
            self.about = self._read()
            self._oracles = self.about.pop("oracles")
        except PeerError as error:
            self.absent = str(error)

    def close(self) -> None:
        """Stop the worker."""
        if self._worker is not None:
            for pipe in (self._worker.stdin, self._worker.stdout):
                assert pipe is not None
                pipe.close()
            self._worker.wait(timeout=60)
        self._complaints.close()

    def measurements(self, job: Job | Race, *, seconds: float) -> dict[str, Callable[[], Sample]]:
        """For each library that has the oracle, a function that takes one sample of the same job."""

        def measurement(library: str) -> Callable[[], Sample]:
            request = {
                **{"library": library, "oracle": job.oracle, "d": job.d, "epsilon": job.epsilon},
                **{"parameters": job.parameters, "seconds": seconds},
            }
            return lambda: self._ask(request)

        return {library: measurement(library) for library in LIBRARIES if job.oracle in self._oracles.get(library, ())}

    def _ask(self, request: dict[str, Any]) -> dict[str, Any]:
        assert self._worker is not None
        assert self._worker.stdin is not None
        try:
            self._worker.stdin.write(json.dumps(request) + "\n")
            self._worker.stdin.flush()
            answer = self._read()
            if "error" in answer:
                raise PeerError(answer["error"])
        except (PeerError, OSError) as error:
            self.failures.append(f"{request['library']} {request['oracle']} at d = {request['d']}: {error}")
            raise PeerError(self.failures[-1]) from error
        return answer

    def _read(self) -> dict[str, Any]:
        assert self._worker is not None
        assert self._worker.stdout is not None
        line = self._worker.stdout.readline()
        if not line:
            self._complaints.seek(0)
            said = self._complaints.read().strip().splitlines()
            raise PeerError(f"their process ended: {said[-1] if said else 'without a message'}")
        answer: dict[str, Any] = json.loads(line)
        return answer


def whole_job(sample: Sample, n: int) -> float:
    """Seconds of set-up, n users and one estimate, computed from the cost per user and per report."""
    return sample["setup_s"] + n * (sample["client_us"] + sample["server_us"]) / 1e6 + sample["decode_s"]
