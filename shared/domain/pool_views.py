"""A pool as an operator sees it: which keys there are, by name, which one is in use, and which ones rest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from shared.domain.key_pools import (
    ConfiguredKeys,
    PoolKey,
    PoolState,
    RestReason,
    choose_key,
    free_again_at,
)
from shared.domain.pools import KEYED_POOLS, Pool

KeyState = Literal["ready", "resting", "active"]


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyView:
    """`active`: the next operation uses it. `resting_until` is Unix seconds."""

    name: str
    state: KeyState
    resting_until: float | None = None
    reason: RestReason | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolView:
    """`unusable` names what is configured and is no key. `ready_again_at` (Unix seconds) is set when all keys rest, or
    when a service without keys does.
    """

    pool: Pool
    keys: tuple[KeyView, ...]
    unusable: tuple[str, ...]
    ready_again_at: float | None = None

    @property
    def takes_keys(self) -> bool:
        return self.pool in KEYED_POOLS

    @property
    def resting(self) -> int:
        return sum(key.state == "resting" for key in self.keys)

    @property
    def usable(self) -> int:
        return len(self.keys) - self.resting


def pool_view(pool: Pool, configured: ConfiguredKeys, state: PoolState, *, now: float) -> PoolView:
    in_use = choose_key(configured.keys, state, now=now)
    named = [key for key in configured.keys if key.name]
    return PoolView(
        pool=pool,
        keys=tuple(_key_view(key, state, in_use=key == in_use, now=now) for key in named),
        unusable=configured.unusable,
        ready_again_at=free_again_at(configured.keys, state, now=now) if in_use is None else None,
    )


def _key_view(key: PoolKey, state: PoolState, *, in_use: bool, now: float) -> KeyView:
    rest = state.rests.get(key.fingerprint)
    if rest is None or rest.until <= now:
        return KeyView(name=key.name, state="active" if in_use else "ready")
    return KeyView(name=key.name, state="resting", resting_until=rest.until, reason=rest.reason)
