"""Admits a website's widget: its key, the page's origin, and how often the key and the visitor's address have asked."""

from __future__ import annotations

from dataclasses import dataclass

from shared.domain.caller_addresses import caller_subject
from shared.domain.credentials import Credential
from shared.domain.exposure import CredentialClass
from shared.domain.identifiers import Token, digest_of, parse_token, same_digest
from shared.domain.origins import is_listed
from shared.errors import Forbidden, RateLimited
from shared.ports.clock import Clock
from shared.ports.credentials import Credentials
from shared.ports.rate_limits import RateLimits
from shared.services.at_once import both

KNOWN_FOR_S = 60.0
RETRY_AFTER_S = 30
_MAX_KNOWN = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class WidgetVisit:
    """Who stands at the door. `address` is what the gateway itself saw, never a header's word."""

    token: str | None
    origin: str | None
    address: str


class AdmitWidget:
    """Two refusals and no third: `Forbidden`, the same for a missing, unknown, revoked or wrong-origin key and for no
    origin; `RateLimited`, the same for either limit. `Unavailable` when the store cannot be used.

    The counters are written beside the read of the credential when this process admitted the very same key from a
    listed origin within the last minute, else after the verification: invented keys never cause a write. What was
    remembered admits nobody.
    """

    def __init__(self, *, credentials: Credentials, rate_limits: RateLimits, clock: Clock) -> None:
        self._credentials = credentials
        self._rate_limits = rate_limits
        self._clock = clock
        self._known: dict[str, tuple[Credential, float]] = {}

    async def __call__(self, visit: WidgetVisit) -> Credential:
        token = parse_token(visit.token) if visit.token else None
        if token is None or token.credential_class is not CredentialClass.PUBLIC:
            raise Forbidden
        if (known := self._recognised(token, visit.origin)) is not None:
            found, counts = await both(self._credentials.find(token.credential_id), self._count(known, visit.address))
            credential = self._verify(token, found, visit.origin)
        else:
            credential = self._verify(token, await self._credentials.find(token.credential_id), visit.origin)
            counts = await self._count(credential, visit.address)
        if counts[0] > credential.rate_per_minute or counts[1] > credential.address_rate_per_minute:
            raise RateLimited(retry_after_s=RETRY_AFTER_S)
        return credential

    def recognises(self, visit: WidgetVisit) -> bool:
        """Whether the key, as this process last verified it (at most a minute ago), lists the visit's origin.

        Decides whether a page may read an answer or a refusal, and nothing else.
        """
        token = parse_token(visit.token) if visit.token else None
        return token is not None and self._recognised(token, visit.origin) is not None

    def _recognised(self, token: Token, origin: str | None) -> Credential | None:
        known = self._known.get(token.credential_id)
        if known is None or self._clock.monotonic() - known[1] >= KNOWN_FOR_S:
            return None
        return known[0] if self._is_valid(token, known[0]) and is_listed(origin, known[0].origins) else None

    def _verify(self, token: Token, credential: Credential | None, origin: str | None) -> Credential:
        if credential is None or not self._is_valid(token, credential):
            self._known.pop(token.credential_id, None)
            raise Forbidden
        if len(self._known) >= _MAX_KNOWN:
            self._known.clear()
        self._known[credential.id] = (credential, self._clock.monotonic())
        if not is_listed(origin, credential.origins):
            raise Forbidden
        return credential

    def _is_valid(self, token: Token, credential: Credential) -> bool:
        same = same_digest(digest_of(token.secret), credential.digest)
        is_public = credential.credential_class is CredentialClass.PUBLIC
        return same and is_public and credential.is_usable_at(self._clock.now())

    async def _count(self, credential: Credential, address: str) -> tuple[int, int]:
        subject = caller_subject(address, salt=credential.salt)
        return await both(self._rate_limits.count(credential.id), self._rate_limits.count(subject))
