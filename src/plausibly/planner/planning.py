"""Plan a collection: from the domain, users, epsilon or target to a scheme with its expected errors."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import sqrt
from typing import Any

from ..core.arguments import whole_number
from ..core.domain import Domain, InOrder, Integers, Keys, Strings, Table, as_domain
from ..core.errors import ParameterError
from ..core.probability import EpsilonLike, exact_epsilon
from ..core.randomness import SecureRandom
from ..core.scheme import Scheme
from ..core.wording import decimal, percent, shown
from ..core.words import Setting, Words, kind_of
from .devices import device_notes
from .options import Aim, Option, cheapest
from .ordered_plan import OrderedAim, planned_order
from .prediction import smallest_found
from .reasons import notes, why_first, why_not
from .recommendation import Choice, Plan
from .search_plan import planned_search
from .shuffler import Shuffler
from .skew import Skew, checked_skew
from .solving import MOST_USERS, fewest_users, least_epsilon
from .table_plan import TableAim, planned_tables
from .targets import Above, Limits, QuantileWithin, Target

_TARGETS = "a plausibly.Within, plausibly.Above or plausibly.QuantileWithin"
_NO_ORDER = Words(
    "target: expected values that have an order, ",
    Setting("range", "0..120", python="Ordered(...)"),
    " for example, for ",
    Setting("quantile_within", True, python="QuantileWithin(...)"),
)


def plan(
    domain: object,
    users: int | None = None,
    *,
    epsilon: EpsilonLike | None = None,
    target: Target | None = None,
    limits: Limits | None = None,
    skew: Skew = 1.1,
    hash_seed: int | None = None,
    shuffler: Shuffler | None = None,
) -> Plan:
    """Plan a collection: recommend a scheme; two of ``users``, ``epsilon`` and ``target`` determine the third.

    ``domain``: the number of items, a list of labels, ``Keys()`` for texts that you will ask about by name, or
    ``Strings(...)`` for texts that a search has to find. ``target``: ``Within("0.5 %")`` for intervals,
    ``Above("0.1 %")`` to find common items. For ``Ordered(...)`` values schemes are compared by ranges, ``Within`` is
    for the share of a range, and ``QuantileWithin(0.5, 2)`` for the median, in the units of the values. For a
    ``Table(...)`` of several attributes it is for the cells of tables of two attributes. ``skew``: how
    unevenly users are spread over items, as the exponent of a power law or "worst"; it matters if items share cells.
    ``hash_seed``: that of public hash functions, by default a fresh one. ``shuffler``: a ``Shuffler`` with a central
    epsilon stands for ``epsilon``, and the plan has the largest one whose shuffled reports keep that promise; without
    one, the plan states the central epsilon of its scheme.

    >>> import plausibly
    >>> plausibly.plan(1000, 1_000_000, epsilon=1)
    <plan for a list of 1,000 items, 1,000,000 users, ε = 1: TLH, ±1,922 users>
    >>> plausibly.plan(1000, 1_000_000, target=plausibly.Within("0.5 %")).epsilon
    Fraction(31, 40)
    >>> crowd = plausibly.Shuffler(epsilon=1, smallest_batch=1000)
    >>> plausibly.plan(1000, 1_000_000, shuffler=crowd)
    <plan for a list of 1,000 items, 1,000,000 users, ε = 4.1: AGR, ±263 users>
    """
    real = as_domain(domain)
    limits = Limits() if limits is None else limits
    if not isinstance(limits, Limits):
        raise ParameterError(Words("limits: expected plausibly.Limits, got ", kind_of(limits)))
    if target is not None and not isinstance(target, Target):
        raise ParameterError(Words(f"target: expected {_TARGETS}, got ", kind_of(target)))
    if shuffler is not None:
        _expect_shuffler(shuffler, epsilon)
        options: Any = {"target": target, "limits": limits, "skew": skew, "hash_seed": hash_seed}
        central = shuffler.central
        if central is None:
            return shuffler.stated(plan(real, users, epsilon=epsilon, **options))
        return shuffler.plan(lambda local: plan(real, users, epsilon=local, **options), central, limits.most_epsilon)
    given = [name for name, value in (("users", users), ("epsilon", epsilon), ("target", target)) if value is not None]
    if len(given) != 2:
        got = [word for name in given for word in (" and ", Setting(name))][1:] or ["none of them"]
        wanted = (Setting("users"), ", ", Setting("epsilon"), " and ", Setting("target"))
        raise ParameterError(Words("expected two of ", *wanted, ", which determine the third, got ", *got))
    n = None if users is None else whole_number("users", users, 1, MOST_USERS)
    eps = None if epsilon is None else exact_epsilon(epsilon)
    if eps is not None and eps > limits.most_epsilon:
        limit = f": expected at most the limit {limits.epsilon}, got {shown(epsilon)}"
        raise ParameterError(Words(Setting("epsilon"), limit))
    aim = Aim(_planned(real), target, limits, checked_skew(skew))
    seed = _fresh_seed() if hash_seed is None else whole_number("hash_seed", hash_seed, 0, 2**64 - 1)
    # By type: ranges and quantiles need an order, which other domains do not have or, like codes, do not mean.
    if isinstance(real, InOrder) and real.meant and not isinstance(target, Above):
        return planned_order(OrderedAim(aim.domain, target, limits, aim.skew, real), n, eps)
    # By type: tables need attributes, which other domains do not have.
    if isinstance(real, Table):
        return planned_tables(TableAim(real, target, limits, aim.skew), n, eps)
    if isinstance(target, QuantileWithin):
        raise ParameterError(_NO_ORDER)
    # By type: the power of a search depends on an alphabet and a length, which other domains do not have.
    if isinstance(real, Strings):
        return planned_search(real, aim, n, eps, seed)
    solved = None if target is None else "users" if n is None else "epsilon"
    if eps is None:
        assert n is not None
        eps = _least_epsilon(aim, n)
    if n is None:
        n = _fewest_users(aim, eps)
    options = aim.options(eps, n)
    first = cheapest(aim.allowed(options))
    best = _choice(first, n, real, seed, why_first(first, aim.allowed(options)))
    confidence = 0.95 if target is None else float(target.confidence)
    return Plan(
        users=n,
        epsilon=eps,
        solved=solved,
        target=target,
        limits=limits,
        skew=aim.skew,
        best=best,
        runners_up=tuple(_choice(o, n, real, seed, why_not(o, first, aim)) for o in aim.others(options, first)),
        finds=smallest_found(first.prediction, n, aim.asked, confidence),
        notes=(*notes(first, options, aim), *device_notes(best.scheme)),
    )


def _expect_shuffler(shuffler: object, epsilon: object) -> None:
    if not isinstance(shuffler, Shuffler):
        raise ParameterError(Words("shuffler: expected a plausibly.Shuffler, got ", kind_of(shuffler)))
    if shuffler.epsilon is not None and epsilon is not None:
        raise ParameterError(Words("expected a central epsilon or ", Setting("epsilon"), ", got both"))


def _planned(domain: Domain) -> Domain:
    # Variance laws depend on the number of items, not on their names.
    return Keys() if domain.size is None else Integers(domain.size)


def _fresh_seed() -> int:
    return int.from_bytes(SecureRandom().stream().head(0, 8).tobytes(), "little")


def _enough(aim: Aim, epsilon: Fraction, n: int) -> bool:
    # Judged by the recommended scheme: the last percent of accuracy is not worth a hundred times the bytes.
    first = aim.first(epsilon, n)
    return first is not None and aim.reached(first.measure, n) <= aim.goal


def _least_epsilon(aim: Aim, n: int) -> Fraction:
    most = aim.limits.most_epsilon
    found = least_epsilon(lambda epsilon: _enough(aim, epsilon, n), most)
    if found is None:
        best = cheapest(aim.allowed(aim.options(most, n)))
        users = fewest_users(lambda count: _enough(aim, most, count))
        more = f"{users:,} users are enough" if users else _never(best)
        raise ParameterError(
            f"target: out of reach with {n:,} users and ε up to {decimal(most)}, which allow "
            f"{percent(aim.reached(best.measure, n))} at best; {more}"
        )
    return found


def _fewest_users(aim: Aim, epsilon: Fraction) -> int:
    found = fewest_users(lambda count: _enough(aim, epsilon, count))
    if found is None:
        best = cheapest(aim.allowed(aim.options(epsilon, MOST_USERS)))
        raise ParameterError(f"target: out of reach at ε = {decimal(epsilon)} within the limits: {_never(best)}")
    return found


def _never(best: Option) -> str:
    # Why no number of users is enough.
    if best.prediction.assumes:
        return "items collide, whatever the number of users; more memory or longer reports would help"
    return f"even {MOST_USERS:,} users are not enough"


def _choice(option: Option, n: int, domain: Domain, seed: int, reason: str) -> Choice:
    error = sqrt(option.prediction.mean_variance(n))
    return Choice(_real(option.scheme, domain, seed), error, option.costs, option.scheme.influence(), reason)


def _real(scheme: Scheme, domain: Domain, seed: int) -> Scheme:
    changes: dict[str, object] = {"domain": domain}
    if scheme.shares_hashes():
        changes["hash_seed"] = seed
    return replace(scheme, **changes)  # type: ignore[arg-type]
