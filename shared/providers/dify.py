"""Self-hosted Dify, from 0.15 on: its data sets, searched through its service API.

GET  {base_url}/datasets?page&limit&keyword     the list
GET  {base_url}/datasets/{id}                   one data set; before 1.2 there is no such page, and the list is read
POST {base_url}/datasets/{id}/retrieve          a search

Nothing else is ever sent. A search is not without traces: the server notes each one.
"""

from __future__ import annotations

import json
from typing import Final
from urllib.parse import urlencode

from shared.domain.bindings import Binding, DifyConfig, DifyRetrievalModel, DifySearchMethod, DifyWeights
from shared.domain.outcomes import OutcomeCode
from shared.domain.passages import Question, Retrieval
from shared.domain.registrations import Source
from shared.domain.remote_catalogs import MAX_PAGE, CatalogPage, CatalogWish, RemoteEntry
from shared.domain.server_passages import retrieval_of
from shared.domain.server_requests import path_segment, server_headers
from shared.errors import Refused
from shared.ports.clock import Clock
from shared.ports.exchange import Exchange, OutboundAnswer, OutboundRequest
from shared.ports.retriever import RetrieverLimits
from shared.providers.dify_answers import (
    body_of,
    is_without_detail,
    read_listed,
    read_page,
    read_pieces,
    version_of,
)
from shared.providers.dify_listing import Listing

LIMITS: Final = RetrieverLimits(query_characters=250, results=20, timeout_s=25.0)  # 250 in every version so far
_PREFIX: Final = "/v1"
_LEAST_TIME_MS: Final = 5_000  # with less left a list is not read once more
_MOST_SOUGHT: Final = 2_400  # data sets that are looked through for one of them


class DifyServer:
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
        """Operators write it with and without `/v1`; pages with a slash at their end do not exist."""
        bare = base_url.rstrip("/")
        return bare if bare.endswith(_PREFIX) else bare + _PREFIX

    async def retrieve(
        self, source: Source, question: Question, *, credential: str | None, exchange: Exchange
    ) -> Retrieval:
        binding, settings = _settings_of(source)
        if len(question.query) > LIMITS.query_characters:
            raise Refused(OutcomeCode.QUERY_TOO_LONG)
        limit = min(question.limit, binding.common.result_limit)
        request = OutboundRequest(
            method="POST",
            url=f"{self.at(source.base_url)}/datasets/{path_segment(binding.remote_id)}/retrieve",
            headers=server_headers(credential, has_body=True),
            body=_body(question.query, settings, limit=limit),
        )
        answer = await exchange.send(lambda: request)
        found = body_of(answer, now=self._clock.now())
        return retrieval_of(
            read_pieces(found, within=binding.remote_id, most=limit + 1),
            source=source,
            limit=limit,
            max_snippet_characters=binding.common.max_snippet_characters,
        )

    async def catalog(
        self, base_url: str, wish: CatalogWish, *, credential: str | None, exchange: Exchange
    ) -> CatalogPage:
        """The list is read whole for each page of it, since no page of the server's can be relied upon. What colleagues
        have kept for themselves is left out, although the key reaches it: it is found by its id alone.
        """
        if wish.parent is not None:  # there are no folders
            raise Refused(OutcomeCode.NOT_FOUND)
        query = {"keyword": wish.search} if wish.search else {}
        listing = await self._list(base_url, Listing(), query, credential=credential, exchange=exchange)
        start = (wish.page - 1) * MAX_PAGE
        return CatalogPage(
            entries=listing.entries[start : start + MAX_PAGE],
            page=wish.page,
            has_more=start + MAX_PAGE < len(listing.entries),
            total=listing.total,
            is_cut=listing.is_cut,
        )

    async def detail(self, base_url: str, remote_id: str, *, credential: str | None, exchange: Exchange) -> RemoteEntry:
        page = f"/datasets/{path_segment(remote_id)}"
        answer = await self._get(base_url, page, credential=credential, exchange=exchange)
        if not is_without_detail(answer):
            return read_listed(body_of(answer, now=self._clock.now())).entry
        query = {"include_all": "true"}  # single pages of later versions show what colleagues keep for themselves, too
        sought = Listing(most=_MOST_SOUGHT)
        listing = await self._list(base_url, sought, query, credential=credential, exchange=exchange)
        found = (each for each in listing.entries if each.id.casefold() == remote_id.casefold())
        entry = next(found, None)
        if entry is None:
            raise Refused(OutcomeCode.NOT_FOUND)
        return entry

    async def version(self, base_url: str, *, credential: str | None, exchange: Exchange) -> str | None:
        query = "/datasets?page=1&limit=1"
        answer = await self._get(base_url, query, credential=credential, exchange=exchange)
        return version_of(answer.headers)

    async def _list(
        self, base_url: str, listing: Listing, query: dict[str, str], *, credential: str | None, exchange: Exchange
    ) -> Listing:
        while (wanted := listing.wanted) is not None:
            if listing.readings and exchange.remaining_ms() < _LEAST_TIME_MS:
                break
            page = urlencode({"page": wanted.page, "limit": wanted.limit} | query)
            answer = await self._get(base_url, f"/datasets?{page}", credential=credential, exchange=exchange)
            listing.take(wanted, read_page(body_of(answer, now=self._clock.now())))
        return listing

    async def _get(self, base_url: str, page: str, *, credential: str | None, exchange: Exchange) -> OutboundAnswer:
        headers = server_headers(credential, has_body=False)
        request = OutboundRequest(method="GET", url=self.at(base_url) + page, headers=headers)
        return await exchange.send(lambda: request)


def _settings_of(source: Source) -> tuple[Binding, DifyConfig]:
    if isinstance(source.config, Binding) and isinstance(source.config.product, DifyConfig):
        return source.config, source.config.product
    raise Refused(OutcomeCode.NOT_CONFIGURED)


def _body(query: str, settings: DifyConfig, *, limit: int) -> bytes:
    fields: dict[str, object] = {"query": query}
    if settings.retrieval_model is not None:
        fields["retrieval_model"] = _whole(settings.retrieval_model, top_k=limit)
    elif settings.is_economy:
        fields["retrieval_model"] = _of_keywords(top_k=limit)
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":")).encode()


def _of_keywords(*, top_k: int) -> dict[str, object]:
    """The least that every version takes."""
    return {
        "search_method": DifySearchMethod.KEYWORD,
        "reranking_enable": False,
        "score_threshold_enabled": False,
        "top_k": top_k,
    }


def _whole(model: DifyRetrievalModel, *, top_k: int) -> dict[str, object]:
    """Every field, whatever is switched off: some versions fail over one that is missing."""
    named = model.rerank_model
    return {
        "search_method": model.search_method,
        "reranking_enable": model.rerank_mode is not None,
        "reranking_mode": model.rerank_mode,
        "reranking_model": {
            "reranking_provider_name": "" if named is None else named.provider_name,
            "reranking_model_name": "" if named is None else named.model_name,
        },
        "weights": None if model.weights is None else _weights(model.weights),
        "top_k": top_k,
        "score_threshold_enabled": model.score_threshold is not None,
        "score_threshold": model.score_threshold,
    }


def _weights(weights: DifyWeights) -> dict[str, object]:
    return {
        "weight_type": "customized",
        "vector_setting": {
            "vector_weight": weights.vector_weight,
            "embedding_provider_name": weights.embedding_provider_name,
            "embedding_model_name": weights.embedding_model_name,
        },
        "keyword_setting": {"keyword_weight": weights.keyword_weight},
    }
