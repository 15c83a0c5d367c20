"""Asks a self-hosted server, with its credential, which is opened for this one question."""

from __future__ import annotations

from shared.domain.bindings import Binding, CommonConfig, common_of, is_current
from shared.domain.deadlines import Deadline
from shared.domain.outcomes import OutcomeCode, not_configured_until
from shared.domain.passages import Question, Retrieval
from shared.domain.registrations import Source
from shared.errors import Refused, Unavailable
from shared.ports.clock import Clock
from shared.ports.exchange import Exchanges
from shared.ports.knowledge_server import ServerRetriever
from shared.ports.retriever import RetrieverLimits
from shared.ports.secret_box import Unsealer


class AskServer:
    """Implements `ports.asker.Asker`. A credential that cannot be opened is `not_configured`: nothing was sent."""

    def __init__(self, *, retriever: ServerRetriever, exchanges: Exchanges, clock: Clock) -> None:
        self._retriever = retriever
        self._exchanges = exchanges
        self._clock = clock

    @property
    def limits(self) -> RetrieverLimits:
        return self._retriever.limits

    async def ask(self, source: Source, question: Question, *, unsealer: Unsealer, deadline: Deadline) -> Retrieval:
        timeout_s = min(self.limits.timeout_s, _common(source).request_timeout_ms / 1000)
        credential = await self._credential(source, unsealer)
        own_deadline = deadline.capped(timeout_s, now_s=self._clock.monotonic())
        exchange = self._exchanges.open(source, deadline=own_deadline)
        return await self._retriever.retrieve(source, question, credential=credential, exchange=exchange)

    async def _credential(self, source: Source, unsealer: Unsealer) -> str | None:
        if source.link is None:
            raise Refused(OutcomeCode.NOT_CONFIGURED)
        if source.link.credential is None:
            return None
        try:
            return await unsealer.unseal(source.link.credential, owner_id=source.link.owner_id, purpose="instance")
        except Unavailable as error:
            raise not_configured_until(error, now=self._clock.now()) from None


def _common(source: Source) -> CommonConfig:
    """Raises `Refused` (`not_configured`) for a source that is bound to nothing, or was bound by an adapter that sent
    or read other things.
    """
    common = common_of(source.config)
    is_outdated = isinstance(source.config, Binding) and not is_current(source.kind, source.config)
    if common is None or is_outdated:
        raise Refused(OutcomeCode.NOT_CONFIGURED)
    return common
