"""The domain of strings: symbols, pads, what is cut or refused, and arrays of every kind."""

from __future__ import annotations

import json
from dataclasses import FrozenInstanceError, replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive_client as naive
from cases import in_turn
from drawn import drawn
from plausibly import DomainError, ParameterError, Strings, make
from plausibly.core.domain import domain_from_dict
from plausibly.core.domain import strings as module

deterministic = drawn(60)
ABC = Strings("abc", 3)
ANY = Strings("aé東🦉\u0301\0", 4, other=True)
BYTES = Strings(bytes([0, 255, 65]), 3)
MANY = Strings("".join(chr(0x4E00 + i) for i in range(300)), 2)
SURROGATE = "\ud800"


# --- symbols ---------------------------------------------------------------------------------------------------------


def test_symbols_count_from_one_in_the_order_of_the_alphabet_and_pads_fill_the_rest() -> None:
    assert ABC.encode(["", "a", "cab", "bb"]).tolist() == [[0, 0, 0], [1, 0, 0], [3, 1, 2], [2, 2, 0]]
    assert replace(ABC, alphabet="cba").encode(["cab"]).tolist() == [[1, 3, 2]]
    assert (ABC.symbols, ABC.symbol_dtype) == (4, np.dtype("u1"))


def test_a_symbol_has_two_bytes_beyond_256_of_them() -> None:
    points = "".join(chr(0x4E00 + i) for i in range(256))
    assert Strings(points[:255], 1).symbol_dtype == np.dtype("u1")
    assert Strings(points[:256], 1).symbol_dtype == np.dtype("<u2")
    assert Strings(points[:254], 1, other=True).symbol_dtype == np.dtype("u1")
    assert Strings(points[:255], 1, other=True).symbol_dtype == np.dtype("<u2")
    assert MANY.encode([chr(0x4E00 + 299)]).tolist() == [[300, 0]]


@pytest.mark.parametrize("text", ["🦉東", "é", "e\u0301", "\u0301\u0301", "🦉" * 4, "a\0", "\0"])
def test_characters_are_code_points_and_nothing_is_normalised(text: str) -> None:
    wanted = naive.symbols_of(ANY.to_dict(), text)
    assert ANY.encode([text]).tolist() == [wanted]
    assert sum(symbol > 0 for symbol in wanted) == len(text)


def test_bytes_may_be_zero() -> None:
    assert BYTES.encode([b"", b"\0", b"\0\0\0", b"\xff\0A"]).tolist() == [[0] * 3, [1, 0, 0], [1, 1, 1], [2, 1, 3]]
    every = Strings(bytes(range(256)), 2)
    assert every.encode([b"\0\xff"]).tolist() == [[1, 256]]
    assert every.decode(every.encode([b"\0\xff", b""])).tolist() == [b"\0\xff", b""]


def test_what_is_too_long_is_cut_or_refused() -> None:
    assert ABC.encode(["abcabc", "aaaa"]).tolist() == [[1, 2, 3], [1, 1, 1]]
    # Also where the rest would not be of the alphabet.
    assert ABC.encode(["abcXYZ"]).tolist() == [[1, 2, 3]]
    strict = replace(ABC, long="refuse")
    assert strict.encode(["abc", ""]).tolist() == [[1, 2, 3], [0, 0, 0]]
    for items in (["abc", "abca", "b"], np.array(["abc", "abca", "b"])):
        with pytest.raises(DomainError, match=r'item 1: expected at most 3 characters \(long="truncate" cuts'):
            strict.encode(items)
    assert strict.encode(np.array(["abc", "b"], dtype="<U99")).tolist() == [[1, 2, 3], [2, 0, 0]]


def test_the_last_symbol_takes_all_other_characters() -> None:
    other = replace(ABC, other=True)
    assert other.encode(["aZ", "🦉", SURROGATE, "\0", "\N{REPLACEMENT CHARACTER}"]).tolist() == [
        [1, 4, 0],
        *[[4, 0, 0]] * 4,
    ]
    assert other.decode(other.encode(["aZ🦉"])).tolist() == ["a\N{REPLACEMENT CHARACTER}\N{REPLACEMENT CHARACTER}"]
    # A name that was found can be asked about.
    assert other.encode(other.decode(other.encode(["aZ"]))).tolist() == other.encode(["aZ"]).tolist()


@pytest.mark.parametrize("text", ["d", "aZ", "A", "a\0", "\0", "á", SURROGATE, "a\u0301", "🦉"])
def test_characters_outside_the_alphabet_are_refused_by_position(text: str) -> None:
    message = r"item 2 and 1 more: expected characters of the alphabet only \(other=True takes any\)"
    with pytest.raises(DomainError, match=message) as caught:
        ABC.encode(["a", "b", text, "", text])
    assert text not in str(caught.value).replace("alphabet", "").replace("and", "") or text in "dA"
    assert repr(text) not in str(caught.value)


def test_bytes_outside_the_alphabet_are_refused() -> None:
    with pytest.raises(DomainError, match="item 1: expected characters of the alphabet only, got"):
        BYTES.encode([b"\0", b"\1"])


@pytest.mark.parametrize(
    ("domain", "wrong", "got"),
    [
        (ABC, None, "a missing value"),
        (ABC, b"a", "bytes"),
        (ABC, 5, "int"),
        (ABC, 1.5, "float"),
        (ABC, float("nan"), "a missing value"),
        (ABC, ["a"], "list"),
        (BYTES, "A", "str"),
        (BYTES, None, "a missing value"),
        (BYTES, bytearray(b"A"), "bytearray"),
    ],
    ids=str,
)
def test_what_is_no_text_is_refused_with_its_position_and_type(domain: Strings, wrong: Any, got: str) -> None:
    good = "a" if domain is ABC else b"A"
    kind = type(good).__name__
    with pytest.raises(DomainError, match=rf"item 1: expected texts \({kind}\), got {got}"):
        domain.encode([good, wrong, good])


def test_the_message_names_the_position_among_all_items() -> None:
    items = ["a"] * (module._TEXTS_AT_ONCE + 5) + ["Z"]
    for given_as in (items, np.array(items)):
        with pytest.raises(DomainError, match=f"item {module._TEXTS_AT_ONCE + 5}: "):
            ABC.encode(given_as)


@deterministic
@given(st.lists(st.text(alphabet="aé東🦉\u0301\0bZ", max_size=7), max_size=20))
def test_every_text_has_the_symbols_of_the_definition(texts: list[str]) -> None:
    rows = ANY.encode(texts)
    assert rows.tolist() == [naive.symbols_of(ANY.to_dict(), text) for text in texts]
    assert rows.shape == (len(texts), 4)
    assert [ANY.number(row) for row in rows] == [naive.encode(ANY.to_dict(), text) for text in texts]


# --- arrays ----------------------------------------------------------------------------------------------------------


@deterministic
@given(st.lists(st.text(alphabet="aé東🦉\u0301\0bZ", max_size=7), max_size=20))
def test_an_array_of_texts_is_encoded_like_their_list(texts: list[str]) -> None:
    array = np.array(texts, dtype=np.str_)
    # NumPy forgets zeros at the end of a text: what is asked for is the list that it makes of itself.
    wanted = ANY.encode(array.tolist())
    for same in (array, array.astype(object), array.astype(array.dtype.newbyteorder()), np.repeat(array, 2)[::2]):
        np.testing.assert_array_equal(ANY.encode(same), wanted)
    plain = replace(ANY, alphabet="ab", other=True)
    np.testing.assert_array_equal(plain.encode(array), plain.encode(array.tolist()))


@pytest.mark.parametrize(
    "items",
    [
        np.array(["a", "cab"]),
        np.array(["a", "cab"], dtype="<U9"),
        np.array(["a", "cab"], dtype=">U3"),
        np.array(["a", "x", "cab", "x"])[::2],
        np.array(["cab", "a"])[::-1],
        np.array(["a", "cab"], dtype=object),
        ["a", "cab"],
        ("a", np.str_("cab")),
        pd.Series(["a", "cab"]),
        pd.array(["a", "cab"], dtype="string"),
        np.array([["a", "cab"]])[0],
    ],
    ids=lambda items: f"{type(items).__name__}-{getattr(items, 'dtype', '')}",
)
def test_texts_may_come_in_any_sequence(items: Any) -> None:
    rows = ABC.encode(items)
    assert rows.tolist() == [[1, 0, 0], [3, 1, 2]]
    assert rows.dtype == ABC.symbol_dtype
    assert rows.flags.c_contiguous


def test_an_array_of_bytes_is_read_as_its_items() -> None:
    # NumPy forgets zeros at the end, whoever reads them.
    assert BYTES.encode(np.array([b"A", b"\xffA"])).tolist() == [[3, 0, 0], [2, 3, 0]]
    with pytest.raises(DomainError, match="item 0: expected texts"):
        ABC.encode(np.array([b"a"]))


@pytest.mark.parametrize(
    "empty", [[], np.array([], dtype="<U3"), np.array([], dtype=object), np.array([], dtype="<U0")]
)
def test_no_texts_have_no_rows(empty: Any) -> None:
    assert ABC.encode(empty).shape == (0, 3)
    assert ABC.decode(ABC.encode(empty)).tolist() == []


def test_empty_texts_in_arrays_are_empty_texts() -> None:
    for dtype in ("<U1", "<U5", object):
        assert ABC.encode(np.array(["", ""], dtype=dtype)).tolist() == [[0] * 3] * 2


@pytest.mark.parametrize("items", ["abc", b"abc", np.array("a"), np.array([["a"]]), 5, None, {"a": 1}], ids=repr)
def test_one_text_or_a_table_is_not_a_sequence_of_texts(items: object) -> None:
    with pytest.raises(DomainError):
        ABC.encode(items)


@pytest.mark.parametrize("size", [1, 2, 3, 7])
def test_chunks_change_nothing(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = ["", "a", "🦉é", "東" * 9, "b", "", "aa", "é"] * 2
    wanted = ANY.encode(texts).tolist()
    monkeypatch.setattr(module, "_TEXTS_AT_ONCE", size)
    assert ANY.encode(texts).tolist() == wanted
    assert ANY.encode(np.array(texts)).tolist() == wanted


# --- numbers and rows ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "domain", [ABC, ANY, BYTES, MANY, Strings("a", 256)], ids=["abc", "any", "bytes", "many", "long"]
)
def test_number_and_row_are_inverse(domain: Strings) -> None:
    for row in domain.spread(40):
        assert domain.row(domain.number(row)).tolist() == row.tolist()
        assert domain.row(domain.number(row)).dtype == domain.symbol_dtype
    last = domain.symbols**domain.length - 1
    assert domain.number(domain.row(last)) == last


@in_turn("domain", [ABC, ANY, BYTES, MANY, Strings("a", 1)])
@in_turn("count", [2, 3, 8, 500])
def test_spread_texts_are_distinct_and_go_from_the_empty_to_the_last(domain: Strings, count: int) -> None:
    rows = domain.spread(count)
    assert domain.encoded(rows).tolist() == rows.tolist()
    assert len(np.unique(rows, axis=0)) == len(rows) <= count
    assert not rows[0].any()
    assert (rows[-1] == domain.symbols - 1).all()
    assert len(rows) == min(count, sum((domain.symbols - 1) ** k for k in range(domain.length + 1)))


@pytest.mark.parametrize("domain", [ABC, BYTES, MANY], ids=["abc", "bytes", "many"])
def test_decoding_gives_back_the_texts(domain: Strings) -> None:
    texts = domain.decode(domain.spread(30))
    assert texts.dtype == object
    assert {type(text) for text in texts} == {type(domain.alphabet)}
    assert domain.encode(texts).tolist() == domain.spread(30).tolist()


# --- parameters and JSON ---------------------------------------------------------------------------------------------


@in_turn(
    ("given_", "message"),
    [
        ({"alphabet": ""}, "alphabet: number of characters"),
        ({"alphabet": "aba"}, "alphabet: expected distinct characters"),
        ({"alphabet": ["a", "b"]}, r"alphabet: expected characters, as text or bytes, got list"),
        ({"alphabet": None}, "alphabet: expected characters"),
        ({"alphabet": SURROGATE}, "alphabet: expected characters that have a UTF-8 form"),
        ({"alphabet": "a\N{REPLACEMENT CHARACTER}", "other": True}, "alphabet: the replacement character"),
        ({"alphabet": b"ab", "other": True}, "other: goes with an alphabet of text"),
        ({"alphabet": "".join(map(chr, range(0x10000, 0x20000)))}, "alphabet: number of characters"),
        ({"length": 0}, "length: expected"),
        ({"length": 257}, "length: expected"),
        ({"length": 2.0}, "length: expected"),
        ({"length": True}, "length: expected"),
        ({"long": "cut"}, "long: expected truncate or refuse"),
        ({"long": None}, "long: expected"),
        ({"other": 1}, "other: expected true or false"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(given_: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        Strings(**{"alphabet": "abc", "length": 3, **given_})


@pytest.mark.parametrize("domain", [ABC, ANY, BYTES, MANY, replace(ABC, long="refuse")], ids=lambda d: d.alphabet[:2])
def test_it_travels_as_json(domain: Strings) -> None:
    again = domain_from_dict(json.loads(json.dumps(domain.to_dict())))
    assert again == domain
    assert hash(again) == hash(domain)
    assert type(again.alphabet) is type(domain.alphabet)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "damage",
    [
        {"alphabet": None},
        {"alphabet": ["a"]},
        {"alphabet": "aa"},
        {"length": "3"},
        {"length": 0},
        {"long": "no"},
        {"other": "no"},
        {"type": "byte strings"},
        {"type": "string"},
        {"type": None},
        {"size": 3},
    ],
    ids=str,
)
def test_damaged_json_is_refused(damage: dict[str, Any]) -> None:
    with pytest.raises(ParameterError):
        domain_from_dict({**ABC.to_dict(), **damage})
    for name in ABC.to_dict():
        with pytest.raises(ParameterError):
            domain_from_dict({key: value for key, value in ABC.to_dict().items() if key != name})


def test_it_is_frozen_and_schemes_that_need_a_list_refuse_it() -> None:
    with pytest.raises(FrozenInstanceError):
        ABC.length = 4  # type: ignore[misc]
    assert ABC.size is None
    with pytest.raises(ParameterError, match=r"domain: DE works on items that can be listed \(.*\), got Strings"):
        make("DE", epsilon=1, domain=ABC)
    with pytest.raises(ParameterError, match="domain: OLH works on"):
        make("OLH", epsilon=1, domain=ABC)
