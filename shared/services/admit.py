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

KNOWN_FOR_S = 60.0
_MAX_KNOWN = 1024
_WINDOW_S = 60


class Admit:
    """For every class but the widget's, which has its own door.

    The counter is written beside the read of the credential when this process verified the very same token within the
    last minute, so that the usual request waits for one round trip; else after the verification, so that invented
    ids and wrong secrets never cause a write nor use up somebody's rate. The credential itself is read every time:
    what was remembered admits nobody.
    """

    def __init__(self, *, credentials: Credentials, rate_limits: RateLimits, clock: Clock) -> None:
        self._credentials = credentials
        self._rate_limits = rate_limits
        self._clock = clock
        self._verified: dict[str, tuple[bytes, float]] = {}

    async def __call__(
        self, token_text: str | None, *, classes: Collection[CredentialClass], agent_id: str | None = None
    ) -> Principal:
        """Raises `Unauthenticated`, `RateLimited`, `Unavailable`."""
        token = parse_token(token_text) if token_text else None
        if token is None or token.credential_class not in classes:
            raise Unauthenticated(f"Send a bearer token of class {' or '.join(sorted(classes))}.")
        if self._is_known(token):
            credential, count = await both(
                self._credentials.find(token.credential_id), self._rate_limits.count(token.credential_id)
            )
            verified = self._verify(token, credential)
        else:
            verified = self._verify(token, await self._credentials.find(token.credential_id))
            count = await self._rate_limits.count(token.credential_id)
        if count > verified.rate_per_minute:
            raise RateLimited("Wait for the next minute.", retry_after_s=_WINDOW_S - int(self._clock.now()) % _WINDOW_S)
        return _principal(verified, agent_id=agent_id)

    def _is_known(self, token: Token) -> bool:
        digest, verified_at = self._verified.get(token.credential_id, (b"", -KNOWN_FOR_S))
        fresh = self._clock.monotonic() - verified_at < KNOWN_FOR_S
        return fresh and same_digest(digest, digest_of(token.secret))

    def _verify(self, token: Token, credential: Credential | None) -> Credential:
        offered = digest_of(token.secret)
        matches = same_digest(offered, credential.digest if credential else bytes(len(offered)))
        if (
            credential is None
            or not matches
            or credential.credential_class is not token.credential_class
            or not credential.is_usable_at(self._clock.now())
        ):
            self._verified.pop(token.credential_id, None)
            raise Unauthenticated("This credential is not valid.")
        if len(self._verified) >= _MAX_KNOWN:
            self._verified.clear()
        self._verified[token.credential_id] = (offered, self._clock.monotonic())
        return credential


def _principal(credential: Credential, *, agent_id: str | None) -> Principal:
    return Principal(
        credential_id=credential.id,
        credential_class=credential.credential_class,
        grants=credential.grants,
        allowed_providers=credential.allowed_providers,
        agent_id=agent_id if credential.credential_class is CredentialClass.AGENT else None,
    )
