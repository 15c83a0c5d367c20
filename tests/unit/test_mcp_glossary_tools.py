"""The glossary as tools: what REST answers, byte for byte, and its words."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from shared.domain.cards import Collection
from shared.domain.exposure import CredentialClass
from shared.errors import Forbidden, Unauthenticated
from shared.web.answer_size import MAX_ANSWER_BYTES, delivered_bytes
from shared.web.mcp.mirror import MAX_STRUCTURED_BYTES
from tests.support.builders import a_credential, a_token
from tests.support.card_builders import a_card, a_collection, an_internal_collection
from tests.support.tool_stage import AGENT, ASSISTANT, ToolStage

VERBS = {
    "glossary_lookup": ("lookup", {"terms": ["EV", "ferry pass", "gone"]}),
    "glossary_match": ("match", {"text": "Load an EV with a ferry pass.", "cap": 1}),
}


@pytest.fixture
def stage() -> Iterator[ToolStage]:
    made = ToolStage()
    yield made
    made.close()


@pytest.fixture
def collection(stage: ToolStage) -> Collection:
    made = a_collection()
    card = a_card(made, "EV", "electric car", title="Electric car", body="Deck **2**.")
    stage.glossary.shelf.add(made, card, a_card(made, "ferry pass", title=""))
    return made


@pytest.mark.parametrize("caller", [AGENT, ASSISTANT])
@pytest.mark.parametrize("tool", VERBS)
def test_a_tool_answers_what_rest_answers(
    stage: ToolStage, collection: Collection, tool: str, caller: CredentialClass
) -> None:
    verb, body = VERBS[tool]
    rest = stage.glossary.send(verb, collection, stage.token(caller), body)
    result = stage.call(tool, {"collectionId": collection.id, **body}, caller=caller)

    assert rest.status == 200
    assert (result.structured, result.is_error) == (rest.text, False)


def test_each_term_is_told_with_its_cards(stage: ToolStage, collection: Collection) -> None:
    arguments = {"collectionId": collection.id, "terms": ["EV", "gone"]}
    agents = stage.agent("glossary_lookup", arguments).text
    customers = stage.assistant("glossary_lookup", arguments).text

    for text in (agents, customers):
        assert text.startswith("Glossary cards under these terms: 1. What stands in fences")
        assert "`EV`: 1 card\n\ncard: `Electric car`" in text
        assert "keys: `EV`, `electric car`\n````untrusted " in text
        assert "\nDeck **2**.\n````\n[end of the card, " in text
        assert text.endswith("\n\n`gone`: 0 cards")
    assert f" of {collection.id})" in agents
    assert "crd_" not in customers
    assert collection.id not in customers


def test_no_card_at_all_is_said_in_words(stage: ToolStage, collection: Collection) -> None:
    looked_up = stage.agent("glossary_lookup", {"collectionId": collection.id, "terms": ["gone"]})
    matched = stage.assistant("glossary_match", {"collectionId": collection.id, "text": "nothing"})

    assert looked_up.text.startswith("No glossary card is under these terms.")
    assert matched.text == "No glossary card is mentioned in the text."


def test_cards_beyond_the_cap_are_counted(stage: ToolStage, collection: Collection) -> None:
    text = stage.agent("glossary_match", {"collectionId": collection.id, "text": "an EV, a ferry pass", "cap": 1}).text
    assert text.startswith("Glossary cards mentioned in the text: 1. 1 more card left out.")


@pytest.mark.parametrize("tool", VERBS)
def test_a_collection_that_may_not_be_seen_is_as_one_that_does_not_exist(stage: ToolStage, tool: str) -> None:
    internal = an_internal_collection()
    stage.glossary.shelf.add(internal, a_card(internal, "EV"))
    answers = [
        stage.assistant(tool, {"collectionId": each, **VERBS[tool][1]})
        for each in (internal.id, "aoc_aaaaaaaaaaaaaaaa", "csc_aaaaaaaaaaaaaaaa", "nonsense")
    ]

    assert len(set(map(str, answers))) == 1
    assert answers[0].is_error
    assert answers[0].structured is None
    assert answers[0].text.startswith(
        "not_found: Nothing here has this id. Check the id. Those of collections come from"
    )
    assert "without one, search instead" in answers[0].text
    assert stage.agent(tool, {"collectionId": internal.id, **VERBS[tool][1]}).structured


@pytest.mark.parametrize(
    ("tool", "arguments", "field"),
    [
        ("glossary_lookup", {"terms": ["x"]}, "collectionId"),
        ("glossary_lookup", {"collectionId": "csc_a", "terms": "x"}, "terms"),
        ("glossary_lookup", {"collectionId": "csc_a", "terms": ["x" * 201]}, "terms/0"),
        ("glossary_match", {"collectionId": "csc_a", "text": "x", "cap": 0}, "cap"),
        ("glossary_match", {"collectionId": "csc_a", "text": "x", "collection_id": "csc_b"}, "collection_id"),
    ],
    ids=["no-collection", "no-list", "long-term", "no-cap", "python-name"],
)
def test_a_refused_argument_is_named(stage: ToolStage, tool: str, arguments: Any, field: str) -> None:
    for caller in (AGENT, ASSISTANT):
        result = stage.call(tool, arguments, caller=caller)
        assert (result.is_error, result.structured) == (True, None)
        assert f"- `{field}`: " in result.text


def test_a_term_of_white_space_is_named(stage: ToolStage, collection: Collection) -> None:
    result = stage.agent("glossary_lookup", {"collectionId": collection.id, "terms": ["EV", " "]})
    assert "- `terms/1`: A term has at least one character that is not white space." in result.text


@pytest.mark.parametrize("tool", VERBS)
def test_nobody_learns_anything_before_being_admitted(stage: ToolStage, tool: str) -> None:
    ungranted = stage.known(a_credential(credential_class=ASSISTANT))
    for arguments in (b"{}", b"[", json.dumps({"collectionId": "csc_a", **VERBS[tool][1]}).encode()):
        for caller, other in ((AGENT, ASSISTANT), (ASSISTANT, AGENT)):
            with pytest.raises(Unauthenticated):
                stage.call(tool, arguments, caller=caller, token=stage.token(other))
        with pytest.raises(Forbidden):
            stage.assistant(tool, arguments, token=a_token(ungranted))


@pytest.mark.parametrize("caller", [AGENT, ASSISTANT])
def test_both_parts_fit_into_what_can_be_delivered(stage: ToolStage, caller: CredentialClass) -> None:
    """Quotes take four bytes in either part: nothing takes more."""
    collection = a_collection()
    cards = [a_card(collection, f"k{number}", body='"' * 32_768) for number in range(60)]
    stage.glossary.shelf.add(collection, *cards)
    arguments = {"collectionId": collection.id, "terms": [f"k{number}" for number in range(60)]}
    result = stage.call("glossary_lookup", arguments, caller=caller)
    structured = result.structured or ""
    kept = sum(map(len, json.loads(structured)["results"].values()))

    assert MAX_STRUCTURED_BYTES * 0.9 < delivered_bytes(structured) <= MAX_STRUCTURED_BYTES
    assert 0 < kept < 60
    assert json.loads(structured)["dropped"] == 60 - kept
    text = delivered_bytes(json.dumps(result.text, ensure_ascii=False))
    assert delivered_bytes(structured) + text < MAX_ANSWER_BYTES
    shown = result.text.count("card: `")
    assert 0 < shown < kept
    assert result.text.endswith(
        f"{60 - shown} parts more: there is no room for them in this text; the structured content has them."
    )
