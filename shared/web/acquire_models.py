"""An agent's wish for one source, as it arrives, and the text that it gets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Final

from pydantic import Field

from shared.domain.acquiring import AcquiredFrom, AcquireWish
from shared.domain.acquisitions import MAX_TEXT_CHARACTERS, Acquisition
from shared.domain.passages import Evidence, FreshnessWish, Warning_
from shared.domain.source_policy import requested_url
from shared.domain.urls import MAX_URL_CHARACTERS
from shared.errors import Problem
from shared.web.agent_ids import agent_id_of
from shared.web.events import Event
from shared.web.named_provider import ProviderOut
from shared.web.wire import WireModel, read_body

LONGEST_MS: Final = 25_000
SHORTEST_MS: Final = 4_000  # no service is asked anything with less than three seconds left


class AcquireBody(WireModel):
    """`provider` is the id of the one to ask; without it the gateway chooses among those that approve the host."""

    url: Annotated[str, Field(min_length=1, max_length=MAX_URL_CHARACTERS)]
    freshness: FreshnessWish = FreshnessWish.NORMAL
    provider: Annotated[str, Field(min_length=1, max_length=128)] | None = None
    deadline_ms: Annotated[
        int, Field(ge=SHORTEST_MS, le=LONGEST_MS, description="Milliseconds until the answer, counted here.")
    ] = LONGEST_MS

    def to_wish(self) -> AcquireWish:
        """Raises `Invalid` (`invalid_source_url`)."""
        return AcquireWish(url=requested_url(self.url), freshness=self.freshness, provider=self.provider)


class AcquiredOut(WireModel):
    """`url` is the normal form of what was asked for, `finalUrl` where the text comes from. `acquisition: live` only
    after `freshness: force`. `truncated`: the text goes on. Text is Markdown or plain, and untrusted.
    """

    request_id: str
    provider: ProviderOut
    url: str
    final_url: str
    title: str | None
    text: Annotated[str, Field(max_length=MAX_TEXT_CHARACTERS)]
    truncated: bool
    evidence: Evidence
    acquisition: Acquisition
    warnings: tuple[Warning_, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AcquireAsk:
    """A read request. `wish` is a Problem where it could not be read: nobody is told before being admitted."""

    wish: AcquireWish | Problem
    agent_id: str | None = None
    deadline_ms: int = LONGEST_MS

    @classmethod
    def of(cls, body: AcquireBody, *, agent_id: str | None) -> AcquireAsk:
        """Raises `Invalid` (`invalid_source_url`)."""
        return cls(wish=body.to_wish(), agent_id=agent_id, deadline_ms=body.deadline_ms)


def read_acquire(event: Event) -> AcquireAsk:
    """Never raises a Problem: what is wrong is returned."""
    try:
        agent_id = agent_id_of(event)
        return AcquireAsk.of(read_body(AcquireBody, event), agent_id=agent_id)
    except Problem as problem:
        return AcquireAsk(wish=problem)


def encoded(found: AcquiredFrom, *, request_id: str) -> str:
    """The JSON text."""
    return acquired_out(found, request_id=request_id).model_dump_json(by_alias=True)


def acquired_out(found: AcquiredFrom, *, request_id: str) -> AcquiredOut:
    source, acquired = found.source, found.acquired
    return AcquiredOut(
        request_id=request_id,
        provider=ProviderOut(id=source.id, name=source.name, kind=source.kind),
        url=acquired.url,
        final_url=acquired.final_url,
        title=acquired.title,
        text=acquired.text,
        truncated=acquired.truncated,
        evidence=acquired.evidence,
        acquisition=acquired.acquisition,
        warnings=acquired.warnings,
    )
