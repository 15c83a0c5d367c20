"""API Gateway events (payload v2), read without trusting that any part is there."""

from __future__ import annotations

import base64
import binascii
import re
import unicodedata
import uuid
from collections.abc import Mapping
from typing import Any

from shared.errors import BadRequest, BodyTooLarge

MAX_BODY_BYTES = 1_048_576
# The gateway writes its own in base64.
_REQUEST_ID = re.compile(r"[A-Za-z0-9._:=+/-]{1,128}", re.ASCII)

_NO_PATH = "//"  # of no route

# The event is the gateway's own JSON object: the one place where an untyped mapping is met.
Event = dict[str, Any]


def normalised(event: Mapping[str, Any]) -> Event:
    """The event with everything present that a router relies on; header names in lower case."""
    headers = {str(k).lower(): str(v) for k, v in (event.get("headers") or {}).items()}
    context = dict(event.get("requestContext") or {})
    http = dict(context.get("http") or {})
    http.setdefault("method", "GET")
    http.setdefault("path", event.get("rawPath") or "/")
    http.setdefault("sourceIp", "")
    context["http"] = http
    context.setdefault("stage", "$default")
    context["requestId"] = _request_id(headers.get("x-request-id"), context.get("requestId"))
    path = _without_stage(event.get("rawPath") or http["path"], str(context["stage"]))
    path = _without_base(path, str(event.get("routeKey") or ""))
    context["stage"] = "$default"  # taken off here, so that the router does not take it off once more
    return {
        **event,
        "version": "2.0",
        "rawPath": path if _is_one_line(path) else _NO_PATH,
        "rawQueryString": event.get("rawQueryString") or "",
        "queryStringParameters": event.get("queryStringParameters") or {},
        "pathParameters": event.get("pathParameters") or {},
        "headers": headers,
        "requestContext": context,
    }


def _is_one_line(path: str) -> bool:
    """Paths come decoded: what stood in one as `%0A` is a line break here, which a router may take for its end."""
    return not any(unicodedata.category(character) == "Cc" for character in path)


def _without_stage(path: str, stage: str) -> str:
    """A named stage stands in front of the path; `$default` does not."""
    prefix = f"/{stage}"
    if stage != "$default" and (path == prefix or path.startswith(prefix + "/")):
        return path[len(prefix) :] or "/"
    return path


def _without_base(path: str, route_key: str) -> str:
    """What an operator's own mapping of a domain puts in front of the path (`/kb`) is no part of the route, which the
    gateway names: `POST /things/{thingId}`.
    """
    wanted = route_key.partition(" ")[2].split("/")[1:]
    given = path.split("/")[1:]
    own = given[-len(wanted) :]
    if not wanted or len(given) <= len(wanted) or not all(map(_fits, wanted, own)):
        return path
    return "/" + "/".join(own)


def _fits(wanted: str, given: str) -> bool:
    return wanted == given or (wanted.startswith("{") and given != "")


def body_of(event: Event) -> bytes:
    """The bytes that the caller sent. Raises `BadRequest` and `BodyTooLarge`."""
    body = event.get("body") or ""
    if event.get("isBase64Encoded"):
        try:
            data = base64.b64decode(body, validate=True)
        except (binascii.Error, ValueError):
            raise BadRequest("The body is marked as base64 and is not.", code="body_not_base64") from None
    else:
        try:
            data = str(body).encode()
        except UnicodeEncodeError:
            raise BadRequest("The body is not valid Unicode.", code="body_not_json") from None
    if len(data) > MAX_BODY_BYTES:
        raise BodyTooLarge(f"At most {MAX_BODY_BYTES} bytes are accepted.")
    return data


def request_id_of(event: Event) -> str:
    """The id that a normalised event carries."""
    return str(event["requestContext"]["requestId"])


def gateway_request_id_of(event: Mapping[str, Any]) -> str | None:
    """API Gateway's own id of the request, from the event as it came; None where nothing well-formed is there."""
    given = (event.get("requestContext") or {}).get("requestId")
    return given if isinstance(given, str) and _REQUEST_ID.fullmatch(given) else None


def _request_id(*candidates: object) -> str:
    """The caller's `X-Request-Id` where it is well-formed, else the gateway's, else a new one."""
    for candidate in candidates:
        if isinstance(candidate, str) and _REQUEST_ID.fullmatch(candidate):
            return candidate
    return uuid.uuid4().hex


def bearer_of(event: Event) -> str | None:
    """The token of `Authorization: Bearer <token>`, or None. One space, any case of the scheme (RFC 6750)."""
    scheme, _, token = event["headers"].get("authorization", "").partition(" ")
    return token if scheme.lower() == "bearer" and token else None
