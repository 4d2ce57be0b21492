"""Collecting report files: every report once, in any order, on any number of threads, whatever is in the way."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import plausibly
from cases import in_turn
from contract.entries import every_scheme_as_reports, other_than, reports_of, tally_of
from drawn import thinned
from engines.making import names, one_task_each, segment, whole
from files.making import SMALL, damage_group, flip, small_file
from plausibly import ParameterError, ReportError, Scheme, SeededRandom, StateError, engines
from plausibly.core import parallel
from plausibly.core.atomic import locked
from plausibly.engines import Processes, ask, collect, fold, local, merge_files
from plausibly.files import (
    Collected,
    DamagedError,
    ReportFile,
    read_tally,
    report_writer,
    write_reports,
    write_tally,
)


@in_turn("threads", ["1", "2", "5"])
def test_all_files_of_a_folder_are_collected(
    threads: str, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLAUSIBLY_THREADS", threads)
    output = tmp_path / f"{threads}.tally"
    seen: list[tuple[int, int]] = []
    found = collect([folder], output, progress=lambda done, total: seen.append((done, total)))
    assert (found.added, found.files, found.copies, found.skipped) == (68, 3, (), ())
    assert read_tally(output).to_bytes() == found.tally.to_bytes() == whole(folder)
    assert seen[-1] == (68, 68)
    assert sorted(seen) == seen
    assert not [name for name in names(tmp_path) if name not in {"reports", "1.tally", "2.tally", "5.tally"}]


@every_scheme_as_reports
def test_every_scheme_is_collected(scheme: Scheme, tmp_path: Path) -> None:
    folder = tmp_path / os.urandom(8).hex()
    folder.mkdir()
    for seed in range(2):
        small_file(folder / f"{seed}.parquet", 15, scheme=scheme, seed=seed)
    assert collect([folder], folder / "out").tally.to_bytes() == whole(folder, scheme)


def test_collecting_again_adds_what_is_new_and_nothing_twice(folder: Path, tmp_path: Path) -> None:
    output = tmp_path / "out.tally"
    assert collect([folder / "0.parquet"], output).added == 25
    assert collect([folder], output).added == 43
    first = output.stat()
    assert collect([folder], output).added == 0
    assert output.stat().st_mtime_ns == first.st_mtime_ns, "nothing new, nothing written"
    small_file(folder / "new.parquet", 7)
    assert collect([folder / "new.parquet"], output).added == 7
    assert read_tally(output).to_bytes() == whole(folder)


def test_files_are_known_by_content_and_not_by_name(folder: Path, tmp_path: Path) -> None:
    output = tmp_path / "out.tally"
    collect([folder], output)
    wanted = output.read_bytes()
    (folder / "0.parquet").rename(folder / "moved.parquet")
    (folder / "copy.parquet").write_bytes((folder / "1.parquet").read_bytes())
    found = collect([folder], output)
    assert (found.added, found.files, found.copies) == (0, 3, (str(folder / "copy.parquet"),))
    assert output.read_bytes() == wanted
    # The other way round: the same name, but other reports.
    (folder / "2.parquet").unlink()
    small_file(folder / "2.parquet", 3, seed=2)
    assert collect([folder], output).added == 3


def test_many_small_files_and_empty_ones(tmp_path: Path) -> None:
    for number in range(30):
        small_file(tmp_path / f"{number:02}.parquet", number % 4, seed=number)
    found = collect([tmp_path], tmp_path / "out")
    assert (found.files, found.added) == (30, sum(number % 4 for number in range(30)))
    assert found.tally.to_bytes() == whole(tmp_path)


def test_only_empty_files_give_an_empty_tally(tmp_path: Path) -> None:
    small_file(tmp_path / "a.parquet", 0)
    for _ in range(2):
        assert collect([tmp_path], tmp_path / "out").added == 0
    assert len(read_tally(tmp_path / "out")) == 0
    small_file(tmp_path / "b.parquet", 3)
    assert collect([tmp_path], tmp_path / "out").added == 3


def test_without_files_the_message_says_so(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="got none"):
        collect([], tmp_path / "out")
    with pytest.raises(StateError, match=r"expected a folder of files that end in \.parquet, got none"):
        collect([tmp_path], tmp_path / "out")
    with pytest.raises(StateError, match="no such file or folder"):
        collect([tmp_path / "none"], tmp_path / "out", skip_bad=True)
    with pytest.raises(ParameterError, match="there is no folder"):
        collect([tmp_path], tmp_path / "none" / "out")
    with pytest.raises(ParameterError, match="got a folder"):
        collect([tmp_path], tmp_path)
    assert names(tmp_path) == []


def test_inputs_that_are_no_list_of_files_are_told_so(folder: Path, tmp_path: Path) -> None:
    for alone in (str(folder), folder, b"reports"):
        with pytest.raises(ParameterError, match=r"inputs: expected a list of .*, got one \w+; put it in brackets"):
            collect(alone, tmp_path / "out")  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="inputs: expected a list"):
        merge_files(str(folder), tmp_path / "out")
    for wrong in (3, None, b"reports"):
        with pytest.raises(ParameterError, match="inputs: expected paths, addresses or openers, got "):
            collect([wrong], tmp_path / "out")  # type: ignore[list-item]


@pytest.mark.parametrize("engine", ["processes", Processes, None])
def test_an_engine_that_cannot_run_tasks_is_told_so(engine: Any, folder: Path, tmp_path: Path) -> None:
    for call in (lambda: collect([folder], tmp_path / "out", engine=engine), lambda: ask([folder], [1], engine=engine)):
        with pytest.raises(ParameterError, match="engine: expected an engine, which has a method reduce, got "):
            call()
    assert names(tmp_path) == ["reports"]


# --- other schemes, simulations --------------------------------------------------------------------------------------


@in_turn("skip_bad", [False, True])
def test_mixed_schemes_are_refused_before_anything_is_read(skip_bad: bool, tmp_path: Path) -> None:
    folder = tmp_path / str(skip_bad)
    folder.mkdir()
    small_file(folder / "a.parquet", 25)
    small_file(folder / "b.parquet", 25, scheme=other_than(SMALL))
    with pytest.raises(StateError, match=r"b\.parquet: expected the scheme of .*a\.parquet, got another: epsilon is"):
        collect([folder], folder / "out", skip_bad=skip_bad)
    with pytest.raises(StateError, match=r"a\.parquet: expected the given scheme, got another: epsilon is"):
        collect([folder / "a.parquet"], folder / "out", scheme=other_than(SMALL), skip_bad=skip_bad)
    assert names(folder) == ["a.parquet", "b.parquet"]


def test_a_tally_of_another_scheme_is_not_added_to(folder: Path, tmp_path: Path) -> None:
    write_tally(tmp_path / "out", other_than(SMALL).accumulator())
    before = (tmp_path / "out").read_bytes()
    with pytest.raises(StateError, match=r"0\.parquet: expected the scheme of .*out, got another: epsilon is"):
        collect([folder], tmp_path / "out")
    with pytest.raises(StateError, match="out: expected the given scheme, got another: epsilon is"):
        collect([folder], tmp_path / "out", scheme=SMALL)
    assert (tmp_path / "out").read_bytes() == before


def test_simulated_reports_are_refused_unless_allowed_and_stay_marked(folder: Path, tmp_path: Path) -> None:
    output = tmp_path / "out"
    write_reports(folder / "s.parquet", SMALL, reports_of(SMALL, 5))
    with pytest.raises(StateError, match=r"s\.parquet: simulated reports"):
        collect([folder], output, skip_bad=True)
    assert names(tmp_path) == ["reports"]
    assert collect([folder], output, allow_simulated=True).added == 73
    with pytest.raises(StateError, match="simulated"):
        read_tally(output)
    (folder / "s.parquet").unlink()
    with pytest.raises(StateError, match="out: simulated reports"):
        collect([folder], output)


# --- damage ----------------------------------------------------------------------------------------------------------


def test_a_bad_row_group_is_named_and_what_was_done_is_kept(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one_task_each(monkeypatch)
    output = tmp_path / "out"
    damage_group(folder / "1.parquet", 2)
    for _ in range(2):
        with pytest.raises(DamagedError, match=r"1\.parquet, row group 2: "):
            collect([folder], output, save_every=0)
    assert names(tmp_path) == ["out.unfinished", "reports"]
    kept = len(Collected.read(tmp_path / "out.unfinished", complete=False))
    found = collect([folder], output, skip_bad=True)
    assert (len(found.tally), found.added, found.resumed) == (58, 58 - kept, kept)
    assert names(tmp_path) == ["out", "reports"]


def test_bad_row_groups_and_files_are_skipped_counted_and_listed(folder: Path, tmp_path: Path) -> None:
    damage_group(folder / "1.parquet", 2)
    damage_group(folder / "0.parquet", 0)
    flip(folder / "2.parquet", 0)
    (folder / "text.parquet").write_text("no Parquet at all")
    seen: list[tuple[int, int]] = []
    found = collect([folder], tmp_path / "out", skip_bad=True, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (65, 65), "what is skipped is done with"
    assert len(found.tally) == 68 - 10 - 10 - 3
    places = {(Path(each.file).name, each.group, each.reports) for each in found.skipped}
    assert places == {
        ("0.parquet", 0, 10),
        ("1.parquet", 2, 10),
        ("2.parquet", None, None),
        ("text.parquet", None, None),
    }
    assert all(each.reason for each in found.skipped)
    assert Collected.read(tmp_path / "out").skipped == found.skipped
    good = [ReportFile(folder / "0.parquet").read(group) for group in (1, 2)]
    good += [ReportFile(folder / "1.parquet").read(group) for group in (0, 1, 3)]
    assert found.tally.to_bytes() == tally_of(SMALL, *good).to_bytes()


def test_what_was_skipped_is_taken_once_it_is_whole_again(folder: Path, tmp_path: Path) -> None:
    output, path, other = tmp_path / "out", folder / "1.parquet", folder / "2.parquet"
    intact, wanted, lost = path.read_bytes(), whole(folder), other.read_bytes()
    damage_group(path, 2)
    other.write_bytes(lost[:-1])
    collect([folder], output, skip_bad=True)
    assert len(collect([folder], output, skip_bad=True).skipped) == 2, "still bad, and listed once"
    path.write_bytes(intact)
    found = collect([path], output)
    assert (found.added, [Path(each.file).name for each in found.skipped]) == (10, ["2.parquet"])
    other.write_bytes(lost)
    found = collect([folder], output)
    assert (found.added, found.skipped) == (3, ())
    assert read_tally(output).to_bytes() == wanted


def test_reports_that_no_client_sends_are_refused_even_with_good_checksums(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.parquet"
    wrong = np.arange(25, dtype=np.uint8).view(SMALL.report_dtype)
    with monkeypatch.context() as patch:
        patch.setattr(type(SMALL), "check", lambda self, reports: None)
        write_reports(path, SMALL, wrong)
    with pytest.raises(DamagedError, match=r"row group 1: report 1: expected .* \(9 in all\)"):
        collect([path], tmp_path / "out")
    assert len(collect([path], tmp_path / "out", skip_bad=True).tally) == 10


def test_an_index_that_a_kernel_refuses_ends_collecting_even_if_damage_is_skipped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The kernel may have folded a part of the row group: to leave it out and go on would keep that part.
    path = tmp_path / "a.parquet"
    wrong = np.arange(25, dtype=np.uint8).view(SMALL.report_dtype)
    monkeypatch.setattr(type(SMALL), "check", lambda self, reports: None)
    write_reports(path, SMALL, wrong)
    with pytest.raises(ReportError, match="expected an array that stays as it is, got one that changed"):
        collect([path], tmp_path / "out", skip_bad=True)
    assert not (tmp_path / "out").exists()
    for add in (SMALL.accumulator().add, SMALL.accumulator().add_single_threaded):
        with pytest.raises(ReportError, match="expected an array that stays as it is, got one that changed"):
            add(wrong)


def test_if_no_file_can_be_read_nothing_is_written(tmp_path: Path) -> None:
    (tmp_path / "a.parquet").write_bytes(b"")
    with pytest.raises(ReportError, match=r"a\.parquet: not a file of reports: it has only 0 bytes"):
        collect([tmp_path], tmp_path / "out")
    with pytest.raises(ReportError, match="none of the files can be read"):
        collect([tmp_path], tmp_path / "out", skip_bad=True)
    assert names(tmp_path) == ["a.parquet"]


def test_a_damaged_output_is_refused_and_left_alone(folder: Path, tmp_path: Path) -> None:
    output = tmp_path / "out"
    collect([folder], output)
    flip(output, 30)
    before = output.read_bytes()
    with pytest.raises(StateError, match="out: the checksum of the header"):
        collect([folder], output)
    assert output.read_bytes() == before


# --- interrupts, other processes -------------------------------------------------------------------------------------


class _Stop(BaseException):
    pass


def stop_after(calls: int) -> Callable[[int, int], None]:
    left = [calls]

    def progress(done: int, total: int) -> None:
        left[0] -= 1
        if left[0] < 0:
            raise _Stop

    return progress


@in_turn("save_every", [0, 1000])
def test_an_interrupt_anywhere_loses_and_doubles_nothing(
    save_every: float, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one_task_each(monkeypatch)
    wanted = whole(folder)
    for calls in thinned(range(8)):
        output = tmp_path / f"{save_every}-{calls}"
        with pytest.raises(_Stop):
            collect([folder], output, save_every=save_every, progress=stop_after(calls))
        assert not output.exists()
        kept = Collected.read(f"{output}.unfinished", complete=False)
        found = collect([folder], output)
        assert found.added + len(kept) == 68
        assert found.added < 68
        assert read_tally(output).to_bytes() == wanted
        assert not Path(f"{output}.unfinished").exists()


def test_a_stop_between_the_last_two_steps_does_no_harm(folder: Path, tmp_path: Path) -> None:
    output, unfinished = tmp_path / "out", tmp_path / "out.unfinished"
    with pytest.raises(_Stop):
        collect([folder], output, progress=stop_after(0))
    stale = unfinished.read_bytes()
    collect([folder], output)
    wanted = output.read_bytes()
    unfinished.write_bytes(stale)
    assert collect([folder], output).added == 0
    assert (output.read_bytes(), unfinished.exists()) == (wanted, False)


def test_an_unfinished_state_of_something_else_is_refused(folder: Path, tmp_path: Path) -> None:
    collect([folder / "0.parquet"], tmp_path / "out")
    fold(SMALL, [segment(folder / "1.parquet", 0, 2)]).write(tmp_path / "out.unfinished", complete=False)
    with pytest.raises(StateError, match="saved while collecting into another tally"):
        collect([folder], tmp_path / "out")


def test_a_call_that_was_stopped_goes_on_only_with_its_files(folder: Path, tmp_path: Path) -> None:
    # Or else a part of a file would be in the tally of others, and nobody would know.
    output = tmp_path / "out"
    with pytest.raises(_Stop):
        collect([folder / "0.parquet"], output, progress=stop_after(0))
    with pytest.raises(StateError, match=r"out\.unfinished: saved while collecting other files"):
        collect([folder / "1.parquet"], output)
    assert collect([folder / "1.parquet", folder / "0.parquet"], output).added == 40
    assert len(read_tally(output)) == 65
    with pytest.raises(_Stop):
        collect([folder / "2.parquet"], output, progress=stop_after(0))
    with pytest.raises(StateError, match="saved while collecting other files"):
        collect([folder / "1.parquet"], output)
    (tmp_path / "out.unfinished").unlink()
    assert collect([folder / "1.parquet"], output).added == 0
    assert len(read_tally(output)) == 65


def test_what_killed_processes_have_left_is_swept_away(folder: Path, tmp_path: Path) -> None:
    token = "0123456789ab"
    others = [f".other.{token}.tmp", f".out.b.{token}.tmp", f".out.{token}.{token}.tmp", ".out.tmp"]
    for name in (f".out.{token}.tmp", f".out.unfinished.{token}.tmp", *others):
        (tmp_path / name).touch()
    collect([folder], tmp_path / "out")
    assert names(tmp_path) == sorted([*others, "out", "reports"])


def test_two_collectors_of_one_output_are_told_apart(folder: Path, tmp_path: Path) -> None:
    code = "import sys; from plausibly.core.atomic import locked; from pathlib import Path\n"
    code += "with locked(Path(sys.argv[1])): print('held', flush=True); sys.stdin.read()"
    command = [sys.executable, "-c", code, str(tmp_path / "out")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        with pytest.raises(StateError, match="another process is collecting into this file"):
            collect([folder], tmp_path / "out")
        assert collect([folder], tmp_path / "elsewhere").added == 68
        other.kill()
        other.wait()
    assert collect([folder], tmp_path / "out").added == 68, "a lock ends with its process"
    assert names(tmp_path) == ["elsewhere", "out", "reports"]


@pytest.mark.full
def test_collectors_that_start_together_count_every_report_once(folder: Path, tmp_path: Path) -> None:
    code = "import sys; from plausibly.engines import collect; from plausibly import StateError\n"
    code += "for _ in range(20):\n  try: collect(sys.argv[1:2], sys.argv[2], save_every=0)\n  except StateError: pass"
    wanted = whole(folder)
    command = [sys.executable, "-c", code, str(folder), str(tmp_path / "out")]
    together = [subprocess.Popen(command, stderr=subprocess.PIPE) for _ in range(3)]
    for process in together:
        assert process.communicate() == (None, b"")
    assert read_tally(tmp_path / "out").to_bytes() == wanted
    assert names(tmp_path) == ["out", "reports"]


def test_the_lock_holds_within_a_process_too(tmp_path: Path) -> None:
    with locked(tmp_path / "out"):
        with pytest.raises(StateError), locked(tmp_path / "out"):
            pass
        assert names(tmp_path) == ["out.lock"]
    with locked(tmp_path / "out"):
        pass
    assert names(tmp_path) == []


def test_a_forked_process_collects_as_its_parent_does(folder: Path, tmp_path: Path) -> None:
    collect([folder], tmp_path / "parent")
    assert parallel._pool is not None or parallel.thread_count() == 1
    child = os.fork()
    if child == 0:
        try:
            collect([folder], tmp_path / "child")
            os._exit(0)
        except BaseException:
            os._exit(1)
    assert os.waitpid(child, 0)[1] == 0
    assert (tmp_path / "child").read_bytes() == (tmp_path / "parent").read_bytes()


# --- memory ----------------------------------------------------------------------------------------------------------

MEASURE = """
import json, sys
from pathlib import Path
from bench.peak import high_water
from plausibly.engines import collect
before = collect([sys.argv[1]], sys.argv[1] + "/first.tally", save_every=0) and high_water()
added = collect(sys.argv[1:], sys.argv[1] + "/out.tally", save_every=0).added
print(json.dumps([added, high_water() - before]))
"""


@pytest.mark.full
def test_memory_does_not_grow_with_the_number_of_reports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    scheme = plausibly.make("TLH", epsilon=1, domain_size=1024)
    reports: Any = scheme.privatize(np.arange(2**20) % 1024)
    for name, times in {"few": 4, "many": 40}.items():
        (tmp_path / name).mkdir()
        with report_writer(tmp_path / name / "a.parquet", scheme) as writer:
            for _ in range(times):
                writer.write(reports)
    command = [sys.executable, "-c", MEASURE, str(tmp_path / "few"), str(tmp_path / "many")]
    root = Path(__file__).resolve().parents[2]
    said = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stdout
    added, growth = json.loads(said)
    assert added == 44 * 2**20
    # The many are 126 MB of records; a chance of buffers is not.
    assert growth < 30


def test_folders_and_pipes_that_are_named_like_files_are_not_opened(folder: Path, tmp_path: Path) -> None:
    os.mkfifo(folder / "pipe.parquet")
    (folder / "day.parquet").mkdir()
    small_file(folder / "day.parquet" / "part-0.parquet", 7, seed=9)
    assert collect([folder], tmp_path / "all.tally").added == 25 + 40 + 3 + 7


def test_a_stray_state_beside_a_tally_is_neither_taken_for_it_nor_added_to_it(folder: Path, tmp_path: Path) -> None:
    # A tally without a list of files, beside what a stopped call for another output has left.
    output, unfinished = tmp_path / "out", tmp_path / "out.unfinished"
    tally = SMALL.simulate([100] * SMALL.size, SeededRandom(3))
    write_tally(output, tally)
    fold(SMALL, [segment(folder / "1.parquet", 0, 2)]).write(unfinished, complete=False, begun_with="")
    with pytest.raises(StateError, match="saved while collecting into another tally"):
        collect([folder], output, allow_simulated=True)
    # The same as an earlier version would have saved it.
    fold(SMALL, [segment(folder / "1.parquet", 0, 2)]).write(unfinished, complete=False)
    with pytest.raises(StateError, match="saved while collecting into another tally"):
        collect([folder], output, allow_simulated=True)
    # A complete tally in its place.
    write_tally(unfinished, tally)
    with pytest.raises(StateError, match="got a complete tally"):
        collect([folder], output, allow_simulated=True)
    unfinished.unlink()
    added = collect([folder], output, allow_simulated=True).added
    assert len(Collected.read(output)) == len(tally) + added


def test_the_former_module_still_has_the_documented_names() -> None:
    for name in ("Collection", "Segment", "collect", "fold", "merge", "merge_files"):
        assert getattr(local, name) is getattr(engines, name)


class Erring:
    """An engine that changes each state before it returns it."""

    def __init__(self, change: Callable[[Collected], Collected]) -> None:
        self.change = change

    def reduce(self, work: Any, merge: Any, tasks: Any) -> Any:
        return (self.change(work(task)) for task in tasks)


@pytest.mark.parametrize(
    "change",
    [
        lambda state: Collected(state.scheme.accumulator(), files=state.files),
        lambda state: Collected(state.tally),
        lambda state: Collected(state.tally, files={"f" * 64: ((0, 1),)}),
        lambda state: Collected(state.tally, files=dict.fromkeys(state.files, ((7, 8),))),
    ],
    ids=["reports lost", "row groups not listed", "another file", "a row group beyond the last"],
)
def test_an_engine_that_miscounts_is_refused(change: Any, tmp_path: Path) -> None:
    scheme = plausibly.make("DE", epsilon=1, domain_size=4)
    write_reports(tmp_path / "a.parquet", scheme, scheme.privatize([0, 1, 2]))
    with pytest.raises(StateError, match="the engine returned"):
        collect([tmp_path / "a.parquet"], tmp_path / "a.tally", engine=Erring(change))
    assert len(collect([tmp_path / "a.parquet"], tmp_path / "a.tally").tally) == 3
