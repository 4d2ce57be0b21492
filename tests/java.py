"""Java for the tests of Spark: whether it is here, and how to get it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from functools import cache

OLDEST = 17
MISSING = (
    f"Spark's tests did not run: they need Java {OLDEST} or newer on the PATH. "
    "Debian and Ubuntu: apt install openjdk-17-jre-headless; macOS: brew install openjdk@17"
)


@cache
def java_is_here() -> bool:
    """Whether the Java on the PATH can run Spark. On a continuous integration server it must: there, always true."""
    if os.environ.get("CI"):
        return True
    if shutil.which("java") is None:
        return False
    said = subprocess.run(["java", "-version"], capture_output=True, text=True).stderr
    found = re.search(r'version "(\d+)', said)
    return found is not None and int(found[1]) >= OLDEST
