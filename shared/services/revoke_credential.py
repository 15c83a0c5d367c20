"""Removes a credential: it is refused from the next request on."""

from __future__ import annotations

from shared.domain.credentials import Principal
from shared.domain.preconditions import check_generation, existing
from shared.domain.root import refuse_for_root
from shared.ports.credential_store import CredentialStore
from shared.services.change_credential import ChangeCredential


class RevokeCredential:
    def __init__(self, *, store: CredentialStore, change: ChangeCredential) -> None:
        self._store = store
        self._change = change

    async def __call__(self, credential_id: str, *, expected_generation: int, by: Principal) -> None:
        """Raises `NotFound`, `PreconditionFailed`, `Conflict` (`root_protected`, `last_admin`), `Unavailable`."""
        refuse_for_root(credential_id)
        credential = existing(await self._store.get(credential_id))
        check_generation(credential.generation, expected_generation)
        await self._change.remove(credential, by=by)
