"""Pools on the wire. A key is shown by its name alone; nothing is said of what its account has left."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from shared.domain.key_pools import LONGEST_REST_S, RestReason
from shared.domain.pool_views import KeyState, KeyView, PoolView
from shared.domain.pools import Pool
from shared.web.moments import moment_or_none
from shared.web.shown import Shown
from shared.web.wire import AdminModel

KeyName = Annotated[str, Field(min_length=1, max_length=40, examples=["EXA_API_KEY_2"])]
Moment = Annotated[str, Field(json_schema_extra={"format": "date-time"})]


class KeyRest(AdminModel):
    """A rest that already ends later stays as it is."""

    key: KeyName
    seconds: int = Field(ge=1, le=int(LONGEST_REST_S))


class KeysWake(AdminModel):
    """`key: null`, or no body: all keys of the pool, or the service itself where it takes none."""

    key: KeyName | None = None


class KeyShown(Shown):
    """`active`: the next operation uses it. Why a key rests: its quota is spent, it was too fast, or an operator said
    so.
    """

    name: str
    state: KeyState
    resting_until: Moment | None
    reason: RestReason | None

    @classmethod
    def of(cls, key: KeyView) -> KeyShown:
        return cls(name=key.name, state=key.state, resting_until=moment_or_none(key.resting_until), reason=key.reason)


class PoolShown(Shown):
    """`usable` keys do not rest now. `unusable` names what is configured and cannot be sent as a key: a line break
    inside, say. `readyAgainAt` is set when all keys rest, or when a service that takes no keys does: nothing is sent
    until then.
    """

    pool: Pool
    takes_keys: bool
    configured: int
    usable: int
    resting: int
    keys: tuple[KeyShown, ...]
    unusable: tuple[str, ...]
    ready_again_at: Moment | None

    @classmethod
    def of(cls, view: PoolView) -> PoolShown:
        return cls.model_validate(
            {
                "pool": view.pool,
                "takes_keys": view.takes_keys,
                "configured": len(view.keys),
                "usable": view.usable,
                "resting": view.resting,
                "keys": tuple(KeyShown.of(key) for key in view.keys),
                "unusable": view.unusable,
                "ready_again_at": moment_or_none(view.ready_again_at),
            }
        )


class PoolsShown(Shown):
    pools: tuple[PoolShown, ...]
