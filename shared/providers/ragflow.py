"""Self-hosted RAGFlow, from 0.14 on: its data sets, searched through its API.

GET  {base_url}/datasets?page&page_size&id      the list, and one data set: its own page came late
POST {base_url}/retrieval                       a search
GET  {base_url}/system/version                  from 0.25 on

Nothing else is ever sent. Of what calls a language model, the knowledge graph alone can be asked for: where an operator
has chosen so, and one was built.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Final
from urllib.parse import urlencode

from shared.domain.bindings import Binding, RagflowConfig
from shared.domain.outcomes import OutcomeCode
from shared.domain.passages import Question, Retrieval
from shared.domain.registrations import Source
from shared.domain.remote_catalogs import MAX_LISTED, MAX_PAGE, CatalogPage, CatalogWish, RemoteEntry
from shared.domain.server_passages import retrieval_of
from shared.domain.server_requests import server_headers
from shared.errors import ExchangeError, Refused, ResponseTooLarge
from shared.ports.clock import Clock
from shared.ports.exchange import Exchange, OutboundAnswer, OutboundRequest
from shared.ports.retriever import RetrieverLimits
from shared.providers.ragflow_answers import is_doubtful, is_hidden, read_page, read_pieces, version_in
from shared.providers.ragflow_listing import Listing

# The product names no longest query: as much as anybody can ask here.
LIMITS: Final = RetrieverLimits(query_characters=4_000, results=20, timeout_s=25.0)
MAX_TOP_K: Final = 2_048
_PREFIX: Final = "/api/v1"
_AS_GIVEN = re.compile(r"([a-z]+://[^/]+(?:/.*?)??)(?:/api)?(?:/v1)?/*")
# Always the same, since what is found depends on it, and not small, since small pages come back empty.
_PAGE_SIZE: Final = 20
_OF_ONE: Final = 10  # rows asked for where one is meant
_LEAST_TIME_MS: Final = 5_000  # with less left a list is not read on
_LEAST_DOUBT_MS: Final = 500  # with less left a doubt stays one
_MOST_SOUGHT: Final = 2_000  # data sets whose names are looked through


class RagflowServer:
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
        """Operators write it with all of `/api/v1`, with a half of it and without."""
        match = _AS_GIVEN.fullmatch(base_url)
        return (match[1] if match else base_url) + _PREFIX

    async def retrieve(
        self, source: Source, question: Question, *, credential: str | None, exchange: Exchange
    ) -> Retrieval:
        """Of one data set a call: one that is not there, or that has another model, would fail all the others."""
        binding, settings = _settings_of(source)
        if len(question.query) > LIMITS.query_characters:
            raise Refused(OutcomeCode.QUERY_TOO_LONG)
        limit = max(0, min(question.limit, binding.common.result_limit, LIMITS.results))
        request = OutboundRequest(
            method="POST",
            url=f"{self.at(source.base_url)}/retrieval",
            headers=server_headers(credential, has_body=True),
            body=_body(question.query, binding.remote_id, settings),
        )
        answer = await exchange.send(lambda: request)
        if is_doubtful(answer):
            raise await self._resolved(source.base_url, credential=credential, exchange=exchange)
        return retrieval_of(
            read_pieces(answer, within=binding.remote_id, most=limit + 1, now=self._clock.now()),
            source=source,
            limit=limit,
            max_snippet_characters=binding.common.max_snippet_characters,
        )

    async def catalog(
        self, base_url: str, wish: CatalogWish, *, credential: str | None, exchange: Exchange
    ) -> CatalogPage:
        """The list is read whole for each page of it, since no page of the server's can be relied upon. Names are
        looked through here, for the server fails over a name that is not there and knows no parts of names.
        """
        if wish.parent is not None:  # there are no folders
            raise Refused(OutcomeCode.NOT_FOUND)
        listing = Listing(most=_MOST_SOUGHT if wish.search else MAX_LISTED)
        await self._read(base_url, listing, credential=credential, exchange=exchange)
        return _page(listing, wish)

    async def detail(self, base_url: str, remote_id: str, *, credential: str | None, exchange: Exchange) -> RemoteEntry:
        """An id is taken with and without its dashes; the answer's is the server's own."""
        if not remote_id.strip():
            raise Refused(OutcomeCode.NOT_FOUND)
        query = {"page": 1, "page_size": _OF_ONE, "id": remote_id}
        answer = await self._get(base_url, query, credential=credential, exchange=exchange)
        if is_doubtful(answer):
            raise await self._resolved(base_url, credential=credential, exchange=exchange)
        if is_hidden(answer):
            raise Refused(OutcomeCode.NOT_FOUND)
        page = read_page(answer, now=self._clock.now(), asked_id=remote_id)
        entry = next((each for each in page.entries if _bare(each.id) == _bare(remote_id)), None)
        if entry is None:
            raise Refused(OutcomeCode.NOT_FOUND)
        return entry

    async def version(self, base_url: str, *, credential: str | None, exchange: Exchange) -> str | None:
        headers = server_headers(credential, has_body=False)
        request = OutboundRequest(method="GET", url=f"{self.at(base_url)}/system/version", headers=headers)
        return version_in(await exchange.send(lambda: request))

    async def _resolved(self, base_url: str, *, credential: str | None, exchange: Exchange) -> Refused:
        """What a doubtful refusal is: the key's fault only if the list refuses it as well."""
        if exchange.remaining_ms() < _LEAST_DOUBT_MS:
            return Refused(OutcomeCode.UPSTREAM_ERROR)
        try:
            query = {"page": 1, "page_size": _OF_ONE}
            read_page(await self._get(base_url, query, credential=credential, exchange=exchange), now=self._clock.now())
        except ExchangeError as error:
            if error.code == OutcomeCode.UNAUTHORIZED:
                return Refused(OutcomeCode.UNAUTHORIZED)
        return Refused(OutcomeCode.UPSTREAM_ERROR)

    async def _read(self, base_url: str, listing: Listing, *, credential: str | None, exchange: Exchange) -> None:
        while (wanted := listing.wanted) is not None:
            if listing.has_begun and exchange.remaining_ms() < _LEAST_TIME_MS:
                return
            query = {"page": wanted.page, "page_size": wanted.size}
            try:
                answer = await self._get(base_url, query, credential=credential, exchange=exchange)
            except ResponseTooLarge:
                if not listing.shorten(wanted):
                    raise
            else:
                listing.take(wanted, read_page(answer, now=self._clock.now()))

    async def _get(
        self, base_url: str, query: Mapping[str, object], *, credential: str | None, exchange: Exchange
    ) -> OutboundAnswer:
        url = f"{self.at(base_url)}/datasets?{urlencode(query)}"
        headers = server_headers(credential, has_body=False)
        return await exchange.send(lambda: OutboundRequest(method="GET", url=url, headers=headers))


def _settings_of(source: Source) -> tuple[Binding, RagflowConfig]:
    """Raises `Refused` (`not_configured`) also for settings that the server would fail over."""
    if isinstance(source.config, Binding) and isinstance(source.config.product, RagflowConfig):
        settings = source.config.product
        shares = (settings.similarity_threshold, settings.vector_similarity_weight)
        if 1 <= settings.top_k <= MAX_TOP_K and all(0 <= share <= 1 for share in shares):
            return source.config, settings
    raise Refused(OutcomeCode.NOT_CONFIGURED)


def _body(query: str, remote_id: str, settings: RagflowConfig) -> bytes:
    """`highlight` is a text: before 0.24 nothing else switches it off, and later versions take both."""
    fields: dict[str, object] = {
        "question": query,
        "dataset_ids": [remote_id],
        "page": 1,
        "page_size": _PAGE_SIZE,
        "similarity_threshold": settings.similarity_threshold,
        "vector_similarity_weight": settings.vector_similarity_weight,
        "top_k": settings.top_k,
        "highlight": "false",
        "keyword": False,
        "include_knowledge_compilation": False,
    }
    if settings.use_kg and settings.has_graph:
        fields["use_kg"] = True
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()


def _page(listing: Listing, wish: CatalogWish) -> CatalogPage:
    sought = (wish.search or "").casefold()
    found = [each for each in listing.entries if sought in each.name.casefold()]
    shown = found[:MAX_LISTED]
    start = (wish.page - 1) * MAX_PAGE
    return CatalogPage(
        entries=tuple(shown[start : start + MAX_PAGE]),
        page=wish.page,
        has_more=start + MAX_PAGE < len(shown),
        total=None if sought else listing.total,
        is_cut=listing.is_cut or len(found) > MAX_LISTED,
    )


def _bare(remote_id: str) -> str:
    return remote_id.replace("-", "").casefold()
