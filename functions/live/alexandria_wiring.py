"""Puts the four verbs of Alexandria together, over whatever stores and meters they are given."""

from __future__ import annotations

from aws_lambda_powertools import Logger

from functions.live.alexandria_parts import AlexandriaParts
from shared.ports.clock import Clock
from shared.ports.internal_catalog import InternalCatalog
from shared.ports.quotes import Quotes
from shared.ports.receipts import Receipts
from shared.providers.alexandria import AlexandriaCatalogue
from shared.services.admit import Admit
from shared.services.alexandria_execute import ATTEMPT_S, ExecuteTool
from shared.services.alexandria_inspect import InspectTool
from shared.services.alexandria_receipt import ReadReceipt
from shared.services.alexandria_search import SearchTools
from shared.services.metering import Metering
from shared.services.open_alexandria import OpenAlexandria


def assembled(
    quotes: Quotes,
    receipts: Receipts,
    *,
    admit: Admit,
    catalog: InternalCatalog,
    meters: Metering,
    endpoint: str,
    clock: Clock,
    logger: Logger,
) -> AlexandriaParts:
    """`endpoint` is Firecrawl's. Executions get longer attempts than everything else."""
    alexandria = AlexandriaCatalogue(clock=clock)
    way = OpenAlexandria(catalog=catalog, meters=meters, endpoint=endpoint, clock=clock)
    patient = meters.with_attempts_of(ATTEMPT_S)
    return AlexandriaParts(
        search=SearchTools(admit=admit, way=way, alexandria=alexandria, clock=clock, logger=logger),
        inspect=InspectTool(admit=admit, way=way, alexandria=alexandria, quotes=quotes, clock=clock, logger=logger),
        execute=ExecuteTool(
            admit=admit,
            way=OpenAlexandria(catalog=catalog, meters=patient, endpoint=endpoint, clock=clock),
            alexandria=alexandria,
            quotes=quotes,
            receipts=receipts,
            clock=clock,
            logger=logger,
        ),
        receipt=ReadReceipt(admit=admit, receipts=receipts, clock=clock),
    )
