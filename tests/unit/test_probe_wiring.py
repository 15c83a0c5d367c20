"""The probe function is told where things lie, and of no secret of a pool."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from functions.probe.wiring import ProbeSettings, wired

TOLD = {
    "KG_TABLE_REGISTRATIONS_PUBLIC": "registrations-public",
    "KG_TABLE_REGISTRATIONS_INTERNAL": "registrations-internal",
    "KG_TABLE_CARDS": "cards",
    "KG_TABLE_LEDGER_PUBLIC": "ledger-public",
    "KG_TABLE_LEDGER_INTERNAL": "ledger-internal",
    "KG_KEY_PUBLIC": "key-public",
    "KG_KEY_INTERNAL": "key-internal",
}


@pytest.fixture(autouse=True)
def _aws(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")


def test_the_probe_needs_the_tables_and_both_keys() -> None:
    wired(TOLD).loop.close()
    for name in TOLD:
        with pytest.raises(ValidationError, match=name):
            wired({key: value for key, value in TOLD.items() if key != name})


def test_the_probe_has_no_word_for_a_secret_of_a_pool() -> None:
    told = TOLD | {"KG_POOL_EXA": "pool-exa", "KG_ROOT_SECRET": "the-first-admins"}
    settings = repr(ProbeSettings.from_environment(told))
    assert "pool-exa" not in settings
    assert "the-first-admins" not in settings


def test_a_run_every_five_minutes_is_due_though_the_last_one_came_late() -> None:
    assert ProbeSettings.from_environment(TOLD).probe_every_s == 240
    assert ProbeSettings.from_environment(TOLD | {"KG_PROBE_EVERY_S": "15"}).probe_every_s == 15


@pytest.mark.parametrize("value", ["0", "86401", "often"])
def test_a_pace_that_is_none_is_refused_at_the_start(value: str) -> None:
    with pytest.raises(ValidationError, match="KG_PROBE_EVERY_S"):
        wired(TOLD | {"KG_PROBE_EVERY_S": value})
