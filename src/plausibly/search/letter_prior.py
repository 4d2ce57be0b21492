"""How often letters occur and follow each other in ordinary English: public, so that it costs no user's report.

Words, names and addresses in Latin letters are more like this than like letters drawn at random, whatever their
language. A search starts from it where few users have told it better; how far to trust it is learned from them, too.
"""

from __future__ import annotations

from string import ascii_lowercase

import numpy as np

from ..core.domain import Strings
from .evidence import Floats, Text

# Counted by bench/letters.py in the documentation of Python 3.11 and its standard library, 7,071 different words, each
# with the square root of its number.
LETTERS = (72, 16, 45, 42, 130, 19, 22, 18, 77, 1, 7, 48, 30, 72, 62, 35, 2, 72, 73, 84, 30, 10, 9, 7, 14, 3)
"""Of a thousand letters."""
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
"""A row for each letter, a column for the next one: how much more often than by chance. ``i`` is as often; the letter
before it in the alphabet stands for 2^−½ times, the letter after it for 2^½ times as often."""
_OTHERS = 0.1
"""The share of symbols that are no letters, if there are any."""
_CAPITALS = 0.1
"""How often a letter is a capital, where both are told apart."""
_FEWEST = 20
"""Letters that an alphabet must have to be one for words."""


def ordinary_text(strings: Strings) -> Text | None:
    """Ordinary text in this alphabet, if it has Latin letters enough."""
    alphabet = strings.alphabet
    symbols = [chr(symbol) for symbol in alphabet] if isinstance(alphabet, bytes) else list(alphabet)
    symbols += [""] * (strings.symbols - 1 - len(symbols))  # what stands for all others
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
