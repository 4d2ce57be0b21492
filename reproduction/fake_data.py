"""What RS+FD delivers for a whole record, by enumeration of the published randomizer.

Random sampling plus fake data (Arcolezi, Couchot, Al Bouna, Xiao, CIKM 2021) reports one attribute, drawn in secret,
through direct encoding with the amplified e^eps' = m(e^eps - 1) + 1, and a uniform fake value of every other one. The
probability of a report y of a record x is then (1/m) * sum_j P'(y_j | x_j) * product over the others of 1/d_k.

python -m reproduction.fake_data
"""

from __future__ import annotations

from itertools import product
from math import exp, log, prod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def probability(report: Sequence[int], record: Sequence[int], sizes: Sequence[int], epsilon: float) -> float:
    """Probability of a report of a record, all attributes of both given."""
    amplified = len(sizes) * (exp(epsilon) - 1) + 1
    total = 0.0
    for j, size in enumerate(sizes):
        kept = amplified if report[j] == record[j] else 1.0
        total += kept / (amplified + size - 1) * size / prod(sizes)
    return total / len(sizes)


def loss(sizes: Sequence[int], epsilon: float, *, changed: int | None = None) -> float:
    """Largest log of the ratio of two probabilities of a report, over all pairs of records.

    ``changed``: only pairs that differ in this number of attributes.
    """
    records = list(product(*map(range, sizes)))
    worst = 0.0
    for one, other in product(records, records):
        differ = sum(a != b for a, b in zip(one, other, strict=True))
        if changed is not None and differ != changed:
            continue
        for report in records:
            ratio = probability(report, one, sizes, epsilon) / probability(report, other, sizes, epsilon)
            worst = max(worst, log(ratio))
    return worst


def times_sampling(size: int, attributes: int, epsilon: float) -> float:
    """Variance of the count of a value that nobody has, as a multiple of that from sampling one attribute in public.

    Both through direct encoding, with epsilon for the record: then the amplified one is epsilon itself. A user's part
    in the count is m/(p - q) times its support, of probability q/m + (1 - 1/m)/d; after public sampling, it is 0 for
    all users but a share of 1/m, whose support has probability q.
    """
    q = 1 / (exp(epsilon) + size - 1)
    support = q / attributes + (1 - 1 / attributes) / size
    return attributes * support * (1 - support) / (q * (1 - q))


def main() -> None:
    for sizes in ((2, 2), (2, 2, 2), (2, 2, 2, 2), (3, 2), (3, 3, 2)):
        whole, single = loss(sizes, 1.0), loss(sizes, 1.0, changed=1)
        print(f"attributes of {sizes}: asked for 1, a record loses {whole:.2f}, a single attribute {single:.2f}")
    for size, attributes in product((2, 10), (2, 4, 8)):
        times = times_sampling(size, attributes, 1.0)
        print(f"{attributes} attributes of {size}: at epsilon = 1 for a record, {times:.1f} times the variance of SMP")


if __name__ == "__main__":
    main()
