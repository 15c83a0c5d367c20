"""One kind of provider: builds its requests and parses its answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from shared.domain.passages import Question, Retrieval
from shared.domain.registrations import Capabilities, SigningSecrets, Source
from shared.ports.exchange import Exchange


@dataclass(frozen=True, slots=True)
class RetrieverLimits:
    """What one kind accepts and how long it may take."""

    query_characters: int
    results: int
    timeout_s: float


@dataclass(frozen=True, slots=True)
class Declaration:
    """What a provider says of itself. `listed` is False when it has no such page, which is not a fault."""

    contract_version: int
    capabilities: Capabilities
    listed: bool = True


class Retriever(Protocol):
    """Never reads secrets, opens sockets, retries, sleeps or logs. Raises the `ExchangeError` family.

    `retrieve` expects a question within `limits`; it returns at most `question.limit` passages in the provider's order.
    """

    @property
    def limits(self) -> RetrieverLimits: ...

    async def retrieve(
        self, source: Source, question: Question, *, secrets: SigningSecrets, exchange: Exchange
    ) -> Retrieval: ...

    async def declare(self, source: Source, *, secrets: SigningSecrets, exchange: Exchange) -> Declaration: ...
