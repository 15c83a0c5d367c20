"""The third-party packages of a target, installed once for all functions from the lock file, hashes checked."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from infra.bundles.bytecode import compile_slim_tree
from infra.bundles.target import BUILD, ROOT, Target

LOCK = ROOT / "requirements" / "runtime.lock"

# The Lambda runtime has these. Ours would hide its own, which AWS keeps patched.
SHIPPED_BY_RUNTIME = frozenset({"boto3", "botocore", "jmespath", "python-dateutil", "s3transfer", "six", "urllib3"})


def installed_wheels(target: Target, python: Path | None) -> Path:
    """A directory with every wheel that a bundle may need, compiled when there is a `python` of the target's version.

    Made once for a lock file, target, interpreter and way of compiling, and then reused; safe to call from several
    processes.
    """
    lines = bundled_requirements(LOCK.read_text(), target)
    mark = hashlib.sha256("\n".join([*lines, str(target), str(python), _how_compiled()]).encode()).hexdigest()[:16]
    directory = BUILD / "wheels" / f"{target.runtime}-{target.architecture}-{mark}"
    if directory.is_dir():
        return directory
    directory.parent.mkdir(parents=True, exist_ok=True)
    made = Path(tempfile.mkdtemp(dir=directory.parent))
    _install(lines, into=made, target=target)
    if python is not None:
        compile_slim_tree(made, python)
    return settle(made, directory)


def _how_compiled() -> str:
    return "\n".join(Path(__file__).with_name(name).read_text() for name in ("bytecode.py", "slim.py"))


def settle(made: Path, directory: Path) -> Path:
    """Moves a finished directory to its place. When another process was faster, its result is as good."""
    try:
        made.rename(directory)
    except OSError:
        if not directory.is_dir():
            raise
        shutil.rmtree(made)
    return directory


def bundled_requirements(lock: str, target: Target) -> list[str]:
    """The lock's entries that apply to the target and that the runtime does not ship, with their hashes."""
    kept = []
    for entry in lock_entries(lock):
        requirement = requirement_of(entry)
        applies = requirement.marker is None or requirement.marker.evaluate(dict(target.markers))
        if applies and canonicalize_name(requirement.name) not in SHIPPED_BY_RUNTIME:
            # Judged above for the target; pip would judge it again, for this machine.
            hashes = [word for word in entry.split() if word.startswith("--hash=")]
            kept.append(" ".join([f"{requirement.name}{requirement.specifier}", *hashes]))
    return kept


def lock_entries(lock: str) -> list[str]:
    """One line for each locked package: the requirement and its hashes, continuations joined, comments left out."""
    lines = [line for line in lock.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    return "\n".join(lines).replace("\\\n", " ").splitlines()


def requirement_of(entry: str) -> Requirement:
    return Requirement(entry.split("--hash=")[0].strip())


def _install(lines: list[str], *, into: Path, target: Target) -> None:
    with tempfile.NamedTemporaryFile("w", suffix=".txt", dir=into.parent) as requirements:
        requirements.write("\n".join(lines))
        requirements.flush()
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-compile"]
        what = ["--no-deps", "--require-hashes", "--only-binary=:all:", "-r", requirements.name]
        where = ["--platform", target.wheel_platform, "--python-version", target.python_version, "--target", str(into)]
        subprocess.run([*command, *what, *where], check=True, env={**os.environ, "PIP_NO_INPUT": "1"})
