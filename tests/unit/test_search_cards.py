"""Cards beside a search: matched against the query, and never at the passages' cost."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator
from typing import Any

import pytest

from shared.domain.cards import Card, Collection
from shared.domain.exposure import CredentialClass, ExposureProfile
from shared.errors import Unavailable
from shared.services import find_cards
from tests.support.builders import a_credential, a_token
from tests.support.card_builders import a_card, a_collection, an_internal_collection
from tests.support.published import faults_of
from tests.support.search_stage import Answered, Stage, passages

SEARCH = "/api/v1/knowledge/search"


@pytest.fixture
def stage() -> Iterator[Stage]:
    made = Stage()
    made.add(*passages(2), exposure_profile=ExposureProfile.CUSTOMER_SAFE)
    yield made
    made.close()


@pytest.fixture
def collection(stage: Stage) -> Collection:
    return stage.shelf.add(a_collection())


def add(stage: Stage, collection: Collection, *keys: str, **over: Any) -> Card:
    card = a_card(collection, *keys, **over)
    stage.shelf.add(stage.shelf.collections[collection.id], card)
    return card


def titles(answer: Answered) -> list[str]:
    return [card["title"] for card in answer.json["cards"]]


def test_agents_get_the_cards_that_the_query_mentions(stage: Stage, collection: Collection) -> None:
    card = add(stage, collection, "Ferry Pass", title="", body="**89 euro**")
    add(stage, collection, "harbour fee")
    answer = stage.agent("Is a FERRY  PASS valid?", collections=[collection.id])
    assert answer.json["cards"] == [
        {
            "id": card.id,
            "collectionId": collection.id,
            "keys": ["Ferry Pass"],
            "title": "Ferry Pass",
            "body": "**89 euro**",
            "normKeys": ["ferry pass"],
            "generation": 1,
            "createdAt": "2026-09-21T14:13:20.000Z",
            "updatedAt": "2026-09-21T14:13:20.000Z",
        }
    ]
    assert (answer.json["cardsStatus"], len(answer.json["results"])) == ("complete", 2)
    assert faults_of("POST", SEARCH, answer.status, answer.headers, answer.text) == []


def test_assistants_get_title_body_and_keys_and_no_word_about_how_it_went(stage: Stage, collection: Collection) -> None:
    add(stage, collection, "ferry pass", title="Pass", body="**89 euro**")
    answer = stage.assistant("a ferry pass", collections=[collection.id])
    assert set(answer.json) == {"results", "cards"}
    assert answer.json["cards"] == [{"title": "Pass", "body": "**89 euro**", "keys": ["ferry pass"]}]
    assert faults_of("POST", SEARCH, answer.status, answer.headers, answer.text) == []


def test_an_agent_only_collection_has_no_cards_for_assistants_and_is_no_error(stage: Stage) -> None:
    internal = stage.shelf.add(an_internal_collection())
    add(stage, internal, "ferry pass", title="zq-internal")
    for id_ in (internal.id, "aoc_aaaaaaaaaaaaaaaa", "nonsense"):
        answer = stage.assistant("ferry pass", collections=[id_])
        assert (answer.status, answer.json["cards"], len(answer.json["results"])) == (200, [], 2)
    assert titles(stage.agent("ferry pass", collections=[internal.id])) == ["zq-internal"]


def test_unknown_collections_yield_no_cards_and_no_error(stage: Stage, collection: Collection) -> None:
    add(stage, collection, "ferry pass", title="Pass")
    unknown = ["csc_aaaaaaaaaaaaaaaa", "nonsense", "aoc_aaaaaaaaaaaaaaaa"]
    answer = stage.agent("ferry pass", collections=unknown)
    assert (answer.json["cards"], answer.json["cardsStatus"]) == ([], "complete")
    assert titles(stage.agent("ferry pass", collections=[*unknown, collection.id])) == ["Pass"]


def test_without_collections_no_card_is_looked_for(stage: Stage, collection: Collection) -> None:
    add(stage, collection, "ferry pass")
    for port in (stage.vocabularies, stage.customer_vocabularies, stage.card_reader, stage.customer_card_reader):
        port.failure = Unavailable("never asked")
    for body in ({}, {"collections": []}):
        assert stage.agent("ferry pass", **body).json["cardsStatus"] is None
        assert "cards" not in stage.assistant("ferry pass", **body).json


def test_cards_of_several_collections_are_one_list_in_order_and_at_most_ten(stage: Stage) -> None:
    first, second = stage.shelf.add(a_collection()), stage.shelf.add(an_internal_collection())
    for number in range(8):
        add(stage, first if number % 2 else second, f"key {number}", title=str(number))
        add(stage, second if number % 2 else first, f"key {number}", title=str(number))
    query = " ".join(f"key {number}" for number in reversed(range(8)))
    named = [second.id, first.id, second.id]
    assert titles(stage.agent(query, collections=named)) == ["0", "0", "1", "1", "2", "2", "3", "3", "4", "4"]
    assert titles(stage.assistant(query, collections=named)) == [str(number) for number in range(8)]


def test_cards_of_the_same_id_in_two_collections_are_two_cards(stage: Stage) -> None:
    """An export that is imported elsewhere keeps its ids."""
    first, second = stage.shelf.add(a_collection()), stage.shelf.add(a_collection())
    here = add(stage, first, "ferry pass", "pass", title="here")
    add(stage, second, "ferry pass", title="there", id=here.id)
    add(stage, second, "harbour fee", title="fee")
    expected = [title for _, title in sorted([(first.id, "here"), (second.id, "there")])] + ["fee"]
    for named in ([first.id, second.id], [second.id, first.id], [second.id, first.id, second.id]):
        for lane in (stage.agent, stage.assistant):
            assert titles(lane("harbour fee, ferry pass", collections=named)) == expected


def test_a_card_of_the_same_id_elsewhere_is_not_lost_where_its_keys_are_others(stage: Stage) -> None:
    first, second = stage.shelf.add(a_collection()), stage.shelf.add(a_collection())
    here = add(stage, first, "ferry pass", title="here")
    add(stage, second, "harbour fee", title="there", id=here.id)
    for named in ([first.id, second.id], [second.id, first.id]):
        for lane in (stage.agent, stage.assistant):
            assert titles(lane("harbour fee, ferry pass", collections=named)) == ["here", "there"]


@pytest.mark.parametrize("failing", ["vocabularies", "card_reader"])
def test_cards_that_cannot_be_read_cost_the_passages_nothing(
    stage: Stage, collection: Collection, failing: str
) -> None:
    add(stage, collection, "ferry pass")
    for port in (getattr(stage, failing), getattr(stage, f"customer_{failing}")):
        port.failure = Unavailable("Later.")
    answer = stage.agent("ferry pass", collections=[collection.id])
    assert (answer.status, answer.json["cards"], answer.json["cardsStatus"]) == (200, [], "unavailable")
    assert (answer.json["status"], len(answer.json["results"])) == ("complete", 2)
    customers = stage.assistant("ferry pass", collections=[collection.id])
    assert (customers.status, customers.json["cards"], len(customers.json["results"])) == (200, [], 2)


def test_a_fault_at_the_cards_is_noted_and_costs_the_passages_nothing(stage: Stage, collection: Collection) -> None:
    async def broken(*_args: object, **_named: object) -> Any:
        raise KeyError("zq-words")

    stage.vocabularies.occurring = broken  # type: ignore[method-assign]
    answer = stage.agent("ferry pass", collections=[collection.id])
    assert (answer.json["cardsStatus"], len(answer.json["results"])) == ("unavailable", 2)
    (line,) = stage.log.of("cards.fault")
    assert line["fault"].startswith("KeyError at test_search_cards.py:")
    assert "zq-words" not in repr(stage.log.lines)


def test_one_collection_that_is_not_ready_does_not_hide_the_others(stage: Stage, collection: Collection) -> None:
    other = stage.shelf.add(a_collection())
    add(stage, collection, "ferry pass", title="Pass")
    occurring = stage.vocabularies.occurring

    async def but_one(collection_id: str, text: str, *, turn: Any) -> Any:
        if collection_id == other.id:
            raise Unavailable("Later.", code="vocabulary_unavailable")
        return await occurring(collection_id, text, turn=turn)

    stage.vocabularies.occurring = but_one  # type: ignore[method-assign]
    answer = stage.agent("ferry pass", collections=[other.id, collection.id])
    assert (titles(answer), answer.json["cardsStatus"]) == (["Pass"], "partial")


def _never(left: list[str]) -> Any:
    async def occurring(*_args: object, **_named: object) -> Any:
        try:
            await asyncio.sleep(3_600)
        finally:
            left.append("cancelled")

    return occurring


def test_cards_that_never_come_are_waited_for_only_a_moment(
    stage: Stage, collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(find_cards, "GRACE_S", 0.1)
    left: list[str] = []
    stage.vocabularies.occurring = _never(left)  # type: ignore[method-assign]
    stage.customer_vocabularies.occurring = _never(left)  # type: ignore[method-assign]
    started_s = time.perf_counter()
    answer = stage.agent("ferry pass", collections=[collection.id], deadlineMs=25_000)
    customers = stage.assistant("ferry pass", collections=[collection.id], deadlineMs=25_000)
    assert time.perf_counter() - started_s < 5
    assert (answer.json["cardsStatus"], len(answer.json["results"])) == ("unavailable", 2)
    assert (customers.json["cards"], len(customers.json["results"])) == ([], 2)
    assert left == ["cancelled"] * 2


def test_cards_keep_to_the_deadline_of_the_search(stage: Stage, collection: Collection) -> None:
    async def hangs(_question: Any) -> Any:
        await asyncio.sleep(3_600)

    left: list[str] = []
    stage.add(act=hangs)
    stage.vocabularies.occurring = _never(left)  # type: ignore[method-assign]
    started_s = time.perf_counter()
    answer = stage.agent("ferry pass", collections=[collection.id], deadlineMs=500)
    assert 0.45 < time.perf_counter() - started_s < 5
    assert (answer.json["cardsStatus"], answer.json["status"], left) == ("unavailable", "partial", ["cancelled"])


def test_cards_run_beside_the_passages(stage: Stage, collection: Collection) -> None:
    """Each waits for the other to have begun: one after the other, neither would end."""
    add(stage, collection, "ferry pass", title="Pass")
    begun: list[str] = []
    occurring = stage.vocabularies.occurring

    async def until(other: str) -> None:
        async with asyncio.timeout(10):
            while other not in begun:
                await asyncio.sleep(0.001)

    async def beside(*args: Any, **named: Any) -> Any:
        begun.append("cards")
        await until("passages")
        return await occurring(*args, **named)

    async def act(_question: Any) -> Any:
        begun.append("passages")
        await until("cards")
        raise Unavailable

    stage.vocabularies.occurring = beside  # type: ignore[method-assign]
    stage.add(act=act)
    answer = stage.agent("ferry pass", collections=[collection.id])
    assert sorted(begun) == ["cards", "passages"]
    assert titles(answer) == ["Pass"]


def test_what_takes_long_is_begun_only_when_the_passages_are_there(stage: Stage, collection: Collection) -> None:
    add(stage, collection, "ferry pass", title="Pass")
    order: list[str] = []
    occurring = stage.vocabularies.occurring

    async def large(*args: Any, turn: Any) -> Any:
        deadline = await asyncio.shield(turn)
        order.append("cards")
        assert 0 < deadline.remaining_s(stage.clock.monotonic()) <= 0.25
        return await occurring(*args, turn=turn)

    async def slow(_question: Any) -> Any:
        await asyncio.sleep(0.1)
        order.append("passages")
        raise Unavailable

    stage.vocabularies.occurring = large  # type: ignore[method-assign]
    stage.add(act=slow)
    answer = stage.agent("ferry pass", collections=[collection.id])
    assert (order, titles(answer)) == (["passages", "cards"], ["Pass"])


def test_nobody_reads_cards_who_is_not_admitted(
    stage: Stage, collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def read(*_args: object, **_named: object) -> None:
        raise AssertionError("read before the caller was admitted")

    monkeypatch.setattr(stage.vocabularies, "occurring", read)
    monkeypatch.setattr(stage.customer_vocabularies, "occurring", read)
    stranger = a_token(a_credential(credential_class=CredentialClass.AGENT))
    other = a_token(a_credential(credential_class=CredentialClass.ASSISTANT))
    ungranted = a_token(stage.add_credential(credential_class=CredentialClass.ASSISTANT))
    assert stage.agent(token=stranger, collections=[collection.id]).status == 401
    assert stage.assistant(token=other, collections=[collection.id]).status == 401
    assert stage.assistant(token=ungranted, collections=[collection.id]).status == 403
    assert stage.log.of("cards.fault") == []


def test_the_largest_cards_leave_room_for_an_answer_that_can_be_delivered(stage: Stage, collection: Collection) -> None:
    for number in range(12):
        add(stage, collection, "ferry pass", f"m{number}", body="\n" * 32_768)
    for answer in (
        stage.agent("ferry pass", collections=[collection.id]),
        stage.assistant("ferry pass", collections=[collection.id]),
    ):
        assert (len(answer.json["cards"]), len(answer.json["results"])) == (10, 2)
        assert len(json.dumps(answer.text)) < 4 * 1024 * 1024


def test_the_widget_cannot_name_collections(stage: Stage, collection: Collection) -> None:
    add(stage, collection, "ferry pass")
    assert stage.widget("ferry pass", collections=[collection.id]).status == 422
    assert set(stage.widget("ferry pass").json) == {"results"}
