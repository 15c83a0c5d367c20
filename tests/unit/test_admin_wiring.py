"""The admin function is built from its own variables, and names what is missing."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from functions.admin.wiring import wired

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
