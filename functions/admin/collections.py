"""The routes of collections."""

from __future__ import annotations

from typing import cast

from aws_lambda_powertools.event_handler import Response

from functions.admin.desk import Call, Desk
from functions.admin.parts import Parts
from shared.services.create_collection import CreateCollection
from shared.services.delete_collection import DeleteCollection
from shared.services.list_collections import ListCollections
from shared.services.replay import Replay
from shared.services.update_collection import CollectionChanges, UpdateCollection
from shared.web.api import answer, nothing
from shared.web.collection_models import CollectionCreate, CollectionPage, CollectionPatch, CollectionShown
from shared.web.cursors import List, cursor_of
from shared.web.etags import etag_of, required_generation
from shared.web.idempotency_keys import once_of
from shared.web.page_queries import page_query
from shared.web.wire import read_body

PATH = "/api/v1/collections"
ONE = PATH + "/{collection_id}"


def add_collection_routes(desk: Desk, parts: Parts) -> None:
    _add_reading(desk, parts)
    _add_changing(desk, parts)


def _add_reading(desk: Desk, parts: Parts) -> None:
    collections = ListCollections(store=parts.card_store)

    @desk.route("GET", PATH)
    async def list_collections(call: Call) -> Response[str]:
        query = page_query(call.event, List.COLLECTIONS)
        page = await collections.page(limit=query.limit, after=query.after)
        shown = CollectionPage(
            collections=tuple(CollectionShown.of(each) for each in page.items),
            next_cursor=cursor_of(List.COLLECTIONS, page.next_after) if page.next_after else None,
        )
        return answer(shown.model_dump_json(by_alias=True))

    @desk.route("GET", ONE)
    async def get_collection(_call: Call, collection_id: str) -> Response[str]:
        return _shown(CollectionShown.of(await collections.one(collection_id)))


def _add_changing(desk: Desk, parts: Parts) -> None:
    create = CreateCollection(store=parts.card_store, replay=Replay(idempotency=parts.idempotency), clock=parts.clock)
    update = UpdateCollection(store=parts.card_store, clock=parts.clock)
    delete = DeleteCollection(store=parts.card_store, clock=parts.clock)

    @desk.route("POST", PATH)
    async def create_collection(call: Call) -> Response[str]:
        body = read_body(CollectionCreate, call.event)
        once = once_of(call.event, call.principal)
        made = await create(body.name, body.exposure_profile, by=call.principal, once=once)
        return _shown(CollectionShown.of(made), status=201)

    @desk.route("PATCH", ONE)
    async def update_collection(call: Call, collection_id: str) -> Response[str]:
        generation = required_generation(call.event)
        changes = cast("CollectionChanges", read_body(CollectionPatch, call.event).changes())
        changed = await update(collection_id, changes, expected_generation=generation, by=call.principal)
        return _shown(CollectionShown.of(changed))

    @desk.route("DELETE", ONE)
    async def delete_collection(call: Call, collection_id: str) -> Response[str]:
        await delete(collection_id, expected_generation=required_generation(call.event), by=call.principal)
        return nothing(status=202)


def _shown(shown: CollectionShown, *, status: int = 200) -> Response[str]:
    headers = {"ETag": etag_of(shown.generation)}
    if status == 201:
        headers["Location"] = f"{PATH}/{shown.id}"
    return answer(shown.model_dump_json(by_alias=True), status=status, headers=headers)
