"""A separate process that prints its own peak memory: ``python -m bench.peak '{"oracle": "OLH", …}'``."""

from __future__ import annotations

import json
import re
import resource
import sys
from pathlib import Path

import numpy as np

import plausibly

_BATCH_USERS = 1 << 16
_BATCH_BYTES = 1 << 25


def high_water() -> float:
    """Peak resident memory of this process, in MB."""
    # getrusage only as a fallback: on Linux its maximum survives exec and may be the parent's.
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii")
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    found = re.search(r"VmHWM:\s+(\d+) kB", status)
    return int(found[1]) / 1024 if found else float("nan")


def main() -> None:
    wanted = json.loads(sys.argv[1])
    scheme = plausibly.make(wanted["oracle"], epsilon=wanted["epsilon"], domain_size=wanted["d"])
    before = high_water()
    batch = max(1, min(_BATCH_USERS, _BATCH_BYTES // scheme.report_dtype.itemsize, wanted["n"]))
    items = np.arange(batch) * 7_368_787 % wanted["d"]
    tally = scheme.accumulator()
    for first in range(0, wanted["n"], batch):
        tally.add(scheme.privatize(items[: wanted["n"] - first]))
    tally.estimate()
    print(json.dumps({"n": len(tally), "batch": batch, "imported_mb": before, "peak_mb": high_water()}))


if __name__ == "__main__":
    main()
