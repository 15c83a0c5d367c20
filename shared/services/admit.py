"""Admits the bearer of a token: verifies the credential, counts the request, returns the principal."""

from __future__ import annotations

from collections.abc import Collection

from shared.domain.credentials import Credential, Principal
from shared.domain.exposure import CredentialClass
from shared.domain.identifiers import Token, digest_of, parse_token, same_digest
from shared.errors import RateLimited, Unauthenticated
from shared.ports.clock import Clock
from shared.ports.credentials import Credentials
from shared.ports.rate_limits import RateLimits
from shared.services.at_once import both
from shared.services.remembered_tokens import RememberedTokens

_WINDOW_S = 60


class Admit:
    """For every class but the widget's, which has its own door.

    The counter is written beside the read of the credential when this process verified the very same token within the
    last minute, so that the usual request waits for one round trip; else after the verification, so that invented
    ids and wrong secrets never cause a write nor use up somebody's rate. The credential itself is read every time:
    what was remembered admits nobody here.
    """

    def __init__(self, *, credentials: Credentials, rate_limits: RateLimits, clock: Clock) -> None:
        self._credentials = credentials
        self._rate_limits = rate_limits
        self._clock = clock
        self._remembered = RememberedTokens(clock=clock)

    async def __call__(
        self, token_text: str | None, *, classes: Collection[CredentialClass], agent_id: str | None = None
    ) -> Principal:
        """Raises `Unauthenticated`, `RateLimited`, `Unavailable`; the first as soon as the store has said so, whatever
        becomes of the counter.
        """
        token = parse_token(token_text) if token_text else None
        if token is None or token.credential_class not in classes:
            raise Unauthenticated(f"Send a bearer token of class {' or '.join(sorted(classes))}.")
        if self._remembered.find(token) is not None:
            verified, count = await both(self._verified(token), self._rate_limits.count(token.credential_id))
        else:
            verified = await self._verified(token)
            count = await self._rate_limits.count(token.credential_id)
        if count > verified.rate_per_minute:
            raise RateLimited("Wait for the next minute.", retry_after_s=_WINDOW_S - int(self._clock.now()) % _WINDOW_S)
        return _principal(verified, agent_id=agent_id)

    def remembered_agent(self, token_text: str | None, *, agent_id: str | None) -> Principal | None:
        """An agent whose very token the store vouched for within the last minute, and whose credential has not ended
        since. For when the store cannot be used, and for nothing else. Counts nothing.
        """
        token = parse_token(token_text) if token_text else None
        if token is None or token.credential_class is not CredentialClass.AGENT:
            return None
        credential = self._remembered.find(token)
        if credential is None or not credential.is_usable_at(self._clock.now()):
            return None
        return _principal(credential, agent_id=agent_id)

    async def _verified(self, token: Token) -> Credential:
        return self._verify(token, await self._credentials.find(token.credential_id))

    def _verify(self, token: Token, credential: Credential | None) -> Credential:
        offered = digest_of(token.secret)
        matches = same_digest(offered, credential.digest if credential else bytes(len(offered)))
        if (
            credential is None
            or not matches
            or credential.credential_class is not token.credential_class
            or not credential.is_usable_at(self._clock.now())
        ):
            self._remembered.judge(token.credential_id, credential)
            raise Unauthenticated("This credential is not valid.")
        self._remembered.keep(credential)
        return credential


def _principal(credential: Credential, *, agent_id: str | None) -> Principal:
    return Principal(
        credential_id=credential.id,
        credential_class=credential.credential_class,
        grants=credential.grants,
        allowed_providers=credential.allowed_providers,
        agent_id=agent_id if credential.credential_class is CredentialClass.AGENT else None,
    )
