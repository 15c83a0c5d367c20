"""Which modules a function reaches, its own and third-party ones, read from the import statements.

Run as a process of its own (`python -m infra.bundles.reach <wheels> <function> ...`), so that the target's packages
are looked at, not those that this interpreter already imported. Prints JSON: function -> sorted module names.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path

import grimp

OWN = ("functions", "shared")

# Reached by import statements that never run here: the models of pydantic's first version, and pages for browsers.
NEVER_LOADED = ("aws_lambda_powertools.event_handler.openapi.swagger_ui", "pydantic.v1")


def reached(names: Iterable[str], wheels: Path) -> dict[str, list[str]]:
    """Type-checking imports count too: what may be named there is kept out of a bundle only by not being named."""
    sys.path.insert(0, str(wheels))
    packages = sorted(path.parent.name for path in wheels.glob("*/__init__.py"))
    single_files = {path.stem for path in wheels.glob("*.py")}
    graph = grimp.build_graph(*OWN, *packages, include_external_packages=True, cache_dir=None)
    bundled = {module for module in graph.modules if not graph.is_module_squashed(module)} | single_files
    return {name: sorted(_closure(graph, f"functions.{name}.handler") & bundled) for name in names}


def _closure(graph: grimp.ImportGraph, start: str) -> set[str]:
    found: set[str] = set()
    waiting = [start]
    while waiting:
        module = waiting.pop()
        if module in found or _never_loaded(module):
            continue
        found.add(module)
        waiting += graph.find_modules_directly_imported_by(module)
        parent = module.rpartition(".")[0]
        if parent:
            waiting.append(parent)
    return found


def _never_loaded(module: str) -> bool:
    return any(module == never or module.startswith(never + ".") for never in NEVER_LOADED)


if __name__ == "__main__":
    json.dump(reached(sys.argv[2:], Path(sys.argv[1])), sys.stdout)
