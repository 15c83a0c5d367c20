"""Issues a credential and makes its token."""

from __future__ import annotations

import secrets
from collections.abc import Collection
from dataclasses import dataclass, field

from shared.domain.auditing import facts_of_credential, new_entry
from shared.domain.changes import Change
from shared.domain.credential_rules import (
    check_expiry,
    check_fields,
    checked_allowed_providers,
    checked_grants,
    checked_origins,
)
from shared.domain.credentials import (
    DEFAULT_ADDRESS_RATE_PER_MINUTE,
    DEFAULT_RATE_PER_MINUTE,
    Credential,
    Principal,
)
from shared.domain.exposure import CredentialClass, Grant
from shared.domain.identifiers import digest_of, fingerprint_of, format_token, new_credential_id, new_token_secret
from shared.domain.once import Once
from shared.domain.preconditions import existing
from shared.errors import Conflict
from shared.ports.clock import Clock
from shared.ports.credential_store import CredentialStore
from shared.services.replay import Replay

CREATED = 201
_SALT_BYTES = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class NewCredential:
    """What an operator says about a credential that is to be issued."""

    credential_class: CredentialClass
    name: str
    grants: Collection[Grant] = ()
    origins: tuple[str, ...] = ()
    allowed_providers: tuple[str, ...] | None = None
    rate_per_minute: int | None = None
    address_rate_per_minute: int | None = None
    expires_at: float | None = None

    def class_fields(self) -> set[str]:
        """The fields of one class alone that are set."""
        found = {"origins"} if self.origins else set()
        if self.allowed_providers is not None:
            found.add("allowed_providers")
        if self.address_rate_per_minute is not None:
            found.add("address_rate_per_minute")
        return found


@dataclass(frozen=True, slots=True)
class Issued:
    """`token` is None when the request was a repetition: a token is shown once."""

    credential: Credential
    token: str | None = field(repr=False)


class IssueCredential:
    def __init__(self, *, store: CredentialStore, replay: Replay, clock: Clock, allow_loopback_http: bool) -> None:
        self._store = store
        self._replay = replay
        self._clock = clock
        self._allow_loopback_http = allow_loopback_http

    async def __call__(self, wanted: NewCredential, *, by: Principal, once: Once | None) -> Issued:
        """Raises `Invalid`, `Conflict` (`grant_refused`), `Unavailable`."""
        if (earlier := await self._replay.find(once)) is not None:
            return await self._repeated(earlier)
        secret = new_token_secret()
        credential = self._credential(wanted, secret)
        try:
            await self._store.create(credential, self._change(credential, by=by, once=once))
        except Conflict:
            # A twin of this very request may have won the race.
            if (earlier := await self._replay.find(once)) is None:
                raise
            return await self._repeated(earlier)
        return Issued(credential, format_token(credential.credential_class, credential.id, secret))

    async def _repeated(self, credential_id: str) -> Issued:
        return Issued(existing(await self._store.get(credential_id)), None)

    def _credential(self, wanted: NewCredential, secret: str) -> Credential:
        now, kind = self._clock.now(), wanted.credential_class
        check_fields(kind, wanted.class_fields())
        check_expiry(wanted.expires_at, now=now)
        return Credential(
            id=new_credential_id(),
            credential_class=kind,
            name=wanted.name,
            digest=digest_of(secret),
            fingerprint=fingerprint_of(secret),
            grants=checked_grants(kind, wanted.grants),
            origins=checked_origins(kind, wanted.origins, allow_loopback_http=self._allow_loopback_http),
            allowed_providers=checked_allowed_providers(wanted.allowed_providers),
            rate_per_minute=wanted.rate_per_minute or DEFAULT_RATE_PER_MINUTE[kind],
            address_rate_per_minute=wanted.address_rate_per_minute or DEFAULT_ADDRESS_RATE_PER_MINUTE,
            salt=secrets.token_bytes(_SALT_BYTES) if kind is CredentialClass.PUBLIC else b"",
            expires_at=wanted.expires_at,
            created_at=now,
            updated_at=now,
        )

    def _change(self, credential: Credential, *, by: Principal, once: Once | None) -> Change:
        now = self._clock.now()
        entry = new_entry(
            at=now,
            actor=by.credential_id,
            action="credential.created",
            resource=f"credential/{credential.id}",
            after=facts_of_credential(credential),
            generations=(None, credential.generation),
        )
        record = once.record(status=CREATED, resource_id=credential.id, now=now) if once else None
        return Change(audit=entry, idempotency=record)
