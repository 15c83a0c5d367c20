"""Changes a self-hosted server's registration, and switches off what the change leaves unproven."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TypedDict

from shared.domain.credentials import Principal
from shared.domain.instance_rules import (
    Acknowledgement,
    CredentialMutation,
    Keep,
    check_credential_moves,
    check_public_only,
    is_still_stated,
)
from shared.domain.instances import Instance
from shared.domain.preconditions import check_generation, existing
from shared.domain.private_authorities import checked_authority
from shared.domain.registrations import ProviderKind
from shared.ports.instances import Instances
from shared.ports.knowledge_server import KnowledgeServer
from shared.services.change_instance import ChangeInstance
from shared.services.place_server import PlaceServer
from shared.services.seal_credential import SealCredential


class InstanceChanges(TypedDict, total=False):
    """Only what is to change. Kind and exposure profile are not among it: they are fixed at registration."""

    name: str
    base_url: str
    credential: CredentialMutation
    acknowledge: Acknowledgement
    reaches_public_only: bool
    private_authority: str | None


class UpdateInstance:
    def __init__(
        self,
        *,
        instances: Instances,
        servers: Mapping[ProviderKind, KnowledgeServer],
        place: PlaceServer,
        seal: SealCredential,
        change: ChangeInstance,
    ) -> None:
        self._instances = instances
        self._servers = servers
        self._place = place
        self._seal = seal
        self._change = change

    async def __call__(
        self, instance_id: str, changes: InstanceChanges, *, expected_generation: int, by: Principal
    ) -> Instance:
        """The instance as it is now; nothing is written where nothing differs. Another base URL voids what was
        acknowledged for the old one and switches the bindings off until a test passes.

        Raises `NotFound`, `PreconditionFailed`, `Invalid`, `Conflict`, `Unavailable`.
        """
        before = existing(await self._instances.get(instance_id))
        check_generation(before.generation, expected_generation)
        mutation = changes.get("credential", Keep())
        after = _stated(before, await self._placed(_changed(before, changes), changes), changes)
        has_credential = before.credential is not None
        check_credential_moves(before.base_url, after.base_url, mutation, has_credential=has_credential)
        sealed = await self._seal(
            mutation,
            owner_id=before.id,
            profile=before.exposure_profile,
            stored=before.credential,
        )
        after = replace(after, credential=sealed.credential)
        if after == before:
            return before
        unproven = before.binding_ids if after.base_url != before.base_url else frozenset()
        return await self._change.replace(before, after, credential_key=sealed.key, by=by, disable=unproven)

    async def _placed(self, after: Instance, changes: InstanceChanges) -> Instance:
        """Under the same base URL as before, what was acknowledged for it holds on."""
        form = self._servers[after.kind].at
        given = changes.get("acknowledge")
        if given is None and changes.get("base_url", after.base_url) == after.base_url:
            return after
        place = await self._place(changes.get("base_url", after.base_url), form=form, given=given)
        return replace(after, base_url=place.base_url, acknowledged=place.risks)


def _stated(before: Instance, after: Instance, changes: InstanceChanges) -> Instance:
    """Raises `Invalid`."""
    held = is_still_stated(
        stated=before.reaches_public_only,
        moved=after.base_url != before.base_url,
        mutation=changes.get("credential", Keep()),
        has_credential=before.credential is not None,
    )
    stated = changes.get("reaches_public_only", held)
    check_public_only(before.exposure_profile, stated=stated)
    return replace(after, reaches_public_only=stated)


def _changed(before: Instance, changes: InstanceChanges) -> Instance:
    """Raises `Invalid`."""
    authority = changes.get("private_authority", before.private_authority)
    if authority is not None and authority != before.private_authority:
        authority = checked_authority(authority)
    return replace(before, name=changes.get("name", before.name), private_authority=authority)
