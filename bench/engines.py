"""The cost of collecting on a cluster, compared with this machine: ``python -m bench.engines [--reports 1e7]``.

All engines run in one warm session on two cores. They are compared by the processor seconds of the whole process tree,
Java and the workers included: on a shared machine, wall-clock time says little. Without Java, Spark is left out.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

import plausibly
from plausibly.core.wording import plural
from plausibly.engines import Engine, Segment, Threads, ask, asking, collect, spark, survey
from plausibly.engines.dask import Dask
from plausibly.files import ReportFile, report_writer

from . import machine
from .report import Table, number
from .timing import Progress, Sample, in_turns, medians, paired_ratio, plain
from .trees import Meter, peak_of

Results = dict[str, Any]
RESULTS = Path(__file__).resolve().parent / "results"
FILES, STATES, CANDIDATES = 16, 4, 1000
MANY = 10_000
"""Number of candidates in the table of costs."""
_BATCH = 1 << 20
_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789-."
_FEW = 10_000
"""Number of reports in the files that warm the engines."""
_WARM = 5
"""How many times each engine reads them: Java compiles what it has run often."""
_FEWER = 10
"""How many times fewer reports there are for TRELLIS and for candidates, which take longer."""


@dataclass(frozen=True)
class Bar:
    """A ratio of processor seconds, and the largest one that we accept."""

    name: str
    above: str
    below: str
    at_most: float | None


BARS = (
    Bar("Dask / local", "dask", "local", 2.5),
    Bar("Spark / local", "spark", "local", 3.5),
    Bar("Spark / Spark's plain read of the same files", "spark", "plain", 0.5),
    Bar("tally(df) / mapInArrow that does nothing", "tally", "nothing", 1.4),
    Bar("four states of 101 MB: Spark / local", "states on spark", "states", 3.0),
    Bar("candidates: Spark / local", "ask on spark", "ask", 2.0),
)
JAVA_MB = 2048
"""Maximum peak memory of a Java process."""


@dataclass(frozen=True)
class Data:
    """The report files of the benchmark, in a temporary folder."""

    folder: Path
    reports: int

    @cached_property
    def cells(self) -> plausibly.Scheme:
        """A scheme that counts reports in cells."""
        return plausibly.make("TLH", epsilon=1, domain_size=1024)

    @cached_property
    def strings(self) -> plausibly.Scheme:
        """A search for names of sites, with a state of 101 MB."""
        return plausibly.TRELLIS(3, domain=plausibly.Strings(_LETTERS, 30), users=10**7)

    @cached_property
    def keys(self) -> plausibly.Scheme:
        """A scheme that counts only for given candidates."""
        return plausibly.make("OLH", epsilon=1, domain=plausibly.Keys())

    def write(self) -> None:
        """Write all files, and one small file of each scheme to warm the engines."""
        texts = ["".join(_LETTERS[code] for code in _spread(each, len(_LETTERS), 8)) for each in range(_BATCH)]
        fewer = self.reports // _FEWER
        for name, scheme, values, files, reports in (
            ("cells", self.cells, np.arange(_BATCH) * 7_368_787 % 1024, FILES, self.reports),
            ("strings", self.strings, texts, STATES, fewer),
            ("keys", self.keys, texts, FILES, fewer),
        ):
            for folder, number_of_files, size in ((name, files, reports // files), (f"warm {name}", 1, _FEW)):
                (self.folder / folder).mkdir()
                for place in range(number_of_files):
                    with report_writer(self.folder / folder / f"{place:02}.parquet", scheme) as writer:
                        for first in range(0, size, _BATCH):
                            writer.write(scheme.privatize(values[: size - first]))

    def size(self, name: str) -> float:
        """Bytes in the files for each report."""
        paths = list((self.folder / name).iterdir())
        return sum(path.stat().st_size for path in paths) / sum(len(ReportFile(path)) for path in paths)


def _spread(number: int, symbols: int, length: int) -> Iterator[int]:
    # Distinct strings, some of them common: the first letters of small numbers.
    for _ in range(length):
        yield number * number % symbols
        number //= 3


@dataclass(frozen=True)
class Bench:
    """A running benchmark: the engines, and what they read."""

    data: Data
    session: Any
    client: Any
    meter: Meter

    def measurements(self, prefix: str = "") -> dict[str, Callable[[], Sample]]:
        """All measurements, of the whole files or of the small ones."""
        cells, strings, keys = (self.data.folder / f"{prefix}{name}" for name in ("cells", "strings", "keys"))
        found: dict[str, Callable[[], object]] = {"local": lambda: self._collect(cells, Threads())}
        if self.client is not None:
            found["dask"] = lambda: self._collect(cells, Dask(self.client))
        if self.session is not None:
            cluster = spark.Spark(self.session)
            found["spark"] = lambda: self._collect(cells, cluster)
            found["tally"] = lambda: spark.tally(self._table(cells), self.data.cells)
            found["nothing"] = lambda: self._table(cells).mapInArrow(_nothing, "count long").toArrow()
            found["plain"] = lambda: self._table(cells).write.format("noop").mode("overwrite").save()
        found["few strings"] = lambda: self._collect(self.data.folder / "warm strings", Threads())
        found["strings"] = lambda: self._collect(strings, Threads())
        found["states"] = lambda: self._states(strings, Threads())
        if self.session is not None:
            found["states on spark"] = lambda: self._states(strings, cluster)
        found["ask"] = lambda: self._ask(keys, Threads())
        if self.session is not None:
            found["ask on spark"] = lambda: self._ask(keys, cluster)
        return {name: partial(self._measured, work) for name, work in found.items()}

    def _measured(self, work: Callable[[], object]) -> Sample:
        before = self.meter.seconds()
        work()
        return {"cpu_seconds": self.meter.seconds() - before}

    def _table(self, folder: Path) -> Any:
        return self.session.read.parquet(str(folder))

    def _collect(self, folder: Path, engine: Engine) -> None:
        with tempfile.TemporaryDirectory() as scratch:
            collect([folder], Path(scratch) / "out.tally", engine=engine)

    def _states(self, folder: Path, engine: Engine) -> None:
        # One state for each file, few as their reports are.
        with mock.patch.multiple(survey, _REPORTS_PER_CELL=0, _TASK_REPORTS=len(ReportFile(min(folder.iterdir())))):
            self._collect(folder, engine)

    def _ask(self, folder: Path, engine: Engine) -> None:
        ask([folder], [f"candidate {number}" for number in range(CANDIDATES)], engine=engine)


def _nothing(batches: Iterable[Any]) -> Iterator[Any]:
    import pyarrow

    rows = sum(batch.num_rows for batch in batches)
    yield pyarrow.record_batch({"count": pyarrow.array([rows], "int64")})


@contextmanager
def _sessions() -> Iterator[tuple[Any, Any, list[str]]]:
    # A Spark session and a Dask client on two cores of this machine, None where there is none, and the reasons.
    session = client = cluster = None
    absent = []
    try:
        session = spark.connect("local[2]")
        session.sparkContext.setLogLevel("ERROR")
    except (ImportError, plausibly.StateError) as error:
        absent.append(str(error))
    try:
        from distributed import Client, LocalCluster

        cluster = LocalCluster(
            n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address="127.0.0.1:0", silence_logs=50
        )
        client = Client(cluster, set_as_default=False)
    except ImportError as error:
        absent.append(str(error))
    try:
        yield session, client, absent
    finally:
        for each in (client, cluster):
            if each is not None:
                each.close()
        if session is not None:
            session.stop()


def measure(reports: int, rounds: int, folder: Path | None) -> Results:
    """All measurements, ratios, and the costs of many reports."""
    results: Results = {"reports": reports, "rounds": rounds, "machine": machine.facts()}
    with (
        tempfile.TemporaryDirectory(dir=folder, prefix="engines-") as held,
        _sessions() as (session, client, absent),
        Meter() as meter,
    ):
        data = Data(Path(held), reports)
        bench = Bench(data, session, client, meter)
        warm, whole = bench.measurements("warm "), bench.measurements()
        progress = Progress(2 + rounds)
        progress.show("files", "writing")
        data.write()
        progress.show("warming", "small files")
        in_turns(_WARM, warm, {name: 1 for name in warm if "str" in name or "states" in name})
        shown = iter(range(rounds))
        whole["local"] = _announced(progress, shown, rounds, whole["local"])
        taken = in_turns(rounds, whole)
        results["java_mb"] = None if session is None else peak_of("java")
        progress.close()
        results["left_out"] = absent
        results["seconds"] = {name: medians(samples)["cpu_seconds"] for name, samples in taken.items()}
        results["ratios"] = [_judged(bar, taken) for bar in BARS if {bar.above, bar.below} <= taken.keys()]
        results["rates"] = rates(data, results["seconds"])
        results["costs"] = costs(data, results["rates"])
    results["machine"]["load_after"] = machine.load()
    measured: Results = plain(results)
    return measured


def _announced(
    progress: Progress, turns: Iterator[int], rounds: int, work: Callable[[], Sample]
) -> Callable[[], Sample]:
    def measured() -> Sample:
        progress.show(f"round {next(turns) + 1} of {rounds}", "all engines")
        return work()

    return measured


def _judged(bar: Bar, taken: dict[str, list[Sample]]) -> Results:
    ratio = paired_ratio(taken[bar.above], taken[bar.below], "cpu_seconds")
    assert ratio is not None
    return {
        "name": bar.name,
        "ratio": ratio,
        "at_most": bar.at_most,
        "met": bar.at_most is None or ratio <= bar.at_most,
    }


def rates(data: Data, seconds: dict[str, float]) -> Results:
    """What a report costs on this machine: nanoseconds of a core, and bytes in its file."""
    fewer = data.reports // _FEWER
    # Without the time to begin and to write a state of 101 MB, which does not depend on the number of reports.
    strings = (seconds["strings"] - seconds["few strings"]) / (fewer - _FEW)
    return {
        "cells": {"ns": seconds["local"] / data.reports * 1e9, "bytes": data.size("cells")},
        "strings": {"ns": strings * 1e9, "bytes": data.size("strings")},
        "keys": {"ns": seconds["ask"] / fewer / CANDIDATES * 1e9, "bytes": data.size("keys")},
    }


def costs(data: Data, rate: Results) -> list[Results]:
    """What 10⁹, 10¹⁰ and 10¹¹ reports cost, computed from the rates of this machine."""
    rows = []
    for name, key, scheme, pairs, state, most in (
        ("TLH, 1,024 items", "cells", data.cells, 1, 8 * data.cells.accumulator().cells, None),
        (
            "TRELLIS, names of up to 30 characters",
            "strings",
            data.strings,
            1,
            8 * data.strings.accumulator().cells,
            None,
        ),
        (f"OLH over Keys(), {MANY:,} candidates", "keys", data.keys, MANY, 8 * MANY, asking._TASK_PAIRS // MANY),
    ):
        for power in (9, 10, 11):
            reports = 10**power
            tasks = _tasks(scheme, reports, most)
            rows.append(
                {
                    "scheme": name,
                    "reports": reports,
                    "core_minutes": reports * pairs * rate[key]["ns"] / 1e9 / 60,
                    "bytes_read": reports * rate[key]["bytes"],
                    "states": tasks,
                    "bytes_of_states": tasks * state,
                }
            )
    return rows


def _tasks(scheme: plausibly.Scheme, reports: int, most: int | None) -> int:
    # The division of files with row groups of a million reports, as a collection makes it.
    groups = (10**6,) * (reports // 10**6)
    found = survey.Found("many", "many", groups, False)
    whole = survey.Survey(scheme, {"many": found}, (), frozenset(), ())
    return len(whole.tasks([Segment("many", "many", 0, len(groups))], most))


def ratio_table(results: Results) -> Table:
    """The ratios of processor seconds, and the bars that they must meet."""
    rows = [
        (each["name"], f"{each['ratio']:.2f}", f"≤ {each['at_most']:g}", "yes" if each["met"] else "**no**")
        for each in results["ratios"]
    ]
    if results["java_mb"] is not None:
        met = results["java_mb"] < JAVA_MB
        rows.append(
            ("peak memory of Java, MB", f"{results['java_mb']:,.0f}", f"< {JAVA_MB:,}", "yes" if met else "**no**")
        )
    note = f"{results['reports']:,} reports of TLH in {FILES} files; a tenth of that for TRELLIS and for candidates. "
    note += f"Two cores, one warm session, median of {plural(results['rounds'], 'round')}."
    left_out = "".join(f" Left out: {reason}." for reason in results["left_out"])
    return Table("Processor seconds of engines, as ratios", ("", "ratio", "bar", "met"), rows, note + left_out)


def rate_table(results: Results) -> Table:
    """The rates of this machine."""
    rate = results["rates"]
    pairs = 1 / rate["keys"]["ns"]
    rows = [
        ("TLH, 1,024 items", f"{number(rate['cells']['ns'])} ns a report", number(rate["cells"]["bytes"])),
        ("TRELLIS", f"{number(rate['strings']['ns'])} ns a report", number(rate["strings"]["bytes"])),
        (
            "OLH over Keys()",
            f"{number(pairs)}·10⁹ pairs of a report and a candidate per second",
            number(rate["keys"]["bytes"]),
        ),
    ]
    return Table("What one core does", ("scheme", "one core", "bytes of a report in its file"), rows)


def cost_table(results: Results) -> Table:
    """The costs of many reports."""
    rows = [
        (
            each["scheme"],
            f"10{'⁹' if each['reports'] == 10**9 else '¹⁰' if each['reports'] == 10**10 else '¹¹'}",
            number(each["core_minutes"]),
            size(each["bytes_read"]),
            f"{each['states']:,}",
            size(each["bytes_of_states"]),
        )
        for each in results["costs"]
    ]
    header = ("scheme", "reports", "core-minutes", "bytes read", "states", "bytes of all states")
    return Table("What many reports cost", header, rows, "Computed from the rates above; states before compression.")


def size(count: float) -> str:
    """A number of bytes in the largest unit below it."""
    for unit, name in ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if count >= unit:
            return f"{number(count / unit)} {name}"
    return f"{count:.0f} bytes"


def rows_of(table: Table) -> str:
    """A table in Markdown without its title and note, for other pages to quote."""
    return "\n".join(line for line in table.markdown().splitlines() if line.startswith("|"))


def tables(results: Results) -> Sequence[Table]:
    """All results as tables."""
    return ratio_table(results), rate_table(results), cost_table(results)


def page(results: Results) -> str:
    """The results as a Markdown page."""
    about = results["machine"]
    facts = f"{about['cpu']}, {about['cores']} cores, {about['system']}, Python {about['python']}; {about['date']}, "
    facts += f"load {about['load_before']} before and {about['load_after']} after. Made by `python -m bench.engines`."
    return "\n".join(["# Engines, measured", "", facts, "", *(table.markdown() for table in tables(results))])


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.engines", description="Compare clusters with this machine.")
    parser.add_argument("--reports", type=float, default=1e8)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--folder", type=Path, help="folder for the temporary files")
    parser.add_argument("--output", type=Path, help="folder of the results (default: bench/results/full or quick)")
    options = parser.parse_args(arguments)
    os.environ.setdefault("PLAUSIBLY_THREADS", "2")
    results = measure(int(options.reports), options.rounds, options.folder)
    folder = options.output or RESULTS / ("full" if options.reports >= 1e8 else "quick")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "engines.json").write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    (folder / "engines.md").write_text(page(results), encoding="utf-8")
    print("\n".join(table.text() for table in tables(results)))
    print(f"Saved in {os.path.relpath(folder)}: engines.md, engines.json", file=sys.stderr)


if __name__ == "__main__":
    main()
