"""A device that reports once and prints the outcome, in a process of its own; it may kill itself at any step."""

from __future__ import annotations

import os
import signal
import sys

from client.steps import Steps
from plausibly.client import Collector


def main() -> None:
    url, ledger, value, max_epsilon, die_at = sys.argv[1:]

    def die() -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    collector = Collector(url, max_epsilon=max_epsilon, ledger=ledger, patience=5, memo=True)
    with Steps(int(die_at), die) as steps:
        outcome = collector.report(value)
    print(outcome.value, steps.count)


if __name__ == "__main__":
    main()
