"""Mintlify's index of documentation, a hosted service (MCP, without keys).

POST {base_url}/mcp or {base_url}     tools/call of `context`: {query, product?, includeDomains, tokenBudget}

It assembles its text for the question: derived context. The approved pages that it cites are discoveries besides.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from shared.domain.forced import check_not_forced
from shared.domain.live_configs import (
    MAX_MINTLIFY_TOKENS,
    MIN_MINTLIFY_TOKENS,
    MintlifyConfig,
    MintlifyEndpoint,
)
from shared.domain.passages import FreshnessWish, Question, Retrieval, Warning_
from shared.domain.registrations import Source
from shared.domain.strict_json import JsonValue
from shared.errors import Refused
from shared.ports.clock import Clock
from shared.ports.exchange import Exchange
from shared.ports.meter import Attempt, Meter
from shared.ports.retriever import RetrieverLimits
from shared.providers.mcp_caller import ToolCaller
from shared.providers.mcp_client import McpClient
from shared.providers.mcp_tools import Wish
from shared.providers.mintlify_answers import read_context

# The service states no limit for a query: this one is the gateway's own.
LIMITS: Final = RetrieverLimits(query_characters=1_000, results=20, timeout_s=25.0)
_WISH: Final = Wish(
    names=("context",),
    pattern=re.compile(r"context|search", re.IGNORECASE),
    # A tool that cannot be kept to the approved hosts will not do.
    needed={"query": ("query", "q", "question"), "hosts": ("includeDomains", "include_domains")},
    useful={"product": ("product",), "tokens": ("tokenBudget", "token_budget")},
)


class MintlifyRetriever:
    """Implements `ports.live_retriever.LiveRetriever`. `allow_test_names` lets citations name hosts under `.test`: for
    the embedded default alone.
    """

    def __init__(self, *, clock: Clock, allow_test_names: bool) -> None:
        self._tools = ToolCaller(McpClient(clock=clock), _WISH, clock=clock)
        self._allow_test_names = allow_test_names

    @property
    def limits(self) -> RetrieverLimits:
        return LIMITS

    async def retrieve(self, source: Source, question: Question, *, meter: Meter) -> Retrieval:
        config = source.config
        if not isinstance(config, MintlifyConfig) or not config.approved_hosts:
            raise Refused("not_configured")
        if len(question.query) > LIMITS.query_characters:
            raise Refused("query_too_long")
        check_not_forced(question)
        url = _url(source, config)
        values = _values(question, config)

        async def ask(attempt: Attempt) -> Retrieval:
            result, is_another = await self._tools.call(attempt.exchange, url, values)
            return read_context(
                result,
                limit=min(question.limit, LIMITS.results),
                policy=config,
                allow_test_names=self._allow_test_names,
                warnings=tuple(_warnings(question, is_another_tool=is_another)),
            )

        return await meter.perform(ask)

    async def offers_as_usual(self, source: Source, exchange: Exchange) -> bool:
        """Whether its tool is listed as it is called here. Not an operation: no tool is called. Raises the
        `ExchangeError` family; `Refused` (`capability_unavailable`) when there is no tool that could be called.
        """
        if not isinstance(source.config, MintlifyConfig):
            raise Refused("not_configured")
        return await self._tools.offers_as_usual(exchange, _url(source, source.config))


def _url(source: Source, config: MintlifyConfig) -> str:
    return f"{source.base_url}/mcp" if config.endpoint is MintlifyEndpoint.MCP else source.base_url


def _values(question: Question, config: MintlifyConfig) -> dict[str, JsonValue]:
    product = question.product or config.product
    values: dict[str, JsonValue] = {
        "query": question.query,
        "hosts": list(config.approved_hosts),
        "tokens": max(MIN_MINTLIFY_TOKENS, min(config.token_budget, MAX_MINTLIFY_TOKENS)),
    }
    return values if product is None else {**values, "product": product}


def _warnings(question: Question, *, is_another_tool: bool) -> Iterator[Warning_]:
    if is_another_tool:
        yield Warning_.CAPABILITIES_CHANGED
    if question.version is not None:
        yield Warning_.VERSION_NOT_ADVERTISED  # it takes none
    if question.freshness is not FreshnessWish.NORMAL:
        yield Warning_.NOT_FRESH
