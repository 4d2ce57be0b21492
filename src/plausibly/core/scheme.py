"""The scheme contract: a frozen value that randomizes, folds and estimates, and states its own laws."""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, dataclass, fields, replace
from fractions import Fraction
from functools import cached_property
from math import ceil, prod
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple
from weakref import WeakValueDictionary

import numpy as np
import numpy.typing as npt

from .. import device
from . import accumulator as accumulators
from .accumulator import Accumulator, CellAccumulator, ChannelAccumulator, LogAccumulator
from .arguments import from_decimal, whole_number
from .blanket import Blanket
from .costs import BYTE, CANDIDATE, PLACE, REPORT, Cost, transform_seconds
from .differences import difference
from .domain import Domain, Integers, Keys, Labels, Listable, Strings, domain_from_dict, encode_column, expect_domain
from .domain import Encoded as Encoded  # schemes import it from here
from .errors import DomainError, ParameterError, ReportError
from .laws import Cells, Decoder, Estimator, Floats, MemoLaw, law_of
from .levers import Levers, OfScheme, Reach, no_bound
from .memory import copied, unshared
from .parallel import in_chunks
from .probability import EpsilonLike, exact_epsilon, log_upper_bound
from .randomness import MAX_REPORTS, Draws, Layout, RandomLike, Stream, open_stream, seeded
from .records import RefusedReportsError, records_in_column, refuse_cells
from .records import Reports as Reports  # schemes take both from here
from .support import Support
from .wording import in_json, nearest, shown
from .words import Words, kind_of

FORMAT_VERSION = 1

_KNOWN: WeakValueDictionary[str, Scheme] = WeakValueDictionary()
"""The schemes in this process, by the beginning of their fingerprints. Used only to word the difference of two."""
_IDENTIFYING = 32
"""Number of hexadecimal digits of a fingerprint that a header has."""

_CHUNK_BYTES = 1 << 22
"""Keystream per task: below 4 MB, two threads lose more time than they save."""
_COPIED_BYTES = 1 << 24
"""Reports in shared memory are copied 16 MB at a time."""

EXAMPLE_DOMAINS: Mapping[str, Domain] = MappingProxyType(
    {
        "integers": Integers(11),
        "labels": Labels(("ant", "bee", "cat", "dog", "eel", "fox"), other=True),
        "keys": Keys(hash_seed=3),
        "strings": Strings("abc", 3),
    }
)
"""A small domain of each kind, for examples."""
EXAMPLE_SEED = 2**63 + 5
"""Hash seed of examples, large enough that JSON writes it as text: a browser would round the number."""


_USUAL = (
    *("name", "privatize", "accumulator", "simulate", "variance", "privacy_loss", "report_bits", "report_dtype"),
    *("to_json", "fingerprint", "difference"),
)
"""Names that completion suggests for a scheme, besides its parameters."""


class Component(NamedTuple):
    """A scheme that another scheme reports through."""

    scheme: Scheme
    share: Fraction
    """Share of the users who report through this scheme."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Scheme(ABC):
    """The agreement between clients and server: parameters and pure methods, never data.

    A new oracle defines ``name``, its dataclass fields, and the members marked abstract; if its client is not in
    ``device.py`` yet, also ``randomizer``.
    """

    epsilon: Fraction
    domain: Domain

    name: ClassVar[str]
    accepts: ClassVar[tuple[type[Domain], ...]] = (Listable,)
    max_increment: ClassVar[int] = 1
    """Maximum change of one cell by one report."""
    unbiased_given: ClassVar[str] = ""
    """Condition for unbiasedness besides the coins of a report, if any."""
    extra: ClassVar[str] = ""
    """Optional extra of the package needed to estimate, if any; its packages are listed in pyproject.toml."""
    advice: ClassVar[str] = ""
    """Advice that a plan adds when it recommends this scheme, if any."""
    linkable: ClassVar[str] = ""
    """Reason, as a clause, why a shuffler does not hide whose report of the scheme is whose; empty if it does."""

    @property
    def caution(self) -> str:
        """What the scheme's epsilon does not promise, if that is less than usual; shown wherever epsilon is shown."""
        return ""

    def __post_init__(self) -> None:
        self.validate()
        self.to_dict()  # computes every threshold now, so that an impossible scheme fails here

    def validate(self) -> None:
        """Check and normalise the fields of the scheme; a scheme with its own fields extends this."""
        object.__setattr__(self, "epsilon", exact_epsilon(self.epsilon))
        self.check_domain()

    def check_domain(self) -> None:
        """Raise if the scheme does not work on its domain."""
        expect_domain(self.domain, self.accepts, self.name)

    # --- members that a scheme must define --------------------------------------------------------------------

    @property
    @abstractmethod
    def parameters(self) -> dict[str, Any]:
        """The scheme's own parameters as JSON values, with defaults resolved."""

    @property
    @abstractmethod
    def derived(self) -> dict[str, Any]:
        """Values for clients that follow from the scheme's parameters: thresholds as decimal text, sizes."""

    @property
    @abstractmethod
    def report_dtype(self) -> np.dtype[np.void]:
        """The scheme's packed little-endian record; its bytes are the wire record."""

    @property
    @abstractmethod
    def report_bits(self) -> int:
        """Number of bits needed to distinguish the possible reports of the scheme."""

    @property
    @abstractmethod
    def layout(self) -> Layout:
        """Number and layout of the random words that a bulk report of the scheme takes."""

    @property
    @abstractmethod
    def cell_shape(self) -> tuple[int, ...] | None:
        """Shape of one channel of the scheme's state; None for a scheme that must keep its reports."""

    @property
    def channels(self) -> int | None:
        """Number of channels among which the scheme divides its users; None if all users report alike."""
        return None

    def channel_of(self, reports: Reports) -> npt.NDArray[np.integer[Any]]:
        """The channel of each report, for a scheme with channels."""
        return np.zeros(len(reports), dtype=np.int64)

    @abstractmethod
    def respond(self, values: Encoded, draws: Draws, out: Reports) -> npt.NDArray[np.int64]:
        """Write the scheme's reports of encoded values, and return the positions that the scalar code must redo."""

    @abstractmethod
    def check(self, reports: Reports) -> None:
        """Raise if a report cannot come from a client of this scheme."""

    @abstractmethod
    def fold(self, cells: Cells, reports: Reports) -> None:
        """Add checked reports of the scheme to the cells of one channel."""

    @abstractmethod
    def estimator(self) -> Decoder:
        """The scheme's decoder from cells to estimates. A scheme with options takes them as keywords with defaults."""

    @abstractmethod
    def likelihood(self, report: np.void, item: int) -> Fraction:
        """Probability under the scheme of the private part of a report, given its public part and the encoded item."""

    def check_cells(self, cells: Cells, n: int) -> None:
        """Raise if no n reports of the scheme produce these cells; by default, cells count supporting reports.

        Every estimate from accepted cells is within n times the contribution of one report. Some schemes reject exactly
        the impossible cells, others only most of them (docs/adr/0016-states.md).
        """
        refuse_cells(int(cells.min()) < 0 or int(cells.max()) > n)

    # --- members that follow from those -----------------------------------------------------------------------

    @property
    def size(self) -> int:
        """Number of items of the scheme. Raises if the domain cannot be listed."""
        if self.domain.size is None:
            raise ParameterError(f"{self.domain.title}: they cannot be counted, so the domain has no size")
        return self.domain.size

    @property
    def answers(self) -> Domain:
        """Domain of the scheme's estimates: that of the values, unless it estimates a function of them."""
        return self.domain

    def counts_towards(self, value: int, answer: int) -> bool:
        """Whether the scheme counts a user with this encoded value towards this encoded answer."""
        return value == answer

    @cached_property
    def randomizer(self) -> device.Randomizer:
        """The scheme's scalar client: the code that runs on a device and that the audit enumerates."""
        return device.randomizer_of(self.to_dict() | {"domain": self.domain.client_fields()})

    def privacy_loss(self) -> Fraction:
        """Epsilon that the scheme delivers, at most the requested one.

        It is an upper bound of the log of the worst likelihood ratio.
        """
        return log_upper_bound(self.randomizer.worst_ratio(), self.epsilon)

    def shrunk(self, size: int) -> Scheme:
        """The same scheme on a domain of ``size`` items, small enough for the audit to enumerate."""
        return replace(self, domain=Integers(size))

    def variance(self, n: int, f: Any = 0, f2: float | None = None) -> Any:
        """The scheme's variance of the estimate of an item that f of n users have, for planning.

        ``f`` is a number or an array.
        """
        users, holders, squares = (np.asarray(given) for given in (n, f, 0 if f2 is None else f2))
        possible = {users.dtype.kind, holders.dtype.kind, squares.dtype.kind} <= set("iuf")
        if not (possible and np.isfinite(users) and np.all((holders >= 0) & (holders <= users)) and squares >= 0):
            raise ParameterError("variance: expected numbers with 0 <= f <= n and f2 >= 0, got others")
        return law_of(self.estimator()).at(n, f, f2=f2)

    def privatize(self, items: object, rng: RandomLike | None = None, *, first_report: int = 0) -> Reports:
        """One randomized report of the scheme for each item.

        This is for simulation, or for a gateway that users already trust with the raw values; on a user's own
        device use ``device.py``. Items are a list, a NumPy array, a column of pyarrow, Polars or pandas, or a table
        with one column that speaks Arrow, such as a DuckDB relation. ``first_report`` continues a seeded call: the
        reports are those that the same call would have made from that position on.
        """
        return self.privatize_encoded(encode_column(self.domain, items), rng, first_report=first_report)

    def privatize_encoded(self, values: Encoded, rng: RandomLike | None = None, *, first_report: int = 0) -> Reports:
        """One randomized report of the scheme for each item that the domain has already encoded."""
        return self._privatize(self.domain.encoded(values), rng, first_report)

    def _privatize(self, values: Encoded, rng: RandomLike | None, first_report: int) -> Reports:
        first_report = whole_number("first_report", first_report, 0, MAX_REPORTS - len(values))
        stream = open_stream(rng)
        reports = np.empty(len(values), dtype=self._simulated_dtype if seeded(rng) else self._tagged_dtype)

        def work(first: int, last: int) -> None:
            self._respond_exactly(values[first:last], stream, first_report + first, reports[first:last])

        for _ in in_chunks(len(values), self._chunk, work):
            pass
        return reports

    def simulate(self, counts: object, rng: RandomLike | None = None) -> Accumulator:
        """The scheme's accumulator of a crowd with these true counts, distributed like privatize and add.

        ``counts`` holds one count per item of the domain, or maps items to counts. It takes constant memory.
        """
        codes, numbers = self._crowd(counts)
        ends = np.cumsum(numbers)
        total = int(numbers.sum())
        stream = open_stream(rng)
        tally = self.accumulator()

        def work(first: int, last: int) -> Accumulator:
            users = np.searchsorted(ends, np.arange(first, last), side="right")
            reports = np.empty(last - first, dtype=self._tagged_dtype)
            self._respond_exactly(np.ascontiguousarray(codes[users]), stream, first, reports)
            return accumulators.own_accumulator(self, reports)

        for part in in_chunks(total, self._chunk, work):
            tally.merge(part)
        return tally

    def accumulator(self) -> Accumulator:
        """An empty accumulator of the scheme."""
        return self.accumulator_type(self)

    @property
    def accumulator_type(self) -> type[Accumulator]:
        """The class of the scheme's accumulators."""
        if self.cell_shape is None:
            return LogAccumulator
        return CellAccumulator if self.channels is None else ChannelAccumulator

    @property
    def _chunk(self) -> int:
        return max(1, _CHUNK_BYTES // self.layout.head_bytes)

    @cached_property
    def _tagged_dtype(self) -> np.dtype[np.void]:
        # The fingerprint travels with the array, so that another scheme's reports are noticed even if their records
        # look alike. It is public, and not part of the bytes.
        dtype = self.report_dtype
        return np.dtype(dtype, metadata={"plausibly": self.fingerprint()})

    @cached_property
    def _simulated_dtype(self) -> np.dtype[np.void]:
        # A mark that anyone who knows the seed can read the values off these reports.
        return np.dtype(self.report_dtype, metadata={"plausibly": self.fingerprint(), "simulated": True})

    def tag(self, reports: Reports, *, simulated: bool = False) -> Reports:
        """The same reports, marked as this scheme's, and as simulated if they are."""
        return reports.view(self._simulated_dtype if simulated else self._tagged_dtype)

    def _respond_exactly(self, values: Encoded, stream: Stream, first: int, out: Reports) -> None:
        # below(m) rejects a word once in 2^64/m draws; the scalar code makes those reports again, and finds the same
        # words, and the repeats, at their addresses.
        draws = stream.draws_of(self.layout, first, len(values))
        for i in self.respond(values, draws, out).tolist():
            source = stream.source(self.layout, first + i)
            record = self.randomizer.perturb(self.domain.number(values[i]), self.randomizer.public(source), source)
            out[i] = np.frombuffer(record, dtype=self.report_dtype)[0]

    def _crowd(self, counts: object) -> tuple[Encoded, npt.NDArray[np.int64]]:
        if isinstance(counts, Mapping):
            codes = self.domain.encoded(self.domain.encode(list(counts.keys())))
            counts = list(counts.values())
        else:
            codes = np.arange(self.size, dtype=np.uint64)
        try:
            numbers = np.asarray(counts)
        except ValueError:
            raise DomainError(f"counts: expected {len(codes)} whole numbers, got a ragged list") from None
        if numbers.shape != (len(codes),) or (numbers.size and numbers.dtype.kind not in "iu"):
            raise DomainError(
                f"counts: expected {len(codes)} whole numbers, got {numbers.dtype} of shape {numbers.shape}"
            )
        if numbers.size and int(numbers.min()) < 0:
            raise DomainError("counts: expected no negative number")
        # Added up before the conversion to int64, in which a huge count could wrap around to a small one.
        whole_number("counts: number of users", sum(numbers.tolist()), 0, MAX_REPORTS)
        return codes, numbers.astype(np.int64)

    def accept(self, reports: object) -> Reports:
        """The reports as a checked array of this scheme's records. Raises for anything else.

        Reports in memory that another process may write to, such as a memory-mapped file, are copied before they are
        checked, so that they cannot change afterwards. Reports in this process's own memory are not copied.
        """
        records = self.expect_records(reports)
        accepted = records if unshared(records) else copied(records)
        self.check(accepted)
        return accepted

    def accept_parts(self, records: Reports) -> Iterator[Reports]:
        """The scheme's records part by part, each copied and then checked, in little memory."""
        step = max(1, _COPIED_BYTES // records.itemsize)
        for first in range(0, len(records), step):
            part = copied(records[first : first + step])
            try:
                self.check(part)
            except RefusedReportsError as error:
                wrong = np.zeros(len(records), dtype=np.bool_)
                wrong[first : first + step] = error.wrong
                raise RefusedReportsError(wrong, error.expected) from None
            yield part

    def expect_records(self, reports: object) -> Reports:
        """The reports as a contiguous array of this scheme's records; their contents are not checked."""
        expected = self.report_dtype
        reports = records_in_column(reports, expected)
        if not isinstance(reports, np.ndarray):
            hint = ""
            if isinstance(reports, bytes | bytearray | memoryview):
                hint = "; decode_reports reads a batch, numpy.frombuffer(bytes, scheme.report_dtype) bare records"
            raise ReportError(Words(f"reports: expected an array of {expected}, got ", kind_of(reports), hint))
        if reports.dtype != expected or reports.ndim != 1:
            raise ReportError(
                f"reports: expected {self.name} records {expected}, got {reports.dtype} of {reports.ndim} dimensions"
            )
        if isinstance(reports, np.ma.MaskedArray):
            raise ReportError("reports: expected an array without a mask, got one with missing reports")
        tag = (reports.dtype.metadata or {}).get("plausibly", self.fingerprint())
        if tag != self.fingerprint():
            raise ReportError(f"reports: expected those of this scheme, got those of another: {self.misfit(str(tag))}")
        return np.ascontiguousarray(reports)

    # --- facts for planners, tests and pages ------------------------------------------------------------------

    @property
    def components(self) -> tuple[Component, ...]:
        """The schemes that this scheme reports through, each with its share of the users; empty for an oracle."""
        return ()

    def blanket(self) -> Blanket:
        """The part of the law of a report that all values of the scheme share, for the values that differ most.

        Raises if it is not known.
        """
        raise ParameterError(f"scheme: expected one whose reports have a known blanket, got {self.name} without one")

    @property
    def spends_less(self) -> str:
        """Reason, as a clause, why the scheme may deliver much less than the requested epsilon; empty if it cannot."""
        return next(filter(None, (part.scheme.spends_less for part in self.components)), "")

    @classmethod
    def shares_hashes(cls) -> bool:
        """Whether the scheme's clients share public hash functions, which ``hash_seed`` chooses."""
        return any(field.name == "hash_seed" for field in fields(cls))

    @property
    def hash_seeds(self) -> frozenset[int]:
        """Seeds of the scheme's public hash functions that all users share, also in its components."""
        seed = getattr(self, "hash_seed", None)
        own: frozenset[int] = frozenset() if seed is None else frozenset([seed])
        return own.union(*(part.scheme.hash_seeds for part in self.components))

    @classmethod
    def example(cls, epsilon: EpsilonLike, domain: Domain, through: OracleMaker | None = None) -> Scheme:
        """A scheme of this kind on a domain, with a small state and few public choices.

        ``through(epsilon, domain)`` makes the oracles of a scheme that reports through others. A scheme with further
        parameters without defaults must define this method to have examples.
        """
        return cls(epsilon=epsilon, domain=domain)  # type: ignore[arg-type]

    @classmethod
    def examples(cls, through: OracleMaker | None = None, *, epsilon: EpsilonLike = 1) -> dict[str, Scheme]:
        """Small example schemes of this kind, by their special feature: one for every kind of domain it accepts.

        The self-test, the documentation and the contract suite run them. A scheme whose parameters select other
        branches of its code adds an example for each.
        """
        own = cls.example.__func__ is not Scheme.example.__func__  # type: ignore[attr-defined]
        if not own and required(cls) != {"epsilon"}:
            return {}
        domains = {kind: domain for kind, domain in EXAMPLE_DOMAINS.items() if isinstance(domain, cls.accepts)}
        return {kind: cls.example(epsilon, domain, through) for kind, domain in domains.items()}

    @classmethod
    def variants(cls, epsilon: Fraction, domain: Domain, memory: int) -> Iterator[Mapping[str, Any]]:
        """Parameters of the scheme worth trying for a collection: keyword arguments besides epsilon and domain.

        The planner makes all of them, leaves out those that are refused, and takes the best. ``memory``: bytes of
        state that are allowed; variants beyond show what would be needed.
        """
        if required(cls) == {"epsilon"}:
            yield {}

    @classmethod
    def variants_in_order(cls, epsilon: Fraction, domain: Domain, memory: int) -> Iterator[Mapping[str, Any]]:
        """``variants`` of a scheme for a collection that asks for ranges of ordered items; by default the same."""
        yield from cls.variants(epsilon, domain, memory)

    @classmethod
    def variants_over(cls, oracle: Scheme, domain: Domain, memory: int) -> Iterator[Mapping[str, Any]]:
        """``variants`` of a scheme that reports through an oracle: keyword arguments besides oracle and domain."""
        yield from ()

    @classmethod
    def variants_for_cells(cls, epsilon: Fraction, cells: int) -> Iterator[Mapping[str, Any]]:
        """``variants`` of a scheme as the oracle of a row of up to ``cells`` cells: arguments besides epsilon.

        Empty for a scheme that is never better in a sketch than another one.
        """
        if required(cls) == {"epsilon"} and issubclass(Integers, cls.accepts):
            yield {"domain": Integers(cells)}

    def cost(self, n: int, asked: int) -> Cost:
        """The server's cost of n reports of the scheme and of estimating ``asked`` items."""
        size, seconds = self.report_dtype.itemsize, self.seconds(n, asked)
        if self.cell_shape is not None:
            return Cost(size, 8 * prod(self.cell_shape) * (self.channels or 1), seconds, keeps_reports=False)
        if self.components:  # they have the state
            state = sum(part.scheme.cost(ceil(n * part.share), 0).state_bytes for part in self.components)
            return Cost(size, state, seconds, keeps_reports=False)
        return Cost(size, n * size, seconds, keeps_reports=True)

    def seconds(self, n: int, asked: int) -> float:
        """Seconds on one core to collect n reports of the scheme and to estimate the counts of ``asked`` items.

        A scheme that knows better overrides this guess: each word that a report draws is a place that it counts in, a
        split word a bit of a map; then a transform of all cells.
        """
        if self.components:
            return sum(part.scheme.seconds(ceil(n * part.share), asked) for part in self.components)
        if self.cell_shape is None:
            return n * REPORT + n * asked * CANDIDATE
        places = n * self.layout.dense * PLACE + n * self.layout.split / 8 * BYTE
        return n * REPORT + places + transform_seconds(self.cell_shape)

    @property
    def memo_law(self) -> MemoLaw | None:
        """The law by which the estimates of two days depend on each other; None for a scheme without a memo."""
        return None

    @property
    def linear(self) -> bool:
        """Whether the scheme's estimates are sums over reports with a variance in closed form.

        Those of a regression are not.
        """
        return self.estimator().law is not None

    def contribution(self) -> tuple[Fraction, Fraction] | None:
        """Minimum and maximum that one report of the scheme, whatever its content, adds to an estimated count.

        None if estimates are not sums over reports.
        """
        decoder = self.estimator()
        return decoder.contribution if isinstance(decoder, Estimator) and self.linear else None

    def ends(self) -> tuple[float, float] | None:
        """The scheme's ``contribution``, as floats."""
        ends = self.contribution()
        return None if ends is None else (float(ends[0]), float(ends[1]))

    def support(self) -> Support:
        """The items that one record of the scheme can support, to bound the effect of fakes; by default, any."""
        return Support()

    def leverage(self, weights: Floats) -> Reach:
        """Least and most that one report of the scheme adds to linear questions, with one weight an item in each row.

        Exact for schemes that state every set of items that a record can support, and for schemes with linear hash
        functions if at most 16,384 records differ; otherwise bounds, which no record exceeds. Raises if estimates are
        not sums over reports.
        """
        decoder = self.estimator()
        if not (isinstance(decoder, Estimator) and self.linear):
            raise no_bound()
        support, items, scale = self.support(), np.arange(weights.shape[1]), float(decoder.scale)
        most = np.array([support.best(items, row).number for row in weights], dtype=np.float64)
        if not decoder.offset:  # the score of a report is a sign
            return Reach(-scale * most, scale * most)
        least = -np.array([support.best(items, -row).number for row in weights], dtype=np.float64)
        return self.reach_of_supported(Reach(least, most), weights)

    def reach_of_supported(self, sums: Reach, weights: Floats) -> Reach:
        """The leverage of one report, from the least and most sum of the weights of the items that it supports."""
        decoder = self.estimator()
        assert isinstance(decoder, Estimator)
        scale, level = float(decoder.scale), float(decoder.offset) * weights.sum(axis=1)
        return Reach(scale * (sums.low - level), scale * (sums.high - level))

    def levers(self, asked: int) -> Levers | None:
        """What one report of the scheme adds to the counts of ``asked`` items that are estimated together, if known."""
        return None if self.contribution() is None else OfScheme(self)

    def influence(self) -> float | None:
        """Maximum change of an estimated count by one more report of the scheme, whatever its content.

        None as for ``contribution``.
        """
        ends = self.contribution()
        return None if ends is None else float(max(map(abs, ends)))

    # --- identity ---------------------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """All fields of the scheme that a client needs, as JSON values."""
        return {
            "scheme": self.name,
            "version": FORMAT_VERSION,
            "epsilon": str(self.epsilon),
            "domain": self.domain.to_dict(),
            **self.parameters,
            **self.derived,
        }

    def to_json(self) -> str:
        """The canonical text of the scheme: sorted keys, no spaces; equal schemes have equal texts."""
        return json.dumps(self.to_dict(), sort_keys=True, separators=(",", ":"), ensure_ascii=False)

    @classmethod
    def from_dict(
        cls, given: Mapping[str, Any], parts: Mapping[str, Scheme | tuple[Scheme, ...]] = MappingProxyType({})
    ) -> Scheme:
        """The scheme of JSON fields; derived fields are recomputed and must agree.

        ``parts`` holds the fields that are schemes or lists of schemes, already converted.
        """
        own = {f.name for f in fields(cls) if f.init} - {"domain"}
        if "epsilon" not in given or not isinstance(given["epsilon"], str):
            raise ParameterError("epsilon: expected a fraction as text")
        parameters: dict[str, Any] = {name: from_decimal(given[name]) for name in own if name in given}
        parameters |= {name: part for name, part in parts.items() if name in own}
        if parts:
            parameters.pop("epsilon", None)  # a scheme made of others takes its epsilon from them
        for name in sorted(required(cls) - parameters.keys()):
            raise ParameterError(f"{name}: expected for {cls.name}, the field is missing")
        scheme = cls(domain=domain_from_dict(given.get("domain")), **parameters)
        wanted = scheme.to_dict()
        for name in given:
            if name not in wanted:
                raise ParameterError(f"unknown field {shown(name)} of {cls.name}; {nearest(name, wanted)}")
        for name, value in wanted.items():
            if name not in given:
                raise ParameterError(f"{name}: expected {in_json(value)}, the field is missing")
            if given[name] != value or type(given[name]) is not type(value):
                raise ParameterError(f"{name}: expected {in_json(value)}, got {in_json(given[name])}")
        return scheme

    def fingerprint(self) -> str:
        """Hex SHA-256 of the scheme's canonical text."""
        return self._fingerprint

    @cached_property
    def _fingerprint(self) -> str:
        found = hashlib.sha256(self.to_json().encode()).hexdigest()
        _KNOWN[found[:_IDENTIFYING]] = self
        return found

    def difference(self, other: Scheme) -> str:
        """The parameters in which another scheme differs from this one, in words; derived values are left out.

        >>> from plausibly import make
        >>> make("OLH", epsilon=1, domain_size=100).difference(make("OLH", epsilon="0.5", domain_size=50))
        'epsilon is 0.5, not 1; hash_range is 3, not 4; domain size is 50, not 100'
        """
        return difference(self._document(), other._document())

    def misfit(self, fingerprint: str) -> str:
        """The difference of the scheme with this fingerprint, or its beginning; both fingerprints if it is unknown."""
        other = _KNOWN.get(fingerprint[:_IDENTIFYING])
        if other is None:
            return f"its fingerprint is {fingerprint[:12]}, not {self.fingerprint()[:12]}"
        return self.difference(other)

    def _document(self) -> dict[str, Any]:
        # Without derived fields, also those of the parts.
        own = {"scheme": self.name, "epsilon": str(self.epsilon), "domain": self.domain.to_dict(), **self.parameters}
        given = {field.name: getattr(self, field.name) for field in fields(self) if field.name in own}
        return own | {name: part._document() for name, part in given.items() if isinstance(part, Scheme)}

    def __dir__(self) -> list[str]:
        """The names that collectors and analysts need of a scheme, for completion; the others still work."""
        return sorted({*_USUAL, *(field.name for field in fields(self))})

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Scheme) and self.fingerprint() == other.fingerprint()

    def __hash__(self) -> int:
        return hash(self.fingerprint())

    def __repr__(self) -> str:
        domain = f"domain={self.domain!r}" if self.domain.size is None else f"domain_size={self.domain.size}"
        rest = "".join(f", {name}={_brief(value)}" for name, value in self.parameters.items())
        return f"{self.name}(epsilon={self.epsilon}, {domain}{rest})"


def _brief(parameter: Any) -> str:
    # The parts of a scheme are known by their names, and long lists by their beginnings.
    if isinstance(parameter, dict) and "scheme" in parameter:
        return f"{parameter['scheme']}(...)"
    if isinstance(parameter, list) and parameter and all(isinstance(part, dict) for part in parameter):
        return f"[{_brief(parameter[0])}{', ...' * (len(parameter) > 1)}]"
    return shown(parameter)


OracleMaker = Callable[[EpsilonLike, Domain], Scheme]
"""Function from an epsilon and a domain to a scheme over that domain."""


def expect_maker(through: OracleMaker | None, name: str) -> OracleMaker:
    """The maker of a scheme's oracles. Raises if none is given to the scheme of this name, which needs one."""
    if through is None:
        raise ParameterError(f"through: expected for {name}, which reports through oracles, got nothing")
    return through


def required(kind: type[Scheme]) -> set[str]:
    """The parameters of a scheme without defaults, except its domain."""
    needed = {f.name for f in fields(kind) if f.init and f.default is MISSING and f.default_factory is MISSING}
    return needed - {"domain"}


def expect_scheme(given: object) -> None:
    """Raise unless this is a scheme."""
    if not isinstance(given, Scheme):
        raise ParameterError(Words("scheme: expected a Scheme, got ", kind_of(given)))
