"""The suite of the protocol's makers, run against the gateway in both eras, finds nothing that it may not find."""

from __future__ import annotations

import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.e2e.running import Gateway
from tests.peers.bearer_proxy import bearer_proxy
from tests.peers.conformance import Conformance, conform, exceptions

pytestmark = [pytest.mark.emulator]

REVISIONS = ("2025-11-25", "2026-07-28")
# What a server with tools and nothing else has to pass in each revision.
PASSED = {
    "2025-11-25": {"server-initialize", "ping", "tools-list"},
    "2026-07-28": {"tools-list", "http-header-validation"},
}
_ENTRY = re.compile(r"  - [a-z0-9-]+(:[a-z0-9-]+)?")

each_revision = pytest.mark.parametrize("revision", REVISIONS)


@pytest.fixture(scope="module")
def runs(gateway: Gateway, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Conformance]]:
    """Both at once: they wait more than they work."""
    token = gateway.credential(**{"class": "ast"}, grants=["knowledge:read_public"], ratePerMinute=10_000)
    homes = [tmp_path_factory.mktemp(revision) for revision in REVISIONS]
    with bearer_proxy(f"{gateway.url}/mcp", token) as url, ThreadPoolExecutor() as pool:
        done = [pool.submit(conform, url, revision, home=home) for revision, home in zip(REVISIONS, homes, strict=True)]
        yield {revision: each.result() for revision, each in zip(REVISIONS, done, strict=True)}


@each_revision
def test_exactly_what_the_exceptions_name_has_failed(runs: dict[str, Conformance], revision: str) -> None:
    assert runs[revision].verdict == 0, runs[revision].summary


@each_revision
def test_what_a_server_of_tools_has_to_do_is_done(runs: dict[str, Conformance], revision: str) -> None:
    for scenario in PASSED[revision]:
        checks = runs[revision].checks[scenario]
        assert checks
        assert set(checks.values()) <= {"SUCCESS", "INFO", "SKIPPED"}, (scenario, checks)


@each_revision
def test_every_message_of_the_gateway_fits_the_schema_of_its_revision(
    runs: dict[str, Conformance], revision: str
) -> None:
    judged = [checks["wire-schema-valid"] for checks in runs[revision].checks.values() if "wire-schema-valid" in checks]
    assert len(judged) > 20
    assert set(judged) == {"SUCCESS"}


@each_revision
def test_every_exception_has_a_reason(revision: str) -> None:
    """A comment over the entries that it is the reason of."""
    first, *rest = [line for line in exceptions(revision).read_text().splitlines() if line.strip()]
    assert first == "server:"
    assert rest[0].startswith("  # ")
    for line in rest:
        assert line.startswith("  # ") or _ENTRY.fullmatch(line), line
