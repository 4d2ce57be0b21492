"""The kernels under the sanitizers: `make sanitize` as a test, and proof that it would notice."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).with_name("fuzz")
ROOT = FOLDER.parents[2]
KERNELS = ROOT / "src" / "plausibly" / "kernels"


@pytest.mark.slow
def test_the_sanitizers_find_nothing() -> None:
    finished = subprocess.run([sys.executable, FOLDER / "sanitize.py"], capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stdout[-4000:] + finished.stderr[-4000:]


FAULTS = {
    "histogram": ("if (__builtin_expect(a[i] < total, 1))", "if (1)"),
    "stretched histogram": ("if (__builtin_expect(wrong >> 63, 0)) {", "if (0) {"),
    "signs": ("if (__builtin_expect(row[i] < total, 1))", "if (1)"),
    "unary": ("value < (u64)d ? row[value] : 0", "row[value]"),
    "subset": ("given < size ? given : size - 1", "given"),
    "strings": ("i64 end = smaller(ends[first + l], bytes);", "i64 end = ends[first + l];"),
    "ties": ("if (report >= (u64)n || bit / 8 >= (u64)row_bytes) continue;", ""),
    "children": ("if (outside) continue;", ""),
    "kinds": ("own < kind_count && sums[c] >= need[own]", "sums[c] >= need[own]"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", FAULTS)
def test_the_driver_finds_a_kernel_without_its_bounds(name: str, tmp_path: Path) -> None:
    right, wrong = FAULTS[name]
    shutil.copytree(KERNELS / "c", tmp_path / "c")
    shutil.copy(KERNELS / "native.c", tmp_path)
    [file] = [file for file in (tmp_path / "c").iterdir() if right in file.read_text()]
    assert file.read_text().count(right) == 1
    file.write_text(file.read_text().replace(right, wrong))
    flags = ["-O1", "-g", "-std=gnu11", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    compiled = ["gcc", *flags, "-I", tmp_path, "-o", tmp_path / "driver", FOLDER / "driver.c"]
    subprocess.run(compiled, check=True)
    finished = subprocess.run([tmp_path / "driver", "30000"], capture_output=True, text=True, check=False)
    assert finished.returncode != 0
    assert "ERROR: AddressSanitizer" in finished.stderr or "runtime error" in finished.stderr
