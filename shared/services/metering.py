"""Takes one operation to a live service through its reservation and, key by key, to an answer.

keys, state        nothing configured: not_configured; all resting: keys_exhausted. Nothing was written or sent
                   (a service without keys has one nameless key; while that rests: rate_limited)
reserve            the day's units are used: allowance_exhausted. Nothing was sent. Where it took long, the state is
                   read again, so that a rest that was written meanwhile is seen
try a key          refused for the key's sake: it rests, for all instances, and the next one is tried
settle             confirmed, released, or left alone: then it counts as unknown until an operator reviews it
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Final, TypeVar, cast

from aws_lambda_powertools import Logger

from shared.domain.allowances import Reservation
from shared.domain.deadlines import Deadline
from shared.domain.key_pools import (
    LONGEST_REST_S,
    REST_BY_DEFAULT_S,
    PoolKey,
    PoolState,
    Rest,
    RestReason,
    choose_key,
    free_again_at,
    nameless_key,
    next_active,
    rested,
    resting_with,
)
from shared.domain.outcomes import OutcomeCode, not_configured_until
from shared.domain.pools import KEYED_POOLS, Pool
from shared.domain.registrations import Source
from shared.errors import (
    BlockedAddress,
    ConnectionFailed,
    ExchangeError,
    ExchangeTimeout,
    KeyRefused,
    NeverConnected,
    Refused,
    Unavailable,
    Unclear,
)
from shared.observability import KEY_RESTS, POOL_EXHAUSTED, UNIT_UNSETTLED
from shared.ports.allowances import Allowances
from shared.ports.clock import Clock
from shared.ports.exchange import Exchanges
from shared.ports.meter import Attempt
from shared.ports.pool_keys import PoolKeys
from shared.ports.pool_ledger import PoolLedger

T = TypeVar("T")

LEAST_TIME_S: Final = 3.0  # with less left, no attempt starts
ATTEMPT_S: Final = 15.0
_SETTLING_S: Final = 0.5
_STALE_AFTER_S: Final = 0.1  # a state read longer ago than that is read again before anything is sent
_SHORTEST_REST_S: Final = 1.0


class _OutOfTime(ExchangeTimeout):
    """Too little time was left to start, so nothing was sent."""


class _NoKeyLeft(Refused):
    """Every key rests, or was refused without any sign of accepted work."""


_NOTHING_WAS_DONE: Final = (_OutOfTime, _NoKeyLeft, NeverConnected, BlockedAddress)
_NOBODY_KNOWS: Final = (ExchangeTimeout, ConnectionFailed, Unclear)


class Metering:
    """Implements `ports.meter.Meters`. `attempt_s` is how long one attempt may take."""

    def __init__(
        self,
        *,
        keys: PoolKeys,
        ledger: PoolLedger,
        allowances: Allowances,
        exchanges: Exchanges,
        clock: Clock,
        logger: Logger,
        attempt_s: float = ATTEMPT_S,
    ) -> None:
        self.attempt_s = attempt_s
        self.keys = keys
        self.ledger = ledger
        self.allowances = allowances
        self.exchanges = exchanges
        self.clock = clock
        self.logger = logger

    def with_attempts_of(self, seconds: float) -> Metering:
        """The same, for operations that a service takes longer over."""
        return Metering(
            keys=self.keys,
            ledger=self.ledger,
            allowances=self.allowances,
            exchanges=self.exchanges,
            clock=self.clock,
            logger=self.logger,
            attempt_s=seconds,
        )

    def open(self, source: Source, pool: Pool, *, deadline: Deadline) -> PooledMeter:
        return PooledMeter(self, source, pool, deadline=deadline)


class PooledMeter:
    """Implements `ports.meter.Meter`. A store that cannot be used is `not_configured`: nothing was sent. A rest that
    could not be written is at least known to the later operations of this meter.
    """

    def __init__(self, parts: Metering, source: Source, pool: Pool, *, deadline: Deadline) -> None:
        self._parts = parts
        self._source = source
        self._pool = pool
        self._deadline = deadline
        self._unwritten: dict[str, Rest] = {}

    def remaining_ms(self) -> int:
        return int(self._remaining_s() * 1000)

    async def perform(self, work: Callable[[Attempt], Awaitable[T]]) -> T:
        try:
            keys = await self._keys()
            state, read_at_s = await self._state(), self._parts.clock.monotonic()
            self._choose(keys, state, tried=())
            self._check_time()
            reservation = await self._parts.allowances.reserve(self._pool)
        except Unavailable as error:
            raise not_configured_until(error, now=self._parts.clock.now()) from None
        try:
            state = await self._read_again(state, read_at_s)
            result = await self._with_keys(work, keys, state)
        except ExchangeError as error:
            await self._settle_after(error, reservation)
            raise
        await self._settled(self._parts.allowances.confirm, reservation)
        return result

    async def _keys(self) -> Sequence[PoolKey]:
        if not self._takes_keys:
            return (nameless_key(self._pool),)
        keys = (await self._parts.keys.configured(self._pool)).keys
        if not keys:
            raise Refused(OutcomeCode.NOT_CONFIGURED)
        return keys

    async def _state(self) -> PoolState:
        return self._with_unwritten(await self._parts.ledger.state(self._pool))

    async def _read_again(self, state: PoolState, read_at_s: float) -> PoolState:
        if self._parts.clock.monotonic() - read_at_s < _STALE_AFTER_S:
            return state
        try:
            return await self._state()
        except Unavailable:
            return state

    def _with_unwritten(self, state: PoolState) -> PoolState:
        for fingerprint, rest in self._unwritten.items():
            state = rested(state, (fingerprint,), rest, active=state.active)
        return state

    @property
    def _takes_keys(self) -> bool:
        return self._pool in KEYED_POOLS

    async def _with_keys(self, work: Callable[[Attempt], Awaitable[T]], keys: Sequence[PoolKey], state: PoolState) -> T:
        tried: list[str] = []
        while True:
            key = self._choose(keys, state, tried=tried)
            self._check_time()
            try:
                return await self._attempted(work, key)
            except KeyRefused as refusal:
                tried.append(key.fingerprint)
                state = await self._rested(key, refusal, keys, state)
            except Refused as refusal:
                await self._left_alone(key, refusal, state)
                raise

    async def _attempted(self, work: Callable[[Attempt], Awaitable[T]], key: PoolKey) -> T:
        """Over a line that sends nothing twice: it has been counted once."""
        deadline = self._deadline.capped(self._parts.attempt_s, now_s=self._parts.clock.monotonic())
        async with self._parts.exchanges.open_once(self._source, deadline=deadline) as exchange:
            return await work(Attempt(exchange=exchange, key=key.value or None))

    def _choose(self, keys: Sequence[PoolKey], state: PoolState, *, tried: Sequence[str]) -> PoolKey:
        """Raises `_NoKeyLeft` (`keys_exhausted`; `rate_limited` for a service without keys)."""
        now = self._parts.clock.now()
        key = choose_key(keys, state, now=now, tried=tried)
        if key is not None:
            return key
        code = OutcomeCode.KEYS_EXHAUSTED if self._takes_keys else OutcomeCode.RATE_LIMITED
        retry_at = free_again_at(keys, state, now=now)
        self._parts.logger.warning(POOL_EXHAUSTED, pool=self._pool, code=code, until=retry_at and round(retry_at))
        raise _NoKeyLeft(code, retry_at=retry_at)

    async def _left_alone(self, key: PoolKey, refusal: Refused, state: PoolState) -> None:
        """No other key can be tried at a service without keys, so every way to be told to slow down counts there."""
        if not self._takes_keys and refusal.code == OutcomeCode.RATE_LIMITED:
            until = refusal.retry_at or self._parts.clock.now() + REST_BY_DEFAULT_S["rate"]
            await self._rested(key, KeyRefused("rate", until=until), (key,), state)

    async def _rested(self, key: PoolKey, refusal: KeyRefused, keys: Sequence[PoolKey], state: PoolState) -> PoolState:
        """Written for all instances; where that fails, at least this meter knows."""
        now = self._parts.clock.now()
        until = min(max(refusal.until, now + _SHORTEST_REST_S), now + LONGEST_REST_S)
        rest = Rest(until, cast("RestReason", refusal.reason))
        resting = [each.fingerprint for each in resting_with(key, keys, scope=refusal.scope)]
        active = next_active(keys, state, resting=resting, until=until, now=now)
        self._parts.logger.warning(
            KEY_RESTS, pool=self._pool, key=key.name or None, reason=rest.reason, until=round(until)
        )
        try:
            return self._with_unwritten(await self._parts.ledger.rest(self._pool, resting, rest, active=active))
        except Unavailable:
            self._unwritten |= dict.fromkeys(resting, rest)
            return self._with_unwritten(state)

    async def _settle_after(self, error: ExchangeError, reservation: Reservation) -> None:
        if isinstance(error, _NOTHING_WAS_DONE):
            await self._settled(self._parts.allowances.release, reservation)
        elif isinstance(error, _NOBODY_KNOWS):
            self._parts.logger.warning(UNIT_UNSETTLED, pool=self._pool)
        else:
            await self._settled(self._parts.allowances.confirm, reservation)

    async def _settled(self, settle: Callable[[Reservation], Awaitable[None]], reservation: Reservation) -> None:
        """What cannot be written in a moment stays unsettled, which counts: the answer is not kept waiting for it."""
        try:
            async with asyncio.timeout(_SETTLING_S):
                await settle(reservation)
        except (Unavailable, TimeoutError):
            self._parts.logger.warning(UNIT_UNSETTLED, pool=self._pool)

    def _check_time(self) -> None:
        if self._remaining_s() < LEAST_TIME_S:
            raise _OutOfTime

    def _remaining_s(self) -> float:
        return self._deadline.remaining_s(self._parts.clock.monotonic())
