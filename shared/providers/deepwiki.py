"""DeepWiki, a hosted service that answers questions about public repositories (MCP, without keys).

POST {base_url}/mcp     tools/call of its question tool: {repoName, question}

Its answers are written for the question: context that was derived from a repository, at a state nobody knows. Even a
failed question tells the service the repository's name, so none is sent that an operator has not listed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from shared.domain.exposure import Audience
from shared.domain.forced import check_not_forced
from shared.domain.live_configs import DeepWikiConfig
from shared.domain.passages import Evidence, FreshnessWish, Passage, Question, Retrieval, Warning_
from shared.domain.plain_text import cut, plain
from shared.domain.registrations import Source
from shared.domain.strict_json import JsonValue
from shared.errors import Refused
from shared.ports.clock import Clock
from shared.ports.exchange import Exchange
from shared.ports.meter import Attempt, Meter
from shared.ports.retriever import RetrieverLimits
from shared.providers.mcp_caller import ToolCaller
from shared.providers.mcp_client import McpClient
from shared.providers.mcp_tools import ToolResult, Wish

# The service states no limit for a question: this one is the gateway's own.
LIMITS: Final = RetrieverLimits(query_characters=1_000, results=1, timeout_s=25.0)
MAX_SNIPPET_CHARACTERS: Final = 8_000
_WISH: Final = Wish(
    names=("ask_wiki_question", "ask_question"),
    pattern=re.compile(r"ask|question", re.IGNORECASE),
    needed={
        "repository": ("repoName", "repo_name", "repo", "repository"),
        "question": ("question", "query", "q"),
    },
)
_REPOSITORY = re.compile(r"[A-Za-z0-9_.-]{1,100}/[A-Za-z0-9_.-]{1,100}", re.ASCII)
# How the service words its failures, which do not always say that they are some.
_FAILURE = re.compile(r"\s*(?:Error (?:processing question|fetching wiki)\b|Repository not found\b)")
_NO_SUCH_REPOSITORY: Final = "Repository not found"
_PAGE: Final = "https://deepwiki.com/{repository}"


class DeepWikiRetriever:
    """Implements `ports.live_retriever.LiveRetriever`. `allow_test_names` changes nothing: it cites its own pages."""

    def __init__(self, *, clock: Clock, allow_test_names: bool) -> None:  # noqa: ARG002  # as all live kinds are built
        self._tools = ToolCaller(McpClient(clock=clock), _WISH, clock=clock)

    @property
    def limits(self) -> RetrieverLimits:
        return LIMITS

    async def retrieve(self, source: Source, question: Question, *, meter: Meter) -> Retrieval:
        if len(question.query) > LIMITS.query_characters:
            raise Refused("query_too_long")
        check_not_forced(question)
        repository = _repository(source, question)
        values: dict[str, JsonValue] = {"repository": repository, "question": question.query}

        async def ask(attempt: Attempt) -> Retrieval:
            result, is_another = await self._tools.call(attempt.exchange, _url(source), values)
            warnings = tuple(_warnings(question, is_another_tool=is_another))
            return _retrieval(_answer(result), repository, warnings)

        return await meter.perform(ask)

    async def offers_as_usual(self, source: Source, exchange: Exchange) -> bool:
        """Whether its tool is listed as it is called here. Not an operation: no tool is called, and no repository is
        named. Raises the `ExchangeError` family; `Refused` (`capability_unavailable`) when no tool could be called.
        """
        return await self._tools.offers_as_usual(exchange, _url(source))


def _url(source: Source) -> str:
    return f"{source.base_url}/mcp"


def _repository(source: Source, question: Question) -> str:
    """As it is listed. Raises `Refused`: `missing_input` where the question must name one, `not_configured` for one
    that is not listed.
    """
    config = source.config
    if not isinstance(config, DeepWikiConfig) or not config.repositories:
        raise Refused("not_configured")
    if question.repository is None:
        if len(config.repositories) > 1:
            raise Refused("missing_input")
        listed: str | None = config.repositories[0]
    else:
        named = question.repository.lower()
        listed = next((each for each in config.repositories if each.lower() == named), None)
    if listed is None or _REPOSITORY.fullmatch(listed) is None:
        raise Refused("not_configured")
    return listed


def _warnings(question: Question, *, is_another_tool: bool) -> Iterator[Warning_]:
    if is_another_tool:
        yield Warning_.CAPABILITIES_CHANGED
    if question.version is not None:
        yield Warning_.VERSION_NOT_ADVERTISED  # it takes none: the default branch is asked about
    if question.freshness is not FreshnessWish.NORMAL:
        yield Warning_.NOT_FRESH


def _answer(result: ToolResult) -> str:
    """Raises `Refused` for the text of a failure, whether it is marked as one or not."""
    text = plain(result.text).strip()
    if result.is_error or _FAILURE.match(text):
        raise Refused("not_found" if _NO_SUCH_REPOSITORY in text else "upstream_error")
    return text


def _retrieval(text: str, repository: str, warnings: tuple[Warning_, ...]) -> Retrieval:
    if not text:
        return Retrieval(warnings=warnings)
    shown = cut(text, limit=MAX_SNIPPET_CHARACTERS)
    is_cut = len(shown) < len(text)
    passage = Passage(
        document_id=repository,
        title=repository,
        snippet=shown,
        audience=Audience.INTERNAL,
        evidence=Evidence.DERIVED_CONTEXT,
        url=_PAGE.format(repository=repository),
        truncated=is_cut,
    )
    return Retrieval(passages=(passage,), warnings=(*warnings, Warning_.SNIPPET_CUT) if is_cut else warnings)
