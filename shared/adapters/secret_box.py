"""Sealing and unsealing under the key of one exposure profile."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import Future
from typing import TypeAlias

from shared.adapters.failures import of_secrets, secrets_unavailable
from shared.adapters.services import KMSClient
from shared.adapters.short_memory import ShortMemory
from shared.adapters.threads import in_thread, start
from shared.domain.exposure import ExposureProfile
from shared.domain.identifiers import fingerprint_of
from shared.domain.registrations import Purpose, SealedSecret
from shared.ports.clock import Clock

_Wanted: TypeAlias = "tuple[bytes, str, Purpose]"


class KmsSealer:
    """Implements `ports.secret_box.Sealer`. White space around a secret is no part of it."""

    def __init__(self, client: KMSClient, *, key_id: str, exposure: ExposureProfile) -> None:
        self._client = client
        self._key_id = key_id
        self._exposure = exposure

    async def seal(self, plaintext: str, *, owner_id: str, purpose: Purpose) -> SealedSecret:
        secret = plaintext.strip()
        if not secret:
            raise ValueError("a secret is never blank")
        context = _context(self._exposure, owner_id, purpose)
        ciphertext = await in_thread(self._encrypt, secret, context)
        return SealedSecret(ciphertext=ciphertext, fingerprint=fingerprint_of(secret))

    @of_secrets
    def _encrypt(self, secret: str, context: dict[str, str]) -> bytes:
        answer = self._client.encrypt(KeyId=self._key_id, Plaintext=secret.encode(), EncryptionContext=context)
        return answer["CiphertextBlob"]


class KmsUnsealer:
    """Implements `ports.secret_box.Unsealer`. Whoever wants the same secret at the same time shares one call."""

    def __init__(self, client: KMSClient, *, key_id: str, exposure: ExposureProfile, clock: Clock) -> None:
        self._client = client
        self._key_id = key_id
        self._exposure = exposure
        self._opened: ShortMemory[_Wanted] = ShortMemory(clock)
        self._opening: dict[_Wanted, Future[str]] = {}
        self._lock = threading.Lock()

    async def unseal(self, sealed: SealedSecret, *, owner_id: str, purpose: Purpose) -> str:
        wanted: _Wanted = (sealed.ciphertext, owner_id, purpose)
        known = self._opened.get(wanted)
        if known is not None:
            return known
        # Shielded: one caller's deadline does not take the answer from the others.
        return await asyncio.shield(asyncio.wrap_future(self._start(wanted)))

    def _start(self, wanted: _Wanted) -> Future[str]:
        with self._lock:
            opening = self._opening.get(wanted)
            if opening is None:
                opening = self._opening[wanted] = start(self._open, wanted)
        return opening

    def _open(self, wanted: _Wanted) -> str:
        try:
            secret = self._decrypt(wanted)
            self._opened.put(wanted, secret)
            return secret
        finally:
            with self._lock:
                self._opening.pop(wanted, None)

    @of_secrets
    def _decrypt(self, wanted: _Wanted) -> str:
        ciphertext, owner_id, purpose = wanted
        context = _context(self._exposure, owner_id, purpose)
        answer = self._client.decrypt(KeyId=self._key_id, CiphertextBlob=ciphertext, EncryptionContext=context)
        try:
            return answer["Plaintext"].decode()
        except UnicodeDecodeError:
            raise secrets_unavailable() from None


def _context(exposure: ExposureProfile, owner_id: str, purpose: Purpose) -> dict[str, str]:
    return {"exposure": exposure.value, "id": owner_id, "purpose": purpose}
