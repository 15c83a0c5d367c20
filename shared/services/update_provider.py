"""Changes what an operator has set on a provider."""

from __future__ import annotations

from dataclasses import replace
from typing import TypedDict

from shared.domain.credentials import Principal
from shared.domain.preconditions import check_generation, existing
from shared.domain.registration_rules import check_conversation_id, check_private_network, settled
from shared.domain.registrations import Capabilities, Provider, ProviderConfig, ProviderStatus
from shared.ports.registry import Registry
from shared.services.change_provider import ChangeProvider
from shared.services.check_address import CheckAddress


class ProviderChanges(TypedDict, total=False):
    """Only what is to change. Exposure profile and kind are not among it: they are fixed at registration. A `config`,
    of a kind that has one, replaces the whole.
    """

    name: str
    base_url: str
    priority: int
    status: ProviderStatus
    allow_private_network: bool
    send_conversation_id: bool
    module: str | None
    capabilities: Capabilities
    config: ProviderConfig


class UpdateProvider:
    def __init__(
        self,
        *,
        registry: Registry,
        change: ChangeProvider,
        check_address: CheckAddress,
        private_network_available: bool,
    ) -> None:
        self._registry = registry
        self._change = change
        self._check_address = check_address
        self._private_network_available = private_network_available

    async def __call__(
        self, provider_id: str, changes: ProviderChanges, *, expected_generation: int, by: Principal
    ) -> Provider:
        """The provider as it is now; nothing is written where nothing differs.

        Raises `NotFound`, `PreconditionFailed`, `Invalid`, `Conflict`, `Unavailable`.
        """
        before = existing(await self._registry.get(provider_id))
        check_generation(before.generation, expected_generation)
        check_conversation_id(before.exposure_profile, send_conversation_id=changes.get("send_conversation_id", False))
        check_private_network(
            wanted=changes.get("allow_private_network", False), available=self._private_network_available
        )
        self._check_address.sources(changes.get("config"))
        after = _changed(before, changes)
        if {"base_url", "allow_private_network"} & changes.keys():
            after = after.with_source(
                base_url=await self._check_address(
                    after.source.base_url, allow_private_network=after.source.allow_private_network
                )
            )
        after = settled(before, after, asked_status=changes.get("status"))
        if after == before:
            return before
        return await self._change(before, after, action="provider.updated", by=by)


def _changed(before: Provider, changes: ProviderChanges) -> Provider:
    source = replace(
        before.source,
        name=changes.get("name", before.source.name),
        base_url=changes.get("base_url", before.source.base_url),
        priority=changes.get("priority", before.source.priority),
        allow_private_network=changes.get("allow_private_network", before.source.allow_private_network),
        capabilities=changes.get("capabilities", before.source.capabilities),
        config=changes.get("config", before.source.config),
    )
    return replace(
        before,
        source=source,
        status=changes.get("status", before.status),
        send_conversation_id=changes.get("send_conversation_id", before.send_conversation_id),
        module=changes.get("module", before.module),
    )
