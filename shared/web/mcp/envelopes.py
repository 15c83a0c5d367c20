"""Which revision a request is made in, and whether it is made as that revision demands.

Clients of the handshake name theirs in a header, or not at all. Those of 2026-07-28 name it in the header and in the
request's own `_meta`, and repeat the method and the tool's name in headers, which must say the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from shared.domain.strict_json import JsonValue
from shared.web.mcp import mirrored_headers
from shared.web.mcp.faults import Fault, FaultCode
from shared.web.mcp.messages import Request
from shared.web.mcp.revisions import ASSUMED, HANDSHAKE, MODERN, SPOKEN

VERSION_KEY: Final = "io.modelcontextprotocol/protocolVersion"
CAPABILITIES_KEY: Final = "io.modelcontextprotocol/clientCapabilities"
_MAX_ECHOED_CHARACTERS = 64


def revision_of(request: Request, headers: Mapping[str, str]) -> str | Fault:
    """One of `SPOKEN`. `headers` are in lower case."""
    told = mirrored_headers.said(headers, mirrored_headers.VERSION)
    meta = request.params.get("_meta")
    if not isinstance(meta, dict) or VERSION_KEY not in meta:
        return _bare(request, told)
    claimed = meta[VERSION_KEY]
    if not isinstance(claimed, str):
        return _malformed(f"params._meta: {VERSION_KEY} must be a string.")
    if told is None and claimed in HANDSHAKE:
        return claimed
    if told != claimed:
        return _mismatch("MCP-Protocol-Version", VERSION_KEY, missing=told is None)
    if claimed != MODERN:
        return claimed if claimed in HANDSHAKE else unsupported(claimed)
    return _flaw(request, meta, headers) or MODERN


def revision_heard(headers: Mapping[str, str]) -> str | Fault:
    """Of messages that are not answered, which carry it in the header alone."""
    told = mirrored_headers.said(headers, mirrored_headers.VERSION)
    if told is None:
        return ASSUMED
    return told if told in SPOKEN else unsupported(told)


def unsupported(requested: str) -> Fault:
    return Fault(
        code=FaultCode.UNSUPPORTED_PROTOCOL_VERSION,
        message="This revision of the protocol is not spoken here.",
        data={"supported": list(SPOKEN), "requested": requested[:_MAX_ECHOED_CHARACTERS]},
    )


def _bare(request: Request, told: str | None) -> str | Fault:
    """Of a request whose `_meta` names no revision. A handshake is had whatever the header says: it is there to agree
    on what later headers will say.
    """
    if request.method == "initialize":
        return HANDSHAKE[0]
    if told is None:
        return ASSUMED
    if told == MODERN:
        return _malformed(f"params._meta needs {VERSION_KEY}.")
    return told if told in HANDSHAKE else unsupported(told)


def _flaw(request: Request, meta: Mapping[str, JsonValue], headers: Mapping[str, str]) -> Fault | None:
    if not isinstance(meta.get(CAPABILITIES_KEY), dict):
        return _malformed(f"params._meta needs {CAPABILITIES_KEY}, an object.")
    method = mirrored_headers.said(headers, mirrored_headers.METHOD)
    if method != request.method:
        return _mismatch("Mcp-Method", "method", missing=method is None)
    wanted = request.params.get("name")
    if request.method != "tools/call" or not isinstance(wanted, str):
        return None
    name = mirrored_headers.said(headers, mirrored_headers.NAME)
    if name is None or mirrored_headers.decoded(name) != wanted:
        return _mismatch("Mcp-Name", "params.name", missing=name is None)
    return None


def _malformed(message: str) -> Fault:
    return Fault(code=FaultCode.INVALID_PARAMS, message=message)


def _mismatch(header: str, field: str, *, missing: bool) -> Fault:
    said = f"The header {header} is missing." if missing else f"The header {header} does not say what {field} says."
    return Fault(code=FaultCode.HEADER_MISMATCH, message=said)
