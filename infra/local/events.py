"""Turns an HTTP request into the event that API Gateway's HTTP API sends (payload 2.0), and an answer back."""

from __future__ import annotations

import base64
import binascii
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, unquote

from infra.local.dispatch import Match

# The gateway's own JSON object and a function's own answer: untyped where they cross this wall.
Event = dict[str, Any]

_ACCOUNT = "000000000000"
_API = "local"
_TEXT_TYPES = ("text/", "application/json", "application/javascript", "application/xml")
_HOP_BY_HOP = frozenset(
    {"connection", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade"}
)


class BadAnswer(ValueError):
    """A function answered with something that API Gateway would not understand."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Incoming:
    """A request as it came. `path` and `query` are as written on the request line."""

    method: str
    path: str
    query: str
    protocol: str
    headers: Sequence[tuple[str, str]]
    body: bytes = field(repr=False)
    source_ip: str
    request_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Outgoing:
    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes = field(repr=False)


def event_of(request: Incoming, match: Match) -> Event:
    """The event for the function that the route names."""
    headers, cookies = _headers(request)
    event: Event = {
        "version": "2.0",
        "routeKey": match.route_key,
        "rawPath": unquote(request.path),  # as API Gateway hands it over, whatever its name says
        "rawQueryString": request.query,
        "headers": headers,
        "requestContext": _context(request, match, headers),
        "isBase64Encoded": False,
    }
    if cookies:
        event["cookies"] = cookies
    if parameters := _joined(parse_qsl(request.query, keep_blank_values=True)):
        event["queryStringParameters"] = parameters
    if match.parameters:
        event["pathParameters"] = dict(match.parameters)
    if request.body:
        event["body"], event["isBase64Encoded"] = _body(request.body, headers)
    return event


def outgoing_of(answer: object, *, request_id: str) -> Outgoing:
    """A function's answer as HTTP. Raises `BadAnswer`."""
    if not isinstance(answer, Mapping) or not isinstance(answer.get("statusCode"), int):
        raise BadAnswer("no statusCode")
    text = answer.get("body") or ""
    if not isinstance(text, str):
        raise BadAnswer("body is not a string")
    headers = [(str(k), str(v)) for k, v in (answer.get("headers") or {}).items()]
    headers += [("Set-Cookie", str(cookie)) for cookie in answer.get("cookies") or ()]
    headers.append(("Apigw-Requestid", request_id))
    if any(mark in text for name, value in headers for text in (name, value) for mark in "\r\n"):
        raise BadAnswer("line break in a header")
    return Outgoing(status=answer["statusCode"], headers=tuple(headers), body=_decoded(text, answer))


def _headers(request: Incoming) -> tuple[dict[str, str], list[str]]:
    """Names in lower case, repeated ones joined by commas; cookies apart, as payload 2.0 has them."""
    kept = [(k.lower(), v.strip()) for k, v in request.headers if k.lower() not in _HOP_BY_HOP]
    cookies = [part.strip() for k, v in kept if k == "cookie" for part in v.split(";") if part.strip()]
    headers = _joined((k, v) for k, v in kept if k != "cookie")
    before = headers.get("x-forwarded-for")
    headers["x-forwarded-for"] = f"{before}, {request.source_ip}" if before else request.source_ip
    headers["x-forwarded-proto"] = "http"
    return headers, cookies


def _context(request: Incoming, match: Match, headers: Mapping[str, str]) -> Event:
    now = time.time()
    return {
        "accountId": _ACCOUNT,
        "apiId": _API,
        "domainName": headers.get("host", ""),
        "domainPrefix": _API,
        "http": {
            "method": request.method,
            "path": unquote(request.path),
            "protocol": request.protocol,
            "sourceIp": request.source_ip,
            "userAgent": headers.get("user-agent", ""),
        },
        "requestId": request.request_id,
        "routeKey": match.route_key,
        "stage": "$default",
        "time": time.strftime("%d/%b/%Y:%H:%M:%S +0000", time.gmtime(now)),
        "timeEpoch": int(now * 1000),
    }


def _joined(pairs: Any) -> dict[str, str]:
    joined: dict[str, str] = {}
    for name, value in pairs:
        joined[name] = f"{joined[name]},{value}" if name in joined else value
    return joined


def _body(body: bytes, headers: Mapping[str, str]) -> tuple[str, bool]:
    """As text where API Gateway takes the body for text, else as base64."""
    is_text = headers.get("content-type", "").lower().startswith(_TEXT_TYPES) and "content-encoding" not in headers
    if is_text:
        try:
            return body.decode(), False
        except UnicodeDecodeError:
            pass
    return base64.b64encode(body).decode(), True


def _decoded(text: str, answer: Mapping[str, Any]) -> bytes:
    try:
        return base64.b64decode(text, validate=True) if answer.get("isBase64Encoded") else text.encode()
    except (binascii.Error, UnicodeEncodeError):
        raise BadAnswer("body cannot be decoded") from None
