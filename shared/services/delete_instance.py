"""Deletes a self-hosted server's registration, and its bindings where exactly they are named."""

from __future__ import annotations

from shared.domain.credentials import Principal
from shared.domain.preconditions import check_generation
from shared.errors import Conflict
from shared.ports.instances import Instances
from shared.services.change_instance import ChangeInstance


class DeleteInstance:
    def __init__(self, *, instances: Instances, change: ChangeInstance) -> None:
        self._instances = instances
        self._change = change

    async def __call__(
        self, instance_id: str, *, with_bindings: frozenset[str], expected_generation: int, by: Principal
    ) -> None:
        """All of it, or nothing. `with_bindings` are the bindings that the operator has seen and gives up: those that
        exist, no fewer and no more. What is stored and cannot be read has no generation to show, and is deleted
        whichever one is expected.

        Raises `NotFound`, `PreconditionFailed`, `Conflict` (`instance_in_use`, whose facts list what exists),
        `Unavailable`.
        """
        instance = await self._instances.get(instance_id)
        if instance is None:
            await self._change.remove_unreadable(instance_id, bindings=with_bindings, by=by)
            return
        check_generation(instance.generation, expected_generation)
        if with_bindings != instance.binding_ids:
            raise Conflict(
                "Name exactly the providers that are bound to this instance to delete them with it, or delete them "
                "first.",
                code="instance_in_use",
                facts={"bindings": sorted(instance.binding_ids)},
            )
        await self._change.remove(instance, bindings=with_bindings, by=by)
