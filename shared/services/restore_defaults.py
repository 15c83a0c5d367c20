"""Sets a provider on a self-hosted server back to how a new one is asked, once a search with that has succeeded."""

from __future__ import annotations

from dataclasses import replace

from shared.domain.bindings import PRODUCT_OF, Binding, CommonConfig, DifyExternalConfig
from shared.domain.bound_facts import with_facts_of
from shared.domain.credentials import Principal
from shared.domain.preconditions import check_generation, existing
from shared.domain.registrations import Provider
from shared.errors import Conflict
from shared.ports.registry import Registry
from shared.services.change_provider import ChangeProvider
from shared.services.prove_server import ProveServer
from shared.services.update_binding import UpdateBinding


class RestoreDefaults:
    """What it is bound to, its name, its priority and whether it is on stay as they are."""

    def __init__(
        self, *, registry: Registry, update_binding: UpdateBinding, prove: ProveServer, change: ChangeProvider
    ) -> None:
        self._registry = registry
        self._update_binding = update_binding
        self._prove = prove
        self._change = change

    async def __call__(
        self, provider_id: str, test_query: str, *, expected_generation: int | None, by: Principal
    ) -> Provider:
        """The provider as it is now; nothing is written where nothing differs.

        Raises `NotFound`, `PreconditionFailed`, `Invalid`, `Conflict` (`no_defaults` for a provider of another kind),
        `Unavailable`.
        """
        before = existing(await self._registry.get(provider_id))
        check_generation(before.generation, expected_generation)
        after = await self._restored(before, test_query)
        if after == before:
            return before
        return await self._change(before, after, action="provider.defaults_restored", by=by)

    async def _restored(self, before: Provider, test_query: str) -> Provider:
        config = before.source.config
        if isinstance(config, Binding):
            product = with_facts_of(PRODUCT_OF[before.source.kind](), config.product)
            default = replace(config, product=product, common=CommonConfig())
            return await self._update_binding.proven(before, default, test_query)
        if isinstance(config, DifyExternalConfig):
            plain = DifyExternalConfig(knowledge_id=config.knowledge_id, reaches_public_only=config.reaches_public_only)
            return await self._prove.other(before.with_source(config=plain), test_query)
        raise Conflict("A provider of this kind has no defaults to go back to.", code="no_defaults")
