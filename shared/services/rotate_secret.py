"""Replaces a provider's signing secret; the replaced one goes on signing beside it for a while."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from shared.domain.credentials import Principal
from shared.domain.exposure import ExposureProfile
from shared.domain.identifiers import new_signing_secret
from shared.domain.once import Once
from shared.domain.preconditions import check_generation, existing
from shared.domain.registrations import Provider, SealedSecret
from shared.domain.rotation import DEFAULT_WINDOW_HOURS, refuse_while_pending, rotated
from shared.errors import Conflict, PreconditionFailed
from shared.ports.clock import Clock
from shared.ports.registry import Registry
from shared.ports.secret_box import Sealer, Unsealer
from shared.services.change_provider import ChangeProvider
from shared.services.register import Registered
from shared.services.replay import Replay


@dataclass(frozen=True, slots=True, kw_only=True)
class Rotation:
    """`window_hours` 0 drops the replaced secret at once."""

    window_hours: int = DEFAULT_WINDOW_HOURS
    replace_pending: bool = False


class RotateSecret:
    def __init__(
        self,
        *,
        registry: Registry,
        change: ChangeProvider,
        sealers: Mapping[ExposureProfile, Sealer],
        unsealers: Mapping[ExposureProfile, Unsealer],
        replay: Replay,
        clock: Clock,
    ) -> None:
        self._registry = registry
        self._change = change
        self._sealers = sealers
        self._unsealers = unsealers
        self._replay = replay
        self._clock = clock

    async def __call__(
        self, provider_id: str, rotation: Rotation, *, expected_generation: int | None, by: Principal, once: Once | None
    ) -> Registered:
        """The provider and its new secret, which is None for a repetition.

        Raises `NotFound`, `PreconditionFailed`, `Conflict` (`rotation_pending`), `Unavailable`.
        """
        if (earlier := await self._replay.find(once)) is not None:
            return await self._repeated(earlier)
        before = existing(await self._registry.get(provider_id))
        secret = new_signing_secret()
        try:
            check_generation(before.generation, expected_generation)
            _signing_of(before)
            refuse_while_pending(before, now=self._clock.now(), replace_pending=rotation.replace_pending)
            after = await self._rotated(before, secret, window_hours=rotation.window_hours)
            written = await self._change(before, after, action="provider.secret_rotated", by=by, once=once)
        except (Conflict, PreconditionFailed):
            # A twin of this very request may have won the race.
            if (earlier := await self._replay.find(once)) is None:
                raise
            return await self._repeated(earlier)
        return Registered(written, secret)

    async def _repeated(self, provider_id: str) -> Registered:
        return Registered(existing(await self._registry.get(provider_id)), None)

    async def _rotated(self, before: Provider, secret: str, *, window_hours: int) -> Provider:
        sealer = self._sealers[before.exposure_profile]
        new = await sealer.seal(secret, owner_id=before.id, purpose="signing")
        replaced = await self._as_previous(before) if window_hours else None
        return rotated(before, new=new, replaced=replaced, window_hours=window_hours, now=self._clock.now())

    async def _as_previous(self, before: Provider) -> SealedSecret:
        """The current secret, sealed again: a ciphertext opens for its own purpose alone."""
        unsealer, sealer = self._unsealers[before.exposure_profile], self._sealers[before.exposure_profile]
        current = await unsealer.unseal(_signing_of(before), owner_id=before.id, purpose="signing")
        return await sealer.seal(current, owner_id=before.id, purpose="signing_previous")


def _signing_of(provider: Provider) -> SealedSecret:
    """Raises `Conflict` (`no_signing_secret`) for a provider of a kind that signs nothing."""
    if provider.source.signing is None:
        raise Conflict("A provider of this kind has no signing secret.", code="no_signing_secret")
    return provider.source.signing
