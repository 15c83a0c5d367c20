"""One hosted live service: builds its requests, recognises its refusals and parses its answers."""

from __future__ import annotations

from typing import Protocol

from shared.domain.acquisitions import Acquired, Wanted
from shared.domain.passages import Question, Retrieval
from shared.domain.registrations import Source
from shared.ports.meter import Meter
from shared.ports.retriever import RetrieverLimits


class LiveRetriever(Protocol):
    """Answers searches. Sends through the meter alone; never reads secrets, opens sockets, retries, sleeps or logs.

    `retrieve` expects a question within `limits` and a source whose `config` is its kind's own. Raises the
    `ExchangeError` family; before anything is reserved: `Refused` (`missing_input`) when the question lacks what the
    service needs, `NotAsked` (`capability_unavailable`) for `force`.
    """

    @property
    def limits(self) -> RetrieverLimits: ...

    async def retrieve(self, source: Source, question: Question, *, meter: Meter) -> Retrieval: ...


class Acquirer(Protocol):
    """Fetches the text of one source, whose host was approved before. Raises the `ExchangeError` family; `Refused`
    (`not_found`) for a source that the service could not fetch.
    """

    async def acquire(self, source: Source, wanted: Wanted, *, meter: Meter) -> Acquired: ...
