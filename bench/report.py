"""Results as text and tables, for the terminal and for a Markdown page."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .figures import Picture
from .remote import LIBRARIES
from .sketches import COMBINE

Results = dict[str, Any]
_OUTSIDE = 0.3


@dataclass(frozen=True)
class Table:
    """A table: title, header, rows of text, and a note."""

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str = ""

    def markdown(self) -> str:
        align = ["---", *["--:"] * (len(self.header) - 1)]
        lines = [f"| {' | '.join(row)} |" for row in (self.header, align, *self.rows)]
        return "\n".join([f"## {self.title}", "", *lines, *(["", self.note] if self.note else []), ""])

    def text(self) -> str:
        widths = [max(map(len, column)) for column in zip(self.header, *self.rows, strict=True)]
        lines = [
            "  ".join([row[0].ljust(widths[0]), *(cell.rjust(w) for cell, w in zip(row[1:], widths[1:], strict=True))])
            for row in (self.header, ["─" * width for width in widths], *self.rows)
        ]
        return "\n".join([self.title, *(line.rstrip() for line in lines), *_wrapped(self.note), ""])


def _wrapped(words: str) -> list[str]:
    return [line for paragraph in words.splitlines() for line in textwrap.wrap(paragraph, 116)]


def number(value: float | None, unit: str = "") -> str:
    """The number with three significant digits; a dash if it was not measured."""
    if value is None:
        return "–"
    if value and abs(value) < 0.001:
        return f"{value:.1e}{unit}"
    digits = max(0, 2 - _magnitude(value))
    return f"{value:,.{digits}f}{unit}"


def _rate(value: float) -> str:
    scale, sign = next(pair for pair in ((1e9, "·10⁹/s"), (1e6, "·10⁶/s"), (1e3, "·10³/s")) if value >= pair[0] / 10)
    return number(value / scale, sign)


def _magnitude(value: float) -> int:
    return int(f"{abs(value):.2e}".split("e")[1]) if value else 0


def text(results: Results) -> str:
    """All results for a terminal, with the verdicts last."""
    parts = [
        *_wrapped(_about(results)),
        "",
        *(table.text() for table in _tables(results)),
        _goals(results).text(),
        *_findings(results),
    ]
    return "\n".join(parts)


def page(results: Results, pictures: Sequence[Picture]) -> str:
    """All results as a Markdown page, with the verdicts first."""
    images = [f"![{picture.caption}]({picture.file})\n\n*{picture.caption}*\n" for picture in pictures]
    findings = [f"* {line}" for line in _findings(results)]
    head = [
        "# Benchmark results",
        "",
        _about(results),
        "",
        "Made by `make bench`; see docs/benchmarks.md for the method.",
    ]
    body = [_goals(results).markdown(), *findings, "", *images, *(table.markdown() for table in _tables(results))]
    return "\n".join([*head, "", *body])


def _about(results: Results) -> str:
    facts, peers = results["machine"], results["peers"]
    versions = ", ".join(f"{name} {version}" for name, version in peers.get("versions", {}).items())
    theirs = f"left out: {peers['absent']}" if peers["absent"] else f"{versions}, Python {peers.get('python')}"
    kernels = facts["kernels"] + (f", {facts['instruction_set']}" if facts["instruction_set"] else "")
    return (
        f"plausibly {facts['plausibly']} ({facts['commit']}), {results['plan']['name']} run of {facts['date']}: "
        f"{facts['cpu']}, {facts['cores']} cores, {facts['threads']} threads, {facts['memory_gb']} GB, "
        f"{facts['system']}; "
        f"Python {facts['python']}, NumPy {facts['numpy']}, cryptography {facts['cryptography']}, {facts['compiler']}; "
        f"kernels: {kernels}; load average {facts['load_before']} before and {facts['load_after']} after, "
        f"{facts['minutes']:.1f} minutes.\nPeers: {theirs}.\n"
    )


def _tables(results: Results) -> list[Table]:
    plan = results["plan"]
    steps = [_cells(results, d) for d in plan["domains"]]
    curves = [_curve(results, axis, plan[key]) for axis, key in (("n", "curve_n"), ("d", "curve_d"))]
    shares = [_outside(results), _memory(results)]
    sketches = [_sketches(results), _sketch_races(results)]
    return [_limits(results), _decoding(results), *steps, *curves, *shares, *sketches, _whole(results)]


def _goals(results: Results) -> Table:
    rows = [
        (
            goal["claim"],
            goal["group"],
            f"{goal['relation']} {goal['bound']:,g}{goal['unit']}",
            number(goal["value"], goal["unit"]),
            goal["verdict"],
        )
        for goal in results["goals"]
    ]
    counts = Counter(goal["verdict"] for goal in results["goals"])
    title = f"Goals: {counts['pass']} of {counts['pass'] + counts['FAIL']} hold"
    if counts["not measured"]:
        title += f", {counts['not measured']} not measured"
    return Table(title, ("goal", "about", "bound", "measured", "verdict"), rows)


def _findings(results: Results) -> list[str]:
    lines = [
        f"Finding: {row['oracle']} spends {row['outside']:.0%} of the whole job outside kernels and AES."
        for row in results["outside"]
        if row["outside"] > _OUTSIDE
    ]
    lines += [
        f"Reported without a bound: TLH's decoding at ε = 5 takes {number(row['to_hr'])} times HR's."
        for row in results["decode_race"]
        if (row["oracle"], row["epsilon"]) == ("TLH", 5)
    ]
    if signed := [row for row in results["sketches"] if row["sketch"] == "CS"]:
        worst = max(signed, key=lambda row: float(row["both_s"]))
        lines.append(
            f"Reported without a bound: of the sketches CS, the one over {worst['oracle']} takes longest to privatize "
            f"and collect, {number(worst['both_s'], ' s')}."
        )
    lines += [f"A peer failed: {failure}" for failure in results["peers"]["failures"]]
    facts = results["machine"]
    if facts["load_before"] > facts["cores"] / 4:
        lines.append(
            f"The machine was busy (load average {facts['load_before']} on {facts['cores']} cores): times are too "
            "long; ratios, which are measured in turn, are less affected."
        )
    return lines


def _limits(results: Results) -> Table:
    limits, unary = results["limits"], results["unary_server"]
    rows = [
        ("DRAM read, one thread / all", f"{limits['dram_read_one']:.2f} / {limits['dram_read_all']:.2f}", ""),
        ("AES-256-CTR, one thread / all", f"{limits['aes_ctr_one']:.2f} / {limits['aes_ctr_all']:.2f}", ""),
        ("OUE server", number(unary["server_gb_per_s"]), f"{unary['server_share']:.2f} of DRAM read"),
        ("OUE server, kernel alone", number(unary["kernel_gb_per_s"]), f"{unary['kernel_share']:.2f} of DRAM read"),
    ]
    rows += [
        (f"{name} client", number(row["gb_per_s"]), f"{row['share']:.2f} of AES")
        for name, row in results["clients"].items()
    ]
    note = (
        "One thread, d = 1,024, ε = 3. Servers read packed reports from memory; clients consume keystream, and their "
        "time includes generating it."
    )
    return Table("Near the limits of the machine", ("what", "GB/s", "share of the limit"), rows, note)


def _decoding(results: Results) -> Table:
    race, transform, imports = results["hash_race"], results["transform"], results["imports"]
    rows = [
        (f"OLH hash tests, d = {race['d']}: {name}", _rate(1e9 * rate), number(race["ratios"].get(name), "×"))
        for name, rate in race["rates"].items()
    ]
    rows += [
        ("Hadamard transform 2²⁴: kernel", number(transform["kernel_ms"], " ms"), ""),
        ("Hadamard transform 2²⁴: NumPy", number(transform["numpy_ms"], " ms"), number(transform["ratio"], "×")),
    ]
    rows += [
        (
            f"{row['oracle']} server, ε = {row['epsilon']}",
            number(1e3 * row["seconds"], " ms"),
            number(row["to_hr"], "×"),
        )
        for row in results["decode_race"]
    ]
    rows += [
        (f"import {name.removesuffix('_ms')}", number(ms, " ms"), "")
        for name, ms in imports.items()
        if name.endswith("_ms")
    ]
    note = (
        "One thread. Ratios: our speed relative to the alternative (first rows), or the time relative to HR to collect "
        f"{results['plan']['whole_n']:,} reports and estimate {results['plan']['race_d']:,} items. The package "
        "resolves its names on first use; making the first scheme takes the time of resolving every name."
    )
    return Table("Decoding, transform, import", ("what", "measured", "ratio"), rows, note)


def _cells(results: Results, d: int) -> Table:
    cells = [cell for cell in results["cells"] if cell["d"] == d]
    rows = [
        (
            cell["oracle"],
            number(cell["client_us"]),
            number(cell["server_us"]),
            number(1e3 * cell["decode_s"]),
            f"{cell['bytes']:,}",
            number(cell["memory"]["peak_mb"]),
            *(
                number(cell["peers"].get(library, {}).get(f"{step}_ratio"), "×")
                for library in LIBRARIES
                for step in ("client_us", "server_us", "decode_s")
            ),
        )
        for cell in cells
    ]
    header = ("oracle", "client µs/user", "server µs/report", "decode ms", "bytes", "peak MB")
    short = {"pure-ldp": "pure", "multi-freq-ldpy": "multi"}
    header += tuple(f"{step}/{short[library]}" for library in LIBRARIES for step in ("client", "server", "decode"))
    note = _peer_note([cell["peers"] for cell in cells])
    if cells:
        imported = cells[0]["memory"]["imported_mb"]
        note = f"Peak memory of a whole process; {imported:.0f} MB of it are Python, NumPy and this package. {note}"
    return Table(f"Each step at d = {d:,}, ε = 3, all threads", header, rows, note.strip())


def _curve(results: Results, axis: str, values: Sequence[int]) -> Table:
    rows = []
    for curve in results["curves"]:
        if curve["axis"] == axis:
            found = {point[axis]: point["seconds"] for point in curve["points"]}
            rows.append((curve["oracle"], *(number(found.get(value)) for value in values)))
    plan = results["plan"]
    fixed = f"d = {plan['whole_d']:,}" if axis == "n" else f"n = {plan['curve_users']:,}"
    header = ("oracle", *(f"{axis} = {value:,}" for value in values))
    return Table(f"Seconds of a whole job by {axis}, {fixed}, all threads", header, rows)


def _peer_note(rows: Sequence[dict[str, Any]]) -> str:
    parts = []
    for library in LIBRARIES:
        told = [row[library] for row in rows if library in row]
        if told:
            users, reports = ([int(row[key]) for row in told] for key in ("users", "collected"))
            parts.append(
                f"{library} (one thread): {min(users):,} to {max(users):,} users and {min(reports):,} to "
                f"{max(reports):,} collected reports per repetition."
            )
        parts += sorted({f"{library}: {note}." for row in told for note in row["notes"]})
    if parts:
        parts.insert(0, "Ratios are their time divided by ours, in the same rounds.")
    return " ".join(parts)


def _outside(results: Results) -> Table:
    rows = [
        (row["oracle"], *(f"{row[part]:.0%}" for part in ("keystream", "kernels", "outside")), number(row["seconds"]))
        for row in results["outside"]
    ]
    plan = results["plan"]
    note = "One thread. Outside: validation, copies, counting by NumPy, Python. Above 30 % is a finding."
    title = f"Where the time of a whole job goes, n = {plan['whole_n']:,}, d = {plan['whole_d']:,}"
    return Table(title, ("oracle", "AES", "kernels", "outside", "seconds"), rows, note)


def _memory(results: Results) -> Table:
    rows = []
    for row in results["memory"]:
        runs = [row["few"], row["many"], *row["longer"]]
        rows.append(
            (row["oracle"], " / ".join(f"{run['n']:,.0f}" for run in runs), _peaks(runs), f"{row['growth']:.2f}×")
        )
    note = (
        "A separate process makes and collects the reports in batches; growth is from the first to the second number."
    )
    title = f"Peak memory and the number of users, d = {results['plan']['whole_d']:,}"
    return Table(title, ("oracle", "users", "peak MB", "growth"), rows, note)


def _peaks(runs: Sequence[dict[str, float]]) -> str:
    return " / ".join(f"{run['peak_mb']:.0f}" for run in runs)


def _sketches(results: Results) -> Table:
    rows = []
    for row in results["sketches"]:
        times = [row["privatize_s"], row["collect_s"], row["both_s"], (row["all_threads"] or {}).get("both_s")]
        times += [row[f"{combine}_s"] for combine in COMBINE]
        cells = [*map(number, times), f"{row['bytes']:,.0f}", number(row["state_mb"]), str(row["rounds"])]
        rows.append((f"{row['sketch']} over {row['oracle']}", *cells))
    header = ("sketch", "privatize s", "collect s", "both s", "both, all threads", *(f"{how} s" for how in COMBINE))
    plan, texts = results["plan"], results["sketch_texts"]
    one, every = texts["one"], texts["all"]
    note = (
        f"One thread unless it says all; n = {plan['sketch_n']:,}, and all d = {plan['sketch_d']:,} items estimated. "
        f"Medians over the given number of rounds. With texts of 25 characters, {texts['sketch']} over "
        f"{texts['oracle']} on Keys(): {number(one['privatize_s'])} s + {number(one['collect_s'])} s, on all threads "
        f"{number(every['privatize_s'])} s + {number(every['collect_s'])} s."
    )
    title = "Sketches of 32 rows of 1,024 cells, ε = 3"
    return Table(title, (*header, "bytes", "state MB", "rounds"), rows, note)


def _sketch_races(results: Results) -> Table:
    steps = ("setup_s", "client_us", "server_us", "decode_s")
    rows = []
    for row in results["sketch_races"]:
        peer = row["peers"].get("pure-ldp", {})
        line = [row["name"], number(row["seconds"]), *(number(row["one_thread"][step]) for step in steps)]
        line += [number(peer.get(key)) for key in ("seconds", *steps, "ratio", "one_thread_ratio")]
        rows.append(line)
    names = ("set-up s", "client µs/user", "server µs/report", "estimate s")
    header = ("sketch", "seconds", *names, "pure-ldp s", *names, "ratio ×", "one thread ×")
    plan = results["plan"]
    title = f"Sketches against pure-ldp, n = {plan['sketch_n']:,}, {plan['sketch_asked']:,} items estimated"
    note = (
        "Seconds on all threads, our steps on one. FLH has 500 hashes, HM one coefficient. CM over SUE is their CMS, "
    )
    note += f"CM over HM their HCMS. {_peer_note([row['peers'] for row in results['sketch_races']])}"
    return Table(title, header, rows, note.strip())


def _whole(results: Results) -> Table:
    rows = []
    for row in results["whole"]:
        line = [row["oracle"], number(row["seconds"]), number(row["one_thread_seconds"])]
        for library in LIBRARIES:
            peer = row["peers"].get(library, {})
            line += [number(peer.get(key)) for key in ("seconds", "ratio", "one_thread_ratio")]
        rows.append(line)
    header = ["oracle", "seconds", "one thread"]
    header += [part for library in LIBRARIES for part in (f"{library} s", "ratio ×", "one thread ×")]
    plan = results["plan"]
    title = f"Whole job: privatize, collect, estimate; n = {plan['whole_n']:,}, d = {plan['whole_d']:,}, ε = 3"
    note = _peer_note([row["peers"] for row in results["whole"]])
    if note:
        note += (
            " Their seconds are set-up + n · (client + server) + estimate: linear in n, because they work user by user."
        )
    return Table(title, header, rows, note)
