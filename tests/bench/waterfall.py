"""Where the import of a handler spends its time: the interpreter's own account (`-X importtime`), summed by package.

It tells wall time, module by module; the least of several runs is what a module takes undisturbed.
"""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from tests.bench.fresh import FUNCTIONS, fresh
from tests.bench.measure import Row

RUNS: Final = 3
LEAST_MS: Final = 0.5  # what is less goes into `rest`: mostly packages that were looked for and are not there

_LINE = re.compile(r"import time:\s+(\d+) \|\s+\d+ \|\s+(\S+)")
_WITH: dict[str, tuple[str, ...]] = {}
_WITH |= {"pydantic": ("pydantic", "pydantic_core", "annotated_types", "typing_inspection", "typing_extensions")}
_WITH |= {"httpx": ("httpx", "httpcore", "h11", "anyio", "idna", "certifi"), "boto3": ("boto3", "botocore", "urllib3")}
_WITH |= {"powertools": ("aws_lambda_powertools", "jmespath")}
_FAMILY = {package: family for family, packages in _WITH.items() for package in packages}
WIRING: Final = "building"


def waterfalls(environment: Mapping[str, str]) -> Iterator[Row]:
    """For each function: all of its import, what of it is ours, and in the note the parts, the dearest first."""
    for name in FUNCTIONS:
        parts = waterfall(name, environment)
        ours = sum(ms for part, ms in parts.items() if _is_ours(part))
        dearest = sorted(parts.items(), key=lambda part: part[1], reverse=True)
        note = "share of ours; " + ", ".join(f"{part} {ms:.1f}" for part, ms in dearest)
        yield Row(f"waterfall of {name}: ours in all", ours, sum(parts.values()), "ms", None, note, RUNS)


def waterfall(name: str, environment: Mapping[str, str]) -> dict[str, float]:
    """Milliseconds by part; modules of ours by their room, and what the handler itself builds as `building`."""
    handler = f"functions.{name}.handler"
    least: dict[str, int] = {}
    for _ in range(RUNS):
        for module, took_us in told(fresh(f"import {handler}", environment, "-X", "importtime").stderr.splitlines()):
            least[module] = min(took_us, least.get(module, took_us))
    parts: defaultdict[str, float] = defaultdict(float)
    for module, took_us in least.items():
        parts[WIRING if module == handler else part_of(module)] += took_us / 1000
    return _without_crumbs(parts)


def _without_crumbs(parts: Mapping[str, float]) -> dict[str, float]:
    kept = {part: ms for part, ms in parts.items() if ms >= LEAST_MS or _is_ours(part)}
    return kept | {"rest": sum(parts.values()) - sum(kept.values())}


def told(lines: Iterable[str]) -> Iterator[tuple[str, int]]:
    """Each module with the microseconds that it took itself, without what it imported."""
    for line in lines:
        if match := _LINE.match(line):
            yield match[2], int(match[1])


def part_of(module: str) -> str:
    """`shared.domain.cards` is of `shared.domain`; packages of one family go together."""
    top = module.partition(".")[0]
    if top == "shared":
        return ".".join(module.split(".")[:2])
    if top in sys.stdlib_module_names:
        return "stdlib"
    return _FAMILY.get(top, top)


def _is_ours(part: str) -> bool:
    return part in {"functions", WIRING} or part.startswith("shared")
