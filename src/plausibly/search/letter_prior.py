"""Frequencies of letters and pairs of letters in ordinary English: public knowledge that costs no reports.

In any language, words, names and addresses in Latin letters are closer to English than to random letters. A search
starts from these frequencies while it has few reports, and learns from the reports how far to trust them.
"""

from __future__ import annotations

from string import ascii_lowercase

import numpy as np

from ..core.domain import Strings
from .evidence import Floats, Text

# Counted by bench/letters.py in the documentation of Python 3.11 and its standard library: 7,071 different words, each
# weighted by the square root of its count.
LETTERS = (72, 16, 45, 42, 130, 19, 22, 18, 77, 1, 7, 48, 30, 72, 62, 35, 2, 72, 73, 84, 30, 10, 9, 7, 14, 3)
"""Frequency of each letter from a to z, per thousand letters."""
PAIRS = """
aljiafiagfjlkjaifkikhihhig
jhheiddbiqemdbifihhdldcemk
kagcibamhfojdambigdjjdbagd
iheilfdalkdgcbicfficjgeehe
hfjldjgdbfehjjahnkkhajhngd
iddehneamheidaldiicfkcecjf
hfdakdiljififigegiidlgeddm
laableadkieegblaggcghbcdhh
fijhejjaaggijmkhgfiialajao
ihfelhggdomefcjgncccoiijjm
geeglgiejkfiegdhkckcihngfj
jfdhkgbbkgfkbakedaggigebni
lladkdabiggdjajmeafdjbdbhe
idjkhiodghjecehefajkhkdagf
cjijaihacfkikmfjckggkkmhcg
kccejfahhfekaakkfkfiiffbje
cgdfagffbniefecdlefbqhhigl
keghkgiajgjdjfjecgihhihbkd
faiajfckjhiffbhjjajlkegbjc
jdfckfanldcfeaifeihfiahdkf
glhfghiaggdkkkdjejjjcaadae
lcaamcbckjeaeagchaaabeefch
keceidcnljegcikbijhcadijck
iglfihdhkkfefaemjedlcggmil
dghggigeikfgjjhnjdjjbhmfjm
jfecmiefknhdichdlbdddghiim
"""
"""A row for each letter, a column for the next: frequency of the pair relative to independent letters. ``i`` means
equally often; each letter later in the alphabet means 2^½ times as often, each letter earlier 2^−½ times."""
_OTHERS = 0.1
"""Assumed share of non-letters, if the alphabet has any."""
_CAPITALS = 0.1
"""Assumed share of capitals among letters, if the alphabet distinguishes them."""
_FEWEST = 20
"""Number of letters from which on an alphabet counts as one for words."""


def ordinary_text(strings: Strings) -> Text | None:
    """Prior frequencies of letters in ordinary text, or None if the alphabet has too few Latin letters."""
    alphabet = strings.alphabet
    symbols = [chr(symbol) for symbol in alphabet] if isinstance(alphabet, bytes) else list(alphabet)
    symbols += [""] * (strings.symbols - 1 - len(symbols))  # the symbol that stands for all other characters
    place = np.array([ascii_lowercase.find(symbol.lower()) if symbol else -1 for symbol in symbols])
    known = place >= 0
    if len(set(place[known].tolist())) < _FEWEST:
        return None
    letters: Floats = np.array([*LETTERS, 0.0])[place]
    for i, symbol in enumerate(symbols):
        if known[i] and symbol.swapcase() in symbols:
            letters[i] *= _CAPITALS if symbol.isupper() else 1 - _CAPITALS
    others = int(np.count_nonzero(~known))
    letters *= (1 - _OTHERS * (others > 0)) / letters.sum()
    letters[~known] = _OTHERS / max(others, 1)
    steps = np.array([[ord(step) - ord("i") for step in row] for row in PAIRS.split()])
    ratios = np.ones((len(place), len(place)))
    ratios[np.ix_(known, known)] = 2.0 ** (steps[np.ix_(place[known], place[known])] / 2)
    return Text(letters, ratios)
