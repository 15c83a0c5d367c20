"""Which credentials this process has verified within the last minute, each together with the very token that it was.

What is remembered admits nobody by itself: whoever asks decides what it is worth.
"""

from __future__ import annotations

from typing import Final

from shared.domain.credentials import Credential
from shared.domain.identifiers import Token, digest_of, same_digest
from shared.ports.clock import Clock, Moment

REMEMBERED_FOR_S: Final = 60.0
_MOST = 1_024


class RememberedTokens:
    """At most 1,024, each for a minute."""

    def __init__(self, *, clock: Clock) -> None:
        self._clock = clock
        self._kept: dict[str, tuple[Credential, Moment]] = {}

    def find(self, token: Token) -> Credential | None:
        """The credential as it was when this very token was last verified. It may have ended since."""
        kept = self._kept.get(token.credential_id)
        if kept is None or not kept[1].is_within(REMEMBERED_FOR_S, clock=self._clock):
            return None
        same = same_digest(kept[0].digest, digest_of(token.secret))
        return kept[0] if same and kept[0].credential_class is token.credential_class else None

    def keep(self, credential: Credential) -> None:
        """Just verified: the digest that it holds is the token's."""
        if len(self._kept) >= _MOST:
            self._kept.clear()
        self._kept[credential.id] = (credential, Moment.of(self._clock))

    def judge(self, credential_id: str, found: Credential | None) -> None:
        """`found` is what the store says now. Forgets what it no longer vouches for; a wrong secret that somebody
        offered says nothing of the right one.
        """
        kept = self._kept.get(credential_id)
        if kept is None:
            return
        is_usable = found is not None and found.is_usable_at(self._clock.now())
        if not is_usable or found is None or not same_digest(found.digest, kept[0].digest):
            del self._kept[credential_id]
