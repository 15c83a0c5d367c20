"""Runs what npm installed for the tests, with the Node of the development environment."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
MODULES = HERE / "node_modules" / "@modelcontextprotocol"
CLIENTS = HERE / "clients.mjs"
CONFORMANCE = MODULES / "conformance" / "dist" / "index.js"
INSPECTOR = MODULES / "inspector" / "clients" / "launcher" / "build" / "index.js"
_NODE = Path(sys.executable).parent / "node"
_TIMEOUT_S = 120.0


def run_node(script: Path, *arguments: str, home: Path, standard_input: str = "") -> subprocess.CompletedProcess[str]:
    """To its end, in a home of its own: the inspector keeps notes there."""
    if not MODULES.is_dir():
        raise RuntimeError("The clients are not installed: `make .venv/.peers` does that.")
    return subprocess.run(
        [_NODE, script, *arguments],
        cwd=home,
        env={"PATH": os.environ["PATH"], "HOME": str(home), "NO_COLOR": "1", "MCP_INSPECTOR_SECRET_STORE": "memory"},
        input=standard_input,
        capture_output=True,
        text=True,
        timeout=_TIMEOUT_S,
        check=False,
    )
