"""Lets a service without keys be asked again before the time that it has asked for, because an operator says so."""

from __future__ import annotations

from shared.domain.pools import POOL_OF, Pool
from shared.ports.circuits import CircuitStore
from shared.ports.registry import Registry
from shared.services.put_back import PutBack


class WakeService:
    """`agent_circuits` have learnt from the pool how long its service is to be left alone. Live kinds are asked on
    that lane alone.
    """

    def __init__(self, *, registry: Registry, agent_circuits: CircuitStore, put_back: PutBack) -> None:
        self._registry = registry
        self._circuits = agent_circuits
        self._put_back = put_back

    async def __call__(self, pool: Pool) -> None:
        """Raises `Unavailable`; doing it again finishes it."""
        known = await self._circuits.read()
        held = [id_ for id_, circuit in known.circuits.items() if circuit.is_held]
        woken = [id_ for id_ in held if await self._is_of(pool, id_)]
        await self._put_back.end_waits(woken, known=known)

    async def _is_of(self, pool: Pool, provider_id: str) -> bool:
        provider = await self._registry.get(provider_id)
        return provider is not None and POOL_OF.get(provider.source.kind) is pool
