"""What differs between two schemes, in words: for every scheme there is, and for documents of any form."""

from __future__ import annotations

import gc

import pytest

import plausibly
from cases import in_turn
from plausibly import ReportError, Strings, make
from plausibly.core.differences import difference

OLH = {"epsilon": 1, "domain_size": 100}
SKETCH = {"rows": 4, "domain": plausibly.Keys()}


def sketch(epsilon: object, size: int, **more: object) -> plausibly.Scheme:
    return make("CM", oracle=make("OUE", epsilon=epsilon, domain_size=size), **SKETCH | more)


@in_turn(
    ("one", "other", "words"),
    [
        (make("OLH", **OLH), make("OLH", **OLH | {"epsilon": "0.5"}), "epsilon is 0.5, not 1; hash_range is 3, not 4"),
        (make("OLH", **OLH), make("OLH", **OLH | {"domain_size": 50}), "domain size is 50, not 100"),
        (make("OLH", **OLH), make("OUE", **OLH), "scheme is OUE, not OLH"),
        (make("FLH", **OLH), make("FLH", **OLH, hash_seed=7), "hash_seed is 7, not 0"),
        (make("OLH", **OLH), make("OLH", epsilon=1, domain=["a", "b"]), "domain type is labels, not integers"),
        (
            make("DE", epsilon=1, domain=["a", "b"]),
            make("DE", epsilon=1, domain=["a", "c", "d"], other=True),
            "domain labels has 3 entries, not 2; domain other is true, not false",
        ),
        (
            make("DE", epsilon=1, domain=["a", "b", "x"]),
            make("DE", epsilon=1, domain=["a", "b", "y"]),
            "domain labels differs in 1 of 3 entries",
        ),
        # The ε of the parts differs just as that of the whole, and thresholds follow from it.
        (sketch(1, 64), sketch("1/3", 64), "epsilon is 1/3, not 1"),
        (sketch(1, 64), sketch(1, 32, rows=5), "rows is 5, not 4; oracle domain size is 32, not 64"),
    ],
)
def test_only_what_was_chosen_is_named(one: plausibly.Scheme, other: plausibly.Scheme, words: str) -> None:
    assert one.difference(other) == words


def test_a_search_over_other_strings_names_their_length() -> None:
    one, other = (plausibly.TRELLIS(2, domain=Strings("abc", length), users=1000) for length in (6, 7))
    assert "domain length is 7, not 6" in one.difference(other)


def test_long_texts_and_many_fields_are_cut() -> None:
    one, other = ({f"field{i}": f"{name} {'x' * 99}" for i in range(9)} for name in "ab")
    words = difference(one, other)
    assert words.endswith("; 5 more")
    assert "x" * 40 not in words
    assert difference({"text": "x" * 50 + "a"}, {"text": "x" * 50 + "b"}) == "text differs"
    parts = [{"one": {"rows": rows}, "two": {"rows": rows}} for rows in (3, 4)]
    assert difference(*parts) == "one rows is 4, not 3; two rows is 4, not 3"
    assert difference({"old": 1}, {"new": {}}) == "old is missing; new is given in addition"


def test_reports_of_a_scheme_that_nobody_has_any_more_show_both_fingerprints() -> None:
    one, other = make("OLH", **OLH), make("OLH", **OLH | {"epsilon": 3})
    reports, mark = other.privatize([1, 2]), other.fingerprint()[:12]
    with pytest.raises(ReportError, match="got those of another: epsilon is 3, not 1"):
        one.accumulator().add(reports)
    del other
    gc.collect()
    with pytest.raises(ReportError, match=f"its fingerprint is {mark}, not {one.fingerprint()[:12]}"):
        one.accumulator().add(reports)


def test_a_scheme_with_parts_is_short_to_read() -> None:
    search = plausibly.TRELLIS(2, domain=Strings("abcdefghij", 12), users=1000)
    assert len(repr(search)) < 400
    assert "letters=SS(...)" in repr(search)
    assert repr(sketch(1, 64)).startswith("CM(epsilon=1, domain=Keys(hash_seed=0)")
    assert "oracle=OUE(...)" in repr(sketch(1, 64))
