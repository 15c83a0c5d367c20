"""The secret of the first admin, made by the stack."""

from __future__ import annotations

import re

from shared.adapters.failures import of_secrets, secrets_unavailable
from shared.adapters.services import SecretsManagerClient
from shared.adapters.short_memory import ShortMemory
from shared.adapters.threads import in_thread
from shared.ports.clock import Clock

_WELL_FORMED = re.compile(r"[0-9a-f]{64}", re.ASCII)


class SecretsManagerRootSecret:
    """Implements `ports.root_secret.RootSecret`. A line break around the stored value is no part of it."""

    def __init__(self, client: SecretsManagerClient, *, secret_id: str, clock: Clock) -> None:
        self._client = client
        self._secret_id = secret_id
        self._read_before: ShortMemory[str] = ShortMemory(clock)

    async def read(self) -> str:
        known = self._read_before.get(self._secret_id)
        if known is not None:
            return known
        secret = (await in_thread(self._fetch)).strip()
        if _WELL_FORMED.fullmatch(secret) is None:
            raise secrets_unavailable()
        self._read_before.put(self._secret_id, secret)
        return secret

    @of_secrets
    def _fetch(self) -> str:
        return self._client.get_secret_value(SecretId=self._secret_id).get("SecretString", "")
