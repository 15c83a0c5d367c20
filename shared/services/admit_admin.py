"""Admits an admin: one that the store knows, or root, whose secret the stack made; and other classes where they may."""

from __future__ import annotations

from collections.abc import Collection

from shared.domain.credentials import DEFAULT_RATE_PER_MINUTE, Principal
from shared.domain.exposure import CredentialClass
from shared.domain.identifiers import ROOT_ID, Token, digest_of, parse_token, same_digest
from shared.errors import RateLimited, Unauthenticated
from shared.ports.clock import Clock
from shared.ports.credential_store import CredentialStore
from shared.ports.rate_limits import RateLimits
from shared.ports.root_secret import RootSecret
from shared.services.admit import Admit

_WINDOW_S = 60


class AdmitAdmin:
    """Root's secret is read only for a well-formed token that names root."""

    def __init__(
        self, *, admit: Admit, root_secret: RootSecret, store: CredentialStore, rate_limits: RateLimits, clock: Clock
    ) -> None:
        self._admit = admit
        self._root_secret = root_secret
        self._store = store
        self._rate_limits = rate_limits
        self._clock = clock

    async def __call__(self, token_text: str | None, *, classes: Collection[CredentialClass]) -> Principal:
        """`classes` has that of admins in it. Raises `Unauthenticated`, `RateLimited`, `Unavailable`."""
        token = parse_token(token_text) if token_text else None
        if token is not None and token.credential_id == ROOT_ID:
            return await self._root(token)
        return await self._admit(token_text, classes=classes)

    async def _root(self, token: Token) -> Principal:
        secret = await self._root_secret.read()
        is_known = same_digest(digest_of(token.secret), digest_of(secret))
        if not is_known or not (await self._store.root_switch()).is_on:
            raise Unauthenticated("This credential is not valid.")
        if await self._rate_limits.count(ROOT_ID) > DEFAULT_RATE_PER_MINUTE[CredentialClass.ADMIN]:
            raise RateLimited("Wait for the next minute.", retry_after_s=_WINDOW_S - int(self._clock.now()) % _WINDOW_S)
        return Principal(credential_id=ROOT_ID, credential_class=CredentialClass.ADMIN)
