"""Published systems and recommended configurations, each as a single expression."""

from __future__ import annotations

from typing import Any, Literal

from .core.domain import Strings
from .core.probability import EpsilonLike
from .core.scheme import Scheme
from .making import make
from .search import user_shares
from .search.base import Search
from .search.rounds import Rounds


def CMS(
    epsilon: EpsilonLike,
    *,
    rows: int = 1024,
    width: int = 1024,
    oracle: Literal["SUE", "OUE"] = "SUE",
    **parameters: Any,
) -> Scheme:
    """Preset of Apple's private count-mean sketch ("Learning with privacy at scale", 2017): CM over unary encoding.

    Apple's bits are symmetric, SUE; ``oracle="OUE"`` is the variant of the paper's text, with less noise. The domain
    and ``hash_seed`` are given as to ``make("CM", ...)``.

    >>> import plausibly
    >>> plausibly.CMS(4, rows=16, width=64, domain=plausibly.Keys()).report_dtype.itemsize
    9
    """
    cells = make(oracle, epsilon=epsilon, domain_size=width)
    scheme: Scheme = make("CM", oracle=cells, rows=rows, **parameters)
    return scheme


def HCMS(epsilon: EpsilonLike, *, rows: int = 1024, width: int = 1024, **parameters: Any) -> Scheme:
    """Preset of Apple's Hadamard count-mean sketch (2017): CM over one randomized Hadamard coefficient, one bit.

    The domain and ``hash_seed`` are given as to ``make("CM", ...)``. Without ``coefficients=1`` the oracle has the
    best number of coefficients, and several times less noise.

    >>> import plausibly
    >>> plausibly.HCMS(4, domain=plausibly.Keys()).report_bits  # row, coefficient, sign
    21
    """
    cells = make("HM", epsilon=epsilon, domain_size=width, coefficients=1)
    scheme: Scheme = make("CM", oracle=cells, rows=rows, **parameters)
    return scheme


def RAPPOR(epsilon: EpsilonLike, *, bits: int = 128, hashes: int = 2, cohorts: int = 64, **parameters: Any) -> Scheme:
    """Preset of Google's RAPPOR for one report a user (Erlingsson, Pihur and Korolova 2014): BLOOM, all bits perturbed.

    ``epsilon`` is that of the report: each bit has epsilon/(2*hashes). The domain and ``hash_seed`` are given as to
    ``make("BLOOM", ...)``.

    >>> import plausibly
    >>> scheme = plausibly.RAPPOR(3, domain=plausibly.Keys())
    >>> scheme.report_dtype.itemsize, round(scheme.keep / 2**64, 3)
    (17, 0.679)
    """
    scheme: Scheme = make("BLOOM", epsilon=epsilon, bits=bits, hashes=hashes, cohorts=cohorts, **parameters)
    return scheme


def FOLDED(epsilon: EpsilonLike, *, cohorts: int = 8, cells: int = 2**20, **parameters: Any) -> Scheme:
    """Preset of the folded oracle: CM over TLH with wide rows, for any items, as accurate as one over listed items.

    There are so many cells that collisions hardly matter: with n users, they add about n/cells + F2/(cohorts*cells) to
    the variance of an item, where F2 is the sum of the squared counts. A million candidates are decoded in about a
    second: by the mean, with intervals, or with ``combine="peel"``. The state has 8*cohorts*cells bytes. The domain and
    ``hash_seed`` are given as to ``make("CM", ...)``.

    >>> import plausibly
    >>> scheme = plausibly.FOLDED(3, domain=plausibly.Keys())
    >>> scheme.rows, scheme.width, scheme.report_dtype.itemsize
    (8, 1048576, 6)
    """
    oracle = make("TLH", epsilon=epsilon, domain_size=cells)
    scheme: Scheme = make("CM", oracle=oracle, rows=cohorts, **parameters)
    return scheme


def TRELLIS(
    epsilon: EpsilonLike,
    *,
    domain: Strings,
    users: int = 1_000_000,
    typical_length: int | None = None,
    hash_seed: int = 0,
) -> Search:
    """Preset of our search for heavy hitters: TRELLIS over SS and TLH, with users divided by ``user_shares``.

    ``users`` is the approximate number of users, ``typical_length`` the approximate length of common strings (by
    default at most 16).

    >>> import plausibly
    >>> scheme = plausibly.TRELLIS(3, domain=plausibly.Strings("abcdefghijklmnopqrstuvwxyz.", 6), users=50_000)
    >>> scheme.report_dtype.itemsize
    6
    """
    symbols, length = domain.symbols, domain.length
    start, step, lengths = user_shares.level_lengths(symbols, length)
    step = min(step, length)

    def oracle(items: int) -> Scheme:
        return make("TLH", epsilon=epsilon, domain_size=max(2, items))

    letters = make("SS", epsilon=epsilon, domain_size=symbols)
    divided = user_shares.shares(
        users, symbols, length, letter_variance=float(letters.variance(1)), typical_length=typical_length
    )
    cells = [user_shares.cell_count(level, symbols, step) for level in range(len(lengths))]
    given: dict[str, Any] = {"pairs": oracle(symbols**2)} if divided.pairs else {}
    given |= {name: oracle(size) for name, size in zip(("folded", "deep"), cells[:2], strict=False)}
    search: Search = make(
        "TRELLIS",
        letters=letters,
        first=oracle(symbols**start),
        weights=user_shares.weights(divided, length),
        start=start,
        step=step,
        cohorts=user_shares.COHORTS,
        domain=domain,
        hash_seed=hash_seed,
        **given,
    )
    return search


def ROUNDS(epsilon: EpsilonLike, *, domain: Strings, keep: int = 1000) -> Rounds:
    """Preset of an interactive search over TLH, for deployments that can ask fresh users in every round.

    In each round, publish ``scheme``, collect, and call ``close(tally)``, until it says that there are no more rounds;
    then call ``result()``. Give all rounds about the same number of users.

    >>> import plausibly
    >>> search = plausibly.ROUNDS(3, domain=plausibly.Strings("abcdefghijklmnopqrstuvwxyz.", 12))
    >>> search.rounds, search.scheme.report_dtype.itemsize
    (5, 6)
    """
    symbols = domain.symbols
    start = min(user_shares.longest_prefix(symbols, user_shares.FIRST_CELLS), domain.length)
    step = min(user_shares.longest_prefix(symbols, max(symbols, user_shares.FIRST_CELLS // keep)), domain.length)

    def oracle(items: int) -> Scheme:
        return make("TLH", epsilon=epsilon, domain_size=items)

    return Rounds(domain, oracle, start=start, step=step, keep=keep)
