"""Ways to say too much of a self-hosted server, each as somebody might write it in good faith. A test proves that each
is found out. Several can be had at once: each changes what it finds.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

from shared.adapters.rate_limits import DynamoRateLimits
from shared.domain.passages import Question, Retrieval
from shared.domain.registrations import Source
from shared.errors import Refused
from shared.observability import logger_for
from shared.ports.exchange import OutboundAnswer
from shared.providers import dify_answers
from shared.providers.dify import DifyServer
from shared.services.ask_server import AskServer
from shared.web.api import Api


def _log_the_credential() -> None:
    before = AskServer._credential

    async def credential(self: AskServer, source: Source, unsealer: Any) -> str | None:
        opened = await before(self, source, unsealer)
        logger_for("search").debug("server.asked", credential=opened)
        return opened

    AskServer._credential = credential  # type: ignore[method-assign]


def _print_the_body() -> None:
    before = dify_answers._refused

    def refused(answer: OutboundAnswer, *more: Any, **named: Any) -> Refused:
        print(answer.body[:120], file=sys.stderr)
        return before(answer, *more, **named)

    dify_answers._refused = refused


def _raise_the_servers_words() -> None:
    def refused(_answer: OutboundAnswer, _status: int, body: Mapping[str, Any] | None, *, now: float) -> Refused:
        return Refused(str((body or {})["message"]), retry_at=now)

    dify_answers._refused = refused  # type: ignore[assignment]


def _show_the_query_that_the_server_repeats() -> None:
    before = DifyServer.retrieve

    async def retrieve(self: DifyServer, source: Source, question: Question, **how: Any) -> Retrieval:
        found = await before(self, source, question, **how)
        titled = tuple(replace(each, title=f"{each.title} for {question.query}") for each in found.passages)
        return replace(found, passages=titled)

    DifyServer.retrieve = retrieve  # type: ignore[method-assign]


def _write_the_query_down() -> None:
    made, handle_before = DynamoRateLimits.__init__, Api.handle
    limits_made: list[DynamoRateLimits] = []

    def handle(self: Api, event: Mapping[str, Any], context: Any) -> dict[str, Any]:
        for limits in limits_made:
            item = {"pk": {"S": "NOTE"}, "sk": {"S": "-"}, "asked": {"S": event["body"]}}
            limits._client.put_item(TableName=limits._table, Item=item)
        return handle_before(self, event, context)

    def noted(self: DynamoRateLimits, *args: Any, **named: Any) -> None:
        made(self, *args, **named)
        limits_made.append(self)

    Api.handle, DynamoRateLimits.__init__ = handle, noted  # type: ignore[method-assign]


def _hand_the_challenge_on() -> None:
    before, handle_before = dify_answers._refused, Api.handle
    challenges: list[str] = []

    def refused(answer: OutboundAnswer, *more: Any, **named: Any) -> Refused:
        challenges.append(answer.headers["www-authenticate"])
        return before(answer, *more, **named)

    def handle(self: Api, event: Mapping[str, Any], context: Any) -> dict[str, Any]:
        response = handle_before(self, event, context)
        if challenges:
            response["headers"]["WWW-Authenticate"] = challenges[0]
        return response

    dify_answers._refused, Api.handle = refused, handle  # type: ignore[method-assign]


def _hand_the_status_on() -> None:
    before, handle_before = dify_answers._refused, Api.handle
    statuses: list[int] = []

    def refused(answer: OutboundAnswer, *more: Any, **named: Any) -> Refused:
        statuses.append(answer.status)
        return before(answer, *more, **named)

    def handle(self: Api, event: Mapping[str, Any], context: Any) -> dict[str, Any]:
        response = handle_before(self, event, context)
        return response | {"statusCode": max([response["statusCode"], *statuses])}

    dify_answers._refused, Api.handle = refused, handle  # type: ignore[method-assign]


SERVER_LEAKS: Final[dict[str, Callable[[], None]]] = {
    "a log line with the credential of a server": _log_the_credential,
    "a refusal of a server that is printed": _print_the_body,
    "an error with a server's words": _raise_the_servers_words,
    "an answer with the query": _show_the_query_that_the_server_repeats,
    "a row with the query": _write_the_query_down,
    "a header of a server": _hand_the_challenge_on,
    "a status of a server": _hand_the_status_on,
}
