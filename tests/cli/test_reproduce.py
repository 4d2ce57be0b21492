"""plausibly reproduce: names, files of one's own, interrupts, and what is written at the end."""

from __future__ import annotations

import fcntl
import json
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from cases import in_turn
from plausibly.cli import app
from plausibly.core.errors import ParameterError
from plausibly.core.steps import STEPS
from plausibly.experiments import aol, planning
from plausibly.experiments.cells import SCHEMES, SOURCES, view
from plausibly.experiments.experiment import Experiment
from plausibly.experiments.figure import Figure, wanted
from plausibly.experiments.findings import Finding, Outcome, Verdict
from plausibly.experiments.item_crowds import CROWDS
from plausibly.experiments.loading import load
from plausibly.experiments.planning import find_folder, plan, verdicts_on
from plausibly.experiments.results import Results
from reproduction import EXPERIMENT, FIGURES

ROOT = Path(__file__).resolve().parents[2]
OF_EACH_KIND = ["table1", "fig1", "fig6", "extra4", "fig11"]
"""Oracles, Bloom filters, sketches and post-processing; searches take longest, and have tests of their own."""

OWN = """
import time
from dataclasses import dataclass
import numpy as np
from plausibly import make
from plausibly.experiments import CROWDS, SCHEMES, Figure, Panel, Sweep, line

@dataclass
class Pause:
    seconds: float

def slow(epsilon, domain_size, hash_seed, hashes):
    time.sleep(Pause(0.02).seconds)
    return make("FLH", epsilon=epsilon, domain_size=domain_size, hashes=hashes, hash_seed=hash_seed)

def halves(n, d, seed):
    return np.append(n - n // 2, np.bincount(np.arange(n // 2) % (d - 1), minlength=d - 1))

SCHEMES["slow"], CROWDS["halves"] = slow, halves
FIGURE = Figure(
    name="own",
    title="One's own <b>",
    sweeps=[
        Sweep(
            name="hashes", lines=[line("slow")], vary={"hashes": [4, 8, 16]}, data="halves", n=400, d=8, repeats=REPEATS
        ),
    ],
    panels=[Panel(title="Varying hashes", sweeps=["hashes"], x="hashes", xlabel="hashes")],
)
"""


@pytest.fixture(autouse=True)
def nothing_of_ones_own_stays(monkeypatch: pytest.MonkeyPatch) -> Any:
    before = [dict(each) for each in (SCHEMES, CROWDS, SOURCES, STEPS)]
    yield
    for each, kept in zip((SCHEMES, CROWDS, SOURCES, STEPS), before, strict=True):
        each.clear()
        each.update(kept)


def own(folder: Path, repeats: int = 2, text: str = OWN) -> Path:
    path = folder / "mine.py"
    path.write_text(text.replace("REPEATS", str(repeats)), encoding="utf-8")
    return path


def run(*arguments: object) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, ["reproduce", *map(str, arguments)])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.stdout, result.stderr


@pytest.mark.full
def test_the_list_has_every_figure_and_panel() -> None:
    code, shown, _ = run("--list")
    assert code == 0
    assert [row.split()[0] for row in shown.splitlines()[1:] if not row.startswith(" ")] == list(FIGURES)
    assert "a–f" in shown
    assert "fig1a " in run("fig1a", "--list")[1]


def test_help_shows_an_example() -> None:
    code, shown, _ = run("--help")
    assert code == 0
    assert "Example: plausibly reproduce" in shown


@pytest.mark.full
@in_turn(
    "name", ["figure1", "fig1z", "table1a", "", "a", "[red]fig1[/]", "<script>", "../fig1", "fig1\x1b[31m", "x" * 9999]
)
def test_names_that_are_none_are_refused(name: str) -> None:
    code, shown, told = run("fig1", name)
    assert code == 2
    assert shown == ""
    assert "unknown figure" in told
    assert "\x1b[31m" not in told
    assert len(told) < 500


def test_a_near_name_is_suggested() -> None:
    assert "did you mean 'table1'" in run("tabel1")[2]
    assert "panels of fig1: a, b, c" in run("fig1x")[2]


@pytest.mark.full
def test_what_the_page_shows_can_be_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    page = (ROOT / "docs" / "experiments.md").read_text(encoding="utf-8")
    commands = re.findall(r"^plausibly reproduce([^#\n]*)", page, flags=re.MULTILINE)
    assert len(commands) == 5
    monkeypatch.chdir(ROOT)
    for command in commands:
        assert run(*command.split(), "--list")[0] == 0


def test_options_that_make_no_sense_are_refused() -> None:
    assert run("fig1", "--jobs", "0")[0] == 2
    assert run("--fast")[0] == 2


def test_a_panel_needs_only_its_sweeps() -> None:
    asked = plan(["fig4a", "fig1", "fig4a"])
    alone, whole = asked.figures
    assert (alone.name, [sweep.name for sweep in alone.sweeps]) == ("fig4a", ["coefficients"])
    assert alone.panels == [FIGURES["fig4"].panels[0]]
    assert whole == FIGURES["fig1"]
    assert asked.commands["fig4a"] == "plausibly reproduce fig4a"
    assert plan(["fig4a"]).quick().commands["fig4a"] == "plausibly reproduce fig4a --quick"
    assert [figure.name for figure in plan([]).figures] == list(FIGURES)


def test_figures_have_names_that_files_can_have() -> None:
    for name in ("", "../x", "a/b", "<b>", "A", "x" * 65, ".x", "a\n"):
        with pytest.raises(ParameterError, match="name of a figure"):
            Figure(name=name, title="", sweeps=[])


@pytest.mark.full
def test_an_experiment_of_ones_own_is_measured_drawn_and_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    own(tmp_path)
    code, shown, _ = run("mine.py", "--jobs", 1)
    assert code == 0
    assert shown.strip() == "Report: reproduced/report.html"
    out = tmp_path / "reproduced"
    assert {path.name for path in out.iterdir()} == {"rows.jsonl", "own.png", "own.svg", "report.html"}
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "plausibly reproduce mine.py" in page
    assert "One&#x27;s own &lt;b&gt;" in page
    lines = (out / "rows.jsonl").read_text(encoding="utf-8").splitlines()
    assert set(json.loads(lines[1])["sources"]) == {"slow", "halves"}
    # Again: nothing is measured, and the page is the same.
    assert run("mine.py")[0] == 0
    assert (out / "rows.jsonl").read_text(encoding="utf-8").splitlines() == lines
    assert (out / "report.html").read_text(encoding="utf-8") == page


def test_a_changed_scheme_is_another_and_a_changed_sweep_is_not(tmp_path: Path) -> None:
    def keys(text: str) -> set[str]:
        return {cell.key for cell in wanted(load(own(tmp_path, 2, text)).figures)}

    first = keys(OWN)
    assert keys(OWN.replace("[4, 8, 16]", "[4, 8, 16, 32]")) > first
    assert keys(OWN.replace("def halves", "# as in Solomon's case\ndef halves")) == first
    assert not keys(OWN.replace("Pause(0.02)", "Pause(0.03)")) & first


STEP = """
from plausibly.core.steps import register
from plausibly.experiments import Figure, Sweep, line, view

register("half", lambda values: values / 2)
FIGURE = Figure(name="own", title="", sweeps=[Sweep(name="s", lines=[line("OLH", view=view("norm-sub", "half"))])])
"""


def test_a_changed_step_is_another_while_reports_stay_the_same(tmp_path: Path) -> None:
    def keys(text: str) -> tuple[set[str], set[str]]:
        found = wanted(load(own(tmp_path, 2, text)).figures)
        return {cell.key for cell in found}, {view.key for views in found.values() for view in views}

    cells, views = keys(STEP)
    assert {view.rpartition(" ")[0] for view in views} == {"norm-sub, half"}
    assert keys(STEP.replace('"own"', '"other"')) == (cells, views)
    same, changed = keys(STEP.replace("values / 2", "values / 3"))
    assert same == cells
    assert not changed & views
    assert view("norm-sub").key == "norm-sub"


@pytest.mark.full
@in_turn(
    ("text", "told"),
    [
        ("FIGURE = 3\n", "expected a FIGURE or FIGURES"),
        ("", "expected a FIGURE or FIGURES"),
        ("FIGURES = []\n", "expected a FIGURE or FIGURES"),
        ("FIGURES = 5\n", "expected a FIGURE or FIGURES"),
        ("import sys\nsys.exit(0)\n", "mine.py, line 2: SystemExit"),
        ("x = 1\ny = (\n", "mine.py, line 2: SyntaxError"),
        ("x = 1\n\n1 / 0\n", "mine.py, line 3: ZeroDivisionError"),
        (OWN.replace('"own"', '"../own"'), "name of a figure"),
        (OWN + "\nFIGURES = [FIGURE, FIGURE]\n", "a different name for each figure, got own twice"),
    ],
)
def test_files_that_declare_no_figure_are_refused(text: str, told: str, tmp_path: Path) -> None:
    code, _, message = run(own(tmp_path, 2, text), "--out", tmp_path / "out")
    assert code == 2
    assert told in message.replace("\n", "")
    assert not (tmp_path / "out").exists()


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    code, _, told = run(tmp_path / "none.py")
    assert code == 2
    assert "No such file" in told


def test_several_figures_and_files(tmp_path: Path) -> None:
    text = OWN + '\nfrom dataclasses import replace\nFIGURES = {"a": FIGURE, "b": replace(FIGURE, name="second")}\n'
    mine = own(tmp_path, 2, text)
    asked = plan(["fig1", str(mine)])
    assert [figure.name for figure in asked.figures] == ["fig1", "own", "second"]
    assert list(asked.experiments) == [find_folder(), mine]
    assert asked.heading().citation == EXPERIMENT.citation
    assert plan([str(own(tmp_path))]).heading().title == "One's own <b>"


def test_names_of_the_papers_figures_are_taken(tmp_path: Path) -> None:
    mine = own(tmp_path, 2, OWN.replace('"own"', '"fig1"'))
    code, _, told = run("fig2", mine, "--out", tmp_path / "out")
    assert code == 2
    assert "another figure is named fig1" in told.replace("\n", " ")
    assert not (tmp_path / "out").exists()


def test_two_runs_on_one_file_are_refused(tmp_path: Path) -> None:
    rows = tmp_path / "rows.jsonl"
    with rows.open("ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        code, _, told = run("fig1", "--rows", rows, "--out", tmp_path)
    assert code == 1
    assert "another run is writing to this file" in told.replace("\n", " ")


@pytest.mark.full
def test_findings_are_told_at_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sweep = replace(FIGURES["fig1"].sweeps[0], lines=FIGURES["fig1"].sweeps[0].lines[:1], n=100, d=4, repeats=1)
    small = replace(FIGURES["fig1"], sweeps=[replace(sweep, vary={"epsilon": [1]})], panels=FIGURES["fig1"].panels[:1])
    told = Verdict(Outcome.NOT_REPRODUCED, "1 < 2", "so")
    known = [
        Finding("the [red]first[/]", "7", "A claim.", ("fig1",), lambda rows: told),
        Finding("elsewhere", "7", "Another.", ("fig2",), lambda rows: told),
        Finding("of both", "7", "A third.", ("fig1", "fig3"), lambda rows: told),
    ]
    declares(monkeypatch, Experiment(figures=[small, replace(small, name="fig2")], findings=known))
    code, shown, _ = run("fig1", "--out", tmp_path, "--jobs", "1")
    assert code == 0
    table = [" ".join(row.split()) for row in shown.splitlines()]
    assert table[:3] == ["finding verdict", "the [red]first[/] not reproduced", "of both not measured"]
    assert "1 &lt; 2" in (tmp_path / "report.html").read_text(encoding="utf-8")
    # What was measured before counts, for as much as a finding needs.
    verdicts = verdicts_on(plan(["fig2"]), Results(tmp_path / "rows.jsonl"))
    assert [(finding.name, verdict) for finding, verdict in verdicts] == [("elsewhere", told)]


@pytest.mark.full
def test_a_check_that_fails_is_named_and_loses_no_other_verdict(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sweep = replace(FIGURES["fig1"].sweeps[0], lines=FIGURES["fig1"].sweeps[0].lines[:1], n=100, d=4, repeats=1)
    small = replace(FIGURES["fig1"], sweeps=[replace(sweep, vary={"epsilon": [1]})], panels=FIGURES["fig1"].panels[:1])
    known = [
        Finding("mistaken", "7", "A claim.", ("fig1",), lambda rows: Verdict(Outcome.REPRODUCED, "ab"[2])),
        Finding("sound", "7", "Another.", ("fig1",), lambda rows: Verdict(Outcome.REPRODUCED, "2 > 1")),
    ]
    declares(monkeypatch, Experiment(figures=[small], findings=known))
    for option in ([], ["--json"]):
        code, shown, told = run("fig1", "--out", tmp_path, "--jobs", "1", *option)
        assert code == 1
        assert "sound" in shown
        assert "mistaken: its check failed with IndexError: string index out of range" in told
    for name in ("findings.md", "report.html"):
        text = (tmp_path / name).read_text(encoding="utf-8")
        assert "⚠ not judged: its check failed" in text
        assert "2 &gt; 1" in text or "2 > 1" in text


def test_without_matplotlib_nothing_is_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("plausibly.cli.common.find_spec", lambda name: None)
    code, _, told = run("fig1", "--out", tmp_path / "out")
    assert code == 1
    assert "pip install matplotlib" in told
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("names", "decided"),
    [
        pytest.param(OF_EACH_KIND, 10, id="one of each kind", marks=pytest.mark.full),
        pytest.param(list(FIGURES), 40, id="all", marks=pytest.mark.slow),
    ],
)
def test_figures_and_tables_in_small(
    names: list[str], decided: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As `plausibly reproduce --quick`, with fewer users, items and points still.
    declares(monkeypatch, replace(EXPERIMENT, figures=[tiny(FIGURES[name]) for name in names]))
    code, _, told = run("--out", tmp_path)
    assert code == 0, told
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    for name, figure in FIGURES.items():
        assert (f'id="{name}"' in page) == (name in names)
        if name not in names:
            continue
        assert (tmp_path / f"{name}.png").exists() == bool(figure.panels)
        assert (tmp_path / f"{name}.md").exists() == (figure.table is not None)
    verdicts = verdicts_on(plan([]), Results(tmp_path / "rows.jsonl"))
    judged = [finding.name for finding in EXPERIMENT.findings if {*finding.figures} & {*names}]
    assert sorted(finding.name for finding, _ in verdicts) == sorted(judged)
    # Enough points are left for most of them to be decided, one way or the other.
    assert sum(verdict.outcome is not Outcome.OPEN for _, verdict in verdicts) > decided
    assert all(verdict.numbers for _, verdict in verdicts if verdict.outcome is not Outcome.OPEN)
    text = (tmp_path / "findings.md").read_text(encoding="utf-8")
    assert all(finding.claim in text for finding, _ in verdicts)


@pytest.mark.full
def test_a_log_of_ones_own_takes_the_place_of_the_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(aol.VARIABLE, "")  # put back as it was, whatever the command does to it
    log = tmp_path / "log.txt"
    clicks = [f"7\tsecret words\t2006-03-01\t1\thttp://www.site{i % 9}.com" for i in range(300)]
    log.write_text("AnonID\tQuery\tQueryTime\tItemRank\tClickURL\n" + "\n".join(clicks) + "\nsecret\trow\n")
    declares(monkeypatch, replace(EXPERIMENT, figures=[tiny(FIGURES["fig10"]), tiny(FIGURES["fig1"])]))
    code, _, told = run("fig10", "fig1a", "--aol", log, "--out", tmp_path / "out")
    assert code == 0, told
    assert "1 rows of the log could not be read: log.txt, line 302" in told
    assert "secret" not in told
    rows = [json.loads(line) for line in (tmp_path / "out" / "rows.jsonl").read_text().splitlines()[1:]]
    assert {(row["cell"]["data"], row["cell"]["n"], row["cell"]["d"]) for row in rows} == {
        ("aol", 300, 9),
        ("zipf-1.1", 1000, 1024),
    }
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert f"plausibly reproduce fig10 --aol {log}" in page
    assert "secret" not in page + json.dumps(rows)
    code, _, told = run("fig10", "--aol", tmp_path / "absent")
    assert code == 2
    assert "expected a file or a folder" in told


def declares(monkeypatch: pytest.MonkeyPatch, experiment: Experiment) -> None:
    """Have the paper's package declare this in the process that plans; those that measure load the package itself."""
    monkeypatch.setattr(planning, "load", lambda path: load(path) if path.suffix == ".py" else experiment)


def tiny(figure: Figure) -> Figure:
    """A hundredth of the users, three points of each sweep, one repeat; the smallest of many sketches."""
    sweeps = []
    for sweep in figure.sweeps:
        vary = {name: [values[0], values[len(values) // 2], values[-1]] for name, values in sweep.vary.items()}
        vary = {name: sorted({value // 100 for value in values}) if name == "d" and max(values) > 9999 else values
                for name, values in vary.items()}  # fmt: skip
        vary = {name: [value for value in values if name not in ("rows", "width") or value <= 1024] or values[:1]
                for name, values in vary.items()}  # fmt: skip
        lines = [one for one in sweep.lines if one.parameters.get("rows", 32) <= 128]
        d = sweep.d // 100 if sweep.d > 9999 else sweep.d
        sweeps.append(replace(sweep, lines=lines, vary=vary, n=sweep.n // 100, d=d, repeats=1, errors=1))
    return replace(figure, sweeps=sweeps)


def test_without_scikit_learn_nothing_is_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("plausibly.cli.common.find_spec", lambda name: None if name == "sklearn" else name)
    code, _, told = run("fig1a", "fig6", "--out", tmp_path / "out")
    assert code == 1
    assert "pip install scikit-learn" in told
    assert not (tmp_path / "out").exists()


@pytest.mark.full
def test_the_example_runs_from_the_shell(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "plausibly", "reproduce", ROOT / "examples" / "own_experiment.py", "--quick"]
    shown = subprocess.run([*command, "--out", tmp_path], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == f"Report: {tmp_path / 'report.html'}"
    (figure,) = load(ROOT / "examples" / "own_experiment.py").figures
    rows = list(figure.quick().rows(Results(tmp_path / "rows.jsonl")))
    at_three = [row for row in rows if row["metric"] == "mse" and row["epsilon"] == 3]
    errors = {share: np.mean([row["value"] for row in at_three if row["percent"] == share]) for share in (0, 90)}
    # By the laws four times the error; each is known within 9 %.
    assert errors[90] > 2 * errors[0]


@pytest.mark.full
def test_a_run_killed_at_any_moment_goes_on_to_the_same_rows(tmp_path: Path) -> None:
    script, out = own(tmp_path, 30), tmp_path / "out"
    command = [sys.executable, "-m", "plausibly", "reproduce", script, "--out", out]
    whole, broken = tmp_path / "whole.jsonl", tmp_path / "broken.jsonl"
    subprocess.run([*command, "--rows", whole], check=True, capture_output=True)
    assert (out / "own.png").read_bytes().startswith(b"\x89PNG")
    for enough, end in {3: signal.SIGKILL, 14: signal.SIGINT, 29: signal.SIGKILL}.items():  # after so many lines
        with (tmp_path / "told").open("wb") as told:
            # A shell's background jobs do not hear interrupts, nor would what they start.
            process = subprocess.Popen(
                [*command, "--rows", broken],
                stderr=told,
                start_new_session=True,
                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
            )
            until(lambda least=enough: broken.exists() and broken.read_bytes().count(b"\n") >= least)
            process.send_signal(end)
            code = process.wait()
        if end == signal.SIGINT:
            assert code == 130
            said = " ".join((tmp_path / "told").read_text(encoding="utf-8").split())
            assert "run the same command to continue" in said
        # Nobody is left behind, waiting for a parent that is no more.
        until(lambda group=process.pid: not alive(group))
        broken.write_bytes(broken.read_bytes()[: -5 if enough == 14 else None])
    subprocess.run([*command, "--rows", broken], check=True, capture_output=True)
    rows = [sorted(map(timeless_line, path.read_text().splitlines())) for path in (whole, broken)]
    assert len(rows[0]) == 1 + 3 * 30
    assert rows[0] == rows[1]


def timeless_line(line: str) -> str:
    row = json.loads(line)
    for metrics in (row.get("metrics", {}), *row.get("views", {}).values()):
        for name in [name for name in metrics if "seconds" in name]:
            del metrics[name]
    return json.dumps(row, sort_keys=True)


def until(condition: Any) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def alive(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def test_the_list_is_there_for_machines_too() -> None:
    code, shown, _ = run("fig1", "fig2", "--list", "--json")
    assert code == 0
    assert [figure["name"] for figure in json.loads(shown)] == ["fig1", "fig2"]
