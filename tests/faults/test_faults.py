"""Deliberate mistakes, one at a time: every one of them must be seen, and without it the same detector be content."""

from __future__ import annotations

import pytest

from faults.catalogue import FAULTS, Fault
from faults.detectors import Detector

DETECTORS = {fault.detector.name: fault.detector for fault in FAULTS}


def test_there_are_many_faults_and_each_has_its_name() -> None:
    assert len(FAULTS) >= 100
    assert len({fault.id for fault in FAULTS}) == len(FAULTS)


@pytest.mark.full
@pytest.mark.parametrize("detector", DETECTORS.values(), ids=DETECTORS.keys())
def test_detector_is_content_without_a_fault(detector: Detector) -> None:
    assert list(detector.run()) == []


@pytest.mark.full
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.id)
def test_fault_is_caught(fault: Fault, monkeypatch: pytest.MonkeyPatch) -> None:
    for step in fault.steps:
        step.plant(monkeypatch)
    found = list(fault.detector.run())
    assert any(fault.sees in finding for finding in found), f"{fault.breaks}: {found}"
