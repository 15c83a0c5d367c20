"""Builds the readers of cards: of each lane its own, over one memory of keys, for searches and glossary alike."""

from __future__ import annotations

from dataclasses import dataclass

from functions.mcp.base import Base
from shared.adapters.card_reader import DynamoCardReader
from shared.adapters.customer_card_reader import DynamoCustomerCardReader
from shared.adapters.customer_vocabularies import DynamoCustomerVocabularies
from shared.adapters.vocabularies import DynamoVocabularies
from shared.adapters.vocabulary_copies import VocabularyCopies


@dataclass(frozen=True, slots=True, kw_only=True)
class CardReaders:
    vocabularies: DynamoVocabularies
    cards: DynamoCardReader
    customer_vocabularies: DynamoCustomerVocabularies
    customer_cards: DynamoCustomerCardReader


def card_readers(base: Base) -> CardReaders:
    table = base.settings.cards
    copies = VocabularyCopies(base.dynamodb, table=table, clock=base.clock)
    return CardReaders(
        vocabularies=DynamoVocabularies(base.reads, table=table, copies=copies),
        cards=DynamoCardReader(base.dynamodb, table=table),
        customer_vocabularies=DynamoCustomerVocabularies(base.reads, table=table, copies=copies),
        customer_cards=DynamoCustomerCardReader(base.dynamodb, table=table),
    )
