"""Arguments of tools as models write them: what is taken beyond REST, and how the rest is refused."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from shared.domain.exposure import CredentialClass
from tests.support.builders import a_passage
from tests.support.tool_stage import AGENT, ASSISTANT, ToolStage

SEARCH = "knowledge_search"
QUERY = {"query": "ferry pass"}
_CARDS = {
    SEARCH: QUERY,
    "glossary_lookup": {"collectionId": "csc_aaaaaaaaaaaaaaaa", "terms": ["EV"]},
    "glossary_match": {"collectionId": "csc_aaaaaaaaaaaaaaaa", "text": "An EV."},
}
NEEDED: dict[CredentialClass, dict[str, Any]] = {
    ASSISTANT: _CARDS,
    AGENT: {**_CARDS, "knowledge_acquire": {"url": "https://elsewhere.example/"}},
}


@pytest.fixture
def stage() -> Iterator[ToolStage]:
    made = ToolStage()
    yield made
    made.close()


@pytest.mark.parametrize(
    ("arguments", "field", "says"),
    [
        ({}, "query", "This field is required."),
        ({"query": "x", "limit": "5"}, "limit", "Write a whole number such as 5, without quotation marks."),
        ({"query": "x", "limit": 3.5}, "limit", "Write a whole number"),
        ({"query": "x", "limit": 1e300}, "limit", "Write a whole number"),
        ({"query": None}, "query", "Input should be a valid string."),
        ({"query": "x", "freshnes": None}, "freshnes", "This field is not known here."),
        ({"query": "x", "limit": 51}, "limit", "less than or equal to 50"),
        ({"query": "x", "freshnes": "force"}, "freshnes", "This field is not known here."),
        ({"query": "x", "locale": "not a tag"}, "locale", "Write a language tag"),
        ({"query": "x", "collections": [7]}, "collections/0", "Input should be a valid string."),
    ],
    ids=[
        "missing",
        "text-for-number",
        "fraction",
        "huge",
        "null",
        "unknown-null",
        "too-much",
        "unknown",
        "no-tag",
        "inside-a-list",
    ],
)
def test_a_refused_argument_is_named(stage: ToolStage, arguments: Any, field: str, says: str) -> None:
    for caller in (AGENT, ASSISTANT):
        result = stage.call(SEARCH, arguments, caller=caller)
        assert (result.is_error, result.structured) == (True, None)
        assert result.text.startswith("invalid_request: The request is not valid. Correct these arguments")
        assert f"- `{field}`: " in result.text
        assert says in result.text


@pytest.mark.parametrize("caller", [AGENT, ASSISTANT])
def test_a_whole_number_may_be_written_as_a_fraction(stage: ToolStage, caller: CredentialClass) -> None:
    stage.search.add(a_passage(), a_passage(document_id="e"))
    result = stage.call(SEARCH, b'{"query": "ferry pass", "limit": 1.0, "deadlineMs": 1.2e4}', caller=caller)
    assert len(json.loads(result.structured or "")["results"]) == 1


@pytest.mark.parametrize("caller", [AGENT, ASSISTANT])
def test_null_leaves_out_whatever_may_be_left_out(stage: ToolStage, caller: CredentialClass) -> None:
    stage.search.add(a_passage())
    for tool, needed in NEEDED[caller].items():
        schema = json.loads(stage.tools[tool].description(caller))["inputSchema"]
        optional = schema["properties"].keys() - set(schema["required"])
        given = stage.call(tool, {**needed, **dict.fromkeys(optional)}, caller=caller)
        assert "invalid_request" not in given.text
        assert given.text == stage.call(tool, needed, caller=caller).text
