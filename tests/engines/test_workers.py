"""Jobs, tasks and replies as bytes: lossless, honest about their worker, each task exactly once."""

from __future__ import annotations

import json
import os
import re
import sys
from functools import partial
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import plausibly
from contract.entries import every_scheme_as_reports
from engines.making import segment
from files.making import SMALL, damage_group, users_reports
from plausibly import DomainError, Scheme, StateError
from plausibly.core.errors import PlausiblyError
from plausibly.core.records import RefusedReportsError
from plausibly.core.words import Setting, Words
from plausibly.engines import fold, merge, workers
from plausibly.engines.workers import Wave, combine, pack_job, pack_task, run
from plausibly.files import DamagedError, KeyNeededError, SimulatedError, UnreachableError, write_reports
from plausibly.version import __version__

WORDS = Words("skip it with ", Setting("missing", "skip"))


def planned(folder: Path) -> list[bytes]:
    places = [("0.parquet", 0, 1), ("1.parquet", 1, 4), ("2.parquet", 0, 1)]
    return [pack_task(number, (segment(folder / name, *rest),)) for number, (name, *rest) in enumerate(places)]


def labelled(reply: bytes, **said: object) -> bytes:
    """The same reply with something else in its label."""
    (length,) = workers._PREFIX.unpack_from(reply)
    start = workers._PREFIX.size
    text = json.dumps(json.loads(reply[start : start + length]) | said).encode()
    return workers._PREFIX.pack(len(text)) + text + reply[start + length :]


@every_scheme_as_reports
def test_states_survive_the_journey(scheme: Scheme, tmp_path: Path) -> None:
    path = tmp_path / f"{os.urandom(8).hex()}.parquet"
    write_reports(path, scheme, users_reports(scheme, 35))
    damage_group(path, 1)
    job = pack_job(partial(fold, scheme, skip_bad=True), merge)
    tasks = [pack_task(number, (segment(path, number, number + 1),)) for number in range(4)]
    wave = Wave(range(4))
    state = wave.state(combine(job, [run(job, tasks[2:]), run(job, tasks[:2])]))
    wave.expect_all()
    wanted = merge(fold(scheme, [segment(path, 0, 2)], skip_bad=True), fold(scheme, [segment(path, 2, 4)]))
    assert state.to_bytes() == wanted.to_bytes()
    assert [each.group for each in state.skipped] == [1]


def test_a_class_that_a_worker_does_not_have_is_told_with_advice(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("a_module_of_yours")
    exec("class Yours:\n    def __call__(self, task): return task", module.__dict__)
    monkeypatch.setitem(sys.modules, module.__name__, module)
    yours = module.__dict__["Yours"]()
    job, own = pack_job(yours, merge), pack_job(len, merge)
    task, plain = pack_task(0, yours), pack_task(0, "plain")
    advice = "put the class in a module, .* and install the module on all workers"
    for name, forget in [
        ("Yours", lambda: monkeypatch.delattr(module, "Yours")),
        ("a_module_of_yours", lambda: monkeypatch.delitem(sys.modules, module.__name__)),
    ]:
        forget()
        workers._job.cache_clear()
        for reply in (run(job, [plain]), run(own, [task]), combine(job, [run(own, [plain]), run(own, [plain])])):
            with pytest.raises(StateError, match=f"a worker cannot load a class of yours .*{name}.*; {advice}"):
                Wave().state(reply)


def test_large_states_travel_compressed(tmp_path: Path) -> None:
    scheme = plausibly.make("OUE", epsilon=1, domain_size=100_000)
    job = pack_job(partial(fold, scheme), merge)
    assert len(run(job, [pack_task(0, ())])) < 2_000 < 800_000 < len(fold(scheme, ()).to_bytes())


def test_each_task_of_a_wave_is_expected_once(folder: Path) -> None:
    job, tasks = pack_job(partial(fold, SMALL), merge), planned(folder)
    wave = Wave(range(3))
    assert len(wave.state(run(job, tasks[:2]))) == 10 + 30
    with pytest.raises(StateError, match="the engine returned tasks 1, 2, of which at least one was returned before"):
        wave.state(run(job, tasks[1:]))
    with pytest.raises(StateError, match="the engine did not return task 2; repeat the call to resume"):
        wave.expect_all()
    wave.state(run(job, tasks[2:]))
    wave.expect_all()
    with pytest.raises(StateError, match="returned before"):
        Wave(range(3)).state(labelled(run(job, tasks[:1]), tasks=[0, 0]))


def test_another_version_is_refused_and_its_pickle_never_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    job, tasks = pack_job(partial(fold, SMALL), merge), planned(folder)
    older = labelled(run(job, tasks[:1])[:-9], version="0.0.9", host="node7", added="by a later version")
    told = f"the worker node7 runs plausibly 0.0.9, this process {__version__}; install the same version on all workers"
    for reply in (older, combine(job, [run(job, tasks[1:]), older])):
        with pytest.raises(StateError, match=re.escape(told)):
            Wave(range(3)).state(reply)
    reply = run(labelled(job, version="7.0")[:-9], tasks)
    monkeypatch.setattr(workers, "__version__", "7.0")
    with pytest.raises(StateError, match=re.escape(f"runs plausibly {__version__}, this process 7.0")):
        Wave(range(3)).state(reply)


def test_slow_kernels_are_warned_about_once(folder: Path) -> None:
    workers._warn_of_slow_kernels.cache_clear()
    job, tasks = pack_job(partial(fold, SMALL), merge), planned(folder)
    slow, wave = labelled(run(job, tasks[:1]), kernels="numpy"), Wave(range(3))
    merged = combine(job, [labelled(run(job, tasks[1:2]), kernels="c"), slow])
    with pytest.warns(RuntimeWarning, match="slower NumPy kernels on the workers; run plausibly doctor on a worker"):
        wave.state(merged)
    wave.state(labelled(run(job, tasks[2:]), kernels="numpy"))


def _domain_error() -> DomainError:
    error = DomainError(WORDS)
    error.position = 3
    return error


ERRORS = [
    DamagedError("a.parquet", 3, "the checksum does not match", 10),
    UnreachableError("a.parquet", "No such file or directory", 3),
    SimulatedError(Path("a.parquet")),
    StateError(WORDS),
    _domain_error(),
    KeyNeededError("a.parquet"),
    RefusedReportsError(np.array([False, True]), "a smaller number"),
]


def raising(error: Exception, task: object) -> None:
    raise error


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_errors_reach_the_caller_as_they_are(error: PlausiblyError) -> None:
    job = pack_job(partial(raising, error), merge)
    with pytest.raises(type(error)) as caught:
        Wave([0]).state(combine(job, [run(job, [pack_task(0, ())])]))
    assert (str(caught.value), caught.value.args[-1]) == (str(error), error.args[-1])
    assert getattr(caught.value, "position", None) == getattr(error, "position", None)
    assert getattr(caught.value.words, "parts", None) == getattr(error.words, "parts", None)
    assert caught.value.__notes__[0].startswith("raised on ")


def test_every_kind_of_error_with_an_own_constructor_is_tested_above() -> None:
    kinds: list[type[PlausiblyError]] = [PlausiblyError]
    for kind in kinds:  # grows
        kinds += kind.__subclasses__()
    own = {kind for kind in kinds if "__init__" in vars(kind) and kind.__module__.startswith("plausibly.")}
    assert own <= {type(error) for error in ERRORS}


def test_errors_that_may_pass_are_left_to_the_engine() -> None:
    job = pack_job(partial(raising, RuntimeError("the machine is low on memory")), merge)
    with pytest.raises(RuntimeError, match="low on memory"):
        run(job, [pack_task(0, ())])


def test_a_row_group_that_two_replies_have_is_refused(folder: Path) -> None:
    job = pack_job(partial(fold, SMALL), merge)
    twice = [pack_task(number, (segment(folder / "0.parquet", 0, 1),)) for number in range(2)]
    for reply in (run(job, twice), combine(job, [run(job, [each]) for each in twice])):
        with pytest.raises(StateError, match="row group 0 of a file would be counted twice"):
            Wave(range(2)).state(reply)


def test_a_worker_without_pyarrow_can_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    needed = ImportError("files of reports need pyarrow: pip install pyarrow")
    job, task = pack_job(partial(raising, needed), merge), pack_task(0, ())
    reply = run(job, [task])
    with pytest.raises(ImportError, match="need pyarrow"):
        Wave([0]).state(reply)
