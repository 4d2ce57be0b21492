"""How long a report takes in a browser: `python -m bench.browser`, after `make test-fast` has installed Chromium.

Prints the median time of one `privatize` in Chromium for every scheme of the catalogue, and of loading the bundle; with
`--output bench/results`, saves them in `browser.json` there.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from plausibly import CATALOG, Integers, Ordered, Scheme, Strings, Table, make
from plausibly.core.errors import PlausiblyError

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import browsing
from contract.entries import build

ROUNDS, MILLISECONDS = 7, 20
GOALS = dict.fromkeys(("OUE", "SUE", "THE", "SS", "LOSUE", "LSUE"), 1000.0) | {"TRELLIS": 500.0}
"""Microseconds; 20 for most others. Those with a bit for each item have 1,024 items."""
DOMAINS: tuple[tuple[Any, Any], ...] = (
    (Integers(1024), 5),
    (Ordered(0, 1023), 5),
    (Strings("abcdefghij", 8), "abcd"),
    (Table({name: ["a", "b", "c", "d"] for name in ("one", "two", "three", "four", "five")}), ["a"] * 5),
)
"""The first that a scheme takes, with a value."""
MEASURE = """async ({ asked, rounds, milliseconds }) => {
  const begun = performance.now();
  const { load } = await import("/client/dist/plausibly-client.min.js");
  const loading = performance.now() - begun;
  const times = asked.map(({ scheme, value }) => {
    const client = load(scheme, { maxEpsilon: 1000, total: false, memo: "once" });
    const taken = Array.from({ length: rounds }, () => {
      const start = performance.now();
      let count = 0;
      for (; performance.now() - start < milliseconds; count++) client.privatize(value);
      return (1000 * (performance.now() - start)) / count;
    });
    return taken.sort((a, b) => a - b)[rounds >> 1];
  });
  return { loading, times };
}"""


def examined() -> dict[str, tuple[Scheme, Any]]:
    """A scheme of each name, of a usual size, with a value."""
    found: dict[str, tuple[Scheme, Any]] = {}
    for name in sorted(CATALOG):
        for domain, value in DOMAINS:
            try:
                found[name] = (make(name, epsilon=1, domain=domain), value)  # type: ignore[call-overload]
            except (PlausiblyError, TypeError):
                try:
                    found[name] = (build(name, domain, 1), value)
                except (PlausiblyError, TypeError, ValueError):
                    continue
            break
    return found


def measured(rounds: int = ROUNDS, milliseconds: float = MILLISECONDS) -> dict[str, Any]:
    """Milliseconds to load the bundle, and microseconds of a report by the name of its scheme."""
    schemes = examined()
    asked = [{"scheme": scheme.to_json(), "value": value} for scheme, value in schemes.values()]
    with browsing.site() as address, browsing.page() as page:
        page.goto(address)
        told = page.evaluate(MEASURE, {"asked": asked, "rounds": rounds, "milliseconds": milliseconds})
    return {"loading_ms": told["loading"], "report_us": dict(zip(schemes, told["times"], strict=True))}


def main(words: Sequence[str] | None = None) -> None:
    """Measure, print, and save."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one short round")
    parser.add_argument("--output", type=Path, help="folder to save the numbers in")
    given = parser.parse_args(words)
    found = measured(1, 2) if given.quick else measured()
    for name, time in found["report_us"].items():
        goal = GOALS.get(name, 20.0)
        print(f"{name:<12} {time:8.1f} µs  {'' if time <= goal else f'over the goal of {goal:.0f} µs'}".rstrip())
    print(f"{'loading':<12} {found['loading_ms']:8.1f} ms")
    if given.output:
        (given.output / "browser.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
