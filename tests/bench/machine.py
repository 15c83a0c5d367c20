"""On what a run was made. Figures of two machines are not compared; ratios may be."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

# What the figures are made of, and what they are compared with.
PACKAGES = (
    "ahocorasick-rs",
    "aws-lambda-powertools",
    "boto3",
    "botocore",
    "flashtext",
    "httpcore",
    "httpx",
    "pydantic",
)


@dataclass(frozen=True, slots=True)
class Machine:
    """`memory_gb` is None where the system does not say."""

    cpu: str
    cores: int
    memory_gb: float | None
    python: str
    system: str

    def line(self) -> str:
        memory = "" if self.memory_gb is None else f", {self.memory_gb:.0f} GB"
        cores = "1 core" if self.cores == 1 else f"{self.cores} cores"
        return f"{self.cpu}, {cores}{memory}; {self.python}; {self.system}"


def this_machine() -> Machine:
    return Machine(
        cpu=_cpu(Path("/proc/cpuinfo")),
        cores=_cores(),
        memory_gb=_memory_gb(),
        python=f"{platform.python_implementation()} {platform.python_version()}",
        system=f"{platform.system()} {platform.release()}",
    )


def installed(packages: Sequence[str] = PACKAGES) -> dict[str, str]:
    """Versions by name; what is not installed is left out."""
    found = {}
    for name in packages:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def _cpu(told_by: Path) -> str:
    """Arm does not name the model there: the architecture is better than nothing."""
    lines = told_by.read_text(encoding="utf-8").splitlines() if told_by.exists() else []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return next(iter(models), "") or platform.processor() or platform.machine()


def _cores() -> int:
    """Those that this process may use, which in a container can be fewer than there are."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _memory_gb() -> float | None:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9
    except (AttributeError, ValueError, OSError):
        return None
