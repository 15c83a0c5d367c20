"""The operations of the glossary: collections and their cards."""

from __future__ import annotations

from infra.openapi.operation import IfMatch, Operation
from shared.web.card_answers import LookupOut, MatchOut
from shared.web.card_models import CardCreate, CardPage, CardPatch, CardShown, ImportReport
from shared.web.card_requests import LookupBody, MatchBody
from shared.web.collection_models import CollectionCreate, CollectionPage, CollectionPatch, CollectionShown
from shared.web.customer_card_answers import CustomerLookupOut, CustomerMatchOut

_ADMIN = ("adminToken",)
_READERS = ("agentToken", "assistantToken")
_COLLECTIONS = "/api/v1/collections"
_COLLECTION = _COLLECTIONS + "/{collectionId}"
_CARDS = _COLLECTION + "/cards"
_CARD = _CARDS + "/{cardId}"
_CONTEXT_CARDS = _COLLECTION + "/context-cards"

_READING_CARDS: dict[tuple[str, str], Operation] = {
    ("POST", _CONTEXT_CARDS + "/lookup"): Operation(
        id="lookUpCards",
        tag="Glossary",
        summary="Look up words and names, exactly",
        description=(
            "A card is found under each of its keys. Terms and keys are compared in their normal form: NFKC, case "
            "folded, runs of white space as one space, none at the ends; format characters stay. Every term comes back "
            "as it was given, with an empty list where there is no card. The answer stops at 500 cards or 4 MiB; "
            "`dropped` counts what is missing. An assistant sees customer_safe collections alone, and of a card its "
            "title, body and keys."
        ),
        tokens=_READERS,
        request=(LookupBody,),
        answer=(LookupOut, CustomerLookupOut),
        problems=("forbidden",),
    ),
    ("POST", _CONTEXT_CARDS + "/match"): Operation(
        id="matchCards",
        tag="Glossary",
        summary="Find the cards whose keys occur in a text",
        description=(
            "Every key that occurs counts, overlapping ones too, unless it is glued: an edge is glued when the key's "
            "own character there and its neighbour are both ASCII word characters (`A-Z a-z 0-9 _`). So `m4` is not "
            "found in `m40`, and a key of ideographs is found inside a sentence. Cards come once each, by the first of "
            "their keys that occurs, then by id; `dropped` counts those beyond `cap`. An assistant sees customer_safe "
            "collections alone, and of a card its title, body and keys."
        ),
        tokens=_READERS,
        request=(MatchBody,),
        answer=(MatchOut, CustomerMatchOut),
        problems=("forbidden", "vocabulary_unavailable"),
    ),
}

_ADMINISTERING_COLLECTIONS: dict[tuple[str, str], Operation] = {
    ("POST", _COLLECTIONS): Operation(
        id="createCollection",
        tag="Cards",
        summary="Make a collection of cards",
        description="`exposureProfile` says how far its cards may travel, and is fixed for ever.",
        tokens=_ADMIN,
        request=(CollectionCreate,),
        status=201,
        answer=(CollectionShown,),
        problems=("name_taken", "id_taken"),
        is_idempotent_by_key=True,
        has_etag=True,
    ),
    ("GET", _COLLECTIONS): Operation(
        id="listCollections",
        tag="Cards",
        summary="List collections, ascending by id",
        tokens=_ADMIN,
        answer=(CollectionPage,),
        is_list=True,
    ),
    ("GET", _COLLECTION): Operation(
        id="getCollection",
        tag="Cards",
        summary="Show one collection",
        tokens=_ADMIN,
        answer=(CollectionShown,),
        has_etag=True,
    ),
    ("PATCH", _COLLECTION): Operation(
        id="updateCollection",
        tag="Cards",
        summary="Rename a collection",
        tokens=_ADMIN,
        request=(CollectionPatch,),
        answer=(CollectionShown,),
        problems=("name_taken",),
        if_match=IfMatch.REQUIRED,
        has_etag=True,
    ),
    ("DELETE", _COLLECTION): Operation(
        id="deleteCollection",
        tag="Cards",
        summary="Delete a collection with all its cards",
        description=(
            "From this answer on the collection and its cards are 404 for everybody, and its name is free again. What "
            "lies in the store is removed in the background."
        ),
        tokens=_ADMIN,
        status=202,
        if_match=IfMatch.REQUIRED,
    ),
}

_ADMINISTERING_CARDS: dict[tuple[str, str], Operation] = {
    ("POST", _CARDS): Operation(
        id="createCard",
        tag="Cards",
        summary="Add a card",
        description="It is found under each of its keys from this answer on.",
        tokens=_ADMIN,
        request=(CardCreate,),
        status=201,
        answer=(CardShown,),
        problems=("key_full", "collection_full", "id_taken"),
        is_idempotent_by_key=True,
        has_etag=True,
    ),
    ("GET", _CARDS): Operation(
        id="listCards",
        tag="Cards",
        summary="List the cards of a collection, ascending by id",
        description="A page ends earlier where it would be larger than 4 MiB.",
        tokens=_ADMIN,
        answer=(CardPage,),
        is_list=True,
    ),
    ("POST", _CARDS + "/import"): Operation(
        id="importCards",
        tag="Cards",
        summary="Add and change up to 200 cards at once",
        description=(
            "JSON Lines with `id`, `keys`, `title` and `body`, or a table with those columns and keys parted by `|`. "
            "Of these, `keys` and `body` are required. Each row is written whole or refused, and reported. A row "
            "with the `id` of a card changes that card; any other `id` is your own name for the row; without one the "
            "keys and the title say which card it is. The same import again changes nothing."
        ),
        tokens=_ADMIN,
        request_texts=("application/x-ndjson", "text/csv"),
        answer=(ImportReport,),
        problems=("import_running", "import_ended"),
    ),
    ("GET", _CARDS + "/export"): Operation(
        id="exportCards",
        tag="Cards",
        summary="Read the cards of a collection as JSON Lines that an import takes",
        tokens=_ADMIN,
        answer_text="application/x-ndjson",
    ),
    ("GET", _CARD): Operation(
        id="getCard",
        tag="Cards",
        summary="Show one card",
        tokens=_ADMIN,
        answer=(CardShown,),
        has_etag=True,
    ),
    ("PATCH", _CARD): Operation(
        id="updateCard",
        tag="Cards",
        summary="Change a card",
        description="What is left out stays.",
        tokens=_ADMIN,
        request=(CardPatch,),
        answer=(CardShown,),
        problems=("key_full", "collection_full"),
        if_match=IfMatch.REQUIRED,
        has_etag=True,
    ),
    ("DELETE", _CARD): Operation(
        id="deleteCard",
        tag="Cards",
        summary="Delete a card",
        tokens=_ADMIN,
        status=204,
        if_match=IfMatch.REQUIRED,
    ),
}

CARD_OPERATIONS: dict[tuple[str, str], Operation] = {
    **_READING_CARDS,
    **_ADMINISTERING_COLLECTIONS,
    **_ADMINISTERING_CARDS,
}
