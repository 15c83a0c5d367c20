"""What a bundle is made for."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"

_MACHINES = {"arm64": "aarch64", "x86_64": "x86_64"}
ARCHITECTURES = tuple(_MACHINES)
# From the oldest Python that the code is written for to the newest one of which the lock file has wheels.
RUNTIMES = ("python3.11", "python3.12", "python3.13", "python3.14")


@dataclass(frozen=True, slots=True)
class Target:
    """A Lambda runtime of `RUNTIMES` and an architecture of `ARCHITECTURES`. Raises ValueError for any other."""

    runtime: str = "python3.13"
    architecture: str = "arm64"

    def __post_init__(self) -> None:
        if self.architecture not in _MACHINES:
            raise ValueError(f"architecture must be one of {', '.join(ARCHITECTURES)}, not {self.architecture}")
        if self.runtime not in RUNTIMES:
            raise ValueError(f"runtime must be one of {', '.join(RUNTIMES)}, not {self.runtime}")

    @property
    def python_version(self) -> str:
        return self.runtime.removeprefix("python")

    @property
    def machine(self) -> str:
        return _MACHINES[self.architecture]

    @property
    def wheel_platform(self) -> str:
        return f"manylinux2014_{self.machine}"

    @property
    def markers(self) -> dict[str, str]:
        """The environment in which a requirement's marker is judged: the target's, not this machine's."""
        return {
            "implementation_name": "cpython",
            "os_name": "posix",
            "platform_machine": self.machine,
            "platform_python_implementation": "CPython",
            "platform_system": "Linux",
            "python_full_version": f"{self.python_version}.0",
            "python_version": self.python_version,
            "sys_platform": "linux",
        }
