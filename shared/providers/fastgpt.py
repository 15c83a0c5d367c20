"""Self-hosted FastGPT, from 4.8.5 on: its knowledge bases, searched through its API.

POST {base_url}/core/dataset/list               what lies in one folder, or what a name finds in all of them
GET  {base_url}/core/dataset/detail?id          one knowledge base
POST {base_url}/core/dataset/searchTest         a search

Nothing else is ever sent. A search is not without traces: the server counts and may bill it. What would call a language
model is never asked for. Its key is one for the whole account: keys of single apps are made for chats.
"""

from __future__ import annotations

import json
import re
from typing import Final
from urllib.parse import quote

from shared.domain.bindings import Binding, FastGptConfig
from shared.domain.outcomes import OutcomeCode
from shared.domain.passages import Question, Retrieval
from shared.domain.registrations import Source
from shared.domain.remote_catalogs import MAX_LISTED, MAX_PAGE, CatalogPage, CatalogWish, RemoteEntry
from shared.domain.server_passages import retrieval_of
from shared.domain.server_requests import server_headers
from shared.errors import Refused
from shared.ports.clock import Clock
from shared.ports.exchange import Exchange, OutboundAnswer, OutboundRequest
from shared.ports.retriever import RetrieverLimits
from shared.providers.fastgpt_answers import data_of, is_hidden, is_object_id, read_list, read_listed, read_pieces

# The product names no longest query: as much as anybody can ask here.
LIMITS: Final = RetrieverLimits(query_characters=4_000, results=20, timeout_s=25.0)
MAX_TOKENS: Final = 20_000
_PREFIX: Final = "/api"
_AS_GIVEN = re.compile(r"([a-z]+://[^/]+(?:/.*?)??)(?:/api(?:/v1)?)?/*")


class FastGptServer:
    """Implements `ports.knowledge_server.KnowledgeServer`. Its passages cite no addresses, so `allow_test_names`, which
    every kind is built with, changes nothing here.
    """

    def __init__(self, *, clock: Clock, allow_test_names: bool) -> None:
        del allow_test_names
        self._clock = clock

    @property
    def limits(self) -> RetrieverLimits:
        return LIMITS

    def at(self, base_url: str) -> str:
        """Operators write it with and without `/api`; under `/api/v1` the product shows them where chats are."""
        match = _AS_GIVEN.fullmatch(base_url)
        return (match[1] if match else base_url) + _PREFIX

    async def retrieve(
        self, source: Source, question: Question, *, credential: str | None, exchange: Exchange
    ) -> Retrieval:
        """`token_limit` is sent as the product's `limit`, which counts tokens and is passed by the last row: rows are
        counted here.
        """
        binding, settings = _settings_of(source)
        if len(question.query) > LIMITS.query_characters:
            raise Refused(OutcomeCode.QUERY_TOO_LONG)
        limit = max(0, min(question.limit, binding.common.result_limit, LIMITS.results))
        fields = _search(question.query, binding.remote_id, settings)
        answer = await self._post(source.base_url, "searchTest", fields, credential=credential, exchange=exchange)
        found = data_of(answer, now=self._clock.now(), asked_id=binding.remote_id)
        return retrieval_of(
            read_pieces(found, within=binding.remote_id, most=limit + 1),
            source=source,
            limit=limit,
            max_snippet_characters=binding.common.max_snippet_characters,
        )

    async def catalog(
        self, base_url: str, wish: CatalogWish, *, credential: str | None, exchange: Exchange
    ) -> CatalogPage:
        """The server knows no pages: it sends all that a folder holds, and pages are cut out of that. A search finds
        names and descriptions in every folder, whichever `parent` is given. A data set whose creator has left the team
        is not listed, and is found by its id alone.
        """
        if wish.parent is not None and not is_object_id(wish.parent):
            raise Refused(OutcomeCode.NOT_FOUND)  # the server would list every folder's content instead
        fields: dict[str, object] = {"parentId": wish.parent}
        if wish.search:
            fields["searchKey"] = wish.search
        answer = await self._post(base_url, "list", fields, credential=credential, exchange=exchange)
        return _page(read_list(data_of(answer, now=self._clock.now())), wish.page)

    async def detail(self, base_url: str, remote_id: str, *, credential: str | None, exchange: Exchange) -> RemoteEntry:
        """Of a folder, too."""
        if not remote_id.strip():
            raise Refused(OutcomeCode.NOT_FOUND)
        url = f"{self.at(base_url)}/core/dataset/detail?id={quote(remote_id, safe='')}"
        headers = server_headers(credential, has_body=False)
        answer = await exchange.send(lambda: OutboundRequest(method="GET", url=url, headers=headers))
        if is_hidden(answer):
            raise Refused(OutcomeCode.NOT_FOUND)
        entry = read_listed(data_of(answer, now=self._clock.now(), asked_id=remote_id))
        if entry.id.casefold() != remote_id.casefold():
            raise Refused(OutcomeCode.INVALID_RESPONSE)
        return entry

    async def version(self, base_url: str, *, credential: str | None, exchange: Exchange) -> str | None:
        """The product tells it to people who have logged in, not to keys: nothing is sent."""
        del base_url, credential, exchange
        return None

    async def _post(
        self, base_url: str, page: str, fields: dict[str, object], *, credential: str | None, exchange: Exchange
    ) -> OutboundAnswer:
        request = OutboundRequest(
            method="POST",
            url=f"{self.at(base_url)}/core/dataset/{page}",
            headers=server_headers(credential, has_body=True),
            body=json.dumps(fields, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode(),
        )
        return await exchange.send(lambda: request)


def _settings_of(source: Source) -> tuple[Binding, FastGptConfig]:
    """Raises `Refused` (`not_configured`) also for settings that the server would take for others, or fail over."""
    if isinstance(source.config, Binding) and isinstance(source.config.product, FastGptConfig):
        settings = source.config.product
        if 1 <= settings.token_limit <= MAX_TOKENS and 0 <= settings.similarity <= 1:
            return source.config, settings
    raise Refused(OutcomeCode.NOT_CONFIGURED)


def _search(query: str, remote_id: str, settings: FastGptConfig) -> dict[str, object]:
    return {
        "datasetId": remote_id,
        "text": query,
        "limit": settings.token_limit,
        "similarity": settings.similarity,
        "searchMode": settings.search_mode,
        "usingReRank": settings.using_rerank,
    }


def _page(entries: list[RemoteEntry], page: int) -> CatalogPage:
    shown = entries[:MAX_LISTED]
    start = (page - 1) * MAX_PAGE
    return CatalogPage(
        entries=tuple(shown[start : start + MAX_PAGE]),
        page=page,
        has_more=start + MAX_PAGE < len(shown),
        total=len(entries),
        is_cut=len(entries) > MAX_LISTED,
    )
