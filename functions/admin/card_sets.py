"""The routes of many cards at once: imports and exports."""

from __future__ import annotations

from urllib.parse import urlencode

from aws_lambda_powertools.event_handler import Response

from functions.admin.cards import PATH
from functions.admin.desk import Call, Desk
from functions.admin.parts import Parts
from shared.services.import_cards import ImportCards
from shared.services.list_cards import ListCards
from shared.web.api import answer
from shared.web.card_models import CardRow, ImportReport
from shared.web.card_rows import JSON_LINES, read_rows
from shared.web.cursors import List, cursor_of
from shared.web.fitting import fitting
from shared.web.page_queries import MAX_EXPORTED, page_query


def add_card_set_routes(desk: Desk, parts: Parts) -> None:
    import_all = ImportCards(store=parts.card_store, clock=parts.clock)
    cards = ListCards(store=parts.card_store)

    @desk.route("POST", PATH + "/import")
    async def import_cards(call: Call, collection_id: str) -> Response[str]:
        outcomes = await import_all(collection_id, read_rows(call.event), by=call.principal)
        return answer(ImportReport.of(outcomes).model_dump_json(by_alias=True))

    @desk.route("GET", PATH + "/export")
    async def export_cards(call: Call, collection_id: str) -> Response[str]:
        query = page_query(call.event, List.CARDS, default=MAX_EXPORTED, most=MAX_EXPORTED)
        found = await cards.page(collection_id, limit=query.limit, after=query.after)
        page = fitting(found, CardRow.line_of, sort_key=lambda card: card.id)
        headers = {}
        if page.next_after:
            rest = urlencode({"cursor": cursor_of(List.CARDS, page.next_after), "limit": query.limit})
            headers["Link"] = f'<?{rest}>; rel="next"'
        return answer("".join(map(CardRow.line_of, page.items)), headers=headers, media_type=JSON_LINES)
