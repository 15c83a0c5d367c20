"""Changes a provider that is bound to a self-hosted server. Another config is tried before it is saved."""

from __future__ import annotations

from dataclasses import replace
from typing import TypedDict

from shared.domain.bindings import Binding, CommonConfig, ProductConfig, has_known_config
from shared.domain.bound_facts import with_facts_of
from shared.domain.credentials import Principal
from shared.domain.preconditions import check_generation, existing
from shared.domain.registration_rules import settled
from shared.domain.registrations import Provider, ProviderStatus
from shared.errors import Conflict, Invalid, Violation
from shared.ports.instances import Instances
from shared.ports.registry import Registry
from shared.services.change_provider import ChangeProvider
from shared.services.prove_server import ProveServer


class BindingChanges(TypedDict, total=False):
    """Only what is to change. What it is bound to is not among it. `product` replaces the whole; `common` holds the
    settings that were sent. `test_query` is searched for with the changed config.
    """

    name: str
    priority: int
    module: str | None
    status: ProviderStatus
    product: ProductConfig
    common: dict[str, int]
    test_query: str


class UpdateBinding:
    def __init__(self, *, registry: Registry, instances: Instances, prove: ProveServer, change: ChangeProvider) -> None:
        self._registry = registry
        self._instances = instances
        self._prove = prove
        self._change = change

    async def __call__(
        self, provider_id: str, changes: BindingChanges, *, expected_generation: int, by: Principal
    ) -> Provider:
        """The provider as it is now; nothing is written where nothing differs.

        Raises `NotFound`, `PreconditionFailed`, `Invalid`, `Conflict`, `Unavailable`.
        """
        before = existing(await self._registry.get(provider_id))
        check_generation(before.generation, expected_generation)
        was = binding_of(before)
        binding = replace(was, product=_product(was, changes), common=_common(was.common, changes))
        changed = _changed(before, changes).with_source(config=binding)
        query = changes.get("test_query")
        if query is None:
            check_was_tried(is_other=_is_other(was, binding))
            after = settled(before, changed, asked_status=changes.get("status"))
        else:
            after = await self.proven(changed, binding, query)
        if after == before:
            return before
        return await self._change(before, after, action="provider.updated", by=by)

    async def proven(self, provider: Provider, binding: Binding, query: str) -> Provider:
        """Raises `Conflict`, `Invalid`, `Unavailable`."""
        instance = await self._instances.get(binding.instance_id)
        if instance is None:
            raise Conflict("The instance is gone.", code="config_changed")
        return await self._prove.binding(provider, binding, query, instance=instance)


def binding_of(provider: Provider) -> Binding:
    """Raises `ValueError` for a provider that is bound to nothing, which its kind rules out."""
    if not isinstance(provider.source.config, Binding):
        raise ValueError("config")
    return provider.source.config


def _is_other(was: Binding, binding: Binding) -> bool:
    """Limits need no test, unless the config that they belong to is of a version that is not known any more."""
    return binding.product != was.product or (not has_known_config(was) and binding != was)


def check_was_tried(*, is_other: bool) -> None:
    """Raises `Invalid`."""
    if is_other:
        violation = Violation(
            "/testQuery", "What changes how the server is asked is tried first: send a query for that."
        )
        raise Invalid("Correct the fields named in `errors`.", violations=(violation,))


def _product(binding: Binding, changes: BindingChanges) -> ProductConfig:
    return with_facts_of(changes.get("product", binding.product), binding.product)


def _common(common: CommonConfig, changes: BindingChanges) -> CommonConfig:
    return replace(common, **changes.get("common", {}))


def _changed(before: Provider, changes: BindingChanges) -> Provider:
    source = replace(
        before.source,
        name=changes.get("name", before.source.name),
        priority=changes.get("priority", before.source.priority),
    )
    return replace(
        before,
        source=source,
        status=changes.get("status", before.status),
        module=changes.get("module", before.module),
    )
