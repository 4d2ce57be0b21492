"""A scheme in words, for people who must approve it: what it protects and reveals, its accuracy and its cost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import cached_property
from itertools import groupby
from math import ceil, exp, floor, inf, log10, prod, sqrt
from typing import Any

import numpy as np

from ..catalog import CATALOG
from ..core.domain import Facts
from ..core.grouped import Grouped
from ..core.linear import KnowsLinear
from ..core.mean_only import MeanOnly
from ..core.memoised import Memoised
from ..core.randomness import Layout, SeededRandom
from ..core.scheme import Scheme
from ..core.tables_only import TablesOnly
from ..core.wording import at_most, decimal, label_of, percent, plural, size_text
from ..search.base import Search
from .devices import LARGE_EPSILON, epsilon_refused
from .fakes import Fakes, fakes_for_share, fakes_of
from .prediction import Prediction, smallest_found
from .search_power import nats_per_character, share_up_to
from .skew import skew_in_words
from .targets import two_sided

USERS = (10**4, 10**5, 10**6, 10**7)
"""Numbers of users for which errors are stated by default."""
CANDIDATES = 1000
"""Assumed number of candidates if items cannot be listed."""
_SKEW = 1.1
_CONFIDENCE = 0.95
_PREFIXES = 15
_SUSPICIONS = (0.01, 0.1, 0.5, 0.9)
_SEVERAL = 10
_CERTAIN = 1e-9
"""Percent that are left to certainty where digits no longer help."""
_DRAWS = 64
_MOST_WORDS = 4096
"""Largest number of random words of a client that is run to classify its fields; larger schemes are shrunk."""
_HUGE = 10**9
"""Numbers from here on are written with a power of ten."""
_FAKES = 100
"""Number of fake reports in the example."""
_SEARCHED = 64
"""Number of items up to which a sender may find a hash function that maps all of them to one value."""
_LOOKS_LIKE = 0.01
"""Share of users that a forged string imitates if the share that the search finds is unknown."""


@dataclass(frozen=True)
class Field:
    """A field of the record; public if it was drawn independently of the value."""

    name: str
    kind: str
    public: bool


@dataclass(frozen=True)
class Suspicion:
    """An observer's belief about a user before a report, and its largest and smallest value after it."""

    before: float
    most: float
    least: float


@dataclass(frozen=True)
class Error:
    """Expected errors for a number of users, in users, and the share from which on an item is detectable."""

    users: int
    standard_error: float
    half_width: float
    stands_out: float


@dataclass(frozen=True)
class Forgery:
    """Number of fake reports that make a string without holders look like one held by a share of the users."""

    users: int
    share: float
    reports: int
    """Number of fake reports, in addition to those of the users."""


@dataclass(frozen=True)
class Piece:
    """Parts of a search with the same oracle, or the rows of a sketch."""

    label: str
    number: int
    scheme: str
    epsilon: Fraction
    share: float
    """Share of all users who report through one of these parts."""


@dataclass(frozen=True, eq=False, repr=False)
class Description:
    """Description of a scheme in words and numbers; errors are stated for each number in ``users``."""

    scheme: Scheme
    users: tuple[int, ...] = USERS

    # --- privacy ----------------------------------------------------------------------------------------------

    @cached_property
    def ratio(self) -> Fraction:
        """Described privacy: the largest factor by which the odds between two values can shift, exactly.

        It follows from the client's thresholds.
        """
        return self.scheme.randomizer.worst_ratio()

    @property
    def shift(self) -> float:
        """``ratio`` of the described scheme as a floating-point number, at most 1e300."""
        return float(min(self.ratio, Fraction(10**300)))

    @property
    def delivered(self) -> Fraction:
        """Epsilon that the client of the described scheme delivers."""
        return self.scheme.privacy_loss()

    @property
    def several(self) -> float:
        """Described ε of several reports of one user: their sum, or that of the memo, which bounds any number."""
        scheme = self.scheme
        return float(scheme.memo_loss()) if isinstance(scheme, Memoised) else _SEVERAL * float(self.delivered)

    @property
    def suspicions(self) -> list[Suspicion]:
        """Described effect of one report on beliefs about its user."""
        return [Suspicion(before, *_after(before, self.shift)) for before in _SUSPICIONS]

    # --- the report -------------------------------------------------------------------------------------------

    @cached_property
    def fields(self) -> list[Field]:
        """Described fields of the record; public ones depend neither on the value nor on private coins."""
        return fields_of_record(self.scheme)

    @property
    def asked(self) -> int:
        """Number of items that the description assumes: the whole list, or ``CANDIDATES`` without one."""
        return self.scheme.domain.size or CANDIDATES

    # --- accuracy ---------------------------------------------------------------------------------------------

    @property
    def has_law(self) -> bool:
        """Whether the variance of the described estimates has a closed form."""
        return self.scheme.linear

    @property
    def errors(self) -> list[Error]:
        """Described errors, expected for each number of users; empty if the variance has no closed form."""
        if not self.has_law:
            return []
        prediction, z = Prediction(self.scheme, _SKEW), two_sided(_CONFIDENCE)
        found = []
        for n in self.users:
            error = sqrt(prediction.variance(n))
            found.append(Error(n, error, z * error, smallest_found(prediction, n, self.asked, _CONFIDENCE)))
        return found

    @property
    def up_to_a_value(self) -> list[tuple[int, float]]:
        """Described half-width of the number of users up to a value, on average, for each number of users.

        Empty for a scheme that is not made for values in order.
        """
        decoder = self.scheme.estimator()
        if not isinstance(decoder, KnowsLinear):
            return []
        # Of a tally without reports only the number of users is known: they count as spread evenly.
        size, evidence, z = self.scheme.size, self.scheme.accumulator().evidence, two_sided(_CONFIDENCE)
        prefixes = (np.arange(size) <= np.linspace(0, size - 1, _PREFIXES + 2)[1:-1, None]).astype(np.float64)
        return [(n, z * sqrt(decoder.linear(evidence, n).weighted(prefixes)[1].mean())) for n in self.users]

    @property
    def finds(self) -> list[tuple[int, float]]:
        """Smallest share that the described search finds, for each number of users; empty without a formula."""
        if not isinstance(self.scheme, Search) or not self.scheme.prefix_levels:
            return []
        nats = nats_per_character(self.scheme.strings)[0]
        return [(n, min(1.0, share_up_to(self.scheme, n, _CONFIDENCE, nats))) for n in self.users]

    # --- fakes, costs, parts ----------------------------------------------------------------------------------

    @property
    def influence(self) -> float | None:
        """Described influence of one fake report on a count, in users; None if estimates are not sums over reports."""
        return self.scheme.influence()

    @cached_property
    def fakes(self) -> Fakes | None:
        """Described effect of fake reports on one item and on all items at once; None as for ``influence``."""
        return fakes_of(self.scheme)

    @property
    def forgeries(self) -> list[Forgery]:
        """Described forgeries: the fake reports that insert a string into a search's result, by number of users.

        The string looks as if held by the smallest share that the search finds, or by 1 % if that is unknown.
        """
        if not isinstance(self.scheme, Search):
            return []
        shares = self.finds or [(n, _LOOKS_LIKE) for n in self.users]
        needed = [(n, share, fakes_for_share(self.scheme, n, share)) for n, share in shares if share < 1]
        return [Forgery(n, share, reports) for n, share, reports in needed if reports is not None]

    @property
    def pieces(self) -> list[Piece]:
        """Described parts of a grouped scheme, adjacent ones with the same oracle together, or rows of a sketch."""
        return list(_pieces(self.scheme))

    # --- in words ---------------------------------------------------------------------------------------------

    def sections(self) -> list[tuple[str, Facts]]:
        """The description as headings with named facts."""
        found = [
            ("What a user's value may be", self.scheme.domain.facts()),
            ("What a report reveals", self._privacy()),
            ("What a report is", self._report()),
            ("How accurate the estimates are", self._accuracy()),
            ("What fake reports can do", self._fakes()),
            ("What the server keeps", self._server()),
        ]
        parts = self._parts()
        return [*found, *([("What it is made of", parts)] if parts else []), ("Identity", self._identity())]

    def _privacy(self) -> Facts:
        asked, delivered = self.scheme.epsilon, self.delivered
        used = "all of it" if delivered == asked else _upward(delivered, 17)
        facts = [
            ("ε", f"at most {decimal(asked)}; the thresholds of the client deliver {used}"),
            *([("less than asked", self.scheme.spends_less)] if self.scheme.spends_less else []),
            (
                "odds",
                f"between any two values shift at most {_upward(Fraction(self.shift), 4)}-fold, whatever else is known",
            ),
        ]
        for each in self.suspicions:
            after = f"at most {_percent(each.most, up=True)}, at least {_percent(each.least, up=False)}"
            facts.append((f"a suspicion of {percent(each.before)}", f"becomes {after}"))
        several, scheme = self.several, self.scheme
        most = _after(0.5, exp(min(several, 700.0)))[0]
        surely = "almost certain" if _certain(most) else f"{_percent(most, up=True)} at most"
        doubt = f"a suspicion of 50 % becomes {surely}"
        if isinstance(scheme, Memoised):
            memo = f"of one value together have an ε of {decimal(scheme.memo_epsilon)}, that of the memo, and {doubt}"
            cells = f"{scheme.cells:,} entries; the values of one user in k of them together have k times that ε"
            facts += [("all reports", memo), ("memo", cells), ("caution", scheme.caution)]
        else:
            facts.append(("several reports", f"of one user add up: after {_SEVERAL}, ε is {several:.6g}, and {doubt}"))
        if epsilon_refused(self.scheme):
            facts.append(("devices", LARGE_EPSILON))
        return facts

    def _report(self) -> Facts:
        scheme = self.scheme
        size = scheme.report_dtype.itemsize
        one = "the same size whatever the value and the coins"
        facts = [("size", f"{plural(size, 'byte')} ({plural(scheme.report_bits, 'bit')} of content), {one}")]
        for each in self.fields:
            kind = "public: drawn without looking at the value" if each.public else "private: depends on the value"
            if isinstance(scheme, Grouped) and each.name == "body":
                kind = "the records of the group's parts"
            facts.append((each.name, f"{each.kind}, {kind}"))
        return facts

    @property
    def means(self) -> list[tuple[int, float]]:
        """Described half-width of the mean at most, by number of users, if the scheme knows nothing else."""
        decoder = self.scheme.estimator()
        if not isinstance(decoder, MeanOnly):
            return []
        return [(n, two_sided(_CONFIDENCE) * decoder.largest_error(n)) for n in self.users]

    @property
    def cells(self) -> list[tuple[int, float]]:
        """Described half-width of a cell of a table, on average, by number of users, if the scheme has only tables.

        The tables have two attributes, or one if that is all the scheme knows.
        """
        decoder = self.scheme.estimator()
        if not isinstance(decoder, TablesOnly):
            return []
        tables = [*decoder.known_tables(2)] or [*decoder.known_tables(1)]
        mean = float(np.mean([decoder.law_at(places).even_variance() for places in tables]))
        return [(n, two_sided(_CONFIDENCE) * sqrt(n * mean)) for n in self.users]

    def _accuracy_of_tables(self) -> Facts:
        decoder = self.scheme.estimator()
        pairs = isinstance(decoder, TablesOnly) and any(True for _ in decoder.known_tables(2))
        what = "a cell of a table of two attributes" if pairs else "a value of an attribute"
        known = [
            (f"{n:,} users", f"{what} is known to ±{percent(half / n)} of the users at 95 %") for n, half in self.cells
        ]
        return [*known, ("", "on average over all tables, if users are spread evenly over their cells")]

    def _accuracy(self) -> Facts:
        if self.cells:
            return self._accuracy_of_tables()
        if means := self.means:
            unit = _unit_of(self.scheme)
            known = [(f"{n:,} users", f"the mean is known to ±{half:,.3g}{unit} at 95 %") for n, half in means]
            return [*known, ("", "there are no counts of single values")]
        if not self.has_law:
            return [("error", "no formula: the variance of the estimates has no closed form")]
        what = "text" if self.scheme.domain.size is None else "item"
        facts: Facts = []
        for each in self.errors:
            half = f"±{_users(each.half_width)} users ({percent(each.half_width / each.users)}) at 95 %"
            held = (
                f"{what}s held by at least {percent(each.stands_out)} are" if each.stands_out < 1 else f"no {what} is"
            )
            error = f"standard error {_users(each.standard_error)}"
            # What a search finds is said below: one share of users is enough to remember.
            detectable = "" if self.finds else f"; {held} detectable"
            facts.append((f"{each.users:,} users", f"{half}, {error}{detectable}"))
        among = f"{self.scheme.domain.size:,} items" if self.scheme.domain.size else f"{CANDIDATES:,} candidates"
        told = f"errors are for {what}s that nobody holds; detectable {what}s stand out from the noise of {among}"
        if self.finds:
            facts.append(("", f"errors are for a {what} that you name and nobody holds"))
        else:
            facts.append(("", f"{told}, with 95 % confidence"))
        if ranges := self.up_to_a_value:
            told = ", ".join(f"±{percent(half / n)} of {n:,} users" for n, half in ranges)
            facts.append(
                ("up to a value", f"{told}, at 95 % and on average over all values; a range is a difference of two")
            )
        for n, share in self.finds:
            length = self.scheme.strings.length if isinstance(self.scheme, Search) else 0
            words = f"word-like strings of up to {length} characters that at least {percent(share)} have"
            facts.append((f"found, {n:,} users", words if share < 1 else "nothing"))
        if isinstance(self.scheme, Search) and not self.finds:
            simulate = "run plausibly simulate with strings like yours"
            facts.append(("found", f"no formula for {self.scheme.name}: {simulate}"))
        if Prediction(self.scheme, _SKEW).assumes:
            facts.append(("assumed", skew_in_words(_SKEW, self.scheme.domain.size)))
        return facts

    def _fakes(self) -> Facts:
        fakes, decoder = self.fakes, self.scheme.estimator()
        if isinstance(decoder, MeanOnly):
            low, high = decoder.worth()
            told = f"counts as {low:,.4g} or {high:,.4g}{_unit_of(self.scheme)} in the mean, as do all reports"
            return [("one fake report", told)]
        if isinstance(decoder, TablesOnly) and self.influence is not None:
            return [
                ("one fake report", f"moves the count of a cell by {at_most(self.influence)} users at most"),
                ("1 % fake users", f"working together move a count by {_of_users(self.influence)}"),
            ]
        if self.influence is None or fakes is None:
            return [("one fake report", "no bound is known: its estimates are not plain sums over reports")]
        most, searched = self.influence, isinstance(self.scheme, Search)
        counted = "a string that you name (estimate)" if searched else "an item"
        more = "; for the strings that a search finds, see the lines on forged strings" if searched else ""
        facts = [
            ("one fake report", f"moves the count of {counted} by {at_most(most)} users at most{more}"),
            ("1 % fake users", f"working together move a count by {_of_users(most)}"),
            (f"{_FAKES} fake reports", self._at_once(fakes)),
        ]
        if fakes.total is not None and fakes.total_exact:
            added = f"at most {_whole_users(fakes.total)} for each fake report, by 1 on average for an honest one"
            facts.append(("the sum of all counts", f"grows by {added}"))
        return [*facts, *self._forged()] if searched else facts

    def _forged(self) -> Facts:
        facts: Facts = []
        forgeries, hopeless = (
            {each.users: each for each in self.forgeries},
            {n for n, share in self.finds if share >= 1},
        )
        for n in self.users:
            each = forgeries.get(n)
            if each is not None:
                reports = f"{each.reports:,} fake reports ({percent(each.reports / n)} of the users)"
                looks = f"make a string that nobody holds look as if {percent(each.share)} held it"
                unsure = " at every step; whether it is found depends on the search"
                ends = ", and it is found" if self.finds else unsure
                facts.append((f"forged, {n:,} users", f"{reports} {looks}{ends}"))
            elif n in hopeless:
                facts.append((f"forged, {n:,} users", "too few users for a search to find anything"))
        facts.append(("", "p-values and a level account for chance only, not for fake reports"))
        return facts

    def _at_once(self, fakes: Fakes) -> str:
        size = self.scheme.domain.size
        kind = "string" if isinstance(self.scheme, Search) else "text"
        items = f"every {kind}" if size is None else f"every one of the {size:,} items"
        one, every = at_most(_FAKES * fakes.raises), at_most(_FAKES * fakes.every)
        named = " that you name" if isinstance(self.scheme, Search) else ""
        raised = f"raise one {'item' if size else kind}{named} by {one} users"
        if fakes.every_exact:
            return f"{raised}, or {items} at once by {every} users each"
        bound = "a bound; probably far less" if _fewest_hashed(self.scheme) > _SEARCHED else "a bound"
        return f"{raised}; {items} at once by no more than {every} each ({bound})"

    def _server(self) -> Facts:
        scheme, most = self.scheme, max(self.users)
        facts: Facts = []
        sizes = [scheme.cost(n, self.asked) for n in (min(self.users), most)]
        if sizes[0].state_bytes == sizes[1].state_bytes and not sizes[1].keeps_reports:
            cells = "" if scheme.cell_shape is None else f" ({_counters(scheme)})"
            kept = "a tally contains no single report (report files stay until you delete them)"
            facts.append(("state", f"{size_text(sizes[1].state_bytes)}{cells} for any number of reports; {kept}"))
        else:
            kept = "every report is kept" if sizes[1].keeps_reports else "some parts keep their reports"
            facts.append(("state", f"{size_text(sizes[1].state_bytes)} for {most:,} users: {kept}"))
        facts.append(("time", f"{sizes[1].time_text} of one core for {most:,} users"))
        return facts

    def _parts(self) -> Facts:
        facts: Facts = []
        for each in self.pieces:
            told = f"{each.scheme}, ε = {decimal(each.epsilon)}, {percent(each.share)} of the users"
            more = f" ({percent(each.share / each.number)} each)" if each.number > 1 else ""
            facts.append((label_of(each.label), f"{told}{more}"))
        if isinstance(self.scheme, Grouped) and any(len(group) > 1 for group in self.scheme.groups):
            facts.append(("", "a user reports through several of them; their ε add up to that of the scheme"))
        elif facts:
            facts.append(("", "a user reports once, through one of them, drawn publicly"))
        return facts

    def _identity(self) -> Facts:
        hashes = self.scheme.parameters.get("hash_seed")
        facts = [("scheme", self.scheme.name), ("fingerprint", self.scheme.fingerprint())]
        return facts if hashes is None else [*facts, ("hash_seed", f"{hashes} (public: all clients hash alike)")]

    def to_dict(self) -> dict[str, Any]:
        """The description, JSON-ready; exact numbers are text."""
        costs = self.scheme.cost(max(self.users), self.asked)
        size, caution = self.scheme.domain.size, self.scheme.caution
        return {
            "scheme": self.scheme.name,
            "fingerprint": self.scheme.fingerprint(),
            "domain": {"kind": type(self.scheme.domain).__name__, "size": size},
            "epsilon_asked": str(self.scheme.epsilon),
            "epsilon_delivered": str(self.delivered),
            "odds_shift": self.shift,
            "suspicions": [asdict(each) for each in self.suspicions],
            "reports_add_up": {"reports": _SEVERAL, "epsilon": self.several},
            **({"caution": caution} if caution else {}),
            "report": {
                "bytes": self.scheme.report_dtype.itemsize,
                "bits": self.scheme.report_bits,
                "fields": [asdict(each) for each in self.fields],
            },
            "errors": [asdict(each) for each in self.errors],
            **({"cells": [{"users": n, "half_width": half} for n, half in self.cells]} if self.cells else {}),
            **({"means": [{"users": n, "half_width": half} for n, half in self.means]} if self.means else {}),
            "up_to_a_value": [{"users": n, "half_width": half} for n, half in self.up_to_a_value],
            "finds": [{"users": n, "share": share} for n, share in self.finds],
            "influence": self.influence,
            "fakes": None if self.fakes is None else asdict(self.fakes),
            "forgeries": [asdict(each) for each in self.forgeries],
            "server": {
                "users": max(self.users),
                "state_bytes": costs.state_bytes,
                "keeps_reports": costs.keeps_reports,
                "time": costs.time_text,
            },
            "parts": [asdict(each) | {"epsilon": str(each.epsilon)} for each in self.pieces],
            "words": [{"heading": name, "facts": [list(fact) for fact in facts]} for name, facts in self.sections()],
            "definition": self.scheme.to_dict(),
        }

    def __str__(self) -> str:
        sections = self.sections()
        width = max(len(name) for _, facts in sections for name, _ in facts)
        lines = [
            "\n".join([heading, *(f"  {name:<{width}}  {value}".rstrip() for name, value in facts)])
            for heading, facts in sections
        ]
        return "\n\n".join(lines)

    __repr__ = __str__


# --- the record -------------------------------------------------------------------------------------------------


def fields_of_record(scheme: Scheme) -> list[Field]:
    """Fields of the record for a description, in order; running the client shows which of them are public.

    With its public coins fixed, the client runs on items from all over the domain and on many private coins. A field
    that never changes is public.
    """
    # A record of a million bits has the same fields as one of 64 bits.
    small = scheme if scheme.randomizer.words <= _MOST_WORDS else scheme.shrunk(64)
    client, layout = small.randomizer, Layout(dense=small.randomizer.words)
    stream = SeededRandom(0).replay(0)
    items = [small.domain.number(code) for code in small.domain.spread(8)]
    changed = np.zeros(small.report_dtype.itemsize, dtype=np.bool_)
    for first in range(2):
        public = client.public(stream.source(layout, first))
        records = [client.perturb(items[i % len(items)], public, stream.source(layout, 2 + i)) for i in range(_DRAWS)]
        rows = np.frombuffer(b"".join(records), dtype=np.uint8).reshape(len(records), -1)
        changed |= (rows != rows[0]).any(axis=0)
    private = {name for name, kind, start in _flat(small.report_dtype) if changed[start : start + kind.itemsize].any()}
    return [Field(name, _kind(kind), name not in private) for name, kind, _ in _flat(scheme.report_dtype)]


def _flat(dtype: np.dtype[Any], prefix: str = "", start: int = 0) -> Iterator[tuple[str, np.dtype[Any], int]]:
    assert dtype.names is not None
    assert dtype.fields is not None
    for name in dtype.names:
        kind, place = dtype.fields[name][:2]
        if kind.names is not None:
            yield from _flat(kind, f"{prefix}{name}.", start + place)
        else:
            yield f"{prefix}{name}", kind, start + place


def _kind(dtype: np.dtype[Any]) -> str:
    count = prod(dtype.shape)
    plain = f"unsigned integer of {plural(dtype.base.itemsize, 'byte')}"
    if dtype.shape == () or count == 1:
        return plain
    return plural(count, "byte") if dtype.base.itemsize == 1 else f"{count} numbers, each an {plain}"


# --- parts ------------------------------------------------------------------------------------------------------


def _pieces(scheme: Scheme) -> Iterator[Piece]:
    if isinstance(scheme, Grouped):
        numbered = [(part.role, _name(part.scheme), i) for i, part in enumerate(scheme.parts)]
        for (_, name), several in groupby(numbered, key=lambda each: each[:2]):
            numbers = [i for _, _, i in several]
            parts = [scheme.parts[i] for i in numbers]
            first, last = parts[0].label, parts[-1].label
            label = first if first == last else f"{first} … ({len(parts)})"
            users = float(sum(map(scheme.share, numbers)))
            yield Piece(label, len(parts), name, parts[0].scheme.epsilon, users)
        return
    rows = scheme.channels or 1
    for inside, share in scheme.components:
        yield Piece(f"{rows:,} rows", rows, _name(inside), inside.epsilon, float(share))


def _name(scheme: Scheme) -> str:
    if scheme.name not in CATALOG and len(scheme.components) == 1:
        return _name(scheme.components[0].scheme)  # it cannot be made by itself
    size = f" on {scheme.domain.size:,} items" if scheme.domain.size is not None else " on any texts"
    return f"{scheme.name}{size}" + "".join(f", over {_name(inside)}" for inside, _ in scheme.components)


def _fewest_hashed(scheme: Scheme) -> float:
    # Size of the smallest domain of any oracle in the scheme.
    return min([scheme.domain.size or inf, *(_fewest_hashed(inside) for inside, _ in scheme.components)])


def _unit_of(scheme: Scheme) -> str:
    unit = getattr(scheme.domain, "unit", "")
    return f" {unit}" if unit else ""


def _counters(scheme: Scheme) -> str:
    shape: Sequence[int] = scheme.cell_shape or ()
    return f"{prod(shape) * (scheme.channels or 1):,} counters"


# --- numbers as text --------------------------------------------------------------------------------------------


def _after(before: float, ratio: float) -> tuple[float, float]:
    # Bayes' rule: the odds are multiplied or divided by at most the ratio.
    return before * ratio / (1 - before + before * ratio), before / (before + (1 - before) * ratio)


def _upward(number: Fraction, digits: int) -> str:
    # Rounded up: "at most" must be true for the digits shown.
    context = Context(prec=digits, rounding=ROUND_CEILING)
    rounded = context.divide(Decimal(number.numerator), Decimal(number.denominator)).normalize()
    return f"{rounded:,f}" if rounded < _HUGE else f"{rounded:e}"


def _certain(share: float) -> bool:
    return (1 - share) * 100 < _CERTAIN


def _percent(share: float, *, up: bool) -> str:
    # To two digits of the distance from certainty, rounded so that "at most" and "at least" are true.
    left = min(share, 1 - share) * 100
    if left < _CERTAIN:
        return "practically 100 %" if share > 0.5 else "practically 0 %"
    step = Decimal(10) ** (min(floor(log10(left)), 0) - 1)
    rounded = (Decimal(share) * 100).quantize(step, rounding=ROUND_CEILING if up else ROUND_FLOOR)
    return f"{rounded.normalize():f} %"


def _of_users(most: float) -> str:
    # The effect of 1 % fakes: a bound, rounded up; in percent up to 100 %, then as a multiple of the users.
    if most <= 100:
        return f"at most {at_most(most)} % of the users"
    return f"up to {ceil(most - 1e-6) / 100:,.2f} times the number of users"


def _whole_users(most: float) -> str:
    number = at_most(most).removesuffix(".0")
    return f"{number} user{'s' * (number != '1')}"


def _users(number: float) -> str:
    return f"{number:,.{0 if number >= 10 else 1}f}"
