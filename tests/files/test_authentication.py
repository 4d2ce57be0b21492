"""Files with a key: read with it alone, and whatever is changed in them is refused; and who may read files at all."""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import stat
import struct
import warnings
import zlib
from pathlib import Path

import numpy as np
import pytest
from pyarrow import parquet
from typer.testing import CliRunner

from cases import in_turn
from contract.entries import flips, reports_of, tally_of
from drawn import thinned
from files.making import SMALL, flip, group_size, pages, small_file, users_reports
from plausibly import ParameterError, StateError, make
from plausibly.cli import app
from plausibly.engines import Segment, collect, collecting, fold, merge_files
from plausibly.files import (
    Collected,
    DamagedError,
    Key,
    KeyNeededError,
    ReportFile,
    read_tally,
    report_writer,
    write_reports,
    write_tally,
)
from plausibly.files.authentication import LONGEST, SHORTEST
from plausibly.files.contents import contents_of
from plausibly.files.overwriting import refuse_replacing
from plausibly.pages import Answer, write_estimates

SECRET = bytes(range(32))
DERIVED = hashlib.sha256(b"plausibly key 1\n" + struct.pack("<Q", len(SECRET)) + SECRET).digest()
KEY, OTHER = Key(SECRET), Key(bytes(32))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "reports.parquet"


def keyed_file(path: Path, count: int = 25) -> bytes:
    reports = users_reports(SMALL, count)
    write_reports(path, SMALL, reports, key=KEY)
    return bytes(reports.tobytes())


# --- keys ------------------------------------------------------------------------------------------------------------


def test_a_key_is_never_shown() -> None:
    key = Key(b"open sesame, open sesame")
    assert "sesame" not in f"{key!r} {key} {key.__dict__.keys()}"


@in_turn("secret", ["x" * 16, bytearray(16), bytes(SHORTEST - 1), bytes(LONGEST + 1)])
def test_keys_that_are_none_are_refused(secret: object) -> None:
    with pytest.raises(ParameterError, match="key: expected"):
        Key(secret)  # type: ignore[arg-type]


def test_a_key_is_every_byte_of_its_file(tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.write_bytes(b"0123456789abcdef\n")
    file.chmod(0o600)
    assert Key.read(file).secret == b"0123456789abcdef\n"
    for content, told in ((b"short", "got 5"), (bytes(5000), "got more than 4096")):
        file.write_bytes(content)
        with pytest.raises(
            StateError, match=f"/key: expected 16 to 4096 bytes, {told}; make one with .umask 077; head"
        ):
            Key.read(file)
    with pytest.raises(StateError, match="none: No such file"):
        Key.read(tmp_path / "none")


def test_a_key_that_all_can_read_is_warned_of(tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.write_bytes(SECRET)
    file.chmod(0o644)
    with pytest.warns(UserWarning, match="every user of this machine can read the key; run chmod 600"):
        Key.read(file)
    for mode in (0o600, 0o640):
        file.chmod(mode)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            Key.read(file)


@in_turn(("mode", "told"), [(0o602, "can change the key"), (0o606, "can read and change the key")])
def test_a_key_that_all_can_change_is_warned_of(mode: int, told: str, tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.write_bytes(SECRET)
    file.chmod(mode)
    with pytest.warns(UserWarning, match=f"every user of this machine {told}; run chmod 600"):
        Key.read(file)


@in_turn(
    ("secret", "hinted"),
    [(b"0123456789abcdef\n", True), (b"0123456789abcdef", True), (bytes(16) + b"\r\n", True), (bytes(32), False)],
)
def test_a_key_of_text_that_does_not_fit_is_told_about_line_breaks(secret: bytes, hinted: bool, tmp_path: Path) -> None:
    path, tally = tmp_path / f"{len(secret)}.parquet", tmp_path / "a.tally"
    path.unlink(missing_ok=True)
    keyed_file(path)
    write_tally(tally, SMALL.accumulator(), key=KEY)
    told = "written with another key, or changed since" + " (a line break at the end of a key file counts)" * hinted
    with pytest.raises(DamagedError) as refused:
        ReportFile(path, key=Key(secret))
    assert str(refused.value) == f"{path}: {told}"
    with pytest.raises(StateError) as refused_tally:
        read_tally(tally, key=Key(secret))
    assert str(refused_tally.value) == f"{tally}: {told}"


# --- reports ---------------------------------------------------------------------------------------------------------


def test_reports_are_read_with_their_key_alone(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    group_size(monkeypatch, 10)
    reports = keyed_file(path)
    assert b"".join(group.tobytes() for group in ReportFile(path, key=KEY)) == reports
    with pytest.raises(KeyNeededError, match=r"reports\.parquet: written with a key.*key=Key.read"):
        ReportFile(path)
    with pytest.raises(DamagedError, match="written with another key, or changed since"):
        ReportFile(path, key=OTHER)
    small_file(path.with_name("plain.parquet"))
    with pytest.raises(DamagedError, match="expected a file written with the given key"):
        ReportFile(path.with_name("plain.parquet"), key=KEY)
    assert parquet.read_table(path).num_rows == 25, "other tools read it all the same"


def test_the_bytes_of_a_keyed_file_are_those_of_the_page(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    group_size(monkeypatch, 10)
    reports = keyed_file(path)
    content = path.read_bytes()
    said = parquet.read_metadata(path).metadata
    assert said[b"plausibly.version"] == b"2"
    assert b"plausibly.checksum" not in said
    digests = [[len(part), hashlib.sha256(part).hexdigest()] for part in (reports[:10], reports[10:20], reports[20:])]
    assert json.loads(said[b"plausibly.groups"]) == digests
    (length,) = struct.unpack("<I", content[-8:-4])
    start = len(content) - 8 - length
    plain = content[start:-8].replace(said[b"plausibly.mac"], b"0" * 64)
    code = hmac.new(DERIVED, b"plausibly reports 2\n" + plain + struct.pack("<Q", start), "sha256").hexdigest()
    assert code.encode() == said[b"plausibly.mac"]
    assert ReportFile(path, key=KEY).identity == code


def test_whatever_byte_of_a_keyed_file_is_changed_no_other_report_is_read(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    group_size(monkeypatch, 10)
    reports = keyed_file(path)
    content = path.read_bytes()
    end = pages(path, 2)[1]
    for place in thinned(range(0, len(content), 3)):
        flip(path, place, place % 8)
        try:
            found = b"".join(group.tobytes() for group in ReportFile(path, key=KEY))
        except (DamagedError, KeyNeededError):
            pass
        else:
            assert found == reports
            assert place < end, "a header of a page that describes the same page"
        path.write_bytes(content)


def test_other_records_with_the_same_crc_are_refused(path: Path) -> None:
    # CRC-32 is linear: its polynomial, bit by bit, can be added to any content.
    polynomial = int("100000100110000010001110110110111"[::-1], 2).to_bytes(5, "little")
    reports = users_reports(SMALL, 25).tobytes()
    other = bytes(a ^ b for a, b in zip(reports[:5], polynomial, strict=True)) + reports[5:]
    assert zlib.crc32(other) == zlib.crc32(reports)
    for key in (None, KEY):
        path.unlink(missing_ok=True)
        with report_writer(path, SMALL, compression="none", key=key) as writer:
            writer.write(users_reports(SMALL, 25))
        content = path.read_bytes()
        assert content.count(reports) == 1
        path.write_bytes(content.replace(reports, other))
        file = ReportFile(path, key=key)
        if key is None:
            assert file.read(0).tobytes() == other, "without a key nobody notices"
        else:
            with pytest.raises(DamagedError, match="row group 0: the checksum does not match"):
                file.read(0)


def test_a_plain_file_is_written_as_ever(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    vector = Path(__file__).parents[1] / "vectors" / "reports-1.parquet"
    monkeypatch.setattr(os, "urandom", lambda count: bytes.fromhex("8f521305dc5de6d9c4a9f6c549cbda82")[:count])
    group_size(monkeypatch, 7)
    reports = b"".join(group.tobytes() for group in ReportFile(vector))
    write_reports(path, SMALL, np.frombuffer(reports, dtype=SMALL.report_dtype))
    written, kept = (parquet.read_metadata(each) for each in (path, vector))
    if written.created_by == kept.created_by:
        assert path.read_bytes() == vector.read_bytes()
    assert dict(written.metadata).keys() == dict(kept.metadata).keys()


# --- tallies ---------------------------------------------------------------------------------------------------------


def test_tallies_are_read_with_their_key_alone(tmp_path: Path) -> None:
    tally = tally_of(SMALL, reports_of(SMALL, 25))
    write_tally(tmp_path / "a.tally", tally, key=KEY)
    assert read_tally(tmp_path / "a.tally", key=KEY).to_bytes() == tally.to_bytes()
    with pytest.raises(KeyNeededError, match=r"a\.tally: written with a key"):
        read_tally(tmp_path / "a.tally")
    with pytest.raises(StateError, match=r"a\.tally: written with another key, or changed since"):
        read_tally(tmp_path / "a.tally", key=OTHER)
    write_tally(tmp_path / "b.tally", tally)
    with pytest.raises(StateError, match=r"b\.tally: expected a file written with the given key"):
        read_tally(tmp_path / "b.tally", key=KEY)


def test_the_bytes_of_a_keyed_tally_are_those_of_the_page() -> None:
    state = Collected(tally_of(SMALL, reports_of(SMALL, 5)))
    plain, keyed = state.to_bytes(), state.to_bytes(key=KEY)
    _, _, head, _ = struct.unpack_from("<3sBIQ", plain)
    start = b"PLT\x02" + plain[4 : 16 + head]
    body = start + struct.pack("<I", zlib.crc32(start)) + plain[20 + head :]
    assert keyed == body + hmac.new(DERIVED, b"plausibly tally 2\n" + body, "sha256").digest()


def test_every_flipped_bit_of_a_keyed_tally_is_refused() -> None:
    content = Collected(tally_of(SMALL, reports_of(SMALL, 5))).to_bytes(key=KEY)
    for damaged in flips(content):
        with pytest.raises(StateError):
            Collected.from_bytes(damaged, key=KEY)
    for length in range(0, len(content), 7):
        with pytest.raises(StateError):
            Collected.from_bytes(content[:length], key=KEY)


# --- collecting ------------------------------------------------------------------------------------------------------


def test_what_is_collected_with_a_key_has_it_throughout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: Path
) -> None:
    group_size(monkeypatch, 10)
    keyed_file(path)
    out, unfinished = tmp_path / "x.tally", tmp_path / "x.tally.unfinished"
    seen: list[bytes] = []
    save = collecting._Saver._save

    def saved(self: object) -> None:
        save(self)  # type: ignore[arg-type]
        seen.append(unfinished.read_bytes())

    monkeypatch.setattr(collecting._Saver, "_save", saved)
    collect([path], out, key=KEY, save_every=0)
    assert seen
    for content in seen:
        Collected.from_bytes(content, complete=False, key=KEY)
    Collected.from_bytes(out.read_bytes(), key=KEY)
    with pytest.raises(KeyNeededError):
        collect([path], out)
    with pytest.raises(StateError, match="another key"):
        collect([path], out, key=OTHER)


def test_a_state_without_the_key_is_not_gone_on_from(tmp_path: Path, path: Path) -> None:
    keyed_file(path)
    forged = Collected(tally_of(SMALL, reports_of(SMALL, 9)), files={"ab" * 32: ((0, 1),)})
    for name, complete in (("x.tally.unfinished", False), ("x.tally", True)):
        forged.write(tmp_path / name, complete=complete)
        with pytest.raises(StateError, match=f"{name}: expected a file written with the given key"):
            collect([path], tmp_path / "x.tally", key=KEY)
        (tmp_path / name).unlink()
    assert collect([path], tmp_path / "x.tally", key=KEY).added == 25


def test_files_without_the_key_are_skipped_as_damaged_and_a_forgotten_key_is_not(tmp_path: Path, path: Path) -> None:
    keyed_file(path)
    small_file(tmp_path / "forged.parquet")
    with pytest.raises(DamagedError, match=r"forged\.parquet: expected a file written with the given key"):
        collect([tmp_path], tmp_path / "x.tally", key=KEY)
    found = collect([tmp_path], tmp_path / "x.tally", key=KEY, skip_bad=True)
    assert (found.added, [Path(each.file).name for each in found.skipped]) == (25, ["forged.parquet"])
    with pytest.raises(KeyNeededError):
        collect([path], tmp_path / "y.tally", skip_bad=True)


def test_fold_takes_the_key(path: Path) -> None:
    keyed_file(path)
    segment = Segment(str(path), ReportFile(path, key=KEY).identity, 0, 1)
    assert len(fold(SMALL, [segment], key=KEY)) == 25
    with pytest.raises(KeyNeededError):
        fold(SMALL, [segment], skip_bad=True)


def test_tallies_are_merged_with_one_key(tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("a", "b", "c")]
    for seed, each in enumerate(paths):
        write_tally(each, tally_of(SMALL, reports_of(SMALL, 5 + seed, seed)), key=KEY if seed < 2 else None)
    assert len(merge_files(paths[:2], tmp_path / "ab", key=KEY)) == 11
    assert len(Collected.read(tmp_path / "ab", key=KEY)) == 11
    with pytest.raises(StateError, match="c: expected a file written with the given key"):
        merge_files(paths, tmp_path / "abc", key=KEY)
    with pytest.raises(KeyNeededError):
        merge_files(paths, tmp_path / "abc")
    assert not (tmp_path / "abc").exists()


def test_a_keyed_file_does_not_give_way_to_estimates(tmp_path: Path, path: Path) -> None:
    keyed_file(path)
    write_tally(tmp_path / "a.tally", SMALL.accumulator(), key=KEY)
    for each in (path, tmp_path / "a.tally"):
        with pytest.raises(ParameterError, match="cannot be made again"):
            refuse_replacing(each, [])
    assert contents_of(path, key=KEY).reports == 25
    assert contents_of(tmp_path / "a.tally", key=KEY).reports == 0


def test_a_large_scheme_does_not_give_way_to_estimates(tmp_path: Path) -> None:
    scheme = make("OUE", epsilon=1, domain=[f"label {number:,} {'x' * 80}" for number in range(14_000)])
    (tmp_path / "big.json").write_text(scheme.to_json())
    assert (tmp_path / "big.json").stat().st_size > 1 << 20
    with pytest.raises(ParameterError, match="has a scheme, which cannot be made again"):
        refuse_replacing(tmp_path / "big.json", [])
    (tmp_path / "deep.json").write_text('{"a":' * 100_000)
    refuse_replacing(tmp_path / "deep.json", [])


# --- commands --------------------------------------------------------------------------------------------------------


def run(*words: object) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, list(map(str, words)))
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.stdout, result.stderr


def test_commands_pass_the_key_from_file_to_file(tmp_path: Path) -> None:
    key = tmp_path / "secret.key"
    key.write_bytes(SECRET)
    key.chmod(0o600)
    (tmp_path / "values.txt").write_text("1\n2\n2\n")
    reports, tally = tmp_path / "r.parquet", tmp_path / "r.tally"
    keyed = ("--key-file", key)
    scheme = ("--scheme", "DE:epsilon=1,domain_size=11")
    code, shown, _ = run("privatize", tmp_path / "values.txt", *scheme, "--out", reports, *keyed)
    assert (code, f"--key-file {key}" in shown) == (0, True)
    code, _, told = run("collect", reports, "--out", tally)
    assert code == 1
    assert "written with a key, which is needed to read it; pass --key-file FILE" in told
    assert run("collect", reports, "--out", tally, *keyed)[0] == 0
    assert run("merge", tally, "--out", tmp_path / "m.tally", *keyed)[0] == 0
    code, shown, _ = run("estimate", tmp_path / "m.tally", "--json", *keyed)
    assert (code, json.loads(shown)["reports"]) == (0, 3)
    for words in (("merge", tally, "--out", tmp_path / "n.tally"), ("estimate", tally), ("search", tally)):
        code, _, told = run(*words)
        assert (code, "--key-file FILE" in told) == (1, True)
    key.chmod(0o644)
    code, _, told = run("search", tally, *keyed)
    assert "expected a scheme for searches" in told
    assert "every user of this machine can read the key" in told
    assert SECRET.hex() not in told


def test_a_file_without_the_key_is_called_refused(tmp_path: Path, path: Path) -> None:
    (tmp_path / "secret.key").write_bytes(SECRET)
    (tmp_path / "secret.key").chmod(0o600)
    keyed_file(path)
    for count, words in ((1, "1 file that was refused"), (2, "2 files that were refused")):
        small_file(tmp_path / f"{count}.parquet", seed=count)
        keyed = ("--key-file", tmp_path / "secret.key")
        code, _, told = run("collect", tmp_path, "--out", tmp_path / f"{count}.tally", "--skip-bad", *keyed)
        assert (code, f"Left out: {words}." in told) == (0, True), told


# --- modes -----------------------------------------------------------------------------------------------------------


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def usual() -> object:
    before = os.umask(0o022)
    yield before
    os.umask(before)


@pytest.mark.usefixtures("usual")
def test_reports_and_tallies_are_for_their_owner_and_estimates_for_all(tmp_path: Path, path: Path) -> None:
    small_file(path)
    tally = tmp_path / "x.tally"
    collect([path], tally)
    answer = Answer(read_tally(tally).estimate(), Collected.read(tally))
    write_estimates(tmp_path / "e.csv", answer)
    assert (mode(path), mode(tally), mode(tmp_path / "e.csv")) == (0o600, 0o600, 0o644)


@pytest.mark.usefixtures("usual")
def test_files_on_the_way_are_for_their_owner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: dict[str, int] = {}
    replace = os.replace

    def replaced(old: Path, new: Path) -> None:
        seen[new.name] = mode(old)
        replace(old, new)

    monkeypatch.setattr(os, "replace", replaced)
    group_size(monkeypatch, 10)
    small_file(tmp_path / "a.parquet")
    collect([tmp_path / "a.parquet"], tmp_path / "x.tally", save_every=0)
    assert seen == {"a.parquet": 0o600, "x.tally.unfinished": 0o600, "x.tally": 0o600}


@pytest.mark.usefixtures("usual")
def test_a_tally_that_was_opened_to_others_stays_so(tmp_path: Path) -> None:
    small_file(tmp_path / "a.parquet")
    small_file(tmp_path / "b.parquet", seed=2)
    tally = tmp_path / "x.tally"
    collect([tmp_path / "a.parquet"], tally)
    tally.chmod(0o640)
    assert collect([tmp_path / "b.parquet"], tally).added == 25
    assert mode(tally) == 0o640


def test_a_key_with_zeros_behind_it_is_another_key(tmp_path: Path) -> None:
    Collected(SMALL.accumulator()).write(tmp_path / "x.tally", key=KEY)
    for other in (SECRET + b"\0", hashlib.sha256(SECRET).digest()):
        with pytest.raises(StateError, match="another key"):
            Collected.read(tmp_path / "x.tally", key=Key(other))
