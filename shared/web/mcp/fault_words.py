"""What each fault of a message means and what to do: `docs/errors.md` is made from it."""

from __future__ import annotations

from typing import NamedTuple

from shared.web.mcp.faults import Fault, FaultCode
from shared.web.mcp.revisions import SPOKEN


class FaultWords(NamedTuple):
    """`example` is one fault of this code, as it is answered."""

    happened: str
    advice: str
    example: Fault


FAULT_WORDS: dict[FaultCode, FaultWords] = {
    FaultCode.PARSE_ERROR: FaultWords(
        "400. The body is no JSON as it is taken here: malformed, not UTF-8, nested too deeply, the same key twice, or "
        "NaN. The answer has no `id`, for none could be read.",
        "Send one JSON-RPC message, each key once.",
        Fault(code=FaultCode.PARSE_ERROR, message="The body has a number that is not finite."),
    ),
    FaultCode.INVALID_REQUEST: FaultWords(
        "400. The JSON is no message: `jsonrpc` is not `2.0`, the `id` is null, a fraction, too long or too large, or "
        "there is neither a method nor a result; or several messages came in a list, which revision 2025-03-26 alone "
        "knows (at most 10, of them at most one `tools/call`, and no `initialize`).",
        "Send one request or one notification in each POST, with an `id` that is a text or a whole number.",
        Fault(code=FaultCode.INVALID_REQUEST, message='jsonrpc must be "2.0".', to=7),
    ),
    FaultCode.METHOD_NOT_FOUND: FaultWords(
        "404 under revision 2026-07-28, 200 under earlier ones. There is no such method here: tools alone are offered.",
        "Read `capabilities` before you ask for more than tools.",
        Fault(code=FaultCode.METHOD_NOT_FOUND, message="There is no such method.", to=7),
    ),
    FaultCode.INVALID_PARAMS: FaultWords(
        "400 where `_meta` lacks what revision 2026-07-28 demands, or `params` is no object; else 200: no tool of that "
        "name is offered to this credential, `name` or `arguments` has the wrong type, or a cursor was sent. Arguments "
        "that a tool refuses are no fault: they are a result with `isError` and a text that names the field.",
        "Take the names and the schemas of the tools from `tools/list`, with the same credential.",
        Fault(code=FaultCode.INVALID_PARAMS, message="params.arguments must be an object.", to=7),
    ),
    FaultCode.HEADER_MISMATCH: FaultWords(
        "400. Under revision 2026-07-28 `MCP-Protocol-Version`, `Mcp-Method` and, for `tools/call`, `Mcp-Name` repeat "
        "what the message says; one of them is missing or says something else.",
        "Update the client, or look at what a proxy does to the headers.",
        Fault(code=FaultCode.HEADER_MISMATCH, message="The header Mcp-Method is missing.", to=7),
    ),
    FaultCode.UNSUPPORTED_PROTOCOL_VERSION: FaultWords(
        "400. The request names a revision of the protocol that is not spoken here. `data.supported` names those that "
        "are; all but the first begin with `initialize`.",
        "Ask again in one of those.",
        Fault(
            code=FaultCode.UNSUPPORTED_PROTOCOL_VERSION,
            message="This revision of the protocol is not spoken here.",
            data={"supported": list(SPOKEN), "requested": "1900-01-01"},
            to=7,
        ),
    ),
}
