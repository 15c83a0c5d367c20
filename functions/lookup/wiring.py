"""Builds what the glossary needs: of each lane its own readers, over one memory of keys."""

from __future__ import annotations

from collections.abc import Mapping

from functions.lookup.routes import LookupParts
from shared.adapters import aws
from shared.adapters.card_reader import DynamoCardReader
from shared.adapters.clock import SystemClock
from shared.adapters.credentials import DynamoCredentials
from shared.adapters.customer_card_reader import DynamoCustomerCardReader
from shared.adapters.customer_vocabularies import DynamoCustomerVocabularies
from shared.adapters.event_loop import ProcessLoop
from shared.adapters.front import front_of
from shared.adapters.rate_limits import DynamoRateLimits
from shared.adapters.row_reads import RowReads
from shared.adapters.vocabularies import DynamoVocabularies
from shared.adapters.vocabulary_copies import VocabularyCopies
from shared.observability import logger_for
from shared.services.admit import Admit
from shared.services.admit_assistant import AdmitAssistant
from shared.services.look_up import LookUp
from shared.services.match import Match
from shared.settings.cards import CardTable
from shared.settings.front import Front
from shared.settings.internal import CallerStore


class LookupSettings(CallerStore, CardTable, Front):
    """All that the lookup function reads from its environment."""


def wired(environment: Mapping[str, str]) -> LookupParts:
    """Raises `ValidationError` naming what the environment lacks."""
    settings = LookupSettings.from_environment(environment)
    dynamodb, clock, logger = aws.dynamodb(), SystemClock(), logger_for("lookup")
    reads = RowReads(dynamodb)
    admit = Admit(
        credentials=DynamoCredentials(reads, table=settings.registrations_internal),
        rate_limits=DynamoRateLimits(dynamodb, table=settings.ledger_internal, clock=clock),
        clock=clock,
    )
    cards = DynamoCardReader(dynamodb, table=settings.cards)
    customer_cards = DynamoCustomerCardReader(dynamodb, table=settings.cards)
    copies = VocabularyCopies(dynamodb, table=settings.cards, clock=clock)
    vocabularies = DynamoVocabularies(reads, table=settings.cards, copies=copies)
    customer_vocabularies = DynamoCustomerVocabularies(reads, table=settings.cards, copies=copies)
    return LookupParts(
        admit=admit,
        admit_assistant=AdmitAssistant(admit=admit),
        look_up=LookUp(cards=cards, clock=clock, logger=logger),
        look_up_for_customer=LookUp(cards=customer_cards, clock=clock, logger=logger),
        match=Match(vocabularies=vocabularies, cards=cards, clock=clock, logger=logger),
        match_for_customer=Match(vocabularies=customer_vocabularies, cards=customer_cards, clock=clock, logger=logger),
        clock=clock,
        loop=ProcessLoop(),
        front=front_of(settings, table=settings.registrations_internal, clock=clock),
        logger=logger,
    )
