"""Measure pure-ldp and multi-freq-ldpy in their own environment: one request per line in, one answer per line out.

It needs only the standard library and the peers. A request names the library, oracle, d, epsilon and the seconds to
spend on each step; the answer gives microseconds per user and per report, and their numbers. Peers process one user at
a time, so that the cost is linear in the number of users, and few are enough.
"""

from __future__ import annotations

import copy
import json
import math
import os
import pickle
import sys
import time
import warnings
from importlib import import_module, metadata
from typing import Any

from .timing import enough, seconds

_FEWEST, _MOST = 3, 1_000_000
_MOST_BYTES = 1 << 28
# FLH's server tabulates hashes × d values in a Python loop, about 1 µs each. Above this many, fewer hashes are
# measured and the time is scaled, which is exact as far as the loop is: nothing else depends on their number.
_TABLE = 1_100_000


class PureLdp:
    """The published code of the paper: a client object, and a server object that collects and estimates."""

    module = "pure_ldp.frequency_oracles"
    oracles = ("DE", "SUE", "OUE", "BLH", "OLH", "FLH", "HM", "HR")
    compiles = False

    def __init__(self, oracle: str, *, d: int, epsilon: float, parameters: dict[str, Any]) -> None:
        self.oracle, self.d, self.epsilon, self.notes = oracle, d, epsilon, []
        self.scale = 1.0  # factor for the time of set-up and estimate
        self.options = {**parameters}
        if oracle == "HM":
            self.d = 1 << (d - 1).bit_length()
            if self.d != d:
                self.notes.append(f"d = {self.d}, the next power of two, as it requires")
        if oracle == "FLH":
            hashes = min(parameters["hashes"], max(1, _TABLE // d))
            if hashes != parameters["hashes"]:
                self.scale = parameters["hashes"] / hashes
                self.notes.append(f"set-up and estimate with {hashes} hashes, scaled to {parameters['hashes']}")
            self.options["hashes"] = hashes
        self.server = self._new_server()
        self.client = self._new_client()

    def _new_server(self) -> Any:
        library, e, d = import_module(self.module), self.epsilon, self.d
        if self.oracle == "FLH":
            return library.FastLHServer(e, d, self.options["hashes"], use_olh=True)
        if self.oracle == "HM":
            return library.HadamardMechServer(e, d, self.options["coefficients"])
        return {
            "DE": lambda: library.DEServer(e, d),
            "SUE": lambda: library.UEServer(e, d, use_oue=False),
            "OUE": lambda: library.UEServer(e, d, use_oue=True),
            "BLH": lambda: library.LHServer(e, d, g=2),
            "OLH": lambda: library.LHServer(e, d, use_olh=True),
            "HR": lambda: library.HadamardResponseServer(e, d),
        }[self.oracle]()

    def _new_client(self) -> Any:
        library, e, d = import_module(self.module), self.epsilon, self.d
        return {
            "DE": lambda: library.DEClient(e, d),
            "SUE": lambda: library.UEClient(e, d, use_oue=False),
            "OUE": lambda: library.UEClient(e, d, use_oue=True),
            "BLH": lambda: library.LHClient(e, d, g=2),
            "OLH": lambda: library.LHClient(e, d, use_olh=True),
            "FLH": lambda: library.FastLHClient(e, d, self.options["hashes"], use_olh=True),
            "HM": lambda: library.HadamardMechClient(e, d, self.options["coefficients"]),
            "HR": lambda: library.HadamardResponseClient(e, d, self.server.get_hash_funcs()),
        }[self.oracle]()

    @property
    def _tabulates(self) -> bool:
        return self.oracle == "FLH"

    def respond(self, item: int) -> Any:
        return self.client.privatise(item + 1)

    def collect(self, reports: list[Any]) -> float:
        if not self._tabulates:  # its construction is the expensive part, and its state does not grow
            self.server = self._new_server()
        collecting = seconds(lambda: self.server.aggregate_all(reports))
        return collecting + (len(reports) * self._counting_later(reports) if self.oracle == "HR" else 0.0)

    def _counting_later(self, reports: list[Any]) -> float:
        # HR's server keeps the reports and counts them when it estimates: that time per report is collecting, too.
        few = self.estimate(reports)
        more = reports * (_MOST // 4 // len(reports) + 1)
        self.server.aggregate_all(more)
        each = max(self.estimate(reports) - few, 0.0) / len(more)
        self.server = self._new_server()
        self.server.aggregate_all(reports)
        return each

    def estimate(self, reports: list[Any]) -> float:
        self.server.aggregate(reports[0])  # so that the estimate is computed again
        items = range(1, self.d + 1)
        return self.scale * seconds(lambda: self.server.estimate_all(items, suppress_warnings=True))


class PureLdpSketch(PureLdp):
    """Sketches of pure-ldp: Count-Min and Count-Sketch over FLH, Apple's CMS (over SUE) and HCMS (one coefficient)."""

    oracles = (
        *(f"{sketch} over FLH by {combine}" for sketch in ("CM", "CS") for combine in ("median", "mean")),
        "CM over SUE by mean",
        "CM over HM by mean",
    )

    def __init__(self, oracle: str, *, d: int, epsilon: float, parameters: dict[str, Any]) -> None:
        self.oracle, self.d, self.epsilon, self.notes = oracle, d, epsilon, []
        self.scale = 1.0  # of set-up
        self.options = {**parameters}
        self.signed = oracle.startswith("CS")
        if self._tabulates:
            # Each row's server tabulates anew, though all use the same functions.
            entries = parameters["rows"] * parameters["cells"] * (2 if self.signed else 1)
            self.wanted = parameters["hashes"]
            hashes = min(self.wanted, max(1, _TABLE // entries))
            if hashes != self.wanted:
                self.scale = self.wanted / hashes
                self.notes.append(f"{oracle.split(' by ')[0]} with {hashes} hashes, scaled to {self.wanted}")
            self.options["hashes"] = hashes
        self.server = self._new_server()
        self.client = self._new_client()

    @property
    def _tabulates(self) -> bool:
        return " over FLH" in self.oracle

    @property
    def _hadamard(self) -> bool:
        return " over HM" in self.oracle

    def _new_server(self) -> Any:
        library, rows, cells = import_module(self.module), self.options["rows"], self.options["cells"]
        if self._tabulates:
            how = {"sketch_method": 1 if self.oracle.endswith("median") else 3, "count_sketch": self.signed}
            return library.SketchResponseServer(self.epsilon, rows, cells, lh_k=self.options["hashes"], **how)
        return library.CMSServer(self.epsilon, rows, cells, is_hadamard=self._hadamard)

    def _new_client(self) -> Any:
        library, cells, functions = import_module(self.module), self.options["cells"], self.server.get_hash_funcs()
        if self._tabulates:
            how = {"lh_k": self.options["hashes"], "count_sketch": self.signed}
            return library.SketchResponseClient(self.epsilon, cells, functions, **how)
        return library.CMSClient(self.epsilon, functions, cells, is_hadamard=self._hadamard)

    def estimate(self, reports: list[Any]) -> float:
        self.server.aggregate(reports[0])  # so that the estimate is computed again
        for row in getattr(self.server, "estimator_list", ()):
            row.last_estimated = 0  # in every row, not only in that of the report
        items = range(1, self.options["asked"] + 1)
        whole = seconds(lambda: self.server.estimate_all(items, suppress_warnings=True))
        if self.scale == 1:
            return whole
        rows = self.server.estimator_list
        tables = seconds(lambda: [row._compute_aggregates() for row in rows])
        # One row with all the hashes, by repetition: a column costs something whatever their number.
        one, times, hashes = copy.copy(rows[0]), math.ceil(self.scale), self.wanted
        one.hash_matrix = one.hash_matrix.repeat(times, axis=0)[:hashes]
        one.hash_counts = one.hash_counts.repeat(times, axis=0)[:hashes]
        return whole - tables + len(rows) * seconds(one._compute_aggregates)


class MultiFreqLdpy:
    """A function that makes a report, compiled by Numba, and one that counts all reports and estimates."""

    module = "multi_freq_ldpy.pure_frequency_oracles"
    oracles = ("DE", "SUE", "OUE", "BLH", "OLH", "SS")
    compiles = True

    def __init__(self, oracle: str, *, d: int, epsilon: float, parameters: dict[str, Any]) -> None:
        self.d, self.epsilon, self.scale, self.notes = d, epsilon, 1.0, []
        name = {"DE": "GRR", "SUE": "UE", "OUE": "UE", "BLH": "LH", "OLH": "LH", "SS": "SS"}[oracle]
        part = import_module(f"{self.module}.{name}")
        self._client, self._aggregator = getattr(part, f"{name}_Client"), getattr(part, f"{name}_Aggregator_MI")
        self._variant = {"UE": (oracle == "OUE",), "LH": (oracle == "OLH",)}.get(name, ())
        self._size = () if name == "UE" else (d,)

    def respond(self, item: int) -> Any:
        return self._client(item, self.d, self.epsilon, *self._variant)

    def _aggregate(self, reports: list[Any]) -> float:
        return seconds(lambda: self._aggregator(reports, *self._size, self.epsilon, *self._variant))

    def collect(self, reports: list[Any]) -> float:
        # One call counts and estimates: the extra time of more reports is counting. If that is little, the same reports
        # are counted several times.
        many, alone = reports, self._aggregate(reports[:1])
        while (together := self._aggregate(many)) < 2 * alone and len(many) < _MOST:
            many = many * 4
        self._counting = max(together - alone, 0.0) / (len(many) - 1)
        return self._counting * len(reports)

    def estimate(self, reports: list[Any]) -> float:
        return max(self._aggregate(reports[:1]) - self._counting, 0.0)


LIBRARIES: dict[str, Any] = {"pure-ldp": PureLdp, "multi-freq-ldpy": MultiFreqLdpy}
SKETCHES: dict[str, Any] = {"pure-ldp": PureLdpSketch}


class Measurement:
    """One oracle of one library, set up once and measured repeatedly."""

    def __init__(self, request: dict[str, Any]) -> None:
        kinds = SKETCHES if " over " in request["oracle"] else LIBRARIES
        kind = kinds[request["library"]]
        named = {name: request[name] for name in ("d", "epsilon", "parameters")}
        if kind.compiles:
            kind(request["oracle"], **named).respond(0)  # Numba compiles here, once, before the timing
        start = time.perf_counter()
        self.peer = kind(request["oracle"], **named)
        self.setup = (time.perf_counter() - start) * self.peer.scale
        first = self.peer.respond(0)
        self.bytes = len(pickle.dumps(list(first) if isinstance(first, zip) else first))
        room = max(_FEWEST, min(_MOST, _MOST_BYTES // self.bytes))
        self.users = enough(
            request["seconds"], lambda count: seconds(lambda: self._reports(count)), few=_FEWEST, most=room
        )
        self.reports = enough(
            request["seconds"], lambda count: self.peer.collect(self._reports(count)), few=_FEWEST, most=self.users
        )

    def _reports(self, count: int) -> list[Any]:
        # A walk with a stride prime to every d, so that no item is favoured.
        return [self.peer.respond(i * 7_368_787 % self.peer.d) for i in range(count)]

    def take(self, request: dict[str, Any]) -> dict[str, Any]:
        held: list[Any] = []
        client = seconds(lambda: held.extend(self._reports(self.users)))
        few = held[: self.reports]
        server = self.peer.collect(few)
        decode = self.peer.estimate(few)
        return {
            "client_us": 1e6 * client / self.users,
            "server_us": 1e6 * server / self.reports,
            "decode_s": decode,
            "setup_s": self.setup,
            "users": self.users,
            "collected": self.reports,
            "bytes": self.bytes,
            "notes": self.peer.notes,
        }


def versions() -> dict[str, str]:
    """The version of each library that can be imported here."""
    found = {}
    for name, kind in LIBRARIES.items():
        import_module(kind.module)
        found[name] = metadata.version(name)
    return found | {name: metadata.version(name) for name in ("numpy", "xxhash", "numba")}


def main() -> None:
    warnings.simplefilter("ignore")  # they warn of small crowds at each estimate
    # Output printed by the libraries must not be taken for an answer.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)

    def answer(content: dict[str, Any]) -> None:
        print(json.dumps(content), file=answers, flush=True)

    oracles = {name: [*kind.oracles] for name, kind in LIBRARIES.items()}
    for name, kind in SKETCHES.items():
        oracles[name] += kind.oracles
    answer({"versions": versions(), "oracles": oracles, "python": sys.version.split()[0]})
    measured: dict[tuple[Any, ...], Measurement] = {}
    for line in sys.stdin:
        request = json.loads(line)
        key = tuple(request[name] for name in ("library", "oracle", "d", "epsilon", "seconds"))
        try:
            if key not in measured:
                measured = {old: kept for old, kept in measured.items() if old[2:] == key[2:]}  # free the memory
                measured[key] = Measurement(request)
            result = measured[key].take(request)
            finite = all(math.isfinite(value) for value in result.values() if isinstance(value, float))
            answer(result if finite else {"error": "a time is not finite"})
        except Exception as error:
            answer({"error": f"{type(error).__name__}: {error}"})


if __name__ == "__main__":
    main()
