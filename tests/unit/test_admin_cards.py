"""Cards, as an admin meets them: through the function's own routes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from shared.domain.cards import MAX_CARDS_PER_KEY
from shared.errors import Unavailable
from shared.web.answer_size import MAX_ANSWER_BYTES
from tests.support.admin_stage import AUDIT, AdminStage, Answered
from tests.support.card_builders import a_card

A_CARD = {"keys": ["Ferry  Pass", "渡轮卡"], "title": "Ferry pass", "body": "**89 euro** a month.\r\n"}


@pytest.fixture
def stage() -> Iterator[AdminStage]:
    stage = AdminStage()
    yield stage
    stage.close()


@pytest.fixture
def cards(stage: AdminStage) -> str:
    """The path of a collection's cards."""
    return stage.collect().headers["Location"] + "/cards"


def add(stage: AdminStage, cards: str, **over: Any) -> Answered:
    added = stage.call("POST", cards, A_CARD | over)
    assert added.status == 201, added.text
    return added


def test_an_added_card_is_shown_as_it_was_sent_with_its_keys_as_they_are_compared(
    stage: AdminStage, cards: str
) -> None:
    added = add(stage, cards)

    assert added.json | A_CARD | {"normKeys": ["ferry pass", "渡轮卡"], "generation": 1} == added.json
    assert added.headers["Location"] == f"{cards}/{added.json['id']}"
    assert added.etag == '"1"'
    assert stage.call("GET", added.headers["Location"]).json == added.json
    assert stage.call("GET", cards.removesuffix("/cards")).json["cardCount"] == 1


def test_a_title_may_be_left_out(stage: AdminStage, cards: str) -> None:
    added = stage.call("POST", cards, {"keys": ["pass"], "body": "x"})

    assert (added.status, added.json["title"]) == (201, "")


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"keys": []}, "/keys"),
        ({"keys": [f"k{number}" for number in range(33)]}, "/keys"),
        ({"keys": ["fine", ""]}, "/keys/1"),
        ({"keys": ["fine", " \u3000\n"]}, "/keys/1"),
        ({"keys": ["x" * 201]}, "/keys/0"),
        ({"keys": ["ﷺ" * 40]}, "/keys/0"),  # 720 letters in its normal form
        ({"keys": ["fine", "nul\0"]}, "/keys/1"),
        ({"title": "nul\0"}, "/title"),
        ({"title": "delete\x7f"}, "/title"),
        ({"keys": "pass"}, "/keys"),
        ({"keys": [5]}, "/keys/0"),
        ({"keys": None}, "/keys"),
        ({"title": "x" * 513}, "/title"),
        ({"title": None}, "/title"),
        ({"body": None}, "/body"),
        ({"body": "x" * 32_769}, "/body"),
        ({"body": "é" * 16_385}, "/body"),
        ({"normKeys": ["x"]}, "/normKeys"),
        ({"id": "crd_aaaaaaaaaaaaaaaa"}, "/id"),
    ],
)
def test_a_wrong_field_is_named(stage: AdminStage, cards: str, change: dict[str, Any], pointer: str) -> None:
    refused = stage.call("POST", cards, A_CARD | change)

    assert (refused.status, refused.code, refused.pointers) == (422, "invalid_request", [pointer])
    assert stage.call("GET", cards).json["cards"] == []


def test_keys_and_titles_that_have_control_characters_are_told_so(stage: AdminStage, cards: str) -> None:
    refused = stage.call("POST", cards, A_CARD | {"keys": ["a\x1b"]})

    assert refused.json["errors"] == [
        {"pointer": "/keys/0", "detail": "Control characters other than white space are not allowed."}
    ]


def test_white_space_of_any_kind_is_taken_in_keys_and_titles(stage: AdminStage, cards: str) -> None:
    shown = add(stage, cards, keys=["ferry\tpass\r\n"], title="Ferry\npass").json

    assert (shown["keys"], shown["title"], shown["normKeys"]) == (["ferry\tpass\r\n"], "Ferry\npass", ["ferry pass"])


def test_a_list_that_is_too_long_is_told_how_long_it_may_be(stage: AdminStage, cards: str) -> None:
    refused = stage.call("POST", cards, A_CARD | {"keys": [f"k{number}" for number in range(33)]})

    assert refused.json["errors"] == [{"pointer": "/keys", "detail": "At most 32 items are allowed."}]


def test_a_body_of_exactly_the_limit_is_taken(stage: AdminStage, cards: str) -> None:
    assert add(stage, cards, body="é" * 16_384).json["body"] == "é" * 16_384


def test_keys_with_more_normal_forms_than_one_write_can_hold_are_refused(stage: AdminStage, cards: str) -> None:
    doubled = [f"ß\u0301 {number}" for number in range(32)]  # each has two: folding lets a mark find another letter
    refused = stage.call("POST", cards, A_CARD | {"keys": doubled})

    assert (refused.status, refused.pointers) == (422, ["/keys"])


def test_a_key_that_too_many_cards_have_is_refused_by_name(stage: AdminStage, cards: str) -> None:
    collection = next(iter(stage.shelf.collections.values()))
    stage.shelf.add(collection, *(a_card(collection, "pass") for _ in range(MAX_CARDS_PER_KEY)))

    refused = stage.call("POST", cards, A_CARD | {"keys": ["PASS", "other"]})
    assert (refused.status, refused.code) == (409, "key_full")
    assert stage.call("POST", cards, A_CARD | {"keys": ["other"]}).status == 201


def test_a_repeated_creation_shows_what_the_first_one_made(stage: AdminStage, cards: str) -> None:
    first = stage.call("POST", cards, A_CARD, key="k")
    again = stage.call("POST", cards, A_CARD, key="k")

    assert (again.status, again.json) == (201, first.json)
    assert len(stage.call("GET", cards).json["cards"]) == 1
    assert stage.call("POST", cards, A_CARD | {"title": "x"}, key="k").code == "idempotency_key_reused"


def test_what_is_left_out_of_a_change_stays(stage: AdminStage, cards: str) -> None:
    added = add(stage, cards)
    changed = stage.call("PATCH", added.headers["Location"], {"title": "Pass"}, if_match=added.etag)

    assert changed.json["title"] == "Pass"
    assert (changed.json["keys"], changed.json["body"]) == (A_CARD["keys"], A_CARD["body"])
    assert changed.etag == '"2"'


def test_new_keys_replace_all_of_them(stage: AdminStage, cards: str) -> None:
    added = add(stage, cards)
    changed = stage.call("PATCH", added.headers["Location"], {"keys": ["Ｍ４"]}, if_match=added.etag)

    assert (changed.json["keys"], changed.json["normKeys"]) == (["Ｍ４"], ["m4"])


@pytest.mark.parametrize("body", [{}, {"title": "Ferry pass"}, A_CARD])
def test_a_change_that_changes_nothing_writes_nothing(stage: AdminStage, cards: str, body: dict[str, Any]) -> None:
    added = add(stage, cards)
    entries = len(stage.store.audit)
    same = stage.call("PATCH", added.headers["Location"], body, if_match=added.etag)

    assert (same.status, same.json, same.etag) == (200, added.json, added.etag)
    assert len(stage.store.audit) == entries


def test_of_two_admins_who_edit_at_once_one_gets_412(stage: AdminStage, cards: str) -> None:
    added = add(stage, cards)
    path = added.headers["Location"]

    assert stage.call("PATCH", path, {"title": "Mine"}).code == "precondition_required"
    assert stage.call("PATCH", path, {"title": "Mine"}, if_match=added.etag).status == 200
    assert stage.call("PATCH", path, {"title": "Yours"}, if_match=added.etag).code == "precondition_failed"
    assert stage.call("DELETE", path, if_match=added.etag).code == "precondition_failed"
    assert stage.call("GET", path).json["title"] == "Mine"


def test_a_deleted_card_is_gone(stage: AdminStage, cards: str) -> None:
    added = add(stage, cards)
    path = added.headers["Location"]

    assert stage.call("DELETE", path).code == "precondition_required"
    assert stage.call("DELETE", path, if_match=added.etag).status == 204
    assert stage.call("GET", path).code == "not_found"
    assert stage.call("DELETE", path, if_match=added.etag).code == "not_found"


@pytest.mark.parametrize("unknown", ["crd_aaaaaaaaaaaaaaaa", "x", "crd_AAAAAAAAAAAAAAAA"])
def test_an_unknown_card_is_not_found(stage: AdminStage, cards: str, unknown: str) -> None:
    for method, body in (("GET", None), ("PATCH", {"title": "x"}), ("DELETE", None)):
        assert stage.call(method, f"{cards}/{unknown}", body, if_match='"1"').code == "not_found"


def test_a_card_belongs_to_its_collection_alone(stage: AdminStage, cards: str) -> None:
    added = add(stage, cards)
    other = stage.collect(name="Other").headers["Location"]

    assert stage.call("GET", f"{other}/cards/{added.json['id']}").code == "not_found"
    assert stage.call("GET", f"{other}/cards").json["cards"] == []


def test_a_list_is_read_page_by_page(stage: AdminStage, cards: str) -> None:
    ids = sorted(add(stage, cards, keys=[f"key {number}"]).json["id"] for number in range(5))
    seen: list[str] = []
    query: dict[str, str] = {"limit": "2"}
    while query:
        page = stage.call("GET", cards, query=query).json
        seen += [each["id"] for each in page["cards"]]
        query = {"limit": "2", "cursor": page["nextCursor"]} if page["nextCursor"] else {}
    assert seen == ids


def test_a_page_of_large_cards_ends_before_it_is_too_large_to_deliver(stage: AdminStage, cards: str) -> None:
    collection = next(iter(stage.shelf.collections.values()))
    many = [a_card(collection, body="\u0001" * 32_768) for _ in range(60)]
    stage.shelf.add(collection, *many)
    seen: list[str] = []
    query: dict[str, str] = {"limit": "100"}
    pages = 0
    while query:
        answered = stage.call("GET", cards, query=query)
        assert len(answered.text.encode()) <= MAX_ANSWER_BYTES
        seen += [each["id"] for each in answered.json["cards"]]
        cursor = answered.json["nextCursor"]
        query = {"limit": "100", "cursor": cursor} if cursor else {}
        pages += 1
    assert seen == sorted(card.id for card in many)
    assert pages > 1


def test_every_change_of_a_card_is_audited_without_what_it_says(stage: AdminStage, cards: str) -> None:
    added = add(stage, cards)
    path = added.headers["Location"]
    changed = stage.call("PATCH", path, {"body": "new"}, if_match=added.etag)
    stage.call("DELETE", path, if_match=changed.etag)

    entries = [each for each in stage.call("GET", AUDIT).json["entries"] if each["action"].startswith("card.")]
    told = {(each["action"], each["generationBefore"], each["generationAfter"]) for each in entries}
    assert told == {("card.created", None, 1), ("card.updated", 1, 2), ("card.deleted", 2, None)}
    assert all(not each["before"] and not each["after"] for each in entries)
    assert "89 euro" not in stage.log.getvalue()


def test_a_store_that_is_away_is_503(stage: AdminStage, cards: str) -> None:
    stage.card_store.failure = Unavailable("Try again.", retry_after_s=5)

    assert stage.call("GET", cards).code == "store_unavailable"
