"""Count the letters and pairs of letters for ``plausibly.search.letter_prior`` and print its tables.

python -m bench.letters

The text is the documentation that comes with Python: the topics of ``help()`` and the docstrings of the standard
library. Every distinct word is weighted by the square root of its count, since common words say little about the
spelling of others.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from pathlib import Path
from pydoc_data.topics import topics

import numpy as np


def words() -> Counter[str]:
    """Every word with its count."""
    texts = list(topics.values())
    for path in Path(ast.__file__).parent.glob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8", errors="replace"))
        documented = (ast.Module, ast.ClassDef, ast.FunctionDef)
        texts += [ast.get_docstring(node) or "" for node in ast.walk(tree) if isinstance(node, documented)]
    return Counter(word for text in texts for word in re.findall("[a-z]+", text.lower()) if len(word) > 1)


def tables(counted: Counter[str]) -> tuple[list[int], list[str]]:
    """Letters per mille, and for each letter how much more often others follow it than by chance."""
    letters, pairs = np.zeros(26), np.zeros((26, 26))
    for word, number in counted.items():
        codes = np.frombuffer(word.encode(), dtype=np.uint8) - ord("a")
        np.add.at(letters, codes, number**0.5)
        np.add.at(pairs, (codes[:-1], codes[1:]), number**0.5)
    letters /= letters.sum()
    # Pairs that do not occur here may occur elsewhere: two in 100,000.
    pairs = pairs / pairs.sum() + 2e-5
    ratios = pairs / pairs.sum(axis=1, keepdims=True) / letters
    steps = np.clip(np.rint(2 * np.log2(ratios)), -8, 8).astype(int)
    return np.rint(1000 * letters).astype(int).tolist(), [
        "".join(chr(ord("i") + step) for step in row) for row in steps
    ]


if __name__ == "__main__":
    counted = words()
    letters, rows = tables(counted)
    print(f"{len(counted):,} different words", letters, *rows, sep="\n")
