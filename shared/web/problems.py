"""Problems as `application/problem+json` (RFC 9457)."""

from __future__ import annotations

import json
from typing import Final

from shared.errors import Problem

PROBLEM_JSON: Final = "application/problem+json"
TYPE_PREFIX: Final = "urn:knowledge-gateway:problem:"


def body_of(problem: Problem, *, request_id: str | None) -> str:
    """The JSON text: `type`, `title`, `status`, `code`, `requestId`, and `detail`, `errors`, facts where known.

    Without `request_id` every body of the same problem is the same, byte for byte.
    """
    document: dict[str, object] = {
        "type": TYPE_PREFIX + problem.code,
        "title": problem.title,
        "status": problem.status,
        "code": problem.code,
    }
    if request_id is not None:
        document["requestId"] = request_id
    if problem.detail:
        document["detail"] = problem.detail
    if problem.violations:
        document["errors"] = [{"pointer": v.pointer, "detail": v.detail} for v in problem.violations]
    return json.dumps(document | problem.facts, ensure_ascii=False)


def headers_of(problem: Problem) -> dict[str, str]:
    """The headers that a problem brings: when to come back, how to authenticate."""
    headers: dict[str, str] = {}
    if problem.retry_after_s is not None:
        seconds = max(1, problem.retry_after_s)
        headers["Retry-After"] = str(seconds)
        if problem.status == 429:
            headers["RateLimit"] = f'"default";r=0;t={seconds}'
    if problem.status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    return headers
