"""Which locked packages a bundle gets, and that the runtime can stand in for those that it does not get."""

from __future__ import annotations

from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from infra.bundles.interpreters import interpreter
from infra.bundles.target import Target
from infra.bundles.wheels import (
    LOCK,
    SHIPPED_BY_RUNTIME,
    bundled_requirements,
    installed_wheels,
    lock_entries,
    requirement_of,
)

# What the first images of the python3.13 runtime carried. AWS only moves on from here.
RUNTIME_FLOOR = {
    "boto3": "1.35.42",
    "botocore": "1.35.42",
    "jmespath": "1.0.1",
    "python-dateutil": "2.9.0.post0",
    "s3transfer": "0.10.3",
    "six": "1.16.0",
    "urllib3": "1.26.19",
}

EXAMPLE = """
# a comment
everywhere==1.0 \\
    --hash=sha256:aa \\
    --hash=sha256:bb
    # via something
windows-only==2.0 ; sys_platform == 'win32' \\
    --hash=sha256:cc
old-python==3.0 ; python_version < '3.13' \\
    --hash=sha256:dd
arm==4.0 ; platform_machine == 'aarch64' \\
    --hash=sha256:ee
boto3==5.0 \\
    --hash=sha256:ff
"""


def test_markers_are_judged_for_the_target_not_for_this_machine() -> None:
    arm = bundled_requirements(EXAMPLE, Target())
    assert arm == ["everywhere==1.0 --hash=sha256:aa --hash=sha256:bb", "arm==4.0 --hash=sha256:ee"]
    older_intel = bundled_requirements(EXAMPLE, Target(runtime="python3.12", architecture="x86_64"))
    assert older_intel == ["everywhere==1.0 --hash=sha256:aa --hash=sha256:bb", "old-python==3.0 --hash=sha256:dd"]


def test_every_bundled_package_is_locked_with_its_hashes() -> None:
    lines = bundled_requirements(LOCK.read_text(), Target())
    assert len(lines) >= 8
    assert all("==" in line and "--hash=sha256:" in line for line in lines)


def test_the_lock_file_is_read_whole() -> None:
    entries = lock_entries(LOCK.read_text())
    pinned = [line for line in LOCK.read_text().splitlines() if "==" in line and not line.startswith((" ", "#"))]
    assert len(entries) == len(pinned)
    assert {canonicalize_name(requirement_of(entry).name) for entry in entries} >= SHIPPED_BY_RUNTIME


def test_the_runtime_ships_at_least_what_bundled_packages_ask_of_it() -> None:
    """Its versions are not those of the lock file: a bundled package must be content with the oldest of them."""
    assert set(RUNTIME_FLOOR) == set(SHIPPED_BY_RUNTIME)
    wheels = installed_wheels(Target(), interpreter(Target().python_version))
    asked = []
    for metadata in wheels.glob("*.dist-info/METADATA"):
        asked += _asked_of_runtime(metadata)
    assert asked, "Powertools asks for jmespath: the metadata were not read"
    for requirement in asked:
        assert requirement.specifier.contains(RUNTIME_FLOOR[canonicalize_name(requirement.name)]), str(requirement)


def _asked_of_runtime(metadata: Path) -> list[Requirement]:
    lines = [line for line in metadata.read_text().splitlines() if line.startswith("Requires-Dist: ")]
    wanted = [Requirement(line.removeprefix("Requires-Dist: ")) for line in lines]
    environment = {**Target().markers, "extra": ""}
    return [
        one
        for one in wanted
        if canonicalize_name(one.name) in RUNTIME_FLOOR and (one.marker is None or one.marker.evaluate(environment))
    ]
