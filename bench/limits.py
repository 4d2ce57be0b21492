"""The limits of this machine, and how close the kernels come: memory, AES, loops in C, NumPy, imports."""

from __future__ import annotations

import ctypes
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import CTR

import plausibly
from plausibly import kernels
from plausibly.core.parallel import thread_count
from plausibly.kernels import reference

from .jobs import Job, crowd
from .timing import Sample, in_turns, medians, paired_ratio, seconds, threads

_READ_BYTES = 1 << 28
_AES_BYTES = 1 << 26
_AES_BUFFER = 1 << 20
_HASH_DOMAIN = 4096
_HASH_REPORTS = 100_000
_TRANSFORM_BITS = 24


def compiler() -> list[str] | None:
    """The command of a C compiler, if there is one."""
    chosen = (
        shlex.split(os.environ.get("CC", "")) or [name for name in ("cc", "gcc", "clang") if shutil.which(name)][:1]
    )
    return chosen if chosen and shutil.which(chosen[0]) else None


@cache
def loops() -> ctypes.CDLL | None:
    """The reference loops of loops.c, compiled for this machine; None without a compiler."""
    command = compiler()
    if command is None:
        return None
    source = Path(__file__).with_name("loops.c")
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "loops.so"
        flags = ["-O3", "-march=native", "-std=gnu11", "-shared", "-fPIC"]
        built = subprocess.run([*command, *flags, "-o", str(target), str(source)], capture_output=True, check=False)
        if built.returncode:
            return None
        library = ctypes.CDLL(str(target))
    pointer, length = ctypes.c_void_p, ctypes.c_int64
    library.read_words.argtypes, library.read_words.restype = [pointer, length], ctypes.c_uint64
    library.mixing_support.argtypes = [pointer, pointer, length, length, ctypes.c_uint32, pointer, pointer, pointer]
    library.mixing_support.restype = None
    return library


def mixing_support(seeds: Any, hashes: Any, d: int, g: int) -> Any:
    """Support counts of a mixing hash, by the comparison loop in C. ``d`` is a multiple of 32."""
    library = loops()
    if library is None:
        raise OSError("no C compiler, hence no comparison loop")
    low, width = np.empty((2, len(seeds)), dtype=np.uint32)
    counts = np.zeros(d, dtype=np.uint32)
    arrays = [array.ctypes.data for array in (low, width, counts)]
    library.mixing_support(seeds.ctypes.data, hashes.ctypes.data, len(seeds), d, g, *arrays)
    return counts


@contextmanager
def _team(count: int) -> Iterator[Callable[[Callable[[int], object]], None]]:
    # Run work(0), …, work(count - 1), each on its own thread.
    with ThreadPoolExecutor(count) as pool:
        yield lambda work: list(pool.map(work, range(count))) and None


def _reading(count: int) -> Callable[[], Sample]:
    words = np.ones(_READ_BYTES // 8, dtype=np.uint64)
    parts = np.split(words, count)
    library = loops()

    def read(part: int) -> None:
        if library is None:
            np.bitwise_or.reduce(parts[part])
        else:
            library.read_words(parts[part].ctypes.data, len(parts[part]))

    def measure() -> Sample:
        with _team(count) as team:
            return {"rate": words.nbytes / seconds(lambda: team(read)) / 1e9}

    return measure


def _encrypting(count: int) -> Callable[[], Sample]:
    buffers = [np.zeros(_AES_BUFFER + 16, dtype=np.uint8) for _ in range(count)]

    def encrypt(part: int) -> None:
        encryptor = Cipher(AES(bytes(32)), CTR(bytes(16))).encryptor()
        buffer = buffers[part]
        for _ in range(_AES_BYTES // count // _AES_BUFFER):
            encryptor.update_into(buffer[:_AES_BUFFER].data, buffer.data)

    def measure() -> Sample:
        with _team(count) as team:
            return {"rate": _AES_BYTES / seconds(lambda: team(encrypt)) / 1e9}

    return measure


def measure_limits(repetitions: int) -> dict[str, float]:
    """GB/s of reading memory and of AES-256-CTR, on one thread and on all."""
    every = thread_count()
    measurements = {
        f"{what}_{name}": make(count)
        for what, make in (("dram_read", _reading), ("aes_ctr", _encrypting))
        for name, count in {"one": 1, "all": every}.items()
    }
    return {name: medians(samples)["rate"] for name, samples in in_turns(repetitions, measurements).items()}


def client_share(job: Job, repetitions: int) -> dict[str, float]:
    """The rate at which a client consumes keystream, relative to AES alone; one thread, in the same rounds."""
    scheme = job.scheme()
    head = scheme.layout.head_bytes
    n = min(2_000_000, _AES_BYTES // head)
    values = crowd(n, job.d).astype(np.uint64)

    def client() -> Sample:
        with threads(1):
            return {"rate": n * head / seconds(lambda: scheme.privatize_encoded(values)) / 1e9}

    taken = in_turns(repetitions, {"client": client, "aes": _encrypting(1)})
    share = paired_ratio(taken["client"], taken["aes"], "rate")
    return {"gb_per_s": medians(taken["client"])["rate"], "users": n, "keystream_bytes": head, "share": share or 0.0}


def unary_server(repetitions: int) -> dict[str, float]:
    """The rate at which OUE's server reads packed reports, relative to reading memory; one thread."""
    scheme = Job("OUE", 1024).scheme()
    n = _READ_BYTES // scheme.report_dtype.itemsize
    one = scheme.privatize(crowd(n // 16, 1024))
    reports = scheme.tag(np.tile(one.view(scheme.report_dtype), 16))

    def collect() -> Sample:
        tally = scheme.accumulator()
        with threads(1):
            return {"rate": reports.nbytes / seconds(lambda: tally.add(reports)) / 1e9}

    bits = np.ascontiguousarray(reports["bits"])

    def kernel() -> Sample:
        return {"rate": bits.nbytes / seconds(lambda: kernels.column_sums(bits, 1024)) / 1e9}

    taken = in_turns(repetitions, {"server": collect, "kernel": kernel, "dram": _reading(1)})
    shares = {f"{name}_share": paired_ratio(taken[name], taken["dram"], "rate") or 0.0 for name in ("server", "kernel")}
    return {f"{name}_gb_per_s": medians(taken[name])["rate"] for name in ("server", "kernel")} | shares


def hash_race(repetitions: int, published: Callable[[], Sample] | None) -> dict[str, Any]:
    """10⁹ hash tests per second at d = 4096: OLH's server, the loop in C, and the published code; one thread."""
    job = Job("OLH", _HASH_DOMAIN)
    scheme = job.scheme()
    reports = scheme.privatize(crowd(_HASH_REPORTS, job.d))
    seeds, hashes = (np.ascontiguousarray(reports[name]).astype(kind) for name, kind in _COLUMNS)
    size = scheme.parameters["hash_range"]
    tests = _HASH_REPORTS * _HASH_DOMAIN

    def ours() -> Sample:
        tally = scheme.accumulator()
        with threads(1):
            return {"rate": tests / seconds(lambda: tally.add(reports)) / 1e9}

    def mixing() -> Sample:
        return {"rate": tests / seconds(lambda: mixing_support(seeds, hashes, job.d, size)) / 1e9}

    measurements: dict[str, Callable[[], Sample]] = {"plausibly": ours}
    if loops() is not None:
        measurements["mixing loop in C"] = mixing
    if published is not None:
        measurements["pure-ldp"] = lambda: {"rate": job.d / published()["server_us"] / 1e3}
    taken = in_turns(repetitions, measurements)
    rates = {name: medians(samples)["rate"] for name, samples in taken.items()}
    ratios = {name: paired_ratio(taken["plausibly"], taken[name], "rate") for name in taken if name != "plausibly"}
    return {"d": job.d, "hash_range": size, "rates": rates, "ratios": ratios}


_COLUMNS = (("seed", np.uint64), ("hash", np.uint32))


def transform_race(repetitions: int) -> dict[str, float]:
    """Milliseconds of a Hadamard transform of length 2²⁴, by the kernel and by its NumPy twin."""
    a = np.arange(1 << _TRANSFORM_BITS, dtype=np.int64).reshape(1, -1)

    def run(transform: Callable[[Any], None]) -> Sample:
        return {"ms": 1e3 * seconds(lambda: transform(a))}

    both = {"kernel": lambda: run(kernels.walsh_hadamard), "numpy": lambda: run(reference.walsh_hadamard)}
    taken = in_turns(repetitions, both)
    ratio = paired_ratio(taken["numpy"], taken["kernel"], "ms")
    return {f"{name}_ms": medians(samples)["ms"] for name, samples in taken.items()} | {"ratio": ratio or 0.0}


_IMPORTS = {
    "numpy": "import numpy",
    "plausibly": "import plausibly",
    "plausibly and every name of it": "import plausibly; [getattr(plausibly, name) for name in plausibly.__all__]",
    "plausibly.device": "import plausibly.device",
}


def import_race(repetitions: int) -> dict[str, float]:
    """Milliseconds to import, each in a fresh interpreter; the package resolves its names on first use."""
    with tempfile.TemporaryDirectory() as folder:
        # Bytecode in a separate place: an installer compiles packages, but a checkout may lack bytecode.
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        environment["PYTHONPYCACHEPREFIX"] = folder

        def run(code: str) -> Sample:
            timed = f"import time; start = time.perf_counter(); {code}; print(time.perf_counter() - start)"
            command = [sys.executable, "-c", timed]
            answer = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
            return {"ms": 1e3 * float(answer.stdout)}

        measurements = {name: lambda code=code: run(code) for name, code in _IMPORTS.items()}
        in_turns(1, measurements)
        taken = in_turns(repetitions, measurements)
    ratio = paired_ratio(taken["plausibly"], taken["numpy"], "ms")
    return {f"{name}_ms": medians(samples)["ms"] for name, samples in taken.items()} | {"ratio": ratio or 0.0}


def decode_race(d: int, n: int, epsilons: tuple[int, ...], repetitions: int) -> list[dict[str, Any]]:
    """Seconds to collect n reports and estimate all d items, compared with Hadamard response; one thread."""
    names = [name for name in ("HR", "TLH", "AGR") if name in plausibly.CATALOG]
    rows: list[dict[str, Any]] = []
    for epsilon in epsilons:
        servers = {name: Job(name, d, epsilon).server(n) for name in names}
        with threads(1):
            taken = in_turns(repetitions, servers)
        for name, samples in taken.items():
            ratio = paired_ratio(samples, taken["HR"], "seconds")
            row = {"epsilon": epsilon, "oracle": name, "d": d, "n": n}
            rows.append(row | {"seconds": medians(samples)["seconds"], "to_hr": ratio})
    return rows
