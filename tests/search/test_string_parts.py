"""Parts: what an oracle is given of a string, by keys and by numbers, and by which tag."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import naive
import plausibly
from plausibly import Keys, ParameterError, Strings
from plausibly.search.string_parts import Part, Tag
from search.planted import search_for

WORDS = ["", "a", "b", "ab", "aab", "bbb"]
DOMAINS = [Strings("ab", 3), Strings("".join(chr(0x4E00 + i) for i in range(300)) + "ab", 3)]


def over(domain: Any, strings: Strings, first: int, last: int, tag: Tag | None = None) -> Part:
    return Part("some", plausibly.make("OLH", epsilon=1, domain=domain), strings, first, last, tag)


@pytest.mark.parametrize("strings", DOMAINS, ids=["one byte", "two bytes"])
@pytest.mark.parametrize(("name", "given"), [("PEM", {"start": 1, "step": 1}), ("SFP", {"fragment": 2})], ids=str)
def test_the_oracle_is_given_the_key_of_the_symbols(strings: Strings, name: str, given: dict[str, int]) -> None:
    scheme = search_for(name, strings, **given)
    written = json.loads(scheme.to_json())
    asked, _, _ = naive.questions(written)
    rows = strings.encode(WORDS)
    for part, question in zip(scheme.parts, asked, strict=True):
        tags = [naive.tag_of(written, text) if part.tag else 0 for text in WORDS]
        seen = [text[question.first : question.last] for text in WORDS]
        wanted = [naive.asked_about(written, question, *pair) for pair in zip(seen, tags, strict=True)]
        assert part.items(rows).tolist() == wanted


def test_an_oracle_over_integers_is_given_numbers() -> None:
    strings = DOMAINS[0]
    rows = strings.encode(WORDS)
    assert over(plausibly.Integers(27), strings, 0, 3).items(rows).tolist() == [0, 9, 18, 15, 14, 26][:1] + [
        9 * a + 3 * b + c for a, b, c in rows[1:].tolist()
    ]
    tag = Tag(5, 3)
    tagged = over(plausibly.Integers(24), strings, 1, 2, tag).items(rows)
    assert (tagged & np.uint64(7)).tolist() == tag.of(rows).tolist()
    assert (tagged >> np.uint64(3)).tolist() == rows[:, 1].tolist()


def test_nothing_is_given_for_no_strings() -> None:
    for strings in DOMAINS:
        none = strings.encode([])
        assert over(Keys(), strings, 0, 2).items(none).tolist() == []
        assert over(Keys(), strings, 0, 2, Tag(0, 4)).items(none).tolist() == []


@pytest.mark.parametrize("role", ["oracle", "word_oracle"])
def test_an_oracle_with_too_little_room_is_refused_by_its_role(role: str) -> None:
    strings, narrow = DOMAINS[0], plausibly.make("DE", epsilon=1, domain_size=26)
    with pytest.raises(ParameterError, match=f"^{role}: expected keys, or a domain_size of at least 27 for all"):
        Part("all", narrow, strings, 0, 3, role=role)
    with pytest.raises(ParameterError, match=f"^{role}: expected a scheme such as make"):
        Part("all", "DE", strings, 0, 3, role=role)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match=f"^{role}: expected a scheme over keys or integers, got .* labels"):
        Part("all", plausibly.make("DE", epsilon=1, domain=["a", "b"]), strings, 0, 3, role=role)
