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

# Reached by import statements that never run here.
_POWERTOOLS = "aws_lambda_powertools.event_handler"
NEVER_LOADED = (
    # The models of pydantic's first version and what is left of them; types for addresses and colours.
    "pydantic.v1",
    "pydantic.color",
    "pydantic.deprecated.class_validators",
    "pydantic.networks",
    # The router's own validation and description of the API: here wire models and infra/openapi do that.
    f"{_POWERTOOLS}.middlewares.openapi_validation",
    f"{_POWERTOOLS}.openapi.compat",
    f"{_POWERTOOLS}.openapi.dependant",
    f"{_POWERTOOLS}.openapi.encoders",
    f"{_POWERTOOLS}.openapi.models",
    f"{_POWERTOOLS}.openapi.params",
    f"{_POWERTOOLS}.openapi.schema_generator",
    f"{_POWERTOOLS}.openapi.swagger_ui",
    # The client's command line; and what providers are never asked over: HTTP/2, proxies, another event loop. Names
    # are not mapped by UTS 46.
    "httpx._main",
    "httpcore._async.http2",
    "httpcore._async.socks_proxy",
    "httpcore._backends.trio",
    "httpcore._sync.http2",
    "httpcore._sync.socks_proxy",
    "idna.uts46data",
    # Of anyio its locks and time limits are used; it loads each part when it is asked for it.
    "anyio._core._asyncio_selector_thread",
    "anyio._core._concurrency_utils",
    "anyio._core._contextmanagers",
    "anyio._core._fileio",
    "anyio._core._subprocesses",
    "anyio._core._futures",
    "anyio._core._signals",
    "anyio._core._subprocesses",
    "anyio._core._tempfile",
    "anyio.from_thread",
    "anyio.functools",
    "anyio.itertools",
    "anyio.streams.buffered",
    "anyio.to_interpreter",
    "anyio.to_process",
)

# Imported by a name put together when the program runs, which no import statement shows: module -> what it loads.
LOADED_BY_NAME = {"anyio._core._eventloop": ("anyio._backends._asyncio",)}


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
        waiting += LOADED_BY_NAME.get(module, ())
        parent = module.rpartition(".")[0]
        if parent:
            waiting.append(parent)
    return found


def _never_loaded(module: str) -> bool:
    return any(module == never or module.startswith(never + ".") for never in NEVER_LOADED)


if __name__ == "__main__":
    json.dump(reached(sys.argv[2:], Path(sys.argv[1])), sys.stdout)
