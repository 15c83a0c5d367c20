"""Asks a provider what it can do and keeps the answer with its registration."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass

from shared.domain.credentials import Principal
from shared.domain.outcomes import OutcomeCode, outcome_code_of
from shared.domain.preconditions import check_generation, existing
from shared.domain.registrations import Capabilities, Provider, ProviderKind
from shared.errors import Conflict, ExchangeError
from shared.ports.registry import Registry
from shared.ports.retriever import Retriever
from shared.services.change_provider import ChangeProvider
from shared.services.open_line import OpenLine


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """`listed` is False when the provider has no such page. `changed` names what is now declared otherwise."""

    provider: Provider
    listed: bool = False
    error_code: OutcomeCode | None = None
    changed: tuple[str, ...] = ()


class RereadCapabilities:
    def __init__(
        self,
        *,
        registry: Registry,
        change: ChangeProvider,
        retrievers: Mapping[ProviderKind, Retriever],
        open_line: OpenLine,
    ) -> None:
        self._registry = registry
        self._change = change
        self._retrievers = retrievers
        self._open_line = open_line

    async def __call__(self, provider_id: str, *, expected_generation: int | None, by: Principal) -> Reading:
        """A provider that fails is a reading with an error code; nothing is stored then.

        Raises `NotFound`, `PreconditionFailed`, `Conflict` (`no_capabilities`) for a kind that declares none,
        `Unavailable`.
        """
        before = existing(await self._registry.get(provider_id))
        check_generation(before.generation, expected_generation)
        retriever = self._retriever_of(before)
        line = await self._open_line(before, timeout_s=retriever.limits.timeout_s)
        try:
            said = await retriever.declare(before.source, secrets=line.secrets, exchange=line.exchange)
        except ExchangeError as error:
            return Reading(provider=before, error_code=outcome_code_of(error))
        changed = _differences(before.source.capabilities, said.capabilities)
        if not changed:
            return Reading(provider=before, listed=said.listed)
        after = before.with_source(capabilities=said.capabilities)
        written = await self._change(before, after, action="provider.capabilities_read", by=by)
        return Reading(provider=written, listed=said.listed, changed=changed)

    def _retriever_of(self, provider: Provider) -> Retriever:
        retriever = self._retrievers.get(provider.source.kind)
        if retriever is None:
            raise Conflict("A provider of this kind declares no capabilities.", code="no_capabilities")
        return retriever


def _differences(before: Capabilities, after: Capabilities) -> tuple[str, ...]:
    """Field names of `Capabilities`, in their order."""
    old = asdict(before)
    return tuple(name for name, value in asdict(after).items() if value != old[name])
