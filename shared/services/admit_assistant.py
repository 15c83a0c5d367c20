"""Admits assistants: a valid credential is not enough, it must hold the grant to read public knowledge."""

from __future__ import annotations

from shared.domain.credentials import Principal
from shared.domain.exposure import CredentialClass, Grant
from shared.errors import Forbidden
from shared.services.admit import Admit


class AdmitAssistant:
    """Raises like `Admit`, and `Forbidden` for a credential without `knowledge:read_public`."""

    def __init__(self, *, admit: Admit) -> None:
        self._admit = admit

    async def __call__(self, token_text: str | None) -> Principal:
        principal = await self._admit(token_text, classes=(CredentialClass.ASSISTANT,))
        if Grant.READ_PUBLIC not in principal.grants:
            raise Forbidden(f"This credential needs the grant {Grant.READ_PUBLIC}.")
        return principal
