"""Waves: every task once, in parts that keep all cores busy, and larger only while waves are short."""

from __future__ import annotations

from plausibly.engines.pacing import Waves


def sizes(waves: Waves, seconds: float) -> list[int]:
    """The sizes of all waves, each of which takes this long. They follow each other without a gap."""
    found: list[range] = []
    while waves:
        found.append(waves.next_wave())
        waves.took(seconds)
    assert [number for wave in found for number in wave] == list(range(found[-1].stop))
    return [len(wave) for wave in found]


def test_short_waves_are_followed_by_larger_ones() -> None:
    assert sizes(Waves(100, cores=2), 0.1) == [4, 16, 64, 16]


def test_long_waves_keep_their_size() -> None:
    assert sizes(Waves(10, cores=2), 60) == [4, 4, 2]


def test_a_given_size_is_kept() -> None:
    assert sizes(Waves(10, cores=2, size=3), 0.1) == [3, 3, 3, 1]


def test_a_wave_has_a_part_for_each_core_and_never_an_empty_one() -> None:
    waves = Waves(1000, cores=4)
    assert [waves.parts(range(count)) for count in (1, 3, 4, 32, 800)] == [1, 3, 4, 4, 100]
