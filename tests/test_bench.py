"""The benchmark measures what it says, judges by its own numbers, and runs without the peers and without a compiler."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bench import browser, collect, goals, jobs, limits, reading, report, run, sketches, startup, timing
from bench.peers import LIBRARIES, SKETCHES
from bench.remote import Peers, whole_job

import plausibly

ROOT = Path(__file__).resolve().parent.parent
NAMES = run.oracles()

TINY = replace(
    run.QUICK,
    name="tiny",
    domains=(16, 40),
    repetitions=2,
    limit_repetitions=2,
    seconds=0.001,
    whole_n=3000,
    whole_d=64,
    whole_repetitions=2,
    race_d=100,
    race_epsilons=(1, 5),
    memory_n=(100, 1000),
    curve_n=(10, 100),
    curve_d=(8, 16),
    curve_users=50,
    sketch_n=500,
    sketch_d=200,
    sketches=("CM", "CS"),
    sketch_oracles=(),
    sketch_repetitions=1,
    sketch_asked=10,
)


def test_measurements_are_taken_in_turns_and_slow_ones_fewer_times() -> None:
    order: list[str] = []

    def measure(name: str) -> timing.Sample:
        order.append(name)
        return {"seconds": float(len(order))}

    taken = timing.in_turns(3, {name: lambda name=name: measure(name) for name in ("a", "b")}, {"b": 2})
    assert order == ["a", "b", "a", "b", "a"]
    assert timing.medians(taken["a"]) == {"seconds": 3.0}
    assert timing.paired_ratio(taken["b"], taken["a"], "seconds") == (2 / 1 + 4 / 3) / 2


def test_what_proves_unavailable_is_left_out_and_the_rest_goes_on() -> None:
    def fail() -> timing.Sample:
        raise timing.UnavailableError

    assert list(timing.in_turns(2, {"absent": fail, "there": lambda: {"seconds": 1.0}})) == ["there"]


@pytest.mark.parametrize(("each", "expected"), [(1.0, 3), (0.01, 100), (1e-9, 1000)])
def test_as_many_are_measured_as_the_budget_allows(each: float, expected: int) -> None:
    assert timing.enough(1.0, lambda count: each * count, few=3, most=1000) == pytest.approx(expected, rel=0.01)


def test_the_crowd_has_the_frequencies_it_claims() -> None:
    # Equidistributed quantiles, not samples: the discrepancy of n golden-ratio multiples is below 3·log(n)/n.
    share = np.arange(1, 101) ** -1.1
    counts = np.bincount(jobs.crowd(100_000, 100), minlength=100)
    assert np.abs(counts / 100_000 - share / share.sum()).max() < 3 * np.log(100_000) / 100_000


@pytest.mark.parametrize("name", NAMES)
def test_shares_of_a_job_add_up_and_the_kernels_are_put_back(name: str) -> None:
    before = {kernel: getattr(jobs.kernels, kernel) for kernel in jobs.kernels.NAMES}
    cipher = jobs.randomness.Cipher
    share = jobs.Job(name, 64).shares(2000)
    assert share["keystream"] + share["kernels"] + share["outside"] == pytest.approx(1)
    assert min(share.values()) > 0
    assert before == {kernel: getattr(jobs.kernels, kernel) for kernel in jobs.kernels.NAMES}
    assert jobs.randomness.Cipher is cipher


def mixing_support(seeds: list[int], hashes: list[int], d: int, g: int) -> list[int]:
    """The comparison loop as its comment defines it."""
    mask = 2**32 - 1

    def mixed(x: int, seed: int) -> int:
        x = (x ^ x >> 16) * 0x21F0AAAD & mask
        x = (x ^ x >> 15) * 0xD35A2D97 & mask
        z = ((x ^ x >> 15) ^ (seed & mask)) * 0x21F0AAAD & mask
        z = ((z ^ z >> 15) ^ (seed >> 32)) * 0xD35A2D97 & mask
        return z * g >> 32

    return [sum(mixed(x, seed) == y for seed, y in zip(seeds, hashes, strict=True)) for x in range(d)]


@pytest.mark.parametrize("g", [2, 3, 21, 256])
def test_the_comparison_loop_in_c_counts_what_its_comment_defines(g: int) -> None:
    seeds = np.arange(1, 41, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    hashes = (np.arange(40) % g).astype(np.uint32)
    if limits.loops() is None:
        with pytest.raises(OSError, match="no C compiler"):
            limits.mixing_support(seeds, hashes, 64, g)
    else:
        counts = limits.mixing_support(seeds, hashes, 64, g)
        assert counts.tolist() == mixing_support(seeds.tolist(), hashes.tolist(), 64, g)


def test_a_goal_is_judged_by_its_bound_or_said_not_to_be_measured() -> None:
    results: dict[str, Any] = {"value": 2.0}
    most = goals.Goal("group", "claim", "≤", 2, lambda found: found["value"])
    assert most.judged(results)["verdict"] == "pass"
    assert replace(most, bound=1.9).judged(results)["verdict"] == "FAIL"
    assert replace(most, relation="≥", bound=2.1).judged(results)["verdict"] == "FAIL"
    assert most.judged({"value": None})["verdict"] == "not measured"


def test_a_whole_job_of_a_peer_is_its_parts() -> None:
    sample = {"setup_s": 1.0, "client_us": 2.0, "server_us": 3.0, "decode_s": 4.0}
    assert whole_job(sample, 1_000_000) == pytest.approx(1 + 2 + 3 + 4)


@pytest.mark.parametrize(("value", "shown"), [(None, "–"), (0.01234, "0.0123"), (45.67, "45.7"), (12345.6, "12,346")])
def test_numbers_are_shown_with_three_digits(value: float | None, shown: str) -> None:
    assert report.number(value) == shown


@pytest.mark.full
def test_peers_that_do_not_start_are_absent_with_the_reason() -> None:
    peers = Peers(Path(sys.executable))  # an environment without them
    peers.close()
    assert "No module named 'pure_ldp'" in peers.absent
    assert peers.measurements(jobs.Job("OLH", 16), seconds=0.1) == {}


@pytest.mark.parametrize("name", LIBRARIES)
def test_the_peers_have_oracles_of_the_catalogue(name: str) -> None:
    assert set(LIBRARIES[name].oracles) <= {*NAMES, "SS"}


def test_a_peer_is_asked_for_the_sketches_it_has() -> None:
    asked = {race.oracle for race in sketches.races(200, 10)}
    assert asked == set(SKETCHES["pure-ldp"].oracles)


def test_sketches_are_no_oracles() -> None:
    assert {"CM", "CS", "BLOOM"}.isdisjoint(NAMES)
    assert {"DE", "OLH", "TLH"} <= set(NAMES)


@pytest.mark.parametrize("sketch", ["CM", "CS"])
def test_a_sketch_has_the_rows_and_cells_it_claims(sketch: str) -> None:
    job = sketches.SketchJob(sketch, "FLH", 200, rows=5, cells=16, options=(("hashes", 7),))
    scheme = job.scheme()
    assert (scheme.rows, scheme.width, scheme.oracle.hashes, scheme.domain.size) == (5, 16, 7, 200)
    assert job.scheme(listed=False).domain.size is None


def test_a_whole_sketch_job_is_its_parts() -> None:
    sample = sketches.SketchJob("CM", "DE", 200).whole(1000, 10, "median")
    assert whole_job(sample, 1000) == pytest.approx(sample["seconds"])


def test_texts_have_25_characters_and_the_frequencies_of_the_crowd() -> None:
    texts = sketches.names(1000, 50)
    assert {len(text) for text in texts} == {25}
    assert [int(text[7:13]) for text in texts] == jobs.crowd(1000, 50).tolist()


def test_the_worst_sketch_is_judged_only_if_all_were_measured() -> None:
    results: dict[str, Any] = {"whole": [{"oracle": name} for name in ("DE", "OLH", "SUE")]}
    results["sketches"] = [{"sketch": "CM", "oracle": "DE", "both_s": 0.1}]
    goal = next(goal for goal in goals.GOALS if "over all but SUE and OUE" in goal.claim)
    assert goal.judged(results)["verdict"] == "not measured"
    results["sketches"] += [{"sketch": "CM", "oracle": "OLH", "both_s": 0.9}]
    results["sketches"] += [{"sketch": "CM", "oracle": "SUE", "both_s": 4.0}]
    assert goal.judged(results)["value"] == 0.9


def test_the_pins_of_the_peers_are_exact() -> None:
    lines = (ROOT / "bench" / "peers.txt").read_text(encoding="utf-8").splitlines()
    pins = [line for line in lines if line and not line.startswith("#")]
    assert all(line.count("==") == 1 for line in pins)
    assert {"pure-ldp==1.2.0", "multi-freq-ldpy==0.2.5", "numpy==2.2.6", "xxhash==3.8.2"} <= set(pins)


@pytest.mark.full
def test_peak_memory_is_of_the_process_itself() -> None:
    request = json.dumps({"oracle": "DE", "d": 16, "epsilon": 3, "n": 1000})
    run_alone = [sys.executable, "-m", "bench.peak", request]
    ballast = np.ones(1 << 26, dtype=np.uint8)  # in this process, not in that one
    answer = json.loads(subprocess.run(run_alone, cwd=ROOT, capture_output=True, check=True).stdout)
    assert ballast.all()
    assert answer["n"] == 1000
    assert 10 < answer["imported_mb"] <= answer["peak_mb"] < 100


@pytest.mark.full
def test_a_run_without_peers_measures_our_half_and_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("_READ_BYTES", "_AES_BYTES"):
        monkeypatch.setattr(limits, name, 1 << 21)
    monkeypatch.setattr(limits, "_TRANSFORM_BITS", 10)
    monkeypatch.setattr(limits, "_HASH_REPORTS", 100)
    # Fresh processes have a test of their own, and would take most of the time of this one.
    monkeypatch.setattr(limits, "_IMPORTS", {"numpy": "import json", "plausibly": "import csv"})
    monkeypatch.setattr(jobs.Job, "peak", lambda job, n: {"n": n, "batch": n, "imported_mb": 30.0, "peak_mb": 40.0})
    results = run.measure(TINY, tmp_path / "no-such-python")
    run.write(results, tmp_path)
    printed = capsys.readouterr()
    assert "The peers are left out: they are not installed" in printed.err
    assert json.loads((tmp_path / "results.json").read_text(encoding="utf-8")) == results
    page = (tmp_path / "results.md").read_text(encoding="utf-8")
    for name in NAMES:
        assert f"| {name} |" in page
        assert f"| CM over {name} |" in page
        assert f"| CS over {name} |" in page
    for race in sketches.races(200, 10):
        assert f"| {race.oracle} |" in page
    verdicts = {goal["claim"]: goal["verdict"] for goal in results["goals"]}
    assert verdicts["OLH against pure-ldp"] == "not measured"
    assert verdicts["peak memory with ten times the users"] == "pass"
    pictures = sorted(tmp_path.glob("*.png"))
    assert len(pictures) == 5
    for picture in pictures:
        assert picture.read_bytes().startswith(b"\x89PNG")
        assert f"]({picture.name})" in page
    assert str(ROOT) not in page + json.dumps(results)


@pytest.mark.full
def test_collecting_is_measured_beside_plain_reading(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    collect.main(["--reports", "30000", "--rounds", "1", "--schemes", "TLH", "--folder", str(tmp_path)])
    said = capsys.readouterr().out
    assert "TLH: " in said
    for label in collect.WAYS.values():
        assert f"  {label}" in said
    assert said.count("of it") == 2
    assert list(tmp_path.iterdir()) == []


def test_the_time_to_start_is_measured_for_every_goal() -> None:
    assert startup.GOALS.keys() - startup.COMMANDS.keys() == {"plausibly estimate"}
    assert startup.processor_seconds((sys.executable, "-c", "sum(range(2_000_000))")) > 0.01


@pytest.mark.full
def test_starting_is_measured_command_by_command() -> None:
    taken = startup.measured(rounds=1)
    assert taken.keys() == startup.COMMANDS.keys() | startup.GOALS.keys()
    assert taken["python -c pass"] < taken["plausibly --version"] < taken["plausibly show"]


@pytest.mark.full
def test_reading_is_measured_against_pyarrow_with_the_same_files(tmp_path: Path) -> None:
    reading.write_files(tmp_path, 2000)
    rows = [(tmp_path / f"visits.{kind}").read_text().count("\n") for kind in ("csv", "ndjson")]
    assert rows == [2001, 2000]
    for kind in ("csv", "ndjson"):
        costs = reading.measured(kind, tmp_path, rounds=1)
        assert costs.keys() == {"pyarrow", "plausibly"}
        assert all(each.seconds > 0.01 and each.megabytes > 20 for each in costs.values())


@pytest.mark.full
def test_reports_of_a_browser_are_measured_and_saved(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    browser.main(["--quick", "--output", str(tmp_path)])
    found = json.loads((tmp_path / "browser.json").read_text(encoding="utf-8"))
    assert found["report_us"].keys() == plausibly.CATALOG.keys()
    assert all(0 < time < 1e6 for time in [found["loading_ms"], *found["report_us"].values()])
    assert len(capsys.readouterr().out.splitlines()) == 1 + len(plausibly.CATALOG)


def test_the_guide_states_what_was_measured_of_the_collector() -> None:
    kept = json.loads((ROOT / "bench" / "results" / "collector.json").read_text(encoding="utf-8"))
    seen = {(name, bar["bar"].split(" ")[-2]): bar for name in kept if name != "machine" for bar in kept[name]["bars"]}
    section = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8").partition("## The collector")[2]
    rows = [
        line.split("|")[2:4]
        for line in section.partition("\n\nProcessor")[0].splitlines()
        if "| ≥" in line or "| ≤" in line
    ]
    order = [("batches", "≥"), ("singles", "≥"), ("batches", "≤"), ("singles", "≤"), ("rolls", "≤")]
    order += [("slow_senders", "≤"), ("trellis", "≥"), ("postgresql", "≥"), ("large", "≥"), ("soak", "≤")]
    assert len(rows) == len(order)
    for (goal, stated), key in zip(rows, order, strict=True):
        value = seen[key]["seen"] / (1e6 if key[0] == "large" else 1)
        assert float(stated.strip(" *")) == pytest.approx(value, abs=0.005, rel=0.005), key
        assert goal.strip()[0] == key[1]
        assert seen[key]["holds"] == ("**" not in stated)


@pytest.mark.full
def test_pictures_show_results_and_no_goals() -> None:
    from bench import figures

    results = json.loads((ROOT / "bench" / "results" / "results.json").read_text(encoding="utf-8"))
    for drawing in (figures._whole_job, figures._limits, figures._sketches):
        figure = drawing(results)
        texts = [text.get_text() for text in figure.findobj(lambda each: hasattr(each, "get_text"))]  # type: ignore
        assert len(texts) > 10
        assert not [text for text in texts if re.search("goal|missed|reached|ours", text)], drawing.__name__


def test_labels_in_pictures_are_quotients_of_the_times_shown() -> None:
    from bench import figures

    # Not the median of the ratios within the rounds, which the tables have.
    peer = {"seconds": 10.0, "ratio": 7.0}
    figure = figures._side_by_side([{"name": "SUE", "seconds": 2.0, "peers": {"pure-ldp": peer}}])
    texts = [text.get_text() for text in figure.findobj(lambda each: hasattr(each, "get_text"))]  # type: ignore
    assert "5×" in texts
    assert "7×" not in texts
    assert "pure-ldp (from its cost per user)" in texts


@pytest.mark.slow
def test_privatizing_five_million_rows_takes_little_more_than_reading_them() -> None:
    # In a process of its own: a child's peak of memory begins with that of its parent.
    found = subprocess.run(
        [sys.executable, "-m", "bench.reading"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    costs = json.loads(found.stdout)
    assert {kind: each["pass"] for kind, each in costs.items()} == {"csv": True, "ndjson": True}, costs
