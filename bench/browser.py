"""How long a report takes in a browser: `python -m bench.browser`, after `make test-fast` has installed Chromium.

Prints the median time of one `privatize` in Chromium for every scheme of the catalogue, and of loading the bundle.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from plausibly import CATALOG, Integers, Ordered, Scheme, Strings, make
from plausibly.core.errors import PlausiblyError

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import browsing
from contract.entries import build

GOALS = {"OUE": 1000.0, "SUE": 1000.0, "THE": 1000.0, "SS": 1000.0, "TRELLIS": 500.0}
"""Microseconds; 20 for most others. Those with a bit for each item have 1,024 items."""
MEASURE = """async (asked) => {
  const begun = performance.now();
  const { load } = await import("/client/dist/plausibly-client.min.js");
  const loading = performance.now() - begun;
  const times = asked.map(({ scheme, value }) => {
    const client = load(scheme, { maxEpsilon: 1000, total: false });
    const rounds = [];
    for (let round = 0; round < 7; round++) {
      const [start, most] = [performance.now(), 20];
      let count = 0;
      for (; performance.now() - start < most; count++) client.privatize(value);
      rounds.push((1000 * (performance.now() - start)) / count);
    }
    return rounds.sort((a, b) => a - b)[3];
  });
  return { loading, times };
}"""


def measured() -> dict[str, tuple[Scheme, Any]]:
    """A scheme of each name, of a usual size, with a value."""
    found: dict[str, tuple[Scheme, Any]] = {}
    for name in sorted(CATALOG):
        for domain, value in ((Integers(1024), 5), (Ordered(0, 1023), 5), (Strings("abcdefghij", 8), "abcd")):
            try:
                found[name] = (make(name, epsilon=1, domain=domain), value)  # type: ignore[call-overload]
            except (PlausiblyError, TypeError):
                try:
                    found[name] = (build(name, domain, 1), value)
                except (PlausiblyError, TypeError, ValueError):
                    continue
            break
    return found


def main() -> None:
    """Measure and print."""
    schemes = measured()
    asked = [{"scheme": scheme.to_json(), "value": value} for scheme, value in schemes.values()]
    with browsing.site() as address, browsing.page() as page:
        page.goto(address)
        told = page.evaluate(MEASURE, asked)
    for name, time in zip(schemes, told["times"], strict=True):
        goal = GOALS.get(name, 20.0)
        print(f"{name:<12} {time:8.1f} µs  {'' if time <= goal else f'over the goal of {goal:.0f} µs'}")
    print(f"loading      {told['loading']:8.1f} ms")
    print(json.dumps({"loading_ms": told["loading"], "report_us": dict(zip(schemes, told["times"], strict=True))}))


if __name__ == "__main__":
    main()
