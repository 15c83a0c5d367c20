"""Gives a credential a new token; the old one is refused from the next request on."""

from __future__ import annotations

from dataclasses import replace

from shared.domain.credentials import Principal
from shared.domain.identifiers import digest_of, fingerprint_of, format_token, new_token_secret
from shared.domain.once import Once
from shared.domain.preconditions import check_generation, existing
from shared.domain.root import refuse_for_root
from shared.errors import Conflict, PreconditionFailed
from shared.ports.credential_store import CredentialStore
from shared.services.change_credential import ChangeCredential
from shared.services.issue_credential import Issued
from shared.services.replay import Replay


class RotateCredential:
    def __init__(self, *, store: CredentialStore, change: ChangeCredential, replay: Replay) -> None:
        self._store = store
        self._change = change
        self._replay = replay

    async def __call__(
        self, credential_id: str, *, expected_generation: int | None, by: Principal, once: Once | None
    ) -> Issued:
        """The credential and its new token, which is None for a repetition.

        Raises `NotFound`, `PreconditionFailed`, `Conflict` (`root_protected`), `Unavailable`.
        """
        refuse_for_root(credential_id)
        if (earlier := await self._replay.find(once)) is not None:
            return await self._repeated(earlier)
        before = existing(await self._store.get(credential_id))
        secret = new_token_secret()
        after = replace(before, digest=digest_of(secret), fingerprint=fingerprint_of(secret))
        try:
            check_generation(before.generation, expected_generation)
            written = await self._change(before, after, action="credential.rotated", by=by, once=once)
        except (Conflict, PreconditionFailed):
            # A twin of this very request may have won the race.
            if (earlier := await self._replay.find(once)) is None:
                raise
            return await self._repeated(earlier)
        return Issued(written, format_token(written.credential_class, written.id, secret))

    async def _repeated(self, credential_id: str) -> Issued:
        return Issued(existing(await self._store.get(credential_id)), None)
