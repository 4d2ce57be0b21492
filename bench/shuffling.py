"""Time of an answer about a shuffler, whose goal is a second: ``python -m bench.shuffling``.

Processor seconds of one process on one core, with the blanket of the scheme, for the schemes that take the most work.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from statistics import median

import plausibly

from .timing import Sample, in_turns

GOAL = 1.0
"""Maximum seconds."""
_ROUNDS = 3
_USERS = 10_000

Answer = Callable[[], object]


def answers() -> dict[str, Answer]:
    """The answers to measure, by name."""
    attributes = {f"a{size}": [str(label) for label in range(size)] for size in range(2, 7)}
    few, many = plausibly.Table(dict(list(attributes.items())[:4])), plausibly.Table(attributes)
    schemes = {
        "DE, 64 items": plausibly.make("DE", epsilon=3, domain_size=64),
        "HM, 1,000 items": plausibly.make("HM", epsilon=3, domain_size=1000),
        "SPL, 4 attributes": plausibly.make("SPL", epsilon=3, domain=few),
        "SPL, 5 attributes": plausibly.make("SPL", epsilon=3, domain=many),
    }
    for hashes in (12, 15, 21):
        schemes[f"BLOOM, {hashes} hashes"] = plausibly.make(
            "BLOOM", epsilon=2, bits=64, hashes=hashes, cohorts=4, domain=plausibly.Keys()
        )
    found: dict[str, Answer] = {}
    for name, scheme in schemes.items():
        found[name] = partial(plausibly.shuffled, scheme, _USERS)
        found[f"{name}, 30 rounds"] = partial(plausibly.shuffled, scheme, _USERS, rounds=30)
    found["local epsilon"] = partial(plausibly.local_epsilon, 1, _USERS)
    found["local epsilon, 30 rounds"] = partial(plausibly.local_epsilon, 1, _USERS, rounds=30)
    return found


def measured(rounds: int = _ROUNDS) -> dict[str, float]:
    """The median processor time of each answer, in seconds; the first round only warms the caches."""

    def sample(answer: Answer) -> Sample:
        begun = time.process_time()
        answer()
        return {"seconds": time.process_time() - begun}

    jobs = {name: partial(sample, answer) for name, answer in answers().items()}
    in_turns(1, jobs)
    taken = in_turns(rounds, jobs)
    return {name: median(each["seconds"] for each in samples) for name, samples in taken.items()}


def main() -> None:
    for name, seconds in measured().items():
        print(f"{name:<28} {seconds:.3f} s  at most {GOAL:.0f}: {'pass' if seconds <= GOAL else 'FAIL'}")


if __name__ == "__main__":
    main()
