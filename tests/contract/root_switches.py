"""Switching root from whatever it is, as an admin does who has just read it."""

from __future__ import annotations

from shared.domain.changes import Change
from shared.domain.root import RootSwitch
from shared.ports.credential_store import CredentialStore
from tests.contract.far_ahead import a_change


async def turn_root(store: CredentialStore, *, on: bool, change: Change | None = None) -> None:
    """One generation more, also where root was that already."""
    found = await store.root_switch()
    switch = RootSwitch(is_on=on, generation=found.generation + 1)
    await store.switch_root(switch, expected_generation=found.generation, change=change or a_change())
