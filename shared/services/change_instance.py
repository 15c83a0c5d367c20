"""Writes a changed instance with its audit entry: the last step of everything that changes one."""

from __future__ import annotations

from dataclasses import replace

from shared.domain.auditing import NOTHING, Facts, facts_of_instance, new_entry
from shared.domain.changes import Change
from shared.domain.credentials import Principal
from shared.domain.instances import Instance
from shared.domain.once import Once
from shared.ports.clock import Clock
from shared.ports.instances import Instances

CREATED = 201


class ChangeInstance:
    """Each write holds only while the stored generation is still the one that was read."""

    def __init__(self, *, instances: Instances, clock: Clock) -> None:
        self._instances = instances
        self._clock = clock

    async def create(self, instance: Instance, *, credential_key: str | None, by: Principal, once: Once | None) -> None:
        """Raises `Conflict`, `Unavailable`."""
        now = self._clock.now()
        entry = new_entry(
            at=now,
            actor=by.credential_id,
            action="instance.created",
            resource=f"instance/{instance.id}",
            after=facts_of_instance(instance),
            generations=(None, instance.generation),
        )
        record = once.record(status=CREATED, resource_id=instance.id, now=now) if once else None
        change = Change(audit=entry, idempotency=record)
        await self._instances.create(instance, change, credential_key=credential_key)

    async def replace(
        self,
        before: Instance,
        after: Instance,
        *,
        credential_key: str | None,
        by: Principal,
        disable: frozenset[str] = frozenset(),
    ) -> Instance:
        """The instance as written; the bindings in `disable` are off until a test passes.

        Raises `Conflict`, `PreconditionFailed`, `NotFound`, `Unavailable`.
        """
        now = self._clock.now()
        written = replace(after, generation=before.generation + 1, updated_at=now)
        change = self._entry(before, written, action="instance.updated", by=by, bindings=disable)
        await self._instances.replace(
            written,
            expected_generation=before.generation,
            change=change,
            credential_key=credential_key,
            disable=disable,
        )
        return written

    async def remove(self, before: Instance, *, bindings: frozenset[str], by: Principal) -> None:
        """Raises like `replace`."""
        change = self._entry(before, None, action="instance.deleted", by=by, bindings=bindings)
        await self._instances.delete(before, expected_generation=before.generation, change=change, bindings=bindings)

    async def remove_unreadable(self, instance_id: str, *, bindings: frozenset[str], by: Principal) -> None:
        """Nothing is known of it but its id. Raises like `replace`."""
        entry = new_entry(
            at=self._clock.now(),
            actor=by.credential_id,
            action="instance.deleted",
            resource=f"instance/{instance_id}",
            before={"bindings": sorted(bindings)} if bindings else NOTHING,
        )
        await self._instances.delete_unreadable(instance_id, change=Change(audit=entry), bindings=bindings)

    def _entry(
        self, before: Instance, after: Instance | None, *, action: str, by: Principal, bindings: frozenset[str]
    ) -> Change:
        """`bindings` are those that are switched off or removed with it."""
        touched: Facts = {"bindings": sorted(bindings)} if bindings else NOTHING
        entry = new_entry(
            at=self._clock.now(),
            actor=by.credential_id,
            action=action,
            resource=f"instance/{before.id}",
            before={**facts_of_instance(before), **(NOTHING if after else touched)},
            after={**facts_of_instance(after), **touched} if after else NOTHING,
            generations=(before.generation, after.generation if after else None),
        )
        return Change(audit=entry)
