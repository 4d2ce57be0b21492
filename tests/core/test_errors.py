"""Bad input gets a typed error that says what was expected and what came, never a private value; nothing changes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import plausibly
import trusting
from cases import in_turn
from drawn import thinned
from plausibly import (
    Accumulator,
    DomainError,
    Integers,
    Keys,
    Labels,
    ParameterError,
    PlausiblyError,
    ReportError,
    Scheme,
    SeededRandom,
    StateError,
    device,
    make,
    oracles,
)
from plausibly.core.wording import nearest

SECRET_TEXT = "hiv-clinic.org"
SECRET_NUMBER = 987654321
SECRETS = (SECRET_TEXT, str(SECRET_NUMBER), SECRET_TEXT.encode().hex(), "hiv", "clinic", hex(SECRET_NUMBER)[2:])

INTEGERS = make("OLH", epsilon=1, domain=Integers(5))
LABELS = make("OLH", epsilon=1, domain=Labels(("a", "b", "c")))
OTHERS = make("OLH", epsilon=1, domain=Labels(("a", "b", "c"), other=True))
KEYS = make("OLH", epsilon=1, domain=Keys())
GOOD: dict[Scheme, Any] = {INTEGERS: 1, LABELS: "a", OTHERS: "a", KEYS: "a"}


class Telltale:
    """An object of a user's own that shows its content wherever it can."""

    def __repr__(self) -> str:
        return SECRET_TEXT

    __str__ = __repr__


def links(error: BaseException | None) -> Iterator[BaseException]:
    """The error and everything that Python chains to it, hidden or not."""
    if error is not None:
        yield error
        yield from links(error.__cause__)
        yield from links(error.__context__)


def everything_said(error: BaseException) -> str:
    """All that a log, a crash report or a debugger could copy from the exception objects."""
    said = ["".join(traceback.format_exception_only(error))]
    for link in links(error):
        said += [str(link), repr(link), repr(link.args), repr(vars(link)), repr(getattr(link, "__notes__", ""))]
    return " ".join(said).lower()


def assert_refused(call: Callable[[], object], kind: type[Exception]) -> str:
    """The message of the typed error that the call raises, which contains no secret."""
    with pytest.raises(kind) as caught:
        call()
    said = everything_said(caught.value)
    assert [secret for secret in SECRETS if secret.lower() in said] == []
    return str(caught.value)


OUTSIDE = {
    INTEGERS: [SECRET_NUMBER, -SECRET_NUMBER, 10**30 * SECRET_NUMBER, np.uint64(SECRET_NUMBER)],
    LABELS: [SECRET_TEXT, SECRET_TEXT + "\ud800", np.str_(SECRET_TEXT)],
    OTHERS: [],
    KEYS: [],
}
WRONG_KINDS = [
    *(float(SECRET_NUMBER), 0.5 + SECRET_NUMBER, Decimal(SECRET_NUMBER), Fraction(SECRET_NUMBER, 2)),
    *(complex(SECRET_NUMBER, 1), (SECRET_TEXT,), {SECRET_TEXT: 1}, frozenset([SECRET_TEXT]), Telltale()),
    *(bytearray(SECRET_TEXT.encode()), memoryview(SECRET_TEXT.encode()), True, np.float32(SECRET_NUMBER)),
    *(np.datetime64(SECRET_NUMBER, "s"), pd.Timestamp(SECRET_NUMBER), range(SECRET_NUMBER)),
]
MISSING = [None, float("nan"), np.nan, pd.NA, pd.NaT]
NO_INTEGERS = [*WRONG_KINDS, *MISSING, SECRET_TEXT, SECRET_TEXT.encode(), [SECRET_NUMBER]]
NO_LABELS = [*WRONG_KINDS, *MISSING, SECRET_NUMBER, SECRET_TEXT.encode(), [SECRET_TEXT]]
NO_KEYS = [*WRONG_KINDS, *MISSING, [SECRET_TEXT], SECRET_TEXT + "\ud800", "\udfff" + SECRET_TEXT]

CASES = [
    (scheme, bad)
    for scheme, kinds in ((INTEGERS, NO_INTEGERS), (LABELS, NO_LABELS), (OTHERS, NO_LABELS), (KEYS, NO_KEYS))
    for bad in (*kinds, *OUTSIDE[scheme])
]
every_bad_item = in_turn(("scheme", "bad"), thinned(CASES))


# --- items: outside the domain, of a wrong kind, missing -------------------------------------------------------------


@every_bad_item
def test_a_bad_item_is_refused_by_position_without_being_told(scheme: Scheme, bad: object) -> None:
    good = GOOD[scheme]
    tally = scheme.accumulator()
    tally.add(scheme.privatize([good] * 3, rng=SeededRandom(1)))
    rng, before = SeededRandom(2), tally.to_bytes()
    objects = np.empty(3, dtype=object)
    objects[:] = [good, good, None]
    objects[2] = bad
    for items in ([good, good, bad], (good, good, bad), objects):
        for call in (
            lambda items=items: scheme.privatize(items, rng=rng),
            lambda items=items: tally.estimate(items),
            lambda items=items: tally.scores(items),
        ):
            message = assert_refused(call, DomainError)
            assert "expected" in message
            assert "got" in message
            assert "item 2:" in message
    assert rng.stream().call == 0, "a refused call draws nothing"
    assert tally.to_bytes() == before


@every_bad_item
def test_a_device_refuses_a_bad_item_without_telling_it(scheme: Scheme, bad: object) -> None:
    client = trusting.load(scheme.to_json())
    assert_refused(lambda: client.privatize(bad), device.DeviceError)


@pytest.mark.parametrize("scheme", [INTEGERS, LABELS, OTHERS, KEYS], ids=lambda s: repr(s.domain))
def test_items_that_are_no_sequence_are_refused_without_being_told(scheme: Scheme) -> None:
    for items in (SECRET_TEXT, SECRET_TEXT.encode(), SECRET_NUMBER, None, Telltale(), np.array(SECRET_NUMBER)):
        assert "expected" in assert_refused(lambda items=items: scheme.privatize(items), DomainError)
    for table in (np.full((2, 2), SECRET_NUMBER), np.full((1, 1), SECRET_TEXT)):
        assert "dimension" in assert_refused(lambda table=table: scheme.privatize(table), DomainError)


@pytest.mark.parametrize("scheme", [INTEGERS, LABELS, OTHERS], ids=lambda s: repr(s.domain))
def test_typed_arrays_of_a_wrong_kind_are_refused_without_being_told(scheme: Scheme) -> None:
    arrays = [
        np.array([1.0, SECRET_NUMBER]),
        np.array([SECRET_NUMBER + 0.5, np.nan]),
        np.array([SECRET_TEXT.encode()]),
        np.array([True, False]),
        np.array([SECRET_NUMBER], dtype="datetime64[s]"),
        np.array([(SECRET_NUMBER,)], dtype=[("x", int)]),
        pd.Series([1.0, None]),
        pd.Series([SECRET_NUMBER, None], dtype="Int64"),
    ]
    for items in arrays:
        message = assert_refused(lambda items=items: scheme.privatize(items), DomainError)
        assert "expected" in message
        assert "got" in message


def test_the_message_does_not_tell_how_long_a_text_was() -> None:
    texts = ["x", SECRET_TEXT, SECRET_TEXT * 3]
    for wrap in (list, np.array):
        messages = {assert_refused(lambda t=t, wrap=wrap: INTEGERS.privatize(wrap([t])), DomainError) for t in texts}
        assert len(messages) == 1


def test_a_float_among_integers_is_named_by_its_own_position() -> None:
    assert "item 2:" in assert_refused(lambda: INTEGERS.privatize([0, 1, 2.5, 3]), DomainError)


@pytest.mark.parametrize("scheme", [INTEGERS, LABELS, KEYS], ids=lambda s: repr(s.domain))
def test_masked_items_are_missing_and_not_what_lies_under_the_mask(scheme: Scheme) -> None:
    data = np.array([GOOD[scheme]] * 3)
    masked = np.ma.masked_array(data, mask=[False, True, False])
    assert "item 1:" in assert_refused(lambda: scheme.privatize(masked), DomainError)


def test_ragged_items_are_refused_with_a_typed_error() -> None:
    for items in ([1, [SECRET_NUMBER]], [[1, 2], [SECRET_NUMBER]], [[SECRET_TEXT], SECRET_TEXT]):
        assert_refused(lambda items=items: INTEGERS.privatize(items), DomainError)


def test_many_bad_items_are_counted_and_not_told() -> None:
    message = assert_refused(lambda: INTEGERS.privatize([0, SECRET_NUMBER, 1, SECRET_NUMBER, -1]), DomainError)
    assert message.startswith("item 1 and 2 more: expected integers in [0, 5)")


def test_a_missing_value_is_called_missing() -> None:
    for scheme in (INTEGERS, LABELS, KEYS):
        assert "missing value" in assert_refused(lambda s=scheme: s.privatize([GOOD[s], None]), DomainError)


def test_simulated_items_outside_the_domain_are_not_told() -> None:
    for scheme, item in ((INTEGERS, SECRET_NUMBER), (LABELS, SECRET_TEXT), (KEYS, (SECRET_TEXT,))):
        assert_refused(lambda s=scheme, i=item: s.simulate({i: 3}), DomainError)


TESTS = Path(__file__).parent.parent
ENCODED = """
import numpy as np
from contract.entries import build
from plausibly import CATALOG, DomainError, Integers, SeededRandom, Strings, Table, make
for name, kind in CATALOG.items():
    if Strings in kind.accepts:
        continue
    oracle = dict(oracle=make("DE", epsilon=1, domain_size=8), rows=3) if name in ("CM", "CS") else dict(epsilon=1)
    if kind.linkable:
        oracle |= dict(memo_epsilon=2)
    records = Table({"a": 3, "b": 3}, missing=False)
    scheme = kind(domain=records if Table in kind.accepts else Integers(9), **oracle)
    wanted = scheme.privatize_encoded(np.array([1, 2, 3], dtype=np.uint64), SeededRandom(1)).tobytes()
    for same in (np.array([1, 2, 3], dtype=np.int32), np.array([1, 0, 2, 0, 3], dtype=np.uint64)[::2]):
        assert scheme.privatize_encoded(same, SeededRandom(1)).tobytes() == wanted
    for wrong in ([1, 9], [2**63]):
        try:
            scheme.privatize_encoded(np.array(wrong, dtype=np.uint64), SeededRandom(1))
        except DomainError:
            print("refused")
strings = Strings("ab", 3)
for name, kind in CATALOG.items():
    if Strings in kind.accepts:
        scheme = build(name, strings)
        rows = strings.encode(["", "a", "bab"])
        wanted = scheme.privatize(["", "a", "bab"], SeededRandom(1)).tobytes()
        for same in (rows, np.asfortranarray(rows), np.repeat(rows, 2, axis=0)[::2]):
            assert scheme.privatize_encoded(same, SeededRandom(1)).tobytes() == wanted
        # A symbol beyond the alphabet, and one after a pad.
        for wrong in ([1, 3, 0], [0, 1, 0]):
            try:
                scheme.privatize_encoded(np.array([wrong], dtype=np.uint8), SeededRandom(1))
            except DomainError:
                print("refused")
        for other in (rows.astype(np.uint16), rows[:, :2], rows[0], rows.tolist(), np.arange(3), None):
            try:
                scheme.privatize_encoded(other)
                print("taken")
            except DomainError:
                pass
"""


@pytest.mark.full
def test_encoded_values_of_another_type_or_out_of_range_do_not_reach_the_kernels() -> None:
    # In a process of its own: what reads beyond an array may end it.
    run = subprocess.run(
        [sys.executable, "-c", ENCODED],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(plausibly.__file__).parent.parent), str(TESTS)])},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (run.returncode, run.stdout.split()) == (0, ["refused"] * 2 * len(plausibly.CATALOG)), run.stderr


def test_encoded_values_that_are_no_array_of_integers_are_not_told() -> None:
    wrong = (SECRET_TEXT, [SECRET_TEXT], [SECRET_NUMBER], SECRET_NUMBER, None, np.array([SECRET_TEXT]), Telltale())
    shapes = (np.array(1), np.array([[1]]), np.array([1.0]), np.array([SECRET_NUMBER]))
    for values in (*wrong, *shapes):
        assert_refused(lambda values=values: INTEGERS.privatize_encoded(values), DomainError)


def test_items_handed_over_as_reports_are_not_told() -> None:
    tally = INTEGERS.accumulator()
    before = tally.to_bytes()
    wrong = ([SECRET_TEXT], SECRET_TEXT, np.array([SECRET_TEXT]), np.array([SECRET_NUMBER]), Telltale(), None)
    for reports in wrong:
        for call in (
            lambda reports=reports: tally.add(reports),
            lambda reports=reports: plausibly.encode_reports(INTEGERS, reports),
        ):
            message = assert_refused(call, ReportError)
            assert "expected" in message
            assert "got" in message
    assert tally.to_bytes() == before


# --- parameters ------------------------------------------------------------------------------------------------------

# Sketches have neither an epsilon nor, but for their oracle's, a size of their own to be wrong.
every_name = pytest.mark.parametrize("name", sorted(name for name in plausibly.CATALOG if hasattr(oracles, name)))


@every_name
@in_turn("epsilon", [0, -1, -0.5, "0", float("nan"), float("inf"), "-inf", Decimal("NaN")])
def test_an_epsilon_that_is_not_positive_and_finite_is_refused(name: str, epsilon: Any) -> None:
    with pytest.raises(ParameterError, match=r"epsilon: expected a .*positive number, got"):
        make(name, epsilon=epsilon, domain_size=5)


@every_name
@in_turn("size", [1, 0, -5])
def test_a_domain_of_fewer_than_two_items_is_refused(name: str, size: int) -> None:
    with pytest.raises(ParameterError, match=rf"domain_size: expected 2 to \d+, got {size}"):
        make(name, epsilon=1, domain_size=size)


@every_name
@in_turn("size", [5.0, "5", True, [5], float("nan")])
def test_a_domain_size_that_is_no_integer_is_refused(name: str, size: object) -> None:
    with pytest.raises(ParameterError, match=f"domain_size: expected an integer, got {type(size).__name__}"):
        make(name, epsilon=1, domain_size=size)


@pytest.mark.parametrize(
    ("word", "valid", "hint"),
    [
        ("epsilom", ["epsilon", "domain"], "did you mean 'epsilon'? valid: domain, epsilon"),
        ("olh", ["OLH", "OUE"], "did you mean 'OLH'? valid: OLH, OUE"),
        ("zzz", ["epsilon", "domain"], "valid: domain, epsilon"),
        ("zzz", [], "valid: none"),
    ],
)
def test_the_nearest_valid_name_is_shown(word: str, valid: list[str], hint: str) -> None:
    assert nearest(word, valid) == hint


@every_name
def test_numbers_too_long_to_be_written_are_refused_with_a_short_message(name: str) -> None:
    huge = 10**5000
    scheme = make(name, epsilon=1, domain_size=5)
    calls = [
        *(lambda e=e: make(name, epsilon=e, domain_size=5) for e in (huge, -huge, Fraction(huge, 3), "9" * 5000)),
        *(lambda d=d: make(name, epsilon=1, domain_size=d) for d in (huge, -huge)),
        lambda: make(name, epsilon=1, domain=Keys(huge)),
        lambda: make(name, epsilon=1, domain_size=5, **{"x" * 5000: 1}),
        lambda: make(name * 5000, epsilon=1, domain_size=5),
        lambda: make(huge, epsilon=1, domain_size=5),  # type: ignore[arg-type]
        lambda: scheme.privatize([1], first_report=huge),
        lambda: scheme.simulate([huge, 0, 0, 0, 0]),
        lambda: scheme.variance(huge),
        lambda: scheme.accumulator().estimate().interval(huge),
        lambda: SeededRandom(huge),
        lambda: SeededRandom(1, call=huge),
    ]
    for call in calls:
        assert len(assert_refused(call, PlausiblyError)) < 400


@every_name
def test_a_json_field_of_very_many_digits_is_refused_with_a_typed_error(name: str) -> None:
    scheme = make(name, epsilon=1, domain_size=5)
    for field in scheme.to_dict():
        for digits in ("9" * 4000, "9" * 5000):
            text = json.dumps({**scheme.to_dict(), field: digits})
            assert len(assert_refused(lambda text=text: plausibly.from_json(text), ParameterError)) < 400


# --- bytes and states ------------------------------------------------------------------------------------------------


def test_bytes_instead_of_reports_are_refused_with_the_way_to_read_them() -> None:
    message = assert_refused(lambda: INTEGERS.accumulator().add(b"records"), ReportError)
    assert "decode_reports" in message
    assert "numpy.frombuffer" in message


def test_what_is_no_scheme_is_refused() -> None:
    for call in (plausibly.audit, plausibly.audit_statistically, lambda s: plausibly.encode_reports(s, None)):
        assert "expected a Scheme, got str" in assert_refused(lambda call=call: call("OLH"), ParameterError)


def test_what_is_not_bytes_is_refused_with_a_typed_error() -> None:
    for blob in ("text", None, 5, ["a"], Telltale()):
        for read, kind in ((plausibly.decode_reports, ReportError), (Accumulator.from_bytes, StateError)):
            message = assert_refused(lambda read=read, blob=blob: read(INTEGERS, blob), kind)
            assert "expected bytes" in message


def test_bytes_that_spell_a_secret_are_not_told() -> None:
    blob = SECRET_TEXT.encode() * 5
    assert_refused(lambda: plausibly.decode_reports(INTEGERS, blob), ReportError)
    assert_refused(lambda: Accumulator.from_bytes(INTEGERS, blob), StateError)


def test_every_typed_error_is_a_plausibly_error_and_a_value_error() -> None:
    for kind in (ParameterError, DomainError, ReportError, StateError):
        assert issubclass(kind, PlausiblyError)
        assert issubclass(kind, ValueError)


def test_a_device_refuses_a_scheme_that_would_exceed_its_own_epsilon() -> None:
    fields = json.loads(INTEGERS.to_json())
    fields["keep"] = str(int(fields["keep"]) + 1)
    with pytest.raises(device.DeviceError, match="exceed its own epsilon"):
        trusting.load(json.dumps(fields))


def test_a_document_with_something_else_in_the_place_of_a_scheme_ends_as_an_error_of_ours() -> None:
    strings = plausibly.Strings("ab", 4)
    given = json.loads(plausibly.TRELLIS(1, domain=strings, users=1000).to_json())
    for name in ("letters", "pairs", "first", "folded", "deep"):
        for wrong in (2.9, "02", True, [], None):
            with pytest.raises(plausibly.ParameterError):
                plausibly.from_json(json.dumps({**given, name: wrong}))
    with pytest.raises(plausibly.ParameterError):
        plausibly.from_json("[" * 2**20 + "]" * 2**20)
