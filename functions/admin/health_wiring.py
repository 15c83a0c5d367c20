"""Builds what the admin function needs to tell how providers are, and to put them back into use."""

from __future__ import annotations

from aws_lambda_powertools import Logger

from functions.admin.parts import HealthParts
from shared.adapters.circuits import DynamoCircuits
from shared.adapters.health_reader import DynamoHealthReader
from shared.adapters.journal import DynamoJournal
from shared.adapters.journal_reader import DynamoJournalReader
from shared.adapters.row_reads import RowReads
from shared.adapters.services import DynamoDBClient
from shared.domain.circuits import Lane
from shared.ports.clock import Clock
from shared.services.put_back import PutBack


def health_parts(
    dynamodb: DynamoDBClient, reads: RowReads, *, public_table: str, internal_table: str, clock: Clock, logger: Logger
) -> HealthParts:
    """The tables are the ledgers."""
    tables = {Lane.AGENT: internal_table, Lane.CUSTOMER: public_table}
    circuits = {lane: DynamoCircuits(dynamodb, reads=reads, table=table) for lane, table in tables.items()}
    journals = {lane: DynamoJournal(dynamodb, table=table) for lane, table in tables.items()}
    histories = {lane: DynamoJournalReader(dynamodb, table=table, clock=clock) for lane, table in tables.items()}
    return HealthParts(
        circuits=circuits,
        histories=histories,
        looks=DynamoHealthReader(dynamodb, table=internal_table),
        put_back=PutBack(circuits=circuits, journals=journals, clock=clock, logger=logger),
    )
