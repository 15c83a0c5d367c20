"""Writes what the MCP endpoint tells of its tools: `functions/mcp/static/tools.json`."""

from __future__ import annotations

from infra.mcp_tools.document import PLACE, document_text


def main() -> None:
    PLACE.write_text(document_text(), encoding="utf-8")
    print(f"wrote {PLACE.name}")


if __name__ == "__main__":
    main()
