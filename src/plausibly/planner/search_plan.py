"""A plan for strings that cannot be listed: the search, and how common a string must be to be found."""

from __future__ import annotations

from fractions import Fraction
from math import sqrt

from .. import presets
from ..core.domain import Keys, Strings
from ..core.errors import ParameterError
from ..core.scheme import Scheme
from ..core.wording import decimal, percent, plural, size_text
from ..core.words import Setting, Words
from ..making import make
from ..search.base import Search
from .devices import device_notes
from .options import Aim
from .prediction import Prediction, smallest_found
from .reasons import PAPER
from .recommendation import Choice, Plan
from .search_power import LOOKED_FOR, extending_share, nats_per_character, share_up_to, typical_length
from .solving import fewest_users, least_epsilon
from .targets import QuantileWithin, Within

_NOT_WITHIN = Words(
    "target: expected ",
    Setting("find", True, python="Above(...)"),
    " for strings, which a search has to find, got ",
    Setting("within", True, python="Within(...)"),
    ", which is for items that you can name: a list, or ",
    Setting("keys", True, python="Keys()"),
)


def planned_search(strings: Strings, aim: Aim, n: int | None, epsilon: Fraction | None, seed: int) -> Plan:
    """The plan of a search; with the target ``Above``, the number of users or the epsilon that it needs."""
    if isinstance(aim.target, Within):
        raise ParameterError(_NOT_WITHIN)
    assert not isinstance(aim.target, QuantileWithin)  # only for values that have an order
    share = 0.0 if aim.target is None else float(aim.target.share)
    confidence = 0.95 if aim.target is None else float(aim.target.confidence)
    solved = None if aim.target is None else "users" if n is None else "epsilon"
    text, random = nats_per_character(strings)

    def found(users: int, eps: Fraction, nats: float = text, length: int | None = None) -> float:
        return min(1.0, share_up_to(_search(strings, eps, users, seed), users, confidence, nats, length))

    if epsilon is None:
        assert n is not None
        users, most = n, aim.limits.most_epsilon
        epsilon = least_epsilon(lambda eps: found(users, eps) <= share, most)
        if epsilon is None:
            needed = fewest_users(lambda count: found(count, most) <= share)
            more = f"; {needed:,} users are enough" if needed else ""
            raise ParameterError(
                f"target: out of reach with {n:,} users and ε up to {decimal(most)}, which find strings held by "
                f"at least {percent(found(n, most))}{more}"
            )
    eps = epsilon
    if n is None:
        n = fewest_users(lambda count: found(count, eps) <= share)
        if n is None:
            raise ParameterError(f"target: out of reach at ε = {decimal(eps)} with any number of users")
    scheme = _search(strings, eps, n, seed)
    _refuse_beyond(aim, scheme, n)
    best = _choice(scheme, aim, n, "finds the rarest strings", found(n, eps))
    typical = typical_length(strings)
    shorter = (typical, found(n, eps, length=typical)) if typical < strings.length else None
    named = presets.FOLDED(eps, domain=Keys(), hash_seed=seed)
    light = smallest_found(Prediction(named, aim.skew), n, aim.limits.candidates, confidence)
    step, oracle = min(2, strings.length), make("OLH", epsilon=eps, domain=Keys())
    others = (
        _choice(
            named,
            aim,
            n,
            f"only counts strings that you name, here {aim.limits.candidates:,}",
            light,
        ),
        _choice(
            make("PEM", oracle=oracle, domain=strings, start=step, step=step),
            aim,
            n,
            "drops prefixes early, and does not learn which strings are likely",
            extending_share(oracle, strings, step, n, confidence),
        ),
    )
    return Plan(
        users=n,
        epsilon=eps,
        solved=solved,
        target=aim.target,
        limits=aim.limits,
        skew=aim.skew,
        best=best,
        runners_up=others,
        finds=found(n, eps),
        shorter=shorter,
        notes=(
            *_notes(strings, found(n, eps), found(n, eps, random), light, aim),
            *device_notes(best.scheme),
        ),
    )


def _search(strings: Strings, epsilon: Fraction, n: int, seed: int) -> Search:
    # The longest strings set the length: the plan promises to find them, and shorter ones lose nothing by it.
    scheme = presets.TRELLIS(epsilon, domain=strings, users=n, typical_length=strings.length, hash_seed=seed)
    assert isinstance(scheme, Search)
    return scheme


def _choice(scheme: Scheme, aim: Aim, n: int, reason: str, finds: float) -> Choice:
    error = sqrt(Prediction(scheme, aim.skew).variance(n))
    return Choice(scheme, error, scheme.cost(n, aim.asked), scheme.influence(), reason, finds)


def _refuse_beyond(aim: Aim, scheme: Search, n: int) -> None:
    costs, limits = scheme.cost(n, aim.asked), aim.limits
    if limits.report_bytes is not None and costs.report_bytes > limits.report_bytes:
        enough = Setting("report_bytes", costs.report_bytes)
        beyond = f"limits: a search for these strings needs {costs.report_bytes}, more than {limits.report_bytes}"
        raise ParameterError(Words(f"{beyond} bytes a report; ", enough, " is enough"))
    if costs.state_bytes > limits.most_memory:
        beyond = f"{size_text(costs.state_bytes)} of memory, more than {size_text(limits.most_memory)}"
        enough = Setting("memory", costs.state_bytes)
        raise ParameterError(Words(f"limits: a search for these strings needs {beyond}; ", enough, " is enough"))


def _notes(strings: Strings, likely: float, unlikely: float, light: float, aim: Aim) -> tuple[str, ...]:
    found = [
        f"{PAPER} recommend the prefix extending method (PEM) over a Count-Min sketch. It still beats the other "
        "published searches; TRELLIS, which weighs all prefixes of a string together, beats it and comes close to an "
        "exhaustive search.",
        "The more unusual a string, the more users it takes to find it: this plan assumes strings of up to "
        f"{plural(strings.length, 'character')}"
        + (
            f" that are like words; random characters take {percent(unlikely)} of users."
            if percent(likely) != percent(unlikely)
            else "."
        ),
        "Shorter strings and strings of a dictionary need fewer users. "
        f"Among {aim.limits.candidates:,} candidates known beforehand, {percent(light)} of users are enough.",
        Words(
            f"The search looks for the {LOOKED_FOR} most common strings: ",
            Setting("top", LOOKED_FOR, of="search", python=f"tally.search(k={LOOKED_FOR}, level=0.05)"),
            ".",
        ),
        "If you can ask fresh users in several rounds, the Python function ROUNDS asks each time about the surviving "
        "prefixes.",
        "ε is for one report of a user; several reports add up.",
    ]
    return tuple(found)
