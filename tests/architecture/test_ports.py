"""Every port has a fake with its very methods, and a suite that holds implementations to what it promises."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from pathlib import Path
from typing import Any

import pytest

import shared.ports
from shared.adapters.clock import SystemClock
from tests.support import (
    admin_stage,
    alexandria_fakes,
    card_fakes,
    desk_fakes,
    fake_exchanges,
    fake_network,
    fakes,
    front_fakes,
    health_fakes,
    live_fakes,
    meters,
    search_stage,
    server_fakes,
)

TESTS = Path(__file__).resolve().parents[1]

# port -> (its fake, the suite)
PORTS: dict[str, tuple[type[Any], str]] = {
    "address_check.AddressCheck": (admin_stage.ScriptedAddressCheck, "contract/test_blocked_addresses.py"),
    "alexandria.Alexandria": (alexandria_fakes.FakeAlexandria, "contract/test_alexandria.py"),
    "allowances.AllowanceReader": (live_fakes.FakeAllowanceDesk, "contract/test_probe_checks.py"),
    "allowances.AllowanceDesk": (live_fakes.FakeAllowanceDesk, "contract/test_allowances.py"),
    "allowances.Allowances": (live_fakes.FakeAllowances, "contract/test_allowances.py"),
    "asker.Asker": (live_fakes.ScriptedAsker, "unit/test_askers.py"),
    "audit_log.AuditLog": (fakes.FakeAuditLog, "contract/test_audit_log.py"),
    "card_sweeper.CardSweeper": (card_fakes.FakeCardStore, "contract/test_clearing_away.py"),
    "card_reader.CardReader": (card_fakes.FakeCardReader, "contract/test_card_reading.py"),
    "card_store.CardStore": (card_fakes.FakeCardStore, "contract/test_card_store.py"),
    "catalog.Catalog": (fakes.FakeCatalog, "contract/test_catalogs.py"),
    "check.Check": (health_fakes.ScriptedCheck, "unit/test_health_rules.py"),
    "circuits.CircuitStore": (health_fakes.FakeCircuitStore, "contract/test_circuits.py"),
    "clock.Clock": (fakes.FakeClock, "contract/test_clock.py"),
    "credential_keys.CredentialKeys": (server_fakes.FakeCredentialKeys, "contract/test_instances.py"),
    "credential_store.CredentialStore": (fakes.FakeCredentialStore, "contract/test_credential_store.py"),
    "credentials.Credentials": (fakes.FakeCredentials, "contract/test_credential_store.py"),
    "customer_card_reader.CustomerCardReader": (card_fakes.FakeCustomerCardReader, "contract/test_card_reading.py"),
    "customer_catalog.CustomerCatalog": (fakes.FakeCustomerCatalog, "contract/test_catalogs.py"),
    "customer_vocabularies.CustomerVocabularies": (
        card_fakes.FakeCustomerVocabularies,
        "contract/test_card_reading.py",
    ),
    "exchange.Exchange": (fake_exchanges.FakeExchange, "contract/test_exchanges.py"),
    "exchange.Exchanges": (fake_exchanges.FakeExchanges, "contract/test_exchanges.py"),
    "front_door.FrontDoor": (front_fakes.FakeFrontDoor, "contract/test_front_door.py"),
    "health_book.HealthBook": (health_fakes.FakeHealthBook, "contract/test_health_book.py"),
    "health_book.HealthReader": (health_fakes.FakeHealthBook, "contract/test_health_book.py"),
    "idempotency.Idempotency": (fakes.FakeIdempotency, "contract/test_idempotency.py"),
    "instances.Instances": (server_fakes.FakeInstances, "contract/test_instances.py"),
    "internal_catalog.InternalCatalog": (fakes.FakeCatalog, "contract/test_internal_catalog.py"),
    "journal.Journal": (health_fakes.FakeJournal, "contract/test_journal.py"),
    "journal.JournalReader": (health_fakes.FakeJournal, "contract/test_journal.py"),
    "knowledge_server.KnowledgeServer": (server_fakes.ScriptedServer, "contract/test_dify.py"),
    "knowledge_server.ServerRetriever": (server_fakes.ScriptedServer, "contract/test_dify_external.py"),
    "live_retriever.Acquirer": (live_fakes.ScriptedLiveRetriever, "contract/test_firecrawl.py"),
    "live_retriever.LiveRetriever": (live_fakes.ScriptedLiveRetriever, "contract/test_context7.py"),
    "meter.Meter": (meters.ScriptedMeter, "unit/test_metering.py"),
    "meter.Meters": (live_fakes.ScriptedMeters, "unit/test_metering.py"),
    "origins.Origins": (fakes.FakeOrigins, "contract/test_credential_store.py"),
    "pool_desk.PoolDesk": (desk_fakes.FakePoolDesk, "contract/test_pool_desk.py"),
    "pool_keys.PoolKeys": (live_fakes.FakePoolKeys, "contract/test_pool_keys.py"),
    "pool_ledger.PoolLedger": (live_fakes.FakePoolLedger, "contract/test_pool_ledger.py"),
    "quotes.Quotes": (alexandria_fakes.FakeQuotes, "contract/test_quotes.py"),
    "rate_limits.RateLimits": (fakes.FakeRateLimits, "contract/test_rate_limits.py"),
    "receipts.Receipts": (alexandria_fakes.FakeReceipts, "contract/test_receipts.py"),
    "registry.Registry": (fakes.FakeRegistry, "contract/test_registry.py"),
    "resolver.Resolver": (fake_network.FakeResolver, "contract/test_resolver.py"),
    "retriever.Retriever": (search_stage.ScriptedRetriever, "contract/test_retriever_contract.py"),
    "root_secret.RootSecret": (fakes.FakeRootSecret, "contract/test_secrets.py"),
    "secret_box.Sealer": (fakes.FakeSealer, "contract/test_secrets.py"),
    "secret_box.Unsealer": (fakes.FakeUnsealer, "contract/test_secrets.py"),
    "vocabularies.Vocabularies": (card_fakes.FakeVocabularies, "contract/test_card_reading.py"),
}


def protocols() -> dict[str, type[Any]]:
    found = {}
    for module in pkgutil.iter_modules(shared.ports.__path__):
        loaded = importlib.import_module(f"shared.ports.{module.name}")
        for name, value in vars(loaded).items():
            if inspect.isclass(value) and getattr(value, "_is_protocol", False) and value.__module__ == loaded.__name__:
                found[f"{module.name}.{name}"] = value
    return found


def methods_of(protocol: type[Any]) -> dict[str, inspect.Signature]:
    public = {name: value for name, value in vars(protocol).items() if not name.startswith("_") or name == "__call__"}
    return {name: inspect.signature(value) for name, value in public.items() if inspect.isfunction(value)}


def shape(signature: inspect.Signature) -> list[tuple[str, str]]:
    """Names of parameters and whether they are keyword-only; what a caller may rely on."""
    return [(one.name, str(one.kind)) for one in signature.parameters.values() if one.name != "self"]


def test_every_port_is_listed() -> None:
    assert set(protocols()) == set(PORTS)


@pytest.mark.parametrize("port", PORTS)
def test_the_fake_has_the_methods_of_its_port(port: str) -> None:
    fake = PORTS[port][0]
    methods = methods_of(protocols()[port])
    assert methods
    for name, signature in methods.items():
        assert shape(inspect.signature(getattr(fake, name))) == shape(signature), name


@pytest.mark.parametrize("port", PORTS)
def test_the_suite_is_there_and_has_tests(port: str) -> None:
    suite = (TESTS / PORTS[port][1]).read_text()
    assert "def test_" in suite


@pytest.mark.parametrize("port", PORTS)
def test_the_port_says_what_it_promises(port: str) -> None:
    protocol = protocols()[port]
    texts = [protocol.__doc__ or "", *(value.__doc__ or "" for value in vars(protocol).values() if callable(value))]
    assert max(len(text) for text in texts) > 40


def test_methods_that_differ_are_noticed() -> None:
    class Differs:
        def now(self, zone: str) -> float:
            return 0.0

    assert shape(inspect.signature(Differs.now)) != shape(inspect.signature(SystemClock.now))
