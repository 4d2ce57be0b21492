"""BLOOM: the exact law of its reports, its privacy and the faults that would break it, and its decoder."""

from __future__ import annotations

import json
import math
import sys
import time
from contextlib import nullcontext
from dataclasses import replace
from fractions import Fraction
from hashlib import blake2s
from itertools import product
from typing import Any

import numpy as np
import pytest

import plausibly
import trusting
from cases import in_turn
from faults.planting import Edit
from oracles.comparing import exp
from plausibly import Keys, Scheme, SeededRandom, audit, device, make
from plausibly.core.enumeration import output_law
from plausibly.core.history import decoding
from plausibly.core.probability import WORD, within_exp
from plausibly.sketches import regression

FULL = pytest.mark.full


def bloom(**parameters: Any) -> Any:
    return make("BLOOM", **{"epsilon": 3, "bits": 8, "cohorts": 3, "domain_size": 20, **parameters})


def sampled(oracle: str = "OLH", *, epsilon: Any = 3, bits: int = 16, **parameters: Any) -> Any:
    part = make(oracle, epsilon=epsilon, domain_size=bits)
    return make("BLOOM", oracle=part, **{"cohorts": 3, "domain_size": 20, **parameters})


def true_bits(scheme: Any, cohort: int, code: int) -> set[int]:
    """The filter of an item, spelled out."""
    person = scheme.hash_seed.to_bytes(8, "little")
    bits = set()
    for j in range(scheme.hashes):
        row = (cohort * scheme.hashes + j).to_bytes(8, "little")
        seed = int.from_bytes(blake2s(row, digest_size=8, person=person, salt=b"bloom").digest(), "little")
        bits.add(device.local_hash(seed, code, scheme.split, scheme.width))
    return bits


def zipf(candidates: int, users: int, seed: int) -> Any:
    """Counts of a crowd whose i-th item has probability proportional to i^-1.1."""
    weights = np.arange(1, candidates + 1) ** -1.1
    return np.random.default_rng(seed).multinomial(users, weights / weights.sum())


def recall(counts: Any, estimates: Any, k: int = 20) -> float:
    top, found = (set(np.argsort(-values, kind="stable")[:k].tolist()) for values in (counts, estimates))
    return len(top & found) / k


# --- reports ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("hashes", "bits"), [(1, 2), (1, 5), (2, 3), (2, 6), (3, 4)])
def test_a_report_has_the_law_of_independent_bits_each_wrong_with_the_same_probability(hashes: int, bits: int) -> None:
    scheme = bloom(hashes=hashes, bits=bits, hash_seed=9)
    for cohort, item in product(range(3), (0, 7, 19)):
        law = output_law(scheme.randomizer, item, (cohort,))
        filter_bits = true_bits(scheme, cohort, item)
        assert len(law.weights) == 2**bits
        assert law.denominator == WORD**bits
        for record, weight in law.weights.items():
            sent = {i for i in range(bits) if record[1 + i // 8] >> i % 8 & 1}
            wrong = len(sent ^ filter_bits)
            assert (record[0], weight) == (cohort, scheme.keep ** (bits - wrong) * (WORD - scheme.keep) ** wrong)


@in_turn("hashes", [1, 2, 3])
@in_turn("epsilon", ["0.1", "1", "3", "8"])
def test_a_bit_has_its_share_of_epsilon_and_not_a_hair_more(epsilon: str, hashes: int) -> None:
    scheme = bloom(epsilon=epsilon, hashes=hashes, bits=64)
    part = Fraction(exp(Fraction(epsilon) / (2 * hashes)))
    assert scheme.keep == math.floor(2**64 * part / (part + 1))
    odds = Fraction(scheme.keep, WORD - scheme.keep)
    assert scheme.randomizer.worst_ratio() == odds ** (2 * hashes)
    assert scheme.privacy_loss() <= scheme.epsilon
    assert not within_exp(Fraction(scheme.keep + 1, WORD - scheme.keep - 1) ** (2 * hashes), scheme.epsilon)


def test_fewer_bits_than_two_filters_can_differ_in_bound_the_ratio() -> None:
    scheme = bloom(hashes=4, bits=3)
    assert scheme.randomizer.worst_ratio() == Fraction(scheme.keep, WORD - scheme.keep) ** 3


def test_one_hash_is_symmetric_unary_encoding_of_the_bit() -> None:
    assert bloom(hashes=1, epsilon="0.7").keep == make("SUE", epsilon="0.7", domain_size=8).keep


@pytest.mark.parametrize("epsilon", ["0.1", "1", "3", "8", "20"])
def test_more_hashes_cost_more_privacy_than_their_evidence_is_worth(epsilon: str) -> None:
    keeps = [bloom(epsilon=epsilon, hashes=k, bits=64).keep / 2**64 for k in (1, 2, 3, 4)]
    noise = [p * (1 - p) / (2 * p - 1) ** 2 / k for k, p in enumerate(keeps, start=1)]
    assert noise == sorted(noise)
    assert noise[1] > 1.9 * noise[0]


@pytest.mark.parametrize(("hashes", "bits"), [(1, 11), (3, 64), (8, 9), pytest.param(2, 128, marks=FULL)])
def test_bulk_reports_are_the_client_s_word_for_word(hashes: int, bits: int) -> None:
    scheme = bloom(hashes=hashes, bits=bits, cohorts=5)
    rng = SeededRandom(5)
    values = [i % 20 for i in range(300)]
    reports = scheme.privatize(values, rng=rng)
    ties = 0
    for i, value in enumerate(values):
        cohort_word, *words = rng.replay(0).tape(scheme.layout, i)
        cohort = cohort_word % 5
        filter_bits = true_bits(scheme, cohort, value)
        assert reports["cohort"][i] == cohort
        for bit, word in enumerate(words):
            threshold = scheme.keep if bit in filter_bits else WORD - scheme.keep
            ties += word >> 56 == threshold >> 56
            assert bool(reports["bits"][i, bit // 8] >> bit % 8 & 1) == (word < threshold)
    assert ties > 0, "one bit in 256 is decided by the rest of its word"


def test_a_record_is_a_cohort_and_a_bitmap_or_a_row_and_the_oracle_s_record() -> None:
    whole, part = bloom(bits=11, cohorts=300), sampled("OUE", bits=11, cohorts=200, hashes=2)
    assert (whole.report_dtype.names, whole.report_dtype.itemsize, whole.report_bits) == (("cohort", "bits"), 4, 20)
    assert (part.report_dtype.names, part.report_dtype.itemsize, part.report_bits) == (("row", "report"), 4, 20)


@pytest.mark.parametrize("scheme", [bloom(bits=11), sampled("OUE", bits=11)], ids=repr)
def test_impossible_reports_are_refused(scheme: Scheme) -> None:
    channel = scheme.report_dtype.names[0]  # type: ignore[index]
    for spoilt, what in ((scheme.channels, f"a {channel} below {scheme.channels}"), (0, "a bitmap of 11 bits")):
        reports = scheme.privatize([1, 2, 3], rng=SeededRandom(1))
        reports[channel][2] = spoilt
        if not spoilt:
            bitmaps = reports if "bits" in reports.dtype.names else reports["report"]  # type: ignore[operator]
            bitmaps["bits"][2, 1] |= 8
        with pytest.raises(plausibly.ReportError, match=f"report 2: expected {what}"):
            scheme.accumulator().add(reports)


# --- privacy ----------------------------------------------------------------------------------------------------

AUDITED = [
    bloom(hashes=1, bits=5, epsilon=1),
    bloom(hashes=2, bits=6),
    pytest.param(bloom(hashes=2, bits=128, cohorts=64, domain_size=10_000), marks=FULL),
    pytest.param(bloom(hashes=2, bits=128, domain=Keys(), domain_size=None), marks=FULL),
    pytest.param(bloom(hashes=2, bits=128, domain_size=2), marks=FULL),
    pytest.param(bloom(hashes=2, bits=4, epsilon="0.1"), marks=FULL),
    pytest.param(bloom(hashes=1, bits=40, epsilon=8, domain=["a", "b"], other=True, domain_size=None), marks=FULL),
    pytest.param(sampled("OUE", bits=1024, domain=Keys(), domain_size=None), marks=FULL),
    sampled("OLH"),
]


@pytest.mark.parametrize("scheme", AUDITED, ids=repr)
def test_the_exact_audit_of_whole_records_holds(scheme: Scheme) -> None:
    certificate = audit(scheme)
    assert certificate.findings == ()
    assert certificate.attained
    assert Fraction("0.999") * scheme.epsilon < certificate.epsilon <= scheme.epsilon
    assert certificate.unbiased is None


@pytest.mark.full
def test_collisions_of_many_hashes_only_help() -> None:
    certificate = audit(bloom(hashes=8, bits=6))
    assert certificate.holds
    assert not certificate.attained


FAULTS = {
    "a true bit is never cleared": (
        Edit("device:Bloom.perturb", "|= source.bernoulli(", "|= (i in true_bits) << (i & 7) | source.bernoulli("),
        "a likelihood ratio exceeds e^epsilon",
    ),
    "the number of hashes is ignored": (
        Edit("sketches.bloom:BLOOM.keep", "self.epsilon / (2 * self.hashes)", "self.epsilon / 2"),
        "the thresholds exceed e^epsilon on the whole domain",
    ),
    "two bits share what one of them has": (
        Edit("sketches.bloom:BLOOM.keep", "(2 * self.hashes)", "self.hashes"),
        "a likelihood ratio exceeds e^epsilon",
    ),
    "the client states half its ratio": (
        Edit("device:Bloom.worst_ratio", "min(2 * self.hashes, self.size)", "self.hashes"),
        "a likelihood ratio exceeds the worst one that the client states",
    ),
    "bits where hashes collide are kept less": (
        Edit("device:Bloom.perturb", "for j in range(self.hashes)", "for j in range(min(self.hashes, 1))"),
        "the stated likelihood is not the client's law",
    ),
    "the bulk path forgets the second hash": (
        Edit("sketches.bloom:BLOOM._perturb", "for other in others", "for other in others[1:]"),
        "the bulk path and the client differ on the same words",
    ),
    "ties of the second hash are lost": (
        Edit("sketches.bloom:BLOOM._perturb", "keep % 2**56", "0"),
        "the bulk path and the client differ on the same words",
    ),
    "the oracle's report is of another hash": (
        Edit("device:RowSketch.perturb", "self.seed(self.hash_seed, row)", "self.seed(self.hash_seed, row + 1)"),
        "the stated likelihood is not the client's law",
    ),
}


@pytest.mark.parametrize("name", [*list(FAULTS)[:2], *(pytest.param(name, marks=FULL) for name in list(FAULTS)[2:])])
def test_planted_faults_are_seen_by_the_audit(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    edit, finding = FAULTS[name]
    edit.plant(monkeypatch)
    scheme = sampled("DE") if "oracle" in name else bloom(hashes=2, bits=5)
    assert any(finding in found for found in audit(scheme).findings)


def test_a_device_refuses_a_scheme_that_forgot_the_number_of_hashes() -> None:
    given = json.loads(bloom(hashes=2).to_json())
    given["keep"] = json.loads(bloom(hashes=1).to_json())["keep"]
    with pytest.raises(device.DeviceError, match="exceed its own epsilon"):
        trusting.load(json.dumps(given))


# --- parameters -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", [bloom(hash_seed=2**63), sampled("HM", hash_seed=2**63)], ids=repr)
def test_schemes_survive_json_and_copies(scheme: Scheme) -> None:
    assert plausibly.from_json(scheme.to_json()) == scheme
    assert replace(scheme) == scheme
    assert replace(scheme, hash_seed=1) != scheme  # type: ignore[call-arg]
    record = trusting.load(scheme.to_json()).privatize(3)
    assert len(record) == scheme.report_dtype.itemsize


def test_a_copy_over_another_oracle_has_that_one_s_privacy() -> None:
    scheme = replace(sampled(epsilon=3), oracle=make("DE", epsilon=1, domain_size=30))
    assert (scheme.epsilon, scheme.width) == (1, 30)


@in_turn(
    ("parameters", "message"),
    [
        ({"bit": 8, "epsilon": 1}, r"unknown parameter 'bit' for BLOOM; did you mean 'bits'\?"),
        ({"cohort": 8, "epsilon": 1}, r"did you mean 'cohorts'\?"),
        ({}, "epsilon: expected for BLOOM without an oracle, got nothing"),
        ({"epsilon": 0}, "epsilon: expected a positive number"),
        ({"epsilon": 1, "bits": 1}, "bits: expected"),
        ({"epsilon": 1, "bits": 0}, "bits: expected"),
        ({"epsilon": 1, "hashes": 0}, "hashes: expected"),
        ({"epsilon": 1, "cohorts": 0}, "cohorts: expected"),
        ({"epsilon": 1, "cohorts": 40_000}, "cohorts: expected"),
        ({"epsilon": 1, "hash_seed": -1}, "hash_seed: expected"),
        ({"epsilon": 1, "oracle": make("DE", epsilon=1, domain_size=9)}, "epsilon: expected none beside the oracle's"),
        ({"bits": 9, "oracle": make("DE", epsilon=1, domain_size=9)}, "bits: expected none beside the oracle's domain"),
        ({"oracle": "DE"}, "oracle: expected a scheme such as"),
        ({"oracle": make("OLH", epsilon=1, domain=Keys())}, "oracle: expected an oracle with a domain_size,"),
        ({"oracle": sampled()}, "oracle: expected an oracle with a domain_size,"),
        ({"oracle": make("DE", epsilon=1, domain_size=2**16 + 1)}, "oracle: domain_size: expected"),
    ],
)
def test_wrong_parameters_are_refused(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(plausibly.ParameterError, match=message):
        make("BLOOM", **{"domain_size": 20, **parameters})


def test_forged_json_is_refused() -> None:
    whole, part = (json.loads(scheme.to_json()) for scheme in (bloom(), sampled()))
    for given, forged in (
        (whole, {"keep": str(int(whole["keep"]) + 1)}),
        (whole, {"oracle": None}),
        (whole, {"oracle": part["oracle"]}),
        (part, {"epsilon": "4"}),
        (part, {"bits": 16}),
        (part, {"keep": "5"}),
    ):
        with pytest.raises(plausibly.ParameterError):
            plausibly.from_json(json.dumps({**given, **forged}))


def test_a_device_refuses_more_bits_than_two_bytes_name() -> None:
    part = json.loads(sampled(epsilon=1).to_json())
    for bits, refused in ((2**16, False), (2**16 + 1, True)):
        wide = {**part, "oracle": json.loads(make("DE", epsilon=1, domain_size=bits).to_json())}
        with pytest.raises(device.DeviceError, match="at most 65536 integers") if refused else nullcontext():
            trusting.load(json.dumps(wide)).privatize(0)


# --- state ------------------------------------------------------------------------------------------------------


@pytest.mark.full
@pytest.mark.parametrize("scheme", [bloom(), sampled("HM")], ids=repr)
def test_states_merge_and_travel(scheme: Scheme) -> None:
    reports = scheme.privatize([i % 7 for i in range(400)], rng=SeededRandom(2))
    whole, left, right = (scheme.accumulator() for _ in range(3))
    whole.add(reports)
    left.add(reports[:150])
    right.add(reports[150:])
    left.merge(right)
    assert left.to_bytes() == whole.to_bytes()
    restored = plausibly.Accumulator.from_bytes(scheme, whole.to_bytes())
    np.testing.assert_array_equal(restored.estimate().values, whole.estimate().values)


# --- decoding ---------------------------------------------------------------------------------------------------


@pytest.mark.full
def test_estimates_say_how_they_were_made_and_claim_no_variance() -> None:
    tally = bloom().simulate([1000] + 19 * [10], SeededRandom(1))
    estimates = tally.estimate()
    assert estimates.complete
    assert estimates.variance is None
    assert estimates.history == (decoding("non-negative regression"),)
    with pytest.raises(plausibly.StateError, match="no variance, hence no interval, after non-negative regression"):
        estimates.interval()
    with pytest.raises(plausibly.StateError, match="no integer scores; ask for estimates"):
        tally.scores()
    with pytest.raises(plausibly.StateError, match="no variance in closed form"):
        tally.scheme.variance(100)


@pytest.mark.full
@pytest.mark.parametrize("alpha", [pytest.param(0, marks=FULL), 0.005, pytest.param(0.5, marks=FULL)])
@pytest.mark.parametrize("scheme", [bloom(bits=8, hashes=3, cohorts=6), sampled("OUE", cohorts=6)], ids=repr)
def test_counts_are_the_non_negative_ridge_regression_of_the_bits(scheme: Any, alpha: float) -> None:
    # Few bits, so that hashes meet and a filter is not a sum. Checked by the conditions of Karush, Kuhn and Tucker.
    tally: Any = scheme.simulate([3000, 0, 2000, 900] + 16 * [20], SeededRandom(4))
    values = tally.estimate(alpha=alpha).values
    n, m = tally.n, scheme.width
    bits = [scheme.oracle.estimator() if scheme.oracle else None][0]
    p = scheme.keep / 2**64 if scheme.oracle is None else float(Fraction(scheme.oracle.keep, WORD))
    q = 1 - p if scheme.oracle is None else float(Fraction(scheme.oracle.flip, WORD))
    shares = (tally.state / n[:, None] - q) / (p - q)
    hashes = scheme.hashes if bits is None else 1
    chance = 1 - (1 - 1 / m) ** hashes
    # Holders of a bit of OUE have another variance: the mean over the bits has f = 1/m of the users, as estimated.
    own = np.clip(shares, 0, 1).mean(axis=1) * (1 - p - q) / (p - q)
    weights = n / (q * (1 - q) / (p - q) ** 2 + own + chance * (1 - chance))
    design = np.zeros((len(n), m, 20))
    for channel, item in product(range(len(n)), range(20)):
        if bits is None:
            design[channel, sorted(true_bits(scheme, channel, item)), item] = 1
        else:
            design[channel, device.local_hash(int(scheme.seeds[channel]), item, scheme.split, m), item] = 1
    columns = design.reshape(-1, 20)[:, values > 0]
    y, w = shares.reshape(-1), np.repeat(weights, m)
    b = values[values > 0] / n.sum()
    rest = y - columns @ b
    rest -= np.average(rest, weights=w)
    precision = hashes * weights.sum()
    pulls = (columns.T @ (w * rest) - alpha * precision * b) / np.sqrt(precision)
    assert 3 <= len(b) < 20
    np.testing.assert_allclose(pulls, 0, atol=0.01)  # in standard errors of a count


@pytest.mark.full
def test_candidates_join_in_rounds_and_the_result_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    tally = bloom(bits=32, domain_size=400).simulate(zipf(400, 50_000, seed=1), SeededRandom(1))
    at_once = tally.estimate().values
    monkeypatch.setattr(regression, "_NEW_AT_ONCE", 2)
    np.testing.assert_allclose(tally.estimate().values, at_once, atol=1)
    assert 10 < (at_once > 0).sum() < 200


def test_zero_reports_and_zero_candidates_give_zeros() -> None:
    assert bloom().accumulator().estimate().values.tolist() == [0.0] * 20
    tally = bloom().simulate([100] * 20, SeededRandom(1))
    assert tally.estimate([]).values.tolist() == []


@pytest.mark.full
@pytest.mark.parametrize("candidates", [["ant"], ["ant", "bee"], ["ant", "bee", "eel", "ant"]], ids=str)
def test_a_handful_of_candidates_is_enough(candidates: list[str]) -> None:
    # 20,000 users at epsilon 8: a bit has variance 0.21 for each, two bits give a standard error of 46.
    # Five of them is 1 false alarm in 10^6; ridge shrinks the largest by at most 0.005 * 12,000.
    scheme = bloom(epsilon=8, bits=64, cohorts=16, domain=Keys(), domain_size=None)
    crowd = {"ant": 12_000, "bee": 5_000} | {f"other-{i}": 1 for i in range(3_000)}
    values = scheme.simulate(crowd, SeededRandom(6)).estimate(candidates).values
    expected = [crowd.get(name, 0) for name in candidates]
    np.testing.assert_allclose(values, expected, atol=5 * 46 + 0.005 * 12_000)


@pytest.mark.full
def test_text_is_found_whatever_it_is_and_what_nobody_holds_is_not() -> None:
    # Of 1000 candidates that nobody holds about one is let through, with a count of some standard errors (of 130).
    scheme = bloom(epsilon=5, bits=64, cohorts=32, domain=Keys(), domain_size=None)
    crowd: dict[Any, int] = {"": 9_000, "https://example.org/ä": 7_000, "5": 5_000, 5: 3_000, b"5": 1_500}
    never = [f"never-{i}" for i in range(1_000)]
    estimates = scheme.simulate(crowd, SeededRandom(8)).estimate([*never, *crowd])
    found = estimates.top(5)
    assert found.items.tolist() == list(crowd)
    assert (estimates.values[:1_000] > 0).sum() <= 8  # Poisson(1), and collisions: more than 8 once in 10^6
    assert estimates.values[:1_000].max() < 1_000


@pytest.mark.parametrize("alpha", [-1, float("nan"), float("inf"), "much", True, None])
def test_a_ridge_that_is_no_penalty_is_refused(alpha: Any) -> None:
    with pytest.raises(plausibly.ParameterError, match="alpha: expected a number of at least 0"):
        bloom().accumulator().estimate(alpha=alpha)


def test_misspelt_options_are_refused() -> None:
    with pytest.raises(plausibly.ParameterError, match=r"unknown option 'alfa'; did you mean 'alpha'\?"):
        bloom().accumulator().estimate(alfa=1)


def test_without_scikit_learn_a_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    tally = bloom().simulate([10] * 20, SeededRandom(1))
    monkeypatch.setitem(sys.modules, "sklearn", None)
    with pytest.raises(ImportError, match=r"need scikit-learn: pip install scikit-learn"):
        tally.estimate()
    assert len(plausibly.Accumulator.from_bytes(tally.scheme, tally.to_bytes())) == 200  # all but decoding works


@pytest.mark.full
@pytest.mark.parametrize(
    ("kind", "least"),
    [("whole filter", 0.85), ("whole filter of one hash", 0.9), ("one bit through OLH", 0.9)],
)
def test_most_of_the_top_20_of_10_000_candidates_are_found(kind: str, least: float) -> None:
    # A Zipf crowd of a million at epsilon 3, where any protocol confuses the 20th item with its neighbours and none
    # reaches more than 0.97 on average. On sixteen other seeds the means were 0.916, 0.956 and 0.972, and recall had a
    # standard deviation of 0.05, 0.035 and 0.025 a seed. The limits lie 3.7 standard errors of a mean of eight below
    # and more: a false alarm in 9,000, were the seeds not fixed.
    recalls = []
    for seed in range(8):
        given: dict[str, Any] = {"domain_size": 10_000, "hash_seed": seed}
        scheme = {
            "whole filter": lambda: plausibly.RAPPOR(3, **given),  # noqa: B023
            "whole filter of one hash": lambda: plausibly.RAPPOR(3, hashes=1, **given),  # noqa: B023
            "one bit through OLH": lambda: sampled(bits=128, cohorts=64, **given),  # noqa: B023
        }[kind]()
        counts = zipf(10_000, 10**6, seed)
        recalls.append(recall(counts, scheme.simulate(counts, SeededRandom(seed)).estimate().values))
    print(f"{kind}: recall of the top 20 by seed {recalls}")
    assert np.mean(recalls) >= least


@pytest.mark.full
def test_100_000_candidates_take_seconds() -> None:
    # No limit is asserted: the time belongs to the machine. The top 5 are 15 standard errors apart and more.
    counts = zipf(100_000, 10**6, seed=3)
    tally = plausibly.RAPPOR(3, domain_size=100_000).simulate(counts, SeededRandom(3))
    started = time.perf_counter()
    values = tally.estimate().values
    print(f"100,000 candidates decoded in {time.perf_counter() - started:.2f} s")
    assert recall(counts, values, k=5) == 1
