"""What ordinary text is like: the tables themselves, alphabets of all kinds, and how far a search trusts them."""

from __future__ import annotations

from dataclasses import replace
from string import ascii_letters, ascii_lowercase, digits

import numpy as np
import pytest

from plausibly import Strings
from plausibly.search.evidence import Evidence, Text
from plausibly.search.letter_prior import LETTERS, PAIRS, ordinary_text
from plausibly.search.prior import CharacterModel, character_model


def known(strings: Strings) -> Text:
    text = ordinary_text(strings)
    assert text is not None
    return text


def test_the_tables_are_distributions() -> None:
    assert sum(LETTERS) == pytest.approx(1000, abs=13)  # 26 roundings
    rows = PAIRS.split()
    assert [len(row) for row in rows] == [26] * 26
    text = known(Strings(ascii_lowercase, 4))
    assert text.letters.sum() == pytest.approx(1)
    # What follows a letter: all ratios are rounded by up to 2^±¼, and small ones raised to 2^−4. Too little is left to
    # follow q, where u is more than 16 times as frequent as elsewhere.
    following = np.delete(text.ratios @ text.letters, ascii_lowercase.index("q"))
    assert (following > 2**-0.25).all()
    assert (following < 2**0.25 + 2**-4).all()


def test_words_are_spelled_as_they_are() -> None:
    text = known(Strings(ascii_lowercase, 4))
    of = {letter: i for i, letter in enumerate(ascii_lowercase)}
    assert text.letters.argmax() == of["e"]
    assert text.ratios[of["q"], of["u"]] == 16 == text.ratios.max()
    for likely, odd in (("th", "ht"), ("in", "hn"), ("er", "rk"), ("st", "tq"), ("an", "aa")):
        assert text.ratios[of[likely[0]], of[likely[1]]] > text.ratios[of[odd[0]], of[odd[1]]]


def test_alphabets_of_all_kinds() -> None:
    mixed = known(Strings(digits + ascii_letters + ".", 4, other=True))
    assert len(mixed.letters) == 64 == len(mixed.ratios)
    assert mixed.letters.sum() == pytest.approx(1)
    assert mixed.letters[:10].sum() + mixed.letters[-2:].sum() == pytest.approx(0.1)
    # Nine in ten letters are small.
    np.testing.assert_allclose(mixed.letters[10:36], 9 * mixed.letters[36:62])
    np.testing.assert_array_equal(mixed.ratios[10:36, 10:36], mixed.ratios[36:62, 36:62])
    assert (mixed.ratios[:10] == 1).all()
    shout, whisper = (known(Strings(alphabet, 4)) for alphabet in (ascii_lowercase.upper(), ascii_lowercase))
    np.testing.assert_array_equal(shout.letters, whisper.letters)
    raw = known(Strings(ascii_lowercase.encode(), 4))
    np.testing.assert_array_equal(raw.ratios, whisper.ratios)
    backwards = known(Strings(ascii_lowercase[::-1], 4))
    np.testing.assert_array_equal(backwards.ratios, whisper.ratios[::-1, ::-1])
    for foreign in (digits, "αβγδεζηθικλμνξοπρστυφχψω", "abcdefghijklmnopqrs", bytes(range(20)), "acgt"):
        assert ordinary_text(Strings(foreign, 4)) is None


def evidence(letters: np.ndarray, variance: float, text: Text | None, seed: int = 1) -> Evidence:
    """Reports on the letters of strings of full length, four of them, with this much noise."""
    symbols = len(letters) + 1
    rng = np.random.default_rng(seed)
    shares = np.zeros((4, symbols))
    shares[:, 1:] = letters
    shares += rng.normal(0, variance**0.5, size=shares.shape)
    return Evidence(
        symbols=symbols,
        length=4,
        n=1000,
        start=4,
        letters=shares,
        letters_variance=np.full(4, variance),
        pairs=None,
        pairs_variance=None,
        first=np.zeros(0, dtype=np.float32),
        first_variance=1.0,
        first_users=0,
        levels=(),
        places=lambda level, stems: (np.zeros(0, dtype=np.int64),) * 2,
        text=text,
    )


def cost(model: CharacterModel, letters: np.ndarray, ratios: np.ndarray) -> float:
    """Nats that the model needs for the second letter of strings that are really like this and have one."""
    pairs = letters[:, None] * letters * ratios
    found = np.broadcast_to(model.next_symbol(1)[:, 1:], pairs.shape)
    found = found - np.log(np.exp(found).sum(axis=1, keepdims=True))
    return float(-(pairs / pairs.sum() * found).sum())


def test_without_reports_strings_look_like_text() -> None:
    text = known(Strings(ascii_lowercase, 4))
    blind, helped = (character_model(evidence(text.letters, 1e6, given)) for given in (None, text))
    assert blind.ratios is None
    # ln 26 = 3.26 nats for a letter of which nothing is known. Trusted entirely the tables would need 2.5.
    assert cost(blind, text.letters, text.ratios) == pytest.approx(np.log(26), abs=0.01)
    assert 2.5 < cost(helped, text.letters, text.ratios) < 2.9


def test_what_users_report_is_believed_more_than_the_tables() -> None:
    text = known(Strings(ascii_lowercase, 4))
    uniform = np.full(26, 1 / 26)
    # Errors of a thousandth: the letters are known, and nothing is left to the tables.
    for letters, trust in ((uniform, 0.0), (text.letters, 1.0)):
        model = character_model(evidence(letters, 1e-6, text))
        np.testing.assert_allclose(model.letters, np.tile(letters, (4, 1)), atol=0.006)
        assert model.ratios is not None
        np.testing.assert_allclose(model.ratios, np.clip(1 + 0.5 * trust * (text.ratios - 1), 0.1, 10), atol=0.25)


def test_a_wrong_table_costs_little() -> None:
    # 200 crowds of uniform letters, known up to errors of 3 % each: what the table adds to their cost.
    text = known(Strings(ascii_lowercase, 4))
    uniform = np.full(26, 1 / 26)
    added = []
    for seed in range(200):
        given = evidence(uniform, 0.03**2, text, seed)
        models = character_model(given), character_model(replace(given, text=None))
        costs = [-float(np.mean([model.next_symbol(p)[:, 1:].mean() for p in range(1, 4)])) for model in models]
        added.append(costs[0] - costs[1])
    assert np.mean(added) < 0.1
