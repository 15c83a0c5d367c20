"""The MCP endpoint: POST for messages, OPTIONS for pages of listed origins. Whatever else is sent to its path is
answered like every unrouted method, 405 with `Allow`: no stream is offered, and there is no session to end.

A page of another origin is refused before anything else. Nothing of a message is told, and no tool is named, before
the token is verified.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from aws_lambda_powertools.event_handler import Response

from functions.mcp.dialogue import Caller, Dialogue
from functions.mcp.parts import McpParts
from shared.domain.exposure import CredentialClass
from shared.domain.identifiers import parse_token
from shared.domain.origins import is_listed
from shared.errors import Forbidden, Unauthenticated
from shared.web import cors
from shared.web.api import Api, nothing
from shared.web.events import Event, bearer_of

PATH: Final = "/mcp"
_CLASSES = (CredentialClass.AGENT, CredentialClass.ASSISTANT)
_SENT_BY_PAGES = (
    "accept, authorization, content-type, last-event-id, mcp-method, mcp-name, mcp-protocol-version, mcp-session-id, "
    "x-helpthread-agent-id, x-request-id"
)


def api_for(parts: McpParts) -> Api:
    def headers(event: Event) -> Mapping[str, str]:
        origin = _origin_of(event)
        return cors.readable_by(origin) if origin is not None and is_listed(origin, parts.origins) else cors.VARY

    api = Api(parts.logger, headers=headers, front=parts.front)

    @api.route("OPTIONS", PATH)
    def preflight() -> Response[str]:
        _turn_away_strange_pages(api.event, parts.origins)
        origin = _origin_of(api.event)
        return nothing(headers={} if origin is None else cors.preflight_for(origin, headers=_SENT_BY_PAGES))

    @api.route("POST", PATH)
    def post() -> Response[str]:
        _turn_away_strange_pages(api.event, parts.origins)
        caller = _caller_of(api.event)
        return Dialogue(parts, caller=caller, event=api.event, request_id=api.request_id).answer()

    return api


def _origin_of(event: Event) -> str | None:
    origin: str | None = event["headers"].get("origin")
    return origin


def _turn_away_strange_pages(event: Event, listed: frozenset[str]) -> None:
    """Programs send no `Origin`. A page that does, and `null` is one too, is listed or goes away."""
    origin = _origin_of(event)
    if origin is not None and not is_listed(origin, listed):
        raise Forbidden("Pages of this origin may not ask here.")


def _caller_of(event: Event) -> Caller:
    text = bearer_of(event)
    token = parse_token(text) if text else None
    if text is None or token is None or token.credential_class not in _CLASSES:
        raise Unauthenticated("Send a bearer token of class agt or ast.")
    return Caller(credential_class=token.credential_class, token=text)
