"""Switches the first admin off, once another one exists, and on again."""

from __future__ import annotations

from shared.domain.auditing import facts_of_credential, new_entry
from shared.domain.changes import Change
from shared.domain.credentials import Credential, CredentialStatus, Principal
from shared.domain.identifiers import ROOT_ID
from shared.domain.preconditions import check_generation
from shared.domain.root import refuse_for_root, root_credential
from shared.ports.clock import Clock
from shared.ports.credential_store import CredentialStore
from shared.services.update_credential import CredentialChanges


class SwitchRoot:
    def __init__(self, *, store: CredentialStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    async def __call__(self, changes: CredentialChanges, *, expected_generation: int, by: Principal) -> Credential:
        """Root as it is now.

        Raises `PreconditionFailed`, `Conflict` (`root_protected`, `last_admin`), `Unavailable`.
        """
        if changes.keys() - {"status"}:
            refuse_for_root(ROOT_ID)
        found = await self._store.root_switch()
        check_generation(found.generation, expected_generation)
        before = root_credential(found)
        switch = found.turned(on=changes.get("status", before.status) is CredentialStatus.ACTIVE)
        after = root_credential(switch)
        if after == before:
            return before
        entry = new_entry(
            at=self._clock.now(),
            actor=by.credential_id,
            action="credential.updated",
            resource=f"credential/{before.id}",
            before=facts_of_credential(before),
            after=facts_of_credential(after),
            generations=(before.generation, after.generation),
        )
        await self._store.switch_root(switch, expected_generation=found.generation, change=Change(audit=entry))
        return after
