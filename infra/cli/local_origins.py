"""Where `kgw up` asks live services instead of at their own addresses, as its environment says it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Final

from pydantic import ValidationError

from shared.domain.live_configs import ENDPOINTS
from shared.domain.strict_json import NotStrictJson, parse
from shared.settings.live import LocalOrigins

VARIABLE: Final = "KG_LOCAL_ORIGINS"
_HERE_IT_IS_ALLOWED: Final = {"KG_ALLOW_LOOPBACK_HTTP": "true"}
_EXAMPLE: Final = json.dumps({"exa": "http://127.0.0.1:9102"})


class BadOrigins(Exception):
    """The message says what is wrong and what to write."""


def wished_origins(environment: Mapping[str, str]) -> Mapping[str, str]:
    """Kind -> origin on loopback, for the services that are named; none without the variable. Raises `BadOrigins`."""
    text = environment.get(VARIABLE, "").strip()
    if not text:
        return {}
    try:
        _check(text)
        origins = LocalOrigins.from_environment({**_HERE_IT_IS_ALLOWED, VARIABLE: text}).local_origins
    except ValidationError as error:
        raise _bad(error.errors()[0]["msg"].removeprefix("Value error, ")) from None
    return {kind.value: origin for kind, origin in origins.items()}


def origin_lines(origins: Mapping[str, str]) -> Iterator[str]:
    """What to tell about the services that are asked elsewhere."""
    for kind, origin in sorted(origins.items()):
        yield f"{kind} is asked at {origin}, as {VARIABLE} says."


def _check(text: str) -> None:
    try:
        origins = parse(text.encode())
    except NotStrictJson as error:
        raise _bad("it names a kind twice" if error.reason == "duplicate_key" else "it is no JSON") from None
    if not isinstance(origins, dict):
        raise _bad("it is no JSON object")
    if not origins.keys() <= set(ENDPOINTS):
        raise _bad(f"live services are {', '.join(sorted(ENDPOINTS))}")


def _bad(reason: str) -> BadOrigins:
    return BadOrigins(
        f"{VARIABLE} cannot be used: {reason}. Write a JSON object, kind -> http://<loopback host>:<port>: {_EXAMPLE}"
    )
