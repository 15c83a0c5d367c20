"""Asks one source one question, whatever its kind needs for that: a signature, a key, an allowance."""

from __future__ import annotations

from typing import Protocol

from shared.domain.deadlines import Deadline
from shared.domain.passages import Question, Retrieval
from shared.domain.registrations import Source
from shared.ports.retriever import RetrieverLimits
from shared.ports.secret_box import Unsealer


class Asker(Protocol):
    """`ask` expects a question within `limits` and is over by the deadline. Raises the `ExchangeError` family; a secret
    or a store that cannot be used now is `not_configured`: nothing was sent.
    """

    @property
    def limits(self) -> RetrieverLimits: ...

    async def ask(self, source: Source, question: Question, *, unsealer: Unsealer, deadline: Deadline) -> Retrieval: ...
