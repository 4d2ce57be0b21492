"""What existing libraries were measured to get wrong, one test per finding, shown right here.

Each docstring tells the finding in a sentence; the test shows what this package does instead. The findings are about
pure-ldp 1.2.0, the published code of the paper, and multi-freq-ldpy 0.2.5.
"""

from __future__ import annotations

import ast
import math
import os
import sys
import tomllib
from collections import Counter
from dataclasses import FrozenInstanceError, fields, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import naive
import plausibly
import trusting
from cases import in_turn
from plausibly import (
    Accumulator,
    DomainError,
    ParameterError,
    SecureRandom,
    SeededRandom,
    decode_reports,
    device,
    encode_reports,
    from_json,
    make,
    oracles,
)
from plausibly.core.probability import within_exp

NAMES = sorted(name for name in plausibly.CATALOG if hasattr(oracles, name))
every_name = pytest.mark.parametrize("name", NAMES)
ROOT = Path(__file__).parent.parent


@pytest.mark.full
def test_every_import_is_declared_with_a_lowest_version() -> None:
    """A clean install does not import, or loses protocols, because dependencies are undeclared or drift."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = [
        line
        for group in ("plots", "frames", "files", "rappor", "dask", "spark", "serve", "postgres")
        for line in project["optional-dependencies"][group]
        if not line.startswith("plausibly[")
    ]
    declared = {line.split(">=")[0].split("[")[0]: line for line in (*project["dependencies"], *extras)}
    assert all(">=" in line for line in declared.values())
    used = set()
    for file in (ROOT / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                used |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
                used.add(node.module.split(".")[0])
    used = {{"sklearn": "scikit-learn", "PIL": "pillow"}.get(name, name) for name in used}
    # Polars is imported to make a frame for those who have it, and no extra installs it; grpc comes with Spark Connect.
    # uvicorn imports its parser and its loop by name.
    used |= {"httptools", "uvloop"}
    assert used - set(sys.stdlib_module_names) - {"plausibly", "polars", "grpc"} == set(declared)


@every_name
def test_a_report_is_one_fixed_size_record_whatever_the_coin(name: str) -> None:
    """A Hadamard report is a list when it is truthful and a zip when it is perturbed: the type tells the coin."""
    scheme = make(name, epsilon=1, domain_size=9)
    client = trusting.load(scheme.to_json())
    records = [client.privatize(item) for item in range(9) for _ in range(20)]
    assert {(type(record), len(record)) for record in records} == {(bytes, scheme.report_dtype.itemsize)}
    reports = scheme.privatize([item for item in range(9) for _ in range(20)])
    assert {(type(report), report.dtype) for report in reports} == {(np.void, scheme.report_dtype)}


@every_name
def test_noise_cannot_be_predicted_from_reports_seen_before(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """From 81 unary reports the state of a Mersenne Twister is recovered, and values are read off with certainty.

    Here every call takes a fresh 256-bit key from the operating system, and NumPy's and Python's generators, however
    they are seeded, change nothing.
    """
    scheme = make(name, epsilon=1, domain_size=9)
    items, keys = [3] * 300, []
    honest = os.urandom
    monkeypatch.setattr(os, "urandom", lambda count: keys.append(honest(count)) or keys[-1])
    reports = []
    for _ in range(2):
        np.random.seed(1)
        reports.append(scheme.privatize(items).tobytes())
    assert reports[0] != reports[1]
    assert [len(key) for key in keys] == [32, 32]
    assert keys[0] != keys[1]


@pytest.mark.full
def test_forked_workers_do_not_repeat_each_other_s_noise() -> None:
    """Forked workers inherit the generator's state and repeat each other's noise."""
    scheme = make("OLH", epsilon=1, domain_size=9)
    source = SecureRandom()
    scheme.privatize([1] * 10, rng=source)
    seeds = []
    for _ in range(4):
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                os.write(writer, scheme.privatize([1] * 10, rng=source)["seed"].tobytes())
            finally:
                os._exit(0)
        os.close(writer)
        with os.fdopen(reader, "rb") as pipe:
            seeds += np.frombuffer(pipe.read(), dtype="<u8").tolist()
        os.waitpid(child, 0)
    assert len(set(seeds)) == len(seeds) == 40


@every_name
def test_a_client_cannot_be_handed_the_seeded_source_by_accident(name: str) -> None:
    """One global generator serves simulations and users alike, and anybody may seed it."""
    scheme = make(name, epsilon=1, domain_size=9)
    for mistake in (7, np.random.default_rng(7), np.random, None):
        if mistake is not None:
            with pytest.raises(ParameterError, match="rng: expected"):
                scheme.privatize([1], rng=mistake)  # type: ignore[arg-type]
    assert not hasattr(device, "SeededRandom")
    source = Path(device.__file__).read_text(encoding="utf-8")
    assert "seeded" not in source.lower()


@every_name
@in_turn("epsilon", ["0.1", "0.3", "0.7", "1.1", "2.3", "4.9", "7.7", "12.1", "30.3"])
def test_the_declared_epsilon_is_never_exceeded_not_even_by_rounding(name: str, epsilon: str) -> None:
    """Probabilities are floats, and half of random settings exceed the declared epsilon by rounding."""
    for size in (2, 3, 10, 100):
        scheme = make(name, epsilon=epsilon, domain_size=size)
        assert within_exp(scheme.randomizer.worst_ratio(), Fraction(epsilon))
        assert scheme.privacy_loss() <= Fraction(epsilon)


@every_name
def test_there_is_noise_at_epsilon_37(name: str) -> None:
    """At epsilon 37 the Hadamard mechanism has no noise at all: a float rounds its probability to one."""
    scheme = make(name, epsilon=37, domain_size=10)
    ratio = scheme.randomizer.worst_ratio()
    assert math.log(ratio.numerator) - math.log(ratio.denominator) < 37.0001
    # The word just above the threshold makes a lie, so that lies exist.
    thresholds = [int(scheme.derived[key]) for key in ("keep", "flip") if key in scheme.derived]
    assert all(0 < threshold < 2**64 for threshold in thresholds)


@every_name
@in_turn("epsilon", [0, -1, "-0.5", float("nan")])
def test_an_epsilon_that_is_not_positive_is_refused(name: str, epsilon: Any) -> None:
    """Epsilon 0, and -1, are accepted."""
    with pytest.raises(ParameterError, match=r"epsilon: expected a .*positive number"):
        make(name, epsilon=epsilon, domain_size=10)


@every_name
@in_turn("value", [10, -1, 987654321])
def test_a_value_out_of_range_is_refused_without_repeating_it(name: str, value: int) -> None:
    """Values out of range are accepted, and give reports of another item or an error that shows them."""
    scheme = make(name, epsilon=1, domain_size=10)
    with pytest.raises(DomainError, match="item 1: expected integers in") as caught:
        scheme.privatize([3, value])
    assert str(value) not in str(caught.value).replace("[0, 10)", "").replace("item 1", "")
    with pytest.raises(device.DeviceError):
        trusting.load(scheme.to_json()).privatize(value)


@pytest.mark.full
@every_name
def test_the_first_and_the_last_item_are_themselves(name: str) -> None:
    """Values are counted from 1, so that the value 0 wraps around to the last item.

    False alarm: none in 400 other seeds of each oracle; the largest standard deviation is 17, against 300 users.
    """
    scheme = make(name, epsilon=8, domain_size=10)
    for item in (0, 9):
        tally = scheme.accumulator()
        tally.add(scheme.privatize([item] * 300, rng=SeededRandom(1)))
        assert tally.estimate().top(1).items.tolist() == [item]


@pytest.mark.parametrize("coefficients", [2, 3, 5])
def test_the_hadamard_decoder_uses_all_coefficients(coefficients: int) -> None:
    """With t signs a report, t of the 2^t - 1 usable coefficients are decoded: 2.3 to 6 times too much variance.

    The empirical squared error over a uniform crowd is the stated one. False alarm: below 1e-6; over
    40 other seeds the mean of 20 x 64 squared errors has a relative standard deviation of at most 4.7 %.
    """
    epsilon = {2: "1.5", 3: "3", 5: "5"}[coefficients]
    scheme = make("HM", epsilon=epsilon, domain_size=64, coefficients=coefficients)
    rng = SeededRandom(3)
    errors: dict[str, list[float]] = {"full": [], "paper": []}
    for _ in range(20):
        tally = scheme.simulate([10] * 64, rng=rng)
        for decoder, squares in errors.items():
            squares.append(float(((tally.estimate(decoder=decoder).values - 10) ** 2).mean()))
    for decoder, squares in errors.items():
        stated = scheme.estimator(decoder=decoder).law.at(640, 10)
        assert np.mean(squares) == pytest.approx(stated, rel=0.25)
    assert scheme.estimator(decoder="paper").law.at(1, 0) > 1.2 * scheme.variance(1)


def test_the_hash_functions_of_fast_local_hashing_change_with_the_collection() -> None:
    """Fast local hashing has the same hash functions for ever, so that its error never averages out."""
    first, second = (make("FLH", epsilon=3, domain_size=50, hashes=20, hash_seed=seed) for seed in (1, 2))
    assert first != second
    assert from_json(first.to_json()) == first
    seeds = [{device.public_hash_seed(scheme.hash_seed, i) for i in range(20)} for scheme in (first, second)]
    assert not seeds[0] & seeds[1]
    reports = [scheme.privatize([7] * 50, rng=SeededRandom(1))["hash"].tolist() for scheme in (first, second)]
    assert reports[0] != reports[1]


def test_the_error_of_shared_hash_functions_is_reported() -> None:
    """The extra error of a few shared hash functions is in no variance.

    A crowd of 4,000 with one item in two, over 40 hash seeds: the squared error is the stated variance with its
    F2 term, and several times the one without. False alarm: below 1e-6; over 30 other sets of seeds the mean of
    the squared errors has a relative standard deviation of 9 %, and is at least 12 times the noise alone.
    """
    counts = np.array([2_000] + [2_000 // 49] * 49)
    counts[1] += 4_000 - counts.sum()
    f2 = float((counts**2).sum())
    squares, stated = [], []
    for seed in range(40):
        scheme = make("FLH", epsilon=5, domain_size=50, hashes=10, hash_seed=seed)
        estimates = scheme.simulate(counts, rng=SeededRandom(seed)).estimate()
        squares.append(((estimates.values - counts) ** 2).mean())
        stated.append(estimates.variance.mean())  # type: ignore[union-attr]
    planned = scheme.variance(4_000, counts, f2=f2).mean()
    noise_alone = make("OLH", epsilon=5, domain_size=50).variance(4_000, counts).mean()
    assert np.mean(squares) == pytest.approx(planned, rel=0.5)
    assert np.mean(stated) == pytest.approx(planned, rel=0.5)
    assert np.mean(squares) > 3 * noise_alone


@every_name
def test_client_and_server_cannot_disagree_about_parameters(name: str) -> None:
    """The defaults of FLH's client and server disagree (g = 2 against 21), and the estimates are nonsense."""
    scheme = make(name, epsilon=3, domain_size=40)
    client = trusting.load(scheme.to_json())
    records = b"".join(client.privatize(item) for item in [7] * 30)
    reports = np.frombuffer(records, dtype=scheme.report_dtype)
    tally = scheme.accumulator()
    tally.add(reports)
    other = make(name, epsilon="3.000001", domain_size=40)
    with pytest.raises(plausibly.ReportError):
        other.accumulator().add(scheme.privatize([7]))
    twin = naive.answer(scheme.to_dict(), naive.fields(reports), range(40))
    assert tally.scores().tolist() == twin.scores


@every_name
def test_parameters_cannot_change_after_construction(name: str) -> None:
    """Parameters can be changed after construction and leave stale probabilities behind."""
    scheme = make(name, epsilon=1, domain_size=10)
    for field in fields(scheme):
        with pytest.raises(FrozenInstanceError):
            setattr(scheme, field.name, 2)
    assert replace(scheme, epsilon=2) == make(name, epsilon=2, domain_size=10)


@every_name
def test_there_is_no_reset_that_keeps_data(name: str) -> None:
    """reset() keeps data. Here there is none: an empty accumulator is a new one."""
    scheme = make(name, epsilon=1, domain_size=10)
    used = scheme.accumulator()
    used.add(scheme.privatize([1] * 10))
    assert not hasattr(used, "reset")
    assert len(scheme.accumulator()) == 0
    assert not scheme.accumulator().estimate().values.any()


@pytest.mark.full
@every_name
@in_turn("size", [2, 3, 5, 6, 7, 100, 1000])
def test_every_oracle_works_on_every_domain_size(name: str, size: int) -> None:
    """The Hadamard mechanism works only where the domain size is a power of two."""
    scheme = make(name, epsilon=2, domain_size=size)
    reports = scheme.privatize([i % size for i in range(30)], rng=SeededRandom(1))
    tally = scheme.accumulator()
    tally.add(reports)
    twin = naive.answer(scheme.to_dict(), naive.fields(reports), range(0, size, 1 + size // 20))
    assert tally.scores().tolist()[:: 1 + size // 20] == twin.scores


@pytest.mark.full
@every_name
def test_estimates_are_unbiased_and_always_have_a_variance(name: str) -> None:
    """Estimates come clipped and renormalised only: no unbiased value, and none with its variance.

    False alarm: the sum of 20 independent runs is normal to a good approximation; five standard deviations for each
    of 12 items and 11 oracles, 8e-5 over fresh seeds.
    """
    counts = np.array([300, 100, 50, *[5] * 9])
    total, variance = np.zeros(12), np.zeros(12)
    for seed in range(20):
        extra = {"hash_seed": seed} if "hash_seed" in {field.name for field in fields(plausibly.CATALOG[name])} else {}
        scheme = make(name, epsilon=1, domain_size=12, **extra)
        estimates = scheme.simulate(counts, rng=SeededRandom(seed)).estimate()
        total += estimates.values - counts
        variance += estimates.variance
        assert (estimates.values < 0).any() or seed, "noise is centred on the truth and not cut off at zero"
    assert (np.abs(total) < 5 * np.sqrt(variance)).all()


@every_name
def test_reports_travel_states_merge_and_nothing_piles_up(name: str) -> None:
    """Reports cannot be serialised, states cannot be merged, and all reports are held in memory."""
    scheme = make(name, epsilon=1, domain_size=20)
    parts, sizes = [], Counter()  # type: list[Accumulator], Counter[int]
    for seed, count in enumerate((10, 200, 3_000)):
        batch = encode_reports(scheme, scheme.privatize([i % 20 for i in range(count)], rng=SeededRandom(seed)))
        part = scheme.accumulator()
        part.add(decode_reports(scheme, batch))
        blob = part.to_bytes()
        sizes[len(blob)] += 1
        parts.append(Accumulator.from_bytes(scheme, blob))
    assert len(sizes) == 1, "a state is as large after 10 reports as after 3,000"
    whole = scheme.accumulator()
    for part in parts:
        whole.merge(part)
    assert len(whole) == 3_210


@every_name
@in_turn("wrong", ["epsilonn", "domain_sizes", "use_olh", "normalization"])
def test_a_misspelt_option_is_refused_with_the_nearest_valid_name(name: str, wrong: str) -> None:
    """Misspelt options are silently ignored."""
    with pytest.raises(ParameterError, match=f"unknown parameter '{wrong}' for {name}; .*valid: ") as caught:
        make(name, **{"epsilon": 1, "domain_size": 10, wrong: 1})
    if wrong[:-1] in ("epsilon", "domain_size"):
        assert f"did you mean '{wrong[:-1]}'?" in str(caught.value)


# --- heavy hitters ---------------------------------------------------------------------------------------------------

WORDS = plausibly.Strings("abcdef", 4)
COMMON = {"fade": 4_000, "bee": 3_000, "a": 2_500, "": 2_000}


def heavy_hitters(name: str, **given: Any) -> Any:
    oracle = make("FLH", epsilon=4, domain=plausibly.Keys())
    parts = {"oracle": oracle} | ({} if name == "PEM" else {"word_oracle": oracle})
    return make(name, domain=WORDS, **parts, **given).simulate(COMMON, SeededRandom(1))


# Counts of at least 2,000 of 11,500 users with standard deviations below 200: no seed loses one of them.
def test_prefix_extending_finds_strings_by_a_threshold_alone() -> None:
    """PEM with a threshold returns nothing."""
    assert heavy_hitters("PEM").search(k=None, threshold=1_000).items.tolist() == list(COMMON)


def test_tree_histogram_finds_strings_with_its_defaults() -> None:
    """TreeHistogram's default threshold returns nothing."""
    assert heavy_hitters("TH").search().items[:4].tolist() == list(COMMON)


def test_the_fragment_puzzle_works_with_its_defaults_over_any_oracle() -> None:
    """SFP's default oracle crashes."""
    assert heavy_hitters("SFP").search().items[:4].tolist() == list(COMMON)
    for name in ("OLH", "TLH", "BLH"):
        oracle = make(name, epsilon=4, domain=plausibly.Keys())
        tally: Any = make("SFP", oracle=oracle, word_oracle=oracle, domain=plausibly.Strings("ab", 2)).simulate(
            {"ab": 2_000, "b": 1_000}, SeededRandom(1)
        )
        assert tally.search(k=2).items.tolist() == ["ab", "b"]


@pytest.mark.parametrize("name", ["PEM", "TH", "SFP"])
def test_strings_shorter_than_the_longest_are_found(name: str) -> None:
    """Strings shorter than the maximum are never found."""
    found = heavy_hitters(name).search(k=4).items.tolist()
    assert {len(text) for text in found} == {0, 1, 3, 4}
