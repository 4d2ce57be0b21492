"""Prints the coverage table of docs/sketches.md, measured again from the seeds of test_sketch_coverage."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor

from .data import CROWDS
from .test_sketch_coverage import KINDS, ORACLES, coverage

CHOICES = [(kind, combine) for combine in ("mean", "median") for kind in KINDS]


def _cell(place: tuple[str, str, str]) -> dict[str, str]:
    return {combine: f"{100 * covered.mean():.1f}" for combine, covered in coverage(*place).items()}


def main() -> None:
    """Prints the table."""
    places = [(oracle, kind, crowd) for crowd in CROWDS for oracle in ORACLES for kind in KINDS]
    with ProcessPoolExecutor() as pool:
        cells = dict(zip(places, pool.map(_cell, places), strict=True))
    print("| data | oracle |", " | ".join(f"{kind} {combine}" for kind, combine in CHOICES), "|")
    print("|---|---|" + "--:|" * len(CHOICES))
    for crowd in CROWDS:
        for oracle in ORACLES:
            row = " | ".join(cells[oracle, kind, crowd][combine] for kind, combine in CHOICES)
            print(f"| {crowd} | `{oracle}` | {row} |")


if __name__ == "__main__":
    main()
