"""Every client that leaves the process is made in one of a few places, which share the policy on idle connections."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

# What makes an outbound connection, by the root of its module -> where in the product it may be imported.
MAKERS = {
    "boto3": set(),
    "botocore": set(),
    "httpx": {"shared/adapters/exchanges.py", "shared/adapters/pinned_transport.py"},
    "httpcore": {
        "shared/adapters/exchanges.py",
        "shared/adapters/pinned_stream.py",
        "shared/adapters/pinned_transport.py",
    },
    "http": {"shared/adapters/service_wire.py"},  # its reader of answers, over sockets of the wire's own
    "urllib3": set(),
    "requests": set(),
    "aiohttp": set(),
    "socket": {
        "shared/adapters/pinned_stream.py",
        "shared/adapters/resolver.py",
        "shared/adapters/service_wire.py",
    },
}


def imported(source: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def strays(file: str, source: str) -> list[str]:
    """The makers that a file imports and may not."""
    roots = {name.split(".")[0] for name in imported(source)}
    named = [root for root in sorted(roots) if root in MAKERS and file not in MAKERS[root]]
    return named + (["urllib.request"] if any(name.startswith("urllib.request") for name in imported(source)) else [])


def product_files() -> list[Path]:
    return sorted(path for room in ("shared", "functions") for path in (ROOT / room).rglob("*.py"))


def test_outbound_clients_are_made_where_their_policy_is() -> None:
    found = {
        str(path.relative_to(ROOT)): strays(str(path.relative_to(ROOT)), path.read_text()) for path in product_files()
    }
    assert {file: names for file, names in found.items() if names} == {}


@pytest.mark.parametrize(
    "source",
    [
        "import boto3",
        "def late():\n    import httpx",
        "from http import client",
        "import urllib.request",
        "from urllib import request",
        "from urllib3 import PoolManager",
    ],
)
def test_a_client_made_elsewhere_is_found(source: str) -> None:
    assert strays("shared/services/search.py", source)
