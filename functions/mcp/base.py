"""What all tools stand on: one store, one way of admitting callers, one way out."""

from __future__ import annotations

from dataclasses import dataclass

from aws_lambda_powertools import Logger

from functions.mcp.settings import McpSettings
from shared.adapters.row_reads import RowReads
from shared.adapters.services import DynamoDBClient
from shared.ports.clock import Clock
from shared.ports.exchange import Exchanges
from shared.services.admit import Admit


@dataclass(frozen=True, slots=True, kw_only=True)
class Base:
    settings: McpSettings
    dynamodb: DynamoDBClient
    reads: RowReads
    admit: Admit
    exchanges: Exchanges
    clock: Clock
    logger: Logger
