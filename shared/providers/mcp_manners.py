"""The ways in which an MCP server may want to be spoken to, and what each adds to a request.

bare        just calls, without saying a version: servers of any era may take that
handshake   protocols up to 2025-11-25: an agreed version, and a session if the server wants one
modern      from protocol 2026-07-28 on: each request says for itself what it is
"""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final, TypeAlias

from shared.domain.answer_bodies import JsonObject
from shared.domain.strict_json import JsonValue
from shared.providers.mcp_messages import INVALID_PARAMS, METHOD_NOT_FOUND, MODERN_CODES, Heard

MODERN_VERSION: Final = "2026-07-28"
LEGACY_VERSIONS: Final = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")  # the newest first
CLIENT: Final[JsonObject] = {"name": "knowledge-gateway", "version": "1"}
ABOUT_THE_CALL: Final = frozenset({METHOD_NOT_FOUND, INVALID_PARAMS})
_META: Final = "io.modelcontextprotocol/"
_UNSAID: Final = frozenset({400, 404, 410})  # with which servers ask for what they miss
_PLAIN_HEADER = re.compile(r"[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?", re.ASCII)
_CODED_HEADER = re.compile(r"=\?base64\?.*\?=", re.ASCII)

Headers: TypeAlias = "tuple[tuple[str, str], ...]"


class Era(Enum):
    BARE = auto()
    HANDSHAKE = auto()
    MODERN = auto()


@dataclass(frozen=True, slots=True)
class Manner:
    """`version` is the one to offer, or to speak."""

    era: Era
    version: str = ""


BARE: Final = Manner(Era.BARE)
HANDSHAKE: Final = Manner(Era.HANDSHAKE, LEGACY_VERSIONS[0])
MODERN: Final = Manner(Era.MODERN, MODERN_VERSION)


def legacy_headers(manner: Manner, session: str | None) -> Headers:
    if manner.era is Era.BARE:
        return ()
    version = ("MCP-Protocol-Version", manner.version)
    return (version,) if session is None else (version, ("MCP-Session-Id", session))


def modern_headers(method: str, params: Mapping[str, JsonValue]) -> Headers:
    headers = (("MCP-Protocol-Version", MODERN_VERSION), ("Mcp-Method", method))
    name = params.get("name")
    return (*headers, ("Mcp-Name", header_value(name))) if isinstance(name, str) else headers


def modern_params(params: Mapping[str, JsonValue]) -> JsonObject:
    meta: JsonObject = {
        f"{_META}protocolVersion": MODERN_VERSION,
        f"{_META}clientCapabilities": {},
        f"{_META}clientInfo": CLIENT,
    }
    return {**params, "_meta": meta}


def header_value(text: str) -> str:
    """As a header carries it: coded where it is not plain, or looks as if it were coded."""
    if _PLAIN_HEADER.fullmatch(text) and not _CODED_HEADER.fullmatch(text):
        return text
    return f"=?base64?{base64.b64encode(text.encode()).decode('ascii')}?="


def wanted_by(heard: Heard) -> Manner | None:
    """The manner that a refusal asks for, as far as it can be told."""
    error = heard.error
    says_versions = error is not None and (error.code in MODERN_CODES or heard.status == 400)
    named = named_by(heard) if says_versions else None
    if named is not None:
        return named
    if error is not None and error.code in ABOUT_THE_CALL:
        # Said with this status by modern servers alone: of a tool, or of a request that does not say what it is.
        return MODERN if heard.status == 400 and error.code == INVALID_PARAMS else None
    return HANDSHAKE if heard.status in _UNSAID else None


def named_by(heard: Heard) -> Manner | None:
    """The manner that an error names: by the versions that the server speaks, or by how it says so."""
    error = heard.error
    if error is None:
        return None
    older = next((version for version in LEGACY_VERSIONS if version in error.versions), None)
    if MODERN_VERSION in error.versions or (error.code in MODERN_CODES and older is None):
        return MODERN
    return Manner(Era.HANDSHAKE, older) if older is not None else None
