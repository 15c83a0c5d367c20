"""Changes a server that implements Dify's External Knowledge API. What changes how it is asked is tried first."""

from __future__ import annotations

from dataclasses import replace
from typing import TypedDict

from shared.domain.bindings import DifyExternalConfig
from shared.domain.credentials import Principal
from shared.domain.instance_rules import (
    Acknowledgement,
    CredentialMutation,
    Keep,
    check_credential_moves,
    check_public_only,
    is_still_stated,
)
from shared.domain.instances import Risk
from shared.domain.preconditions import check_generation, existing
from shared.domain.private_authorities import checked_authority
from shared.domain.registration_rules import settled
from shared.domain.registrations import Link, Provider, ProviderStatus
from shared.ports.registry import Registry
from shared.services.change_provider import ChangeProvider
from shared.services.place_server import PlaceServer
from shared.services.prove_server import ProveServer
from shared.services.register_external import as_it_is
from shared.services.seal_credential import SealCredential
from shared.services.update_binding import check_was_tried


class ExternalConfigChanges(TypedDict, total=False):
    knowledge_id: str
    score_threshold: float


class ExternalChanges(TypedDict, total=False):
    """Only what is to change. `config` and `common` hold the settings that were sent."""

    name: str
    priority: int
    module: str | None
    status: ProviderStatus
    base_url: str
    credential: CredentialMutation
    acknowledge: Acknowledgement
    reaches_public_only: bool
    private_authority: str | None
    config: ExternalConfigChanges
    common: dict[str, int]
    test_query: str


class UpdateExternal:
    def __init__(
        self,
        *,
        registry: Registry,
        place: PlaceServer,
        seal: SealCredential,
        prove: ProveServer,
        change: ChangeProvider,
    ) -> None:
        self._registry = registry
        self._place = place
        self._seal = seal
        self._prove = prove
        self._change = change

    async def __call__(
        self, provider_id: str, changes: ExternalChanges, *, expected_generation: int, by: Principal
    ) -> Provider:
        """The provider as it is now; nothing is written where nothing differs.

        Raises `NotFound`, `PreconditionFailed`, `Invalid`, `Conflict`, `Unavailable`.
        """
        before = existing(await self._registry.get(provider_id))
        check_generation(before.generation, expected_generation)
        changed = _stated(before, await self._placed(_changed(before, changes), changes), changes)
        mutation = changes.get("credential", Keep())
        stored = _link(before).credential
        check_credential_moves(
            before.source.base_url, changed.source.base_url, mutation, has_credential=stored is not None
        )
        sealed = await self._seal(
            mutation,
            owner_id=before.id,
            profile=before.exposure_profile,
            stored=stored,
        )
        changed = changed.with_source(link=replace(_link(changed), credential=sealed.credential))
        after = await self._settled(before, changed, changes)
        if after == before:
            return before
        return await self._change(before, after, action="provider.updated", by=by, credential_key=sealed.key)

    async def _settled(self, before: Provider, changed: Provider, changes: ExternalChanges) -> Provider:
        query = changes.get("test_query")
        if query is not None:
            return await self._prove.other(changed, query)
        check_was_tried(is_other=_way_to_ask(before) != _way_to_ask(changed))
        return settled(before, changed, asked_status=changes.get("status"))

    async def _placed(self, after: Provider, changes: ExternalChanges) -> Provider:
        """Under the same base URL as before, what was acknowledged for it holds on."""
        source, given = after.source, changes.get("acknowledge")
        if given is None and changes.get("base_url", source.base_url) == source.base_url:
            return after
        place = await self._place(changes.get("base_url", source.base_url), form=as_it_is, given=given)
        return after.with_source(
            base_url=place.base_url,
            allow_private_network=Risk.PRIVATE_NETWORK in place.risks,
            link=replace(_link(after), allow_plain_http=Risk.PLAIN_HTTP in place.risks),
        )


def _way_to_ask(provider: Provider) -> tuple[object, ...]:
    """What a search that has succeeded once has shown to work. Limits on what it may bring are no part of it."""
    source, config = provider.source, _config(provider)
    return (source.base_url, _link(provider), config.knowledge_id, config.score_threshold)


def _stated(before: Provider, after: Provider, changes: ExternalChanges) -> Provider:
    """Raises `Invalid`."""
    held = is_still_stated(
        stated=_config(before).reaches_public_only,
        moved=after.source.base_url != before.source.base_url,
        mutation=changes.get("credential", Keep()),
        has_credential=_link(before).credential is not None,
    )
    stated = changes.get("reaches_public_only", held)
    check_public_only(before.exposure_profile, stated=stated)
    return after.with_source(config=replace(_config(after), reaches_public_only=stated))


def _changed(before: Provider, changes: ExternalChanges) -> Provider:
    """Raises `Invalid`."""
    was, link = _config(before), _link(before)
    config = replace(was, **changes.get("config", {}), common=replace(was.common, **changes.get("common", {})))
    source = replace(
        before.source,
        name=changes.get("name", before.source.name),
        priority=changes.get("priority", before.source.priority),
        config=config,
        link=replace(link, private_authority=_authority(link, changes)),
    )
    return replace(
        before,
        source=source,
        status=changes.get("status", before.status),
        module=changes.get("module", before.module),
    )


def _authority(link: Link, changes: ExternalChanges) -> str | None:
    authority = changes.get("private_authority", link.private_authority)
    if authority is None or authority == link.private_authority:
        return authority
    return checked_authority(authority)


def _config(provider: Provider) -> DifyExternalConfig:
    """Raises `ValueError` for a provider of another kind."""
    if not isinstance(provider.source.config, DifyExternalConfig):
        raise ValueError("config")
    return provider.source.config


def _link(provider: Provider) -> Link:
    """Raises `ValueError` for a provider that has no link, which its kind rules out."""
    if provider.source.link is None:
        raise ValueError("link")
    return provider.source.link
