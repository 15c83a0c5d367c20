"""The reference provider passes the whole suite, and got into the gateway through the public admin API alone."""

from __future__ import annotations

import ast
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from knowledge_conformance.findings import Status
from knowledge_conformance.run import run

from fixtures.reference_provider import articles
from fixtures.reference_provider.index import Index
from fixtures.reference_provider.nonces import Nonces
from fixtures.reference_provider.secret_files import SecretFiles
from fixtures.reference_provider.server import Faults, Provider, Server
from tests.e2e.running import PROVIDERS, Gateway

ROOT = Path(__file__).resolve().parents[2]
CURRENT, PREVIOUS = "kgs_" + "a" * 64, "kgs_" + "b" * 64


@contextmanager
def reference(directory: Path, audience: str) -> Iterator[str]:
    (directory / "current").write_text(CURRENT)
    (directory / "previous").write_text(PREVIOUS)
    provider = Provider(
        index=Index(articles.load(ROOT / "fixtures" / "articles", audience=audience)),
        secrets=SecretFiles(directory / "current", directory / "previous"),
        nonces=Nonces(str(directory / "nonces")),
        faults=Faults(),
    )
    server = Server(provider, port=0, name="conformance")
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield server.url
    finally:
        server.shutdown()
        server.server_close()


@pytest.mark.parametrize("audience", ["public", "internal"])
def test_the_reference_provider_passes_everything_and_leaves_nothing_unjudged(tmp_path: Path, audience: str) -> None:
    with reference(tmp_path, audience) as url:
        report = run(url, CURRENT, previous_secret=PREVIOUS)
    assert {f.id: f.saw for f in report.findings if f.status is not Status.PASSED} == {}
    assert report.seconds < 60


@pytest.mark.emulator
def test_the_suite_examines_the_provider_that_the_gateway_asks(gateway: Gateway) -> None:
    """With the secret that the admin API showed once when it was registered."""
    provider = gateway.local["providers"]["public"]
    report = run(provider["url"], Path(provider["secretFile"]).read_text().strip())
    assert report.failed == report.warned == frozenset()
    assert gateway.outcomes(query="ferry pass", deadlineMs=1000)["Help centre"]["status"] == "success"


@pytest.mark.emulator
def test_a_provider_is_registered_with_the_published_calls_alone(tmp_path: Path, gateway: Gateway) -> None:
    """What the demo does, done by a stranger: register, keep the secret, declare, test and switch on, ask."""
    with reference(tmp_path, "public") as url:
        wanted = {"name": "Conformance", "exposureProfile": "customer_safe", "baseUrl": url}
        made = gateway.as_admin("POST", PROVIDERS, wanted).found
        path = f"{PROVIDERS}/{made['id']}"
        try:
            (tmp_path / "current").write_text(made["secret"])
            assert gateway.as_admin("POST", f"{path}/capabilities", {}).status == 200
            report = gateway.as_admin("POST", f"{path}/test", {"query": "refund", "activate": True}).found
            assert (report["status"], report["activated"]) == ("success", True)
            assert gateway.outcomes(query="refund", deadlineMs=1000)["Conformance"]["status"] == "success"
        finally:
            gateway.remove_provider(made["id"])


def modules_of(name: str) -> set[str]:
    """Everything of ours that a module leads to, itself included."""
    found: set[str] = set()
    waiting = [name]
    while waiting:
        module = waiting.pop()
        file = ROOT / (module.replace(".", "/") + ".py")
        if module in found or not file.is_file():
            continue
        found.add(module)
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                waiting += [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module:
                waiting += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    return found


def test_what_registers_the_demo_has_no_way_to_the_store() -> None:
    reached = modules_of("infra.cli.seed")
    assert "infra.cli.http" in reached
    assert [module for module in reached if module.split(".")[0] in ("shared", "functions")] == []
    assert [module for module in reached if module.startswith(("infra.local", "infra.tables"))] == []


def test_the_gateway_knows_nothing_of_the_reference_provider() -> None:
    """No file of what is deployed names it, so nothing in there can make an exception for it."""
    named = [
        str(path.relative_to(ROOT))
        for room in ("shared", "functions")
        for path in (ROOT / room).rglob("*.py")
        if "reference_provider" in path.read_text(encoding="utf-8")
        or "reference-provider" in path.read_text(encoding="utf-8")
    ]
    assert named == []
