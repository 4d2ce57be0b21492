"""Domains: what is an item, which integer it is, and how a domain travels."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from cases import in_turn
from drawn import drawn
from plausibly import DomainError, Integers, Keys, Labels, ParameterError, Strings, from_json, make
from plausibly.core.domain import Domain, domain_from_dict, make_domain

deterministic = drawn(60)
DOMAINS = [Integers(5), Labels(("b", "a")), Labels(("b", "a"), other=True), Keys(), Keys(hash_seed=2**64 - 1)]


# --- integers --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "items",
    [
        [0, 3, 4],
        (0, 3, 4),
        np.array([0, 3, 4], dtype=np.uint8),
        np.array([0, 3, 4], dtype=np.int16),
        np.array([0, 3, 4], dtype=">i8"),
        np.array([0, 9, 3, 9, 4])[::2],
        np.array([0, 3, 4], dtype=object),
        [np.int8(0), 3, np.uint64(4)],
        range(0, 5),
        pd.Series([0, 3, 4]),
        pd.array([0, 3, 4], dtype="Int64"),
    ],
    ids=lambda items: f"{type(items).__name__}-{getattr(items, 'dtype', '')}",
)
def test_integers_of_any_kind_are_their_own_codes(items: object) -> None:
    codes = Integers(5).encode(items)
    assert codes.dtype == np.uint64
    assert codes.flags.c_contiguous
    assert codes.tolist() == [int(item) for item in items]  # type: ignore[attr-defined]


@pytest.mark.parametrize("wrong", [5, -1, 2**31, 2**63, 2**64, 10**40, -(2**63), -(10**40)])
def test_integers_outside_are_refused_by_position(wrong: int) -> None:
    for items in ([1, 2, wrong, 3], np.array([1, 2, wrong, 3], dtype=object)):
        with pytest.raises(DomainError, match=r"item 2: expected integers in \[0, 5\), got a value outside"):
            Integers(5).encode(items)


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int32, np.int64])
def test_negative_integers_do_not_wrap_to_the_end_of_the_domain(dtype: type) -> None:
    for size in (5, 256, 2**16, 2**32):
        with pytest.raises(DomainError, match="item 0"):
            Integers(size).encode(np.array([-1], dtype=dtype))


@deterministic
@given(st.integers(2, 2**32), st.lists(st.integers(-(2**65), 2**65), min_size=1, max_size=5))
def test_exactly_the_integers_of_the_domain_are_accepted(size: int, items: list[int]) -> None:
    domain = Integers(size)
    if all(0 <= item < size for item in items):
        assert domain.encode(items).tolist() == items
    else:
        with pytest.raises(DomainError):
            domain.encode(items)


@pytest.mark.parametrize("size", [1, 0, -4, 2**32 + 1, 5.0, "5", None, True, np.float64(5)])
def test_a_domain_needs_a_whole_number_of_at_least_two_items(size: object) -> None:
    with pytest.raises(ParameterError, match="domain_size: expected"):
        Integers(size)  # type: ignore[arg-type]


def test_a_domain_of_integers_lists_them() -> None:
    assert Integers(3).decode(np.array([2, 0], dtype=np.uint64)).tolist() == [2, 0]


# --- labels ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "items", [["b", "a", "b"], ("b", "a", "b"), np.array(["b", "a", "b"]), pd.Series(["b", "a", "b"])]
)
def test_labels_are_their_places(items: object) -> None:
    assert Labels(("b", "a")).encode(items).tolist() == [0, 1, 0]


def test_the_order_of_labels_matters() -> None:
    assert make("DE", epsilon=1, domain=["a", "b"]) != make("DE", epsilon=1, domain=["b", "a"])


def test_labels_are_compared_exactly() -> None:
    # No case folding, no trimming, no Unicode normalisation: "e with acute" has two spellings.
    domain = Labels(("é", "a"), other=True)
    assert domain.encode(["é", "e\u0301", "A", "a ", "a"]).tolist() == [0, 2, 2, 2, 1]


def test_other_is_the_last_item_and_its_name_cannot_be_a_label() -> None:
    domain = Labels(("b", "a"), other=True)
    assert domain.size == 3
    assert domain.decode(np.arange(3)).tolist() == ["b", "a", "other"]
    with pytest.raises(ParameterError, match="'other'"):
        Labels(("a", "other"), other=True)
    assert Labels(("a", "other")).encode(["other"]).tolist() == [1]


@pytest.mark.parametrize(
    "labels", [("a",), (), ("a", "a"), ("a", 5), ("a", None), ("a", b"b"), ("a", "\ud800")], ids=repr
)
def test_labels_that_are_none_are_refused(labels: tuple[object, ...]) -> None:
    with pytest.raises(ParameterError, match="domain"):
        Labels(labels)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "domain",
    ["ab", b"ab", {"a": 1, "b": 2}, 5, None, {"a", "b"}, frozenset("ab")],
    ids=lambda domain: type(domain).__name__,
)
def test_what_has_no_order_or_is_no_list_of_labels_is_refused(domain: object) -> None:
    # A set has another order in every process, and the order of labels is part of the scheme.
    with pytest.raises(ParameterError, match="domain"):
        make("DE", epsilon=1, domain=domain)
    with pytest.raises(ParameterError, match="domain: expected labels in order"):
        Labels(domain)  # type: ignore[arg-type]


def test_in_words_a_list_does_not_count_the_item_for_all_others() -> None:
    assert Labels(("cat", "dog")).describe() == "a list of 2 items"
    assert Labels(("cat", "dog"), other=True).describe() == "a list of 2 items and all others"
    assert Labels(("cat",), other=True).describe() == "a list of 1 item and all others"


def test_labels_may_come_as_any_sequence() -> None:
    for labels in (["a", "b"], iter("ab"), np.array(["a", "b"])):
        assert Labels(labels) == Labels(("a", "b"))  # type: ignore[arg-type]


def test_other_is_true_or_false() -> None:
    for other in (1, 0, "yes"):
        with pytest.raises(ParameterError, match="other: expected"):
            make("DE", epsilon=1, domain=["a", "b"], other=other)
    # Anything else would be written into the JSON as it is, and refused when that is read.
    for other in (1, 0, "yes", None):
        with pytest.raises(ParameterError, match="other: expected"):
            Labels(("a", "b"), other=other)  # type: ignore[arg-type]


def test_other_goes_with_labels_only() -> None:
    for rest in ({"domain_size": 5}, {"domain": Keys()}, {"domain": Labels(("a", "b"))}):
        with pytest.raises(ParameterError, match="other"):
            make("OLH", epsilon=1, other=True, **rest)


@pytest.mark.parametrize("item", [5, None, b"a", 1.5, float("nan"), True, ["a"], pd.NA], ids=repr)
def test_what_is_no_text_is_refused_even_where_other_takes_every_text(item: object) -> None:
    for domain in (Labels(("a", "b")), Labels(("a", "b"), other=True)):
        with pytest.raises(DomainError, match=r"item 1: expected labels that are texts, got"):
            domain.encode(["a", item])


def test_a_table_is_refused_instead_of_taking_the_names_of_its_columns() -> None:
    table = pd.DataFrame({"a": ["a", "b"], "b": ["b", "b"]})
    for domain in (Labels(("a", "b")), Labels(("a", "b"), other=True), Keys(), Integers(5)):
        with pytest.raises(DomainError, match="items: expected one dimension, got DataFrame; choose a column"):
            domain.encode(table)
    assert Labels(("a", "b")).encode(table["a"]).tolist() == [0, 1]


def test_a_label_outside_the_list_is_refused_with_the_way_to_allow_it() -> None:
    with pytest.raises(DomainError, match="other=True"):
        Labels(("a", "b")).encode(["c"])


def test_integers_instead_of_labels_are_refused_with_the_way_to_have_them() -> None:
    with pytest.raises(
        ParameterError,
        match=r"texts, got int; a domain of integers is given by its domain_size",
    ):
        make("OLH", epsilon=1, domain=[1, 2, 3])


def test_a_class_instead_of_a_domain_is_refused_by_its_name() -> None:
    with pytest.raises(ParameterError, match="got the class Keys"):
        make("OLH", epsilon=1, domain=Keys)


# --- keys ------------------------------------------------------------------------------------------------------------


@deterministic
@given(st.one_of(st.text(), st.binary(), st.integers()), st.integers(0, 2**64 - 1))
def test_a_key_is_its_keyed_hash(item: str | bytes | int, hash_seed: int) -> None:
    assert Keys(hash_seed).encode([item]).tolist() == [naive.key(item, hash_seed)]


def test_another_hash_seed_makes_other_keys() -> None:
    items = ["a", b"a", 5]
    assert not set(Keys(0).encode(items).tolist()) & set(Keys(1).encode(items).tolist())


def test_arrays_of_keys_are_their_python_items() -> None:
    assert Keys().encode(np.array(["a", "bc"])).tolist() == Keys().encode(["a", "bc"]).tolist()
    assert Keys().encode(np.array([b"a", b"bc"])).tolist() == Keys().encode([b"a", b"bc"]).tolist()
    assert Keys().encode(np.array([5, 6], dtype=np.uint8)).tolist() == Keys().encode([5, 6]).tolist()


@pytest.mark.parametrize("item", [None, 1.5, float("nan"), True, ("a",), ["a"], "\ud800", pd.NA], ids=repr)
def test_what_is_no_key_is_refused_by_position(item: object) -> None:
    with pytest.raises(DomainError, match="item 1: expected keys"):
        Keys().encode(["a", item, "b"])


def test_integers_of_any_size_are_asked_about_as_they_are() -> None:
    scheme = make("OLH", epsilon=1, domain=Keys())
    asked = [-1, 2**63, 10**30]
    assert scheme.accumulator().estimate(asked).items.tolist() == asked
    assert [type(item) for item in scheme.accumulator().estimate([-1, 2**63]).items.tolist()] == [int, int]


def test_keys_cannot_be_listed() -> None:
    assert Keys().size is None
    with pytest.raises(ParameterError, match="cannot be listed"):
        Keys().decode(np.arange(3, dtype=np.uint64))


@pytest.mark.parametrize("hash_seed", [-1, 2**64, 1.0, "1", None, True])
def test_a_hash_seed_that_is_none_is_refused(hash_seed: object) -> None:
    with pytest.raises(ParameterError, match="hash_seed: expected"):
        Keys(hash_seed)  # type: ignore[arg-type]


# --- all of them -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("domain", DOMAINS, ids=repr)
def test_nobody_s_items_are_no_codes(domain: Domain) -> None:
    for nobody in ([], (), np.array([]), np.array([], dtype=object)):
        assert domain.encode(nobody).tolist() == []


@in_turn("domain", DOMAINS)
@in_turn("items", ["ab", b"ab", 5, None, np.zeros((2, 2), dtype=int), np.array(3)])
def test_one_item_or_a_table_is_not_a_sequence_of_items(domain: Domain, items: object) -> None:
    with pytest.raises(DomainError, match="items: expected"):
        domain.encode(items)


@pytest.mark.parametrize("domain", DOMAINS, ids=repr)
def test_a_domain_travels_as_json(domain: Domain) -> None:
    assert domain_from_dict(json.loads(json.dumps(domain.to_dict()))) == domain
    scheme = make("OLH", epsilon=1, domain=domain)
    assert from_json(scheme.to_json()).domain == domain


@pytest.mark.parametrize("domain", DOMAINS, ids=repr)
def test_damaged_fields_of_a_domain_are_refused(domain: Domain) -> None:
    good = domain.to_dict()
    for name in good:
        for wrong in (None, -1, 1.5, [], {}, "x", [1, 2]):
            with pytest.raises(ParameterError):
                domain_from_dict({**good, name: wrong})
        with pytest.raises(ParameterError, match="domain"):
            domain_from_dict({key: good[key] for key in good if key != name})
    with pytest.raises(ParameterError, match="domain: expected the fields"):
        domain_from_dict({**good, "more": 1})
    for wrong in (None, 5, "integers", [good]):
        with pytest.raises(ParameterError, match="domain: expected an object"):
            domain_from_dict(wrong)


@in_turn(
    ("domain", "texts", "items"),
    [
        (Integers(10), ["3", "07"], [3, 7]),
        (Strings("abc", 3), ["ab"], ["ab"]),
        (Strings(b"abc", 3), ["ab"], [b"ab"]),
        (Keys(), ["3", "ü"], ["3", "ü"]),
    ],
)
def test_texts_become_items_of_the_domain(domain: Any, texts: list[str], items: list[Any]) -> None:
    assert domain.parse(texts) == items


def test_texts_that_are_no_items_are_named_by_position() -> None:
    for word in ("x", "-1", "1.0", "٣", "1" * 30):
        with pytest.raises(DomainError, match=r"^item 1: expected integers in \[0, 10\), .*, got another text$"):
            Integers(10).parse(["1", word])
    with pytest.raises(DomainError, match="item 0: expected text that has a UTF-8 form"):
        Keys().parse(["\udcff"])


def test_a_domain_is_given_once() -> None:
    for both_or_neither in ({}, {"domain_size": 5, "domain": Keys()}):
        with pytest.raises(ParameterError, match="either a domain_size or a domain"):
            make_domain(**both_or_neither)


@pytest.mark.parametrize("domain", DOMAINS, ids=repr)
def test_domains_are_frozen_and_hashable(domain: Domain) -> None:
    assert len({domain, domain_from_dict(domain.to_dict())}) == 1
    with pytest.raises(AttributeError):
        domain.size = 7


# --- questions -------------------------------------------------------------------------------------------------------


def test_a_question_about_an_unlisted_text_is_refused_and_other_is_answered() -> None:
    domain = Labels(("cat", "dog"), other=True)
    codes, names = domain.ask(["dog", "other", "dog"])
    assert (codes.tolist(), names.tolist()) == ([1, 2, 1], ["dog", "other", "dog"])
    with pytest.raises(DomainError, match="item 1: not on the list: counted under 'other' with all such texts"):
        domain.ask(["dog", "newt"])
    with pytest.raises(DomainError) as caught:
        domain.ask(["Dog "])
    assert caught.value.told == f"{caught.value.reason}; did you mean 'dog'?"
    assert "Dog" not in str(caught.value)
    with pytest.raises(DomainError, match="item 0: expected one of the 2 labels, got a text that is not on"):
        Labels(("cat", "dog")).ask(["other"])
    assert domain.encode(["newt", "Dog "]).tolist() == [2, 2]  # devices count them


def test_strings_are_named_as_users_report_them_or_refused() -> None:
    domain = Strings("abc", 2, other=True)
    codes, names = domain.ask(["a", "abc", "\N{REPLACEMENT CHARACTER}b", "abX"])
    assert names.tolist() == ["a", "ab", "\N{REPLACEMENT CHARACTER}b", "ab"]
    assert codes.tolist() == domain.encode(names).tolist()
    with pytest.raises(DomainError, match=r"item 1: .* got another one, which is counted like every other") as caught:
        domain.ask(["a", "aB"])
    counted = "it is counted like every other such character"
    assert caught.value.told == f"'B' is not in the alphabet; {counted}; did you mean 'ab'?"
    assert "B" not in str(caught.value)
    for strict, text in ((Strings("abc", 2), "x"), (Strings(b"abc", 2), b"x")):
        with pytest.raises(DomainError, match=r"item 0: expected characters of the alphabet, got another one$"):
            strict.ask([text])
    with pytest.raises(DomainError, match=r"item 0: expected texts \(str\), got int"):
        domain.ask([3])


def test_two_outside_items_are_not_two_rows_of_the_same_count() -> None:
    for domain in (Labels(("a", "b"), other=True), Strings("ab", 2, other=True)):
        with pytest.raises(DomainError):
            domain.ask(["X", "Y"])


def test_keys_are_named_as_they_are_asked_for() -> None:
    codes, names = Keys().ask(["a", b"a", 7])
    assert (codes.tolist(), names.tolist()) == (Keys().encode(["a", b"a", 7]).tolist(), ["a", b"a", 7])
