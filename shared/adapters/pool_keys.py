"""The numbered keys of the pools, in the secret store: one secret a pool, a JSON object of names."""

from __future__ import annotations

from collections.abc import Mapping

from shared.adapters.failures import code_of, of_secrets
from shared.adapters.service_faults import ServiceRefusal
from shared.adapters.services import SecretsManagerClient
from shared.adapters.short_memory import ShortMemory
from shared.adapters.threads import in_thread
from shared.domain.answer_bodies import object_in
from shared.domain.key_pools import ConfiguredKeys, configured_keys
from shared.domain.pools import KEYED_POOLS, Pool
from shared.ports.clock import Clock


class SecretsManagerPoolKeys:
    """Implements `ports.pool_keys.PoolKeys`. `secret_ids` names the secrets that this process may read."""

    def __init__(self, client: SecretsManagerClient, *, secret_ids: Mapping[Pool, str], clock: Clock) -> None:
        self._client = client
        self._secret_ids = {pool: secret_ids[pool] for pool in KEYED_POOLS if pool in secret_ids}
        self._read_before: ShortMemory[Pool] = ShortMemory(clock)

    async def configured(self, pool: Pool) -> ConfiguredKeys:
        secret_id = self._secret_ids.get(pool)
        if secret_id is None:
            return ConfiguredKeys()
        secret = self._read_before.get(pool)
        if secret is None:
            secret = await in_thread(self._fetch, secret_id)
            self._read_before.put(pool, secret)
        return configured_keys(pool, object_in(secret.encode()) or {})

    @of_secrets
    def _fetch(self, secret_id: str) -> str:
        """Empty where there is no secret, or none that has a text."""
        try:
            return self._client.get_secret_value(SecretId=secret_id).get("SecretString", "")
        except ServiceRefusal as refusal:
            if code_of(refusal) != "ResourceNotFoundException":
                raise
            return ""
