"""What is told of the tools: as the code makes it, good for models, and true of what they take and give."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from functions.mcp.descriptions import description_of
from infra.mcp_tools.document import PLACE, document_text
from infra.mcp_tools.schemas import PLAIN, described, plain, schema_of
from infra.mcp_tools.words import TOOLS, Words
from infra.openapi.examples import request_examples
from shared.domain.exposure import CredentialClass
from shared.web.card_requests import LookupBody
from shared.web.mcp.identity import INSTRUCTIONS
from tests.support.tool_stage import AGENT, ASSISTANT, EVERY, ToolStage

TOLD = [(caller, name) for caller, names in EVERY.items() for name in names]
MAX_DESCRIPTION_CHARACTERS = 1_024  # more is refused by some models' makers


def told(caller: CredentialClass, name: str) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(description_of(name)(caller))
    return value


def nodes(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
    for each in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from nodes(each)


def test_what_is_written_down_is_what_the_code_makes() -> None:
    assert PLACE.read_text(encoding="utf-8") == document_text(), "run `make openapi`"


def test_each_class_is_offered_its_tools_in_one_order() -> None:
    stage = ToolStage()
    offered = {
        caller: tuple(name for name, tool in stage.tools.items() if caller in tool.offered_to) for caller in EVERY
    }
    stage.close()
    assert offered == EVERY
    assert {caller: tuple(tools) for caller, tools in json.loads(document_text()).items()} == EVERY


def test_a_tool_of_others_is_not_described() -> None:
    with pytest.raises(KeyError):
        description_of("knowledge_acquire")(ASSISTANT)


@pytest.mark.parametrize(("caller", "name"), TOLD)
def test_a_description_has_all_that_a_client_looks_for(caller: CredentialClass, name: str) -> None:
    tool = told(caller, name)
    assert set(tool) == {"name", "title", "description", "inputSchema", "outputSchema", "annotations"}
    assert tool["name"] == name
    assert re.fullmatch(r"[a-z_]{1,64}", name)
    assert 100 < len(tool["description"]) <= MAX_DESCRIPTION_CHARACTERS
    assert "untrusted data" in tool["description"]
    assert tool["annotations"] == {
        "readOnlyHint": True,
        "destructiveHint": False,
        "idempotentHint": name != "knowledge_acquire",
        "openWorldHint": name.startswith("knowledge_"),
    }


@pytest.mark.parametrize(("caller", "name"), TOLD)
def test_the_schemas_stand_for_themselves(caller: CredentialClass, name: str) -> None:
    for side in ("inputSchema", "outputSchema"):
        schema = told(caller, name)[side]
        Draft202012Validator.check_schema(schema)
        assert schema["type"] == "object"
        assert not any(key in node for node in nodes(schema) for key in ("$ref", "$defs", "$schema"))
        assert not any(isinstance(node.get("title"), str) for node in nodes(schema))


@pytest.mark.parametrize(("caller", "name"), TOLD)
def test_every_argument_is_explained_and_no_other_is_taken(caller: CredentialClass, name: str) -> None:
    schema = told(caller, name)["inputSchema"]
    assert schema["additionalProperties"] is False
    assert all(len(field["description"]) > 15 for field in schema["properties"].values())


@pytest.mark.parametrize(("caller", "name"), TOLD)
def test_of_an_argument_only_what_every_maker_of_models_reads_is_said(caller: CredentialClass, name: str) -> None:
    arguments = list(schemas_in(told(caller, name)["inputSchema"]))
    assert len(arguments) > 2
    for schema in arguments:
        assert isinstance(schema["type"], str)
        assert set(schema) <= {*PLAIN}
    assert "\\u" not in json.dumps(told(caller, name)["inputSchema"], ensure_ascii=False)


def schemas_in(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield schema
    inside = [*schema.get("properties", {}).values(), *([schema["items"]] if "items" in schema else [])]
    for each in inside:
        yield from schemas_in(each)


@pytest.mark.parametrize("words", [each for tools in TOOLS.values() for each in tools], ids=lambda words: words.title)
def test_bounds_and_what_holds_where_an_argument_is_left_out_are_said_in_words(words: Words) -> None:
    schema = schema_of(words.takes, "validation")
    for name, field in schema["properties"].items():
        numbers = [field[key] for key in ("minimum", "maximum", "default") if isinstance(field.get(key), int)]
        assert all(re.search(rf"\b{number}\b", words.fields[name]) for number in numbers), name
        assert ("if left out" in words.fields[name]) is (field.get("default") is not None), name


def test_a_choice_between_two_types_cannot_be_said_plainly() -> None:
    assert plain({"anyOf": [{"type": "null"}, {"type": "string"}], "default": None}) == {"type": "string"}
    with pytest.raises(ValueError, match="too many"):
        plain({"anyOf": [{"type": "integer"}, {"type": "string"}]})


@pytest.mark.parametrize(("caller", "name"), TOLD)
def test_of_answers_more_may_come_than_is_described(caller: CredentialClass, name: str) -> None:
    """A client may keep a description for longer than a version lasts."""
    closed = [node for node in nodes(told(caller, name)["outputSchema"]) if node.get("additionalProperties") is False]
    assert not closed


@pytest.mark.parametrize(
    ("caller", "name", "model"),
    [
        (AGENT, "knowledge_search", "AgentSearchBody"),
        (ASSISTANT, "knowledge_search", "AssistantSearchBody"),
        (AGENT, "glossary_lookup", "LookupBody"),
        (AGENT, "glossary_match", "MatchBody"),
        (AGENT, "knowledge_acquire", "AcquireBody"),
    ],
)
def test_what_rest_takes_as_an_example_is_good_for_the_tool(caller: CredentialClass, name: str, model: str) -> None:
    arguments = request_examples()[model]["value"]
    if name.startswith("glossary"):
        arguments = {"collectionId": "csc_k3j5mq2x7a4bwz6t", **arguments}
    validator = Draft202012Validator(told(caller, name)["inputSchema"])
    assert not list(validator.iter_errors(arguments))
    assert list(validator.iter_errors({**arguments, "anything": 1}))


def test_an_assistant_is_told_nothing_of_what_agents_have() -> None:
    words = json.dumps([told(ASSISTANT, name) for name in EVERY[ASSISTANT]])
    for word in ("internal", "provider", "ao_", "evidence", "audience", "knowledge_acquire", "aoc_"):
        assert word not in words, word


def test_the_instructions_promise_an_assistant_nothing_that_agents_alone_get() -> None:
    """Both classes read the same ones."""
    assert "need not mean that there is nothing" in INSTRUCTIONS
    assert not re.search(r"says? which|what happened|failed|could not", INSTRUCTIONS)


def test_every_process_tells_the_same_bytes() -> None:
    program = (
        "import hashlib; from functions.mcp.descriptions import description_of as of\n"
        "from shared.domain.exposure import CredentialClass as C\n"
        "print(hashlib.sha256(of('knowledge_search')(C.AGENT).encode()).hexdigest())"
    )
    command = [sys.executable, "-c", program]
    said = {
        subprocess.run(command, env={"PYTHONPATH": ".", "PYTHONHASHSEED": seed}, capture_output=True, check=True).stdout
        for seed in ("1", "2")
    }
    assert len(said) == 1


def test_words_and_fields_have_to_fit_together() -> None:
    schema = schema_of(LookupBody, "validation")
    with pytest.raises(KeyError, match="fit together"):
        described(schema, {})
    with pytest.raises(KeyError, match="fit together"):
        described(schema, {"terms": "x", "term": "y"})
