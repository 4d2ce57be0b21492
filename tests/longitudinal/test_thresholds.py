"""The thresholds of schemes with a memo: as large as both promises allow, and what the published ones give away."""

from __future__ import annotations

from fractions import Fraction
from math import exp, log

import pytest

import plausibly
from cases import in_turn
from plausibly import ParameterError
from plausibly.core.bound import best_noise
from plausibly.core.linear_hashing import excess_variance
from plausibly.core.memoised import Memoised
from plausibly.core.probability import WORD, within_exp
from plausibly.planner.description import Description
from plausibly.planner.devices import device_notes, epsilon_refused

NAMES = ["LOLOHA", "LOSUE", "LSUE"]
BUDGETS = [("1/10", "1/5"), ("1/2", "1"), ("1", "2"), ("1", "4"), ("2", "3"), ("2", "21/10"), ("4", "8"), ("8", "9")]


def made(name: str, epsilon: str = "1", memo_epsilon: str = "2", size: int = 16, **own: int) -> Memoised:
    scheme = plausibly.make(name, epsilon=epsilon, memo_epsilon=memo_epsilon, domain_size=size, **own)
    assert isinstance(scheme, Memoised)
    return scheme


def test_the_example_of_the_derivation_has_these_integers() -> None:
    scheme = plausibly.make("LOLOHA", epsilon=1, memo_epsilon=2, domain_size=16, hash_bits=2)
    assert scheme.memo_keep == 13119962536085084704
    assert scheme.keep == 11371725261715285808
    assert round(scheme.variance(n=1) / best_noise(1.0), 3) == 1.002


@in_turn(("name", "budget"), [(name, budget) for name in NAMES for budget in BUDGETS])
def test_both_promises_are_kept_and_no_larger_threshold_keeps_them(name: str, budget: tuple[str, str]) -> None:
    scheme = made(name, *budget)
    fields = scheme.to_dict()

    def ratios(**changed: int) -> tuple[Fraction, Fraction]:
        client = plausibly.device.randomizer_of(fields | {key: str(value) for key, value in changed.items()})
        assert isinstance(client, plausibly.device.Memoised)
        return client.worst_ratio(), client.memo_ratio()

    first, lasting = ratios()
    assert within_exp(first, scheme.epsilon)
    assert within_exp(lasting, scheme.memo_epsilon)
    assert not within_exp(ratios(keep=int(fields["keep"]) + 1)[0], scheme.epsilon)
    # Two thresholds of unary bits may each leave a step to the other.
    field, step = ("memo_keep", 1) if name == "LOLOHA" else ("memo_flip", -2)
    assert not within_exp(ratios(**{field: int(fields[field]) + step})[1], scheme.memo_epsilon)
    # To the last digit that a double has.
    assert float(scheme.privacy_loss()) == float(scheme.epsilon)
    assert float(scheme.memo_loss()) == float(scheme.memo_epsilon)


@pytest.mark.full
@in_turn("name", NAMES)
def test_the_certificate_has_both_epsilons_and_what_they_do_not_promise(name: str) -> None:
    for size in (4, 1000):
        scheme = made(name, size=size)
        found = plausibly.audit(scheme)
        assert found.proved
        assert found.attained
        assert found.memo is not None
        assert found.memo.attained
        assert (float(found.epsilon), float(found.memo.epsilon)) == (1.0, 2.0)
        assert scheme.caution in str(found)
        written = found.to_dict()
        assert written["caution"] == scheme.caution
        assert written["memo"]["epsilon_rounded_up"] == "2"
    assert "memo" not in plausibly.audit(plausibly.make("DE", epsilon=1, domain_size=4)).to_dict()


def published(epsilon: float, memo_epsilon: float, g: int) -> tuple[float, float]:
    """The epsilon that the published second level delivers, and its variance (Arcolezi et al. 2023, algorithm 1)."""
    a, b = exp(memo_epsilon), exp(epsilon)
    second = (a * b - 1) / (a - b)
    p1, p2 = a / (a + g - 1), second / (second + g - 1)
    p = p1 * p2 + (1 - p1) * (1 - p2) / (g - 1)
    return log(p * (g - 1) / (1 - p)), (g - 1) / g**2 / (p - 1 / g) ** 2


@pytest.mark.parametrize(
    ("epsilon", "memo_epsilon", "bits", "delivered", "worse"),
    [("1", "2", 2, 0.901, 1.26), ("2", "3", 3, 1.85, 1.22), ("1", "2", 1, 1.0, 1.0)],
)
def test_the_published_second_level_delivers_less_than_asked_but_for_two_cells(
    epsilon: str, memo_epsilon: str, bits: int, delivered: float, worse: float
) -> None:
    scheme = made("LOLOHA", epsilon, memo_epsilon, hash_bits=bits)
    loss, variance = published(float(epsilon), float(memo_epsilon), 2**bits)
    assert loss == pytest.approx(delivered, abs=0.005)
    assert variance / scheme.variance(n=1) == pytest.approx(worse, abs=0.005)


def test_the_default_number_of_cells_is_the_smallest_that_costs_at_most_five_percent() -> None:
    for epsilon, memo_epsilon in BUDGETS:
        chosen = made("LOLOHA", epsilon, memo_epsilon)
        noises = {bits: made("LOLOHA", epsilon, memo_epsilon, hash_bits=bits).variance(n=1) for bits in range(1, 9)}
        near = [bits for bits, noise in noises.items() if noise <= 1.05 * min(noises.values())]
        assert chosen.cells == 2 ** near[0]


@in_turn("budget", BUDGETS)
def test_a_first_report_is_as_accurate_as_one_of_linear_hashing_without_a_memo(budget: tuple[str, str]) -> None:
    epsilon, excess = Fraction(budget[0]), []
    for bits in range(1, 9):
        excess.append(float(excess_variance(epsilon, bits, 1)))
        noise = made("LOLOHA", *budget, hash_bits=bits).variance(n=1)
        assert noise == pytest.approx(best_noise(float(epsilon)) * (1 + excess[-1]), rel=1e-9)
    # Close to the least possible where some power of two of cells is near e^epsilon + 1; the default finds it there.
    assert min(excess) < 0.03 or epsilon not in (1, 2, 4)
    if epsilon in (1, 2, 4):
        assert made("LOLOHA", *budget).variance(n=1) < 1.03 * best_noise(float(epsilon))


EXTREMES = [
    (bits, memo, Fraction(memo) * Fraction(share))
    for bits in (1, 2, 3, 8)
    for memo in ("1e-6", "1/100", "1", "8", "16", "40")
    for share in ("1e-6", "1/2", "999999/1000000")
]


@pytest.mark.slow
@in_turn(("bits", "memo", "epsilon"), EXTREMES)
def test_extreme_budgets_are_delivered_by_enumeration_and_to_the_last_digit(
    bits: int, memo: str, epsilon: Fraction
) -> None:
    scheme = made("LOLOHA", str(epsilon), memo, hash_bits=bits)
    size = scheme.cells
    keep, answer = (Fraction(int(scheme.derived[name]), WORD) for name in ("memo_keep", "keep"))
    # Of every entry and every answer, under two cells, whatever the other cells are.
    entries = [[keep if entry == cell else (1 - keep) / (size - 1) for entry in range(size)] for cell in (0, 1)]
    first = []
    for law in entries:
        assert sum(law) == 1
        sent = [
            sum(law[entry] * (answer if entry == heard else (1 - answer) / (size - 1)) for entry in range(size))
            for heard in range(size)
        ]
        assert sum(sent) == 1
        first.append(sent)
    worst = max(one / other for one, other in zip(*first, strict=True))
    lasting = max(one / other for one, other in zip(*entries, strict=True))
    assert within_exp(worst, scheme.epsilon)
    assert within_exp(lasting, scheme.memo_epsilon)
    assert (worst, lasting) == (scheme.client.worst_ratio(), scheme.client.memo_ratio())
    # 2^-64 is a step of e^40 * 2^-64, 1 %, at the largest of these; below 16 it is no digit of a double.
    exact = scheme.memo_epsilon <= 16
    assert float(scheme.privacy_loss()) == pytest.approx(float(epsilon), rel=1e-12 if exact else 1e-3)
    assert float(scheme.memo_loss()) == pytest.approx(float(scheme.memo_epsilon), rel=1e-12 if exact else 1e-3)


def test_a_first_report_of_losue_has_the_least_possible_variance_and_that_of_lsue_more() -> None:
    for epsilon, memo_epsilon in BUDGETS:
        least = best_noise(float(Fraction(epsilon)))
        assert made("LOSUE", epsilon, memo_epsilon).variance(n=1) == pytest.approx(least, rel=1e-9)
        assert made("LSUE", epsilon, memo_epsilon).variance(n=1) > least


@in_turn("name", NAMES)
def test_a_report_cannot_have_a_larger_epsilon_than_the_memo(name: str) -> None:
    for epsilon in ("2", "3"):
        with pytest.raises(ParameterError, match="expected less than memo_epsilon, which is 2"):
            made(name, epsilon)
    with pytest.raises(ParameterError, match="too small"):
        made(name, "1e-30")
    with pytest.raises(ParameterError, match="memo_epsilon: expected"):
        made(name, memo_epsilon="0")


@in_turn("name", NAMES)
def test_descriptions_and_plans_say_what_a_memo_does_not_promise(name: str) -> None:
    scheme = made(name)
    described = Description(scheme)
    for words in (
        "not whether and when a value changed",
        "one change is detected",
        "5 % false alarms",
        "can be linked",
    ):
        assert words in scheme.caution
    assert scheme.caution in str(described)
    assert described.to_dict()["caution"] == scheme.caution
    assert described.several == 2
    assert "add up: after" not in str(described)
    assert scheme.caution in device_notes(scheme)
    assert not epsilon_refused(scheme)
    assert epsilon_refused(made(name, memo_epsilon="9"))


@in_turn("name", NAMES)
def test_nothing_is_reported_through_a_memo(name: str) -> None:
    cells = made(name)
    with pytest.raises(ParameterError, match="expected a scheme without a memo"):
        plausibly.make("CM", oracle=cells, rows=2, domain_size=100)
    outer = plausibly.make("CM", oracle=plausibly.make("DE", epsilon=1, domain_size=16), rows=2, domain_size=100)
    with pytest.raises(plausibly.device.DeviceError, match="got a scheme with a memo"):
        plausibly.device.Client(outer.to_dict() | {"oracle": cells.to_dict()})
    strings = plausibly.Strings("ab", 2)
    with pytest.raises(ParameterError, match="expected a scheme without a memo"):
        plausibly.make("PEM", oracle=made(name, size=18), domain=strings)


def test_thresholds_are_probabilities_of_words() -> None:
    for name in NAMES:
        for epsilon, memo_epsilon in BUDGETS:
            scheme = made(name, epsilon, memo_epsilon)
            assert all(0 < int(value) < WORD for key, value in scheme.derived.items())
