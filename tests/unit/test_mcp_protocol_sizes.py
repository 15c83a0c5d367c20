"""The largest answers of the MCP endpoint can be delivered, whatever they hold."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from shared.web.answer_size import MAX_ANSWER_BYTES, delivered_bytes
from shared.web.mcp.messages import MAX_ID_CHARACTERS
from shared.web.mcp.mirror import MAX_STRUCTURED_BYTES, Mirror
from shared.web.mcp.tool import ToolResult
from tests.support.mcp_endpoint import MODERN, McpStage, mcp_stage

# What Lambda delivers of one answer.
DELIVERED_BYTES = 6 * 1024 * 1024
# Each is six characters of JSON, one of them escaped once more.
LONGEST_ID = "\x01" * MAX_ID_CHARACTERS
CALL = {"jsonrpc": "2.0", "id": LONGEST_ID, "method": "tools/call", "params": {"name": "echo"}}
LISTING = {"jsonrpc": "2.0", "id": LONGEST_ID, "method": "tools/list"}


@pytest.fixture
def stage() -> Iterator[McpStage]:
    with mcp_stage() as made:
        made.result = the_largest_result()
        yield made


def the_largest_result() -> ToolResult:
    """Both halves as large as a tool may make them, of what grows most on the way."""
    start, end = '{"q":"', '"}'
    room = MAX_STRUCTURED_BYTES - delivered_bytes(start + end)
    structured = start + '\\"' * (room // delivered_bytes('\\"')) + end
    text = Mirror(head="All of it.", blocks=['"\\\x01' * 100] * 10_000).text(beside=structured)
    return ToolResult(text=text, structured=structured)


def test_both_halves_are_as_large_as_they_may_be(stage: McpStage) -> None:
    result = stage.result
    assert result.structured is not None
    assert MAX_STRUCTURED_BYTES - 4 <= delivered_bytes(result.structured) <= MAX_STRUCTURED_BYTES
    assert "there is no room for them in this text" in result.text


def test_the_largest_result_of_a_handshakes_client_can_be_delivered(stage: McpStage) -> None:
    assert MAX_ANSWER_BYTES * 0.98 < delivered_bytes(stage.post(CALL).text) <= MAX_ANSWER_BYTES


def test_the_largest_result_of_a_modern_client_can_be_delivered(stage: McpStage) -> None:
    meta = {
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    headers = {"mcp-protocol-version": MODERN, "mcp-method": "tools/call", "mcp-name": "echo"}
    answer = stage.post({**CALL, "params": {"name": "echo", "_meta": meta}}, headers=headers)
    assert '"resultType":"complete"' in answer.text[:8_000]
    assert MAX_ANSWER_BYTES * 0.98 < delivered_bytes(answer.text) <= MAX_ANSWER_BYTES


def test_the_largest_list_of_messages_can_be_delivered(stage: McpStage) -> None:
    answer = stage.post([CALL, *[LISTING] * 9])
    assert answer.status == 200
    assert delivered_bytes(answer.text) < DELIVERED_BYTES
