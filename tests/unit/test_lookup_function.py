"""The glossary's routes: exact look-ups and matches, for agents and for assistants."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from shared.domain.cards import MAX_CARDS_PER_KEY, Card, Collection, CustomerCard, norm
from shared.domain.exposure import CredentialClass
from shared.domain.lookups import MAX_CARDS, Found
from shared.domain.matching import MAX_NORMAL_CHARACTERS
from shared.errors import Unavailable
from shared.web import card_answers, customer_card_answers
from shared.web.answer_size import delivered_bytes
from shared.web.customer_requests import AssistantSearchBody
from shared.web.search_requests import AgentSearchBody
from tests.support.builders import a_credential, a_token
from tests.support.card_builders import a_card, a_collection, an_internal_collection
from tests.support.lookup_stage import LookupStage, problem_of
from tests.support.published import faults_of

VERBS = {"lookup": {"terms": ["m4"]}, "match": {"text": "an m4 bolt"}}


@pytest.fixture
def stage() -> Iterator[LookupStage]:
    made = LookupStage()
    yield made
    made.close()


@pytest.fixture
def collection(stage: LookupStage) -> Collection:
    return stage.shelf.add(a_collection())


def add(stage: LookupStage, collection: Collection, *keys: str, **over: Any) -> Card:
    card = a_card(collection, *keys, **over)
    stage.shelf.add(stage.shelf.collections[collection.id], card)
    return card


def found(answer: Any) -> dict[str, list[str]]:
    return {term: [card["id"] for card in cards] for term, cards in answer.json["results"].items()}


# --- look-ups -------------------------------------------------------------------------------------


def test_a_term_is_found_whatever_its_case_width_and_white_space(stage: LookupStage, collection: Collection) -> None:
    card = add(stage, collection, "Ferry Pass")
    terms = ["ferry pass", "FERRY  PASS", " ferry\u3000pass ", "ｆｅｒｒｙ　ｐａｓｓ"]
    answer = stage.agent("lookup", collection, terms=terms)
    assert found(answer) == {term: [card.id] for term in terms}
    assert answer.json["dropped"] == 0


@pytest.mark.parametrize("lane", ["agent", "assistant"])
@pytest.mark.parametrize("letter", ["\u1f54", "\ufdfa"])
def test_a_term_too_long_for_any_key_has_no_card_and_is_not_read(
    stage: LookupStage, collection: Collection, letter: str, lane: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    card = add(stage, collection, "m4")
    asked: set[str] = set()
    for reader in stage.readers:
        ids_by_key = reader.ids_by_key

        async def noted(collection_id: str, keys: Any, *, ids_by_key: Any = ids_by_key) -> Any:
            asked.update(keys)
            return await ids_by_key(collection_id, keys)

        monkeypatch.setattr(reader, "ids_by_key", noted)
    answer = getattr(stage, lane)("lookup", collection, terms=[letter * 200, "m4"])
    assert answer.status == 200
    assert {term: len(cards) for term, cards in answer.json["results"].items()} == {letter * 200: 0, "m4": 1}
    assert (asked, card.norm_keys) == ({"m4"}, ("m4",))


def test_membership_is_exact(stage: LookupStage, collection: Collection) -> None:
    add(stage, collection, "ferry pass")
    terms = ["ferry", "pass", "ferry passes", "a ferry pass", "ferry-pass", "ferry\u200bpass"]
    assert found(stage.agent("lookup", collection, terms=terms)) == {term: [] for term in terms}


def test_one_key_many_cards_and_one_card_many_keys(stage: LookupStage, collection: Collection) -> None:
    both, one = add(stage, collection, "m4", "m5"), add(stage, collection, "m4")
    answer = stage.agent("lookup", collection, terms=["m4", "m5", "m6"])
    assert found(answer) == {"m4": sorted([both.id, one.id]), "m5": [both.id], "m6": []}


def test_terms_come_back_as_given_each_once(stage: LookupStage, collection: Collection) -> None:
    card = add(stage, collection, "m4")
    assert found(stage.agent("lookup", collection, terms=["M4", "m4", "M4"])) == {"M4": [card.id], "m4": [card.id]}


def test_other_collections_are_not_looked_in(stage: LookupStage, collection: Collection) -> None:
    other = stage.shelf.add(a_collection())
    add(stage, other, "m4")
    assert found(stage.agent("lookup", collection, terms=["m4"])) == {"m4": []}
    assert stage.agent("match", collection, text="m4").json == {"cards": [], "dropped": 0}


def test_no_terms_are_no_results(stage: LookupStage, collection: Collection) -> None:
    assert stage.agent("lookup", collection, terms=[]).json == {"results": {}, "dropped": 0}
    assert problem_of(stage.agent("lookup", "csc_aaaaaaaaaaaaaaaa", terms=[])) == (404, "not_found")


@pytest.mark.parametrize("blank", ["", "   ", "\u3000", "\u2028"])
def test_a_term_of_white_space_is_refused_by_its_place(stage: LookupStage, collection: Collection, blank: str) -> None:
    answer = stage.agent("lookup", collection, terms=["m4", blank])
    assert problem_of(answer) == (422, "invalid_request")
    assert [error["pointer"] for error in answer.json["errors"]] == ["/terms/1"]


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"terms": ["x"] * 101}, "/terms"),
        ({"terms": ["x" * 201]}, "/terms/0"),
        ({"terms": "m4"}, "/terms"),
        ({"terms": [4]}, "/terms/0"),
        ({}, "/terms"),
        ({"terms": [], "exposureProfile": "agent_only"}, "/exposureProfile"),
    ],
)
def test_what_a_look_up_may_not_hold(stage: LookupStage, collection: Collection, body: Any, pointer: str) -> None:
    answer = stage.send("lookup", collection, stage.agent_token, body)
    assert problem_of(answer) == (422, "invalid_request")
    assert [error["pointer"] for error in answer.json["errors"]] == [pointer]


def test_a_hundred_terms_of_two_hundred_characters_are_taken(stage: LookupStage, collection: Collection) -> None:
    terms = [f"{number} ".ljust(200, "卡") for number in range(100)]
    card = add(stage, collection, terms[7])
    answer = found(stage.agent("lookup", collection, terms=terms))
    assert len(answer) == 100
    assert answer[terms[7]] == [card.id]


def test_too_many_cards_are_dropped_from_the_last_terms(stage: LookupStage, collection: Collection) -> None:
    keys = [f"m{number}" for number in range(MAX_CARDS // MAX_CARDS_PER_KEY + 1)]
    for key in keys:
        for _ in range(MAX_CARDS_PER_KEY):
            add(stage, collection, key)
    answer = stage.agent("lookup", collection, terms=keys)
    sizes = {term: len(ids) for term, ids in found(answer).items()}
    assert sizes == dict.fromkeys(keys[:-1], MAX_CARDS_PER_KEY) | {keys[-1]: 0}
    assert answer.json["dropped"] == MAX_CARDS_PER_KEY


def test_an_answer_stops_at_four_mebibytes(stage: LookupStage, collection: Collection) -> None:
    for number in range(99):
        add(stage, collection, f"m{number}", "all", body="\n" * 32_768)
    for verb, body in (("lookup", {"terms": ["all"]}), ("match", {"text": "all", "cap": 50})):
        for answer in (stage.agent(verb, collection, **body), stage.assistant(verb, collection, **body)):
            shown = answer.json["results"]["all"] if verb == "lookup" else answer.json["cards"]
            assert 3_900_000 < delivered_bytes(answer.text) <= 4 * 1024 * 1024
            assert len(shown) + answer.json["dropped"] == 99


@pytest.mark.parametrize("cap", [200, 900, 1_300, 3_000])
def test_lists_are_cut_in_order_and_what_is_cut_is_counted(cap: int) -> None:
    collection = a_collection()
    cards = {f'te"rm {n}\\': tuple(a_card(collection, f"m{n}{i}") for i in range(3)) for n in range(3)}
    text = card_answers.encoded_lookup(Found(cards, dropped=2), cap=cap)
    safe = {term: tuple(map(CustomerCard, of_term)) for term, of_term in cards.items()}
    customer_text = customer_card_answers.encoded_lookup(Found(safe, dropped=2), cap=cap)
    for answer in (text, customer_text):
        kept = json.loads(answer)
        lengths = [len(kept["results"][term]) for term in cards]
        assert sum(lengths) + kept["dropped"] == 11
        assert lengths == sorted(lengths, reverse=True)
        assert delivered_bytes(answer) <= max(cap, 400)


def test_a_card_that_has_lost_its_key_meanwhile_is_not_shown(stage: LookupStage, collection: Collection) -> None:
    card = add(stage, collection, "m4", "m5")
    reader, index = stage.readers[0], stage.readers[0].ids_by_key

    async def then_changed(collection_id: str, keys: Any) -> Any:
        ids = await index(collection_id, keys)
        stage.shelf.cards[collection.id][card.id] = replace(card, keys=("m5",), norm_keys=("m5",))
        return ids

    reader.ids_by_key = then_changed  # type: ignore[method-assign]
    answer = stage.agent("lookup", collection, terms=["m4", "m5"])
    assert found(answer) == {"m4": [], "m5": [card.id]}
    assert answer.json["dropped"] == 0


# --- matches --------------------------------------------------------------------------------------


def matched(answer: Any) -> list[str]:
    return [card["id"] for card in answer.json["cards"]]


def test_cards_come_once_each_by_key_then_id(stage: LookupStage, collection: Collection) -> None:
    twice = add(stage, collection, "m5", "a key")
    same = sorted(add(stage, collection, "m4").id for _ in range(2))
    add(stage, collection, "m40")
    answer = stage.agent("match", collection, text="m5 and m4, m4 and A KEY; m5")
    assert matched(answer) == [twice.id, *same]
    assert answer.json["dropped"] == 0


def test_the_cap_keeps_the_first_and_counts_the_rest(stage: LookupStage, collection: Collection) -> None:
    cards = [add(stage, collection, f"m{number:02}") for number in range(12)]
    text = " ".join(card.keys[0] for card in reversed(cards))
    by_default = stage.agent("match", collection, text=text)
    assert matched(by_default) == [card.id for card in cards[:10]]
    assert by_default.json["dropped"] == 2
    one = stage.agent("match", collection, text=text, cap=1)
    assert (matched(one), one.json["dropped"]) == ([cards[0].id], 11)
    assert stage.agent("match", collection, text=text, cap=50).json["dropped"] == 0


def test_overlapping_and_nested_keys_all_count(stage: LookupStage, collection: Collection) -> None:
    cards = [add(stage, collection, key) for key in ("ferry pass", "night ferry", "pass")]
    assert matched(stage.agent("match", collection, text="night ferry pass")) == [card.id for card in cards]


def test_what_cards_say_is_never_looked_through(stage: LookupStage, collection: Collection) -> None:
    fee = add(stage, collection, "fee", body="the fee is a ferry fee", title="ferry")
    add(stage, collection, "ferry", body="a fee")
    assert matched(stage.agent("match", collection, text="fee")) == [fee.id]


def test_an_empty_text_mentions_nothing(stage: LookupStage, collection: Collection) -> None:
    add(stage, collection, "m4")
    for text in ("", " \n ", "\u200b"):
        assert stage.agent("match", collection, text=text).json == {"cards": [], "dropped": 0}


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"text": "x" * 20_001}, "/text"),
        ({"text": "m4", "cap": 0}, "/cap"),
        ({"text": "m4", "cap": 51}, "/cap"),
        ({"text": "m4", "cap": "5"}, "/cap"),
        ({"text": None}, "/text"),
        ({"text": "m4", "collections": []}, "/collections"),
    ],
)
def test_what_a_match_may_not_hold(stage: LookupStage, collection: Collection, body: Any, pointer: str) -> None:
    answer = stage.send("match", collection, stage.agent_token, body)
    assert problem_of(answer) == (422, "invalid_request")
    assert [error["pointer"] for error in answer.json["errors"]] == [pointer]


def test_the_longest_text_is_taken(stage: LookupStage, collection: Collection) -> None:
    card = add(stage, collection, "封蓋")
    assert matched(stage.agent("match", collection, text="卡" * 19_998 + "封蓋")) == [card.id]


def test_keys_that_cannot_be_made_ready_in_time_are_a_503(stage: LookupStage, collection: Collection) -> None:
    add(stage, collection, "m4")
    stage.vocabularies[0].failure = Unavailable("Later.", code="vocabulary_unavailable", retry_after_s=5)
    answer = stage.agent("match", collection, text="m4")
    assert problem_of(answer) == (503, "vocabulary_unavailable")
    assert answer.headers["Retry-After"] == "5"


# --- both -----------------------------------------------------------------------------------------


def test_agents_see_a_card_whole(stage: LookupStage, collection: Collection) -> None:
    card = add(stage, collection, "Ｍ４", title="", body="# Bolt")
    expected = {
        "id": card.id,
        "collectionId": collection.id,
        "keys": ["Ｍ４"],
        "title": "Ｍ４",
        "body": "# Bolt",
        "normKeys": ["m4"],
        "generation": 1,
        "createdAt": "2026-09-21T14:13:20.000Z",
        "updatedAt": "2026-09-21T14:13:20.000Z",
    }
    assert stage.agent("lookup", collection, terms=["m4"]).json["results"]["m4"] == [expected]
    assert stage.agent("match", collection, text="m4").json["cards"] == [expected]


def test_assistants_see_title_body_and_keys_of_customer_safe_collections(
    stage: LookupStage, collection: Collection
) -> None:
    add(stage, collection, "m4", title="", body="# Bolt")
    expected = {"title": "m4", "body": "# Bolt", "keys": ["m4"]}
    assert stage.assistant("lookup", collection, terms=["m4"]).json == {"results": {"m4": [expected]}, "dropped": 0}
    assert stage.assistant("match", collection, text="m4").json == {"cards": [expected], "dropped": 0}


@pytest.mark.parametrize("verb", VERBS)
def test_an_unseen_collection_is_a_404_like_an_unknown_one(stage: LookupStage, verb: str) -> None:
    internal = stage.shelf.add(an_internal_collection())
    add(stage, internal, "m4")
    texts = set()
    for id_ in (internal.id, "aoc_aaaaaaaaaaaaaaaa", "csc_aaaaaaaaaaaaaaaa", "nonsense", "csc_AAAAAAAAAAAAAAAA"):
        answer = stage.assistant(verb, id_, **VERBS[verb])
        assert problem_of(answer) == (404, "not_found")
        texts.add(answer.text)
    assert len(texts) == 1
    assert stage.agent(verb, internal, **VERBS[verb]).status == 200


@pytest.mark.parametrize("verb", VERBS)
def test_nobody_is_told_anything_before_being_admitted(
    stage: LookupStage, collection: Collection, verb: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def read(*_args: object, **_named: object) -> None:
        raise AssertionError("read before the caller was admitted")

    for port in (*stage.readers, *stage.vocabularies):
        for method in ("ids_by_key", "cards", "occurring"):
            if hasattr(port, method):
                monkeypatch.setattr(port, method, read)
    stranger = a_token(a_credential(credential_class=CredentialClass.AGENT))
    ungranted = stage.add_credential(credential_class=CredentialClass.ASSISTANT)
    widget = stage.add_credential(credential_class=CredentialClass.PUBLIC)
    admin = stage.add_credential(credential_class=CredentialClass.ADMIN)
    for body in (VERBS[verb], {"wrong": 1}, "not json"):
        for token in (None, "nonsense", stranger, stage.agent_token[:-1] + "x", widget, admin):
            assert problem_of(stage.send(verb, collection, token, body)) == (401, "unauthenticated")
        assert problem_of(stage.send(verb, collection, ungranted, body)) == (403, "forbidden")


@pytest.mark.parametrize("verb", VERBS)
def test_a_store_that_fails_is_a_503(stage: LookupStage, collection: Collection, verb: str) -> None:
    for port in (*stage.readers, *stage.vocabularies):
        port.failure = Unavailable("Later.")
    for answer in (stage.agent(verb, collection, **VERBS[verb]), stage.assistant(verb, collection, **VERBS[verb])):
        assert problem_of(answer) == (503, "store_unavailable")
        assert answer.headers["Retry-After"] == "5"


@pytest.mark.parametrize("verb", VERBS)
def test_answers_are_those_that_the_document_describes(stage: LookupStage, collection: Collection, verb: str) -> None:
    add(stage, collection, "m4")
    path = f"/api/v1/collections/{collection.id}/context-cards/{verb}"
    answers = [
        stage.agent(verb, collection, **VERBS[verb]),
        stage.assistant(verb, collection, **VERBS[verb]),
        stage.agent(verb, "csc_aaaaaaaaaaaaaaaa", **VERBS[verb]),
        stage.send(verb, collection, None, VERBS[verb]),
        stage.send(verb, collection, stage.agent_token, {"wrong": 1}),
        stage.send(verb, collection, stage.agent_token, "not json"),
    ]
    assert [one.status for one in answers] == [200, 200, 404, 401, 422, 400]
    for answer in answers:
        assert faults_of("POST", path, answer.status, answer.headers, answer.text) == []


@pytest.mark.parametrize("verb", VERBS)
def test_the_log_counts_and_repeats_nothing(stage: LookupStage, collection: Collection, verb: str) -> None:
    add(stage, collection, "m4", title="zq-title", body="zq-body")
    body = {"terms": ["m4", "zq-term"]} if verb == "lookup" else {"text": "m4 zq-text"}
    stage.agent(verb, collection, **body)
    assert "zq-" not in repr(stage.log.lines)
    event = "cards.looked_up" if verb == "lookup" else "cards.matched"
    (line,) = stage.log.of(event)
    counts = {"terms": 2, "hits": 1} if verb == "lookup" else {"cards": 1}
    assert line.items() >= {**counts, "dropped": 0, "duration_ms": 0}.items()


@pytest.mark.parametrize("verb", VERBS)
def test_every_answer_is_private_and_counted(stage: LookupStage, collection: Collection, verb: str) -> None:
    token = stage.add_credential(credential_class=CredentialClass.AGENT, rate_per_minute=2)
    answers = [stage.send(verb, collection, token, VERBS[verb]) for _ in range(3)]
    assert [one.status for one in answers] == [200, 200, 429]
    assert all(one.headers["Cache-Control"] == "private, no-store" for one in answers)


@pytest.mark.parametrize("lane", ["agent", "assistant"])
def test_a_text_whose_normal_form_is_too_long_is_refused(stage: LookupStage, collection: Collection, lane: str) -> None:
    add(stage, collection, "m4")
    fits = "m4 " + "\ufdfa" * 4_444  # 18 characters each
    assert len(getattr(stage, lane)("match", collection, text=fits).json["cards"]) == 1
    answer = getattr(stage, lane)("match", collection, text=fits + "\ufdfa")
    assert problem_of(answer) == (422, "invalid_request")
    assert [error["pointer"] for error in answer.json["errors"]] == ["/text"]


def test_no_query_grows_too_much_to_be_looked_through() -> None:
    """So a search needs no rule of its own."""
    longest = max(len(norm(chr(code))) for code in range(sys.maxunicode + 1))
    queries = [body.model_fields["query"] for body in (AgentSearchBody, AssistantSearchBody)]
    most = max(rule.max_length for field in queries for rule in field.metadata if hasattr(rule, "max_length"))
    assert longest * most <= MAX_NORMAL_CHARACTERS
