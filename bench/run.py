"""Entry point of the benchmark: ``python -m bench.run [--quick]``, or ``make bench``.

Every stage is a list of steps known beforehand. Each step adds its measurements to one dictionary, which is judged,
printed, drawn and saved.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import plausibly
from plausibly.core.grouped import Grouped
from plausibly.core.memoised import Memoised

from . import figures, goals, limits, machine, report
from .jobs import Job
from .remote import Peers, whole_job
from .sketches import Race, SketchJob, races
from .timing import Progress, Sample, in_turns, medians, paired_ratio, plain

Results = dict[str, Any]
Step = tuple[str, str, Callable[[], None]]
PEERS_PYTHON = Path(sys.prefix) / "peers" / "bin" / "python"
RESULTS = Path(__file__).resolve().parent / "results"


@dataclass(frozen=True)
class Plan:
    """The extent of the measurements."""

    name: str
    domains: tuple[int, ...] = (128, 1024, 16384, 100_000)
    repetitions: int = 5
    limit_repetitions: int = 9
    slow_repetitions: int = 3  # of the peers, away from the whole job
    seconds: float = 0.1  # for one step of one oracle
    peer_seconds: float = 0.15
    whole_n: int = 1_000_000
    whole_d: int = 1024
    whole_peer_seconds: float = 0.5
    whole_repetitions: int = 5
    race_d: int = 100_000
    race_epsilons: tuple[int, ...] = (1, 2, 3, 5)
    memory_n: tuple[int, int] = (1_000_000, 10_000_000)
    long_memory: tuple[tuple[str, int], ...] = (("TLH", 100_000_000),)
    curve_n: tuple[int, ...] = (1000, 10_000, 100_000, 1_000_000, 10_000_000)
    curve_d: tuple[int, ...] = (32, 128, 512, 2048, 8192, 32_768, 131_072)
    curve_users: int = 100_000
    curve_seconds: float = 2.0
    curve_repetitions: int = 5
    sketch_n: int = 1_000_000
    sketch_d: int = 383_467
    sketches: tuple[str, ...] = ("CM", "CS")
    sketch_oracles: tuple[str, ...] = ()  # empty: all
    sketch_repetitions: int = 5
    sketch_asked: int = 10_000  # items, of ours and of the peers


FULL = Plan("full")
QUICK = Plan(
    "quick",
    domains=(1024,),
    limit_repetitions=5,
    slow_repetitions=2,
    seconds=0.03,
    peer_seconds=0.03,
    whole_peer_seconds=0.1,
    whole_repetitions=3,
    memory_n=(100_000, 1_000_000),
    long_memory=(),
    curve_n=(1000, 10_000, 100_000, 1_000_000),
    curve_d=(128, 1024, 8192),
    curve_users=20_000,
    curve_seconds=0.2,
    curve_repetitions=3,
    sketches=("CM",),
    sketch_oracles=("HM", "TLH"),
    sketch_repetitions=2,
)


def oracles() -> tuple[str, ...]:
    """The oracles of the catalogue, in the order of the paper and then alphabetically."""
    paper = ("DE", "SUE", "OUE", "BLH", "OLH", "FLH", "HM", "HR")
    # What is made of an oracle is none, nor is a scheme for values in order only.
    found = [
        name
        for name, kind in plausibly.CATALOG.items()
        if issubclass(plausibly.Labels, kind.accepts)
        and "oracle" not in {field.name for field in fields(kind)}
        and not issubclass(kind, Grouped)
        and not issubclass(kind, Memoised)  # reports from a memo are another kind of job
    ]
    return tuple(sorted(found, key=lambda name: (paper.index(name) if name in paper else 99, name)))


@dataclass(frozen=True)
class Bench:
    """A running benchmark."""

    plan: Plan
    peers: Peers
    results: Results

    def steps(self) -> Iterator[Step]:
        """All measurements in order."""
        plan, results = self.plan, self.results
        many = plan.limit_repetitions

        def keep(stage: str, key: str, measure: Callable[[], Any]) -> Step:
            return stage, key, lambda: results.__setitem__(key, measure())

        near = "limits of the machine"
        yield keep(near, "limits", lambda: limits.measure_limits(many))
        yield keep(near, "unary_server", lambda: limits.unary_server(many))
        for name in oracles():
            yield near, f"client {name}", lambda name=name: self._client(name, many)
        yield keep(near, "transform", lambda: limits.transform_race(plan.repetitions))
        yield keep(near, "imports", lambda: limits.import_race(many))
        yield keep("decoding", "hash_race", self._hash_race)
        for epsilon in plan.race_epsilons:
            yield "decoding", f"ε = {epsilon}", lambda epsilon=epsilon: self._decode_race(epsilon)
        for name in oracles():
            yield "whole job", name, lambda name=name: self._whole(name)
        for name in oracles():
            yield "share outside kernels", name, lambda name=name: self._outside(name)
        for d in plan.domains:
            for name in oracles():
                yield f"each step, d = {d:,}", name, lambda name=name, d=d: self._cell(Job(name, d))
        for name in oracles():
            yield "memory", name, lambda name=name: self._memory(name)
        for name in oracles():
            yield "scaling", name, lambda name=name: self._curves(name)
        chosen = plan.sketch_oracles or oracles()
        for sketch in plan.sketches:
            for name in chosen:
                job = SketchJob(sketch, name, plan.sketch_d)
                yield "sketches", job.label, lambda job=job: self._sketch(job)
        yield keep("sketches", "sketch_texts", self._sketch_texts)
        for race in races(plan.sketch_d, plan.sketch_asked):
            if race.job.base in chosen:
                yield "sketches against the peers", race.oracle, lambda race=race: self._sketch_race(race)

    def _client(self, name: str, repetitions: int) -> None:
        self.results["clients"][name] = limits.client_share(Job(name, self.plan.whole_d), repetitions)

    def _hash_race(self) -> Results:
        job = Job("OLH", 4096)
        published = self.peers.measurements(job, seconds=self.plan.whole_peer_seconds).get("pure-ldp")
        return limits.hash_race(self.plan.repetitions, published)

    def _decode_race(self, epsilon: int) -> None:
        plan = self.plan
        self.results["decode_race"] += limits.decode_race(plan.race_d, plan.whole_n, (epsilon,), plan.repetitions)

    def _whole(self, name: str) -> None:
        plan, job = self.plan, Job(name, self.plan.whole_d)
        n = plan.whole_n
        ours = {"all": lambda: job.whole(n), "one": lambda: job.whole(n, 1)}
        taken, peers = self._against(job, n, ours, plan.whole_repetitions, plan.whole_repetitions)
        row: Results = {"oracle": name, "d": job.d, "n": n, "epsilon": job.epsilon, "parameters": job.parameters}
        row |= {"seconds": medians(taken["all"])["seconds"], "one_thread_seconds": medians(taken["one"])["seconds"]}
        row["peers"] = peers
        self.results["whole"].append(row)

    def _against(
        self, job: Job | Race, n: int, ours: dict[str, Callable[[], Sample]], repetitions: int, slow: int
    ) -> tuple[dict[str, list[Sample]], Results]:
        # A whole job of n users: ours on all threads and on one, and those of the peers that have the oracle.
        theirs = self.peers.measurements(job, seconds=self.plan.whole_peer_seconds)
        taken = in_turns(repetitions, {**ours, **theirs}, dict.fromkeys(theirs, slow))
        for library in theirs.keys() & taken.keys():
            taken[library] = [sample | {"seconds": whole_job(sample, n)} for sample in taken[library]]
        return taken, {
            library: medians(taken[library])
            | {"ratio": paired_ratio(taken[library], taken["all"], "seconds")}
            | {"one_thread_ratio": paired_ratio(taken[library], taken["one"], "seconds")}
            for library in theirs
            if library in taken
        }

    def _outside(self, name: str) -> None:
        job = Job(name, self.plan.whole_d)
        taken = in_turns(self.plan.whole_repetitions, {"job": lambda: job.shares(self.plan.whole_n)})["job"]
        # The round in the middle rather than three medians, so that the shares add up.
        middle = sorted(taken, key=lambda share: share["outside"])[len(taken) // 2]
        self.results["outside"].append({"oracle": name, **middle})

    def _cell(self, job: Job) -> None:
        plan = self.plan
        n = job.users_within(2 * plan.seconds)
        theirs = self.peers.measurements(job, seconds=plan.peer_seconds)
        fewer = dict.fromkeys(theirs, plan.slow_repetitions)
        taken = in_turns(plan.repetitions, {"ours": lambda: job.steps(n), **theirs}, fewer)
        row: Results = {"oracle": job.oracle, "d": job.d, "epsilon": job.epsilon, "n": n}
        row |= medians(taken["ours"]) | {"bytes": job.scheme().report_dtype.itemsize, "memory": job.peak(n)}
        row["peers"] = {
            library: medians(taken[library])
            | {f"{key}_ratio": paired_ratio(taken[library], taken["ours"], key) for key in _STEPS}
            for library in theirs
            if library in taken
        }
        self.results["cells"].append(row)

    def _memory(self, name: str) -> None:
        job = Job(name, self.plan.whole_d)
        few, many = (job.peak(n) for n in self.plan.memory_n)
        row = {"oracle": name, "d": job.d, "few": few, "many": many, "growth": many["peak_mb"] / few["peak_mb"]}
        row["longer"] = [job.peak(n) for oracle, n in self.plan.long_memory if oracle == name]
        self.results["memory"].append(row)

    def _curves(self, name: str) -> None:
        plan = self.plan
        for key, jobs in {
            "n": [(Job(name, plan.whole_d), n) for n in plan.curve_n],
            "d": [(Job(name, d), plan.curve_users) for d in plan.curve_d],
        }.items():
            points: list[Results] = []
            for job, n in jobs:
                if points and points[-1]["seconds"] * _STEP_UP > plan.curve_seconds:
                    break  # the next point would take too long
                if n * job.scheme().report_dtype.itemsize > _CURVE_BYTES:
                    break
                job.whole(min(n, 1000))
                taken = in_turns(plan.curve_repetitions, {"job": lambda job=job, n=n: job.whole(n)})
                points.append({"n": n, "d": job.d, **medians(taken["job"])})
            self.results["curves"].append({"oracle": name, "axis": key, "points": points})

    def _sketch(self, job: SketchJob) -> None:
        plan, n = self.plan, self.plan.sketch_n
        job.collected(min(n, 1000))
        measurements = {"one": lambda: job.steps(n)}
        rounds = plan.sketch_repetitions
        if job.sketch == "CM":
            measurements["all"] = lambda: job.collected(n)
        else:
            rounds = min(rounds, plan.slow_repetitions)  # reported without a goal
        taken = in_turns(rounds, measurements)
        row: Results = {"sketch": job.sketch, "oracle": job.base, "rounds": rounds, **medians(taken["one"])}
        row["all_threads"] = medians(taken["all"]) if "all" in taken else None
        self.results["sketches"].append(row)

    def _sketch_texts(self) -> Results:
        plan, job = self.plan, SketchJob("CM", "TLH", self.plan.sketch_d)
        n = plan.sketch_n
        ways = {"one": lambda: job.collected_texts(n, 1), "all": lambda: job.collected_texts(n)}
        taken = in_turns(plan.sketch_repetitions, ways)
        return {"sketch": job.sketch, "oracle": job.base, **{way: medians(taken[way]) for way in ways}}

    def _sketch_race(self, race: Race) -> None:
        plan, n = self.plan, self.plan.sketch_n
        ours = {
            "all": lambda: race.job.whole(n, race.asked, race.combine),
            "one": lambda: race.job.whole(n, race.asked, race.combine, 1),
        }
        taken, peers = self._against(race, n, ours, plan.sketch_repetitions, plan.slow_repetitions)
        row: Results = {"name": race.oracle, "parameters": race.parameters, **medians(taken["all"])}
        row["one_thread"] = medians(taken["one"])
        row["peers"] = peers
        self.results["sketch_races"].append(row)


_STEPS = ("client_us", "server_us", "decode_s")
_LISTS = ("decode_race", "whole", "outside", "cells", "memory", "curves", "sketches", "sketch_races")
_STEP_UP = 5
_CURVE_BYTES = 1 << 30


def measure(plan: Plan, python: Path) -> Results:
    """All results of a plan, with verdicts."""
    results: Results = {"plan": asdict(plan), "machine": machine.facts(), "clients": {}}
    results |= {key: [] for key in _LISTS}
    start = time.monotonic()
    peers = Peers(python)
    if peers.absent:
        print(f"The peers are left out: {peers.absent}. Our half runs without them.", file=sys.stderr)
    try:
        steps = list(Bench(plan, peers, results).steps())
        progress = Progress(len(steps))
        for stage, label, work in steps:
            progress.show(stage, label)
            work()
        progress.close()
    finally:
        peers.close()
    results["peers"] = {"absent": peers.absent, "failures": peers.failures, **peers.about}
    results["machine"] |= {"load_after": machine.load(), "minutes": (time.monotonic() - start) / 60}
    results["goals"] = goals.judge(results)
    measured: Results = plain(results)
    return measured


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.run", description="Measure every oracle and sketch.")
    parser.add_argument("--quick", action="store_true", help="one domain size and short measurements, 2 minutes")
    parser.add_argument("--peers", type=Path, default=PEERS_PYTHON, help="the Python of the peers' environment")
    parser.add_argument("--output", type=Path, help="folder of the results (default: bench/results/full or quick)")
    options = parser.parse_args(arguments)
    plan = QUICK if options.quick else FULL
    folder = options.output or RESULTS / ("quick" if options.quick else "full")
    write(measure(plan, options.peers), folder)


def write(results: Results, folder: Path) -> None:
    """Print the results, and save the numbers, a page and the pictures."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "results.json").write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    pictures = figures.draw(results, folder)
    (folder / "results.md").write_text(report.page(results, pictures), encoding="utf-8")
    print(report.text(results))
    kept = ("results.md", "results.json", *(picture.file for picture in pictures))
    print(f"\nSaved in {_near(folder)}: {', '.join(kept)}")


def _near(folder: Path) -> Path:
    here = Path.cwd()
    return folder.relative_to(here) if folder.is_relative_to(here) else folder


if __name__ == "__main__":
    main()
