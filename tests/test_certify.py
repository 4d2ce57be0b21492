"""The audits: exact certificates for every oracle, honest texts, and a statistical bound that means what it says."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import plausibly
from contract.entries import ORACLES, ORDERED, SEARCHES, SKETCHES, build, required, settable, sized, tickets
from drawn import thinned
from faults.detectors import EveryDecoder
from faults.detectors import make as make_with_every_decoder
from plausibly import Integers, Keys, Ordered, Scheme, SeededRandom, Strings, audit, audit_statistically
from plausibly.certify import StatisticalAudit, clopper_pearson
from plausibly.core.arguments import from_decimal
from plausibly.core.domain import Domain
from plausibly.core.enumeration import Branching, Probe, mixture, output_law, public_law, public_outcomes, worst_ratio
from plausibly.core.grouped import Grouped
from plausibly.core.mean_only import MeanOnly
from plausibly.core.probability import WORD, within_exp
from plausibly.search.base import Search

EPSILONS = ("0.1", "0.5", "1", "2", "3", "5", "8")
SIZES = (2, 3, 5, 8, 16)
# A budget for what is audited in hundreds of settings.
QUICK = 20_000
# Two settings are part of every run, or one where hashes have e^8 values; the whole grid takes about ten seconds.
WIDE = ("OLH", "FLH", "TLH", "AGR")
GRID = [
    pytest.param(
        name,
        epsilon,
        size,
        marks=() if (epsilon, size) in (("0.1", 5), ("8", 2))[: 1 if name in WIDE else 2] else pytest.mark.full,
    )
    for name in ORACLES
    for epsilon in EPSILONS
    for size in SIZES
]
# Every sketch over every oracle takes some seconds; in every run each oracle has its turn below one sketch.
SKETCHED = [
    pytest.param(
        name,
        oracle,
        epsilon,
        width,
        marks=() if (epsilon, width, i % len(SKETCHES)) == ("1", 4, j) else pytest.mark.full,
    )
    for j, name in enumerate(SKETCHES)
    for i, oracle in enumerate(ORACLES)
    for epsilon in ("0.1", "1", "3")
    for width in (4, 6)
]
ENUMERABLE = ("HM",)
"""Besides those without public coins."""
# Their hashes grow with e^epsilon: from 5 on there are more matrices, or lines, and errors than an audit enumerates.
ENUMERABLE_UP_TO_3 = ("TLH", "AGR")


# --- every oracle holds -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "epsilon", "size"), GRID)
def test_every_oracle_delivers_its_epsilon_and_hardly_less(name: str, epsilon: str, size: int) -> None:
    scheme = make_with_every_decoder(name, epsilon=epsilon, domain_size=size)
    certificate = audit(scheme, draws=QUICK)
    assert certificate.findings == ()
    least = Fraction("0.5" if scheme.spends_less else "0.999")
    assert least * scheme.epsilon < certificate.epsilon <= scheme.epsilon
    assert certificate.epsilon == scheme.privacy_loss()
    assert certificate.attained
    assert isinstance(certificate.worst_ratio, Fraction)
    assert within_exp(certificate.worst_ratio, scheme.epsilon)
    enumerable = not scheme.randomizer.public_words or name in ENUMERABLE
    enumerable = enumerable or (name in ENUMERABLE_UP_TO_3 and scheme.epsilon <= 3)
    expected = True if enumerable else None
    assert (certificate.unbiased, certificate.variance_exact) == (expected, expected)


def sketch(name: str, oracle: Scheme, **given: Any) -> Scheme:
    """A sketch of three rows over an oracle."""
    rows = {key: 3 for key in ("rows", "cohorts") if key in settable(name)}
    return plausibly.make(name, oracle=oracle, **rows, **given)


@pytest.mark.parametrize(("name", "oracle", "epsilon", "width"), SKETCHED)
def test_every_sketch_delivers_the_epsilon_of_its_oracle(name: str, oracle: str, epsilon: str, width: int) -> None:
    part = plausibly.make(oracle, epsilon=epsilon, domain_size=width)
    scheme = sketch(name, part, domain_size=9)
    certificate = audit(scheme, draws=QUICK)
    assert certificate.findings == ()
    assert certificate.epsilon == scheme.privacy_loss() == part.privacy_loss()
    assert certificate.attained
    assert certificate.worst_ratio == part.randomizer.worst_ratio()
    assert within_exp(Fraction(certificate.worst_ratio), scheme.epsilon)
    assert (certificate.unbiased, certificate.variance_exact) == (None, None)


@pytest.mark.full
@pytest.mark.parametrize("name", SKETCHES)
@pytest.mark.parametrize(
    ("oracle", "width", "given"),
    [
        ("OUE", 256, {"domain_size": 10**6}),
        ("OUE", 256, {"domain": Keys()}),
        ("SS", 64, {"domain": ["ant", "bee", "cat"], "other": True}),
        ("DE", 2**16, {"domain_size": 2}),
        ("OLH", 1024, {"domain": Keys(7)}),
        ("TLH", 2**16, {"domain_size": 10**5}),
    ],
    ids=str,
)
def test_sketches_of_many_cells_and_of_any_items_hold(name: str, oracle: str, width: int, given: Any) -> None:
    # The coins are those of the cells: two items may stand over 2^256 outcomes, and a million over few cells.
    certificate = audit(sketch(name, plausibly.make(oracle, epsilon=3, domain_size=width), **given), draws=QUICK)
    assert certificate.proved
    assert certificate.attained


# Every second scheme in turn below each search, with an epsilon in turn; in every run the fastest below some.
SEARCHED = [
    pytest.param(
        name,
        oracle,
        ("0.1", "1", "3")[i % 3],
        marks=() if oracle == "FLH" and name in thinned(SEARCHES) else pytest.mark.full,
    )
    for j, name in enumerate(SEARCHES)
    for i, oracle in enumerate((*ORACLES, *SKETCHES))
    # Searches that want oracles of given sizes have some of their own, whatever is said.
    if ((i + j) % 2 and required(name) <= {"oracle", "word_oracle"}) or oracle == "FLH"
]


@pytest.mark.parametrize(("name", "oracle", "epsilon"), SEARCHED)
def test_every_search_delivers_what_its_parts_spend_together(name: str, oracle: str, epsilon: str) -> None:
    scheme = search_over(name, oracle, epsilon)
    certificate = audit(scheme, draws=QUICK)
    assert certificate.findings == ()
    assert certificate.epsilon == scheme.privacy_loss() <= scheme.epsilon
    # Filters of a few strings may have bits in common.
    assert certificate.attained or "cohorts" in settable(oracle)
    losses = [[scheme.parts[i].scheme.privacy_loss() for i in group] for group in scheme.groups]
    # Bounds of logarithms are rounded up, each on its own.
    assert max(map(sum, losses)) - scheme.privacy_loss() < Fraction(1, 10**9)
    assert certificate.public_outcomes >= len(scheme.groups), "every group is run"


def search_over(name: str, oracle: str, epsilon: str) -> Scheme:
    """A search for strings of one or two letters over an entry with few coins, be it one over integers."""
    keyed = Keys in plausibly.CATALOG[oracle].accepts
    if keyed:
        return build(f"{name} over {oracle}", Strings("ab", 2), epsilon)
    return plausibly.CATALOG[name].example(
        epsilon, Strings("a", 2), lambda each, _: plausibly.make(oracle, epsilon=each, domain_size=4)
    )


# One setting is quick and part of every run.
IN_ORDER = [
    pytest.param(name, epsilon, domain, marks=() if (epsilon, domain.size) == ("1", 5) else pytest.mark.full)
    for name in ORDERED
    for epsilon in ("0.1", "1", "3", "8")
    for domain in (Integers(2), Integers(5), Ordered(-2, 5, other=True), Integers(16))
    if not domain.other or issubclass(plausibly.CATALOG[name], Grouped)  # others have no place outside the order
]


@pytest.mark.parametrize(("name", "epsilon", "domain"), IN_ORDER)
def test_every_scheme_for_values_in_order_delivers_its_epsilon_and_states_its_law(
    name: str, epsilon: str, domain: Domain
) -> None:
    scheme = build(name, domain, epsilon)
    certificate = audit(scheme, draws=QUICK)
    assert certificate.findings == ()
    assert certificate.proved
    assert certificate.attained
    assert Fraction("0.999") * scheme.epsilon < certificate.epsilon == scheme.privacy_loss() <= scheme.epsilon
    stated = isinstance(scheme.estimator(), MeanOnly) or scheme.linear
    assert (certificate.unbiased, certificate.variance_exact) == ((True, True) if stated else (None, None))
    assert certificate.public_outcomes >= len(tickets(scheme)), "every group is run"


def test_the_certificate_of_a_sketch_reads_well() -> None:
    oracle = plausibly.make("DE", epsilon=1, domain_size=4)
    text = str(audit(plausibly.make("CM", oracle=oracle, rows=3, domain_size=9)))
    assert text.splitlines()[0].endswith(" holds: the client was run on every item with every coin")
    assert text.splitlines()[1:] == [
        "  privacy   epsilon <= 1, attained",
        "  client    run on all private coins, 162 paths: every item with every coin",
        "  bulk      compared with the client on every item, 256 tapes of words",
        "  unbiased  given a fresh hash_seed",
        "  variance  given a fresh hash_seed",
    ]


@pytest.mark.full
@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("variant", ["pure", "block"])
def test_both_variants_of_hadamard_response_are_exact(variant: str, epsilon: str) -> None:
    certificate = audit(plausibly.make("HR", epsilon=epsilon, domain_size=11, variant=variant))
    assert certificate.holds
    assert certificate.unbiased
    assert certificate.variance_exact
    assert certificate.moment_items == 11


@pytest.mark.full
@pytest.mark.parametrize("coefficients", [1, 2, 3])
@pytest.mark.parametrize("epsilon", ["0.5", "3"])
def test_both_decoders_of_the_hadamard_mechanism_are_exact(epsilon: str, coefficients: int) -> None:
    certificate = audit(make_with_every_decoder("HM", epsilon=epsilon, domain_size=4, coefficients=coefficients))
    assert certificate.holds
    assert certificate.unbiased
    assert certificate.variance_exact


@pytest.mark.full
@pytest.mark.parametrize(
    ("name", "size", "shape"),
    [
        ("SS", 6, {"subset_size": 5}),
        ("TLH", 5, {"hash_bits": 2, "window": 2}),
        ("TLH", 3, {"hash_bits": 3, "window": 5}),
        ("AGR", 16, {"hash_bits": 2, "dimension": 2, "window": 2}),
        ("AGR", 8, {"hash_bits": 2, "dimension": 2, "window": 3}),
        ("AGR", 8, {"hash_bits": 3, "dimension": 1, "window": 3}),
        ("AGR", 7, {"hash_bits": 1, "dimension": 5}),
    ],
    ids=str,
)
@pytest.mark.parametrize("epsilon", ["0.5", "3"])
def test_subsets_and_windows_of_any_size_are_exact(name: str, size: int, shape: dict[str, int], epsilon: str) -> None:
    certificate = audit(plausibly.make(name, epsilon=epsilon, domain_size=size, **shape))
    assert certificate.holds
    assert certificate.attained
    assert certificate.unbiased
    assert certificate.variance_exact
    assert certificate.moment_items >= 3


def test_a_wrong_decoder_among_several_is_found() -> None:
    class Careless(EveryDecoder):
        def _sign_sums(self, cells: Any, n: int, codes: Any) -> Any:
            return super()._sign_sums(cells, n, codes) + 1

    certificate = audit(Careless(epsilon="1", domain=Integers(4)))
    assert certificate.findings == ("the estimate is biased",)


@pytest.mark.full
@pytest.mark.parametrize(
    "scheme",
    [
        plausibly.make("OLH", epsilon=1, domain=Keys()),
        plausibly.make("FLH", epsilon=2, domain=Keys(7), hashes=20),
        plausibly.make("BLH", epsilon="0.1", domain=Keys()),
        plausibly.make("OUE", epsilon=1, domain=["ant", "bee", "cat"], other=True),
        plausibly.make("DE", epsilon=1, domain=["ant", "bee"]),
        plausibly.make("HM", epsilon=3, domain=[str(i) for i in range(100)]),
        plausibly.make("TLH", epsilon=1, domain=Keys()),
        plausibly.make("TLH", epsilon=5, domain=Keys(7)),
        plausibly.make("SS", epsilon=1, domain=["ant", "bee", "cat"], other=True),
        plausibly.make("AGR", epsilon=3, domain=[str(i) for i in range(100)]),
    ],
    ids=repr,
)
def test_keys_and_labels_are_audited_as_encoded_items(scheme: Scheme) -> None:
    certificate = audit(scheme)
    assert certificate.holds
    assert certificate.attained


@pytest.mark.full
@pytest.mark.parametrize(
    ("name", "size"),
    [
        ("DE", 10**6),
        ("OUE", 1024),
        ("SUE", 300),
        ("HR", 10**5),
        ("HM", 10**5),
        ("OLH", 10**6),
        ("SS", 1024),
        ("TLH", 10**6),
        ("AGR", 10**5),
    ],
)
def test_large_domains_hold_and_say_what_was_run(name: str, size: int) -> None:
    certificate = audit(plausibly.make(name, epsilon=3, domain_size=size))
    assert certificate.proved
    assert not certificate.complete
    assert certificate.attained
    cut = certificate.enumerated.size < size
    assert cut == (name not in ("HM", "OLH", "TLH", "AGR"))
    first = str(certificate).splitlines()[0]
    assert (" items of a smaller copy of the scheme, and a written proof" in first) == cut
    assert ("; bulk path compared on " in first) == (not certificate.bulk_complete)


# --- what the certificate says ----------------------------------------------------------------------------------


@pytest.mark.full
def test_certificate_reads_well() -> None:
    assert str(audit(plausibly.make("OLH", epsilon=1, domain_size=1024))).splitlines() == [
        "OLH(epsilon=1, domain_size=1024, hash_range=4) holds: "
        "the client was run on every item with 8 of 2^64 public draws, and a written proof covers the rest "
        "(docs/adr/0015-what-the-audit-covers.md)",
        "  privacy   epsilon <= 1, attained",
        "  client    run on all private coins, 49,152 paths: every item with 8 of 2^64 public draws "
        "(hash functions, rows or groups)",
        "  bulk      compared with the client on every item, 3,072 tapes of words",
        "  unbiased  given a pairwise uniform hash family",
        "  variance  given a pairwise uniform hash family",
    ]
    assert str(audit(plausibly.make("OUE", epsilon="0.5", domain_size=3))).splitlines() == [
        "OUE(epsilon=1/2, domain_size=3) holds: the client was run on every item with every coin",
        "  privacy   epsilon <= 0.5, attained",
        "  client    run on all private coins, 24 paths: every item with every coin",
        "  bulk      compared with the client on every item, 256 tapes of words",
        "  unbiased  exactly, over all coins, on 3 items",
        "  variance  exactly, over all coins, on 3 items",
    ]


def test_the_first_line_does_not_claim_a_bulk_path_that_was_not_compared() -> None:
    certificate = audit(plausibly.make("OLH", epsilon=1, domain_size=10**6), draws=QUICK)
    assert certificate.proved
    assert certificate.to_dict()["bulk_complete"] is False
    assert str(certificate).splitlines()[0] == (
        "OLH(epsilon=1, domain_size=1000000, hash_range=4) holds: the client was run on 10 of 1,000,000 items with "
        "8 of 2^64 public draws, and a written proof covers the rest (docs/adr/0015-what-the-audit-covers.md); "
        "bulk path compared on 64 items"
    )
    assert str(replace(certificate, compared=None)).splitlines()[0].endswith("; bulk path compared on no item")


@pytest.mark.full
def test_what_was_not_enumerated_is_told() -> None:
    filters = plausibly.make("BLOOM", epsilon=1, domain_size=4, bits=4, hashes=1, cohorts=2)
    assert "  unbiased  for the bits; the regression on them is biased" in str(audit(filters, draws=QUICK))
    assert "  unbiased  not enumerated: too many coins" in str(
        audit(plausibly.make("AGR", epsilon=8, domain_size=50), draws=QUICK)
    )


def test_certificate_of_a_fault_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    scheme = plausibly.make("DE", epsilon=1, domain_size=4)
    monkeypatch.setattr(scheme.randomizer, "perturb", lambda value, public, source: bytes([value]))
    certificate = audit(scheme)
    assert not certificate.holds
    assert certificate.worst_ratio == certificate.epsilon == math.inf
    lines = str(certificate).splitlines()
    assert lines[0] == "DE(epsilon=1, domain_size=4) DOES NOT HOLD"
    assert lines[1] == "  privacy   epsilon <= infinity"
    assert "  FINDING   a likelihood ratio exceeds e^epsilon" in lines


def test_the_epsilon_shown_is_never_below_the_one_delivered() -> None:
    for epsilon in ("1/3", "0.7", "2.718281828459045", "1e-9"):
        certificate = audit(plausibly.make("DE", epsilon=Fraction(epsilon), domain_size=2))
        shown = str(certificate).splitlines()[1].removeprefix("  privacy   epsilon <= ").removesuffix(", attained")
        assert Fraction(shown) >= certificate.epsilon


@pytest.mark.full
def test_the_same_scheme_gets_the_same_certificate() -> None:
    first, second = (audit(plausibly.make("FLH", epsilon=3, domain_size=50)) for _ in range(2))
    assert first == second


def test_hashes_that_send_all_items_to_one_value_are_not_mistaken_for_privacy() -> None:
    # One public function of two values, chosen so that both items collide: nothing can be learned, and the
    # certificate claims no more than the thresholds allow.
    for hash_seed in range(20):
        scheme = plausibly.make("FLH", epsilon=1, domain_size=2, hashes=1, hash_range=2, hash_seed=hash_seed)
        certificate = audit(scheme)
        assert certificate.holds
        assert certificate.epsilon == scheme.privacy_loss()
        if not certificate.attained:
            assert certificate.worst_ratio == 1
            return
    pytest.fail("no colliding function among twenty")


# --- enumeration ------------------------------------------------------------------------------------------------


class Scripted:
    """A client whose perturb is given."""

    words = 1

    def __init__(self, perturb: Any) -> None:
        self._perturb = perturb

    def public(self, source: Any) -> tuple[int, ...]:
        return ()

    def perturb(self, value: int, public: tuple[int, ...], source: Any) -> bytes:
        return bytes([self._perturb(value, source)])

    def worst_ratio(self) -> Fraction:
        return Fraction(1)


def test_laws_are_exact_even_when_draws_depend_on_a_coin() -> None:
    def perturb(value: int, source: Any) -> int:
        return source.below(3) if source.bernoulli(WORD // 4) else 7

    law = output_law(Scripted(perturb), 0, ())
    shares = {record[0]: Fraction(weight, law.denominator) for record, weight in law.weights.items()}
    assert shares == {0: Fraction(1, 12), 1: Fraction(1, 12), 2: Fraction(1, 12), 7: Fraction(3, 4)}
    assert law.shapes == {(0, 3), (0,)}
    assert law.paths == 4


@pytest.mark.parametrize(
    ("threshold", "share"),
    [(0, 0), (-5, 0), (WORD, 1), (WORD + 9, 1), (1, Fraction(1, WORD)), (1.5, Fraction(2, WORD))],
)
def test_a_threshold_counts_the_words_below_it(threshold: Any, share: Any) -> None:
    law = output_law(Scripted(lambda value, source: int(source.bernoulli(threshold))), 0, ())
    assert Fraction(law.weights.get(b"\1", 0), law.denominator) == share


def test_a_record_that_one_item_cannot_send_has_an_infinite_ratio() -> None:
    laws = [output_law(Scripted(lambda value, source: min(value, source.below(2))), x, ()) for x in (0, 1)]
    assert worst_ratio(laws) == math.inf


def test_a_record_that_nobody_can_send_has_no_ratio() -> None:
    laws = [output_law(Scripted(lambda value, source: int(source.bernoulli(0))), x, ()) for x in (0, 1)]
    assert worst_ratio(laws) == 1


def test_mixtures_weigh_laws_alike_whatever_their_denominators() -> None:
    laws = [output_law(Scripted(lambda value, source: source.below(value)), m, ()) for m in (2, 3)]
    law = mixture(laws)
    assert Fraction(law.weights[b"\0"], law.denominator) == Fraction(5, 12)
    assert sum(law.weights.values()) == law.denominator


def test_mixtures_of_groups_have_the_weights_of_the_groups() -> None:
    oracle = plausibly.make("DE", epsilon=1, domain_size=9)
    scheme = plausibly.make("PEM", oracle=oracle, domain=Strings("ab", 2), start=1, step=1, weights=(2, 5))
    chances = public_law(scheme.randomizer, 2)
    assert chances == {(0,): Fraction(2, 7), (1,): Fraction(5, 7)}
    law = mixture([output_law(scheme.randomizer, 4, public) for public in chances], list(chances.values()))
    for report in law.weights:
        record = np.frombuffer(report, dtype=scheme.report_dtype)[0]
        expected = chances[(int(record["group"]),)] * scheme.likelihood(record, 4)
        assert Fraction(law.weights[report], law.denominator) == expected
    assert sum(law.weights.values()) == law.denominator
    assert public_law(scheme.randomizer, 1) is None


def test_public_coins_are_enumerated_if_few_and_equally_likely() -> None:
    client = plausibly.make("HM", epsilon=1, domain_size=4, coefficients=2).randomizer
    assert public_outcomes(client, 15) is None
    assert sorted(public_outcomes(client, 16) or []) == [(i, j) for i in range(4) for j in range(4)]


def test_probe_knows_the_words_at_which_draws_change_their_mind() -> None:
    probe = Probe()
    probe.bernoulli(1000)
    probe.below(3)
    assert probe.shape == [0, 3]
    assert probe.paths == 6
    # 2^64 = 3 * 6148914691236517205 + 1: only the last word is refused.
    assert probe.critical == {0, 2, 3, 999, 1000, WORD - 2, WORD - 1}


def test_branching_source_takes_first_options_beyond_its_path() -> None:
    source = Branching([1])
    assert source.bernoulli(WORD // 4) is False
    assert source.below(5) == 0
    assert source.path == [1, 0]
    assert source.weight == WORD - WORD // 4


# --- the statistical audit --------------------------------------------------------------------------------------


def exact_tail(trials: int, successes: range, p: float) -> Fraction:
    share = Fraction(p)
    return sum((math.comb(trials, k) * share**k * (1 - share) ** (trials - k) for k in successes), Fraction(0))


@pytest.mark.parametrize(
    ("successes", "trials"),
    [(1, 1), (3, 10), (9, 10), (50, 100), *(pytest.param(k, 200, marks=pytest.mark.full) for k in (1, 199))],
)
@pytest.mark.parametrize("alpha", [0.05, 1e-6])
def test_clopper_pearson_bounds_leave_exactly_alpha(successes: int, trials: int, alpha: float) -> None:
    low, high = clopper_pearson(successes, trials, alpha)
    at_least, at_most = range(successes, trials + 1), range(successes + 1)
    assert exact_tail(trials, at_least, low) == pytest.approx(alpha, rel=1e-6)
    if successes < trials:
        assert exact_tail(trials, at_most, high) == pytest.approx(alpha, rel=1e-6)


def test_clopper_pearson_at_the_ends_has_its_closed_form() -> None:
    assert clopper_pearson(0, 50, 0.01) == (0.0, pytest.approx(1 - 0.01 ** (1 / 50), rel=1e-9))
    assert clopper_pearson(50, 50, 0.01) == (pytest.approx(0.01 ** (1 / 50), rel=1e-9), 1.0)
    # By hand for two trials: p^2 + 2p(1-p) = alpha and (1-p)^2 + 2p(1-p) = alpha.
    assert clopper_pearson(1, 2, 0.19) == (pytest.approx(0.1, rel=1e-9), pytest.approx(0.9, rel=1e-9))


def leak(scheme: Scheme, factor: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes the bulk path of the scheme really deliver ``factor`` times its epsilon."""
    while not isinstance(scheme, Search) and hasattr(scheme, "oracle"):
        scheme = scheme.oracle
    if isinstance(scheme, Grouped):
        # By way of its parts, also where one kernel does the work of all.
        monkeypatch.setattr(type(scheme), "respond", Grouped.respond)
        return leak(scheme.parts[0].scheme, factor, monkeypatch)  # the others are of its kind
    respond = type(scheme).respond

    @cache
    def louder(honest: Scheme) -> Scheme:
        same = {key: from_decimal(value) for key, value in honest.parameters.items()}
        return replace(honest, epsilon=honest.epsilon * Fraction(factor), **same)

    monkeypatch.setattr(type(scheme), "respond", lambda self, *arguments: respond(louder(self), *arguments))


def each_of_eight_items(name: str, epsilon: int) -> Scheme:
    """The entry on eight items, or some strings; a sketch over direct encoding of as many cells."""
    if name in SEARCHES:
        return build(f"{name} over FLH", Strings("ab", 2), epsilon)
    if name in SKETCHES:
        return sketch(name, plausibly.make("DE", epsilon=epsilon, domain_size=8), domain_size=8)
    memo = {"memo_epsilon": 2 * epsilon} if plausibly.CATALOG[name].linkable else {}
    return plausibly.make(name, epsilon=epsilon, domain=sized(name, 8), **memo)


@pytest.mark.full
@pytest.mark.parametrize("name", plausibly.CATALOG)
def test_honest_reports_are_consistent_and_the_bound_comes_close(name: str) -> None:
    # False alarm: one choice of seed in a thousand for each entry.
    scheme = each_of_eight_items(name, 1)
    found = audit_statistically(scheme, reports=3_000, rng=SeededRandom(1))
    assert found.consistent
    # How close it comes for a search depends on how many groups tell its strings apart: the exact audit attains it.
    # Several parts that are sent together, or a hash function beside the answer, make more records, each of them rarer.
    several = (isinstance(scheme, Grouped) and len(scheme.groups[0]) > 1) or name == "LOLOHA"
    near = 0 if name in SEARCHES else 0.5 if several else 0.6
    assert found.lower_bound > near * float(scheme.privacy_loss())
    assert found.reports == 9_000


@pytest.mark.full
@pytest.mark.parametrize("name", [*ORACLES, *SKETCHES, *ORDERED])
def test_thirty_percent_too_much_epsilon_is_found(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    scheme = each_of_eight_items(name, 2)
    # A scheme that delivers less than it is asked for has as much more to leak before it breaks its promise.
    more = Fraction("1.3") * (2 if scheme.spends_less else 1)
    leak(scheme, str(more), monkeypatch)
    found = audit_statistically(scheme, reports=6_000, rng=SeededRandom(1))
    assert not found.consistent
    assert 2 < found.lower_bound < 2 * more
    assert "VIOLATES its epsilon" in str(found)


@pytest.mark.full
@pytest.mark.parametrize("name", SEARCHES)
def test_a_search_without_noise_is_found(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # The event weighs all groups, most of which cannot tell two strings apart: it finds gross leaks. Small ones show
    # on the tapes of the exact audit.
    scheme = each_of_eight_items(name, 2)
    leak(scheme, "10", monkeypatch)
    assert not audit_statistically(scheme, reports=1_000, rng=SeededRandom(1)).consistent


def test_a_leak_in_a_large_bitmap_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    scheme = plausibly.make("OUE", epsilon=1, domain_size=2000)
    honest = audit_statistically(scheme, reports=4_000, rng=SeededRandom(2))
    leak(scheme, "1.5", monkeypatch)
    assert honest.consistent
    assert not audit_statistically(scheme, reports=4_000, rng=SeededRandom(2)).consistent


def test_a_leak_outside_the_stated_likelihood_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    scheme = plausibly.make("OLH", epsilon=1, domain_size=8)
    respond = type(scheme).respond

    def careless(self: Scheme, values: Any, draws: Any, out: Any) -> npt.NDArray[np.int64]:
        redo = respond(self, values, draws, out)
        out["seed"] = out["seed"] & ~np.uint64(1) | values & np.uint64(1)
        return redo

    monkeypatch.setattr(type(scheme), "respond", careless)
    assert audit_statistically(scheme, reports=1_000, rng=SeededRandom(3)).lower_bound > 3


def test_statistical_audit_is_reproducible_and_secure_by_default() -> None:
    scheme = plausibly.make("HR", epsilon=1, domain_size=5)
    first, second = (audit_statistically(scheme, reports=500, rng=SeededRandom(4)) for _ in range(2))
    assert first == second
    assert audit_statistically(scheme, reports=500) != audit_statistically(scheme, reports=500)


@pytest.mark.full
def test_the_bound_is_wrong_no_more_often_than_stated() -> None:
    # Two items of direct encoding: the event has the worst ratio, so the bound is as tight as it gets. At confidence
    # 1/2 at most half of the bounds may exceed epsilon; more than 45 of 60 would be a four-sigma accident.
    scheme = plausibly.make("DE", epsilon=1, domain_size=2)
    found = [audit_statistically(scheme, reports=300, confidence=0.5, rng=SeededRandom(s)) for s in range(60)]
    wrong = sum(not one.consistent for one in found)
    assert 0 < wrong <= 45


def test_statistical_audit_reads_well() -> None:
    found = StatisticalAudit(plausibly.make("DE", epsilon=1, domain_size=4), 0.91234, 0.999, 60_000)
    assert str(found) == (
        "DE(epsilon=1, domain_size=4) is consistent with its epsilon: "
        "60,000 reports show epsilon >= 0.9123 with confidence 0.999"
    )


@pytest.mark.parametrize(
    "wrong", [{"confidence": 0}, {"confidence": 1.0}, {"confidence": "high"}, {"reports": 7}, {"reports": 9.5}]
)
def test_statistical_audit_refuses_what_makes_no_sense(wrong: dict[str, Any]) -> None:
    with pytest.raises(plausibly.ParameterError, match="at least 8 reports"):
        audit_statistically(plausibly.make("DE", epsilon=1, domain_size=4), **wrong)
