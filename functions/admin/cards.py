"""The routes of cards."""

from __future__ import annotations

from typing import cast

from aws_lambda_powertools.event_handler import Response

from functions.admin.collections import ONE as COLLECTION
from functions.admin.desk import Call, Desk
from functions.admin.parts import Parts
from shared.services.create_card import CreateCard, NewCard
from shared.services.delete_card import DeleteCard
from shared.services.list_cards import ListCards
from shared.services.replay import Replay
from shared.services.update_card import CardChanges, UpdateCard
from shared.web.api import answer, nothing
from shared.web.card_models import CardCreate, CardPage, CardPatch, CardShown
from shared.web.cursors import List, cursor_of
from shared.web.etags import etag_of, required_generation
from shared.web.fitting import fitting
from shared.web.idempotency_keys import once_of
from shared.web.page_queries import page_query
from shared.web.wire import read_body

PATH = COLLECTION + "/cards"
ONE = PATH + "/{card_id}"


def add_card_routes(desk: Desk, parts: Parts) -> None:
    """After the routes of whole sets of cards, whose last segments are words and no ids."""
    cards = ListCards(store=parts.card_store)
    _add_reading(desk, cards)
    _add_changing(desk, parts, cards)


def _add_reading(desk: Desk, cards: ListCards) -> None:
    @desk.route("GET", PATH)
    async def list_cards(call: Call, collection_id: str) -> Response[str]:
        query = page_query(call.event, List.CARDS)
        found = await cards.page(collection_id, limit=query.limit, after=query.after)
        page = fitting(found, lambda card: CardShown.of(card).text(), sort_key=lambda card: card.id)
        shown = CardPage(
            cards=tuple(CardShown.of(each) for each in page.items),
            next_cursor=cursor_of(List.CARDS, page.next_after) if page.next_after else None,
        )
        return answer(shown.model_dump_json(by_alias=True))

    @desk.route("GET", ONE)
    async def get_card(_call: Call, collection_id: str, card_id: str) -> Response[str]:
        return _shown(CardShown.of(await cards.one(collection_id, card_id)))


def _add_changing(desk: Desk, parts: Parts, cards: ListCards) -> None:
    create = CreateCard(store=parts.card_store, replay=Replay(idempotency=parts.idempotency), clock=parts.clock)
    update = UpdateCard(store=parts.card_store, cards=cards, clock=parts.clock)
    delete = DeleteCard(store=parts.card_store, cards=cards, clock=parts.clock)

    @desk.route("POST", PATH)
    async def create_card(call: Call, collection_id: str) -> Response[str]:
        body = read_body(CardCreate, call.event)
        wanted = NewCard(keys=body.keys, title=body.title, body=body.body)
        made = await create(collection_id, wanted, by=call.principal, once=once_of(call.event, call.principal))
        return _shown(CardShown.of(made), location=f"{PATH}/{made.id}".format(collection_id=collection_id))

    @desk.route("PATCH", ONE)
    async def update_card(call: Call, collection_id: str, card_id: str) -> Response[str]:
        generation = required_generation(call.event)
        changes = cast("CardChanges", read_body(CardPatch, call.event).changes())
        card = await update(collection_id, card_id, changes, expected_generation=generation, by=call.principal)
        return _shown(CardShown.of(card))

    @desk.route("DELETE", ONE)
    async def delete_card(call: Call, collection_id: str, card_id: str) -> Response[str]:
        generation = required_generation(call.event)
        await delete(collection_id, card_id, expected_generation=generation, by=call.principal)
        return nothing()


def _shown(shown: CardShown, *, location: str = "") -> Response[str]:
    """`location` is where a card that was just made is."""
    headers = {"ETag": etag_of(shown.generation)}
    if location:
        headers["Location"] = location
    return answer(shown.text(), status=201 if location else 200, headers=headers)
