"""Fresh processes that see what a function's process sees: the packages that ship, and none of those that develop it.

Some packages load what they find (httpx its command line, with click and rich), so a process that sees the packages of
the tests would pay for what no function has. Ours and the baseline are treated alike.
"""

from __future__ import annotations

import atexit
import compileall
import functools
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from importlib.metadata import distribution
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
FUNCTIONS = ("search", "widget", "lookup", "live", "mcp", "assets", "admin", "probe")

_OUR_ROOMS = ("functions", "shared")
# The baseline's client of DynamoDB, which the runtime of Lambda brings along, with what it needs.
_OF_THE_RUNTIME = ("boto3", "botocore", "jmespath", "python-dateutil", "s3transfer", "six", "urllib3")
_REPORT = "\nimport sys, time; print(time.process_time() * 1000, file=sys.__stdout__)"
# What the functions that ask live services are told besides; none of it is read when they are imported.
_POOLS = {f"KG_POOL_{pool}": "unused" for pool in ("CONTEXT7", "EXA", "FIRECRAWL")}


def cpu_ms_of(code: str, environment: Mapping[str, str]) -> float:
    """CPU time of a fresh process that runs `code`: its start, all of its threads, and nothing of ending it."""
    return float(fresh(code + _REPORT, environment).stdout.split()[-1])


def fresh(code: str, environment: Mapping[str, str], *options: str) -> subprocess.CompletedProcess[str]:
    """Runs `code` in isolation; `options` are the interpreter's. Raises CalledProcessError."""
    begin = f"import sys; sys.path.insert(0, {str(_packages())!r})\n"
    return subprocess.run(
        [sys.executable, "-I", "-S", *options, "-c", begin + code],
        env=_POOLS | {name: value for name, value in os.environ.items() if name.startswith("AWS_")} | dict(environment),
        capture_output=True,
        text=True,
        check=True,
    )


@functools.cache
def _packages() -> Path:
    """A directory of links to our rooms and to the packages that ship, all of them compiled."""
    directory = Path(tempfile.mkdtemp(prefix="kg-bench-"))
    atexit.register(shutil.rmtree, directory)
    for name in {*_locked(), *_OF_THE_RUNTIME}:
        installed = distribution(name)
        tops = {path.parts[0] for path in installed.files or ()} - {"..", "__pycache__"}
        for top in tops:
            (directory / top).symlink_to(str(installed.locate_file(top)))
    for room in _OUR_ROOMS:
        compileall.compile_dir(PROJECT / room, quiet=1)
        (directory / room).symlink_to(PROJECT / room)
    return directory


def _locked() -> list[str]:
    text = (PROJECT / "requirements" / "runtime.lock").read_text(encoding="utf-8")
    return re.findall(r"^([a-z0-9-]+)==", text, re.MULTILINE)
