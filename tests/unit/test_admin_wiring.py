"""The admin function is built from its own variables, and names what is missing."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from functions.admin.wiring import wired
from shared.domain.live_configs import ENDPOINTS, SEARCHING_KINDS
from shared.domain.registrations import LIVE_KINDS, ProviderKind

ENVIRONMENT = {
    "KG_TABLE_REGISTRATIONS_PUBLIC": "registrations-public",
    "KG_TABLE_LEDGER_PUBLIC": "ledger-public",
    "KG_KEY_PUBLIC": "key-public",
    "KG_TABLE_REGISTRATIONS_INTERNAL": "registrations-internal",
    "KG_TABLE_LEDGER_INTERNAL": "ledger-internal",
    "KG_KEY_INTERNAL": "key-internal",
    "KG_TABLE_CARDS": "cards",
    "KG_ROOT_SECRET": "root-secret",
}


@pytest.fixture(autouse=True)
def _aws(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")


@pytest.mark.parametrize("missing", ENVIRONMENT)
def test_nothing_starts_without_one_of_its_variables(missing: str) -> None:
    with pytest.raises(ValidationError, match=missing):
        wired({name: value for name, value in ENVIRONMENT.items() if name != missing})


def test_plain_http_and_private_networks_are_off_unless_switched_on() -> None:
    parts = wired(ENVIRONMENT)

    assert (parts.allow_loopback_http, parts.private_network_available) == (False, False)


def test_they_can_be_switched_on() -> None:
    parts = wired(ENVIRONMENT | {"KG_ALLOW_LOOPBACK_HTTP": "true", "KG_PRIVATE_NETWORK_AVAILABLE": "true"})

    assert (parts.allow_loopback_http, parts.private_network_available) == (True, True)


def test_every_live_kind_can_be_tested_at_its_own_endpoint() -> None:
    live = wired(ENVIRONMENT).live

    assert set(live.askers) == SEARCHING_KINDS
    assert {*live.askers, *live.acquirers} == LIVE_KINDS
    assert live.endpoints == ENDPOINTS


def test_a_service_can_be_elsewhere_in_the_embedded_default_alone() -> None:
    origins = {"KG_LOCAL_ORIGINS": '{"exa": "http://127.0.0.1:4001"}'}
    embedded = wired(ENVIRONMENT | origins | {"KG_ALLOW_LOOPBACK_HTTP": "true"})

    assert embedded.live.endpoints[ProviderKind.EXA] == "http://127.0.0.1:4001"
    with pytest.raises(ValidationError, match="KG_LOCAL_ORIGINS"):
        wired(ENVIRONMENT | origins)
