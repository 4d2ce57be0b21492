"""Characters that cannot be seen have names; everything that can be seen stays as it is."""

from __future__ import annotations

from plausibly.core.characters import with_names
from plausibly.core.wording import label_of, visible


def test_characters_that_cannot_be_seen_are_named() -> None:
    for text, shown in {
        "a\tb": "a‹tab›b",
        "a\x00\x1b[2J": "a‹null›‹escape›[2J",
        "a\x01": "a‹U+0001›",
        "two\u2028lines": "two‹line separator›lines",
        "pass\u200bword": "pass‹zero width space›word",
        "pass\u200dword": "pass‹zero width joiner›word",
        "\ufeffid": "‹byte order mark›id",
        "co\u00adoperate": "co‹soft hyphen›operate",
        "10\u00a0km": "10‹no-break space›km",
        "\u202egnp.exe": "‹right-to-left override›gnp.exe",
        "\u2066a\u2069": "‹left-to-right isolate›a‹pop directional isolate›",
        "\u3164": "‹hangul filler›",
        "a\ufe0f": "a‹variation selector-16›",
        "\ue000": "‹U+E000›",
        "\ud800": "‹U+D800›",
        "\ufffe": "‹U+FFFE›",
        "\U0010ffff\ufdd0": "‹U+10FFFF›‹U+FDD0›",
    }.items():
        assert with_names(text) == shown, ascii(text)


def test_characters_that_can_be_seen_are_kept() -> None:
    emoji = [
        "👩‍💻",
        "👨🏽‍🚀",
        "❤️",
        "1️⃣",
        "\u2139\ufe0f",
        "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
    ]
    words = ["a b", "déjà vu", "שלום", "\u0645\u06cc\u200c\u062e", "क्\u200dष", "東京", "\\u200b"]
    for text in emoji + words:
        assert with_names(text) == text


def test_long_labels_are_cut_between_names() -> None:
    assert label_of("x" * 30 + "y" * 30) == "x" * 20 + "..." + "y" * 17
    assert label_of("\u2066abc\u2069") == visible("\u2066abc\u2069")
    cut = label_of("\u200b" * 60)
    assert cut == "‹zero width space›" * 2 + "..." + "‹zero width space›" * 2
