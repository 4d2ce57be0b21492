"""Blankets against enumeration: the law that each scheme states, and the divergence of real shuffled batches."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

import plausibly
from plausibly import Integers, Keys, Ordered, Scheme, SeededRandom, Strings, Table
from plausibly.catalog import examples
from plausibly.core.blanket import Atom, Blanket, mixed, support_blanket, together
from plausibly.core.enumeration import mixture, output_law, public_law
from plausibly.device import local_hash
from plausibly.shuffling.crowd import Crowd, Pair
from supports import supports

SMALL = {
    "DE": {"domain_size": 4},
    "SUE": {"domain_size": 4},
    "OUE": {"domain_size": 4},
    "THE": {"domain_size": 4},
    "HM": {"domain_size": 4},
    "HR": {"domain_size": 3},
    "SS": {"domain_size": 5, "subset_size": 2},
    "TLH": {"domain_size": 5},
    "AGR": {"domain_size": 5},
}
"""Oracles whose coins can all be enumerated."""


def small(name: str, epsilon: float = 1.5) -> Scheme:
    return plausibly.make(name, epsilon=epsilon, **SMALL[name])


UNLINKED = [name for name, maker in plausibly.CATALOG.items() if not maker.linkable]


@pytest.mark.parametrize("name", UNLINKED)
def test_every_scheme_has_a_blanket_that_adds_up(name: str) -> None:
    for scheme in examples(plausibly.CATALOG[name]).values():
        blanket = scheme.blanket()
        for atoms in filter(None, (blanket.atoms, blanket.third)):
            assert sum(atom.mass * atom.one for atom in atoms) == 1
            assert sum(atom.mass * atom.other for atom in atoms) == 1
        assert blanket.mass <= 1
        assert min(min(atom.one, atom.other) for atom in blanket.atoms) >= 1
        assert sum(atom.mass for atom in blanket.third) in (0, 1)
        # The exact ratio of the thresholds, not e^epsilon.
        assert max(atom.one / atom.other for atom in blanket.atoms) == scheme.randomizer.worst_ratio()


@pytest.mark.full
@pytest.mark.parametrize("name", SMALL)
def test_the_stated_law_is_that_of_the_worst_pair(name: str) -> None:
    scheme = small(name)
    ratio, laws = scheme.randomizer.worst_ratio(), supports(scheme)
    found: dict[tuple[int, int], Blanket] = {}
    for x, other in itertools.permutations(range(scheme.size), 2):
        masses: Counter[tuple[Fraction, Fraction]] = Counter()
        for support, chance in zip(*laws[x], strict=True):
            own, its = int(support[x] > 0), int(support[other] > 0)  # HR has signs
            masses[ratio**own, ratio**its] += chance / ratio**own
        found[x, other] = Blanket(tuple(Atom(mass, *ratios) for ratios, mass in sorted(masses.items())))
    apart = max(found.values(), key=lambda law: sum(atom.mass for atom in law.atoms if atom.one != atom.other))
    assert apart.atoms == scheme.blanket().atoms


@pytest.mark.full
@pytest.mark.parametrize("name", ["OLH", "BLH"])
def test_local_hashing_collides_as_often_as_its_blanket_says(name: str) -> None:
    # 40,000 seeds: five standard errors, a false alarm in two million.
    scheme = plausibly.make(name, epsilon=1.5, domain_size=100)
    share, seeds = Fraction(1, scheme.g), 40_000
    assert scheme.blanket() == support_blanket(scheme.p, share, share**2, given="a pairwise uniform hash family")
    split = scheme.randomizer.split
    for x, other in ((0, 1), (3, 67), (98, 99)):
        words = ((0x9E3779B97F4A7C15 * (i + 1)) % 2**64 for i in range(seeds))
        equal = sum(local_hash(w, x, split, scheme.g) == local_hash(w, other, split, scheme.g) for w in words)
        assert abs(equal / seeds - share) < 5 * math.sqrt(share * (1 - share) / seeds)


def divergence(laws: list[dict[bytes, float]], one: int, other: int, others: tuple[int, ...], epsilon: float) -> float:
    """The exact delta of a shuffled batch: one user has either value, the others have the given ones."""
    batches: list[dict[tuple[bytes, ...], float]] = []
    for value in (one, other):
        batch: dict[tuple[bytes, ...], float] = {(): 1.0}
        for held in (value, *others):
            grown: dict[tuple[bytes, ...], float] = {}
            for records, chance in batch.items():
                for record, weight in laws[held].items():
                    key = tuple(sorted((*records, record)))
                    grown[key] = grown.get(key, 0.0) + chance * weight
            batch = grown
        batches.append(batch)
    first, second = batches
    return sum(max(0.0, chance - math.exp(epsilon) * second.get(records, 0.0)) for records, chance in first.items())


def laws_of(scheme: Scheme, items: int) -> list[dict[bytes, float]]:
    publics = public_law(scheme.randomizer, 4096)
    assert publics is not None
    laws = []
    for item in range(items):
        parts = [output_law(scheme.randomizer, item, public) for public in publics]
        law = mixture(parts, list(publics.values()))
        laws.append({record: weight / law.denominator for record, weight in law.weights.items()})
    return laws


BATCHES = {
    **{name: lambda name=name: small(name) for name in SMALL},
    "HR blocks": lambda: plausibly.make("HR", epsilon=2, domain_size=4, variant="block"),
    "FLH": lambda: plausibly.make("FLH", epsilon=1.5, domain_size=4, hashes=3),
    "SW": lambda: plausibly.make("SW", epsilon=1.5, domain=Ordered(0, 4), reach=1),
    "MEAN": lambda: plausibly.make("MEAN", epsilon=1.5, domain=Ordered(0, 4)),
    "CM": lambda: plausibly.make("CM", oracle=plausibly.make("DE", epsilon=1.5, domain_size=3), rows=2, domain_size=5),
    "CS": lambda: plausibly.make("CS", oracle=plausibly.make("DE", epsilon=1.5, domain_size=4), rows=2, domain_size=5),
    "CS with signs": lambda: plausibly.make(
        "CS",
        oracle=plausibly.make("HM", epsilon=1.5, domain_size=4, coefficients=1),
        rows=2,
        domain_size=5,
        signs="coefficients",
    ),
    "BLOOM": lambda: plausibly.make("BLOOM", epsilon=2, bits=4, hashes=2, cohorts=2, domain_size=5),
    "SLIDE": lambda: plausibly.make("SLIDE", epsilon=1.5, domain=Ordered(0, 5)),
    "HH": lambda: plausibly.make("HH", epsilon=1.5, domain=Ordered(0, 3), branching=2),
    "HAAR": lambda: plausibly.make("HAAR", epsilon=1.5, domain=Ordered(0, 3)),
    "CLIQUE": lambda: plausibly.make("CLIQUE", epsilon=1.5, domain=Table({"a": ["x", "y"], "b": ["u", "v"]})),
    "SPL": lambda: plausibly.make("SPL", epsilon=1.5, domain=Table({"a": ["x", "y"], "b": ["u", "v"]})),
    "TH": lambda: plausibly.CATALOG["TH"](
        oracle=plausibly.make("DE", epsilon=1, domain_size=9),
        word_oracle=plausibly.make("DE", epsilon=1, domain_size=9),
        domain=Strings("ab", 2),
        start=1,
    ),
}
"""Small schemes of every kind, whose batches can be enumerated."""


@pytest.mark.full
@pytest.mark.parametrize("kind", BATCHES)
def test_no_batch_exceeds_its_bound(kind: str) -> None:
    scheme = BATCHES[kind]()
    values = list(range(min(4, scheme.domain.code_count)))
    laws, local = laws_of(scheme, len(values)), float(scheme.privacy_loss())
    users = 3 if len(laws[0]) <= 16 else 2
    others_too = values[:3] if len(laws[0]) <= 256 else values[2:3]
    for epsilon in (0.2 * local, 0.6 * local, 0.95 * local):
        bound = Crowd(scheme.blanket(), users, local).delta(epsilon)
        for one, other in itertools.permutations(values, 2):
            for others in itertools.combinations_with_replacement(others_too, users - 1):
                assert divergence(laws, one, other, others, epsilon) <= bound


@pytest.mark.full
@pytest.mark.parametrize("name", ["OLH", "BLH"])
def test_no_batch_of_hashed_reports_exceeds_its_bound(name: str) -> None:
    # The message is a hash function and a hash. All functions of three items are a pairwise uniform family.
    scheme = plausibly.make(name, epsilon=1.5, domain_size=3, **({"hash_range": 3} if name == "OLH" else {}))
    functions = list(itertools.product(range(scheme.g), repeat=3))
    p, local, users = float(scheme.p), float(scheme.privacy_loss()), 2 if name == "OLH" else 3
    laws = [
        {
            bytes((*function, y)): (p if y == function[item] else (1 - p) / (scheme.g - 1)) / len(functions)
            for function in functions
            for y in range(scheme.g)
        }
        for item in range(3)
    ]
    for epsilon in (0.2 * local, 0.6 * local, 0.95 * local):
        bound = Crowd(scheme.blanket(), users, local).delta(epsilon)
        for others in itertools.combinations_with_replacement(range(3), users - 1):
            assert divergence(laws, 0, 1, others, epsilon) <= bound


@pytest.mark.full
@pytest.mark.parametrize("name", ["OLH", "BLH"])
def test_monte_carlo_of_hashed_reports_agrees_with_their_law(name: str) -> None:
    # 20,000 batches of real reports, with their real hash functions: one user has item 3, all others have item 9.
    scheme = plausibly.make(name, epsilon=1.5, domain_size=100)
    users, batches, epsilon = 20, 20_000, 0.6
    items = np.full((batches, users), 9)
    items[:, 0] = 3
    reports = scheme.privatize(items.ravel(), rng=SeededRandom(11))
    p = float(scheme.p)
    likelihoods = np.where(scheme.supports_each(reports, np.array([3, 67, 9])), p, (1 - p) / (scheme.g - 1))
    # The likelihood of a batch is in proportion to the sum over its reports, any of which may be that of the user.
    one, other = (likelihoods[:, :2] / likelihoods[:, 2:]).reshape(batches, users, 2).sum(axis=1).T
    excess = np.maximum(0.0, 1 - math.exp(epsilon) * other / one)
    assert excess.mean() < Crowd(scheme.blanket(), users, float(scheme.privacy_loss())).delta(epsilon)
    # With independent hashes, others with a third item have an exact law. Five standard errors: once in two million.
    share = Fraction(1, scheme.g)
    low, high = Pair(support_blanket(scheme.p, share, share**2, three=share**3).third, users).delta(epsilon)
    error = 5 * excess.std() / math.sqrt(batches)
    assert low - error <= excess.mean() <= high + error


@pytest.mark.full
@pytest.mark.parametrize("name", ["DE", "SUE", "OUE", "THE", "SS", "HM"])
def test_others_who_are_alike_have_the_exact_divergence(name: str) -> None:
    scheme = small(name)
    laws = laws_of(scheme, 4)
    users = 2 if name == "HM" else 3
    for held, atoms in zip((3, 1), scheme.blanket().alike, strict=True):
        for epsilon in (0.1, 0.7, 1.2):
            low, high = Pair(atoms, users).delta(epsilon)
            assert low <= divergence(laws, 1, 2, (held,) * (users - 1), epsilon) <= high


@pytest.mark.full
def test_groups_are_one_crowd() -> None:
    # Half of the users with two hash values, half with 64.
    parts = [plausibly.make("OLH", epsilon=3, domain_size=1000, hash_range=g).blanket() for g in (2, 64)]
    halves = [Fraction(1, 2)] * 2
    assert Crowd(mixed(parts, halves), 10_000, 3.0).epsilon(1e-6) == pytest.approx(0.133, abs=5e-4)
    # Neither group alone, nor both with the average mass and the average law, which would understate it.
    mass = sum(part.mass for part in parts) / 2
    apart = [Atom(atom.mass / part.mass * mass / 2, atom.one, atom.other) for part in parts for atom in part.atoms]
    assert Crowd(Blanket(tuple(apart)), 10_000, 3.0).epsilon(1e-6) == pytest.approx(0.097, abs=5e-4)


def test_two_reports_of_a_user_multiply() -> None:
    once = plausibly.make("DE", epsilon=1, domain_size=3).blanket()
    twice = together([once, once])
    assert twice.mass == once.mass**2
    assert max(atom.one for atom in twice.atoms) == max(atom.one for atom in once.atoms) ** 2


def test_the_blanket_of_a_bloom_filter_has_a_level_for_each_bit() -> None:
    scheme = plausibly.make("BLOOM", epsilon=2, bits=32, hashes=3, cohorts=4, domain=Keys())
    assert len({atom.one for atom in scheme.blanket().atoms}) == 4


@pytest.mark.full
def test_too_many_likelihoods_are_refused() -> None:
    scheme = plausibly.make("BLOOM", epsilon=2, bits=64, hashes=22, cohorts=4, domain=Keys())
    with pytest.raises(plausibly.ParameterError, match="at most 512 different likelihoods"):
        plausibly.shuffled(scheme, 1000)


def test_a_scheme_without_a_blanket_is_refused() -> None:
    class Unknown(plausibly.CATALOG["DE"]):  # type: ignore[misc]
        name = "UNKNOWN"
        blanket = Scheme.blanket

    with pytest.raises(plausibly.ParameterError, match="a known blanket, got UNKNOWN without one"):
        plausibly.shuffled(Unknown(epsilon=Fraction(1), domain=Integers(3)), 1000)
