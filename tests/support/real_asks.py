"""One question to a self-hosted server on loopback, over real connections, with a credential that was sealed."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from shared.adapters.clock import SystemClock
from shared.adapters.exchanges import PinnedExchanges
from shared.adapters.resolver import SystemResolver
from shared.domain.deadlines import Deadline
from shared.domain.exposure import ExposureProfile
from shared.domain.identifiers import exposure_of
from shared.domain.passages import Question, Retrieval
from shared.domain.registrations import Source
from shared.ports.knowledge_server import ServerRetriever
from shared.services.ask_server import AskServer
from tests.support.fakes import FakeSealer, FakeUnsealer


def ask_for_real(retriever: ServerRetriever, source: Source, question: Question, *, key: str) -> Retrieval:
    """`source` gets `key` as its credential."""
    return asyncio.run(_asked(retriever, source, question, key=key))


async def _asked(retriever: ServerRetriever, source: Source, question: Question, *, key: str) -> Retrieval:
    exposure = exposure_of(source.id) or ExposureProfile.AGENT_ONLY
    assert source.link is not None
    sealed = await FakeSealer(exposure=exposure).seal(key, owner_id=source.link.owner_id, purpose="instance")
    source = replace(source, link=replace(source.link, credential=sealed))
    clock = SystemClock()
    exchanges = PinnedExchanges(
        resolver=SystemResolver(), clock=clock, allow_loopback_http=True, private_network_available=False
    )
    asker = AskServer(retriever=retriever, exchanges=exchanges, clock=clock)
    deadline = Deadline.after(20.0, now_s=clock.monotonic())
    try:
        return await asker.ask(source, question, unsealer=FakeUnsealer(exposure=exposure), deadline=deadline)
    finally:
        exchanges.close()
