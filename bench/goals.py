"""The goals of the benchmark: each is a quantity in the results, a comparison and a bound."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Results = dict[str, Any]


@dataclass(frozen=True)
class Goal:
    """A claim about the results; ``value`` is None if it was not measured."""

    group: str
    claim: str
    relation: str
    bound: float
    value: Callable[[Results], float | None]
    unit: str = "×"

    def judged(self, results: Results) -> dict[str, Any]:
        """The claim with the measured value and the verdict."""
        value = self.value(results)
        held = value is not None and (value >= self.bound if self.relation == "≥" else value <= self.bound)
        verdict = "not measured" if value is None else "pass" if held else "FAIL"
        named = {"group": self.group, "claim": self.claim, "relation": self.relation, "unit": self.unit}
        return named | {"bound": self.bound, "value": value, "verdict": verdict}


def _whole(oracle: str, library: str) -> Callable[[Results], float | None]:
    def value(results: Results) -> float | None:
        rows = [row for row in results["whole"] if row["oracle"] == oracle]
        ratio: float | None = rows[0]["peers"].get(library, {}).get("ratio") if rows else None
        return ratio

    return value


def _race(ratio: str) -> Callable[[Results], float | None]:
    return lambda results: results["hash_race"]["ratios"].get(ratio)


def _client(oracle: str) -> Callable[[Results], float | None]:
    return lambda results: results["clients"].get(oracle, {}).get("share")


def _decode(oracle: str, epsilons: tuple[int, ...]) -> Callable[[Results], float | None]:
    def value(results: Results) -> float | None:
        rows = [row for row in results["decode_race"] if row["oracle"] == oracle and row["epsilon"] in epsilons]
        return max((row["to_hr"] for row in rows), default=None)

    return value


def _sketches(
    sketches: tuple[str, ...], oracles: Callable[[str], bool], *keys: str
) -> Callable[[Results], float | None]:
    # The slowest of them.
    def value(results: Results) -> float | None:
        rows = [row for row in results["sketches"] if row["sketch"] in sketches and oracles(row["oracle"])]
        wanted = {(sketch, row["oracle"]) for sketch in sketches for row in results["whole"] if oracles(row["oracle"])}
        # The worst of only a few would say nothing about the rest.
        if not wanted or wanted - {(row["sketch"], row["oracle"]) for row in rows}:
            return None
        return max(float(row[key]) for row in rows for key in keys)

    return value


def _bitmap(oracle: str) -> bool:
    return oracle in ("SUE", "OUE")


def _light(oracle: str) -> bool:
    return not _bitmap(oracle)


def _any(oracle: str) -> bool:
    return True


def _growth(results: Results) -> float | None:
    return max((row["growth"] for row in results["memory"]), default=None)


def _outside(results: Results) -> float | None:
    return max((row["outside"] for row in results["outside"]), default=None)


_WHOLE = "whole job against the peers"
_NEAR = "near the machine's limits"
_FAST = "fast decoding"
_LEAN = "lean"
_SKETCHES = "sketches, one thread"
_USERS = "10⁶ users privatized and collected"
_WAYS = ("mean_s", "median_s", "min_s")

GOALS = (
    Goal(_WHOLE, "OLH against pure-ldp", "≥", 2000, _whole("OLH", "pure-ldp")),
    *(Goal(_WHOLE, f"{name} against pure-ldp", "≥", 50, _whole(name, "pure-ldp")) for name in ("OUE", "SUE", "DE")),
    *(Goal(_WHOLE, f"{name} against pure-ldp", "≥", 30, _whole(name, "pure-ldp")) for name in ("FLH", "HM", "HR")),
    Goal(_WHOLE, "SS against multi-freq-ldpy", "≥", 30, _whole("SS", "multi-freq-ldpy")),
    Goal(_FAST, "OLH decode against the published code", "≥", 20_000, _race("pure-ldp")),
    Goal(_FAST, "OLH decode against the best mixing-hash loop in C", "≥", 5, _race("mixing loop in C")),
    Goal(_FAST, "Hadamard transform 2²⁴ against NumPy", "≥", 12, lambda results: results["transform"]["ratio"]),
    *(Goal(_FAST, f"{name} decode against HR's, ε ≤ 3", "≤", 15, _decode(name, (1, 2, 3))) for name in ("TLH", "AGR")),
    Goal(_FAST, "AGR decode against HR's, ε = 5", "≤", 30, _decode("AGR", (5,))),
    Goal(_NEAR, "OUE server by DRAM read", "≥", 0.5, lambda results: results["unary_server"]["server_share"], ""),
    *(Goal(_NEAR, f"{name} client by AES keystream", "≥", 0.5, _client(name), "") for name in ("DE", "OLH")),
    *(Goal(_NEAR, f"{name} client by AES keystream", "≥", 0.3, _client(name), "") for name in ("OUE", "SS")),
    Goal(_LEAN, "import of the package against NumPy's", "≤", 1.5, lambda results: results["imports"]["ratio"]),
    Goal(_LEAN, "peak memory with ten times the users", "≤", 1.1, _growth),
    Goal(_LEAN, "largest share of time outside kernels, n = 10⁶", "≤", 0.3, _outside, ""),
    Goal(_SKETCHES, f"CM, {_USERS}, over all but SUE and OUE", "≤", 1, _sketches(("CM",), _light, "both_s"), " s"),
    Goal(_SKETCHES, f"CM, {_USERS}, over SUE and OUE", "≤", 5, _sketches(("CM",), _bitmap, "both_s"), " s"),
    Goal(
        _SKETCHES,
        "383,467 items estimated, by mean, median and min",
        "≤",
        1,
        _sketches(("CM", "CS"), _any, *_WAYS),
        " s",
    ),
)


def judge(results: Results) -> list[dict[str, Any]]:
    """Every goal with its verdict."""
    return [goal.judged(results) for goal in GOALS]
