"""Start-up time of the program: ``python -m bench.startup``.

Measured as processor time of whole processes, user and system, which other programs disturb less than wall time.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import plausibly
from plausibly.files import write_tally

from .timing import Sample, in_turns

_ROUNDS = 9
_PROGRAM = (sys.executable, "-m", "plausibly")
COMMANDS: dict[str, tuple[str, ...]] = {
    "python -c pass": (sys.executable, "-c", "pass"),
    "import numpy": (sys.executable, "-c", "import numpy"),
    "plausibly --version": (*_PROGRAM, "--version"),
    "plausibly --help": (*_PROGRAM, "--help"),
    "plausibly plan --help": (*_PROGRAM, "plan", "--help"),
    "plausibly show": (*_PROGRAM, "show", "OLH:epsilon=1,domain_size=1000"),
}
GOALS = {"plausibly --version": 0.1, "plausibly --help": 0.2, "plausibly plan --help": 0.2, "plausibly show": 0.6}
GOALS |= {"plausibly estimate": 0.8}
"""Maximum seconds."""


def commands(folder: Path) -> dict[str, tuple[str, ...]]:
    """The commands to measure, with a small tally in this folder."""
    scheme = plausibly.make("OLH", epsilon=1, domain_size=1000)
    tally = scheme.accumulator()
    tally.add(scheme.privatize(range(1000)))
    write_tally(folder / "small.tally", tally)
    return COMMANDS | {"plausibly estimate": (*_PROGRAM, "estimate", str(folder / "small.tally"))}


def processor_seconds(command: tuple[str, ...]) -> float:
    """User and system time of a process and of the processes that it waits for."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    # Bytecode is written whatever the environment says: an installed package has it.
    environment = os.environ | {"PYTHONDONTWRITEBYTECODE": ""}
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measured(rounds: int = _ROUNDS) -> dict[str, float]:
    """The median processor time of each command, in seconds; the first round only warms the caches."""

    def sample(command: tuple[str, ...]) -> Sample:
        return {"seconds": processor_seconds(command)}

    with TemporaryDirectory() as folder:
        jobs = {name: partial(sample, command) for name, command in commands(Path(folder)).items()}
        in_turns(1, jobs)
        taken = in_turns(rounds, jobs)
    return {name: median(each["seconds"] for each in samples) for name, samples in taken.items()}


def main() -> None:
    for name, seconds in measured().items():
        goal = GOALS.get(name)
        verdict = "" if goal is None else f"  at most {goal:.2f}: {'pass' if seconds <= goal else 'FAIL'}"
        print(f"{name:<24} {seconds:.3f} s{verdict}")


if __name__ == "__main__":
    main()
