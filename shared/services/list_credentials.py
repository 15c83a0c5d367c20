"""Shows credentials, one or a page of them, with root among them."""

from __future__ import annotations

from shared.domain.credentials import Credential
from shared.domain.identifiers import ROOT_ID
from shared.domain.pages import Page
from shared.domain.preconditions import existing
from shared.domain.root import root_credential
from shared.ports.credential_store import CredentialStore


class ListCredentials:
    """Root lies outside the store and comes first; `after` = its id means the store's beginning."""

    def __init__(self, *, store: CredentialStore) -> None:
        self._store = store

    async def one(self, credential_id: str) -> Credential:
        """Raises `NotFound`, `Unavailable`."""
        if credential_id == ROOT_ID:
            return await self._root()
        return existing(await self._store.get(credential_id))

    async def page(self, *, limit: int, after: str | None) -> Page[Credential]:
        """Root, then ascending by id. Raises `Unavailable`."""
        if after is not None:
            return await self._store.page(limit=limit, after=None if after == ROOT_ID else after)
        root = await self._root()
        rest = await self._store.page(limit=max(1, limit - 1), after=None)
        if limit == 1:
            return Page((root,), ROOT_ID if rest.items else None)
        return Page((root, *rest.items), rest.next_after)

    async def _root(self) -> Credential:
        return root_credential(await self._store.root_switch())
