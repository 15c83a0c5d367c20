"""Builds what the MCP endpoint needs. What asks live services is built when a tool first needs one."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING

from functions.mcp.base import Base
from functions.mcp.card_wiring import card_readers
from functions.mcp.parts import McpParts
from functions.mcp.search_wiring import searches
from functions.mcp.settings import McpSettings
from functions.mcp.tool_parts import ToolParts
from functions.mcp.tools import tools_of
from shared.adapters import aws
from shared.adapters.clock import SystemClock
from shared.adapters.credentials import DynamoCredentials
from shared.adapters.event_loop import ProcessLoop
from shared.adapters.exchanges import PinnedExchanges
from shared.adapters.front import front_of
from shared.adapters.rate_limits import DynamoRateLimits
from shared.adapters.resolver import SystemResolver
from shared.adapters.row_reads import RowReads
from shared.observability import logger_for
from shared.services.admit import Admit
from shared.services.admit_assistant import AdmitAssistant
from shared.services.look_up import LookUp
from shared.services.match import Match

if TYPE_CHECKING:
    from functions.mcp.live_wiring import LiveServices


def wired(environment: Mapping[str, str]) -> McpParts:
    """Raises `ValidationError` naming what the environment lacks."""
    base = _base(McpSettings.from_environment(environment))
    tools = _tool_parts(base)
    table = base.settings.registrations_internal
    return McpParts(
        tools=tools_of(tools),
        admit=base.admit,
        admit_assistant=tools.admit_assistant,
        origins=base.settings.mcp_origins,
        clock=base.clock,
        loop=tools.loop,
        logger=base.logger,
        front=front_of(base.settings, table=table, clock=base.clock),
    )


def _base(settings: McpSettings) -> Base:
    dynamodb, clock = aws.dynamodb(), SystemClock()
    reads = RowReads(dynamodb)
    return Base(
        settings=settings,
        dynamodb=dynamodb,
        reads=reads,
        admit=Admit(
            credentials=DynamoCredentials(reads, table=settings.registrations_internal),
            rate_limits=DynamoRateLimits(dynamodb, table=settings.ledger_internal, clock=clock),
            clock=clock,
        ),
        exchanges=PinnedExchanges(
            resolver=SystemResolver(),
            clock=clock,
            allow_loopback_http=settings.allow_loopback_http,
            private_network_available=settings.private_network_available,
        ),
        clock=clock,
        logger=logger_for("mcp"),
    )


def _tool_parts(base: Base) -> ToolParts:
    @cache
    def live() -> LiveServices:
        from functions.mcp.live_wiring import LiveServices

        return LiveServices(base)

    cards, clock, logger = card_readers(base), base.clock, base.logger
    search, search_for_assistant = searches(base, cards, lambda: live().askers)
    return ToolParts(
        search=search,
        search_for_assistant=search_for_assistant,
        look_up=LookUp(cards=cards.cards, clock=clock, logger=logger),
        look_up_for_customer=LookUp(cards=cards.customer_cards, clock=clock, logger=logger),
        match=Match(vocabularies=cards.vocabularies, cards=cards.cards, clock=clock, logger=logger),
        match_for_customer=Match(
            vocabularies=cards.customer_vocabularies, cards=cards.customer_cards, clock=clock, logger=logger
        ),
        acquire=lambda: live().acquire,
        admit=base.admit,
        admit_assistant=AdmitAssistant(admit=base.admit),
        clock=clock,
        loop=ProcessLoop(),
    )
