"""Asks a provider that speaks the contract: with its secrets, which are opened for this one question."""

from __future__ import annotations

from shared.domain.deadlines import Deadline
from shared.domain.outcomes import OutcomeCode, not_configured_until
from shared.domain.passages import Question, Retrieval
from shared.domain.registrations import SigningSecrets, Source
from shared.errors import Refused, Unavailable
from shared.ports.clock import Clock
from shared.ports.exchange import Exchanges
from shared.ports.retriever import Retriever, RetrieverLimits
from shared.ports.secret_box import Unsealer
from shared.services.at_once import both


class AskSigned:
    """Implements `ports.asker.Asker`. A secret that cannot be opened is `not_configured`: nothing was sent."""

    def __init__(self, *, retriever: Retriever, exchanges: Exchanges, clock: Clock) -> None:
        self._retriever = retriever
        self._exchanges = exchanges
        self._clock = clock

    @property
    def limits(self) -> RetrieverLimits:
        return self._retriever.limits

    async def ask(self, source: Source, question: Question, *, unsealer: Unsealer, deadline: Deadline) -> Retrieval:
        secrets = await self._secrets(source, unsealer)
        own_deadline = deadline.capped(self.limits.timeout_s, now_s=self._clock.monotonic())
        exchange = self._exchanges.open(source, deadline=own_deadline)
        return await self._retriever.retrieve(source, question, secrets=secrets, exchange=exchange)

    async def _secrets(self, source: Source, unsealer: Unsealer) -> SigningSecrets:
        try:
            return await opened(source, unsealer, now=self._clock.now())
        except Unavailable as error:
            raise not_configured_until(error, now=self._clock.now()) from None


async def opened(source: Source, unsealer: Unsealer, *, now: float) -> SigningSecrets:
    """A source's secrets; inside a rotation's window both, opened at once. Raises `Unavailable`, and `Refused`
    (`not_configured`) for a source that has none.
    """
    if source.signing is None:
        raise Refused(OutcomeCode.NOT_CONFIGURED)
    current = unsealer.unseal(source.signing, owner_id=source.id, purpose="signing")
    previous = source.previous_secret_at(now)
    if previous is None:
        return SigningSecrets(current=await current)
    replaced = unsealer.unseal(previous, owner_id=source.id, purpose="signing_previous")
    opened_current, opened_previous = await both(current, replaced)
    return SigningSecrets(current=opened_current, previous=opened_previous)
