"""The suite of the protocol's makers, in the mode in which it is a client of a server that runs already.

run = conform(url, "2026-07-28", home=tmp_path)
run.verdict               # its exit code: 0 where exactly what the exceptions name has failed
run.checks["tools-list"]  # {"tools-list": "SUCCESS", "wire-schema-valid": "SUCCESS"}
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

from tests.peers.node import CONFORMANCE, HERE, run_node

_DIRECTORY = re.compile(r"server-(.+)-\d{4}-\d\d-\d\dT[\d-]+Z")


@dataclass(frozen=True, slots=True)
class Conformance:
    """`checks` by scenario: what came of each of its checks."""

    verdict: int
    summary: str
    checks: dict[str, dict[str, str]]


def exceptions(revision: str) -> Path:
    """What a server with nothing but tools, and none of the suite's own, cannot pass; each with its reason."""
    return HERE / f"conformance-{revision}.yaml"


def conform(url: str, revision: str, *, home: Path) -> Conformance:
    """Runs all scenarios that a revision requires of a server, and those that came later."""
    results = home / "results"
    arguments = ("--requirements", revision, "--expected-failures", str(exceptions(revision)), "-o", str(results))
    done = run_node(CONFORMANCE, "server", "--url", url, *arguments, home=home)
    checks = {}
    for file in results.glob("*/checks.json"):
        named = _DIRECTORY.fullmatch(file.parent.name)
        assert named is not None, file
        checks[named[1]] = {each["id"]: each["status"] for each in json.loads(file.read_text())}
    return Conformance(done.returncode, done.stdout.partition("=== SUMMARY ===")[2] + done.stderr, checks)
